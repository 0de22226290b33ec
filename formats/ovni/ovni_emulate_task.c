#include "ovni/ovni_emulate.h"

/*
 * Types, tasks and their bodies.  Numbers are those of a process and a model;
 * any thread may make them, but they must be there before they are used.
 */

/* What differs between the models. */
struct flavour {
	const char *model;
	bool again;        /* a task that ended may be run once more */
	bool nest_refused; /* no body over a running one */
	bool zero_at_create;
	bool create_exact; /* no bytes behind those that are known */
};

static const struct flavour *
flavour_of(const struct emu_step_of *x)
{
	static const struct flavour flavours[] = {
		{ "nanos6", false, false, false, true },
		{ "nosv", true, true, false, false },
		{ "openmp", true, false, true, true },
	};
	static const struct flavour other = { "", true, false, false, false };

	for (size_t i = 0; i < sizeof flavours / sizeof flavours[0]; i++)
		if (x->act->model != 0 && slice_is(x->em->models[x->act->model], flavours[i].model))
			return &flavours[i];
	return &other;
}

static uint64_t
key_of(const struct emu_step_of *x, enum emu_unit_kind kind, uint32_t id)
{
	return (uint64_t)kind << 62 | (uint64_t)emu_thread(x)->scope << 40 | (uint64_t)x->act->model << 36 |
	       id;
}

/* Bodies of parallel tasks; those of others are the task itself. */
static uint64_t
body_key(uint32_t task, uint32_t body)
{
	return (uint64_t)EMU_UNIT_BODY << 62 | (uint64_t)task << 32 | body;
}

/* Makes room by forgetting what has ended; not again and again for a few. */
static bool
make_room(const struct emu_step_of *x)
{
	struct emu_units *const t = &x->em->units;

	const bool first = !t->forgot;

	if (!t->full)
		t->full = emu_units_forget(t) < t->most / 8;
	if (first && t->forgot)
		emu_say(x, OVNI_RULE_TASKS_FORGOTTEN,
		        "more than %" PRIu32 " types, tasks and bodies, here first", t->most);
	return !emu_units_are_full(t);
}

/* TABLE_NONE: no more of them, which was said. */
static uint32_t
add_unit(const struct emu_step_of *x, uint64_t key)
{
	struct emu_units *const t = &x->em->units;

	if (emu_units_are_full(t) && !make_room(x)) {
		ovni_limit(x->st, "types, tasks and bodies that have not ended", t->most);
		return TABLE_NONE;
	}
	const uint32_t i = emu_unit_add(t, key);
	x->em->failed |= i == TABLE_NONE;
	return i;
}

/* Whether what is missing may be elsewhere: in streams that are not read, or forgotten. */
static bool
may_be_elsewhere(const struct emu_step_of *x)
{
	return !x->sh->in_folder || x->em->units.forgot || x->em->units.full;
}

/* ---- types ---- */

static bool
check_jumbo(const struct emu_step_of *x)
{
	if (x->has_jumbo)
		return true;
	emu_say(x, OVNI_RULE_PAYLOAD_REFUSED, "%.*s is no jumbo event", (int)x->act->cls->name.n,
	        x->act->cls->name.p);
	return false;
}

static void
declare_type(const struct emu_step_of *x)
{
	const uint32_t from = x->act->least, id = emu_u32(x, x->act->at_type);

	if (!check_jumbo(x) || !emu_payload(x, from, false))
		return;
	const char *const label = x->payload.p + from, *const nul = memchr(label, 0, x->payload.n - from);
	const size_t n = nul != NULL ? (size_t)(nul - label) : x->payload.n - from;
	if (n >= 512)
		emu_say(x, OVNI_RULE_LABEL_LONG,
		        "the label of type %" PRIu32 " has %zu bytes, expected less than 512", id, n);
	if (id == 0) {
		emu_say(x, OVNI_RULE_ID_ZERO, "a type of number 0");
		return;
	}
	const uint64_t key = key_of(x, EMU_UNIT_TYPE, id);
	uint32_t i = emu_unit_find(&x->em->units, key);
	if (i != TABLE_NONE)
		emu_say(x, OVNI_RULE_TYPE_REPEATED, "type %" PRIu32 " was declared before", id);
	else if ((i = add_unit(x, key)) != TABLE_NONE)
		x->em->units.units[i].label = (uint32_t)hash_bytes(label, n, x->em->units.seed);
}

/* The label of a type; of one that is not known, a number that stands for it. */
static uint32_t
label_of(const struct emu_step_of *x, uint32_t type)
{
	const uint32_t i = emu_unit_find(&x->em->units, key_of(x, EMU_UNIT_TYPE, type));

	if (i != TABLE_NONE)
		return x->em->units.units[i].label;
	if (!may_be_elsewhere(x))
		emu_say(x, OVNI_RULE_TYPE_UNKNOWN, "type %" PRIu32 " was not declared before", type);
	return type;
}

/* ---- tasks ---- */

