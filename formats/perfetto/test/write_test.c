/* Tracks, spans, instants, counters, arrows, and the trace as a whole. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "perfetto/test/rig_test.h"

static void expect_slice(const struct rig *r, const char *name, uint64_t ts, int64_t dur, uint32_t depth)
{
	const struct model_slice *const s = model_slice_named(&r->model, name);

	cr_assert_not_null(s, "%s is missing", name);
	cr_expect(s->ts == ts && s->dur == dur && s->depth == depth,
	          "%s: ts %" PRIu64 " dur %" PRId64 " depth %u", name, s->ts, s->dur, s->depth);
}

/* ---- times ---- */

Test(perfetto_write, spans_that_touch)
{
	struct rig r;

	perf_rig_begin(&r);
	perf_rig_event(&r, PHASE_SPAN, "whole", r.thread, 0, 100);
	perf_rig_event(&r, PHASE_SPAN, "first", r.thread, 0, 50);
	perf_rig_event(&r, PHASE_SPAN, "second", r.thread, 50, 50);
	perf_rig_event(&r, PHASE_SPAN, "none", r.thread, 50, 0);
	perf_rig_event(&r, PHASE_INSTANT, "point", r.thread, 60, 0);
	perf_rig_event(&r, PHASE_INSTANT, "again", r.thread, 60, 0);
	perf_rig_event(&r, PHASE_INSTANT, "third", r.thread, 60, 0);
	perf_rig_event(&r, PHASE_SPAN, "next", r.thread, 100, 5);
	perf_rig_end(&r);
	expect_slice(&r, "whole", 0, 100, 0);
	expect_slice(&r, "first", 0, 50, 1);
	expect_slice(&r, "second", 50, 50, 1);
	expect_slice(&r, "none", 50, 0, 2);
	expect_slice(&r, "point", 60, 0, 2);
	expect_slice(&r, "again", 60, 0, 2);
	expect_slice(&r, "third", 60, 0, 2);
	expect_slice(&r, "next", 100, 5, 0);
	perf_rig_free(&r);
}

Test(perfetto_write, spans_that_overlap_stand_beside)
{
	struct rig r;

	perf_rig_begin(&r);
	perf_rig_event(&r, PHASE_SPAN, "a", r.thread, 0, 60);
	perf_rig_event(&r, PHASE_SPAN, "b", r.thread, 30, 70);
	perf_rig_event(&r, PHASE_SPAN, "c", r.thread, 40, 10);
	perf_rig_end(&r);
	expect_slice(&r, "a", 0, 60, 0);
	expect_slice(&r, "b", 30, 70, 0);
	expect_slice(&r, "c", 40, 10, 1);
	cr_expect_eq(perf_rig_lost(&r, "perfetto/aside"), 1);
	const struct model_track *const t = model_track(&r.model, model_slice_named(&r.model, "b")->track);
	cr_expect(slice_is(t->name, "thread") && t->kind == ' ');
	cr_expect_eq(model_track(&r.model, t->parent)->kind, 't');
	perf_rig_free(&r);
}

Test(perfetto_write, a_thousand_spans_in_each_other)
{
	struct rig r;
	uint64_t sum = 0;

	perf_rig_begin(&r);
	for (uint64_t i = 0; i < 1000; i++)
		perf_rig_event(&r, PHASE_SPAN, "deep", r.thread, i, 10000 - 2 * i);
	perf_rig_end(&r);
	for (uint32_t i = 0; i < r.model.nslices; i++)
		sum += (uint64_t)r.model.slices[i].dur;
	cr_expect_eq(r.model.nslices, 1000);
	cr_expect_eq(sum, 1000 * 10000 - 999 * 1000);
	cr_expect_eq(perf_rig_lost(&r, "perfetto/aside"), 500);
	perf_rig_free(&r);
}

Test(perfetto_write, times_that_the_importer_does_not_take)
{
	struct rig r;

	perf_rig_begin(&r);
	perf_rig_event(&r, PHASE_SPAN, "long", r.thread, 5, UINT64_MAX);
	perf_rig_event(&r, PHASE_INSTANT, "last", r.thread, INT64_MAX, 0);
	perf_rig_event(&r, PHASE_INSTANT, "late", r.thread, (uint64_t)INT64_MAX + 1, 0);
	perf_rig_event(&r, PHASE_SPAN, "late", r.thread, UINT64_MAX, 5);
	perf_rig_end(&r);
	expect_slice(&r, "long", 5, INT64_MAX - 5, 0);
	cr_expect_null(model_slice_named(&r.model, "late"));
	cr_expect_eq(perf_rig_lost(&r, "perfetto/time-limit"), 2);
	cr_expect_eq(perf_rig_lost(&r, "perfetto/clipped"), 1);
	perf_rig_free(&r);
}

