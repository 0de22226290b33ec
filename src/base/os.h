#ifndef BASE_OS_H
#define BASE_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- open below ---- */

/*
 * Files below a folder that somebody else names, in a text that came with the folder: the name leads nowhere
 * else, not by "..", not through a link, and not into a folder of version control, where a file may be a
 * program that runs later.  Each folder on the way is opened by itself from the one before, without links:
 * what is replaced meanwhile leads nowhere else either.
 */

/* What is wrong with a name as it is written ("it begins with a slash"); NULL: nothing. */
const char *below_mistake(const char *path);

/* Opens the folder that holds the file `path`, which is below `folder`.  *last: the file's own name, in path.
 * -1: errno; ELOOP or ENOTDIR if something on the way is no folder but a link or a file, EXDEV if the name
 * has a mistake or leads into version control. */
int below_open_folder(const char *folder, const char *path, const char **last);

/* Opens that file for reading, if it is a regular one.  -1: errno, as above; EINVAL: it is no regular file.
 */
int below_open_file(const char *folder, const char *path);

/* What errno of these means to people. */
const char *below_why(int error);

/* ---- rename ---- */

/* Two kinds of rename() that POSIX lacks.  Both return 0 or an errno value; nothing has changed on failure.
 */

/* Never replaces: EEXIST when `to` exists.  On systems and file systems that cannot do that at once, a second
 * name is made for a file; for a folder, and without hard links, `to` is looked at first. */
int rename_new(const char *from, const char *to);

/* The same for two names in an open folder. */
int rename_new_in(int dir, const char *from, const char *to);

/* Exchanges two paths of one file system at once.  EINVAL or ENOSYS: that cannot be done here. */
int rename_exchange(const char *a, const char *b);

/* ---- libc version ---- */

/* Name and version of the C library that runs, such as "glibc 2.36"; "libc" if it does not say.  Written to
 * `room` of n bytes, which is returned. */
const char *libc_version(char *room, size_t n);

/* ---- terminal ---- */

/* Columns of lines that go to fd: COLUMNS if that is set, else what the terminal says, else 80.  0: fd is no
 * terminal, and lines may be of any length. */
unsigned terminal_columns(int fd);

/* ---- spill file ---- */

/*
 * A temporary file without a name, for data that does not fit in memory.
 *
 * It has no name from the start (O_TMPFILE), or, on file systems that cannot
 * do that, loses its name at once, with all signals blocked in between.  So
 * nothing is left behind however the process ends.  Only on such file systems,
 * SIGKILL or a power failure within those microseconds leaves an empty file
 * ".tracetool-spill-XXXXXX".
 *
 * After a failure all further calls fail; spill_reason() says what was first.
 */
enum spill_action { SPILL_NOTHING, SPILL_CREATE, SPILL_WRITE, SPILL_READ };

struct spill_file {
	int fd;
	bool is_open;
	uint64_t size;            /* what is written goes behind this */
	char *folder;             /* where it lies, for messages */
	enum spill_action failed; /* the action that failed ... */
	int error;                /* ... and its errno */
};

/* Zero-initialise *f.  Creates the file in the folder of the path `beside` (normally the output, which need
 * not exist); NULL: in $TMPDIR, or /tmp when that is not set. */
bool spill_open(struct spill_file *f, const char *beside);
bool spill_write(struct spill_file *f, const void *p, size_t n);

/* Anywhere: what lies between the end and `offset` becomes zeros. */
bool spill_write_at(struct spill_file *f, uint64_t offset, const void *p, size_t n);

/* All n bytes; to ask for bytes that were not written is a failure too. */
bool spill_read(struct spill_file *f, uint64_t offset, void *p, size_t n);

/* These bytes will not be read again: gives their disk space back where the file system can do that. */
void spill_discard(struct spill_file *f, uint64_t offset, uint64_t n);

/* One line: "FOLDER: cannot write the temporary file for sorting: No space left on device".  `purpose`:
 * "sorting". */
void spill_reason(const struct spill_file *f, const char *purpose, char *why, size_t size);

/* Also after a failure, and of a file that was never opened. */
void spill_close(struct spill_file *f);

#endif
