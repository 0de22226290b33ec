/*
 * The checks of one event in their order, the checks at the end of the trace, and functions for all checks:
 * payload and reports.  Marks such as S11 or TK19 in comments number the conditions of ovniemu.
 */
#include "ovni/state/state.h"

#include <stdlib.h>

#define GATE_NS (UINT64_C(3600) * 1000000000) /* between the first events of any two threads */

/* In messages, by enum state_life. */
static const char *const lives[] = { "has not started", "is running", "is paused",
	                             "is cooling",      "is warming", "has ended" };

/* ---- for all checks ---- */

void state_report(const struct state_event *x, enum ovni_rule rule, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	finding_add_v(x->r->findings, &ovni_rules[rule], x->e->offset, 0, fmt, ap);
	va_end(ap);
}

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

/* S14, P6: the thread is in the state that the event requires. */
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

/* S11.  This and later findings are in the report of the trace, so they name the thread. */
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

/* T5: compares all threads with that of the first stream, in order of paths, that has events. */
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
		if (apart > GATE_NS)
			ovni_report(r, OVNI_RULE_CLOCK_GATE,
			            "thread %" PRId32 " of process %" PRId32 " starts %" PRIu64
			            " ns %s than thread %" PRId32 " of process %" PRId32,
			            t->tid, t->pid, apart, later ? "later" : "earlier", first->tid,
			            first->pid);
	}
}

/* P5: states other than bodies of tasks, which have a rule of their own. */
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

/* TK19 */
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
