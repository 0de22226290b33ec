/*
 * Stacks of states.  A thread has one for each stack that the vocabulary names, one for each type of marks,
 * and one of bodies for each model with tasks.  They are lists in one pool, so that one limit bounds the
 * memory of all.  Beyond a limit, pushes are only counted, and as many pops are not checked.
 */
#include "ovni/state/state.h"

/* ---- the pool ---- */

static struct state_stack *find_stack(const struct state_checker *c, uint32_t thread, uint8_t id)
{
	const uint32_t i = table64_get(&c->stack_index, (uint64_t)thread << 8 | id);

	return i != TABLE_NONE ? &c->stacks[i] : NULL;
}

static struct state_stack *add_stack(const struct state_event *x, uint8_t id)
{
	struct state_checker *const c = x->checker;
	const uint32_t i = table64_element(&c->stack_index, (uint64_t)x->thread << 8 | id, &c->stacks,
	                                   &c->nstacks, &c->stacks_cap, sizeof *c->stacks, STATE_MAX_STACKS);

	if (i == TABLE_NONE)
		state_limit(x, "stacks of states", STATE_MAX_STACKS);
	if (i == TABLE_FAILED)
		state_no_memory(x);
	if (i >= TABLE_FAILED)
		return NULL;
	c->stacks[i] = (struct state_stack){ .thread = x->thread, .top = TABLE_NONE, .id = id };
	return &c->stacks[i];
}

/* Returns TABLE_NONE if the pool is full, or on OOM. */
static uint32_t add_entry(const struct state_event *x)
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
	if (!array_reserve(&c->entries, c->nentries, &c->entries_cap, sizeof *c->entries)) {
		state_no_memory(x);
		return TABLE_NONE;
	}
	return c->nentries++;
}

