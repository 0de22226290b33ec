#ifndef PIPELINE_EVENT_SHAPES_H
#define PIPELINE_EVENT_SHAPES_H

#include "run/sort/field_shapes.h"

/*
 * What many events have in common: all but times, offset, fields, and a name without SLICE_STAYS.  A packed
 * event (event_codec.h) has the number of its shape instead.
 *
 * Numbers stay valid until event_shapes_free.  Zero-initialise, and set `most`.
 */
#define EVENT_SHAPE_NONE UINT16_MAX /* no number is as large */
#define EVENT_SHAPES_MOST (1U << 14)
#define EVENT_SHAPE_BYTES 80U /* that one takes at most, the table included */

struct event_shapes {
	uint64_t base;      /* packed times are relative to this one; set before the first is packed */
	uint32_t most;      /* at most so many, up to EVENT_SHAPES_MOST; events of others have none */
	struct event *list; /* without a name that does not stay, but name.p NULL stays NULL */
	uint32_t n, cap;
	uint16_t last;   /* that was found: often the next one's, too */
	uint32_t *slots; /* a hash table of indexes + 1 */
	uint32_t mask;   /* slots - 1 */
	uint64_t seed;
	struct field_shapes *fields; /* NULL: fields have no shapes either */
};

/* The shape of an event as it stands in the list. */
struct event event_shape_of(const struct event *e);

/* Its number, or EVENT_SHAPE_NONE: there are too many, or there is no memory for more. */
uint16_t event_shapes_find(struct event_shapes *s, const struct event *e);

void event_shapes_free(struct event_shapes *s);

#endif
