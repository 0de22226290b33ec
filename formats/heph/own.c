#include "heph/own.h"

const struct slice heph_own_kinds[HEPH_OWN_KINDS] = {
	[HEPH_OWN_SPAN] = SLICE_LIT("span"),           [HEPH_OWN_ASYNC] = SLICE_LIT("async span"),
	[HEPH_OWN_BEGIN] = SLICE_LIT("begin"),         [HEPH_OWN_END] = SLICE_LIT("end"),
	[HEPH_OWN_INSTANT] = SLICE_LIT("instant"),     [HEPH_OWN_COUNTER] = SLICE_LIT("counter"),
	[HEPH_OWN_ARROW_OUT] = SLICE_LIT("arrow out"), [HEPH_OWN_ARROW_IN] = SLICE_LIT("arrow in"),
	[HEPH_OWN_ARROW_STEP] = SLICE_LIT("arrow step"),
};

const struct slice heph_own_types[VALUE_JSON + 1] = {
	[VALUE_NONE] = SLICE_LIT("none"),       [VALUE_BOOL] = SLICE_LIT("bool"),
	[VALUE_U8] = SLICE_LIT("u8"),           [VALUE_U16] = SLICE_LIT("u16"),
	[VALUE_U32] = SLICE_LIT("u32"),         [VALUE_U64] = SLICE_LIT("u64"),
	[VALUE_I8] = SLICE_LIT("i8"),           [VALUE_I16] = SLICE_LIT("i16"),
	[VALUE_I32] = SLICE_LIT("i32"),         [VALUE_I64] = SLICE_LIT("i64"),
	[VALUE_F32] = SLICE_LIT("f32"),         [VALUE_F64] = SLICE_LIT("f64"),
	[VALUE_ADDRESS] = SLICE_LIT("address"), [VALUE_STRING] = SLICE_LIT("string"),
	[VALUE_BYTES] = SLICE_LIT("bytes"),     [VALUE_LIST] = SLICE_LIT("list"),
	[VALUE_MAP] = SLICE_LIT("map"),         [VALUE_JSON] = SLICE_LIT("json"),
};
