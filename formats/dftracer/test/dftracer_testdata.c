#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dftracer/test/aids.h"
#include "dftracer/test/samples.h"
#include "test/support/testdata.h"

/* ---- gzip, stored: the same bytes on every machine ---- */

struct packed {
	unsigned char *p;
	size_t n;
};

static void put(struct packed *to, const void *p, size_t n)
{
	if (n > 0)
		memcpy(to->p + to->n, p, n);
	to->n += n;
}

static void put_le(struct packed *to, uint32_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		to->p[to->n++] = (unsigned char)(v >> 8 * i);
}

static uint32_t crc_of(const unsigned char *p, size_t n)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < n; i++) {
		crc ^= p[i];
		for (unsigned k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

/* One member of at most 65,535 bytes (RFC 1952, one stored block of RFC 1951). */
static void put_member(struct packed *to, const char *p, size_t n)
{
	static const unsigned char head[] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255 };

	put(to, head, sizeof head);
	put_le(to, 1, 1);
	put_le(to, (uint32_t)n, 2);
	put_le(to, (uint32_t)~n, 2);
	put(to, p, n);
	put_le(to, crc_of((const unsigned char *)p, n), 4);
	put_le(to, (uint32_t)n, 4);
}

static void pack(struct packed *to, const struct dft_sample *s)
{
	static const unsigned char nuls[512] = { 0 };

	if (s->packing == DFT_PLAIN || s->packing == DFT_GZIP_IN_NAME_ONLY) {
		put(to, s->text, s->n);
		return;
	}
	if (s->packing == DFT_GZIP_MEMBERS || s->packing == DFT_GZIP_MEMBERS_OF_LINES) {
		size_t half = s->n / 2;
		if (s->packing == DFT_GZIP_MEMBERS)
			put_member(to, "", 0);
		else
			while (s->text[half - 1] != '\n')
				half--;
		put_member(to, s->text, half);
		put_member(to, s->text + half, s->n - half);
		return;
	}
	put_member(to, s->text, s->n);
	if (s->packing == DFT_GZIP_NO_TRAILER)
		to->n -= 8;
	else if (s->packing == DFT_GZIP_BAD_CRC)
		to->p[to->n - 8] ^= 1;
	else if (s->packing == DFT_GZIP_NULS_BEHIND)
		put(to, nuls, sizeof nuls);
	else if (s->packing == DFT_GZIP_BYTES_BEHIND)
		put(to, "more", 4);
	else if (s->packing == DFT_GZIP_CUT)
		to->n -= s->n / 3;
}

/* ---- one sample ---- */

static size_t find(const struct dft_sample *s, const char *marker)
{
	const size_t n = strlen(marker);

	for (size_t i = 0; i + n <= s->n; i++)
		if (memcmp(s->text + i, marker, n) == 0)
			return i;
	fprintf(stderr, "make_testdata: %s: no \"%s\"\n", s->name, marker);
	return s->n;
}

static bool write_expected(const char *stem, const struct dft_sample *s)
{
	char path[512], text[2048];
	int n = snprintf(text, sizeof text, "exit %d\ndialect %s\nrecords %u\n", s->exit_status, s->dialect,
	                 s->records);

	for (size_t i = 0; i < DFT_MAX_EXPECTED && s->expected[i].rule != NULL; i++) {
		const struct dft_expected *const e = &s->expected[i];
		const char *const prefix = strchr(e->rule, '/') != NULL ? "" : "dftracer/";
		n += snprintf(text + n, sizeof text - (size_t)n, "%s%s %zu\n", prefix, e->rule,
		              (e->marker != NULL ? find(s, e->marker) : 0) + e->skip);
	}
	snprintf(path, sizeof path, "%s.expect", stem);
	return testdata_file(path, text, (size_t)n);
}

static bool write_sample(const char *dir, const char *kind, const struct dft_sample *s)
{
	struct packed packed = { malloc(2 * s->n + 4096), 0 };
	char stem[400], path[512];

	if (packed.p == NULL)
		return false;
	pack(&packed, s);
	snprintf(stem, sizeof stem, "%s/%s/%s", dir, kind, s->name);
	snprintf(path, sizeof path, "%s.pfw%s", stem, s->packing != DFT_PLAIN ? ".gz" : "");
	const bool ok = testdata_file(path, packed.p, packed.n) && write_expected(stem, s);
	free(packed.p);
	return ok;
}

bool dftracer_write_testdata(const char *dir)
{
	bool ok = true;

	for (const struct dft_sample *s = dft_good; ok && s->name != NULL; s++)
		ok = write_sample(dir, "good", s);
	for (const struct dft_sample *s = dft_bad; ok && s->name != NULL; s++)
		ok = write_sample(dir, "bad", s);
	return ok && dftracer_write_run(dir);
}
