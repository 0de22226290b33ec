#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"
#include "test/support/format_aids.h"

#define SAMPLE "testdata/htdump/good/overlapping.htdump"

static struct ran convert(const char *in, const char *threads, bool raw)
{
	const char *const args[] = { "convert", "--quiet",   "--to",
		                     "ndjson",  "--threads", threads,
		                     in,        "-",         raw ? "--raw" : NULL,
		                     NULL };

	return run_tool(args, NULL, 0);
}

/* ---- any number of threads ---- */

static void expect_same_bytes(const char *path, bool raw)
{
	static const char *const threads[] = { "2", "7" };
	struct ran one = convert(path, "1", raw);

	cr_assert_eq(one.status, 0, "%s: status %d: %s", path, one.status, one.err);
	cr_expect_gt(one.out_n, 1U << 20, "%s: too little to need several batches", path);
	for (size_t i = 0; i < 2; i++) {
		struct ran many = convert(path, threads[i], raw);
		cr_expect(many.status == 0 && many.out_n == one.out_n &&
		              memcmp(many.out, one.out, one.out_n) == 0,
		          "%s: other bytes with %s threads", path, threads[i]);
		ran_free(&many);
	}
	ran_free(&one);
}

static void expect_same_of_input(const struct bench_input *in, const char *dir)
{
	char path[1024];

	snprintf(path, sizeof path, "%s/%s%s", dir, in->name, in->suffix);
	FILE *const f = fopen(path, "w");
	cr_assert(f != NULL && in->make(f, 30000) && fclose(f) == 0, "cannot make %s", path);
	expect_same_bytes(path, false);
	expect_same_bytes(path, true);
}

Test(ndjson_cli, any_number_of_threads_gives_the_same_bytes)
{
	char *const dir = make_folder();
	size_t n = 0;

	for (const struct format_aids *const *a = format_aids; *a != NULL; a++)
		for (const struct bench_input *in = (*a)->bench_inputs; in != NULL && in->name != NULL; in++)
			if (in->make != NULL && in->on_request == NULL) {
				expect_same_of_input(in, dir);
				n++;
			}
	cr_expect_geq(n, 5);
	remove_folder(dir);
}

/* ---- the command line ---- */

Test(ndjson_cli, the_name_of_the_output_tells_the_format)
{
	static const char *const names[] = { "a.ndjson", "a.jsonl", "a.ndjson.gz", "a.jsonl.zst" };
	char *const dir = make_folder(), path[1024];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		struct ran r = run_tool((const char *const[]){ "convert", SAMPLE, path, NULL }, NULL, 0);
		cr_expect_eq(r.status, 0, "%s: %s", names[i], r.err);
		cr_expect_eq(access(path, F_OK), 0, "%s", names[i]);
		ran_free(&r);
	}
	remove_folder(dir);
}

/* NDJSON keeps text that is not UTF-8 and NaN, which other outputs lose. */
Test(ndjson_cli, nothing_is_lost)
{
	static const char *const paths[] = { "testdata/htdump/bad/invalid-utf8.htdump",
		                             "testdata/htdump/good/odd-doubles.htdump",
		                             "testdata/heph/good/odd-floats.bin.log" };

	for (size_t i = 0; i < 3; i++) {
		struct ran all = run_tool(
		    (const char *const[]){ "convert", "--quiet", "--to", "ndjson", paths[i], "-", NULL },
		    NULL, 0);
		struct ran lossless = run_tool((const char *const[]){ "convert", "--fail-on-loss", "--quiet",
		                                                      "--to", "ndjson", paths[i], "-", NULL },
		                               NULL, 0);
		cr_expect_eq(all.status, lossless.status, "%s", paths[i]);
		cr_expect_not_null(strstr(all.out, "\"losses\":{}"), "%s", paths[i]);
		ran_free(&all);
		ran_free(&lossless);
	}
}

/* A pipe is read once, so times before its first event are negative. */
Test(ndjson_cli, times_below_0)
{
	static const char lines[] = "[\n{\"id\":1,\"name\":\"a\",\"cat\":\"c\",\"pid\":1,\"tid\":1,\"ts\":"
	                            "5000,\"dur\":1,\"ph\":\"X\"}\n"
	                            "{\"id\":2,\"name\":\"b\",\"cat\":\"c\",\"pid\":1,\"tid\":1,\"ts\":4000,"
	                            "\"dur\":1,\"ph\":\"X\"}\n]\n";
	struct ran r = run_tool((const char *const[]){ "convert", "--quiet", "--rebase", "--to", "ndjson",
	                                               "--from", "dftracer", "-", "-", NULL },
	                        lines, sizeof lines - 1);

	cr_expect_not_null(strstr(r.out, "\"rebased\":true"), "%s%s", r.out, r.err);
	cr_expect_not_null(strstr(r.out, "{\"kind\":\"span\",\"ts_ns\":0,\"dur_ns\":1000,\"name\":\"a\""),
	                   "%s", r.out);
	cr_expect_not_null(
	    strstr(r.out, "{\"kind\":\"span\",\"ts_ns\":-1000000,\"dur_ns\":1000,\"name\":\"b\""), "%s",
	    r.out);
	cr_expect_not_null(strstr(r.out, "\"rebased_by_ns\":5000000"), "%s", r.out);
	ran_free(&r);
}

