/* Call stacks as sampled profiles, in parts if they are many. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "model/plan.h"
#include "format/registry.h"
#include "run/write/test/writer_rig_test.h"
#include "speedscope/speedscope.h"
#include "speedscope/test/check_test.h"

static const struct plan with_stack = { .stack = SLICE_LIT("stack") };

struct made {
	uint32_t batches, depth;
	uint32_t kinds, in_a_row; /* number of stacks, and consecutive samples of each */
	const struct track *track;
	struct class *cls;
};

static void add_sample(const struct made *m, struct batch *b, uint64_t ts, uint64_t kind)
{
	struct value *const frames = arena_alloc(&b->scratch, m->depth * sizeof *frames);

	for (uint32_t i = 0; i < m->depth; i++)
		frames[i] = (struct value){ .type = VALUE_ADDRESS, .u64 = 100000 * kind + i };
	writer_rig_event(b, m->cls, m->track, ts, SLICE_LIT("CPU sample"));
	writer_rig_field(b, SLICE_LIT("stack"),
	                 (struct value){ .type = VALUE_LIST, .count = m->depth, .values = frames });
}

static bool fill(void *ctx, struct trace *trace, struct batch *b, uint32_t number)
{
	struct made *const m = ctx;

	if (number == 0) {
		m->track =
		    trace_add_thread(trace, trace_add_process(trace, SLICE_LIT("p")), 1, SLICE_LIT("t"));
		m->cls = trace_add_class(trace, SLICE_LIT("cls"));
		m->cls->plan = &with_stack;
		struct event *const e = writer_rig_event(b, m->cls, m->track, 0, SLICE_LIT("around"));
		e->phase = PHASE_SPAN;
		e->dur = 1000000;
	}
	for (uint32_t i = 0; number < m->batches && i < 50; i++) {
		const uint64_t n = 50 * (uint64_t)number + i;
		add_sample(m, b, 10 * n, n / m->in_a_row % m->kinds);
	}
	return number < m->batches;
}

Test(speedscope_stacks, equal_ones_that_follow_each_other_are_one)
{
	struct made m = { .batches = 2, .depth = 2, .kinds = 2, .in_a_row = 2 };
	struct writer_rig r;

	writer_rig_run_all(
	    &r, &(struct writer_rig_job){ .to = format_by_name("speedscope"), .fill = fill, .ctx = &m });
	struct check c = check_speedscope("stacks", writer_rig_text(&r, NULL), r.files[0].text.n);
	cr_expect(c.evented == 1 && c.sampled == 1);
	cr_expect_not_null(strstr(writer_rig_text(&r, NULL), "\"name\":\"p / t: CPU sample (count)\""));
	cr_expect_not_null(strstr(writer_rig_text(&r, NULL), "\"weights\":[2,2,2,"));
	cr_expect_eq(check_find(&c, "0x0", "")->samples, 50); /* the leaf is first in the trace */
	cr_expect_eq(check_find(&c, "0x186a0", "")->samples, 50);
	cr_expect_eq(check_find(&c, "0x1", "")->samples, 0);
	cr_expect_eq(writer_rig_lost(&r, "speedscope/category"), 100);
	check_free(&c);
	writer_rig_free(&r);
}

Test(speedscope_stacks, many_make_further_parts)
{
	struct made m = { .batches = 140, .depth = 250, .kinds = 60, .in_a_row = 1 };
	struct writer_rig r;

	writer_rig_run(
	    &r, &(struct writer_rig_job){ .to = format_by_name("speedscope"), .fill = fill, .ctx = &m });
	struct check c = check_speedscope("stacks", writer_rig_text(&r, NULL), r.files[0].text.n);
	const uint64_t parts = writer_rig_lost(&r, "speedscope/parts");
	cr_expect_gt(parts, 0);
	cr_expect_eq(c.evented, parts + 1);
	cr_expect_eq(c.sampled, parts + 1);
	cr_expect_eq(check_find(&c, "around", "cls")->calls, parts + 1);
	cr_expect_eq(check_find(&c, "around", "cls")->total, 1000000);
	uint64_t samples = 0;
	for (size_t i = 0; i < c.n; i++)
		samples += c.sums[i].samples;
	cr_expect_eq(samples, 7000);
	cr_expect_not_null(strstr(writer_rig_text(&r, NULL), "\"p / t: CPU sample (count), part 2\""));
	check_free(&c);
	writer_rig_free(&r);
}

Test(speedscope_stacks, frames_beyond_their_depth_are_counted)
{
	struct made m = { .batches = 1, .depth = 600, .kinds = 1, .in_a_row = 1 };
	struct writer_rig r;

	writer_rig_run_all(
	    &r, &(struct writer_rig_job){ .to = format_by_name("speedscope"), .fill = fill, .ctx = &m });
	struct check c = check_speedscope("stacks", writer_rig_text(&r, NULL), r.files[0].text.n);
	cr_expect_eq(writer_rig_lost(&r, "speedscope/too-deep"), 50 * (600 - 512));
	cr_expect_eq(check_find(&c, "0x58", "")->samples, 50); /* the 88 innermost frames are left out */
	check_free(&c);
	writer_rig_free(&r);
}

Test(speedscope_stacks, lost_weights_fail_the_output)
{
	struct speedscope_samples s = { .weights = { .failed = true }, .weight = 1, .count = 1 };
	struct text to = { .p = NULL };

	speedscope_samples_flush(&s, &to);
	cr_expect(to.failed);
	speedscope_samples_free(&s);
	text_free(&to);
}
