#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/decimal.h"
#include "base/glob.h"
#include "check/policy_rules.h"
#include "output/text_start.h"
#include "policy/policy_watch.h"
#include "stats/columns.h"

/* Budgets, over what the statistics have for each name. */

/* A row of one of the tables. */
struct row {
	enum baseline_table table;
	struct slice name, category;
	const struct span_group *group; /* NULL: instants or counters, of which there is a number alone */
	uint64_t count;
};

struct rows {
	struct span_row *spans[2];
	struct tally_row *tallies[2];
	size_t n[BASELINE_TABLES];
};

static bool
rows_init(struct rows *r, const struct stats *s)
{
	*r = (struct rows){ .n = { 0 } };
	return stats_span_rows(s, &s->spans, &r->spans[0], &r->n[BASELINE_SPANS]) &&
	       stats_span_rows(s, &s->async, &r->spans[1], &r->n[BASELINE_ASYNC]) &&
	       stats_tally_rows(&s->instants, &r->tallies[0], &r->n[BASELINE_INSTANTS]) &&
	       stats_tally_rows(&s->counters, &r->tallies[1], &r->n[BASELINE_COUNTERS]);
}

static void
rows_free(struct rows *r)
{
	for (int i = 0; i < 2; i++) {
		free(r->spans[i]);
		free(r->tallies[i]);
	}
}

static struct row
row_of(const struct rows *r, enum baseline_table table, size_t i)
{
	if (table == BASELINE_SPANS || table == BASELINE_ASYNC) {
		const struct span_row *const s = &r->spans[table - BASELINE_SPANS][i];
		return (struct row){ table, s->name, s->category, s->group, s->group->count };
	}
	const struct tally_row *const t = &r->tallies[table - BASELINE_INSTANTS][i];
	return (struct row){ table, t->name, SLICE_LIT(""), NULL, t->count };
}

/* ---- values ---- */

struct amount {
	double v;
	char words[96]; /* exact, with its unit */
};

static void
put_ns(struct amount *a, unsigned __int128 ns)
{
	char digits[DECIMAL_U128_MAX + 1], room[64];
	struct text t = text_start(room, sizeof room);

	a->v = (double)ns;
	*decimal_u128(digits, ns) = '\0';
	text_time(&t, ns);
	text_char(&t, '\0');
	snprintf(a->words, sizeof a->words, ns < 1000 ? "%s ns" : "%s ns (%s)", digits, room);
}

static void
put_number(struct amount *a, double v, const char *unit)
{
	a->v = v;
	snprintf(a->words, sizeof a->words, "%.15g%s", v, unit);
}

/* How long the trace is; 0: it has no length. */
static double
seconds_of(const struct stats *s)
{
	return s->events > 0 ? (double)(s->last_ns - s->first_ns) / 1e9 : 0;
}

/* false: the row has no such statistic. */
static bool
amount_of(const struct stats *s, const struct row *row, enum policy_statistic statistic, struct amount *a)
{
	static const unsigned percents[] = { 50, 90, 99 };
	const struct span_group *const g = row->group;

	if (statistic == STATISTIC_COUNT) {
		put_number(a, (double)row->count, "");
		return true;
	}
	if (statistic == STATISTIC_RATE) {
		if (seconds_of(s) > 0)
			put_number(a, (double)row->count / seconds_of(s), "/s");
		return seconds_of(s) > 0;
	}
	if (g == NULL || (statistic == STATISTIC_SELF && row->table == BASELINE_ASYNC))
		return false;
	if (statistic <= STATISTIC_P99)
		put_ns(a, histogram_percentile(&g->durations, &s->pool, percents[statistic - STATISTIC_P50]));
	else
		put_ns(a, statistic == STATISTIC_MAX    ? g->durations.max
		          : statistic == STATISTIC_SUM  ? total_of(g->sum)
		          : statistic == STATISTIC_SELF ? total_of(g->self)
		                                        : span_mean(g));
	return true;
}

/* "; the longest span is on "main" at 5000 ns" */
static const char *
place_words(const struct row *row, char room[400])
{
	const struct span_group *const g = row->group;
	struct quoted q;

	room[0] = '\0';
	if (g != NULL && g->longest_track != NULL)
		snprintf(room, 400, "; the longest is on %s at %" PRIu64 " ns",
		         quoted(&q, g->longest_track->name), g->longest_ns);
	return room;
}

/* ---- one budget ---- */

struct budget_run {
	const struct policy_verdict *v;
	const struct policy_budget *budget;
	const struct baseline_input *baseline; /* NULL: there is none for this trace */
	uint64_t breaches[FILE_CHECK_RULES];   /* of the limit, of the baseline */
	uint64_t matched, fresh;               /* rows that it is for; of these the baseline does not have */
	struct quoted first_fresh;
};

static void
check_limit(struct budget_run *r, const struct row *row, const struct amount *a)
{
	const struct policy_budget *const b = r->budget;
	char room[400];
	struct quoted q;

	if (!b->absolute || a->v <= b->limit)
		return;
	r->breaches[0]++;
	policy_finding(r->v, POLICY_RULE_BUDGET, row->group != NULL ? row->group->longest_offset : 0, b->line,
	               "%s of %s is %s, more than %.40s%s", policy_statistics[b->statistic],
	               quoted(&q, row->name), a->words, b->limit_text.p, place_words(row, room));
}

