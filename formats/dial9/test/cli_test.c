/*
 * The program on dial9 samples and real traces: findings, whichever way the bytes come; `convert` against
 * the oracle; rules against samples; `stats` against EXPECTED.json; short sweeps of damage, whose full
 * ones fuzz_replay makes.
 */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "cmd/test/samples_test_util.h"
#include "dial9/test/oracle.h"
#include "format/registry.h"
#include "test/fuzz/fuzz_sweep.h"
#include "test/fuzz/strict_json.h"

/* ---- samples ---- */

#define GOOD "testdata/dial9/good"
#define BAD "testdata/dial9/bad"

static const struct samples samples = { .suffix = ".dial9" };

Test(dial9_cli, bad_samples_say_what_is_expected)
{
	expect_samples(&samples, BAD);
}

Test(dial9_cli, good_samples_are_clean)
{
	expect_sound_samples(&samples, GOOD);
}

/* The readable part of a broken trace makes whole documents. */
Test(dial9_cli, bad_samples_give_whole_documents)
{
	char **const names = list_folder(BAD, ".dial9");
	char path[1024];

	for (size_t i = 0; names[i] != NULL; i++) {
		snprintf(path, sizeof path, BAD "/%s", names[i]);
		struct ran r = run_tool(
		    (const char *const[]){ "convert", "--keep-partial", "--to", "chrome", path, "-", NULL },
		    NULL, 0);
		cJSON *const json = cJSON_Parse(r.out);
		cr_expect_not_null(json, "%s: no JSON", path);
		cr_expect(r.status >= 0 && r.status <= 2, "%s: exit status %d", path, r.status);
		cJSON_Delete(json);
		ran_free(&r);
	}
	list_free(names);
}

/* A finding includes the wrong value. */
Test(dial9_cli, messages_have_the_value)
{
	static const char *const rows[][2] = {
		{ "unknown-element-type", "element type in field \"list\" of \"Own\" is 0x10; the event" },
		{ "presence-byte", "presence byte in field \"maybe\" of \"Own\" is 0x02; the event" },
		{ "nesting", "depth in field " },
	};
	char path[200];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		snprintf(path, sizeof path, "testdata/dial9/bad/%s.dial9", rows[i][0]);
		struct ran r = run_tool((const char *const[]){ "validate", path, NULL }, NULL, 0);
		cr_expect_not_null(strstr(r.out, rows[i][1]), "%s", r.out);
		ran_free(&r);
	}
}

Test(dial9_cli, samples_are_claimed_by_this_format_alone)
{
	char **const names = list_folder(GOOD, ".dial9");
	char path[1024];

	for (size_t i = 0; names[i] != NULL; i++) {
		size_t n;
		snprintf(path, sizeof path, GOOD "/%s", names[i]);
		char *const p = read_whole(path, &n);
		for (const struct format *const *f = formats; *f != NULL; f++)
			if ((*f)->reader != NULL)
				cr_expect_eq((*f)->reader->probe(slice_of(p, n), true) > 0,
				             strcmp((*f)->name, "dial9") == 0, "%s and %s", path, (*f)->name);
		free(p);
	}
	list_free(names);
}

/* ---- convert ---- */

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
	if (from != NULL) /* the end of the event follows, and a comma unless it is the last */
		text[strlen(text) - (text[strlen(text) - 1] == ',' ? 2 : 1)] = '\0';
	return text;
}

static void expect_arguments(const struct d9o *o, size_t i, const char *line, const char *path)
{
	char *const want = d9o_arguments(o, i), *const got = arguments_of(line);
	cJSON *const a = cJSON_Parse(want), *const b = cJSON_Parse(got);

	/* cJSON refuses a NUL in text: then both are compared as bytes */
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
static void agree_with_oracle(const char *path, size_t edge)
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
		agree_with_oracle(path, SIZE_MAX / 2);
	}
	list_free(names);
}

/* A number in ten bytes where one suffices, and its time, need no double. */
Test(dial9_convert, the_largest_numbers)
{
	agree_with_oracle(GOOD "/max-integers.dial9", 1);
}

Test(dial9_convert, real_traces)
{
	const char *const dir = real_traces();
	char path[1024];

	snprintf(path, sizeof path, "%s/dial9/block-in-place.bin", dir);
	agree_with_oracle(path, 1000);
	snprintf(path, sizeof path, "%s/dial9/metrics-service.bin", dir);
	agree_with_oracle(path, 1000);
}

/* ---- rules ---- */

/* Rules that no small file provokes, and the tests that do. */
static const char *const elsewhere[] = {
	"dial9/bad-magic",       /* cli.test: only when the format is named */
	"dial9/not-in-document", /* cli.test: only with --from-dialect 0.3 */
	"dial9/names-late",      /* cli.test: only on a pipe */
	"dial9/limit",           /* dial9_limits: a file of some MB; so too the next one */
	"dial9/pool-limit",      NULL,
};

static bool is_elsewhere(const char *id)
{
	for (size_t i = 0; elsewhere[i] != NULL; i++)
		if (strcmp(elsewhere[i], id) == 0)
			return true;
	return false;
}

