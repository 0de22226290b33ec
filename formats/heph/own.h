#ifndef HEPH_OWN_H
#define HEPH_OWN_H

#include "format/format.h"

/*
 * What this program writes into a Heph trace so that nothing is lost, and what
 * its reader takes from there: words of options, attributes and types.  All of
 * them are ordinary options and attributes for other readers.
 */
#define HEPH_OWN_PREFIX "tracetool."
#define HEPH_OWN_PREFIX_SIZE 10

/* Options.  The value of each is a run of attributes; before those of a track: stream (32 bits), substream
 * (64).
 */
#define HEPH_OWN_TRACE HEPH_OWN_PREFIX "trace" /* the events that follow have the attributes below */
#define HEPH_OWN_TRACK HEPH_OWN_PREFIX "track"
#define HEPH_OWN_FACT HEPH_OWN_PREFIX "fact"
#define HEPH_OWN_VERSION 1
#define HEPH_OWN_TRACK_IDS 12 /* bytes */

/* Of a fact that is one of the trace: "trace." and its name. */
#define HEPH_OWN_FACT_PREFIX "trace."
#define HEPH_OWN_FACT_PREFIX_SIZE 6

/* Attributes of events.  Class comes with each, the others where they say something. */
#define HEPH_OWN_CLASS HEPH_OWN_PREFIX "class"
#define HEPH_OWN_CATEGORY HEPH_OWN_PREFIX "category" /* if it is not the class's name */
#define HEPH_OWN_KIND HEPH_OWN_PREFIX "kind"         /* if it is not a span */
#define HEPH_OWN_ARROW HEPH_OWN_PREFIX "arrow"       /* of an arrow's end: the id */
#define HEPH_OWN_DURATION HEPH_OWN_PREFIX "duration" /* of what is no span and has one */
#define HEPH_OWN_TYPES HEPH_OWN_PREFIX "types"       /* of the other attributes, with commas between */
#define HEPH_OWN_ESCAPE HEPH_OWN_PREFIX "field."     /* before names that begin with "tracetool." */
#define HEPH_OWN_ESCAPE_SIZE 16

/* Bytes of all tracks and classes that one reader keeps. */
#define HEPH_OWN_MAX_TEXT (64U << 20)
#define HEPH_OWN_MAX_CLASSES 65536U

/* Kinds of events, and types of values (enum value_type). */
enum heph_own_kind {
	HEPH_OWN_SPAN,
	HEPH_OWN_ASYNC,
	HEPH_OWN_BEGIN,
	HEPH_OWN_END,
	HEPH_OWN_INSTANT,
	HEPH_OWN_COUNTER,
	HEPH_OWN_ARROW_OUT,
	HEPH_OWN_ARROW_IN,
	HEPH_OWN_ARROW_STEP,
	HEPH_OWN_KINDS
};
extern const struct slice heph_own_kinds[HEPH_OWN_KINDS];
extern const struct slice heph_own_types[VALUE_JSON + 1];

static inline bool
heph_is_own(struct slice name)
{
	return name.n > HEPH_OWN_PREFIX_SIZE && memcmp(name.p, HEPH_OWN_PREFIX, HEPH_OWN_PREFIX_SIZE) == 0;
}

#endif
