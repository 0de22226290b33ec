#ifndef HTDUMP_STATE_H
#define HTDUMP_STATE_H

#include <inttypes.h>
#include <stdio.h>

#include "base/idset.h"
#include "format/format.h"
#include "htdump/class.h"
#include "htdump/label.h"

/* Threads as tracks. */
struct ht_tracks {
	const struct track *process;
	struct table64 threads; /* thread id -> trace.tracks[] */
	uint64_t last_id;
	const struct track *last; /* the track of last_id; NULL: none was asked for yet */
	const struct track *more; /* for all that is beyond the limit */
};

/* What the reader knows; one for each input. */
struct ht_state {
	struct reader *r;
	struct ht_state *ahead_of; /* this is a look-ahead pass: mappings go to that state */
	bool no_memory;            /* memory is out: reading ends with this record */
	bool raw;                  /* raw events are wanted, */
	bool runs;                 /* or the first, and runs of those that follow it */
	bool wire;                 /* else document */
	bool big;
	bool guess_big; /* the order that the second event fits, should the first not state it */
	bool any_event; /* a record was read */

	struct ht_classes classes;
	struct ht_labels labels;
	struct ht_tracks tracks;

	/* where the parts of the present record lie: for each run its start and its string */
	const char **starts;
	struct slice *strings;
	uint32_t runs_cap;
	struct slice label_name; /* of its integer label; p NULL: it has none */

	struct idset ids;
	struct finding_tally id_repeated;
};

/* Room for the parts of a record of n runs.  false: no memory. */
bool ht_state_reserve(struct ht_state *st, uint32_t n);

#endif
