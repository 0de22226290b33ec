/* Budgets: limits of a statistic for each name or series of a counter, each category, or all events of a set,
 * absolute or relative to a baseline.  The rows come from the statistics of the trace, or of the threads that
 * a budget names; a group is the merge of its rows' histograms. */
#include "policy/private.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/match.h"
#include "base/numbers.h"
#include "check/rules.h"
#include "output/text_visible.h"

/* ---- rows of the statistics ---- */

/* A row of one of the tables, or a series of a counter, whose category is its own name. */
struct row {
	enum baseline_table table;
	struct slice name, category;
	const struct histogram_pool *pool; /* of the group's durations */
	const struct span_group *group;    /* NULL: instants and counters, which have a count only */
	const struct series *series;       /* NULL: none */
	uint64_t count;
	uint128 self; /* ns */
	uint128 bytes;
	bool waits, has_bytes;
};

struct rows {
	struct span_row *spans[2];
	struct tally_row *instants;
	struct counter_row *counters;
	struct series_row *series; /* of all counters */
	size_t n[BASELINE_SERIES + 1];
};

static bool rows_init(struct rows *r, const struct stats *s)
{
	*r = (struct rows){ .n = { 0 } };
	if (!stats_span_rows(s, &s->spans, NULL, &r->spans[0], &r->n[BASELINE_SPANS]) ||
	    !stats_span_rows(s, &s->async, NULL, &r->spans[1], &r->n[BASELINE_ASYNC]) ||
	    !stats_tally_rows(&s->instants, &r->instants, &r->n[BASELINE_INSTANTS]) ||
	    !stats_counter_rows(s, &r->counters, &r->n[BASELINE_COUNTERS], &r->series))
		return false;
	for (size_t i = 0; i < r->n[BASELINE_COUNTERS]; i++)
		r->n[BASELINE_SERIES] += r->counters[i].nseries;
	return true;
}

static void rows_free(struct rows *r)
{
	for (int i = 0; i < 2; i++)
		free(r->spans[i]);
	free(r->instants);
	free(r->counters);
	free(r->series);
}

static struct row get_row(const struct rows *r, const struct stats *s, enum baseline_table table, size_t i)
{
	if (table == BASELINE_SPANS || table == BASELINE_ASYNC) {
		const struct span_row *const k = &r->spans[table - BASELINE_SPANS][i];
		return (struct row){ .table = table,
			             .name = k->name,
			             .category = k->category,
			             .pool = &s->pool,
			             .group = k->group,
			             .count = k->group->count,
			             .self = k->self,
			             .bytes = total_of(k->group->bytes),
			             .waits = span_row_waits(k),
			             .has_bytes = s->has_bytes };
	}
	struct row row = { .table = table, .category = SLICE_LIT("") };
	if (table == BASELINE_INSTANTS) {
		row.name = r->instants[i].name;
		row.count = r->instants[i].count;
	} else if (table == BASELINE_COUNTERS) {
		row.name = r->counters[i].name;
		row.count = r->counters[i].count;
	} else {
		row.series = r->series[i].series;
		row.name = names_text(&s->counters.names, row.series->counter);
		row.category = r->series[i].name;
		row.count = row.series->count;
	}
	return row;
}

/* ---- statistics of a row ---- */

struct amount {
	double v;      /* ns, events, bytes, events per second, or the value of a counter */
	char text[96]; /* exact, with its unit */
};

static void set_ns(struct amount *a, uint128 ns)
{
	char digits[DECIMAL_U128_MAX + 1], space[64];
	struct text t = text_start(space, sizeof space);

	a->v = (double)ns;
	*decimal_u128(digits, ns) = '\0';
	text_time(&t, ns);
	text_char(&t, '\0');
	snprintf(a->text, sizeof a->text, ns < 1000 ? "%s ns" : "%s ns (%s)", digits, space);
}

static void set_number(struct amount *a, double v, const char *unit)
{
	a->v = v;
	snprintf(a->text, sizeof a->text, "%.15g%s", v, unit);
}

/* Returns the duration of the trace, or 0 without events. */
static double trace_ns(const struct stats *s)
{
	return s->events > 0 ? (double)(s->last_ns - s->first_ns) : 0;
}

static const unsigned percents[] = { 50, 90, 99 }; /* of STATISTIC_P50 and the next ones */

