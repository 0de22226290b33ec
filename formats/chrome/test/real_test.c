/* Statistics of the real files in ../shared/traces/chrome (or TRACETOOL_TRACES).  Skipped without them.
 * Spans, instants and arrows are counted by the rules of tracetool-chrome(5); most agree with Perfetto's
 * importer. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"
#include "cmd/test/samples_test_util.h"
#include "format/registry.h"
#include "model/event_traits.h"
#include "run/pipeline.h"

struct figures {
	const char *file, *dialect;
	uint64_t spans, unfinished, instants; /* instants: without ends that have no begin */
	uint64_t arrows, processes, threads;  /* threads: with events of a thread */
	int64_t first_ns;
	uint64_t length_ns, alone;
};

static const struct figures rows[] = {
	{ "ClangBuildAnalyzer-Colors.json.gz", "clang-time-trace", 157, 0, 0, 0, 1, 13, 0, 738386000, 0 },
	{ "ClangBuildAnalyzer-main.json.gz", "clang-time-trace", 638, 0, 0, 0, 1, 149, 0, 569493000, 0 },
	{ "ClangBuildAnalyzer-obj_export_nurbs.json.gz", "clang-time-trace", 260, 0, 0, 0, 1, 19, 0,
	  340275000, 0 },
	{ "ClangBuildAnalyzer-obj_import_file_reader.json.gz", "clang-time-trace", 463, 0, 0, 0, 1, 20, 0,
	  790581000, 0 },
	{ "ClangBuildAnalyzer-obj_import_mtl.json.gz", "clang-time-trace", 342, 0, 0, 0, 1, 19, 0, 435932000,
	  0 },
	{ "HolisticTraceAnalysis-distributed_info_not_found.json.gz", "kineto", 2467, 0, 0, 0, 1, 1,
	  1661203462598738000, 75542000, 0 },
	{ "HolisticTraceAnalysis-inference_rank_1.json", "kineto", 13, 0, 1, 4, 4, 3, 1665536373657908000,
	  2163583000, 0 },
	{ "HolisticTraceAnalysis-mi250_minitoy_train_ROCm6_2_kineto.json.gz", "kineto", 113, 0, 2, 20, 5, 4,
	  4203669603018756, 10156947, 0 },
	{ "HolisticTraceAnalysis-overlaid_critical_path_trace.json.gz", "kineto", 838, 0, 2, 313, 5, 5,
	  1694039968933321000, 41602740000, 0 },
	{ "HolisticTraceAnalysis-rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz", "kineto", 16, 0, 2, 0, 4, 4,
	  1212075525586016, 1306917028, 0 },
	{ "bazel_invocation_analyzer-bazel-profile-with_queuing.json.gz", "bazel", 12778, 0, 7, 0, 1, 93,
	  -1891000000, 469076500000, 0 },
	{ "bazel_invocation_analyzer-tiny.json.gz", "bazel", 528, 0, 7, 0, 1, 25, -33000000, 14013839000, 0 },
	{ "catapult-async_begin_end.json", "", 12, 3, 7, 0, 4, 6, 0, 900000, 1 },
	{ "catapult-gpu_state_trace.json", "", 0, 0, 1, 0, 1, 0, 1427012847340000, 0, 0 },
	{ "catapult-picture_trace.json", "", 1, 0, 1, 0, 1, 1, 1293319602204000, 1000556000, 0 },
	{ "catapult-trace-with-bad-world-bounds.json.gz", "chrome", 0, 0, 1, 0, 1, 0, 520451593556000, 0, 0 },
	{ "catapult-trivial_trace.json", "", 2, 0, 0, 0, 1, 1, 9524000, 107000, 0 },
	/* 43,214 of the instants are samples of a CPU profile */
	{ "chrome-trace-diff-palette-trace-1.json.gz", "chrome", 10108, 5, 45064, 314, 4, 22, 515142292214000,
	  5657660000, 0 },
	{ "chrome-trace-events-tsc-trace-4.json.gz", "chrome", 2450, 3, 723, 0, 1, 1, 8885283274000,
	  4268338000, 0 },
	{ "devtools-timeline-model-progressive-app.json.gz", "chrome", 9638, 21, 1687, 0, 8, 40,
	  103204916772000, 1946285000, 3 },
	{ "lighthouse-pid-change.json.gz", "chrome", 7663, 0, 1652, 436, 5, 18, 3643045936075000, 8239488000,
	  0 },
	{ "lighthouse-timespan-trace-m91.json", "chrome", 7, 0, 3, 0, 2, 2, 260758704187000, 3624699000, 0 },
	{ "lighthouse-trace.json", "chrome", 3, 0, 8, 0, 1, 1, 1676836141000, 504410155972000, 0 },
	{ "lighthouse-trace.json.gz", "chrome", 2998, 1, 927, 44, 5, 19, 418451089944000, 2470010000, 0 },
	{ "lighthouse-trace2.json.gz", "chrome", 4753, 1, 1362, 119, 5, 22, 443244934197000, 3649467000, 0 },
	{ "perfetto-flow_events_json_v2.json", "", 6, 0, 1, 4, 5, 5, 0, 4330000, 0 },
	{ "speedscope-end-event-with-empty-stack.json", "", 1, 0, 0, 0, 1, 1, 0, 2000, 1 },
	{ "speedscope-end-non-top-of-stack.json", "", 2, 1, 0, 0, 1, 1, 0, 11000, 0 },
	{ "speedscope-unbalanced-args.json", "", 2, 0, 0, 0, 1, 1, 0, 10000, 0 },
	{ "speedscope-unbalanced-name.json", "", 2, 0, 0, 0, 1, 1, 0, 10000, 0 },
	{ "speedscope-x-events-matching-start.json", "", 9, 0, 0, 0, 1, 1, 0, 20000, 0 },
	{ "viztracer-multi_process_pool.json.gz", "viztracer", 12533, 0, 0, 0, 6, 9, 81994908545786, 15018357,
	  0 },
	{ "viztracer-multithread.json.gz", "viztracer", 404, 0, 0, 0, 1, 5, 14607090374289, 3681300, 0 },
	{ "viztracer-old.json", "viztracer", 5, 0, 0, 0, 1, 1, 1716956145708, 2600, 0 },
};

