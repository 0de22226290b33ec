/*
 * Reading a policy: the keys `budgets` and `expect`.  The unit of a limit depends on the statistic, so it is
 * parsed after all keys of its budget.
 */
#include "policy/private.h"

#include <inttypes.h>

#include "base/numbers.h"

/* ---- budgets ---- */

const char *const policy_statistics[] = { "p50",  "p90",   "p99",   "max",  "sum", "mean",
	                                  "self", "count", "bytes", "rate", NULL };

/* A budget while it is read: the limit's unit depends on the statistic. */
struct budget_draft {
	struct policy_who who; /* first */
	struct policy_budget *budget;
	const struct yaml_node *limit; /* NULL: not stated */
	const struct yaml_node *floor; /* min-count or min-time; NULL: not stated */
	bool statistic;                /* stated */
};

static void read_group(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	static const char *const keywords[] = { "name", "category", "all", NULL }; /* enum policy_group */
	struct budget_draft *const b = into;
	uint32_t i;

	if (yaml_word(&d->yaml, node, "group", keywords, &i))
		b->budget->group = (enum policy_group)i;
}

static void read_statistic(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct budget_draft *const b = into;
	uint32_t i;

	const struct slice text = node->kind == NODE_SCALAR ? node->text : SLICE_LIT("");
	const uint32_t part = text.n > 1 && text.p[0] == 'p' ? span_percent(text.p + 1, text.n - 1) : 0;
	struct slice name;
	if (part > 0 && part != 500000 && part != 900000 && part != 990000) {
		b->statistic = policy_text(d, node, "statistic", &name);
		b->budget->statistic = STATISTIC_QUANTILE;
		b->budget->part = part;
		b->budget->statistic_name = name.p;
		return;
	}
	b->statistic = yaml_word(&d->yaml, node, "statistic", policy_statistics, &i);
	if (b->statistic) {
		b->budget->statistic = (enum policy_statistic)i;
		b->budget->statistic_name = policy_statistics[i];
	}
}

static void read_limit(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct budget_draft *const b = into;

	b->budget->absolute = policy_text(d, node, "limit", &b->budget->limit_text);
	b->limit = node;
}

static void read_tolerance(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct budget_draft *const b = into;
	struct quoted q;

	b->budget->relative = policy_text(d, node, "tolerance", &b->budget->tolerance_text);
	if (b->budget->relative && !units_share(b->budget->tolerance_text, &b->budget->tolerance))
		yaml_report(&d->yaml, YAML_BAD_VALUE, node, "tolerance is a share such as 10%%, not %s",
		            quoted(&q, b->budget->tolerance_text));
}

static void read_min_count(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct budget_draft *const b = into;
	struct slice text;
	struct quoted q;

	if (policy_text(d, node, "min-count", &text) && !units_count(text, &b->budget->min_count))
		yaml_report(&d->yaml, YAML_BAD_VALUE, node, "min-count is a whole number, not %s",
		            quoted(&q, text));
	b->floor = node;
}

static void read_min_time(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct budget_draft *const b = into;
	struct slice text;
	struct quoted q;

	if (policy_text(d, node, "min-time", &text) && !units_time(text, &b->budget->min_time))
		yaml_report(&d->yaml, YAML_BAD_VALUE, node, "min-time is a time such as 5ms, not %s",
		            quoted(&q, text));
	b->floor = node;
}

