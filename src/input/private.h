#ifndef INPUT_PRIVATE_H
#define INPUT_PRIVATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/compiler.h"
#include "input/open.h"

/*
 * Declarations that the files of input/ share:
 *
 *     window.c   parts common to all sources: faults, the window, its buffers
 *     open.c     opens a path as a source, or reads it as a whole
 *     file.c     sources: a mapped file, and SIGBUS when it shrinks; a file by pieces, a pipe
 *     packed.c   the source that unpacks on a thread, with codecs.c
 *     archive.c  files in a tar archive, with tar.c
 *     files.c    the files of a run, which must not change between passes
 *     tree.c     the files below a folder
 */

/* ---- window.c: buffers ---- */

enum {
	INPUT_BUFFER_SIZE = 1 << 20, /* bytes of a pooled buffer */
	INPUT_FIRST_WINDOW = 64 << 10,
};

struct input_pool; /* buffers of one input; lives until its last buffer is dropped */

struct input_buffer {
	atomic_uint refs;
	char *bytes;
	size_t cap;
	size_t first, len;         /* len: filled bytes; before `first` is space for an unread tail */
	bool mapped;               /* a file, whose memory the system can take back */
	struct input_buffer *next; /* in a list of idle buffers or in a queue */
	struct input_pool *pool;
	void (*destroy)(struct input_buffer *b); /* called when the last reference is dropped */
};

struct input_pool *input_pool_new(void);

/* Called by the owner; buffers in use are freed when they are dropped. */
void input_pool_close(struct input_pool *pool);

/* Returns a buffer of at least cap bytes, not cleared, with one reference. */
struct input_buffer *input_buffer_new(struct input_pool *pool, size_t cap);
void input_buffer_ref(struct input_buffer *b);
void input_buffer_drop(struct input_buffer *b); /* NULL is fine */

/* ---- window.c: sources ---- */

/* The first member of every source. */
struct input_source {
	struct input_buffer *current;  /* buffer of the window, one reference; NULL: caller's memory */
	struct input_mapping *mapping; /* of the whole (packed) file, held by the source; NULL: none */
	uint64_t file_size;
	struct input_id id; /* the regular file that is read through a descriptor; inode 0: none */
	bool can_reopen;
};

struct input_source_ops {
	/* As input_more().  After the end it must return the same result again. */
	bool (*more)(struct input *in);
	/* As input_shrunk(); called only if the fault is neither INPUT_SHRUNK nor INPUT_CHANGED. */
	bool (*shrunk)(struct input *in);
	/* Frees in->source, except current; NULL: free() is enough. */
	void (*close)(struct input *in);
	/* As input_reopen(); NULL: shares the mapping or, without one, opens the path. */
	struct input *(*reopen)(const struct input *in);
	/* See input_release_read() and input_keep(); NULL: nothing to do. */
	void (*release_read)(struct input *in);
	void (*keep)(struct input *in, size_t bytes);
};

/* Defines NAME_ops from NAME_more and NAME_shrunk, which every source must have (else it does not compile),
 * and from initialisers of the other members. */
#define INPUT_SOURCE_OPS(name, ...)                                                                          \
	static const struct input_source_ops name##_ops = { .more = name##_more,                             \
		                                            .shrunk = name##_shrunk,                         \
		                                            __VA_ARGS__ }

/* Returns an input without a source: fault INPUT_OK, empty window. */
struct input *input_new(const char *path);

/* Moves the window to [p, end) in b, and takes over the reference of b; the first unread byte stays the
 * first. */
void input_show(struct input *in, struct input_buffer *b, const char *p, const char *end);

/* Moves the unread bytes, and the n bytes at `more` after them, to the start of a new buffer of at least
 * twice their number.  Returns false with the fault set on OOM. */
bool input_widen(struct input *in, struct input_pool *pool, const char *more, size_t n);

/* Set the fault at the end of the window, and `last`.  Return false. */
PRINTF(3, 4) bool input_fail(struct input *in, enum input_fault fault, const char *fmt, ...);
bool input_fail_errno(struct input *in, const char *what, int error); /* what: "" or "cannot map: " */
enum input_fault input_fault_of_errno(int error);

/* ---- open.c ---- */

/* Reads the first window.  A fault after some bytes is reported when the bytes are consumed. */
void input_prime(struct input *in);

