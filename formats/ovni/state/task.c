#include "ovni/state/state.h"

/*
 * Types, tasks and their bodies.  Numbers are those of a process and a model;
 * any thread may make them, but they must be there before they are used.
 */

/* What differs between the models. */
struct task_rules {
	const char *model;
	bool again;        /* a task that ended may be run once more */
	bool nest_refused; /* no body over a running one */
	bool zero_at_create;
	bool create_exact; /* no bytes behind those that are known */
};

static const struct task_rules *rules_of(const struct state_event *x)
{
	static const struct task_rules models[] = {
		{ "nanos6", false, false, false, true },
		{ "nosv", true, true, false, false },
		{ "openmp", true, false, true, true },
	};
	static const struct task_rules other = { "", true, false, false, false };

	for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
		if (x->code->model != 0 && slice_is(x->checker->models[x->code->model], models[i].model))
			return &models[i];
	return &other;
}

static uint64_t key_of(const struct state_event *x, enum state_unit_kind kind, uint32_t id)
{
	return (uint64_t)kind << 62 | (uint64_t)state_thread(x)->scope << 40 |
	       (uint64_t)x->code->model << 36 | id;
}

/* Bodies of parallel tasks; those of others are the task itself. */
static uint64_t body_key(uint32_t task, uint32_t body)
{
	return (uint64_t)STATE_UNIT_BODY << 62 | (uint64_t)task << 32 | body;
}

/* Makes room by evicting what has ended; not again and again for a few. */
static bool make_room(const struct state_event *x)
{
	struct state_units *const t = &x->checker->units;
	const bool first = !t->evicted;
	uint32_t n;

	if (!t->full) {
		if (!state_units_evict(t, &n))
			state_no_memory(x);
		t->full = n < t->most / 8;
	}
	if (first && t->evicted)
		state_report(x, OVNI_RULE_TASKS_FORGOTTEN,
		             "more than %" PRIu32 " types, tasks and bodies; first occurrence", t->most);
	return !state_units_are_full(t);
}

/* TABLE_NONE: no more of them, which was reported. */
static uint32_t add_unit(const struct state_event *x, uint64_t key)
{
	struct state_units *const t = &x->checker->units;

	if (state_units_are_full(t) && !make_room(x)) {
		state_limit(x, "types, tasks and bodies that have not ended", t->most);
		return TABLE_NONE;
	}
	const uint32_t i = state_unit_add(t, key);
	if (i == TABLE_NONE)
		state_no_memory(x);
	return i;
}

/* Whether what is missing may be in streams that are not read, or evicted. */
static bool may_be_elsewhere(const struct state_event *x)
{
	return !x->checker->system->in_folder || x->checker->units.evicted || x->checker->units.full;
}

/* ---- types ---- */

static void declare_type(const struct state_event *x)
{
	const uint32_t from = x->code->least, id = state_u32(x, x->code->at_type);

	if (!state_is_jumbo(x) || !state_has_payload(x, from, false))
		return;
	const char *const label = x->payload.p + from, *const nul = memchr(label, 0, x->payload.n - from);
	const size_t n = nul != NULL ? (size_t)(nul - label) : x->payload.n - from;
	if (n >= 512)
		state_report(x, OVNI_RULE_LABEL_LONG,
		             "the label of type %" PRIu32 " has %zu bytes, expected less than 512", id, n);
	if (id == 0) {
		state_report(x, OVNI_RULE_ID_ZERO, "a type has the number 0");
		return;
	}
	const uint64_t key = key_of(x, STATE_UNIT_TYPE, id);
	uint32_t i = state_unit_find(&x->checker->units, key);
	if (i != TABLE_NONE)
		state_report(x, OVNI_RULE_TYPE_REPEATED, "type %" PRIu32 " was declared before", id);
	else if ((i = add_unit(x, key)) != TABLE_NONE) {
		x->checker->units.units[i].label = (uint32_t)hash_bytes(label, n, hash_seed());
		state_check_label(x, slice_of(label, n), x->checker->units.units[i].label);
	}
}

/* The label of a type; of one that is not known, a number that stands for it. */
static uint32_t label_of(const struct state_event *x, uint32_t type)
{
	const uint32_t i = state_unit_find(&x->checker->units, key_of(x, STATE_UNIT_TYPE, type));

	if (i != TABLE_NONE)
		return x->checker->units.units[i].label;
	if (!may_be_elsewhere(x))
		state_report(x, OVNI_RULE_TYPE_UNKNOWN, "type %" PRIu32 " was not declared before", type);
	return type;
}

/* ---- tasks ---- */

