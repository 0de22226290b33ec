/* Reads the output of `stats --format json --full`, token by token: integers above 2^53 must stay exact, and
 * a tree of all values would need forty times the memory.  A file may be edited or hostile: each number is
 * checked, and histograms cannot have more numbers than their group. */
#include "stats/stats.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/compiler.h"
#include "json/number.h"
#include "json/token.h"
#include "model/trace_origin.h"

struct reading {
	struct stats_file *file;
	struct stats *s; /* the present input */
	struct json json;
	const char *end;
	bool no_memory;
};

static bool fail(struct reading *r, const char *at, const char *wrong)
{
	if (r->file->why[0] == '\0' && !r->no_memory)
		snprintf(r->file->why, sizeof r->file->why, "byte %zu: %.400s",
		         at != NULL ? (size_t)(at - r->file->text.p) : 0, wrong);
	return false;
}

static bool out_of_memory(struct reading *r)
{
	r->no_memory = true;
	return false;
}

/* ---- values ---- */

static bool get_u64(struct reading *r, const struct json_token *v, uint64_t *to)
{
	return (v->kind == JSON_UINT && json_digits_any(v->p, (uint32_t)(v->end - v->p), to)) ||
	       fail(r, v->p, "an integer of 64 bits is expected");
}

/* Reads a time, which may be before 0 only if the first time of the input is. */
static bool get_ns(struct reading *r, const struct json_token *v, uint64_t *to)
{
	const bool minus = v->kind == JSON_INT;
	const uint64_t zero = r->s->zero_ns;

	if (!minus && !get_u64(r, v, to))
		return false;
	if (minus && !json_digits_any(v->p + 1, (uint32_t)(v->end - v->p) - 1, to))
		return fail(r, v->p, "an integer of 64 bits is expected");
	if (*to > (minus ? zero : UINT64_MAX - zero))
		return fail(r, v->p, "a time is out of range");
	*to = minus ? zero - *to : zero + *to;
	return true;
}

static bool get_sum(struct reading *r, const struct json_token *v, uint128 *to)
{
	*to = 0;
	for (const char *p = v->p; v->kind == JSON_UINT && p < v->end; p++) {
		*to = *to * 10 + (unsigned)(*p - '0');
		if (*to > (uint128)1 << 100)
			return fail(r, v->p, "a sum is above 2^100");
	}
	return v->kind == JSON_UINT || fail(r, v->p, "an integer is expected");
}

static bool get_total(struct reading *r, const struct json_token *v, struct total *to)
{
	uint128 sum;

	if (!get_sum(r, v, &sum))
		return false;
	*to = (struct total){ (uint64_t)sum, (uint64_t)(sum >> 64) };
	return true;
}

static bool get_bool(struct reading *r, const struct json_token *v, bool *to)
{
	*to = v->kind == JSON_TRUE;
	return v->kind == JSON_TRUE || v->kind == JSON_FALSE || fail(r, v->p, "true or false is expected");
}

/* A number, or "inf", "-inf" or "nan". */
static bool get_any_f64(struct reading *r, const struct json_token *v, double *to)
{
	const struct slice s = v->end != NULL ? json_token_text(v) : slice_of(v->p, 0);

	if ((v->kind != JSON_UINT && v->kind != JSON_INT && v->kind != JSON_NUMBER && !slice_is(s, "inf") &&
	     !slice_is(s, "-inf") && !slice_is(s, "nan")))
		return fail(r, v->p, "a number is expected");
	return decimal_read_f64(s, to) || fail(r, v->p, "a number is expected");
}

static bool get_f64(struct reading *r, const struct json_token *v, double *to)
{
	return get_any_f64(r, v, to) && (isfinite(*to) || fail(r, v->p, "a finite number is expected"));
}

static bool get_text(struct reading *r, const struct json_token *v, struct slice *to)
{
	if (v->kind == JSON_STRING || v->kind == JSON_ESCAPED) {
		*to = v->kind == JSON_STRING ? json_token_text(v)
		                             : json_unescape(&r->s->text, json_token_text(v));
		return to->p != NULL || out_of_memory(r);
	}
	return fail(r, v->p, "a text is expected");
}