static double value_of(const struct series *s, const struct policy_budget *budget)
{
	switch (budget->statistic) {
	case STATISTIC_MAX:
		return s->max;
	case STATISTIC_MEAN:
		return series_time_mean(s);
	case STATISTIC_QUANTILE:
		return series_percentile(s, budget->quantile / ONE_PERCENT);
	default:
		return series_percentile(s, percents[budget->statistic - STATISTIC_P50]);
	}
}

/* Returns false if the row has no such statistic. */
static bool get_amount(const struct stats *trace, const struct row *row, const struct policy_budget *budget,
                       struct amount *a)
{
	const enum policy_statistic statistic = budget->statistic;
	const struct span_group *const g = row->group;

	if (row->series != NULL) {
		set_number(a, value_of(row->series, budget), "");
		return true;
	}
	if (statistic == STATISTIC_COUNT) {
		set_number(a, (double)row->count, "");
		return true;
	}
	if (statistic == STATISTIC_BYTES) {
		set_number(a, (double)row->bytes, " bytes");
		return row->has_bytes;
	}
	if (statistic == STATISTIC_RATE) {
		if (trace_ns(trace) > 0) /* rounded once: a rate of the limit is not more */
			set_number(a, (double)row->count * 1e9 / trace_ns(trace), "/s");
		return trace_ns(trace) > 0;
	}
	if (statistic == STATISTIC_QUANTILE)
		set_ns(a, histogram_quantile(&g->durations, row->pool, budget->quantile));
	else if (statistic <= STATISTIC_P99)
		set_ns(a,
		       histogram_percentile(&g->durations, row->pool, percents[statistic - STATISTIC_P50]));
	else
		set_ns(a, statistic == STATISTIC_MAX    ? g->durations.max
		          : statistic == STATISTIC_SUM  ? total_of(g->sum)
		          : statistic == STATISTIC_SELF ? row->self
		                                        : span_mean(g));
	return true;
}

/* Writes `; the longest is on "main" at +0.241 s`, where the time is relative to the first event. */
static const char *longest_text(const struct stats *trace, const struct row *row, char buffer[400])
{
	const struct span_group *const g = row->group;
	struct quoted q;

	buffer[0] = '\0';
	if (g == NULL || g->longest_track == NULL)
		return buffer;
	struct text t = text_start(buffer, 400);
	text_printf(&t, "; the longest is on %s at ", quoted(&q, g->longest_track->name));
	text_since(&t, g->longest_ns - trace->first_ns);
	text_char(&t, '\0');
	return buffer;
}

/* ---- one budget ---- */

struct budget_run {
	const struct policy_verdict *v;
	const struct policy_budget *budget;
	const struct stats *stats;           /* of the trace, or of the threads that the budget names */
	bool has_baseline;                   /* the baseline has an input for this trace */
	uint64_t breaches[FILE_CHECK_RULES]; /* of the limit, of the baseline */
	uint64_t named;                      /* rows that the budget is for */
	uint64_t matched;                    /* those that have the statistic */
	uint64_t fresh;                      /* matched rows that the baseline lacks */
	struct quoted first_fresh;
	uint64_t small; /* rows that are larger than the tolerance allows, but too small to compare */
	struct quoted first_small;
	char small_why[100]; /* reason for the first of them */
};

/* Describes a row for messages: `poll "main.rs"`, `"draw"` if it has no category, `category "poll"`,
 * `series "rss" of "memory"`, or the events of the budget. */
static const char *row_text(const struct budget_run *r, const struct row *row,
                            char buffer[POLICY_FILTER_TEXT])
{
	const struct policy_budget *const b = r->budget;
	struct quoted name, category;

	if (b->group == GROUP_ALL)
		return policy_filter_text(&b->filter, buffer);
	quoted(&name, row->name);
	quoted(&category, row->category);
	const int n = (int)strlen(category.s) - 2;
	if (row->series != NULL)
		snprintf(buffer, POLICY_FILTER_TEXT, "series %s of %s", category.s, name.s);
	else if (b->group == GROUP_CATEGORY)
		snprintf(buffer, POLICY_FILTER_TEXT, "category %s", category.s);
	else if (n > 0 && !slice_is(row->category, "no category"))
		snprintf(buffer, POLICY_FILTER_TEXT, "%.*s %s", n, category.s + 1, name.s);
	else
		snprintf(buffer, POLICY_FILTER_TEXT, "%s", name.s);
	return buffer;
}