static void parse_limit(struct policy_draft *d, struct budget_draft *b)
{
	struct policy_budget *const k = b->budget;
	const char *form = "a time such as 5ms (ns, us, ms, s, min, h)";
	uint64_t n = 0;
	struct quoted q;
	bool ok;

	if (k->statistic == STATISTIC_RATE) {
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
		yaml_report(&d->yaml, YAML_BAD_VALUE, b->limit, "the limit of %s is %s, not %s",
		            k->statistic_name, form, quoted(&q, k->limit_text));
}

/* Sets the kinds of a budget without `kind`: spans for durations, all but async for counts.  Registers its
 * pattern of threads. */
static void finish_who(struct policy_draft *d, const struct yaml_node *node, struct budget_draft *b)
{
	struct policy_budget *const k = b->budget;
	struct policy_file *const f = d->file;
	uint32_t i = 0;

	k->who = b->who;
	if (k->who.kinds == 0)
		k->who.kinds = k->statistic == STATISTIC_COUNT || k->statistic == STATISTIC_RATE
		                   ? 1U << KIND_SPAN | 1U << KIND_INSTANT | 1U << KIND_COUNTER
		                   : 1U << KIND_SPAN;
	while (k->who.thread.p != NULL && i < f->nparts && !slice_equal(f->parts[i], k->who.thread))
		i++;
	if (k->who.thread.p == NULL || i < f->nparts)
		return;
	if (i < POLICY_MAX_PARTS)
		f->parts[f->nparts++] = k->who.thread;
	else
		yaml_report(&d->yaml, YAML_BAD_VALUE, node,
		            "the budgets of a policy have more than %u different patterns of threads",
		            POLICY_MAX_PARTS);
}

static void read_budget(struct policy_draft *d, const struct yaml_node *node, struct policy_budget *budget)
{
	static const struct policy_key keys[] = { POLICY_WHO_KEYS,
		                                  { "group", read_group },
		                                  { "statistic", read_statistic },
		                                  { "limit", read_limit },
		                                  { "tolerance", read_tolerance },
		                                  { "min-count", read_min_count },
		                                  { "min-time", read_min_time } };
	struct budget_draft b = { .budget = budget };
	const uint64_t mistakes = d->yaml.mistakes;

	budget->line = node->line;
	if (!POLICY_MAP(d, node, "a budget", keys, &b) || d->yaml.mistakes != mistakes)
		return;
	if (!policy_who_stated(&b.who) || !b.statistic)
		yaml_report(&d->yaml, YAML_BAD_VALUE, node, "a budget has no %s",
		            !b.statistic ? "statistic" : "name, category or thread");
	else if (!budget->absolute && !budget->relative)
		yaml_report(&d->yaml, YAML_BAD_VALUE, node,
		            "a budget has a limit, or a tolerance to the baseline, or both");
	else if (budget->relative && (budget->group != GROUP_NAME || b.who.thread.p != NULL))
		yaml_report(
		    &d->yaml, YAML_BAD_VALUE, node,
		    "a baseline knows names of whole traces: a tolerance goes with no thread and no group");
	else if (b.floor != NULL && !budget->relative)
		yaml_report(&d->yaml, YAML_BAD_VALUE, b.floor, "min-count and min-time go with a tolerance");
	else if (budget->absolute)
		parse_limit(d, &b);
	finish_who(d, node, &b);
}

void policy_read_budgets(struct policy_draft *d, const struct yaml_node *node, void *section)
{
	struct policy_section *const s = section;

	if (node->kind != NODE_LIST || node->n > POLICY_MAX_BUDGETS - d->file->nbudgets) {
		yaml_report(&d->yaml, YAML_BAD_VALUE, node,
		            "budgets is a list; a policy has at most %u of them", POLICY_MAX_BUDGETS);
		return;
	}
	struct policy_budget *const budgets = policy_alloc(d, node->n, sizeof *budgets);
	if (budgets == NULL)
		return;
	d->file->nbudgets += node->n;
	s->budgets = budgets;
	for (const struct yaml_node *item = node->child; item != NULL; item = item->next)
		read_budget(d, item, &budgets[s->nbudgets++]);
}

/* ---- expect: events and metadata ---- */

/* Allocates the entries of a list, of which a file may have `max` in all.  Returns NULL after a finding. */
static void *new_entries(struct policy_draft *d, const struct yaml_node *node, const char *what, uint32_t *n,
                         uint32_t max, size_t size)
{
	if (node->kind != NODE_LIST) {
		yaml_report(&d->yaml, YAML_BAD_VALUE, node, "%s is a list", what);
		return NULL;
	}
	if (node->n > max - *n) {
		yaml_report(&d->yaml, YAML_BAD_VALUE, node, "there are more than %" PRIu32 " %s in all", max,
		            what);
		return NULL;
	}
	*n += node->n;
	return policy_alloc(d, node->n, size);
}

static void read_event_count(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct policy_event *const e = into;

	policy_count_range(d, node, "count", &e->count);
}

static void read_events(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	static const struct policy_key keys[] = { POLICY_WHO_KEYS, { "count", read_event_count } };
	struct policy_section *const s = into;
	struct policy_event *const events =
	    new_entries(d, node, "events", &d->file->nevents, POLICY_MAX_EVENTS, sizeof *events);

	if (events == NULL)
		return;
	s->events = events;
	for (const struct yaml_node *item = node->child; item != NULL; item = item->next) {
		struct policy_event *const e = &events[s->nevents++];
		*e = (struct policy_event){ .who = { .kinds = (1U << POLICY_KINDS) - 1 },
			                    .line = item->line,
			                    .count = { 1, UINT64_MAX } };
		if (item->kind == NODE_SCALAR)
			policy_pattern(d, item, "name", &e->who.name);
		else if (POLICY_MAP(d, item, "an event", keys, e) && !policy_who_stated(&e->who))
			yaml_report(&d->yaml, YAML_BAD_VALUE, item,
			            "an event has a name, a category or a thread");
	}
}

static void read_metadata(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct policy_section *const s = into;
	const bool map = node->kind == NODE_MAP;
	const uint32_t n = node->kind == NODE_SCALAR ? 1 : map ? node->n / 2 : node->n;

	if (n > POLICY_MAX_METADATA - d->file->nmetadata) {
		yaml_report(&d->yaml, YAML_BAD_VALUE, node, "there are more than %u metadata in all",
		            POLICY_MAX_METADATA);
		return;
	}
	struct policy_metadata *const list = policy_alloc(d, n, sizeof *list);
	if (list == NULL)
		return;
	d->file->nmetadata += n;
	s->metadata = list;
	for (const struct yaml_node *key = node->kind == NODE_SCALAR ? node : node->child; key != NULL;
	     key = node->kind == NODE_SCALAR ? NULL
	           : map                     ? key->next->next
	                                     : key->next) {
		struct policy_metadata *const m = &list[s->nmetadata++];
		m->line = key->line;
		if (policy_pattern(d, key, "a name of metadata", &m->name) && map)
			policy_pattern(d, key->next, "a value of metadata", &m->value);
	}
}

/* ---- expect: times ---- */

static void read_instant(struct policy_draft *d, const struct yaml_node *node, const char *what,
                         bool wall_only, struct policy_instant *at)
{
	struct quoted q;

	if (!policy_text(d, node, what, &at->text))
		return;
	at->line = node->line;
	at->wall = units_wall(at->text, &at->ns);
	if (!at->wall && (wall_only || !units_time(at->text, &at->ns)))
		yaml_report(&d->yaml, YAML_BAD_VALUE, node,
		            "%s is a time such as 2026-01-31T08:00:00Z%s, not %s", what,
		            wall_only ? "" : ", or 1.5s of the trace's own clock", quoted(&q, at->text));
}

static void read_epoch_after(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct policy_epoch *const e = into;

	read_instant(d, node, "after", true, &e->after);
}

static void read_epoch_before(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct policy_epoch *const e = into;

	read_instant(d, node, "before", true, &e->before);
}

static void read_epoch(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	static const struct policy_key keys[] = { { "after", read_epoch_after },
		                                  { "before", read_epoch_before } };
	struct policy_section *const s = into;
	bool known;

	s->epoch.line = node->line;
	if (node->kind != NODE_SCALAR)
		POLICY_MAP(d, node, "epoch", keys, &s->epoch);
	else if (policy_bool(d, node, "epoch", &known))
		s->epoch.unknown = !known;
}

static bool read_time(struct policy_draft *d, const struct yaml_node *node, const char *what, uint64_t *ns)
{
	struct quoted q;

	if (!yaml_is_text(&d->yaml, node, what))
		return false;
	if (units_time(node->text, ns))
		return true;
	yaml_report(&d->yaml, YAML_BAD_VALUE, node,
	            "%s is a time such as 5ms (ns, us, ms, s, min, h), not %s", what, quoted(&q, node->text));
	return false;
}

static void read_duration_min(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct policy_range *const r = into;

	read_time(d, node, "min", &r->min);
}

static void read_duration_max(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct policy_range *const r = into;

	read_time(d, node, "max", &r->max);
}

static void read_time_duration(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	static const struct policy_key keys[] = { { "min", read_duration_min },
		                                  { "max", read_duration_max } };
	struct policy_times *const t = into;
	const uint64_t mistakes = d->yaml.mistakes;

	if (POLICY_MAP(d, node, "duration", keys, &t->duration) && d->yaml.mistakes == mistakes &&
	    t->duration.min > t->duration.max)
		yaml_report(&d->yaml, YAML_BAD_VALUE, node, "duration: min is more than max");
}

static void read_time_after(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct policy_times *const t = into;

	read_instant(d, node, "after", false, &t->after);
}

static void read_time_before(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct policy_times *const t = into;

	read_instant(d, node, "before", false, &t->before);
}

static void read_times(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	static const struct policy_key keys[] = { { "duration", read_time_duration },
		                                  { "after", read_time_after },
		                                  { "before", read_time_before } };
	struct policy_section *const s = into;

	s->times = (struct policy_times){ .line = node->line, .duration = { 0, UINT64_MAX } };
	POLICY_MAP(d, node, "time", keys, &s->times);
}

/* ---- expect: tracks and shares ---- */

static void read_tracks_count(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct policy_tracks *const t = into;

	policy_count_range(d, node, "count", &t->count);
}

static void read_tracks_names(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct policy_tracks *const t = into;

	policy_patterns(d, node, "names", POLICY_MAX_NAMES, &t->names, &t->nnames);
}

static void read_tracks(struct policy_draft *d, const struct yaml_node *node, const char *what,
                        struct policy_tracks *t)
{
	static const struct policy_key keys[] = { { "count", read_tracks_count },
		                                  { "names", read_tracks_names } };

	*t = (struct policy_tracks){ .line = node->line, .count = { 0, UINT64_MAX } };
	if (node->kind == NODE_SCALAR)
		policy_count_range(d, node, what, &t->count);
	else
		POLICY_MAP(d, node, what, keys, t);
}

static void read_threads(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct policy_section *const s = into;

	read_tracks(d, node, "threads", &s->threads);
}

static void read_processes(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct policy_section *const s = into;

	read_tracks(d, node, "processes", &s->processes);
}

static void read_max_share(struct policy_draft *d, const struct yaml_node *node, const char *what,
                           struct policy_max_share *m)
{
	struct quoted q;

	if (!policy_text(d, node, what, &m->text))
		return;
	m->line = node->line;
	if (!units_share(m->text, &m->share))
		yaml_report(&d->yaml, YAML_BAD_VALUE, node, "%s is a share such as 0.5%%, not %s", what,
		            quoted(&q, m->text));
}

static void read_lost(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct policy_section *const s = into;

	read_max_share(d, node, "lost-packets", &s->lost);
}

static void read_unfinished(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct policy_section *const s = into;

	read_max_share(d, node, "unfinished-spans", &s->unfinished);
}

void policy_read_expect(struct policy_draft *d, const struct yaml_node *node, void *section)
{
	static const struct policy_key keys[] = {
		{ "events", read_events },
		{ "metadata", read_metadata },
		{ "epoch", read_epoch },
		{ "threads", read_threads },
		{ "processes", read_processes },
		{ "lost-packets", read_lost },
		{ "unfinished-spans", read_unfinished },
		{ "time", read_times },
	};

	POLICY_MAP(d, node, "expect", keys, section);
}
