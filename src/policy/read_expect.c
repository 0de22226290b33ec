/* Reading a policy: the keys `budgets` and `expect`.  The unit of a limit depends on the statistic, so it is
 * parsed after all keys of its budget. */
#include "policy/private.h"

#include "base/numbers.h"

/* ---- budgets ---- */

const char *const policy_statistics[] = { "p50",  "p90",   "p99",   "max",  "sum", "mean",
	                                  "self", "count", "bytes", "rate", NULL };

/* A budget while it is read: the limit's unit depends on the statistic. */
struct budget_draft {
	struct policy_budget budget;   /* first: POLICY_FILTER_KEYS */
	const struct yaml_node *limit; /* NULL: not stated */
	const struct yaml_node *floor; /* min-count or min-time; NULL: not stated */
};

static bool read_group(struct policy_draft *d, const struct yaml_node *node, const char *what, void *group)
{
	static const char *const keywords[] = { "name", "category", "all", NULL }; /* enum policy_group */
	uint32_t i;

	if (!yaml_word(&d->yaml, node, what, keywords, &i))
		return false;
	*(enum policy_group *)group = (enum policy_group)i;
	return true;
}

static bool read_statistic(struct policy_draft *d, const struct yaml_node *node, const char *what,
                           void *budget)
{
	struct policy_budget *const k = budget;
	const struct slice text = node->kind == NODE_SCALAR ? node->text : SLICE_LIT("");
	const uint32_t quantile = text.n > 1 && text.p[0] == 'p' ? span_percent(text.p + 1, text.n - 1) : 0;
	const bool own = slice_is(text, "p50") || slice_is(text, "p90") || slice_is(text, "p99");
	struct slice name;
	uint32_t i;

	if (quantile > 0 && !own) {
		if (!policy_text(d, node, what, &name))
			return false;
		k->statistic = STATISTIC_QUANTILE;
		k->quantile = quantile;
		k->statistic_name = name.p;
		return true;
	}
	if (!yaml_word(&d->yaml, node, what, policy_statistics, &i))
		return false;
	k->statistic = (enum policy_statistic)i;
	k->statistic_name = policy_statistics[i];
	return true;
}

static bool read_limit(struct policy_draft *d, const struct yaml_node *node, const char *what, void *draft)
{
	struct budget_draft *const b = draft;

	b->limit = node;
	return b->budget.absolute = policy_text(d, node, what, &b->budget.limit_text);
}

static bool read_tolerance(struct policy_draft *d, const struct yaml_node *node, const char *what,
                           void *budget)
{
	struct policy_budget *const k = budget;
	struct quoted q;

	k->relative = policy_text(d, node, what, &k->tolerance_text);
	return k->relative && (units_share(k->tolerance_text, &k->tolerance) ||
	                       yaml_bad(&d->yaml, node, "tolerance is a share such as 10%%, not %s",
	                                quoted(&q, k->tolerance_text)));
}

static bool read_min_count(struct policy_draft *d, const struct yaml_node *node, const char *what,
                           void *draft)
{
	struct budget_draft *const b = draft;

	b->floor = node;
	return policy_number(d, node, what, units_count, "a whole number", &b->budget.min_count);
}

static bool read_min_time(struct policy_draft *d, const struct yaml_node *node, const char *what, void *draft)
{
	struct budget_draft *const b = draft;

	b->floor = node;
	return policy_number(d, node, what, units_time, "a time such as 5ms", &b->budget.min_time);
}

static void parse_limit(struct policy_draft *d, struct budget_draft *b)
{
	struct policy_budget *const k = &b->budget;
	const char *form = "a time such as 5ms (ns, us, ms, s, min, h)";
	uint64_t n = 0;
	struct quoted q;
	bool ok;

	if (k->of_values) {
		form = "a number or a size such as 2GiB";
		ok = units_bytes(k->limit_text, &n);
		k->limit = (double)n;
		ok = ok || decimal_read_finite(k->limit_text, &k->limit);
	} else if (k->statistic == STATISTIC_RATE) {
		form = "a rate such as 100/s";
		ok = units_rate(k->limit_text, &k->limit);
	} else if (k->statistic == STATISTIC_BYTES) {
		form = "a number of bytes such as 10MB";
		ok = units_bytes(k->limit_text, &n);
		k->limit = (double)n;
	} else if (k->statistic == STATISTIC_COUNT) {
		form = "a whole number";
		ok = units_count(k->limit_text, &n);
		k->limit = (double)n;
	} else {
		ok = units_time(k->limit_text, &n);
		k->limit = (double)n;
	}
	if (!ok)
		yaml_bad(&d->yaml, b->limit, "the limit of %s is %s, not %s", k->statistic_name, form,
		         quoted(&q, k->limit_text));
}

