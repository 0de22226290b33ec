/* convert --anonymise: no output contains texts of the trace. */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "format/registry.h"
#include "test/support/format_aids.h"

#define RUN(...) run_tool((const char *const[]){ __VA_ARGS__, NULL }, NULL, 0)
#define SAMPLE "testdata/dftracer/good/merged.pfw"

static char key_dir[64], key_path[128];

static void make_key(void)
{
	char *const dir = make_folder();

	snprintf(key_dir, sizeof key_dir, "%s", dir);
	snprintf(key_path, sizeof key_path, "%s/key", dir);
	cr_assert(write_whole(key_path, "sixteen bytes or more", 21));
	free(dir);
}

static void drop_key(void)
{
	remove_folder(strdup(key_dir));
}

TestSuite(anonymise, .init = make_key, .fini = drop_key);

/* Whether a word is not of the sample: it is short, the name of a format, or in `form`, the same output
 * for an unrelated trace. */
static bool is_of_the_form(const char *word, const char *form)
{
	return strlen(word) < 5 || format_by_name(word) != NULL || strstr(form, word) != NULL;
}

/* Expects that `out` has no text value of the line j, except those that describe the line itself. */
static void expect_gone(const cJSON *j, const char *out, const char *form, const char *what)
{
	const cJSON *i;

	if (cJSON_IsString(j) && !is_of_the_form(j->valuestring, form)) {
		char quoted[300];
		snprintf(quoted, sizeof quoted, "%.250s", j->valuestring);
		cr_expect_null(strstr(out, quoted), "%s: %s can be read in the output", what, quoted);
	}
	cJSON_ArrayForEach(i, j)
	{
		if (i->string == NULL ||
		    strstr(" type types tool format mode kind dialect clock byte_order record_id escaped ",
		           i->string) == NULL)
			expect_gone(i, out, form, what);
	}
}

/* The declared fields of a class: their names and types stay. */
static void forget_class_fields(cJSON *line)
{
	const cJSON *const type = cJSON_GetObjectItem(line, "type");

	if (type != NULL && strcmp(type->valuestring, "class") == 0)
		cJSON_DeleteItemFromObject(line, "fields");
}

/* Without NUL bytes within. */
static struct ran hide(const char *in, const char *to)
{
	struct ran r = RUN("convert", "-q", "--anonymise", key_path, "--to", to, in, "-");

	cr_expect_eq(r.status, 0, "%s", r.err);
	for (size_t k = 0; k < r.out_n; k++)
		if (r.out[k] == '\0')
			r.out[k] = ' ';
	return r;
}

static void check_sample(const char *in)
{
	const char *const other = strstr(in, ".pftrace") != NULL ? "testdata/perfetto/good/kinds.pftrace"
	                          : strstr(in, ".json") == NULL  ? "testdata/chrome/good/object.json"
	                                                         : SAMPLE;
	static const char *const to[] = { "ndjson", "chrome", "csv", "htdump", "folded" };
	struct ran plain = RUN("convert", "-q", "--to=ndjson", in, "-");

	cr_assert_eq(plain.status, 0, "%s", plain.err);
	for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
		struct ran hidden = hide(in, to[i]), form = hide(other, to[i]);
		for (const char *line = plain.out; *line != '\0'; line += strcspn(line, "\n") + 1) {
			cJSON *const j = cJSON_ParseWithLength(line, strcspn(line, "\n"));
			cr_assert_not_null(j);
			forget_class_fields(j);
			expect_gone(j, hidden.out, form.out, in);
			cJSON_Delete(j);
		}
		ran_free(&hidden);
		ran_free(&form);
	}
	ran_free(&plain);
}

Test(anonymise, nothing_of_a_trace_is_left)
{
	char path[512];

	for (const struct format_aids *const *a = format_aids; *a != NULL; a++)
		for (size_t i = 0; (*a)->fault_samples != NULL && (*a)->fault_samples[i] != NULL; i++) {
			snprintf(path, sizeof path, "testdata/%s/%s", (*a)->format, (*a)->fault_samples[i]);
			check_sample(path);
		}
}
