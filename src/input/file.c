/* Sources of plain bytes: a mapped file (the window is the whole file), a file with only a piece in memory at
 * a time (one of thousands), and a pipe or any file that cannot be mapped. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "input/private.h"

/*
 * Mapped files.  A page after the end of a file that became shorter raises SIGBUS.  The handler maps a page
 * of zeros there and counts it.  The reader continues with zeros, and learns afterwards that they are not
 * bytes of the file.
 */

/* ---- SIGBUS ---- */

enum {
	MAX_MAPPINGS = 32768,
	STAT_STEP = 256 << 10, /* bytes read between two checks of the size of a file */
};

/* Static, as a signal handler has no argument of its own.  Atomic, as any thread may map, unmap and fault at
 * any time.  start 0: the slot is free, 1: it is being filled. */
static struct watched {
	_Atomic uintptr_t start;
	_Atomic uintptr_t end;
	atomic_uint faults;
} slots[MAX_MAPPINGS];

/* Slot where the search for a free slot starts. */
static atomic_size_t next_slot;

/* Bytes of all mappings. */
static atomic_size_t mapped;

/* Returns MAX_MAPPINGS if all slots are in use. */
static size_t watch(const void *start, size_t size)
{
	const size_t first = atomic_load(&next_slot);

	for (size_t k = 0; k < MAX_MAPPINGS; k++) {
		const size_t i = (first + k) % MAX_MAPPINGS;
		uintptr_t free_slot = 0;

		if (atomic_load_explicit(&slots[i].start, memory_order_relaxed) != 0 ||
		    !atomic_compare_exchange_strong(&slots[i].start, &free_slot, 1))
			continue;
		atomic_store(&slots[i].faults, 0);
		atomic_store(&slots[i].end, (uintptr_t)start + size);
		atomic_store(&slots[i].start, (uintptr_t)start);
		atomic_store(&next_slot, i + 1);
		atomic_fetch_add(&mapped, size);
		return i;
	}
	return MAX_MAPPINGS;
}

static void unwatch(size_t slot)
{
	atomic_fetch_sub(&mapped, atomic_load(&slots[slot].end) - atomic_load(&slots[slot].start));
	atomic_store(&slots[slot].end, 0); /* cleared first: no address is below 0 */
	atomic_store(&slots[slot].start, 0);
	if (slot < atomic_load(&next_slot))
		atomic_store(&next_slot, slot);
}

static bool replace_page(uintptr_t at)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < MAX_MAPPINGS; i++) {
		const uintptr_t start = atomic_load(&slots[i].start);
		const uintptr_t end = atomic_load(&slots[i].end);

		if (start <= 1 || at < start || at >= end)
			continue;
		atomic_fetch_add(&slots[i].faults, 1);
		return map_zeros((void *)(at / page * page), page);
	}
	return false;
}

static void on_sigbus(int signal_number, siginfo_t *info, void *context)
{
	const int saved = errno;

	/* Positive codes are faults of the machine; a process sent the others. */
	if (info->si_code <= 0 || !replace_page((uintptr_t)info->si_addr)) {
		signal(signal_number, SIG_DFL);
		raise(signal_number);
	}
	errno = saved;
}

void input_handle_signals(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof action);
	action.sa_sigaction = on_sigbus;
	action.sa_flags = SA_SIGINFO;
	sigemptyset(&action.sa_mask);
	(void)sigaction(SIGBUS, &action, NULL);
}

/* ---- mappings ---- */

/* A mapping is a buffer like others: it is unmapped with the last reference. */
static void mapping_destroy(struct input_buffer *b)
{
	struct input_mapping *m = (struct input_mapping *)b; /* the buffer is its first member */

	unwatch(m->slot);
	(void)munmap(b->bytes - m->skew, b->cap + m->skew);
	free(m);
}

static struct input_mapping *map_range(int fd, uint64_t offset, size_t size, const struct stat *st,
                                       int watched)
{
	const size_t skew = (size_t)(offset % (uint64_t)sysconf(_SC_PAGESIZE));
	struct input_mapping *m = calloc(1, sizeof *m);
	void *at;

	if (m == NULL) {
		errno = ENOMEM;
		return NULL;
	}
	at = mmap(NULL, size + skew, PROT_READ, MAP_PRIVATE, fd, (off_t)(offset - skew));
	if (at == MAP_FAILED) {
		free(m);
		return NULL;
	}
	m->slot = watch(at, size + skew);
	if (m->slot == MAX_MAPPINGS) {
		(void)munmap(at, size + skew);
		free(m);
		errno = 0;
		return NULL;
	}
	(void)posix_madvise(at, size + skew, POSIX_MADV_SEQUENTIAL);
	m->skew = skew;
	m->buffer = (struct input_buffer){
		.bytes = (char *)at + skew, .cap = size, .mapped = true, .destroy = mapping_destroy
	};
	atomic_init(&m->buffer.refs, 1);
	m->id = input_id_of(st);
	m->watched = watched;
	return m;
}