struct counted {
	uint64_t spans, unfinished, instants, arrows, processes, threads, first, last, zero;
	char dialect[32];
};

static bool is_unfinished(const struct batch *b, const struct event *e)
{
	for (uint32_t i = 0; i < e->nfields; i++)
		if (slice_is(b->fields[e->first_field + i].name, "unfinished"))
			return true;
	return false;
}

static void count_event(struct counted *c, const struct batch *b, const struct event *e)
{
	static const struct counted none;

	if (e->phase == PHASE_STRUCTURE)
		return;
	if (memcmp(c, &none, sizeof none) == 0)
		c->first = UINT64_MAX;
	c->first = e->ts < c->first ? e->ts : c->first;
	c->last = event_end(e) > c->last ? event_end(e) : c->last;
	c->spans += e->phase == PHASE_SPAN;
	c->unfinished += e->phase == PHASE_SPAN && is_unfinished(b, e);
	c->instants += e->phase == PHASE_INSTANT;
}

static struct counted count(const char *path)
{
	const struct pipeline_job job = { .in.paths = &path,
		                          .in.npaths = 1,
		                          .in.from = format_by_name("chrome"),
		                          .read.want = WANT_TIMES | WANT_FIELDS,
		                          .read.interpret = INTERPRET_SPANS,
		                          .arrange.order = ORDER_TIME };
	struct counted c = { .spans = 0 };
	struct idset begun = { 0 };
	struct pipeline *p;
	struct batch *b;

	cr_assert(pipeline_open(&p, &job));
	while (pipeline_next(p, &b) == STAGE_MORE) {
		for (uint32_t i = 0; i < b->n; i++) {
			const struct event *const e = &b->events[i];
			count_event(&c, b, e);
			if (event_is_flow(e) && idset_add(&begun, e->dur) && e->phase == PHASE_FLOW_IN)
				c.arrows++;
		}
		batch_release(b);
	}
	pipeline_end(p);
	const struct trace *const t = pipeline_trace(p);
	snprintf(c.dialect, sizeof c.dialect, "%s", t->dialect);
	c.zero = t->zero_ns;
	for (uint32_t i = 0; i < t->ntracks; i++) {
		c.processes += t->tracks[i]->kind == TRACK_PROCESS;
		c.threads += t->tracks[i]->kind == TRACK_THREAD;
	}
	pipeline_close(p);
	idset_free(&begun);
	return c;
}

Test(chrome_real, figures_of_all_files)
{
	char path[512];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct figures *const want = &rows[i];
		snprintf(path, sizeof path, "%s/chrome/%s", real_traces(), want->file);
		if (access(path, R_OK) != 0)
			continue;
		const struct counted c = count(path);
		cr_expect_str_eq(c.dialect, want->dialect, "%s: %s", want->file, c.dialect);
		cr_expect(c.spans - c.unfinished == want->spans && c.unfinished == want->unfinished,
		          "%s: %" PRIu64 "+%" PRIu64 " spans", want->file, c.spans - c.unfinished,
		          c.unfinished);
		cr_expect_eq(c.instants, want->instants + want->alone, "%s: %" PRIu64 " instants", want->file,
		             c.instants);
		cr_expect_eq(c.arrows, want->arrows, "%s: %" PRIu64 " arrows", want->file, c.arrows);
		cr_expect_eq((int64_t)(c.first - c.zero), want->first_ns, "%s: from %" PRId64, want->file,
		             (int64_t)(c.first - c.zero));
		cr_expect_eq(c.last - c.first, want->length_ns, "%s: %" PRIu64 " ns", want->file,
		             c.last - c.first);
		cr_expect(c.processes == want->processes && c.threads == want->threads,
		          "%s: %" PRIu64 " processes, %" PRIu64 " threads", want->file, c.processes,
		          c.threads);
		struct ran r = run_tool((const char *const[]){ "validate", "-q", path, NULL }, NULL, 0);
		cr_expect_eq(r.status, 0, "%s: %s", want->file, r.out);
		ran_free(&r);
	}
}
