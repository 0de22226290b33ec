#ifndef OUT_TYPES_H
#define OUT_TYPES_H

#include <string.h>

#include "model/event.h"

/* Types of values: their names in the output, and conversions. */

#define VALUE_TYPES (VALUE_JSON + 1)

static inline const char *value_type_name(unsigned type)
{
	static const char *const names[VALUE_TYPES] = {
		[VALUE_NONE] = "none",       [VALUE_BOOL] = "bool",     [VALUE_U8] = "u8",
		[VALUE_U16] = "u16",         [VALUE_U32] = "u32",       [VALUE_U64] = "u64",
		[VALUE_I8] = "i8",           [VALUE_I16] = "i16",       [VALUE_I32] = "i32",
		[VALUE_I64] = "i64",         [VALUE_F32] = "f32",       [VALUE_F64] = "f64",
		[VALUE_ADDRESS] = "address", [VALUE_STRING] = "string", [VALUE_BYTES] = "bytes",
		[VALUE_LIST] = "list",       [VALUE_MAP] = "map",       [VALUE_JSON] = "json",
	};

	return names[type];
}

/* Returns VALUE_TYPES if no type has the name. */
static inline unsigned value_type_named(struct slice name)
{
	unsigned type = 0;

	while (type < VALUE_TYPES && !slice_is(name, value_type_name(type)))
		type++;
	return type;
}

/* Returns the bits of the float that an F32 was converted from.  NaNs are converted in software, as
 * processors make signalling NaNs quiet. */
static inline uint32_t value_f32_bits(double d)
{
	const float f = (float)d;
	uint64_t bits;
	uint32_t narrow;

	memcpy(&bits, &d, sizeof bits);
	memcpy(&narrow, &f, sizeof narrow);
	if (d != d) {
		const uint32_t payload = (uint32_t)(bits >> 29 & 0x7fffff);
		narrow = (uint32_t)(bits >> 63 << 31) | 0x7f800000U | (payload != 0 ? payload : 0x400000U);
	}
	return narrow;
}

#endif
