/*
 * Random trees of spans with many equal times: the importer (if installed) and the model must find each span
 * with its length and parent.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/event_traits.h"
#include "cmd/test/cli_test_util.h"
#include "perfetto/test/rig_test.h"
#include "test/support/splitmix.h"
#include "test/support/strength.h"

#define IMPORTER "../shared/tools/perfetto"
#define MOST 4000

struct node {
	uint64_t ts, end;
	int64_t parent; /* -1: none */
	uint32_t depth;
	bool instant;
	char name[12];
};

struct forest {
	struct node nodes[MOST];
	uint32_t n;
	uint64_t random;
};

static uint64_t below(struct forest *f, uint64_t max)
{
	return splitmix_next(&f->random) % max;
}

/* Adds children of [from, to], often with equal borders. */
static void grow(struct forest *f, int64_t parent, uint64_t from, uint64_t to, uint32_t depth)
{
	uint64_t at = from;

	for (uint64_t tries = 1 + below(f, 6); tries > 0 && f->n < MOST && depth < 12; tries--) {
		const uint64_t start = at + (below(f, 2) == 0 ? 0 : below(f, to - at + 1));
		const uint64_t end = below(f, 3) == 0 ? to : start + below(f, to - start + 1);
		const uint32_t i = f->n++;
		f->nodes[i] =
		    (struct node){ start, end, parent, depth, start == end && below(f, 2) == 0, "" };
		snprintf(f->nodes[i].name, sizeof f->nodes[i].name, "n%u", i);
		if (end > start)
			grow(f, (int64_t)i, start, end, depth + 1);
		at = end;
	}
}

static int by_start(const void *x, const void *y)
{
	const struct node *const a = *(const struct node *const *)x, *const b =
	                                                                 *(const struct node *const *)y;

	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return (a > b) - (a < b);
}

static void plant(struct forest *f, struct rig *r, const struct track *t, uint64_t from)
{
	static const struct node *order[MOST];
	const uint32_t first = f->n;

	grow(f, -1, from, from + 60, 0);
	for (uint32_t i = first; i < f->n; i++)
		order[i] = &f->nodes[i];
	qsort(order + first, f->n - first, sizeof *order, by_start);
	for (uint32_t i = first; i < f->n; i++)
		perf_rig_event(r, order[i]->instant ? PHASE_INSTANT : PHASE_SPAN, order[i]->name, t,
		               order[i]->ts, order[i]->end - order[i]->ts);
}

/* A row of the importer or the model: sums over spans that have a length, and the lengths of all. */
static void expect_node(const struct forest *f, const char *name, uint64_t ts, int64_t dur, uint32_t depth,
                        const char *parent)
{
	const unsigned i = (unsigned)strtoul(name + 1, NULL, 10);

	cr_assert(name[0] == 'n' && i < f->n, "a span %s", name);
	const struct node *const x = &f->nodes[i];
	cr_expect(ts == x->ts && dur == (int64_t)(x->end - x->ts), "%s: %" PRIu64 " +%" PRId64, name, ts,
	          dur);
	if (x->end > x->ts)
		cr_expect(depth == x->depth &&
		              strcmp(parent, x->parent < 0 ? "" : f->nodes[x->parent].name) == 0,
		          "%s: depth %u in %s, not %u", name, depth, parent, x->depth);
}

static void expect_model(const struct forest *f, const struct rig *r)
{
	char name[16], parent[16];

	cr_assert_eq(r->model.nslices, f->n);
	for (uint32_t i = 0; i < f->n; i++) {
		const struct model_slice *const s = &r->model.slices[i];
		const struct slice p = s->parent < 0 ? slice_of("", 0) : r->model.slices[s->parent].name;
		snprintf(name, sizeof name, "%.*s", (int)s->name.n, s->name.p);
		snprintf(parent, sizeof parent, "%.*s", (int)p.n, p.p);
		expect_node(f, name, s->ts, s->dur, s->depth, parent);
	}
}

static char *ask(const char *path, const char *sql)
{
	struct ran r = run_program((const char *const[]){ IMPORTER, path, sql, NULL }, NULL, 0);
	char *const out = r.out;

	cr_assert_eq(r.status, 0, "%s: %s", path, r.err);
	r.out = NULL;
	ran_free(&r);
	return out;
}

static void expect_no_errors(const char *path)
{
	struct ran r = run_program((const char *const[]){ IMPORTER, path, NULL }, NULL, 0);

	cr_expect_eq(r.status, 0, "%s: %s", path, r.out);
	ran_free(&r);
}

static void expect_importer(const struct forest *f, const struct rig *r)
{
	char *const dir = make_folder(), path[1024], name[16], parent[16];
	uint32_t n = 0;

	snprintf(path, sizeof path, "%s/a.pftrace", dir);
	cr_assert(write_whole(path, r->chunk.text.p, r->chunk.text.n));
	expect_no_errors(path);
	char *const rows =
	    ask(path, "select 'row '||s.name||' '||s.ts||' '||s.dur||' '||s.depth||' '||"
	              "coalesce(p.name, '-') from slice s left join slice p on p.id = s.parent_id");
	for (const char *at = strstr(rows, "row "); at != NULL; at = strstr(at + 1, "row "), n++) {
		uint64_t ts;
		int64_t dur;
		unsigned depth;
		cr_assert_eq(sscanf(at, "row %15s %" SCNu64 " %" SCNd64 " %u %15[n0-9-]", name, &ts, &dur,
		                    &depth, parent),
		             5);
		expect_node(f, name, ts, dur, depth, parent[0] == '-' ? "" : parent);
	}
	cr_expect_eq(n, f->n);
	free(rows);
	remove_folder(dir);
}

