/* The queries of the manual page, extracted from it. */
#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"
#include "output/text.h"

#define PAGE "man/tracetool-sqlite.5"
#define BEGIN ".Bd -literal -offset indent\n"

enum { TIMES, P99, GAPS, OPENS, WAKES, TREE, QUERIES };

/* Extracts the queries.  The caller frees each. */
static void read_queries(char *queries[QUERIES])
{
	size_t n;
	char *const page = read_whole(PAGE, &n);
	unsigned found = 0;

	cr_assert_not_null(page);
	char *at = strstr(page, ".Ss Queries\n"), *end;
	cr_assert_not_null(at);
	char *const stop = strstr(at, "\n.Sh ");
	cr_assert_not_null(stop);
	while ((at = strstr(at, BEGIN)) != NULL && at < stop) {
		at += sizeof BEGIN - 1;
		cr_assert_not_null(end = strstr(at, ".Ed\n"));
		cr_assert_lt(found, (unsigned)QUERIES, "another query: test it here");
		queries[found++] = strndup(at, (size_t)(end - at));
		cr_assert_null(strchr(queries[found - 1], '\\'), "escapes are not undone here");
		at = end;
	}
	cr_assert_eq(found, (unsigned)QUERIES);
	free(page);
}

/* Returns the rows as lines, with '|' between cells.  The caller frees the text. */
static char *run_query(const char *path, const char *query)
{
	struct text t = { .p = NULL };
	sqlite3_stmt *row = NULL;
	sqlite3 *db = NULL;
	int code;

	cr_assert_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK, "%s", path);
	cr_assert_eq(sqlite3_prepare_v2(db, query, -1, &row, NULL), SQLITE_OK, "%s: %s", query,
	             sqlite3_errmsg(db));
	while ((code = sqlite3_step(row)) == SQLITE_ROW)
		for (int i = 0; i < sqlite3_column_count(row); i++) {
			const char *const cell = (const char *)sqlite3_column_text(row, i);
			text_printf(&t, "%s%s", cell != NULL ? cell : "NULL",
			            i + 1 < sqlite3_column_count(row) ? "|" : "\n");
		}
	cr_expect_eq(code, SQLITE_DONE, "%s: %s", query, sqlite3_errmsg(db));
	sqlite3_finalize(row);
	sqlite3_close(db);
	text_char(&t, '\0');
	cr_assert_not(t.failed);
	return t.p;
}

static void expect_rows(const char *path, const char *query, const char *want)
{
	char *const got = run_query(path, query);

	cr_expect_str_eq(got, want, "%s: %s", query, got);
	free(got);
}

static void convert_to(const char *input, const char *path)
{
	struct ran r = run_tool((const char *const[]){ "convert", "-qf", input, path, NULL }, NULL, 0);

	cr_assert_lt(r.status, 2, "%s: %s", input, r.err);
	ran_free(&r);
}

/* Returns the query with a part replaced.  The caller frees it. */
static char *replace_part(const char *query, const char *part, const char *other)
{
	const char *const at = strstr(query, part);
	struct text t = { .p = NULL };

	cr_assert_not_null(at, "%s: %s", part, query);
	text_printf(&t, "%.*s%s%s", (int)(at - query), query, other, at + strlen(part));
	text_char(&t, '\0');
	return t.p;
}

static void expect_with(const char *path, const char *query, const char *part, const char *other,
                        const char *want)
{
	char *const changed = replace_part(query, part, other);

	expect_rows(path, changed, want);
	free(changed);
}

static void expect_answers(char *const queries[QUERIES], const char *path)
{
	convert_to("testdata/htdump/good/wire-little.htdump", path);
	expect_rows(path, queries[TIMES], "frame|4|2800|1800\ndraw|4|1000|1000\n");
	expect_rows(path, queries[P99], "700\n"); /* all have the same duration */
	expect_rows(path, queries[GAPS], "thread 1|1302\nthread 2|1302\n");
	expect_rows(path, queries[TREE], "frame|700\n draw|250\n");
	expect_rows(path, queries[OPENS], "");
	expect_rows(path, queries[WAKES], "");
	convert_to("testdata/dftracer/good/sound.pfw", path);
	expect_with(path, queries[OPENS], "'open64' GROUP BY 1 HAVING count(*) > 100",
	            "'read' GROUP BY 1 HAVING count(*) > 0", "/data/a|1\n");
}

/* Lives of tasks are not time of a thread, and not gaps between its spans. */
static void expect_async_apart(char *const queries[QUERIES], const char *path)
{
	static const char real[] = "../shared/traces/dial9/metrics-service.bin";

	if (access(real, R_OK) != 0)
		return;
	convert_to(real, path);
	char *const times = run_query(path, queries[TIMES]), *const gaps = run_query(path, queries[GAPS]);
	cr_expect_eq(strncmp(times, "parked|4990|6765275869|6765275869\n", 34), 0, "%s", times);
	cr_expect_str_eq(gaps, "worker 0|948495\nworker 1|154081\n", "%s", gaps);
	expect_rows(path, queries[WAKES], "wake|31810|292185.254196793|76421589\n");
	free(times);
	free(gaps);
}

Test(sqlite_queries, of_the_manual_page_give_what_it_says)
{
	char *queries[QUERIES], *const dir = make_folder(), path[1024];

	snprintf(path, sizeof path, "%s/a.db", dir);
	read_queries(queries);
	expect_answers(queries, path);
	expect_async_apart(queries, path);
	for (unsigned i = 0; i < QUERIES; i++)
		free(queries[i]);
	remove_folder(dir);
}

/* Truth values and numbers of JSON are series, with their digits where SQLite has no such number. */
Test(sqlite_queries, series_of_a_counter)
{
	char *const dir = make_folder(), input[1024], path[1024];

	snprintf(input, sizeof input, "%s/a.json", dir);
	snprintf(path, sizeof path, "%s/a.db", dir);
	FILE *const f = fopen(input, "w");
	cr_assert_not_null(f);
	fputs("[{\"name\":\"c\",\"ph\":\"C\",\"ts\":5,\"pid\":1,\"args\":{\"a\":true,\"b\":1.5,"
	      "\"c\":18446744073709551617,\"d\":1e999,\"e\":7,\"t\":\"x\"}}]",
	      f);
	cr_assert_eq(fclose(f), 0);
	convert_to(input, path);
	expect_rows(path, "SELECT s.text, typeof(value), value FROM counter JOIN string s ON s.id = series",
	            "a|integer|1\nb|real|1.5\nc|text|18446744073709551617\nd|text|1e999\ne|integer|7\n");
	remove_folder(dir);
}
