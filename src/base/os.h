#ifndef BASE_OS_H
#define BASE_OS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "base/slice.h"

/* ---- paths ---- */

/* The last part of a path. */
static inline const char *path_name(const char *path)
{
	const char *const slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* The folder of a path, without the slash at its end; "." if the path has no folder. */
static inline struct slice path_folder(const char *path)
{
	const size_t n = (size_t)(path_name(path) - path);

	return n > 0 ? slice_of(path, n > 1 ? n - 1 : 1) : slice_of(".", 1);
}

/* The descriptor N of "/dev/fd/N" and "/proc/self/fd/N"; -1 for other paths. */
int path_fd(const char *path);

/* A copy, with FD_CLOEXEC, of a descriptor that the program inherited; -1 and EBADF for any other.  All that
 * it opened have FD_CLOEXEC: a number of the command line could be that of one of them, such as an output. */
int copy_inherited_fd(int fd);

/* ---- files ---- */

/* open() with O_CLOEXEC, repeated if a signal interrupts it. */
int open_file(const char *path, int flags, mode_t mode);

/* Enlarges the buffer of a pipe, if the system permits it. */
void pipe_widen(int fd, int size);

/* Gives the pages of a mapped file back to the system, which reads them again when they are used. */
void map_forget(void *at, size_t n);

/* Replaces n bytes of a mapping, a multiple of the page, by zeros that can only be read.  May be called in a
 * signal handler. */
bool map_zeros(void *at, size_t n);

/* ---- files below a folder ---- */

/*
 * Files that a file of the folder names: in a policy of a repository, which the user did not write.  The name
 * must not lead out of the folder, by ".." or through a link, nor into a folder of version control, where a
 * file may be a program that runs later.  Each folder of the path is opened relative to the one before,
 * without following links, so that replacing a folder meanwhile does not lead outside.
 */

/* Why a name is invalid as it is written ("it begins with a slash"); NULL: it is valid. */
const char *below_mistake(const char *path);

/* Opens the folder of the file `path` below `folder`.  *last: the file's own name, in path.  Returns -1 with
 * errno: ELOOP or ENOTDIR if a part of the name is a link or a file, EXDEV if the name has a mistake or leads
 * into version control. */
int below_open_folder(const char *folder, const char *path, const char **last);

/* Opens the file for reading.  Returns -1 with errno as above, or with EINVAL if it is not a regular file. */
int below_open_file(const char *folder, const char *path);

/* The message for an errno of these functions. */
const char *below_why(int error);

/* ---- rename ---- */

/* Kinds of rename() that POSIX lacks.  They return 0 or an errno value; nothing has changed on failure. */

/* Never replaces: EEXIST if `to` exists.  Without support of renameat2(): link() and unlink() for a file; for
 * a folder, or without hard links, a check before rename(), which is a race. */
int rename_new(const char *from, const char *to);

/* Likewise for two names in an open folder. */
int rename_new_in(int dir, const char *from, const char *to);

/* Exchanges two paths of one file system in one step.  EINVAL or ENOSYS: not supported. */
int rename_exchange(const char *a, const char *b);

/* ---- environment ---- */

/* Name and version of the C library, such as "glibc 2.36"; "libc" if unknown.  Returns p, of n bytes. */
const char *libc_version(char *p, size_t n);

/* The memory that this process may use, in bytes: the least of the machine's memory, the limits of its
 * control groups (of a container or a batch job), and the limit of its address space.  0: unknown. */
uint64_t usable_memory(void);

/* The cores that this process may use, from 1 on: those of its CPU set, or fewer if its control groups have a
 * quota of CPU time. */
unsigned usable_cores(void);

/* The least limit of the control groups in bytes, and in cores; UINT64_MAX: none.  files: a folder with proc/
 * and sys/fs/cgroup/; "" for those of the machine. */
uint64_t group_memory(const char *files);
uint64_t group_cores(const char *files);

/* The width of lines for fd: COLUMNS if it is set, else the width of the terminal, else 80.  0: fd is not a
 * terminal, and lines may have any length. */
unsigned terminal_columns(int fd);

/* ---- threads ---- */

/* Starts a thread with all signals blocked except those of its own faults: see input_handle_signals().
 * Returns 0 or an errno value. */
int thread_start(pthread_t *thread, void *(*run)(void *), void *arg);

/* CPU time used so far, in ns; 0: not known. */
struct cpu_times {
	uint64_t mine, others; /* of the calling thread, and of all others of the process */
};

struct cpu_times cpu_times_now(void);

/* ---- spill files ---- */

/*
 * A temporary file without a name, for data that does not fit in memory.
 *
 * It never has a name (O_TMPFILE).  On file systems without O_TMPFILE, the name is removed at once, with all
 * signals blocked in between.  So no file is left, however the process ends; but on such file systems,
 * SIGKILL or a power failure within those microseconds leaves an empty file ".tracetool-spill-XXXXXX".
 *
 * After a failure all further calls fail; spill_reason() reports the first one.
 */
enum spill_action { SPILL_NOTHING, SPILL_CREATE, SPILL_WRITE, SPILL_READ };

struct spill_file {
	int fd;
	bool is_open;
	uint64_t size;            /* bytes; spill_write() appends */
	char *folder;             /* folder of the file, for messages */
	enum spill_action failed; /* the action that failed ... */
	int error;                /* ... and its errno */
};

/* Zero-initialise *f.  Creates the file in the folder of the path `near` (normally the output, which may be
 * missing); NULL: in $TMPDIR, or /tmp if that is not set. */
bool spill_open(struct spill_file *f, const char *near);
bool spill_write(struct spill_file *f, const void *p, size_t n);

/* Writes at any offset; bytes between the end of the file and `offset` become zeros. */
bool spill_write_at(struct spill_file *f, uint64_t offset, const void *p, size_t n);

/* Reads n bytes.  Returns false, a failure, if fewer were written. */
bool spill_read(struct spill_file *f, uint64_t offset, void *p, size_t n);

/* Frees the disk space of bytes that will not be read again, if the file system supports that. */
void spill_discard(struct spill_file *f, uint64_t offset, uint64_t n);

/* Writes one line: "FOLDER: cannot write the temporary file for sorting: No space left on device".
 * `purpose`: "sorting". */
void spill_reason(const struct spill_file *f, const char *purpose, char *why, size_t size);

/* May be called after a failure, and for a file that was never opened. */
void spill_close(struct spill_file *f);

#endif
