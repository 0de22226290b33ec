/* The program on .pfw samples and real traces: findings, conversion, statistics, vocabularies. */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "cmd/test/samples_test_util.h"
#include "dftracer/test/cli_test_util.h"

/* ---- findings of samples ---- */

#define GOOD "testdata/dftracer/good"
#define BAD "testdata/dftracer/bad"

static const struct samples samples = { .suffix = ".pfw", .dialect = true, .records = true, .lines = true };

Test(dftracer_cli, good_samples)
{
	expect_samples(&samples, GOOD);
}

Test(dftracer_cli, bad_samples)
{
	expect_samples(&samples, BAD);
}

/* Rules that no small file can provoke, with the test that does. */
static const char *const elsewhere[] = {
	"dftracer/hash-late",       /* dftracer_cli: on a pipe */
	"dftracer/limit",           /* dftracer_limits: files of some MB */
	"dftracer/record-too-long", /* dftracer_limits: likewise */
	"dftracer/thread-limit",    /* dftracer_limits: likewise */
	NULL,
};

Test(dftracer_rules, every_rule_has_a_sample)
{
	expect_samples_of_rules("dftracer", elsewhere);
}

/* ---- conversion of samples ---- */

static struct ran convert(const char *path, const char *option)
{
	struct ran r =
	    run_tool((const char *const[]){ "convert", "--to", "chrome", path, "-", option, NULL }, NULL, 0);
	cJSON *const json = cJSON_ParseWithLength(r.out, r.out_n);

	cr_expect_not_null(json, "%s: not JSON", path);
	cJSON_Delete(json);
	return r;
}