static void
create(const struct emu_step_of *x)
{
	const uint32_t id = emu_u32(x, x->act->at_task);

	if (!emu_payload(x, x->act->least, flavour_of(x)->create_exact))
		return;
	const uint32_t label = label_of(x, emu_u32(x, x->act->at_type));
	if (id == 0 && flavour_of(x)->zero_at_create) {
		emu_say(x, OVNI_RULE_ID_ZERO, "a task of number 0");
		return;
	}
	const uint64_t key = key_of(x, EMU_UNIT_TASK, id);
	uint32_t i = emu_unit_find(&x->em->units, key);
	if (i != TABLE_NONE)
		emu_say(x, OVNI_RULE_TASK_REPEATED, "task %" PRIu32 " was created before", id);
	else if ((i = add_unit(x, key)) != TABLE_NONE) {
		x->em->units.units[i].label = label;
		x->em->units.units[i].parallel = x->act->step == EMU_CREATE_PARALLEL;
	}
}

/* TK6, TK8.  A task that nobody created is one from here on.  *ok: nothing was wrong. */
static uint32_t
find_task(const struct emu_step_of *x, uint32_t id, uint32_t body, bool *ok)
{
	const uint64_t key = key_of(x, EMU_UNIT_TASK, id);
	const bool zero = id == 0 && x->act->step == EMU_EXECUTE && !flavour_of(x)->zero_at_create;
	uint32_t i = emu_unit_find(&x->em->units, key);

	if (zero)
		emu_say(x, OVNI_RULE_ID_ZERO, "a task of number 0");
	else if (i == TABLE_NONE && !may_be_elsewhere(x))
		emu_say(x, OVNI_RULE_TASK_UNKNOWN, "task %" PRIu32 " was not created before", id);
	*ok = !zero && (i != TABLE_NONE || may_be_elsewhere(x));
	if (i != TABLE_NONE || (i = add_unit(x, key)) == TABLE_NONE)
		return i;
	x->em->units.units[i].parallel = body != 0;
	if (x->act->step != EMU_EXECUTE)
		x->em->units.units[i].state = x->act->step == EMU_RESUME ? EMU_BODY_PAUSED : EMU_BODY_RUNNING;
	return i;
}

/* TK9.  The body that an event is about; TABLE_NONE: none can be kept.  A wrong number is said when it comes
 * first. */
static uint32_t
find_body(const struct emu_step_of *x, bool *ok)
{
	const uint32_t id = emu_u32(x, x->act->at_task), body = emu_u32(x, x->act->at_body);
	const uint32_t task = find_task(x, id, body, ok);

	if (task == TABLE_NONE)
		return task;
	const bool parallel = x->em->units.units[task].parallel;
	if (!parallel && body == 0)
		return task;
	const uint32_t i = emu_unit_find(&x->em->units, body_key(task, body));
	if (i != TABLE_NONE)
		return i;
	if (*ok && parallel != (body != 0)) {
		emu_say(x, OVNI_RULE_BODY_ID, "body %" PRIu32 " of the %s task %" PRIu32 ", expected %s",
		        body, parallel ? "parallel" : "plain", id, parallel ? "1 or more" : "0");
		*ok = false;
	}
	return add_unit(x, body_key(task, body));
}

/* ---- bodies ---- */

static const char *const states[] = { "not run yet", "running", "paused", "ended" };

static bool
is_parallel(const struct emu_unit *u)
{
	return u->key >> 62 == EMU_UNIT_BODY;
}

/* TK10, TK11, TK12. */
static bool
check_execute(const struct emu_step_of *x, const struct emu_unit *u, uint32_t id)
{
	const struct flavour *const f = flavour_of(x);
	const struct emu_entry *const top =
	    emu_top(x->em, x->thread, (uint8_t)(EMU_STACK_BODIES + x->act->model));

	if (u->state == EMU_BODY_RUNNING || u->state == EMU_BODY_PAUSED) {
		emu_say(x, OVNI_RULE_TASK_BUSY, "task %" PRIu32 " is executed, and it is %s%s", id,
		        states[u->state],
		        u->state == EMU_BODY_PAUSED ? ": that asks for a resume" : " already");
		return false;
	}
	if (u->state == EMU_BODY_DEAD && (!f->again || is_parallel(u))) {
		emu_say(x, OVNI_RULE_TASK_AGAIN,
		        "task %" PRIu32 " is executed, and it has ended: such a task runs once", id);
		return false;
	}
	if (f->nest_refused && top != NULL && x->em->units.units[top->value].state == EMU_BODY_RUNNING) {
		emu_say(x, OVNI_RULE_TASK_NESTED,
		        "task %" PRIu32 " is executed over the task of byte %" PRIu64
		        ", which runs and was not paused",
		        id, top->offset);
		return false;
	}
	return true;
}