/* Opens a path for reading.  Returns -1 with errno, never EINTR. */
int input_open_fd(const char *path);

/* Reads; retries after EINTR, and waits if another process made the descriptor non-blocking. */
ssize_t input_read_fd(int fd, void *to, size_t n);

/* ---- files.c ---- */

/* Changes of a file: INPUT_SHRUNK; INPUT_CHANGED if it was written to; else INPUT_OK, also if `now` is
 * another file, which does not affect an open one.  again: after an earlier pass even growth is a change. */
enum input_fault input_id_compare(const struct input_id *was, const struct stat *now, bool again);
struct input_id input_id_of(const struct stat *st);

/* Sets the fault.  Returns false if it is INPUT_OK. */
bool input_fail_compared(struct input *in, enum input_fault fault);

enum input_files_known {
	INPUT_FILES_NEW,
	INPUT_FILES_AGAIN,  /* an earlier pass opened it */
	INPUT_FILES_FAILED, /* an earlier pass could not open it: the fault is set */
};

/* Looks up the input's path.  *fd: a new descriptor of the file that was opened before; -1: the path must be
 * opened. */
enum input_files_known input_files_look(struct input_files *f, struct input *in, int *fd);

/* Notes that the path could not be opened, and the fault, which must be set. */
void input_files_note_fault(struct input_files *f, struct input *in);

/* Notes the opened file, or compares it with the earlier file.  Returns false with the fault set if it is
 * another file, or on OOM. */
bool input_files_note(struct input_files *f, struct input *in, int fd, const struct stat *st);

/* Closes the kept descriptor: the input reads through a copy, which shares the file offset. */
void input_files_unkeep(struct input_files *f, const struct input *in);

/* ---- file.c: mappings ---- */

/* A file, or a part of one, mapped as a whole and shared by its inputs. */
struct input_mapping {
	struct input_buffer buffer; /* bytes and cap are the mapping */
	size_t skew;                /* bytes from the start of a page to buffer.bytes */
	size_t slot;                /* slot in the list of the signal handler */
	struct input_id id;         /* the mapped file */
	int watched;                /* a descriptor of the file that outlives the inputs; -1: use the path */
};

/* Maps a file.  Returns NULL if it cannot be mapped, or would take too much of a limited address space: read
 * it instead. */
struct input_mapping *input_map(int fd, const struct stat *st);

/* Maps `size` bytes from `offset` on, of a file that stays open as long as it has inputs.  Returns NULL with
 * errno; 0: too many files are mapped. */
struct input_mapping *input_map_part(int fd, uint64_t offset, size_t size, const struct stat *st);

/* Gives the whole pages in [from, to) back to the system. */
void input_map_forget(const struct input_mapping *m, size_t from, size_t to);

/* input_id_compare() of the mapped file, or INPUT_SHRUNK if a page was missing. */
enum input_fault input_map_look(const struct input_mapping *m, const struct input *in);

/* ---- the sources; each takes over its arguments, and on failure sets the fault ---- */

bool input_file_start(struct input *in, struct input_mapping *m);

/* For plain or packed files. */
bool input_mapped_start(struct input *in, struct input_mapping *m);

/* For a file with about `piece` bytes in memory, and no descriptor: reads the first piece, and closes fd. */
void input_pieces_start(struct input *in, int fd, const struct stat *st, size_t piece);

/* probed: bytes that were read from fd already. */
bool input_stream_start(struct input *in, int fd, struct input_buffer *probed, struct input_pool *pool);
bool input_unpack_start_mapped(struct input *in, struct input_mapping *m);
bool input_unpack_start_stream(struct input *in, int fd, struct input_buffer *probed,
                               struct input_pool *pool);

/* For a file in an archive, by the input's path. */
void input_archive_start(struct input *in, const struct input_archive *a);

/* input_id_compare() of a descriptor; INPUT_OK if the source is not a regular file. */
enum input_fault input_fd_look(int fd, const struct input *in);

/* ---- codecs.c ---- */

/* Input and output of an unpacker, which moves both forward. */
struct unpack_io {
	const unsigned char *in;
	size_t nin;
	uint64_t offset; /* offset of `in` in the packed bytes */
	bool last;       /* no packed bytes follow these */
	unsigned char *out;
	size_t nout;     /* space in bytes */
	char fault[160]; /* reason on one line, when the unpacker stops */
};

