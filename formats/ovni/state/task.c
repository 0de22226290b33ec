/*
 * Types, tasks and their bodies.  Their numbers are unique in a process and a model; any thread may create
 * them, but they must exist before they are used.  All are units of one table; long runs have more tasks than
 * it holds, so ended ones are evicted when it is full.
 */
#include "ovni/state/state.h"

#include <stdlib.h>

#define LABELS_MAX (1U << 20) /* of types, compared with each other */

/* ---- the table of units ---- */

uint32_t state_unit_find(const struct state_units *t, uint64_t key)
{
	return table64_get(&t->index, key);
}

bool state_units_are_full(const struct state_units *t)
{
	return t->n >= t->max && t->free == 0;
}

uint32_t state_unit_add(struct state_units *t, uint64_t key)
{
	const uint32_t i = t->free != 0 ? t->free - 1 : t->n;

	if (state_units_are_full(t) || !array_reserve(&t->units, t->n, &t->cap, sizeof *t->units) ||
	    !table64_put(&t->index, key, i))
		return TABLE_NONE;
	if (t->free != 0)
		t->free = t->units[i].label;
	else
		t->n++;
	t->units[i] = (struct state_unit){ .key = key };
	return i;
}

/* Units keep their indices, since stacks and bodies refer to them.  A table64 cannot remove keys: those that
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

/* Evicts units that have ended, unless the last call evicted few.  Returns whether one can be added. */
static bool evict_ended(const struct state_event *x)
{
	struct state_units *const t = &x->checker->units;
	const bool first = !t->evicted;
	uint32_t n;

	if (!t->full) {
		if (!state_units_evict(t, &n))
			state_no_memory(x);
		t->full = n < t->max / 8;
	}
	if (first && t->evicted)
		state_report(x, OVNI_RULE_TASKS_FORGOTTEN,
		             "more than %" PRIu32 " types, tasks and bodies; first occurrence", t->max);
	return !state_units_are_full(t);
}

/* Returns TABLE_NONE if there are too many, which is reported, or on OOM. */
static uint32_t add_unit(const struct state_event *x, uint64_t key)
{
	struct state_units *const t = &x->checker->units;

	if (state_units_are_full(t) && !evict_ended(x)) {
		state_limit(x, "types, tasks and bodies that have not ended", t->max);
		return TABLE_NONE;
	}
	const uint32_t i = state_unit_add(t, key);
	if (i == TABLE_NONE)
		state_no_memory(x);
	return i;
}

static struct state_unit *unit_at(const struct state_event *x, uint32_t i)
{
	return &x->checker->units.units[i];
}

/* Whether a missing unit may have been evicted, or be in streams that are not read. */
static bool may_be_elsewhere(const struct state_event *x)
{
	return !ovni_system_is_whole(x->checker->system) || x->checker->units.evicted ||
	       x->checker->units.full;
}

/* ---- models and keys ---- */

/* Differences between the models. */
struct task_rules {
	const char *model;
	bool rerun;          /* a task that ended may run once more */
	bool nest_refused;   /* a body over a running one is refused, and not only suspicious */
	bool zero_at_create; /* the number 0 is refused at creation, and not at execution */
	bool create_exact;   /* no bytes may follow the known fields at creation */
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

static uint64_t unit_key(const struct state_event *x, enum state_unit_kind kind, uint32_t id)
{
	return (uint64_t)kind << 62 | (uint64_t)state_thread(x)->scope << 40 |
	       (uint64_t)x->code->model << 36 | id;
}

/* The key of a body of a parallel task; the body of a normal task is the task itself. */
static uint64_t body_key(uint32_t task, uint32_t body)
{
	return (uint64_t)STATE_UNIT_BODY << 62 | (uint64_t)task << 32 | body;
}

/* ---- labels of types ---- */

/*
 * ovniemu numbers the labels of task types by a hash of 32 bits, of which it drops the highest, and
 * refuses two labels of one number in one model.  The hash is Bob Jenkins' of 1996, whose first two words of
 * state begin with the golden ratio, and the third with 0xfeedbeef.
 */
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

/* Returns up to four bytes, the first one lowest. */
static uint32_t low_bytes(const char *p, size_t n)
{
	uint32_t v = 0;

	for (size_t i = 0; i < n && i < 4; i++)
		v |= (uint32_t)(unsigned char)p[i] << 8 * i;
	return v;
}

static uint32_t label_number(struct slice label)
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
	/* The length occupies the lowest byte of the third word. */
	w.a += low_bytes(p, n);
	w.b += n > 4 ? low_bytes(p + 4, n - 4) : 0;
	w.c += label.n + (n > 8 ? low_bytes(p + 8, n - 8) << 8 : 0);
	mix(&w);
	const uint32_t number = w.c & 0x7fffffff;
	return number != 0 ? number : 1;
}

