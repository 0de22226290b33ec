/* Tables over several traces: the rows of each are added to those with the same texts as keys.  Texts are
 * made valid UTF-8 first, so that tables that were written as JSON give the same result.  Counts have 64
 * bits; sums are limited to 2^100, so that computations with them fit in 128 bits.  Beyond, they stay at the
 * limit, and stats.overflowed is set. */
#include "base/compiler.h"
#include "base/match.h"
#include "stats/stats.h"

#include <stdlib.h>

#include "output/text_json.h"

#define SUM_MAX ((uint128)1 << 100)

static void add_u64(struct stats *s, uint64_t *to, uint64_t v)
{
	if (!ckd_add(to, *to, v))
		return;
	*to = UINT64_MAX;
	s->overflowed = true;
}

static void add_total(struct stats *s, struct total *to, uint128 v)
{
	const uint128 before = total_of(*to);
	const bool fits = v <= SUM_MAX && before + v <= SUM_MAX;
	const uint128 sum = fits ? before + v : SUM_MAX;

	*to = (struct total){ (uint64_t)sum, (uint64_t)(sum >> 64) };
	s->overflowed |= !fits;
}

/* Returns the text as in JSON, except in a table of portions; p is NULL on OOM. */
static struct slice valid_text(struct stats *s, struct slice text)
{
	text.flags = 0; /* it is of the other table: no cache may use its address */
	return s->of_portions && text.p != NULL ? text : text_repaired(&s->text, text);
}

static bool valid_values(struct stats *s, const struct slice *from, unsigned n, struct slice *to)
{
	for (unsigned i = 0; i < n; i++)
		if ((to[i] = valid_text(s, from[i])).p == NULL)
			return false;
	return true;
}

/* ---- spans ---- */

static uint32_t find_span(struct stats *s, struct span_table *t, const struct slice *values)
{
	struct slice v[GROUP_KEYS_MAX];

	if (!valid_values(s, values, group_by_count(&s->by), v))
		return NAMES_FAILED;
	if (s->by.n > 0)
		return groups_find_texts(s, &t->set, v);
	const uint32_t category = names_index(&s->categories, v[1], 0);
	if (category == NAMES_FAILED)
		return NAMES_FAILED;
	return names_index(&t->names, v[0], category == NAMES_OTHER ? NAMES_MAX : category);
}

static void add_group(struct stats *s, struct span_group *to, const struct span_group *from,
                      const struct histogram_pool *of)
{
	if (to->count == 0 || from->first_ns < to->first_ns)
		to->first_ns = from->first_ns;
	if (from->last_ns > to->last_ns)
		to->last_ns = from->last_ns;
	add_u64(s, &to->count, from->count);
	add_total(s, &to->sum, total_of(from->sum));
	add_total(s, &to->bytes, total_of(from->bytes));
	if (s->sum_of.n > 0) {
		add_total(s, &to->field.whole, total_of(from->field.whole));
		to->field.real += from->field.real;
		add_u64(s, &to->field.values, from->field.values);
		add_u64(s, &to->field.negative, from->field.negative);
	}
	histogram_merge(&to->durations, &s->pool, &from->durations, of);
}

static bool add_decades(struct stats *s, struct span_table *t, uint32_t number, const uint64_t *from)
{
	uint64_t *const to =
	    groups_at(&t->decades, &t->ndecades, sizeof *t->decades, number, t->other_decades);

	for (unsigned i = 0; to != NULL && i < SPAN_DECADES; i++)
		add_u64(s, &to[i], from[i]);
	return to != NULL;
}

bool stats_add_span(struct stats *s, struct span_table *t, const struct span_row *row,
                    const struct histogram_pool *of, uint32_t *to)
{
	const uint32_t number = row->other ? NAMES_OTHER : find_span(s, t, row->values);
	struct span_group *const group = groups_at(&t->groups, &t->cap, sizeof *group, number, &t->other);

	if (group == NULL)
		return false;
	if (to != NULL)
		*to = number;
	add_group(s, group, row->group, of);
	if (row->decades != NULL && !add_decades(s, t, number, row->decades))
		return false;
	if (t == &s->async)
		return true;
	struct self_name *const times =
	    self_times_name(&s->times, number == NAMES_OTHER ? SELF_OTHER : number);
	if (times == NULL)
		return false;
	add_total(s, &times->self, row->self);
	add_total(s, &times->waiting, row->waiting);
	add_total(s, &times->total, row->total);
	add_u64(s, &times->recursive, row->recursive);
	return true;
}

