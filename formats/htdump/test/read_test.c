/*
 * The reader: agreement of the fast path and the careful one, user vocabularies, rules, and the counts of
 * `stats` against EXPECTED.json and the oracle.
 */
#define _GNU_SOURCE /* memmem */

#include <cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "cmd/test/samples_test_util.h"
#include "format/registry.h"
#include "htdump/test/build.h"
#include "htdump/test/oracle.h"
#include "test/support/splitmix.h"

/* ---- fast path ---- */

/* Adds a span, sometimes one with a finding, or a record of another class. */
static void add_record(struct ht_build *b, uint64_t r, uint64_t ts)
{
	static const char *const labels[] = { "",
		                              "main",
		                              "a label of sixteen",
		                              "fifteen bytes..",
		                              "sixteen bytes...",
		                              "caf\xc3\xa9",
		                              "seventeen bytes.." };
	const char *const label = labels[r / 64 % (sizeof labels / sizeof labels[0])];

	switch (r % 64) {
	case 0:
		ht_span(b, ts, UINT64_MAX - ts + r / 64 % 2, 1, label);
		break;
	case 1:
		ht_span(b, ts, 5, 1, r / 64 % 2 != 0 ? "a\xff" : "a long label, and not valid: \xc3");
		break;
	case 2:
		b->next_id -= 2;
		ht_span(b, ts, 5, 1, label);
		break;
	case 3:
		b->next_id += 5000 * (r / 64 % 9);
		ht_event(b, HT_ID_EVENT, ts);
		break;
	case 4:
		ht_mapping(b, r / 64 % 7, label);
		break;
	case 5:
		ht_span_int(b, ts, 5, 1, r / 64 % 9);
		break;
	case 6:
		b->next_id -= b->next_id > 6000 ? 6000 : 0;
		ht_event(b, HT_ID_SPAN_BASE, ts);
		ht_u64(b, r / 64 % 3 == 0 ? UINT64_MAX : 7);
		ht_u32(b, 1);
		break;
	default:
		ht_span(b, ts, r % 1000, (uint32_t)(r % 3), label);
	}
}

/* Returns the findings of this format in the report that the command writes to `to`, one a line.  Unresolved
 * labels are left out: raw records have none. */
static char *findings_of(const char *const *args, const char *to)
{
	struct ran r = run_tool(args, NULL, 0);
	size_t size, used = 0;
	char *const report = read_whole(to, &size);
	char *const lines = calloc(1, size + 1);

	cr_assert(report != NULL && lines != NULL, "%s", r.err);
	for (const char *p = report; *p != '\0'; p += strcspn(p, "\n"), p += *p == '\n') {
		const size_t n = strcspn(p, "\n");
		if (memmem(p, n, "[htdump/", 8) == NULL || memmem(p, n, "label-unresolved", 16) != NULL ||
		    memmem(p, n, ": note: ", 8) != NULL)
			continue;
		memcpy(lines + used, p, n);
		used += n;
		lines[used++] = '\n';
	}
	free(report);
	ran_free(&r);
	return lines;
}

static void expect_same_findings(const char *in, const char *copy, const struct ht_build *b)
{
	char to[320], report[330];
	size_t n;

	snprintf(to, sizeof to, "%s.txt", copy);
	snprintf(report, sizeof report, "text=%s", to);
	const char *const events[] = { "convert", "-f", "--report",  report, "--to",
		                       "ndjson",  in,   "/dev/null", NULL };
	const char *const validate[] = { "validate", "-f", "--report", report, in, NULL };
	const char *const runs[] = { "convert", "-f", "--report", report, "--to", "htdump", in, copy, NULL };
	char *const by_events = findings_of(events, to), *const by_validate = findings_of(validate, to),
	            *const by_runs = findings_of(runs, to);

	cr_expect_not_null(strstr(by_events, "htdump/invalid-utf8"), "%s", by_events);
	cr_expect_not_null(strstr(by_events, "htdump/duration-overflow"));
	cr_expect_not_null(strstr(by_events, "htdump/string-unterminated"));
	cr_expect_str_eq(by_validate, by_events);
	cr_expect_str_eq(by_runs, by_events);
	char *const copied = read_whole(copy, &n);
	cr_assert_not_null(copied);
	cr_expect_leq(n, b->n);
	cr_expect_gt(n + 100, b->n);
	cr_expect_eq(memcmp(copied, b->p, n), 0);
	free(copied);
	free(by_events);
	free(by_validate);
	free(by_runs);
}

