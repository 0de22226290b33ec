#include "check/policy_rules.h"

const struct rule policy_rules[] = {
#define RULE RULE_ROW
#include "check/policy_rules.def"
#undef RULE
	{ .id = NULL }
};
