/* Conditions on tracks. */
#include <criterion/criterion.h>

#include "model/trace_engine.h"
#include "run/choose/select.h"

#define TRACKS 4

struct scene {
	struct trace trace;
	struct batch b;
	const struct class *cls;
	const struct track
	    *tracks[TRACKS]; /* a process, a thread of it, a child of the thread, a thread alone */
};

static void set_up(struct scene *s)
{
	*s = (struct scene){ .cls = NULL };
	trace_init(&s->trace);
	cr_assert(batch_init(&s->b, 1, false));
	s->cls = trace_add_class(&s->trace, SLICE_LIT("cls"));
	struct track *const process = trace_add_process(&s->trace, SLICE_LIT("app"));
	process->has_id = true;
	process->id = 7;
	s->tracks[0] = process;
	s->tracks[1] = trace_add_thread(&s->trace, process, 8, SLICE_LIT("ui"));
	s->tracks[2] = trace_child_track(&s->trace, s->tracks[1], SLICE_LIT("state"));
	s->tracks[3] = trace_add_thread(&s->trace, NULL, 9, SLICE_LIT("ui"));
	cr_assert(s->cls != NULL && s->tracks[3] != NULL);
}

/* Checks which of the tracks meet the condition; bit i: tracks[i]. */
static void expect(const struct scene *s, struct select_condition c, unsigned want)
{
	unsigned met = 0;

	for (unsigned i = 0; i < TRACKS; i++) {
		const struct event e = { .cls = s->cls, .track = s->tracks[i], .name = SLICE_LIT("e") };
		met |= (unsigned)select_meets(&c, &s->b, &e) << i;
	}
	cr_expect_eq(met, want, "kind %d, %.*s %u: %x", (int)c.kind, (int)c.glob.n, c.glob.p,
	             (unsigned)c.number, met);
}

/* Processes and threads are distinct; a child is part of its thread. */
Test(select_meets, processes_and_threads)
{
	struct scene s;

	set_up(&s);
	expect(&s, (struct select_condition){ .kind = SELECT_PROCESS, .glob = SLICE_LIT("a*") }, 7);
	expect(&s, (struct select_condition){ .kind = SELECT_PROCESS, .glob = SLICE_LIT("ui") }, 0);
	expect(&s, (struct select_condition){ .kind = SELECT_THREAD, .glob = SLICE_LIT("u?") }, 14);
	expect(&s, (struct select_condition){ .kind = SELECT_THREAD, .glob = SLICE_LIT("app") }, 0);
	expect(&s, (struct select_condition){ .kind = SELECT_THREAD, .glob = SLICE_LIT("state") }, 0);
	expect(&s, (struct select_condition){ .kind = SELECT_TRACK, .glob = SLICE_LIT("app") }, 7);
	expect(&s, (struct select_condition){ .kind = SELECT_TRACK, .glob = SLICE_LIT("*state*") }, 4);
	expect(&s, (struct select_condition){ .kind = SELECT_PID, .number = 7 }, 7);
	expect(&s, (struct select_condition){ .kind = SELECT_TID, .number = 8 }, 6);
	expect(&s, (struct select_condition){ .kind = SELECT_TID, .number = 7 }, 0);
	batch_free(&s.b);
	trace_free(&s.trace);
}
