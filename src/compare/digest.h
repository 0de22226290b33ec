#ifndef COMPARE_DIGEST_H
#define COMPARE_DIGEST_H

#include "compare/event_identity.h"
#include "compare/track_identity.h"

/*
 * A hash of all events of a trace with their tracks, that does not depend on their order, on the format, on
 * how the trace is packed or divided into files.  It is 0 for no events.
 */
struct digest_track {
	struct wide_hash sum;
	uint64_t events;
	const struct track *track; /* NULL: it has no events */
};

/* Zero-initialise to start. */
struct digest {
	struct canon canon;
	struct track_identities identities;
	struct digest_track *tracks; /* by index of the track */
	uint32_t ntracks;
	uint64_t events;
};

/* Adds interpreted events; false: no memory. */
bool digest_add(struct digest *d, const struct batch *b);

/* Of all events, when the trace was read to its end; false: no memory. */
bool digest_end(struct digest *d, const struct trace *trace, struct wide_hash *out);

void digest_free(struct digest *d);

#endif