/* Describes the set of a budget: `series "rss" of "memory"`, else as policy_filter_text(). */
static const char *set_text(const struct policy_budget *b, char buffer[POLICY_FILTER_TEXT])
{
	char filter[POLICY_FILTER_TEXT];
	struct quoted q;

	if (b->series.p == NULL)
		return policy_filter_text(&b->filter, buffer);
	snprintf(buffer, POLICY_FILTER_TEXT, "series %.300s of %.600s", quoted(&q, b->series),
	         policy_filter_text(&b->filter, filter));
	return buffer;
}

static void check_limit(struct budget_run *r, const struct row *row, const struct amount *a)
{
	const struct policy_budget *const b = r->budget;
	char longest[400], filter[POLICY_FILTER_TEXT];

	if (!b->absolute || a->v <= b->limit)
		return;
	r->breaches[0]++;
	policy_finding(r->v, POLICY_RULE_BUDGET, row->group != NULL ? row->group->longest_offset : 0, b->line,
	               "%s of %s is %s, more than %.40s%s", b->statistic_name, row_text(r, row, filter),
	               a->text, b->limit_text.p, longest_text(&r->v->watch->stats, row, longest));
}

/* Finds the largest value of the row in the baselines.  Returns false if no baseline has the row. */
static bool largest_value(const struct budget_run *r, const struct row *row, struct baseline_values *was)
{
	bool found = false;

	for (const struct policy_baseline *b = r->v->baseline; b != NULL; b = baseline_next(b)) {
		const struct baseline_input *const in = baseline_input(b, r->v->path);
		struct baseline_values v;
		if (in != NULL && baseline_value(in, row->table, row->name, row->category, r->budget, &v) &&
		    (!found || v.value > was->value)) {
			*was = v;
			found = true;
		}
	}
	return found;
}

/* Whether a row has too few spans, or takes too little time, to judge its durations. */
static bool is_small(const struct policy_budget *b, const struct row *row, const struct baseline_values *was)
{
	if (row->group == NULL || (b->statistic >= STATISTIC_COUNT && b->statistic <= STATISTIC_RATE))
		return false;
	return row->count < b->min_count || was->count < (double)b->min_count ||
	       (total_of(row->group->sum) < b->min_time && !(was->sum >= (double)b->min_time));
}

static void say_small(struct budget_run *r, const struct row *row, const struct baseline_values *was)
{
	const double count = (double)row->count < was->count ? (double)row->count : was->count;
	struct amount sum, least;

	quoted(&r->first_small, row->name);
	set_ns(&sum, total_of(row->group->sum));
	set_ns(&least, r->budget->min_time);
	if (count < (double)r->budget->min_count)
		snprintf(r->small_why, sizeof r->small_why, "%.15g %s fewer than %" PRIu64, count,
		         count == 1 ? "span is" : "spans are", r->budget->min_count);
	else
		snprintf(r->small_why, sizeof r->small_why, "%.36s in all is less than %.30s", sum.text,
		         least.text);
}

static void check_baseline(struct budget_run *r, const struct row *row, const struct amount *a)
{
	const struct policy_budget *const b = r->budget;
	char longest[400], more[32] = "", filter[POLICY_FILTER_TEXT];
	struct baseline_values before = { .count = 0 };
	struct amount was;

	if (!b->relative || !r->has_baseline || (b->line == 0 && row->waits))
		return;
	if (!largest_value(r, row, &before)) {
		if (r->fresh++ == 0)
			quoted(&r->first_fresh, row->name);
		return;
	}
	/* exactly the tolerance is not more, in whichever direction the product is rounded */
	if (a->v - before.value <= fabs(before.value) * b->tolerance * (1 + 1e-12))
		return;
	if (is_small(b, row, &before)) {
		if (r->small++ == 0)
			say_small(r, row, &before);
		return;
	}
	r->breaches[1]++;
	if (b->of_values || (b->statistic >= STATISTIC_COUNT && b->statistic <= STATISTIC_RATE))
		set_number(&was, before.value,
		           b->statistic == STATISTIC_RATE    ? "/s"
		           : b->statistic == STATISTIC_BYTES ? " bytes"
		                                             : "");
	else
		set_ns(&was, (uint128)before.value);
	if (was.v > 0)
		snprintf(more, sizeof more, "%.3g %% ", 100 * (a->v / was.v - 1));
	policy_finding(r->v, POLICY_RULE_REGRESSION, row->group != NULL ? row->group->longest_offset : 0,
	               b->line, "%s of %s is %s, %smore than %s of the baseline%s; the tolerance is %.40s%s",
	               b->statistic_name, row_text(r, row, filter), a->text, more, was.text,
	               baseline_next(r->v->baseline) != NULL ? "s" : "", b->tolerance_text.p,
	               longest_text(&r->v->watch->stats, row, longest));
}

