#ifndef PIPELINE_EVENT_PACKED_H
#define PIPELINE_EVENT_PACKED_H

#include "run/sort/event_codec.h"

/* Private to event_pack.c and event_unpack.c: the parts of a packed event. */

/* The fixed part of a field, in front of its texts. */
struct packed_field {
	uint16_t shape;
	uint8_t kind; /* of the value: if a text enum kind, if a number or list its size in bytes: 0, 1, 2, 4,
	                 8 */
} __attribute__((packed));

/* What follows of a field without a number for its shape. */
struct packed_shape {
	uint8_t name_flags, name_kind;
	uint8_t type, flags, element;
};

enum kind { KIND_NULL, KIND_TEXT, KIND_STAYS };

_Static_assert(sizeof(struct event) == 64 && sizeof(struct value) == 16 && sizeof(struct packed_field) == 3,
               "the parts of a packed event have no gaps");

#define LONG_TEXT 255U /* this length byte: four follow with the length */

/* In a list that is packed, the address of a text that lies with the others. */
#define PACKED_TEXT ((const char *)(uintptr_t)1)

static inline bool
is_text(const struct value *v)
{
	return v->type == VALUE_STRING || v->type == VALUE_BYTES || v->type == VALUE_JSON;
}

static inline bool
is_list(const struct value *v)
{
	return v->type == VALUE_LIST || v->type == VALUE_MAP;
}

static inline uint64_t
entries(const struct value *v)
{
	return v->type == VALUE_MAP ? 2 * (uint64_t)v->count : v->type == VALUE_LIST ? v->count : 0;
}

static inline enum kind
kind_of(const char *p, uint32_t flags)
{
	return (flags & SLICE_STAYS) != 0 ? KIND_STAYS : p == NULL ? KIND_NULL : KIND_TEXT;
}

/* Near 0 on both sides: small. */
static inline uint64_t
distance(uint64_t from, uint64_t to)
{
	const uint64_t d = to - from;

	return d << 1 ^ -(d >> 63);
}

static inline uint64_t
at_distance(uint64_t from, uint64_t distance)
{
	return from + (distance >> 1 ^ -(distance & 1));
}

#endif
