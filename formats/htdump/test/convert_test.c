/* Compares each event and argument of the Chrome output of a dump with the oracle. */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"
#include "htdump/test/oracle.h"
#include "test/support/strength.h"

/* ---- output for Chrome ---- */

#define SAFE_INTEGER ((UINT64_C(1) << 53) - 1) /* largest exact integer of a double */

/* An event line of the output. */
struct shown {
	uint64_t ts, dur, id, pid, tid;
	char ph;
	const char *name;
	const cJSON *args, *ids;
	cJSON *json;
};

struct output {
	const char *id_key; /* of the event id in the arguments */
	struct shown *events;
	size_t n, cap;
};

/* Returns the start of the value of a key of the outermost object of a line, or NULL. */
static const char *find_top_value(const char *line, const char *key)
{
	const size_t n = strlen(key);
	int depth = 0;

	for (const char *p = line; *p != '\0' && *p != '\n'; p++) {
		if (*p == '{' || *p == '[')
			depth++;
		else if (*p == '}' || *p == ']')
			depth--;
		if (*p != '"')
			continue;
		const char *const start = ++p;
		while (*p != '"')
			p += *p == '\\' ? 2 : 1;
		if (depth == 1 && p[1] == ':' && (size_t)(p - start) == n && memcmp(start, key, n) == 0)
			return p + 2;
	}
	return NULL;
}

/* Parses microseconds with three decimals exactly, as ns. */
static uint64_t exact_ns(const char *line, const char *key, const char *path)
{
	const char *const p = find_top_value(line, key);
	unsigned long long us = 0;
	unsigned ns = 0;
	int used = 0;

	cr_assert_not_null(p, "%s: no %s in: %.100s", path, key, line);
	cr_assert_eq(sscanf(p, "%llu.%3u%n", &us, &ns, &used), 2, "%s: %s of: %.100s", path, key, line);
	cr_assert(p[used] == ',' || p[used] == '}', "%s: %s of: %.100s", path, key, line);
	cr_assert_eq(p[used - 4], '.', "%s: %s of: %.100s", path, key, line);
	return us * 1000 + ns;
}

static uint64_t id_of(const cJSON *item, const char *what)
{
	cr_assert(item != NULL, "no %s", what);
	if (cJSON_IsString(item))
		return strtoull(item->valuestring, NULL, 10);
	cr_assert(cJSON_IsNumber(item), "%s", what);
	return (uint64_t)item->valuedouble;
}

static void add_line(struct output *o, const char *line, size_t n, const char *path)
{
	struct shown e = { .json = cJSON_ParseWithLength(line, n) };
	const cJSON *const ph = cJSON_GetObjectItemCaseSensitive(e.json, "ph");

	if (!cJSON_IsString(ph) || strlen(ph->valuestring) != 1 || strchr("Xi", *ph->valuestring) == NULL) {
		cJSON_Delete(e.json);
		return;
	}
	e.ph = *ph->valuestring;
	e.ts = exact_ns(line, "ts", path);
	e.dur = e.ph == 'X' ? exact_ns(line, "dur", path) : 0;
	e.name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(e.json, "name"));
	cr_assert_not_null(e.name, "%s", path);
	e.args = cJSON_GetObjectItemCaseSensitive(e.json, "args");
	e.pid = id_of(cJSON_GetObjectItemCaseSensitive(e.json, "pid"), "pid");
	e.tid = id_of(cJSON_GetObjectItemCaseSensitive(e.json, "tid"), "tid");
	cr_expect(e.pid <= UINT32_MAX && e.tid <= UINT32_MAX, "%s: ids beyond 32 bits", path);
	e.ids = cJSON_GetObjectItemCaseSensitive(e.json, "ids");
	e.id = id_of(cJSON_GetObjectItemCaseSensitive(e.ids, o->id_key), "event id among ids");
	if (o->n == o->cap) {
		o->cap = 2 * o->cap + 64;
		o->events = realloc(o->events, o->cap * sizeof *o->events);
		cr_assert_not_null(o->events);
	}
	o->events[o->n++] = e;
}

