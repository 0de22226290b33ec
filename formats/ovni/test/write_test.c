/*
 * Events of other formats as marks, and losses of marks; traces of all formats written as ovni, compared with
 * the statistics of the input.
 */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"
#include "output/text.h"
#include "ovni/ovni.h"
#include "ovni/test/written_test.h"
#include "test/support/strength.h"

/* ---- events of each kind ---- */

enum { SPANS, INSTANTS, ARROWS_OUT, ARROWS_IN, COUNTERS };

/* Converts Chrome JSON; sets *err to the messages, to be freed. */
static void convert(const char *json, struct marks_found *m, char **err)
{
	char *const dir = make_folder();
	char out[1024];

	snprintf(out, sizeof out, "%s/out", dir);
	struct ran r =
	    run_tool((const char *const[]){ "convert", "--from=chrome", "--to=ovni", "-", out, NULL }, json,
	             strlen(json));
	cr_assert_eq(r.status, 0, "%s", r.err);
	*err = strdup(r.err);
	ran_free(&r);
	r = run_tool((const char *const[]){ "validate", "-q", "--check=state", out, NULL }, NULL, 0);
	cr_expect_eq(r.status, 0, "%s", r.err);
	ran_free(&r);
	marks_decode(m, out);
	remove_folder(dir);
}

static void expect_mark(const struct marks_found *m, unsigned type, const char *label, int64_t value,
                        uint64_t count, uint64_t ns)
{
	const struct marked *found = label != NULL ? marks_find(m, type, label) : NULL;

	for (unsigned i = 0; label == NULL && i < m->n; i++)
		if (m->list[i].type == type && m->list[i].value == value)
			found = &m->list[i];
	cr_assert_not_null(found, "type %u: %s %lld", type, label != NULL ? label : "value",
	                   (long long)value);
	cr_expect(found->count == count && found->ns == ns, "type %u: %s %lld: %llu of %llu ns", type,
	          label != NULL ? label : "value", (long long)value, (unsigned long long)found->count,
	          (unsigned long long)found->ns);
}

static void expect_loss(const char *err, const char *id, unsigned count)
{
	const char *const at = strstr(err, id);
	const char *line = at;
	char number[32];

	cr_assert_not_null(at, "%s is not in: %s", id, err);
	while (line > err && line[-1] != '\n')
		line--;
	snprintf(number, sizeof number, ": %u;", count);
	const char *const found = strstr(line, number);
	cr_expect(found != NULL && found < at, "%s: %u is not in: %s", id, count, err);
}

static const char kinds[] =
    "["
    "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":7,\"args\":{\"name\":\"server\"}},"
    "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":7,\"tid\":8,\"args\":{\"name\":\"main loop\"}},"
    "{\"name\":\"outer\",\"ph\":\"X\",\"ts\":1,\"dur\":10,\"pid\":7,\"tid\":8},"
    "{\"name\":\"inner\",\"ph\":\"X\",\"ts\":2,\"dur\":3,\"pid\":7,\"tid\":8,\"args\":{\"k\":1}},"
    "{\"name\":\"overlap\",\"ph\":\"X\",\"ts\":4,\"dur\":20,\"pid\":7,\"tid\":8},"
    "{\"name\":\"tick\",\"ph\":\"i\",\"ts\":5,\"pid\":7,\"tid\":8},"
    "{\"name\":\"load\",\"ph\":\"C\",\"ts\":6,\"pid\":7,\"tid\":8,\"args\":{\"a\":3,\"b\":0}},"
    "{\"name\":\"load\",\"ph\":\"C\",\"ts\":9,\"pid\":7,\"tid\":8,\"args\":{\"a\":0,\"b\":-2}},"
    "{\"name\":\"load\",\"ph\":\"C\",\"ts\":10,\"pid\":7,\"tid\":8,\"args\":{\"a\":2.75,\"b\":1e30}},"
    "{\"name\":\"sent\",\"ph\":\"s\",\"id\":5,\"ts\":2,\"pid\":7,\"tid\":8},"
    "{\"name\":\"sent\",\"ph\":\"f\",\"id\":5,\"ts\":7,\"pid\":7,\"tid\":9},"
    "{\"name\":\"job\",\"cat\":\"j\",\"ph\":\"b\",\"id\":1,\"ts\":3,\"pid\":7,\"tid\":8},"
    "{\"name\":\"job\",\"cat\":\"j\",\"ph\":\"b\",\"id\":2,\"ts\":4,\"pid\":7,\"tid\":8},"
    "{\"name\":\"job\",\"cat\":\"j\",\"ph\":\"e\",\"id\":1,\"ts\":6,\"pid\":7,\"tid\":8},"
    "{\"name\":\"job\",\"cat\":\"j\",\"ph\":\"e\",\"id\":2,\"ts\":9,\"pid\":7,\"tid\":8},"
    "{\"name\":\"job\",\"cat\":\"j\",\"ph\":\"b\",\"id\":3,\"ts\":8,\"pid\":7,\"tid\":8},"
    "{\"name\":\"job\",\"cat\":\"j\",\"ph\":\"e\",\"id\":3,\"ts\":12,\"pid\":7,\"tid\":8}"
    "]";

