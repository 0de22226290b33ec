/*
 * Events of Heph traces: compares the output of `convert` with the oracle, event by event and argument by
 * argument; compares the counts of `stats` with EXPECTED.json; checks user rules.
 */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "cmd/test/samples_test_util.h"
#include "heph/test/build.h"
#include "heph/test/oracle.h"

#define GOOD "testdata/heph/good"
#define SAFE_INTEGER ((UINT64_C(1) << 53) - 1) /* a double represents all integers up to this */

/* Returns the microseconds with three decimals after a key, as ns. */
static uint64_t exact_ns(const char *line, const char *key)
{
	unsigned long long us = 0;
	unsigned ns = 0;
	const char *const at = strstr(line, key);

	cr_assert_not_null(at, "no %s in: %.200s", key, line);
	cr_assert_eq(sscanf(at + strlen(key), "%llu.%3u", &us, &ns), 2, "%s of: %.200s", key, line);
	return us * 1000 + ns;
}

static void expect_text(const cJSON *json, const char *s, size_t n, const char *path)
{
	const char *const got = cJSON_GetStringValue(json);

	cr_assert_not_null(got, "%s: no text where %.*s should be", path, (int)n, s);
	/* cJSON ends a text at a NUL */
	cr_expect(strlen(got) == strnlen(s, n) && memcmp(got, s, strlen(got)) == 0, "%s: %s, not %.*s", path,
	          got, (int)n, s);
}

static void expect_integer(const cJSON *json, uint64_t bits, bool is_signed, const char *path)
{
	const bool negative = is_signed && bits >> 63 != 0;
	const uint64_t size = negative ? 0 - bits : bits;
	char text[32];

	if (size <= SAFE_INTEGER) {
		cr_assert(cJSON_IsNumber(json), "%s: no number", path);
		cr_expect_eq(json->valuedouble, negative ? -(double)size : (double)size, "%s: %f", path,
		             json->valuedouble);
		return;
	}
	snprintf(text, sizeof text, "%s%" PRIu64, negative ? "-" : "", size);
	expect_text(json, text, strlen(text), path);
}

static void expect_double(const cJSON *json, double want, const char *path)
{
	if (isfinite(want)) {
		cr_assert(cJSON_IsNumber(json), "%s: no number", path);
		cr_expect(json->valuedouble == want && signbit(json->valuedouble) == signbit(want),
		          "%s: %.17g, not %.17g", path, json->valuedouble, want);
		return;
	}
	const char *const text = isnan(want) ? "NaN" : want < 0 ? "-Infinity" : "Infinity";
	expect_text(json, text, strlen(text), path);
}

static void expect_value(const cJSON *json, unsigned type, const struct heph_oracle_value *v,
                         const char *path)
{
	if (type == 4)
		expect_text(json, v->s, v->n, path);
	else if (type == 3)
		expect_double(json, heph_oracle_double(v->bits), path);
	else
		expect_integer(json, v->bits, type == 2, path);
}

static void expect_attribute(const cJSON *json, const struct heph_oracle_attribute *a, const char *path)
{
	if ((a->type & 128) == 0) {
		expect_value(json, a->type, a->values, path);
		return;
	}
	cr_assert(cJSON_IsArray(json), "%s: no array", path);
	cr_assert_eq((size_t)cJSON_GetArraySize(json), a->n, "%s: an array of another size", path);
	for (size_t i = 0; i < a->n; i++)
		expect_value(cJSON_GetArrayItem(json, (int)i), a->type & 127, &a->values[i], path);
}