static void create(const struct state_event *x)
{
	const uint32_t id = state_u32(x, x->code->at_task);

	if (!state_has_payload(x, x->code->least, rules_of(x)->create_exact))
		return;
	const uint32_t label = label_of(x, state_u32(x, x->code->at_type));
	if (id == 0 && rules_of(x)->zero_at_create) {
		state_report(x, OVNI_RULE_ID_ZERO, "a task has the number 0");
		return;
	}
	const uint64_t key = key_of(x, STATE_UNIT_TASK, id);
	uint32_t i = state_unit_find(&x->checker->units, key);
	if (i != TABLE_NONE)
		state_report(x, OVNI_RULE_TASK_REPEATED, "task %" PRIu32 " was created before", id);
	else if ((i = add_unit(x, key)) != TABLE_NONE) {
		x->checker->units.units[i].label = label;
		x->checker->units.units[i].parallel = x->code->action == STATE_CREATE_PARALLEL;
	}
}

/* TK6, TK8.  A task that nobody created is one from here on.  *ok: nothing was wrong. */
static uint32_t find_task(const struct state_event *x, uint32_t id, uint32_t body, bool *ok)
{
	const uint64_t key = key_of(x, STATE_UNIT_TASK, id);
	const bool zero = id == 0 && x->code->action == STATE_EXECUTE && !rules_of(x)->zero_at_create;
	uint32_t i = state_unit_find(&x->checker->units, key);

	if (zero)
		state_report(x, OVNI_RULE_ID_ZERO, "a task has the number 0");
	else if (i == TABLE_NONE && !may_be_elsewhere(x))
		state_report(x, OVNI_RULE_TASK_UNKNOWN, "task %" PRIu32 " was not created before", id);
	*ok = !zero && (i != TABLE_NONE || may_be_elsewhere(x));
	if (i != TABLE_NONE || (i = add_unit(x, key)) == TABLE_NONE)
		return i;
	x->checker->units.units[i].parallel = body != 0;
	if (x->code->action != STATE_EXECUTE)
		x->checker->units.units[i].state =
		    x->code->action == STATE_RESUME ? STATE_BODY_PAUSED : STATE_BODY_RUNNING;
	return i;
}

/* TK9.  The body that an event is about; TABLE_NONE: none can be tracked.  A wrong number is reported at
 * its first use. */
static uint32_t find_body(const struct state_event *x, bool *ok)
{
	const uint32_t id = state_u32(x, x->code->at_task), body = state_u32(x, x->code->at_body);
	const uint32_t task = find_task(x, id, body, ok);

	if (task == TABLE_NONE)
		return task;
	const bool parallel = x->checker->units.units[task].parallel;
	if (!parallel && body == 0)
		return task;
	const uint32_t i = state_unit_find(&x->checker->units, body_key(task, body));
	if (i != TABLE_NONE)
		return i;
	if (*ok && parallel != (body != 0)) {
		state_report(x, OVNI_RULE_BODY_ID, "body %" PRIu32 " of the %s task %" PRIu32 ", expected %s",
		             body, parallel ? "parallel" : "normal", id, parallel ? "1 or more" : "0");
		*ok = false;
	}
	return add_unit(x, body_key(task, body));
}

/* ---- bodies ---- */

static const char *const states[] = { "not run yet", "running", "paused", "ended" };

static bool is_parallel(const struct state_unit *u)
{
	return u->key >> 62 == STATE_UNIT_BODY;
}

/* TK10, TK11, TK12. */
static bool check_execute(const struct state_event *x, const struct state_unit *u, uint32_t id)
{
	const struct task_rules *const rules = rules_of(x);
	const struct state_entry *const top =
	    state_top(x->checker, x->thread, (uint8_t)(STATE_STACK_BODIES + x->code->model));

	if (u->state == STATE_BODY_RUNNING || u->state == STATE_BODY_PAUSED) {
		state_report(x, OVNI_RULE_TASK_BUSY, "task %" PRIu32 " is executed, but it is %s%s", id,
		             states[u->state],
		             u->state == STATE_BODY_PAUSED ? ", which requires a resume" : " already");
		return false;
	}
	if (u->state == STATE_BODY_ENDED && (!rules->again || is_parallel(u))) {
		state_report(x, OVNI_RULE_TASK_AGAIN,
		             "task %" PRIu32 " is executed again, but such a task runs once", id);
		return false;
	}
	const bool over = top != NULL && x->checker->units.units[top->value].state == STATE_BODY_RUNNING;
	if (over && !rules->nest_refused) {
		state_report(x, OVNI_RULE_TASK_OVER_TASK,
		             "task %" PRIu32 " is executed while the task of byte %" PRIu64
		             " is running and not paused",
		             id, top->offset);
	} else if (over) {
		state_report(x, OVNI_RULE_TASK_NESTED,
		             "task %" PRIu32 " is executed inside the task of byte %" PRIu64
		             ", which is running and not paused",
		             id, top->offset);
		return false;
	}
	return true;
}

