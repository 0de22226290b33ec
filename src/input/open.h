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
 * The first INPUT_FILES_OPEN files stay open from the first pass on, so their names may be given to other
 * files.  Any other file must be the same when it is opened again: device, inode, size and time of the last
 * change.  Writes to any file between two passes are noticed.  A file that could not be opened at first is
 * missing in later passes too.
 *
 * Zero-initialise to start, except `lock`.  Any thread may use it.  It takes about 100 bytes a file.
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
		int fd;      /* open descriptor; -1: none */
		char *fault; /* of the first attempt to open: a byte of its kind, the text; NULL: none */
	} * rows;
	uint32_t n, cap, nopen;
	/* For tests: called before a file is opened again. */
	void (*before_again)(void *ctx, const char *path);
	void *ctx;
	atomic_bool changed; /* an input was another file, or a further pass could not open it */
	char *changed_path;  /* path of the first such input; NULL: none, or OOM */
	char changed_why[300];
};

/* Closes the kept files.  The inputs must be closed already. */
void input_files_free(struct input_files *f);

/* ---- inputs ---- */

/* Opens a path.  "-" is standard input; "/dev/stdin" and "/dev/fd/N" are descriptors, so that process
 * substitution works.  Regular files are mapped read-only, all others are read; gzip, zstd and xz are
 * recognised by content and, after the first MiB, unpacked on a thread of their own.  A named FIFO, device,
 * folder, socket or terminal is refused without blocking.  Returns NULL only on OOM; on other failures
 * ->fault is set, and the window is empty and last.  The first window is ready for probing: at least 64 KiB
 * or the whole input.
 *
 * The bytes of a window are valid as long as it is the current one, its buffer is held (struct input_pins),
 * or the input is an open mapped file. */
struct input *input_open(const char *path);

struct input_archive;

/* Likewise for a path that may lead into an archive (NULL: none), and that is one of the files of a run
 * (NULL: it is read once).  Both must outlive the input. */
struct input *input_open_in(struct input_files *files, const struct input_archive *a, const char *path);

/* Whether input_open_in() would give INPUT_MISSING; false on OOM.  Only members of archives are opened. */
bool input_is_missing(struct input_files *files, const struct input_archive *a, const char *path);

/* As input_open_in(), for one of thousands of inputs that are read side by side: about `piece` bytes of a
 * plain regular file are in memory at a time, and neither a descriptor nor a mapping is kept. */
struct input *input_open_pieces(struct input_files *files, const char *path, size_t piece);

/* Whether a path is the name of a file, not of an open descriptor: then reading it consumes nothing. */
bool input_is_named(const char *path);

/* The descriptor that a path stands for ("-", "/dev/stdin", "/dev/fd/63"); -1: a file name. */
int input_fd_of(const char *path);

/* Whether a second, independent input on the same bytes can be opened. */
bool input_can_reopen(const struct input *in);

/* Opens a second input on the same bytes, from the start; NULL: impossible.  Close it before the first
 * input. */
struct input *input_reopen(const struct input *in);

/* Size of the file in bytes (packed); 0 if unknown (pipes). */
uint64_t input_file_size(const struct input *in);

/* Gives pages of a mapped file before p back to the system now and then, as they are not needed soon. */
void input_release_read(struct input *in);

/* Sets the number of bytes before p that may stay in memory (approximate), for inputs that are read side by
 * side. */
void input_keep(struct input *in, size_t bytes);

/* Whether bytes that were read may be wrong or incomplete because the file shrank or was written to; then
 * ->fault is set, and the result stays true.  A file that is read once may grow. */
bool input_shrunk(struct input *in);
void input_close(struct input *in); /* NULL is fine */

/* Installs the SIGBUS handler that turns a shrinking file into INPUT_SHRUNK.  Called once, from main. */
void input_handle_signals(void);

/* ---- files that are not traces ---- */

/* A file that is read as a whole: a key, a policy, a vocabulary, a baseline. */
struct input_whole {
	char *p; /* n bytes and a NUL; freed by the caller */
	size_t n;
	bool too_large, no_memory; /* reason of the failure */
	char why[128];             /* "is a named FIFO"; empty for a file that is too large */
};

/* Reads a file of at most `max` bytes.  "-", /dev/stdin, /dev/fd/N and /proc/self/fd/N may be pipes.  Other
 * names must be regular files; the function never waits for a FIFO.  Returns false with the reason in *w. */
bool input_read_whole(struct input_whole *w, const char *path, size_t max);

/* Likewise for a file that may be packed; `max` limits the unpacked bytes. */
bool input_read_unpacked(struct input_whole *w, const char *path, size_t max);

