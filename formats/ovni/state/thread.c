/*
 * Threads: their life cycle, the CPUs that they hold, flushes, progress and bursts.
 */
#include "ovni/state/state.h"

#include <stdlib.h>

/*
 * Stacks of states.  A thread has one for each stack that the vocabulary names, one for each type of marks,
 * and one of bodies for each model with tasks.  They are lists in one pool, so that one limit bounds the
 * memory of all.  Beyond a limit, pushes are only counted, and as many pops are not checked.
 */

/* ---- the pool ---- */

static struct state_stack *find_stack(const struct state_checker *c, uint32_t thread, uint8_t id)
{
	const uint32_t i = table64_get(&c->stack_index, (uint64_t)thread << 8 | id);

	return i != TABLE_NONE ? &c->stacks[i] : NULL;
}

static struct state_stack *add_stack(const struct state_event *x, uint8_t id)
{
	struct state_checker *const c = x->checker;

	if (c->nstacks >= STATE_MAX_STACKS) {
		state_limit(x, "stacks of states", STATE_MAX_STACKS);
		return NULL;
	}
	if (!array_reserve(&c->stacks, c->nstacks, &c->stacks_cap, sizeof *c->stacks) ||
	    !table64_put(&c->stack_index, (uint64_t)x->thread << 8 | id, c->nstacks)) {
		state_no_memory(x);
		return NULL;
	}
	c->stacks[c->nstacks] = (struct state_stack){ .thread = x->thread, .top = TABLE_NONE, .id = id };
	return &c->stacks[c->nstacks++];
}

/* Returns TABLE_NONE if the pool is full, or on OOM. */
static uint32_t add_entry(const struct state_event *x)
{
	struct state_checker *const c = x->checker;
	const uint32_t i = c->free_entry;

	if (i != TABLE_NONE) {
		c->free_entry = c->entries[i].below;
		return i;
	}
	if (c->nentries >= STATE_MAX_ENTRIES) {
		state_limit(x, "open states", STATE_MAX_ENTRIES);
		return TABLE_NONE;
	}
	if (!array_reserve(&c->entries, c->nentries, &c->entries_cap, sizeof *c->entries)) {
		state_no_memory(x);
		return TABLE_NONE;
	}
	return c->nentries++;
}

static void pop_entry(struct state_checker *c, struct state_stack *s)
{
	const uint32_t i = s->top;

	s->top = c->entries[i].below;
	s->depth--;
	c->entries[i].below = c->free_entry;
	c->free_entry = i;
}

const struct state_entry *state_top(const struct state_checker *c, uint32_t thread, uint8_t id)
{
	const struct state_stack *const s = find_stack(c, thread, id);

	return s != NULL && s->top != TABLE_NONE ? &c->entries[s->top] : NULL;
}

/* ---- messages ---- */

struct state_text {
	char s[360];
};

static int shown_length(struct slice s)
{
	return s.n < 40 ? (int)s.n : 40;
}

static const char *describe_state(struct state_text *t, const struct state_code *a, uint64_t value)
{
	struct quoted q;

	if (a->check == state_check_mark)
		snprintf(t->s, sizeof t->s, "value %" PRId64, (int64_t)value);
	else if (a->label)
		snprintf(t->s, sizeof t->s, "a label");
	else if (a->value_name.p != NULL)
		snprintf(t->s, sizeof t->s, "%s (%.*s)", quoted(&q, a->value_name),
		         shown_length(a->value_text), a->value_text.p);
	else
		snprintf(t->s, sizeof t->s, "state %.*s", shown_length(a->value_text), a->value_text.p);
	return t->s;
}

static void report_mismatch(const struct state_event *x, uint64_t value, const struct state_entry *top)
{
	const struct state_code *const opener = &x->checker->codes[top->cls];
	struct state_text t, t2;

	state_report(x, OVNI_RULE_NESTING_MISMATCH,
	             "%s closes %s, but the innermost open one is %s, opened by %s at byte %" PRIu64,
	             state_name(x), describe_state(&t, x->code, value),
	             opener->label && x->code->label ? "another label"
	                                             : describe_state(&t2, opener, top->value),
	             opener->cls->name.p, top->offset);
}

/* P3, P4 */
static void check_push(const struct state_event *x, const struct state_stack *s, uint64_t value)
{
	const struct state_entry *const top = s->top != TABLE_NONE ? &x->checker->entries[s->top] : NULL;
	struct state_text t;

	if (x->code->repeat_error && top != NULL && top->value == value)
		state_report(x, OVNI_RULE_NESTING_REPEAT,
		             "%s opens %s again, the innermost open state since byte %" PRIu64, state_name(x),
		             describe_state(&t, x->code, value), top->offset);
	if (s->depth == STATE_MAX_DEPTH && s->beyond == 0)
		state_report(x, OVNI_RULE_NESTING_DEEP, "%s opens state %d of its stack", state_name(x),
		             STATE_MAX_DEPTH + 1);
}

/* ---- push and pop ---- */

