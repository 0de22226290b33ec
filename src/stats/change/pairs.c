/* Pairs the groups of two sides by their keys, and judges each pair.  Cost: one look-up for each group of
 * each run. */
#include "stats/change/change.h"

#include <math.h>
#include <stdlib.h>

#include "base/match.h"

struct pair_set {
	struct change *c;
	struct tabletext index; /* key -> pair */
	struct arena keys;
	/* by pair, metric and run of both sides, for noise of runs; without the group: total 0, others NaN */
	double *values;
	size_t nruns;
};

/* Returns a text of the kind and all keys, each after its length. */
static struct slice key_of(struct arena *a, bool async, const struct slice *values, unsigned n)
{
	size_t size = 1;

	for (unsigned i = 0; i < n; i++)
		size += sizeof values[i].n + values[i].n;
	char *const p = arena_alloc(a, size), *to = p;
	if (p == NULL)
		return SLICE_NONE;
	*to++ = async ? 'a' : 's';
	for (unsigned i = 0; i < n; i++) {
		memcpy(to, &values[i].n, sizeof values[i].n);
		to += sizeof values[i].n;
		array_copy(to, values[i].p, values[i].n);
		to += values[i].n;
	}
	return slice_of(p, size);
}

/* The pair of a group; NULL on OOM. */
static struct change_pair *pair_of(struct pair_set *p, bool async, const struct span_row *row, unsigned keys)
{
	struct change *const c = p->c;
	const struct slice key = key_of(&p->keys, async, row->values, keys);
	const uint32_t known = key.p != NULL ? tabletext_get(&p->index, key) : 0;

	if (key.p != NULL && known != TABLE_NONE)
		return &c->pairs[known];
	if (key.p == NULL || !array_reserve(&c->pairs, c->n, &c->cap, sizeof *c->pairs) ||
	    !tabletext_put(&p->index, key, c->n))
		return NULL;
	c->pairs[c->n] = (struct change_pair){ .async = async };
	memcpy(c->pairs[c->n].keys, row->values, sizeof row->values);
	return &c->pairs[c->n++];
}

static struct change_values values_of(const struct stats *s, const struct span_row *row, size_t nruns)
{
	const struct histogram *const h = &row->group->durations;

	return (struct change_values){
		.there = true,
		.waits = span_row_waits(row),
		.n = { [CHANGE_COUNT] = rounded_mean(row->group->count, nruns),
		       [CHANGE_TOTAL] = rounded_mean(row->total, nruns),
		       [CHANGE_SELF] = rounded_mean(row->self, nruns),
		       [CHANGE_BYTES] = rounded_mean(total_of(row->group->bytes), nruns),
		       [CHANGE_P50] = histogram_percentile(h, &s->pool, 50),
		       [CHANGE_P90] = histogram_percentile(h, &s->pool, 90),
		       [CHANGE_P99] = histogram_percentile(h, &s->pool, 99) },
		.spans = row->group->count,
		.mean = (double)total_of(row->group->sum) / (double)row->group->count,
		.durations = h,
	};
}

/* ---- noise ---- */

/* Bounds of a quantile of the spans of a side. */
static void bounds(const struct stats *s, const struct histogram *h, uint32_t quantile, double *low,
                   double *high)
{
	uint64_t from, to, least, most;

	noise_ranks(h->count, quantile, NOISE_ALPHA, &from, &to);
	*low = 0;
	*high = INFINITY;
	if (from > 0) {
		histogram_rank(h, &s->pool, from, &least, &most);
		*low = (double)least;
	}
	if (to <= h->count) {
		histogram_rank(h, &s->pool, to, &least, &most);
		*high = (double)most;
	}
}

static double divided(double a, double b)
{
	return b > 0 ? a / b : a > 0 ? INFINITY : NAN;
}

/* Noise of spans: slower or faster if the intervals of the quantile of both sides do not meet. */
static void judge_spans(const struct change *c, const struct change_pair *p, uint32_t quantile,
                        struct change_number *number)
{
	double low[CHANGE_SIDES], high[CHANGE_SIDES];

