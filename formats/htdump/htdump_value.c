#include "htdump/htdump_state.h"

/* A float as a double, bit by bit where the processor would make another NaN of it. */
static double
widened(uint32_t bits)
{
	const uint64_t sign = (uint64_t)(bits >> 31) << 63, mantissa = bits & 0x7fffff;
	const uint64_t nan = sign | UINT64_C(0x7ff) << 52 | mantissa << 29;
	double d;
	float f;

	if ((bits >> 23 & 0xff) == 0xff) {
		memcpy(&d, &nan, sizeof d);
		return d;
	}
	memcpy(&f, &bits, sizeof f);
	return (double)f;
}

struct value
ht_leaf_value(const struct ht_state *st, const struct ht_leaf *l)
{
	struct value v = { .type = l->value };

	switch (l->value) {
	case VALUE_STRING:
		return value_string(ht_leaf_string(st, l));
	case VALUE_BYTES:
		v.p = st->starts[l->step] + l->at;
		v.count = l->size;
		return v;
	case VALUE_ADDRESS:
		v.u64 = l->size == 4 ? load_u32(st->starts[l->step] + l->at, st->big)
		                     : load_u64(st->starts[l->step] + l->at, st->big);
		return v;
	case VALUE_F32:
		v.f64 = widened(load_u32(st->starts[l->step] + l->at, st->big));
		return v;
	default: /* integers, and a double's bits */
		v.u64 = ht_leaf_integer(st, l);
		return v;
	}
}