static bool has_prefix(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* A sample is named after its rule, and expects nothing else. */
static bool provokes(const char *name, const char *id)
{
	const char *const words = strchr(id, '/') + 1;
	char path[1024], line[200];
	bool found = false;
	size_t n;

	if (!has_prefix(name, words))
		return false;
	snprintf(path, sizeof path, BAD "/%s", name);
	snprintf(line, sizeof line, "%s ", id);
	char *const text = read_whole(path, &n);
	cr_assert_not_null(text, "%s", path);
	for (char *row = strtok(strchr(text, '\n'), "\n"); row != NULL; row = strtok(NULL, "\n")) {
		found = found || has_prefix(row, line);
		cr_expect(has_prefix(row, line), "%s: %s", path, row);
	}
	free(text);
	return found;
}

Test(dial9_rules, every_rule_has_a_bad_sample)
{
	char **const names = list_folder(BAD, ".expect");
	const struct format *const f = format_by_name("dial9");

	cr_assert_not_null(names[0]);
	for (const struct rule *r = f->rules; r->id != NULL; r++) {
		bool found = false;
		for (size_t i = 0; names[i] != NULL; i++)
			found = provokes(names[i], r->id) || found;
		cr_expect(found != is_elsewhere(r->id), "%s", r->id);
	}
	list_free(names);
}

/* ---- stats ---- */

/* EXPECTED.json counts events as frames, with symbols at time 0 and metadata, perhaps at wall time, which the
 * vocabulary makes structure. */

static uint64_t count_of(const cJSON *rows, const char *name)
{
	const cJSON *row;
	uint64_t count = 0;

	cJSON_ArrayForEach(row, rows)
	{
		const char *const n = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, "name"));
		if (n != NULL && strcmp(n, name) == 0)
			count += number_at(row, "count");
	}
	return count;
}

/* Frames by their tags, as in EXPECTED.json, and by the program's names. */
static void frames_agree(const cJSON *classes, const cJSON *frames)
{
	static const char *const names[][2] = { { "header", "Header" },
		                                { "1", "Schema" },
		                                { "3", "StringPool" },
		                                { "4", "StackPool" },
		                                { "5", "TimestampReset" } };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		cr_expect_eq(count_of(classes, names[i][1]),
		             cJSON_HasObjectItem(frames, names[i][0]) ? number_at(frames, names[i][0]) : 0,
		             "frames %s", names[i][1]);
}

/* Events that the vocabulary makes structure. */
static const char *const structure[] = { "SymbolTableEntry", "CallframeDefEvent", "SegmentMetadataEvent" };

static bool is_structure(const char *name)
{
	for (size_t i = 0; i < sizeof structure / sizeof structure[0]; i++)
		if (strcmp(name, structure[i]) == 0)
			return true;
	return false;
}

/* The first and last time of all others. */
static void times_of(const char *path, uint64_t *first, uint64_t *last)
{
	struct d9o o;
	size_t n;
	unsigned char *const p = (unsigned char *)read_unpacked(path, &n);

	*first = UINT64_MAX;
	*last = 0;
	d9o_decode(&o, p, n);
	for (size_t i = 0; i < o.nevents; i++) {
		const uint64_t ts = o.events[i].ts;
		if (is_structure(o.schemas[o.events[i].schema].name))
			continue;
		*first = ts < *first ? ts : *first;
		*last = ts > *last ? ts : *last;
	}
	d9o_free(&o);
	free(p);
}

static void agree_with_stats(const char *dir, const cJSON *want, const char *text)
{
	char path[1024];
	uint64_t first, last;
	const cJSON *c, *in;
	uint64_t apart = 0;

	(void)text;
	snprintf(path, sizeof path, "%s/%s", dir, want->string);
	cJSON *const report = stats_of(path, &in);
	const cJSON *const rows = cJSON_GetObjectItemCaseSensitive(in, "classes");
	for (size_t i = 0; i < sizeof structure / sizeof structure[0]; i++)
		apart += count_of(rows, structure[i]);
	cr_expect_eq(number_at(in, "events") + apart, number_at(want, "events"), "%s", path);
	times_of(path, &first, &last);
	cr_expect_eq(number_at(in, "first_ns"), first, "%s", path);
	cr_expect_eq(number_at(in, "last_ns"), last, "%s", path);
	cJSON_ArrayForEach(c, cJSON_GetObjectItemCaseSensitive(want, "names"))
	    cr_expect_eq(count_of(rows, c->string), (uint64_t)c->valuedouble, "%s: %s", path, c->string);
	frames_agree(cJSON_GetObjectItemCaseSensitive(in, "classes"),
	             cJSON_GetObjectItemCaseSensitive(want, "frames"));
	cJSON_Delete(report);
}

Test(dial9_stats, agrees_with_expected)
{
	const char *const dir = real_traces();
	char next[1000];

	snprintf(next, sizeof next, "%s/next", dir);
	cr_expect_eq(each_expected(dir, "dial9/", agree_with_stats), 2);
	cr_expect_eq(each_expected(next, "dial9/", agree_with_stats), 3);
}

/* ---- sweeps ---- */

static void sweep(const char *name, size_t stride)
{
	struct fuzz_swept swept;
	char path[256];
	size_t n;

	snprintf(path, sizeof path, "testdata/dial9/good/%s.dial9", name);
	char *const p = read_whole(path, &n);
	cr_assert_not_null(p, "%s", path);
	const struct fuzz_sweep s = { .p = p,
		                      .n = n,
		                      .format = format_by_name("dial9"),
		                      .light = true,
		                      .stride = stride,
		                      .sparse = stride,
		                      .full_every = 64 };
	cr_expect(fuzz_sweep_run(&s, &swept), "%s: %s %zu to %d: %s", path,
	          swept.byte < 0 ? "cut at" : "changed byte", swept.place, swept.byte, swept.result.fault);
	cr_expect_gt(swept.prefixes, 0);
	free(p);
}

Test(dial9_sweep, every_good_sample)
{
	static const char *const names[] = { "document", "all-types", "all-types-0.4", "segments", "symbols",
		                             "pools",    "late",      "annotations",   "tracks",   "deep" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		sweep(names[i], 3);
}
