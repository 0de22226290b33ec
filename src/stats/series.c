/* Statistics of counters: first, last, min and max value, mean, time-weighted mean, and percentiles, in
 * buckets of 7 significant bits, so that memory does not grow with the number of values. */
#include "stats/measures.h"

#include <math.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/memory.h"
#include "model/event.h"
#include "model/number.h"

#define KEY_SHIFT 45 /* keeps the sign, 11 bits of exponent and 7 bits of mantissa */

void series_init(struct series_set *s, struct arena *text)
{
	*s = (struct series_set){ .n = 0 };
	names_init(&s->names, text);
}

void series_free(struct series_set *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		free(s->list[i].steps);
	free(s->list);
	names_free(&s->names);
	table64_free(&s->state_of);
	for (uint32_t i = 0; i < s->nstates; i++)
		free(s->states[i].recent);
	free(s->states);
	*s = (struct series_set){ .n = 0 };
}

bool series_value(const struct value *v, double *to)
{
	struct value number; /* never JSON */

	if (v->type >= VALUE_U8 && v->type <= VALUE_U64)
		*to = (double)v->u64;
	else if (v->type >= VALUE_I8 && v->type <= VALUE_I64)
		*to = (double)v->i64;
	else if (v->type == VALUE_F32 || v->type == VALUE_F64)
		*to = v->f64;
	else if (v->type == VALUE_JSON && value_number(value_text(v), &number))
		return series_value(&number, to);
	else
		return false;
	return isfinite(*to);
}

/* ---- percentiles ---- */

static int32_t key_of(double v)
{
	uint64_t bits;

	v = v == 0 ? 0 : v; /* -0 */
	memcpy(&bits, &v, sizeof bits);
	const int32_t key = (int32_t)((bits & (UINT64_MAX >> 1)) >> KEY_SHIFT);
	return bits >> 63 != 0 ? -key - 1 : key;
}

/* Returns the value of the smallest magnitude with this key, so that small integers are exact. */
static double value_of(int32_t key)
{
	const uint64_t bits = (uint64_t)(key < 0 ? -(key + 1) : key) << KEY_SHIFT;
	double v;

	memcpy(&v, &bits, sizeof v);
	return key < 0 ? -v : v;
}

