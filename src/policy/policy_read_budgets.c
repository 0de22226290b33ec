#include "policy/policy_draft.h"

#include "base/units.h"

/* The key "budgets". */

const char *const policy_statistics[] = { "p50",  "p90",  "p99",   "max",  "sum",
	                                  "mean", "self", "count", "rate", NULL };

/* A budget while it is read: the limit's unit depends on the statistic. */
struct budget_draft {
	struct policy_who who; /* stands first */
	struct policy_budget *budget;
	const struct yaml_node *limit;
	bool statistic;
};

static void
take_group(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	static const char *const words[] = { "name", "category", "all", NULL }; /* enum policy_group */
	struct budget_draft *const b = into;
	uint32_t i;

	if (yaml_word(&d->yaml, node, "group", words, &i))
		b->budget->group = (enum policy_group)i;
}

static void
take_statistic(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct budget_draft *const b = into;
	uint32_t i;

	b->statistic = yaml_word(&d->yaml, node, "statistic", policy_statistics, &i);
	if (b->statistic)
		b->budget->statistic = (enum policy_statistic)i;
}

static void
take_limit(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct budget_draft *const b = into;

	b->budget->absolute = policy_text(d, node, "limit", &b->budget->limit_text);
	b->limit = node;
}

static void
take_tolerance(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct budget_draft *const b = into;
	struct quoted q;

	b->budget->relative = policy_text(d, node, "tolerance", &b->budget->tolerance_text);
	if (b->budget->relative && !units_share(b->budget->tolerance_text, &b->budget->tolerance))
		yaml_say(&d->yaml, YAML_BAD_VALUE, node, "tolerance is a share such as 10%%, not %s",
		         quoted(&q, b->budget->tolerance_text));
}

static void
parse_limit(struct policy_draft *d, struct budget_draft *b)
{
	struct policy_budget *const k = b->budget;
	const char *form = "a time such as 5ms (ns, us, ms, s, min, h)";
	uint64_t n = 0;
	struct quoted q;
	bool ok;

	if (k->statistic == STATISTIC_RATE) {
		form = "a rate such as 100/s";
		ok = units_rate(k->limit_text, &k->limit);
	} else if (k->statistic == STATISTIC_COUNT) {
		form = "a whole number";
		ok = units_count(k->limit_text, &n);
		k->limit = (double)n;
	} else {
		ok = units_time(k->limit_text, &n);
		k->limit = (double)n;
	}
	if (!ok)
		yaml_say(&d->yaml, YAML_BAD_VALUE, b->limit, "the limit of %s is %s, not %s",
		         policy_statistics[k->statistic], form, quoted(&q, k->limit_text));
}

/* Without a kind, durations are those of spans, and what is counted may be of any kind but async. */
static void
finish_who(struct policy_draft *d, const struct yaml_node *node, struct budget_draft *b)
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
		yaml_say(&d->yaml, YAML_BAD_VALUE, node,
		         "the budgets of a policy have more than %u different patterns of threads",
		         POLICY_MAX_PARTS);
}

static void
take_budget(struct policy_draft *d, const struct yaml_node *node, struct policy_budget *budget)
{
	static const struct policy_key keys[] = { POLICY_WHO_KEYS,
		                                  { "group", take_group },
		                                  { "statistic", take_statistic },
		                                  { "limit", take_limit },
		                                  { "tolerance", take_tolerance } };
	struct budget_draft b = { .budget = budget };
	const uint64_t mistakes = d->yaml.mistakes;

	budget->line = node->line;
	if (!POLICY_MAP(d, node, "a budget", keys, &b) || d->yaml.mistakes != mistakes)
		return;
	if (!policy_says_who(&b.who) || !b.statistic)
		yaml_say(&d->yaml, YAML_BAD_VALUE, node, "a budget has no %s",
		         !b.statistic ? "statistic" : "name, category or thread");
	else if (!budget->absolute && !budget->relative)
		yaml_say(&d->yaml, YAML_BAD_VALUE, node,
		         "a budget has a limit, or a tolerance to the baseline, or both");
	else if (budget->relative && (budget->group != GROUP_NAME || b.who.thread.p != NULL))
		yaml_say(
		    &d->yaml, YAML_BAD_VALUE, node,
		    "a baseline knows names of whole traces: a tolerance goes with no thread and no group");
	else if (budget->absolute)
		parse_limit(d, &b);
	finish_who(d, node, &b);
}

void
policy_take_budgets(struct policy_draft *d, const struct yaml_node *node, void *section)
{
	struct policy_section *const s = section;

	if (node->kind != NODE_LIST || node->n > POLICY_MAX_BUDGETS - d->file->nbudgets) {
		yaml_say(&d->yaml, YAML_BAD_VALUE, node, "budgets is a list; a policy has at most %u of them",
		         POLICY_MAX_BUDGETS);
		return;
	}
	struct policy_budget *const budgets = policy_alloc(d, node->n, sizeof *budgets);
	if (budgets == NULL)
		return;
	d->file->nbudgets += node->n;
	s->budgets = budgets;
	for (const struct yaml_node *item = node->child; item != NULL; item = item->next)
		take_budget(d, item, &budgets[s->nbudgets++]);
}
