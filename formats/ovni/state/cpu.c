#include "ovni/state/parts.h"

#include <stdlib.h>

/* CPUs, and the threads that hold them. */

/* The lists of CPUs are complete before the first event. */
static bool
index_cpus(struct state_checker *c)
{
	const struct ovni_system *const s = c->system;

	if (c->ncpus == s->ncpus)
		return true;
	struct state_cpu *const cpus = realloc(c->cpus, s->ncpus * sizeof *cpus);
	if (cpus == NULL)
		return false;
	c->cpus = cpus;
	for (; c->ncpus < s->ncpus; c->ncpus++) {
		const uint64_t key = (uint64_t)s->cpus[c->ncpus].loom << 32 | s->cpus[c->ncpus].index;
		cpus[c->ncpus] = (struct state_cpu){ 0, 0 };
		if (table64_get(&c->cpu_index, key) == TABLE_NONE &&
		    !table64_put(&c->cpu_index, key, c->ncpus))
			return false;
	}
	return true;
}

/* S10, A4 */
uint32_t
state_find_cpu(const struct state_event *x, const struct state_thread *t, int32_t index)
{
	struct state_checker *const c = x->checker;

	if (index == -1)
		return STATE_CPU_VIRTUAL;
	if (!index_cpus(c)) {
		state_no_memory(x);
		return STATE_CPU_UNKNOWN;
	}
	const uint32_t n = t->loom != TABLE_NONE ? c->system->looms[t->loom].cpus : 0;
	const uint32_t cpu = n > 0 && index >= 0
	                         ? table64_get(&c->cpu_index, (uint64_t)t->loom << 32 | (uint32_t)index)
	                         : TABLE_NONE;
	if (cpu != TABLE_NONE)
		return cpu;
	/* other streams may declare the CPUs of the loom */
	if (index < 0 || (n > 0 && c->system->in_folder))
		state_report(x, OVNI_RULE_NO_SUCH_CPU,
		             "CPU %" PRId32 ", but the loom has %" PRIu32 " (from 0; -1 is the virtual CPU)",
		             index, n);
	return STATE_CPU_UNKNOWN;
}

/* NULL: the virtual one, or none that is known. */
static struct state_cpu *
physical(const struct state_event *x, uint32_t cpu)
{
	return cpu < x->checker->ncpus ? &x->checker->cpus[cpu] : NULL;
}

/* S12: at most one thread runs on a CPU. */
void
state_run_on(const struct state_event *x, uint32_t thread)
{
	const struct state_checker *const c = x->checker;
	const struct state_thread *const t = &c->threads[thread];
	struct state_cpu *const cpu = physical(x, t->cpu);

	if (cpu == NULL)
		return;
	if (cpu->running++ > 0) {
		const struct state_thread *const other = &c->threads[cpu->who];
		state_report(x, OVNI_RULE_CPU_BUSY,
		             "CPU %" PRIu32 " has %" PRIu32 " threads running: %" PRId32
		             " of process %" PRId32 " and %" PRId32 " of process %" PRId32,
		             c->system->cpus[t->cpu].index, cpu->running, other->tid, other->pid, t->tid,
		             t->pid);
	}
	cpu->who = thread;
}

void
state_run_off(const struct state_event *x, uint32_t thread)
{
	struct state_cpu *const cpu = physical(x, x->checker->threads[thread].cpu);

	if (cpu != NULL && cpu->running > 0)
		cpu->running--;
}

/* ---- affinity ---- */

static void
move_to(const struct state_event *x, uint32_t thread, uint32_t cpu)
{
	struct state_thread *const t = &x->checker->threads[thread];

	if (t->cpu == cpu)
		return;
	if (t->life == STATE_THREAD_RUNNING)
		state_run_off(x, thread);
	t->cpu = cpu;
	if (t->life == STATE_THREAD_RUNNING)
		state_run_on(x, thread);
}

/* A5: of the process, else of any process of the loom. */
static uint32_t
find_thread(const struct state_event *x, uint32_t tid)
{
	const struct state_thread *const t = state_thread(x);
	const struct table64 *const by_tid = &x->checker->by_tid;
	uint32_t found = TABLE_NONE;

	if (t->process != TABLE_NONE)
		found = table64_get(by_tid, (uint64_t)t->process << 32 | tid);
	if (found == TABLE_NONE && t->loom != TABLE_NONE)
		found = table64_get(by_tid, STATE_BY_LOOM | (uint64_t)t->loom << 32 | tid);
	return found;
}

static void
move_other(const struct state_event *x)
{
	const uint32_t tid = state_u32(x, x->code->at_tid), other = find_thread(x, tid);
	const struct state_thread *const t =
	    other != TABLE_NONE ? &x->checker->threads[other] : state_thread(x);
	const int32_t index = (int32_t)state_u32(x, x->code->at_cpu);
	const uint32_t cpu = state_find_cpu(x, t, index);

	if (other == TABLE_NONE && !x->checker->system->in_folder)
		return;
	if (other == TABLE_NONE || t->life == STATE_THREAD_NEW || t->life == STATE_THREAD_ENDED) {
		state_report(x, OVNI_RULE_AFFINITY_TARGET, "thread %" PRId32 " %s", (int32_t)tid,
		             other == TABLE_NONE ? "has no earlier event in the process or its loom"
		             : t->life == STATE_THREAD_ENDED ? "has ended"
		                                             : "has not started");
		return;
	}
	if (cpu == t->cpu && cpu != STATE_CPU_UNKNOWN)
		state_report(x, OVNI_RULE_AFFINITY_SAME, "thread %" PRId32 " is on CPU %" PRId32 " already",
		             (int32_t)tid, index);
	move_to(x, other, cpu);
}

static void
move_self(const struct state_event *x)
{
	struct state_thread *const t = state_thread(x);

	if (state_is_active(t)) {
		move_to(x, x->thread, state_find_cpu(x, t, (int32_t)state_u32(x, x->code->at_cpu)));
		return;
	}
	if (!t->needs_reported)
		state_report(x, OVNI_RULE_THREAD_INACTIVE,
		             "%s requires a thread that is active and has a CPU", state_name(x));
	t->needs_reported = true;
}

void
state_check_affinity(const struct state_event *x)
{
	if (!state_has_payload(x, x->code->least, true))
		return;
	if (x->code->action == STATE_REMOTE)
		move_other(x);
	else
		move_self(x);
}
