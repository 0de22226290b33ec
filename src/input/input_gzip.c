#include "input/input_source.h"

#include <isa-l/igzip_lib.h>
#include <stdlib.h>

/*
 * Gzip (RFC 1952): any number of members one after the other; zeros behind one
 * (tapes, blocks) are no fault.  The header is parsed apart from the data,
 * because only then a header that is split over two reads is understood.
 */
enum gzip_phase { BETWEEN_MEMBERS, IN_HEADER, IN_DATA, IN_PADDING };

struct gzip {
	enum gzip_phase phase;
	bool first; /* no member has begun yet */
	struct isal_gzip_header header;
	struct inflate_state inflate;
};

static void *
gzip_start(void)
{
	struct gzip *z = calloc(1, sizeof *z);

	if (z == NULL)
		return NULL;
	z->first = true;
	isal_inflate_init(&z->inflate);
	return z;
}

static enum unpack_result
begin_member(struct gzip *z, struct unpack_io *io)
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
		return input_unpack_stop(io, UNPACK_CUT, "gzip stream ends early at", io->offset + io->nin);
	if (io->in[0] != 0x1f || io->in[1] != 0x8b)
		return input_unpack_stop(io, UNPACK_TRAILING,
		                         "bytes that are not gzip follow the gzip stream at", io->offset);
	isal_inflate_reset(&z->inflate);
	z->inflate.crc_flag = ISAL_GZIP_NO_HDR_VER;
	isal_gzip_header_init(&z->header);
	z->first = false;
	z->phase = IN_HEADER;
	return UNPACK_GOING;
}

static enum unpack_result
skip_padding(struct gzip *z, struct unpack_io *io)
{
	while (io->nin > 0 && io->in[0] == 0) {
		io->in++;
		io->nin--;
		io->offset++;
	}
	if (io->nin > 0)
		z->phase = BETWEEN_MEMBERS;
	return io->nin > 0 ? UNPACK_GOING : io->last ? UNPACK_END : UNPACK_HUNGRY;
}

static const char *
text_of(int error)
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

static uint32_t
at_most_u32(size_t n)
{
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* One call of the library, for the header or for the data. */
static int
run(struct gzip *z, struct unpack_io *io)
{
	struct inflate_state *s = &z->inflate;
	const uint32_t nin = at_most_u32(io->nin), nout = at_most_u32(io->nout);
	int r;

	s->next_in = (uint8_t *)(uintptr_t)io->in; /* the library only reads there */
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

static enum unpack_result
in_member(struct gzip *z, struct unpack_io *io)
{
	const size_t nin = io->nin, nout = io->nout;
	const int r = run(z, io);
	bool idle;

	if (r < 0 || r == ISAL_NEED_DICT) {
		/* Bits that were taken in ahead do not count. */
		const int32_t ahead = z->inflate.read_in_length > 0 ? z->inflate.read_in_length / 8 : 0;

		return input_unpack_stop(io, UNPACK_CORRUPT, text_of(r), io->offset - (uint64_t)ahead);
	}
	if (z->phase == IN_HEADER && r == ISAL_DECOMP_OK) {
		z->phase = IN_DATA;
		return UNPACK_GOING;
	}
	if (z->phase == IN_DATA && z->inflate.block_state == ISAL_BLOCK_FINISH) {
		z->phase = BETWEEN_MEMBERS;
		return UNPACK_GOING;
	}
	idle = io->nin == nin && io->nout == nout;
	if (io->nout == 0 || (io->nin > 0 && !idle))
		return UNPACK_GOING;
	if (!io->last)
		return UNPACK_HUNGRY;
	return idle ? input_unpack_stop(io, UNPACK_CUT, "gzip stream ends early at", io->offset + io->nin)
	            : UNPACK_GOING;
}

static enum unpack_result
gzip_step(void *state, struct unpack_io *io)
{
	struct gzip *z = state;

	switch (z->phase) {
	case BETWEEN_MEMBERS:
		return begin_member(z, io);
	case IN_PADDING:
		return skip_padding(z, io);
	default:
		return in_member(z, io);
	}
}

const struct unpacker input_gzip = { .start = gzip_start, .step = gzip_step, .stop = free };