/* A limit of records below HT_FAST_RECORD turns the fast path off. */
static void expect_same_events(const char *in)
{
	const char *const fast[] = { "stats", "-f", "--format", "json", "--full", in, NULL };
	const char *const careful[] = { "stats",        "-f",      "--format", "json", "--full",
		                        "--max-record", "1000000", in,         NULL };
	struct ran a = run_tool(fast, NULL, 0), b = run_tool(careful, NULL, 0);

	cr_expect_not_null(strstr(a.out, "\"seventeen bytes..\""), "%s", a.out);
	cr_expect_str_eq(a.out, b.out);
	cr_expect_str_eq(a.err, b.err);
	ran_free(&a);
	ran_free(&b);
}

/* The same for the copy of a selection. */
static void expect_same_selection(const char *in, const char *copy, const char *choice)
{
	const char *const fast[] = { "convert", "-f", choice, "--to", "htdump", in, copy, NULL };
	const char *const careful[] = { "convert", "-f", "--max-record", "1000000", choice, "--to",
		                        "htdump",  in,   copy,           NULL };
	size_t n[2];
	struct ran a = run_tool(fast, NULL, 0);
	char *const of_a = read_whole(copy, &n[0]);
	struct ran b = run_tool(careful, NULL, 0);
	char *const of_b = read_whole(copy, &n[1]);

	cr_assert(of_a != NULL && of_b != NULL, "%s", a.err);
	cr_expect_str_eq(a.err, b.err);
	cr_expect_gt(n[0], 3000);
	cr_expect(n[0] == n[1] && memcmp(of_a, of_b, n[0]) == 0, "%s: %zu and %zu bytes", choice, n[0], n[1]);
	free(of_a);
	free(of_b);
	ran_free(&a);
	ran_free(&b);
}

Test(htdump_fast, finds_what_is_found_in_events)
{
	char *const dir = make_folder();
	char in[300], copy[300];

	snprintf(in, sizeof in, "%s/in.htdump", dir);
	snprintf(copy, sizeof copy, "%s/copy.htdump", dir);
	for (unsigned i = 0; i < 4; i++) {
		struct ht_build b;
		uint64_t random = i;
		ht_init(&b, i % 2 == 0 ? HT_WIRE : HT_DOCUMENT, i / 2 != 0);
		ht_prologue(&b);
		for (uint64_t k = 0; k < 3000; k++)
			add_record(&b, splitmix_next(&random), 1000 + k * 10);
		ht_span(&b, 1, 1, 1, "a text that is cut");
		b.n -= 3;
		cr_assert(write_whole(in, b.p, b.n));
		expect_same_findings(in, copy, &b);
		expect_same_events(in);
		expect_same_selection(in, copy, "--since=60%");
		expect_same_selection(in, copy, "--name=*e*");
		ht_free(&b);
	}
	remove_folder(dir);
}

/* ---- floats of HawkTracer 0.11 ---- */

#define BAD "testdata/htdump/bad/"

Test(trust, a_float_that_is_described_as_a_double)
{
	static const char *const files[] = { BAD "float-as-double.htdump", BAD "float-as-double-big.htdump" };

	for (int i = 0; i < 2; i++) {
		struct ran r = run_tool((const char *const[]){ "cat", files[i], NULL }, NULL, 0);
		cr_expect_eq(r.status, 0, "%s", r.err);
		cr_expect_not_null(strstr(r.out, " x=1.5 n=7"), "%s", r.out);
		cr_expect_not_null(strstr(r.out, "work"), "what follows is read too: %s", r.out);
		ran_free(&r);
		expect_ran(run_tool((const char *const[]){ "validate", files[i], NULL }, NULL, 0), 0,
		           "warning: field \"x\" of class \"Own\" (\"float\") is DOUBLE of 4 bytes: it is "
		           "read as FLOAT [htdump/float-as-double]");
	}
}