	for (int side = 0; side < CHANGE_SIDES; side++)
		bounds(&c->sides[side].joint, p->sides[side].durations, quantile, &low[side], &high[side]);
	const double ratio_high = divided(high[CHANGE_NEW], low[CHANGE_OLD]);

	number->low = isinf(high[CHANGE_OLD]) ? 0 : divided(low[CHANGE_NEW], high[CHANGE_OLD]);
	number->high = isnan(ratio_high) ? INFINITY : ratio_high;
	number->slower = low[CHANGE_NEW] > high[CHANGE_OLD];
	number->faster = high[CHANGE_NEW] < low[CHANGE_OLD];
}

/* The values of a side's runs that have the group; returns their number. */
static size_t runs_with(const struct pair_set *p, size_t pair, enum change_metric m, int side, double *to)
{
	const size_t first = side == CHANGE_OLD ? 0 : p->c->sides[CHANGE_OLD].nruns;
	size_t n = 0;

	for (size_t i = 0; i < p->c->sides[side].nruns; i++) {
		const double v = p->values[(pair * CHANGE_METRICS + m) * p->nruns + first + i];
		if (!isnan(v))
			to[n++] = v;
	}
	return n;
}

static void judge_runs(const struct pair_set *p, size_t pair, enum change_metric m,
                       struct change_number *number)
{
	double old[CHANGE_RUNS_MAX], new[CHANGE_RUNS_MAX];
	const size_t n = runs_with(p, pair, m, CHANGE_OLD, old), k = runs_with(p, pair, m, CHANGE_NEW, new);

	if (n < NOISE_RUNS || k < NOISE_RUNS)
		return;
	const double up = noise_rank_test(old, n, new, k), down = noise_rank_test(new, k, old, n);
	number->p = up < down ? up : down;
	number->slower = up <= NOISE_SIGNIFICANT;
	number->faster = down <= NOISE_SIGNIFICANT;
}

/* ---- verdicts ---- */

double change_ratio(uint128 old, uint128 new)
{
	return divided((double)new, (double)old);
}

/* Returns 1 if new is larger than old by more than floors.change of old, -1 if smaller by more, else 0.  A
 * change of exactly this part is not more, in whichever direction the product is rounded. */
static int moved_from(const struct change *c, double old, double new)
{
	const double limit = old * c->floors.change * (1 + 1e-12);

	return new - old > limit ? 1 : old - new > limit ? -1 : 0;
}

static int moved(const struct change *c, const struct change_pair *p, enum change_metric m)
{
	return moved_from(c, (double)p->sides[CHANGE_OLD].n[m], (double)p->sides[CHANGE_NEW].n[m]);
}

static enum change_verdict verdict_of(const struct change *c, const struct change_pair *p)
{
	const struct change_values *const old = &p->sides[CHANGE_OLD], *const new = &p->sides[CHANGE_NEW];
	const struct change_number *const total = &p->numbers[CHANGE_TOTAL],
	                                  *const p50 = &p->numbers[CHANGE_P50],
	                                  *const p99 = &p->numbers[CHANGE_P99];
	const int longer = moved(c, p, CHANGE_TOTAL);

	if ((old->waits || !old->there) && (new->waits || !new->there))
		return CHANGE_IS_WAITING;
	if (!old->there || !new->there) {
		if ((old->there ? old : new)->n[CHANGE_TOTAL] < c->floors.time)
			return CHANGE_IS_UNJUDGED;
		return new->there ? CHANGE_IS_NEW : CHANGE_IS_GONE;
	}
	if (old->spans < c->floors.count || new->spans < c->floors.count ||
	    (old->n[CHANGE_TOTAL] < c->floors.time && new->n[CHANGE_TOTAL] < c->floors.time))
		return CHANGE_IS_UNJUDGED;
	if (p50->slower || p99->slower)
		return p50->faster || p99->faster || moved_from(c, old->mean, new->mean) < 0
		           ? CHANGE_IS_MIXED
		           : CHANGE_IS_SLOWER;
	if (p50->faster || p99->faster)
		return CHANGE_IS_FASTER;
	/* With single runs, a larger total is beyond noise only if the number of spans changed. */
	const int spans = moved_from(c, (double)old->spans / (double)c->sides[CHANGE_OLD].nruns,
	                             (double)new->spans / (double)c->sides[CHANGE_NEW].nruns);
	if (longer != 0 && p->distance >= c->floors.time &&
	    (c->by_runs ? total->slower || total->faster : spans == longer))
		return longer > 0 ? CHANGE_IS_MORE : CHANGE_IS_FEWER;
	for (enum change_metric m = 0; m < CHANGE_METRICS; m++)
		if (moved(c, p, m) != 0)
			return CHANGE_IS_NOISE;
	return CHANGE_IS_SAME;
}

