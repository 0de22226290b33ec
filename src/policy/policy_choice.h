#ifndef POLICY_CHOICE_H
#define POLICY_CHOICE_H

#include "check/policy.h"

/* What one place (the command line, a policy, one of its overrides) says about which findings count.  Each
 * pattern is tried once on each rule, when it is added, and not kept. */
struct policy_choice {
	struct policy_effect {
		bool selected, ignored;
		int level; /* of the last pattern that fits; -1: none does */
	} * effects;       /* of all rules, in the order of rules_visit(); NULL: no pattern was added */
	bool selects;      /* there is a pattern of `select` */
	int fail_level;    /* LEVEL_COUNT: never; -1: not said */
	int exit_zero;     /* -1: not said */
};

#define POLICY_CHOICE_NONE                                                                                   \
	{                                                                                                    \
		.fail_level = -1, .exit_zero = -1                                                            \
	}

enum policy_choice_key { CHOICE_SELECT, CHOICE_IGNORE, CHOICE_LEVEL };

/* Adds a pattern of rule ids; level: for CHOICE_LEVEL.  *fits: whether it is that of any rule.  false: no
 * memory. */
bool policy_choice_add(struct policy_choice *c, enum policy_choice_key key, struct slice rules,
                       enum level level, bool *fits);
void policy_choice_free(struct policy_choice *c);

/* All rules in the order of rules_visit(), to be freed; NULL: no memory. */
struct policy_row *policy_rows_new(size_t *n);

/* The rows as they are before anything is said. */
void policy_rows_reset(struct policy_row *rows, size_t n);

/* What is said here counts more than what was applied before: a selection replaces another, and takes in what
 * was ignored before; here, what is ignored stays so, whatever is selected.  p->rows is `rows`. */
void policy_apply(struct policy *p, struct policy_row *rows, const struct policy_choice *c);

#endif
