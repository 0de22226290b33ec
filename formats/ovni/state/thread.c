/*
 * Threads: their life cycle, the CPUs that they hold, flushes, progress and bursts.
 */
#include "ovni/state/state.h"

#define FLUSH_SLOW_NS 10000000
#define BURST_EVENTS 100
#define BURST_NS 100

/* ---- the thread of a stream ---- */

/* A thread without a loom belongs to the process with its pid in a loom that other threads name. */
static uint32_t process_of(const struct ovni_system *s, uint32_t process)
{
	uint32_t named = TABLE_NONE;

	if (process != TABLE_NONE && s->processes[process].loom == TABLE_NONE)
		named = ovni_system_find_process(s, s->processes[process].pid);
	return named != TABLE_NONE ? named : process;
}

/* Indexes the thread, unless an earlier one has the key.  Returns false on OOM. */
static bool index_thread(struct state_checker *c, uint64_t key, uint32_t thread)
{
	return table64_get(&c->by_tid, key) != TABLE_NONE || table64_put(&c->by_tid, key, thread);
}

static bool add_thread(struct state_event *x)
{
	const struct ovni_stream *const stream = x->stream;
	struct state_checker *const c = x->checker;
	const struct ovni_system *const s = c->system;
	const uint32_t n = c->nthreads;

	if (!array_reserve(&c->threads, n, &c->threads_cap, sizeof *c->threads))
		return false;
	struct state_thread *const t = &c->threads[n];
	*t = (struct state_thread){ .first = x->e->ts,
		                    .stream = stream->number,
		                    .process = process_of(s, stream->process),
		                    .loom = TABLE_NONE,
		                    .scope = OVNI_MAX_PROCESSES + n,
		                    .cpu = STATE_CPU_NONE,
		                    .tid = stream->tid };
	if (t->process != TABLE_NONE) {
		t->loom = s->processes[t->process].loom;
		t->scope = t->process;
		t->pid = (int32_t)s->processes[t->process].pid;
	}
	if (t->tid > 0 && t->process != TABLE_NONE &&
	    !index_thread(c, (uint64_t)t->process << 32 | (uint32_t)t->tid, n))
		return false;
	if (t->tid > 0 && t->loom != TABLE_NONE &&
	    !index_thread(c, STATE_BY_LOOM | (uint64_t)t->loom << 32 | (uint32_t)t->tid, n))
		return false;
	c->nthreads++;
	x->stream->checked = n + 1;
	return true;
}

bool state_find_thread(struct state_event *x)
{
	if (x->stream->checked == 0 && x->checker->nthreads >= OVNI_MAX_THREADS) {
		state_limit(x, "threads", OVNI_MAX_THREADS);
		return false;
	}
	if (x->stream->checked == 0 && !add_thread(x)) {
		state_no_memory(x);
		return false;
	}
	x->thread = x->stream->checked - 1;
	return true;
}

/* ---- CPUs ---- */

/* Indexes the CPUs of all looms; their lists are complete before the first event. */
static bool index_cpus(struct state_checker *c)
{
	const struct ovni_system *const s = c->system;

	if (c->ncpus == s->ncpus)
		return true;
	if (!array_resize(&c->cpus, s->ncpus, sizeof *c->cpus))
		return false;
	for (; c->ncpus < s->ncpus; c->ncpus++) {
		const uint64_t key = (uint64_t)s->cpus[c->ncpus].loom << 32 | s->cpus[c->ncpus].index;
		c->cpus[c->ncpus] = (struct state_cpu){ 0, 0 };
		if (table64_get(&c->cpu_index, key) == TABLE_NONE &&
		    !table64_put(&c->cpu_index, key, c->ncpus))
			return false;
	}
	return true;
}

/* Returns the CPU of an index in the loom of a thread, or STATE_CPU_... */
static uint32_t find_cpu(const struct state_event *x, const struct state_thread *t, int32_t index)
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
	/* Streams that are not read may declare the CPUs of the loom. */
	if (index < 0 || (n > 0 && ovni_system_is_whole(c->system)))
		state_report(x, OVNI_RULE_NO_SUCH_CPU,
		             "CPU %" PRId32 ", but the loom has %" PRIu32 " (from 0; -1 is the virtual CPU)",
		             index, n);
	return STATE_CPU_UNKNOWN;
}

