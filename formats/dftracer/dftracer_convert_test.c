#define _GNU_SOURCE /* memmem */
/* What `convert` writes, against a decoding line by line that shares nothing with the reader but cJSON's idea
 * of JSON. */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cli_test_util.h"

#define MAX_HASHES 8192

struct hash {
	char kind[4], value[32], *name;
	double pid;
	size_t line;
};

struct oracle {
	cJSON **events; /* complete ones, in order */
	char **lines;   /* their text: cJSON holds numbers as doubles */
	size_t *at;     /* and their line numbers */
	size_t n, cap;
	struct hash hashes[MAX_HASHES];
	size_t nhashes;
};

static const char *
text_of(const cJSON *o, const char *key)
{
	return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, key));
}

/* The value of a key in the text of a flat part of a record, without quotes. */
static void
raw_value(const char *line, const char *key, char *to, size_t size)
{
	char pattern[40];

	snprintf(pattern, sizeof pattern, "\"%s\":", key);
	const char *p = strstr(line, pattern);
	cr_assert_not_null(p, "%s in %s", key, line);
	p += strlen(pattern);
	p += strspn(p, " ");
	p += *p == '"';
	snprintf(to, size, "%.*s", (int)strcspn(p, ",}\""), p);
}

static double
pid_of(const cJSON *o)
{
	const cJSON *const pid = cJSON_GetObjectItemCaseSensitive(o, "pid");

	return cJSON_IsString(pid) ? strtod(pid->valuestring, NULL) : pid->valuedouble;
}

static void
take_hash(struct oracle *o, const cJSON *json, const char *line, size_t number)
{
	struct hash *const h = &o->hashes[o->nhashes++];
	const char *const args = strstr(line, "\"args\":");

	cr_assert_leq(o->nhashes, MAX_HASHES);
	snprintf(h->kind, sizeof h->kind, "%s", text_of(json, "name"));
	raw_value(args, "value", h->value, sizeof h->value);
	h->name = strdup(text_of(cJSON_GetObjectItemCaseSensitive(json, "args"), "name"));
	h->pid = pid_of(json);
	h->line = number;
}

static void
take_line(struct oracle *o, const char *line, size_t n, size_t number)
{
	cJSON *const json = cJSON_ParseWithLength(line, n);
	const char *const ph = text_of(json, "ph"), *const name = text_of(json, "name");

	if (ph != NULL && strcmp(ph, "M") == 0 && name != NULL && strlen(name) == 2 && name[1] == 'H') {
		char *const copy = strndup(line, n);
		take_hash(o, json, copy, number);
		free(copy);
	}
	if (ph == NULL || strcmp(ph, "X") != 0) {
		cJSON_Delete(json);
		return;
	}
	if (o->n == o->cap) {
		o->cap = 2 * o->cap + 64;
		o->events = realloc(o->events, o->cap * sizeof *o->events);
		o->lines = realloc(o->lines, o->cap * sizeof *o->lines);
		o->at = realloc(o->at, o->cap * sizeof *o->at);
		cr_assert(o->events != NULL && o->lines != NULL && o->at != NULL);
	}
	o->at[o->n] = number;
	o->lines[o->n] = strndup(line, n);
	o->events[o->n++] = json;
}

static void
oracle_read(struct oracle *o, const char *text, size_t n)
{
	size_t number = 0;

	*o = (struct oracle){ .n = 0 };
	for (const char *p = text; p < text + n; number++) {
		const char *const nl = memchr(p, '\n', (size_t)(text + n - p)), *const e = nl != NULL
		                                                                               ? nl
		                                                                               : text + n;
		take_line(o, p, (size_t)(e - p), number);
		p = e + 1;
	}
}

static void
oracle_free(struct oracle *o)
{
	for (size_t i = 0; i < o->n; i++) {
		cJSON_Delete(o->events[i]);
		free(o->lines[i]);
	}
	for (size_t i = 0; i < o->nhashes; i++)
		free(o->hashes[i].name);
	free(o->events);
	free(o->lines);
	free(o->at);
}

/* Of the process, the last before the line, else the first behind it. */
static const char *
name_of(const struct oracle *o, const char *kind, const char *value, double pid, size_t line)
{
	const struct hash *before = NULL, *behind = NULL;

	for (size_t i = 0; i < o->nhashes; i++) {
		const struct hash *const h = &o->hashes[i];
		if (strcmp(h->kind, kind) != 0 || strcmp(h->value, value) != 0 ||
		    (strlen(value) < 6 && h->pid != pid))
			continue;
		if (h->line < line)
			before = h;
		else if (behind == NULL)
			behind = h;
	}
	return before != NULL ? before->name : behind != NULL ? behind->name : NULL;
}

