/* cat: one record, raw records, objects. */
/* stats: what the tables say. */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"

/* ---- cat ---- */

#define SAMPLE "testdata/htdump/good/late-mapping.htdump"
#define MOST 200

static struct ran cat(const char *const *args)
{
	const char *argv[20] = { "cat", "-q" };
	size_t n = 2;

	while (*args != NULL)
		argv[n++] = *args++;
	argv[n] = NULL;
	return run_tool(argv, NULL, 0);
}

#define CAT(...) cat((const char *const[]){ __VA_ARGS__, NULL })

static size_t lines_of(char *text, char **lines)
{
	size_t n = 0;

	for (char *p = strtok(text, "\n"); p != NULL && n < MOST; p = strtok(NULL, "\n"))
		lines[n++] = p;
	return n;
}

/* Every byte of the file is shown by the record that has it, as the whole listing says where records begin.
 */
static void expect_each_byte(const char *raw)
{
	struct ran all = raw != NULL ? CAT(raw, SAMPLE) : CAT(SAMPLE);
	char *lines[MOST];
	const size_t n = lines_of(all.out, lines);
	size_t size;

	free(read_whole(SAMPLE, &size));
	cr_assert(n > 10 && n < MOST);
	for (size_t i = 0; i < n; i++) {
		const size_t from = strtoull(lines[i] + 1, NULL, 10),
		             end = i + 1 < n ? strtoull(lines[i + 1] + 1, NULL, 10) : size;
		for (int last = 0; last < 2; last++) {
			char at[24];
			snprintf(at, sizeof at, "%zu", last ? end - 1 : from);
			struct ran r = raw != NULL ? CAT(raw, "--at", at, SAMPLE) : CAT("--at", at, SAMPLE);
			cr_expect_eq(r.status, 0, "%s: %s", at, r.err);
			cr_expect(r.out_n == strlen(lines[i]) + 1 &&
			              strncmp(r.out, lines[i], r.out_n - 1) == 0,
			          "--at %s: %s", at, r.out);
			ran_free(&r);
		}
	}
	ran_free(&all);
}

Test(cat, at_a_byte)
{
	expect_each_byte(NULL);
	expect_each_byte("--raw");
}

Test(cat, at_a_byte_and_those_behind_it)
{
	struct ran r = CAT("--at", "300", "-n", "2", SAMPLE);

	cr_expect_eq(strncmp(r.out, "@292 span ", 10), 0, "%s", r.out);
	cr_expect_not_null(strstr(r.out, "\n@332 span "), "%s", r.out);
	cr_expect_null(strstr(r.out, "@372 "), "%s", r.out);
	ran_free(&r);
}

static void expect_mistake(struct ran r, int status, const char *words)
{
	cr_expect_eq(r.status, status, "status %d: %s", r.status, r.err);
	cr_expect_str_eq(r.out, "");
	cr_expect_not_null(strstr(r.err, words), "%s", r.err);
	ran_free(&r);
}

Test(cat, at_no_byte)
{
	expect_mistake(CAT("--at", "99999", SAMPLE), 1, "no record has byte 99999");
	expect_mistake(CAT("--at", "end", SAMPLE), 3, "--at takes a number");
	expect_mistake(CAT("--at", "1", "testdata/ovni/good"), 3, "name a file of the directory");
	expect_mistake(CAT("--format", "xml", SAMPLE), 3, "--format");
	expect_mistake(CAT("--raw", "--name", "a", "testdata/ndjson/good/raw.ndjson"), 3,
	               "all are shown or none");
}

/* The records that a selection is made of. */
Test(cat, raw_and_selected)
{
	struct ran r = CAT("--raw", "--name", "odd", SAMPLE), all = CAT("--raw", SAMPLE);
	char *lines[MOST];
	const size_t n = lines_of(r.out, lines);

	cr_assert_eq(n, 2);
	for (size_t i = 0; i < n; i++)
		cr_expect_not_null(strstr(all.out, lines[i]), "%s", lines[i]);
	cr_expect(strncmp(lines[0], "@292 ", 5) == 0 && strncmp(lines[1], "@372 ", 5) == 0);
	ran_free(&r);
	ran_free(&all);
}

/* ---- objects ---- */

static const char *text_of(const cJSON *o, const char *key)
{
	const char *const s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, key));

	return s != NULL ? s : "";
}