static void expect_event(const char *line, size_t n, const struct heph_oracle_event *e, const char *path)
{
	cJSON *const json = cJSON_ParseWithLength(line, n);
	const cJSON *const args = cJSON_GetObjectItemCaseSensitive(json, "args");
	const cJSON *const ids = cJSON_GetObjectItemCaseSensitive(json, "ids");
	const cJSON *const tid = cJSON_GetObjectItemCaseSensitive(ids, "true_tid");
	const cJSON *arg = args != NULL ? args->child : NULL;

	expect_text(cJSON_GetObjectItemCaseSensitive(json, "name"), e->name, e->name_n, path);
	cr_expect_eq(exact_ns(line, ",\"ph\":\"X\",\"ts\":"), e->start, "%s: start of: %.200s", path, line);
	cr_expect_eq(exact_ns(line, ",\"dur\":"), e->end - e->start, "%s: duration of: %.200s", path, line);
	cr_assert_not_null(tid, "%s: no thread in: %.200s", path, line);
	expect_integer(tid, e->substream, false, path);
	const cJSON *const counter = cJSON_GetObjectItemCaseSensitive(ids, "stream_counter");
	cr_assert_not_null(counter, "%s: no counter in: %.200s", path, line);
	expect_integer(counter, e->counter, false, path);
	/* all attributes in order, and nothing else */
	for (size_t i = 0; i < e->n; i++, arg = arg->next) {
		cr_assert_not_null(arg, "%s: %zu attributes in: %.200s", path, i, line);
		cr_expect(strlen(arg->string) == e->attributes[i].name_n &&
		              memcmp(arg->string, e->attributes[i].name, strlen(arg->string)) == 0,
		          "%s: attribute %s in: %.200s", path, arg->string, line);
		expect_attribute(arg, &e->attributes[i], path);
	}
	cr_expect_null(arg, "%s: more arguments in: %.200s", path, line);
	cJSON_Delete(json);
}

static void expect_document(const struct ran *r, const struct heph_oracle *o, const char *path)
{
	const char *end = NULL;
	cJSON *const all = cJSON_ParseWithLengthOpts(r->out, r->out_n + 1, &end, true);
	const cJSON *const other = cJSON_GetObjectItemCaseSensitive(all, "otherData");
	const cJSON *const epoch = cJSON_GetObjectItemCaseSensitive(other, "epoch_ns");

	cr_assert_not_null(other, "%s: not JSON", path);
	if (o->epoch_known)
		expect_integer(epoch, o->epoch, false, path);
	else
		cr_expect(cJSON_IsNull(epoch), "%s: an epoch", path);
	cJSON_Delete(all);
}

static void expect_agreement(const char *path)
{
	struct heph_oracle o;
	size_t n, shown = 0;
	char *const p = read_whole(path, &n);

	cr_assert_not_null(p, "%s", path);
	heph_oracle_decode(&o, (const unsigned char *)p, n);
	cr_assert_null(o.fault, "%s: %s", path, o.fault);
	struct ran r =
	    run_tool((const char *const[]){ "convert", "--to", "chrome", "--ids", path, "-", NULL }, NULL, 0);
	cr_expect_eq(r.status, 0, "%s: exit status %d: %s", path, r.status, r.err);
	expect_document(&r, &o, path);
	for (const char *line = r.out; *line != '\0';) {
		const size_t length = strcspn(line, "\n");
		const char *const mark = strstr(line, "\",\"cat\":\"event\",\"ph\":\"X\",");
		if (mark != NULL && mark < line + length) {
			cr_assert_lt(shown, o.n, "%s: too many events", path);
			expect_event(line, length - (line[length - 1] == ','), &o.events[shown++], path);
		}
		line += length + (line[length] == '\n');
	}
	cr_expect_eq(shown, o.n, "%s: %zu events", path, shown);
	ran_free(&r);
	heph_oracle_free(&o);
	free(p);
}

/* Returns true for samples whose arguments are renamed (names_are_unique), or whose events have attributes of
 * tracetool (own_test.c). */
static bool is_excluded(const char *name)
{
	return strcmp(name, "own-names.bin.log") == 0 || strcmp(name, "own-words.bin.log") == 0;
}

Test(heph_convert, good_samples_equal_the_oracle)
{
	char **const names = list_folder(GOOD, ".bin.log");
	char path[1024];

	cr_assert_not_null(names[0]);
	for (size_t i = 0; names[i] != NULL; i++) {
		snprintf(path, sizeof path, GOOD "/%s", names[i]);
		if (!is_excluded(names[i]))
			expect_agreement(path);
	}
	list_free(names);
}

