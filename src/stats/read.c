/* Reads the output of `stats --format json --full`, token by token: integers above 2^53 must stay exact, and
 * a tree of all values would need forty times the memory.  A file may be edited or hostile: each number is
 * checked, and histograms cannot have more numbers than their group. */
#include "stats/reading.h"

#include <inttypes.h>
#include <stdio.h>

#include "json/number.h"
#include "model/trace_origin.h"

/* ---- spans ---- */

struct row_reading {
	struct span_row row;
	struct span_group group;
	uint64_t in_histogram, min, max;
	bool has_sum, has_durations;
};

static bool begin_histogram(struct reading *r, const char *at, struct row_reading *row)
{
	if (row->has_durations)
		return reading_fail(r, at, "a group has one histogram");
	return row->has_durations = true;
}

static bool count_numbers(struct reading *r, const char *at, struct row_reading *row, uint64_t n)
{
	return (n > 0 && !ckd_add(&row->in_histogram, row->in_histogram, n)) ||
	       reading_fail(r, at, "a bucket counts at least one number, and all of them at most 2^64");
}

static bool read_value(struct reading *r, struct json_token *v, void *to)
{
	struct row_reading *const row = to;
	uint64_t number;

	if (row->in_histogram == HISTOGRAM_KEPT)
		return reading_fail(r, v->p, "more values than are kept");
	if (!reading_u64(r, v, &number) || !count_numbers(r, v->p, row, 1))
		return false;
	histogram_add(&row->group.durations, &r->file->pool, number);
	return true;
}

static bool read_values(struct reading *r, struct json_token *list, void *row)
{
	return begin_histogram(r, list->p, row) && reading_list(r, list, read_value, row);
}