/* What the line of text begins with, up to its fields. */
static void expect_same(const char *line, const char *json)
{
	cJSON *const o = cJSON_Parse(json);
	const cJSON *const fields = cJSON_GetObjectItemCaseSensitive(o, "args");
	char want[200];
	int equals = 0;

	cr_assert_not_null(o, "%s", json);
	snprintf(want, sizeof want, "@%.0f %s %s ts=%.0f",
	         cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(o, "offset")), text_of(o, "kind"),
	         text_of(o, "class"), cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(o, "ts_ns")));
	cr_expect_eq(strncmp(line, want, strlen(want)), 0, "%s is not in %s", want, line);
	for (const cJSON *f = fields != NULL ? fields->child : NULL; f != NULL; f = f->next) {
		snprintf(want, sizeof want, " %s=", f->string);
		equals += strstr(line, want) != NULL;
	}
	cr_expect_eq(equals, cJSON_GetArraySize(fields), "%s: %s", line, json);
	cJSON_Delete(o);
}

static void expect_objects(const char *raw, const char *path)
{
	struct ran text = CAT(raw, path), json = CAT(raw, "--format", "json", path);
	char *a[MOST], *b[MOST];
	const size_t n = lines_of(text.out, a), m = lines_of(json.out, b);

	cr_assert(n == m && n > 0 && n < MOST, "%s: %zu lines, %zu objects", path, n, m);
	for (size_t i = 0; i < n; i++)
		expect_same(a[i], b[i]);
	ran_free(&text);
	ran_free(&json);
}

Test(cat, objects)
{
	expect_objects("--limit=150", SAMPLE);
	expect_objects("--raw", SAMPLE);
	expect_objects("--raw", "testdata/heph/good/all-types.bin.log");
	expect_objects("--raw", "testdata/dial9/good/all-types.dial9");
}

Test(cat, objects_with_bytes_and_inputs)
{
	struct ran r = CAT("--format=json", "-x", "-n", "1", SAMPLE, SAMPLE);
	char *lines[MOST];

	cr_assert_eq(lines_of(r.out, lines), 4);
	cr_expect_str_eq(lines[0], "{\"input\":\"" SAMPLE "\",\"format\":\"htdump\"}");
	cr_expect_not_null(strstr(lines[1], "\"bytes\":\"000000000000000000000000000000000000000000\"}"),
	                   "%s", lines[1]);
	ran_free(&r);
	r = CAT("--format=json", "testdata/heph/good/odd-floats.bin.log");
	cr_expect_not_null(strstr(r.out, "\"inexact\":true"), "%s", r.out);
	ran_free(&r);
}

/* ---- the schema ---- */

static size_t write_objects(const char *dir, size_t n, const char *raw, const char *path)
{
	struct ran r = CAT(raw, "--format=json", "-x", path, path);
	char *lines[MOST], name[1024];
	const size_t lines_n = lines_of(r.out, lines);

	for (size_t i = 0; i < lines_n; i++) {
		snprintf(name, sizeof name, "%s/%zu.json", dir, n + i);
		cr_assert(write_whole(name, lines[i], strlen(lines[i])));
	}
	ran_free(&r);
	return n + lines_n;
}

/* As an independent validator says; it starts once for all of them. */
Test(cat, schema)
{
	char *const dir = make_folder();
	size_t n = write_objects(dir, 0, "--raw", "testdata/heph/good/odd-floats.bin.log");

	n = write_objects(dir, n, "--limit=8", "testdata/htdump/good/overlapping.htdump");
	n = write_objects(dir, n, "--raw", "testdata/dial9/good/max-integers.dial9");
	n = write_objects(dir, n, "--limit=9", "testdata/dial9/good/late.dial9");
	cr_expect_gt(n, 30);
	struct ran r = run_program(
	    (const char *const[]){
	        "sh", "-c",
	        "v=/usr/bin/jsonschema; [ -x $v ] || v=jsonschema; for f in \"$0\"/*; do set -- "
	        "\"$@\" -i \"$f\"; done; exec $v \"$@\" schemas/cat.schema.json",
	        dir, NULL },
	    NULL, 0);
	cr_expect_eq(r.status, 0, "%.2000s%.2000s", r.out, r.err);
	ran_free(&r);
	remove_folder(dir);
}

/* ---- info --digest ---- */

/* info --digest: the same through every conversion that loses nothing, however the trace is packed or
 * divided. */

#define GOOD "testdata/"

/* The line of the digest of a trace; to be freed. */
static char *digest_of(const char *path)
{
	struct ran r = run_tool((const char *const[]){ "info", "-q", "--digest", path, NULL }, NULL, 0);
	char *const line = strstr(r.out, "digest:   ");

	cr_assert(r.status <= 1, "%s: %s", path, r.err);
	cr_assert_not_null(line, "%s", path);
	char *const copy = strndup(line, strcspn(line, "\n"));
	ran_free(&r);
	cr_assert_eq(strcspn(copy + 10, " "), 32, "%s", copy);
	return copy;
}

