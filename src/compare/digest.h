#ifndef COMPARE_DIGEST_H
#define COMPARE_DIGEST_H

#include "compare/event_identity.h"
#include "compare/track_identity.h"

/*
 * A hash of all events of a trace with their tracks, that does not depend on their order, on the format, on
 * how the trace is packed or divided into files.  It is 0 for no events.  Events that are left out
 * (EVENT_LEFT_OUT) are none of it.
 */
struct digest_track {
	struct wide_hash sum;
	uint64_t events; /* 0: there is none on this track alone */
	const struct track *track;
};

/* What does not count. */
struct digest_rules {
	bool no_tracks;             /* whose an event is */
	struct event_fields fields; /* those that it says do */
	const char *const *more;    /* lists of words, ended by NULL: events of these classes; NULL: none */
};

/* Zero-initialise to start, and set `rules` if not everything counts. */
struct digest {
	struct digest_rules rules;
	uint64_t more; /* events of classes in rules.more */
	struct canon canon;
	struct category_memo category;
	struct track_identities identities;
	struct digest_track *tracks; /* by index of the track */
	uint32_t ntracks;
	uint64_t events;
};

/* Adds events; false: no memory. */
bool digest_add(struct digest *d, const struct batch *b);

/* Of all events, when the trace was read to its end; what does not count of tracks may be set in
 * d->identities.without before.  Once; false: no memory. */
bool digest_end(struct digest *d, const struct trace *trace, struct wide_hash *out);

void digest_free(struct digest *d);

#endif