static void
check_baseline(struct budget_run *r, const struct row *row, const struct amount *a)
{
	const struct policy_budget *const b = r->budget;
	char room[400], more[32] = "";
	struct amount was;
	struct quoted q;

	if (!b->relative || r->baseline == NULL)
		return;
	if (!baseline_value(r->baseline, row->table, row->name, row->category, b->statistic, &was.v)) {
		if (r->fresh++ == 0)
			quoted(&r->first_fresh, row->name);
		return;
	}
	if (a->v <= was.v * (1 + b->tolerance))
		return;
	r->breaches[1]++;
	if (b->statistic == STATISTIC_COUNT || b->statistic == STATISTIC_RATE)
		put_number(&was, was.v, b->statistic == STATISTIC_RATE ? "/s" : "");
	else
		put_ns(&was, (unsigned __int128)was.v);
	if (was.v > 0)
		snprintf(more, sizeof more, "%.3g %% ", 100 * (a->v / was.v - 1));
	policy_finding(r->v, POLICY_RULE_REGRESSION, row->group != NULL ? row->group->longest_offset : 0,
	               b->line, "%s of %s is %s, %smore than %s of the baseline; the tolerance is %.40s%s",
	               policy_statistics[b->statistic], quoted(&q, row->name), a->words, more, was.words,
	               b->tolerance_text.p, place_words(row, room));
}

/* What could not be looked at. */
static void
say_unchecked(const struct budget_run *r)
{
	const struct policy_budget *const b = r->budget;
	const char *const statistic = policy_statistics[b->statistic];
	struct quoted q;

	if (b->statistic == STATISTIC_RATE && seconds_of(&r->v->watch->stats) == 0)
		policy_finding(r->v, POLICY_RULE_UNCHECKED, 0, b->line,
		               "a trace without a length has no rate of %s", quoted(&q, b->name));
	else if (r->matched == 0)
		policy_finding(r->v, POLICY_RULE_UNCHECKED, 0, b->line, "%s of %s: nothing has such a name",
		               statistic, quoted(&q, b->name));
	else if (b->relative && r->baseline == NULL)
		policy_finding(r->v, POLICY_RULE_UNCHECKED, 0, b->line, "%s of %s: %s", statistic,
		               quoted(&q, b->name),
		               r->v->baseline == NULL ? "no baseline was named"
		                                      : "the baseline has no input of this name");
	else if (r->fresh > 0)
		policy_finding(r->v, POLICY_RULE_UNCHECKED, 0, b->line, "%s: the baseline does not have %s%s",
		               statistic, r->first_fresh.s, r->fresh > 1 ? " and others" : "");
}

/* `p99 of "draw*"` */
static void
begin_check(const struct budget_run *r)
{
	static const struct rule *const rules[FILE_CHECK_RULES] = { &policy_rules[POLICY_RULE_BUDGET],
		                                                    &policy_rules[POLICY_RULE_REGRESSION] };
	const struct policy_budget *const b = r->budget;
	struct quoted q;
	char name[400];

	snprintf(name, sizeof name, "budget: %s of %s", policy_statistics[b->statistic], quoted(&q, b->name));
	file_records_check(r->v->records, name, rules);
}

static void
run_budget(struct budget_run *r, const struct rows *rows)
{
	const struct stats *const s = &r->v->watch->stats;
	struct amount a;

	begin_check(r);
	for (int t = 0; t < BASELINE_TABLES; t++)
		for (size_t i = 0; i < rows->n[t]; i++) {
			const struct row row = row_of(rows, (enum baseline_table)t, i);
			if (!glob_fits(r->budget->name, row.name) ||
			    !amount_of(s, &row, r->budget->statistic, &a))
				continue;
			r->matched++;
			check_limit(r, &row, &a);
			check_baseline(r, &row, &a);
		}
	file_records_checked(r->v->records, r->breaches);
	say_unchecked(r);
}

bool
policy_budgets(const struct policy_verdict *v)
{
	const struct policy_checks *const c = v->watch->checks;
	const struct stats *const s = &v->watch->stats;
	struct rows rows;

	if (c->nbudgets == 0)
		return true;
	if (!rows_init(&rows, s)) {
		rows_free(&rows);
		return false;
	}
	for (uint32_t i = 0; i < c->nbudgets; i++) {
		struct budget_run r = {
			.v = v,
			.budget = c->budgets[i],
			.baseline = v->baseline != NULL ? baseline_input(v->baseline, v->path) : NULL,
		};
		run_budget(&r, &rows);
	}
	rows_free(&rows);
	if (stats_other_names(s) > 0)
		policy_finding(v, POLICY_RULE_UNCHECKED, 0, 0,
		               "%" PRIu64 " events have names beyond the first %d, which budgets do not see",
		               stats_other_names(s), NAMES_MAX);
	return true;
}