/* Begins a walk; a value of another kind is a fault. */
static struct json_walk walk(struct reading *r, const struct json_token *v, enum json_kind kind)
{
	if (v->kind == kind) {
		struct json_walk w = json_walk(&r->json, v->p, r->end);
		w.lazy = true;
		return w;
	}
	fail(r, v->p, kind == JSON_OBJECT ? "an object is expected" : "a list is expected");
	return (struct json_walk){ .json = &r->json, .more = false };
}

/* Ends a walk through v.  Returns false if it did not reach the end. */
static bool walked(struct reading *r, const struct json_walk *w, struct json_token *v)
{
	v->end = w->p;
	return w->p != NULL || fail(r, r->json.error.at, r->json.error.why);
}

static bool is_key(const struct json_walk *w, const char *name)
{
	return slice_is(json_token_text(&w->key), name);
}

/* ---- spans ---- */

struct row_reading {
	struct span_row row;
	struct span_group group;
	uint64_t in_histogram, min, max;
	unsigned keys; /* bit i: the i-th key was read */
	bool has_sum, has_durations;
};

static bool count_numbers(struct reading *r, const char *at, struct row_reading *row, uint64_t n)
{
	return (n > 0 && !ckd_add(&row->in_histogram, row->in_histogram, n)) ||
	       fail(r, at, "a bucket counts at least one number, and all of them at most 2^64");
}

static bool read_values(struct reading *r, struct json_token *list, struct row_reading *row)
{
	struct json_walk w = walk(r, list, JSON_ARRAY);
	uint64_t v;

	for (unsigned n = 0; w.p != NULL && json_walk_next(&w); n++) {
		if (n == HISTOGRAM_KEPT)
			return fail(r, w.value.p, "more values than are kept");
		if (!get_u64(r, &w.value, &v) || !count_numbers(r, w.value.p, row, 1))
			return false;
		histogram_add(&row->group.durations, &r->file->pool, v);
	}
	return walked(r, &w, list);
}

static bool add_bucket(struct reading *r, const char *at, struct row_reading *row, uint64_t index, uint64_t n)
{
	if (index >= HISTOGRAM_BLOCKS * HISTOGRAM_BUCKETS)
		return fail(r, at, "there is no such bucket");
	if (!count_numbers(r, at, row, n))
		return false;
	histogram_add_bucket(&row->group.durations, &r->file->pool, (uint32_t)index, n);
	return true;
}

/* Reads digits, at most 19.  Returns their end; NULL: there are none, or more. */
static const char *plain_digits(const char *p, const char *end, uint64_t *to)
{
	const char *const first = p;

	for (*to = 0; p < end && *p >= '0' && *p <= '9'; p++)
		*to = *to * 10 + (uint64_t)(*p - '0');
	return p > first && p - first <= 19 && (*first != '0' || p - first == 1) ? p : NULL;
}

/* Reads `"317":2` as it is written.  Returns its end; NULL: it has another form. */
static const char *plain_bucket(const char *p, const char *end, uint64_t *index, uint64_t *n)
{
	if (p == end || *p != '"' || (p = plain_digits(p + 1, end, index)) == NULL || end - p < 2 ||
	    p[0] != '"' || p[1] != ':' || (p = plain_digits(p + 2, end, n)) == NULL || p == end ||
	    (*p != ',' && *p != '}'))
		return NULL;
	return p;
}

/* Most of a file is buckets: those in the usual form are read without tokens. */
static bool read_buckets(struct reading *r, struct json_token *object, struct row_reading *row)
{
	uint64_t index, n;
	const char *p = object->p + 1, *to;

	if (object->kind == JSON_OBJECT)
		while ((to = plain_bucket(p, r->end, &index, &n)) != NULL) {
			if (!add_bucket(r, p, row, index, n))
				return false;
			p = to + 1;
			if (*to == '}') {
				object->end = p;
				return true;
			}
		}
	/* the others, by tokens: from the start of the object, without those that are counted */
	const char *const done = p;
	struct json_walk w = walk(r, object, JSON_OBJECT);
	while (w.p != NULL && json_walk_next(&w)) {
		const struct slice key = json_token_text(&w.key);
		if (w.key.p < done)
			continue;
		if (!json_digits_any(key.p, key.n, &index))
			return fail(r, w.key.p, "there is no such bucket");
		if (!get_u64(r, &w.value, &n) || !add_bucket(r, w.key.p, row, index, n))
			return false;
	}
	return walked(r, &w, object);
}

