#include "check/policy.h"

struct policy_row
policy_of(const struct policy *p, const struct rule *rule)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->rows[i].rule == rule)
			return p->rows[i];
	return (struct policy_row){ .rule = rule, .level = rule->level };
}

bool
policy_fails(const struct policy *p, const uint64_t *levels)
{
	for (int level = p->fail_level; level < LEVEL_COUNT && !p->exit_zero; level++)
		if (levels[level] > 0)
			return true;
	return false;
}