static void pop_entry(struct state_checker *c, struct state_stack *s)
{
	const uint32_t i = s->top;

	s->top = c->entries[i].below;
	s->depth--;
	c->entries[i].below = c->free_entry;
	c->free_entry = i;
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

static int shown_length(struct slice s)
{
	return s.n < 40 ? (int)s.n : 40;
}

static const char *describe_state(struct state_text *t, const struct state_code *a, uint64_t value)
{
	struct quoted q;

	if (a->check == state_check_mark)
		snprintf(t->s, sizeof t->s, "value %" PRId64, (int64_t)value);
	else if (a->label)
		snprintf(t->s, sizeof t->s, "a label");
	else if (a->value_name.p != NULL)
		snprintf(t->s, sizeof t->s, "%s (%.*s)", quoted(&q, a->value_name),
		         shown_length(a->value_text), a->value_text.p);
	else
		snprintf(t->s, sizeof t->s, "state %.*s", shown_length(a->value_text), a->value_text.p);
	return t->s;
}

static void report_mismatch(const struct state_event *x, uint64_t value, const struct state_entry *top)
{
	const struct state_code *const opener = &x->checker->codes[top->cls];
	struct state_text t, t2;

	state_report(x, OVNI_RULE_NESTING_MISMATCH,
	             "%s closes %s, but the innermost open one is %s, opened by %s at byte %" PRIu64,
	             state_name(x), describe_state(&t, x->code, value),
	             opener->label && x->code->label ? "another label"
	                                             : describe_state(&t2, opener, top->value),
	             opener->cls->name.p, top->offset);
}

/* Reports a state that is the innermost one already, and one that is too deep for ovniemu. */
static void check_push(const struct state_event *x, const struct state_stack *s, uint64_t value)
{
	const struct state_entry *const top = s->top != TABLE_NONE ? &x->checker->entries[s->top] : NULL;
	struct state_text t;

	if (x->code->repeat_error && top != NULL && top->value == value)
		state_report(x, OVNI_RULE_NESTING_REPEAT,
		             "%s opens %s again, the innermost open state since byte %" PRIu64, state_name(x),
		             describe_state(&t, x->code, value), top->offset);
	if (s->depth == STATE_MAX_DEPTH && s->beyond == 0)
		state_report(x, OVNI_RULE_NESTING_DEEP, "%s opens state %d of its stack", state_name(x),
		             STATE_MAX_DEPTH + 1);
}

/* ---- push and pop ---- */

void state_push(const struct state_event *x, uint8_t id, uint64_t value, bool body, bool quiet)
{
	struct state_stack *s = find_stack(x->checker, x->thread, id);

	if (s == NULL && (s = add_stack(x, id)) == NULL)
		return;
	if (!quiet)
		check_push(x, s, value);
	const uint32_t i = s->depth < STATE_MAX_DEPTH && s->beyond == 0 ? add_entry(x) : TABLE_NONE;
	if (i == TABLE_NONE) {
		s->beyond += s->beyond < UINT32_MAX;
		return;
	}
	x->checker->entries[i] =
	    (struct state_entry){ value, x->e->offset, s->top, x->code->cls->index & 0x7fffffff, body };
	s->top = i;
	s->depth++;
}

static bool contains(const struct state_checker *c, const struct state_stack *s, uint64_t value)
{
	for (uint32_t i = s->top; i != TABLE_NONE; i = c->entries[i].below)
		if (c->entries[i].value == value)
			return true;
	return false;
}

/* A state that is open further below is closed with all above it; one that is not open changes
 * nothing. */
uint32_t state_pop(const struct state_event *x, uint8_t id, uint64_t value, bool quiet)
{
	struct state_stack *const s = find_stack(x->checker, x->thread, id);
	uint32_t n = 0;

	if (s != NULL && s->beyond > 0) {
		s->beyond--;
		return 1;
	}
	if (s == NULL || s->top == TABLE_NONE) {
		/* Beyond the limit of stacks, some are missing. */
		if (!quiet && (s != NULL || x->checker->nstacks < STATE_MAX_STACKS)) {
			struct state_text t;
			state_report(x, OVNI_RULE_NESTING_EMPTY, "%s closes %s, but nothing is open",
			             state_name(x), describe_state(&t, x->code, value));
		}
		return 0;
	}
	if (!quiet && x->checker->entries[s->top].value != value)
		report_mismatch(x, value, &x->checker->entries[s->top]);
	if (!contains(x->checker, s, value))
		return 0;
	for (bool found = false; !found; n++) {
		found = x->checker->entries[s->top].value == value;
		pop_entry(x->checker, s);
	}
	return n;
}

void state_check_stack(const struct state_event *x)
{
	const struct state_code *const c = x->code;

	if (c->stack == 0)
		return;
	if (c->move > 0)
		state_push(x, c->stack, c->value, false, false);
	else if (c->move < 0)
		state_pop(x, c->stack, c->value, false);
	if (c->stack == x->checker->kernel && c->move != 0) {
		state_thread(x)->out = state_top(x->checker, x->thread, c->stack) != NULL;
		state_thread(x)->out_reported = false;
	}
}

/* ---- marks and counters, which metadata declares ---- */

/* Whether the type of the mark is declared, for events of this kind. */
static bool check_mark_type(const struct state_event *x, uint32_t type)
{
	static const struct ovni_mark none;
	const struct ovni_system *const s = x->checker->system;
	const struct ovni_mark *const mark = type < OVNI_MARK_TYPES ? &s->marks[type] : &none;
	const char *const wanted = x->code->action == STATE_SET ? "single" : "stack";

	if (mark->title.p == NULL) {
		if (ovni_system_is_whole(s))
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

	if (c->at_mark == STATE_NO_FIELD || c->at_value == STATE_NO_FIELD ||
	    !state_has_payload(x, c->fixed_size, true))
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

/* The payload is a jumbo one, with 8 bytes for each counter that metadata declares. */
void state_check_counters(const struct state_event *x)
{
	const struct ovni_system *const s = x->checker->system;

	if (!state_is_jumbo(x))
		return;
	if (s->ncounters == 0) {
		if (ovni_system_is_whole(s))
			state_report(x, OVNI_RULE_COUNTERS_UNDECLARED, "%s, but no stream.json has nosv.hwc",
			             state_name(x));
		return;
	}
	state_has_payload(x, 8 * s->ncounters, true);
}
