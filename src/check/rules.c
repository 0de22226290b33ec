#include "check/rules.h"

/* ---- input rules ---- */

const struct rule input_rules[INPUT_RULE_COUNT] = {
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

	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (rule == &input_rules[rules[i]])
			return true;
	return false;
}

const struct rule *input_fault_rule(enum input_fault fault)
{
	static const struct {
		enum input_fault fault;
		enum input_rule rule;
	} rows[] = {
		{ INPUT_MISSING, INPUT_RULE_MISSING },       { INPUT_DENIED, INPUT_RULE_DENIED },
		{ INPUT_NOT_A_FILE, INPUT_RULE_NOT_A_FILE }, { INPUT_EMPTY, INPUT_RULE_EMPTY },
		{ INPUT_SYSTEM, INPUT_RULE_SYSTEM },         { INPUT_SHRUNK, INPUT_RULE_SHRUNK },
		{ INPUT_CHANGED, INPUT_RULE_CHANGED },       { INPUT_CUT, INPUT_RULE_CUT },
		{ INPUT_CORRUPT, INPUT_RULE_CORRUPT },       { INPUT_TRAILING, INPUT_RULE_TRAILING },
		{ INPUT_REPLACED, INPUT_RULE_REPLACED },     { INPUT_ELSEWHERE, INPUT_RULE_ELSEWHERE },
		{ INPUT_PASSED, INPUT_RULE_PASSED },         { INPUT_NO_TRACE, INPUT_RULE_NO_TRACE },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].fault == fault)
			return &input_rules[rows[i].rule];
	return NULL;
}

/* ---- limit rules ---- */

const struct rule limit_rules[LIMIT_RULE_COUNT] = {
#define RULE RULE_ROW
#include "check/limit_rules.def"
#undef RULE
};

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
