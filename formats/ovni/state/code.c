#include <stdlib.h>

#include "ovni/ovni.h"
#include "ovni/state/state.h"

/* ---- units ---- */

/*
 * Types, tasks and bodies by number.  Long runs have more tasks than the table
 * holds: those that have ended are evicted then.
 */

uint32_t state_unit_find(const struct state_units *t, uint64_t key)
{
	return table64_get(&t->index, key);
}

bool state_units_are_full(const struct state_units *t)
{
	return t->n >= t->most && t->free == 0;
}

uint32_t state_unit_add(struct state_units *t, uint64_t key)
{
	const uint32_t i = t->free != 0 ? t->free - 1 : t->n;

	if (state_units_are_full(t) || !array_room(&t->units, t->n, &t->cap, sizeof *t->units) ||
	    !table64_put(&t->index, key, i))
		return TABLE_NONE;
	if (t->free != 0)
		t->free = t->units[i].label;
	else
		t->n++;
	t->units[i] = (struct state_unit){ .key = key };
	return i;
}

/* Places do not change, for stacks and bodies refer to them.  The index cannot remove keys: those that
 * remain are added to a new one. */
bool state_units_evict(struct state_units *t, uint32_t *evicted)
{
	bool ok = true;

	*evicted = 0;
	table64_free(&t->index);
	for (uint32_t i = 0; i < t->n && ok; i++) {
		struct state_unit *const u = &t->units[i];
		const bool normal = u->key >> 62 >= STATE_UNIT_TASK && !u->parallel;
		if (normal && u->state == STATE_BODY_ENDED) {
			*u = (struct state_unit){ .key = 0, .label = t->free };
			t->free = i + 1;
			++*evicted;
		} else if (u->key != 0) {
			ok = table64_put(&t->index, u->key, i);
		}
	}
	t->evicted |= *evicted > 0;
	return ok;
}

void state_units_free(struct state_units *t)
{
	free(t->units);
	table64_free(&t->index);
}

/* ---- label ---- */

/*
 * WS4.  ovniemu numbers the labels of task types by a hash of 32 bits, of which
 * it drops the highest, and refuses two labels of one number in one model.  The
 * hash is Bob Jenkins' of 1996, whose two words of state begin with the golden
 * ratio, and the third with 0xfeedbeef.
 */

#define MOST_LABELS (1U << 20)

struct words {
	uint32_t a, b, c;
};

static void mix(struct words *w)
{
	static const uint8_t shifts[3][3] = { { 13, 8, 13 }, { 12, 16, 5 }, { 3, 10, 15 } };

	for (int i = 0; i < 3; i++) {
		w->a = (w->a - w->b - w->c) ^ w->c >> shifts[i][0];
		w->b = (w->b - w->c - w->a) ^ w->a << shifts[i][1];
		w->c = (w->c - w->a - w->b) ^ w->b >> shifts[i][2];
	}
}

/* Up to four bytes, the first one lowest. */
static uint32_t low_bytes(const char *p, size_t n)
{
	uint32_t v = 0;

	for (size_t i = 0; i < n && i < 4; i++)
		v |= (uint32_t)(unsigned char)p[i] << 8 * i;
	return v;
}

static uint32_t number_of_label(struct slice label)
{
	struct words w = { 0x9e3779b9U, 0x9e3779b9U, 0xfeedbeefU };
	const char *p = label.p;
	size_t n = label.n;

	for (; n >= 12; n -= 12, p += 12) {
		w.a += low_bytes(p, 4);
		w.b += low_bytes(p + 4, 4);
		w.c += low_bytes(p + 8, 4);
		mix(&w);
	}
	/* the length takes the lowest byte of the third word */
	w.a += low_bytes(p, n);
	w.b += n > 4 ? low_bytes(p + 4, n - 4) : 0;
	w.c += label.n + (n > 8 ? low_bytes(p + 8, n - 8) << 8 : 0);
	mix(&w);
	const uint32_t number = w.c & 0x7fffffff;
	return number != 0 ? number : 1;
}

void state_check_label(const struct state_event *x, struct slice label, uint32_t hash)
{
	struct state_checker *const c = x->checker;
	const uint64_t key = (uint64_t)x->code->model << 32 | number_of_label(label);
	const uint32_t known = table64_get(&c->label_numbers, key);
	struct quoted q;

	/* a table holds no TABLE_NONE */
	hash = hash == TABLE_NONE ? 0 : hash;
	if (label.n >= 512 || known == hash)
		return;
	if (known != TABLE_NONE)
		state_report(x, OVNI_RULE_LABEL_COLLISION,
		             "label %s has the number %" PRIu32 " of another label before", quoted(&q, label),
		             (uint32_t)key);
	else if (c->nlabels < MOST_LABELS && c->nlabels++ < MOST_LABELS &&
	         !table64_put(&c->label_numbers, key, hash))
		state_no_memory(x);
}