Test(ovni_marks_made, kinds)
{
	struct marks_found m;
	char *err;

	convert(kinds, &m, &err);
	expect_mark(&m, SPANS, "outer", 0, 1, 10000);
	expect_mark(&m, SPANS, "inner", 0, 1, 3000);
	expect_mark(&m, SPANS, "overlap", 0, 1, 20000);
	expect_mark(&m, SPANS, "job", 0, 3, 12000);
	expect_mark(&m, INSTANTS, "tick", 0, 1, 0);
	cr_expect_str_eq(m.titles[SPANS], "spans");
	cr_expect_str_eq(m.titles[COUNTERS], "load.a");
	cr_expect_str_eq(m.titles[COUNTERS + 1], "load.b");
	expect_mark(&m, COUNTERS, NULL, 3, 2, 3000 + 14000); /* the last value lasts until the thread ends */
	expect_mark(&m, COUNTERS + 1, NULL, -2, 1, 1000);
	expect_mark(&m, COUNTERS + 1, NULL, INT64_MAX, 1, 14000);
	/* The thread, its overlapping spans, two for jobs, the other thread, the process for counters. */
	cr_expect_eq(m.streams, 6);
	cr_expect(strstr(m.names, "\nmain loop\nserver\n") != NULL, "%s", m.names);
	cr_expect(strstr(m.names, "\nmain loop (2)\nserver\n") != NULL, "%s", m.names);
	cr_expect(strstr(m.names, "\nmain loop (async 2)\nserver\n") != NULL, "%s", m.names);
	expect_loss(err, "[ovni/counter]", 3);
	expect_loss(err, "[ovni/number-rounded]", 1);
	expect_loss(err, "[ovni/number-range]", 1);
	expect_loss(err, "[ovni/fields]", 1);
	expect_loss(err, "[ovni/instant]", 1);
	expect_loss(err, "[ovni/arrow]", 2);
	expect_loss(err, "[ovni/async-span]", 3);
	free(err);
	marks_free(&m);
}

Test(ovni_marks_made, names)
{
	struct text t = { .p = NULL };
	struct marks_found m;
	char *err, expected[512];

	text_str(&t, "[{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"pid\":1,\"tid\":1,\"name\":\"");
	for (int i = 0; i < 300; i++)
		text_str(&t, "\xc3\xa9"); /* 600 bytes: cut between two characters */
	text_str(
	    &t,
	    "\"},{\"ph\":\"X\",\"ts\":3,\"dur\":1,\"pid\":1,\"tid\":1,\"name\":\"\"},"
	    "{\"ph\":\"X\",\"ts\":5,\"dur\":1,\"pid\":1,\"tid\":1,\"name\":\"a\\u0000b\"},"
	    "{\"ph\":\"X\",\"ts\":5,\"dur\":1,\"pid\":4294967296,\"tid\":0,\"name\":\"\\u001b[31m\\\"\"}]");
	text_char(&t, '\0');
	convert(t.p, &m, &err);
	for (int i = 0; i < 510; i++)
		expected[i] = i % 2 == 0 ? '\xc3' : '\xa9';
	expected[510] = '\0';
	expect_mark(&m, SPANS, expected, 0, 1, 1000);
	expect_mark(&m, SPANS, "(none)", 0, 1, 1000);
	expect_mark(&m, SPANS, "a?b", 0, 1, 1000);
	expect_mark(&m, SPANS, "\033[31m\"", 0, 1, 1000);
	expect_loss(err, "[ovni/name-changed]", 3);
	text_free(&t);
	free(err);
	marks_free(&m);
}

/* 600 nested spans: the innermost ones exceed the stack of ovniemu. */
Test(ovni_marks_made, deep)
{
	struct text t = { .p = NULL };
	struct marks_found m;
	char *err;

	text_char(&t, '[');
	for (int i = 0; i < 600; i++)
		text_printf(&t, "%s{\"name\":\"d\",\"ph\":\"X\",\"ts\":%d,\"dur\":%d,\"pid\":1,\"tid\":1}",
		            i > 0 ? "," : "", i, 2000 - 2 * i);
	text_str(&t, "]");
	text_char(&t, '\0');
	convert(t.p, &m, &err);
	cr_expect_eq(marks_find(&m, SPANS, "d")->count, 512);
	expect_loss(err, "[ovni/too-deep]", 88);
	text_free(&t);
	free(err);
	marks_free(&m);
}

/* A thread that begins two hours after the first one; overlapping spans with --lanes off. */
Test(ovni_marks_made, hours_apart)
{
	struct marks_found m;
	char *err;

	convert("[{\"name\":\"a\",\"ph\":\"X\",\"ts\":0,\"dur\":1,\"pid\":1,\"tid\":1},"
	        "{\"name\":\"b\",\"ph\":\"X\",\"ts\":7200000000,\"dur\":1,\"pid\":1,\"tid\":2}]",
	        &m, &err);
	expect_mark(&m, SPANS, "b", 0, 1, 1000);
	cr_expect_null(strstr(err, "time"), "%s", err);
	free(err);
	marks_free(&m);
}

