/* Rules outside of formats, and the verdict on findings of any rule. */
#include "check/rules.h"

/* ---- input rules ---- */

const struct rule input_rules[INPUT_RULE_COUNT + 1] = {
#define RULE RULE_ROW
#include "check/input_rules.def"
#undef RULE
};

bool input_rule_is_failure(const struct rule *rule)
{
	static const enum input_rule rules[] = {
		INPUT_RULE_MISSING, INPUT_RULE_DENIED,  INPUT_RULE_SYSTEM,
		INPUT_RULE_SHRUNK,  INPUT_RULE_CHANGED, INPUT_RULE_NO_MEMORY
	};

	for (size_t i = 0; i < COUNT_OF(rules); i++)
		if (rule == &input_rules[rules[i]])
			return true;
	return false;
}

const struct rule *input_fault_rule(enum input_fault fault)
{
	static const enum input_rule rules[] = {
		[INPUT_MISSING] = INPUT_RULE_MISSING,       [INPUT_DENIED] = INPUT_RULE_DENIED,
		[INPUT_NOT_A_FILE] = INPUT_RULE_NOT_A_FILE, [INPUT_EMPTY] = INPUT_RULE_EMPTY,
		[INPUT_SYSTEM] = INPUT_RULE_SYSTEM,         [INPUT_SHRUNK] = INPUT_RULE_SHRUNK,
		[INPUT_CHANGED] = INPUT_RULE_CHANGED,       [INPUT_CUT] = INPUT_RULE_CUT,
		[INPUT_CORRUPT] = INPUT_RULE_CORRUPT,       [INPUT_TRAILING] = INPUT_RULE_TRAILING,
		[INPUT_REPLACED] = INPUT_RULE_REPLACED,     [INPUT_ELSEWHERE] = INPUT_RULE_ELSEWHERE,
		[INPUT_PASSED] = INPUT_RULE_PASSED,         [INPUT_NO_TRACE] = INPUT_RULE_NO_TRACE,
	};

	return fault != INPUT_OK ? &input_rules[rules[fault]] : NULL;
}

/* ---- policy rules ---- */

const struct rule policy_rules[] = {
#define RULE RULE_ROW
#include "check/policy_rules.def"
#undef RULE
	{ .id = NULL }
};

/* ---- compare rules ---- */

const struct rule compare_rules[] = {
#define RULE RULE_ROW
#include "check/compare_rules.def"
#undef RULE
	{ .id = NULL }
};

/* ---- verdicts ---- */

/*
 * The verdict on the findings of a rule, decided only here for validate, all reports, their totals and the
 * exit status.  Each row of the table overrides the rows above it:
 *
 *   source                            level     counts           status 1
 *   the rule (rules.def)              its own   yes              from error on
 *   the policy (tracetool.yaml(5))    level     select, ignore   fail-level, exit-zero
 *   its overrides, in their order     level     select, ignore   fail-level, exit-zero
 *   the command line                  --level   --select-rules,  --fail-level,
 *                                               --ignore-rules   --exit-zero
 *
 * Within a row the last matching pattern sets the level, and `ignore` overrides `select`.  A selection
 * replaces the selections above it, and includes rules ignored there; a fail level cancels an exit-zero above
 * it.  A baseline changes no level: it adds findings (policy/regression).  Commands without policies use the
 * first row.  An unreadable input causes status 2, independent of findings.
 */

static const struct policy_effect *effect_on(const struct policy_choice *c, const struct rule *rule)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->effects[i].rule == rule)
			return &c->effects[i];
	return NULL;
}

const struct policy policy_of_rules = { .max = UINT64_MAX };

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