/* Expects each of these texts in the output. */
static void expect_words(const char *path, int status, const char *const *words)
{
	struct ran r = convert(path, NULL);

	cr_expect_eq(r.status, status, "%s: exit status %d: %s", path, r.status, r.err);
	for (; *words != NULL; words++)
		cr_expect_not_null(strstr(r.out, *words), "%s: no %s in:\n%s", path, *words, r.out);
	ran_free(&r);
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

Test(dftracer_cli, repairs)
{
	expect_words(BAD "/unescaped-quote.pfw", 1, WORDS("\"text\":\"say \\\"hi\\\"\"", "\"ret\":1"));
	expect_words(BAD "/bad-escape.pfw", 1, WORDS("\"path\":\"C:\\\\data\\\\x\""));
	expect_words(BAD "/unescaped-backslash.pfw", 1,
	             WORDS("\"name\":\"dir\\\\\"", "\"path\":\"C:\\\\\",\"ret\":1", "\"path\":\"D:\\\\\"}"));
	expect_words(BAD "/control-byte.pfw", 1, WORDS("\"text\":\"bell\\u0007\""));
	expect_words(BAD "/raw-tab.pfw", 1, WORDS("\"text\":\"a\\tb\""));
	expect_words(BAD "/invalid-utf8.pfw", 1, WORDS("\"name\":\"na\xef\xbf\xbdve\""));
	expect_words(BAD "/nan-and-inf.pfw", 1, WORDS("\"x\":\"NaN\"", "\"x\":\"-Infinity\"", "\"y\":1e+06"));
	expect_words(BAD "/comma-in-args.pfw", 1, WORDS("\"name\":\"last\"", "\"hostname\":\"node1\"}"));
	expect_words(BAD "/bad-value.pfw", 1, WORDS("\"x\":\"007\",\"y\":\"None\""));
	expect_words(BAD "/duplicate-key.pfw", 0, WORDS("\"step\":1,\"step (2)\":2,\"step (3)\":3"));
	expect_words(BAD "/nul-in-a-text.pfw", 1, WORDS("\"path\":\"a\\u0000b\""));
	expect_words(BAD "/two-records.pfw", 1,
	             WORDS("\"name\":\"open\"", "\"name\":\"read\"", "\"name\":\"close\""));
	expect_words(BAD "/cut-and-whole.pfw", 1, WORDS("\"name\":\"read\"", "\"name\":\"close\""));
	expect_words(BAD "/missing-dur.pfw", 1, WORDS("\"name\":\"x\",\"cat\":\"POSIX\",\"ph\":\"i\""));
	expect_words(
	    GOOD "/non-ascii.pfw", 0,
	    WORDS("\"name\":\"\xe6\x89\x93\xe5\xbc\x80\"", "\"note\":\"na\xc3\xafve \xf0\x9f\x98\x80\""));
}

Test(dftracer_cli, dialects_as_events)
{
	expect_words(GOOD "/d1.pfw", 0,
	             WORDS("\"ts\":1698080323775510.000,\"dur\":141.000,\"pid\":1338896,\"tid\":2677792",
	                   "\"ret\":18,\"mode\":\"r\"", "\"ret\":\"3276800\""));
	expect_words(GOOD "/d3.pfw", 0,
	             WORDS("\"ret\":\"9223372036854775807\"", "\"offset\":\"18446744073709551615\"",
	                   "\"fname\":\"/data/a\"", "\"exec\":\"./sim\""));
	expect_words(GOOD "/d4.pfw", 0,
	             WORDS("\"ph\":\"C\"", "\"args\":{\"user_pct\":12.5,\"idle_pct\":1e+01}",
	                   "\"name\":\"Rank 3 (node1)\"", "\"cwd\":\"/home/u\"",
	                   "\"shape\":{\"x\":[1,2,{\"y\":null}],\"ok\":true},\"loss\":0.25",
	                   "\"dft_cnt\":12,\"dur_sum\":480"));
	expect_words(GOOD "/d5.pfw", 0,
	             WORDS("\"ts\":1780000000000001.001,\"dur\":0.999",
	                   "\"relations\":{\"used\":[\"00000000000000aa\"],\"generated\":[]}", "\"type\":3"));
	expect_words(GOOD "/merged.pfw", 0,
	             WORDS("\"ts\":1750000000000000.000,\"dur\":2000000.000",
	                   "\"ts\":1750000000000001.000,\"dur\":2.000", "\"process 1 (node-a)\"",
	                   "\"process 1 (node-b)\"", "\"fname\":\"/late\""));
	expect_words(GOOD "/aggregated.pfw", 0,
	             WORDS("\"id\":\"7:8:read\"", "\"ph\":\"i\"", "\"dur\":{\"sum\":12,\"avg\":1.5}"));
	expect_words(GOOD "/rewritten.pfw", 0,
	             WORDS("\"name\":\"say \\\"hi\\\"\"", "\"text\":\"tab\\tand \\\\ and \\u00e9\"",
	                   "\"list\":[1, 2.5, -3e-2, [], {}, \"\\n\"]",
	                   "\"none\":null,\"yes\":true,\"no\":false",
	                   "\"hostname\":\"node1 \\\"\xf0\x9f\x98\x80\\\"\""));
}

Test(dftracer_cli, keep_ids)
{
	struct ran r = convert(GOOD "/d3.pfw", "--keep-hashes");

	cr_expect_not_null(strstr(r.out, "\"fname\":\"/data/a\",\"fhash\":\"9007199254740995\""));
	cr_expect_not_null(strstr(r.out, "\"hhash\":\"18446744073709551557\""));
	ran_free(&r);
}

/* On a pipe, names defined after their use remain numbers, with a warning; in a file they are found. */
Test(dftracer_cli, late_names_on_a_pipe)
{
	size_t n;
	char *const p = read_whole(GOOD "/merged.pfw", &n);
	struct ran r = run_tool((const char *const[]){ "convert", "--to", "chrome", "-", "-", NULL }, p, n);

	cr_expect_eq(r.status, 0, "%s", r.err);
	cr_expect_not_null(strstr(r.out, "\"fhash\":\"00000000000000ff\""));
	cr_expect_str_eq(r.err, "tracetool: 1 warning in the input: tracetool validate - lists it\n");
	ran_free(&r);
	free(p);
}

/* Records before the damage of a packed stream are kept. */
Test(dftracer_cli, cut_gzip)
{
	size_t packed, used = 0;
	char text[60000];

	for (unsigned i = 0; used < sizeof text - 200; i++)
		used += (size_t)snprintf(text + used, sizeof text - used,
		                         "{\"id\":%u,\"name\":\"x%u\",\"cat\":\"POSIX\",\"pid\":7,\"tid\":8,"
		                         "\"ts\":%u,\"dur\":1,\"ph\":\"X\",\"args\":{}}\n",
		                         i, i * 7919, i);
	unsigned char *const z = gzip_copy(text, used, &packed);
	struct ran r = validate_json("-", z, packed / 2);
	char *const got = findings_text(&samples, &r, true, NULL, "cut gzip");
	unsigned records = 0;
	cr_expect_eq(r.status, 1);
	cr_expect_not_null(strstr(got, "input/packed-cut"), "%s", got);
	cr_assert_eq(sscanf(strstr(got, "records"), "records %u", &records), 1);
	cr_expect(records > 100, "%s", got);
	free(got);
	ran_free(&r);
	z[packed - 6] ^= 1;
	r = validate_json("-", z, packed);
	cr_expect_eq(r.status, 1);
	cr_expect_not_null(strstr(r.out, "input/packed-corrupt"), "%s", r.out);
	ran_free(&r);
	free(z);
}

Test(dftracer_cli, info_names_the_dialect)
{
	struct ran r = run_tool((const char *const[]){ "info", GOOD "/d3.pfw", NULL }, NULL, 0);

	cr_expect_eq(r.status, 0);
	cr_expect_not_null(strstr(r.out, "dialect d3"), "%s", r.out);
	cr_expect_not_null(strstr(r.out, "start.version: 100008"), "%s", r.out);
	cr_expect_not_null(strstr(r.out, "start.exec_hash: \"./sim\""), "%s", r.out);
	ran_free(&r);
}

/* The files of a folder are one trace: a process that continues in the second file is one process. */
Test(dftracer_cli, a_folder_is_one_trace)
{
	static const char a[] = "{\"id\":1,\"name\":\"open\",\"cat\":\"P\",\"pid\":7,\"tid\":8,\"ts\":10,"
	                        "\"dur\":1,\"ph\":\"X\",\"args\":{\"hostname\":\"n\"}}\n";
	static const char b[] = "{\"id\":2,\"name\":\"read\",\"cat\":\"P\",\"pid\":7,\"tid\":8,\"ts\":20,"
	                        "\"dur\":1,\"ph\":\"X\",\"args\":{\"hostname\":\"n\"}}\n"
	                        "{\"id\":1,\"name\":\"read\",\"cat\":\"P\",\"pid\":7,\"tid\":8,\"ts\":20,"
	                        "\"dur\":1,\"ph\":\"X\",\"args\":{\"hostname\":\"m\"}}\n";
	char *const dir = make_folder(), path[600];
	size_t packed;
	void *const z = gzip_copy(b, sizeof b - 1, &packed);

	snprintf(path, sizeof path, "%s/run-1.pfw", dir);
	cr_assert(write_whole(path, a, sizeof a - 1));
	snprintf(path, sizeof path, "%s/run-2.pfw.gz", dir);
	cr_assert(write_whole(path, z, packed));
	struct ran r =
	    run_tool((const char *const[]){ "convert", "--to", "chrome", dir, "-", NULL }, NULL, 0);
	cr_expect_eq(r.status, 0, "%s", r.err);
	const char *const first = strstr(r.out, "\"name\":\"process 7 (n)\""),
	                  *const other = strstr(r.out, "\"name\":\"process 7 (m)\"");
	cr_assert(first != NULL && other != NULL, "%s", r.out);
	cr_expect_null(strstr(first + 1, "\"name\":\"process 7 (n)\""), "%s", r.out);
	cr_expect_not_null(strstr(r.out, "\"name\":\"open\""));
	ran_free(&r);
	r = run_tool((const char *const[]){ "stats", dir, NULL }, NULL, 0);
	cr_expect_eq(r.status, 0, "%s", r.err);
	cr_expect_not_null(strstr(r.out, "3 events"), "%s", r.out);
	ran_free(&r);
	free(z);
	remove_folder(dir);
}

/* ---- vocabularies of users: a class is a category of records ---- */

static struct ran with_rules(const char *command, const char *sample, const char *rules)
{
	char *const dir = make_folder();
	char path[1024], text[1024];

	snprintf(path, sizeof path, "%s/own.yaml", dir);
	snprintf(text, sizeof text, "format: dftracer\n%s", rules);
	cr_assert(write_whole(path, text, strlen(text)));
	const bool convert = strcmp(command, "convert") == 0;
	const char *const args[] = { command, "--vocabulary", path, sample, convert ? "-" : NULL,
		                     "--to",  "chrome",       NULL };
	struct ran r = run_tool(args, NULL, 0);
	cr_expect_eq(r.status, 0, "%s", r.err);
	remove_folder(dir);
	return r;
}

Test(dftracer_schema, named_by_an_argument)
{
	struct ran r =
	    with_rules("stats", "testdata/dftracer/good/d2.pfw",
	               "events:\n  - {event: POSIX, named: open, name: \"open of {size} bytes\"}\n");

	cr_expect_not_null(strstr(r.out, "open of 512 bytes"), "%s%s", r.out, r.err);
	ran_free(&r);
}

/* Without the vocabulary: "process 31 (node1)" and "thread 4711". */
Test(dftracer_schema, names_of_processes_and_threads)
{
	struct ran r = with_rules("convert", "testdata/dftracer/good/d0.pfw",
	                          "tracks: {process: \"rank {id}\", thread: \"T{id}\"}\nevents: []\n");

	cr_expect_not_null(strstr(r.out, "\"args\":{\"name\":\"rank 31 (node1)\"}"), "%.2000s%s", r.out,
	                   r.err);
	cr_expect_not_null(strstr(r.out, "\"args\":{\"name\":\"T4711\"}"), "%.2000s", r.out);
	ran_free(&r);
}

/* ---- statistics of real traces ---- */

/* Times have more bits than a double: they are compared as text. */
static void expect_raw(const char *report, const char *text, const char *key)
{
	char got[40], expected[40];

	raw_value(report, key, got, sizeof got);
	raw_value(text, key, expected, sizeof expected);
	expected[strcspn(expected, "\n ")] = '\0';
	cr_expect_str_eq(got, expected, "%s", key);
}

static void expect_stats(const char *dir, const cJSON *want, const char *text)
{
	char path[1024];
	const cJSON *row, *name;
	uint64_t spans = 0, sum = 0;

	snprintf(path, sizeof path, "%s/%s", dir, want->string);
	struct ran r = run_tool((const char *const[]){ "stats", "--format", "json", path, NULL }, NULL, 0);
	cr_assert_eq(r.status, 0, "%s: exit status %d: %s", path, r.status, r.err);
	cJSON *const report = cJSON_ParseWithLength(r.out, r.out_n);
	const cJSON *const in = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(report, "inputs"), 0);
	const cJSON *const rows = cJSON_GetObjectItemCaseSensitive(in, "spans");
	cJSON_ArrayForEach(row, rows)
	{
		spans += number_at(row, "count");
		sum += number_at(cJSON_GetObjectItemCaseSensitive(row, "dur_ns"), "sum");
	}
	cr_expect_eq(spans, number_at(want, "events"), "%s", path);
	cr_expect_eq(sum, number_at(want, "dur_sum_ns"), "%s", path);
	cJSON_ArrayForEach(name, cJSON_GetObjectItemCaseSensitive(want, "names"))
	{
		uint64_t count = 0;
		cJSON_ArrayForEach(row, rows)
		{
			count +=
			    strcmp(text_of(row, "name"), name->string) == 0 ? number_at(row, "count") : 0;
		}
		cr_expect_eq(count, (uint64_t)name->valuedouble, "%s: %s", path, name->string);
	}
	expect_raw(r.out, strstr(text, want->string), "first_ns");
	expect_raw(r.out, strstr(text, want->string), "last_ns");
	cJSON_Delete(report);
	ran_free(&r);
}

