#ifndef INPUT_INPUT_SOURCE_H
#define INPUT_INPUT_SOURCE_H

#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "input/input_open.h"

/* Private to input/: what stands behind a window, and the memory it lies in. */

enum {
	INPUT_BUFFER_SIZE = 1 << 20, /* of a buffer of a pool */
	INPUT_FIRST_WINDOW = 64 << 10,
};

struct input_pool; /* of buffers of one size, for one input; outlives it while buffers are held */

struct input_buffer {
	atomic_uint refs;
	char *bytes;
	size_t cap;
	size_t first, len;         /* unpacked buffers: what was filled; room in front for an unread tail */
	bool mapped;               /* a file: the system takes its memory back when it likes */
	struct input_buffer *next; /* in a list of idle buffers or in a queue */
	struct input_pool *pool;
	void (*destroy)(struct input_buffer *b); /* when the last reference is gone */
};

struct input_pool *input_pool_new(void);

/* By the owner; buffers that others still hold are freed as they come back. */
void input_pool_close(struct input_pool *pool);

/* At least cap bytes, not cleared, one reference; NULL when there is no memory. */
struct input_buffer *input_buffer_new(struct input_pool *pool, size_t cap);
void input_buffer_ref(struct input_buffer *b);
void input_buffer_drop(struct input_buffer *b); /* NULL is fine */

/* What every kind of source starts with. */
struct input_source {
	struct input_buffer *current; /* behind the window, one reference; NULL: the caller's memory */
	uint64_t file_size;
	bool can_reopen;
};

struct input_source_ops {
	/* As input_more.  Asked again after the end it must give the same answer. */
	bool (*more)(struct input *in);
	struct input *(*reopen)(const struct input *in);
	/* As input_shrunk; asked only while the fault is another one. */
	bool (*shrunk)(struct input *in);
	void (*close)(struct input *in);  /* frees in->source, except current */
	void (*behind)(struct input *in); /* NULL: nothing to do; so too below */
	void (*keep)(struct input *in, size_t bytes);
};

/* Defines NAME_ops, from NAME_more, NAME_reopen, NAME_shrunk and NAME_close, which every kind of source has:
 * without one of them it does not compile.  What follows are initialisers of the others. */
#define INPUT_SOURCE_OPS(name, ...)                                                                          \
	static const struct input_source_ops name##_ops = { .more = name##_more,                             \
		                                            .reopen = name##_reopen,                         \
		                                            .shrunk = name##_shrunk,                         \
		                                            .close = name##_close,                           \
		                                            __VA_ARGS__ }

/* An input without a source: fault INPUT_OK, empty window. */
struct input *input_new(const char *path);

/* Sets the fault at the end of the window, and `last`; false, so that it can be returned. */
__attribute__((format(printf, 3, 4))) bool input_fail(struct input *in, enum input_fault fault,
                                                      const char *fmt, ...);
bool input_fail_errno(struct input *in, const char *what, int error); /* what: "" or "cannot map: " */

enum input_fault input_fault_of_errno(int error);

/* Opens in->path for reading; -1 after a fault.  Named things that are no regular files are refused, without
 * waiting for their other sides; descriptors that somebody opened may be nearly anything. */
struct stat;
int input_open_path(struct input *in, struct stat *st);

/* The window moves to [p, end) in b, whose reference is taken over; the first unread byte stays the first. */
void input_show(struct input *in, struct input_buffer *b, const char *p, const char *end);

/* A file mapped as a whole, shared by its inputs. */
struct input_mapping {
	struct input_buffer buffer; /* bytes and cap are the mapping */
	size_t skew;                /* how far behind the begin of a page bytes are */
	size_t slot;                /* in the registry of the signal handler */
	dev_t device;
	ino_t inode;
};

/* NULL if it cannot be mapped; errno says why, 0: too many are mapped already, read it instead. */
struct input_mapping *input_map(int fd, size_t size, dev_t device, ino_t inode);

/* The same of `size` bytes from `offset` on. */
struct input_mapping *input_map_part(int fd, uint64_t offset, size_t size, dev_t device, ino_t inode);

/* A file in an archive, by the input's path: sets up the source, or the fault. */
void input_archive_start(struct input *in, const struct input_archive *a);

/* Takes over the mapping: plain or packed. */
bool input_mapped_start(struct input *in, struct input_mapping *m);

/* How often a page of the mapping was found missing. */
unsigned input_map_faults(const struct input_mapping *m);

/* Gives the pages in [from, to) back to the system, where whole. */
void input_map_forget(const struct input_mapping *m, size_t from, size_t to);

