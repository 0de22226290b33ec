#ifndef COMPARE_EVENT_IDENTITY_H
#define COMPARE_EVENT_IDENTITY_H

#include "compare/canon.h"
#include "event/batch.h"
#include "event/track.h"
#include "format/touches.h"

/*
 * What an interpreted event is, in whatever format it is written: its phase, time, duration (of spans), name,
 * category (but not of arrows), and its fields, in any order, each a name and a value as compare/canon.h
 * says.  Whether a span is async counts; a counter without fields is an instant; "no category" is an empty
 * one.  Not part of it are the ids of arrows, the class, the offset and the track, which
 * compare/track_identity.h knows.
 */
struct event_identity {
	struct wide_hash name, category, fields;
	uint64_t ts, dur;
	uint16_t nfields;
	uint8_t phase; /* enum phase */
	bool async;
};

/* What to leave out of comparisons. */
enum event_part {
	PART_TIME = TOUCHES_TIME,
	PART_DURATION = TOUCHES_DURATION,
	PART_NAME = TOUCHES_NAME,
	PART_CATEGORY = TOUCHES_CATEGORY,
	PART_FIELDS = TOUCHES_FIELDS, /* all of them */
	PART_TRACK = TOUCHES_TRACK,
	PART_PHASE = TOUCHES_PHASE,
};

/* Says whether a field counts; NULL: all do. */
typedef bool event_field_counts(const void *ctx, struct slice name);

/* Memory is out if c->scratch.failed. */
struct event_identity event_identity(struct canon *c, const struct batch *b, const struct event *e,
                                     event_field_counts *counts, const void *ctx);

/* One hash of all parts but those in `without`; neither PART_TRACK matters nor the track. */
struct wide_hash event_identity_hash(const struct event_identity *id, unsigned without);

/* The track that an event is compared on: a counter is one of its process, as viewers take it; without fields
 * it is an instant. */
static inline const struct track *
event_compared_track(const struct event *e)
{
	return e->phase == PHASE_COUNTER && e->nfields > 0 ? track_process(e->track) : e->track;
}

/* Events that are compared: no structure.  An arrow is compared where it arrives: an output may say of each
 * event that could wake another one that an arrow leaves there. */
static inline bool
event_is_compared(const struct event *e)
{
	return e->phase != PHASE_STRUCTURE && e->phase != PHASE_FLOW_OUT;
}

#endif
