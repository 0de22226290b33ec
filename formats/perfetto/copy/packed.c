/*
 * Compressed packets in copies of a part of them: unpacked, cut, and packed again in the same way.
 */
#include <stdlib.h>
#include <isa-l/igzip_lib.h>
#include <zstd.h>

#include "input/unpack.h"
#include "perfetto/copy/copy.h"

#define PIECE 65536U

bool pfc_unpack(struct text *t, const struct pfc_packet *k)
{
	const bool zlib = k->zlib.p != NULL;
	const struct unpacked u =
	    unpack(zlib ? UNPACK_ZLIB : UNPACK_ZSTD, zlib ? k->zlib : k->zstd, PF_MAX_UNPACKED);

	text_add(t, u.p, u.n);
	free(u.p);
	t->failed |= u.no_memory;
	return u.fault == NULL && !u.is_too_large && !t->failed;
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
