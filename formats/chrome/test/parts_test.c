/* Each part of a folder opens by itself, and together they contain each event once. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "test/fuzz/strict_json.h"

struct lines {
	char **list;
	size_t n;
};

static bool is_event(const char *line)
{
	return strstr(line, "\"ph\":\"") != NULL && strstr(line, "\"ph\":\"M\"") == NULL;
}

/* Returns the lines of events without their commas. */
static void take_events(struct lines *l, char *text)
{
	for (char *save = NULL, *p = strtok_r(text, "\n", &save); p != NULL;
	     p = strtok_r(NULL, "\n", &save)) {
		const size_t n = strlen(p);
		if (!is_event(p))
			continue;
		l->list = realloc(l->list, (l->n + 1) * sizeof *l->list);
		cr_assert_not_null(l->list);
		l->list[l->n++] = strndup(p, p[n - 1] == ',' ? n - 1 : n);
	}
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void free_lines(struct lines *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->list[i]);
	free(l->list);
}

/* Whether the part names the thread of the event. */
static void expect_named(const char *text, const char *event)
{
	const char *const pid = strstr(event, ",\"pid\":"), *const tid = strstr(pid, ",\"tid\":");
	const size_t n = strcspn(tid + 7, ",}");
	char want[200];

	(void)snprintf(want, sizeof want, "{\"name\":\"thread_name\",\"ph\":\"M\"%.*s,\"args\":{\"name\":",
	               (int)(tid + 7 + n - pid), pid);
	cr_expect_not_null(strstr(text, want), "%s has no name in the part", want);
}

static void take_part(struct lines *l, const char *path, size_t size)
{
	size_t n, at = 0;
	char *const text = read_whole(path, &n), *const copy = strdup(text);
	const char *const why = strict_json_fault(text, n, &at);
	const size_t from = l->n;

	cr_expect_null(why, "%s: byte %zu: %s", path, at, why);
	cr_expect_not_null(strstr(text, "\n\"parts\":"));
	cr_expect_not_null(strstr(text, "\n\"format\":\"heph\""));
	take_events(l, copy);
	for (size_t i = from; i < l->n; i++)
		expect_named(text, l->list[i]);
	const char *const last = l->n > from ? strstr(text, l->list[l->n - 1]) : NULL;
	cr_assert_not_null(last, "%s has no event", path);
	if (l->n > from + 1) /* plus the lines of names */
		cr_expect_leq((size_t)(last - text), size + 400, "%s", path);
	free(copy);
	free(text);
}

static const char sample[] = "testdata/heph/good/mixed.bin.log";

static size_t convert_parts(struct lines *l, const char *dir, const char *size, const char *threads)
{
	char out[512], path[1024];
	size_t n = 0;

	(void)snprintf(out, sizeof out, "%s/x%s.json.d", dir, threads);
	struct ran r = run_tool((const char *const[]){ "convert", "-q", "--lanes=off", "--threads", threads,
	                                               "--part-size", size, sample, out, NULL },
	                        NULL, 0);
	cr_assert_eq(r.status, 0, "%s", r.err);
	ran_free(&r);
	char **const names = list_folder(out, ".json");
	for (; names[n] != NULL; n++) {
		(void)snprintf(path, sizeof path, "part-%05zu.json", n);
		cr_expect_str_eq(names[n], path);
		(void)snprintf(path, sizeof path, "%s/%s", out, names[n]);
		take_part(l, path, strtoull(size, NULL, 10));
	}
	list_free(names);
	return n;
}

Test(chrome_parts, hold_each_event_once)
{
	char *const dir = make_folder();
	struct lines parts = { .list = NULL }, again = { .list = NULL }, whole = { .list = NULL };
	struct ran r = run_tool(
	    (const char *const[]){ "convert", "-q", "--lanes=off", "--to", "chrome", sample, "-", NULL },
	    NULL, 0);

	take_events(&whole, r.out);
	ran_free(&r);
	cr_expect_gt(convert_parts(&parts, dir, "1024", "1"), 2);
	convert_parts(&again, dir, "1024", "4");
	cr_assert_eq(parts.n, again.n);
	for (size_t i = 0; i < parts.n; i++)
		cr_expect_str_eq(parts.list[i], again.list[i]);
	cr_assert_eq(parts.n, whole.n);
	qsort(parts.list, parts.n, sizeof *parts.list, compare);
	qsort(whole.list, whole.n, sizeof *whole.list, compare);
	for (size_t i = 0; i < whole.n; i++)
		cr_expect_str_eq(parts.list[i], whole.list[i]);
	free_lines(&parts);
	free_lines(&again);
	free_lines(&whole);
	remove_folder(dir);
}

/* A trace without events is one valid part. */
Test(chrome_parts, of_nothing)
{
	char *const dir = make_folder(), out[512], path[1024];
	size_t n, at = 0;

	(void)snprintf(out, sizeof out, "%s/x.json.d", dir);
	struct ran r =
	    run_tool((const char *const[]){ "convert", "-q", "testdata/htdump/good/only-endianness.htdump",
	                                    out, NULL },
	             NULL, 0);
	cr_expect_eq(r.status, 0, "%s", r.err);
	(void)snprintf(path, sizeof path, "%s/part-00000.json", out);
	char *const text = read_whole(path, &n);
	cr_assert_not_null(text);
	cr_expect_null(strict_json_fault(text, n, &at), "%s", text);
	free(text);
	ran_free(&r);
	remove_folder(dir);
}

static void expect_mistake(const char *const *args, const char *says)
{
	expect_ran(run_tool(args, NULL, 0), 3, says);
}

Test(chrome_parts, mistakes_in_options)
{
	expect_mistake((const char *const[]){ "convert", "--part-size", "1023", sample, "x.json.d", NULL },
	               "--part-size takes a number of bytes, at least 1024");
	expect_mistake((const char *const[]){ "convert", "--split", "size=9999", sample, "x.json", NULL },
	               "the output has to be in the input's format");
	expect_mistake((const char *const[]){ "convert", "--ids", sample, "x.csv", NULL },
	               "--ids is for outputs in format chrome, chrome-dir, not csv");
	expect_mistake((const char *const[]){ "stats", "--ids", sample, NULL }, "has no option --ids");
	expect_mistake((const char *const[]){ "convert", "--to", "chrome-dir", sample, "-", NULL },
	               "is a directory of files");
}
