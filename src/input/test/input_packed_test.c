#define _GNU_SOURCE /* mkstemp, truncate, pthread_setattr_default_np */
#include "input/open.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>

#include "input/test/samples.h"
#include "test/support/strength.h"

/* Unpacked bytes, and reports of damage: gzip, zstd and xz. */

TestSuite(input_packed, .init = samples_begin, .fini = samples_end);

static void expect(const struct bytes *packed, const struct bytes *text, size_t n, enum input_fault fault)
{
	struct input *in = input_open(write_file(packed));
	size_t got;

	cr_assert_not_null(in);
	if (n > 0)
		cr_expect_eq(in->fault, INPUT_OK, "at first: %s", in->fault_text);
	got = read_all(in, text);
	cr_expect_eq(got, n, "%zu of %zu bytes, %s", got, n, in->fault_text);
	cr_expect_eq(in->fault, fault, "fault %d: %s", (int)in->fault, in->fault_text);
	if (fault != INPUT_OK)
		cr_expect_eq(in->fault_offset, n);
	cr_expect_eq(input_file_size(in), packed->n);
	input_close(in);
}

Test(input_packed, gzip_of_all_kinds)
{
	struct bytes text = { 0 }, packed = { 0 };

	put_text(&text, 3 << 20, 1);
	for (uint32_t level = 0; level <= 3; level++) {
		packed.n = 0;
		put_gzip(&packed, text.p, text.n, level);
		expect(&packed, &text, text.n, INPUT_OK);
	}
	packed.n = 0;
	put_gzip_stored(&packed, text.p, text.n);
	expect(&packed, &text, text.n, INPUT_OK);
	packed.n = 0;
	put_gzip_with_fields(&packed, text.p, text.n);
	expect(&packed, &text, text.n, INPUT_OK);
	free(text.p);
	free(packed.p);
}

/* A stack of 2^46 bytes cannot be mapped, so no thread starts, as beyond `ulimit -u`. */
Test(input_packed, without_a_thread)
{
	struct bytes text = { 0 }, packed = { 0 };
	pthread_attr_t attr;

	cr_assert_eq(pthread_attr_init(&attr), 0);
	cr_assert_eq(pthread_attr_setstacksize(&attr, (size_t)1 << 46), 0);
	cr_assert_eq(pthread_setattr_default_np(&attr), 0);
	put_text(&text, 3 << 20, 1);
	put_gzip(&packed, text.p, text.n, 1);
	expect(&packed, &text, text.n, INPUT_OK);
	packed.n -= 9; /* the end of the data, and the sum */
	struct input *const in = input_open(write_file(&packed));
	cr_assert_leq(read_all(in, &text), text.n);
	cr_expect_eq(in->fault, INPUT_CUT, "fault %d: %s", (int)in->fault, in->fault_text);
	input_close(in);
	input_close(input_open(write_file(&packed))); /* before all is unpacked */
	(void)pthread_attr_destroy(&attr);
	free(text.p);
	free(packed.p);
}

Test(input_packed, gzip_of_many_members)
{
	struct bytes text = { 0 }, packed = { 0 };
	uint64_t seed = 9;

	put_text(&text, 6 << 20, 2);
	for (size_t at = 0; at < text.n;) {
		size_t n = random_next(&seed) % 20000;

		if (n > text.n - at)
			n = text.n - at;
		switch (random_next(&seed) % 4) {
		case 0:
			put_gzip_stored(&packed, text.p + at, n);
			break;
		case 1:
			put_gzip_with_fields(&packed, text.p + at, n);
			break;
		case 2:
			put_gzip(&packed, "", 0, 1);
			n = 0;
			break;
		default:
			put_gzip(&packed, text.p + at, n, (uint32_t)(n % 4));
			break;
		}
		at += n;
	}
	expect(&packed, &text, text.n, INPUT_OK);
	put(&packed, (char[600]){ 0 }, 600);
	expect(&packed, &text, text.n, INPUT_OK);
	put(&packed, "x", 1);
	expect(&packed, &text, text.n, INPUT_TRAILING);
	free(text.p);
	free(packed.p);
}

Test(input_packed, trailing_bytes)
{
	static const char *const junk[] = { "x", "\x1e\x8b", "\x1fx", "junk and more of it" };
	struct bytes text = { 0 }, packed = { 0 };

	put_text(&text, 1000, 3);
	for (size_t i = 0; i < 4; i++)
		for (int zstd = 0; zstd < 2; zstd++) {
			struct input *in;

			packed.n = 0;
			if (zstd)
				put_zstd(&packed, text.p, text.n, 3);
			else
				put_gzip(&packed, text.p, text.n, 1);
			put(&packed, junk[i], strlen(junk[i]));
			expect(&packed, &text, 1000, INPUT_TRAILING);
			in = input_open(sample_path);
			cr_expect_eq(in->packing, zstd ? INPUT_ZSTD : INPUT_GZIP);
			cr_expect_eq(input_drain(in), 1000);
			cr_expect_not_null(strstr(in->fault_text, zstd ? "not zstd" : "not gzip"), "%s",
			                   in->fault_text);
			input_close(in);
		}
	free(text.p);
	free(packed.p);
}

