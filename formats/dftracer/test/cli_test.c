/* The program on every .pfw sample: what it finds and keeps, by whichever way the bytes come. */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"

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

/* ---- what converting makes of them ---- */

static struct ran convert(const char *path, const char *option)
{
	struct ran r =
	    run_tool((const char *const[]){ "convert", "--to", "chrome", path, "-", option, NULL }, NULL, 0);
	cJSON *const json = cJSON_ParseWithLength(r.out, r.out_n);

	cr_expect_not_null(json, "%s: not JSON", path);
	cJSON_Delete(json);
	return r;
}

/* Each of these texts stands in what comes out. */
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

/* On a pipe names that come late stay numbers, and that is said; in a file they are found. */
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

/* What the packed stream holds before it goes wrong is kept. */
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

/* The files of a folder are one trace: a process that goes on in the second file is one process. */
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
