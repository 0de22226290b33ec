/* Tables of several traces.  For any division of events into traces by track, and any order of merges, in
 * memory or as JSON, the result is that of one trace with all events. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "stats/stats.h"
#include "test/support/splitmix.h"
#include "test/support/strength.h"

enum { TRACKS = 6, EVENTS = 3000, PARTS = 4 };

#define TOOL "tracetool 1"

static const char *const names[] = { "read", "write", "\xff\xfe", "", "a \"quoted\" name", "rare" };

struct random_event {
	enum phase phase;
	unsigned track, name, cls;
	uint64_t ts, dur;
	int64_t value;
	bool async;
};

struct random_run {
	struct random_event events[EVENTS];
	const char *by, *sum;
};

static void make_run(struct random_run *r, uint64_t *seed)
{
	static const char *const keys[] = {
		NULL, "name", "thread,name", "track,category", "arg:v", "process"
	};
	const uint64_t n = EVENTS / (1 + splitmix_next(seed) % 50);

	r->by = keys[splitmix_next(seed) % 6];
	r->sum = splitmix_next(seed) % 2 == 0 ? "v" : "";
	for (size_t i = 0; i < EVENTS; i++) {
		struct random_event *const e = &r->events[i];
		const uint64_t kind = splitmix_next(seed) % 10;
		e->phase = i >= n     ? PHASE_STRUCTURE
		           : kind < 7 ? PHASE_SPAN
		           : kind < 8 ? PHASE_INSTANT
		                      : PHASE_COUNTER;
		e->track = (unsigned)(splitmix_next(seed) % TRACKS);
		e->name = splitmix_next(seed) % 100 == 0 ? 5 : (unsigned)(splitmix_next(seed) % 5);
		/* The category of a counter is that of its first event, so it has one. */
		e->cls = e->phase == PHASE_COUNTER ? e->name % 2 : (unsigned)(splitmix_next(seed) % 2);
		e->ts = 1000 + splitmix_next(seed) % 100000;
		e->dur = splitmix_next(seed) >> (40 + splitmix_next(seed) % 24);
		e->value = (int64_t)(splitmix_next(seed) % 40) - 3;
		e->async = splitmix_next(seed) % 5 == 0;
	}
}

/* Counts the events of the tracks in a mask, as one trace. */
static void count_tracks(struct stats *s, struct trace *trace, const struct random_run *r, unsigned mask)
{
	struct class *cls[2];
	const struct track *tracks[TRACKS], *process;
	struct group_by by = { .n = 0 };
	char why[256], name[16];

	trace_init(trace);
	trace->format = "toy";
	trace->epoch_known = true;
	trace->epoch_ns = 5;
	cls[0] = trace_add_class(trace, SLICE_LIT("one"));
	cls[1] = trace_add_class(trace, SLICE_LIT("two"));
	process = trace_add_process(trace, SLICE_LIT("p"));
	for (unsigned i = 0; i < TRACKS; i++) {
		snprintf(name, sizeof name, "thread %u", i);
		tracks[i] = trace_add_thread(trace, process, i, trace_text(trace, slice_str(name)));
	}
	stats_init(s);
	cr_assert(r->by == NULL || group_by_parse(&by, r->by, why, sizeof why));
	cr_assert(stats_group(s, &by, slice_str(r->sum)));
	for (size_t i = 0; i < EVENTS; i++) {
		const struct random_event *const e = &r->events[i];
		if ((mask & 1U << e->track) == 0 || e->phase == PHASE_STRUCTURE)
			continue;
		struct field f = { SLICE_LIT("v"), { .type = VALUE_I64, .i64 = e->value } };
		struct event event = { .ts = e->ts,
			               .dur = e->phase == PHASE_SPAN ? e->dur : 0,
			               .name = slice_str(names[e->name]),
			               .cls = cls[e->cls],
			               .track = tracks[e->track],
			               .phase = (uint8_t)e->phase,
			               .nfields = e->value % 7 != 0,
			               .flags = e->async && e->phase == PHASE_SPAN ? EVENT_ASYNC : 0 };
		const struct batch b = { .events = &event, .n = 1, .fields = &f };
		cr_assert(stats_batch(s, &b));
		cls[e->cls]->records++;
		trace->events++;
		trace->records++;
	}
	cr_assert(stats_end(s));
	s->unpaired = (uint64_t)__builtin_popcount(mask);
}

static void put_json(struct text *t, const struct stats *s)
{
	struct span_columns columns;
	const struct stats_view view = { .stats = s, .full = true, .columns = &columns };

	span_columns_init(&columns, NULL);
	text_clear(t);
	text_printf(t, "{\"tool\":\"" TOOL "\",\"layout\":%d,\"inputs\":[", STATS_LAYOUT);
	cr_assert(stats_json_input(t, &view, true));
	text_str(t, "\n]}\n");
	text_char(t, '\0');
	cr_assert(!t->failed);
	t->n--;
}

