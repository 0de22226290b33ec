/*
 * The checks of one event in their order, the checks at the end of the trace, and functions for all checks:
 * payload and reports.  Actions of event codes are resolved once for each code from the keywords that the
 * vocabulary has for the reader.
 */
#include "ovni/state/state.h"

#include <stdlib.h>

/* ---- keywords ---- */

static bool keyword_is(const struct plan *m, const char *key, const char *text)
{
	return slice_is(plan_word(m, key), text);
}

/* Checks of events other than the states of stacks. */
static const struct {
	const char *key, *value;
	void (*check)(const struct state_event *x);
	uint8_t action;
} actions[] = {
	{ "lifecycle", "create", state_check_life, STATE_CREATE },
	{ "lifecycle", "execute", state_check_life, STATE_EXECUTE },
	{ "lifecycle", "cool", state_check_life, STATE_COOL },
	{ "lifecycle", "pause", state_check_life, STATE_PAUSE },
	{ "lifecycle", "warm", state_check_life, STATE_WARM },
	{ "lifecycle", "resume", state_check_life, STATE_RESUME },
	{ "lifecycle", "end", state_check_life, STATE_END },
	{ "affinity", "self", state_check_affinity, STATE_SELF },
	{ "affinity", "remote", state_check_affinity, STATE_REMOTE },
	{ "flush", "open", state_check_flush, STATE_OPEN },
	{ "flush", "close", state_check_flush, STATE_CLOSE },
	{ "mark", "set", state_check_mark, STATE_SET },
	{ "mark", "push", state_check_mark, STATE_PUSH },
	{ "mark", "pop", state_check_mark, STATE_POP },
	{ "progress", "p", state_check_progress, STATE_PROGRESSING },
	{ "progress", "r", state_check_progress, STATE_RESTING },
	{ "progress", "a", state_check_progress, STATE_ABSORBING },
	{ "task", "type", state_check_task, STATE_TYPE },
	{ "task", "create", state_check_task, STATE_CREATE },
	{ "task", "create-parallel", state_check_task, STATE_CREATE_PARALLEL },
	{ "task", "execute", state_check_task, STATE_EXECUTE },
	{ "task", "pause", state_check_task, STATE_PAUSE },
	{ "task", "resume", state_check_task, STATE_RESUME },
	{ "task", "end", state_check_task, STATE_END },
	{ "worksharing", "begin", state_check_worksharing, STATE_BEGIN },
	{ "worksharing", "end", state_check_worksharing, STATE_END },
	{ "counters", "true", state_check_counters, STATE_SET },
	{ "burst", "true", state_check_burst, STATE_SET },
};

static void read_action(struct state_code *code, const struct plan *m)
{
	code->check = state_check_stack;
	for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
		if (keyword_is(m, actions[i].key, actions[i].value)) {
			code->check = actions[i].check;
			code->action = actions[i].action;
			return;
		}
}

/* ---- offsets in the payload ---- */

/* Returns the offset of a field of this size; STATE_NO_FIELD: missing, or after fields of variable size. */
static uint8_t find_offset(const struct plan *m, const char *name, uint32_t size)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < m->nlayout; i++) {
		const struct plan_layout_field *const f = &m->layout[i];
		if (f->type == VALUE_STRING || f->type == VALUE_BYTES || f->repeated ||
		    at >= STATE_NO_FIELD - 8)
			break;
		if (slice_is(f->name, name))
			return plan_width(f->type) == size ? (uint8_t)at : STATE_NO_FIELD;
		at += plan_width(f->type);
	}
	return STATE_NO_FIELD;
}

static void read_offsets(struct state_code *c, const struct plan *m)
{
	c->fixed_size = m->layout_size < STATE_NO_FIELD ? (uint8_t)m->layout_size : STATE_NO_FIELD;
	c->at_task = find_offset(m, "taskid", 4);
	c->at_type = find_offset(m, "typeid", 4);
	c->at_body = find_offset(m, "bodyid", 4);
	c->at_cpu = find_offset(m, "cpu", 4);
	c->at_tid = find_offset(m, "tid", 4);
	c->at_value = find_offset(m, "value", 8);
	c->at_mark = find_offset(m, "type", 4);
}