/* ---- mark ---- */

/* Marks and hardware counters, which metadata declares. */

/* K2, K4, K5: the type is declared, and of the kind that the event is for. */
static bool check_mark_type(const struct state_event *x, uint32_t type)
{
	static const struct ovni_mark none;
	const struct ovni_system *const s = x->checker->system;
	const struct ovni_mark *const mark = type < OVNI_MARK_TYPES ? &s->marks[type] : &none;
	const char *const wanted = x->code->action == STATE_SET ? "single" : "stack";

	if (mark->title.p == NULL) {
		if (s->in_folder)
			state_report(x, OVNI_RULE_MARK_UNDECLARED,
			             "mark type %" PRId32 " is not declared in any stream.json",
			             (int32_t)type);
		return type < OVNI_MARK_TYPES;
	}
	if (slice_is(mark->chan_type, wanted))
		return true;
	state_report(x, OVNI_RULE_MARK_KIND,
	             "%s requires chan_type \"%s\", which mark type %" PRIu32 " does not have", state_name(x),
	             wanted, type);
	return false;
}

void state_check_mark(const struct state_event *x)
{
	const struct state_code *const c = x->code;

	if (c->at_mark == STATE_NOWHERE || c->at_value == STATE_NOWHERE ||
	    !state_has_payload(x, c->least, true))
		return;
	const uint32_t type = state_u32(x, c->at_mark);
	const uint64_t value = load_u64(x->payload.p + c->at_value, x->stream->big);
	if (!check_mark_type(x, type))
		return;
	if (value == 0)
		state_report(x, OVNI_RULE_MARK_ZERO, "a mark of type %" PRIu32 " has the value 0", type);
	if (c->action == STATE_PUSH)
		state_push(x, (uint8_t)(STATE_STACK_MARKS + type), value, false, false);
	else if (c->action == STATE_POP)
		state_pop(x, (uint8_t)(STATE_STACK_MARKS + type), value, false);
}

/* HW1, HW2. */
void state_check_counters(const struct state_event *x)
{
	const struct ovni_system *const s = x->checker->system;

	if (!state_is_jumbo(x))
		return;
	if (s->ncounters == 0) {
		if (s->in_folder)
			state_report(x, OVNI_RULE_COUNTERS_UNDECLARED, "%s, but no stream.json has nosv.hwc",
			             state_name(x));
		return;
	}
	state_has_payload(x, 8 * s->ncounters, true);
}

/* ---- stack ---- */

/*
 * Stacks of states: a thread has one for each word that the vocabulary uses,
 * one for each type of marks, and one of bodies for each model with tasks.
 * They are lists in one pool, so that memory has one bound for all.
 */

static struct state_stack *find_stack(const struct state_checker *c, uint32_t thread, uint8_t id)
{
	const uint32_t i = table64_get(&c->stack_index, (uint64_t)thread << 8 | id);

	return i != TABLE_NONE ? &c->stacks[i] : NULL;
}

/* NULL: no more of them. */
static struct state_stack *make_stack(const struct state_event *x, uint8_t id)
{
	struct state_checker *const c = x->checker;

	if (c->nstacks >= STATE_MAX_STACKS) {
		state_limit(x, "stacks of states", STATE_MAX_STACKS);
		return NULL;
	}
	if (!array_room(&c->stacks, c->nstacks, &c->stacks_cap, sizeof *c->stacks) ||
	    !table64_put(&c->stack_index, (uint64_t)x->thread << 8 | id, c->nstacks)) {
		state_no_memory(x);
		return NULL;
	}
	c->stacks[c->nstacks] = (struct state_stack){ .thread = x->thread, .top = TABLE_NONE, .id = id };
	return &c->stacks[c->nstacks++];
}

/* TABLE_NONE: the pool is full. */
static uint32_t make_entry(const struct state_event *x)
{
	struct state_checker *const c = x->checker;
	const uint32_t i = c->free_entry;

	if (i != TABLE_NONE) {
		c->free_entry = c->entries[i].below;
		return i;
	}
	if (c->nentries >= STATE_MAX_ENTRIES) {
		state_limit(x, "open states", STATE_MAX_ENTRIES);
		return TABLE_NONE;
	}
	if (!array_room(&c->entries, c->nentries, &c->entries_cap, sizeof *c->entries)) {
		state_no_memory(x);
		return TABLE_NONE;
	}
	return c->nentries++;
}

