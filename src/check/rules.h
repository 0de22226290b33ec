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
extern const struct rule input_rules[INPUT_RULE_COUNT];

/* Whether it is about the system or the file, not its bytes: another attempt may succeed. */
bool input_rule_is_failure(const struct rule *rule);

/* The rule that a fault of the input breaks; NULL for INPUT_OK. */
const struct rule *input_fault_rule(enum input_fault fault);

/* ---- policy rules ---- */

/* Rules about policies (tracetool.yaml(5)): mistakes in them, and what traces lack that they expect. */
enum policy_rule {
#define RULE(name, id, level, text, spec, explain) POLICY_RULE_##name,
#include "check/policy_rules.def"
#undef RULE
	POLICY_RULE_COUNT
};

/* Rows by enum policy_rule; ended by an id of NULL. */
extern const struct rule policy_rules[];

/* ---- which findings count ---- */

/* The level of each rule, and whether it counts: for all reports and the exit status. */
struct policy_row {
	const struct rule *rule;
	enum level level;
	bool selected, ignored; /* by name */
	bool left_out;          /* by these: findings are only counted as left out */
};

struct policy {
	const struct policy_row *rows; /* of all rules; borrowed */
	size_t n;
	int fail_level; /* LEVEL_COUNT: never */
	bool exit_zero; /* findings do not change the exit status */
	uint64_t most;  /* limit of listed findings of the run; UINT64_MAX: none */
};

/* The row of a rule; a rule without one counts with its own level. */
struct policy_row policy_of(const struct policy *p, const struct rule *rule);

/* Whether these numbers of findings by level mean status 1. */
bool policy_fails(const struct policy *p, const uint64_t *levels);

#endif
