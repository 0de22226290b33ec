/* Synthetic events, and the records and labels that the writer must make of them. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format/registry.h"
#include "paraver/paraver.h"
#include "run/write/test/writer_rig_test.h"

struct made {
	void (*fill)(struct made *m, struct batch *b, uint32_t number);
	uint32_t batches;
	const struct track *process, *track, *other, *states;
	const struct class *cls, *second;
};

static bool fill(void *ctx, struct trace *trace, struct batch *b, uint32_t number)
{
	struct made *const m = ctx;

	if (number == 0) {
		m->process = trace_add_process(trace, SLICE_LIT("process"));
		m->track = trace_add_thread(trace, m->process, 1, SLICE_LIT("thread 1"));
		m->other = trace_add_thread(trace, trace_add_process(trace, SLICE_LIT("far")), 2,
		                            SLICE_LIT("a\n\xff\x1b[31m"));
		m->cls = trace_add_class(trace, SLICE_LIT("calls"));
		m->second = trace_add_class(trace, SLICE_LIT("tasks"));
		trace->format = "made";
	}
	if (number < m->batches)
		m->fill(m, b, number);
	return number < m->batches;
}

static struct event *add_event(struct made *m, struct batch *b, enum phase phase, const struct track *track,
                               uint64_t ts, uint64_t dur, const char *name)
{
	struct event *const e = writer_rig_event(b, m->cls, track, ts, slice_str(name));

	e->phase = (uint8_t)phase;
	e->dur = dur;
	return e;
}

/* Runs the writer with 1, 2 and 7 threads.  The caller frees *r. */
static void run(struct writer_rig *r, void (*events)(struct made *, struct batch *, uint32_t),
                uint32_t batches)
{
	struct made m = { .fill = events, .batches = batches };

	writer_rig_run_all(
	    r, &(struct writer_rig_job){ .to = format_by_name("paraver"), .fill = fill, .ctx = &m });
	cr_assert(r->written);
}

static uint64_t lost(const struct writer_rig *r, enum paraver_loss kind)
{
	for (size_t i = 0; i < r->losses.n; i++)
		if (r->losses.rows[i].loss == &paraver_losses[kind])
			return r->losses.rows[i].count;
	return 0;
}

static void expect_records(const struct writer_rig *r, const char *want)
{
	cr_expect_str_eq(writer_rig_text(r, PARAVER_PRV), want);
}

static void expect_label(const struct writer_rig *r, const char *line)
{
	cr_expect_not_null(strstr(writer_rig_text(r, PARAVER_PCF), line), "no \"%s\" in\n%s", line,
	                   strstr(writer_rig_text(r, PARAVER_PCF), "EVENT_TYPE"));
}

/* ---- spans ---- */

static void nested(struct made *m, struct batch *b, uint32_t number)
{
	(void)number;
	add_event(m, b, PHASE_SPAN, m->track, 120, 30, "inner");
	add_event(m, b, PHASE_SPAN, m->track, 100, 100, "outer");
	add_event(m, b, PHASE_SPAN, m->track, 120, 30, "around inner");
	add_event(m, b, PHASE_SPAN, m->track, 130, 0, "short");
	add_event(m, b, PHASE_SPAN, m->track, 200, 5, "next");
	add_event(m, b, PHASE_SPAN, m->track, 110, 50, "task")->cls = m->second;
}