const struct state_entry *state_top(const struct state_checker *c, uint32_t thread, uint8_t id)
{
	const struct state_stack *const s = find_stack(c, thread, id);

	return s != NULL && s->top != TABLE_NONE ? &c->entries[s->top] : NULL;
}

/* ---- messages ---- */

struct state_text {
	char s[360];
};

static int shown(struct slice s)
{
	return s.n < 40 ? (int)s.n : 40;
}

static const char *state_text(struct state_text *t, const struct state_code *a, uint64_t value)
{
	struct quoted q;

	if (a->role == STATE_ROLE_MARK)
		snprintf(t->s, sizeof t->s, "value %" PRId64, (int64_t)value);
	else if (a->label)
		snprintf(t->s, sizeof t->s, "a label");
	else if (a->value_name.p != NULL)
		snprintf(t->s, sizeof t->s, "%s (%.*s)", quoted(&q, a->value_name), shown(a->value_text),
		         a->value_text.p);
	else
		snprintf(t->s, sizeof t->s, "state %.*s", shown(a->value_text), a->value_text.p);
	return t->s;
}

static void report_mismatch(const struct state_event *x, uint64_t value, const struct state_entry *top)
{
	const struct state_code *const opener = &x->checker->codes[top->cls];
	struct state_text t, t2;

	state_report(x, OVNI_RULE_NESTING_MISMATCH,
	             "%s closes %s, but the innermost open one is %s, opened by %s at byte %" PRIu64,
	             state_name(x), state_text(&t, x->code, value),
	             opener->label && x->code->label ? "another label" : state_text(&t2, opener, top->value),
	             opener->cls->name.p, top->offset);
}

/* P3, P4: what is wrong with pushing. */
static void check_push(const struct state_event *x, const struct state_stack *s, uint64_t value)
{
	const struct state_entry *const top = s->top != TABLE_NONE ? &x->checker->entries[s->top] : NULL;
	struct state_text t;

	if (x->code->repeat_error && top != NULL && top->value == value)
		state_report(x, OVNI_RULE_NESTING_REPEAT,
		             "%s opens %s again, the innermost open state since byte %" PRIu64, state_name(x),
		             state_text(&t, x->code, value), top->offset);
	if (s->depth == STATE_MAX_DEPTH && s->over == 0)
		state_report(x, OVNI_RULE_NESTING_DEEP, "%s opens state %d of its stack", state_name(x),
		             STATE_MAX_DEPTH + 1);
}

/* ---- push and pop ---- */

void state_push(const struct state_event *x, uint8_t id, uint64_t value, bool body, bool quiet)
{
	struct state_stack *s = find_stack(x->checker, x->thread, id);

	if (s == NULL && (s = make_stack(x, id)) == NULL)
		return;
	if (!quiet)
		check_push(x, s, value);
	const uint32_t i = s->depth < STATE_MAX_DEPTH && s->over == 0 ? make_entry(x) : TABLE_NONE;
	if (i == TABLE_NONE) {
		s->over += s->over < UINT32_MAX;
		return;
	}
	x->checker->entries[i] =
	    (struct state_entry){ value, x->e->offset, s->top, x->code->cls->index & 0x7fffffff, body };
	s->top = i;
	s->depth++;
}

static void drop(struct state_checker *c, struct state_stack *s)
{
	const uint32_t i = s->top;

	s->top = c->entries[i].below;
	s->depth--;
	c->entries[i].below = c->free_entry;
	c->free_entry = i;
}

static bool holds(const struct state_checker *c, const struct state_stack *s, uint64_t value)
{
	for (uint32_t i = s->top; i != TABLE_NONE; i = c->entries[i].below)
		if (c->entries[i].value == value)
			return true;
	return false;
}

static void report_empty(const struct state_event *x, uint64_t value)
{
	struct state_text t;

	state_report(x, OVNI_RULE_NESTING_EMPTY, "%s closes %s, but nothing is open", state_name(x),
	             state_text(&t, x->code, value));
}

/* P1, P2.  A state that is open further below is closed with all that lies on it; one that is not open
 * changes nothing. */
