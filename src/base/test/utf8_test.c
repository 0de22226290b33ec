#include "base/scan.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* RFC 3629, section 4, written down row by row. */
static const struct row {
	unsigned char size, low[4], high[4];
} rows[] = {
	{ 1, { 0x00 }, { 0x7f } },
	{ 2, { 0xc2, 0x80 }, { 0xdf, 0xbf } },
	{ 3, { 0xe0, 0xa0, 0x80 }, { 0xe0, 0xbf, 0xbf } },
	{ 3, { 0xe1, 0x80, 0x80 }, { 0xec, 0xbf, 0xbf } },
	{ 3, { 0xed, 0x80, 0x80 }, { 0xed, 0x9f, 0xbf } },
	{ 3, { 0xee, 0x80, 0x80 }, { 0xef, 0xbf, 0xbf } },
	{ 4, { 0xf0, 0x90, 0x80, 0x80 }, { 0xf0, 0xbf, 0xbf, 0xbf } },
	{ 4, { 0xf1, 0x80, 0x80, 0x80 }, { 0xf3, 0xbf, 0xbf, 0xbf } },
	{ 4, { 0xf4, 0x80, 0x80, 0x80 }, { 0xf4, 0x8f, 0xbf, 0xbf } },
};

/* The number of bytes at p that match the row. */
static size_t agreeing(const struct row *r, const unsigned char *p, size_t n)
{
	size_t i = 0;

	while (i < n && i < r->size && p[i] >= r->low[i] && p[i] <= r->high[i])
		i++;
	return i;
}

static size_t slow_valid_prefix(const unsigned char *p, size_t n)
{
	size_t i = 0, step;

	do {
		step = 0;
		for (size_t k = 0; k < sizeof rows / sizeof rows[0] && step == 0; k++)
			if (agreeing(&rows[k], p + i, n - i) == rows[k].size)
				step = rows[k].size;
		i += step;
	} while (step != 0 && i < n);
	return i;
}

static size_t slow_invalid_run(const unsigned char *p, size_t n)
{
	size_t best = 1;

	for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
		const size_t m = agreeing(&rows[k], p, n);
		if (m > best)
			best = m;
	}
	return best;
}

static void compare(const unsigned char *p, size_t n)
{
	const size_t valid = slow_valid_prefix(p, n);
	size_t size = 1;

	while (size <= n && slow_valid_prefix(p, size) != size)
		size++;
	if (n > 0 && utf8_size((const char *)p, n) != (size <= n ? size : 0))
		cr_assert_fail("size: %02x %02x %02x %02x, %zu bytes", p[0], p[1], p[2], p[3], n);
	if (utf8_valid_prefix((const char *)p, n) != valid)
		cr_assert_fail("%02x %02x %02x %02x, %zu bytes", p[0], p[1], p[2], p[3], n);
	if (valid < n &&
	    utf8_invalid_run((const char *)p + valid, n - valid) != slow_invalid_run(p + valid, n - valid))
		cr_assert_fail("run: %02x %02x %02x %02x, %zu bytes", p[0], p[1], p[2], p[3], n);
}

Test(utf8, all_of_one_and_two_bytes)
{
	for (unsigned v = 0; v < 0x10000; v++) {
		const unsigned char p[4] = { (unsigned char)(v >> 8), (unsigned char)v, 0, 0 };
		compare(p, 1);
		compare(p, 2);
	}
}

Test(utf8, all_of_three_bytes)
{
	for (unsigned v = 0; v < 0x1000000; v++) {
		const unsigned char p[4] = { (unsigned char)(v >> 16), (unsigned char)(v >> 8),
			                     (unsigned char)v, 0 };
		/* After a byte of ASCII, the other two were compared by the test before this. */
		if (p[0] >= 0x80)
			compare(p, 3);
	}
}

/* Bytes from the borders of the table, so that most trials go beyond the first byte. */
Test(utf8, four_bytes_at_random)
{
	static const unsigned char tail[] = { 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0 };

	for (unsigned lead = 0xe0; lead <= 0xff; lead++)
		for (unsigned i = 0; i < 512; i++) {
			const unsigned char p[4] = { (unsigned char)lead, tail[i & 7], tail[i >> 3 & 7],
				                     tail[i >> 6] };
			compare(p, 4);
		}
	srand(1);
	for (unsigned i = 0; i < 300000; i++) {
		const unsigned char p[4] = { (unsigned char)(0xf0 | (rand() >> 8 & 7)),
			                     (unsigned char)(rand() >> 8),
			                     (unsigned char)(0x80 | (rand() >> 8 & 0x7f)),
			                     (unsigned char)(0x80 | (rand() >> 8 & 0x7f)) };
		compare(p, 4);
	}
}

/* A fault at each position among ASCII and among characters of two to four bytes; cut at each length. */
Test(utf8, longer_text)
{
	static const char sample[] =
	    "plain text, h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 and then some more ASCII";
	unsigned char p[sizeof sample];

	for (size_t n = 0; n < sizeof sample; n++) {
		memcpy(p, sample, sizeof sample);
		compare(p, n);
		for (unsigned c = 0x80; n > 4 && c <= 0xff; c++) {
			memcpy(p, sample, sizeof sample);
			p[n - 1] = (unsigned char)c;
			compare(p, sizeof sample - 1);
		}
	}
	cr_assert(utf8_valid(sample, sizeof sample - 1));
	cr_assert(utf8_valid("", 0));
	cr_assert(utf8_valid(NULL, 0));
}

/* The example of the Unicode standard, table 3-8. */
Test(utf8, maximal_subparts_of_the_standard)
{
	static const char bytes[] = "\x61\xf1\x80\x80\xe1\x80\xc2\x62\x80\x63\x80\xbf\x64";
	static const size_t runs[] = { 3, 2, 1, 1, 1, 1 };
	const size_t n = sizeof bytes - 1;
	size_t k = 0;

	for (size_t i = utf8_valid_prefix(bytes, n); i < n; i += utf8_valid_prefix(bytes + i, n - i)) {
		cr_assert_lt(k, sizeof runs / sizeof runs[0]);
		cr_assert_eq(utf8_invalid_run(bytes + i, n - i), runs[k]);
		i += runs[k++];
	}
	cr_assert_eq(k, sizeof runs / sizeof runs[0]);
}

Test(utf8, cut_between_characters)
{
	static const char text[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
	static const size_t cuts[] = { 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10 };

	for (size_t max = 0; max < sizeof cuts / sizeof cuts[0]; max++)
		cr_expect_eq(utf8_cut(text, sizeof text - 1, max), cuts[max], "%zu", max);
	/* not a character: cut anyway */
	cr_expect_geq(utf8_cut("\x80\x80\x80\x80\x80\x80\x80", 7, 5), 2);
}