static bool read_durations(struct reading *r, struct json_token *object, struct row_reading *row)
{
	struct json_walk w = walk(r, object, JSON_OBJECT);
	bool ok = true;

	while (ok && w.p != NULL && json_walk_next(&w)) {
		if (is_key(&w, "sum"))
			ok = get_total(r, &w.value, &row->group.sum);
		else if (is_key(&w, "min"))
			ok = get_u64(r, &w.value, &row->min);
		else if (is_key(&w, "max"))
			ok = get_u64(r, &w.value, &row->max);
		else if (is_key(&w, "values") || is_key(&w, "buckets")) {
			if (row->has_durations)
				return fail(r, w.value.p, "a group has one histogram");
			row->has_durations = true;
			ok = is_key(&w, "values") ? read_values(r, &w.value, row)
			                          : read_buckets(r, &w.value, row);
		}
	}
	return ok && walked(r, &w, object);
}

static bool read_field_sum(struct reading *r, struct json_token *object, struct row_reading *row)
{
	struct json_walk w = walk(r, object, JSON_OBJECT);
	bool ok = true;

	row->has_sum = true;
	while (ok && w.p != NULL && json_walk_next(&w)) {
		if (is_key(&w, "whole"))
			ok = get_total(r, &w.value, &row->group.field.whole);
		else if (is_key(&w, "real"))
			ok = get_any_f64(r, &w.value, &row->group.field.real) &&
			     (row->group.field.real >= 0 || fail(r, w.value.p, "a sum is not negative"));
		else if (is_key(&w, "values"))
			ok = get_u64(r, &w.value, &row->group.field.values);
		else if (is_key(&w, "negative"))
			ok = get_u64(r, &w.value, &row->group.field.negative);
	}
	return ok && walked(r, &w, object);
}

/* Reads a member that is a key of the groups; *is_one: it is one. */
static bool read_key(struct reading *r, const struct json_walk *w, struct slice *values, unsigned n,
                     unsigned *keys, bool *is_one)
{
	struct slice name = json_token_text(&w->key);

	if (w->key.kind == JSON_ESCAPED)
		name = json_unescape(&r->s->text, name);
	if (name.p == NULL)
		return out_of_memory(r);
	for (unsigned i = 0; i < n; i++)
		if (slice_is(name, group_by_key(&r->s->by, i))) {
			*is_one = true;
			*keys |= 1U << i;
			return get_text(r, &w->value, &values[i]);
		}
	return true;
}

/* Returns true if the numbers of the group and its histogram do not contradict each other. */
static bool fits(const struct row_reading *row)
{
	const struct span_group *const g = &row->group;
	const struct histogram *const h = &g->durations;

	return g->count > 0 && row->min <= row->max && row->in_histogram <= g->count &&
	       g->first_ns <= g->last_ns && row->row.waiting <= row->row.self &&
	       (h->count == 0 || (h->min >= histogram_bucket_low(histogram_bucket_of(row->min)) &&
	                          h->max <= histogram_bucket_high(histogram_bucket_of(row->max))));
}

