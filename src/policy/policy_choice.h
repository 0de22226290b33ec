#ifndef POLICY_CHOICE_H
#define POLICY_CHOICE_H

#include "check/policy.h"

/* What one place (the command line, a policy, one of its overrides) says about which findings count.  Texts
 * are borrowed. */
struct policy_choice {
	const char **select, **ignore; /* patterns of rule ids */
	uint32_t nselect, nignore, select_cap, ignore_cap;
	struct policy_level {
		const char *rules;
		enum level level;
	} * levels; /* the last that fits counts */
	uint32_t nlevels, levels_cap;
	int fail_level; /* LEVEL_COUNT: never; -1: not said */
	int exit_zero;  /* -1: not said */
};

#define POLICY_CHOICE_NONE                                                                                   \
	{                                                                                                    \
		.fail_level = -1, .exit_zero = -1                                                            \
	}

/* false: no memory. */
bool policy_choice_select(struct policy_choice *c, const char *rules);
bool policy_choice_ignore(struct policy_choice *c, const char *rules);
bool policy_choice_level(struct policy_choice *c, const char *rules, enum level level);
void policy_choice_free(struct policy_choice *c);

/* Whether a pattern fits any rule; if not, *nearest is the id that may have been meant, or NULL. */
bool policy_fits_rule(const char *rules, const char **nearest);

/* All rules in the order of rules_visit(), to be freed; NULL: no memory. */
struct policy_row *policy_rows_new(size_t *n);

/* The rows as they are before anything is said. */
void policy_rows_reset(struct policy_row *rows, size_t n);

/* What is said here counts more than what was applied before: a selection replaces another, and takes in what
 * was ignored before; here, what is ignored stays so, whatever is selected.  p->rows is `rows`. */
void policy_apply(struct policy *p, struct policy_row *rows, const struct policy_choice *c);

#endif
