/* Unpackers based on ISA-L, libzstd and liblzma.  Each reads any number of members, frames or streams in a
 * row, in pieces of any size, and reports faults with an offset in the packed bytes.  Memory is limited, as a
 * few bytes can request gigabytes. */
#include <inttypes.h>
#include <isa-l/igzip_lib.h>
#include <lzma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "input/private.h"
#include "input/unpack.h"

/* Sets io->fault to the text and the packed offset; returns `step`. */
static enum unpack_result stop(struct unpack_io *io, enum unpack_result step, const char *text,
                               uint64_t offset)
{
	(void)snprintf(io->fault, sizeof io->fault, "%s packed byte %" PRIu64, text, offset);
	return step;
}

/* After a successful call of a library: progress, hungry, or a stream cut by the end of the bytes.  idle: the
 * call consumed and produced nothing. */
static enum unpack_result result_of_call(struct unpack_io *io, bool idle, const char *cut)
{
	if (io->nout == 0 || (io->nin > 0 && !idle))
		return UNPACK_GOING;
	if (!io->last)
		return UNPACK_HUNGRY;
	return idle ? stop(io, UNPACK_CUT, cut, io->offset + io->nin) : UNPACK_GOING;
}

static void skip_zeros(struct unpack_io *io)
{
	while (io->nin > 0 && io->in[0] == 0) {
		io->in++;
		io->nin--;
		io->offset++;
	}
}

/* ---- gzip ---- */

/* RFC 1952.  Zeros after a member (tapes, blocks) are not a fault.  The header is parsed separately from the
 * data: only then ISA-L accepts a header that is split over two reads. */
enum gzip_phase { BETWEEN_MEMBERS, IN_HEADER, IN_DATA, IN_PADDING };

struct gzip {
	enum gzip_phase phase;
	bool first; /* no member has begun */
	struct isal_gzip_header header;
	struct inflate_state inflate;
};

static void *gzip_start(void)
{
	struct gzip *z = calloc(1, sizeof *z);

	if (z == NULL)
		return NULL;
	z->first = true;
	isal_inflate_init(&z->inflate);
	return z;
}

static enum unpack_result begin_member(struct gzip *z, struct unpack_io *io)
{
	if (io->nin == 0 && io->last && !z->first)
		return UNPACK_END;
	if (io->nin > 0 && io->in[0] == 0 && !z->first) {
		z->phase = IN_PADDING;
		return UNPACK_GOING;
	}
	if (io->nin < 2 && !io->last)
		return UNPACK_HUNGRY;
	if (io->nin < 2 && (io->nin == 0 || io->in[0] == 0x1f))
		return stop(io, UNPACK_CUT, "gzip stream ends early at", io->offset + io->nin);
	if (io->in[0] != 0x1f || io->in[1] != 0x8b)
		return stop(io, UNPACK_TRAILING, "bytes that are not gzip follow the gzip stream at",
		            io->offset);
	isal_inflate_reset(&z->inflate);
	z->inflate.crc_flag = ISAL_GZIP_NO_HDR_VER;
	isal_gzip_header_init(&z->header);
	z->first = false;
	z->phase = IN_HEADER;
	return UNPACK_GOING;
}

static enum unpack_result skip_padding(struct gzip *z, struct unpack_io *io)
{
	skip_zeros(io);
	if (io->nin > 0)
		z->phase = BETWEEN_MEMBERS;
	return io->nin > 0 ? UNPACK_GOING : io->last ? UNPACK_END : UNPACK_HUNGRY;
}

static const char *gzip_error(int error)
{
	switch (error) {
	case ISAL_INVALID_BLOCK:
		return "gzip stream is damaged: bad block at";
	case ISAL_INVALID_SYMBOL:
		return "gzip stream is damaged: bad symbol near";
	case ISAL_INVALID_LOOKBACK:
		return "gzip stream is damaged: copy from before its start near";
	case ISAL_INVALID_WRAPPER:
		return "gzip stream is damaged: bad header near";
	case ISAL_UNSUPPORTED_METHOD:
		return "gzip stream is damaged: unknown method in the header near";
	case ISAL_INCORRECT_CHECKSUM:
		return "gzip stream is damaged: wrong checksum or length before";
	default:
		return "gzip stream is damaged near";
	}
}