/* Of spans with the same times the last one encloses the others. */
Test(paraver_made, what_is_innermost_and_each_level)
{
	struct writer_rig r;

	run(&r, nested, 1);
	expect_records(&r, "#Paraver (01/01/70 at 00:00):105_ns:0:1:1(1:1)\n"
	                   "2:0:1:1:1:0:1000:1\n"
	                   "2:0:1:1:1:10:1001:1\n"
	                   "2:0:1:1:1:20:1000:3:1002:3\n"
	                   "2:0:1:1:1:20:1000:2:1003:2\n"
	                   "2:0:1:1:1:30:1000:4:1004:4\n"
	                   "2:0:1:1:1:30:1000:2:1004:0\n"
	                   "2:0:1:1:1:50:1000:3:1003:0\n"
	                   "2:0:1:1:1:50:1000:1:1002:0\n"
	                   "2:0:1:1:1:60:1001:0\n"
	                   "2:0:1:1:1:100:1000:0\n"
	                   "2:0:1:1:1:100:1000:5\n"
	                   "2:0:1:1:1:105:1000:0\n");
	expect_label(&r,
	             "EVENT_TYPE\n0    1000    calls\n0    1002    calls, level 2\n0    1003    calls, level "
	             "3\n0    1004    calls, level 4\nVALUES\n0    (nothing)\n1    outer\n2    inner\n3    "
	             "around inner\n4    short\n5    next\n");
	expect_label(&r, "0    1001    tasks\nVALUES\n0    (nothing)\n1    task\n");
	cr_expect_str_eq(writer_rig_text(&r, PARAVER_ROW), "LEVEL NODE SIZE 1\nunknown\n\n"
	                                                   "LEVEL TASK SIZE 1\nprocess\n\n"
	                                                   "LEVEL THREAD SIZE 1\nthread 1\n");
	cr_expect_eq(r.losses.n, 0);
	writer_rig_free(&r);
}

static void overlapping(struct made *m, struct batch *b, uint32_t number)
{
	(void)number;
	add_event(m, b, PHASE_SPAN, m->track, 0, 10, "a");
	add_event(m, b, PHASE_SPAN, m->track, 5, 10, "b");
	for (uint64_t i = 0; i < 3; i++)
		add_event(m, b, PHASE_SPAN, m->other, 2 + i, i == 0 ? 2 : 10, "life")->flags = EVENT_ASYNC;
}

Test(paraver_made, overlapping_spans_have_types_of_their_own)
{
	struct writer_rig r;

	run(&r, overlapping, 1);
	expect_records(&r, "#Paraver (01/01/70 at 00:00):15_ns:0:1:2(1:1,1:1)\n"
	                   "2:0:1:1:1:0:1000:1\n"
	                   "2:0:1:2:1:2:1001:2\n"
	                   "2:0:1:2:1:3:1002:2\n"
	                   "2:0:1:2:1:4:1001:0\n"
	                   "2:0:1:2:1:4:1001:2\n"
	                   "2:0:1:1:1:5:1003:3\n"
	                   "2:0:1:1:1:10:1000:0\n"
	                   "2:0:1:2:1:13:1002:0\n"
	                   "2:0:1:2:1:14:1001:0\n"
	                   "2:0:1:1:1:15:1003:0\n");
	expect_label(
	    &r, "0    1000    calls\n0    1001    calls, async 1\n0    1002    calls, async 2\n0    1003   "
	        " calls, lane 2\n");
	cr_expect_not_null(strstr(writer_rig_text(&r, PARAVER_ROW),
	                          "LEVEL TASK SIZE 2\nprocess\nfar\n\nLEVEL THREAD SIZE 2\nthread "
	                          "1\na\\x0a\\xff\\x1b[31m\n"),
	                   "%s", writer_rig_text(&r, PARAVER_ROW));
	cr_expect_eq(lost(&r, PARAVER_LABEL), 1);
	writer_rig_free(&r);
}

static void deep(struct made *m, struct batch *b, uint32_t number)
{
	char name[32];

	for (uint32_t i = 0; i < 200; i++) {
		const uint32_t depth = 200 * number + i;
		snprintf(name, sizeof name, "%" PRIu32, depth);
		/* names must have the lifetime of the batch */
		add_event(m, b, PHASE_SPAN, m->track, depth, 10000 - 2 * depth, "")->name =
		    arena_copy(&b->scratch, slice_str(name));
	}
}

Test(paraver_made, too_deep_spans_are_shown_while_innermost)
{
	struct writer_rig r;

	run(&r, deep, 6);
	cr_expect_eq(lost(&r, PARAVER_TOO_DEEP), 1200 - PARAVER_LEVELS);
	const char *const records = writer_rig_text(&r, PARAVER_PRV);
	cr_expect_not_null(strstr(records, "\n2:0:1:1:1:1199:1000:1200\n"));
	cr_expect_not_null(strstr(records, "\n2:0:1:1:1:1023:1000:1024:2023:1024\n"));
	cr_expect_not_null(strstr(records, "\n2:0:1:1:1:10000:1000:0\n"));
	writer_rig_free(&r);
}

