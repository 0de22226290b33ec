/* Synthetic events: hostile names, deep stacks, overlaps, equal times. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "format/registry.h"
#include "run/write/test/writer_rig_test.h"
#include "speedscope/test/check_test.h"

struct made {
	void (*fill)(struct made *m, struct batch *b, uint32_t number);
	uint32_t batches;
	const struct track *track, *other;
	const struct class *cls;
};

static bool fill(void *ctx, struct trace *trace, struct batch *b, uint32_t number)
{
	struct made *const m = ctx;

	if (number == 0) {
		const struct track *const process = trace_add_process(trace, SLICE_LIT("process"));
		m->track = trace_add_thread(trace, process, 1, SLICE_LIT("thread 1"));
		m->other = trace_add_thread(trace, process, 2, slice_of("a\"\n\\\xff\x1b[31m", 10));
		m->cls = trace_add_class(trace, SLICE_LIT("cls"));
		trace->format = "made";
	}
	if (number < m->batches)
		m->fill(m, b, number);
	return number < m->batches;
}

static void add_span(struct made *m, struct batch *b, const struct track *track, uint64_t ts, uint64_t dur,
                     const char *name)
{
	struct event *const e = writer_rig_event(b, m->cls, track, ts, slice_str(name));

	e->phase = PHASE_SPAN;
	e->dur = dur;
}

/* Runs the writer with 1, 2 and 7 threads.  The caller frees *r and the result. */
static struct check run(struct writer_rig *r, void (*events)(struct made *, struct batch *, uint32_t),
                        uint32_t batches)
{
	struct made m = { .fill = events, .batches = batches };

	writer_rig_run_all(
	    r, &(struct writer_rig_job){ .to = format_by_name("speedscope"), .fill = fill, .ctx = &m });
	cr_assert(r->written);
	return check_speedscope("made", writer_rig_text(r, NULL), r->files[0].text.n);
}

static void expect_sum(const struct check *c, const char *name, uint64_t calls, double total)
{
	const struct check_sum *const s = check_find(c, name, "cls");

	cr_assert_not_null(s, "%s", name);
	cr_expect_eq(s->calls, calls, "%s: %lu calls", name, (unsigned long)s->calls);
	cr_expect_eq(s->total, total, "%s: %.0f ns", name, s->total);
}

/* ---- order ---- */

static void shuffled(struct made *m, struct batch *b, uint32_t number)
{
	add_span(m, b, m->track, 1000 * (uint64_t)number + 20, 10, "inner");
	add_span(m, b, m->other, 1000 * (uint64_t)number + 20, 10, "elsewhere");
	add_span(m, b, m->track, 1000 * (uint64_t)number, 100, "outer");
	add_span(m, b, m->track, 1000 * (uint64_t)number + 100, 0, "at the end");
	add_span(m, b, m->track, 1000 * (uint64_t)number + 30, 10, "");
	writer_rig_event(b, m->cls, m->track, 1000 * (uint64_t)number, SLICE_LIT("instant"));
	writer_rig_event(b, m->cls, m->track, 1000 * (uint64_t)number, SLICE_LIT("counter"))->phase =
	    PHASE_COUNTER;
	writer_rig_event(b, m->cls, m->track, 1000 * (uint64_t)number, SLICE_LIT("arrow"))->phase =
	    PHASE_FLOW_IN;
	add_span(m, b, m->track, 1000 * (uint64_t)number + 50, 500, "life");
	b->events[b->n - 1].flags = EVENT_ASYNC;
	writer_rig_field(b, SLICE_LIT("n"), value_u64(1));
	add_span(m, b, m->track, 1000 * (uint64_t)number + 20, 5, "deep");
	writer_rig_field(b, SLICE_LIT("n"), value_u64(1));
}

