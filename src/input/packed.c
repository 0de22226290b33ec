/* Packed input: a thread unpacks into buffers, and a short queue passes them to the reader, which unpacks the
 * first buffer itself: a file of one buffer needs no thread.  Each buffer has space before its bytes for the
 * unread tail of the last window; only this tail is copied.  A record that is longer than the space is joined
 * in a buffer of its own. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "input/private.h"

enum {
	PACKED_STEP = 1 << 20, /* bytes of a mapping that are given to the unpacker at a time */
	FORGET_STEP = 8 << 20, /* bytes of a mapping before the unpacker that stay in memory */
	HEADROOM = 64 << 10,   /* space before the bytes of a buffer */
	QUEUE_LENGTH = 4,
};

/* ---- packed bytes ---- */

/* Packed bytes from a mapping or a descriptor. */
struct packed_bytes {
	struct input_mapping *mapping; /* NULL: a descriptor is read */
	size_t forgotten;              /* pages of the mapping before this offset were given back */
	int fd;
	int cancel[2];               /* a pipe; writing a byte to it ends a waiting read */
	struct input_buffer *buffer; /* bytes read from the descriptor */
};

static void fill_mapped(struct packed_bytes *packed, struct unpack_io *io)
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
}

/* Waits for packed bytes, or for input_close(), as the writer of a pipe may never write. */
static bool wait_readable(const struct packed_bytes *packed)
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

static bool fill_stream(struct packed_bytes *packed, struct unpack_io *io)
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

/* Makes more bytes available after the remaining ones, or sets io->last.  Returns false if reading fails
 * (errno), or on cancellation (errno 0). */
static bool fill_packed(struct packed_bytes *packed, struct unpack_io *io)
{
	if (packed->mapping == NULL)
		return fill_stream(packed, io);
	fill_mapped(packed, io);
	return true;
}