static uint32_t at_most_u32(size_t n)
{
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* Reads a part of the header or of the data. */
static int call_gzip(struct gzip *z, struct unpack_io *io)
{
	struct inflate_state *s = &z->inflate;
	const uint32_t nin = at_most_u32(io->nin), nout = at_most_u32(io->nout);
	int r;

	s->next_in = (uint8_t *)(uintptr_t)io->in; /* the library only reads from it */
	s->avail_in = nin;
	s->next_out = io->out;
	s->avail_out = nout;
	r = z->phase == IN_HEADER ? isal_read_gzip_header(s, &z->header) : isal_inflate(s);
	io->in += nin - s->avail_in;
	io->nin -= nin - s->avail_in;
	io->offset += nin - s->avail_in;
	io->out += nout - s->avail_out;
	io->nout -= nout - s->avail_out;
	return r;
}

static enum unpack_result read_member(struct gzip *z, struct unpack_io *io)
{
	const size_t nin = io->nin, nout = io->nout;
	const int r = call_gzip(z, io);

	if (r < 0 || r == ISAL_NEED_DICT) {
		/* Excludes bits that were read ahead. */
		const int32_t ahead = z->inflate.read_in_length > 0 ? z->inflate.read_in_length / 8 : 0;

		return stop(io, UNPACK_CORRUPT, gzip_error(r), io->offset - (uint64_t)ahead);
	}
	if (z->phase == IN_HEADER && r == ISAL_DECOMP_OK) {
		z->phase = IN_DATA;
		return UNPACK_GOING;
	}
	if (z->phase == IN_DATA && z->inflate.block_state == ISAL_BLOCK_FINISH) {
		z->phase = BETWEEN_MEMBERS;
		return UNPACK_GOING;
	}
	return result_of_call(io, io->nin == nin && io->nout == nout, "gzip stream ends early at");
}

static enum unpack_result gzip_step(void *state, struct unpack_io *io)
{
	struct gzip *z = state;

	switch (z->phase) {
	case BETWEEN_MEMBERS:
		return begin_member(z, io);
	case IN_PADDING:
		return skip_padding(z, io);
	default:
		return read_member(z, io);
	}
}

const struct unpacker input_gzip = { .start = gzip_start, .step = gzip_step, .stop = free };

/* ---- xz ---- */

/* Zeros after a stream (padding) are not a fault if their number is a multiple of four.  A stream may request
 * a dictionary of up to 128 MiB (xz -9 makes 64 MiB); the library uses at most MAX_MEMORY. */
#define MAX_MEMORY (UINT64_C(160) << 20)

static const unsigned char xz_magic[6] = { 0xfd, '7', 'z', 'X', 'Z', 0 };

struct xz {
	lzma_stream stream;
	bool first;       /* no stream has begun */
	unsigned padding; /* number of zeros since the last stream, modulo 4 */
	bool in_stream;
};

static void *xz_start(void)
{
	struct xz *z = calloc(1, sizeof *z);

	if (z == NULL)
		return NULL;
	z->stream = (lzma_stream)LZMA_STREAM_INIT;
	z->first = true;
	return z;
}

static void xz_stop(void *state)
{
	struct xz *z = state;

	lzma_end(&z->stream);
	free(z);
}

/* Whether the bytes, which may be few, are the start of a stream. */
static bool is_xz(const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n && i < sizeof xz_magic; i++)
		if (p[i] != xz_magic[i])
			return false;
	return true;
}

static enum unpack_result begin_stream(struct xz *z, struct unpack_io *io)
{
	const size_t before = io->nin;