static void report_unchecked(const struct budget_run *r)
{
	const struct policy_budget *const b = r->budget;
	const char *const statistic = b->statistic_name;
	char filter[POLICY_FILTER_TEXT];

	set_text(b, filter);
	if (b->statistic == STATISTIC_RATE && trace_ns(&r->v->watch->stats) == 0)
		policy_finding(r->v, POLICY_RULE_UNCHECKED, 0, b->line,
		               "a trace without a length has no rate of %s", filter);
	else if (r->matched == 0 && r->named > 0)
		policy_finding(r->v, POLICY_RULE_UNCHECKED, 0, b->line, "%s of %s: the trace has no %s",
		               statistic, filter, statistic);
	else if (r->matched == 0)
		policy_finding(r->v, POLICY_RULE_UNKNOWN_NAME, 0, b->line,
		               "%s of %s: nothing has such a name", statistic, filter);
	else if (b->relative && !r->has_baseline)
		policy_finding(r->v, POLICY_RULE_UNCHECKED, 0, b->line, "%s of %s: %s", statistic, filter,
		               r->v->baseline == NULL ? "no baseline was named"
		                                      : "the baseline has no input of this name");
	else if (r->fresh > 0)
		policy_finding(r->v, POLICY_RULE_UNCHECKED, 0, b->line, "%s: the baseline does not have %s%s",
		               statistic, r->first_fresh.s, r->fresh > 1 ? " and others" : "");
	if (r->small > 0)
		policy_finding(r->v, POLICY_RULE_UNCHECKED, 0, b->line,
		               "%s of %s%s is above the tolerance, but not judged: %s", statistic,
		               r->first_small.s, r->small > 1 ? " and others" : "", r->small_why);
}

/* Begins a check of the report, named like `budget: p99 of "draw*"`, or `... (2)`: services join cases of one
 * name. */
static void begin_check(const struct budget_run *r)
{
	static const struct rule *const rules[FILE_CHECK_RULES] = { &policy_rules[POLICY_RULE_BUDGET],
		                                                    &policy_rules[POLICY_RULE_REGRESSION] };
	const struct policy_budget *const b = r->budget;
	struct finding_log *const log = r->v->log;
	char filter[POLICY_FILTER_TEXT], name[POLICY_FILTER_TEXT + 50];

	snprintf(name, sizeof name, "budget: %s of %s%s", b->statistic_name, set_text(b, filter),
	         b->group == GROUP_CATEGORY ? " by category"
	         : b->group == GROUP_ALL    ? ", all"
	                                    : "");
	const size_t n = strlen(name);
	for (uint32_t i = 0, number = 1; i < log->nchecks; i++)
		if (strcmp(log->checks[i].name, name) == 0)
			snprintf(name + n, sizeof name - n, " (%u)", ++number);
	finding_log_check(log, name, rules);
}

static bool is_in_budget(const struct policy_budget *b, const struct row *row)
{
	static const enum policy_kind kinds[] = { KIND_SPAN, KIND_ASYNC, KIND_INSTANT, KIND_COUNTER,
		                                  KIND_COUNTER };
	const struct policy_filter *const filter = &b->filter;

	return (filter->kinds >> kinds[row->table] & 1) != 0 && b->of_values == (row->series != NULL) &&
	       (b->series.p == NULL || glob_fits(b->series, row->category)) &&
	       (filter->name.p == NULL || glob_fits(filter->name, row->name)) &&
	       (filter->category.p == NULL || glob_fits(filter->category, row->category));
}

static void check_row(struct budget_run *r, const struct row *row)
{
	struct amount a;

	if (!get_amount(&r->v->watch->stats, row, r->budget, &a))
		return;
	r->matched++;
	check_limit(r, row, &a);
	check_baseline(r, row, &a);
}

/* ---- groups of rows ---- */

static void add_group(struct span_group *to, struct histogram_pool *pool, const struct row *row)
{
	const struct span_group *const g = row->group;

	if (to->count == 0 || g->durations.max > to->durations.max) {
		to->longest_offset = g->longest_offset;
		to->longest_ns = g->longest_ns;
		to->longest_track = g->longest_track;
	}
	histogram_merge(&to->durations, pool, &g->durations, row->pool);
	total_add(&to->sum, g->sum.low);
	to->sum.high += g->sum.high;
	to->count += g->count;
}

