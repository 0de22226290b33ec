#include "ovni/ovni_emulate.h"

/* What only the end of the trace shows.  These stand in the report of the trace, so they name the thread. */

#define GATE_NS (UINT64_C(3600) * 1000000000)

/* S11 */
static void
check_lives(struct reader *r, const struct ovni_emulator *em)
{
	static const char *const lives[] = { "has not started", "is running", "is paused",
		                             "is cooling",      "is warming", "" };

	for (uint32_t i = 0; i < em->nthreads; i++) {
		const struct emu_thread *const t = &em->threads[i];
		if (t->life != EMU_IS_DEAD)
			ovni_say(r, OVNI_RULE_THREAD_NOT_DEAD,
			         "thread %" PRId32 " of process %" PRId32 " %s at the end", t->tid, t->pid,
			         lives[t->life]);
	}
}

/* T5: all against the first stream, in order of paths, that has events. */
static void
check_gate(struct reader *r, const struct ovni_emulator *em)
{
	const struct emu_thread *first = em->threads;

	for (uint32_t i = 1; i < em->nthreads; i++)
		if (em->threads[i].stream < first->stream)
			first = &em->threads[i];
	for (uint32_t i = 0; i < em->nthreads; i++) {
		const struct emu_thread *const t = &em->threads[i];
		const bool later = t->first > first->first;
		const uint64_t apart = later ? t->first - first->first : first->first - t->first;
		if (apart > GATE_NS)
			ovni_say(r, OVNI_RULE_CLOCK_GATE,
			         "thread %" PRId32 " of process %" PRId32 " begins %" PRIu64
			         " ns %s than thread %" PRId32 " of process %" PRId32,
			         t->tid, t->pid, apart, later ? "later" : "earlier", first->tid, first->pid);
	}
}

/* P5: states besides the bodies of tasks, which have a rule of their own. */
static void
check_open(struct reader *r, const struct ovni_emulator *em, const struct emu_stack *s)
{
	const struct emu_thread *const t = &em->threads[s->thread];
	const struct emu_entry *inner = NULL;
	uint32_t n = 0;

	for (uint32_t i = s->top; i != TABLE_NONE; i = em->entries[i].below) {
		const struct emu_entry *const e = &em->entries[i];
		if (!e->body && em->acts[e->cls].open_error && n++ == 0)
			inner = e;
	}
	if (n > 0)
		ovni_say(r, OVNI_RULE_NESTING_LEFT_OPEN,
		         "thread %" PRId32 " of process %" PRId32 ": %" PRIu32
		         " state%s of one stack, the innermost opened by %.*s at byte %" PRIu64,
		         t->tid, t->pid, n, n == 1 ? "" : "s", (int)em->acts[inner->cls].cls->name.n,
		         em->acts[inner->cls].cls->name.p, inner->offset);
}

/* TK19 */
static void
check_unfinished(struct reader *r, const struct ovni_emulator *em, const struct emu_stack *s)
{
	const struct emu_thread *const t = &em->threads[s->thread];
	const struct emu_entry *const e = s->top != TABLE_NONE ? &em->entries[s->top] : NULL;

	if (e != NULL && em->acts[e->cls].open_error)
		ovni_say(r, OVNI_RULE_TASK_UNFINISHED,
		         "thread %" PRId32 " of process %" PRId32
		         ": %u task%s, the innermost executed by %.*s at byte %" PRIu64,
		         t->tid, t->pid, s->depth, s->depth == 1 ? "" : "s",
		         (int)em->acts[e->cls].cls->name.n, em->acts[e->cls].cls->name.p, e->offset);
}

void
emu_check_end(struct reader *r, struct ovni_emulator *em)
{
	if (em->nthreads == 0)
		return;
	check_gate(r, em);
	check_lives(r, em);
	for (uint32_t i = 0; i < em->nstacks; i++) {
		if (em->stacks[i].id >= EMU_STACK_BODIES)
			check_unfinished(r, em, &em->stacks[i]);
		else
			check_open(r, em, &em->stacks[i]);
	}
}
