#include "input/input_source.h"

#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

/*
 * Zstandard (RFC 8878): any number of frames, those to be skipped among them.
 * A frame may ask for a window of up to 128 MiB (what the zstd tool makes
 * without --long=28 and up, and unpacks without --memory); memory is used as
 * data fills it, whatever the frame asks for.
 */
enum { LARGEST_WINDOW_LOG = 27 };

struct zstd {
	ZSTD_DStream *stream;
	bool first;
	bool in_frame;
};

static void
zstd_stop(void *state)
{
	struct zstd *z = state;

	(void)ZSTD_freeDStream(z->stream);
	free(z);
}

static void *
zstd_start(void)
{
	struct zstd *z = calloc(1, sizeof *z);

	if (z == NULL)
		return NULL;
	z->first = true;
	z->stream = ZSTD_createDStream();
	if (z->stream == NULL ||
	    ZSTD_isError(ZSTD_DCtx_setParameter(z->stream, ZSTD_d_windowLogMax, LARGEST_WINDOW_LOG))) {
		zstd_stop(z);
		return NULL;
	}
	return z;
}

/* Whether the bytes begin a frame, as far as they go. */
static bool
is_magic(const unsigned char *p, size_t n)
{
	static const unsigned char data[4] = { 0x28, 0xb5, 0x2f, 0xfd }, skip[4] = { 0x50, 0x2a, 0x4d, 0x18 };
	bool is_data = true, is_skip = true;

	for (size_t i = 0; i < 4 && i < n; i++) {
		is_data = is_data && p[i] == data[i];
		is_skip = is_skip && (i == 0 ? p[i] & 0xf0 : p[i]) == skip[i];
	}
	return is_data || is_skip;
}

static enum unpack_result
begin_frame(struct zstd *z, struct unpack_io *io)
{
	if (io->nin < 4 && !io->last)
		return UNPACK_HUNGRY;
	if (io->nin == 0 && !z->first)
		return UNPACK_END;
	if (!is_magic(io->in, io->nin))
		return input_unpack_stop(io, UNPACK_TRAILING,
		                         "bytes that are not zstd follow the zstd stream at", io->offset);
	if (io->nin < 4)
		return input_unpack_stop(io, UNPACK_CUT, "zstd stream ends early at", io->offset + io->nin);
	z->first = false;
	z->in_frame = true;
	return UNPACK_GOING;
}

static enum unpack_result
stop_with(struct unpack_io *io, size_t error)
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
		text = "zstd stream is damaged: wrong checksum before";
		break;
	case ZSTD_error_dictionary_wrong:
		text = "zstd stream needs a dictionary near";
		break;
	default:
		break;
	}
	return input_unpack_stop(io, step, text, io->offset);
}

static enum unpack_result
zstd_step(void *state, struct unpack_io *io)
{
	struct zstd *z = state;
	ZSTD_inBuffer in = { .src = io->in, .size = io->nin };
	ZSTD_outBuffer out = { .dst = io->out, .size = io->nout };
	size_t r;
	bool idle;

	if (!z->in_frame)
		return begin_frame(z, io);
	r = ZSTD_decompressStream(z->stream, &out, &in);
	io->in += in.pos;
	io->nin -= in.pos;
	io->offset += in.pos;
	io->out += out.pos;
	io->nout -= out.pos;
	if (ZSTD_isError(r))
		return stop_with(io, r);
	if (r == 0) {
		z->in_frame = false;
		return UNPACK_GOING;
	}
	idle = in.pos == 0 && out.pos == 0;
	if (io->nout == 0 || (io->nin > 0 && !idle))
		return UNPACK_GOING;
	if (!io->last)
		return UNPACK_HUNGRY;
	return idle ? input_unpack_stop(io, UNPACK_CUT, "zstd stream ends early at", io->offset + io->nin)
	            : UNPACK_GOING;
}

const struct unpacker input_zstd = { .start = zstd_start, .step = zstd_step, .stop = zstd_stop };
