#ifndef BASE_IDSET_H
#define BASE_IDSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A set of numbers that come nearly in sequence, kept as sorted runs
 * [first, last].  Made for sequence numbers: millions of them in a few runs.
 * At most IDSET_MAX_RUNS runs are kept; beyond that the set is full: it
 * forgets nothing, but takes no new runs and says so.  Zero-initialise to start.
 */
#define IDSET_MAX_RUNS 65536

struct idset_run {
	uint64_t first, last;
};

struct idset {
	struct idset_run *runs; /* sorted, disjoint, never adjacent */
	size_t n, cap;
	size_t recent; /* the run that grew last */
};

enum idset_result { IDSET_NEW, IDSET_SEEN, IDSET_FULL /* new, but not remembered */ };

/* Adds id.  O(1) when it follows the previous one, O(log runs) to find, O(runs) only when a run is made or two merge.
 * Out of memory counts as FULL. */
enum idset_result idset_add(struct idset *s, uint64_t id);

void idset_free(struct idset *s);

#endif