/* Checks a new label of a task type; `hash` identifies it. */
static void check_label(const struct state_event *x, struct slice label, uint32_t hash)
{
	struct state_checker *const c = x->checker;
	const uint64_t key = (uint64_t)x->code->model << 32 | label_number(label);
	const uint32_t known = table64_get(&c->label_numbers, key);
	struct quoted q;

	/* A table cannot store TABLE_NONE. */
	hash = hash == TABLE_NONE ? 0 : hash;
	if (label.n >= OVNI_MARK_TEXT || known == hash)
		return;
	if (known != TABLE_NONE)
		state_report(x, OVNI_RULE_LABEL_COLLISION,
		             "label %s has the number %" PRIu32 " of another label before", quoted(&q, label),
		             (uint32_t)key);
	else if (c->label_numbers.used < LABELS_MAX && !table64_put(&c->label_numbers, key, hash))
		state_no_memory(x);
}

/* ---- types ---- */

static void declare_type(const struct state_event *x)
{
	const uint32_t from = x->code->fixed_size, id = state_u32(x, x->code->at_type);

	if (!state_is_jumbo(x) || !state_has_payload(x, from, false))
		return;
	const char *const label = x->payload.p + from, *const nul = memchr(label, 0, x->payload.n - from);
	const size_t n = nul != NULL ? (size_t)(nul - label) : x->payload.n - from;
	if (n >= OVNI_MARK_TEXT)
		state_report(x, OVNI_RULE_LABEL_LONG,
		             "the label of type %" PRIu32 " has %zu bytes, expected less than %d", id, n,
		             OVNI_MARK_TEXT);
	if (id == 0) {
		state_report(x, OVNI_RULE_ID_ZERO, "a type has the number 0");
		return;
	}
	const uint64_t key = unit_key(x, STATE_UNIT_TYPE, id);
	uint32_t i = state_unit_find(&x->checker->units, key);
	if (i != TABLE_NONE)
		state_report(x, OVNI_RULE_TYPE_REPEATED, "type %" PRIu32 " was declared before", id);
	else if ((i = add_unit(x, key)) != TABLE_NONE) {
		unit_at(x, i)->label = (uint32_t)hash_bytes(label, n, hash_seed());
		check_label(x, slice_of(label, n), unit_at(x, i)->label);
	}
}

/* Returns the label of a type; its number, if it is unknown. */
static uint32_t label_of(const struct state_event *x, uint32_t type)
{
	const uint32_t i = state_unit_find(&x->checker->units, unit_key(x, STATE_UNIT_TYPE, type));

	if (i != TABLE_NONE)
		return unit_at(x, i)->label;
	if (!may_be_elsewhere(x))
		state_report(x, OVNI_RULE_TYPE_UNKNOWN, "type %" PRIu32 " was not declared before", type);
	return type;
}

/* ---- tasks and bodies ---- */