static struct stats *new_joint(void)
{
	struct stats *const s = malloc(sizeof *s);

	cr_assert(s != NULL);
	stats_init(s);
	return s;
}

static void free_joint(struct stats *s)
{
	stats_free(s);
	free(s);
}

static bool read_text(struct stats *into, const struct text *t, bool *grouped, char *why)
{
	struct stats_file f = {
		.text = slice_of(t->p, t->n), .tool = TOOL, .into = into, .grouped = *grouped
	};
	const bool ok = stats_read(&f);

	*grouped = f.grouped;
	if (why != NULL)
		snprintf(why, sizeof f.why, "%s", f.why);
	else
		cr_assert(ok, "%s", f.why);
	return ok;
}

/* Merges the parts in a random order: those of a mask by JSON, the others in memory.  Writes the joint
 * JSON. */
static void merge_parts(struct text *to, const struct random_run *r, const unsigned *masks, uint64_t *seed,
                        unsigned by_json)
{
	unsigned order[PARTS];
	struct stats *const joint = new_joint();
	struct text json = { .p = NULL };
	bool grouped = false;

	for (unsigned i = 0; i < PARTS; i++)
		order[i] = i;
	for (unsigned i = PARTS; i-- > 1;) {
		const unsigned k = (unsigned)(splitmix_next(seed) % (i + 1)), swap = order[i];
		order[i] = order[k];
		order[k] = swap;
	}
	for (unsigned i = 0; i < PARTS; i++) {
		struct stats *const s = malloc(sizeof *s);
		struct trace trace;
		cr_assert_not_null(s);
		count_tracks(s, &trace, r, masks[order[i]]);
		stats_describe(s, "x", masks[order[i]], &trace, NULL);
		if (!grouped && (by_json >> i & 1) == 0) {
			cr_assert(stats_group(joint, &s->by, s->sum_of));
			grouped = true;
		}
		if ((by_json >> i & 1) != 0) {
			put_json(&json, s);
			read_text(joint, &json, &grouped, NULL);
		} else {
			cr_assert(stats_merge(joint, s));
		}
		stats_free(s);
		trace_free(&trace);
		free(s);
	}
	cr_assert(stats_end(joint) && !joint->overflowed);
	put_json(to, joint);
	free_joint(joint);
	text_free(&json);
}

Test(stats_merge, any_split_in_any_order_is_one_run)
{
	struct random_run *const r = malloc(sizeof *r);
	uint64_t seed = test_seed(701);

	for (unsigned round = 0; round < strength(30, 300, 3000); round++) {
		struct text one = { .p = NULL }, parts = { .p = NULL };
		unsigned masks[PARTS] = { 0 }, whole[PARTS] = { (1U << TRACKS) - 1, 0, 0, 0 };
		make_run(r, &seed);
		for (unsigned i = 0; i < TRACKS; i++)
			masks[splitmix_next(&seed) % PARTS] |= 1U << i;
		merge_parts(&one, r, whole, &seed, 0);
		merge_parts(&parts, r, masks, &seed, (unsigned)splitmix_next(&seed) % (1U << PARTS));
		cr_assert_str_eq(parts.p, one.p, "round %u", round);
		text_free(&one);
		text_free(&parts);
	}
	free(r);
}

/* The JSON of a joint table is the same after it is read back. */
Test(stats_merge, json_of_a_sum_is_a_sum)
{
	struct random_run *const r = malloc(sizeof *r);
	struct text one = { .p = NULL }, again = { .p = NULL };
	const unsigned masks[PARTS] = { 1, 2, 4, 56 };
	struct stats *const joint = new_joint();
	uint64_t seed = test_seed(702);
	bool grouped = false;

	make_run(r, &seed);
	merge_parts(&one, r, masks, &seed, 0);
	read_text(joint, &one, &grouped, NULL);
	cr_assert(stats_end(joint));
	put_json(&again, joint);
	cr_assert_str_eq(again.p, one.p);
	free_joint(joint);
	text_free(&one);
	text_free(&again);
	free(r);
}

/* ---- limits ---- */

static void one_span(struct text *t, const char *count, const char *sum, const char *histogram)
{
	text_clear(t);
	text_printf(
	    t,
	    "{\"tool\":\"" TOOL "\",\"layout\":%d,\"inputs\":[{\"path\":\"p\",\"events\":1,"
	    "\"full\":{\"by\":[],\"sum_of\":\"\",\"traces\":1,\"counted\":1},\"first_ns\":0,\"last_ns\":9,"
	    "\"spans\":[{\"name\":\"n\",\"category\":\"c\",\"count\":%s,\"dur_ns\":{\"sum\":%s,\"min\":3,"
	    "\"max\":900,%s},\"first_ns\":0,\"last_ns\":9,\"self_ns\":1,\"total_ns\":1}]}]}",
	    STATS_LAYOUT, count, sum, histogram);
	text_char(t, '\0');
	t->n--;
}