static bool read_span(struct reading *r, struct json_token *object, struct span_table *table)
{
	struct row_reading d = { .has_sum = false };
	struct json_walk w = walk(r, object, JSON_OBJECT);
	const unsigned keys = group_by_count(&r->s->by);
	bool ok = true;

	while (ok && w.p != NULL && json_walk_next(&w)) {
		bool is_one = false;
		if (!read_key(r, &w, d.row.values, keys, &d.keys, &is_one))
			return false;
		if (is_one)
			continue;
		if (is_key(&w, "count"))
			ok = get_u64(r, &w.value, &d.group.count);
		else if (is_key(&w, "dur_ns"))
			ok = read_durations(r, &w.value, &d);
		else if (is_key(&w, "first_ns"))
			ok = get_ns(r, &w.value, &d.group.first_ns);
		else if (is_key(&w, "last_ns"))
			ok = get_ns(r, &w.value, &d.group.last_ns);
		else if (is_key(&w, "self_ns"))
			ok = get_sum(r, &w.value, &d.row.self);
		else if (is_key(&w, "waiting_ns"))
			ok = get_sum(r, &w.value, &d.row.waiting);
		else if (is_key(&w, "total_ns"))
			ok = get_sum(r, &w.value, &d.row.total);
		else if (is_key(&w, "recursive"))
			ok = get_u64(r, &w.value, &d.row.recursive);
		else if (is_key(&w, "bytes"))
			ok = r->s->has_bytes = get_total(r, &w.value, &d.group.bytes);
		else if (is_key(&w, "sum"))
			ok = read_field_sum(r, &w.value, &d);
		else if (is_key(&w, "other"))
			ok = get_bool(r, &w.value, &d.row.other);
	}
	if (!ok || !walked(r, &w, object))
		return false;
	if (d.keys != (1U << keys) - 1 || !d.has_durations || d.has_sum != (r->s->sum_of.n > 0))
		return fail(r, object->p, "a group lacks a key, its durations or its sum");
	if (!fits(&d))
		return fail(r, object->p, "the numbers of a group contradict each other");
	d.group.durations.min = d.min;
	d.group.durations.max = d.max;
	d.row.group = &d.group;
	ok = stats_add_span(r->file->into, table, &d.row, &r->file->pool) && !r->file->pool.failed;
	r->file->pool.n = 0; /* free for the next row */
	return ok || out_of_memory(r);
}

/* ---- instants, classes, counters ---- */

static bool read_count(struct reading *r, struct json_token *object, struct tally *t)
{
	struct json_walk w = walk(r, object, JSON_OBJECT);
	struct slice values[GROUP_KEYS_MAX];
	const unsigned n = t->grouped != NULL ? r->s->by.n : 0; /* else it has a name */
	unsigned keys = 0;
	uint64_t count = 0;
	bool ok = true, other = false;

	while (ok && w.p != NULL && json_walk_next(&w)) {
		bool is_one = false;
		if (!read_key(r, &w, values, n, &keys, &is_one))
			return false;
		if (is_one)
			continue;
		if (n == 0 && is_key(&w, "name")) {
			ok = get_text(r, &w.value, &values[0]);
			keys = 1;
		} else if (is_key(&w, "count"))
			ok = get_u64(r, &w.value, &count);
		else if (is_key(&w, "other"))
			ok = get_bool(r, &w.value, &other);
	}
	if (!ok || !walked(r, &w, object))
		return false;
	if (keys != (n > 0 ? (1U << n) - 1 : 1))
		return fail(r, object->p, "a count lacks a key");
	return stats_add_count(r->s, t, values, other, count) || out_of_memory(r);
}

static bool read_steps(struct reading *r, struct json_token *object, struct series *to)
{
	struct series_set *const set = &r->s->series;
	struct json_walk w = walk(r, object, JSON_OBJECT);
	uint64_t before = 0, n;
	int32_t last = INT32_MIN;

	while (w.p != NULL && json_walk_next(&w)) {
		struct slice key = json_token_text(&w.key);
		const bool negative = key.n > 0 && key.p[0] == '-';
		if (!json_digits_any(key.p + negative, key.n - negative, &before) ||
		    before > (UINT64_C(0x7ff) << 7) - !negative) /* NaN and infinities */
			return fail(r, w.key.p, "there is no such step");
		const int32_t number = negative ? -(int32_t)before : (int32_t)before;
		if (number <= last)
			return fail(r, w.key.p, "steps are in ascending order");
		last = number;
		if (!get_u64(r, &w.value, &n))
			return false;
		if (n == 0 || !series_add_step(set, to, number, n))
			return fail(r, w.value.p, "a step counts at least one value");
	}
	return walked(r, &w, object);
}

struct series_reading {
	struct slice name;
	struct series s;
	struct json_token steps;
};