static const struct {
	const char *name;
	int rule; /* enum compare_rule; -1: none */
} verdicts[CHANGE_VERDICTS] = {
	[CHANGE_IS_SLOWER] = { "slower", COMPARE_RULE_SLOWER },
	[CHANGE_IS_MIXED] = { "mixed", COMPARE_RULE_MIXED },
	[CHANGE_IS_NEW] = { "new", COMPARE_RULE_NEW },
	[CHANGE_IS_MORE] = { "more", COMPARE_RULE_MORE },
	[CHANGE_IS_FASTER] = { "faster", COMPARE_RULE_FASTER },
	[CHANGE_IS_FEWER] = { "fewer", -1 },
	[CHANGE_IS_GONE] = { "gone", COMPARE_RULE_GONE },
	[CHANGE_IS_NOISE] = { "noise", -1 },
	[CHANGE_IS_SAME] = { "same", -1 },
	[CHANGE_IS_WAITING] = { "waiting", -1 },
	[CHANGE_IS_UNJUDGED] = { "unjudged", -1 },
};

const char *change_verdict_name(enum change_verdict v)
{
	return verdicts[v].name;
}

const struct rule *change_verdict_rule(enum change_verdict v)
{
	return verdicts[v].rule >= 0 ? &compare_rules[verdicts[v].rule] : NULL;
}

bool change_has_bytes(const struct change *c)
{
	return c->sides[CHANGE_OLD].joint.has_bytes || c->sides[CHANGE_NEW].joint.has_bytes;
}

/* ---- the whole ---- */

struct side_rows {
	struct pair_set *p;
	const struct stats *s;
	int side;
	size_t number; /* of the run, counted over both sides */
};

static bool add_side_row(void *ctx, const struct span_table *t, struct span_row *row)
{
	const struct side_rows *const r = ctx;
	struct change_pair *const pair = pair_of(r->p, t == &r->s->async, row, group_by_count(&r->s->by));

	if (pair != NULL)
		pair->sides[r->side] = values_of(r->s, row, r->p->c->sides[r->side].nruns);
	return pair != NULL;
}

/* Sets the values of a run for the rank test. */
static bool add_run_row(void *ctx, const struct span_table *t, struct span_row *row)
{
	const struct side_rows *const r = ctx;
	struct pair_set *const p = r->p;
	const struct slice key = key_of(&p->keys, t == &r->s->async, row->values, group_by_count(&r->s->by));
	const uint32_t at = key.p != NULL ? tabletext_get(&p->index, key) : TABLE_NONE;

	if (at == TABLE_NONE) /* OOM, or "(other names)" of the joint table have it */
		return key.p != NULL;
	const struct change_values v = values_of(r->s, row, 1);
	for (enum change_metric m = 0; m < CHANGE_METRICS; m++)
		p->values[((size_t)at * CHANGE_METRICS + m) * p->nruns + r->number] = (double)v.n[m];
	return true;
}

static bool add_runs(struct pair_set *p)
{
	const struct change *const c = p->c;
	const size_t n = (size_t)c->n * CHANGE_METRICS * p->nruns;
	bool ok = (p->values = malloc((n + 1) * sizeof *p->values)) != NULL;
	size_t number = 0;

	for (size_t i = 0; ok && i < n; i++)
		p->values[i] = i / p->nruns % CHANGE_METRICS == CHANGE_TOTAL ? 0 : NAN;
	for (int side = 0; side < CHANGE_SIDES; side++)
		for (size_t i = 0; ok && i < c->sides[side].nruns; i++, number++) {
			const struct stats *const s = c->sides[side].runs[i];
			ok = stats_each_span(s, add_run_row, &(struct side_rows){ p, s, side, number });
		}
	return ok;
}