/* ---- rules ---- */

/* Rules that no small file can provoke, and the tests that do. */
static const char *const elsewhere[] = {
	"htdump/limit",          /* htdump_limits */
	"htdump/not-from-event", /* by_the_letter.test: only with --from-dialect document */
	"htdump/thread-limit",   /* htdump_limits */
	"htdump/bad-label-map",  /* cmd */
	NULL,
};

Test(htdump_rules, every_rule_has_a_sample)
{
	expect_samples_of_rules("htdump", elsewhere);
}

/* ---- vocabularies ---- */

#define GOOD "testdata/htdump/good/"

/* Runs a command on a sample with these rules as vocabulary. */
static struct ran run_with_rules(const char *command, const char *rules, const char *sample)
{
	char *const dir = make_folder();
	char path[1024], text[2048];

	snprintf(path, sizeof path, "%s/own.yaml", dir);
	snprintf(text, sizeof text, "format: htdump\n%s", rules);
	cr_assert(write_whole(path, text, strlen(text)));
	const bool convert = strcmp(command, "convert") == 0;
	const char *const args[] = { command, "--vocabulary", path, sample, convert ? "-" : NULL,
		                     "--to",  "chrome",       NULL };
	struct ran r = run_tool(args, NULL, 0);
	cr_expect_eq(r.status, 0, "%s", r.err);
	remove_folder(dir);
	return r;
}

static void expect_lines(struct ran r, const char *const *lines)
{
	for (; *lines != NULL; lines++)
		cr_expect_not_null(strstr(r.out, *lines), "no %s in:\n%.2000s", *lines, r.out);
	ran_free(&r);
}

/* In the document layout, a description at 2 or 3 ns has the bytes of a class id where the wire layout has
 * one. */
Test(htdump_layout, descriptions_at_small_times)
{
	for (unsigned i = 0; i < 16; i++) {
		struct ht_build b;
		ht_init(&b, i % 2 == 0 ? HT_WIRE : HT_DOCUMENT, i / 2 % 2 == 1);
		b.now = i / 4 - UINT64_C(100); /* of the description before the first one */
		ht_endianness(&b);
		ht_describe(&b, HT_ID_OWN, "Own", NULL, NULL, 0);
		ht_event(&b, HT_ID_OWN, 5);
		struct ran r =
		    run_tool((const char *const[]){ "validate", "-", NULL }, (const char *)b.p, b.n);
		cr_expect_eq(r.status, 0, "%s", r.err);
		cr_expect_not_null(strstr(r.out, i % 2 == 0 ? "(wire)" : "(document)"), "at %u ns: %s", i / 4,
		                   r.out);
		ran_free(&r);
		ht_free(&b);
	}
}

/* The names of the labels come after these events. */
Test(htdump_schema, counters_named_by_labels)
{
	expect_lines(
	    run_with_rules(
	        "convert",
	        "tables: {label: trace}\n"
	        "events:\n"
	        "  - {event: OwnSpan, phase: counter, name: \"n {label|label}\", values: [duration], "
	        "track: \"lane "
	        "{label|label}\"}\n",
	        GOOD "late-mapping.htdump"),
	    (const char *const[]){ "\"args\":{\"name\":\"lane even\"}",
	                           "{\"name\":\"n even\",\"cat\":\"OwnSpan\",\"ph\":\"C\",\"ts\":0.000,",
	                           "{\"name\":\"n odd\",\"cat\":\"OwnSpan\",\"ph\":\"C\",\"ts\":3.000,",
	                           "\"args\":{\"duration\":13}", NULL });
}

/* Roles of other fields, which the reader applies. */
Test(htdump_schema, a_span_of_other_fields)
{
	expect_lines(run_with_rules("cat",
	                            "events:\n"
	                            "  - {event: Level3, phase: span, duration: f2, category: levels,\n"
	                            "     track: {name: \"thread {f3}\", id: f3}}\n",
	                            GOOD "inheritance.htdump"),
	             (const char *const[]){
	                 "span Level3 ts=7200 dur=2001 track=\"thread 2002\" name=Level3 id=67 duration=50 "
	                 "thread_id=7 label=\"Level3\" f1=2000\n",
	                 "span Level2 ts=7100 dur=50 track=\"thread 7\" name=Level2 id=66 f1=1000 f2=1001\n",
	                 NULL });
}

