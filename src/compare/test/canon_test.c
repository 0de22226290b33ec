/* Values whose canonical hashes are equal, or differ. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "compare/compare.h"
#include "model/value.h"

#define NUMBER(t, n) ((struct value){ .type = VALUE_##t, .u64 = (uint64_t)(n) })
#define FLOAT(t, d) ((struct value){ .type = VALUE_##t, .f64 = (d) })
#define TEXT(s) value_string(slice_of(s, sizeof(s) - 1))
#define RAW(t, s) ((struct value){ .type = VALUE_##t, .count = sizeof(s) - 1, .p = (s) })
#define JSON(s) RAW(JSON, s)
#define OF(t, n, ...)                                                                                        \
	((struct value){ .type = VALUE_##t, .count = (n), .values = (struct value[]){ __VA_ARGS__ } })

static struct wide_hash hash(struct value v)
{
	struct canon c = { .scratch = { .head = NULL } };
	const struct wide_hash h = canon_value(&c, &v);

	cr_assert(!c.scratch.failed);
	canon_free(&c);
	return h;
}

#define EXPECT_SAME(x, y) cr_expect(wide_hash_equal(hash(x), hash(y)), "%s and %s", #x, #y)
#define EXPECT_OTHER(x, y) cr_expect(!wide_hash_equal(hash(x), hash(y)), "%s and %s", #x, #y)

Test(canon, numbers_count_by_their_value)
{
	EXPECT_SAME(NUMBER(U8, 7), NUMBER(U64, 7));
	EXPECT_SAME(NUMBER(I64, 7), NUMBER(U16, 7));
	EXPECT_SAME(NUMBER(ADDRESS, 7), NUMBER(U32, 7));
	EXPECT_SAME(NUMBER(BOOL, 1), NUMBER(U32, 1));
	EXPECT_SAME(FLOAT(F64, 7.0), NUMBER(U32, 7));
	EXPECT_SAME(FLOAT(F64, -0.0), NUMBER(I8, 0));
	EXPECT_SAME(FLOAT(F32, (double)0.1f), FLOAT(F64, 0.1));
	EXPECT_SAME(FLOAT(F64, -9223372036854775808.0), NUMBER(I64, INT64_MIN));
	EXPECT_SAME(FLOAT(F64, (double)NAN), FLOAT(F32, -(double)NAN));
	EXPECT_SAME(FLOAT(F32, (double)123456789.0f), FLOAT(F64, 1.2345679e8));
	EXPECT_OTHER(FLOAT(F64, (double)0.1f), FLOAT(F64, 0.1));
	EXPECT_OTHER(NUMBER(I64, -1), NUMBER(U64, UINT64_MAX));
	EXPECT_OTHER(NUMBER(I64, -1), NUMBER(I64, 1));
	EXPECT_OTHER(NUMBER(U64, 0), (struct value){ .type = VALUE_NONE });
	EXPECT_OTHER(FLOAT(F64, (double)INFINITY), FLOAT(F64, -(double)INFINITY));
	EXPECT_OTHER(FLOAT(F64, (double)NAN), TEXT("NaN"));
	EXPECT_OTHER(FLOAT(F64, 0x1p64), NUMBER(U64, 0));
}

Test(canon, text_of_numbers_that_outputs_write_so)
{
	EXPECT_SAME(NUMBER(U64, UINT64_MAX), TEXT("18446744073709551615"));
	EXPECT_SAME(NUMBER(I64, INT64_MIN), TEXT("-9223372036854775808"));
	EXPECT_SAME(NUMBER(U64, 9007199254740992), TEXT("9007199254740992"));
	EXPECT_SAME(NUMBER(ADDRESS, 0x1f), TEXT("0x1f"));
	EXPECT_SAME(RAW(BYTES, "\x00\xff"), TEXT("0x00ff"));
	EXPECT_SAME(RAW(BYTES, "\xff\x01"), NUMBER(ADDRESS, 0xff01));
	EXPECT_SAME(RAW(BYTES, ""), TEXT("0x"));
	EXPECT_SAME(RAW(BYTES, "0123456789012345678901234567890123456789"),
	            TEXT("0x3031323334353637383930313233343536373839303132333435363738393031323334353637"
	                 "3839"));
	EXPECT_OTHER(NUMBER(U64, 9007199254740991), TEXT("9007199254740991"));
	EXPECT_OTHER(NUMBER(U64, 7), TEXT("7"));
	EXPECT_OTHER(TEXT("0x01"), TEXT("0x1"));
	EXPECT_OTHER(TEXT("0X1f"), TEXT("0x1f"));
	EXPECT_OTHER(TEXT("18446744073709551616"), NUMBER(U64, 0));
	EXPECT_OTHER(TEXT("-9223372036854775809"), NUMBER(I64, INT64_MIN));
}

Test(canon, texts_count_by_their_bytes)
{
	EXPECT_OTHER(TEXT("a"), TEXT("a\0"));
	EXPECT_OTHER(TEXT(""), (struct value){ .type = VALUE_NONE });
	EXPECT_OTHER(TEXT("12345678"), TEXT("12345678\0"));
	EXPECT_OTHER(TEXT("abcdefgh"), TEXT("abcdefgi"));
	EXPECT_SAME(TEXT("\xff"), TEXT("\xff"));
}

Test(canon, json_counts_as_what_it_says)
{
	const struct value list = OF(LIST, 3, NUMBER(U8, 1), TEXT("x"), FLOAT(F64, 0.5));
	const struct value map = OF(MAP, 2, TEXT("a"), NUMBER(I8, -1), TEXT("b"), list);
	const struct value pairs = OF(MAP, 1, NUMBER(U8, 1), TEXT("x"));

	EXPECT_SAME(list, JSON(" [1, \"\\u0078\", 5e-1] "));
	EXPECT_SAME(map, JSON("{\"b\":[1,\"x\",0.5],\"\\u0061\":-1}"));
	EXPECT_SAME(pairs, JSON("[[1,\"x\"]]"));
	EXPECT_SAME(JSON("{}"), OF(MAP, 0, NUMBER(U8, 0)));
	EXPECT_SAME(JSON("null"), (struct value){ .type = VALUE_NONE });
	EXPECT_SAME(JSON("true"), NUMBER(BOOL, 1));
	EXPECT_SAME(JSON("\"0x1f\""), NUMBER(ADDRESS, 0x1f));
	EXPECT_OTHER(JSON("[1,2]"), JSON("[2,1]"));
	EXPECT_OTHER(JSON("[[1],2]"), JSON("[[1,2]]"));
	EXPECT_OTHER(JSON("[]"), JSON("{}"));
	EXPECT_OTHER(JSON("[null]"), JSON("[]"));
	EXPECT_OTHER(JSON("{\"a\":1,\"b\":2}"), JSON("{\"a\":2,\"b\":1}"));
	EXPECT_OTHER(JSON("{\"a\":{\"b\":1}}"), JSON("{\"a\":{},\"b\":1}"));
	EXPECT_SAME(JSON("[1"), TEXT("[1"));
}

/* Brackets beyond the depth are null: neither memory nor stack grows with them. */
Test(canon, depth_is_bounded)
{
	struct value nested[300], map = OF(LIST, 1, NUMBER(U8, 1));
	char text[600], other[600];

	for (int i = 0; i < 300; i++) {
		nested[i] =
		    (struct value){ .type = VALUE_LIST, .count = 1, .values = i > 0 ? &nested[i - 1] : &map };
		text[i] = other[i] = '[';
		text[300 + i] = other[300 + i] = ']';
	}
	other[299] = '{';
	other[300] = '}';
	cr_expect(wide_hash_equal(hash((struct value){ .type = VALUE_JSON, .count = 200, .p = text + 200 }),
	                          hash((struct value){ .type = VALUE_JSON, .count = 200, .p = text + 200 })));
	EXPECT_OTHER(((struct value){ .type = VALUE_JSON, .count = 20, .p = text + 290 }),
	             ((struct value){ .type = VALUE_JSON, .count = 20, .p = other + 290 }));
	hash(nested[299]);
}
