/* Lives of tasks whose two ends are in any order, compared with the expected spans. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "run/meaning/interpret.h"

#define TASKS 4000U

struct life {
	uint64_t begin, end;
	bool has_begin, has_end;
	uint64_t dur;
	unsigned spans, instants, unfinished;
};

struct scene {
	struct trace trace;
	struct pairing pairing;
	struct batch b;
	const struct class *cls;
	const struct track *tracks[3]; /* of two processes */
	struct life *lives;
};

static uint32_t random_number(uint64_t *seed, uint32_t below)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*seed >> 33) % below;
}

static void set_up(struct scene *s)
{
	*s = (struct scene){ .lives = calloc(TASKS, sizeof *s->lives) };
	trace_init(&s->trace);
	pairing_init(&s->pairing, &s->trace);
	cr_assert(batch_init(&s->b, 64, false));
	s->cls = trace_add_class(&s->trace, SLICE_LIT("task"));
	const struct track *const one = trace_add_process(&s->trace, SLICE_LIT("one")),
	                          *const two = trace_add_process(&s->trace, SLICE_LIT("two"));
	s->tracks[0] = trace_add_thread(&s->trace, one, 1, SLICE_LIT("a"));
	s->tracks[1] = trace_add_thread(&s->trace, one, 2, SLICE_LIT("b"));
	s->tracks[2] = trace_add_thread(&s->trace, two, 3, SLICE_LIT("c"));
	cr_assert(s->tracks[2] != NULL && s->cls != NULL && s->lives != NULL);
}

static void tear_down(struct scene *s)
{
	pairing_free(&s->pairing);
	batch_free(&s->b);
	trace_free(&s->trace);
	free(s->lives);
}

/* The task's number is its key, its offset and its one field. */
static void give(struct scene *s, uint32_t task, bool begin, uint64_t ts, const struct track *track)
{
	const struct pairing_how how = {
		.pair = 1, .flags = PAIRING_ASYNC, .lasting = true, .fields = true, .key = task / 2
	};
	struct life *const life = &s->lives[task];

	batch_recycle(&s->b);
	struct field *const f = batch_fields(&s->b, 1);
	f[0] = (struct field){ SLICE_LIT("task"), value_u64(task) };
	s->b.nfields = 1;
	struct event *const e = &s->b.events[0];
	*e = (struct event){ .ts = ts,
		             .name = SLICE_LIT("life"),
		             .cls = s->cls,
		             .track = track,
		             .offset = task,
		             .nfields = 1 };
	const enum pairing_result result =
	    begin ? pairing_begin(&s->pairing, &s->b, e, &how) : pairing_end(&s->pairing, &s->b, e, &how);
	cr_assert(result == PAIRING_SPAN || result == PAIRING_OPEN);
	if (result != PAIRING_SPAN)
		return;
	cr_expect_eq(e->phase, PHASE_SPAN);
	cr_expect_eq(e->flags, EVENT_ASYNC);
	cr_expect_eq(e->ts, life->begin);
	cr_expect_eq(e->nfields, 1);
	cr_expect_eq(s->b.fields[e->first_field].value.u64, task);
	life->dur = e->dur;
	life->spans++;
}

static void finish(struct scene *s)
{
	for (bool more = true; more;) {
		batch_recycle(&s->b);
		more = pairing_finish(&s->pairing, &s->b, true);
		for (uint32_t i = 0; i < s->b.n; i++) {
			s->lives[s->b.events[i].offset].instants += s->b.events[i].phase == PHASE_INSTANT;
			s->lives[s->b.events[i].offset].unfinished += s->b.events[i].phase == PHASE_SPAN;
		}
	}
}

