#include <criterion/criterion.h>

#include "model/event_traits.h"
#include "run/write/test/writer_rig_test.h"

/* The stage that sorts events for a writer. */

static bool list_open(struct writer *w, struct chunk *chunk)
{
	return true;
}

static void list_render(const void *state, const struct batch *b, struct chunk *chunk)
{
	for (uint32_t i = 0; i < b->n; i++)
		text_printf(&chunk->text, "%d/%d:%d ", (int)b->events[i].track->id, (int)b->events[i].ts,
		            b->events[i].nfields > 0 ? (int)b->fields[b->events[i].first_field].value.u64
		                                     : -1);
}

static bool list_close(struct writer *w, struct chunk *chunk)
{
	return true;
}

#define LIST .state_size = 1, .open = list_open, .render = list_render, .close = list_close
static const struct writer_ops in_time = { LIST, .order = ORDER_TIME };
static const struct writer_ops in_nesting = { LIST, .order = ORDER_NESTING };
static const struct writer_ops in_tracks = { LIST, .order = ORDER_TRACK_TIME };
static const struct writer_ops in_file = { LIST, .order = ORDER_FILE };
static const struct format by_time = { .name = "t", .writer = &in_time };
static const struct format by_nesting = { .name = "n", .writer = &in_nesting };
static const struct format by_track = { .name = "k", .writer = &in_tracks };
static const struct format by_file = { .name = "f", .writer = &in_file };

/* Three events per batch, of two tracks, the later ones first; fields distinguish them. */
struct made {
	uint32_t batches;
	const struct track *tracks[2];
	const struct class *cls;
};

static bool fill(void *ctx, struct trace *trace, struct batch *b, uint32_t number)
{
	struct made *const m = ctx;

	for (uint64_t i = 0; number == 0 && i < 2; i++)
		m->tracks[i] = trace_add_thread(trace, NULL, i, SLICE_LIT("t"));
	if (number == 0)
		m->cls = trace_add_class(trace, SLICE_LIT("cls"));
	for (uint64_t i = 0; number < m->batches && i < 3; i++) {
		writer_rig_event(b, m->cls, m->tracks[i % 2], 100 * (uint64_t)number + 9 - i, SLICE_LIT("x"));
		writer_rig_field(b, SLICE_LIT("n"), value_u64(3 * (uint64_t)number + i));
	}
	return number < m->batches;
}

static void expect(const struct format *to, uint32_t batches, bool raw, const char *want)
{
	struct made m = { .batches = batches };
	struct writer_rig r;
	const char *got;

	writer_rig_run_all(&r, &(struct writer_rig_job){ .to = to, .raw = raw, .fill = fill, .ctx = &m });
	cr_expect(r.written);
	got = writer_rig_text(&r, NULL);
	cr_expect_str_eq(got != NULL ? got : "", want);
	writer_rig_free(&r);
}

Test(order_stage, events_come_in_the_order_that_was_asked_for)
{
	expect(&by_file, 2, false, "0/9:0 1/8:1 0/7:2 0/109:3 1/108:4 0/107:5 ");
	expect(&by_time, 2, false, "0/7:2 1/8:1 0/9:0 0/107:5 1/108:4 0/109:3 ");
	expect(&by_track, 2, false, "0/7:2 0/9:0 0/107:5 0/109:3 1/8:1 1/108:4 ");
}

Test(order_stage, nothing_in_nothing_out)
{
	expect(&by_time, 0, false, "");
	expect(&by_track, 0, false, "");
}

Test(order_stage, raw_records_stay_as_they_come)
{
	expect(&by_time, 2, true, "0/9:0 1/8:1 0/7:2 0/109:3 1/108:4 0/107:5 ");
	expect(&by_time, 0, true, "");
}

/* Spans with the same times, the second one of each batch inside all before it; an instant at their start. */
static bool fill_equal(void *ctx, struct trace *trace, struct batch *b, uint32_t number)
{
	struct made *const m = ctx;

	for (uint64_t i = 0; number == 0 && i < 2; i++)
		m->tracks[i] = trace_add_thread(trace, NULL, i, SLICE_LIT("t"));
	if (number == 0)
		m->cls = trace_add_class(trace, SLICE_LIT("cls"));
	for (uint64_t i = 0; number < m->batches && i < 4; i++) {
		struct event *const e = writer_rig_event(b, m->cls, m->tracks[i % 2], 5, SLICE_LIT("x"));
		writer_rig_field(b, SLICE_LIT("n"), value_u64(4 * (uint64_t)number + i));
		if (i == 3)
			continue;
		e->phase = PHASE_SPAN;
		e->dur = 9;
		e->flags |= i == 1 ? EVENT_INNER : 0;
	}
	return number < m->batches;
}

Test(order_stage, of_equal_spans_the_outer_is_first)
{
	struct made m = { .batches = 2 };
	struct writer_rig r;

	writer_rig_run_all(&r, &(struct writer_rig_job){ .to = &by_nesting, .fill = fill_equal, .ctx = &m });
	cr_expect_str_eq(writer_rig_text(&r, NULL), "0/5:6 0/5:4 0/5:2 0/5:0 1/5:1 1/5:5 1/5:3 1/5:7 ");
	writer_rig_free(&r);
}

/* A spill file does not change the order; there are more equal spans than nest with each other. */
Test(order_stage, little_memory_gives_the_same)
{
	struct made m = { .batches = 3000 };
	const struct writer_rig_job jobs[] = {
		{ .to = &by_track, .threads = 2, .fill = fill, .ctx = &m },
		{ .to = &by_nesting, .threads = 2, .fill = fill_equal, .ctx = &m },
	};

	for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
		struct writer_rig_job job = jobs[i];
		struct writer_rig much, little;
		writer_rig_run(&much, &job);
		job.sort_memory = 4096;
		writer_rig_run(&little, &job);
		cr_assert(much.written && little.written);
		cr_expect_str_eq(writer_rig_text(&much, NULL), writer_rig_text(&little, NULL));
		writer_rig_free(&much);
		writer_rig_free(&little);
	}
}

/* The spill file cannot be created. */
Test(order_stage, a_failure_is_a_finding)
{
	struct made m = { .batches = 3000 };
	struct writer_rig r;

	writer_rig_run_all(&r, &(struct writer_rig_job){ .to = &by_track,
	                                                 .fill = fill,
	                                                 .ctx = &m,
	                                                 .sort_memory = 4096,
	                                                 .temp_near = "/nowhere/at/all" });
	cr_expect_not(r.written);
	cr_expect_not_null(strstr(r.finding, "[input/system]"), "%s", r.finding);
	cr_expect_not_null(strstr(r.finding, "/nowhere/at"), "%s", r.finding);
	writer_rig_free(&r);
}
