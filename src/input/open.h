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
#include "input/input_holds.h"

/* ---- input files ---- */

/*
 * The files that a run reads, by their paths.  A run may read an input in several passes, and each is to see
 * the same file: what one pass found is of no use for another file.
 *
 * The first INPUT_FILES_OPEN files stay open from the first pass on, so that it does no harm if another file
 * gets the name of one of them.  Of the others, a file that is opened again must be the same as before:
 * device, inode, size and time of the last change.  That a file was written to between two passes is noticed
 * for all of them.  A file that could not be opened at first is not there in later passes either.
 *
 * Zero-initialise to start, but for `lock`.  Any thread may use it.  About 100 bytes for each file.
 */
#define INPUT_FILES_OPEN 16

struct input;

/* What tells a file from others, and from itself at another time. */
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
	void (*before_again)(void *ctx, const char *path); /* for tests: a file is opened another time */
	void *ctx;
	atomic_bool changed; /* an input was another one, or another pass could not open it */
	char *changed_path;  /* of the first such; NULL: none, or no memory */
	char changed_why[300];
};

/* Closes files.  The inputs are closed already. */
void input_files_free(struct input_files *f);

/* ---- for input_open.c ---- */

enum input_files_known {
	INPUT_FILES_NEW,
	INPUT_FILES_AGAIN,  /* it was opened before */
	INPUT_FILES_FAILED, /* it could not be opened before: the fault is set */
};

/* What is known of the input's path.  *fd: a descriptor that is the caller's, on the file that was opened
 * before; -1: it is to be opened by its path. */
enum input_files_known input_files_look(struct input_files *f, struct input *in, int *fd);

/* Notes that it could not be opened: the fault is set. */
void input_files_note_fault(struct input_files *f, struct input *in);

/* Notes what was opened, or compares it with what was opened before.  false: it is another one, or there is
 * no memory; the fault is set. */
bool input_files_note(struct input_files *f, struct input *in, int fd, const struct stat *st);

/* The input is read through a descriptor, which moves the place in the file that is shared with the one that
 * is kept: that one is closed. */
void input_files_unkeep(struct input_files *f, const struct input *in);
struct input_id input_id_of(const struct stat *st);

/* ---- input open ---- */

/*
 * Opening and closing of inputs, and what the engine asks them.
 *
 * Lifetime of a window's bytes: valid as long as one of these is true: the input is a mapped file and open;
 * the buffer is held (struct input_holds); it is the current window.
 */

/* Opens a path ("-": standard input; "/dev/stdin" and "/dev/fd/N" too, so that process substitution works).
 * Regular files are mapped read-only, everything else is read; gzip, zstd and xz are told by content
 * and unpacked on a thread of their own.  A named FIFO, device, folder, socket or terminal is refused without
 * blocking.  Never NULL unless memory is out; on failure ->fault is set, and the window is empty and last.
 * The first window is ready (at least 64 KiB or the whole input, so that probing works). */
struct input *input_open(const char *path);

struct input_archive; /* input_archive.h */

/* The same for a path that may lead into an archive, which outlives the input (NULL: it does not), and for
 * one of the files of a run, which outlive it too (NULL: it is read once). */
struct input *input_open_in(struct input_files *files, const struct input_archive *a, const char *path);

/* As input_open_in() for one of very many inputs that are read side by side: of a plain regular file about
 * `piece` bytes are in memory at a time, and neither a descriptor nor a mapping is kept. */
struct input *input_open_pieces(struct input_files *files, const char *path, size_t piece);

/* Whether a path names a file, and is no descriptor that is open already: looking at it takes nothing away.
 */
bool input_is_named(const char *path);

/* The descriptor that a path stands for ("-", "/dev/stdin", "/dev/fd/63"); -1: an ordinary path. */
int input_fd_of(const char *path);

/* Bytes in memory, for tests: not copied, the window is the whole. */
struct input *input_from_memory(const char *p, size_t n);

/* Bytes in memory behind a sliding window that gives out at most `step` bytes more each time (>= 1), with a
 * new buffer each time: for tests of readers, every record crosses a border. */
struct input *input_from_memory_slowly(const char *p, size_t n, size_t step);

/* Whether a second, independent input on the same bytes can be opened. */
bool input_can_reopen(const struct input *in);

/* A second input on the same bytes, from the start; NULL if it cannot be.  Close it before the first. */
struct input *input_reopen(const struct input *in);

