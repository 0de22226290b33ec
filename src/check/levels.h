#ifndef CHECK_LEVELS_H
#define CHECK_LEVELS_H

#include "check/finding.h"

/* The verdict on findings of a rule: level, whether they count, effect on the exit status. */

/* Settings of one source: the command line, a policy, or one of its overrides. */
struct policy_choice {
	struct policy_effect {
		const struct rule *rule;
		bool selected, ignored;
		int level; /* of the last matching pattern; -1: none */
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

/* Settings for the findings of a trace, in ascending priority.  All pointers are borrowed. */
struct policy {
	const struct policy_choice *choices[POLICY_MAX_CHOICES];
	size_t n;
	uint64_t max; /* max findings listed in the run; UINT64_MAX: no limit */
};

struct verdict {
	enum level level;
	bool left_out; /* findings are not reported, only counted as left out */
	bool fails;    /* findings are failures: of the fail level, or worse */
	bool exits;    /* findings cause exit status 1 */
};

struct verdict policy_decide(const struct policy *p, const struct rule *rule);

#endif
