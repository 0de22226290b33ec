#ifndef POLICY_CHECKS_H
#define POLICY_CHECKS_H

#include "policy/policy_file.h"

/*
 * What a policy and its overrides expect of one trace.  A later override counts
 * more: it replaces expectations of the same kind, and events, metadata and
 * budgets of the same patterns; the others are added to those that are there.
 */
struct policy_checks {
	const struct policy_file *file; /* NULL: there is a baseline alone */
	const struct policy_event **events;
	const struct policy_metadata **metadata;
	const struct policy_budget **budgets;
	uint32_t nevents, nmetadata, nbudgets;
	const struct policy_epoch *epoch; /* NULL: nothing is expected; so the others */
	const struct policy_tracks *threads, *processes;
	const struct policy_most *lost, *unfinished;
	const struct policy_times *times;
	bool any; /* there is something to check */
};

/* overrides: as policy_file_overrides() says.  file: borrowed; may be NULL.  baseline: there is one; without
 * a budget that is relative to it, the p50 of each name may be a tenth more.  false: no memory. */
bool policy_checks_init(struct policy_checks *c, const struct policy_file *file, uint32_t overrides,
                        bool baseline);
void policy_checks_free(struct policy_checks *c);

#endif
