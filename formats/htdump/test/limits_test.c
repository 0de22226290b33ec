/*
 * Limits, cost, lifetimes and threads, with generated inputs, sent through a pipe: inputs beyond each limit,
 * small inputs that cause much memory or time, labels that outlive the reader (`make check` runs this under a
 * memory checker), and classes described again while other threads use them (`make check-threads`).
 */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "format/registry.h"
#include "htdump/test/build.h"
#include "input/test/memory_input.h"
#include "run/write/test/recover_rig_test.h"
#include "test/fuzz/live_batches.h"
#include "test/properties/cost_test_util.h"

/* ---- long traces ---- */

/* Longer than the window of recover. */
Test(htdump_limits, recover_of_a_long_trace)
{
	size_t n;
	char *const sample = read_whole("testdata/htdump/good/overlapping.htdump", &n);
	const size_t times = (3U << 20) / n;
	char *const all = malloc(times * n);
	struct recovered r;

	cr_assert(sample != NULL && all != NULL);
	for (size_t i = 0; i < times; i++)
		memcpy(all + i * n, sample, n);
	recover_bytes(&r, format_by_name("htdump"), true, all, times * n, 0);
	cr_expect(r.readable && r.nchanges == 0, "%zu changes: %s", r.nchanges, r.first_why);
	cr_expect(r.n == times * n && memcmp(r.p, all, r.n) == 0);
	recovered_free(&r);
	free(all);
	free(sample);
}

/* ---- limits ---- */

/* Returns the number of findings of this rule; -1 if there are others, besides notes. */
static int count_only_rule(const struct ran *r, const char *rule)
{
	cJSON *const report = cJSON_Parse(r->out);
	const cJSON *const file = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(report, "files"), 0),
	                   *f;
	int n = 0;

	cr_assert_not_null(file, "no report: %.200s", r->err);
	cJSON_ArrayForEach(f, cJSON_GetObjectItemCaseSensitive(file, "findings"))
	{
		const char *const id = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(f, "rule"));
		const char *const level = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(f, "level"));

		cr_assert(id != NULL && level != NULL);
		if (strcmp(id, rule) == 0)
			n += n >= 0;
		else if (strcmp(level, "note") != 0)
			n = -1;
	}
	cJSON_Delete(report);
	return n;
}

static void expect_rule(struct ht_build *b, const char *rule, int status)
{
	const char *const args[] = { "validate", "--format", "json", "-", NULL };
	struct ran r = run_tool(args, b->p, b->n);

	cr_expect_eq(r.status, status, "%s: exit status %d: %.500s", rule, r.status, r.err);
	cr_expect_geq(count_only_rule(&r, rule), 1, "%s: %.1000s", rule, r.out);
	ran_free(&r);
	ht_free(b);
}

Test(htdump_limits, too_many_classes)
{
	struct ht_build b;

	ht_init(&b, HT_WIRE, false);
	ht_prologue(&b);
	for (uint32_t i = 0; i <= 65536; i++)
		ht_class(&b, 100 + i, "Class", 0);
	expect_rule(&b, "htdump/limit", 0);
}

Test(htdump_limits, too_many_fields)
{
	const struct ht_field_desc byte = { "x", "x", 1, HT_UNSIGNED };
	struct ht_build b;

	ht_init(&b, HT_WIRE, false);
	ht_prologue(&b);
	for (uint32_t i = 0; i <= (1u << 18) / 250; i++) {
		ht_class(&b, 100 + i, "Class", 250);
		for (unsigned k = 0; k < 250; k++)
			ht_field(&b, 100 + i, byte);
	}
	expect_rule(&b, "htdump/limit", 0);
}

Test(htdump_limits, too_many_threads)
{
	struct ht_build b;

	ht_init(&b, HT_WIRE, false);
	ht_prologue(&b);
	for (uint32_t i = 0; i < 132000; i++)
		ht_span(&b, i, 1, 7 * i, "x");

	/* Validation does not distinguish threads. */
	expect_ran(run_tool((const char *const[]){ "convert", "--to", "chrome", "-", "-", NULL }, b.p, b.n),
	           0, "htdump/thread-limit");
	ht_free(&b);
}