/* Orders by table, so that rows with durations come first, then by category. */
static int compare_group(const void *a, const void *b)
{
	const struct row *const x = a, *const y = b;

	return x->table != y->table ? ORDER(x->table, y->table) : slice_compare(x->category, y->category);
}

static void check_groups(struct budget_run *r, struct row *list, size_t n)
{
	const bool all = r->budget->group == GROUP_ALL;

	qsort(list, n, sizeof *list, compare_group);
	for (size_t i = 0, end; i < n; i = end) {
		struct histogram_pool pool = { .n = 0 };
		struct span_group sum = { .count = 0 };
		struct row one = list[i];
		one.count = 0;
		for (end = i; end < n && (all || compare_group(&list[i], &list[end]) == 0); end++) {
			one.count += list[end].count;
			one.self += end > i ? list[end].self : 0;
			one.bytes += end > i ? list[end].bytes : 0;
			if (list[end].group != NULL)
				add_group(&sum, &pool, &list[end]);
		}
		one.group = one.group != NULL ? &sum : NULL;
		one.pool = &pool;
		check_row(r, &one);
		histogram_pool_free(&pool);
	}
}

/* ---- all budgets ---- */

static bool run_budget(struct budget_run *r, const struct rows *rows)
{
	size_t n = 0, max = 0;

	for (int t = 0; t <= BASELINE_SERIES; t++)
		max += rows->n[t];
	struct row *const list = malloc((max + 1) * sizeof *list);
	if (list == NULL)
		return false;
	for (int t = 0; t <= BASELINE_SERIES; t++)
		for (size_t i = 0; i < rows->n[t]; i++) {
			list[n] = get_row(rows, r->stats, (enum baseline_table)t, i);
			n += is_in_budget(r->budget, &list[n]);
		}
	r->named = n;
	begin_check(r);
	if (r->budget->group != GROUP_NAME)
		check_groups(r, list, n);
	for (size_t i = 0; r->budget->group == GROUP_NAME && i < n; i++)
		check_row(r, &list[i]);
	free(list);
	finding_log_checked(r->v->log, r->breaches);
	report_unchecked(r);
	return true;
}

/* Returns the index + 1 of the subset of the budget's threads, or 0 for the whole trace. */
static uint32_t find_subset(const struct policy_watch *w, const struct policy_budget *b)
{
	for (uint32_t i = 0; b->filter.thread.p != NULL && i < w->nsubsets; i++)
		if (slice_equal(w->subsets[i].thread, b->filter.thread))
			return i + 1;
	return 0;
}

bool policy_check_budgets(const struct policy_verdict *v)
{
	const struct policy_checks *const c = v->watch->checks;
	const struct stats *const s = &v->watch->stats;
	struct rows rows[POLICY_MAX_SUBSETS + 1] = { 0 };
	bool collected[POLICY_MAX_SUBSETS + 1] = { false }, counted[POLICY_MAX_SUBSETS + 1] = { false },
	                                    ok = true;
	uint64_t coarse = 0;

	for (uint32_t i = 0; ok && i < c->nbudgets; i++) {
		const uint32_t subset = find_subset(v->watch, c->budgets[i]);
		struct budget_run r = {
			.v = v,
			.budget = c->budgets[i],
			.stats = subset > 0 ? &v->watch->subsets[subset - 1].stats : s,
		};
		for (const struct policy_baseline *b = v->baseline; b != NULL; b = baseline_next(b))
			r.has_baseline |= baseline_input(b, v->path) != NULL;
		ok = collected[subset] || rows_init(&rows[subset], r.stats);
		collected[subset] = true;
		const enum policy_statistic of = r.budget->statistic;
		if (of <= STATISTIC_P99 || of == STATISTIC_QUANTILE) { /* percentiles */
			coarse += counted[subset] ? 0 : r.stats->pool.coarse;
			counted[subset] = true;
		}
		ok = ok && run_budget(&r, &rows[subset]);
	}
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		rows_free(&rows[i]);
	char note[HISTOGRAM_NOTE];
	if (ok && coarse > 0)
		policy_finding(v, POLICY_RULE_UNCHECKED, 0, 0, "%s, by which budgets are judged",
		               histogram_note(coarse, note));
	if (ok && c->nbudgets > 0 && stats_other_names(s) > 0)
		policy_finding(v, POLICY_RULE_UNCHECKED, 0, 0,
		               "names beyond the first %d, which budgets do not see: %" PRIu64 " events",
		               NAMES_MAX, stats_other_names(s));
	return ok;
}