static void expect_digest(const char *path, const char *want)
{
	char *const got = digest_of(path);

	cr_expect_str_eq(got, want, "%s", path);
	free(got);
}

/* The file `name` in the folder; a text that is valid until the next call. */
static const char *in(const char *dir, const char *name)
{
	static char path[512];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	return path;
}

static void convert(const char *from, const char *to)
{
	struct ran r = run_tool(
	    (const char *const[]){ "convert", "-q", "-f", "--fail-on-loss", from, to, NULL }, NULL, 0);

	cr_assert_eq(r.status, 0, "%s: %s", to, r.err);
	ran_free(&r);
}

Test(info_digest, conversion_and_compression_keep_it)
{
	static const char *const samples[] = {
		GOOD "htdump/good/all-types.htdump", GOOD "htdump/good/overlapping.htdump",
		GOOD "heph/good/nested.bin.log",     GOOD "dial9/good/tracks.dial9",
		GOOD "dftracer/good/d1.pfw",
	};
	static const char *const outputs[] = { "a.ndjson", "a.json", "a.ndjson.gz", "a.json.zst" };
	char *const dir = make_folder();

	for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
		char *const want = digest_of(samples[i]);
		for (size_t k = 0; k < sizeof outputs / sizeof *outputs; k++) {
			char *const out = strdup(in(dir, outputs[k]));
			convert(samples[i], out);
			expect_digest(out, want);
			free(out);
		}
		char *const first = strdup(in(dir, "a.json")), *const again = strdup(in(dir, "b.ndjson"));
		convert(first, again);
		expect_digest(again, want);
		free(first);
		free(again);
		free(want);
	}
	remove_folder(dir);
}

/* Two threads, three events; `value` is that of a field. */
#define HEAD "{\"traceEvents\":[\n"

#define ONE                                                                                                  \
	"{\"name\":\"a\",\"ph\":\"X\",\"ts\":1,\"dur\":2,\"pid\":7,\"tid\":8,\"args\":{\"x\":1,\"y\":[1,2]}" \
	"}"
#define TWO "{\"name\":\"b\",\"ph\":\"X\",\"ts\":4,\"dur\":2,\"pid\":7,\"tid\":9}"
#define THREE "{\"name\":\"b\",\"ph\":\"i\",\"ts\":5,\"s\":\"t\",\"pid\":7,\"tid\":8}"
#define TAIL "\n]}"

static void write_text(const char *path, const char *text)
{
	cr_assert(write_whole(path, text, strlen(text)));
}

Test(info_digest, files_of_a_folder_are_traces)
{
	char *const dir = make_folder(), *const part = make_folder();

	write_text(in(dir, "all.json"), HEAD ONE ",\n" TWO ",\n" THREE TAIL);
	char *const want = digest_of(in(dir, "all.json"));
	cr_expect_not_null(strstr(want, " of 3 events"), "%s", want);
	write_text(in(dir, "all.json"), HEAD THREE ",\n" ONE ",\n" TWO TAIL);
	expect_digest(in(dir, "all.json"), want);
	write_text(in(part, "1.json"), HEAD TWO TAIL);
	write_text(in(part, "2.json"), HEAD ONE ",\n" TWO ",\n" THREE TAIL);
	struct ran r = run_tool(
	    (const char *const[]){ "info", "-q", "--from", "chrome", "--digest", part, NULL }, NULL, 0);
	cr_expect_not_null(strstr(r.out, " of 1 events\n"), "%s", r.out);
	cr_expect_not_null(strstr(r.out, want), "%s, %s", want, r.out);
	ran_free(&r);
	free(want);
	remove_folder(dir);
	remove_folder(part);
}

Test(info_digest, steps_of_arrows_are_no_ends)
{
#define END(phase, time) "{\"name\":\"w\",\"ph\":\"" phase "\",\"id\":1,\"ts\":" time ",\"pid\":7,\"tid\":8}"
#define ARROW(end) HEAD END("s", "1") "," END(end, "2") TAIL
	char *const dir = make_folder(), *const path = strdup(in(dir, "arrow.json"));

	write_text(path, ARROW("f"));
	char *const end = digest_of(path);
	write_text(path, ARROW("t"));
	char *const step = digest_of(path);
	cr_expect_str_neq(end, step);
	free(end);
	free(step);
	free(path);
	remove_folder(dir);
#undef ARROW
#undef END
}