/* Returns the index of the first step from `lo` to `hi` whose key is >= `key`. */
static uint32_t step_at(const struct series *s, uint32_t lo, uint32_t hi, int32_t key)
{
	while (lo < hi) {
		const uint32_t mid = lo + (hi - lo) / 2;
		if (s->steps[mid].key < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

#define LATER 1024U /* steps that a new one may move */

static void join_steps(struct series *s)
{
	struct series_step later[LATER];
	uint32_t n = s->nsteps - s->nold, to = s->nsteps;

	if (n > 0)
		memcpy(later, s->steps + s->nold, n * sizeof *later);
	while (n > 0)
		s->steps[--to] = s->nold > 0 && s->steps[s->nold - 1].key > later[n - 1].key
		                     ? s->steps[--s->nold]
		                     : later[--n];
	s->nold = s->nsteps;
}

/* Returns the step of this key, a new one if need be.  Without space: the next one, or the last; NULL: there
 * is none. */
static struct series_step *find_step(struct series_set *set, struct series *s, int32_t key)
{
	uint32_t at = step_at(s, 0, s->nold, key);

	if (at < s->nold && s->steps[at].key == key)
		return &s->steps[at];
	at = step_at(s, s->nold, s->nsteps, key);
	if (at < s->nsteps && s->steps[at].key == key)
		return &s->steps[at];
	if (s->nsteps - s->nold == LATER) {
		join_steps(s);
		at = s->nsteps;
	}
	const bool space = set->nsteps < SERIES_STEPS;
	if (space && array_reserve(&s->steps, s->nsteps, &s->steps_cap, sizeof *s->steps)) {
		memmove(s->steps + at + 1, s->steps + at, (s->nsteps - at) * sizeof *s->steps);
		s->steps[at] = (struct series_step){ key, 0 };
		s->nsteps++;
		set->nsteps++;
		return &s->steps[at];
	}
	set->failed |= space;
	join_steps(s);
	at = step_at(s, 0, s->nsteps, key);
	return s->nsteps > 0 ? &s->steps[at - (at == s->nsteps)] : NULL;
}

bool series_add_step(struct series_set *set, struct series *s, int32_t key, uint64_t n)
{
	struct series_step *const step = find_step(set, s, key);

	if (step == NULL || !ckd_add(&step->count, step->count, n))
		return true;
	step->count = UINT64_MAX;
	return false;
}

const struct series_step *series_next_step(const struct series *s, struct series_walk *w)
{
	const uint32_t later = s->nold + w->later;

	if (w->old < s->nold && (later == s->nsteps || s->steps[w->old].key < s->steps[later].key))
		return &s->steps[w->old++];
	w->later += later < s->nsteps;
	return later < s->nsteps ? &s->steps[later] : NULL;
}

double series_percentile(const struct series *s, unsigned percent)
{
	const struct series_step *step;
	struct series_walk w = { 0 };
	uint64_t all = 0, upto = 0;

	for (uint32_t i = 0; i < s->nsteps; i++)
		all += s->steps[i].count;
	const uint64_t rank = (uint64_t)(((uint128)all * percent + 99) / 100);
	while ((step = series_next_step(s, &w)) != NULL) {
		upto += step->count;
		if (upto < rank)
			continue;
		const double v = value_of(step->key);
		return v < s->min ? s->min : v > s->max ? s->max : v;
	}
	return s->max;
}

/* ---- time ---- */

/* Returns the state of a series on a track, or NULL beyond the limit.  *known: it existed. */
static struct series_state *state_of(struct series_set *set, uint32_t number, uint32_t track, bool *known)
{
	struct series *const s = &set->list[number];
	const uint64_t key = (uint64_t)track << 32 | number;

	*known = true;
	if (s->state != 0 && s->state_track == track)
		return &set->states[s->state - 1];
	const uint32_t before = set->nstates;
	const uint32_t at = table64_element(&set->state_of, key, &set->states, &set->nstates,
	                                    &set->states_cap, sizeof *set->states, SERIES_STATES);
	set->failed |= at == TABLE_FAILED;
	if (at >= TABLE_FAILED)
		return NULL;
	*known = at < before;
	s->state = at + 1;
	s->state_track = track;
	return &set->states[at];
}

/* Makes space for a value in `recent`: by more capacity, else by dropping the older half.  Returns the number
 * of dropped values; there may still be no space. */
static uint32_t make_space(struct series_set *set, struct series_state *k)
{
	const uint32_t cap = k->cap > 0 ? 2 * k->cap : 4, more = cap - k->cap;

	if (k->nrecent < k->cap)
		return 0;
	if (cap <= SERIES_RECENT && set->nrecent + more <= SERIES_ALL_RECENT &&
	    array_resize(&k->recent, cap, sizeof *k->recent)) {
		k->cap = cap;
		set->nrecent += more;
		return 0;
	}
	const uint32_t n = (k->nrecent + 1) / 2;
	k->nrecent -= n;
	k->dropped = true;
	if (n > 0)
		memmove(k->recent, k->recent + n, k->nrecent * sizeof *k->recent);
	return n;
}

static void keep_recent(struct series_set *set, struct series_state *k, uint32_t at, struct series_point p)
{
	const uint32_t n = make_space(set, k);

	if (at < n || k->cap == 0)
		return;
	memmove(k->recent + at - n + 1, k->recent + at - n, (k->nrecent + n - at) * sizeof *k->recent);
	k->recent[at - n] = p;
	k->nrecent++;
}

/* Adds a value that lies before the last one. */
static void add_earlier(struct series_set *set, struct series *s, struct series_state *k,
                        struct series_point p)
{
	uint32_t at = 0, hi = k->nrecent;

	while (at < hi) { /* the first one that is later */
		const uint32_t mid = at + (hi - at) / 2;
		if (k->recent[mid].ns > p.ns)
			hi = mid;
		else
			at = mid + 1;
	}
	const struct series_point next = at < k->nrecent ? k->recent[at] : k->last;
	if (p.ns < k->first_ns) {
		const double ns = (double)(k->first_ns - p.ns);
		s->held += p.value * ns;
		s->held_ns += ns;
		k->first_ns = p.ns;
	} else if (at > 0) {
		s->held += (p.value - k->recent[at - 1].value) * (double)(next.ns - p.ns);
	} else {
		set->late++;
	}
	if (at > 0 || !k->dropped)
		keep_recent(set, k, at, p);
}

static void add_held_time(struct series_set *set, uint32_t number, const struct event *e, double v)
{
	const struct series_point p = { e->ts, v };
	struct series *const s = &set->list[number];
	bool known;
	struct series_state *const k = state_of(set, number, e->track->index, &known);

	if (k == NULL)
		return;
	if (known && p.ns < k->last.ns) {
		add_earlier(set, s, k, p);
		return;
	}
	if (known) {
		const double ns = (double)(p.ns - k->last.ns);
		s->held += k->last.value * ns;
		s->held_ns += ns;
		keep_recent(set, k, k->nrecent, k->last);
	} else {
		*k = (struct series_state){ .first_ns = p.ns };
	}
	k->last = p;
}

/* Limits a mean to the range of values: sums of large numbers are rounded, or infinite. */
static double clamp_mean(const struct series *s, double mean)
{
	return mean < s->min ? s->min : mean <= s->max ? mean : s->max;
}

double series_mean(const struct series *s)
{
	return clamp_mean(s, s->sum / (double)s->count);
}

double series_time_mean(const struct series *s)
{
	return s->held_ns > 0 ? clamp_mean(s, s->held / s->held_ns) : series_mean(s);
}

/* ---- values ---- */

bool series_of(struct series_set *set, uint32_t counter, struct slice field, struct series **to)
{
	const uint32_t number = names_index(&set->names, field, counter);

	*to = NULL;
	if (number == NAMES_OTHER)
		return true;
	if (number == NAMES_FAILED || !array_reach(&set->list, &set->n, number, sizeof *set->list))
		return false;
	*to = &set->list[number];
	(*to)->counter = counter;
	return true;
}

static bool add_value(struct series_set *set, uint32_t counter, struct slice name, const struct event *e,
                      double v)
{
	struct series *s;

	if (!series_of(set, counter, name, &s))
		return false;
	if (s == NULL)
		return true;
	if (s->count == 0) {
		s->first_ns = s->last_ns = e->ts;
		s->first = s->last = s->min = s->max = v;
	}
	if (e->ts < s->first_ns) {
		s->first_ns = e->ts;
		s->first = v;
	}
	if (e->ts >= s->last_ns) {
		s->last_ns = e->ts;
		s->last = v;
	}
	s->min = v < s->min ? v : s->min;
	s->max = v > s->max ? v : s->max;
	s->sum += v;
	s->count++;
	(void)series_add_step(set, s, key_of(v), 1);
	add_held_time(set, (uint32_t)(s - set->list), e, v);
	return !set->failed;
}

bool series_merge(struct series_set *set, struct series *s, const struct series *from)
{
	const bool is_new = s->count == 0;
	bool ok = !ckd_add(&s->count, s->count, from->count);

	if (from->count == 0)
		return true;
	if (!ok)
		s->count = UINT64_MAX;
	if (is_new || from->first_ns < s->first_ns ||
	    (from->first_ns == s->first_ns && from->first < s->first)) {
		s->first_ns = from->first_ns;
		s->first = from->first;
	}
	if (is_new || from->last_ns > s->last_ns || (from->last_ns == s->last_ns && from->last > s->last)) {
		s->last_ns = from->last_ns;
		s->last = from->last;
	}
	s->min = is_new || from->min < s->min ? from->min : s->min;
	s->max = is_new || from->max > s->max ? from->max : s->max;
	s->sum += from->sum;
	s->held += from->held;
	s->held_ns += from->held_ns;
	for (uint32_t i = 0; i < from->nsteps; i++)
		ok &= series_add_step(set, s, from->steps[i].key, from->steps[i].count);
	return ok;
}

bool series_add(struct series_set *set, uint32_t counter, const struct batch *b, const struct event *e)
{
	double v;

	for (uint32_t i = 0; i < e->nfields; i++) {
		const struct field *const f = &b->fields[e->first_field + i];
		if (series_value(&f->value, &v) && !add_value(set, counter, f->name, e, v))
			return false;
	}
	return true;
}
