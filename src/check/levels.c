/*
 * The only place that decides the verdict on the findings of a rule, for validate, all reports, their totals
 * and the exit status.  Each row of the table overrides the rows above it:
 *
 *   source                            level     counts           status 1
 *   the rule (rules.def)              its own   yes              from error on
 *   the policy (tracetool.yaml(5))    level     select, ignore   fail-level, exit-zero
 *   its overrides, in their order     level     select, ignore   fail-level, exit-zero
 *   the command line                  --level   --select-rules,  --fail-level,
 *                                               --ignore-rules   --exit-zero
 *
 * Within a row the last matching pattern sets the level, and `ignore` overrides `select`.  A selection
 * replaces those above it, and includes rules that they ignore; a fail level ends an exit-zero above it.  A
 * baseline changes no level: it adds findings (policy/regression).  Commands without policies use the first
 * row.  An unreadable input causes status 2, whatever counts.
 */
#include "check/levels.h"

static const struct policy_effect *effect_on(const struct policy_choice *c, const struct rule *rule)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->effects[i].rule == rule)
			return &c->effects[i];
	return NULL;
}

struct verdict policy_decide(const struct policy *p, const struct rule *rule)
{
	struct verdict v = { .level = rule->level };
	int fail_level = LEVEL_ERROR;
	bool ignored = false, exit_zero = false;

	for (size_t i = 0; i < p->n; i++) {
		const struct policy_choice *const c = p->choices[i];
		const struct policy_effect *const e = effect_on(c, rule);
		if (e != NULL && c->selects) {
			ignored = ignored && !e->selected;
			v.left_out = !e->selected;
		}
		if (e != NULL) {
			ignored = ignored || e->ignored;
			v.left_out = v.left_out || ignored;
			v.level = e->level >= 0 ? (enum level)e->level : v.level;
		}
		if (c->fail_level >= 0) {
			fail_level = c->fail_level;
			exit_zero = false;
		}
		if (c->exit_zero >= 0)
			exit_zero = c->exit_zero == 1;
	}
	v.fails = (int)v.level >= fail_level;
	v.exits = v.fails && !exit_zero;
	return v;
}