/* ---- resolving ---- */

/* Numbers texts from 1; returns 0 for none, and if there are too many. */
static uint8_t number_text(struct slice *list, uint32_t *n, uint32_t max, struct slice text)
{
	if (text.p == NULL)
		return 0;
	for (uint32_t i = 1; i <= *n; i++)
		if (slice_equal(list[i], text))
			return (uint8_t)i;
	if (*n + 1 >= max)
		return 0;
	list[++*n] = text;
	return (uint8_t)*n;
}

/* States of equal text are one state, whichever code names it. */
static bool number_value(struct state_checker *c, struct state_code *code)
{
	code->value = tabletext_get(&c->values, code->value_text);
	if (code->value != TABLE_NONE)
		return true;
	code->value = (uint32_t)c->values.used + 1;
	return tabletext_put(&c->values, code->value_text, code->value);
}

static bool is_required(const struct ovni_system *s, struct slice model)
{
	/* Single streams, and streams without the list, do not show which models the trace requires. */
	if (!ovni_system_is_whole(s) || s->nrequired == 0 || model.p == NULL || slice_is(model, "ovni"))
		return true;
	return ovni_system_requires(s, model) || s->nrequired >= OVNI_MAX_REQUIRED;
}

static void read_stack(struct state_checker *c, struct state_code *code, const struct plan *m)
{
	const struct slice stack = plan_word(m, "stack"), value = plan_word(m, "value");

	code->move = keyword_is(m, "kind", "push") ? 1 : keyword_is(m, "kind", "pop") ? -1 : 0;
	code->stack = number_text(c->stack_names, &c->nstack_names, STATE_STACK_NAMES, stack);
	if (code->stack != 0 && slice_is(stack, "kernel"))
		c->kernel = code->stack;
	code->repeat_error = keyword_is(m, "repeat", "error");
	code->open_error = keyword_is(m, "open", "error");
	code->value_text = value.p != NULL ? value : SLICE_LIT("a state");
	if (m->nnames == 1 && m->names->nparts == 1 && m->names->parts->ref.nfields == 0)
		code->value_name = m->names->parts->text;
	code->label = value.n > 6 && memcmp(value.p + value.n - 6, ".label", 6) == 0;
}

static bool resolve(struct state_checker *c, struct state_code *code, const struct plan *m)
{
	const struct slice model = plan_word(m, "model");

	read_offsets(code, m);
	read_action(code, m);
	const bool on_cpu = keyword_is(m, "needs", "active-on-cpu");
	code->needs = on_cpu || keyword_is(m, "needs", "active") ? STATE_NEEDS_ACTIVE
	              : keyword_is(m, "needs", "running")        ? STATE_NEEDS_RUNNING
	                                                         : STATE_NEEDS_ANY;
	code->on_cpu = on_cpu || keyword_is(m, "on-cpu", "true");
	read_stack(c, code, m);
	code->checked = m->nwords > 0;
	code->refused = keyword_is(m, "old", "refused");
	code->model = number_text(c->models, &c->nmodels, STATE_MAX_MODELS, model);
	code->model_off = !is_required(c->system, model);
	return number_value(c, code);
}

static struct state_code *state_code_of(struct state_checker *c, const struct class *cls)
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

/* In messages, by enum state_life. */
static const char *const lives[] = { "has not started", "is running", "is paused",
	                             "is cooling",      "is warming", "has ended" };

/* ---- for all checks ---- */

bool state_has_payload(const struct state_event *x, uint32_t n, bool exact)
{
	if (x->too_large)
		return false;
	if (x->payload.n == n || (x->payload.n > n && !exact))
		return true;
	state_report(x, OVNI_RULE_PAYLOAD_REFUSED, "%s has %" PRIu32 " bytes of payload, expected %s%" PRIu32,
	             state_name(x), x->payload.n, exact ? "" : "at least ", n);
	return false;
}