static bool read_series(struct reading *r, struct json_token *object, uint32_t counter)
{
	struct series_reading d = { .name = { .p = NULL } };
	struct json_walk w = walk(r, object, JSON_OBJECT);
	bool ok = true;

	while (ok && w.p != NULL && json_walk_next(&w)) {
		static const struct {
			const char *key;
			size_t at;
			bool any; /* may be infinite or NaN */
		} numbers[] = {
			{ "first", offsetof(struct series, first), false },
			{ "last", offsetof(struct series, last), false },
			{ "min", offsetof(struct series, min), false },
			{ "max", offsetof(struct series, max), false },
			{ "sum", offsetof(struct series, sum), true },
			{ "held", offsetof(struct series, held), true },
			{ "held_ns", offsetof(struct series, held_ns), true },
		};
		for (size_t i = 0; ok && i < sizeof numbers / sizeof *numbers; i++)
			if (is_key(&w, numbers[i].key)) {
				double *const to = (double *)((char *)&d.s + numbers[i].at);
				ok = numbers[i].any ? get_any_f64(r, &w.value, to) : get_f64(r, &w.value, to);
			}
		if (!ok)
			return false;
		if (is_key(&w, "name"))
			ok = get_text(r, &w.value, &d.name);
		else if (is_key(&w, "count"))
			ok = get_u64(r, &w.value, &d.s.count);
		else if (is_key(&w, "first_ns"))
			ok = get_ns(r, &w.value, &d.s.first_ns);
		else if (is_key(&w, "last_ns"))
			ok = get_ns(r, &w.value, &d.s.last_ns);
		else if (is_key(&w, "steps"))
			d.steps = w.value;
	}
	if (!ok || !walked(r, &w, object))
		return false;
	if (d.name.p == NULL || d.steps.p == NULL || d.s.count == 0 || d.s.min > d.s.max)
		return fail(r, object->p, "a series lacks its name, count or steps");
	struct series *to;
	if (!series_of(&r->s->series, counter, d.name, &to))
		return out_of_memory(r);
	if (to == NULL)
		return true;
	if (to->count > 0)
		return fail(r, object->p, "a counter has a series twice");
	return series_merge(&r->s->series, to, &d.s) && read_steps(r, &d.steps, to) &&
	       (!r->s->series.failed || out_of_memory(r));
}

static bool read_counter(struct reading *r, struct json_token *object)
{
	struct json_walk w = walk(r, object, JSON_OBJECT);
	struct slice name = { .p = NULL }, category = SLICE_LIT("");
	struct json_token list = { .p = NULL };
	uint64_t count = 0;
	uint32_t number;
	bool ok = true, other = false;

	while (ok && w.p != NULL && json_walk_next(&w)) {
		if (is_key(&w, "name"))
			ok = get_text(r, &w.value, &name);
		else if (is_key(&w, "category"))
			ok = get_text(r, &w.value, &category);
		else if (is_key(&w, "count"))
			ok = get_u64(r, &w.value, &count);
		else if (is_key(&w, "other"))
			ok = get_bool(r, &w.value, &other);
		else if (is_key(&w, "series"))
			list = w.value;
	}
	if (!ok || !walked(r, &w, object))
		return false;
	if (name.p == NULL || list.p == NULL || count == 0)
		return fail(r, object->p, "a counter lacks its name, count or series");
	if (!stats_add_counter(r->s, name, category, other, count, &number))
		return out_of_memory(r);
	struct json_walk items = walk(r, &list, JSON_ARRAY);
	while (ok && number != NAMES_OTHER && items.p != NULL && json_walk_next(&items))
		ok = read_series(r, &items.value, number);
	return ok && (number == NAMES_OTHER || walked(r, &items, &list));
}

/* ---- inputs ---- */

/* Reads the keys of --by; "[]" for names and categories. */
static bool read_by(struct reading *r, struct json_token *list, struct group_by *by)
{
	struct json_walk w = walk(r, list, JSON_ARRAY);
	char words[GROUP_BY_WORDS] = "", why[256];
	size_t n = 0;

	while (w.p != NULL && json_walk_next(&w)) {
		struct slice word;
		if (!get_text(r, &w.value, &word))
			return false;
		if (word.n + 2 > sizeof words - n || memchr(word.p, ',', word.n) != NULL)
			return fail(r, w.value.p, "there is no such key");
		n += (size_t)snprintf(words + n, sizeof words - n, "%s%.*s", n > 0 ? "," : "", (int)word.n,
		                      word.p);
	}
	by->n = 0;
	return walked(r, &w, list) &&
	       (n == 0 || group_by_parse(by, words, why, sizeof why) || fail(r, list->p, why));
}