/* Expects no control characters and only UTF-8; cJSON accepts both. */
static void expect_clean_text(const char *text, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++) {
		const unsigned char c = (unsigned char)text[i];
		const unsigned more = c < 0x80 ? 0 : c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;

		cr_assert(c >= 0x20 || c == '\n', "%s: control character %d at %zu", path, c, i);
		cr_assert(c < 0x80 || (c >= 0xc2 && c <= 0xf4), "%s: byte %d at %zu", path, c, i);
		cr_assert_lt(more, n - i);
		for (unsigned k = 1; k <= more; k++)
			cr_assert_eq((unsigned char)text[i + k] & 0xc0, 0x80, "%s: UTF-8 at %zu", path, i);
		i += more;
	}
}

static void read_output(struct output *o, const struct ran *r, const char *id_key, const char *path)
{
	const char *end = NULL;
	cJSON *const all = cJSON_ParseWithLengthOpts(r->out, r->out_n + 1, &end, true);

	cr_assert_not_null(all, "%s: not JSON", path);
	cr_expect(cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(all, "traceEvents")), "%s", path);
	cr_expect_str_eq(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(all, "displayTimeUnit")),
	                 "ns");
	expect_clean_text(r->out, r->out_n, path);
	*o = (struct output){ .id_key = id_key };
	for (const char *p = r->out; *p != '\0';) {
		size_t n = strcspn(p, "\n");
		const char *const next = p + n + (p[n] == '\n');

		if (n > 0 && p[n - 1] == ',')
			n--;
		if (n > 0 && *p == '{')
			add_line(o, p, n, path);
		p = next;
	}
	size_t in_array = 0;
	const cJSON *item;
	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(all, "traceEvents"))
	{
		const char *const ph = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "ph"));

		in_array += ph != NULL && strcmp(ph, "M") != 0;
	}
	cr_expect_eq(in_array, o->n, "%s: an event is not on a line of its own", path);
	cJSON_Delete(all);
}

static void free_output(struct output *o)
{
	for (size_t i = 0; i < o->n; i++)
		cJSON_Delete(o->events[i].json);
	free(o->events);
}

static int order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_shown(const void *a, const void *b)
{
	const struct shown *const x = a, *const y = b;
	int c = order(x->ts, y->ts);

	c = c != 0 ? c : order(x->dur, y->dur);
	c = c != 0 ? c : order(x->id, y->id);
	return c != 0 ? c : strcmp(x->name, y->name);
}

static int compare_wanted(const void *a, const void *b)
{
	const struct oracle_event *const x = *(struct oracle_event *const *)a,
	                                 *const y = *(struct oracle_event *const *)b;
	int c = order(x->ts, y->ts);

	c = c != 0 ? c : order(x->dur, y->dur);
	c = c != 0 ? c : order(x->id, y->id);
	return c != 0 ? c : strcmp(x->name, y->name);
}

static bool same_integer(const struct oracle_field *f, const cJSON *v)
{
	const int64_t i = (int64_t)f->u;
	const bool negative = f->kind == ORACLE_SIGNED && i < 0;
	const uint64_t magnitude = negative ? -f->u : f->u;
	char text[32];

	if (magnitude <= SAFE_INTEGER)
		return cJSON_IsNumber(v) &&
		       v->valuedouble == (negative ? -(double)magnitude : (double)magnitude);
	snprintf(text, sizeof text, "%s%" PRIu64, negative ? "-" : "", magnitude);
	return cJSON_IsString(v) && strcmp(v->valuestring, text) == 0;
}