bool state_is_jumbo(const struct state_event *x)
{
	if (!x->jumbo)
		state_report(x, OVNI_RULE_PAYLOAD_REFUSED, "%s is not a jumbo event", state_name(x));
	return x->jumbo;
}

uint32_t state_u32(const struct state_event *x, uint8_t offset)
{
	return offset != STATE_NO_FIELD && offset + 4U <= x->payload.n
	           ? load_u32(x->payload.p + offset, x->stream->big)
	           : 0;
}

void state_no_memory(const struct state_event *x)
{
	x->checker->system->no_memory = true;
}

void state_limit(const struct state_event *x, const char *what, uint32_t max)
{
	ovni_system_limit(x->checker->system, x->r, what, max);
}

/* ---- one event ---- */

/* Reports events that are unknown to ovniemu, or whose model no stream requires, once for each code.  Returns
 * false if the event cannot be checked. */
static bool check_code(const struct state_event *x)
{
	struct state_code *const c = x->code;
	struct quoted q, q2;

	if (!c->refused && !c->model_off)
		return true;
	if (!c->reported && c->refused)
		state_report(x, OVNI_RULE_EVENT_REFUSED, "event %s; first occurrence",
		             quoted(&q, c->cls->name));
	else if (!c->reported)
		state_report(x, OVNI_RULE_MODEL_NOT_REQUIRED,
		             "event %s is of model %s, which no stream requires; first occurrence",
		             quoted(&q, c->cls->name), quoted(&q2, x->checker->models[c->model]));
	c->reported = true;
	return !c->refused;
}

/* Reports a thread that is not in the state that the event requires. */
static void check_thread(const struct state_event *x)
{
	struct state_thread *const t = state_thread(x);
	const struct state_code *const c = x->code;

	if (c->on_cpu && t->out && !t->out_reported) {
		state_report(x, OVNI_RULE_OUT_OF_CPU, "%s while the kernel has switched the thread out",
		             state_name(x));
		t->out_reported = true;
	}
	if (t->needs_reported || c->needs == STATE_NEEDS_ANY ||
	    (c->needs == STATE_NEEDS_ACTIVE ? state_is_active(t) : t->life == STATE_THREAD_RUNNING))
		return;
	state_report(
	    x, OVNI_RULE_THREAD_INACTIVE, "%s requires a thread that is %s, but it %s", state_name(x),
	    c->needs == STATE_NEEDS_ACTIVE ? "running, cooling or warming" : "running", lives[t->life]);
	t->needs_reported = true;
}

static void find_payload(struct state_event *x, const struct batch *b)
{
	for (uint32_t i = 0; i < x->e->nfields; i++) {
		const struct field *const f = &b->fields[x->e->first_field + i];
		if (f->value.type == VALUE_BYTES && slice_is(f->name, "payload"))
			x->payload = value_text(&f->value);
		else if (f->value.type == VALUE_U8 && slice_is(f->name, "flags"))
			x->jumbo = (f->value.u64 & OVNI_FLAG_JUMBO) != 0;
	}
	x->too_large = x->jumbo && x->payload.p == NULL;
}

void state_check_event(struct state_checker *c, struct ovni_stream *stream, struct reader *r,
                       const struct batch *b, const struct event *e)
{
	struct state_event x = { .checker = c, .stream = stream, .r = r, .e = e };

	x.code = state_code_of(c, e->cls);
	if (x.code == NULL)
		state_no_memory(&x);
	if (x.code == NULL || !x.code->checked || !state_find_thread(&x) || !check_code(&x))
		return;
	find_payload(&x, b);
	check_thread(&x);
	x.code->check(&x);
}

/* ---- the end of the trace ---- */

/* This and later findings are in the report of the trace, so they name the thread. */
static void check_lives(struct reader *r, const struct state_checker *c)
{
	for (uint32_t i = 0; i < c->nthreads; i++) {
		const struct state_thread *const t = &c->threads[i];
		if (t->life != STATE_THREAD_ENDED)
			ovni_report(r, OVNI_RULE_THREAD_NOT_DEAD,
			            "thread %" PRId32 " of process %" PRId32 " %s at the end", t->tid, t->pid,
			            lives[t->life]);
	}
}

