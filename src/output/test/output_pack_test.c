#include "output/test/output_test.h"

#include <isa-l/igzip_lib.h>
#include <zstd.h>

#include "base/cursor.h"

TestSuite(output_pack, .init = folder_make, .fini = folder_remove);

/* Exactly one gzip member, with the right checksum and length, and nothing after it. */
static struct bytes gunzipped(struct bytes packed, size_t space)
{
	struct inflate_state z;
	struct bytes b = { .p = malloc(space + 1) };
	isal_inflate_init(&z);
	z.crc_flag = ISAL_GZIP;
	z.next_in = (uint8_t *)packed.p;
	z.avail_in = (uint32_t)packed.n;
	z.next_out = (uint8_t *)b.p;
	z.avail_out = (uint32_t)space + 1;
	cr_assert_eq(isal_inflate(&z), ISAL_DECOMP_OK);
	cr_assert_eq(z.block_state, ISAL_BLOCK_FINISH);
	b.n = z.total_out;
	cr_assert_eq(load_u32(packed.p + packed.n - 4, false), b.n);
	return b;
}

static struct bytes unzstded(struct bytes packed, size_t space)
{
	struct bytes b = { .p = malloc(space + 1) };
	cr_assert_eq(ZSTD_findFrameCompressedSize(packed.p, packed.n), packed.n);
	cr_assert(packed.p[4] & 4, "no checksum");
	b.n = ZSTD_decompress(b.p, space + 1, packed.p, packed.n);
	cr_assert_not(ZSTD_isError(b.n));
	return b;
}

static void packs_and_unpacks(const char *path, struct bytes b, size_t max)
{
	struct output *o = opened(path, OUTPUT_FORCE);
	write_pieces(o, b, max, (uint32_t)max);
	committed(o);
	struct bytes packed = file_read(path);
	struct bytes back = strstr(path, ".gz") != NULL ? gunzipped(packed, b.n) : unzstded(packed, b.n);
	cr_assert_eq(back.n, b.n);
	cr_assert(b.n == 0 || memcmp(back.p, b.p, b.n) == 0);
	free(back.p);
	free(packed.p);
}

Test(output_pack, packed_text_comes_back)
{
	static const size_t sizes[] = { 0,      1,       1000,    262143,  262144,  262145,
		                        524288, 1048575, 1048576, 1048577, 2097152, 5000000 };
	struct bytes all = some_json(5000000);
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		const struct bytes b = { .p = all.p, .n = sizes[i] };
		packs_and_unpacks("out.json.gz", b, 70000);
		packs_and_unpacks("out.json.zst", b, 70000);
	}
	free(all.p);
	cr_assert_str_eq(listing("."), "out.json.gz out.json.zst");
}

Test(output_pack, packed_noise_and_zeros_come_back)
{
	struct bytes b = { .p = calloc(1, 2000000), .n = 2000000 };
	packs_and_unpacks("zeros.gz", b, 1000000);
	packs_and_unpacks("zeros.zst", b, 1000000);
	uint32_t x = 5;
	for (size_t i = 0; i < b.n; i++)
		b.p[i] = (char)random_next(&x);
	packs_and_unpacks("noise.gz", b, 1000000);
	packs_and_unpacks("noise.zst", b, 1000000);
	free(b.p);
}

Test(output_pack, packed_bytes_do_not_depend_on_cutting)
{
	static const char *const names[] = { "out.gz", "out.zst" };
	struct bytes b = some_json(2000000);
	for (size_t i = 0; i < 2; i++) {
		packs_and_unpacks(names[i], b, 64);
		struct bytes first = file_read(names[i]);
		packs_and_unpacks(names[i], b, 2000000);
		file_is(names[i], first.p, first.n);
		free(first.p);
	}
	free(b.p);
}

Test(output_pack, packed_bytes_do_not_depend_on_threads)
{
	static const char *const names[] = { "out.gz", "out.zst" };
	static const unsigned threads[] = { 2, 3, 8, 40 };
	struct bytes b = some_json(9000000);
	uint32_t x = 7;

	for (size_t i = 3000000; i < 4000000; i++)
		b.p[i] = (char)random_next(&x);
	for (size_t i = 0; i < 2; i++) {
		packs_and_unpacks(names[i], b, 70000);
		struct bytes first = file_read(names[i]);
		for (size_t k = 0; k < sizeof threads / sizeof threads[0]; k++) {
			struct output *const o = opened_by(threads[k], names[i], OUTPUT_FORCE);
			write_pieces(o, b, 70000, (uint32_t)k);
			committed(o);
			file_is(names[i], first.p, first.n);
		}
		free(first.p);
	}
	free(b.p);
}

/* Bytes in which ISA-L has different matches for about one in a hundred addresses of its state, if it is
 * given all at once; the blocks that are kept move it. */
Test(output_pack, packed_bytes_do_not_depend_on_addresses)
{
	static const char data[] =
	    "\x0a\x1aP\x01h\x02@\x05Z\x12H\x02\"\x0eR\x01n \xff\xff\xff\xff\xff\xff\xff\xff\xff"
	    "\x01\x0a\x0fP\x01h\x02@\x05Z\x07H\x04X\x03\xf0\x01\x08";
	const struct bytes b = { .p = (char *)(uintptr_t)data, .n = sizeof data - 1 };
	struct bytes first = { 0 };
	void *kept[1000];
	for (size_t i = 0; i < 1000; i++) {
		packs_and_unpacks("out.gz", b, 64);
		if (i == 0)
			first = file_read("out.gz");
		file_is("out.gz", first.p, first.n);
		kept[i] = malloc(150000);
	}
	for (size_t i = 0; i < 1000; i++)
		free(kept[i]);
	free(first.p);
}

Test(output_pack, gzip_header_has_no_name_and_no_time)
{
	packs_and_unpacks("out.gz", (struct bytes){ .p = (char[]){ 'x' }, .n = 1 }, 1);
	struct bytes packed = file_read("out.gz");
	cr_assert_eq(memcmp(packed.p, "\x1f\x8b\x08\0\0\0\0\0", 8), 0);
	free(packed.p);
}

Test(output_pack, packing_is_told_by_the_end_of_the_name)
{
	static const char *const plain[] = { "gz", "out.gz.json", "out.GZ", "zst", "out.zst.txt" };
	for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
		struct output *o = opened(plain[i], 0);
		write_text(o, "x");
		committed(o);
		file_is(plain[i], "x", 1);
	}
	/* The name counts, not the target of a link. */
	cr_assert_eq(symlink("target", "link.gz"), 0);
	packs_and_unpacks("link.gz", (struct bytes){ .p = (char[]){ 'x' }, .n = 1 }, 1);
	struct bytes packed = file_read("target");
	cr_assert_eq((unsigned char)packed.p[0], 0x1f);
	free(packed.p);
}

Test(output_pack, packed_discard_leaves_nothing)
{
	struct bytes b = some_json(1000000);
	for (unsigned threads = 1; threads <= 4; threads++) {
		struct output *o = opened_by(threads, "out.json.gz", 0);
		write_pieces(o, b, 1000, 1);
		output_discard(o);
		o = opened_by(threads, "out.json.zst", 0);
		write_pieces(o, b, 1000, 1);
		output_discard(o);
	}
	free(b.p);
	cr_assert_str_eq(listing("."), "");
}
