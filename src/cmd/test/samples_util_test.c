#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/test/samples_test_util.h"
#include "format/registry.h"
#include "input/open.h"
#include "test/support/strength.h"

#define MAX_TEXT 65536

/* ---- samples ---- */

static const cJSON *member(const cJSON *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key);
}

/* Expects that line and column of a finding agree with its offset, which is within the text. */
static void expect_place(const cJSON *finding, const char *text, const char *what)
{
	const size_t offset = (size_t)number_at(finding, "offset");
	size_t line = 1, column = 1;

	for (size_t i = 0; i < offset; i++) {
		column = text[i] == '\n' ? 1 : column + 1;
		line += text[i] == '\n';
	}
	cr_expect_eq(number_at(finding, "line"), line, "%s: line at %zu", what, offset);
	cr_expect_eq(number_at(finding, "column"), column, "%s: column at %zu", what, offset);
}

char *findings_text(const struct samples *s, const struct ran *r, bool notes, const char *text,
                    const char *what)
{
	const char *end = NULL;
	cJSON *const report = cJSON_ParseWithLengthOpts(r->out, r->out_n + 1, &end, true);
	const cJSON *const file = cJSON_GetArrayItem(member(report, "files"), 0), *f;
	char *const to = malloc(MAX_TEXT);
	size_t n;

	cr_assert(file != NULL && to != NULL, "%s: no report: %.200s%.200s", what, r->out, r->err);
	n = (size_t)snprintf(to, MAX_TEXT, "exit %d\n", r->status);
	if (s->dialect)
		n += (size_t)sprintf(to + n, "dialect %s\n", cJSON_GetStringValue(member(file, "dialect")));
	if (s->records)
		n += (size_t)sprintf(to + n, "records %.0f\n", (double)number_at(file, "records"));
	cJSON_ArrayForEach(f, member(file, "findings"))
	{
		const char *const rule = cJSON_GetStringValue(member(f, "rule"));
		const char *const level = cJSON_GetStringValue(member(f, "level"));

		cr_assert(rule != NULL && level != NULL && n < MAX_TEXT - 1000, "%s", what);
		/* findings about the packing, or about an event far after the text, have no line */
		if (s->lines && text != NULL && cJSON_IsNumber(member(f, "line")))
			expect_place(f, text, what);
		if (notes || (strcmp(level, "note") != 0 &&
		              (s->passed_over == NULL || strcmp(rule, s->passed_over) != 0)))
			n += (size_t)snprintf(to + n, MAX_TEXT - n, "%s %.0f\n", rule,
			                      (double)number_at(f, "offset"));
	}
	cJSON_Delete(report);
	return to;
}

static void expect_report(const struct samples *s, struct ran r, const char *want, bool notes,
                          const char *text, const char *what, const char *way)
{
	char *const got = findings_text(s, &r, notes, text, what);

	cr_expect_str_eq(got, want, "%s, %s:\n%swhere this was expected:\n%s", what, way, got, want);
	free(got);
	ran_free(&r);
}

void expect_findings(const struct samples *s, struct ran r, const char *want, bool notes, const char *what)
{
	expect_report(s, r, want, notes, NULL, what, "given");
}

struct ran validate_json(const char *given, const void *in, size_t n)
{
	return run_tool((const char *const[]){ "validate", "--format", "json", given, NULL }, in, n);
}

static bool is_packed(const char *name)
{
	const size_t n = strlen(name);

	return (n > 3 && strcmp(name + n - 3, ".gz") == 0) || (n > 4 && strcmp(name + n - 4, ".zst") == 0);
}