static void create_task(const struct state_event *x)
{
	const uint32_t id = state_u32(x, x->code->at_task);

	if (!state_has_payload(x, x->code->fixed_size, rules_of(x)->create_exact))
		return;
	const uint32_t label = label_of(x, state_u32(x, x->code->at_type));
	if (id == 0 && rules_of(x)->zero_at_create) {
		state_report(x, OVNI_RULE_ID_ZERO, "a task has the number 0");
		return;
	}
	const uint64_t key = unit_key(x, STATE_UNIT_TASK, id);
	uint32_t i = state_unit_find(&x->checker->units, key);
	if (i != TABLE_NONE)
		state_report(x, OVNI_RULE_TASK_REPEATED, "task %" PRIu32 " was created before", id);
	else if ((i = add_unit(x, key)) != TABLE_NONE) {
		unit_at(x, i)->label = label;
		unit_at(x, i)->parallel = x->code->action == STATE_CREATE_PARALLEL;
	}
}

/* Adds a task that was not created.  Sets *ok to whether the task is valid. */
static uint32_t find_task(const struct state_event *x, uint32_t id, uint32_t body, bool *ok)
{
	const uint64_t key = unit_key(x, STATE_UNIT_TASK, id);
	const bool zero = id == 0 && x->code->action == STATE_EXECUTE && !rules_of(x)->zero_at_create;
	uint32_t i = state_unit_find(&x->checker->units, key);

	if (zero)
		state_report(x, OVNI_RULE_ID_ZERO, "a task has the number 0");
	else if (i == TABLE_NONE && !may_be_elsewhere(x))
		state_report(x, OVNI_RULE_TASK_UNKNOWN, "task %" PRIu32 " was not created before", id);
	*ok = !zero && (i != TABLE_NONE || may_be_elsewhere(x));
	if (i != TABLE_NONE || (i = add_unit(x, key)) == TABLE_NONE)
		return i;
	unit_at(x, i)->parallel = body != 0;
	if (x->code->action != STATE_EXECUTE)
		unit_at(x, i)->state =
		    x->code->action == STATE_RESUME ? STATE_BODY_PAUSED : STATE_BODY_RUNNING;
	return i;
}

/* Returns the body of the event; TABLE_NONE: none can be tracked.  A wrong number is reported at its
 * first use. */
