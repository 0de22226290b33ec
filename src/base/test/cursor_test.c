#include "base/cursor.h"

#include <criterion/criterion.h>

static const char bytes[] = "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0fnext";

struct record {
	uint8_t a;
	uint16_t b;
	uint32_t c;
	uint64_t d;
	struct slice e;
};

static struct record read_record(struct cursor *c)
{
	struct record r;

	r.a = cursor_u8(c, "a");
	r.b = cursor_u16(c, "b");
	r.c = cursor_u32(c, "c");
	r.d = cursor_u64(c, "d");
	r.e = cursor_take(c, 4, "e");
	return r;
}

Test(cursor, both_byte_orders)
{
	struct cursor big = cursor_on(bytes, bytes + 19, true), little = cursor_on(bytes, bytes + 19, false);
	const struct record b = read_record(&big), l = read_record(&little);

	cr_assert_null(big.missing);
	cr_assert_null(little.missing);
	cr_assert_eq(b.a, 1);
	cr_assert_eq(b.b, 0x0203);
	cr_assert_eq(b.c, 0x04050607);
	cr_assert_eq(b.d, UINT64_C(0x08090a0b0c0d0e0f));
	cr_assert_eq(l.a, 1);
	cr_assert_eq(l.b, 0x0302);
	cr_assert_eq(l.c, 0x07060504);
	cr_assert_eq(l.d, UINT64_C(0x0f0e0d0c0b0a0908));
	cr_assert(slice_is(b.e, "next"));
	cr_assert_eq(b.e.p, bytes + 15);
	cr_assert_eq(cursor_left(&big), 0);
}

/* The memory ends with the input, so that a sanitizer sees reads after it. */
Test(cursor, cut_at_each_byte)
{
	static const struct {
		size_t from, to;
		const char *name;
	} fields[] = { { 0, 1, "a" }, { 1, 3, "b" }, { 3, 7, "c" }, { 7, 15, "d" }, { 15, 19, "e" } };

	for (size_t n = 0; n < 19; n++) {
		size_t k = 0;
		char *p = malloc(n == 0 ? 1 : n);
		memcpy(p, bytes, n);
		while (fields[k].to <= n)
			k++;

		struct cursor c = cursor_on(p, p + n, false);
		const struct record r = read_record(&c);
		cr_assert_str_eq(c.missing, fields[k].name);
		cr_assert_eq(c.missing_bytes, fields[k].to - n);
		cr_assert_eq(c.p, p + fields[k].from);
		cr_assert(k > 0 || r.a == 0);
		cr_assert(k > 1 || r.b == 0);
		cr_assert(k > 2 || r.c == 0);
		cr_assert(k > 3 || r.d == 0);
		cr_assert_null(r.e.p);
		cr_assert_eq(r.e.n, 0);
		free(p);
	}
}

/* After the first failure all reads fail, also those that would fit. */
Test(cursor, the_first_failure_sticks)
{
	struct cursor c = cursor_on(bytes, bytes + 3, true);

	cr_assert_eq(cursor_u32(&c, "first"), 0);
	cr_assert_eq(cursor_u8(&c, "second"), 0);
	cr_assert_not(cursor_has(&c, 0, "third"));
	cr_assert_str_eq(c.missing, "first");
	cr_assert_eq(c.missing_bytes, 1);
	cr_assert_eq(c.p, bytes);
}

Test(cursor, lengths_of_any_size)
{
	struct cursor c = cursor_on(bytes, bytes + 4, false);

	cr_assert_not(cursor_has(&c, UINT64_MAX, "all"));
	cr_assert_eq(c.missing_bytes, UINT64_MAX - 4);
	c = cursor_on(bytes, bytes + 4, false);
	cr_assert_null(cursor_take(&c, UINT32_MAX, "much").p);
	c = cursor_on(bytes, bytes, false);
	cr_assert(cursor_has(&c, 0, "nothing"));
	cr_assert_eq(cursor_take(&c, 0, "nothing").p, bytes);
	cr_assert_null(c.missing);
}
