#ifndef CMD_POLICIES_H
#define CMD_POLICIES_H

#include "cmd/run_names.h"
#include "cmd/policy_options.h"
#include "run/read/trace_groups.h"
#include "policy/policy_baseline.h"
#include "policy/policy_checks.h"

/*
 * The policies of a run.  Each trace has the one that --config names, or else
 * the nearest to it; what that says about the run as a whole counts if it is
 * the policy of the first trace that has one.  The command line counts most.
 */
struct policies {
	const struct policy_options *line;
	struct policy_entry {
		struct policy_file *file;
		const char *path, *baseline_path; /* of both files; in the arena, or the user's */
		struct policy_baseline *baseline; /* its own; NULL: none */
	} * entries;
	uint32_t nentries, entries_cap;
	struct policy_baseline *baseline; /* of --baseline */
	struct policy_of_trace {
		uint32_t entry; /* + 1; 0: none */
		uint32_t overrides;
	} * traces;                      /* by the index of the trace */
	char *here;                      /* the current folder */
	struct tabletext folders, paths; /* -> entry + 1, or 0 */
	struct arena arena;              /* their keys */
	struct policy whole, present;    /* of the run as a whole; of the trace that was asked for last */
	struct policy_row *rows[2];      /* of both */
	struct policy_of_trace of_present;
};

/* Finds and reads them all.  line: borrowed.  false after a message and o->status
 * set.  In any case end with policies_free. */
bool policies_init(struct policies *p, struct options *o, const struct policy_options *line,
                   const struct trace_groups *traces);
void policies_free(struct policies *p);

/* Adds the names of the files that were read: policies and their baselines. */
void policies_names(const struct policies *p, struct run_names *n);

/* That of the first trace that has one; NULL: none has. */
const struct policy_file *policies_first(const struct policies *p);

/* Which findings of a trace count.  Valid until the next call; for one thread at a time. */
const struct policy *policies_of(struct policies *p, size_t trace);

/* What is expected of a trace; c: to be freed.  *baseline: what it is compared with, or NULL.  Any number of
 * threads may ask.  false: no memory. */
bool policies_checks(const struct policies *p, size_t trace, struct policy_checks *c,
                     const struct policy_baseline **baseline);

#endif