static void many_async(struct made *m, struct batch *b, uint32_t number)
{
	for (uint32_t i = 0; i < 200; i++)
		add_event(m, b, PHASE_SPAN, m->track, 200 * number + i, 5000, "life")->flags = EVENT_ASYNC;
}

Test(paraver_made, async_spans_beyond_the_types_are_counted)
{
	struct writer_rig r;

	run(&r, many_async, 6);
	cr_expect_eq(lost(&r, PARAVER_ASYNC_FULL), 1200 - PARAVER_ASYNC_LANES);
	expect_label(&r, "calls, async 1024\n");
	writer_rig_free(&r);
}

/* ---- instants, counters, arrows ---- */

static void points(struct made *m, struct batch *b, uint32_t number)
{
	(void)number;
	add_event(m, b, PHASE_INSTANT, m->process, 1000, 0, "start");
	add_event(m, b, PHASE_COUNTER, m->track, 1001, 0, "memory");
	writer_rig_field(b, SLICE_LIT("used"), value_u64(UINT64_MAX));
	writer_rig_field(b, SLICE_LIT("memory"), (struct value){ .type = VALUE_I64, .i64 = -5 });
	writer_rig_field(b, SLICE_LIT("rate"), (struct value){ .type = VALUE_F64, .f64 = 2.75 });
	writer_rig_field(b, SLICE_LIT("odd"), (struct value){ .type = VALUE_F64, .f64 = NAN });
	writer_rig_field(b, SLICE_LIT("text"), value_string(SLICE_LIT("no number")));
	add_event(m, b, PHASE_INSTANT, m->track, 1002, 0, "");
	writer_rig_field(b, SLICE_LIT("n"), value_u64(1));
	add_event(m, b, PHASE_SPAN, m->track, 1003, UINT64_MAX, "forever");
}

Test(paraver_made, instants_and_counters)
{
	struct writer_rig r;

	run(&r, points, 1);
	expect_records(&r, "#Paraver (01/01/70 at 00:00):9223372036854775807_ns:0:1:1(2:1)\n"
	                   "2:0:1:1:1:0:1000:1\n"
	                   "2:0:1:1:2:1:1001:9223372036854775807\n"
	                   "2:0:1:1:2:1:1002:-5\n"
	                   "2:0:1:1:2:1:1003:3\n"
	                   "2:0:1:1:2:2:1000:2\n"
	                   "2:0:1:1:2:3:1004:3\n"
	                   "2:0:1:1:2:9223372036854775807:1004:0\n");
	expect_label(
	    &r, "0    1000    calls, instants\n0    1004    calls\nVALUES\n0    (nothing)\n1    start\n2    "
	        "(no name)\n3    forever\n");
	expect_label(&r, "\n\nEVENT_TYPE\n0    1001    memory: used\n\n\nEVENT_TYPE\n0    1002    memory\n");
	cr_expect_eq(lost(&r, PARAVER_NUMBER_RANGE), 2);
	cr_expect_eq(lost(&r, PARAVER_NUMBER_ROUNDED), 1);
	cr_expect_eq(lost(&r, PARAVER_FIELDS), 2);
	cr_expect_eq(lost(&r, PARAVER_CATEGORY_LOST), 1); /* of the counter */
	cr_expect_eq(lost(&r, PARAVER_TIME_CUT), 1);
	writer_rig_free(&r);
}

static void arrows(struct made *m, struct batch *b, uint32_t number)
{
	(void)number;
	add_event(m, b, PHASE_FLOW_IN, m->track, 5, 7, "no sender");
	add_event(m, b, PHASE_FLOW_OUT, m->track, 10, 1, "wake");
	add_event(m, b, PHASE_FLOW_OUT, m->track, 11, 2, "wake");
	add_event(m, b, PHASE_FLOW_OUT, m->track, 12, 3, "no receiver");
	add_event(m, b, PHASE_INSTANT, m->track, 13, 0, "between");
	add_event(m, b, PHASE_FLOW_IN, m->other, 20, 2, "wake");
	add_event(m, b, PHASE_FLOW_IN, m->track, 30, 1, "wake");
	add_event(m, b, PHASE_FLOW_IN, m->track, 31, 1, "twice");
}

