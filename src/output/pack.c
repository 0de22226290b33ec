/*
 * Compression: gzip by ISA-L, with a header without name and time; zstd at level 3 with a checksum of the
 * content.  Both run on the caller's thread.
 */
#include <isa-l/igzip_lib.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "output/private.h"

enum {
	OUT_SIZE = 256 * 1024,
	PIECE = 1 << 30, /* ISA-L counts in 32 bits */
	GZIP_LEVEL = 1,
	GZIP_LEVEL_SIZE = ISAL_DEF_LVL1_EXTRA_LARGE,
	ZSTD_LEVEL = 3,
};

struct output_pack {
	struct isal_zstream *gzip; /* either this or zstd */
	uint8_t *gzip_level;
	ZSTD_CCtx *zstd;
	char out[OUT_SIZE];
};

static bool ends_with(const char *s, const char *tail)
{
	const size_t n = strlen(s), k = strlen(tail);
	return n >= k && memcmp(s + n - k, tail, k) == 0;
}

enum output_packing output_packing_of(const char *path)
{
	if (ends_with(path, ".gz"))
		return OUTPUT_GZIP;
	return ends_with(path, ".zst") ? OUTPUT_ZSTD : OUTPUT_PLAIN;
}

static bool gzip_open(struct output_pack *k)
{
	k->gzip = calloc(1, sizeof *k->gzip);
	k->gzip_level = calloc(1, GZIP_LEVEL_SIZE); /* cleared: equal input, equal bytes */
	if (k->gzip == NULL || k->gzip_level == NULL)
		return false;
	isal_deflate_init(k->gzip);
	k->gzip->level = GZIP_LEVEL;
	k->gzip->level_buf = k->gzip_level;
	k->gzip->level_buf_size = GZIP_LEVEL_SIZE;
	k->gzip->gzip_flag = IGZIP_GZIP;
	return true;
}

static bool zstd_open(struct output_pack *k)
{
	k->zstd = ZSTD_createCCtx();
	return k->zstd != NULL &&
	       !ZSTD_isError(ZSTD_CCtx_setParameter(k->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL)) &&
	       !ZSTD_isError(ZSTD_CCtx_setParameter(k->zstd, ZSTD_c_checksumFlag, 1));
}

struct output_pack *output_pack_open(enum output_packing packing)
{
	struct output_pack *k = calloc(1, sizeof *k);
	if (k == NULL)
		return NULL;
	if (packing == OUTPUT_GZIP ? gzip_open(k) : zstd_open(k))
		return k;
	output_pack_close(k);
	return NULL;
}

void output_pack_close(struct output_pack *k)
{
	if (k == NULL)
		return;
	free(k->gzip);
	free(k->gzip_level);
	(void)ZSTD_freeCCtx(k->zstd);
	free(k);
}

static const char *gzip_feed(struct output_pack *k, const char *p, size_t n, bool last,
                             output_pack_sink *sink, void *to)
{
	struct isal_zstream *z = k->gzip;
	z->next_in = (uint8_t *)(uintptr_t)p; /* the library only reads there */
	z->avail_in = (uint32_t)n;
	z->end_of_stream = last;
	for (;;) {
		z->next_out = (uint8_t *)k->out;
		z->avail_out = OUT_SIZE;
		if (isal_deflate(z) != COMP_OK)
			return "cannot compress (gzip)";
		if (!sink(to, k->out, OUT_SIZE - z->avail_out))
			return NULL;
		if (last ? z->internal_state.state == ZSTATE_END : z->avail_in == 0 && z->avail_out > 0)
			return NULL;
		if (z->avail_out == OUT_SIZE)
			return "cannot compress (gzip)"; /* no progress */
	}
}

static const char *zstd_feed(struct output_pack *k, const char *p, size_t n, bool last,
                             output_pack_sink *sink, void *to)
{
	ZSTD_inBuffer in = { .src = p, .size = n, .pos = 0 };
	for (;;) {
		ZSTD_outBuffer out = { .dst = k->out, .size = OUT_SIZE, .pos = 0 };
		const size_t left =
		    ZSTD_compressStream2(k->zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left))
			return ZSTD_getErrorName(left);
		if (!sink(to, k->out, out.pos))
			return NULL;
		if (last ? left == 0 : in.pos == in.size)
			return NULL;
	}
}

const char *output_pack_feed(struct output_pack *k, const char *p, size_t n, bool last,
                             output_pack_sink *sink, void *to)
{
	if (k->gzip == NULL)
		return zstd_feed(k, p, n, last, sink, to);
	if (n > PIECE)
		return "cannot compress so much at once";
	return gzip_feed(k, p, n, last, sink, to);
}