enum unpack_result {
	UNPACK_GOING,  /* progress, or more space is needed */
	UNPACK_HUNGRY, /* more packed bytes are needed (some may be left); never after the last ones */
	UNPACK_END,
	UNPACK_CUT,
	UNPACK_CORRUPT,
	UNPACK_TRAILING,
	UNPACK_TOO_LARGE, /* the stream requests too much memory */
};

struct unpacker {
	void *(*start)(void);
	enum unpack_result (*step)(void *state, struct unpack_io *io);
	void (*stop)(void *state);
};

extern const struct unpacker input_gzip, input_zstd, input_xz;

/* ---- tree.c: files that are left out ---- */

/* Files of a folder or an archive that are left out although they may be traces: archives and files of other
 * packers, which are not opened, and files whose names would be wanted in lower case.  Zeroed to start. */
struct input_passed {
	size_t packed, upper;
	char first[300]; /* path of the first file; may be cut */
};

/* Counts a regular file that is not wanted, if it may be a trace.  name: the last part of the path. */
void input_passed_note(struct input_passed *p, bool (*wanted)(void *ctx, const char *name), void *ctx,
                       const char *path, const char *name);

/* Adds the problem of this folder or archive, if it has one. */
void input_passed_report(const struct input_passed *p, struct input_tree *t, const char *path);

/* ---- tar.c ---- */

/* Headers of tar archives: blocks of 512 bytes (POSIX.1-2001 pax, "ustar Interchange Format"; GNU tar, "Basic
 * Tar Format"). */
enum { TAR_BLOCK = 512, TAR_NAME_MAX = 4096 };

enum tar_kind {
	TAR_END, /* a block of zeros */
	TAR_BAD, /* not a header: the checksum is wrong */
	TAR_FILE,
	TAR_FOLDER,
	TAR_HARD_LINK, /* link to an earlier file */
	TAR_SYMBOLIC_LINK,
	TAR_SPECIAL,   /* a device or a FIFO */
	TAR_SPARSE,    /* a sparse file: the stored data are not those of the file */
	TAR_CONTINUED, /* the rest of a file that began in another volume */
	TAR_LONG_NAME, /* GNU: followed by the name of the next file */
	TAR_LONG_LINK, /* GNU: followed by the target of the next link */
	TAR_PAX,       /* followed by attributes of the next file */
	TAR_GLOBAL,    /* followed by attributes of all further files */
	TAR_EXTENSION, /* not used here */
};

/* Properties of a file from its headers, including earlier extension headers. */
struct tar_entry {
	enum tar_kind kind;
	char name[TAR_NAME_MAX];   /* NUL-terminated, without "./" and "/" before it; empty: too long */
	char target[TAR_NAME_MAX]; /* target of a hard link, likewise */
	uint64_t size;             /* size of the data of a file, which follow its header */
	uint64_t extension;        /* size of the data of TAR_LONG_NAME and the kinds below it */
	bool more_map;             /* TAR_SPARSE: further blocks of its map are between header and data */
	struct tar_stated {
		bool name, target, size; /* set by an earlier header */
		bool sparse;             /* by a pax header: the file is sparse */
		bool continued;          /* by a pax header: the file began in another volume */
		bool real_name;          /* the name is that of the sparse file */
	} has;
};

/* Reads a block.  e: zeroed, or with the values of extensions before this block. */
void tar_read_header(struct tar_entry *e, const char *block);

/* Whether another block of the map of a sparse file follows this one. */
bool tar_map_goes_on(const char *block);

/* Sets a name or target, of n bytes; empty if it is too long. */
void tar_set_name(char *to, const char *p, uint64_t n);

/* A record of a pax header, without its length and line end: KEY=VALUE.  tar_pax_wants() states which keys
 * are used here; others need not be read. */
enum { TAR_KEY_MAX = 64 };

bool tar_pax_wants(const char *key, size_t n);

/* Sets a property from a record.  value: may be incomplete if it has TAR_NAME_MAX bytes or more.  Returns
 * false if it is invalid. */
bool tar_pax_set(struct tar_entry *e, const char *key, size_t n, const char *value, uint64_t nvalue);

/* Bytes of padding after data of this size. */
static inline uint64_t tar_padding(uint64_t size)
{
	return -size % TAR_BLOCK;
}

#endif
