#include <stdlib.h>

#include "ovni/ovni_emulate.h"

/* Threads: their lives, the CPUs they hold, and what each of them is doing besides. */

#define BY_LOOM ((uint64_t)1 << 63)

/* ---- the thread of a stream ---- */

/* A thread that leaves out its loom is of the process of that number in a loom that others named. */
static uint32_t
process_of(const struct ovni_shared *sh, uint32_t process)
{
	if (process == TABLE_NONE || sh->processes[process].loom != TABLE_NONE)
		return process;
	for (uint32_t i = 0; i < sh->nlooms && i < 256; i++) {
		const uint32_t twin = table64_get(
		    &sh->process_index, (uint64_t)(i + 1) << 32 | (uint64_t)sh->processes[process].pid);
		if (twin != TABLE_NONE)
			return twin;
	}
	return process;
}

static bool
keep_number(struct ovni_emulator *em, uint64_t key, uint32_t thread)
{
	return table64_get(&em->by_tid, key) != TABLE_NONE || table64_put(&em->by_tid, key, thread);
}

static bool
add_thread(struct emu_step_of *x)
{
	const struct ovni_state *const st = x->st;
	struct ovni_emulator *const em = x->em;

	if (!array_room(&em->threads, em->nthreads, &em->threads_cap, sizeof *em->threads))
		return false;
	const uint32_t process = process_of(x->sh, st->process), n = em->nthreads;
	const uint32_t loom = process != TABLE_NONE ? x->sh->processes[process].loom : TABLE_NONE;
	em->threads[n] = (struct emu_thread){ .first = x->e->ts,
		                              .stream = st->stream,
		                              .process = process,
		                              .loom = loom,
		                              .cpu = EMU_CPU_NONE,
		                              .tid = st->tid };
	em->threads[n].scope = process != TABLE_NONE ? process : OVNI_MAX_PROCESSES + n;
	em->threads[n].pid = process != TABLE_NONE ? (int32_t)x->sh->processes[process].pid : 0;
	if (st->tid > 0 && process != TABLE_NONE &&
	    !keep_number(em, (uint64_t)process << 32 | (uint32_t)st->tid, n))
		return false;
	if (st->tid > 0 && loom != TABLE_NONE &&
	    !keep_number(em, BY_LOOM | (uint64_t)loom << 32 | (uint32_t)st->tid, n))
		return false;
	em->nthreads++;
	x->st->emulated = n + 1;
	return true;
}

bool
emu_thread_of(struct emu_step_of *x)
{
	if (x->st->emulated == 0 && x->em->nthreads >= OVNI_MAX_THREADS) {
		ovni_limit(x->st, "threads", OVNI_MAX_THREADS);
		return false;
	}
	if (x->st->emulated == 0 && !add_thread(x)) {
		x->em->failed = true;
		return false;
	}
	x->thread = x->st->emulated - 1;
	return true;
}

bool
emu_is_active(const struct emu_thread *t)
{
	return t->life == EMU_IS_RUNNING || t->life == EMU_IS_COOLING || t->life == EMU_IS_WARMING;
}

/* ---- CPUs ---- */

/* The lists of CPUs are whole before the first event. */
static bool
index_cpus(const struct emu_step_of *x)
{
	struct ovni_emulator *const em = x->em;
	const struct ovni_shared *const sh = x->sh;

	if (em->ncpus == sh->ncpus)
		return true;
	struct emu_cpu *const cpus = realloc(em->cpus, sh->ncpus * sizeof *cpus);
	if (cpus == NULL)
		return false;
	em->cpus = cpus;
	for (; em->ncpus < sh->ncpus; em->ncpus++) {
		const uint64_t key = (uint64_t)sh->cpus[em->ncpus].loom << 32 | sh->cpus[em->ncpus].index;
		cpus[em->ncpus] = (struct emu_cpu){ 0, 0 };
		if (table64_get(&em->cpu_index, key) == TABLE_NONE &&
		    !table64_put(&em->cpu_index, key, em->ncpus))
			return false;
	}
	return true;
}

/* S10, A4: the CPU of an index, in the loom of a thread. */
static uint32_t
find_cpu(const struct emu_step_of *x, const struct emu_thread *t, int32_t index)
{
	if (index == -1)
		return EMU_CPU_VIRTUAL;
	if (!index_cpus(x)) {
		x->em->failed = true;
		return EMU_CPU_UNKNOWN;
	}
	const uint32_t n = t->loom != TABLE_NONE ? x->sh->looms[t->loom].cpus : 0;
	const uint32_t cpu = n > 0 && index >= 0
	                         ? table64_get(&x->em->cpu_index, (uint64_t)t->loom << 32 | (uint32_t)index)
	                         : TABLE_NONE;
	if (cpu != TABLE_NONE)
		return cpu;
	/* a lone stream may be of a loom whose CPUs others tell */
	if (index < 0 || (n > 0 && x->sh->in_folder))
		emu_say(x, OVNI_RULE_NO_SUCH_CPU,
		        "CPU %" PRId32 ", and the loom has %" PRIu32 " (from 0; -1 is the virtual one)",
		        index, n);
	return EMU_CPU_UNKNOWN;
}