/* With --rebase, where the first event is not the earliest. */
Test(perfetto_write, times_before_0)
{
	struct rig r;

	perf_rig_begin(&r);
	r.to->writer->free(r.writer.state);
	memset(r.writer.state, 0, r.to->writer->state_size);
	text_clear(&r.chunk.text);
	r.run.signed_time = r.run.rebased = true;
	cr_assert(r.to->writer->open(&r.writer, &r.chunk));
	perf_rig_event(&r, PHASE_SPAN, "before", r.thread, (uint64_t)-20, 10);
	perf_rig_event(&r, PHASE_INSTANT, "before", r.thread, (uint64_t)-10, 0);
	perf_rig_event(&r, PHASE_SPAN, "across", r.thread, (uint64_t)-10, 30);
	perf_rig_event(&r, PHASE_SPAN, "inside", r.thread, 5, 10);
	perf_rig_end(&r);
	expect_slice(&r, "across", 0, 20, 0);
	expect_slice(&r, "inside", 5, 10, 1);
	cr_expect_null(model_slice_named(&r.model, "before"));
	cr_expect_eq(perf_rig_lost(&r, "perfetto/time-limit"), 2);
	cr_expect_eq(perf_rig_lost(&r, "perfetto/clipped"), 1);
	perf_rig_free(&r);
}

Test(perfetto_write, begins_and_ends)
{
	struct rig r;

	perf_rig_begin(&r);
	perf_rig_event(&r, PHASE_END, "", r.thread, 1, 0);
	perf_rig_event(&r, PHASE_BEGIN, "outer", r.thread, 2, 0);
	perf_rig_event(&r, PHASE_SPAN, "span", r.thread, 3, 2);
	perf_rig_event(&r, PHASE_BEGIN, "open", r.thread, 5, 0);
	perf_rig_event(&r, PHASE_BEGIN, "inner", r.thread, 6, 0);
	perf_rig_event(&r, PHASE_END, "", r.thread, 7, 0);
	perf_rig_end(&r);
	expect_slice(&r, "outer", 2, -1, 0);
	expect_slice(&r, "span", 3, 2, 1);
	expect_slice(&r, "open", 5, -1, 1);
	expect_slice(&r, "inner", 6, 1, 2);
	cr_expect_eq(perf_rig_lost(&r, "perfetto/no-begin"), 1);
	perf_rig_free(&r);
}

/* ---- tracks ---- */

Test(perfetto_write, numbers_of_processes_and_threads)
{
	static const uint64_t pids[] = { 5, 0, UINT64_C(1) << 32 | 5, 5, INT32_MAX };
	const struct track *threads[5];
	struct rig r;

	perf_rig_begin(&r);
	for (int i = 0; i < 5; i++) {
		struct track *const p = trace_add_process(&r.trace, SLICE_LIT("some process"));
		p->has_id = true;
		p->id = pids[i];
		threads[i] = trace_add_thread(&r.trace, p, UINT64_MAX - (uint64_t)i, SLICE_LIT("wide"));
		perf_rig_event(&r, PHASE_INSTANT, "x", threads[i], (uint64_t)i, 0);
	}
	perf_rig_end(&r);
	cr_assert_eq(r.model.nslices, 5);
	for (int i = 0; i < 5; i++) {
		const struct model_track *const t = model_track(&r.model, r.model.slices[i].track);
		cr_expect_eq(t->tid, -1 - i);
		cr_expect(t->pid > 0 && t->pid <= INT32_MAX);
		for (int k = 0; k < i; k++)
			cr_expect_neq(t->pid, model_track(&r.model, r.model.slices[k].track)->pid);
	}
	cr_expect_eq(model_track(&r.model, r.model.slices[0].track)->pid, 5);
	cr_expect_eq(model_track(&r.model, r.model.slices[4].track)->pid, INT32_MAX);
	cr_expect_eq(perf_rig_lost(&r, "perfetto/pid"), 3);
	perf_rig_free(&r);
}