/* Refuses statistics that the events of a budget do not have. */
static void check_statistic(struct policy_draft *d, const struct yaml_node *node, struct policy_budget *k)
{
	const enum policy_statistic s = k->statistic;
	const bool counters = k->filter.kinds == 1U << KIND_COUNTER;

	k->of_values = counters && s != STATISTIC_COUNT && s != STATISTIC_RATE;
	if (k->series.p != NULL && !k->of_values)
		yaml_bad(&d->yaml, node, "series needs a statistic of the values of counters");
	if (s == STATISTIC_COUNT || s == STATISTIC_RATE)
		return;
	if (k->filter.kinds == 1U << KIND_INSTANT ||
	    (counters && s >= STATISTIC_SUM && s <= STATISTIC_BYTES && s != STATISTIC_MEAN))
		yaml_bad(&d->yaml, node, "%s have no %s", counters ? "counters" : "instants",
		         k->statistic_name);
	else if (counters && s == STATISTIC_QUANTILE && k->quantile % ONE_PERCENT != 0)
		yaml_bad(&d->yaml, node, "a percentile of a counter is a whole one, not %s",
		         k->statistic_name);
	else if (counters && k->group != GROUP_NAME)
		yaml_bad(&d->yaml, node, "values of several counters have no %s", k->statistic_name);
	else if (counters && k->relative && (s == STATISTIC_P90 || s == STATISTIC_QUANTILE))
		yaml_bad(&d->yaml, node, "a baseline has p50 and p99 of counters, not %s", k->statistic_name);
}

/* Sets the kinds of a budget without `kind`: spans for durations and categories, else all but async.
 * Registers its pattern of threads. */
static void finish_filter(struct policy_draft *d, const struct yaml_node *node, struct policy_budget *k)
{
	struct policy_file *const f = d->file;
	const bool by_category = k->filter.category.p != NULL || k->group == GROUP_CATEGORY;
	uint32_t i = 0;

	if (k->filter.kinds == 0 && k->series.p != NULL)
		k->filter.kinds = 1U << KIND_COUNTER;
	if (by_category && (k->filter.kinds & (1U << KIND_INSTANT | 1U << KIND_COUNTER)) != 0)
		yaml_bad(&d->yaml, node, "instants and counters are counted by name, not by category");
	if (k->statistic == STATISTIC_SELF && k->filter.kinds == 1U << KIND_ASYNC)
		yaml_bad(&d->yaml, node, "async spans have no self time");
	check_statistic(d, node, k);
	if (k->filter.kinds == 0)
		k->filter.kinds =
		    !by_category && (k->statistic == STATISTIC_COUNT || k->statistic == STATISTIC_RATE)
		        ? 1U << KIND_SPAN | 1U << KIND_INSTANT | 1U << KIND_COUNTER
		        : 1U << KIND_SPAN;
	while (k->filter.thread.p != NULL && i < f->nsubsets && !slice_equal(f->subsets[i], k->filter.thread))
		i++;
	if (k->filter.thread.p == NULL || i < f->nsubsets)
		return;
	if (i < POLICY_MAX_SUBSETS)
		f->subsets[f->nsubsets++] = k->filter.thread;
	else
		yaml_bad(&d->yaml, node,
		         "the budgets of a policy have more than %u different patterns of threads",
		         POLICY_MAX_SUBSETS);
}

static void read_budget(struct policy_draft *d, const struct yaml_node *node, struct policy_budget *budget)
{
	static const struct policy_key keys[] = {
		POLICY_FILTER_KEYS,
		{ "series", policy_pattern, offsetof(struct budget_draft, budget.series) },
		{ "group", read_group, offsetof(struct budget_draft, budget.group) },
		{ "statistic", read_statistic, 0 },
		{ "limit", read_limit, 0 },
		{ "tolerance", read_tolerance, 0 },
		{ "min-count", read_min_count, 0 },
		{ "min-time", read_min_time, 0 },
	};
	struct budget_draft b = { .budget.line = node->line };
	struct policy_budget *const k = &b.budget;
	const uint64_t mistakes = d->yaml.mistakes;

	if (!POLICY_MAP(d, node, "a budget", keys, &b))
		return;
	if (!policy_filter_stated(&k->filter) || k->statistic_name == NULL)
		yaml_bad(&d->yaml, node, "a budget has no %s",
		         k->statistic_name == NULL ? "statistic" : "name, category or thread");
	else if (!k->absolute && !k->relative)
		yaml_bad(&d->yaml, node, "a budget needs a limit, a tolerance to the baseline, or both");
	else if (k->relative && (k->group != GROUP_NAME || k->filter.thread.p != NULL))
		yaml_bad(&d->yaml, node,
		         "a baseline has one value for each name of a trace: a tolerance excludes thread and "
		         "group");
	else if (b.floor != NULL && !k->relative)
		yaml_bad(&d->yaml, b.floor, "min-count and min-time need a tolerance");
	if (d->yaml.mistakes == mistakes)
		finish_filter(d, node, k);
	if (d->yaml.mistakes == mistakes && k->absolute)
		parse_limit(d, &b);
	*budget = *k;
}