static bool join_side(struct change_side *side)
{
	const struct stats *const first = side->runs[0];
	stats_init(&side->joint);
	bool ok = stats_group(&side->joint, &first->by, SLICE_LIT(""));

	for (size_t i = 0; ok && i < side->nruns; i++) {
		ok = change_add(&side->joint, side->runs[i], NULL, false);
		side->joint.overflowed |= side->runs[i]->overflowed;
	}
	return ok && stats_end(&side->joint);
}

static void judge(struct pair_set *p, uint32_t i)
{
	static const uint32_t quantiles[CHANGE_METRICS] = { [CHANGE_P50] = 500000, [CHANGE_P99] = 990000 };
	struct change *const c = p->c;
	struct change_pair *const pair = &c->pairs[i];
	const uint128 old = pair->sides[CHANGE_OLD].n[CHANGE_TOTAL],
	              new = pair->sides[CHANGE_NEW].n[CHANGE_TOTAL];
	const double ratio = change_ratio(old, new);

	pair->distance = new > old ? new - old : old - new;
	pair->ratio = isnan(ratio) ? 1 : ratio < 1 ? 1 / ratio : ratio;
	for (enum change_metric m = 0; m < CHANGE_METRICS; m++) {
		struct change_number *const number = &pair->numbers[m];
		*number = (struct change_number){ .low = NAN, .high = NAN, .p = NAN };
		if (!pair->sides[CHANGE_OLD].there || !pair->sides[CHANGE_NEW].there)
			continue;
		if (c->by_runs)
			judge_runs(p, i, m, number);
		else if (m != CHANGE_TOTAL)
			judge_spans(c, pair, quantiles[m], number);
	}
	for (enum change_metric m = 0; m < CHANGE_METRICS; m++) { /* only what moved is slower or faster */
		pair->numbers[m].slower &= moved(c, pair, m) > 0;
		pair->numbers[m].faster &= moved(c, pair, m) < 0;
	}
	pair->verdict = verdict_of(c, pair);
	c->verdicts[pair->verdict]++;
}

static int by_change(const void *a, const void *b)
{
	const struct change_pair *const x = a, *const y = b;

	if (x->distance != y->distance)
		return ORDER(y->distance, x->distance);
	if (x->ratio < y->ratio || x->ratio > y->ratio)
		return x->ratio < y->ratio ? 1 : -1;
	const int c = slices_compare(x->keys, y->keys, GROUP_KEYS_MAX);
	return c != 0 ? c : (int)x->async - (int)y->async;
}

bool change_make(struct change *c)
{
	struct pair_set p = { .c = c, .nruns = c->sides[CHANGE_OLD].nruns + c->sides[CHANGE_NEW].nruns };
	bool ok = true;

	c->by_runs = c->sides[CHANGE_OLD].nruns >= NOISE_RUNS && c->sides[CHANGE_NEW].nruns >= NOISE_RUNS;
	for (int side = 0; ok && side < CHANGE_SIDES; side++) {
		struct stats *const s = &c->sides[side].joint;
		ok = join_side(&c->sides[side]) &&
		     stats_each_span(s, add_side_row, &(struct side_rows){ &p, s, side, 0 });
		c->overflowed |= s->overflowed;
	}
	ok = ok && (!c->by_runs || add_runs(&p));
	for (uint32_t i = 0; ok && i < c->n; i++)
		judge(&p, i);
	if (ok)
		array_sort(c->pairs, c->n, sizeof *c->pairs, by_change);
	free(p.values);
	tabletext_free(&p.index);
	arena_free(&p.keys);
	return ok;
}

void change_free(struct change *c)
{
	for (int side = 0; side < CHANGE_SIDES; side++)
		stats_free(&c->sides[side].joint);
	free(c->pairs);
	*c = (struct change){ .n = 0 };
}