void state_push(const struct state_event *x, uint8_t id, uint64_t value, bool body, bool quiet)
{
	struct state_stack *s = find_stack(x->checker, x->thread, id);

	if (s == NULL && (s = add_stack(x, id)) == NULL)
		return;
	if (!quiet)
		check_push(x, s, value);
	const uint32_t i = s->depth < STATE_MAX_DEPTH && s->beyond == 0 ? add_entry(x) : TABLE_NONE;
	if (i == TABLE_NONE) {
		s->beyond += s->beyond < UINT32_MAX;
		return;
	}
	x->checker->entries[i] =
	    (struct state_entry){ value, x->e->offset, s->top, x->code->cls->index & 0x7fffffff, body };
	s->top = i;
	s->depth++;
}

static bool contains(const struct state_checker *c, const struct state_stack *s, uint64_t value)
{
	for (uint32_t i = s->top; i != TABLE_NONE; i = c->entries[i].below)
		if (c->entries[i].value == value)
			return true;
	return false;
}

/* P1, P2.  A state that is open further below is closed with all above it; one that is not open changes
 * nothing. */
uint32_t state_pop(const struct state_event *x, uint8_t id, uint64_t value, bool quiet)
{
	struct state_stack *const s = find_stack(x->checker, x->thread, id);
	uint32_t n = 0;

	if (s != NULL && s->beyond > 0) {
		s->beyond--;
		return 1;
	}
	if (s == NULL || s->top == TABLE_NONE) {
		/* Beyond the limit of stacks, some are missing. */
		if (!quiet && (s != NULL || x->checker->nstacks < STATE_MAX_STACKS)) {
			struct state_text t;
			state_report(x, OVNI_RULE_NESTING_EMPTY, "%s closes %s, but nothing is open",
			             state_name(x), describe_state(&t, x->code, value));
		}
		return 0;
	}
	if (!quiet && x->checker->entries[s->top].value != value)
		report_mismatch(x, value, &x->checker->entries[s->top]);
	if (!contains(x->checker, s, value))
		return 0;
	for (bool found = false; !found; n++) {
		found = x->checker->entries[s->top].value == value;
		pop_entry(x->checker, s);
	}
	return n;
}

void state_check_stack(const struct state_event *x)
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

/* ---- marks and counters, which metadata declares ---- */

/* K2, K4, K5: the type is declared, and its kind fits the event. */
static bool check_mark_type(const struct state_event *x, uint32_t type)
{
	static const struct ovni_mark none;
	const struct ovni_system *const s = x->checker->system;
	const struct ovni_mark *const mark = type < OVNI_MARK_TYPES ? &s->marks[type] : &none;
	const char *const wanted = x->code->action == STATE_SET ? "single" : "stack";

	if (mark->title.p == NULL) {
		if (s->in_folder)
			state_report(x, OVNI_RULE_MARK_UNDECLARED,
			             "mark type %" PRId32 " is not declared in any stream.json",
			             (int32_t)type);
		return type < OVNI_MARK_TYPES;
	}
	if (slice_is(mark->chan_type, wanted))
		return true;
	state_report(x, OVNI_RULE_MARK_KIND,
	             "%s requires chan_type \"%s\", which mark type %" PRIu32 " does not have", state_name(x),
	             wanted, type);
	return false;
}

void state_check_mark(const struct state_event *x)
{
	const struct state_code *const c = x->code;

	if (c->at_mark == STATE_NO_FIELD || c->at_value == STATE_NO_FIELD ||
	    !state_has_payload(x, c->fixed_size, true))
		return;
	const uint32_t type = state_u32(x, c->at_mark);
	const uint64_t value = load_u64(x->payload.p + c->at_value, x->stream->big);
	if (!check_mark_type(x, type))
		return;
	if (value == 0)
		state_report(x, OVNI_RULE_MARK_ZERO, "a mark of type %" PRIu32 " has the value 0", type);
	if (c->action == STATE_PUSH)
		state_push(x, (uint8_t)(STATE_STACK_MARKS + type), value, false, false);
	else if (c->action == STATE_POP)
		state_pop(x, (uint8_t)(STATE_STACK_MARKS + type), value, false);
}

/* HW1, HW2 */
void state_check_counters(const struct state_event *x)
{
	const struct ovni_system *const s = x->checker->system;

	if (!state_is_jumbo(x))
		return;
	if (s->ncounters == 0) {
		if (s->in_folder)
			state_report(x, OVNI_RULE_COUNTERS_UNDECLARED, "%s, but no stream.json has nosv.hwc",
			             state_name(x));
		return;
	}
	state_has_payload(x, 8 * s->ncounters, true);
}

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

/* S10, A4: the CPU of an index in the loom of a thread, or STATE_CPU_... */
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
	if (index < 0 || (n > 0 && c->system->in_folder))
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

/* S12: at most one thread runs on a CPU. */
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

/* A5: a thread of the process, else of any process of the loom. */
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
	/* S9: only the CPU is required. */
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

/* S1 to S6: states of the thread in which an action is allowed, and the state after it. */
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

/* B1: the median of the 99 times between 100 events is too large exactly if 50 of them are. */
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
