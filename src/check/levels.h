#ifndef CHECK_LEVELS_H
#define CHECK_LEVELS_H

#include "check/finding.h"

/* Which findings count, at which level, and with which status. */

/* Statements of one source: the command line, a policy, or one of its overrides. */
struct policy_choice {
	struct policy_effect {
		const struct rule *rule;
		bool selected, ignored;
		int level; /* of the last pattern that fits, or -1 */
	} * effects;       /* of all rules; NULL without patterns */
	size_t n;
	bool selects;   /* has a pattern of `select` */
	int fail_level; /* LEVEL_COUNT: never; -1: not stated */
	int exit_zero;  /* -1: not stated */
};

#define POLICY_CHOICE_NONE                                                                                   \
	{                                                                                                    \
		.fail_level = -1, .exit_zero = -1                                                            \
	}

#define POLICY_MAX_CHOICES 34 /* a policy, its overrides, the command line */

/* What holds for the findings of a trace: choices, each stronger than those before.  All borrowed. */
struct policy {
	const struct policy_choice *choices[POLICY_MAX_CHOICES];
	size_t n;
	uint64_t max; /* limit of listed findings of the run; UINT64_MAX: none */
};

struct verdict {
	enum level level;
	bool left_out; /* its findings are only counted as left out */
	bool fails;    /* they are failures: of the fail level, or worse */
	bool exits;    /* they mean status 1 */
};

struct verdict policy_decide(const struct policy *p, const struct rule *rule);

#endif
