/* convert --anonymise: what a user gets, and that nothing of the trace is left in it. */
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

static void expect_lacks(struct ran r, const char *word)
{
	cr_expect_eq(r.status, 0, "%s", r.err);
	cr_expect_null(strstr(r.out, word), "%s is in: %s", word, r.out);
	ran_free(&r);
}

#define ANONYMISE(...) RUN("convert", "--anonymise", key_path, "--to=ndjson", __VA_ARGS__, SAMPLE, "-")

Test(anonymise, words_of_a_key_are_the_same)
{
	struct ran a = ANONYMISE("-q"), b = ANONYMISE("-q");

	cr_expect_eq(a.status, 0, "%s", a.err);
	cr_expect_str_eq(a.out, b.out);
	cr_expect_str_eq(a.err, "");
	cr_assert(write_whole(key_path, "another sixteen bytes", 21));
	struct ran c = ANONYMISE("-q");
	cr_expect_str_neq(a.out, c.out);
	ran_free(&a);
	ran_free(&b);
	ran_free(&c);
}

Test(anonymise, keeps_what_is_asked_for)
{
	expect_lacks(ANONYMISE("-q"), "\"/");
	expect_ran(ANONYMISE("-q", "--keep-paths"), 0, "\"fname\":\"/w");
	expect_ran(ANONYMISE("-q"), 0, "\"id\":1,\"hostname\":\"w");
	expect_lacks(ANONYMISE("-q", "--hide-numbers"), "\"id\":1,\"hostname\":\"w");
	expect_ran(ANONYMISE("-q"), 0, "\"ts_ns\":1750000000000000000,\"dur_ns\":2000000000");
	expect_lacks(ANONYMISE("-q", "--shift-time"), "\"ts_ns\":175000000000000");
	expect_ran(ANONYMISE("-q", "--shift-time"), 0, "\"dur_ns\":2000000000");
	expect_lacks(ANONYMISE("-q", "--shift-time"), "epoch_ns");
}

Test(anonymise, says_what_can_be_read)
{
	expect_ran(ANONYMISE("--keep-paths"), 0,
	           "what can be read: names of fields (id, hostname, fname, CM.time_metric)");
	expect_ran(ANONYMISE("--hide-numbers", "--shift-time"), 0, "differences of times");
}

Test(anonymise, mistakes)
{
	cr_assert(write_whole(key_path, "too few bytes", 13));
	expect_ran(ANONYMISE("-q"), 3, "has 13 bytes; 16 are needed");
	expect_ran(RUN("convert", "--anonymise=/nowhere/key", "--to=ndjson", SAMPLE, "-"), 2,
	           "/nowhere/key: cannot read the key: No such file");
	expect_ran(RUN("convert", "--shift-time", "--to=ndjson", SAMPLE, "-"), 3, "goes with --anonymise");
	cr_assert(write_whole(key_path, "sixteen bytes or more", 21));
	expect_ran(ANONYMISE("--raw"), 3, "--raw writes the records as they are");
}

/* ---- nothing is left ---- */

/* The same form of a trace that has nothing in common with the sample: what is in it is of the form. */
static bool is_of_the_form(const char *word, const char *form)
{
	return strlen(word) < 5 || format_by_name(word) != NULL || strstr(form, word) != NULL;
}

/* Every text that is a value of one line, but for those that tell what the line is. */
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
	const char *const other = strstr(in, ".json") == NULL ? "testdata/chrome/good/object.json" : SAMPLE;
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

Test(anonymise, output_of_htdump_is_valid)
{
	char *const dir = make_folder(), out[1024];

	snprintf(out, sizeof out, "%s/out.htdump", dir);
	expect_ran(RUN("convert", "-q", "--anonymise", key_path, "--hide-numbers",
	               "testdata/htdump/good/overlapping.htdump", out),
	           0, "");
	expect_ran(RUN("validate", out), 0, "valid htdump");
	remove_folder(dir);
}

/* Messages of findings quote names; those of an anonymised trace do not, in any report and on standard
 * error. */
Test(anonymise, findings_quote_nothing)
{
	static const char *const forms[] = { "text",  "gcc",    "json",     "ndjson", "sarif",
		                             "junit", "github", "markdown", "gitlab" };
	char *const dir = make_folder(), in[1024], out[1024], report[1024], arg[1100];
	size_t n;

	snprintf(in, sizeof in, "%s/x.ndjson", dir);
	snprintf(out, sizeof out, "%s/o.json", dir);
	snprintf(report, sizeof report, "%s/report", dir);
	static const char trace[] =
	    "{\"type\":\"trace\",\"version\":1,\"tool\":\"tracetool "
	    "0.1.0\",\"mode\":\"interpreted\",\"rebased\":"
	    "false,\"format\":\"htdump\",\"dialect\":\"wire\",\"byte_order\":\"little\",\"clock\":"
	    "\"unknown\","
	    "\"record_id\":\"id\"}\n"
	    "{\"type\":\"class\",\"index\":0,\"name\":\"sEcReT\",\"category\":\"sEcReT\"}\n"
	    "{\"kind\":\"span\",\"ts_ns\":\"sEcReT\",\"dur_ns\":5,\"name\":\"sEcReT\",\"class_index\":0,"
	    "\"track_index\":"
	    "\"sEcReT\"}\n"
	    "{\"type\":\"sEcReT\"}\n";
	cr_assert(write_whole(in, trace, sizeof trace - 1));
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		snprintf(arg, sizeof arg, "%s=%s", forms[i], report);
		struct ran r = RUN("convert", "-f", "--anonymise", key_path, "--report", arg, in, out);
		char *const text = read_whole(report, &n);
		cr_assert_not_null(text, "%s", r.err);
		cr_expect_not_null(strstr(r.err, "[ndjson/"), "%s", r.err);
		cr_expect_null(strstr(r.err, "sEcReT"), "%s", r.err);
		cr_expect_null(strstr(text, "sEcReT"), "%s: %s", forms[i], text);
		free(text);
		ran_free(&r);
	}
	remove_folder(dir);
}