Test(dftracer_stats, agrees_with_expected)
{
	cr_expect_gt(each_expected(real_traces(), "dftracer/", expect_stats), 0);
}

/* Times with fractions are findings, and exact. */
Test(dftracer_cli, times_with_fractions)
{
	static const char trace[] =
	    "[\n{\"id\":1,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":1,\"tid\":2,\"ts\":10.5,"
	    "\"dur\":2.25,\"ph\":\"X\",\"args\":{}}\n";
	struct ran r = run_tool((const char *const[]){ "cat", "-", NULL }, trace, sizeof trace - 1);

	cr_expect_not_null(strstr(r.out, " span POSIX ts=10500 dur=2250 "), "%s", r.out);
	cr_expect_not_null(strstr(r.err, "ts is a number with a fraction (\"10.5\")"), "%s", r.err);
	ran_free(&r);
}

/* A bracket opens the file, once, before all records. */
Test(dftracer_cli, brackets_that_open_again)
{
#define RECORD                                                                                               \
	"{\"id\":1,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":1,\"tid\":2,\"ts\":10,\"dur\":2,\"ph\":"      \
	"\"X\",\"args\":{}}\n"
	static const char *const traces[] = { "[\n[\n" RECORD, RECORD "[\n" RECORD };
#undef RECORD

	for (size_t i = 0; i < 2; i++) {
		struct ran r =
		    run_tool((const char *const[]){ "validate", "-", NULL }, traces[i], strlen(traces[i]));
		cr_expect_not_null(strstr(r.out, "opening [ between records"), "%s", r.out);
		ran_free(&r);
	}
}