/* Compares all threads with that of the first stream, in order of paths, that has events. */
static void check_gate(struct reader *r, const struct state_checker *c)
{
	const struct state_thread *first = c->threads;

	for (uint32_t i = 1; i < c->nthreads; i++)
		if (c->threads[i].stream < first->stream)
			first = &c->threads[i];
	for (uint32_t i = 0; i < c->nthreads; i++) {
		const struct state_thread *const t = &c->threads[i];
		const bool later = t->first > first->first;
		const uint64_t apart = later ? t->first - first->first : first->first - t->first;
		if (apart > OVNI_CLOCK_GATE)
			ovni_report(r, OVNI_RULE_CLOCK_GATE,
			            "thread %" PRId32 " of process %" PRId32 " starts %" PRIu64
			            " ns %s than thread %" PRId32 " of process %" PRId32,
			            t->tid, t->pid, apart, later ? "later" : "earlier", first->tid,
			            first->pid);
	}
}

/* States other than bodies of tasks, which have a rule of their own. */
static void check_open(struct reader *r, const struct state_checker *c, const struct state_stack *s)
{
	const struct state_thread *const t = &c->threads[s->thread];
	const struct state_entry *inner = NULL;
	uint32_t n = 0;

	for (uint32_t i = s->top; i != TABLE_NONE; i = c->entries[i].below) {
		const struct state_entry *const e = &c->entries[i];
		if (!e->body && c->codes[e->cls].open_error && n++ == 0)
			inner = e;
	}
	if (n > 0)
		ovni_report(r, OVNI_RULE_NESTING_LEFT_OPEN,
		            "thread %" PRId32 " of process %" PRId32 ": %" PRIu32
		            " open state%s on one stack, the innermost opened by %s at byte %" PRIu64,
		            t->tid, t->pid, n, n == 1 ? "" : "s", c->codes[inner->cls].cls->name.p,
		            inner->offset);
}

static void check_unfinished(struct reader *r, const struct state_checker *c, const struct state_stack *s)
{
	const struct state_thread *const t = &c->threads[s->thread];
	const struct state_entry *const e = s->top != TABLE_NONE ? &c->entries[s->top] : NULL;

	if (e != NULL && c->codes[e->cls].open_error)
		ovni_report(r, OVNI_RULE_TASK_UNFINISHED,
		            "thread %" PRId32 " of process %" PRId32
		            ": %u unfinished task%s, the innermost executed by %s at byte %" PRIu64,
		            t->tid, t->pid, s->depth, s->depth == 1 ? "" : "s", c->codes[e->cls].cls->name.p,
		            e->offset);
}

void state_check_end(const struct state_checker *c, struct reader *r)
{
	if (c->nthreads == 0)
		return;
	check_gate(r, c);
	check_lives(r, c);
	for (uint32_t i = 0; i < c->nstacks; i++) {
		if (c->stacks[i].id >= STATE_STACK_BODIES)
			check_unfinished(r, c, &c->stacks[i]);
		else
			check_open(r, c, &c->stacks[i]);
	}
}

/* ---- lifetime ---- */

struct state_checker *state_checker_new(struct ovni_system *system)
{
	struct state_checker *const c = calloc(1, sizeof *c);

	if (c != NULL) {
		c->system = system;
		c->free_entry = TABLE_NONE;
		c->units.max = STATE_MAX_UNITS;
	}
	return c;
}

void state_checker_free(struct state_checker *c)
{
	if (c == NULL)
		return;
	free(c->codes);
	tabletext_free(&c->values);
	free(c->threads);
	table64_free(&c->by_tid);
	free(c->cpus);
	table64_free(&c->cpu_index);
	free(c->entries);
	free(c->stacks);
	table64_free(&c->stack_index);
	table64_free(&c->label_numbers);
	state_units_free(&c->units);
	free(c);
}
