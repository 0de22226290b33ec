/* The matrix of formats contains every loss that occurs in samples. */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "format/registry.h"
#include "test/support/format_aids.h"

#define RUN(...) run_tool((const char *const[]){ __VA_ARGS__, NULL }, NULL, 0)

/* The ids of one pair; NULL: it is not in the matrix. */
static const cJSON *pair_of(const cJSON *matrix, const char *from, const char *to, const char *list)
{
	const cJSON *pair;

	cJSON_ArrayForEach(pair,
	                   matrix) if (strcmp(cJSON_GetObjectItem(pair, "from")->valuestring, from) == 0 &&
	                               strcmp(cJSON_GetObjectItem(pair, "to")->valuestring, to) ==
	                                   0) return cJSON_GetObjectItem(pair, list);
	return NULL;
}

static bool lists(const cJSON *ids, const char *id)
{
	const cJSON *i;

	cJSON_ArrayForEach(i, ids) if (strcmp(i->valuestring, id) == 0) return true;
	return false;
}

/* Converts the input; the matrix must list every reported loss. */
static void expect_declared(const cJSON *matrix, const char *from, const char *to, const char *in)
{
	char *const dir = make_folder(), out[1024];
	const cJSON *row;

	snprintf(out, sizeof out, "%s/out", dir);
	struct ran r = RUN("convert", "-q", "--losses=-", "--to", to, in, out);
	cJSON *const j = cJSON_Parse(r.out);
	cr_assert_not_null(j, "%s to %s: %s", in, to, r.err);
	cJSON_ArrayForEach(row, cJSON_GetObjectItem(j, "losses"))
	{
		const char *const id = cJSON_GetObjectItem(row, "id")->valuestring;
		cr_expect(lists(pair_of(matrix, from, to, "losses"), id) ||
		              lists(pair_of(matrix, from, to, "on_the_way"), id),
		          "%s to %s loses %s, which is not in the matrix", in, to, id);
	}
	cJSON_Delete(j);
	ran_free(&r);
	remove_folder(dir);
}

Test(losses, matrix_has_all_that_samples_lose)
{
	struct ran r = RUN("formats", "--matrix", "--json");
	cJSON *const matrix = cJSON_Parse(r.out);
	char path[512];

	cr_assert_not_null(matrix);
	for (const struct format_aids *const *a = format_aids; *a != NULL; a++) {
		if ((*a)->fault_samples == NULL)
			continue;
		snprintf(path, sizeof path, "testdata/%s/%s", (*a)->format, (*a)->fault_samples[0]);
		for (const struct format *const *to = formats; *to != NULL; to++)
			if ((*to)->writer != NULL)
				expect_declared(matrix, (*a)->format, (*to)->name, path);
	}
	cJSON_Delete(matrix);
	ran_free(&r);
}
