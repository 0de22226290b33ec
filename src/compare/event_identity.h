#ifndef COMPARE_EVENT_IDENTITY_H
#define COMPARE_EVENT_IDENTITY_H

#include "compare/canon.h"
#include "model/batch.h"
#include "model/class.h"
#include "model/event_traits.h"
#include "model/track.h"
#include "format/touches.h"

/*
 * What an interpreted event is, in whatever format it is written: its phase, time, duration (of spans), name,
 * category (but not of arrows), and its fields, in any order, each a name and a value as compare/canon.h
 * says.  Whether a span is async counts, and whether an arrow goes on from where it arrives; a counter
 * without fields is an instant; "no category" is an empty one.  Not part of it are the ids of arrows, the
 * class, the offset and the track, which compare/track_identity.h knows.
 */
struct event_identity {
	struct wide_hash name, category, fields;
	uint64_t ts, dur;
	uint16_t nfields;
	uint8_t phase; /* enum phase */
	bool async;    /* a span */
	bool step;     /* the arrival of an arrow */
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

/* Says whether a field counts. */
typedef bool event_field_counts(const void *ctx, struct slice name);

/* Which fields count: all but those that `counts` refuses, and the first one of each name in `added`. */
struct event_fields {
	event_field_counts *counts; /* NULL: all */
	const void *ctx;
	const char *const *added; /* lists of words; NULL: none */
};

static inline bool
event_all_fields_count(const struct event_fields *f)
{
	return f->counts == NULL && f->added == NULL;
}

/* The place of a word in lists of words with spaces between them, ended by NULL; UINT32_MAX: it is none. */
uint32_t event_words_at(const char *const *lists, struct slice word);

static inline bool
event_words_have(const char *const *lists, struct slice word)
{
	return event_words_at(lists, word) != UINT32_MAX;
}

/* Whether a field counts; `seen` is 0 for the first field of an event, and kept for its further ones. */
bool event_field_counts_in(const struct event_fields *f, struct slice name, unsigned *seen);

/* fields: NULL: all count.  Memory is out if c->scratch.failed. */
struct event_identity event_identity(struct canon *c, const struct batch *b, const struct event *e,
                                     const struct event_fields *fields);

/* The category of the class that was seen last, so that it is not hashed for each event.  Zero-initialise to
 * start, for each trace. */
struct category_memo {
	const struct class *of;
	struct wide_hash hash;
};

/* One hash of all parts, for sums: faster than event_identity_hash(), of which it is no value; memory as
 * above. */
struct wide_hash event_hash(struct canon *c, struct category_memo *m, const struct batch *b,
                            const struct event *e, const struct event_fields *fields);

/* One hash of a field; memory as above. */
struct wide_hash event_field_hash(struct canon *c, const struct field *f);

/* One hash of all parts but those in `without`; neither PART_TRACK matters nor the track. */
struct wide_hash event_identity_hash(const struct event_identity *id, unsigned without);

/* The track that an event is compared on: a counter is one of its process, as viewers take it; without fields
 * it is an instant. */
static inline const struct track *
event_compared_track(const struct event *e)
{
	return e->phase == PHASE_COUNTER && e->nfields > 0 ? track_process(e->track) : e->track;
}

static inline uint8_t
event_compared_phase(const struct event *e)
{
	return e->phase == PHASE_COUNTER && e->nfields == 0 ? PHASE_INSTANT : e->phase;
}

/* The duration, of spans alone. */
static inline uint64_t
event_compared_length(const struct event *e)
{
	return e->phase == PHASE_SPAN ? e->dur : 0;
}

/* Events that are compared: no structure.  An arrow is compared where it arrives: an output may say of each
 * event that could wake another one that an arrow leaves there. */
static inline bool
event_is_compared(const struct event *e)
{
	return e->phase != PHASE_STRUCTURE && e->phase != PHASE_FLOW_OUT && (e->flags & EVENT_REFERRED) == 0;
}

#endif