static void try_forest(uint64_t seed, bool import)
{
	static struct forest f;
	struct rig r;

	f = (struct forest){ .random = seed };
	perf_rig_begin(&r);
	for (uint64_t i = 0; f.n + 200 < MOST && i < 200; i++) {
		char name[16];
		snprintf(name, sizeof name, "thread %" PRIu64, i % 20);
		const struct track *const t =
		    i < 20 ? trace_add_thread(&r.trace, r.process, 100 + i, slice_str(name))
		           : r.trace.tracks[2 + i % 20];
		plant(&f, &r, t, 60 * (i / 20));
	}
	perf_rig_end(&r);
	cr_expect_eq(r.total.n, perf_rig_lost(&r, "perfetto/second-instant") > 0 ? 1U : 0U);
	expect_model(&f, &r);
	if (import)
		expect_importer(&f, &r);
	perf_rig_free(&r);
}

Test(perfetto_importer, random_trees_in_the_model)
{
	for (uint64_t seed = 1; seed <= strength(10, 30, 300); seed++)
		try_forest(seed, false);
}

Test(perfetto_importer, random_trees)
{
	if (access(IMPORTER, X_OK) != 0)
		cr_skip_test("no importer");
	for (uint64_t seed = 100; seed < 100 + strength(1, 3, 10); seed++)
		try_forest(seed, true);
}

/* An arrow continues from a step, not from its start. */
Test(perfetto_importer, steps_of_arrows)
{
	char *const dir = make_folder(), path[1024];
	struct rig r;

	if (access(IMPORTER, X_OK) != 0)
		cr_skip_test("no importer");
	perf_rig_begin(&r);
	perf_rig_event(&r, PHASE_FLOW_OUT, "arrow", r.thread, 11, 5);
	for (uint64_t ts = 12; ts < 15; ts++) {
		perf_rig_event(&r, PHASE_FLOW_IN, "arrow", r.thread, ts, 5);
		r.batch.events[r.batch.n - 1].flags = ts < 14 ? EVENT_STEP : 0;
	}
	perf_rig_end(&r);
	snprintf(path, sizeof path, "%s/a.pftrace", dir);
	cr_assert(write_whole(path, r.chunk.text.p, r.chunk.text.n));
	expect_no_errors(path);
	char *const rows = ask(path, "select group_concat(o.ts||'>'||i.ts, ' ') from flow join slice o on "
	                             "slice_out = o.id join slice i on slice_in = i.id");
	cr_expect_not_null(strstr(rows, "11>12 12>13 13>14"), "%s", rows);
	free(rows);
	perf_rig_free(&r);
	remove_folder(dir);
}

/* Hostile names and other content that the importer might refuse. */
Test(perfetto_importer, odd_texts_and_values)
{
	char *const dir = make_folder(), path[1024];
	struct rig r;

	if (access(IMPORTER, X_OK) != 0)
		cr_skip_test("no importer");
	perf_rig_begin(&r);
	r.trace.clock = "unix";
	r.trace.epoch_known = true;
	struct track *const p = trace_add_process(&r.trace, slice_of("\0\xff", 2));
	p->has_id = true;
	p->id = UINT64_C(1) << 33;
	const struct track *const t = trace_add_thread(&r.trace, p, UINT64_MAX, slice_of("", 0));
	const struct track *const child = trace_child_track(&r.trace, t, SLICE_LIT(""));
	perf_rig_event(&r, PHASE_SPAN, "", t, 10, 10);
	perf_rig_field(&r, SLICE_LIT(""), value_string(slice_of("a\0b\xff", 4)));
	perf_rig_field(&r, SLICE_LIT("a.b"), (struct value){ .type = VALUE_LIST });
	perf_rig_field(&r, SLICE_LIT("a_b"), value_u64(UINT64_MAX));
	perf_rig_event(&r, PHASE_COUNTER, "\xff", t, 10, 0);
	perf_rig_field(&r, SLICE_LIT("\xfe"), value_u64(UINT64_MAX));
	perf_rig_event(&r, PHASE_FLOW_OUT, "arrow", t, 11, 0);
	perf_rig_event(&r, PHASE_FLOW_IN, "arrow", r.thread, 12, 0);
	perf_rig_event(&r, PHASE_FLOW_OUT, "arrow", child, 13, 1);
	perf_rig_event(&r, PHASE_FLOW_IN, "arrow", child, 14, 1);
	perf_rig_event(&r, PHASE_FLOW_OUT, "never arrives", child, 15, 2);
	perf_rig_end(&r);
	snprintf(path, sizeof path, "%s/a.pftrace", dir);
	cr_assert(write_whole(path, r.chunk.text.p, r.chunk.text.n));
	expect_no_errors(path);
	char *const rows =
	    ask(path, "select 'A '||key||'='||display_value from args where key like 'debug.%' order by 1");
	cr_expect_not_null(strstr(rows, "A debug.(empty)=a\\0b\xef\xbf\xbd"), "%s", rows);
	cr_expect_not_null(strstr(rows, "A debug.a_b=[]"), "%s", rows);
	cr_expect_not_null(strstr(rows, "A debug.a_b (2)=18446744073709551615"), "%s", rows);
	cr_expect_not_null(strstr(rows, "A debug.exact=18446744073709551615"), "%s", rows);
	free(rows);
	char *const flows = ask(path, "select 'flows '||count(*) from flow");
	cr_expect_not_null(strstr(flows, "flows 2"));
	free(flows);
	perf_rig_free(&r);
	remove_folder(dir);
}
