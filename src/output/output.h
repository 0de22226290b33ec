#ifndef OUTPUT_OUTPUT_H
#define OUTPUT_OUTPUT_H

/*
 * Outputs: a file, or a folder of files, that has a temporary name until it is complete.  Signals that end
 * the process remove incomplete outputs.
 */

#include <isa-l/crc64.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- sums ---- */

/* Number and sum of some bytes: CRC-64/ECMA-182 (reflected), which detects all differences within 64 adjacent
 * bits.  Zero-initialise to start. */
struct byte_sum {
	uint64_t bytes, sum;
};

static inline void byte_sum_add(struct byte_sum *s, const char *p, size_t n)
{
	s->bytes += n;
	if (n > 0)
		s->sum = crc64_ecma_refl(s->sum, (const unsigned char *)p, n);
}

static inline bool byte_sum_equal(const struct byte_sum *a, const struct byte_sum *b)
{
	return a->bytes == b->bytes && a->sum == b->sum;
}

#define BYTE_SUM_DIFFERS "the bytes that are read back are not those that were written"

/* ---- an output of one file ---- */

/*
 * A file or standard output, compressed if its name has a suffix of
 * compression.
 *
 * A file is written under a temporary name in the same folder and gets its own name only in output_commit(),
 * so no reader sees an incomplete file; until then an ending signal or output_discard() removes the temporary
 * file.  The first failure sticks: later writes do nothing, and commit fails.  Nothing here writes to stderr;
 * the message has the path and the reason.
 */
struct output;

enum output_flags {
	OUTPUT_FORCE = 1, /* an existing file may be replaced */
	OUTPUT_SUMS = 2,  /* sums are kept for output_check() */
};

enum output_packing { OUTPUT_PLAIN, OUTPUT_GZIP, OUTPUT_ZSTD };

/* Returns the packing by the suffix of a name: .gz, .zst, or neither. */
enum output_packing output_packing_of(const char *path);

/* Opens the file `path`, or standard output for "-" (never compressed).  A name that ends in .gz or .zst is
 * compressed (ISA-L, libzstd).  gzip uses at most `threads` threads (>= 1), including the caller's; libzstd
 * uses as many besides the caller's.  The bytes do not depend on their number.
 *
 * An existing path is refused without OUTPUT_FORCE, and a folder always.  Existing files that are not regular
 * (/dev/null, /dev/full, a FIFO) are written directly, without a temporary name, and need no OUTPUT_FORCE;
 * only block devices need it, as a disk is as easily lost as a file.  The names of output_fd_of() are the
 * open descriptors themselves, whatever they lead to.  A link is followed: its target is replaced, and the
 * link is kept.
 *
 * The mode is that of the replaced file, else 0666 less the umask.  On failure returns NULL; *why is the
 * message ("out.json: already exists (use -f to replace it)"), NUL-terminated, at most n bytes. */
struct output *output_open(const char *path, unsigned flags, unsigned threads, char *why, size_t n);

/* The descriptor that a name stands for: "-", /dev/stdout, /dev/stderr, /dev/fd/N, /proc/self/fd/N.  Returns
 * -1 for a file name. */
int output_fd_of(const char *path);

/* Opens a file below a folder, for a name from a file in that folder (a policy; see below_open_folder() in
 * base/os.h).  An existing file is replaced only if it is an earlier output of this kind: a regular file that
 * begins with `head`.  head NULL: it is always kept.  Compression and failures as above. */
struct output *output_open_below(const char *folder, const char *path, const char *head, char *why, size_t n);

/* Copies or writes n bytes.  Returns false after any failure. */
bool output_write(struct output *o, const char *p, size_t n);

/* The first failure, "out.json: No space left on device"; NULL: none.  Valid until the output is freed. */
const char *output_error(const struct output *o);

/* Whether the first failure was a closed pipe (EPIPE): then the program ends silently. */
bool output_pipe_closed(const struct output *o);

/* The temporary name; after output_finish() the file is complete.  NULL: the output is written directly. */
const char *output_written(const struct output *o);

/* The file that gets the name, after following links.  NULL: the output is written directly. */
const char *output_target(const struct output *o);

/* Writes buffered bytes and the end of a compressed file, and closes the file.  output_commit() does this
 * too, but frees `o`: call output_finish() first to use output_pipe_closed() afterwards.  Returns false after
 * any failure. */
bool output_finish(struct output *o);

/* After output_finish(), with OUTPUT_SUMS: reads the temporary file.  Returns false, a failure of the output,
 * if its bytes differ from those that were written, or cannot be read. */