/* Returns NULL for the virtual CPU and unknown ones. */
static struct state_cpu *physical_cpu(const struct state_event *x, uint32_t cpu)
{
	return cpu < x->checker->ncpus ? &x->checker->cpus[cpu] : NULL;
}

/* Reports a second thread: at most one thread runs on a CPU. */
static void enter_cpu(const struct state_event *x, uint32_t thread)
{
	const struct state_checker *const c = x->checker;
	const struct state_thread *const t = &c->threads[thread];
	struct state_cpu *const cpu = physical_cpu(x, t->cpu);

	if (cpu == NULL)
		return;
	if (cpu->running++ > 0) {
		const struct state_thread *const other = &c->threads[cpu->latest];
		state_report(x, OVNI_RULE_CPU_BUSY,
		             "CPU %" PRIu32 " has %" PRIu32 " threads running: %" PRId32
		             " of process %" PRId32 " and %" PRId32 " of process %" PRId32,
		             c->system->cpus[t->cpu].index, cpu->running, other->tid, other->pid, t->tid,
		             t->pid);
	}
	cpu->latest = thread;
}

static void leave_cpu(const struct state_event *x, uint32_t thread)
{
	struct state_cpu *const cpu = physical_cpu(x, x->checker->threads[thread].cpu);

	if (cpu != NULL && cpu->running > 0)
		cpu->running--;
}

static void set_cpu(const struct state_event *x, uint32_t thread, uint32_t cpu)
{
	struct state_thread *const t = &x->checker->threads[thread];

	if (t->cpu == cpu)
		return;
	if (t->life == STATE_THREAD_RUNNING)
		leave_cpu(x, thread);
	t->cpu = cpu;
	if (t->life == STATE_THREAD_RUNNING)
		enter_cpu(x, thread);
}

/* ---- affinity ---- */

/* Returns the thread of this number in the process, else of any process of the loom. */
static uint32_t find_thread(const struct state_event *x, uint32_t tid)
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

static void move_other(const struct state_event *x)
{
	const uint32_t tid = state_u32(x, x->code->at_tid), other = find_thread(x, tid);
	const struct state_thread *const t =
	    other != TABLE_NONE ? &x->checker->threads[other] : state_thread(x);
	const int32_t index = (int32_t)state_u32(x, x->code->at_cpu);
	const uint32_t cpu = find_cpu(x, t, index);

	if (other == TABLE_NONE && !ovni_system_is_whole(x->checker->system))
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
	set_cpu(x, other, cpu);
}

static void move_self(const struct state_event *x)
{
	struct state_thread *const t = state_thread(x);

	if (state_is_active(t)) {
		set_cpu(x, x->thread, find_cpu(x, t, (int32_t)state_u32(x, x->code->at_cpu)));
		return;
	}
	if (!t->needs_reported)
		state_report(x, OVNI_RULE_THREAD_INACTIVE,
		             "%s requires a thread that is active and has a CPU", state_name(x));
	t->needs_reported = true;
}

void state_check_affinity(const struct state_event *x)
{
	if (!state_has_payload(x, x->code->fixed_size, true))
		return;
	if (x->code->action == STATE_REMOTE)
		move_other(x);
	else
		move_self(x);
}

/* ---- life cycle ---- */

static void set_life(const struct state_event *x, uint8_t life)
{
	struct state_thread *const t = state_thread(x);

	if (t->life == STATE_THREAD_RUNNING && life != STATE_THREAD_RUNNING)
		leave_cpu(x, x->thread);
	if (t->life != STATE_THREAD_RUNNING && life == STATE_THREAD_RUNNING)
		enter_cpu(x, x->thread);
	t->life = life;
	t->needs_reported = false;
	if (life == STATE_THREAD_ENDED)
		t->cpu = STATE_CPU_NONE;
}

