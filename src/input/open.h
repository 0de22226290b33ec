#ifndef INPUT_OPEN_H
#define INPUT_OPEN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/table.h"
#include "input/input.h"
#include "input/input_pins.h"

/* ---- the files of a run ---- */

/*
 * A run may read an input in several passes, and each must see the same file: positions that one pass found
 * are wrong in another file.
 *
 * The first INPUT_FILES_OPEN files stay open from the first pass on, so another file may get the name of one
 * of them.  Of the others, a file that is opened again must be the same as before: device, inode, size and
 * time of the last change.  Writes to a file between two passes are noticed for all.  A file that could not
 * be opened at first is missing in later passes too.
 *
 * Zero-initialise to start, but for `lock`.  Any thread may use it.  About 100 bytes a file.
 */

#define INPUT_FILES_OPEN 16

/* Identifies a file and its state. */
struct input_id {
	dev_t device;
	ino_t inode;
	uint64_t size; /* bytes */
	struct timespec modified;
};

struct input_files {
	pthread_mutex_t lock;   /* PTHREAD_MUTEX_INITIALIZER */
	struct table64 by_path; /* hash of the path -> index of a row */
	struct input_files_row {
		struct input_id id;
		int fd; /* open; -1: none */
		char *
		    fault; /* of the first attempt to open it: its kind in a byte, and the text; NULL: none */
	} * rows;
	uint32_t n, cap, nopen;
	void (*before_again)(void *ctx,
	                     const char *path); /* for tests: called before a file is opened again */
	void *ctx;
	atomic_bool changed; /* an input was another file, or a further pass could not open it */
	char *changed_path;  /* of the first such; NULL: none, or OOM */
	char changed_why[300];
};

/* Closes files.  The inputs must be closed already. */
void input_files_free(struct input_files *f);

/* ---- inputs ---- */

/* Opens a path ("-": standard input; "/dev/stdin" and "/dev/fd/N" too, so that process substitution works).
 * Regular files are mapped read-only, everything else is read; gzip, zstd and xz are recognised by content
 * and unpacked on a thread of their own.  A named FIFO, device, folder, socket or terminal is refused without
 * blocking.  NULL only on OOM; on failure ->fault is set, and the window is empty and last.  The first window
 * is ready (at least 64 KiB or the whole input, for probing).
 *
 * The bytes of a window are valid as long as it is the current one, its buffer is held (struct input_pins),
 * or the input is a mapped file and open. */
struct input *input_open(const char *path);

struct input_archive;

/* Likewise for a path that may lead into an archive (NULL: none), and for one of the files of a run (NULL:
 * read once), which both outlive the input. */
struct input *input_open_in(struct input_files *files, const struct input_archive *a, const char *path);

/* As input_open_in() for one of thousands of inputs that are read side by side: of a plain regular file about
 * `piece` bytes are in memory at a time, and neither a descriptor nor a mapping is kept. */
struct input *input_open_pieces(struct input_files *files, const char *path, size_t piece);

/* Whether a path names a file, not an open descriptor: reading it consumes nothing. */
bool input_is_named(const char *path);

/* The descriptor that a path stands for ("-", "/dev/stdin", "/dev/fd/63"); -1: a file name. */
int input_fd_of(const char *path);

/* Bytes in memory, for tests: not copied, the window has all of them. */
struct input *input_from_memory(const char *p, size_t n);

/* Bytes in memory in a sliding window that grows by at most `step` bytes each time (>= 1), with a new buffer
 * each time: for tests of readers, every record crosses the end of a window. */
struct input *input_from_memory_slowly(const char *p, size_t n, size_t step);

/* Whether a second, independent input on the same bytes can be opened. */
bool input_can_reopen(const struct input *in);

/* A second input on the same bytes, from the start; NULL: impossible.  Close it before the first. */
struct input *input_reopen(const struct input *in);

/* Size of the file in bytes (packed); 0 if unknown (pipes). */
uint64_t input_file_size(const struct input *in);

/* Pages of a mapped file before p are not needed soon: gives them back to the system now and then. */
void input_release_read(struct input *in);

/* About how many bytes before p may stay in memory; for inputs that are read side by side. */
void input_keep(struct input *in, size_t bytes);

/* Whether bytes that were read may be wrong or incomplete because the file shrank or was written to; sets
 * ->fault.  Stays true.  A file that is read once may grow. */
bool input_shrunk(struct input *in);
void input_close(struct input *in); /* NULL is fine */

/* Installs the SIGBUS handler that turns a shrinking file into INPUT_SHRUNK.  Once, from main. */
void input_handle_signals(void);

/* ---- files that are no traces ---- */

/* A file that is read at once: a key, a policy, a vocabulary, a baseline. */
struct input_whole {
	char *p; /* n bytes and a NUL; to be freed */
	size_t n;
	bool too_large, no_memory; /* why it failed */
	char why[128];             /* "is a named FIFO"; empty for a file that is too large */
};