/* Size of the file in bytes as it lies (packed); 0 when unknown (pipes). */
uint64_t input_file_size(const struct input *in);

/* Mapped files: pages before p will not be looked at again soon; gives them back to the system now and then.
 */
void input_behind(struct input *in);

/* How many bytes behind p may stay in memory, about; for inputs that are read side by side. */
void input_keep(struct input *in, size_t bytes);

/* True if bytes that were read may be wrong, or lack what was there, because the file shrank or was written
 * to; sets ->fault.  Once true it stays true.  That a file grows does no harm while it is read once. */
bool input_shrunk(struct input *in);
void input_close(struct input *in); /* NULL is fine */

/* Installs the SIGBUS handler that turns a shrinking file into INPUT_SHRUNK.  Once, from main. */
void input_handle_signals(void);

/* ---- input tree ---- */

/*
 * The files under a folder.  Links are followed unless they lead out of it, and
 * folders on other file systems are left out; that there are such is one
 * problem.  Each folder is visited once (so loops of links are harmless), and
 * the folder itself may be a link.  The result does not depend on the order
 * in which the file system names things: files are sorted by the bytes of
 * their paths.
 */
struct input_tree_problem {
	char *path;
	enum input_fault fault; /* INPUT_MISSING, ..._DENIED, ..._NOT_A_FILE, ..._SYSTEM, ..._ELSEWHERE */
	char *text;             /* the reason, without the path */
};

struct input_tree {
	char **paths; /* the folder's name, a slash, and the way to the file */
	size_t n, cap;
	struct input_tree_problem *problems; /* what could not be looked into, sorted too */
	size_t nproblems, problems_cap;
	bool no_memory;
};

/* More files than these are not listed; that is a problem of the folder. */
#define INPUT_TREE_MAX 1000000

/* Whether the path leads to a folder.  false: it does not, or nobody can tell; input_open() says why. */
bool input_is_folder(const char *path);

/* Lists the files whose last name is wanted.  Things with a wanted name that are no regular files are
 * problems, and so is whatever cannot be looked at: it may be a folder.  Fills *t (zeroed before); end with
 * input_tree_free(). */
void input_tree_list(struct input_tree *t, const char *folder, bool (*wanted)(void *ctx, const char *name),
                     void *ctx);

/* Both texts are copied.  Without memory, no_memory is set. */
void input_tree_add_problem(struct input_tree *t, const char *path, enum input_fault fault, const char *text);
void input_tree_free(struct input_tree *t);

/* ---- input archive ---- */

/*
 * A tar archive (POSIX ustar and pax, GNU and V7), plain or packed by gzip,
 * zstd or xz, read as the folder that was put into it.  The file "a/b" of the
 * archive "run.tar" has the path "run.tar:/a/b", which input_open_in() opens as
 * long as the archive is open.
 *
 * Nothing is written under a name from the archive, and such a path never leads
 * out of it.  Of a packed archive the files that readers ask for are unpacked to
 * a temporary file without a name (base/spill_file.h), all others are passed
 * over.  A hard link is read as the file before it that it names.  What is called
 * like a trace and cannot be read is a problem, and so is damage: the archive is
 * read to its end, also behind blocks of zeros, where another one may follow.
 */
struct input_archive;

/* Which names readers ask for; without the folders before them.  ctx outlives the archive. */
struct input_names {
	bool (*wanted)(void *ctx, const char *name); /* those that are listed */
	bool (*beside)(void *ctx, const char *name); /* those that are only opened */
	void *ctx;
};

/* Whether the path names a file that is called like an archive: .tar, .tar.gz, .tgz, .tar.zst, .tzst,
 * .tar.xz, .txz. */
bool input_is_archive(const char *path);

/* Reads what is in it; any thread may then open its files.  Why it is none, or cannot be read, is one of the
 * problems that input_archive_list() gives.  NULL: no memory. */
struct input_archive *input_archive_open(const char *path, struct input_names names);

/* Whether the path leads into it: "run.tar:/a/b" or, for what lies beside the archive's files, "run.tar/b".
 * NULL holds nothing. */
bool input_archive_holds(const struct input_archive *a, const char *path);

/* As input_tree_list(); what is wrong with the archive is a problem. */
void input_archive_list(const struct input_archive *a, struct input_tree *t);
void input_archive_close(struct input_archive *a); /* NULL is fine */

#endif