	if (!z->first)
		skip_zeros(io);
	z->padding = (z->padding + (unsigned)(before - io->nin) % 4) % 4;
	if (io->nin < sizeof xz_magic && !io->last)
		return UNPACK_HUNGRY;
	if (z->padding != 0) /* any bytes may follow the stream */
		return stop(io, io->nin > 0 && is_xz(io->in, io->nin) ? UNPACK_CORRUPT : UNPACK_TRAILING,
		            "zeros that are not a multiple of 4 bytes follow the xz stream, up to",
		            io->offset);
	if (io->nin == 0 && !z->first)
		return UNPACK_END;
	if (!is_xz(io->in, io->nin))
		return stop(io, UNPACK_TRAILING, "bytes that are not xz follow the xz stream at", io->offset);
	if (io->nin < sizeof xz_magic)
		return stop(io, UNPACK_CUT, "xz stream ends early at", io->offset + io->nin);
	if (lzma_stream_decoder(&z->stream, MAX_MEMORY, 0) != LZMA_OK)
		return stop(io, UNPACK_TOO_LARGE, "out of memory for an xz stream near", io->offset);
	z->first = false;
	z->in_stream = true;
	return UNPACK_GOING;
}

static enum unpack_result stop_xz(struct unpack_io *io, lzma_ret error)
{
	switch (error) {
	case LZMA_MEMLIMIT_ERROR:
		return stop(io, UNPACK_TOO_LARGE, "xz stream asks for more than 160 MiB of memory near",
		            io->offset);
	case LZMA_MEM_ERROR:
		return stop(io, UNPACK_TOO_LARGE, "out of memory for an xz stream near", io->offset);
	case LZMA_OPTIONS_ERROR:
		return stop(io, UNPACK_CORRUPT, "xz stream is damaged, or of a kind that is not known, near",
		            io->offset);
	default:
		return stop(io, UNPACK_CORRUPT, "xz stream is damaged near", io->offset);
	}
}

static enum unpack_result xz_step(void *state, struct unpack_io *io)
{
	struct xz *const z = state;
	lzma_stream *const s = &z->stream;

	if (!z->in_stream)
		return begin_stream(z, io);
	s->next_in = io->in;
	s->avail_in = io->nin;
	s->next_out = io->out;
	s->avail_out = io->nout;
	const lzma_ret r = lzma_code(s, LZMA_RUN);
	const bool idle = s->avail_in == io->nin && s->avail_out == io->nout;
	io->in += io->nin - s->avail_in;
	io->offset += io->nin - s->avail_in;
	io->nin = s->avail_in;
	io->out += io->nout - s->avail_out;
	io->nout = s->avail_out;
	if (r == LZMA_STREAM_END) {
		z->in_stream = false;
		return UNPACK_GOING;
	}
	if (r != LZMA_OK && r != LZMA_BUF_ERROR)
		return stop_xz(io, r);
	return result_of_call(io, idle, "xz stream ends early at");
}

const struct unpacker input_xz = { .start = xz_start, .step = xz_step, .stop = xz_stop };

/* ---- zstd ---- */

/* RFC 8878, with skippable frames.  A frame may request a window of up to 128 MiB: the zstd tool makes at
 * most this without --long=28 and up, and unpacks it without --memory.  Memory is used only as data fills
 * it. */
enum { MAX_WINDOW_LOG = 27 };

struct zstd {
	ZSTD_DStream *stream;
	bool first; /* no frame has begun */
	bool in_frame;
};

static void zstd_stop(void *state)
{
	struct zstd *z = state;

	(void)ZSTD_freeDStream(z->stream);
	free(z);
}

static void *zstd_start(void)
{
	struct zstd *z = calloc(1, sizeof *z);

	if (z == NULL)
		return NULL;
	z->first = true;
	z->stream = ZSTD_createDStream();
	if (z->stream == NULL ||
	    ZSTD_isError(ZSTD_DCtx_setParameter(z->stream, ZSTD_d_windowLogMax, MAX_WINDOW_LOG))) {
		zstd_stop(z);
		return NULL;
	}
	return z;
}

/* Whether the bytes, which may be few, are the start of a frame. */
static bool is_zstd(const unsigned char *p, size_t n)
{
	static const unsigned char data[4] = { 0x28, 0xb5, 0x2f, 0xfd }, skip[4] = { 0x50, 0x2a, 0x4d, 0x18 };
	bool is_data = true, is_skip = true;

	for (size_t i = 0; i < 4 && i < n; i++) {
		is_data = is_data && p[i] == data[i];
		is_skip = is_skip && (i == 0 ? p[i] & 0xf0 : p[i]) == skip[i];
	}
	return is_data || is_skip;
}