static void
execute(const struct emu_step_of *x)
{
	const uint32_t id = emu_u32(x, x->act->at_task);
	bool ok = true;
	const uint32_t i = find_body(x, &ok);

	if (i == TABLE_NONE)
		return;
	struct emu_unit *const u = &x->em->units.units[i];
	const bool busy = u->state == EMU_BODY_RUNNING || u->state == EMU_BODY_PAUSED;
	if (ok)
		ok = check_execute(x, u, id);
	if (busy) {
		/* it lies on a stack already: as if it were a resume */
		u->state = EMU_BODY_RUNNING;
		return;
	}
	const uint32_t task = is_parallel(u) ? (uint32_t)(u->key >> 32 & 0x3fffffff) : i;
	u->state = EMU_BODY_RUNNING;
	u->thread = x->thread & 0xffffff;
	emu_push(x, (uint8_t)(EMU_STACK_BODIES + x->act->model), i, true, true);
	if (x->act->stack != 0)
		emu_push(x, x->act->stack, x->act->label ? x->em->units.units[task].label : x->act->value,
		         true, !ok);
}

/* TK14 to TK17: the body is in the state that the step asks for, and on top in this thread. */
static bool
check_step(const struct emu_step_of *x, const struct emu_unit *u, uint32_t unit, uint32_t id)
{
	const uint8_t wanted = x->act->step == EMU_RESUME ? EMU_BODY_PAUSED : EMU_BODY_RUNNING;
	const struct emu_entry *const top =
	    emu_top(x->em, x->thread, (uint8_t)(EMU_STACK_BODIES + x->act->model));

	if (x->act->step == EMU_PAUSE && is_parallel(u)) {
		emu_say(x, OVNI_RULE_PAUSE_PARALLEL, "a body of the parallel task %" PRIu32 " is paused", id);
		return false;
	}
	if (u->state != wanted) {
		emu_say(x, OVNI_RULE_TASK_STATE,
		        "%.*s asks for a task that is %s, and task %" PRIu32 " is %s",
		        (int)x->act->cls->name.n, x->act->cls->name.p, states[wanted], id, states[u->state]);
		return false;
	}
	if (top != NULL && top->value == unit)
		return true;
	/* a lone stream may begin in the middle */
	if (top == NULL && may_be_elsewhere(x) && u->thread == 0)
		return true;
	if (u->thread != x->thread)
		emu_say(x, OVNI_RULE_TASK_ELSEWHERE,
		        "task %" PRIu32 " is run by thread %" PRId32 ", not by this one", id,
		        x->em->threads[u->thread].tid);
	else
		emu_say(x, OVNI_RULE_TASK_ELSEWHERE, "task %" PRIu32 " is not the innermost of its thread",
		        id);
	return false;
}

static void
step(const struct emu_step_of *x)
{
	static const uint8_t to[] = {
		[EMU_PAUSE] = EMU_BODY_PAUSED, [EMU_RESUME] = EMU_BODY_RUNNING, [EMU_END] = EMU_BODY_DEAD
	};
	const uint32_t id = emu_u32(x, x->act->at_task);
	bool ok = true;
	const uint32_t i = find_body(x, &ok);

	if (i == TABLE_NONE)
		return;
	struct emu_unit *const u = &x->em->units.units[i];
	if (ok)
		ok = check_step(x, u, i, id);
	u->state = to[x->act->step] & 15U;
	if (x->act->step != EMU_END)
		return;
	const uint32_t task = is_parallel(u) ? (uint32_t)(u->key >> 32 & 0x3fffffff) : i;
	/* with it go the tasks that lie on it; where it was not, it left no state either */
	const uint32_t gone = emu_pop(x, (uint8_t)(EMU_STACK_BODIES + x->act->model), i, true);
	const uint64_t value = x->act->label ? x->em->units.units[task].label : x->act->value;
	for (uint32_t n = 0; x->act->stack != 0 && n < (x->act->label && gone > 0 ? 1 : gone); n++)
		emu_pop(x, x->act->stack, value, !ok || n > 0);
}

void
emu_task(const struct emu_step_of *x)
{
	if (x->act->step == EMU_TYPE)
		declare_type(x);
	else if (x->act->step == EMU_CREATE || x->act->step == EMU_CREATE_PARALLEL)
		create(x);
	else if (!emu_payload(x, x->act->least, false))
		return;
	else if (x->act->step == EMU_EXECUTE)
		execute(x);
	else
		step(x);
}

/* ---- worksharing, counters ---- */

/* WS1 to WS3: regions named by a type's label, on the stack of labels. */
void
emu_worksharing(const struct emu_step_of *x)
{
	const uint32_t type = emu_u32(x, x->act->at_type);

	if (!emu_payload(x, x->act->least, false) || x->act->stack == 0)
		return;
	if (type == 0)
		emu_say(x, OVNI_RULE_ID_ZERO, "a worksharing of type 0");
	const uint32_t label = type != 0 ? label_of(x, type) : 0;
	if (x->act->step == EMU_BEGIN)
		emu_push(x, x->act->stack, label, false, false);
	else
		emu_pop(x, x->act->stack, label, false);
}

/* HW1, HW2. */
void
emu_counters(const struct emu_step_of *x)
{
	if (!check_jumbo(x))
		return;
	if (x->sh->ncounters == 0) {
		if (x->sh->in_folder)
			emu_say(x, OVNI_RULE_COUNTERS_UNDECLARED, "%.*s, and no stream.json has nosv.hwc",
			        (int)x->act->cls->name.n, x->act->cls->name.p);
		return;
	}
	emu_payload(x, 8 * x->sh->ncounters, true);
}