static uint32_t find_body(const struct state_event *x, bool *ok)
{
	const uint32_t id = state_u32(x, x->code->at_task), body = state_u32(x, x->code->at_body);
	const uint32_t task = find_task(x, id, body, ok);

	if (task == TABLE_NONE)
		return task;
	const bool parallel = unit_at(x, task)->parallel;
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

static const char *const states[] = { "not run yet", "running", "paused", "ended" };

static bool is_parallel(const struct state_unit *u)
{
	return u->key >> 62 == STATE_UNIT_BODY;
}

/* Returns the value of the state that a unit pushes: the label of its task, or the state of the code. */
static uint64_t state_value(const struct state_event *x, uint32_t unit)
{
	const struct state_unit *const u = unit_at(x, unit);
	const uint32_t task = is_parallel(u) ? (uint32_t)(u->key >> 32 & 0x3fffffff) : unit;

	return x->code->label ? unit_at(x, task)->label : x->code->value;
}

/* Returns the number of the stack of bodies of the model. */
static uint8_t bodies_of(const struct state_event *x)
{
	return (uint8_t)(STATE_STACK_BODIES + x->code->model);
}

/* Whether the body can be executed: it is not on a stack, may run again if it has ended, and is not
 * inside one that is running. */
static bool check_execute(const struct state_event *x, const struct state_unit *u, uint32_t id)
{
	const struct task_rules *const rules = rules_of(x);
	const struct state_entry *const top = state_top(x->checker, x->thread, bodies_of(x));

	if (u->state == STATE_BODY_RUNNING || u->state == STATE_BODY_PAUSED) {
		state_report(x, OVNI_RULE_TASK_BUSY, "task %" PRIu32 " is executed, but it is %s%s", id,
		             states[u->state],
		             u->state == STATE_BODY_PAUSED ? ", which requires a resume" : " already");
		return false;
	}
	if (u->state == STATE_BODY_ENDED && (!rules->rerun || is_parallel(u))) {
		state_report(x, OVNI_RULE_TASK_AGAIN,
		             "task %" PRIu32 " is executed again, but such a task runs once", id);
		return false;
	}
	const bool over = top != NULL && unit_at(x, (uint32_t)top->value)->state == STATE_BODY_RUNNING;
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

static void execute_task(const struct state_event *x)
{
	const uint32_t id = state_u32(x, x->code->at_task);
	bool ok = true;
	const uint32_t i = find_body(x, &ok);

	if (i == TABLE_NONE)
		return;
	struct state_unit *const u = unit_at(x, i);
	const bool busy = u->state == STATE_BODY_RUNNING || u->state == STATE_BODY_PAUSED;
	if (ok)
		ok = check_execute(x, u, id);
	if (busy) {
		/* the task is on a stack already: treated as a resume */
		u->state = STATE_BODY_RUNNING;
		return;
	}
	u->state = STATE_BODY_RUNNING;
	u->thread = x->thread & 0xffffff;
	state_push(x, bodies_of(x), i, true, true);
	if (x->code->stack != 0)
		state_push(x, x->code->stack, state_value(x, i), true, !ok);
}

/* Whether the body is in the state that the action requires, and on top in this thread. */
static bool check_change(const struct state_event *x, const struct state_unit *u, uint32_t unit, uint32_t id)
{
	const uint8_t wanted = x->code->action == STATE_RESUME ? STATE_BODY_PAUSED : STATE_BODY_RUNNING;
	const struct state_entry *const top = state_top(x->checker, x->thread, bodies_of(x));

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
	/* A single stream may start in the middle of a task. */
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

static void change_task(const struct state_event *x)
{
	static const uint8_t to[] = { [STATE_PAUSE] = STATE_BODY_PAUSED,
		                      [STATE_RESUME] = STATE_BODY_RUNNING,
		                      [STATE_END] = STATE_BODY_ENDED };
	const uint32_t id = state_u32(x, x->code->at_task);
	bool ok = true;
	const uint32_t i = find_body(x, &ok);

	if (i == TABLE_NONE)
		return;
	struct state_unit *const u = unit_at(x, i);
	if (ok)
		ok = check_change(x, u, i, id);
	u->state = to[x->code->action] & 15U;
	if (x->code->action != STATE_END)
		return;
	/* The tasks above it are removed with it; if it was not on the stack, its state was not either. */
	const uint32_t gone = state_pop(x, bodies_of(x), i, true);
	const uint64_t value = state_value(x, i);
	for (uint32_t n = 0; x->code->stack != 0 && n < (x->code->label && gone > 0 ? 1 : gone); n++)
		state_pop(x, x->code->stack, value, !ok || n > 0);
}

void state_check_task(const struct state_event *x)
{
	if (x->code->action == STATE_TYPE)
		declare_type(x);
	else if (x->code->action == STATE_CREATE || x->code->action == STATE_CREATE_PARALLEL)
		create_task(x);
	else if (!state_has_payload(x, x->code->fixed_size, false))
		return;
	else if (x->code->action == STATE_EXECUTE)
		execute_task(x);
	else
		change_task(x);
}

/* ---- worksharings ---- */

/* Regions named by a type's label, on the stack of labels. */
void state_check_worksharing(const struct state_event *x)
{
	const uint32_t type = state_u32(x, x->code->at_type);

	if (!state_has_payload(x, x->code->fixed_size, false) || x->code->stack == 0)
		return;
	if (type == 0)
		state_report(x, OVNI_RULE_ID_ZERO, "a worksharing has the type 0");
	const uint32_t label = type != 0 ? label_of(x, type) : 0;
	if (x->code->action == STATE_BEGIN)
		state_push(x, x->code->stack, label, false, false);
	else
		state_pop(x, x->code->stack, label, false);
}