static const struct {
	const char *hash, *kind, *name;
} readable[] = {
	{ "hhash", "HH", "hostname" }, { "fhash", "FH", "fname" }, { "cmd_hash", "SH", "cmd" },
	{ "exec_hash", "SH", "exec" }, { "cwd", "FH", "cwd" },
};

/* An argument that is a hash: shown as its name. */
static bool
is_shown_by_name(const struct oracle *o, size_t i, const cJSON *arg, const cJSON *shown)
{
	char value[40];

	for (size_t k = 0; k < sizeof readable / sizeof readable[0]; k++) {
		if (strcmp(arg->string, readable[k].hash) != 0)
			continue;
		raw_value(strstr(o->lines[i], "\"args\":"), arg->string, value, sizeof value);
		const char *const name = name_of(o, readable[k].kind, value, pid_of(o->events[i]), o->at[i]);
		if (name == NULL)
			return false;
		cr_expect_str_eq(text_of(shown, readable[k].name), name, "%s of %s", arg->string,
		                 o->lines[i]);
		return true;
	}
	return false;
}

static void
expect_args(const struct oracle *o, size_t i, const cJSON *shown)
{
	const cJSON *const args = cJSON_GetObjectItemCaseSensitive(o->events[i], "args"), *arg;

	if (args == NULL)
		return;
	cJSON_ArrayForEach(arg, args)
	{
		const cJSON *const got = cJSON_GetObjectItemCaseSensitive(shown, arg->string);
		if (is_shown_by_name(o, i, arg, shown))
			continue;
		cr_assert_not_null(got, "%s is lost: %s", arg->string, o->lines[i]);
		if (cJSON_IsNumber(arg) && cJSON_IsString(got)) { /* more than a double holds */
			char value[40];
			raw_value(strstr(o->lines[i], "\"args\":"), arg->string, value, sizeof value);
			cr_expect_str_eq(got->valuestring, value);
		} else {
			cr_expect(cJSON_Compare(arg, got, true), "%s of %s", arg->string, o->lines[i]);
		}
	}
}

/* Microseconds with ".000" behind. */
static void
expect_time(const struct oracle *o, size_t i, const char *line, const char *key)
{
	char want[64], got[64];

	raw_value(o->lines[i], key, want, sizeof want - 8);
	strcat(want, ".000");
	raw_value(line, key, got, sizeof got);
	cr_expect_str_eq(got, want, "%s of %s", key, o->lines[i]);
}

static void
expect_event(const struct oracle *o, size_t i, const char *line, size_t n)
{
	cJSON *const json = cJSON_ParseWithLength(line, n);
	const cJSON *const want = o->events[i];
	char *const copy = strndup(line, n);
	char text[40];

	cr_assert_not_null(json, "%s", copy);
	cr_expect_str_eq(text_of(json, "name"), text_of(want, "name"));
	cr_expect_str_eq(text_of(json, "cat"), text_of(want, "cat"));
	expect_time(o, i, copy, "ts");
	expect_time(o, i, copy, "dur");
	/* viewers have no process or thread 0: these are numbered anew */
	raw_value(o->lines[i], "pid", text, sizeof text);
	if (strtod(text, NULL) > 0)
		cr_expect(pid_of(json) == strtod(text, NULL), "%s", copy);
	raw_value(o->lines[i], "tid", text, sizeof text);
	if (strtod(text, NULL) > 0)
		cr_expect(cJSON_GetObjectItemCaseSensitive(json, "tid")->valuedouble == strtod(text, NULL) ||
		              strstr(copy, "\"true_tid\"") != NULL,
		          "%s", copy);
	expect_args(o, i, cJSON_GetObjectItemCaseSensitive(json, "args"));
	free(copy);
	cJSON_Delete(json);
}

static void
expect_conversion(const char *path)
{
	struct ran r = run_tool(
	    (const char *const[]){ "convert", "--to", "chrome", "--lanes", "off", path, "-", NULL }, NULL, 0);
	const size_t len = strlen(path);
	const bool packed = len > 3 && strcmp(path + len - 3, ".gz") == 0;
	struct oracle *const o = malloc(sizeof *o);
	size_t n, i = 0;

	struct ran unpacked = packed
	                          ? run_program((const char *const[]){ "gzip", "-dc", path, NULL }, NULL, 0)
	                          : (struct ran){ .status = 0 };
	char *const text = packed ? unpacked.out : read_whole(path, &n);
	cr_assert(o != NULL && text != NULL, "%s", path);
	oracle_read(o, text, packed ? unpacked.out_n : n);
	cr_expect_eq(r.status, 0, "%s: exit status %d: %s", path, r.status, r.err);
	for (const char *p = r.out; *p != '\0';) {
		const size_t line = strcspn(p, "\n"), bare = line > 0 && p[line - 1] == ',' ? line - 1 : line;
		if (memmem(p, bare, "\"ph\":\"X\"", 8) != NULL) {
			cr_assert_lt(i, o->n, "%s", path);
			expect_event(o, i++, p, bare);
		}
		p += line + (p[line] == '\n');
	}
	cr_expect_eq(i, o->n, "%s: %zu of %zu events", path, i, o->n);
	if (packed)
		ran_free(&unpacked);
	else
		free(text);
	oracle_free(o);
	free(o);
	ran_free(&r);
}