struct merging {
	struct stats *into;
	const struct stats *from;
};

static bool merge_span(void *ctx, const struct span_table *t, struct span_row *row)
{
	const struct merging *const m = ctx;
	struct span_table *const to = t == &m->from->spans ? &m->into->spans : &m->into->async;

	return stats_add_span(m->into, to, row, &m->from->pool, NULL);
}

/* ---- instants and classes ---- */

bool stats_add_count(struct stats *s, struct tally *t, const struct slice *values, bool other, uint64_t count)
{
	const unsigned keys = t->grouped != NULL ? s->by.n : 1;
	struct slice v[GROUP_KEYS_MAX];
	uint32_t number = NAMES_OTHER;

	if (!other && !valid_values(s, values, keys, v))
		return false;
	if (!other)
		number =
		    t->grouped != NULL ? groups_find_texts(s, &t->set, v) : names_index(&t->names, v[0], 0);
	uint64_t *const to = groups_at(&t->counts, &t->cap, sizeof *to, number, &t->other);
	if (to != NULL)
		add_u64(s, to, count);
	return to != NULL;
}

/* Adds the rows, and frees them. */
static bool merge_counts(struct stats *into, struct tally *to, struct tally_row *rows, size_t n)
{
	bool ok = true;

	for (size_t i = 0; ok && i < n; i++)
		ok = stats_add_count(into, to, rows[i].values, rows[i].number == NAMES_OTHER, rows[i].count);
	free(rows);
	return ok;
}

/* ---- counters ---- */

bool stats_add_counter(struct stats *s, struct slice name, struct slice category, bool other, uint64_t count,
                       uint32_t *number)
{
	struct slice v[2];

	*number = NAMES_OTHER;
	if (other)
		return stats_add_count(s, &s->counters, &name, true, count);
	if (!valid_values(s, (struct slice[]){ name, category }, 2, v) ||
	    (*number = names_index(&s->counters.names, v[0], 0)) == NAMES_FAILED ||
	    !stats_add_count(s, &s->counters, &v[0], *number == NAMES_OTHER, count))
		return false;
	if (*number == NAMES_OTHER)
		return true;
	if (!array_reach(&s->counter_category, &s->ncounter_category, *number, sizeof *s->counter_category))
		return false;
	/* Keeps the first category in byte order: the order of the traces has no influence. */
	struct slice *const at = &s->counter_category[*number];
	if (at->p == NULL || slice_compare(v[1], *at) < 0)
		*at = arena_copy(&s->text, v[1]);
	return at->p != NULL;
}

static bool merge_counter(struct stats *into, const struct counter_row *row)
{
	uint32_t number;
	bool ok = stats_add_counter(into, row->name, row->category, row->other, row->count, &number);

	for (size_t i = 0; ok && number != NAMES_OTHER && i < row->nseries; i++) {
		const struct slice field = valid_text(into, row->series[i].name);
		struct series *to;
		ok = field.p != NULL && series_of(&into->series, number, field, &to);
		if (ok && to != NULL && !series_merge(&into->series, to, row->series[i].series))
			into->overflowed = true;
	}
	return ok && !into->series.failed;
}

static bool merge_counters(struct stats *into, const struct stats *from)
{
	struct counter_row *rows;
	struct series_row *list;
	size_t n;
	bool ok = stats_counter_rows(from, &rows, &n, &list);

	if (!ok)
		return false;
	for (size_t i = 0; ok && i < n; i++)
		ok = merge_counter(into, &rows[i]);
	free(rows);
	free(list);
	return ok;
}

/* ---- the whole ---- */