bool output_check(struct output *o);

/* With OUTPUT_SUMS and compression: the sum of the bytes given to output_write(); else NULL. */
const struct byte_sum *output_packed(const struct output *o);

/* Finishes the output, renames it, and frees `o`.  Returns false with *why set; then no file is left. */
bool output_commit(struct output *o, char *why, size_t n);

/* Gives a finished output its name; output_take_back() undoes this and gives the name back to the replaced
 * file.  Returns false after a failure.  Call output_discard() afterwards: it keeps a file that has its
 * name. */
bool output_publish(struct output *o);
void output_take_back(struct output *o);

/* Removes the temporary file, and frees `o`.  Accepts NULL. */
void output_discard(struct output *o);

/* Like realpath(), but the last name need not exist, and links in folders are not resolved.  Malloced; NULL
 * with errno. */
char *output_follow_links(const char *path);

/* ---- an output of several files ---- */

/*
 * A folder that grows under a temporary name next to its target and gets its own name only in
 * output_folder_commit(), in one step.  Until then an ending signal or output_folder_discard() removes it.
 *
 * The list OUTPUT_FOLDER_LIST in it names its files, with their sizes and sums (folder_publish.c).  With
 * OUTPUT_FORCE, an existing folder is replaced only if it is empty, or if its list has every file in it with
 * its size and sum: then tracetool made all files that are removed.  Nothing else is ever removed.
 *
 * The first failure sticks.
 */
struct output_folder;

#define OUTPUT_FOLDER_LIST ".tracetool-files"

/* Makes the temporary folder.  A link is followed: its target is replaced, and the link is kept.  On failure
 * returns NULL; *why is the message, NUL-terminated, at most n bytes. */
struct output_folder *output_folder_open(const char *path, unsigned flags, char *why, size_t n);

/* Appends n bytes to a file, which is created if necessary (also if n = 0).  `file` is relative and may have
 * sub-folders ("a/b").  It is printable UTF-8 of 1 to 1024 bytes; each part has 1 to 255 bytes and is neither
 * "." nor "..".  It is not the name of the list.  The bytes are copied or written.  Returns false after any
 * failure. */
bool output_folder_put(struct output_folder *o, const char *file, const char *p, size_t n);

/* Why n bytes cannot be the name of a file in an output folder, by the rules above; NULL: they can.  Valid
 * names are inside the folder, and different names are different files. */
const char *folder_name_wrong(const char *name, size_t n);

/* The first failure, "OUT/FILE: REASON"; NULL: none.  Valid until the output is freed. */
const char *output_folder_error(const struct output_folder *o);

/* The temporary folder; after output_folder_finish() it is complete. */
const char *output_folder_written(const struct output_folder *o);

/* The folder that gets the name, after following links. */
const char *output_folder_target(const struct output_folder *o);

/* Writes buffered bytes, and the list; afterwards nothing can be added.  output_folder_commit() does this
 * too.  Returns false after any failure. */
bool output_folder_finish(struct output_folder *o);

/* After output_folder_finish(): reads all files.  Returns false, a failure of the output, if the bytes of a
 * file differ from those that were written, or cannot be read. */
bool output_folder_check(struct output_folder *o);

/* Finishes the folder, renames it, and frees `o`.  Returns false with *why set.  Then nothing of the output
 * is left, and a folder to be replaced has its name; or the output has its name, and *why names the old
 * folder, which could not be removed completely. */
bool output_folder_commit(struct output_folder *o, char *why, size_t n);

/* Removes the temporary folder, and frees `o`.  Accepts NULL. */
void output_folder_discard(struct output_folder *o);

/* Whether a folder has a valid list, and all files of the list with their sizes.  *error: 0, or errno if that
 * could not be determined. */
bool folder_is_complete(const char *folder, int *error);

/* ---- signals ---- */

/* Installs the handlers that remove temporary files and folders on SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU,
 * SIGALRM, SIGUSR1 and SIGUSR2 (then the signal ends the process as usual), and ignores SIGPIPE and SIGXFSZ
 * so that a closed pipe and a size limit are errors of write().  A signal that is ignored already (nohup)
 * stays ignored.  Called once, from main. */
void output_handle_signals(void);

/* Called around steps that no signal may interrupt: creating and registering a file, publishing several
 * outputs.  Returns false if a signal is about to end the process: then create nothing (errno: EINTR). */
struct output_register_hold {
	sigset_t before;
	bool blocked, held;
};

bool output_register_begin(struct output_register_hold *h);
void output_register_end(const struct output_register_hold *h); /* keeps errno */

#endif