/* Two tasks have one number, in two processes. */
Test(pending_end, any_order)
{
	static uint32_t order[2 * TASKS];
	uint64_t seed = 7;
	struct scene s;

	set_up(&s);
	for (uint32_t i = 0; i < TASKS; i++) {
		s.lives[i] = (struct life){ .begin = random_number(&seed, 1000000),
			                    .has_begin = i % 7 != 0,
			                    .has_end = i % 5 != 0 };
		s.lives[i].end = s.lives[i].begin + random_number(&seed, 1000);
	}
	for (uint32_t i = 0; i < 2 * TASKS; i++) {
		const uint32_t k = random_number(&seed, i + 1);
		order[i] = order[k];
		order[k] = i;
	}
	for (uint32_t i = 0; i < 2 * TASKS; i++) {
		const uint32_t task = order[i] / 2;
		const bool begin = order[i] % 2 == 0;
		const struct life *const life = &s.lives[task];
		const struct track *const track = s.tracks[task % 2 == 0 ? 2 : begin];
		if (begin ? life->has_begin : life->has_end)
			give(&s, task, begin, begin ? life->begin : life->end, track);
	}
	finish(&s);
	for (uint32_t i = 0; i < TASKS; i++) {
		const struct life *const life = &s.lives[i];
		cr_expect_eq(life->spans, life->has_begin && life->has_end, "task %u", i);
		cr_expect_eq(life->unfinished, life->has_begin && !life->has_end, "task %u", i);
		cr_expect_eq(life->instants, !life->has_begin && life->has_end, "task %u", i);
		if (life->spans > 0)
			cr_expect_eq(life->dur, life->end - life->begin, "task %u", i);
	}
	tear_down(&s);
}

/* Passes an end at 20, with a field, and then its begin at 10, with another. */
static void give_fields(struct scene *s, bool with_begin)
{
	const struct pairing_how how = {
		.pair = 1, .flags = PAIRING_ASYNC, .lasting = true, .fields = true, .key = 1
	};
	struct event e = {
		.ts = 20, .name = SLICE_LIT("life"), .cls = s->cls, .track = s->tracks[0], .nfields = 1
	};

	*batch_fields(&s->b, 1) = (struct field){ SLICE_LIT("code"), value_u64(7) };
	s->b.nfields = 1;
	cr_assert_eq(pairing_end(&s->pairing, &s->b, &e, &how), PAIRING_OPEN);
	batch_recycle(&s->b);
	if (!with_begin)
		return;
	*batch_fields(&s->b, 1) = (struct field){ SLICE_LIT("task"), value_u64(1) };
	s->b.nfields = 1;
	e.ts = 10;
	cr_assert_eq(pairing_begin(&s->pairing, &s->b, &e, &how), PAIRING_SPAN);
	cr_assert_eq(e.nfields, 2);
	cr_expect(slice_is(s->b.fields[e.first_field].name, "task"));
	cr_expect(slice_is(s->b.fields[e.first_field + 1].name, "code"));
	cr_expect_eq(s->b.fields[e.first_field + 1].value.u64, 7);
}

/* An end retains its fields until its begin arrives, or the trace ends. */
Test(pending_end, fields_of_the_end)
{
	struct scene s;

	set_up(&s);
	give_fields(&s, true);
	batch_recycle(&s.b);
	give_fields(&s, false);
	pairing_finish(&s.pairing, &s.b, true);
	cr_assert_eq(s.b.n, 1);
	cr_assert_eq(s.b.events[0].nfields, 1);
	cr_expect(slice_is(s.b.fields[s.b.events[0].first_field].name, "code"));
	tear_down(&s);
}

/* An end does not wait for a begin that is later in time. */
Test(pending_end, not_backwards)
{
	struct scene s;

	set_up(&s);
	s.lives[2] = (struct life){ .begin = 100, .end = 50 };
	give(&s, 2, false, 50, s.tracks[0]);
	give(&s, 2, true, 100, s.tracks[0]);
	finish(&s);
	cr_expect_eq(s.lives[2].spans, 0);
	cr_expect_eq(s.lives[2].instants, 1);
	cr_expect_eq(s.lives[2].unfinished, 1);
	cr_expect_eq(s.pairing.unpaired, 2);
	tear_down(&s);
}

/* Beyond the limit no end is retained, and retained ends still find their begins. */
Test(pending_end, full)
{
	const struct pairing_how how = { .pair = 1, .flags = PAIRING_ASYNC, .lasting = true };
	struct scene s;

	set_up(&s);
	struct event e = { .ts = 10, .name = SLICE_LIT("life"), .cls = s.cls, .track = s.tracks[0] };
	for (uint32_t i = 0; i <= PENDING_END_MAX; i++) {
		struct pairing_how end = how;
		end.key = i;
		cr_assert_eq(pairing_end(&s.pairing, &s.b, &e, &end),
		             i < PENDING_END_MAX ? PAIRING_OPEN : PAIRING_ALONE);
	}
	struct pairing_how begin = how;
	begin.key = 77;
	cr_assert_eq(pairing_begin(&s.pairing, &s.b, &e, &begin), PAIRING_SPAN);
	cr_expect_eq(e.dur, 0);
	tear_down(&s);
}