/* Reads the field of a sum; with the checks of --sum, as it becomes the head of a column. */
static bool read_sum_of(struct reading *r, struct json_token *v, struct slice *field)
{
	char word[GROUP_KEY_MAX + 8], why[256];
	struct group_by by;

	if (!get_text(r, v, field))
		return false;
	const int n = (int)(field->n < GROUP_KEY_MAX ? field->n : GROUP_KEY_MAX);
	snprintf(word, sizeof word, "arg:%.*s", n, field->p);
	return field->n == 0 ||
	       (strlen(word) == 4 + field->n && group_by_parse(&by, word, why, sizeof why) && by.n == 1) ||
	       fail(r, v->p, "there is no such field");
}

/* Changes a table by name,category to a default one, whose instants are by name. */
static bool regroup(struct stats *s)
{
	static const struct group_by none = { .n = 0 };
	struct stats plain;

	stats_init(&plain);
	struct slice field = arena_copy(&plain.text, s->sum_of);
	bool ok = field.p != NULL && stats_group(&plain, &none, field) && stats_end(s) &&
	          stats_merge(&plain, s) && stats_end(&plain);
	stats_free(s);
	stats_init(s);
	field = ok ? arena_copy(&s->text, plain.sum_of) : field;
	ok = ok && field.p != NULL && stats_group(s, &none, field) && stats_merge(s, &plain);
	stats_free(&plain);
	return ok;
}

/* The table gets keys and field of its first file, unless they are given; later files must have the same. */
static bool same_groups(struct reading *r, struct json_token *full, const struct group_by *by,
                        struct slice sum_of)
{
	struct stats *const into = r->file->into;
	char has[GROUP_BY_WORDS], want[GROUP_BY_WORDS], wrong[2 * GROUP_BY_WORDS + 64];

	if (!r->file->grouped) {
		const struct slice kept = arena_copy(&into->text, sum_of);
		r->file->grouped = true;
		return (kept.p != NULL && stats_group(into, by, kept)) || out_of_memory(r);
	}
	group_by_words(by, has, sizeof has);
	group_by_words(&into->by, want, sizeof want);
	if (!group_by_is_same(by, &into->by))
		snprintf(wrong, sizeof wrong, "groups are by %s, expected: by %s", has, want);
	else if (!slice_equal(sum_of, into->sum_of))
		snprintf(wrong, sizeof wrong, "the sum is of the field \"%.*s\", expected: \"%.*s\"",
		         (int)(sum_of.n < 256 ? sum_of.n : 256), sum_of.p, (int)into->sum_of.n,
		         into->sum_of.p);
	else
		return by->n > 0 || into->by.n == 0 || regroup(into) || out_of_memory(r);
	return fail(r, full->p, wrong);
}

/* Reads "full" of an input, which precedes the tables: keys and counts. */
static bool read_full(struct reading *r, struct json_token *full, struct stats_origin *o)
{
	struct json_walk w = walk(r, full, JSON_OBJECT);
	struct group_by by = { .n = 0 };
	struct slice sum_of = SLICE_LIT("");
	struct stats *const s = r->s;
	bool ok = true;

	while (ok && w.p != NULL && json_walk_next(&w)) {
		if (is_key(&w, "by"))
			ok = read_by(r, &w.value, &by);
		else if (is_key(&w, "sum_of"))
			ok = read_sum_of(r, &w.value, &sum_of);
		else if (is_key(&w, "summed"))
			ok = get_u64(r, &w.value, &s->summed);
		else if (is_key(&w, "traces"))
			ok = get_u64(r, &w.value, &o->traces);
		else if (is_key(&w, "selected"))
			ok = get_bool(r, &w.value, &o->selected);
		else if (is_key(&w, "left_out"))
			ok = get_u64(r, &w.value, &o->left_out);
		else if (is_key(&w, "counted"))
			ok = get_u64(r, &w.value, &s->events);
		else if (is_key(&w, "unpaired"))
			ok = get_u64(r, &w.value, &s->unpaired);
	}
	if (!ok || !walked(r, &w, full))
		return false;
	if (o->traces == 0)
		return fail(r, full->p, "it is of no trace");
	return same_groups(r, full, &by, sum_of) &&
	       (stats_group(s, &r->file->into->by, r->file->into->sum_of) || out_of_memory(r));
}

