#include "ovni/state/parts.h"

/* Checks at the end of the trace.  Their findings are in the report of the trace, so they name the thread. */

#define GATE_NS (UINT64_C(3600) * 1000000000)

/* S11 */
static void
check_lives(struct reader *r, const struct state_checker *c)
{
	static const char *const lives[] = { "has not started", "is running", "is paused",
		                             "is cooling",      "is warming", "" };

	for (uint32_t i = 0; i < c->nthreads; i++) {
		const struct state_thread *const t = &c->threads[i];
		if (t->life != STATE_THREAD_ENDED)
			ovni_report(r, OVNI_RULE_THREAD_NOT_DEAD,
			            "thread %" PRId32 " of process %" PRId32 " %s at the end", t->tid, t->pid,
			            lives[t->life]);
	}
}

/* T5: all against the first stream, in order of paths, that has events. */
static void
check_gate(struct reader *r, const struct state_checker *c)
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

/* P5: states besides the bodies of tasks, which have a rule of their own. */
static void
check_open(struct reader *r, const struct state_checker *c, const struct state_stack *s)
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
static void
check_unfinished(struct reader *r, const struct state_checker *c, const struct state_stack *s)
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

void
state_check_end(const struct state_checker *c, struct reader *r)
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
