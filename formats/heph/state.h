#ifndef HEPH_STATE_H
#define HEPH_STATE_H

#include <inttypes.h>
#include <stdio.h>

#include "format/format.h"
#include "heph/counter.h"
#include "heph/epoch.h"
#include "heph/lost.h"
#include "heph/names.h"
#include "heph/own_state.h"
#include "heph/search.h"
#include "heph/stream.h"

/* Which track the latest packets of a stream and substream went to. */
#define HEPH_CACHED 256U
struct heph_cached {
	const struct track *track; /* NULL: empty */
	uint64_t substream;
	uint32_t stream;
};

struct heph_tracks {
	struct table64 index; /* hash of stream and substream -> trace.tracks[] */
	uint64_t seed;        /* of that hash */
	struct heph_cached cache[HEPH_CACHED];
	const struct track *more; /* for all that is beyond the limit */
};

/* What the reader knows; one for each input. */
struct heph_state {
	struct reader *r;
	bool no_memory; /* memory is out: reading ends with this packet */
	bool raw;       /* raw events are wanted */
	struct class *event_class, *metadata_class;
	struct heph_gap gap;
	struct heph_streams streams;
	struct heph_counters counters;
	struct heph_losts lost;
	struct heph_tracks tracks;
	struct heph_epoch epoch;
	struct heph_own own;
	struct heph_names names;       /* of the present event */
	struct finding_tally repeated; /* events with two attributes of one name */
	struct quoted repeated_name;   /* of the first of them */
};

#endif