static bool read_list(struct reading *r, struct json_walk *input)
{
	struct stats *const s = r->s;
	/* Spans go to the joint table at once: they are most of a file. */
	struct stats *const into = r->file->into;
	struct span_table *const spans = is_key(input, "spans")         ? &into->spans
	                                 : is_key(input, "async_spans") ? &into->async
	                                                                : NULL;
	struct tally *const tally = is_key(input, "instants")  ? &s->instants
	                            : is_key(input, "classes") ? &s->classes
	                                                       : NULL;
	const bool counters = is_key(input, "counters");
	bool ok = true;

	if (spans == NULL && tally == NULL && !counters)
		return true;
	struct json_walk w = walk(r, &input->value, JSON_ARRAY);
	while (ok && w.p != NULL && json_walk_next(&w))
		ok = spans != NULL   ? read_span(r, &w.value, spans)
		     : tally != NULL ? read_count(r, &w.value, tally)
		                     : read_counter(r, &w.value);
	return ok && walked(r, &w, &input->value);
}

static bool read_members(struct reading *r, struct json_token *input, struct stats_origin *o)
{
	struct json_walk w = walk(r, input, JSON_OBJECT);
	struct stats *const s = r->s;
	bool ok = true, has_full = false;

	while (ok && w.p != NULL && json_walk_next(&w)) {
		if (w.value.kind == JSON_NULL)
			continue;
		if (is_key(&w, "full")) {
			ok = !has_full ? read_full(r, &w.value, o)
			               : fail(r, w.value.p, "\"full\" is there twice");
			has_full = true;
		} else if (is_key(&w, "path"))
			ok = get_text(r, &w.value, &o->path);
		else if (is_key(&w, "format"))
			ok = get_text(r, &w.value, &o->format);
		else if (is_key(&w, "dialect"))
			ok = get_text(r, &w.value, &o->dialect);
		else if (is_key(&w, "bytes"))
			ok = get_u64(r, &w.value, &o->bytes);
		else if (is_key(&w, "records"))
			ok = get_u64(r, &w.value, &o->records);
		else if (is_key(&w, "events"))
			ok = get_u64(r, &w.value, &o->events);
		else if (is_key(&w, "first_ns")) {
			if (w.value.kind == JSON_INT && !has_full)
				stats_move_zero(r->file->into, TRACE_ZERO);
			s->zero_ns = r->file->into->zero_ns;
			ok = get_ns(r, &w.value, &s->first_ns);
		} else if (is_key(&w, "last_ns"))
			ok = get_ns(r, &w.value, &s->last_ns);
		else if (is_key(&w, "epoch_ns"))
			ok = o->epoch_known = get_u64(r, &w.value, &o->epoch_ns);
		else if (is_key(&w, "tracks"))
			ok = get_u64(r, &w.value, &s->tracks);
		else if (is_key(&w, "self_inexact"))
			ok = get_u64(r, &w.value, &s->times.inexact);
		else if (is_key(&w, "counters_late"))
			ok = get_u64(r, &w.value, &s->series.late);
		else if (is_key(&w, "coarse"))
			ok = get_u64(r, &w.value, &s->pool.coarse);
		else if (!has_full &&
		         (is_key(&w, "spans") || is_key(&w, "async_spans") || is_key(&w, "classes")))
			return fail(r, w.value.p, "the input has no \"full\": it was written without --full");
		else
			ok = read_list(r, &w);
	}
	if (!ok || !walked(r, &w, input))
		return false;
	if (!has_full)
		return fail(r, input->p, "the input has no \"full\": it was written without --full");
	return s->events == 0 || s->first_ns <= s->last_ns ||
	       fail(r, input->p, "its last time is before the first");
}