void expect_by_all_ways(const struct samples *s, const char *path, const char *want, bool notes)
{
	size_t n, packed;
	char *const p = read_whole(path, &n), *const dir = make_folder();
	char copy[1024];

	cr_assert_not_null(p, "%s", path);
	const char *const text = is_packed(path) ? NULL : p;
	expect_report(s, validate_json(path, NULL, 0), want, notes, text, path, "file");
	const bool all = strength_takes(path, 7);
	if (all)
		expect_report(s, validate_json("-", p, n), want, notes, text, path, "pipe");
	if (all && text != NULL) {
		void *z = gzip_copy(p, n, &packed);
		snprintf(copy, sizeof copy, "%s/copy.gz", dir);
		cr_assert(write_whole(copy, z, packed));
		expect_report(s, validate_json(copy, NULL, 0), want, notes, text, path, "gzip");
		free(z);
		z = zstd_copy(p, n, &packed);
		expect_report(s, validate_json("-", z, packed), want, notes, text, path, "zstd down a pipe");
		free(z);
	}
	free(p);
	remove_folder(dir);
}

/* Finds the sample of the .expect at `path`, by replacing its suffix. */
static void name_sample(const struct samples *s, char *path, size_t size)
{
	static const char *const packed[] = { "", ".gz", ".zst" };
	const size_t stem = strlen(path) - strlen(".expect");
	struct stat st;

	for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++) {
		snprintf(path + stem, size - stem, "%s%s", s->suffix, packed[i]);
		if (stat(path, &st) == 0)
			return;
	}
	cr_assert_fail("no sample %s", path);
}

size_t expect_samples(const struct samples *s, const char *folder)
{
	char **const names = list_folder(folder, ".expect");
	char path[1024];
	size_t n, i;

	cr_assert_not_null(names[0], "%s", folder);
	for (i = 0; names[i] != NULL; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		char *const want = read_whole(path, &n);
		cr_assert_not_null(want, "%s", path);
		name_sample(s, path, sizeof path);
		expect_by_all_ways(s, path, want, true);
		free(want);
	}
	list_free(names);
	return i;
}

size_t expect_sound_samples(const struct samples *s, const char *folder)
{
	char **const names = list_folder(folder, s->suffix);
	char path[1024];
	size_t i;

	cr_assert_not_null(names[0], "%s", folder);
	for (i = 0; names[i] != NULL; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		expect_by_all_ways(s, path, "exit 0\n", false);
	}
	list_free(names);
	return i;
}

/* ---- rules ---- */

static bool is_among(const char *id, const char *const *ids)
{
	for (; *ids != NULL; ids++)
		if (strcmp(*ids, id) == 0)
			return true;
	return false;
}

/* Whether the .expect of a sample in the folder has the rule. */
static bool is_expected(const char *format, const char *folder, const char *id)
{
	char dir[128], path[1024], line[200];
	bool found = false;

	snprintf(dir, sizeof dir, "testdata/%s/%s", format, folder);
	snprintf(line, sizeof line, "\n%s ", id);
	char **const names = list_folder(dir, ".expect");
	for (size_t i = 0; names[i] != NULL && !found; i++) {
		size_t n;
		snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		char *const text = read_whole(path, &n);
		cr_assert_not_null(text, "%s", path);
		found = strstr(text, line) != NULL;
		free(text);
	}
	list_free(names);
	return found;
}

void expect_samples_of_rules(const char *format, const char *const *elsewhere)
{
	for (const struct rule *r = format_by_name(format)->rules; r->id != NULL; r++) {
		const bool found = is_expected(format, "bad", r->id) ||
		                   (r->level == LEVEL_NOTE && is_expected(format, "good", r->id));
		cr_expect(found != is_among(r->id, elsewhere), "%s", r->id);
	}
}

/* ---- bytes ---- */

char *read_unpacked(const char *path, size_t *n)
{
	struct input *const in = input_open(path);

	cr_assert_not_null(in, "%s", path);
	while (input_more(in))
		;
	*n = (size_t)(in->end - in->p);
	char *const p = malloc(*n + 1);
	cr_assert_not_null(p);
	memcpy(p, in->p, *n);
	p[*n] = '\0';
	input_close(in);
	return p;
}

