#ifndef CMD_POLICY_OPTIONS_H
#define CMD_POLICY_OPTIONS_H

#include "cmd/options.h"
#include "policy/policy_choice.h"

/* The options that say which findings count (--select-rules, --ignore-rules, --level, --limit, --exit-zero
 * and
 * --fail-level), and where else it is said. */
struct policy_options {
	struct policy_choice choice;
	bool limited;          /* --limit was given */
	uint64_t limit;        /* UINT64_MAX: none */
	const char *config;    /* --config; NULL: the policy is searched for */
	bool no_config;        /* --no-config */
	const char *baseline;  /* --baseline; NULL: not given */
	struct arena arena;    /* for parts of arguments */
};

/* What --level and --fail-level take, in the order of enum level; NULL-terminated. */
extern const char *const policy_levels[], *const policy_fail_levels[];

void policy_options_init(struct policy_options *p);
void policy_options_free(struct policy_options *p);

/* Each takes the argument of its option; false after a message and o->status set.  The last word on a rule
 * counts; what is ignored stays so, whatever is selected. */
bool policy_select(struct policy_options *p, struct options *o, const char *glob);
bool policy_ignore(struct policy_options *p, struct options *o, const char *glob);
bool policy_level(struct policy_options *p, struct options *o, const char *arg);
bool policy_fail_level(struct policy_options *p, struct options *o, const char *arg);

#endif
