#ifndef INPUT_PRIVATE_H
#define INPUT_PRIVATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "input/open.h"

/* ---- input source ---- */

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
	struct input_id id; /* of a regular file that is read through a descriptor; inode 0: none */
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
	struct input_id id;         /* of the file */
	int watched; /* a descriptor of the file that outlives the inputs; -1: it has its path alone */
};

/* Maps a file whole.  NULL if it cannot be mapped; errno says why, 0: too many are mapped already, read it
 * instead. */
struct input_mapping *input_map(int fd, const struct stat *st);

/* The same of `size` bytes from `offset` on, of a file that stays open as long as there are inputs on it. */
struct input_mapping *input_map_part(int fd, uint64_t offset, size_t size, const struct stat *st);

/* A file in an archive, by the input's path: sets up the source, or the fault. */
void input_archive_start(struct input *in, const struct input_archive *a);

/* Takes over the mapping: plain or packed. */
bool input_mapped_start(struct input *in, struct input_mapping *m);

/* Gives the pages in [from, to) back to the system, where whole. */
void input_map_forget(const struct input_mapping *m, size_t from, size_t to);

/* What became of the mapped file since it was opened: input_id_compare(), or INPUT_SHRUNK if a page was found
 * missing. */
enum input_fault input_map_look(const struct input_mapping *m, const struct input *in);

/* True after the fault is set: the same, that is looked at now and then while `at` moves on, and at the end
 * of the mapping.  *looked: 0 at first. */
bool input_map_changed(const struct input_mapping *m, struct input *in, size_t at, size_t *looked);

/* What became of a file: INPUT_SHRUNK, INPUT_CHANGED if it was written to, or INPUT_OK, also if `now` is
 * another one, which is no matter to who has it open.  again: what an earlier pass saw must not even grow. */
enum input_fault input_id_compare(const struct input_id *was, const struct stat *now, bool again);

/* Sets a fault that was found so.  false: there is none. */
bool input_fail_compared(struct input *in, enum input_fault fault);

/* The first window.  What goes wrong after some bytes is told when they are used up. */
void input_prime(struct input *in);

/* For the registry: which mapping a missing page belongs to. */
enum { INPUT_NO_SLOT = 32768 };

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

/* input_id_compare() of a descriptor; INPUT_OK if it is no regular file, or `was` is of none. */
enum input_fault input_fd_look(int fd, const struct input *in);

/* A pipe as large as a buffer instead of 64 KiB: a third of the time, as nobody waits for the other side
 * after every few records.  No harm if it cannot be. */
void input_widen_pipe(int fd);

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

/* ---- input spool ---- */

/* Makes a path that stands for a descriptor ("-", "/dev/fd/63") one that can be opened again and again: if it
 * is a pipe, or a file that was begun to be read, what is left of it is copied to a temporary file without a
 * name in the folder of `beside` (NULL: as spill_open() says), which becomes that descriptor.  Other paths,
 * and what input_open() refuses, stay as they are.
 *
 * false: *why holds the message, NUL-terminated, at most n bytes. */
bool input_spool(const char *path, const char *beside, char *why, size_t n);

/* ---- input whole ---- */

/* A file that is no trace and is read as a whole: a key, a policy, a vocabulary, a baseline. */
struct input_whole {
	char *p; /* n bytes and a NUL behind them; to be freed */
	size_t n;
	bool too_large, no_memory; /* why it failed */
	char why[128];             /* "is a named FIFO"; of a file that is too large, nothing */
};

/* Reads at most `most` bytes of a path, as they are.  "-", /dev/stdin, /dev/fd/N and /proc/self/fd/N may be
 * pipes; what has a name of its own must be a regular file, and no FIFO is waited for.  false: see above. */
bool input_read_whole(struct input_whole *w, const char *path, size_t most);

/* The same from an open descriptor, from where it stands. */
bool input_read_whole_fd(struct input_whole *w, int fd, size_t most);

/* ---- input tar ---- */

/* Headers of tar archives: blocks of 512 bytes (POSIX.1-2001 pax, "ustar Interchange Format"; GNU tar, "Basic
 * Tar Format"). */
enum { TAR_BLOCK = 512, TAR_NAME_MAX = 4096 };

enum tar_kind {
	TAR_END, /* a block of zeros */
	TAR_BAD, /* no header: the checksum is wrong */
	TAR_FILE,
	TAR_FOLDER,
	TAR_HARD_LINK, /* to a file that came before */
	TAR_SYMBOLIC_LINK,
	TAR_SPECIAL,   /* a device or a FIFO */
	TAR_SPARSE,    /* a file with holes: its data are not as they are in the file */
	TAR_CONTINUED, /* the rest of a file that began in another volume */
	TAR_LONG_NAME, /* GNU: what follows is the name of the next file */
	TAR_LONG_LINK, /* GNU: what follows is what the next link leads to */
	TAR_PAX,       /* what follows are attributes of the next file */
	TAR_GLOBAL,    /* what follows are attributes of all files from here on */
	TAR_EXTENSION, /* of no use here */
};

/* What headers say of a file; some may have been said by earlier ones, see `has`. */
struct tar_entry {
	enum tar_kind kind;
	char name[TAR_NAME_MAX];   /* NUL-terminated, without "./" and "/" before it; empty: too long */
	char target[TAR_NAME_MAX]; /* the same of what a hard link leads to; empty: too long */
	uint64_t size;             /* of the data of a file, which follow its header */
	uint64_t extension;        /* the same of what is no file, TAR_LONG_NAME and behind */
	bool more_map;             /* TAR_SPARSE: further blocks of its map are between header and data */
	struct tar_said {
		bool name, target, size; /* by a header before */
		bool sparse;             /* a pax header says that the file has holes */
		bool continued;          /* or that it began in another volume */
		bool real_name;          /* the name is that of the file with holes */
	} has;
};

/* Reads a block.  e: zeroed, or what the extensions before this block said. */
void tar_read_header(struct tar_entry *e, const char *block);

/* Whether a block of the map of a file with holes, behind the header, has a further one behind it. */
bool tar_map_goes_on(const char *block);

/* Sets a name or target, of n bytes; too long: it is empty. */
void tar_set_name(char *to, const char *p, uint64_t n);

/* A record of a pax header, without its length and line end: KEY=VALUE.  tar_pax_wants() says whether a key
 * is of use here; others need not be read. */
enum { TAR_KEY_MAX = 64 };

bool tar_pax_wants(const char *key, size_t n);

/* value: may be not all there if it has TAR_NAME_MAX bytes or more.  false: it makes no sense. */
bool tar_pax_set(struct tar_entry *e, const char *key, size_t n, const char *value, uint64_t nvalue);

/* How many bytes of padding follow data of this size. */
static inline uint64_t tar_padding(uint64_t size)
{
	return -size % TAR_BLOCK;
}

/* ---- input foreign ---- */

/* What an input is that no format recognises, told by its first bytes, and what to do with it. */
struct input_foreign {
	const char *name;   /* "bzip2-compressed data" */
	const char *advice; /* "unpack it first (bzip2 -d)" */
};

/* NULL: nothing that is known. */
const struct input_foreign *input_foreign_find(const char *p, size_t n);

#endif