static bool same_real(const struct oracle_field *f, const cJSON *v)
{
	if (isnan(f->d))
		return cJSON_IsString(v) && strcmp(v->valuestring, "NaN") == 0;
	if (isinf(f->d))
		return cJSON_IsString(v) && strcmp(v->valuestring, f->d < 0 ? "-Infinity" : "Infinity") == 0;
	if (!cJSON_IsNumber(v))
		return false;
	return f->kind == ORACLE_FLOAT ? (float)v->valuedouble == (float)f->d : v->valuedouble == f->d;
}

static bool same_value(const struct oracle_field *f, const cJSON *v)
{
	char text[32];

	if (v == NULL)
		return false;
	switch (f->kind) {
	case ORACLE_UNSIGNED:
	case ORACLE_SIGNED:
		return same_integer(f, v);
	case ORACLE_POINTER:
		snprintf(text, sizeof text, "0x%" PRIx64, f->u);
		return cJSON_IsString(v) && strcmp(v->valuestring, text) == 0;
	case ORACLE_FLOAT:
	case ORACLE_DOUBLE:
		return same_real(f, v);
	case ORACLE_STRING:
		return cJSON_IsString(v) && strcmp(v->valuestring, f->s) == 0;
	}
	return false;
}

/* Returns true for fields that have a key of their own in the output and need not be arguments. */
static bool has_own_key(const struct oracle_event *e, const struct oracle_field *f)
{
	return f == e->named_by || (e->span && strcmp(f->key, "duration") == 0) ||
	       strcmp(f->key, "thread_id") == 0;
}

static void same_event(const struct oracle_event *want, const struct shown *got, const char *path)
{
	const cJSON *const true_tid = cJSON_GetObjectItemCaseSensitive(got->ids, "true_tid");
	size_t nargs = 0;
	char text[600] = "";

	cr_expect_eq(want->ts, got->ts, "%s: record at %" PRIu64, path, want->offset);
	cr_expect_eq(want->dur, got->dur, "%s: record at %" PRIu64, path, want->offset);
	cr_expect_eq(got->ph, want->span ? 'X' : 'i', "%s: record at %" PRIu64, path, want->offset);
	cr_expect_str_eq(got->name, want->name, "%s: record at %" PRIu64, path, want->offset);
	cr_expect_eq(want->id, got->id, "%s: record at %" PRIu64, path, want->offset);
	if (true_tid != NULL)
		cr_expect_eq(id_of(true_tid, "true_tid"), want->tid, "%s: record at %" PRIu64, path,
		             want->offset);
	else
		cr_expect_eq(got->tid, want->tid, "%s: record at %" PRIu64, path, want->offset);
	for (size_t i = 0; i < want->nfields; i++) {
		const struct oracle_field *const f = &want->fields[i];
		const cJSON *const v = cJSON_GetObjectItemCaseSensitive(got->args, f->key);

		nargs += v != NULL;
		if (v == NULL && has_own_key(want, f))
			continue;
		if (v != NULL)
			cJSON_PrintPreallocated((cJSON *)(uintptr_t)v, text, sizeof text, false);
		cr_expect(same_value(f, v),
		          "%s: record at %" PRIu64 ": %s is %s, should be %" PRIu64 " %.17g %s", path,
		          want->offset, f->key, v != NULL ? text : "missing", f->u, f->d,
		          f->s != NULL ? f->s : "");
	}
	cr_expect_eq((size_t)cJSON_GetArraySize(got->args), nargs, "%s: record at %" PRIu64 ": %d arguments",
	             path, want->offset, cJSON_GetArraySize(got->args));
}

/* Spans of a tid are apart or nested, so that viewers can draw them. */
static void expect_nested(const struct output *o, const char *path)
{
	for (size_t i = 0; i < o->n; i++)
		for (size_t k = 0; k < o->n; k++) {
			const struct shown *const a = &o->events[i], *const b = &o->events[k];

			if (a->ph != 'X' || b->ph != 'X' || a->tid != b->tid || a->pid != b->pid)
				continue;
			cr_expect(
			    !(a->ts < b->ts && b->ts < a->ts + a->dur && a->ts + a->dur < b->ts + b->dur),
			    "%s: %s and %s overlap on tid %" PRIu64, path, a->name, b->name, a->tid);
		}
}

