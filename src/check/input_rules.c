#include "check/input_rules.h"

const struct rule input_rules[INPUT_RULE_COUNT] = {
#define RULE RULE_ROW
#include "check/input_rules.def"
#undef RULE
};

const struct rule *
input_fault_rule(enum input_fault fault)
{
	static const struct {
		enum input_fault fault;
		enum input_rule rule;
	} rows[] = {
		{ INPUT_MISSING, INPUT_RULE_MISSING },
		{ INPUT_DENIED, INPUT_RULE_DENIED },
		{ INPUT_NOT_A_FILE, INPUT_RULE_NOT_A_FILE },
		{ INPUT_EMPTY, INPUT_RULE_EMPTY },
		{ INPUT_SYSTEM, INPUT_RULE_SYSTEM },
		{ INPUT_SHRUNK, INPUT_RULE_SHRUNK },
		{ INPUT_CUT, INPUT_RULE_CUT },
		{ INPUT_CORRUPT, INPUT_RULE_CORRUPT },
		{ INPUT_TRAILING, INPUT_RULE_TRAILING },
		{ INPUT_REPLACED, INPUT_RULE_REPLACED },
		{ INPUT_ELSEWHERE, INPUT_RULE_ELSEWHERE },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].fault == fault)
			return &input_rules[rows[i].rule];
	return NULL;
}