/* Each class contains the previous one twice: an event of the last class would be 2^40 bytes long. */
Test(htdump_limits, structures_that_double)
{
	struct ht_build b;
	char name[16] = "C0", inner[16];

	ht_init(&b, HT_WIRE, false);
	ht_prologue(&b);
	ht_describe(&b, 100, name, NULL, &(struct ht_field_desc){ "uint8_t", "x", 1, HT_UNSIGNED }, 1);
	for (uint32_t i = 1; i <= 40; i++) {
		snprintf(inner, sizeof inner, "C%u", i - 1);
		snprintf(name, sizeof name, "C%u", i);
		const struct ht_field_desc both[] = { { inner, "a", 1, HT_STRUCT },
			                              { inner, "b", 1, HT_STRUCT } };
		ht_describe(&b, 100 + i, name, NULL, both, 2);
	}
	ht_event(&b, 140, 5);
	for (unsigned i = 0; i < 100; i++)
		ht_u64(&b, 0);
	expect_rule(&b, "htdump/limit", 0);
}

/* 20,000 bases of bases. */
Test(htdump_limits, deep_inheritance)
{
	struct ht_build b;
	char name[16] = "", base[16];

	ht_init(&b, HT_WIRE, false);
	ht_prologue(&b);
	for (uint32_t i = 0; i < 20000; i++) {
		snprintf(base, sizeof base, "%s", name);
		snprintf(name, sizeof name, "D%u", i);
		ht_describe(&b, 100 + i, name, i == 0 ? NULL : base, NULL, 0);
	}
	ht_event(&b, 100 + 19999, 5);
	expect_rule(&b, "htdump/limit", 0);
}

static uint64_t count_events(struct ht_build *b)
{
	const char *const args[] = { "stats", "--format", "json", "-", NULL };
	struct ran r = run_tool(args, b->p, b->n);
	cJSON *const report = cJSON_Parse(r.out);
	const cJSON *const input = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(report, "inputs"), 0);
	const double n = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(input, "events"));

	cr_expect_eq(r.status, 0, "exit status %d: %.500s", r.status, r.err);
	cJSON_Delete(report);
	ran_free(&r);
	return (uint64_t)n;
}

/* Converts with at most `kib` of address space; 0: no limit.  One arena: each reserves 64 MiB of addresses,
 * and how many malloc() makes depends on which threads meet in it. */
static void expect_convert_within(const struct ht_build *b, unsigned kib)
{
	char command[200];

	snprintf(command, sizeof command,
	         "%s ulimit -v %u; MALLOC_ARENA_MAX=1 \"$0\" convert --to chrome - - > /dev/null",
	         kib == 0 ? ":" : "", kib);
	struct ran r =
	    run_program((const char *const[]){ "sh", "-c", command, tool_path(), NULL }, b->p, b->n);
	cr_expect(r.status == 0 || r.status == 1, "exit status %d: %.500s", r.status, r.err);
	ran_free(&r);
}

/* Address sanitizers reserve far more than any limit. */
#if defined(__SANITIZE_ADDRESS__)
#define NO_MEMORY_LIMIT 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NO_MEMORY_LIMIT 1
#endif
#endif

/* Small files whose events have many fields, and files that change their labels
 * and classes again and again. */
Test(host_memory, htdump_stays_small)
{
	struct ht_field_desc fields[250];
	char names[250][8], name[16];
	struct ht_build b;

	for (unsigned i = 0; i < 250; i++) {
		snprintf(names[i], sizeof names[i], "f%u", i);
		fields[i] = (struct ht_field_desc){ "uint8_t", names[i], 1, HT_UNSIGNED };
	}
#ifdef NO_MEMORY_LIMIT
	const uint32_t times = 1000, bound = 0;
#else
	const uint32_t times = 60000, bound = 160 << 10;
#endif
	ht_init(&b, HT_WIRE, false);
	ht_prologue(&b);
	ht_describe(&b, 100, "Leaf", NULL, fields, 250);
	for (uint32_t i = 0; i < 40; i++)
		fields[i] = (struct ht_field_desc){ "Leaf", names[i], 250, HT_STRUCT };
	ht_describe(&b, 101, "Wide", NULL, fields, 40);
	for (uint32_t i = 0; i < 2000; i++) {
		static const char zeros[250 * 40];
		ht_event(&b, 101, i);
		ht_bytes(&b, zeros, sizeof zeros);
	}
	cr_expect_eq(count_events(&b), 2000);
	expect_convert_within(&b, bound);
	ht_free(&b);

	ht_init(&b, HT_WIRE, false);
	ht_prologue(&b);
	for (unsigned i = 0; i < 250; i++) /* fields of 0 bytes */
		fields[i] = (struct ht_field_desc){ "x", names[i], 0, HT_UNSIGNED };
	ht_class(&b, 100, "Leaf", 250);
	for (unsigned i = 0; i < 250; i++)
		ht_field_raw(&b, 100, fields[i], 77);
	for (uint32_t i = 0; i < times; i++) {
		snprintf(name, sizeof name, "N%u", i);
		ht_endianness(&b);
		ht_describe(&b, 101, name, "Leaf", NULL, 0);
		ht_event(&b, 101, i);
		ht_mapping(&b, 1, i % 2 == 0 ? "" : "a");
	}
	expect_convert_within(&b, bound);
	ht_free(&b);
}