/* ---- another program ---- */

Test(ndjson_cli, jq_reads_it)
{
	static const char query[] =
	    "select(.kind == \"span\") | \"\\(.name) \\(.ts_ns) \\(.dur_ns) \\(.tid) \\(.args.id)\"";
	char *const dir = make_folder(), path[1024];

	if (system("jq --version >/dev/null 2>&1") != 0) {
		remove_folder(dir);
		cr_skip_test("jq is not here");
	}
	snprintf(path, sizeof path, "%s/a.ndjson", dir);
	struct ran r = run_tool((const char *const[]){ "convert", SAMPLE, path, NULL }, NULL, 0);
	cr_assert_eq(r.status, 0, "%s", r.err);
	ran_free(&r);
	r = run_program((const char *const[]){ "jq", "-r", query, path, NULL }, NULL, 0);
	cr_expect_eq(r.status, 0, "%s", r.err);
	cr_expect(strncmp(r.out, "first 1000 1000 1 40\ncrosses first 1500 1000 1 41\n", 48) == 0, "%s",
	          r.out);
	ran_free(&r);
	r = run_program((const char *const[]){ "jq", "-s", "length", path, NULL }, NULL, 0);
	struct ran lines =
	    run_program((const char *const[]){ "sh", "-c", "grep -c . \"$0\"", path, NULL }, NULL, 0);
	cr_expect_str_eq(r.out, lines.out);
	ran_free(&lines);
	ran_free(&r);
	remove_folder(dir);
}

/* Very deep chains of tracks: a search for an ancestor is bounded. */
Test(ndjson_cli, tracks_below_tracks_are_bounded)
{
	enum { DEEP = 300 };
	char *const dir = make_folder(), path[1024];

	snprintf(path, sizeof path, "%s/deep.ndjson", dir);
	FILE *const f = fopen(path, "w");
	cr_assert_not_null(f);
	fputs("{\"type\":\"trace\",\"version\":1,\"tool\":\"t\",\"mode\":\"interpreted\",\"rebased\":false,"
	      "\"format\":\"tick\",\"clock\":\"monotonic\"}\n"
	      "{\"type\":\"class\",\"index\":0,\"name\":\"c\",\"category\":\"c\"}\n"
	      "{\"type\":\"track\",\"index\":0,\"kind\":\"process\",\"name\":\"p\",\"id\":7}\n",
	      f);
	for (int i = 1; i <= DEEP; i++)
		fprintf(
		    f,
		    "{\"type\":\"track\",\"index\":%d,\"kind\":\"thread\",\"name\":\"t%d\",\"id\":%d,"
		    "\"parent\":%d}\n"
		    "{\"kind\":\"instant\",\"ts_ns\":%d,\"name\":\"i\",\"class_index\":0,\"category\":\"c\","
		    "\"track_index\":%d,\"offset\":%d}\n",
		    i, i, i, i - 1, i, i, i);
	fprintf(f,
	        "{\"type\":\"trace_end\",\"records\":%d,\"events\":%d,\"format\":\"tick\","
	        "\"clock\":\"monotonic\",\"losses\":{}}\n",
	        DEEP, DEEP);
	cr_assert_eq(fclose(f), 0);
	struct ran r = run_tool((const char *const[]){ "stats", "--format", "json", path, NULL }, NULL, 0);
	cr_expect_eq(r.status, 1);
	cr_expect_not_null(strstr(r.err, "below more than 64 others"), "%s", r.err);
	cr_expect_not_null(strstr(r.err, "216 more"), "236 tracks, of which 20 are listed: %s", r.err);
	cr_expect_not_null(strstr(r.out, "\"events\":300,"), "%s", r.out);
	ran_free(&r);
	r = run_tool((const char *const[]){ "convert", "-q", "--to", "ndjson", path, "-", NULL }, NULL, 0);
	cr_expect_not_null(strstr(r.out, "\"name\":\"t64\",\"id\":64,\"parent\":63}"), "%s", r.out);
	cr_expect_not_null(strstr(r.out, "\"name\":\"t65\",\"id\":65,\"parent\":63}"), "%s", r.out);
	cr_expect_not_null(strstr(r.out, "\"name\":\"t300\",\"id\":300,\"parent\":63}"), "%s", r.out);
	ran_free(&r);
	remove_folder(dir);
}
