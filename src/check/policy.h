#ifndef CHECK_POLICY_H
#define CHECK_POLICY_H

#include "check/findings.h"

/* Which findings count, and as what: one decision that all reports and the exit status obey. */
struct policy_row {
	const struct rule *rule;
	enum level level;
	bool selected, ignored; /* by name */
	bool left_out;          /* therefore: it is counted as left out, and nothing else */
};

struct policy {
	const struct policy_row *rows; /* of all rules; borrowed */
	size_t n;
	int fail_level; /* LEVEL_COUNT: never */
	bool exit_zero; /* findings do not change the exit status */
	uint64_t most;  /* findings that are listed in the whole run; UINT64_MAX: no limit */
};

/* What becomes of findings of a rule; one that the policy does not know counts as it is. */
struct policy_row policy_of(const struct policy *p, const struct rule *rule);

/* Whether findings of these numbers by level mean status 1. */
bool policy_fails(const struct policy *p, const uint64_t *levels);

#endif