Test(heph_convert, real_traces_equal_the_oracle)
{
	const char *const dir = real_traces();
	char folder[900], path[1024];

	snprintf(folder, sizeof folder, "%s/heph", dir);
	char **const names = list_folder(folder, ".bin.log");
	cr_assert_not_null(names[0]);
	for (size_t i = 0; names[i] != NULL; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		expect_agreement(path);
	}
	list_free(names);
}

static void expect_in_output(const char *path, const char *want)
{
	struct ran r = run_tool(
	    (const char *const[]){ "convert", "--quiet", "--to", "chrome", path, "-", NULL }, NULL, 0);

	cr_expect_not_null(strstr(r.out, want), "%s: no %s in: %s", path, want, r.out);
	ran_free(&r);
}

/* Repeated names, and those of fields that tracetool adds, get a number. */
Test(heph_convert, names_are_unique)
{
	expect_in_output(GOOD "/own-names.bin.log", "\"args\":{\"stream_counter (2)\":77,\"end\":78,"
	                                            "\"stream_counter (2) (2)\":79}");
	expect_in_output("testdata/heph/bad/attribute-repeated.bin.log",
	                 "\"args\":{\"x\":1,\"x (2)\":2,\"x (3)\":3,\"x (4)\":\"four\"}");
	expect_in_output("testdata/heph/bad/end-before-start.bin.log",
	                 "\"ts\":0.020,\"dur\":0.000,\"pid\":1,\"tid\":1,\"args\":{"
	                 "\"end\":10,\"end (2)\":7}");
}

/* Numbers are added to all of a name, also after a NUL. */
Test(heph_convert, numbered_names_are_whole)
{
	struct heph_build b;

	heph_init(&b);
	heph_event(&b, 1, 1, 1, 2, "e");
	for (unsigned i = 0; i < 2; i++) {
		heph_u16(&b, 3);
		heph_bytes(&b, "a\0b", 3);
		heph_u8(&b, 1);
		heph_u64(&b, i);
	}
	heph_end(&b);
	struct ran r = run_tool((const char *const[]){ "cat", "-", NULL }, b.p, b.n);
	cr_expect_not_null(strstr(r.out, " \"a\\x00b\"=0 \"a\\x00b (2)\"=1"), "%s", r.out);
	ran_free(&r);
	heph_free(&b);
}

/* An unreadable attribute does not affect those before it. */
Test(heph_convert, what_is_whole_is_kept)
{
	static const char *const samples[] = { "unknown-type",
		                               "untyped-array",
		                               "left-over",
		                               "past-packet-string",
		                               "past-packet-array",
		                               "past-packet-array-string",
		                               "past-packet-attribute-name",
		                               "past-packet-value" };
	char path[256];

	for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
		snprintf(path, sizeof path, "testdata/heph/bad/%s.bin.log", samples[i]);
		expect_in_output(path, "{\"name\":\"first\",\"cat\":\"event\",\"ph\":\"X\",\"ts\":0.010,"
		                       "\"dur\":0.010,\"pid\":1,\"tid\":1,"
		                       "\"args\":{\"kept\":1},\"ids\":{\"stream_counter\":0}}");
		expect_in_output(path, "{\"name\":\"plain\"");
	}
}

/* ---- stats ---- */

static void agree_on_names(const cJSON *in, const cJSON *want, const char *path)
{
	const cJSON *const rows = cJSON_GetObjectItemCaseSensitive(in, "spans");
	const cJSON *row;
	uint64_t sum = 0, count = 0;

	cJSON_ArrayForEach(row, rows)
	{
		const char *const name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, "name"));
		cr_expect_eq(number_at(row, "count"),
		             number_at(cJSON_GetObjectItemCaseSensitive(want, "names"), name), "%s: %s", path,
		             name);
		sum += number_at(cJSON_GetObjectItemCaseSensitive(row, "dur_ns"), "sum");
		count++;
	}
	cr_expect_eq(sum, number_at(want, "dur_sum_ns"), "%s", path);
	cr_expect_eq(count, (uint64_t)cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(want, "names")),
	             "%s", path);
}