Test(info_digest, every_part_of_an_event_counts)
{
	static const char *const others[] = {
		"{\"name\":\"A\",\"ph\":\"X\",\"ts\":1,\"dur\":2,\"pid\":7,\"tid\":8,\"args\":{\"x\":1,\"y\":"
		"[1,2]}}",
		"{\"name\":\"a\",\"ph\":\"X\",\"ts\":1.001,\"dur\":2,\"pid\":7,\"tid\":8,\"args\":{\"x\":1,"
		"\"y\":[1,2]}}",
		"{\"name\":\"a\",\"ph\":\"X\",\"ts\":1,\"dur\":3,\"pid\":7,\"tid\":8,\"args\":{\"x\":1,\"y\":"
		"[1,2]}}",
		"{\"name\":\"a\",\"ph\":\"X\",\"ts\":1,\"dur\":2,\"pid\":8,\"tid\":8,\"args\":{\"x\":1,\"y\":"
		"[1,2]}}",
		"{\"name\":\"a\",\"ph\":\"X\",\"ts\":1,\"dur\":2,\"pid\":7,\"tid\":7,\"args\":{\"x\":1,\"y\":"
		"[1,2]}}",
		"{\"name\":\"a\",\"ph\":\"X\",\"ts\":1,\"dur\":2,\"pid\":7,\"tid\":8,\"args\":{\"x\":1,\"y\":"
		"[2,1]}}",
		"{\"name\":\"a\",\"ph\":\"X\",\"ts\":1,\"dur\":2,\"pid\":7,\"tid\":8,\"args\":{\"x\":1}}",
		"{\"name\":\"a\",\"cat\":\"c\",\"ph\":\"X\",\"ts\":1,\"dur\":2,\"pid\":7,\"tid\":8,\"args\":{"
		"\"x\":1,\"y\":"
		"[1,2]}}",
		"{\"name\":\"a\",\"ph\":\"i\",\"s\":\"t\",\"ts\":1,\"pid\":7,\"tid\":8,\"args\":{\"x\":1,"
		"\"y\":[1,2]}}",
	};
	char *const dir = make_folder(), *const path = strdup(in(dir, "one.json"));
	char text[512];

	write_text(path, HEAD ONE TAIL);
	char *const want = digest_of(path);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		snprintf(text, sizeof text, HEAD "%s" TAIL, others[i]);
		write_text(path, text);
		char *const got = digest_of(path);
		cr_expect_str_neq(got, want, "%s", text);
		free(got);
	}
	free(want);
	free(path);
	remove_folder(dir);
}

/* ---- stats ---- */

/* Writes a Chrome trace and runs stats on it. */
static struct ran stats_of(const char *json, const char *form)
{
	char path[300], *const dir = make_folder();

	snprintf(path, sizeof path, "%s/t.json", dir);
	cr_assert(write_whole(path, json, strlen(json)));
	const struct ran r =
	    run_tool((const char *const[]){ "stats", "-q", "--format", form, path, NULL }, NULL, 0);
	remove_folder(dir);
	cr_assert_eq(r.status, 0, "%s%s", r.out, r.err);
	return r;
}

static void expect_in(const struct ran *r, const char *text)
{
	cr_expect_not_null(strstr(r->out, text), "%s is not in %s", text, r->out);
}

#define SPAN(name, ts, dur)                                                                                  \
	"{\"ph\":\"X\",\"cat\":\"c\",\"pid\":1,\"tid\":1,\"name\":\"" name "\",\"ts\":" #ts ",\"dur\":" #dur \
	"}"

/* f calls g, which calls f; in the order of their ends and of their starts. */
Test(stats_command, recursion_counts_once)
{
	static const char *const orders[] = {
		"[" SPAN("f", 2, 3) "," SPAN("g", 1, 6) "," SPAN("f", 0, 10) "]",
		"[" SPAN("f", 0, 10) "," SPAN("g", 1, 6) "," SPAN("f", 2, 3) "]",
		"[" SPAN("g", 1, 6) "," SPAN("f", 0, 10) "," SPAN("f", 2, 3) "]",
	};

	for (size_t i = 0; i < 3; i++) {
		struct ran r = stats_of(orders[i], "json");
		expect_in(&r, "\"dur_ns\":{\"sum\":13000,");
		expect_in(&r, "\"self_ns\":7000,\"total_ns\":10000,\"recursive\":1}");
		expect_in(&r, "\"self_ns\":3000,\"total_ns\":6000}");
		ran_free(&r);
		r = stats_of(orders[i], "text");
		expect_in(&r, "f     c             2  10.0 us  7.00 us");
		expect_in(&r, "  recursive: 1 of 2 lies in another of the same name: f\n");
		ran_free(&r);
	}
}