Test(dftracer_convert, every_field_of_every_event_of_the_samples)
{
	static const char *const names[] = {
		"sound", "d0", "d1", "d2", "d2c", "d3", "d4", "non-ascii"
	}; /* not those with blanks: raw_value() */
	char path[400];

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		snprintf(path, sizeof path, "testdata/dftracer/good/%s.pfw", names[i]);
		expect_conversion(path);
	}
}

static const char *
traces_folder(void)
{
	const char *const dir =
	    getenv("TRACETOOL_TRACES") != NULL ? getenv("TRACETOOL_TRACES") : "../shared/traces";
	struct stat st;

	return stat(dir, &st) == 0 ? dir : NULL;
}

Test(dftracer_convert, every_field_of_every_event_of_real_traces)
{
	static const char *const names[] = { "cm1-DEFAULT-3537780-preload.pfw.gz",
		                             "cm1-DEFAULT-3537781-preload.pfw.gz", "posix-v0.pfw",
		                             "graph.pfw" };
	const char *const dir = traces_folder();
	char path[1024];

	if (dir == NULL)
		cr_skip_test("the traces are not here");
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		snprintf(path, sizeof path, "%s/dftracer/%s", dir, names[i]);
		expect_conversion(path);
	}
}

/* ---- stats ---- */

static uint64_t
number_at(const cJSON *o, const char *key)
{
	const cJSON *const v = cJSON_GetObjectItemCaseSensitive(o, key);

	cr_assert(cJSON_IsNumber(v), "no number %s", key);
	return (uint64_t)v->valuedouble;
}

/* Times are beyond what a double holds: compared as text. */
static void
expect_raw(const char *report, const char *text, const char *key)
{
	char got[40], expected[40];

	raw_value(report, key, got, sizeof got);
	raw_value(text, key, expected, sizeof expected);
	expected[strcspn(expected, "\n ")] = '\0';
	cr_expect_str_eq(got, expected, "%s", key);
}

static void
expect_stats(const char *dir, const cJSON *want, const char *text)
{
	char path[1024];
	const cJSON *row, *name;
	uint64_t spans = 0, sum = 0;

	snprintf(path, sizeof path, "%s/%s", dir, want->string);
	struct ran r = run_tool((const char *const[]){ "stats", "--format", "json", path, NULL }, NULL, 0);
	cr_assert_eq(r.status, 0, "%s: exit status %d: %s", path, r.status, r.err);
	cJSON *const report = cJSON_ParseWithLength(r.out, r.out_n);
	const cJSON *const in = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(report, "inputs"), 0);
	const cJSON *const rows = cJSON_GetObjectItemCaseSensitive(in, "spans");
	cJSON_ArrayForEach(row, rows)
	{
		spans += number_at(row, "count");
		sum += number_at(cJSON_GetObjectItemCaseSensitive(row, "dur_ns"), "sum");
	}
	cr_expect_eq(spans, number_at(want, "events"), "%s", path);
	cr_expect_eq(sum, number_at(want, "dur_sum_ns"), "%s", path);
	cJSON_ArrayForEach(name, cJSON_GetObjectItemCaseSensitive(want, "names"))
	{
		uint64_t count = 0;
		cJSON_ArrayForEach(row, rows)
		{
			count +=
			    strcmp(text_of(row, "name"), name->string) == 0 ? number_at(row, "count") : 0;
		}
		cr_expect_eq(count, (uint64_t)name->valuedouble, "%s: %s", path, name->string);
	}
	expect_raw(r.out, strstr(text, want->string), "first_ns");
	expect_raw(r.out, strstr(text, want->string), "last_ns");
	cJSON_Delete(report);
	ran_free(&r);
}

Test(dftracer_stats, agrees_with_expected)
{
	const char *const dir = traces_folder();
	char path[1024];
	size_t n, traces = 0;

	if (dir == NULL)
		cr_skip_test("the traces are not here");
	snprintf(path, sizeof path, "%s/EXPECTED.json", dir);
	char *const text = read_whole(path, &n);
	cr_assert_not_null(text);
	cJSON *const all = cJSON_Parse(text);
	const cJSON *want;
	cJSON_ArrayForEach(want, all)
	{
		if (strncmp(want->string, "dftracer/", 9) == 0) {
			expect_stats(dir, want, text);
			traces++;
		}
	}
	cr_expect_gt(traces, 0);
	cJSON_Delete(all);
	free(text);
}