Test(paraver_made, arrows_stand_where_they_leave)
{
	struct writer_rig r;

	run(&r, arrows, 1);
	expect_records(&r, "#Paraver (01/01/70 at 00:00):26_ns:0:1:2(1:1,1:1)\n"
	                   "3:0:1:1:1:5:5:0:1:1:1:25:25:0:2\n"
	                   "3:0:1:1:1:6:6:0:1:2:1:15:15:0:2\n"
	                   "2:0:1:1:1:8:1001:1\n");
	cr_expect_eq(lost(&r, PARAVER_ARROW), 3);
	expect_label(&r,
	             "0    1000    arrows\nVALUES\n0    (nothing)\n1    no sender\n2    wake\n3    twice\n");
	writer_rig_free(&r);
}

static void nothing(struct made *m, struct batch *b, uint32_t number)
{
	(void)m;
	(void)b;
	(void)number;
}

Test(paraver_made, a_trace_without_events)
{
	struct writer_rig r;

	run(&r, nothing, 0);
	expect_records(&r, "#Paraver (01/01/70 at 00:00):0_ns:0:1:1(1:1)\n");
	cr_expect_str_eq(writer_rig_text(&r, PARAVER_ROW),
	                 "LEVEL NODE SIZE 1\nunknown\n\nLEVEL TASK SIZE 0\n\nLEVEL THREAD SIZE 0\n");
	writer_rig_free(&r);
}

/* ---- temporary files ---- */

#define EACH 200U

static void many(struct made *m, struct batch *b, uint32_t number)
{
	for (uint32_t i = 0; i < EACH; i++) {
		const uint64_t n = (uint64_t)number * EACH + i;
		add_event(m, b, PHASE_FLOW_OUT, m->track, 10 * n, n, "wake");
		add_event(m, b, PHASE_INSTANT, m->track, 10 * n + 1, 0, "point");
		/* arrows of recent batches arrive first, so that arrivals are set both in memory and in the
		 * file */
		if (n >= 40)
			add_event(m, b, PHASE_FLOW_IN, m->other, 10 * n + 2, n % 2 == 0 ? n - 40 : n, "wake");
	}
}

/* Arrows are in the file and in memory, and pieces of the store end within lines. */
Test(paraver_made, a_large_trace_goes_through_the_temporary_files)
{
	struct made m = { .fill = many, .batches = 400 };
	struct writer_rig r;
	uint64_t arrows = 0, points = 0, last = 0;

	writer_rig_run(&r, &(struct writer_rig_job){
	                       .to = format_by_name("paraver"), .threads = 2, .fill = fill, .ctx = &m });
	cr_assert(r.written);
	const char *next = strchr(writer_rig_text(&r, PARAVER_PRV), '\n') + 1;
	while (*next != '\0') {
		char line[128] = ""; /* sscanf() measures the whole string: copy the line */
		uint64_t from, to;
		const size_t n = strcspn(next, "\n");
		cr_assert_lt(n, sizeof line);
		memcpy(line, next, n);
		next += n + 1;
		if (*line == '2') {
			cr_assert_eq(sscanf(line, "2:0:1:1:1:%" SCNu64 ":1000:1", &from), 1, "%s", line);
			points++;
		} else {
			cr_assert_eq(sscanf(line, "3:0:1:1:1:%" SCNu64 ":%*u:0:1:2:1:%" SCNu64, &from, &to),
			             2, "%s", line);
			cr_assert(to == from + 2 || to == from + 402, "%s", line);
			arrows++;
		}
		cr_assert_geq(from, last);
		last = from;
	}
	cr_expect_eq(points, 80000);
	/* even ones arrive 40 later, except for the last; odd ones at once, except for the first */
	cr_expect_eq(arrows, 40000 - 20 + 40000 - 20);
	cr_expect_eq(lost(&r, PARAVER_ARROW), 40);
	writer_rig_free(&r);
}
