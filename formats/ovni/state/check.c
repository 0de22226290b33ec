#include "ovni/state/parts.h"

#include <stdlib.h>

/* The checks of one event, in their order. */

/* Events that ovniemu does not know, or whose model no stream requires.  Once for each code. */
static bool
is_known(const struct state_event *x)
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

/* S14, P6: the state that the thread must have. */
static void
check_thread(const struct state_event *x)
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
	static const char *const lives[] = { "has not started", "is running", "is paused",
		                             "is cooling",      "is warming", "has ended" };
	state_report(
	    x, OVNI_RULE_THREAD_INACTIVE, "%s requires a thread that is %s, but it %s", state_name(x),
	    c->needs == STATE_NEEDS_ACTIVE ? "running, cooling or warming" : "running", lives[t->life]);
	t->needs_reported = true;
}

static void
check_stack(const struct state_event *x)
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

static void
apply(const struct state_event *x)
{
	switch ((enum state_role)x->code->role) {
	case STATE_ROLE_STACK:
		check_stack(x);
		break;
	case STATE_ROLE_LIFE:
		state_check_life(x);
		break;
	case STATE_ROLE_AFFINITY:
		state_check_affinity(x);
		break;
	case STATE_ROLE_FLUSH:
		state_check_flush(x);
		break;
	case STATE_ROLE_MARK:
		state_check_mark(x);
		break;
	case STATE_ROLE_PROGRESS:
		state_check_progress(x);
		break;
	case STATE_ROLE_TASK:
		state_check_task(x);
		break;
	case STATE_ROLE_WORKSHARING:
		state_check_worksharing(x);
		break;
	case STATE_ROLE_COUNTERS:
		state_check_counters(x);
		break;
	case STATE_ROLE_BURST:
		state_check_burst(x);
		break;
	}
}

/* ---- the event ---- */

static void
find_payload(struct state_event *x, const struct batch *b)
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

void
state_check_event(struct state_checker *c, struct ovni_stream *stream, struct reader *r,
                  const struct batch *b, const struct event *e)
{
	struct state_event x = { .checker = c, .stream = stream, .r = r, .e = e };

	x.code = state_code_of(c, e->cls);
	if (x.code == NULL)
		state_no_memory(&x);
	if (x.code == NULL || !x.code->checked || !state_find_thread(&x) || !is_known(&x))
		return;
	find_payload(&x, b);
	check_thread(&x);
	apply(&x);
}

/* S11 */
void
state_check_no_events(struct reader *r)
{
	ovni_report(r, OVNI_RULE_THREAD_NOT_DEAD, "the thread has no events");
}

struct state_checker *
state_checker_new(struct ovni_system *system)
{
	struct state_checker *const c = calloc(1, sizeof *c);

	if (c != NULL) {
		c->system = system;
		c->free_entry = TABLE_NONE;
		c->units.most = STATE_MAX_UNITS;
	}
	return c;
}

void
state_checker_free(struct state_checker *c)
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