/* Compares the types of attributes, and the epoch that `info` shows. */
static void agree_on_bytes(const cJSON *want, const char *path)
{
	const cJSON *const types = cJSON_GetObjectItemCaseSensitive(want, "attribute_types");
	const cJSON *const metadata = cJSON_GetObjectItemCaseSensitive(want, "metadata");
	struct heph_oracle o;
	size_t n;
	char *const p = read_whole(path, &n), key[80];

	heph_oracle_decode(&o, (const unsigned char *)p, n);
	for (unsigned type = 0; type < 256; type++) {
		snprintf(key, sizeof key, "0x%x", type);
		const cJSON *const count = cJSON_GetObjectItemCaseSensitive(types, key);
		cr_expect_eq(o.types[type], count != NULL ? (size_t)count->valuedouble : 0, "%s: type %s",
		             path, key);
	}
	/* cJSON has doubles only */
	cr_expect_eq((double)o.epoch, cJSON_GetObjectItemCaseSensitive(metadata, "epoch")->valuedouble, "%s",
	             path);
	struct ran r = run_tool((const char *const[]){ "info", path, NULL }, NULL, 0);
	snprintf(key, sizeof key, " 0 is %" PRIu64 " ns after 1970", o.epoch);
	cr_expect_not_null(strstr(r.out, key), "%s: no%s in: %s", path, key, r.out);
	ran_free(&r);
	heph_oracle_free(&o);
	free(p);
}

static void agree_with_expected(const char *dir, const cJSON *want, const char *text)
{
	static const char *const keys[] = { "events", "first_ns", "last_ns", "tracks" };
	char path[1024];
	const cJSON *in;

	(void)text;
	snprintf(path, sizeof path, "%s/%s", dir, want->string);
	cJSON *const report = stats_of(path, &in);
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		cr_expect_eq(number_at(in, keys[i]), number_at(want, keys[i]), "%s: %s", path, keys[i]);
	agree_on_names(in, want, path);
	agree_on_bytes(want, path);
	cJSON_Delete(report);
}

Test(heph_stats, agrees_with_expected)
{
	cr_expect_gt(each_expected(real_traces(), "heph/", agree_with_expected), 0);
}

/* ---- rules of users ---- */

#define SAMPLE "testdata/heph/good/interleaved.bin.log"

static struct ran run_with_rules(const char *command, const char *rules)
{
	char *const dir = make_folder();
	char path[1024], text[1024];

	snprintf(path, sizeof path, "%s/own.yaml", dir);
	snprintf(text, sizeof text, "format: heph\n%s", rules);
	cr_assert(write_whole(path, text, strlen(text)));
	struct ran r =
	    run_tool((const char *const[]){ command, "--vocabulary", path, SAMPLE, NULL }, NULL, 0);
	cr_expect_eq(r.status, 0, "%s", r.err);
	remove_folder(dir);
	return r;
}

/* Renames the events of one name; the attribute is available although `stats` wants no fields. */
Test(heph_schema, named_by_an_attribute)
{
	struct ran r =
	    run_with_rules("stats", "events:\n  - {event: event, named: \"ev*\", name: \"even {i}\"}\n");

	cr_expect_not_null(strstr(r.out, "even 0"), "%s", r.out);
	cr_expect_not_null(strstr(r.out, "odd"), "%s", r.out);
	cr_expect_null(strstr(r.out, "even 1 "), "%s", r.out);
	ran_free(&r);
}

Test(heph_schema, names_of_substreams)
{
	struct ran r =
	    run_with_rules("cat", "tracks: {thread: \"actor {id}\", threads: {1: first}}\nevents: []\n");

	cr_expect_not_null(strstr(r.out, "track=\"actor 0\" name=even"), "%s", r.out);
	cr_expect_not_null(strstr(r.out, "track=first name=odd"), "%s", r.out);
	ran_free(&r);
}