/* ---- cost ---- */

/* 20,000 events have the same name of 4 MiB. */
Test(htdump_cost, long_label)
{
	const uint32_t n = (4 << 20) - 10;
	char *const label = malloc(n + 1);
	struct ht_build b;

	cr_assert_not_null(label);
	memset(label, 'x', n);
	label[n] = '\0';
	ht_init(&b, HT_WIRE, false);
	ht_prologue(&b);
	ht_mapping(&b, 1, label);
	for (uint32_t i = 0; i < 20000; i++)
		ht_span_int(&b, i, 1, 1, 1);
	expect_in_proportion("convert --to chrome - -", b.p, b.n, "[repeats/text-cut]");
	expect_in_proportion("cat -", b.p, b.n, "[repeats/text-cut]");
	cr_expect_leq(cost_of("stats --format json -", b.p, b.n, NULL), 5e6 + 1e5);
	free(label);
	ht_free(&b);
}

/* A class and its fields have names of 1 MiB, its events 22 bytes. */
Test(htdump_cost, long_names_of_fields)
{
	const uint32_t n = 1 << 20;
	char *const name = malloc(n + 1);
	struct ht_build b;

	cr_assert_not_null(name);
	memset(name, 'f', n);
	name[n] = '\0';
	const struct ht_field_desc fields[] = { { "u", name, 1, HT_UNSIGNED },
		                                { "u", name + 1, 1, HT_UNSIGNED } };
	ht_init(&b, HT_WIRE, false);
	ht_prologue(&b);
	ht_describe(&b, 100, name, NULL, fields, 2);
	for (uint32_t i = 0; i < 100000; i++) {
		ht_event(&b, 100, i);
		ht_u16(&b, 1);
	}
	expect_in_proportion("convert --to ndjson - -", b.p, b.n, "[repeats/text-cut]");
	expect_in_proportion("convert --raw --to ndjson - -", b.p, b.n, "[repeats/text-cut]");
	free(name);
	ht_free(&b);
}

/* 57,000 used classes on a chain of 8,100 bases: unfolding all would visit 400 million fields. */
Test(htdump_cost, deep_chain_of_bases)
{
	char name[16], base[16] = "";
	struct ht_build b;

	ht_init(&b, HT_WIRE, false);
	ht_prologue(&b);
	for (uint32_t i = 0; i < 57000; i++) {
		snprintf(name, sizeof name, "D%u", i);
		ht_describe(&b, 100 + i, name, i == 0 ? NULL : base, NULL, 0);
		if (i < 8100)
			snprintf(base, sizeof base, "D%u", i);
	}
	for (uint32_t i = 8100; i < 57000; i++)
		ht_event(&b, 100 + i, i);
	cost_of("validate - | grep 'cannot be unfolded' >&2", b.p, b.n, "cannot be unfolded");
	ht_free(&b);
}

/* The limit of visited fields grows with the input: concatenated files describe their classes again. */
Test(htdump_cost, descriptions_again_and_again)
{
	const struct ht_field_desc x = { "uint64_t", "x", 8, HT_UNSIGNED };
	struct ht_build b;

	ht_init(&b, HT_WIRE, false);
	for (uint32_t i = 0; i < 4000; i++) {
		ht_prologue(&b);
		ht_describe(&b, 100, "Own", NULL, &x, 1);
		ht_event(&b, 100, i);
		ht_u64(&b, i);
	}
	cr_expect_eq(cost_of("validate -q -", b.p, b.n, NULL), 0, "findings");
	ht_free(&b);
}

/* ---- lifetimes ---- */

#define ALL (WANT_TIMES | WANT_FIELDS | WANT_STRUCTURE | WANT_BYTES)

static void expect_lasting(struct input *in)
{
	struct live_batches l;

	live_batches_read(&l, format_by_name("htdump"), in, ALL, 3);
	cr_expect_gt(l.n, 800);
	cr_expect_eq(live_batches_changed(&l), 0);
	cr_expect_eq(live_batches_free(&l), 0);
}

/* Names of integer labels: known before, found by the look-ahead pass, missing, and replaced while batches
 * hold references to the old ones. */
