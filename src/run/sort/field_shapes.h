#ifndef PIPELINE_FIELD_SHAPES_H
#define PIPELINE_FIELD_SHAPES_H

#include "model/batch_fill.h"

/*
 * What many fields have in common: a short name, and the type of their value.  A packed field
 * (event_codec.h) has the number of its shape instead.
 *
 * The texts of names lie in it: a batch with unpacked fields holds `shared`.
 */
#define FIELD_SHAPE_NONE UINT16_MAX
#define FIELD_SHAPES_MOST 1024U
#define FIELD_SHAPE_NAME 16U  /* longer names have no shape, unless they stay */
#define FIELD_SHAPE_BYTES 80U /* that one takes, the table included */

/* Two fields are of one shape if these are equal. */
struct field_key {
	uint64_t name[2]; /* all bytes of the name, or where and how long one is that stays */
	uint64_t rest;    /* the length of the other; flags; type, element and flags of the value */
};

struct field_shape {
	struct field_key key;
	struct field field; /* its value is 0 */
	char text[FIELD_SHAPE_NAME];
};

struct field_shapes {
	struct shared_memory shared; /* first: its address is that of the whole */
	uint32_t most, n;
	uint64_t seed;
	uint32_t mask;   /* slots - 1 */
	uint16_t *slots; /* a hash table of indexes + 1 */
	struct field_shape list[];
};

/* Room for `most` shapes, up to FIELD_SHAPES_MOST.  Give it back with shared_memory_drop(&s->shared).  NULL:
 * no memory. */
struct field_shapes *field_shapes_new(uint32_t most);

/* The number of a field's shape, or FIELD_SHAPE_NONE: it has none, or there are too many. */
uint16_t field_shapes_find(struct field_shapes *s, const struct field *f);

#endif
