/*
 * The program on every .htdump sample: findings and events are the same for files, pipes and compressed
 * inputs, and damage of any kind gives a finding.
 */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"
#include "htdump/test/oracle.h"
#include "test/support/strength.h"

#define GOOD "testdata/htdump/good"
#define BAD "testdata/htdump/bad"

/* On a pipe, labels of good samples may be named too late. */
static const struct samples samples = { .suffix = ".htdump", .passed_over = "htdump/label-unresolved" };

Test(htdump_cli, bad_samples_say_what_is_expected)
{
	expect_samples(&samples, BAD);
}

Test(htdump_cli, good_samples_are_clean)
{
	expect_sound_samples(&samples, GOOD);
}

static struct ran convert(const char *path, const void *in, size_t n)
{
	const char *const args[] = { "convert", "--to", "chrome", path, "-", NULL };

	return run_tool(args, in, n);
}

/* Returns the lines of events in order, without metadata, which contains the name of the input. */
static char *event_lines(const struct ran *r)
{
	char *const lines = calloc(1, r->out_n + 1);
	size_t used = 0;

	cr_assert_not_null(lines);
	for (const char *p = r->out; *p != '\0';) {
		const size_t n = strcspn(p, "\n");
		const size_t bare = n > 0 && p[n - 1] == ',' ? n - 1 : n;
		cJSON *const json = cJSON_ParseWithLength(p, bare);
		const char *const ph = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "ph"));

		if (ph != NULL && strcmp(ph, "M") != 0) {
			memcpy(lines + used, p, bare);
			lines[used + bare] = '\n';
			used += bare + 1;
		}
		cJSON_Delete(json);
		p += n + (p[n] == '\n');
	}
	return lines;
}

/* A pipe cannot be read twice, so labels that are named later stay unresolved. */
static bool needs_two_passes(const char *name)
{
	return strcmp(name, "late-mapping.htdump") == 0;
}

static void expect_same_events(const struct ran *a, struct ran b, const char *path, const char *way)
{
	char *const x = event_lines(a), *const y = event_lines(&b);

	cr_expect_eq(b.status, 0, "%s, %s: %s", path, way, b.err);
	cr_expect_str_eq(x, y, "%s: other events by %s", path, way);
	free(x);
	free(y);
	ran_free(&b);
}

Test(htdump_cli, same_input_same_output)
{
	char **const names = list_folder(GOOD, ".htdump");

	for (size_t i = 0; names[i] != NULL; i++) {
		char path[1024];
		size_t n, packed;

		if (!strength_takes(names[i], 4))
			continue;
		snprintf(path, sizeof path, GOOD "/%s", names[i]);
		char *const p = read_whole(path, &n);
		struct ran first = convert(path, NULL, 0), second = convert(path, NULL, 0);
		cr_expect_eq(first.status, 0, "%s: %s", path, first.err);
		cr_expect_str_eq(first.out, second.out, "%s: two runs differ", path);
		void *const z = gzip_copy(p, n, &packed);
		if (!needs_two_passes(names[i])) {
			expect_same_events(&first, convert("-", p, n), path, "pipe");
			expect_same_events(&first, convert("-", z, packed), path, "gzip down a pipe");
		}
		ran_free(&first);
		ran_free(&second);
		free(z);
		free(p);
	}
	list_free(names);
}

/* The readable part of a broken trace makes complete documents. */
Test(htdump_cli, bad_samples_give_whole_documents)
{
	char **const names = list_folder(BAD, ".htdump");

	for (size_t i = 0; names[i] != NULL; i++) {
		char path[1024];

		if (!strength_takes(names[i], 4))
			continue;
		snprintf(path, sizeof path, BAD "/%s", names[i]);
		const char *const stats[] = { "stats", "--format", "json", path, NULL };
		struct ran r[] = { convert(path, NULL, 0), run_tool(stats, NULL, 0) };
		for (int k = 0; k < 2; k++) {
			const char *end = NULL;
			cJSON *const json = cJSON_ParseWithLengthOpts(r[k].out, r[k].out_n + 1, &end, true);

			cr_expect_not_null(json, "%s: %s is no JSON", path, k == 0 ? "convert" : "stats");
			cr_expect(r[k].status == 0 || r[k].status == 1, "%s: exit status %d", path,
			          r[k].status);
			cJSON_Delete(json);
			ran_free(&r[k]);
		}
	}
	list_free(names);
}

/* A cut compressed file gives a finding, like a cut record, as soon as some of it can be decompressed. */
Test(htdump_cli, cut_compressed_files)
{
	size_t n;
	char *const p = read_whole(GOOD "/wire-little.htdump.gz", &n);

	cr_assert_not_null(p);
	for (size_t cut = 20; cut < n; cut += 41) {
		struct ran r = validate_json("-", p, cut);
		char *const got = findings_text(&samples, &r, true, NULL, "cut gzip");

		cr_expect(r.status == 1 || (r.status == 2 && cut < 100), "cut at %zu: exit status %d", cut,
		          r.status);
		cr_expect_not_null(strchr(strchr(got, '\n') + 1, '\n'), "cut at %zu: no finding", cut);
		free(got);
		ran_free(&r);
	}
	free(p);
}

/* Validates damaged bytes: no crash, no hang, and a finding if the status is not 0. */
static void expect_explained(const void *p, size_t n, const char *what, size_t at)
{
	struct ran r = validate_json("-", p, n);

	cr_expect(r.status >= 0 && r.status <= 2, "%s %zu: exit status %d", what, at, r.status);
	if (r.status != 0) {
		char *const got = findings_text(&samples, &r, true, NULL, what);

		cr_expect_not_null(strchr(strchr(got, '\n') + 1, '\n'), "%s %zu: exit %d without a finding",
		                   what, at, r.status);
		free(got);
	}
	ran_free(&r);
}

Test(htdump_cli, cut_anywhere)
{
	size_t n;
	char *const p = read_whole(GOOD "/document-big.htdump", &n);

	cr_assert_not_null(p);
	for (size_t cut = 0; cut < n; cut += cut < 64 ? 1 : 13)
		expect_explained(p, cut, "cut at", cut);
	free(p);
}

Test(htdump_cli, any_byte_changed)
{
	size_t n;
	char *const p = read_whole(GOOD "/late-mapping.htdump", &n);

	cr_assert_not_null(p);
	for (size_t at = 0; at < n; at += 5) {
		const char before = p[at];

		p[at] = (char)(before ^ (1 << at % 8));
		expect_explained(p, n, "changed at", at);
		p[at] = before;
	}
	free(p);
}
