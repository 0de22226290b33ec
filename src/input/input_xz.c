#include "input/input_source.h"

#include <lzma.h>
#include <stdlib.h>

/*
 * XZ: any number of streams one after the other; zeros behind one (padding) are
 * no fault if they are a multiple of four bytes.  A stream may ask for a
 * dictionary of up to 128 MiB (xz -9 makes 64 MiB); the library uses no more
 * memory than MOST_MEMORY, whatever it asks for.
 */
#define MOST_MEMORY (UINT64_C(160) << 20)

static const unsigned char magic[6] = { 0xfd, '7', 'z', 'X', 'Z', 0 };

struct xz {
	lzma_stream stream;
	bool first;       /* no stream has begun yet */
	unsigned padding; /* zeros since the last stream, modulo 4 */
	bool in_stream;
};

static void *
xz_start(void)
{
	struct xz *z = calloc(1, sizeof *z);

	if (z == NULL)
		return NULL;
	z->stream = (lzma_stream)LZMA_STREAM_INIT;
	z->first = true;
	return z;
}

static void
xz_stop(void *state)
{
	struct xz *z = state;

	lzma_end(&z->stream);
	free(z);
}

/* Whether the bytes begin a stream, as far as they go. */
static bool
is_magic(const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n && i < sizeof magic; i++)
		if (p[i] != magic[i])
			return false;
	return true;
}

static void
skip_padding(struct xz *z, struct unpack_io *io)
{
	while (io->nin > 0 && io->in[0] == 0) {
		io->in++;
		io->nin--;
		io->offset++;
		z->padding = (z->padding + 1) % 4;
	}
}

static enum unpack_result
begin_stream(struct xz *z, struct unpack_io *io)
{
	if (!z->first)
		skip_padding(z, io);
	if (io->nin < sizeof magic && !io->last)
		return UNPACK_HUNGRY;
	if (z->padding != 0) /* what follows is not for us to guess */
		return input_unpack_stop(io,
		                         io->nin > 0 && is_magic(io->in, io->nin) ? UNPACK_CORRUPT
		                                                                  : UNPACK_TRAILING,
		                         "zeros that are no multiple of 4 bytes follow the xz stream, up to",
		                         io->offset);
	if (io->nin == 0 && !z->first)
		return UNPACK_END;
	if (!is_magic(io->in, io->nin))
		return input_unpack_stop(io, UNPACK_TRAILING, "bytes that are not xz follow the xz stream at",
		                         io->offset);
	if (io->nin < sizeof magic)
		return input_unpack_stop(io, UNPACK_CUT, "xz stream ends early at", io->offset + io->nin);
	if (lzma_stream_decoder(&z->stream, MOST_MEMORY, 0) != LZMA_OK)
		return input_unpack_stop(io, UNPACK_TOO_LARGE, "out of memory for an xz stream near",
		                         io->offset);
	z->first = false;
	z->in_stream = true;
	return UNPACK_GOING;
}

static enum unpack_result
stop_with(struct unpack_io *io, lzma_ret error)
{
	switch (error) {
	case LZMA_MEMLIMIT_ERROR:
		return input_unpack_stop(io, UNPACK_TOO_LARGE,
		                         "xz stream asks for more than 160 MiB of memory near", io->offset);
	case LZMA_MEM_ERROR:
		return input_unpack_stop(io, UNPACK_TOO_LARGE, "out of memory for an xz stream near",
		                         io->offset);
	case LZMA_OPTIONS_ERROR:
		return input_unpack_stop(io, UNPACK_CORRUPT,
		                         "xz stream is damaged, or of a kind that is not known, near",
		                         io->offset);
	default:
		return input_unpack_stop(io, UNPACK_CORRUPT, "xz stream is damaged near", io->offset);
	}
}

static enum unpack_result
xz_step(void *state, struct unpack_io *io)
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
		return stop_with(io, r);
	if (io->nout == 0 || (io->nin > 0 && !idle))
		return UNPACK_GOING;
	if (!io->last)
		return UNPACK_HUNGRY;
	return idle ? input_unpack_stop(io, UNPACK_CUT, "xz stream ends early at", io->offset + io->nin)
	            : UNPACK_GOING;
}

const struct unpacker input_xz = { .start = xz_start, .step = xz_step, .stop = xz_stop };