static struct emu_cpu *
physical(const struct emu_step_of *x, uint32_t cpu)
{
	return cpu < x->em->ncpus ? &x->em->cpus[cpu] : NULL;
}

/* S12: who runs on a CPU runs there alone. */
static void
run_on(const struct emu_step_of *x, uint32_t thread)
{
	struct emu_thread *const t = &x->em->threads[thread];
	struct emu_cpu *const c = physical(x, t->cpu);

	if (c == NULL)
		return;
	if (c->running++ > 0) {
		const struct emu_thread *const other = &x->em->threads[c->who];
		emu_say(x, OVNI_RULE_CPU_BUSY,
		        "CPU %" PRIu32 " has %" PRIu32 " threads running: %" PRId32 " of process %" PRId32
		        " and %" PRId32 " of process %" PRId32,
		        x->sh->cpus[t->cpu].index, c->running, other->tid, other->pid, t->tid, t->pid);
	}
	c->who = thread;
}

static void
run_off(const struct emu_step_of *x, uint32_t thread)
{
	struct emu_cpu *const c = physical(x, x->em->threads[thread].cpu);

	if (c != NULL && c->running > 0)
		c->running--;
}

/* ---- life ---- */

static void
set_life(const struct emu_step_of *x, uint8_t life)
{
	struct emu_thread *const t = emu_thread(x);

	if (t->life == EMU_IS_RUNNING && life != EMU_IS_RUNNING)
		run_off(x, x->thread);
	if (t->life != EMU_IS_RUNNING && life == EMU_IS_RUNNING)
		run_on(x, x->thread);
	t->life = life;
	t->said_needs = false;
	if (life == EMU_IS_DEAD)
		t->cpu = EMU_CPU_NONE;
}

static void
start(const struct emu_step_of *x)
{
	struct emu_thread *const t = emu_thread(x);
	/* S9: only the CPU is asked for */
	const uint32_t cpu = emu_payload(x, x->act->at_cpu == EMU_NOWHERE ? 0 : x->act->at_cpu + 4U, false)
	                         ? find_cpu(x, t, (int32_t)emu_u32(x, x->act->at_cpu))
	                         : EMU_CPU_UNKNOWN;

	if (t->life == EMU_IS_RUNNING)
		run_off(x, x->thread);
	t->life = EMU_UNKNOWN;
	t->cpu = cpu;
	set_life(x, EMU_IS_RUNNING);
}

/* S1 to S6: from which states a step may come, and where it leads. */
void
emu_life(const struct emu_step_of *x)
{
	static const struct {
		uint8_t from, to;
		const char *asks;
	} steps[] = {
		[EMU_EXECUTE] = { 1 << EMU_UNKNOWN | 1 << EMU_IS_DEAD, EMU_IS_RUNNING,
		                  "not started yet, or ended" },
		[EMU_COOL] = { 1 << EMU_IS_RUNNING, EMU_IS_COOLING, "running" },
		[EMU_PAUSE] = { 1 << EMU_IS_RUNNING | 1 << EMU_IS_COOLING, EMU_IS_PAUSED,
		                "running or cooling" },
		[EMU_WARM] = { 1 << EMU_IS_PAUSED, EMU_IS_WARMING, "paused" },
		[EMU_RESUME] = { 1 << EMU_IS_PAUSED | 1 << EMU_IS_WARMING, EMU_IS_RUNNING,
		                 "paused or warming" },
		[EMU_END] = { 1 << EMU_IS_RUNNING | 1 << EMU_IS_COOLING, EMU_IS_DEAD, "running or cooling" },
	};
	static const char *const lives[] = {
		"not started", "running", "paused", "cooling", "warming", "ended"
	};
	const struct emu_thread *const t = emu_thread(x);
	const uint8_t step = x->act->step;

	if (step == EMU_CREATE || step >= sizeof steps / sizeof steps[0])
		return;
	if ((steps[step].from >> t->life & 1) == 0)
		emu_say(x, OVNI_RULE_THREAD_STATE, "%.*s asks for a thread that is %s, and this one is %s",
		        (int)x->act->cls->name.n, x->act->cls->name.p, steps[step].asks, lives[t->life]);
	if (step == EMU_EXECUTE)
		start(x);
	else
		set_life(x, steps[step].to);
}