static void execute(const struct state_event *x)
{
	const uint32_t id = state_u32(x, x->code->at_task);
	bool ok = true;
	const uint32_t i = find_body(x, &ok);

	if (i == TABLE_NONE)
		return;
	struct state_unit *const u = &x->checker->units.units[i];
	const bool busy = u->state == STATE_BODY_RUNNING || u->state == STATE_BODY_PAUSED;
	if (ok)
		ok = check_execute(x, u, id);
	if (busy) {
		/* it is on a stack already: treated as a resume */
		u->state = STATE_BODY_RUNNING;
		return;
	}
	const uint32_t task = is_parallel(u) ? (uint32_t)(u->key >> 32 & 0x3fffffff) : i;
	u->state = STATE_BODY_RUNNING;
	u->thread = x->thread & 0xffffff;
	state_push(x, (uint8_t)(STATE_STACK_BODIES + x->code->model), i, true, true);
	if (x->code->stack != 0)
		state_push(x, x->code->stack,
		           x->code->label ? x->checker->units.units[task].label : x->code->value, true, !ok);
}

/* TK14 to TK17: the body is in the state that the action requires, and on top in this thread. */
static bool check_change(const struct state_event *x, const struct state_unit *u, uint32_t unit, uint32_t id)
{
	const uint8_t wanted = x->code->action == STATE_RESUME ? STATE_BODY_PAUSED : STATE_BODY_RUNNING;
	const struct state_entry *const top =
	    state_top(x->checker, x->thread, (uint8_t)(STATE_STACK_BODIES + x->code->model));

	if (x->code->action == STATE_PAUSE && is_parallel(u)) {
		state_report(x, OVNI_RULE_PAUSE_PARALLEL, "a body of the parallel task %" PRIu32 " is paused",
		             id);
		return false;
	}
	if (u->state != wanted) {
		state_report(x, OVNI_RULE_TASK_STATE,
		             "%s requires a task that is %s, but task %" PRIu32 " is %s", state_name(x),
		             states[wanted], id, states[u->state]);
		return false;
	}
	if (top != NULL && top->value == unit)
		return true;
	/* a single stream may start in the middle */
	if (top == NULL && may_be_elsewhere(x) && u->thread == 0)
		return true;
	if (u->thread != x->thread)
		state_report(x, OVNI_RULE_TASK_ELSEWHERE,
		             "task %" PRIu32 " is run by thread %" PRId32 ", not by this one", id,
		             x->checker->threads[u->thread].tid);
	else
		state_report(x, OVNI_RULE_TASK_ELSEWHERE,
		             "task %" PRIu32 " is not the innermost one of its thread", id);
	return false;
}

static void change(const struct state_event *x)
{
	static const uint8_t to[] = { [STATE_PAUSE] = STATE_BODY_PAUSED,
		                      [STATE_RESUME] = STATE_BODY_RUNNING,
		                      [STATE_END] = STATE_BODY_ENDED };
	const uint32_t id = state_u32(x, x->code->at_task);
	bool ok = true;
	const uint32_t i = find_body(x, &ok);

	if (i == TABLE_NONE)
		return;
	struct state_unit *const u = &x->checker->units.units[i];
	if (ok)
		ok = check_change(x, u, i, id);
	u->state = to[x->code->action] & 15U;
	if (x->code->action != STATE_END)
		return;
	const uint32_t task = is_parallel(u) ? (uint32_t)(u->key >> 32 & 0x3fffffff) : i;
	/* the tasks on top of it are removed with it; if it was not on the stack, neither was its state */
	const uint32_t gone = state_pop(x, (uint8_t)(STATE_STACK_BODIES + x->code->model), i, true);
	const uint64_t value = x->code->label ? x->checker->units.units[task].label : x->code->value;
	for (uint32_t n = 0; x->code->stack != 0 && n < (x->code->label && gone > 0 ? 1 : gone); n++)
		state_pop(x, x->code->stack, value, !ok || n > 0);
}

void state_check_task(const struct state_event *x)
{
	if (x->code->action == STATE_TYPE)
		declare_type(x);
	else if (x->code->action == STATE_CREATE || x->code->action == STATE_CREATE_PARALLEL)
		create(x);
	else if (!state_has_payload(x, x->code->least, false))
		return;
	else if (x->code->action == STATE_EXECUTE)
		execute(x);
	else
		change(x);
}

/* ---- worksharing, counters ---- */

/* WS1 to WS3: regions named by a type's label, on the stack of labels. */
void state_check_worksharing(const struct state_event *x)
{
	const uint32_t type = state_u32(x, x->code->at_type);

	if (!state_has_payload(x, x->code->least, false) || x->code->stack == 0)
		return;
	if (type == 0)
		state_report(x, OVNI_RULE_ID_ZERO, "a worksharing has the type 0");
	const uint32_t label = type != 0 ? label_of(x, type) : 0;
	if (x->code->action == STATE_BEGIN)
		state_push(x, x->code->stack, label, false, false);
	else
		state_pop(x, x->code->stack, label, false);
}
