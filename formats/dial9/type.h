#ifndef DIAL9_TYPE_H
#define DIAL9_TYPE_H

#include <stdbool.h>

#include "dial9/wire.h"

enum d9_pool_kind { D9_STRINGS, D9_STACKS, D9_POOLS };

/* "Field Types", as one table that all who walk over values go by. */

/* How the bytes of a value lie. */
enum d9_shape {
	D9_SHAPE_UNKNOWN, /* no such type: the size of a value is not known */
	D9_SHAPE_FIXED,   /* `size` bytes */
	D9_SHAPE_BOOL,    /* one byte that should be 0 or 1 */
	D9_SHAPE_ID,      /* u32, an id of a pool */
	D9_SHAPE_LEB128,
	D9_SHAPE_TEXT,   /* u32 n, then n bytes of UTF-8 */
	D9_SHAPE_RUN,    /* u32 n, then n items of `size` bytes */
	D9_SHAPE_VALUES, /* u32 n, then n entries of `each` values, `size` bytes at least: each behind its
	                    type if `tagged`, else texts */
};

struct d9_type_info {
	const char *names[2]; /* the type, and the optional one */
	const char *missing;  /* what an input lacks that ends in such a value, or in its count */
	uint8_t shape;        /* enum d9_shape */
	uint8_t size;
	uint8_t each;
	uint8_t pool; /* enum d9_pool_kind */
	bool tagged;
	uint8_t value;     /* enum value_type of raw values */
	const char *newer; /* not in the document of 0.3: how to call it; NULL: it is */
};

extern const struct d9_type_info d9_types[D9_TYPES];

/* What a type is without the optional bit; types that are not known have the first row. */
static inline const struct d9_type_info *
d9_type(uint8_t type)
{
	const unsigned inner = type & ~(unsigned)D9_OPTIONAL;

	return &d9_types[inner < D9_TYPES ? inner : 0];
}

static inline bool
d9_is_optional(uint8_t type)
{
	return (type & D9_OPTIONAL) != 0;
}

static inline bool
d9_type_known(uint8_t type)
{
	return d9_type(type)->shape != D9_SHAPE_UNKNOWN;
}

/* Bytes of each value; 0: they vary, or are not known. */
static inline uint32_t
d9_fixed_size(uint8_t type)
{
	const struct d9_type_info *const t = d9_type(type);

	return t->shape <= D9_SHAPE_ID && !d9_is_optional(type) ? t->size : 0;
}

static inline bool
d9_is_integer(uint8_t type)
{
	const struct d9_type_info *const t = d9_type(type);

	return t->shape == D9_SHAPE_LEB128 || (t->shape == D9_SHAPE_FIXED && t != &d9_types[D9_F64]);
}

/* Elements of lists and maps are never optional. */
static inline bool
d9_is_element_type(uint8_t type)
{
	return type < D9_TYPES && d9_types[type].shape != D9_SHAPE_UNKNOWN;
}

static inline const char *
d9_type_name(uint8_t type)
{
	return d9_type(type)->names[d9_is_optional(type)];
}

#endif