Test(perfetto_write, async_spans_have_tracks_of_their_own)
{
	struct rig r;

	perf_rig_begin(&r);
	r.cls->category = SLICE_LIT("tasks");
	for (uint64_t i = 0; i < 100; i++)
		perf_rig_event(&r, PHASE_SPAN, "life", r.thread, i, 1000)->flags = EVENT_ASYNC;
	perf_rig_end(&r);
	cr_assert_eq(r.model.nslices, 100);
	for (uint32_t i = 0; i < 100; i++) {
		const struct model_slice *const s = &r.model.slices[i];
		const struct model_track *const t = model_track(&r.model, s->track);
		cr_expect(s->depth == 0 && s->dur == 1000 && slice_is(t->name, "tasks"));
		cr_expect(i == 0 || s->track != s[-1].track);
	}
	cr_expect_eq(r.total.n, 0);
	perf_rig_free(&r);
}

Test(perfetto_write, a_hundred_thousand_tracks)
{
	struct rig r;

	perf_rig_begin(&r);
	for (uint32_t i = 0; i < 98000; i++) {
		const struct track *const t =
		    trace_add_thread(&r.trace, r.process, 1000 + i, SLICE_LIT("one"));
		perf_rig_event(&r, PHASE_SPAN, "x", t, i, 1000000);
	}
	perf_rig_end(&r);
	cr_expect_eq(r.model.nslices, 98000);
	cr_expect_eq(r.model.ntracks, 98002);
	perf_rig_free(&r);
}

/* ---- counters ---- */

Test(perfetto_write, counters)
{
	static const struct class_field declared[] = { { .name = SLICE_LIT("used"), .unit = "byte" },
		                                       { .name = SLICE_LIT("free"), .unit = "pages" } };
	struct rig r;

	perf_rig_begin(&r);
	r.cls->fields = declared;
	r.cls->nfields = 2;
	for (uint64_t i = 0; i < 2; i++) {
		perf_rig_event(&r, PHASE_COUNTER, "memory", r.thread, i, 0);
		perf_rig_field(&r, SLICE_LIT("used"), value_u64(i));
		perf_rig_field(&r, SLICE_LIT("free"), (struct value){ .type = VALUE_F64, .f64 = -0.5 });
		perf_rig_field(&r, SLICE_LIT("text"), value_string(SLICE_LIT("much")));
		perf_rig_field(&r, SLICE_LIT("nan"), (struct value){ .type = VALUE_F64, .f64 = NAN });
		perf_rig_field(&r, SLICE_LIT("value"), value_u64(UINT64_MAX));
	}
	perf_rig_event(&r, PHASE_COUNTER, "nothing", r.thread, 5, 0);
	perf_rig_end(&r);
	cr_assert_eq(r.model.ncounts, 6);
	cr_expect_eq(model_track_named(&r.model, "memory used")->unit, 3);
	cr_expect(slice_is(model_track_named(&r.model, "memory free")->unit_name, "pages"));
	cr_expect_eq(r.model.counts[3].track, model_track_named(&r.model, "memory used")->uuid);
	cr_expect_eq(r.model.counts[3].value, 1);
	cr_expect_eq(r.model.counts[1].value, -0.5);
	cr_expect_eq(r.model.counts[2].track, model_track_named(&r.model, "memory")->uuid);
	cr_expect_eq(r.model.counts[2].value, 18446744073709551615.0);
	cr_expect_str_eq(r.model.counts[2].args, "exact=u18446744073709551615");
	cr_expect_eq(perf_rig_lost(&r, "perfetto/counter-text"), 4);
	expect_slice(&r, "nothing", 5, 0, 0);
	perf_rig_free(&r);
}

/* ---- arrows ---- */