Test(speedscope_made, spans_nest_in_any_order)
{
	struct writer_rig r;
	struct check c = run(&r, shuffled, 40);

	cr_expect_eq(c.evented, 2);
	cr_expect_eq(c.sampled, 0);
	cr_expect_eq(c.depth, 3);
	expect_sum(&c, "outer", 40, 4000);
	expect_sum(&c, "inner", 40, 400);
	expect_sum(&c, "deep", 40, 200);
	expect_sum(&c, "(no name)", 40, 400);
	expect_sum(&c, "at the end", 40, 0);
	expect_sum(&c, "elsewhere", 40, 400);
	cr_expect_null(check_find(&c, "instant", "cls"));
	cr_expect_eq(writer_rig_lost(&r, "speedscope/no-duration"), 40);
	cr_expect_eq(writer_rig_lost(&r, "speedscope/counters"), 40);
	cr_expect_eq(writer_rig_lost(&r, "speedscope/arrows"), 40);
	cr_expect_eq(writer_rig_lost(&r, "speedscope/async"), 40);
	cr_expect_eq(writer_rig_lost(&r, "speedscope/fields"), 40);
	cr_expect_eq(writer_rig_lost(&r, "speedscope/invalid-utf8"), 1);
	check_free(&c);
	writer_rig_free(&r);
}

/* A span from 50 to 60 in a trace that an async span begins at 10 and ends at 90. */
static void within_async(struct made *m, struct batch *b, uint32_t number)
{
	(void)number;
	add_span(m, b, m->track, 10, 80, "life");
	b->events[b->n - 1].flags = EVENT_ASYNC;
	add_span(m, b, m->track, 50, 10, "span");
}

Test(speedscope_made, async_spans_belong_to_the_time_of_the_trace)
{
	struct writer_rig r;
	struct check c = run(&r, within_async, 1);

	expect_sum(&c, "span", 1, 10);
	const char *const text = writer_rig_text(&r, NULL);
	cr_expect_not_null(strstr(text, "{\"type\":\"O\",\"frame\":0,\"at\":40}"), "%s", text);
	cr_expect_not_null(strstr(text, "\"startValue\":0,\"endValue\":80"), "%s", text);
	check_free(&c);
	writer_rig_free(&r);
}

static void equal(struct made *m, struct batch *b, uint32_t number)
{
	add_span(m, b, m->track, 10, 5, number == 0 ? "first" : "second");
	if (number == 1) {
		add_span(m, b, m->track, 12, 0, "nothing");
		add_span(m, b, m->track, 12, 0, "nothing either");
		add_span(m, b, m->track, UINT64_MAX - 3, 100, "beyond the end");
	}
}

Test(speedscope_made, of_equal_spans_the_later_is_the_outer_one)
{
	static const char want[] =
	    "[\n{\"type\":\"O\",\"frame\":1,\"at\":0},\n{\"type\":\"O\",\"frame\":0,\"at\":0},\n"
	    "{\"type\":\"O\",\"frame\":3,\"at\":2},\n{\"type\":\"O\",\"frame\":2,\"at\":2},\n"
	    "{\"type\":\"C\",\"frame\":2,\"at\":2},\n";
	struct writer_rig r;
	struct check c = run(&r, equal, 2);

	cr_expect_not_null(strstr(writer_rig_text(&r, NULL), want), "%s", writer_rig_text(&r, NULL));
	cr_expect_not_null(strstr(writer_rig_text(&r, NULL), "\"endValue\":18446744073709551605"));
	cr_expect_eq(writer_rig_lost(&r, "speedscope/time-rounded"), 1);
	check_free(&c);
	writer_rig_free(&r);
}

static void overlapping(struct made *m, struct batch *b, uint32_t number)
{
	for (uint64_t i = 0; i < 3; i++)
		add_span(m, b, m->track, 100 * (uint64_t)number + 20 * i, 50, "crosses");
}

Test(speedscope_made, what_overlaps_stands_in_lanes)
{
	struct writer_rig r;
	struct check c = run(&r, overlapping, 30);

	cr_expect_eq(c.evented, 3);
	expect_sum(&c, "crosses", 90, 90 * 50);
	cr_expect_not_null(strstr(writer_rig_text(&r, NULL), "\"process / thread 1 (2)\""));
	check_free(&c);
	writer_rig_free(&r);
}

