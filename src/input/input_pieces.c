#include "input/input_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A file of which only a small piece is in memory at a time, and which is open
 * only while a piece is read: thousands of them can be read side by side
 * without running out of memory, descriptors or mappings.  A record that needs
 * much more than a piece has the file mapped from there on, so that its bytes
 * cost memory only when somebody looks at them.
 */
enum {
	LEAST_PIECE = 256,
	LARGEST_PIECE = 64 << 10,
};

struct pieces {
	struct input_source source;
	uint64_t at; /* offset behind what was read */
	size_t piece;
	struct input_mapping *mapping; /* NULL: read so far; else source.current keeps it alive */
	size_t looked;                 /* of the mapping: offset of the last look at the size */
	struct stat st;                /* of the file when it was opened */
};

static void
piece_destroy(struct input_buffer *b)
{
	free(b);
}

static struct input_buffer *
piece_new(size_t cap)
{
	struct input_buffer *const b = malloc(sizeof *b + cap);

	if (b == NULL)
		return NULL;
	*b = (struct input_buffer){ .bytes = (char *)(b + 1), .cap = cap, .destroy = piece_destroy };
	atomic_init(&b->refs, 1);
	return b;
}

/* Opened again: it must be the same file, and no shorter. */
static int
open_again(struct input *in, const struct pieces *s)
{
	struct stat st;
	const int fd = input_open_fd(in->path);

	if (fd < 0) {
		(void)input_fail_errno(in, "cannot open it again: ", errno);
		return -1;
	}
	if (fstat(fd, &st) != 0)
		(void)input_fail_errno(in, "", errno);
	else if (st.st_dev != s->st.st_dev || st.st_ino != s->st.st_ino)
		(void)input_fail(in, INPUT_CHANGED, "another file took its place while it was read");
	else if (!input_fail_compared(in, input_id_compare(&s->source.id, &st, in->again)))
		return fd;
	(void)close(fd);
	return -1;
}

/* From here on the window is the rest of the file.  false: it cannot be mapped. */
static bool
map_the_rest(struct input *in, struct pieces *s, int fd)
{
	const size_t size = (size_t)s->source.file_size, here = (size_t)input_offset(in, in->p);
	struct input_mapping *const m = input_map(fd, &s->st);

	if (m == NULL)
		return false;
	input_show(in, &m->buffer, m->buffer.bytes + here, m->buffer.bytes + size);
	in->last = true;
	s->at = size;
	s->mapping = m;
	return true;
}

/* The unread bytes move to a new buffer, and a piece behind them is read. */
static bool
read_piece(struct input *in, struct pieces *s, int fd)
{
	const size_t unread = (size_t)(in->end - in->p), more = unread > s->piece ? unread : s->piece;
	const uint64_t left = s->source.file_size - s->at;
	const size_t n = left < more ? (size_t)left : more;
	struct input_buffer *const b = unread <= SIZE_MAX / 4 ? piece_new(unread + n) : NULL;
	ssize_t got = -1;

	if (b == NULL)
		return input_fail(in, INPUT_SYSTEM, "out of memory (%zu bytes are waiting to be read)",
		                  unread);
	do
		got = pread(fd, b->bytes + unread, n, (off_t)s->at);
	while (got < 0 && errno == EINTR);
	if (got <= 0) {
		const int error = errno;
		free(b);
		return got < 0 ? input_fail_errno(in, "cannot read: ", error)
		               : input_fail(in, INPUT_SHRUNK, "the file became shorter while it was read");
	}
	memcpy(b->bytes, in->p, unread);
	input_show(in, b, b->bytes, b->bytes + unread + (size_t)got);
	s->at += (uint64_t)got;
	return true;
}

static bool
pieces_more(struct input *in)
{
	struct pieces *const s = (struct pieces *)in->source;

	if (s->at >= s->source.file_size) {
		in->last = true;
		return false;
	}
	const int fd = open_again(in, s);
	if (fd < 0)
		return false;
	const bool large = (size_t)(in->end - in->p) >= LARGEST_PIECE;
	const bool got = (large && map_the_rest(in, s, fd)) || read_piece(in, s, fd);
	(void)close(fd);
	if (got && s->at >= s->source.file_size)
		in->last = true;
	return got;
}

static struct input *
pieces_reopen(const struct input *in)
{
	return input_open_in(in->files, NULL, in->path);
}

/* Pieces that were read hold the file's bytes; that it is shorter is noticed when the next one is. */
static bool
pieces_shrunk(struct input *in)
{
	struct pieces *const s = (struct pieces *)in->source;

	if (s->mapping == NULL ||
	    !input_map_changed(s->mapping, in, (size_t)(in->p - s->mapping->buffer.bytes), &s->looked))
		return false;
	in->fault_offset = input_offset(in, in->p);
	return true;
}

static void
pieces_close(struct input *in)
{
	free(in->source);
}

INPUT_SOURCE_OPS(pieces);

bool
input_pieces_start(struct input *in, const struct stat *st, size_t piece)
{
	struct pieces *const s = calloc(1, sizeof *s);

	if (s == NULL)
		return input_fail(in, INPUT_SYSTEM, "out of memory");
	s->source.file_size = (uint64_t)st->st_size;
	s->source.can_reopen = true;
	s->piece = piece < LEAST_PIECE ? LEAST_PIECE : piece > LARGEST_PIECE ? LARGEST_PIECE : piece;
	s->st = *st;
	s->source.id = input_id_of(st);
	in->source = &s->source;
	in->ops = &pieces_ops;
	return true;
}