/* ---- affinity ---- */

static void
move_to(const struct emu_step_of *x, uint32_t thread, uint32_t cpu)
{
	struct emu_thread *const t = &x->em->threads[thread];

	if (t->cpu == cpu)
		return;
	if (t->life == EMU_IS_RUNNING)
		run_off(x, thread);
	t->cpu = cpu;
	if (t->life == EMU_IS_RUNNING)
		run_on(x, thread);
}

/* A5: of the process, else of any process of the loom. */
static uint32_t
find_thread(const struct emu_step_of *x, uint32_t tid)
{
	const struct emu_thread *const t = emu_thread(x);
	uint32_t found = TABLE_NONE;

	if (t->process != TABLE_NONE)
		found = table64_get(&x->em->by_tid, (uint64_t)t->process << 32 | tid);
	if (found == TABLE_NONE && t->loom != TABLE_NONE)
		found = table64_get(&x->em->by_tid, BY_LOOM | (uint64_t)t->loom << 32 | tid);
	return found;
}

static void
move_other(const struct emu_step_of *x)
{
	const uint32_t tid = emu_u32(x, x->act->at_tid), other = find_thread(x, tid);
	const struct emu_thread *const t = other != TABLE_NONE ? &x->em->threads[other] : emu_thread(x);
	const uint32_t cpu = find_cpu(x, t, (int32_t)emu_u32(x, x->act->at_cpu));

	if (other == TABLE_NONE && !x->sh->in_folder)
		return;
	if (other == TABLE_NONE || t->life == EMU_UNKNOWN || t->life == EMU_IS_DEAD) {
		emu_say(x, OVNI_RULE_AFFINITY_TARGET, "thread %" PRId32 " %s", (int32_t)tid,
		        other == TABLE_NONE      ? "has no event before this one, in the process or its loom"
		        : t->life == EMU_IS_DEAD ? "has ended"
		                                 : "has not started");
		return;
	}
	if (cpu == t->cpu && cpu != EMU_CPU_UNKNOWN)
		emu_say(x, OVNI_RULE_AFFINITY_SAME, "thread %" PRId32 " is on CPU %" PRId32 " already",
		        (int32_t)tid, (int32_t)emu_u32(x, x->act->at_cpu));
	move_to(x, other, cpu);
}

void
emu_affinity(const struct emu_step_of *x)
{
	struct emu_thread *const t = emu_thread(x);

	if (!emu_payload(x, x->act->least, true))
		return;
	if (x->act->step == EMU_REMOTE) {
		move_other(x);
		return;
	}
	if (!emu_is_active(t)) {
		if (!t->said_needs)
			emu_say(x, OVNI_RULE_THREAD_INACTIVE,
			        "%.*s asks for a thread that is active and has a CPU",
			        (int)x->act->cls->name.n, x->act->cls->name.p);
		t->said_needs = true;
		return;
	}
	move_to(x, x->thread, find_cpu(x, t, (int32_t)emu_u32(x, x->act->at_cpu)));
}

/* ---- flush, progress: states that change each time ---- */

#define FLUSH_SLOW_NS 10000000

void
emu_flush(const struct emu_step_of *x)
{
	struct emu_thread *const t = emu_thread(x);
	const bool open = x->act->step == EMU_OPEN;

	if (t->flushing == open)
		emu_say(x, OVNI_RULE_STATE_REPEATED, "%.*s, and %s", (int)x->act->cls->name.n,
		        x->act->cls->name.p, open ? "a flush is open already" : "no flush is open");
	else if (!open && t->life == EMU_IS_RUNNING && x->e->ts > t->flush &&
	         x->e->ts - t->flush > FLUSH_SLOW_NS)
		emu_say(x, OVNI_RULE_FLUSH_SLOW, "a flush of %" PRIu64 " ns", x->e->ts - t->flush);
	if (open)
		t->flush = x->e->ts;
	t->flushing = open;
}

void
emu_progress(const struct emu_step_of *x)
{
	struct emu_thread *const t = emu_thread(x);
	const uint32_t shift = 2U * x->act->model, now = (uint32_t)x->act->step - EMU_PROGRESSING;

	if ((t->progress >> shift & 3) == now)
		emu_say(x, OVNI_RULE_STATE_REPEATED,
		        "%.*s, and the thread is in that state already (it starts as progressing)",
		        (int)x->act->cls->name.n, x->act->cls->name.p);
	t->progress = (t->progress & ~(3U << shift)) | now << shift;
}
