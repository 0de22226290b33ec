/* Unpacks one zlib stream (RFC 1950; gzip too) or one zstd frame in memory, in pieces, so that a few bytes do
 * not ask for gigabytes at once. */
#include "input/unpack.h"

#include <isa-l/igzip_lib.h>
#include <stdint.h>
#include <stdlib.h>
#include <zstd.h>

#define FIRST_SIZE 65536U

/* Makes room for more bytes, up to max.  Returns false if there is none. */
static bool grow(struct unpacked *u, size_t *cap, size_t max)
{
	if (u->n < *cap)
		return true;
	const size_t more = *cap == 0 ? FIRST_SIZE : 2 * *cap, next = more < max ? more : max;
	if (next <= *cap) {
		u->is_too_large = true;
		return false;
	}
	char *const p = realloc(u->p, next);
	if (p == NULL) {
		u->no_memory = true;
		return false;
	}
	u->p = p;
	*cap = next;
	return true;
}

static void unpack_zlib(struct unpacked *u, struct slice from, size_t max)
{
	const bool gzip = from.n >= 2 && (uint8_t)from.p[0] == 0x1f && (uint8_t)from.p[1] == 0x8b;
	struct inflate_state *const z = malloc(sizeof *z);
	size_t cap = 0;

	if (z == NULL) {
		u->no_memory = true;
		return;
	}
	isal_inflate_init(z);
	z->crc_flag = gzip ? ISAL_GZIP : ISAL_ZLIB;
	z->next_in = (uint8_t *)(uintptr_t)from.p; /* the library only reads there */
	z->avail_in = from.n;
	while (u->fault == NULL && z->block_state != ISAL_BLOCK_FINISH && grow(u, &cap, max)) {
		const uint32_t room = cap - u->n < UINT32_MAX ? (uint32_t)(cap - u->n) : UINT32_MAX;
		z->next_out = (uint8_t *)u->p + u->n;
		z->avail_out = room;
		const int r = isal_inflate(z);
		u->n += room - z->avail_out;
		if (r < 0 || r == ISAL_NEED_DICT)
			u->fault =
			    r == ISAL_INCORRECT_CHECKSUM ? "the checksum is wrong" : "the stream is damaged";
		else if (z->block_state != ISAL_BLOCK_FINISH && z->avail_in == 0 && z->avail_out > 0)
			u->fault = "the stream is cut";
	}
	if (u->fault == NULL && z->block_state == ISAL_BLOCK_FINISH &&
	    (z->avail_in > 0 || z->read_in_length >= 8)) /* bits that were read ahead */
		u->fault = "bytes follow the stream";
	free(z);
}

static void unpack_zstd(struct unpacked *u, struct slice from, size_t max)
{
	ZSTD_DStream *const z = ZSTD_createDStream();
	ZSTD_inBuffer in = { .src = from.p, .size = from.n };
	size_t cap = 0, left = 1;

	if (z == NULL) {
		u->no_memory = true;
		return;
	}
	while (u->fault == NULL && left != 0 && grow(u, &cap, max)) {
		ZSTD_outBuffer out = { .dst = u->p + u->n, .size = cap - u->n };
		left = ZSTD_decompressStream(z, &out, &in);
		u->n += out.pos;
		if (ZSTD_isError(left))
			u->fault = "the frame is damaged";
		else if (left != 0 && in.pos == in.size && out.pos < out.size)
			u->fault = "the frame is cut";
	}
	if (u->fault == NULL && left == 0 && in.pos < in.size)
		u->fault = "bytes follow the frame";
	(void)ZSTD_freeDStream(z);
}

struct unpacked unpack(enum unpack_kind kind, struct slice from, size_t max)
{
	struct unpacked u = { .p = NULL };

	if (from.n == 0)
		u.fault = "there are no bytes";
	else if (kind == UNPACK_ZLIB)
		unpack_zlib(&u, from, max);
	else
		unpack_zstd(&u, from, max);
	return u;
}