Test(input_packed, nothing_inside)
{
	struct bytes packed = { 0 }, text = { 0 };

	put_text(&text, 1, 1);
	put_gzip(&packed, "", 0, 1);
	put_gzip(&packed, "", 0, 2);
	expect(&packed, &text, 0, INPUT_EMPTY);
	packed.n = 0;
	put_zstd(&packed, "", 0, 1);
	expect(&packed, &text, 0, INPUT_EMPTY);
	free(packed.p);
	free(text.p);
}

Test(input_packed, not_unpacked_twice)
{
	struct bytes text = { 0 }, once = { 0 }, twice = { 0 };

	put_text(&text, 5000, 4);
	put_gzip(&once, text.p, text.n, 1);
	put_gzip(&twice, once.p, once.n, 1);
	expect(&twice, &once, once.n, INPUT_OK);
	free(text.p);
	free(once.p);
	free(twice.p);
}

/* In `make test`, at every third byte. */
static void cut_everywhere(const struct bytes *packed, const struct bytes *text, size_t first)
{
	size_t last = 0;

	for (size_t n = first; n < packed->n; n += strength(3, 1, 1)) {
		struct input *in = input_open(write_file(&(struct bytes){ .p = packed->p, .n = n }));
		const size_t got = read_all(in, text);
		char where[64];

		cr_assert_eq(in->fault, INPUT_CUT, "%zu: %d %s", n, (int)in->fault, in->fault_text);
		snprintf(where, sizeof where, "ends early at packed byte %zu", n);
		cr_assert_not_null(strstr(in->fault_text, where), "%s: %s", where, in->fault_text);
		cr_assert_geq(got, last); /* more packed bytes never result in fewer */
		last = got;
		input_close(in);
	}
}

Test(input_packed, cut_at_every_byte)
{
	struct bytes text = { 0 }, packed = { 0 };

	put_text(&text, 900, 5);
	put_gzip_with_fields(&packed, text.p, text.n);
	cut_everywhere(&packed, &text, 3);
	packed.n = 0;
	put_gzip_stored(&packed, text.p, text.n);
	cut_everywhere(&packed, &text, 3);
	packed.n = 0;
	put_zstd(&packed, text.p, text.n, 3);
	cut_everywhere(&packed, &text, 4);
	free(text.p);
	free(packed.p);
}

/* Cut within the second member or frame; before its first byte nothing is missing. */
Test(input_packed, cut_in_the_second_member)
{
	struct bytes text = { 0 }, packed = { 0 };

	put_text(&text, 300, 6);
	for (int zstd = 0; zstd < 2; zstd++) {
		size_t border = 0;

		packed.n = 0;
		for (int i = 0; i < 2; i++) {
			border = packed.n;
			if (zstd)
				put_zstd(&packed, text.p + i * 150, 150, 3);
			else
				put_gzip(&packed, text.p + i * 150, 150, 1);
		}
		expect(&(struct bytes){ .p = packed.p, .n = border }, &text, 150, INPUT_OK);
		cut_everywhere(&packed, &text, border + 1);
		expect(&packed, &text, 300, INPUT_OK);
	}
	free(text.p);
	free(packed.p);
}

/* Returns the number of bits whose change is detected; in `make test`, of every fifth bit. */
static size_t flip_everywhere(const struct bytes *packed, const struct bytes *text)
{
	size_t faults = 0;

	for (size_t bit = 0; bit < packed->n * 8; bit += strength(5, 1, 1)) {
		struct input *in;
		bool same;

		packed->p[bit / 8] = (char)(packed->p[bit / 8] ^ (1 << bit % 8));
		in = input_open(write_file(packed));
		packed->p[bit / 8] = (char)(packed->p[bit / 8] ^ (1 << bit % 8));
		if (in->packing != INPUT_PLAIN) {
			(void)input_need(in, text->n + 1);
			same = (size_t)(in->end - in->p) == text->n && memcmp(in->p, text->p, text->n) == 0;
			(void)input_drain(in);
			cr_assert(in->fault != INPUT_OK || same, "bit %zu is not noticed", bit);
			cr_assert((in->fault == INPUT_OK) == (in->fault_text[0] == '\0'));
			faults += in->fault != INPUT_OK;
		}
		input_close(in);
	}
	return faults * strength(5, 1, 1);
}

Test(input_packed, every_bit_changed)
{
	struct bytes text = { 0 }, packed = { 0 };

	put_text(&text, 300, 7);
	put_gzip_with_fields(&packed, text.p, 150);
	put_gzip(&packed, text.p + 150, 150, 1);
	cr_expect_gt(flip_everywhere(&packed, &text), packed.n * 7);
	packed.n = 0;
	put_zstd(&packed, text.p, 150, 3);
	put_zstd(&packed, text.p + 150, 150, 3);
	cr_expect_gt(flip_everywhere(&packed, &text), packed.n * 7);
	free(text.p);
	free(packed.p);
}