/* As input_read_whole() from an open descriptor, from its offset on. */
bool input_read_whole_fd(struct input_whole *w, int fd, size_t max);

/* Makes the path of a descriptor ("-", "/dev/fd/63") reopenable.  A pipe, or a partly read file, is copied to
 * an unnamed temporary file in the folder of `near` (NULL: as spill_open()), and the copy replaces the
 * descriptor.  Other paths, and paths that input_open() refuses, are unchanged.  Returns false with *why:
 * NUL-terminated, at most n bytes. */
bool input_spool(const char *path, const char *near, char *why, size_t n);

/* A format that tracetool does not read, recognised by the first bytes of a file, and advice for it. */
struct input_foreign {
	const char *name;   /* "bzip2-compressed data" */
	const char *advice; /* "unpack it first (bzip2 -d)" */
};

/* Returns NULL if the format is unknown. */
const struct input_foreign *input_foreign_find(const char *p, size_t n);

/* Likewise for archives alone, whose members may be traces. */
const struct input_foreign *input_foreign_archive(const char *p, size_t n);

/* ---- the files below a folder ---- */

/*
 * Links are followed unless they lead out of the folder.  Links out of the folder, and folders on other file
 * systems, are left out and reported as one problem.  Each folder is visited once (so loops of links are
 * harmless), and the folder itself may be a link.  The result does not depend on the order of the file
 * system: files are sorted by the bytes of their paths.
 */
struct input_tree_problem {
	char *path;
	enum input_fault fault; /* INPUT_MISSING, ..._DENIED, ..._NOT_A_FILE, ..._SYSTEM, or a warning */
	char *text;             /* reason, without the path */
};

struct input_tree {
	char **paths; /* paths, each beginning with the name of the folder */
	uint32_t n, cap;
	struct input_tree_problem *problems; /* sorted by path */
	uint32_t nproblems, problems_cap;
	bool no_memory;
};

/* Further files are not listed, which is reported as a problem of the folder. */
#define INPUT_TREE_MAX 1000000

/* Whether the path leads to a folder.  Also returns false if that cannot be determined; input_open() then
 * reports the reason. */
bool input_is_folder(const char *path);

/* Lists the files whose last name is wanted.  Problems are: other objects with a wanted name, and objects
 * that cannot be examined, as they may be folders.  Archives, files of other packers, and names that would
 * be wanted in lower case, are left out, and reported as one problem.  Fills *t (zeroed before); end with
 * input_tree_free(). */
void input_tree_list(struct input_tree *t, const char *folder, bool (*wanted)(void *ctx, const char *name),
                     void *ctx);

/* Copies both texts.  Sets no_memory on OOM. */
void input_tree_add_problem(struct input_tree *t, const char *path, enum input_fault fault, const char *text);
void input_tree_free(struct input_tree *t);

/* ---- archives ---- */

/*
 * A tar archive (POSIX ustar and pax, GNU and V7), plain or packed by gzip, zstd or xz, read as the folder
 * that it contains.  The file "a/b" of the archive "run.tar" has the path "run.tar:/a/b", which
 * input_open_in() opens as long as the archive is open.
 *
 * Nothing is written under a name from the archive, and such a path never leads out of it.  Files of a packed
 * archive that readers need are unpacked to a spill file (base/os.h), all others are skipped.  A hard link is
 * read as the earlier file that it names.  Unreadable files with names of traces, and damage, are problems.
 * The archive is read to its end, also after blocks of zeros, as another archive may follow.
 */

/* Names that readers need, without folders.  ctx is used until the files are listed. */
struct input_names {
	bool (*wanted)(void *ctx, const char *name); /* files to be listed */
	bool (*beside)(void *ctx, const char *name); /* files that are only opened, next to a listed file */
	void *ctx;
};

/* Whether the path has the name of an archive: .tar, .tar.gz, .tgz, .tar.zst, .tzst,
 * .tar.xz, .txz. */
bool input_is_archive(const char *path);

/* Reads the whole archive; afterwards any thread may open its files.  A file that is not an archive, or
 * cannot be read, is a problem in input_archive_list().  Returns NULL only on OOM. */
struct input_archive *input_archive_open(const char *path, struct input_names names);

/* Whether the path leads into the archive: "run.tar:/a/b" or, for files next to its files, "run.tar/b".
 * Returns false for NULL. */
bool input_archive_holds(const struct input_archive *a, const char *path);

const char *input_archive_path(const struct input_archive *a); /* path of the file, as opened */

/* As input_tree_list(), with the problems of the archive. */
void input_archive_list(const struct input_archive *a, struct input_tree *t);
void input_archive_close(struct input_archive *a); /* NULL is fine */

#endif