bool policy_read_budgets(struct policy_draft *d, const struct yaml_node *node, const char *what,
                         void *section)
{
	struct policy_section *const s = section;

	if (node->kind != NODE_LIST || node->n > POLICY_MAX_BUDGETS - d->file->nbudgets)
		return yaml_bad(&d->yaml, node, "budgets is a list; a policy has at most %u of them",
		                POLICY_MAX_BUDGETS);
	struct policy_budget *const budgets = policy_alloc(d, node->n, sizeof *budgets);
	if (budgets == NULL)
		return false;
	d->file->nbudgets += node->n;
	s->budgets = budgets;
	for (const struct yaml_node *item = node->child; item != NULL; item = item->next)
		read_budget(d, item, &budgets[s->nbudgets++]);
	return true;
}

/* ---- expect: events and metadata ---- */

static bool read_events(struct policy_draft *d, const struct yaml_node *node, const char *what, void *section)
{
	static const struct policy_key keys[] = {
		POLICY_FILTER_KEYS, { "count", policy_count_range, offsetof(struct policy_event, count) }
	};
	struct policy_section *const s = section;

	if (node->kind != NODE_LIST)
		return yaml_bad(&d->yaml, node, "events is a list");
	if (node->n > POLICY_MAX_EVENTS - d->file->nevents)
		return yaml_bad(&d->yaml, node, "there are more than %u events in all", POLICY_MAX_EVENTS);
	d->file->nevents += node->n;
	struct policy_event *const events = policy_alloc(d, node->n, sizeof *events);
	if (events == NULL)
		return false;
	s->events = events;
	for (const struct yaml_node *item = node->child; item != NULL; item = item->next) {
		struct policy_event *const e = &events[s->nevents++];
		*e = (struct policy_event){ .filter = { .kinds = (1U << POLICY_KINDS) - 1 },
			                    .line = item->line,
			                    .count = { 1, UINT64_MAX } };
		if (item->kind == NODE_SCALAR)
			policy_pattern(d, item, "name", &e->filter.name);
		else if (POLICY_MAP(d, item, "an event", keys, e) && !policy_filter_stated(&e->filter))
			yaml_bad(&d->yaml, item, "an event needs a name, a category or a thread");
	}
	return true;
}

static bool read_metadata(struct policy_draft *d, const struct yaml_node *node, const char *what,
                          void *section)
{
	struct policy_section *const s = section;
	const bool map = node->kind == NODE_MAP;
	const uint32_t n = map ? node->n / 2 : yaml_count(node);

	if (n > POLICY_MAX_METADATA - d->file->nmetadata)
		return yaml_bad(&d->yaml, node, "there are more than %u metadata in all",
		                POLICY_MAX_METADATA);
	struct policy_metadata *const list = policy_alloc(d, n, sizeof *list);
	if (list == NULL)
		return false;
	d->file->nmetadata += n;
	s->metadata = list;
	for (const struct yaml_node *key = map ? node->child : yaml_first(node); key != NULL;
	     key = map ? key->next->next : yaml_after(node, key)) {
		struct policy_metadata *const m = &list[s->nmetadata++];
		m->line = key->line;
		if (policy_pattern(d, key, "a name of metadata", &m->name) && map &&
		    yaml_is_first(&d->yaml, node, key))
			policy_pattern(d, key->next, "a value of metadata", &m->value);
	}
	return true;
}

/* ---- expect: times ---- */

static bool read_instant(struct policy_draft *d, const struct yaml_node *node, const char *what,
                         bool wall_only, struct policy_point *at)
{
	struct quoted q;

	if (!policy_text(d, node, what, &at->text))
		return false;
	at->line = node->line;
	at->wall = units_wall(at->text, &at->ns);
	return at->wall || (!wall_only && units_time(at->text, &at->ns)) ||
	       yaml_bad(&d->yaml, node, "%s is a time such as 2026-01-31T08:00:00Z%s, not %s", what,
	                wall_only ? "" : ", or 1.5s of the trace's own clock", quoted(&q, at->text));
}