/* A tid of the output belongs to one thread.  With lanes off, a thread also has one tid. */
static void expect_tracks(struct oracle_event *const *want, const struct output *o, bool lanes,
                          const char *path)
{
	for (size_t i = 0; i < o->n; i++)
		for (size_t k = 0; k < i; k++) {
			const bool same_tid = o->events[i].tid == o->events[k].tid;

			if (!want[i]->span || !want[k]->span)
				continue;
			cr_expect(!same_tid || want[i]->tid == want[k]->tid,
			          "%s: two threads on tid %" PRIu64, path, o->events[i].tid);
			cr_expect(lanes || same_tid || want[i]->tid != want[k]->tid,
			          "%s: two tids for one thread", path);
		}
}

/* Subtracts the earliest time from all times. */
static void rebase(struct oracle *o)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < o->n; i++)
		first = o->events[i].ts < first ? o->events[i].ts : first;
	for (size_t i = 0; i < o->n; i++)
		o->events[i].ts -= first;
}

enum variant { UNCHANGED, NO_LANES, REBASED };

static void compare_file(const char *path, enum variant variant)
{
	static const char *const options[] = { "--lanes=on", "--lanes=off", "--rebase" };
	const char *const args[] = {
		"convert", options[variant], "--ids", "--to", "chrome", path, "-", NULL
	};
	const bool lanes = variant != NO_LANES;
	struct ran r = run_tool(args, NULL, 0);
	struct oracle o;
	struct output got;
	size_t n;
	char *const p = read_whole(path, &n);

	cr_assert_not_null(p, "%s", path);
	cr_assert_eq(r.status, 0, "%s: exit status %d: %s", path, r.status, r.err);
	oracle_decode(&o, (const unsigned char *)p, n);
	cr_assert_null(o.fault, "%s: %s", path, o.fault);
	if (variant == REBASED)
		rebase(&o);
	read_output(&got, &r, o.id_key, path);
	cr_expect_eq(got.n, o.n, "%s: %zu events, should be %zu", path, got.n, o.n);
	struct oracle_event **const want = calloc(o.n + 1, sizeof *want);
	cr_assert_not_null(want);
	for (size_t i = 0; i < o.n; i++)
		want[i] = &o.events[i];
	qsort(want, o.n, sizeof *want, compare_wanted);
	if (got.n > 0)
		qsort(got.events, got.n, sizeof *got.events, compare_shown);
	for (size_t i = 0; i < o.n && i < got.n; i++)
		same_event(want[i], &got.events[i], path);
	if (got.n == o.n)
		expect_tracks(want, &got, lanes, path);
	if (lanes)
		expect_nested(&got, path);
	free(want);
	free_output(&got);
	oracle_free(&o);
	ran_free(&r);
	free(p);
}

static void compare_folder(const char *dir)
{
	char **const names = list_folder(dir, ".htdump");
	char path[1024];

	cr_expect_not_null(names[0], "nothing in %s", dir);
	for (size_t i = 0; names[i] != NULL; i++) {
		if (!strength_takes(names[i], 3))
			continue;
		snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		compare_file(path, UNCHANGED);
		compare_file(path, NO_LANES);
		/* Rebased times are signed: 2^63 ns is the limit. */
		if (strcmp(names[i], "max-integers.htdump") != 0)
			compare_file(path, REBASED);
	}
	list_free(names);
}

Test(htdump_convert, good_samples_equal_the_oracle)
{
	compare_folder("testdata/htdump/good");
}

Test(htdump_convert, real_traces_equal_the_oracle)
{
	char dir[1000];

	snprintf(dir, sizeof dir, "%s/htdump", real_traces());
	compare_folder(dir);
}
