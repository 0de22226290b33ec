#ifndef OUTPUT_OUTPUT_H
#define OUTPUT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "output/private.h"

/* ---- output ---- */

/*
 * Where bytes go: a file or standard output, compressed when the name says so.
 *
 * A file is written under a temporary name in the same folder and gets its own
 * name only in output_commit(), so a reader never meets half of it; until then
 * an ending signal or output_discard() removes the temporary file.
 * The first failure sticks: later writes do nothing, commit fails.
 * Nothing here writes to stderr; the message says path and reason.
 */
struct output;

enum output_flags {
	OUTPUT_FORCE = 1, /* an existing file may be replaced */
	OUTPUT_SUMS = 2,  /* the bytes are summed up on their way, for output_check() */
};

/* Opens `path`; "-" is standard output (never compressed, whatever its name).  A name that ends in .gz or
 * .zst is compressed (ISA-L, libzstd).  An existing path is refused without OUTPUT_FORCE; a folder always; an
 * existing thing that is not a regular file (/dev/null, /dev/full, a FIFO) is written to directly, without a
 * temporary name, no OUTPUT_FORCE needed for devices (except block devices: a disk is as easily lost as a
 * file).  The names of output_fd_of() are the open descriptors themselves, wherever they lead.  A link is
 * followed: its target is replaced, the link stays.  The mode is that of the replaced file, else 0666 less
 * the umask. On failure: NULL, and *why holds the message ("out.json: already exists (use -f to replace
 * it)"), NUL-terminated, at most n bytes. */
struct output *output_open(const char *path, unsigned flags, char *why, size_t n);

/* The descriptor that a name stands for: "-", /dev/stdout, /dev/stderr, /dev/fd/N, /proc/self/fd/N; -1: an
 * ordinary name. */
int output_fd_of(const char *path);

/* Opens a file below a folder that came from elsewhere, which names it (base/open_below.h).  What is there
 * is replaced if it is a regular file that begins with `head`, an earlier output of this kind, and kept
 * otherwise (head NULL: always).  Compressed as above.  On failure as above. */
struct output *output_open_below(const char *folder, const char *path, const char *head, char *why, size_t n);

/* Hands over n bytes; they are copied or written before it returns.  false after any failure. */
bool output_write(struct output *o, const char *p, size_t n);

/* The reason of the first failure with the path ("out.json: No space left on device"); NULL if there was
 * none. Valid until the output is closed. */
const char *output_error(const struct output *o);

/* True if the first failure was a closed pipe (EPIPE): the tool then ends without a word. */
bool output_pipe_closed(const struct output *o);

/* Where the bytes are until they get their name; after output_finish() the file is complete.  NULL: they were
 * written directly. */
const char *output_written(const struct output *o);

/* Bytes given to output_write so far. */
unsigned long long output_bytes(const struct output *o);

/* Writes out what waits, and the end of a compressed file, and closes; nothing may be written after it.  Not
 * needed before output_commit(), but it is the moment to ask output_pipe_closed(), as commit frees `o`. false
 * after any failure. */
bool output_finish(struct output *o);

/* After output_finish(), with OUTPUT_SUMS: reads the file before it has its name.  false, a failure: its
 * bytes are not those that were written, or it cannot be read. */
bool output_check(struct output *o);

/* With OUTPUT_SUMS: what was given to output_write(), where that is compressed; else NULL. */
const struct byte_sum *output_packed(const struct output *o);

/* Finishes, renames; frees `o`.  false: it failed, *why says so, nothing is left behind. */
bool output_commit(struct output *o, char *why, size_t n);

/* Gives a finished output its name, which output_take_back() takes away again, so that what had it before has
 * it.  false: output_error() says why.  End it with output_discard(), which leaves a file that has its name.
 */
bool output_publish(struct output *o);
void output_take_back(struct output *o);

/* Throws away; removes the temporary file; frees `o`.  NULL is fine. */
void output_discard(struct output *o);

/* Installs the handlers that remove temporary files and folders on SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU,
 * SIGALRM, SIGUSR1 and SIGUSR2 (then the signal ends the process as usual), and ignores SIGPIPE and SIGXFSZ
 * so that a closed pipe and a size limit are errors of write(). A signal that is ignored already (nohup)
 * stays ignored.  Once, from main. */
void output_handle_signals(void);

/* ---- output link ---- */

/* Like realpath(), but the last name need not exist, and folders stay as they are written.  Malloced; NULL:
 * errno. */
char *output_follow_links(const char *path);

/* ---- output folder ---- */

/*
 * An output of several files: a folder that grows under a temporary name beside
 * its target and gets its own name only in output_folder_commit(), in one step.
 * Until then an ending signal or output_folder_discard() removes it.
 *
 * The list OUTPUT_FOLDER_LIST in it names its files, with their sizes and sums
 * (output/folder_list.h).  A folder that is there already is only replaced, with
 * OUTPUT_FORCE (output/output.h), if it is empty, or its list names every file
 * in it as it is: then tracetool made all that goes away.  Nothing else is ever
 * removed.
 *
 * At most 64 files are open at the same time; others are opened again to be
 * added to.  The first failure sticks.
 */
struct output_folder;

#define OUTPUT_FOLDER_LIST ".tracetool-files"

/* Makes the temporary folder.  A link is followed: its target is replaced, the link stays.  On failure NULL,
 * and *why holds the message, NUL-terminated, at most n bytes. */
struct output_folder *output_folder_open(const char *path, unsigned flags, char *why, size_t n);

/* Adds n bytes to a file (which n = 0 makes, too).  `file` is relative and may have sub-folders ("a/b"):
 * printable UTF-8, 1 to 1024 bytes, each part 1 to 255 bytes and neither "." nor "..", not the name of the
 * list.  The bytes are copied or written before it returns.  false after any failure. */
bool output_folder_put(struct output_folder *o, const char *file, const char *p, size_t n);

/* The first failure, "OUT/FILE: REASON"; NULL: none.  Valid until the output is freed. */
const char *output_folder_error(const struct output_folder *o);

/* The temporary folder; after output_folder_finish() it is complete. */
const char *output_folder_written(const struct output_folder *o);

/* Bytes given to output_folder_put so far. */
unsigned long long output_folder_bytes(const struct output_folder *o);

/* Writes out what waits, and the list; no file can be added to after it.  Not needed before commit.  false
 * after any failure. */
bool output_folder_finish(struct output_folder *o);

/* After output_folder_finish(): reads all files.  false, a failure: the bytes of one are not those that were
 * written, or cannot be read. */
bool output_folder_check(struct output_folder *o);

/* Finishes, renames, frees `o`.  false: it failed, *why says so, and nothing of it is left behind; a folder
 * that was to be replaced has its name, or what could not be removed of it is named. */
bool output_folder_commit(struct output_folder *o, char *why, size_t n);

/* Throws away, frees `o`.  NULL is fine. */
void output_folder_discard(struct output_folder *o);

/* ---- folder name ---- */

/* What is wrong with n bytes as the name of a file in an output folder: see output_folder_put().  Names that
 * pass lead into the folder, and no two of them to the same file.  NULL: nothing. */
const char *folder_name_wrong(const char *name, size_t n);

#endif