/* The name has more than one field, so the engine applies the rules. */
Test(htdump_schema, a_span_of_other_fields_by_the_engine)
{
	expect_lines(
	    run_with_rules("cat",
	                   "events:\n"
	                   "  - {event: Level3, phase: span, duration: f2, name: \"{f1} and {f3}\",\n"
	                   "     track: {name: \"thread {f3}\", id: f3}}\n",
	                   GOOD "inheritance.htdump"),
	    (const char *const[]){
	        "span Level3 ts=7200 dur=2001 track=\"thread 2002\" name=\"2000 and 2002\" id=67 "
	        "duration=50 thread_id=7 label=\"Level3\" f1=2000 f3=2002\n",
	        NULL });
}

Test(htdump_schema, begin_and_end)
{
	expect_lines(
	    run_with_rules("convert",
	                   "events:\n"
	                   "  - {event: Level1, phase: begin, pair: levels, name: from 1 to 4}\n"
	                   "  - {event: Level4, phase: end, pair: levels}\n",
	                   GOOD "inheritance.htdump"),
	    (const char *const[]){
	        "{\"name\":\"from 1 to 4\",\"cat\":\"Level1\",\"ph\":\"X\",\"ts\":7.000,\"dur\":0.300,",
	        NULL });
}

Test(htdump_schema, names_of_threads)
{
	expect_lines(run_with_rules("cat", "tracks: {thread: \"T{id}\", threads: {7: seventh}}\nevents: []\n",
	                            GOOD "inheritance.htdump"),
	             (const char *const[]){ "span Level3 ts=7200 dur=50 track=seventh name=Level3",
	                                    "track=T0 name=Holder", NULL });
}

/* ---- stats ---- */

/* Returns the sum of the counts of all rows with this name, or of all rows.  Names repeat in several
 * categories, and in classes of concatenated files. */
static uint64_t count_named(const cJSON *rows, const char *name, const char *path)
{
	const cJSON *row;
	uint64_t count = 0;

	cJSON_ArrayForEach(row, rows)
	{
		const char *const n = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, "name"));

		if (n != NULL && (name == NULL || strcmp(n, name) == 0))
			count += number_at(row, "count");
	}
	return count;
}

static void agree_with_expected(const char *dir, const cJSON *want, const char *text)
{
	char path[1024];
	const cJSON *in, *c, *row;
	uint64_t spans = 0, sum = 0;

	(void)text;
	snprintf(path, sizeof path, "%s/%s", dir, want->string);
	cJSON *const report = stats_of(path, &in);
	const cJSON *const rows = cJSON_GetObjectItemCaseSensitive(in, "spans");
	cJSON_ArrayForEach(row, rows)
	{
		spans += number_at(row, "count");
		sum += number_at(cJSON_GetObjectItemCaseSensitive(row, "dur_ns"), "sum");
	}
	cr_expect_eq(spans, number_at(want, "events"), "%s", path);
	cr_expect_eq(sum, number_at(want, "dur_sum_ns"), "%s", path);
	cJSON_ArrayForEach(c, cJSON_GetObjectItemCaseSensitive(want, "names"))
	{
		cr_expect_eq(count_named(rows, c->string, path), (uint64_t)c->valuedouble, "%s: %s", path,
		             c->string);
	}
	cJSON_ArrayForEach(c, cJSON_GetObjectItemCaseSensitive(want, "classes"))
	{
		cr_expect_eq(count_named(cJSON_GetObjectItemCaseSensitive(in, "classes"), c->string, path),
		             (uint64_t)c->valuedouble, "%s: class %s", path, c->string);
	}
	cJSON_Delete(report);
}

Test(htdump_stats, agrees_with_expected)
{
	cr_expect_gt(each_expected(real_traces(), "htdump/", agree_with_expected), 0);
}
