#ifndef DIAL9_STATE_H
#define DIAL9_STATE_H

#include <inttypes.h>
#include <stdio.h>

#include "dial9/ahead.h"
#include "dial9/bytes.h"
#include "dial9/findings.h"
#include "dial9/frame.h"
#include "dial9/pool.h"
#include "dial9/schema.h"

/* The state of a reader: what all of its parts share. */

/* The kinds of frames, as classes of structure records. */
enum d9_structure {
	D9_S_HEADER,
	D9_S_SCHEMA,
	D9_S_STRINGS,
	D9_S_STACKS,
	D9_S_RESET,
	D9_S_ANNOTATIONS,
	D9_STRUCTURES
};

struct d9_state {
	struct reader *r;
	struct batch *batch;  /* that is being filled */
	bool no_memory;       /* some step found none: reading ends behind it */
	bool strict;          /* check by the document of 0.3 */
	bool begun;           /* the first header was read */
	bool resumes;         /* what follows a fault is wanted, and so not skipped */
	uint64_t base;        /* timestamp_base_ns */
	uint64_t segment;     /* number of the present one; the first is 1 */
	uint64_t last_offset; /* of the last complete frame */

	struct class *structure[D9_STRUCTURES];
	struct d9_schemas schemas;
	struct d9_pool pools[D9_POOLS];
	struct d9_pool_memory *pool_memory; /* what the entries of both pools point to; NULL: nothing yet */
	uint64_t pooled_bytes;
	bool pools_full; /* some entry of this segment was not retained */
	struct d9_open_frame open;
	struct d9_lack lack;

	struct d9_ahead *ahead;    /* what a look-ahead pass found; NULL: there was none */
	struct d9_ahead *collects; /* this is such a pass: where it puts what it finds; else NULL */
	bool asked_ahead;          /* for one; the input may not be readable twice */
	bool looked_ahead;         /* and got it */
	bool symbols_met;
	uint64_t seed; /* of the hashes of pool entries */

	struct d9_tallies tallies;
	const struct track *process, *no_track; /* NULL: not needed yet */
	const struct track **tracks;            /* of the present segment: number in track records -> track */
	uint32_t ntracks, tracks_cap;
	uint32_t tracks_made, track_names; /* of the whole input; names: bytes */
	uint32_t meta_bytes;
	uint32_t event_pooled; /* bytes that the pools added to the present event */
	uint64_t batch_pooled; /* and to the present batch */
};

static inline bool
d9_wants_structure(const struct d9_state *st)
{
	return (st->r->want & WANT_STRUCTURE) != 0;
}

static inline bool
d9_wants_fields(const struct d9_state *st)
{
	return (st->r->want & WANT_FIELDS) != 0;
}

/* The bytes from the start of a frame to the end of the window. */
static inline struct d9_bytes
d9_bytes_of(struct d9_state *st, const struct d9_frame *f)
{
	return (struct d9_bytes){ .p = f->p, .end = f->end, .in = st->r->in, .lack = &st->lack };
}

/* The same of a frame that is too large; the caller moves the input's p when it is through. */
static inline struct d9_bytes
d9_bytes_pieces(struct d9_state *st)
{
	struct input *const in = st->r->in;

	return (struct d9_bytes){ .p = in->p, .end = in->end, .in = in, .lack = &st->lack, .pieces = true };
}

/* Raw events: nothing is looked up in pools or symbols. */
static inline bool
d9_wants_raw(const struct d9_state *st)
{
	return (st->r->want & WANT_RAW) != 0;
}

#endif