Test(htdump_lifetime, labels)
{
	struct ht_build b;
	char text[40];

	ht_init(&b, HT_WIRE, false);
	ht_prologue(&b);
	for (uint64_t i = 0; i < 2000; i++) {
		if (i % 3 == 0) {
			snprintf(text, sizeof text, "label %u of %u", (unsigned)(i % 40), (unsigned)i);
			ht_mapping(&b, i % 40, text);
		}
		ht_span_int(&b, i, 1, 1, i % 50);
	}
	ht_mapping(&b, 45, "named at the end");
	expect_lasting(input_from_memory((const char *)b.p, b.n));
	expect_lasting(input_from_memory_slowly((const char *)b.p, b.n, 99));
	ht_free(&b);
}

/* ---- threads ---- */

#define STREAMS 40U
#define EVENTS 1500U

/* Makes concatenated files.  Each describes its class with one field more than the previous one, up to four:
 * x, duration, thread_id, label. */
static void make_concatenated(struct ht_build *b)
{
	static const struct ht_field_desc fields[] = { { "uint64_t", "x", 8, HT_UNSIGNED },
		                                       { "uint64_t", "duration", 8, HT_UNSIGNED },
		                                       { "uint64_t", "thread_id", 8, HT_UNSIGNED },
		                                       { "string", "label", 8, HT_STRING } };

	ht_init(b, HT_WIRE, false);
	for (unsigned i = 0; i < STREAMS; i++) {
		ht_prologue(b);
		ht_describe(b, 100, "Own", NULL, fields, 1 + i % 4);
		for (unsigned k = 0; k < EVENTS; k++) {
			ht_event(b, 100, 1000 * k);
			for (unsigned f = 0; f <= i % 4 && f < 3; f++)
				ht_u64(b, f);
			if (i % 4 == 3)
				ht_string(b, "a name");
		}
	}
}

static void expect_same_of_threads(const struct ht_build *b, const char *format)
{
	static const char *const numbers[] = { "1", "2", "7" };
	struct ran first, r;

	for (unsigned i = 0; i < 3; i++) {
		r = run_tool((const char *const[]){ "convert", "--threads", numbers[i], "--to", format, "-",
		                                    "-", NULL },
		             b->p, b->n);
		cr_expect_eq(r.status, 0, "%s, %s threads: %d: %.3000s", format, numbers[i], r.status, r.err);
		if (i == 0)
			first = r;
		else
			cr_expect(r.out_n == first.out_n && memcmp(r.out, first.out, r.out_n) == 0,
			          "%s, %s threads", format, numbers[i]);
		if (i > 0)
			ran_free(&r);
	}
	ran_free(&first);
}

Test(htdump_race, classes_that_are_described_again)
{
	struct ht_build b;

	make_concatenated(&b);
	expect_same_of_threads(&b, "ndjson");
	expect_same_of_threads(&b, "chrome");
	ht_free(&b);
}

Test(htdump_race, stats_have_one_row)
{
	struct ht_build b;

	make_concatenated(&b);
	struct ran r = run_tool((const char *const[]){ "stats", "--format", "json", "-", NULL }, b.p, b.n);
	cr_expect_not_null(strstr(r.out, "{\"name\":\"Own\",\"count\":60000}],"), "%.3000s", r.out);
	ran_free(&r);
	r = run_tool((const char *const[]){ "info", "-", NULL }, b.p, b.n);
	cr_expect_not_null(strstr(r.out, " 15000  Own  (x u64)\n"), "%s", r.out);
	cr_expect_not_null(strstr(r.out, " 15000  Own  (x u64, duration u64)\n"), "%s", r.out);
	ran_free(&r);
	ht_free(&b);
}

/* A mapped file takes most of the address space, as batch systems limit it: what sorting needs must remain.
 */
Test(host_memory, address_space_of_the_size_of_the_file)
{
#ifdef NO_MEMORY_LIMIT
	cr_skip_test("sanitizers reserve more");
#endif
	static const char script[] = "dump=$(mktemp); i=0; cat >$dump.one\n"
	                             "while [ $i -lt 60 ]; do cat $dump.one; i=$((i + 1)); done >$dump\n"
	                             "(ulimit -v 190000; MALLOC_ARENA_MAX=1 \"$0\" convert --to parquet "
	                             "$dump $dump.parquet); e=$?\n"
	                             "rm -f $dump $dump.one $dump.parquet; exit $e";
	struct ht_build b;

	ht_init(&b, HT_WIRE, false);
	ht_prologue(&b);
	for (uint32_t i = 0; i < 50000; i++)
		ht_span(&b, i, 10, 1, "work");
	struct ran r = run_program((const char *const[]){ "sh", "-c", script, tool_path(), NULL }, b.p, b.n);
	cr_expect_eq(r.status, 0, "exit status %d: %.500s", r.status, r.err);
	ran_free(&r);
	ht_free(&b);
}