Test(ovni_marks_made, no_events)
{
	struct marks_found m;
	char *err;

	convert("[]", &m, &err);
	cr_expect_eq(m.streams, 1);
	free(err);
	marks_free(&m);
}

/* More series of counters than there are types of marks. */
Test(ovni_marks_made, many_counters)
{
	struct text t = { .p = NULL };
	struct marks_found m;
	char *err;

	text_char(&t, '[');
	for (int i = 0; i < 100; i++)
		text_printf(
		    &t, "%s{\"name\":\"c%d\",\"ph\":\"C\",\"ts\":%d,\"pid\":1,\"tid\":1,\"args\":{\"v\":%d}}",
		    i > 0 ? "," : "", i, i, i + 1);
	text_str(&t, "]");
	text_char(&t, '\0');
	convert(t.p, &m, &err);
	expect_mark(&m, 99, NULL, 96, 1, 4000);
	expect_loss(err, "[ovni/types-full]", 4);
	text_free(&t);
	free(err);
	marks_free(&m);
}

static char *stream_of(const char *dir, const char *threads, size_t *n)
{
	char out[1024], path[1200];

	snprintf(out, sizeof out, "%s/%s", dir, threads);
	struct ran r = run_tool(
	    (const char *const[]){ "convert", "-q", "--from=chrome", "--to=ovni", threads, "-", out, NULL },
	    kinds, sizeof kinds - 1);
	cr_assert_eq(r.status, 0, "%s", r.err);
	ran_free(&r);
	snprintf(path, sizeof path, "%s/loom.tracetool/proc.7/thread.8/stream.obs", out);
	return read_whole(path, n);
}

Test(ovni_marks_made, threads)
{
	char *const dir = make_folder();
	size_t n, m;
	char *const a = stream_of(dir, "--threads=1", &n), *const b = stream_of(dir, "--threads=7", &m);

	cr_assert(a != NULL && b != NULL);
	cr_expect(n == m && memcmp(a, b, n) == 0);
	free(a);
	free(b);
	remove_folder(dir);
}

/* ---- many threads ---- */

static int convert_threads(const char *dir, int n, struct ran *r)
{
	char in[1024], out[1024];

	snprintf(in, sizeof in, "%s/%d.ndjson", dir, n);
	snprintf(out, sizeof out, "%s/%d.ovni", dir, n);
	FILE *const f = fopen(in, "w");
	cr_assert_not_null(f);
	fputs("{\"type\":\"trace\",\"version\":1,\"tool\":\"t\",\"mode\":\"interpreted\",\"rebased\":false,"
	      "\"format\":\"tick\",\"clock\":\"monotonic\"}\n"
	      "{\"type\":\"class\",\"index\":0,\"name\":\"c\",\"category\":\"c\"}\n",
	      f);
	for (int i = 0; i < n; i++) /* each in a process, and so in a folder, of its own */
		fprintf(f,
		        "{\"type\":\"track\",\"index\":%d,\"kind\":\"process\",\"name\":\"p\",\"id\":%d}\n"
		        "{\"type\":\"track\",\"index\":%d,\"kind\":\"thread\",\"name\":\"t\",\"id\":%d,"
		        "\"parent\":%d}\n"
		        "{\"kind\":\"span\",\"ts_ns\":%d,\"dur_ns\":5,\"name\":\"s\",\"class_index\":0,"
		        "\"category\":\"c\","
		        "\"track_index\":%d,\"offset\":%d}\n",
		        2 * i, i + 1, 2 * i + 1, i + 1, 2 * i, 10 * i, 2 * i + 1, i);
	fprintf(f,
	        "{\"type\":\"trace_end\",\"records\":%d,\"events\":%d,\"format\":\"tick\","
	        "\"clock\":\"monotonic\",\"losses\":{}}\n",
	        n, n);
	cr_assert_eq(fclose(f), 0);
	*r = run_tool((const char *const[]){ "convert", "-q", in, out, NULL }, NULL, 0);
	return access(out, F_OK) == 0;
}

Test(ovni_marks_made, no_more_files_than_a_folder_should_have)
{
	char *const dir = make_folder();
	struct ran r;

	cr_expect(convert_threads(dir, OVW_MAX_STREAMS, &r));
	cr_expect_eq(r.status, 0, "%d: %s", r.status, r.err);
	ran_free(&r);
	cr_expect_not(convert_threads(dir, OVW_MAX_STREAMS + 1, &r));
	cr_expect_eq(r.status, 2);
	cr_expect_not_null(strstr(r.err, "not written: each thread is a directory with two files"), "%s",
	                   r.err);
	ran_free(&r);
	remove_folder(dir);
}

/* ---- traces of all formats ---- */

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
	const bool cut = strstr(r.err, "[ovni/time-cut]") !=
	                 NULL; /* then its statistics include more than marks can hold */
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

/* Converts the first samples of a folder, or those of one name. */
static void expect_all(const char *dir, size_t max)
{
	char **const names = list_folder(dir, "");
	char path[1024];

	for (size_t i = 0, n = 0; names[i] != NULL && n < max; i++) {
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
