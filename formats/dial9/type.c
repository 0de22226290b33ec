#include "dial9/type.h"

#include "format/format.h"

#define NAMES(name)                                                                                          \
	{                                                                                                    \
		name, "optional " name                                                                       \
	}

const struct d9_type_info d9_types[D9_TYPES] = {
	[0] = { .names = { "unknown", "unknown" }, .shape = D9_SHAPE_UNKNOWN },
	[D9_I64] = { NAMES("I64"), "value", D9_SHAPE_FIXED, 8, .value = VALUE_I64 },
	[D9_F64] = { NAMES("F64"), "value", D9_SHAPE_FIXED, 8, .value = VALUE_F64 },
	[D9_BOOL] = { NAMES("Bool"), "Bool", D9_SHAPE_BOOL, 1, .value = VALUE_BOOL },
	[D9_STRING] = { NAMES("String"), "string length", D9_SHAPE_TEXT, 1, .value = VALUE_STRING },
	[D9_BYTES] = { NAMES("Bytes"), "bytes length", D9_SHAPE_RUN, 1, .value = VALUE_BYTES },
	[D9_POOLED_STACK] = { NAMES("PooledStackFrames"), "pool_id", D9_SHAPE_ID, 4, .pool = D9_STACKS,
	                      .value = VALUE_U32, .newer = "field type 6 (PooledStackFrames)" },
	[D9_POOLED_STRING] = { NAMES("PooledString"), "pool_id", D9_SHAPE_ID, 4, .pool = D9_STRINGS,
	                       .value = VALUE_U32 },
	[D9_STACK] = { NAMES("StackFrames"), "frame count", D9_SHAPE_RUN, 8, .value = VALUE_LIST },
	[D9_VARINT] = { NAMES("Varint"), "LEB128 number", D9_SHAPE_LEB128, 0, .value = VALUE_U64 },
	[D9_STRING_MAP] = { NAMES("StringMap"), "map count", D9_SHAPE_VALUES, 8, 2, .value = VALUE_MAP },
	[D9_U8] = { NAMES("U8"), "U8", D9_SHAPE_FIXED, 1, .value = VALUE_U8 },
	[D9_U16] = { NAMES("U16"), "U16", D9_SHAPE_FIXED, 2, .value = VALUE_U16 },
	[D9_U32] = { NAMES("U32"), "U32", D9_SHAPE_FIXED, 4, .value = VALUE_U32 },
	[D9_LIST] = { NAMES("DynamicList"), "list count", D9_SHAPE_VALUES, 2, 1, .tagged = true,
	              .value = VALUE_LIST, .newer = "field type 14 (DynamicList)" },
	[D9_MAP] = { NAMES("DynamicMap"), "map count", D9_SHAPE_VALUES, 4, 2, .tagged = true,
	             .value = VALUE_MAP, .newer = "field type 15 (DynamicMap)" },
};
