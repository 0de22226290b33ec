/*
 * Properties of readers and writers (test/fuzz/contract.h), for all samples, their prefixes and changed
 * bytes: the same findings from a file and in pieces, well-formed events, valid outputs, raw records copied
 * byte for byte.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/registry.h"
#include "base/compiler.h"
#include "input/open.h"
#include "input/test/memory_input.h"
#include "run/pipeline.h"
#include "stats/stats.h"
#include "test/fuzz/fuzz_sweep.h"
#include "test/fuzz/live_batches.h"
#include "test/properties/rows_test.h"
#include "test/support/strength.h"
#include "vocab/vocab.h"

static void expect_promises(const struct sample *s)
{
	struct fuzz_result r;

	cr_expect(fuzz_check(&r, s->p, s->n, s->format, NULL, FUZZ_ALL | FUZZ_FEW), "%s: %s", s->path,
	          r.fault);
}

Test(properties_promises, samples)
{
	each_sample(SAMPLES_VALID | SAMPLES_BAD, expect_promises);
}

/* Samples are detected as their format; damaged ones as this or none. */
static void expect_recognised(const struct sample *s)
{
	const size_t head = s->n < 65536 ? s->n : 65536; /* bytes that the engine passes to probes */
	bool no_memory;
	const struct format *const f = format_probe(slice_of(s->p, head), head == s->n, &no_memory);

	cr_expect(f == s->format || (f == NULL && (s->n == 0 || (!s->good && (s->row->is & ROW_LINES) == 0))),
	          "%s: is recognised as %s", s->path, f != NULL ? f->name : "none");
}

Test(properties_promises, format_detection)
{
	each_sample(SAMPLES_VALID | SAMPLES_BAD, expect_recognised);
}

/* Statistics equal sums over the events. */
static void expect_statistics(const struct sample *s)
{
	static const char *const paths[] = { "memory" };
	static struct stats stats; /* must not move */
	struct telling t = tell(s->format, s->p, s->n);
	const struct pipeline_job job = { .in.paths = paths,
		                          .in.npaths = 1,
		                          .in.input = input_from_memory(s->p, s->n),
		                          .in.from = s->format,
		                          .read.want = WANT_TIMES,
		                          .read.interpret = INTERPRET_SPANS };
	uint128 dur[2] = { 0, 0 };
	uint64_t first = UINT64_MAX, last = 0, spans[2] = { 0, 0 };
	struct pipeline *f;
	struct batch *b;

	stats_init(&stats);
	cr_assert(pipeline_open(&f, &job));
	while (pipeline_next(f, &b) == STAGE_MORE) {
		cr_assert(stats_batch(&stats, b));
		batch_release(b);
	}
	pipeline_end(f);
	cr_assert(stats_end(&stats));
	for (size_t i = 0; i < t.n; i++) {
		const uint64_t end = t.list[i].is_span ? t.list[i].ts + t.list[i].dur : t.list[i].ts;
		first = t.list[i].ts < first ? t.list[i].ts : first;
		last = end > last ? end : last;
		spans[0] += t.list[i].is_span;
		dur[0] += t.list[i].is_span ? t.list[i].dur : 0;
	}
	for (int async = 0; async < 2; async++) {
		struct span_row *list;
		size_t n;
		cr_assert(stats_span_rows(&stats, async ? &stats.async : &stats.spans, NULL, &list, &n));
		for (size_t i = 0; i < n; i++) {
			spans[1] += list[i].group->count;
			dur[1] += total_of(list[i].group->sum);
		}
		free(list);
	}
	cr_expect_eq(stats.events, t.n, "%s: %zu events", s->path, t.n);
	cr_expect(spans[0] == spans[1] && dur[0] == dur[1], "%s: spans", s->path);
	cr_expect(t.n == 0 || (stats.first_ns == first && stats.last_ns == last), "%s: times", s->path);
	stats_free(&stats);
	pipeline_close(f);
	telling_free(&t);
}

Test(properties_promises, statistics)
{
	each_sample(SAMPLES_VALID, expect_statistics);
}

/* ---- user vocabularies ---- */

struct under {
	uint64_t events, renamed;
	char found[300];
};

static void keep_first(void *ctx, const struct findings *j, const struct finding *f)
{
	struct under *const u = ctx;

	(void)j;
	if (f->rule->level == LEVEL_ERROR && u->found[0] == '\0')
		snprintf(u->found, sizeof u->found, "%s [%s]", f->message, f->rule->id);
}

/* Reads the sample with these rules before the built-in ones. */
static struct under read_under(const struct sample *s, const char *rules)
{
	static const char *const paths[] = { "memory" };
	char text[300];
	struct under u = { .events = 0 };
	struct pipeline *f;
	struct batch *b;

