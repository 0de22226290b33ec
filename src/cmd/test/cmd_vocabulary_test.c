/* What a vocabulary makes of traces, as a user sees it: begins and ends in two files, and where reading stops
 * early. */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"

#define OPENS                                                                                                \
	"{\"id\":1,\"name\":\"work\",\"cat\":\"c\",\"pid\":1,\"tid\":%d,\"ts\":%d,\"dur\":0,\"ph\":\"X\","   \
	"\"args\":{\"n\":%d}}\n"
#define CLOSES                                                                                               \
	"{\"id\":2,\"name\":\"done\",\"cat\":\"c\",\"pid\":1,\"tid\":%d,\"ts\":%d,\"dur\":0,\"ph\":\"X\","   \
	"\"args\":{\"n\":%d}}\n"

static const char schema[] = "format: dftracer\n"
                             "events:\n"
                             "  - {match: \"*\", named: work, phase: begin, pair: w, name: \"work {n}\"}\n"
                             "  - {match: \"*\", named: done, phase: end, pair: w}\n";

struct folder {
	char *dir;
	char schema[256], first[256], second[256], out[256];
};

static void put(char *path, const char *dir, const char *name, const char *text)
{
	snprintf(path, 256, "%s/%s", dir, name);
	cr_assert(write_whole(path, text, strlen(text)));
}

static void folder_make(struct folder *f)
{
	char text[2048];
	int n;

	f->dir = make_folder();
	put(f->schema, f->dir, "mine.yaml", schema);
	n = snprintf(text, sizeof text, "[\n" OPENS OPENS OPENS CLOSES, 1, 10, 5, 1, 20, 6, 2, 25, 7, 1, 30,
	             6);
	cr_assert(n > 0);
	put(f->first, f->dir, "a.pfw", text);
	n = snprintf(text, sizeof text, "[\n" CLOSES CLOSES, 1, 50, 9, 1, 60, 9);
	cr_assert(n > 0);
	put(f->second, f->dir, "b.pfw", text);
	snprintf(f->out, sizeof f->out, "%s/out.json", f->dir);
}

/* The which-th event of a name, from 0 on; or NULL. */
static const cJSON *nth(const cJSON *root, const char *name, int which)
{
	const cJSON *e;

	cJSON_ArrayForEach(
	    e,
	    cJSON_GetObjectItemCaseSensitive(
	        root,
	        "traceEvents")) if (strcmp(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(e, "name")),
	                                   name) == 0 &&
	                            which-- == 0) return e;
	return NULL;
}

static double number(const cJSON *e, const char *key)
{
	return cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(e, key));
}

static cJSON *converted(const struct folder *f, const char *second, struct ran *r)
{
	size_t n;

	*r = run_tool((const char *const[]){ "convert", "-f", "--vocabulary", f->schema, "-o", f->out,
	                                     f->first, second, NULL },
	              NULL, 0);
	char *const text = read_whole(f->out, &n);
	cr_assert_not_null(text, "%s", r->err);
	cJSON *const root = cJSON_ParseWithLength(text, n);
	free(text);
	cr_assert_not_null(root);
	return root;
}

Test(cmd_plan, spans_of_two_files)
{
	struct folder f;
	struct ran r;

	folder_make(&f);
	cJSON *const root = converted(&f, NULL, &r);
	const cJSON *const inner = nth(root, "work 6", 0);
	cr_assert(inner != NULL && number(inner, "ts") == 20 && number(inner, "dur") == 10, "%s", r.err);
	const cJSON *const open = nth(root, "work 5", 0), *const args =
	                                                      cJSON_GetObjectItemCaseSensitive(open, "args");
	cr_assert(number(open, "ts") == 10 && number(open, "dur") == 20, "to the last time of the trace");
	cr_assert(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(args, "unfinished")));
	cr_assert_eq(number(nth(root, "work 7", 0), "dur"), 5);
	cr_assert_not_null(strstr(r.err, ": 2; the first"));
	cr_assert_not_null(strstr(r.err, "[pairs/no-end]"));
	cJSON_Delete(root);
	ran_free(&r);
	cJSON *const both = converted(&f, f.second, &r);
	const cJSON *const done = nth(both, "done", 0);
	cr_assert(done != NULL &&
	          strcmp(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(done, "ph")), "i") == 0);
	cr_assert_not_null(strstr(r.err, "[pairs/no-begin]"));
	cJSON_Delete(both);
	ran_free(&r);
	remove_folder(f.dir);
}

Test(cmd_plan, what_was_open_when_reading_stopped)
{
	struct folder f;
	struct ran r;
	size_t n;

	folder_make(&f);
	char *const whole = read_whole(f.first, &n);
	cr_assert(write_whole(f.first, whole, n - 20)); /* within the end */
	cJSON *const root = converted(&f, NULL, &r);
	cr_assert_eq(number(nth(root, "work 6", 0), "ts"), 20);
	cr_assert_eq(number(nth(root, "work 5", 0), "dur"), 15);
	cr_assert_eq(number(nth(root, "work 6", 0), "dur"), 5);
	cr_assert_not_null(strstr(r.err, ": 3; the first"));
	cJSON_Delete(root);
	ran_free(&r);
	free(whole);
	remove_folder(f.dir);
}

Test(cmd_plan, stats_count_what_has_no_partner)
{
	struct folder f;

	folder_make(&f);
	struct ran r = run_tool(
	    (const char *const[]){ "stats", "--vocabulary", f.schema, f.first, f.second, NULL }, NULL, 0);
	cr_assert_not_null(strstr(r.out, "2 spans are incomplete: "), "%s%s", r.out, r.err);
	cr_assert_not_null(strstr(r.out, "work 6"));
	ran_free(&r);
	remove_folder(f.dir);
}