#define SAMPLE_STATS_COMMAND_TEST "testdata/htdump/good/wire-little.htdump"

/* What the file is made of is no answer to what took the time. */
Test(stats_command, classes_are_listed_when_they_are_asked_for)
{
	struct ran r = run_tool((const char *const[]){ "stats", SAMPLE_STATS_COMMAND_TEST, NULL }, NULL, 0);

	cr_expect_null(strstr(r.out, "classes\n"), "%s", r.out);
	ran_free(&r);
	r = run_tool((const char *const[]){ "stats", "--classes", SAMPLE_STATS_COMMAND_TEST, NULL }, NULL, 0);
	expect_in(&r, "\nclasses\n   1  HT_EndiannessInfoEvent\n  10  HT_EventKlassInfoEvent\n");
	ran_free(&r);
	r = run_tool(
	    (const char *const[]){ "stats", "--classes", "--name", "draw", SAMPLE_STATS_COMMAND_TEST, NULL },
	    NULL, 0);
	cr_expect_null(strstr(r.out, "classes\n"), "%s", r.out);
	ran_free(&r);
}

Test(stats_command, counters_have_values)
{
	static const char json[] =
	    "[{\"ph\":\"C\",\"pid\":1,\"name\":\"q\",\"ts\":0,\"args\":{\"depth\":4,\"text\":\"x\"}},"
	    "{\"ph\":\"C\",\"pid\":1,\"name\":\"q\",\"ts\":3,\"args\":{\"depth\":-2}},"
	    "{\"ph\":\"C\",\"pid\":1,\"name\":\"q\",\"ts\":4,\"args\":{\"depth\":1.5}}]";

	struct ran r = stats_of(json, "json");
	expect_in(&r,
	          "\"series\":[\n     {\"name\":\"depth\",\"count\":3,\"first\":4,\"last\":1.5,\"min\":-2,"
	          "\"max\":4,\"mean\":1.1666666666666667,\"time_mean\":2.5,\"p50\":1.5,\"p99\":4}]");
	ran_free(&r);
	r = stats_of(json, "text");
	expect_in(&r, "q     depth       3      4   1.5   -2  1.16667    2.5  1.5    4    4\n");
	ran_free(&r);
}

/* 4,000 spans of one thread, in two passes. */
Test(stats_command, two_passes_over_a_thread)
{
	static const char path[] = "../shared/traces/chrome/made/two-pass-2000.json.gz";

	if (access(path, R_OK) != 0)
		cr_skip("%s is not there", path);
	struct ran r =
	    run_tool((const char *const[]){ "stats", "-q", "--format", "json", path, NULL }, NULL, 0);
	expect_in(&r, "\"self_inexact\":0");
	expect_in(&r, "\"self_ns\":120000000,\"total_ns\":160000000}");
	ran_free(&r);
}

/* Of classes of one name without records, the first is shown. */
Test(info, classes_of_one_name)
{
	static const char trace[] =
	    "{\"type\":\"trace\",\"version\":1,\"tool\":\"t\",\"mode\":\"interpreted\",\"rebased\":false,"
	    "\"format\":\"tick\",\"dialect\":\"plain\",\"byte_order\":\"little\",\"clock\":\"monotonic\"}\n"
	    "{\"type\":\"class\",\"index\":0,\"name\":\"E\",\"category\":\"k\"}\n"
	    "{\"type\":\"class\",\"index\":1,\"name\":\"E\",\"category\":\"k\",\"fields\":["
	    "{\"name\":\"a\",\"type\":\"uint8_t\",\"value\":\"u8\",\"size\":1}]}\n"
	    "{\"type\":\"class\",\"index\":2,\"name\":\"F\",\"category\":\"k\"}\n"
	    "{\"type\":\"trace_end\",\"records\":0,\"events\":0,\"format\":\"tick\",\"dialect\":\"plain\","
	    "\"byte_order\":\"little\",\"clock\":\"monotonic\",\"losses\":{},\"args\":{}}\n";
	struct ran r =
	    run_tool((const char *const[]){ "info", "--format=json", "-", NULL }, trace, sizeof trace - 1);

	cr_expect_eq(r.status, 0, "%s", r.err);
	cr_expect_not_null(strstr(r.out, "\"classes\":[\n{\"name\":\"E\",\"records\":0,\"fields\":[]},\n"
	                                 "{\"name\":\"F\",\"records\":0,\"fields\":[]}]"),
	                   "%s", r.out);
	ran_free(&r);
}
