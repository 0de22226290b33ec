/* Raw events, and the marks of those that a selection of interpreted events leaves out. */
#include "run/read/marks.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/private.h"

#define OVNI "testdata/ovni/good/document.obs"
#define DIAL9 "testdata/dial9/good/late.dial9"

static struct select by_name(const char *glob)
{
	struct select s = { .edges = SELECT_CLIP };

	s.conditions[s.n++] = (struct select_condition){ .kind = SELECT_NAME, .glob = slice_str(glob) };
	return s;
}

static void note(char *to, size_t space, const struct pipeline *p, const struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		const struct event *const e = &b->events[i];
		const size_t n = strlen(to);
		cr_expect(e->phase != PHASE_STRUCTURE || (e->flags & EVENT_LEFT_OUT) == 0);
		if (e->phase != PHASE_STRUCTURE && (e->flags & EVENT_LEFT_OUT) == 0)
			snprintf(to + n, space - n, "%s%llu", n > 0 ? " " : "",
			         (unsigned long long)e->offset);
		cr_expect(!p->job->choice.drops || (e->flags & EVENT_LEFT_OUT) == 0);
	}
}

/* Offsets of the raw events that are retained: "102 118". */
static void expect_records(const char *const *paths, size_t n, const struct select *select, bool drops,
                           const char *want)
{
	struct pipeline *p;
	const struct pipeline_job job = {
		.in.paths = paths,
		.in.npaths = n,
		.read.want = WANT_TIMES | WANT_ORDER,
		.read.interpret = INTERPRET_SPANS,
		.read.as = READ_FIELDS,
		.choice.drops = drops,
		.choice.select = select,
	};
	char got[4000] = "";
	struct batch *b;

	cr_assert(pipeline_open(&p, &job));
	cr_expect_eq(p->marks.state, MARKS_MADE);
	while (pipeline_next(p, &b) == STAGE_MORE) {
		note(got, sizeof got, p, b);
		batch_release(b);
	}
	cr_expect_str_eq(got, want, "%s: %s", paths[0], got);
	pipeline_close(p);
}

static void expect_named(const char *path, const char *glob, const char *want)
{
	const struct select s = by_name(glob);

	expect_records(&path, 1, &s, false, want);
	expect_records(&path, 1, &s, true, want);
}

Test(record_marks, both_ends_of_a_span)
{
	expect_named(OVNI, "paused", "102 118");
	expect_named(OVNI, "running", "8 150");
	expect_named(OVNI, "task type *", "36");
	expect_named(OVNI, "nothing of this name", "");
	expect_named(OVNI, "*", "8 36 66 86 102 118 134 150");
}

Test(record_marks, a_span_without_an_end)
{
	expect_named(DIAL9, "another text", "166");
	expect_named(DIAL9, "the first text", "75 88 128");
}

static bool is_even(void *ctx, const struct event *e)
{
	uint32_t *const spans = ctx;

	*spans += e->phase == PHASE_SPAN;
	return e->ts % 2 == 0;
}

/* The window is known after the last event; a part of the marks is in the file until then. */
Test(record_marks, kept_with_their_times)
{
	enum { N = 2 * MARKS_TIMED + 7 };
	struct event e = { .phase = PHASE_SPAN };
	const struct batch b = { .events = &e, .n = 1 };
	struct record_marks m = { .state = MARKS_GATHERING, .others = malloc(sizeof *m.others) };
	struct mark_cursor c = { .at = 0 };
	uint32_t spans = 0;
	bool failed = false;

	cr_assert_not_null(m.others);
	for (uint64_t i = 0; i < N; i++) {
		e.ts = i;
		e.dur = i % 3;
		e.offset = 10 * i;
		m.others[0] = 10 * i + i % 5;
		record_marks_keep(&m, &b, 0);
	}
	cr_expect(m.timed_file.size > 0);
	record_marks_release(&m, is_even, &spans);
	cr_expect_eq(spans, N - (N + 2) / 3, "%u", spans);
	cr_expect(record_marks_finish(&m, false));
	for (uint64_t i = 0; i < N; i++)
		for (uint64_t k = 0; k < 10; k++)
			cr_assert_eq(mark_cursor_has(&c, &m.set, 10 * i + k, &failed),
			             i % 2 == 0 && (k == 0 || k == i % 5), "%llu",
			             (unsigned long long)(10 * i + k));
	cr_expect_not(failed);
	mark_cursor_free(&c);
	record_marks_free(&m);
}

Test(record_marks, without_a_folder_for_the_times)
{
	struct event e = { .phase = PHASE_INSTANT };
	const struct batch b = { .events = &e, .n = 1 };
	struct record_marks m = { .state = MARKS_GATHERING, .others = calloc(1, sizeof *m.others) };
	char why[512];

	cr_assert_not_null(m.others);
	m.set.temp_near = "/no such folder/file";
	for (uint32_t i = 0; i < MARKS_TIMED; i++)
		record_marks_keep(&m, &b, 0);
	cr_expect_not(record_marks_finish(&m, false));
	record_marks_reason(&m, why, sizeof why);
	cr_expect_not_null(strstr(why, "no such folder"), "%s", why);
	record_marks_free(&m);
}

Test(record_marks, part_of_the_range)
{
	const struct select s = { .since = { .kind = SELECT_FRACTION, .v = SELECT_WHOLE / 2, .text = "50%" },
		                  .edges = SELECT_CLIP };

	expect_records((const char *const[]){ OVNI }, 1, &s, true, "8 86 102 118 134 150");
}

/* Both inputs have the same offsets; the number of the input distinguishes them. */
Test(record_marks, several_inputs)
{
	static const char *const both[] = { DIAL9, "testdata/dial9/good/pools.dial9" };
	static const char *const twice[] = { DIAL9, DIAL9 };
	const struct select s = by_name("another text");

	expect_records(both, 2, &s, false, "166");
	expect_records(twice, 2, &s, false, "166 166");
}
