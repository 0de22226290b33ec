#ifndef HTDUMP_VALUE_H
#define HTDUMP_VALUE_H

#include "htdump/plan.h"
#include "htdump/state.h"

/* Values of the leaves of the present record. */

static inline struct slice
ht_leaf_string(const struct ht_state *st, const struct ht_leaf *l)
{
	return st->strings[l->run];
}

/* The value of an integer leaf (or the bits of a double), signed ones sign-extended. */
static inline uint64_t
ht_leaf_integer(const struct ht_state *st, const struct ht_leaf *l)
{
	const char *const p = st->starts[l->run] + l->at;

	switch (l->value) {
	case VALUE_U8:
		return (uint8_t)*p;
	case VALUE_I8:
		return (uint64_t)(int64_t)(int8_t)*p;
	case VALUE_U16:
		return load_u16(p, st->big);
	case VALUE_I16:
		return (uint64_t)(int64_t)(int16_t)load_u16(p, st->big);
	case VALUE_U32:
		return load_u32(p, st->big);
	case VALUE_I32:
		return (uint64_t)(int64_t)(int32_t)load_u32(p, st->big);
	default:
		return load_u64(p, st->big);
	}
}

/* A float as a double, bit by bit where the processor would make another NaN of it. */
double ht_widened(uint32_t bits);

static inline struct value
ht_leaf_value(const struct ht_state *st, const struct ht_leaf *l)
{
	const char *const p = st->starts[l->run] + l->at;
	struct value v = { .type = l->value };

	switch (l->value) {
	case VALUE_STRING:
		return value_string(ht_leaf_string(st, l));
	case VALUE_BYTES:
		v.p = p;
		v.count = l->size;
		return v;
	case VALUE_ADDRESS:
		v.u64 = l->size == 4 ? load_u32(p, st->big) : load_u64(p, st->big);
		return v;
	case VALUE_F32:
		v.f64 = ht_widened(load_u32(p, st->big));
		return v;
	default: /* integers, and a double's bits */
		v.u64 = ht_leaf_integer(st, l);
		return v;
	}
}

#endif
