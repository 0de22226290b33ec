#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/test/cli_test_util.h"
#include "parquet/test/oracle_test.h"

/* What a user sees: files, statuses and messages, over the samples. */

static size_t count_lines(const struct ran *r, const char *word)
{
	size_t n = 0;

	for (const char *p = r->out; (p = strstr(p, word)) != NULL; p++)
		n++;
	return n;
}

/* Compares the number of rows with the number of events in NDJSON. */
static void expect_events(const char *input, const char *path)
{
	struct ran r =
	    run_tool((const char *const[]){ "convert", "-q", "--to", "ndjson", input, "-", NULL }, NULL, 0);
	size_t n, events = 0;
	char *const bytes = read_whole(path, &n);
	static const char *const kinds[] = { "span",    "async",    "begin",   "end",      "instant",
		                             "counter", "flow_out", "flow_in", "flow_step" };
	struct pq_file f;

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		char word[64];
		(void)snprintf(word, sizeof word, "\n{\"kind\":\"%s\"", kinds[i]);
		events += count_lines(&r, word);
	}
	cr_assert_not_null(bytes, "%s", path);
	cr_expect(pq_read(&f, bytes, n), "%s: %s", input, f.error);
	cr_expect_eq(f.rows, events, "%s: %" PRIu64 " rows, %zu events", input, f.rows, events);
	pq_free(&f);
	free(bytes);
	ran_free(&r);
}

Test(parquet_cli, samples)
{
	static const char find[] = "find testdata/*/good -maxdepth 1 -type f ! -name '*.expect' | sort | "
	                           "awk 'NR % 7 == 1'";
	struct ran list = run_program((const char *const[]){ "sh", "-c", find, NULL }, NULL, 0);
	char *const dir = make_folder(), path[1024];
	size_t n = 0;

	(void)snprintf(path, sizeof path, "%s/a.parquet", dir);
	for (char *p = list.out, *stop; (stop = strchr(p, '\n')) != NULL; p = stop + 1, n++) {
		*stop = '\0';
		struct ran r = run_tool((const char *const[]){ "convert", "-qf", p, path, NULL }, NULL, 0);
		if (r.status < 2)
			expect_events(p, path);
		ran_free(&r);
	}
	cr_expect_gt(n, 10);
	ran_free(&list);
	remove_folder(dir);
}

static const char sample[] = "testdata/dftracer/good/sound.pfw";

/* A directory has the parts, and the list by which it may be replaced. */
Test(parquet_cli, parts)
{
	char *const dir = make_folder(), path[1024], part[1100];

	(void)snprintf(path, sizeof path, "%s/a.parquet.d", dir);
	(void)snprintf(part, sizeof part, "%s/part-00000.parquet", path);
	for (int i = 0; i < 2; i++) {
		struct ran r = run_tool(
		    (const char *const[]){ "convert", "-f", "--column", "fname", sample, path, NULL }, NULL,
		    0);
		cr_expect_eq(r.status, 0, "%s", r.err);
		ran_free(&r);
		expect_events(sample, part);
	}
	remove_folder(dir);
}
