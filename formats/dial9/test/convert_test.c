/* What `convert` writes for a dial9 trace, against the oracle: names, times, arguments. */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"
#include "dial9/test/oracle.h"
#include "test/fuzz/strict_json.h"

#define GOOD "testdata/dial9/good"
#define PLAIN "testdata/dial9/plain.yaml" /* events as the bytes have them */

/* The event lines of an output: all lines with a phase "i", in order. */
struct lines {
	char **at;
	size_t n, cap;
};

static void find_lines(struct lines *l, char *text)
{
	*l = (struct lines){ .n = 0 };
	for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
		if (strstr(line, "\"ph\":\"i\"") == NULL)
			continue;
		if (l->n == l->cap) {
			l->cap = l->cap * 2 + 1024;
			l->at = realloc(l->at, l->cap * sizeof *l->at);
			cr_assert_not_null(l->at);
		}
		l->at[l->n++] = line;
	}
}

/* The members "args", or an empty object. */
static char *arguments_of(const char *line)
{
	const char *const from = strstr(line, ",\"args\":{");
	char *const text = calloc(1, strlen(line) + 3);

	cr_assert_not_null(text);
	strcpy(text, from != NULL ? from + 8 : "{}");
	if (from != NULL) /* behind it stands the end of the event, and a comma but for the last */
		text[strlen(text) - (text[strlen(text) - 1] == ',' ? 2 : 1)] = '\0';
	return text;
}

static void expect_arguments(const struct d9o *o, size_t i, const char *line, const char *path)
{
	char *const want = d9o_arguments(o, i), *const got = arguments_of(line);
	cJSON *const a = cJSON_Parse(want), *const b = cJSON_Parse(got);

	/* cJSON refuses a NUL in text: then both are compared as they stand */
	cr_expect(a != NULL && b != NULL ? cJSON_Compare(a, b, true) : strcmp(want, got) == 0,
	          "%s: event %zu at byte %zu:\n%s\nwhere this was expected:\n%s", path, i,
	          o->events[i].offset, got, want);
	cJSON_Delete(a);
	cJSON_Delete(b);
	free(want);
	free(got);
}

static void expect_name_and_time(const struct d9o *o, size_t i, const char *line, const char *path)
{
	char ts[64];
	cJSON *const json = cJSON_ParseWithLength(line, strlen(line) - (line[strlen(line) - 1] == ','));
	const char *const name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "name"));

	snprintf(ts, sizeof ts, "\"ts\":%" PRIu64 ".%03" PRIu64 ",", o->events[i].ts / 1000,
	         o->events[i].ts % 1000);
	cr_expect_not_null(strstr(line, ts), "%s: event %zu: %.200s has not %s", path, i, line, ts);
	if (json != NULL)
		cr_expect_str_eq(name, o->schemas[o->events[i].schema].name, "%s: event %zu", path, i);
	cJSON_Delete(json);
}

/* The first and the last `edge` events of the file. */
static void agree(const char *path, size_t edge)
{
	const char *const args[] = { "convert", "--to", "chrome", "--vocabulary", PLAIN, path, "-", NULL };
	struct ran r = run_tool(args, NULL, 0);
	struct lines l;
	struct d9o o;
	size_t n, at;

	unsigned char *const p = (unsigned char *)read_unpacked(path, &n);
	d9o_decode(&o, p, n);
	cr_assert_null(o.fault, "%s: the oracle: %s", path, o.fault);
	cr_expect_eq(r.status, 0, "%s: %s", path, r.err);
	cr_expect_null(strict_json_fault(r.out, r.out_n, &at), "%s: not JSON at byte %zu", path, at);
	find_lines(&l, r.out);
	cr_assert_eq(l.n, o.nevents, "%s: %zu events, expected %zu", path, l.n, o.nevents);
	for (size_t i = 0; i < l.n; i++) {
		expect_name_and_time(&o, i, l.at[i], path);
		if (i < edge || i + edge >= l.n)
			expect_arguments(&o, i, l.at[i], path);
	}
	free(l.at);
	d9o_free(&o);
	free(p);
	ran_free(&r);
}

Test(dial9_convert, good_samples)
{
	char **const names = list_folder(GOOD, ".dial9");
	char path[1024];

	cr_expect_not_null(names[0]);
	for (size_t i = 0; names[i] != NULL; i++) {
		if (strcmp(names[i], "max-integers.dial9") == 0)
			continue; /* below */
		if (strcmp(names[i], "made.dial9") == 0)
			continue; /* its events are not as the bytes have them */
		snprintf(path, sizeof path, GOOD "/%s", names[i]);
		agree(path, SIZE_MAX / 2);
	}
	list_free(names);
}

/* Its number in ten bytes where one would do, and its time, need no double. */
Test(dial9_convert, the_largest_numbers)
{
	agree(GOOD "/max-integers.dial9", 1);
}

Test(dial9_convert, real_traces)
{
	const char *const dir = real_traces();
	char path[1024];

	snprintf(path, sizeof path, "%s/dial9/block-in-place.bin", dir);
	agree(path, 1000);
	snprintf(path, sizeof path, "%s/dial9/metrics-service.bin", dir);
	agree(path, 1000);
}

/* The wall clock and the facts of the trace stand at the end of the output. */
Test(dial9_convert, epoch_and_metadata)
{
	const char *const args[] = { "convert", "--to", "chrome", GOOD "/segments.dial9", "-", NULL };
	struct ran r = run_tool(args, NULL, 0);
	cJSON *const json = cJSON_Parse(r.out);
	const cJSON *const other = cJSON_GetObjectItemCaseSensitive(json, "otherData");

	cr_assert_not_null(other, "%s", r.err);
	cr_expect_str_eq(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(other, "epoch_ns")),
	                 "1779308077928415749");
	cr_expect_str_eq(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(
	                     cJSON_GetObjectItemCaseSensitive(other, "trace"), "service")),
	                 "sample");
	cr_expect_str_eq(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(
	                     cJSON_GetObjectItemCaseSensitive(other, "trace"), "worker_threads")),
	                 "2");
	cr_expect_str_eq(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(other, "dialect")), "0.4");
	cJSON_Delete(json);
	ran_free(&r);
}

/* On a pipe symbols and late definitions come too late, which is said. */
Test(dial9_convert, what_a_pipe_cannot_know)
{
	static const char *const samples[] = { GOOD "/symbols.dial9", GOOD "/late.dial9" };
	static const char *const shown[] = { "[\"0x1010\",\"0x2020\",\"0x3030\"]", "\"spawn_loc\":5" };

	for (int i = 0; i < 2; i++) {
		size_t n;
		char *const p = read_whole(samples[i], &n);
		struct ran r = run_tool((const char *const[]){ "convert", "--to", "chrome", "--vocabulary",
		                                               PLAIN, "-", "-", NULL },
		                        p, n);

		cr_expect_eq(r.status, 0, "%s: %s", samples[i], r.err);
		cr_expect_not_null(strstr(r.err, " in the input: tracetool validate - lists "), "%s: %s",
		                   samples[i], r.err);
		cr_expect_not_null(strstr(r.out, shown[i]), "%s: %s", samples[i], r.out);
		ran_free(&r);
		free(p);
	}
}