/* Keeps the text that all traces have in common; without bytes if this trace has another. */
static bool join_text(struct stats *s, struct slice *to, struct slice from, bool is_first)
{
	const struct slice text = valid_text(s, from);

	if (text.p == NULL)
		return false;
	if (is_first)
		*to = arena_copy(&s->text, text);
	else if (!slice_equal(*to, text))
		*to = SLICE_LIT("");
	return to->p != NULL;
}

bool stats_add_origin(struct stats *s, const struct stats_origin *from)
{
	struct stats_origin *const o = &s->origin;
	const bool is_first = o->traces == 0;

	if (!join_text(s, &o->path, from->path, is_first) ||
	    !join_text(s, &o->format, from->format, is_first) ||
	    !join_text(s, &o->dialect, from->dialect, is_first))
		return false;
	o->epoch_known = from->epoch_known && (is_first || (o->epoch_known && o->epoch_ns == from->epoch_ns));
	o->epoch_ns = o->epoch_known ? from->epoch_ns : 0;
	o->selected |= from->selected;
	add_u64(s, &o->traces, from->traces);
	add_u64(s, &o->bytes, from->bytes);
	add_u64(s, &o->records, from->records);
	add_u64(s, &o->events, from->events);
	add_u64(s, &o->left_out, from->left_out);
	return true;
}

static void move_groups(struct span_table *t, uint64_t by)
{
	for (uint32_t i = 0; i <= t->cap; i++) {
		struct span_group *const g = i < t->cap ? &t->groups[i] : &t->other;
		g->first_ns = g->count > 0 ? saturating_add(g->first_ns, by) : 0;
		g->last_ns = g->count > 0 ? saturating_add(g->last_ns, by) : 0;
	}
}

void stats_move_zero(struct stats *s, uint64_t zero)
{
	if (zero <= s->zero_ns)
		return;
	const uint64_t by = zero - s->zero_ns;
	s->zero_ns = zero;
	s->first_ns = s->events > 0 ? saturating_add(s->first_ns, by) : UINT64_MAX;
	s->last_ns = s->events > 0 ? saturating_add(s->last_ns, by) : 0;
	s->start_ns = s->start_ns < UINT64_MAX ? saturating_add(s->start_ns, by) : UINT64_MAX;
	move_groups(&s->spans, by);
	move_groups(&s->async, by);
	for (uint32_t i = 0; i < s->series.n; i++) {
		s->series.list[i].first_ns = saturating_add(s->series.list[i].first_ns, by);
		s->series.list[i].last_ns = saturating_add(s->series.list[i].last_ns, by);
	}
}

bool stats_merge(struct stats *into, struct stats *from)
{
	const uint64_t zero = from->zero_ns > into->zero_ns ? from->zero_ns : into->zero_ns;
	struct tally_row *rows;
	size_t n;

	stats_move_zero(into, zero);
	stats_move_zero(from, zero);
	into->joint = !into->of_portions;
	if (from->events > 0 && from->first_ns < into->first_ns)
		into->first_ns = from->first_ns;
	if (from->start_ns < into->start_ns)
		into->start_ns = from->start_ns;
	if (from->events > 0 && from->last_ns > into->last_ns)
		into->last_ns = from->last_ns;
	add_u64(into, &into->events, from->events);
	add_u64(into, &into->tracks, from->tracks);
	add_u64(into, &into->unpaired, from->unpaired);
	add_u64(into, &into->summed, from->summed);
	into->summed_number |= from->summed_number;
	add_u64(into, &into->times.inexact, from->times.inexact);
	add_u64(into, &into->series.late, from->series.late);
	add_u64(into, &into->pool.coarse, from->pool.coarse);
	into->overflowed |= from->overflowed;
	into->has_bytes |= from->has_bytes;
	return stats_add_origin(into, &from->origin) && stats_class_rows(from, &rows, &n) &&
	       merge_counts(into, &into->classes, rows, n) &&
	       stats_each_span(from, merge_span, &(struct merging){ into, from }) &&
	       stats_tally_rows(&from->instants, &rows, &n) && merge_counts(into, &into->instants, rows, n) &&
	       merge_counters(into, from);
}

bool stats_ungroup(struct stats *s)
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