Test(perfetto_write, arrows_bind_to_what_is_open)
{
	struct rig r;

	perf_rig_begin(&r);
	const struct track *const other = trace_add_thread(&r.trace, r.process, 8, SLICE_LIT("other"));
	perf_rig_event(&r, PHASE_SPAN, "sender", r.thread, 10, 10);
	perf_rig_event(&r, PHASE_FLOW_OUT, "wake", r.thread, 20, 1); /* at its end */
	perf_rig_event(&r, PHASE_SPAN, "receiver", other, 20, 10);
	perf_rig_event(&r, PHASE_FLOW_IN, "wake", other, 20, 1);
	perf_rig_event(&r, PHASE_INSTANT, "point", r.thread, 40, 0);
	perf_rig_event(&r, PHASE_FLOW_OUT, "wake", r.thread, 40, UINT64_MAX);
	perf_rig_event(&r, PHASE_FLOW_IN, "bare", other, 41, UINT64_MAX);
	perf_rig_event(&r, PHASE_FLOW_IN, "never", other, 50, 3);
	perf_rig_event(&r, PHASE_FLOW_OUT, "never", r.thread, 60, 3);
	perf_rig_end(&r);
	cr_assert_eq(r.model.narrows, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct model_arrow a = r.model.arrows[i];
		cr_expect(slice_is(r.model.slices[a.from].name, i == 0 ? "sender" : "point"));
		cr_expect(slice_is(r.model.slices[a.to].name, i == 0 ? "receiver" : "bare"));
		cr_expect(slice_is(a.category, "flow"));
	}
	expect_slice(&r, "bare", 41, 0, 0);
	/* the end before its begin, which an arrow of the same number may follow */
	cr_expect_eq(perf_rig_lost(&r, "perfetto/arrow"), 1);
	perf_rig_free(&r);
}

Test(perfetto_write, arrows_bind_below_threads_and_processes)
{
	struct rig r;

	perf_rig_begin(&r);
	const struct track *const state = trace_child_track(&r.trace, r.thread, SLICE_LIT("state"));
	const struct track *const marks = trace_child_track(&r.trace, r.process, SLICE_LIT("marks"));
	perf_rig_event(&r, PHASE_SPAN, "sender", state, 10, 10);
	perf_rig_event(&r, PHASE_FLOW_OUT, "wake", state, 12, 1);
	perf_rig_event(&r, PHASE_FLOW_OUT, "lost", state, 13, 2); /* without an end */
	perf_rig_event(&r, PHASE_FLOW_IN, "bare", marks, 15, 1);
	perf_rig_end(&r);
	cr_assert_eq(r.model.narrows, 1);
	cr_expect(slice_is(r.model.slices[r.model.arrows[0].from].name, "sender"));
	cr_expect(slice_is(r.model.slices[r.model.arrows[0].to].name, "bare"));
	perf_rig_free(&r);
}

/* ---- the trace ---- */

Test(perfetto_write, facts)
{
	struct rig r;

	perf_rig_begin(&r);
	r.trace.clock = "monotonic";
	r.trace.epoch_known = true;
	r.trace.epoch_ns = UINT64_C(1700000000000000000);
	r.run.rebased = true;
	r.run.rebased_by = 1000;
	cr_assert(trace_add_meta(&r.trace, SLICE_LIT("host"), value_string(SLICE_LIT("node 1"))));
	cr_assert(trace_add_meta(&r.trace, SLICE_LIT("host"), value_u64(UINT64_MAX)));
	perf_rig_event(&r, PHASE_END, "", r.thread, 1, 0);
	perf_rig_end(&r);
	cr_expect(slice_is(model_attribute(&r.model, "format")->text, "made"));
	cr_expect(slice_is(model_attribute(&r.model, "epoch")->text, "known"));
	cr_expect_eq(model_attribute(&r.model, "rebased_by_ns")->number, 1000);
	cr_expect(slice_is(model_attribute(&r.model, "trace.host")->text, "node 1"));
	cr_expect(slice_is(model_attribute(&r.model, "trace.host (2)")->text, "18446744073709551615"));
	cr_expect_eq(model_attribute(&r.model, "loss.perfetto/no-begin")->number, 1);
	cr_assert_eq(r.model.nclocks, 3);
	cr_expect(r.model.clocks[0][0] == 11 && r.model.clocks[0][1] == 0);
	cr_expect(r.model.clocks[1][0] == 3 && r.model.clocks[1][1] == 1000);
	cr_expect(r.model.clocks[2][0] == 1 && r.model.clocks[2][1] == UINT64_C(1700000000000001000));
	perf_rig_free(&r);
}

Test(perfetto_write, no_clock_is_claimed)
{
	struct rig r;

	perf_rig_begin(&r);
	perf_rig_end(&r);
	cr_expect_eq(r.model.nclocks, 0);
	cr_expect(slice_is(model_attribute(&r.model, "epoch")->text, "unknown"));
	perf_rig_free(&r);
}