/* Whether a mapping leaves enough of a limited address space (ulimit -v, as set by some batch systems) to the
 * memory of the program. */
static bool leaves_room(size_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
	       atomic_load(&mapped) + size <= limit.rlim_cur / 2;
}

struct input_mapping *input_map(int fd, const struct stat *st)
{
	if (!leaves_room((size_t)st->st_size))
		return NULL;
	return map_range(fd, 0, (size_t)st->st_size, st, -1);
}

struct input_mapping *input_map_part(int fd, uint64_t offset, size_t size, const struct stat *st)
{
	return map_range(fd, offset, size, st, fd);
}

static unsigned missing_pages(const struct input_mapping *m)
{
	return atomic_load(&slots[m->slot].faults);
}

void input_map_forget(const struct input_mapping *m, size_t from, size_t to)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	from = (from + m->skew + page - 1) / page * page;
	to = (to + m->skew) / page * page;
	if (from < to)
		map_forget(m->buffer.bytes - m->skew + from, to - from);
}

enum input_fault input_map_look(const struct input_mapping *m, const struct input *in)
{
	const int fd = m->watched >= 0 ? m->watched : input_fd_of(in->path);
	struct stat st;

	if (missing_pages(m) > 0)
		return INPUT_SHRUNK;
	if ((fd >= 0 ? fstat(fd, &st) : stat(in->path, &st)) != 0)
		return INPUT_OK;
	return input_id_compare(&m->id, &st, in->again);
}

/* A file that is cut within a page, or within the last pages, reads as zeros without a signal, so its size is
 * checked too. */
static bool map_changed(const struct input_mapping *m, struct input *in, size_t at, size_t *looked)
{
	if (missing_pages(m) > 0)
		return input_fail_compared(in, INPUT_SHRUNK);
	if (at != m->buffer.cap && at - *looked < STAT_STEP)
		return false;
	*looked = at;
	return input_fail_compared(in, input_map_look(m, in));
}

/* ---- a mapped file ---- */

enum { FORGET_STEP = 8 << 20 /* mapped bytes before the reader that may stay in memory */ };

struct file {
	struct input_source source; /* the reference to its mapping is in `current` */
	size_t step;                /* bytes before the reader that may stay in memory */
	size_t forgotten;           /* pages before this offset were given back */
	size_t looked;              /* offset of the last check of the size */
};

static bool file_more(struct input *in)
{
	in->last = true;
	return false;
}

static void file_keep(struct input *in, size_t bytes)
{
	struct file *f = (struct file *)in->source;

	f->step = bytes < FORGET_STEP ? bytes : FORGET_STEP;
}

static void file_release_read(struct input *in)
{
	struct file *f = (struct file *)in->source;
	const size_t at = (size_t)(in->p - f->source.mapping->buffer.bytes);

	if (at < f->forgotten) /* the reader moved back */
		f->forgotten = at;
	if (at - f->forgotten < f->step)
		return;
	/* Also forgets the previous step: batches that were in use then may have read it again. */
	input_map_forget(f->source.mapping, f->forgotten < f->step ? 0 : f->forgotten - f->step, at);
	f->forgotten = at;
}

static bool file_shrunk(struct input *in)
{
	struct file *f = (struct file *)in->source;
	const size_t at = (size_t)(in->p - f->source.mapping->buffer.bytes);

	if (!map_changed(f->source.mapping, in, at, &f->looked))
		return false;
	in->fault_offset = input_offset(in, in->p);
	return true;
}

INPUT_SOURCE_OPS(file, .release_read = file_release_read, .keep = file_keep);

bool input_file_start(struct input *in, struct input_mapping *m)
{
	struct file *f = calloc(1, sizeof *f);

	if (f == NULL) {
		input_buffer_drop(&m->buffer);
		return input_fail(in, INPUT_SYSTEM, "out of memory");
	}
	f->source.file_size = m->buffer.cap;
	f->source.can_reopen = true;
	f->source.mapping = m;
	f->step = FORGET_STEP;
	in->source = &f->source;
	in->ops = &file_ops;
	input_show(in, &m->buffer, m->buffer.bytes, m->buffer.bytes + m->buffer.cap);
	in->last = true;
	return true;
}

/* ---- a file by pieces ---- */

/*
 * Only a small piece of the file is in memory at a time, and it is open only while a piece is read: thousands
 * can be read side by side without running out of memory, descriptors or mappings.  For a record much larger
 * than a piece the file is mapped from there on, so that its bytes cost memory only when they are accessed.
 */
enum {
	MIN_PIECE = 256,
	MAX_PIECE = 64 << 10,
};

struct pieces {
	struct input_source source;
	uint64_t at; /* offset after the bytes that were read */
	size_t piece;
	struct input_mapping *rest; /* NULL: not mapped; else the reference is in source.current */
	size_t looked;              /* offset in the mapping of the last check of the size */
	struct stat st;             /* stat of the file when it was opened */
};