void expect_bytes(const char *what, const struct ran *r, const void *p, size_t n)
{
	cr_expect_eq(r->status, 0, "%s: status %d: %s", what, r->status, r->err);
	cr_expect_eq(r->err_n, 0, "%s: %s", what, r->err);
	cr_expect(r->out_n == n && memcmp(r->out, p, n) == 0, "%s: %zu bytes, %zu of the input", what,
	          r->out_n, n);
}

static bool has_suffix(const char *name, const char *suffix)
{
	const size_t k = strlen(suffix), packed = is_packed(name) ? strlen(strrchr(name, '.')) : 0;
	const size_t n = strlen(name) - packed;

	return n >= k && memcmp(name + n - k, suffix, k) == 0;
}

size_t each_file(const char *folder, const char *suffix, void (*f)(const char *path, const char *p, size_t n))
{
	char **const names = list_folder(folder, "");
	char path[1024];
	size_t count = 0;

	for (size_t i = 0; names[i] != NULL; i++) {
		size_t n;
		if (!has_suffix(names[i], suffix))
			continue;
		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		count++;
		if (!strength_takes(path, 3))
			continue;
		char *const p = read_unpacked(path, &n);
		f(path, p, n);
		free(p);
	}
	list_free(names);
	cr_assert_gt(count, 0, "nothing in %s", folder);
	return count;
}

size_t load_files(struct file *files, size_t count, const char *folder, const char *suffix)
{
	char **const names = list_folder(folder, suffix);

	cr_assert_not_null(names);
	for (char **name = names; *name != NULL && count < MAX_FILES; name++, count++) {
		snprintf(files[count].path, sizeof files[count].path, "%s/%s", folder, *name);
		files[count].p = read_whole(files[count].path, &files[count].n);
		cr_assert_not_null(files[count].p, "%s", files[count].path);
	}
	list_free(names);
	return count;
}

void free_files(struct file *files, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(files[i].p);
}

/* ---- real traces ---- */

static const char *traces_folder(void)
{
	const char *const set = getenv("TRACETOOL_TRACES");

	return set != NULL && *set != '\0' ? set : "../shared/traces";
}

bool has_real_traces(void)
{
	struct stat st;

	return stat(traces_folder(), &st) == 0 && S_ISDIR(st.st_mode);
}

const char *real_traces(void)
{
	if (!has_real_traces())
		cr_skip_test("no real traces at %s", traces_folder());
	return traces_folder();
}

size_t each_expected(const char *folder, const char *prefix,
                     void (*f)(const char *folder, const cJSON *want, const char *text))
{
	char path[1024];
	size_t n, count = 0;
	const cJSON *want;

	snprintf(path, sizeof path, "%s/EXPECTED.json", folder);
	char *const text = read_whole(path, &n);
	if (text == NULL)
		cr_skip_test("no %s", path);
	cJSON *const all = cJSON_Parse(text);
	cJSON_ArrayForEach(want, all)
	{
		if (strncmp(want->string, prefix, strlen(prefix)) == 0) {
			f(folder, want, text);
			count++;
		}
	}
	cJSON_Delete(all);
	free(text);
	return count;
}

/* ---- reports ---- */

cJSON *stats_of(const char *path, const cJSON **input)
{
	struct ran r = run_tool((const char *const[]){ "stats", "--format", "json", path, NULL }, NULL, 0);
	const char *end = NULL;
	cJSON *const report = cJSON_ParseWithLengthOpts(r.out, r.out_n + 1, &end, true);

	*input = cJSON_GetArrayItem(member(report, "inputs"), 0);
	cr_assert_not_null(*input, "%s: not a report: %s", path, r.err);
	cr_assert_eq(r.status, 0, "%s: exit status %d: %s", path, r.status, r.err);
	ran_free(&r);
	return report;
}

uint64_t number_at(const cJSON *object, const char *key)
{
	const cJSON *const v = member(object, key);

	cr_assert(cJSON_IsNumber(v), "no number %s in %s", key,
	          object != NULL && object->string != NULL ? object->string : "the report");
	return (uint64_t)v->valuedouble;
}