uint32_t state_pop(const struct state_event *x, uint8_t id, uint64_t value, bool quiet)
{
	struct state_stack *const s = find_stack(x->checker, x->thread, id);
	uint32_t n = 0;

	if (s != NULL && s->over > 0) {
		s->over--;
		return 1;
	}
	if (s == NULL || s->top == TABLE_NONE) {
		/* when the stacks are full, some are not there */
		if (!quiet && (s != NULL || x->checker->nstacks < STATE_MAX_STACKS))
			report_empty(x, value);
		return 0;
	}
	if (!quiet && x->checker->entries[s->top].value != value)
		report_mismatch(x, value, &x->checker->entries[s->top]);
	if (!holds(x->checker, s, value))
		return 0;
	for (bool found = false; !found; n++) {
		found = x->checker->entries[s->top].value == value;
		drop(x->checker, s);
	}
	return n;
}

/* ---- code ---- */

/* The words of the vocabulary, resolved once for each code. */

struct word {
	const char *name;
	uint8_t n;
};

static uint8_t word_of(const struct plan *m, const char *key, const struct word *words)
{
	const struct slice s = plan_word(m, key);

	for (; s.p != NULL && words->name != NULL; words++)
		if (slice_is(s, words->name))
			return words->n;
	return 0;
}

static bool word_is(const struct plan *m, const char *key, const char *text)
{
	const struct slice s = plan_word(m, key);

	return s.p != NULL && slice_is(s, text);
}

static const struct word life_words[] = { { "create", STATE_CREATE }, { "execute", STATE_EXECUTE },
	                                  { "cool", STATE_COOL },     { "pause", STATE_PAUSE },
	                                  { "warm", STATE_WARM },     { "resume", STATE_RESUME },
	                                  { "end", STATE_END },       { NULL, 0 } };

static const struct word affinity_words[] = { { "self", STATE_SELF },
	                                      { "remote", STATE_REMOTE },
	                                      { NULL, 0 } };
static const struct word flush_words[] = { { "open", STATE_OPEN }, { "close", STATE_CLOSE }, { NULL, 0 } };

static const struct word mark_words[] = {
	{ "set", STATE_SET }, { "push", STATE_PUSH }, { "pop", STATE_POP }, { NULL, 0 }
};

static const struct word progress_words[] = {
	{ "p", STATE_PROGRESSING }, { "r", STATE_RESTING }, { "a", STATE_ABSORBING }, { NULL, 0 }
};

static const struct word task_words[] = { { "type", STATE_TYPE },
	                                  { "create", STATE_CREATE },
	                                  { "create-parallel", STATE_CREATE_PARALLEL },
	                                  { "execute", STATE_EXECUTE },
	                                  { "pause", STATE_PAUSE },
	                                  { "resume", STATE_RESUME },
	                                  { "end", STATE_END },
	                                  { NULL, 0 } };

static const struct word worksharing_words[] = { { "begin", STATE_BEGIN },
	                                         { "end", STATE_END },
	                                         { NULL, 0 } };
static const struct word counters_words[] = { { "true", STATE_SET }, { NULL, 0 } };
static const struct word burst_words[] = { { "true", STATE_SET }, { NULL, 0 } };

static const struct word needs_words[] = { { "active", STATE_NEEDS_ACTIVE },
	                                   { "active-on-cpu", STATE_NEEDS_ACTIVE },
	                                   { "running", STATE_NEEDS_RUNNING },
	                                   { NULL, 0 } };

static const struct {
	const char *key;
	uint8_t role;
	const struct word *words;
} roles[] = {
	{ "lifecycle", STATE_ROLE_LIFE, life_words },
	{ "affinity", STATE_ROLE_AFFINITY, affinity_words },
	{ "flush", STATE_ROLE_FLUSH, flush_words },
	{ "mark", STATE_ROLE_MARK, mark_words },
	{ "progress", STATE_ROLE_PROGRESS, progress_words },
	{ "task", STATE_ROLE_TASK, task_words },
	{ "worksharing", STATE_ROLE_WORKSHARING, worksharing_words },
	{ "counters", STATE_ROLE_COUNTERS, counters_words },
	{ "burst", STATE_ROLE_BURST, burst_words },
};

/* ---- places in the payload ---- */

static uint8_t place_of(const struct plan *m, const char *name, uint32_t size)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < m->nlayout; i++) {
		const struct plan_layout_field *const f = &m->layout[i];
		if (f->type == VALUE_STRING || f->type == VALUE_BYTES || f->repeated ||
		    at >= STATE_NOWHERE - 8)
			break;
		if (slice_is(f->name, name))
			return plan_width(f->type) == size ? (uint8_t)at : STATE_NOWHERE;
		at += plan_width(f->type);
	}
	return STATE_NOWHERE;
}

