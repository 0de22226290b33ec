#ifndef CHECK_INPUT_RULES_H
#define CHECK_INPUT_RULES_H

#include "check/findings.h"
#include "input/input_fault.h"

enum input_rule {
#define RULE(name, id, level, text, spec, explain) INPUT_RULE_##name,
#include "check/input_rules.def"
#undef RULE
	INPUT_RULE_COUNT
};

/* Rows by enum input_rule. */
extern const struct rule input_rules[INPUT_RULE_COUNT];

/* Whether it is about the system or the file, not about its bytes: another attempt may end otherwise. */
bool input_rule_is_failure(const struct rule *rule);

/* The rule that a fault of the input breaks; NULL for INPUT_OK. */
const struct rule *input_fault_rule(enum input_fault fault);

#endif