Test(stats_merge, overflow_is_reported)
{
	static const char *const numbers[][2] = { { "18446744073709551615", "5" },
		                                  { "1", "1267650600228229401496703205376" } };
	struct text t = { .p = NULL };

	for (size_t i = 0; i < 2; i++) {
		struct stats *const joint = new_joint();
		bool grouped = false;
		one_span(&t, numbers[i][0], numbers[i][1], "\"values\":[3]");
		read_text(joint, &t, &grouped, NULL);
		cr_assert(!joint->overflowed);
		read_text(joint, &t, &grouped, NULL);
		cr_assert(joint->overflowed);
		cr_assert(joint->spans.groups[0].count >= 2);
		free_joint(joint);
	}
	text_free(&t);
}

Test(stats_merge, contradictions_are_refused)
{
	static const char *const bad[][3] = {
		{ "2", "5", "\"values\":[3,4,5]" },
		{ "2", "5", "\"values\":[3],\"buckets\":{\"4\":1}" },
		{ "2", "5", "\"buckets\":{\"3776\":1}" },
		{ "2", "5", "\"buckets\":{\"-1\":1}" },
		{ "2", "5", "\"buckets\":{\"4\":0}" },
		{ "2", "5", "\"buckets\":{\"2000\":1}" },
		{ "2", "5", "\"buckets\":{\"4\":18446744073709551615,\"5\":1}" },
		{ "0", "5", "\"values\":[]" },
		{ "-1", "5", "\"values\":[3]" },
		{ "2.5", "5", "\"values\":[3]" },
		{ "2", "1267650600228229401496703205377", "\"values\":[3]" },
		{ "2", "5", "\"value\":[3]" },
		{ "2", "5", "\"values\":{\"3\":3}" },
	};
	struct text t = { .p = NULL };
	char why[512];

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct stats *const joint = new_joint();
		bool grouped = false;
		one_span(&t, bad[i][0], bad[i][1], bad[i][2]);
		cr_assert(!read_text(joint, &t, &grouped, why), "%s", bad[i][2]);
		cr_assert(why[0] != '\0');
		free_joint(joint);
	}
	text_free(&t);
}

/* A bucket with the largest count costs no more than one number, also without a free block. */
Test(stats_merge, large_counts_cost_nothing)
{
	struct histogram_pool pool = { .n = HISTOGRAM_POOL_BLOCKS };
	struct histogram full = { .count = 0 }, h = { .count = 0 };
	struct histogram_pool free_pool = { .n = 0 };

	histogram_add_bucket(&full, &pool, 300, UINT64_MAX);
	cr_assert_eq(full.count, HISTOGRAM_KEPT);
	histogram_add_bucket(&h, &free_pool, 300, UINT64_MAX);
	cr_assert_eq(h.count, UINT64_MAX);
	histogram_pool_free(&free_pool);
}

Test(stats_merge, buckets_are_where_their_numbers_are)
{
	uint64_t seed = test_seed(703);

	for (int i = 0; i < 100000; i++) {
		const uint64_t v = splitmix_next(&seed) >> splitmix_next(&seed) % 64;
		const uint32_t bucket = histogram_bucket_of(v);
		cr_assert(histogram_bucket_low(bucket) <= v && v <= histogram_bucket_high(bucket));
	}
	cr_assert_eq(histogram_bucket_high(HISTOGRAM_BLOCKS * HISTOGRAM_BUCKETS - 1), UINT64_MAX);
}

/* Damaged files are refused or read, without a crash. */
Test(stats_merge, damaged_files_do_no_harm)
{
	struct random_run *const r = malloc(sizeof *r);
	struct text good = { .p = NULL };
	const unsigned masks[PARTS] = { 1, 2, 4, 56 };
	uint64_t seed = test_seed(704);
	char why[512];

	do
		make_run(r, &seed);
	while (r->events[200].phase != PHASE_STRUCTURE);
	merge_parts(&good, r, masks, &seed, 0);
	for (unsigned round = 0; round < strength(300, 3000, 30000); round++) {
		struct text bad = { .p = NULL };
		struct stats *const joint = new_joint();
		bool grouped = false;
		text_add(&bad, good.p, good.n);
		for (unsigned k = 0; k <= round % 3; k++)
			bad.p[splitmix_next(&seed) % bad.n] =
			    "0123456789{}[],:\"-eE.\\nultrfs"[splitmix_next(&seed) % 29];
		text_char(&bad, '\0');
		bad.n--;
		if (read_text(joint, &bad, &grouped, why)) {
			struct text again = { .p = NULL };
			cr_assert(stats_end(joint));
			put_json(&again, joint);
			text_free(&again);
		}
		free_joint(joint);
		text_free(&bad);
	}
	text_free(&good);
	free(r);
}
