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

/* Both inputs have the same offsets; the number of the input distinguishes them. */
Test(record_marks, several_inputs)
{
	static const char *const both[] = { DIAL9, "testdata/dial9/good/pools.dial9" };
	static const char *const twice[] = { DIAL9, DIAL9 };
	const struct select s = by_name("another text");

	expect_records(both, 2, &s, false, "166");
	expect_records(twice, 2, &s, false, "166 166");
}