static void piece_destroy(struct input_buffer *b)
{
	free(b);
}

static struct input_buffer *piece_new(size_t cap)
{
	struct input_buffer *const b = malloc(sizeof *b + cap);

	if (b == NULL)
		return NULL;
	*b = (struct input_buffer){ .bytes = (char *)(b + 1), .cap = cap, .destroy = piece_destroy };
	atomic_init(&b->refs, 1);
	return b;
}

/* Opens the file again; it must be the same file, and not shorter. */
static int reopen_file(struct input *in, const struct pieces *s)
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

/* Maps the file: the window is the rest of the file.  Returns false if it cannot be mapped. */
static bool map_rest(struct input *in, struct pieces *s, int fd)
{
	const size_t size = (size_t)s->source.file_size, here = (size_t)input_offset(in, in->p);
	struct input_mapping *const m = input_map(fd, &s->st);

	if (m == NULL)
		return false;
	input_show(in, &m->buffer, m->buffer.bytes + here, m->buffer.bytes + size);
	in->last = true;
	s->at = size;
	s->rest = m;
	return true;
}

/* Moves the unread bytes to a new buffer, and reads a piece after them. */
static bool read_piece(struct input *in, struct pieces *s, int fd)
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

/* Reads more of the open file, and closes it. */
static bool read_more(struct input *in, struct pieces *s, int fd)
{
	const bool large = (size_t)(in->end - in->p) >= MAX_PIECE;
	const bool got = (large && map_rest(in, s, fd)) || read_piece(in, s, fd);

	(void)close(fd);
	if (got && s->at >= s->source.file_size)
		in->last = true;
	return got;
}

static bool pieces_more(struct input *in)
{
	struct pieces *const s = (struct pieces *)in->source;

	if (s->at >= s->source.file_size) {
		in->last = true;
		return false;
	}
	const int fd = reopen_file(in, s);
	return fd >= 0 && read_more(in, s, fd);
}

/* Bytes that were read are valid; a shorter file is noticed at the next piece. */
static bool pieces_shrunk(struct input *in)
{
	struct pieces *const s = (struct pieces *)in->source;

	if (s->rest == NULL || !map_changed(s->rest, in, (size_t)(in->p - s->rest->buffer.bytes), &s->looked))
		return false;
	in->fault_offset = input_offset(in, in->p);
	return true;
}

INPUT_SOURCE_OPS(pieces);

void input_pieces_start(struct input *in, int fd, const struct stat *st, size_t piece)
{
	struct pieces *const s = calloc(1, sizeof *s);

	if (s == NULL) {
		(void)input_fail(in, INPUT_SYSTEM, "out of memory");
		(void)close(fd);
		return;
	}
	s->source.file_size = (uint64_t)st->st_size;
	s->source.can_reopen = true;
	s->piece = piece < MIN_PIECE ? MIN_PIECE : piece > MAX_PIECE ? MAX_PIECE : piece;
	s->st = *st;
	s->source.id = input_id_of(st);
	in->source = &s->source;
	in->ops = &pieces_ops;
	(void)read_more(in, s, fd);
}

/* ---- a pipe ---- */

/*
 * The window slides over buffers.  It grows while its buffer has space after it.  Then the unread bytes are
 * moved to the start of a new buffer of at least twice their number, so that each byte is moved a few times
 * at most, however long a record is.
 */
enum { MIN_READ = 64 << 10 /* space for one read(), bytes */ };

struct stream {
	struct input_source source;
	struct input_pool *pool;
	int fd;
	int error; /* errno of the read that failed; 0: none */
	bool ended;
};

enum input_fault input_fd_look(int fd, const struct input *in)
{
	struct stat st;

	if (in->source->id.inode == 0 || fstat(fd, &st) != 0)
		return INPUT_OK;
	return input_id_compare(&in->source->id, &st, in->again);
}

static bool stream_end(struct input *in, const struct stream *s)
{
	in->last = true;
	return s->error != 0 ? input_fail_errno(in, "cannot read: ", s->error) : false;
}

static bool stream_more(struct input *in)
{
	struct stream *s = (struct stream *)in->source;
	struct input_buffer *b = s->source.current;
	size_t used;
	ssize_t got;

	if (s->ended)
		return stream_end(in, s);
	if (b == NULL || (size_t)(b->bytes + b->cap - in->end) < MIN_READ) {
		if (!input_widen(in, s->pool, NULL, 0))
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

/* Bytes that were read are valid, but the end may be too early. */
static bool stream_shrunk(struct input *in)
{
	const struct stream *const s = (const struct stream *)in->source;

	return s->ended && input_fail_compared(in, input_fd_look(s->fd, in));
}

static void stream_close(struct input *in)
{
	struct stream *s = (struct stream *)in->source;

	(void)close(s->fd);
	input_pool_close(s->pool);
	free(s);
}

INPUT_SOURCE_OPS(stream, .close = stream_close);

bool input_stream_start(struct input *in, int fd, struct input_buffer *probed, struct input_pool *pool)
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
