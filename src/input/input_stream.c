#define _GNU_SOURCE /* F_SETPIPE_SZ */
#include "input/input_source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Pipes and whatever cannot be mapped: the window slides over buffers.  While
 * there is room behind the window it only grows; else the unread bytes move to
 * the start of a new buffer of at least twice their number, so that each byte
 * is moved a few times at most, however long a record is.
 */
enum { LEAST_READ = 64 << 10 };

struct stream {
	struct input_source source;
	struct input_pool *pool;
	int fd;
	int error; /* of the read that failed; 0: none did */
	bool ended;
};

int
input_open_fd(const char *path)
{
	int fd;

	do
		fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	while (fd < 0 && errno == EINTR);
	return fd;
}

ssize_t
input_read_fd(int fd, void *to, size_t n)
{
	for (;;) {
		const ssize_t got = read(fd, to, n);

		if (got >= 0 || (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK))
			return got;
		if (errno != EINTR) {
			struct pollfd wait = { .fd = fd, .events = POLLIN };

			(void)poll(&wait, 1, -1);
		}
	}
}

enum input_fault
input_fd_look(int fd, const struct input *in)
{
	struct stat st;

	if (in->source->id.inode == 0 || fstat(fd, &st) != 0)
		return INPUT_OK;
	return input_id_compare(&in->source->id, &st, in->again);
}

void
input_widen_pipe(int fd)
{
#ifdef F_SETPIPE_SZ
	(void)fcntl(fd, F_SETPIPE_SZ, INPUT_BUFFER_SIZE);
#endif
}

/* The unread bytes move to a new buffer with room behind them. */
static bool
make_room(struct input *in, struct stream *s)
{
	const size_t unread = (size_t)(in->end - in->p);
	struct input_buffer *b = NULL;

	if (unread <= SIZE_MAX / 4)
		b = input_buffer_new(s->pool, unread * 2);
	if (b == NULL)
		return input_fail(in, INPUT_SYSTEM, "out of memory (%zu bytes are waiting to be read)",
		                  unread);
	memcpy(b->bytes, in->p, unread);
	input_show(in, b, b->bytes, b->bytes + unread);
	return true;
}

static bool
stream_end(struct input *in, const struct stream *s)
{
	in->last = true;
	return s->error != 0 ? input_fail_errno(in, "cannot read: ", s->error) : false;
}

static bool
stream_more(struct input *in)
{
	struct stream *s = (struct stream *)in->source;
	struct input_buffer *b = s->source.current;
	size_t used;
	ssize_t got;

	if (s->ended)
		return stream_end(in, s);
	if (b == NULL || (size_t)(b->bytes + b->cap - in->end) < LEAST_READ) {
		if (!make_room(in, s))
			return false;
		b = s->source.current;
	}
	used = (size_t)(in->end - b->bytes);
	got = input_read_fd(s->fd, b->bytes + used, b->cap - used);
	if (got <= 0) {
		s->ended = true;
		s->error = got < 0 ? errno : 0;
		return stream_end(in, s);
	}
	in->end += got;
	return true;
}

static struct input *
stream_reopen(const struct input *in)
{
	return input_open_in(in->files, NULL, in->path);
}

/* What was read is what was there, but the end may have come too early. */
static bool
stream_shrunk(struct input *in)
{
	const struct stream *const s = (const struct stream *)in->source;

	return s->ended && input_fail_compared(in, input_fd_look(s->fd, in));
}

static void
stream_close(struct input *in)
{
	struct stream *s = (struct stream *)in->source;

	(void)close(s->fd);
	input_pool_close(s->pool);
	free(s);
}

INPUT_SOURCE_OPS(stream);

bool
input_stream_start(struct input *in, int fd, struct input_buffer *probed, struct input_pool *pool)
{
	struct stream *s = calloc(1, sizeof *s);

	if (s == NULL) {
		(void)close(fd);
		input_buffer_drop(probed);
		input_pool_close(pool);
		return input_fail(in, INPUT_SYSTEM, "out of memory");
	}
	s->fd = fd;
	s->pool = pool;
	in->source = &s->source;
	in->ops = &stream_ops;
	if (probed != NULL)
		input_show(in, probed, probed->bytes, probed->bytes + probed->len);
	return true;
}
