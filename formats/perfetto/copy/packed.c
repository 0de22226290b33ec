/*
 * Compressed packets in copies of a part of them: unpacked, cut, and packed again in the same way.
 */
#include <stdlib.h>
#include <isa-l/igzip_lib.h>
#include <zstd.h>

#include "perfetto/copy/copy.h"

#define PIECE 65536U

static bool inflate_all(struct text *t, struct slice s)
{
	struct inflate_state *const z = malloc(sizeof *z);
	int status = ISAL_DECOMP_OK;

	if (z == NULL) {
		t->failed = true;
		return false;
	}
	isal_inflate_init(z);
	z->crc_flag = s.n > 1 && memcmp(s.p, "\x1f\x8b", 2) == 0 ? ISAL_GZIP : ISAL_ZLIB;
	z->next_in = (unsigned char *)(uintptr_t)s.p;
	z->avail_in = s.n;
	while (status == ISAL_DECOMP_OK && z->block_state != ISAL_BLOCK_FINISH && t->n <= PF_MAX_UNPACKED) {
		char *const to = text_reserve(t, PIECE);
		if (to == NULL)
			break;
		z->next_out = (unsigned char *)to;
		z->avail_out = PIECE;
		status = isal_inflate(z);
		t->n += PIECE - z->avail_out;
		if (z->avail_out == PIECE && z->avail_in == 0)
			break; /* cut */
	}
	const bool whole =
	    status == ISAL_DECOMP_OK && z->block_state == ISAL_BLOCK_FINISH && z->avail_in == 0;
	free(z);
	return whole;
}

static bool decompress_all(struct text *t, struct slice s)
{
	ZSTD_DStream *const z = ZSTD_createDStream();
	ZSTD_inBuffer in = { s.p, s.n, 0 };
	size_t status = 1;

	if (z == NULL) {
		t->failed = true;
		return false;
	}
	while (status != 0 && !ZSTD_isError(status) && t->n <= PF_MAX_UNPACKED) {
		char *const to = text_reserve(t, PIECE);
		if (to == NULL)
			break;
		ZSTD_outBuffer out = { to, PIECE, 0 };
		const size_t before = in.pos;
		status = ZSTD_decompressStream(z, &out, &in);
		t->n += out.pos;
		if (out.pos == 0 && in.pos == before)
			break; /* cut */
	}
	ZSTD_freeDStream(z);
	return status == 0 && in.pos == in.size;
}

bool pfc_unpack(struct text *t, const struct pfc_packet *k)
{
	const bool whole = k->zlib.p != NULL ? inflate_all(t, k->zlib) : decompress_all(t, k->zstd);

	return whole && t->n <= PF_MAX_UNPACKED && !t->failed;
}

static void deflate_all(struct text *t, struct slice s)
{
	struct isal_zstream *const z = malloc(sizeof *z + ISAL_DEF_LVL1_DEFAULT);

	if (z == NULL) {
		t->failed = true;
		return;
	}
	isal_deflate_init(z);
	z->gzip_flag = IGZIP_ZLIB;
	z->level = 1;
	z->level_buf = (unsigned char *)(z + 1);
	z->level_buf_size = ISAL_DEF_LVL1_DEFAULT;
	z->end_of_stream = 1;
	z->next_in = (unsigned char *)(uintptr_t)s.p;
	z->avail_in = s.n;
	do {
		char *const to = text_reserve(t, PIECE);
		if (to == NULL)
			break;
		z->next_out = (unsigned char *)to;
		z->avail_out = PIECE;
		t->failed |= isal_deflate(z) != COMP_OK;
		t->n += PIECE - z->avail_out;
	} while (!t->failed && z->internal_state.state != ZSTATE_END);
	free(z);
}

static void compress_all(struct text *t, struct slice s)
{
	const size_t bound = ZSTD_compressBound(s.n);
	char *const to = text_reserve(t, bound);
	const size_t n = to != NULL ? ZSTD_compress(to, bound, s.p, s.n, 3) : 0;

	if (to == NULL || ZSTD_isError(n))
		t->failed = true;
	else
		t->n += n;
}

void pfc_pack(struct text *t, const struct pfc_packet *k, struct slice packets)
{
	const bool zlib = k->zlib.p != NULL;
	const size_t packet = wire_open(t, TRACE_PACKET),
	             start = wire_open(t, zlib ? PF_packet_compressed_packets
	                                       : PF_packet_zstd_compressed_packets);

	if (zlib)
		deflate_all(t, packets);
	else
		compress_all(t, packets);
	wire_close(t, start);
	wire_close(t, packet);
}
