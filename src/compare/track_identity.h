#ifndef COMPARE_TRACK_IDENTITY_H
#define COMPARE_TRACK_IDENTITY_H

#include "compare/wide_hash.h"
#include "model/trace.h"

/*
 * Which tracks of two traces are the same.  A process is known by its number and its name; without a number
 * it is known by nothing, for its name is that of the file mostly.  Any other track is known by its process,
 * its number and its name; what lies between them (the thread of a child track) does not count.  Numbers
 * above those of Linux do not count, as writers give them to tracks that have none.
 *
 * A lane is the track that it belongs to.  So is the lane of an output that was read back: a track that has
 * the name of another one of its process with "(2)" or more behind it, and no other number.
 */
#define TRACK_MAX_NUMBER 4194304U

/* What of tracks does not count either. */
enum tracks_without {
	/* names, and what a child track shows of its thread: a thread is known by the numbers */
	TRACKS_WITHOUT_NAMES = 1,
	TRACKS_WITHOUT_PROCESSES = 2,
	TRACKS_WITHOUT_THREADS = 4, /* all of a process are one */
};

/* Identities of the tracks of a trace, made when they are asked for.  Zero-initialise to start. */
struct track_identities {
	struct wide_hash *known; /* by index of the track; { 0, 0 }: not yet */
	uint32_t nknown;
	unsigned without;     /* enum tracks_without */
	uint32_t named;       /* tracks of the trace that are in `names` */
	struct table64 names; /* of a process and a name: the index of the first such track */
	bool failed;          /* no memory: identities are of no use */
};

/* Of a track of this trace. */
struct wide_hash track_identity(struct track_identities *t, const struct trace *trace,
                                const struct track *track);

void track_identities_free(struct track_identities *t);

#endif