static bool add_bucket(struct reading *r, const char *at, struct row_reading *row, uint64_t index, uint64_t n)
{
	if (index >= HISTOGRAM_BLOCKS * HISTOGRAM_BUCKETS)
		return reading_fail(r, at, "there is no such bucket");
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
static bool read_buckets(struct reading *r, struct json_token *object, void *to)
{
	struct row_reading *const row = to;
	uint64_t index, n;
	const char *p = object->p + 1, *next;

	if (!begin_histogram(r, object->p, row))
		return false;
	if (object->kind == JSON_OBJECT)
		while ((next = plain_bucket(p, r->end, &index, &n)) != NULL) {
			if (!add_bucket(r, p, row, index, n))
				return false;
			p = next + 1;
			if (*next == '}') {
				object->end = p;
				return true;
			}
		}
	/* the others, by tokens: from the start of the object, without those that are counted */
	const char *const done = p;
	struct json_walk w = reading_walk(r, object, JSON_OBJECT);
	while (w.p != NULL && json_walk_next(&w)) {
		const struct slice key = json_token_text(&w.key);
		if (w.key.p < done)
			continue;
		if (!json_digits_any(key.p, key.n, &index))
			return reading_fail(r, w.key.p, "there is no such bucket");
		if (!reading_u64(r, &w.value, &n) || !add_bucket(r, w.key.p, row, index, n))
			return false;
	}
	return reading_walked(r, &w, object);
}

static bool read_durations(struct reading *r, struct json_token *object, void *to)
{
	struct row_reading *const row = to;
	const struct member members[] = {
		{ "sum", reading_total, &row->group.sum }, { "min", reading_u64, &row->min },
		{ "max", reading_u64, &row->max },         { "values", read_values, row },
		{ "buckets", read_buckets, row },
	};

	return reading_object(r, object, NULL, members, COUNT_OF(members));
}

static bool get_real(struct reading *r, struct json_token *v, void *to)
{
	return reading_any_f64(r, v, to) &&
	       (*(double *)to >= 0 || reading_fail(r, v->p, "a sum is not negative"));
}

static bool read_field_sum(struct reading *r, struct json_token *object, void *to)
{
	struct row_reading *const row = to;
	struct span_sum *const sum = &row->group.field;
	const struct member members[] = {
		{ "whole", reading_total, &sum->whole },
		{ "real", get_real, &sum->real },
		{ "values", reading_u64, &sum->values },
		{ "negative", reading_u64, &sum->negative },
	};

	row->has_sum = true;
	return reading_object(r, object, NULL, members, COUNT_OF(members));
}

static bool get_bytes(struct reading *r, struct json_token *v, void *to)
{
	return r->s->has_bytes = reading_total(r, v, to);
}

/* Whether the numbers of the group and its histogram do not contradict each other. */
static bool fits(const struct row_reading *row)
{
	const struct span_group *const g = &row->group;
	const struct histogram *const h = &g->durations;

	return g->count > 0 && row->min <= row->max && row->in_histogram <= g->count &&
	       g->first_ns <= g->last_ns && row->row.waiting <= row->row.self &&
	       (h->count == 0 || (h->min >= histogram_bucket_low(histogram_bucket_of(row->min)) &&
	                          h->max <= histogram_bucket_high(histogram_bucket_of(row->max))));
}

static bool read_span(struct reading *r, struct json_token *object, void *table)
{
	struct row_reading d = { .has_sum = false };
	struct row_keys keys = { .values = d.row.values, .n = group_by_count(&r->s->by) };
	const struct member members[] = {
		{ "count", reading_u64, &d.group.count },      { "dur_ns", read_durations, &d },
		{ "first_ns", reading_ns, &d.group.first_ns }, { "last_ns", reading_ns, &d.group.last_ns },
		{ "self_ns", reading_sum, &d.row.self },       { "waiting_ns", reading_sum, &d.row.waiting },
		{ "total_ns", reading_sum, &d.row.total },     { "recursive", reading_u64, &d.row.recursive },
		{ "bytes", get_bytes, &d.group.bytes },        { "sum", read_field_sum, &d },
		{ "other", reading_bool, &d.row.other },
	};

	if (!reading_object(r, object, &keys, members, COUNT_OF(members)))
		return false;
	if (keys.met != (1U << keys.n) - 1 || !d.has_durations || d.has_sum != (r->s->sum_of.n > 0))
		return reading_fail(r, object->p, "a group lacks a key, its durations or its sum");
	if (!fits(&d))
		return reading_fail(r, object->p, "the numbers of a group contradict each other");
	d.group.durations.min = d.min;
	d.group.durations.max = d.max;
	d.row.group = &d.group;
	const bool ok =
	    stats_add_span(r->file->into, table, &d.row, &r->file->pool, NULL) && !r->file->pool.failed;
	r->file->pool.n = 0; /* free for the next row */
	return ok || reading_no_memory(r);
}

/* ---- instants, classes, counters ---- */

static bool read_count(struct reading *r, struct json_token *object, void *to)
{
	struct tally *const t = to;
	struct slice values[GROUP_KEYS_MAX] = { { .p = NULL } };
	struct row_keys keys = { .values = values, .n = t->grouped != NULL ? r->s->by.n : 0 };
	uint64_t count = 0;
	bool other = false;
	const struct member members[] = {
		{ "count", reading_u64, &count },
		{ "other", reading_bool, &other },
		{ "name", reading_text, &values[0] }, /* without keys */
	};

	if (!reading_object(r, object, &keys, members, keys.n > 0 ? 2 : 3))
		return false;
	if (keys.n > 0 ? keys.met != (1U << keys.n) - 1 : values[0].p == NULL)
		return reading_fail(r, object->p, "a count lacks a key");
	return stats_add_count(r->s, t, values, other, count) || reading_no_memory(r);
}

static bool read_steps(struct reading *r, struct json_token *object, struct series *to)
{
	struct series_set *const set = &r->s->series;
	struct json_walk w = reading_walk(r, object, JSON_OBJECT);
	uint64_t before = 0, all = 0, n;
	int32_t last = INT32_MIN;

	while (w.p != NULL && json_walk_next(&w)) {
		struct slice key = json_token_text(&w.key);
		const bool negative = key.n > 0 && key.p[0] == '-';
		if (!json_digits_any(key.p + negative, key.n - negative, &before) ||
		    before > (UINT64_C(0x7ff) << 7) - !negative) /* NaN and infinities */
			return reading_fail(r, w.key.p, "there is no such step");
		const int32_t number = negative ? -(int32_t)before : (int32_t)before;
		if (number <= last)
			return reading_fail(r, w.key.p, "steps are in ascending order");
		last = number;
		if (!reading_u64(r, &w.value, &n))
			return false;
		if (n == 0 || ckd_add(&all, all, n) || all > to->count)
			return reading_fail(r, w.value.p,
			                    "a step counts at least one value, and all of them at most those "
			                    "of the series");
		(void)series_add_step(set, to, number, n);
	}
	return reading_walked(r, &w, object);
}

static bool read_series(struct reading *r, struct json_token *object, void *counter)
{
	struct slice name = SLICE_NONE;
	struct series s = { .count = 0 };
	struct json_token steps = { .p = NULL };
	const struct member members[] = {
		{ "name", reading_text, &name },
		{ "count", reading_u64, &s.count },
		{ "first_ns", reading_ns, &s.first_ns },
		{ "last_ns", reading_ns, &s.last_ns },
		{ "first", reading_f64, &s.first },
		{ "last", reading_f64, &s.last },
		{ "min", reading_f64, &s.min },
		{ "max", reading_f64, &s.max },
		{ "sum", reading_any_f64, &s.sum },
		{ "held", reading_any_f64, &s.held },
		{ "held_ns", reading_any_f64, &s.held_ns },
		{ "steps", reading_later, &steps },
	};

	if (!reading_object(r, object, NULL, members, COUNT_OF(members)))
		return false;
	if (name.p == NULL || steps.p == NULL || s.count == 0)
		return reading_fail(r, object->p, "a series lacks its name, count or steps");
	if (s.first < s.min || s.first > s.max || s.last < s.min || s.last > s.max || s.first_ns > s.last_ns)
		return reading_fail(r, object->p, "the numbers of a series contradict each other");
	struct series *to;
	if (!series_of(&r->s->series, *(const uint32_t *)counter, name, &to))
		return reading_no_memory(r);
	if (to == NULL)
		return true;
	if (to->count > 0)
		return reading_fail(r, object->p, "a counter has a series twice");
	return series_merge(&r->s->series, to, &s) && read_steps(r, &steps, to) &&
	       (!r->s->series.failed || reading_no_memory(r));
}

static bool read_counter(struct reading *r, struct json_token *object, void *unused)
{
	struct slice name = SLICE_NONE, category = SLICE_LIT("");
	struct json_token list = { .p = NULL };
	uint64_t count = 0;
	uint32_t number;
	bool other = false;
	const struct member members[] = {
		{ "name", reading_text, &name },    { "category", reading_text, &category },
		{ "count", reading_u64, &count },   { "other", reading_bool, &other },
		{ "series", reading_later, &list },
	};

	(void)unused;
	if (!reading_object(r, object, NULL, members, COUNT_OF(members)))
		return false;
	if (name.p == NULL || list.p == NULL || count == 0)
		return reading_fail(r, object->p, "a counter lacks its name, count or series");
	if (!stats_add_counter(r->s, name, category, other, count, &number))
		return reading_no_memory(r);
	return number == NAMES_OTHER || reading_list(r, &list, read_series, &number);
}

/* ---- inputs ---- */

/* Reads the keys of --by; "[]" for names and categories. */
static bool read_by(struct reading *r, struct json_token *list, void *to)
{
	struct group_by *const by = to;
	struct json_walk w = reading_walk(r, list, JSON_ARRAY);
	char words[GROUP_BY_WORDS] = "", why[256];
	size_t n = 0;

	while (w.p != NULL && json_walk_next(&w)) {
		struct slice word;
		if (!reading_text(r, &w.value, &word))
			return false;
		if (word.n + 2 > sizeof words - n || memchr(word.p, ',', word.n) != NULL)
			return reading_fail(r, w.value.p, "there is no such key");
		n += (size_t)snprintf(words + n, sizeof words - n, "%s%.*s", n > 0 ? "," : "", (int)word.n,
		                      word.p);
	}
	by->n = 0;
	return reading_walked(r, &w, list) &&
	       (n == 0 || group_by_parse(by, words, why, sizeof why) || reading_fail(r, list->p, why));
}

/* Reads the field of a sum; with the checks of --sum, as it becomes the head of a column. */
static bool read_sum_of(struct reading *r, struct json_token *v, void *to)
{
	struct slice *const field = to;
	char word[GROUP_KEY_MAX + 8], why[256];
	struct group_by by;

	if (!reading_text(r, v, field))
		return false;
	const int n = (int)(field->n < GROUP_KEY_MAX ? field->n : GROUP_KEY_MAX);
	snprintf(word, sizeof word, "arg:%.*s", n, field->p);
	return field->n == 0 ||
	       (strlen(word) == 4 + field->n && group_by_parse(&by, word, why, sizeof why) && by.n == 1) ||
	       reading_fail(r, v->p, "there is no such field");
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
		return (kept.p != NULL && stats_group(into, by, kept)) || reading_no_memory(r);
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
		return by->n > 0 || into->by.n == 0 || stats_ungroup(into) || reading_no_memory(r);
	return reading_fail(r, full->p, wrong);
}

/* Reads "full" of an input, which precedes the tables: keys and counts. */
static bool read_full(struct reading *r, struct json_token *full, void *origin)
{
	struct stats_origin *const o = origin;
	struct group_by by = { .n = 0 };
	struct slice sum_of = SLICE_LIT("");
	struct stats *const s = r->s;
	const struct member members[] = {
		{ "by", read_by, &by },
		{ "sum_of", read_sum_of, &sum_of },
		{ "summed", reading_u64, &s->summed },
		{ "traces", reading_u64, &o->traces },
		{ "selected", reading_bool, &o->selected },
		{ "left_out", reading_u64, &o->left_out },
		{ "counted", reading_u64, &s->events },
		{ "unpaired", reading_u64, &s->unpaired },
	};

	if (r->has_full)
		return reading_fail(r, full->p, "\"full\" is there twice");
	r->has_full = true;
	if (!reading_object(r, full, NULL, members, COUNT_OF(members)))
		return false;
	if (o->traces == 0)
		return reading_fail(r, full->p, "it is of no trace");
	return same_groups(r, full, &by, sum_of) &&
	       (stats_group(s, &r->file->into->by, r->file->into->sum_of) || reading_no_memory(r));
}

static bool get_epoch(struct reading *r, struct json_token *v, void *to)
{
	struct stats_origin *const o = to;

	return o->epoch_known = reading_u64(r, v, &o->epoch_ns);
}

/* The first time shows whether times of the input may be before 0. */
static bool get_first_ns(struct reading *r, struct json_token *v, void *to)
{
	if (v->kind == JSON_INT && !r->has_full)
		stats_move_zero(r->file->into, TRACE_ZERO);
	r->s->zero_ns = r->file->into->zero_ns;
	return reading_ns(r, v, to);
}

#define NO_FULL "the input has no \"full\": it was written without --full"

static bool read_members(struct reading *r, struct json_token *input, struct stats_origin *o)
{
	struct json_walk w = reading_walk(r, input, JSON_OBJECT);
	struct stats *const s = r->s;
	const struct member members[] = {
		{ "full", read_full, o },
		{ "path", reading_text, &o->path },
		{ "format", reading_text, &o->format },
		{ "dialect", reading_text, &o->dialect },
		{ "bytes", reading_u64, &o->bytes },
		{ "records", reading_u64, &o->records },
		{ "events", reading_u64, &o->events },
		{ "first_ns", get_first_ns, &s->first_ns },
		{ "last_ns", reading_ns, &s->last_ns },
		{ "epoch_ns", get_epoch, o },
		{ "tracks", reading_u64, &s->tracks },
		{ "self_inexact", reading_u64, &s->times.inexact },
		{ "counters_late", reading_u64, &s->series.late },
		{ "coarse", reading_u64, &s->pool.coarse },
	};
	const struct member tables[] = {
		/* Spans go to the joint table at once: they are most of a file. */
		{ "spans", read_span, &r->file->into->spans },
		{ "async_spans", read_span, &r->file->into->async },
		{ "instants", read_count, &s->instants },
		{ "classes", read_count, &s->classes },
		{ "counters", read_counter, NULL },
	};

	r->has_full = false;
	while (w.p != NULL && json_walk_next(&w)) {
		if (w.value.kind == JSON_NULL)
			continue;
		if (!r->has_full && (json_walk_is(&w, "spans") || json_walk_is(&w, "async_spans") ||
		                     json_walk_is(&w, "classes")))
			return reading_fail(r, w.value.p, NO_FULL);
		if (!reading_member(r, &w, members, COUNT_OF(members), false) ||
		    !reading_member(r, &w, tables, COUNT_OF(tables), true))
			return false;
	}
	if (!reading_walked(r, &w, input))
		return false;
	if (!r->has_full)
		return reading_fail(r, input->p, NO_FULL);
	return s->events == 0 || s->first_ns <= s->last_ns ||
	       reading_fail(r, input->p, "its last time is before the first");
}

static bool read_input(struct reading *r, struct json_token *input, void *any)
{
	struct stats s;
	struct stats_origin o = { .path = SLICE_LIT(""), .format = SLICE_LIT(""), .dialect = SLICE_LIT("") };

	stats_init(&s);
	s.joint = true;
	s.zero_ns = r->file->into->zero_ns;
	r->s = &s;
	*(bool *)any = true;
	bool ok = read_members(r, input, &o);
	s.start_ns = s.first_ns;
	if (ok && s.overflowed)
		ok = reading_fail(r, input->p, "a count or a sum is too large");
	if (ok)
		ok = (stats_add_origin(&s, &o) && stats_end(&s) && stats_merge(r->file->into, &s)) ||
		     reading_no_memory(r);
	stats_free(&s);
	return ok;
}

/* ---- files ---- */

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
	bool any = false;

	return reading_list(r, inputs, read_input, &any) &&
	       (any || reading_fail(r, inputs->p, "it has no inputs: no trace could be read"));
}

