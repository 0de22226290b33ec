/* Traces of all formats written as ovni: what is found there is what statistics of the input say. */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "ovni/test/marks_test.h"
#include "test/support/strength.h"

enum { SPANS, INSTANTS };

/* Spans of one name may have several categories, which marks do not have. */
struct sum {
	uint64_t count, ns;
};

static struct sum sum_of(const cJSON *input, const char *list, const char *name)
{
	struct sum s = { 0, 0 };
	const cJSON *row;

	cJSON_ArrayForEach(row, cJSON_GetObjectItem(input, list))
	{
		if (name != NULL && strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(row, "name")), name) != 0)
			continue;
		s.count += (uint64_t)cJSON_GetObjectItem(row, "count")->valuedouble;
		s.ns += (uint64_t)cJSON_GetNumberValue(
		    cJSON_GetObjectItem(cJSON_GetObjectItem(row, "dur_ns"), "sum"));
	}
	return s;
}

static void expect_spans(const struct marks_found *m, const cJSON *input, const char *path)
{
	static const char *const lists[] = { "spans", "async_spans" };
	struct sum found = { 0, 0 }, all = { 0, 0 };
	const cJSON *row;

	for (unsigned i = 0; i < m->n; i++)
		if (m->list[i].type == SPANS) {
			found.count += m->list[i].count;
			found.ns += m->list[i].ns;
		}
	for (int k = 0; k < 2; k++) {
		all.count += sum_of(input, lists[k], NULL).count;
		all.ns += sum_of(input, lists[k], NULL).ns;
		cJSON_ArrayForEach(row, cJSON_GetObjectItem(input, lists[k]))
		{
			const char *const name = cJSON_GetStringValue(cJSON_GetObjectItem(row, "name"));
			const struct marked *const mark =
			    marks_find(m, SPANS, name[0] != '\0' ? name : "(none)");
			const struct sum a = sum_of(input, lists[0], name), b = sum_of(input, lists[1], name);
			cr_expect(mark != NULL && mark->count == a.count + b.count && mark->ns == a.ns + b.ns,
			          "%s: %s", path, name);
		}
	}
	cr_expect(all.count == found.count && all.ns == found.ns,
	          "%s: %" PRIu64 " spans of %" PRIu64 " ns, expected %" PRIu64 " of %" PRIu64, path,
	          found.count, found.ns, all.count, all.ns);
}

static cJSON *report_of(const char *path)
{
	struct ran r = run_tool((const char *const[]){ "stats", "--format=json", path, NULL }, NULL, 0);
	cJSON *const root = cJSON_Parse(r.out);

	cr_assert_not_null(root, "%s: %s", path, r.err);
	ran_free(&r);
	return root;
}

static void expect_valid(const char *out, const char *path)
{
	struct ran r =
	    run_tool((const char *const[]){ "validate", "--quiet", "--check=state", out, NULL }, NULL, 0);

	cr_expect(r.status == 0 && r.out_n == 0 && r.err_n == 0, "%s: status %d: %s%s", path, r.status, r.out,
	          r.err);
	ran_free(&r);
}

static void expect_marks(const char *path)
{
	char *const dir = make_folder();
	char out[1024];
	struct marks_found m;

	snprintf(out, sizeof out, "%s/out.ovni", dir);
	struct ran r = run_tool((const char *const[]){ "convert", path, out, NULL }, NULL, 0);
	cr_assert_eq(r.status, 0, "%s: %s", path, r.err);
	const bool cut = strstr(r.err, "[ovni/time-cut]") != NULL; /* its statistics hold what marks cannot */
	ran_free(&r);
	marks_decode(&m, out);
	expect_valid(out, path);
	if (!cut) {
		cJSON *const stats = report_of(path);
		expect_spans(&m, cJSON_GetArrayItem(cJSON_GetObjectItem(stats, "inputs"), 0), path);
		cJSON_Delete(stats);
	}
	marks_free(&m);
	remove_folder(dir);
}

/* The first samples of a folder, or those of one name. */
static void expect_all(const char *dir, size_t most)
{
	char **const names = list_folder(dir, "");
	char path[1024];

	for (size_t i = 0, n = 0; names[i] != NULL && n < most; i++) {
		if (strstr(names[i], ".expect") != NULL)
			continue;
		snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		expect_marks(path);
		n++;
	}
	list_free(names);
}

Test(ovni_marks, samples)
{
	static const char *const dirs[] = { "htdump", "heph", "dial9", "dftracer", "chrome", "ndjson" };
	char dir[100];

	for (size_t i = 0; i < sizeof dirs / sizeof dirs[0]; i++) {
		snprintf(dir, sizeof dir, "testdata/%s/good", dirs[i]);
		expect_all(dir, strength(3, 1000, 1000));
	}
}

Test(ovni_marks, real_traces)
{
	expect_all("../shared/traces/heph", 1);
	expect_all("../shared/traces/htdump", 3);
	expect_all("../shared/traces/dftracer", 1);
}