/* Reads at most `max` bytes of a path.  "-", /dev/stdin, /dev/fd/N and /proc/self/fd/N may be pipes; other
 * names must be regular files, and no FIFO is waited for.  Returns false with the reason in *w. */
bool input_read_whole(struct input_whole *w, const char *path, size_t max);

/* Likewise of a file that may be packed: reads at most `max` bytes unpacked. */
bool input_read_unpacked(struct input_whole *w, const char *path, size_t max);

/* As input_read_whole() from an open descriptor, from its offset on. */
bool input_read_whole_fd(struct input_whole *w, int fd, size_t max);

/* Makes the path of a descriptor ("-", "/dev/fd/63") reopenable.  A pipe, or a partly read file, is copied to
 * an unnamed temporary file in the folder of `near` (NULL: as spill_open()), which replaces the descriptor.
 * Other paths, and paths that input_open() refuses, are unchanged.  Returns false with *why: NUL-terminated,
 * at most n bytes. */
bool input_spool(const char *path, const char *near, char *why, size_t n);

/* A file in a format that tracetool does not read, by its first bytes, and what to do with it. */
struct input_foreign {
	const char *name;   /* "bzip2-compressed data" */
	const char *advice; /* "unpack it first (bzip2 -d)" */
};

/* NULL: unknown. */
const struct input_foreign *input_foreign_find(const char *p, size_t n);

/* ---- the files below a folder ---- */

/*
 * Links are followed unless they lead out of the folder; those and folders on
 * other file systems are left out, and reported as one problem.  Each folder is
 * visited once (so loops of links are harmless), and the folder itself may be a
 * link.  The result does not depend on the order of the file system: files are
 * sorted by the bytes of their paths.
 */
struct input_tree_problem {
	char *path;
	enum input_fault fault; /* INPUT_MISSING, ..._DENIED, ..._NOT_A_FILE, ..._SYSTEM, or a warning */
	char *text;             /* the reason, without the path */
};

struct input_tree {
	char **paths; /* beginning with the name of the folder */
	size_t n, cap;
	struct input_tree_problem *problems; /* sorted by path */
	size_t nproblems, problems_cap;
	bool no_memory;
};

/* More files are not listed, which is a problem of the folder. */
#define INPUT_TREE_MAX 1000000

/* Whether the path leads to a folder.  False also if that is unknown; input_open() then reports why. */
bool input_is_folder(const char *path);

/* Lists the files whose last name is wanted.  Other things with a wanted name are problems, and so is
 * everything that cannot be examined, as it may be a folder.  Archives, and names that are wanted in lower
 * case only, are left out, which is one problem.  Fills *t (zeroed before); end with
 * input_tree_free(). */
void input_tree_list(struct input_tree *t, const char *folder, bool (*wanted)(void *ctx, const char *name),
                     void *ctx);

/* Copies both texts.  Sets no_memory on OOM. */
void input_tree_add_problem(struct input_tree *t, const char *path, enum input_fault fault, const char *text);
void input_tree_free(struct input_tree *t);

/* ---- archives ---- */

/*
 * A tar archive (POSIX ustar and pax, GNU and V7), plain or packed by gzip,
 * zstd or xz, read as the folder that was put into it.  The file "a/b" of the
 * archive "run.tar" has the path "run.tar:/a/b", which input_open_in() opens as
 * long as the archive is open.
 *
 * Nothing is written under a name from the archive, and such a path never leads
 * out of it.  Files of a packed archive that readers need are unpacked to a spill
 * file (base/os.h), all others are skipped.  A hard link is read as the earlier
 * file that it names.  Files that are named like traces and cannot be read are
 * problems, and so is damage: the archive is read to its end, also after blocks
 * of zeros, where another one may follow.
 */

/* The names that readers need, without folders.  ctx outlives the archive. */
struct input_names {
	bool (*wanted)(void *ctx, const char *name); /* listed */
	bool (*beside)(void *ctx, const char *name); /* only opened, next to a listed file */
	void *ctx;
};

/* Whether the path has the name of an archive: .tar, .tar.gz, .tgz, .tar.zst, .tzst,
 * .tar.xz, .txz. */
bool input_is_archive(const char *path);

/* Reads the whole archive; any thread may then open its files.  If it is not an archive, or cannot be read,
 * that is one of the problems of input_archive_list().  NULL only on OOM. */
struct input_archive *input_archive_open(const char *path, struct input_names names);

/* Whether the path leads into the archive: "run.tar:/a/b" or, for files next to its files, "run.tar/b". False
 * for NULL. */
bool input_archive_holds(const struct input_archive *a, const char *path);

const char *input_archive_path(const struct input_archive *a); /* of the file, as it was opened */

/* As input_tree_list(), with the problems of the archive. */
void input_archive_list(const struct input_archive *a, struct input_tree *t);
void input_archive_close(struct input_archive *a); /* NULL is fine */

#endif