static void find_places(struct state_code *c, const struct plan *m)
{
	c->least = m->layout_size < STATE_NOWHERE ? (uint8_t)m->layout_size : STATE_NOWHERE;
	c->at_task = place_of(m, "taskid", 4);
	c->at_type = place_of(m, "typeid", 4);
	c->at_body = place_of(m, "bodyid", 4);
	c->at_cpu = place_of(m, "cpu", 4);
	c->at_tid = place_of(m, "tid", 4);
	c->at_value = place_of(m, "value", 8);
	c->at_mark = place_of(m, "type", 4);
}

/* ---- numbers for words ---- */

/* From 1; 0: no such word, or too many of them. */
static uint8_t number_of(struct slice *list, uint32_t *n, uint32_t most, struct slice word)
{
	if (word.p == NULL)
		return 0;
	for (uint32_t i = 1; i <= *n; i++)
		if (slice_equal(list[i], word))
			return (uint8_t)i;
	if (*n + 1 >= most)
		return 0;
	list[++*n] = word;
	return (uint8_t)*n;
}

/* States of one text are one state, whichever code names it. */
static bool number_value(struct state_checker *c, struct state_code *code)
{
	code->value = tabletext_get(&c->values, code->value_text);
	if (code->value != TABLE_NONE)
		return true;
	code->value = ++c->nvalues;
	return tabletext_put(&c->values, code->value_text, code->value);
}

static bool is_required(const struct ovni_system *s, struct slice model)
{
	/* single streams, and those without the list, do not show what the trace requires */
	if (!s->in_folder || s->nrequired == 0 || model.p == NULL || slice_is(model, "ovni"))
		return true;
	for (uint32_t i = 0; i < s->nrequired; i++)
		if (slice_equal(s->required[i], model))
			return true;
	return s->nrequired >= OVNI_MAX_REQUIRED;
}

static void find_role(struct state_code *code, const struct plan *m)
{
	for (size_t i = 0; i < sizeof roles / sizeof roles[0] && code->role == STATE_ROLE_STACK; i++) {
		code->action = word_of(m, roles[i].key, roles[i].words);
		code->role = code->action != STATE_NO_ACTION ? roles[i].role : STATE_ROLE_STACK;
	}
}

static void find_stack_code(struct state_checker *c, struct state_code *code, const struct plan *m)
{
	const struct slice stack = plan_word(m, "stack"), value = plan_word(m, "value");

	code->move = word_is(m, "kind", "push") ? 1 : word_is(m, "kind", "pop") ? -1 : 0;
	code->stack = number_of(c->stack_names, &c->nstack_names, STATE_STACK_NAMES, stack);
	if (code->stack != 0 && slice_is(stack, "kernel"))
		c->kernel = code->stack;
	code->repeat_error = word_is(m, "repeat", "error");
	code->open_error = word_is(m, "open", "error");
	code->value_text = value.p != NULL ? value : SLICE_LIT("a state");
	if (m->nnames == 1 && m->names->nparts == 1 && m->names->parts->ref.nfields == 0)
		code->value_name = m->names->parts->text;
	code->label = value.n > 6 && memcmp(value.p + value.n - 6, ".label", 6) == 0;
}

static bool resolve(struct state_checker *c, struct state_code *code, const struct plan *m)
{
	const struct slice model = plan_word(m, "model");

	find_places(code, m);
	find_role(code, m);
	find_stack_code(c, code, m);
	code->checked = m->nwords > 0;
	code->needs = word_of(m, "needs", needs_words);
	code->on_cpu = word_is(m, "on-cpu", "true") || word_is(m, "needs", "active-on-cpu");
	code->refused = word_is(m, "old", "refused");
	code->model = number_of(c->models, &c->nmodels, STATE_MAX_MODELS, model);
	code->model_off = !is_required(c->system, model);
	return number_value(c, code);
}

struct state_code *state_code_of(struct state_checker *c, const struct class *cls)
{
	if (cls->index < c->ncodes && c->codes[cls->index].cls != NULL)
		return &c->codes[cls->index];
	if (!array_reach(&c->codes, &c->ncodes, cls->index, sizeof *c->codes))
		return NULL;
	struct state_code *const code = &c->codes[cls->index];
	const struct plan *const m = ovni_class_plan(cls);
	*code = (struct state_code){ .checked = m == NULL, .refused = m == NULL };
	if (m != NULL && !resolve(c, code, m))
		return NULL;
	code->cls = cls;
	return code;
}