static bool read_input(struct reading *r, struct json_token *input)
{
	struct stats s;
	struct stats_origin o = { .path = SLICE_LIT(""), .format = SLICE_LIT(""), .dialect = SLICE_LIT("") };

	stats_init(&s);
	s.joint = true;
	s.zero_ns = r->file->into->zero_ns;
	r->s = &s;
	bool ok = read_members(r, input, &o);
	if (ok && s.overflowed)
		ok = fail(r, input->p, "a count or a sum is too large");
	if (ok)
		ok = (stats_add_origin(&s, &o) && stats_end(&s) && stats_merge(r->file->into, &s)) ||
		     out_of_memory(r);
	stats_free(&s);
	return ok;
}

/* ---- files ---- */

/* Checks that the file is of this program and layout. */
static bool check_head(struct reading *r, struct slice tool, uint64_t layout)
{
	struct stats_file *const f = r->file;
	const bool same = f->any_version ? trace_tool_is_own(tool) : slice_is(tool, f->tool);

	if (same && layout == STATS_LAYOUT)
		return true;
	if (tool.n == 0)
		tool = SLICE_LIT("another program");
	snprintf(f->why, sizeof f->why,
	         "it is of %.*s, layout %" PRIu64 "; expected: stats --format json --full of %s, layout %d",
	         (int)(tool.n < 64 ? tool.n : 64), tool.p, layout, f->any_version ? "tracetool" : f->tool,
	         STATS_LAYOUT);
	return false;
}

static bool read_inputs(struct reading *r, struct json_token *inputs)
{
	struct json_walk w = walk(r, inputs, JSON_ARRAY);
	bool ok = true, any = false;

	for (; ok && w.p != NULL && json_walk_next(&w); any = true)
		ok = read_input(r, &w.value);
	return ok && walked(r, &w, inputs) &&
	       (any || fail(r, inputs->p, "it has no inputs: no trace could be read"));
}

/* The head is written first; an edited file may have it later. */
static bool read_file(struct reading *r, const char *p)
{
	struct json_token file = { .p = p, .kind = JSON_OBJECT }, inputs = { .p = NULL };
	struct json_walk w = walk(r, &file, JSON_OBJECT);
	struct slice tool = SLICE_LIT("");
	uint64_t layout = 0;
	bool is_read = false;

	while (json_walk_next(&w)) {
		if (is_key(&w, "tool") && w.value.kind == JSON_STRING)
			tool = json_token_text(&w.value);
		else if (is_key(&w, "layout") && !get_u64(r, &w.value, &layout))
			return false;
		if (!is_key(&w, "inputs") || is_read)
			continue;
		inputs = w.value;
		if (tool.n > 0 && layout > 0) {
			is_read = true;
			if (!check_head(r, tool, layout) || !read_inputs(r, &w.value))
				return false;
		}
	}
	if (!walked(r, &w, &file) || !check_head(r, tool, layout))
		return false;
	if (json_skip_blanks(w.p, r->end) < r->end)
		return fail(r, w.p, "data after the end of the value");
	if (inputs.p == NULL)
		return fail(r, p, "it has no inputs");
	return is_read || read_inputs(r, &inputs);
}

bool stats_read(struct stats_file *f)
{
	struct reading r = { .file = f, .end = f->text.p + f->text.n };
	const char *const p = json_skip_blanks(f->text.p, r.end);
	size_t at = 0;

	f->why[0] = '\0';
	r.json = (struct json){ .complete = true, .depth = JSON_MAX_DEPTH };
	bool ok = p < r.end && *p == '{' ? read_file(&r, p) : check_head(&r, SLICE_LIT(""), 0);
	/* Faults of the JSON are reported first. */
	const char *const fault =
	    !ok && !r.no_memory ? json_document_fault(f->text.p, f->text.n, JSON_MAX_DEPTH, &at) : NULL;
	if (fault != NULL)
		snprintf(f->why, sizeof f->why, "byte %zu: %s; expected: JSON of stats --full", at, fault);
	histogram_pool_free(&f->pool);
	return ok;
}

bool stats_file_begins(struct slice start)
{
	static const char *const tokens[] = { "{", "\"tool\"", ":", "\"tracetool " };
	const char *p = start.p, *const end = start.p + start.n;

	for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
		const size_t n = strlen(tokens[i]);
		p = json_skip_blanks(p, end);
		if ((size_t)(end - p) < n || memcmp(p, tokens[i], n) != 0)
			return false;
		p += n;
	}
	return true;
}
