#include "input/input_source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum {
	PACKED_STEP = 1 << 20, /* of a mapping, given to the unpacker at a time */
	FORGET_STEP = 8 << 20, /* of a mapping, behind the unpacker */
};

static bool
fill_mapped(struct packed_bytes *packed, struct unpack_io *io)
{
	const struct input_buffer *b = &packed->mapping->buffer;
	const size_t at = (size_t)io->offset;
	const size_t left = b->cap - at;

	io->in = (const unsigned char *)b->bytes + at;
	io->nin = io->nin + PACKED_STEP < left ? io->nin + PACKED_STEP : left;
	io->last = io->nin == left;
	if (at - packed->forgotten >= FORGET_STEP) {
		input_map_forget(packed->mapping, packed->forgotten, at);
		packed->forgotten = at;
	}
	return true;
}

/* A writer that never writes must not keep us from closing. */
static bool
wait_readable(const struct packed_bytes *packed)
{
	struct pollfd wait[2] = {
		{ .fd = packed->fd, .events = POLLIN },
		{ .fd = packed->cancel[0], .events = POLLIN },
	};

	while (poll(wait, 2, -1) < 0)
		if (errno != EINTR && errno != EAGAIN)
			return false;
	errno = 0;
	return wait[1].revents == 0;
}

static bool
fill_stream(struct packed_bytes *packed, struct unpack_io *io)
{
	struct input_buffer *b = packed->buffer;
	ssize_t got;

	memmove(b->bytes, io->in, io->nin);
	io->in = (const unsigned char *)b->bytes;
	if (!wait_readable(packed))
		return false;
	got = input_read_fd(packed->fd, b->bytes + io->nin, b->cap - io->nin);
	if (got < 0)
		return false;
	io->nin += (size_t)got;
	io->last = got == 0;
	return true;
}

bool
input_packed_fill(struct packed_bytes *packed, struct unpack_io *io)
{
	return packed->mapping != NULL ? fill_mapped(packed, io) : fill_stream(packed, io);
}

bool
input_packed_start_mapped(struct packed_bytes *packed, struct input_mapping *m, struct unpack_io *io)
{
	*packed = (struct packed_bytes){ .mapping = m, .fd = -1, .cancel = { -1, -1 } };
	return fill_mapped(packed, io);
}

bool
input_packed_start_stream(struct packed_bytes *packed, int fd, struct input_buffer *probed,
                          struct unpack_io *io)
{
	int cancel[2];

	if (pipe(cancel) != 0)
		return false;
	(void)fcntl(cancel[0], F_SETFD, FD_CLOEXEC);
	(void)fcntl(cancel[1], F_SETFD, FD_CLOEXEC);
	*packed = (struct packed_bytes){ .fd = fd, .cancel = { cancel[0], cancel[1] }, .buffer = probed };
	io->in = (const unsigned char *)probed->bytes;
	io->nin = probed->len;
	return true;
}

void
input_packed_cancel(struct packed_bytes *packed)
{
	/* A byte, not a close: another process may have inherited that end. */
	if (packed->cancel[1] >= 0)
		(void)!write(packed->cancel[1], "", 1);
}

void
input_packed_close(struct packed_bytes *packed)
{
	for (int i = 0; i < 2; i++)
		if (packed->cancel[i] >= 0)
			(void)close(packed->cancel[i]);
	if (packed->fd >= 0)
		(void)close(packed->fd);
	input_buffer_drop(packed->buffer);
	if (packed->mapping != NULL)
		input_buffer_drop(&packed->mapping->buffer);
}