static void overlapping_of_process(struct made *m, struct batch *b, uint32_t number)
{
	(void)number;
	add_span(m, b, m->track->parent, 0, 50, "crosses");
	add_span(m, b, m->track->parent, 20, 50, "crosses");
}

Test(speedscope_made, lanes_of_a_process_have_its_name_once)
{
	struct writer_rig r;
	struct check c = run(&r, overlapping_of_process, 1);

	cr_expect_eq(c.evented, 2);
	cr_expect_not_null(strstr(writer_rig_text(&r, NULL), "\"process\""));
	cr_expect_not_null(strstr(writer_rig_text(&r, NULL), "\"process (2)\""));
	check_free(&c);
	writer_rig_free(&r);
}

/* ---- limits ---- */

/* In order of their ends, as lanes of deep stacks require. */
static void deep(struct made *m, struct batch *b, uint32_t number)
{
	for (uint64_t i = 0; i < 100; i++) {
		const uint64_t level = 4199 - 100 * (uint64_t)number - i;
		add_span(m, b, m->track, level, 20000 - 2 * level, "deep");
	}
}

Test(speedscope_made, stacks_are_cut_at_their_depth)
{
	struct writer_rig r;
	struct check c = run(&r, deep, 42);

	cr_expect_eq(c.depth, 4096, "%lu", (unsigned long)c.depth);
	cr_expect_eq(writer_rig_lost(&r, "speedscope/too-deep"), 4200 - 4096, "%s: %lu",
	             r.losses.n > 0 ? r.losses.rows[0].loss->id : "", (unsigned long)r.losses.rows[0].count);
	check_free(&c);
	writer_rig_free(&r);
}

static void long_names(struct made *m, struct batch *b, uint32_t number)
{
	char *const name = arena_alloc(&b->scratch, 1 << 20);

	memset(name, '\x01', 1 << 20); /* six bytes each in JSON */
	(void)snprintf(name, 16, "%u", number);
	struct event *const e =
	    writer_rig_event(b, m->cls, m->track, 10 * (uint64_t)number, slice_of(name, 1 << 20));
	e->phase = PHASE_SPAN;
	e->dur = 5;
}

Test(speedscope_made, names_beyond_their_room_are_one)
{
	struct made m = { .fill = long_names, .batches = 8 };
	struct writer_rig r;

	writer_rig_run(
	    &r, &(struct writer_rig_job){ .to = format_by_name("speedscope"), .fill = fill, .ctx = &m });
	struct check c = check_speedscope("long names", writer_rig_text(&r, NULL), r.files[0].text.n);
	const struct check_sum *const other = check_find(&c, "(other)", "cls");
	cr_assert_not_null(check_find(&c, "(other)", ""));
	cr_expect_null(other);
	cr_expect_eq(writer_rig_lost(&r, "speedscope/frames-full"), 3);
	cr_expect_eq(check_find(&c, "(other)", "")->calls, 3);
	cr_expect_lt(r.files[0].text.n, (size_t)33 << 20);
	check_free(&c);
	writer_rig_free(&r);
}

Test(speedscope_made, nothing_in_an_empty_profile_out)
{
	struct writer_rig r;
	struct check c = run(&r, shuffled, 0);

	cr_expect_eq(c.profiles, 0);
	check_free(&c);
	writer_rig_free(&r);
}

Test(speedscope_made, a_full_disk_is_noticed)
{
	struct made m = { .fill = shuffled, .batches = 40 };
	struct writer_rig r;

	writer_rig_run(&r,
	               &(struct writer_rig_job){
	                   .to = format_by_name("speedscope"), .fill = fill, .ctx = &m, .fail_after = 50 });
	cr_expect(r.failed && !r.written);
	cr_expect_eq(r.puts_after_failure, 0);
	writer_rig_free(&r);
}
