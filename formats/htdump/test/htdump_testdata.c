/*
 * Writes testdata/htdump: all samples, and the expected findings of the bad ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "htdump/test/aids.h"
#include "htdump/test/samples.h"
#include "test/support/testdata.h"

struct bits {
	unsigned char *out;
	size_t n;
	uint32_t held; /* bits to write, the first in the lowest bit */
	unsigned count;
};

static void put_bits(struct bits *b, uint32_t v, unsigned count)
{
	b->held |= v << b->count;
	for (b->count += count; b->count >= 8; b->count -= 8) {
		b->out[b->n++] = (unsigned char)(b->held & 0xff);
		b->held >>= 8;
	}
}

/* Huffman codes start with their highest bit. */
static void put_code(struct bits *b, uint32_t code, unsigned count)
{
	while (count-- > 0)
		put_bits(b, code >> count & 1, 1);
}

static void put_le32(struct bits *b, uint32_t v)
{
	put_bits(b, v & 0xffff, 16);
	put_bits(b, v >> 16, 16);
}

/* Writes a gzip member without name and time (RFC 1952), with literals in the fixed code only (RFC 1951): at
 * most 9 bits per byte and 32 bytes.  Done by hand, because the output of a library differs between
 * processors. */
static size_t write_gzip(unsigned char *out, const unsigned char *p, size_t n)
{
	static const unsigned char head[] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255 };
	struct bits b = { .out = out };
	uint32_t crc = UINT32_MAX;

	memcpy(out, head, sizeof head);
	b.n = sizeof head;
	put_bits(&b, 1, 1); /* the last block */
	put_bits(&b, 1, 2); /* of the fixed code */
	for (size_t i = 0; i < n; i++) {
		if (p[i] < 144)
			put_code(&b, 0x30u + p[i], 8);
		else
			put_code(&b, 0x190u + p[i] - 144, 9);
		crc ^= p[i];
		for (unsigned k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	put_code(&b, 0, 7); /* the end of the block */
	if (b.count > 0)
		put_bits(&b, 0, 8 - b.count);
	put_le32(&b, ~crc);
	put_le32(&b, (uint32_t)n);
	return b.n;
}

static bool write_packed(const char *stem, const struct ht_build *b, enum ht_packing packing)
{
	static const char *const suffix[] = { "", ".gz", ".gz", ".zst" };
	const size_t cap = 2 * b->n + 4096;
	unsigned char *const out = malloc(cap);
	char path[512];
	size_t n = 0;

	if (out == NULL)
		return false;
	snprintf(path, sizeof path, "%s.htdump%s", stem, suffix[packing]);
	if (packing == HT_PLAIN) {
		memcpy(out, b->p, b->n);
		n = b->n;
	} else if (packing == HT_GZIP) {
		n = write_gzip(out, b->p, b->n);
	} else if (packing == HT_GZIP_MEMBERS) {
		n = write_gzip(out, b->p, 100);
		n += write_gzip(out + n, b->p, 0); /* empty members are allowed */
		n += write_gzip(out + n, b->p + 100, b->n - 100);
	} else {
		n = ZSTD_compress(out, cap, b->p, b->n, 19);
	}
	const bool ok = !(packing == HT_ZSTD && ZSTD_isError(n)) && testdata_file(path, out, n);
	free(out);
	return ok;
}

static bool write_expected(const char *stem, const struct ht_bad *sample, const struct ht_expected *e)
{
	char path[512], text[1024];
	int n = snprintf(text, sizeof text, "exit %d\n", sample->exit_status);

	for (size_t i = 0; i < e->n; i++)
		n += snprintf(text + n, sizeof text - (size_t)n, "htdump/%s %llu\n", e->row[i].rule,
		              (unsigned long long)e->row[i].offset);
	snprintf(path, sizeof path, "%s.expect", stem);
	return testdata_file(path, text, (size_t)n);
}

static bool write_good(const char *dir, const struct ht_good *sample)
{
	struct ht_build b;
	char stem[400];

	ht_init(&b, sample->layout, sample->big);
	sample->make(&b);
	snprintf(stem, sizeof stem, "%s/good/%s", dir, sample->name);
	const bool ok = write_packed(stem, &b, sample->packing);
	ht_free(&b);
	return ok;
}

static bool write_bad(const char *dir, const struct ht_bad *sample)
{
	struct ht_expected e = { 0 };
	struct ht_build b;
	char stem[400];

	ht_init(&b, sample->layout, sample->big);
	sample->make(&b, &e);
	snprintf(stem, sizeof stem, "%s/bad/%s", dir, sample->name);
	const bool ok = write_packed(stem, &b, sample->packing) && write_expected(stem, sample, &e);
	ht_free(&b);
	return ok;
}

bool htdump_write_testdata(const char *dir)
{
	bool ok = true;

	for (const struct ht_good *g = ht_good; ok && g->name != NULL; g++)
		ok = write_good(dir, g);
	for (const struct ht_bad *s = ht_bad; ok && s->name != NULL; s++)
		ok = write_bad(dir, s);
	return ok;
}