	snprintf(text, sizeof text, "format: %s\nevents:\n  - {match: \"*\", %s}\n", s->format->name, rules);
	const struct schema_file file = { .path = "own.yaml", .text = slice_str(text) };
	const struct pipeline_job job = { .in.paths = paths,
		                          .in.npaths = 1,
		                          .in.input = input_from_memory(s->p, s->n),
		                          .in.from = s->format,
		                          .in.schemas = &file,
		                          .in.nschemas = 1,
		                          .read.want = WANT_TIMES,
		                          .read.interpret = INTERPRET_SPANS,
		                          .to.sink = keep_first,
		                          .to.ctx = &u };
	cr_assert(pipeline_open(&f, &job));
	while (pipeline_next(f, &b) == STAGE_MORE) {
		for (uint32_t i = 0; i < b->n; i++) {
			const struct event *const e = &b->events[i];
			u.events += e->phase != PHASE_STRUCTURE;
			u.renamed += e->phase == PHASE_INSTANT && slice_is(e->name, "renamed") &&
			             slice_is(e->cls->category, "own");
		}
		batch_release(b);
	}
	pipeline_end(f);
	pipeline_close(f);
	cr_expect(u.found[0] == '\0', "%s with %s: %s", s->path, rules, u.found);
	return u;
}

/* User rules override the meaning that the format gives events. */
static void expect_vocabulary(const struct sample *s)
{
	if (vocab_builtin(s->format->name).n == 0)
		return; /* events define their own meaning */
	const struct under named = read_under(s, "phase: instant, name: renamed, category: own");
	const struct under none = read_under(s, "phase: structure");

	/* events written by tracetool may define their own meaning */
	cr_expect(named.events == 0 || named.renamed > 0, "%s: no event has the name that the rules give",
	          s->path);
	cr_expect_eq(none.events, 0, "%s: %llu events, which are structure", s->path,
	             (unsigned long long)none.events);
}

Test(properties_promises, user_vocabularies)
{
	each_sample(SAMPLES_VALID, expect_vocabulary);
}

#define SWEPT_MAX 1200 /* max bytes of a sample */

static struct fuzz_swept all;

/* Every Nth prefix and byte; all of them in CI and nightly runs. */
static void sweep(const struct sample *s)
{
	const size_t sparse = strength(s->good ? 7 : 29, s->good ? 1 : 7, 1);
	struct fuzz_sweep sweep = { .p = s->p,
		                    .n = s->n,
		                    .format = s->format,
		                    .light = true,
		                    .stride = sparse,
		                    .sparse = 2 * sparse + 1,
		                    .full_every = 64 };
	struct fuzz_swept swept;

	if (s->n > SWEPT_MAX)
		return;
	cr_expect(fuzz_sweep_run(&sweep, &swept), "%s: %s %zu to %d: %s", s->path,
	          swept.byte < 0 ? "cut at" : "changed byte", swept.place, swept.byte, swept.result.fault);
	for (int i = 0; i < 3; i++)
		all.status[i] += swept.status[i];
}

/* Raw records have the findings of validation, and their reported offsets. */
static void sweep_raw(const struct sample *s)
{
	const size_t stride = strength(s->n / 64 + 1, 1, 1);

	if (s->n > 900 || !sample_is_copied(s))
		return;
	for (size_t n = 1; n <= s->n; n += stride) {
		char *const p = malloc(n); /* exactly n bytes, for sanitizers */
		cr_assert_not_null(p);
		memcpy(p, s->p, n);
		cr_expect(live_batches_raw_agrees(s->format, p, n), "%s: first %zu bytes", s->path, n);
		p[n - 1] = (char)(p[n - 1] ^ (1 << n % 8));
		cr_expect(live_batches_raw_agrees(s->format, p, n), "%s: first %zu bytes, changed", s->path,
		          n);
		free(p);
		s->p[n - 1] = (char)(s->p[n - 1] ^ (1 << n % 8));
		cr_expect(live_batches_raw_agrees(s->format, s->p, s->n), "%s: byte %zu changed", s->path,
		          n - 1);
		s->p[n - 1] = (char)(s->p[n - 1] ^ (1 << n % 8));
	}
}

Test(properties_promises, raw_records_of_cut_and_damaged_samples)
{
	each_sample(SAMPLES_GOOD, sweep_raw);
}

Test(properties_promises, cut_and_damaged_samples)
{
	each_sample(SAMPLES_GOOD | SAMPLES_BAD, sweep);
	/* a sweep with only one exit status tests nothing */
	for (int i = 0; i < 2; i++)
		cr_expect_gt(all.status[i], 100, "exit status %d", i);
}
