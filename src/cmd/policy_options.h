#ifndef CMD_POLICY_OPTIONS_H
#define CMD_POLICY_OPTIONS_H

#include "check/policy.h"
#include "cmd/options.h"

/* The options that say which findings count: --select, --ignore, --level, --max-findings, --exit-zero and
 * --fail-level. */
struct policy_options {
	struct policy policy;
	struct policy_row *rows; /* of all rules, in the order of rules_visit() */
	bool selecting;          /* --select was given */
};

/* What --level and --fail-level take, in the order of enum level; NULL-terminated. */
extern const char *const policy_levels[], *const policy_fail_levels[];

/* false: no memory, which was said.  In any case end with policy_options_free. */
bool policy_options_init(struct policy_options *p, struct options *o);
void policy_options_free(struct policy_options *p);

/* Each takes the argument of its option; false after a message and o->status set.  The last word on a rule
 * counts; what is ignored stays so, whatever is selected. */
bool policy_select(struct policy_options *p, struct options *o, const char *glob);
bool policy_ignore(struct policy_options *p, struct options *o, const char *glob);
bool policy_level(struct policy_options *p, struct options *o, const char *arg);
bool policy_fail_level(struct policy_options *p, struct options *o, const char *arg);

#endif
