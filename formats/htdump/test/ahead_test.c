/* Labels that are named after their use: what the look-ahead pass finds, and what happens when it cannot be
 * made. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "format/registry.h"
#include "input/private.h"
#include "run/pipeline.h"

#define LATE "testdata/htdump/good/late-mapping.htdump"

struct seen {
	bool complete;
	char names[8][32]; /* of the events, in order */
	size_t n;
	char messages[1024];
};

static void take_finding(void *ctx, const struct findings *all, const struct finding *f)
{
	struct seen *const s = ctx;

	(void)all;
	strncat(s->messages, f->rule->id, sizeof s->messages - strlen(s->messages) - 1);
	strncat(s->messages, ": ", sizeof s->messages - strlen(s->messages) - 1);
	strncat(s->messages, f->message, sizeof s->messages - strlen(s->messages) - 1);
	strncat(s->messages, "\n", sizeof s->messages - strlen(s->messages) - 1);
}

static void take(struct seen *s, const struct batch *b)
{
	for (uint32_t i = 0; i < b->n && s->n < 8; i++)
		if (b->events[i].phase != PHASE_STRUCTURE)
			snprintf(s->names[s->n++], sizeof s->names[0], "%.*s", (int)b->events[i].name.n,
			         b->events[i].name.p);
}

static void closed(void *ctx, const struct source *source)
{
	struct seen *const s = ctx;

	s->complete = source->complete;
}

static struct input *reopen_fails(const struct input *in)
{
	(void)in;
	return NULL;
}

/* Reads n bytes; `fails`: a second input cannot be had, `once`: the bytes come only once. */
static bool read_late(const char *p, size_t n, bool fails, bool once, struct seen *s)
{
	static const char *const paths[] = { "memory" };
	struct input *const in = input_from_memory_slowly(p, n, 100);
	const struct pipeline_job job = { .paths = paths,
		                          .npaths = 1,
		                          .input = in,
		                          .from = format_by_name("htdump"),
		                          .want = WANT_TIMES | WANT_FIELDS,
		                          .sink = take_finding,
		                          .ctx = s,
		                          .hooks = { .closed = closed, .ctx = s } };
	struct pipeline f;
	struct batch *b;

	*s = (struct seen){ .n = 0 };
	cr_assert_not_null(in);
	struct input_source_ops ops = *in->ops;
	ops.reopen = fails ? reopen_fails : ops.reopen;
	in->ops = &ops;
	in->source->can_reopen = !once;
	cr_assert(pipeline_open(&f, &job));
	while (pipeline_next(&f, &b) == STAGE_MORE) {
		take(s, b);
		batch_release(b);
	}
	pipeline_end(&f);
	cr_expect_eq(f.context.system_failed, !s->complete);
	pipeline_close(&f);
	return s->complete;
}

Test(htdump_ahead, finds_later_names)
{
	size_t n;
	char *const p = read_whole(LATE, &n);
	struct seen s;

	cr_assert_not_null(p);
	cr_expect(read_late(p, n, false, false, &s));
	cr_assert_eq(s.n, 4);
	cr_expect_str_eq(s.names[0], "even");
	cr_expect_str_eq(s.names[3], "odd");
	cr_expect_str_empty(s.messages);
	free(p);
}

Test(htdump_ahead, an_input_of_one_pass)
{
	size_t n;
	char *const p = read_whole(LATE, &n);
	struct seen s;

	cr_assert_not_null(p);
	cr_expect(read_late(p, n, false, true, &s));
	cr_assert_eq(s.n, 4);
	cr_expect_str_eq(s.names[0], "93823560581120");
	cr_expect_not_null(strstr(s.messages, "cannot be read twice"), "%s", s.messages);
	free(p);
}

/* That there is no memory for the second pass is no property of the input. */
Test(htdump_ahead, no_memory_for_a_second_pass)
{
	size_t n;
	char *const p = read_whole(LATE, &n);
	struct seen s;

	cr_assert_not_null(p);
	cr_expect_not(read_late(p, n, true, false, &s));
	cr_expect_not_null(strstr(s.messages, "no-memory"), "%s", s.messages);
	cr_expect_null(strstr(s.messages, "twice"), "%s", s.messages);
	free(p);
}