static void start_thread(const struct state_event *x)
{
	struct state_thread *const t = state_thread(x);
	const uint8_t offset = x->code->at_cpu;
	/* ovniemu requires only the CPU, not what follows it. */
	const uint32_t size = offset == STATE_NO_FIELD ? 0 : offset + 4U;
	const uint32_t cpu = state_has_payload(x, size, false) ? find_cpu(x, t, (int32_t)state_u32(x, offset))
	                                                       : STATE_CPU_UNKNOWN;

	if (t->life == STATE_THREAD_RUNNING)
		leave_cpu(x, x->thread);
	t->life = STATE_THREAD_NEW;
	t->cpu = cpu;
	set_life(x, STATE_THREAD_RUNNING);
}

#define IN(life) (1U << STATE_THREAD_##life)

/* States of the thread in which an action is allowed, and the state after it. */
static const struct life_rule {
	uint8_t from, to;
	const char *names; /* of the states in `from` */
} life_rules[] = {
	[STATE_EXECUTE] = { IN(NEW) | IN(ENDED), STATE_THREAD_RUNNING, "not started or ended" },
	[STATE_COOL] = { IN(RUNNING), STATE_THREAD_COOLING, "running" },
	[STATE_PAUSE] = { IN(RUNNING) | IN(COOLING), STATE_THREAD_PAUSED, "running or cooling" },
	[STATE_WARM] = { IN(PAUSED), STATE_THREAD_WARMING, "paused" },
	[STATE_RESUME] = { IN(PAUSED) | IN(WARMING), STATE_THREAD_RUNNING, "paused or warming" },
	[STATE_END] = { IN(RUNNING) | IN(COOLING), STATE_THREAD_ENDED, "running or cooling" },
};

void state_check_life(const struct state_event *x)
{
	static const char *const lives[] = {
		"not started", "running", "paused", "cooling", "warming", "ended"
	};
	const struct state_thread *const t = state_thread(x);
	const uint8_t action = x->code->action;

	if (action == STATE_CREATE || action >= sizeof life_rules / sizeof life_rules[0])
		return;
	const struct life_rule *const rule = &life_rules[action];
	if ((rule->from >> t->life & 1) == 0)
		state_report(x, OVNI_RULE_THREAD_STATE, "%s requires a thread that is %s, but it is %s",
		             state_name(x), rule->names, lives[t->life]);
	if (action == STATE_EXECUTE)
		start_thread(x);
	else
		set_life(x, rule->to);
}

/* ---- flushes, progress, bursts ---- */

void state_check_flush(const struct state_event *x)
{
	struct state_thread *const t = state_thread(x);
	const bool open = x->code->action == STATE_OPEN;

	if (t->flushing == open)
		state_report(x, OVNI_RULE_STATE_REPEATED, "%s, but %s", state_name(x),
		             open ? "a flush is open already" : "no flush is open");
	else if (!open && t->life == STATE_THREAD_RUNNING && x->e->ts > t->flush &&
	         x->e->ts - t->flush > FLUSH_SLOW_NS)
		state_report(x, OVNI_RULE_FLUSH_SLOW, "a flush took %" PRIu64 " ns", x->e->ts - t->flush);
	if (open)
		t->flush = x->e->ts;
	t->flushing = open;
}

void state_check_progress(const struct state_event *x)
{
	struct state_thread *const t = state_thread(x);
	const uint32_t shift = 2U * x->code->model;
	const uint32_t now = (uint32_t)x->code->action - STATE_PROGRESSING;

	if ((t->progress >> shift & 3) == now)
		state_report(x, OVNI_RULE_STATE_REPEATED,
		             "%s, but the thread is in that state already (a thread starts as progressing)",
		             state_name(x));
	t->progress = (t->progress & ~(3U << shift)) | now << shift;
}

/* The median of the 99 times between 100 events is too large exactly if 50 of them are. */
void state_check_burst(const struct state_event *x)
{
	struct state_thread *const t = state_thread(x);

	t->slow_bursts = (uint8_t)(t->slow_bursts + (t->nbursts > 0 && x->e->ts - t->burst > BURST_NS));
	t->burst = x->e->ts;
	if (++t->nbursts < BURST_EVENTS)
		return;
	if (t->slow_bursts >= BURST_EVENTS / 2)
		state_report(x, OVNI_RULE_BURST_SLOW,
		             "%u of the last 99 times between burst events are over %d ns",
		             (unsigned)t->slow_bursts, BURST_NS);
	t->nbursts = t->slow_bursts = 0;
}
