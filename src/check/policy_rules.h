#ifndef CHECK_POLICY_RULES_H
#define CHECK_POLICY_RULES_H

#include "check/finding.h"

/* Rules about policies (tracetool.yaml(5)): mistakes in them, and what traces lack that they expect. */
enum policy_rule {
#define RULE(name, id, level, text, spec, explain) POLICY_RULE_##name,
#include "check/policy_rules.def"
#undef RULE
	POLICY_RULE_COUNT
};

/* Rows by enum policy_rule; ended by an id of NULL. */
extern const struct rule policy_rules[];

#endif