Test(input_packed, wrong_checksum_and_length)
{
	struct bytes text = { 0 }, packed = { 0 };

	put_text(&text, 2 << 20, 8);
	for (size_t from_end = 1; from_end <= 8; from_end++) {
		packed.n = 0;
		put_gzip(&packed, text.p, text.n, 1);
		packed.p[packed.n - from_end] ^= 0x10;
		expect(&packed, &text, text.n, INPUT_CORRUPT);
	}
	free(text.p);
	free(packed.p);
}

Test(input_packed, zstd_of_all_kinds)
{
	static const int levels[] = { -5, 1, 3, 12 };
	struct bytes text = { 0 }, packed = { 0 };

	put_text(&text, 2 << 20, 9);
	put(&packed, "\x53\x2a\x4d\x18\3\0\0\0abc", 11); /* a frame to be skipped */
	for (size_t i = 0; i < 4; i++) {
		put_zstd(&packed, text.p + i * (text.n / 4), text.n / 4, levels[i]);
		put(&packed, "\x50\x2a\x4d\x18\0\0\0\0", 8);
	}
	expect(&packed, &text, text.n, INPUT_OK);
	packed.n = 0;
	put(&packed, "\x50\x2a\x4d\x18\xff\xff\xff\xff zstd?", 14);
	expect(&packed, &text, 0, INPUT_CUT);
	packed.n = 0;
	put(&packed, "\x28\xb5\x2f\xfd\0\xff\0\0\0", 9); /* a window of terabytes */
	expect(&packed, &text, 0, INPUT_SYSTEM);
	free(text.p);
	free(packed.p);
}

Test(input_packed, xz_of_all_kinds)
{
	struct bytes text = { 0 }, packed = { 0 };

	put_text(&text, 2 << 20, 11);
	for (uint32_t preset = 0; preset < 8; preset += 2) {
		put_xz(&packed, text.p + preset / 2 * (text.n / 4), text.n / 4, preset);
		put(&packed, "\0\0\0\0\0\0\0\0\0\0\0\0", preset * 2); /* padding */
	}
	expect(&packed, &text, text.n, INPUT_OK);
	put(&packed, "junk and more of it", 19);
	expect(&packed, &text, text.n, INPUT_TRAILING);
	packed.n = 0;
	put_xz(&packed, "", 0, 1);
	expect(&packed, &text, 0, INPUT_EMPTY);
	free(text.p);
	free(packed.p);
}

Test(input_packed, xz_that_is_cut_or_changed)
{
	struct bytes text = { 0 }, packed = { 0 };

	put_text(&text, 600, 12);
	put_xz(&packed, text.p, 300, 6);
	const size_t border = packed.n;
	cut_everywhere(&packed, &text, 6);
	put_xz(&packed, text.p + 300, 300, 6);
	expect(&(struct bytes){ .p = packed.p, .n = border }, &text, 300, INPUT_OK);
	for (size_t n = border + 1; n < packed.n; n += 7) {
		struct input *const in = input_open(write_file(&(struct bytes){ .p = packed.p, .n = n }));
		cr_expect_geq(read_all(in, &text), 300);
		cr_expect_eq(in->fault, INPUT_CUT, "%zu: %d %s", n, (int)in->fault, in->fault_text);
		input_close(in);
	}
	cr_expect_gt(flip_everywhere(&packed, &text), packed.n * 7);
	free(text.p);
	free(packed.p);
}

/* A dictionary of 4 GiB is refused before memory is allocated for it. */
Test(input_packed, xz_that_wants_too_much)
{
	struct bytes text = { 0 }, packed = { 0 };

	put_text(&text, 5000, 13);
	put_xz(&packed, text.p, text.n, 6);
	unsigned char *const block = (unsigned char *)packed.p + 12; /* after the stream's header */
	const size_t size = (block[0] + 1U) * 4 - 4;
	size_t at = 2;
	for (unsigned sizes = (block[1] >> 6 & 1U) + (block[1] >> 7); sizes > 0; at++)
		sizes -= block[at] < 0x80; /* the last byte of a number */
	cr_assert_eq(block[at], 0x21);     /* LZMA2; then a size of 1, and the dictionary's */
	block[at + 2] = 40;
	const uint32_t sum = lzma_crc32(block, size, 0);
	for (size_t i = 0; i < 4; i++)
		block[size + i] = (unsigned char)(sum >> 8 * i);
	struct input *const in = input_open(write_file(&packed));
	cr_expect_eq(in->fault, INPUT_SYSTEM);
	cr_expect_not_null(strstr(in->fault_text, "more than 160 MiB"), "%s", in->fault_text);
	input_close(in);
	free(text.p);
	free(packed.p);
}