/* The head is written first; an edited file may have it later. */
static bool read_file(struct reading *r, const char *p)
{
	struct json_token file = { .p = p, .kind = JSON_OBJECT }, inputs = { .p = NULL };
	struct json_walk w = reading_walk(r, &file, JSON_OBJECT);
	struct slice tool = SLICE_LIT("");
	uint64_t layout = 0;
	bool is_read = false;

	while (json_walk_next(&w)) {
		if (json_walk_is(&w, "tool") && w.value.kind == JSON_STRING)
			tool = json_token_text(&w.value);
		else if (json_walk_is(&w, "layout") && !reading_u64(r, &w.value, &layout))
			return false;
		if (!json_walk_is(&w, "inputs") || is_read)
			continue;
		inputs = w.value;
		if (tool.n > 0 && layout > 0) {
			is_read = true;
			if (!check_head(r, tool, layout) || !read_inputs(r, &w.value))
				return false;
		}
	}
	if (!reading_walked(r, &w, &file) || !check_head(r, tool, layout))
		return false;
	if (json_skip_blanks(w.p, r->end) < r->end)
		return reading_fail(r, w.p, "data after the end of the value");
	if (inputs.p == NULL)
		return reading_fail(r, p, "it has no inputs");
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

	for (size_t i = 0; i < COUNT_OF(tokens); i++) {
		const size_t n = strlen(tokens[i]);
		p = json_skip_blanks(p, end);
		if ((size_t)(end - p) < n || memcmp(p, tokens[i], n) != 0)
			return false;
		p += n;
	}
	return true;
}