/* Takes over fd and probed.  If no descriptors are left, takes over neither and returns false with errno. */
static bool start_stream(struct packed_bytes *packed, int fd, struct input_buffer *probed,
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

static void close_packed(struct packed_bytes *packed)
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

/* ---- the thread ---- */

struct unpack {
	struct input_source source;
	struct input_pool *pool;
	pthread_t thread;
	bool has_thread; /* false: not yet, or none could be started: the reader unpacks */

	/* Owned by the thread while it runs. */
	const struct unpacker *unpacker;
	void *state;
	struct packed_bytes packed;
	struct unpack_io io;

	pthread_mutex_t lock; /* protects the fields below */
	pthread_cond_t changed;
	struct input_buffer *queue, **queue_end;
	size_t queued;
	bool cancelled;
	bool done; /* no more buffers will be queued, and the fields below are valid */
	enum input_fault fault;
	int error; /* errno; 0: none */
};

static enum input_fault fault_of_step(enum unpack_result step)
{
	switch (step) {
	case UNPACK_CUT:
		return INPUT_CUT;
	case UNPACK_CORRUPT:
		return INPUT_CORRUPT;
	case UNPACK_TRAILING:
		return INPUT_TRAILING;
	case UNPACK_TOO_LARGE:
		return INPUT_SYSTEM;
	default:
		return INPUT_OK;
	}
}

/* Unpacks until the space is used up (GOING) or the stream ends. */
static enum unpack_result fill_buffer(struct unpack *u, int *error)
{
	struct unpack_io *io = &u->io;

	while (io->nout > 0) {
		const enum unpack_result step = u->unpacker->step(u->state, io);

		if (step != UNPACK_GOING && step != UNPACK_HUNGRY)
			return step;
		/* Only when hungry, as a pipe may be silent for long. */
		if (step == UNPACK_HUNGRY && !fill_packed(&u->packed, io)) {
			*error = errno;
			return UNPACK_CUT;
		}
	}
	return UNPACK_GOING;
}

/* Waits for space in the queue.  Returns false if the input is being closed. */
static bool wait_for_space(struct unpack *u)
{
	bool wanted;

	pthread_mutex_lock(&u->lock);
	while (u->queued >= QUEUE_LENGTH && !u->cancelled)
		pthread_cond_wait(&u->changed, &u->lock);
	wanted = !u->cancelled;
	pthread_mutex_unlock(&u->lock);
	return wanted;
}

static void queue_buffer(struct unpack *u, struct input_buffer *b, enum unpack_result step, int error)
{
	pthread_mutex_lock(&u->lock);
	if (b != NULL && b->len > 0) {
		*u->queue_end = b;
		u->queue_end = &b->next;
		u->queued++;
		b = NULL;
	}
	if (step != UNPACK_GOING) {
		u->done = true;
		u->fault = error != 0 ? INPUT_SYSTEM : fault_of_step(step);
		u->error = error;
	}
	pthread_cond_signal(&u->changed);
	pthread_mutex_unlock(&u->lock);
	input_buffer_drop(b);
}

/* Unpacks the next buffer.  Returns false if it is the last one. */
static bool unpack_buffer(struct unpack *u)
{
	struct input_buffer *b = input_buffer_new(u->pool, INPUT_BUFFER_SIZE);
	int error = 0;

	if (b == NULL) {
		queue_buffer(u, NULL, UNPACK_CUT, ENOMEM);
		return false;
	}
	b->first = HEADROOM;
	u->io.out = (unsigned char *)b->bytes + HEADROOM;
	u->io.nout = b->cap - HEADROOM;
	const enum unpack_result step = fill_buffer(u, &error);
	b->len = b->cap - HEADROOM - u->io.nout;
	queue_buffer(u, b, step, error);
	return step == UNPACK_GOING;
}

static void *unpack_thread(void *arg)
{
	struct unpack *u = arg;

	while (wait_for_space(u) && unpack_buffer(u))
		;
	return NULL;
}

/* ---- the reader ---- */

/* Returns NULL at the end of the input. */
static struct input_buffer *next_buffer(struct unpack *u)
{
	struct input_buffer *b;

	if (!u->has_thread && u->queue == NULL && !u->done && unpack_buffer(u))
		u->has_thread = thread_start(&u->thread, unpack_thread, u) == 0;
	pthread_mutex_lock(&u->lock);
	while (u->queue == NULL && !u->done)
		pthread_cond_wait(&u->changed, &u->lock);
	b = u->queue;
	if (b != NULL) {
		u->queue = b->next;
		if (u->queue == NULL)
			u->queue_end = &u->queue;
		u->queued--;
		b->next = NULL;
		pthread_cond_signal(&u->changed);
	}
	pthread_mutex_unlock(&u->lock);
	return b;
}

/* Returns true after setting the fault. */
static bool file_changed(struct input *in, const struct unpack *u)
{
	return input_fail_compared(in, u->packed.mapping == NULL ? input_fd_look(u->packed.fd, in)
	                                                         : input_map_look(u->packed.mapping, in));
}

/* After the last buffer: the thread has ended, and its fields can be read. */
static bool unpack_end(struct input *in, const struct unpack *u)
{
	in->last = true;
	if (u->fault == INPUT_OK)
		return false;
	if (u->error != 0)
		return input_fail_errno(in, "cannot read: ", u->error);
	if (file_changed(in, u))
		return false;
	return input_fail(in, u->fault, "%s", u->io.fault);
}

static bool unpack_more(struct input *in)
{
	struct unpack *u = (struct unpack *)in->source;
	const size_t unread = (size_t)(in->end - in->p);
	struct input_buffer *current = u->source.current;
	struct input_buffer *b = next_buffer(u);
	bool ok = true;

	if (b == NULL)
		return unpack_end(in, u);
	if (unread <= b->first) {
		char *p = b->bytes + b->first - unread;

		memcpy(p, in->p, unread);
		input_show(in, b, p, b->bytes + b->first + b->len);
		return true;
	}
	if ((size_t)(current->bytes + current->cap - in->end) >= b->len) {
		memcpy(current->bytes + (in->end - current->bytes), b->bytes + b->first, b->len);
		in->end += b->len;
	} else {
		ok = input_widen(in, u->pool, b->bytes + b->first, b->len);
	}
	input_buffer_drop(b);
	return ok;
}

static bool unpack_shrunk(struct input *in)
{
	return file_changed(in, (struct unpack *)in->source);
}

static void free_unpack(struct unpack *u)
{
	while (u->queue != NULL) {
		struct input_buffer *b = u->queue;

		u->queue = b->next;
		input_buffer_drop(b);
	}
	if (u->state != NULL)
		u->unpacker->stop(u->state);
	close_packed(&u->packed);
	input_pool_close(u->pool);
	(void)pthread_cond_destroy(&u->changed);
	(void)pthread_mutex_destroy(&u->lock);
	free(u);
}

static void unpack_close(struct input *in)
{
	struct unpack *u = (struct unpack *)in->source;

	pthread_mutex_lock(&u->lock);
	u->cancelled = true;
	pthread_cond_signal(&u->changed);
	pthread_mutex_unlock(&u->lock);
	/* A byte, not a close: another process may have inherited that end of the pipe. */
	if (u->packed.cancel[1] >= 0)
		(void)!write(u->packed.cancel[1], "", 1);
	if (u->has_thread)
		(void)pthread_join(u->thread, NULL);
	free_unpack(u);
}

INPUT_SOURCE_OPS(unpack, .close = unpack_close);

/* Returns a struct without packed bytes. */
static struct unpack *new_unpack(const struct input *in, struct input_pool *pool)
{
	struct unpack *u = calloc(1, sizeof *u);

	if (u == NULL)
		return NULL;
	u->unpacker = in->packing == INPUT_GZIP   ? &input_gzip
	              : in->packing == INPUT_ZSTD ? &input_zstd
	                                          : &input_xz;
	u->state = u->unpacker->start();
	u->pool = pool;
	u->queue_end = &u->queue;
	(void)pthread_mutex_init(&u->lock, NULL); /* cannot fail with default attributes */
	(void)pthread_cond_init(&u->changed, NULL);
	u->packed = (struct packed_bytes){ .fd = -1, .cancel = { -1, -1 } };
	return u;
}

/* Frees u on OOM. */
static bool start_unpack(struct input *in, struct unpack *u)
{
	if (u->state == NULL || u->pool == NULL) {
		free_unpack(u);
		return input_fail_errno(in, "cannot unpack: ", ENOMEM);
	}
	in->source = &u->source;
	in->ops = &unpack_ops;
	return true;
}

bool input_unpack_start_mapped(struct input *in, struct input_mapping *m)
{
	struct input_pool *pool = input_pool_new();
	struct unpack *u = new_unpack(in, pool);

	if (u == NULL) {
		input_pool_close(pool);
		input_buffer_drop(&m->buffer);
		return input_fail(in, INPUT_SYSTEM, "out of memory");
	}
	u->source.file_size = m->buffer.cap;
	u->source.can_reopen = true;
	u->source.mapping = u->packed.mapping = m;
	fill_mapped(&u->packed, &u->io);
	return start_unpack(in, u);
}

bool input_unpack_start_stream(struct input *in, int fd, struct input_buffer *probed, struct input_pool *pool)
{
	struct unpack *u = new_unpack(in, pool);
	int error = ENOMEM;

	if (u != NULL && start_stream(&u->packed, fd, probed, &u->io))
		return start_unpack(in, u);
	if (u != NULL) {
		error = errno;
		free_unpack(u); /* closes the pool */
	} else {
		input_pool_close(pool);
	}
	input_buffer_drop(probed);
	(void)close(fd);
	return input_fail_errno(in, "cannot unpack: ", error);
}
