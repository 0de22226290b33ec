#ifndef CHECK_RULES_H
#define CHECK_RULES_H

#include "check/finding.h"
#include "check/findings.h"
#include "input/input.h"

/* ---- input rules ---- */

enum input_rule {
#define RULE(name, id, level, text, spec, explain) INPUT_RULE_##name,
#include "check/input_rules.def"
#undef RULE
	INPUT_RULE_COUNT
};

/* Rows by enum input_rule. */
extern const struct rule input_rules[INPUT_RULE_COUNT + 1]; /* ends with an id of NULL */

/* Whether an input rule is about the system or the file, not its bytes: another attempt may succeed. */
bool input_rule_is_failure(const struct rule *rule);

/* Returns the rule for a fault of the input; NULL for INPUT_OK. */
const struct rule *input_fault_rule(enum input_fault fault);

/* ---- policy rules ---- */

/* Rules about policies (tracetool.yaml(5)): mistakes in a policy, and unmet expectations about a trace. */
enum policy_rule {
#define RULE(name, id, level, text, spec, explain) POLICY_RULE_##name,
#include "check/policy_rules.def"
#undef RULE
	POLICY_RULE_COUNT
};

/* Rows by enum policy_rule; ended by an id of NULL. */
extern const struct rule policy_rules[];

/* ---- compare rules ---- */

/* Rules of `compare`: differences between two sides, and mistakes in its maps. */
enum compare_rule {
#define RULE(name, id, level, text, spec, explain) COMPARE_RULE_##name,
#include "check/compare_rules.def"
#undef RULE
	COMPARE_RULE_COUNT
};

/* Rows by enum compare_rule; ended by an id of NULL. */
extern const struct rule compare_rules[];

/* ---- verdicts: level of findings, whether they count, effect on the exit status ---- */

/* Settings of one source: the command line, a policy, or one of its overrides. */
struct policy_choice {
	struct policy_effect {
		const struct rule *rule;
		bool selected, ignored;
		int level; /* set by the last matching pattern; -1: none */
	} * effects;       /* by rule; NULL: no patterns */
	size_t n;
	bool selects;   /* has a pattern of `select` */
	int fail_level; /* LEVEL_COUNT: never; -1: not set */
	int exit_zero;  /* -1: not set */
};

#define POLICY_CHOICE_NONE                                                                                   \
	{                                                                                                    \
		.fail_level = -1, .exit_zero = -1                                                            \
	}

#define POLICY_MAX_CHOICES 34 /* a policy, its overrides, the command line */

/* Settings for the findings of a trace, by ascending priority.  All pointers are borrowed. */
struct policy {
	const struct policy_choice *choices[POLICY_MAX_CHOICES];
	size_t n;
	uint64_t max; /* limit of listed findings of the run; UINT64_MAX: no limit */
};

/* Without settings: rules have their own levels, and errors cause exit status 1. */
extern const struct policy policy_of_rules;

struct verdict {
	enum level level;
	bool left_out; /* findings are not reported, only counted as left out */
	bool fails;    /* findings are failures: they have the fail level, or a worse one */
	bool exits;    /* findings cause exit status 1 */
};

struct verdict policy_decide(const struct policy *p, const struct rule *rule);

#endif