/* True if a page was found missing, or if the file at the path turns out to be shorter than the mapping: that
 * is looked at now and then while `at` moves on, and at the end of the mapping.  *looked: 0 at first. */
bool input_map_shrank(const struct input_mapping *m, const char *path, size_t at, size_t *looked);

/* True if the file at the path is the mapped one and shorter than the mapping. */
bool input_map_is_longer(const struct input_mapping *m, const char *path);

/* The first window.  What goes wrong after some bytes is told when they are used up. */
void input_prime(struct input *in);

/* For the registry: which mapping a missing page belongs to. */
enum { INPUT_NO_SLOT = 32768 };
size_t input_sigbus_watch(const void *start, size_t size); /* INPUT_NO_SLOT: full */
void input_sigbus_unwatch(size_t slot);
unsigned input_sigbus_faults(size_t slot);

/* The kinds of source.  Each takes over what it is given, and on failure has set the fault. */
bool input_file_start(struct input *in, struct input_mapping *m);

/* Keeps `piece` bytes in memory, about, and no descriptor. */
bool input_pieces_start(struct input *in, const struct stat *st, size_t piece);

/* probed: bytes already read from fd, with their reference; may be NULL. */
bool input_stream_start(struct input *in, int fd, struct input_buffer *probed, struct input_pool *pool);
bool input_unpack_start_mapped(struct input *in, struct input_mapping *m);
bool input_unpack_start_stream(struct input *in, int fd, struct input_buffer *probed,
                               struct input_pool *pool);

/* For reading; -1: errno, which is never EINTR. */
int input_open_fd(const char *path);

/* Reads; EINTR and a descriptor set non-blocking by somebody else are dealt with. */
ssize_t input_read_fd(int fd, void *to, size_t n);

/* True if fd is a regular file of less than `size` bytes (0: not known). */
bool input_fd_shrank(int fd, uint64_t size);

/* A pipe as large as a buffer instead of 64 KiB: a third of the time, as nobody waits for the other side
 * after every few records.  No harm if it cannot be. */
void input_widen_pipe(int fd);

/* What the first bytes of a file say. */
enum input_packing input_packing_of(const char *p, size_t n);

/* What an unpacker is given, and where it puts what it made.  It moves all of this forward. */
struct unpack_io {
	const unsigned char *in;
	size_t nin;
	uint64_t offset; /* of `in` in the packed bytes */
	bool last;       /* no packed bytes follow these */
	unsigned char *out;
	size_t nout;     /* room */
	char fault[160]; /* one line, when the unpacker stops */
};

enum unpack_result {
	UNPACK_GOING,  /* got on, or wants more room */
	UNPACK_HUNGRY, /* needs more packed bytes than it was given (it may leave a few); never when they are
	                  the last */
	UNPACK_END,
	UNPACK_CUT,
	UNPACK_CORRUPT,
	UNPACK_TRAILING,
	UNPACK_TOO_LARGE, /* asks for more memory than we give */
};

struct unpacker {
	void *(*start)(void); /* NULL: no memory */
	enum unpack_result (*step)(void *state, struct unpack_io *io);
	void (*stop)(void *state);
};
extern const struct unpacker input_gzip, input_zstd, input_xz;

/* Sets io->fault to the text and the packed offset; gives back `step`. */
enum unpack_result input_unpack_stop(struct unpack_io *io, enum unpack_result step, const char *text,
                                     uint64_t offset);

/* Packed bytes as they lie in a mapping or come through a descriptor. */
struct packed_bytes {
	struct input_mapping *mapping; /* NULL: a descriptor */
	size_t forgotten;              /* of the mapping: given back to the system */
	int fd;
	int cancel[2];               /* a pipe; with a byte in it, a waiting read gives up */
	struct input_buffer *buffer; /* of the descriptor */
};

/* Makes more bytes available behind those that are left, or sets io->last.  false: cannot be read (errno);
 * errno 0: cancelled. */
bool input_packed_fill(struct packed_bytes *packed, struct unpack_io *io);

/* The first bytes; false: no descriptors left (errno).  Takes over what it is given only on success. */
bool input_packed_start_mapped(struct packed_bytes *packed, struct input_mapping *m, struct unpack_io *io);
bool input_packed_start_stream(struct packed_bytes *packed, int fd, struct input_buffer *probed,
                               struct unpack_io *io);
void input_packed_cancel(struct packed_bytes *packed);
void input_packed_close(struct packed_bytes *packed);

#endif