static bool read_wall(struct policy_draft *d, const struct yaml_node *node, const char *what, void *instant)
{
	return read_instant(d, node, what, true, instant);
}

static bool read_point(struct policy_draft *d, const struct yaml_node *node, const char *what, void *instant)
{
	return read_instant(d, node, what, false, instant);
}

/* Like the ranges of numbers, times that no trace can meet are a mistake. */
static bool check_window(struct policy_draft *d, const struct yaml_node *node, const char *what,
                         const struct policy_point *after, const struct policy_point *before)
{
	if (after->line == 0 || before->line == 0 || after->wall != before->wall || after->ns <= before->ns)
		return true;
	return yaml_bad(&d->yaml, node, "%s: after is later than before", what);
}

static bool read_epoch(struct policy_draft *d, const struct yaml_node *node, const char *what, void *epoch)
{
	static const struct policy_key keys[] = {
		{ "after", read_wall, offsetof(struct policy_epoch, after) },
		{ "before", read_wall, offsetof(struct policy_epoch, before) },
	};
	struct policy_epoch *const e = epoch;
	bool known;

	e->line = node->line;
	if (node->kind != NODE_SCALAR)
		return POLICY_MAP(d, node, what, keys, e) &&
		       check_window(d, node, what, &e->after, &e->before);
	if (!yaml_bool(&d->yaml, node, what, &known))
		return false;
	e->unknown = !known;
	return true;
}

static bool read_time(struct policy_draft *d, const struct yaml_node *node, const char *what, void *ns)
{
	return policy_number(d, node, what, units_time, "a time such as 5ms (ns, us, ms, s, min, h)", ns);
}

static bool read_duration(struct policy_draft *d, const struct yaml_node *node, const char *what, void *range)
{
	return policy_bounds(d, node, what, read_time, range);
}

static bool read_times(struct policy_draft *d, const struct yaml_node *node, const char *what, void *times)
{
	static const struct policy_key keys[] = {
		{ "duration", read_duration, offsetof(struct policy_times, duration) },
		{ "after", read_point, offsetof(struct policy_times, after) },
		{ "before", read_point, offsetof(struct policy_times, before) },
	};
	struct policy_times *const t = times;

	*t = (struct policy_times){ .line = node->line, .duration = { 0, UINT64_MAX } };
	return POLICY_MAP(d, node, what, keys, t) && check_window(d, node, what, &t->after, &t->before);
}

/* ---- expect: tracks and shares ---- */

static bool read_tracks(struct policy_draft *d, const struct yaml_node *node, const char *what, void *tracks)
{
	static const struct policy_key keys[] = {
		{ "count", policy_count_range, offsetof(struct policy_tracks, count) },
		{ "names", policy_read_patterns, offsetof(struct policy_tracks, names) },
	};
	struct policy_tracks *const t = tracks;

	*t = (struct policy_tracks){ .line = node->line, .count = { 0, UINT64_MAX } };
	return node->kind == NODE_SCALAR ? policy_count_range(d, node, what, &t->count)
	                                 : POLICY_MAP(d, node, what, keys, t);
}

static bool read_max_share(struct policy_draft *d, const struct yaml_node *node, const char *what,
                           void *share)
{
	struct policy_max_share *const m = share;
	struct quoted q;

	if (!policy_text(d, node, what, &m->text))
		return false;
	m->line = node->line;
	return units_share(m->text, &m->share) ||
	       yaml_bad(&d->yaml, node, "%s is a share such as 0.5%%, not %s", what, quoted(&q, m->text));
}

bool policy_read_expect(struct policy_draft *d, const struct yaml_node *node, const char *what, void *section)
{
	static const struct policy_key keys[] = {
		{ "events", read_events, 0 },
		{ "metadata", read_metadata, 0 },
		{ "epoch", read_epoch, offsetof(struct policy_section, epoch) },
		{ "threads", read_tracks, offsetof(struct policy_section, threads) },
		{ "processes", read_tracks, offsetof(struct policy_section, processes) },
		{ "lost-packets", read_max_share, offsetof(struct policy_section, lost) },
		{ "unfinished-spans", read_max_share, offsetof(struct policy_section, unfinished) },
		{ "time", read_times, offsetof(struct policy_section, times) },
	};

	return POLICY_MAP(d, node, what, keys, section);
}