static enum unpack_result begin_frame(struct zstd *z, struct unpack_io *io)
{
	if (io->nin < 4 && !io->last)
		return UNPACK_HUNGRY;
	if (io->nin == 0 && !z->first)
		return UNPACK_END;
	if (!is_zstd(io->in, io->nin))
		return stop(io, UNPACK_TRAILING, "bytes that are not zstd follow the zstd stream at",
		            io->offset);
	if (io->nin < 4)
		return stop(io, UNPACK_CUT, "zstd stream ends early at", io->offset + io->nin);
	z->first = false;
	z->in_frame = true;
	return UNPACK_GOING;
}

static enum unpack_result stop_zstd(struct unpack_io *io, size_t error)
{
	const char *text = "zstd stream is damaged near";
	enum unpack_result step = UNPACK_CORRUPT;

	switch (ZSTD_getErrorCode(error)) {
	case ZSTD_error_frameParameter_windowTooLarge:
		text = "zstd frame asks for a window of more than 128 MiB near";
		step = UNPACK_TOO_LARGE;
		break;
	case ZSTD_error_memory_allocation:
		text = "out of memory for a zstd frame near";
		step = UNPACK_TOO_LARGE;
		break;
	case ZSTD_error_checksum_wrong:
		text = "zstd stream is damaged: wrong checksum after";
		break;
	case ZSTD_error_dictionary_wrong:
		text = "zstd stream needs a dictionary near";
		break;
	default:
		break;
	}
	return stop(io, step, text, io->offset);
}

static enum unpack_result zstd_step(void *state, struct unpack_io *io)
{
	struct zstd *z = state;
	ZSTD_inBuffer in = { .src = io->in, .size = io->nin };
	ZSTD_outBuffer out = { .dst = io->out, .size = io->nout };

	if (!z->in_frame)
		return begin_frame(z, io);
	const size_t r = ZSTD_decompressStream(z->stream, &out, &in);
	io->in += in.pos;
	io->nin -= in.pos;
	io->offset += in.pos;
	io->out += out.pos;
	io->nout -= out.pos;
	if (ZSTD_isError(r))
		return stop_zstd(io, r);
	if (r == 0) {
		z->in_frame = false;
		return UNPACK_GOING;
	}
	return result_of_call(io, in.pos == 0 && out.pos == 0, "zstd stream ends early at");
}

const struct unpacker input_zstd = { .start = zstd_start, .step = zstd_step, .stop = zstd_stop };

/* ---- parts of records ---- */

/* Unpacks one zlib stream (RFC 1950; gzip too) or one zstd frame in memory, in pieces. */

#define FIRST_SIZE 65536U

/* Makes space for more bytes, up to max.  Returns false if there is none. */
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
	if (note_failure(&u->no_memory, p == NULL))
		return false;
	u->p = p;
	*cap = next;
	return true;
}

static void unpack_zlib(struct unpacked *u, struct slice from, size_t max)
{
	const bool gzip = from.n >= 2 && (uint8_t)from.p[0] == 0x1f && (uint8_t)from.p[1] == 0x8b;
	/* zeros: the library copies its history buffer where a damaged stream refers to bytes before its
	 * start */
	struct inflate_state *const z = calloc(1, sizeof *z);
	size_t cap = 0;

	if (note_failure(&u->no_memory, z == NULL))
		return;
	isal_inflate_init(z);
	z->crc_flag = gzip ? ISAL_GZIP : ISAL_ZLIB;
	z->next_in = (uint8_t *)(uintptr_t)from.p; /* the library only reads from it */
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
	    (z->avail_in > 0 || z->read_in_length >= 8)) /* bits that were read ahead count as bytes */
		u->fault = "bytes follow the stream";
	free(z);
}

static void unpack_zstd(struct unpacked *u, struct slice from, size_t max)
{
	ZSTD_DStream *const z = ZSTD_createDStream();
	ZSTD_inBuffer in = { .src = from.p, .size = from.n };
	size_t cap = 0, left = 1;

	if (note_failure(&u->no_memory, z == NULL))
		return;
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
