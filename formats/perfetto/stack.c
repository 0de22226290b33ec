#include "model/call_stack.h"
#include "perfetto/state.h"

/*
 * Call stacks.  A sample of a thread is a PerfSample, which flame graphs are made of; the stack of any other
 * event is with the event.  A frame is a name: frames and functions have the same numbers.
 */

/* ---- stacks as numbers ---- */

static void
define_frame(struct perfetto_state *st, uint32_t iid)
{
	const size_t at = wire_open(&st->defs, INTERNED_FRAMES);

	wire_number(&st->defs, ENTRY_IID, iid);
	wire_number(&st->defs, FRAME_FUNCTION, iid);
	wire_close(&st->defs, at);
}

static uint32_t
frame_iid(struct perfetto_state *st, struct slice name)
{
	const uint32_t known = st->tables[KIND_FUNCTION].n;
	const uint32_t iid = perfetto_intern(st, KIND_FUNCTION, name);

	if (iid > known)
		define_frame(st, iid);
	if (iid == 0)
		perfetto_lose(st, PERFETTO_FRAMES, 1);
	return iid;
}

/* The frames as the message has them, in st->stack. */
static void
put_frames(struct perfetto_state *st, const struct call_stack *stack)
{
	char room[CALL_STACK_ADDRESS];

	text_clear(&st->stack);
	for (uint32_t i = 0; i < stack->n; i++) {
		const uint32_t iid = frame_iid(st, call_stack_from_root(stack, i, room));
		if (iid != 0)
			wire_number(&st->stack, CALLSTACK_FRAMES, iid);
	}
	st->body.failed |= st->stack.failed;
}

/* A stack that is too long to be remembered is defined again. */
static uint32_t
stack_iid(struct perfetto_state *st, const struct call_stack *stack)
{
	put_frames(st, stack);
	const struct slice frames = slice_of(st->stack.p, st->stack.n);
	const uint32_t known = tabletext_get(&st->stacks, frames);

	if (known != TABLE_NONE)
		return known;
	const uint32_t iid = ++st->nstacks;
	const size_t at = wire_open(&st->defs, INTERNED_CALLSTACKS);
	wire_number(&st->defs, ENTRY_IID, iid);
	text_add(&st->defs, frames.p, frames.n);
	wire_close(&st->defs, at);
	if (st->stack_bytes + frames.n > PERFETTO_STACK_BYTES || iid > PERFETTO_STACKS)
		return iid;
	const struct slice copy = arena_copy(&st->arena, frames);
	st->body.failed |= copy.p == NULL || !tabletext_put(&st->stacks, copy, iid);
	st->stack_bytes += frames.n;
	return iid;
}

/* ---- events ---- */

/* A sample of what a thread did: a task that waits is none.  Samples have numbers of 32 bits. */
static bool
is_sample(const struct event *e, const struct perfetto_track *k)
{
	const enum plan_stack of = call_stack_kind(e->cls);
	const bool cpu =
	    of == PLAN_STACK_CPU || (of == PLAN_STACK_ANY && slice_is(e->cls->category, "stack"));

	return e->phase == PHASE_INSTANT && cpu && k->tid > 0 && k->tid <= INT32_MAX;
}

static void
put_sample(struct perfetto_state *st, uint64_t ts, const struct perfetto_track *k, uint32_t iid)
{
	struct text *const t = &st->chunk->text;
	const size_t packet = wire_open(t, TRACE_PACKET);

	wire_number(t, PACKET_TIMESTAMP, ts);
	wire_number(t, PACKET_SEQUENCE, 1);
	wire_number(t, PACKET_FLAGS, FLAG_NEEDED);
	if (st->defs.n > 0) {
		wire_head(t, PACKET_INTERNED, st->defs.n);
		text_add(t, st->defs.p, st->defs.n);
	}
	const size_t at = wire_open(t, PACKET_PERF_SAMPLE);
	wire_number(t, SAMPLE_PID, k->pid);
	wire_number(t, SAMPLE_TID, k->tid);
	wire_number(t, SAMPLE_CALLSTACK, iid);
	wire_close(t, at);
	wire_close(t, packet);
	t->failed |= st->defs.failed;
	text_clear(&st->defs);
}

void
perfetto_sample(struct perfetto_state *st, const struct batch *b, const struct event *e)
{
	const struct perfetto_track *const k = perfetto_track_of(st, e->track);
	struct call_stack stack;

	if (e->ts > LAST_TIME || !call_stack_get(&stack, b, e) || stack.n == 0)
		return;
	const uint32_t iid = stack_iid(st, &stack);
	if (is_sample(e, k))
		put_sample(st, e->ts, k, iid);
	else
		wire_number(&st->body, EVENT_CALLSTACK_IID, iid);
}
