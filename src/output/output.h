#ifndef OUTPUT_OUTPUT_H
#define OUTPUT_OUTPUT_H

/*
 * Outputs: a file, or a folder of files, that has a temporary name until it is complete.  Signals that end
 * the process remove what is not.
 */

#include <isa-l/crc64.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- sums ---- */

/* Number and sum of some bytes: CRC-64/ECMA-182 (reflected), which differs if all bits that differ are within
 * 64 bits.  Zero-initialise to start. */
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
 * A file or standard output, compressed when the name says so.
 *
 * A file is written under a temporary name in the same folder and gets its own
 * name only in output_commit(), so no reader sees half of it; until then an
 * ending signal or output_discard() removes the temporary file.
 * The first failure sticks: later writes do nothing, commit fails.
 * Nothing here writes to stderr; the message has path and reason.
 */
struct output;

enum output_flags {
	OUTPUT_FORCE = 1, /* an existing file may be replaced */
	OUTPUT_SUMS = 2,  /* sums are kept for output_check() */
};

enum output_packing { OUTPUT_PLAIN, OUTPUT_GZIP, OUTPUT_ZSTD };

/* By the name: .gz, .zst, or neither. */
enum output_packing output_packing_of(const char *path);

/* Opens `path`; "-" is standard output (never compressed, whatever its name).  A name that ends in .gz or
 * .zst is compressed (ISA-L, libzstd).  At most `threads` threads, from 1, deflate, the caller's among them;
 * those of libzstd are as many, besides the caller's.  The bytes do not depend on their number.  An existing
 * path is refused without OUTPUT_FORCE; a folder always; an existing thing that is not a regular file
 * (/dev/null, /dev/full, a FIFO) is written to directly, without a temporary name, no OUTPUT_FORCE needed for
 * devices (except block devices: a disk is as easily lost as a file).  The names of output_fd_of() are the
 * open descriptors themselves, wherever they lead.  A link is followed: its target is replaced, the link
 * stays.  The mode is that of the replaced file, else 0666 less the umask.  On failure returns NULL; *why is
 * the message ("out.json: already exists (use -f to replace it)"), NUL-terminated, at most n bytes. */
struct output *output_open(const char *path, unsigned flags, unsigned threads, char *why, size_t n);

/* The descriptor that a name stands for: "-", /dev/stdout, /dev/stderr, /dev/fd/N, /proc/self/fd/N; -1: a
 * file name. */
int output_fd_of(const char *path);

/* Opens a file below a folder whose files name it (a policy; see below_open_folder() in base/os.h).  An
 * existing file is replaced if it is a regular file that begins with `head`, an earlier output of this kind,
 * and kept otherwise (head NULL: always).  Compression and failures as above. */
struct output *output_open_below(const char *folder, const char *path, const char *head, char *why, size_t n);

/* Copies or writes n bytes.  Returns false after any failure. */
bool output_write(struct output *o, const char *p, size_t n);

/* The first failure, "out.json: No space left on device"; NULL: none.  Valid until the output is freed. */
const char *output_error(const struct output *o);

/* Whether the first failure was a closed pipe (EPIPE): the tool then ends silently. */
bool output_pipe_closed(const struct output *o);

/* The temporary name; after output_finish() the file is complete.  NULL: written directly. */
const char *output_written(const struct output *o);

/* Writes buffered bytes and the end of a compressed file, and closes it.  Not needed before output_commit(),
 * which frees `o`: call it to ask output_pipe_closed() afterwards.  Returns false after any failure. */
bool output_finish(struct output *o);

/* After output_finish(), with OUTPUT_SUMS: reads the temporary file.  Returns false, a failure, if its bytes
 * are not those that were written, or it cannot be read. */
bool output_check(struct output *o);

/* With OUTPUT_SUMS: the sum of the bytes given to output_write() if they are compressed; else NULL. */
const struct byte_sum *output_packed(const struct output *o);

/* Finishes, renames; frees `o`.  Returns false with *why set, and nothing left. */
bool output_commit(struct output *o, char *why, size_t n);

/* Gives a finished output its name; output_take_back() takes it away again and gives it back to the replaced
 * file.  Returns false after a failure.  Ended by output_discard(), which leaves a file that has its name. */
bool output_publish(struct output *o);
void output_take_back(struct output *o);

/* Removes the temporary file; frees `o`.  NULL is fine. */
void output_discard(struct output *o);

/* Like realpath(), but the last name need not exist, and folders stay as they are written.  Malloced; NULL:
 * errno. */
char *output_follow_links(const char *path);

/* ---- an output of several files ---- */

/*
 * A folder that grows under a temporary name next to its target and gets its own
 * name only in output_folder_commit(), in one step.  Until then an ending signal
 * or output_folder_discard() removes it.
 *
 * The list OUTPUT_FOLDER_LIST in it names its files, with their sizes and sums
 * (folder_publish.c).  With OUTPUT_FORCE, an existing folder is replaced only if it is
 * empty, or its list names every file in it as it is: then tracetool made all
 * files that are removed.  Nothing else is ever removed.
 *
 * The first failure sticks.
 */
struct output_folder;

#define OUTPUT_FOLDER_LIST ".tracetool-files"

/* Makes the temporary folder.  A link is followed: its target is replaced, the link stays.  On failure NULL,
 * and *why is the message, NUL-terminated, at most n bytes. */
struct output_folder *output_folder_open(const char *path, unsigned flags, char *why, size_t n);

/* Appends n bytes to a file, which is created (also if n = 0).  `file` is relative and may have sub-folders
 * ("a/b"): printable UTF-8, 1 to 1024 bytes, each part 1 to 255 bytes and neither "." nor "..", not the name
 * of the list.  The bytes are copied or written.  Returns false after any failure. */
bool output_folder_put(struct output_folder *o, const char *file, const char *p, size_t n);

/* Why n bytes cannot be the name of a file in an output folder, as above; NULL: they can.  Such names lead
 * into the folder, and no two of them to the same file. */
const char *folder_name_wrong(const char *name, size_t n);

/* The first failure, "OUT/FILE: REASON"; NULL: none.  Valid until the output is freed. */
const char *output_folder_error(const struct output_folder *o);

/* The temporary folder; after output_folder_finish() it is complete. */
const char *output_folder_written(const struct output_folder *o);

/* Writes buffered bytes, and the list; nothing can be added after it.  Not needed before commit.  Returns
 * false after any failure. */
bool output_folder_finish(struct output_folder *o);

/* After output_folder_finish(): reads all files.  Returns false, a failure, if the bytes of one are not those
 * that were written, or cannot be read. */
bool output_folder_check(struct output_folder *o);

/* Finishes, renames, frees `o`.  Returns false with *why set, and nothing of it left; a folder that was to be
 * replaced has its name, or *why names what could not be removed of it. */
bool output_folder_commit(struct output_folder *o, char *why, size_t n);

/* Removes the temporary folder, frees `o`.  NULL is fine. */
void output_folder_discard(struct output_folder *o);

/* Whether a folder has a valid list, and all files in it with their sizes.  *error: 0, or errno if that could
 * not be found out. */
bool folder_is_complete(const char *folder, int *error);

/* ---- signals ---- */

/* Installs the handlers that remove temporary files and folders on SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU,
 * SIGALRM, SIGUSR1 and SIGUSR2 (then the signal ends the process as usual), and ignores SIGPIPE and SIGXFSZ
 * so that a closed pipe and a size limit are errors of write().  A signal that is ignored already (nohup)
 * stays ignored.  Once, from main. */
void output_handle_signals(void);

/* Around steps between which no signal may end the process: creating and registering a file, publishing
 * several outputs.  Returns false if a signal is about to end the process: create nothing (errno: EINTR). */
struct output_register_hold {
	sigset_t before;
	bool blocked, held;
};

bool output_register_begin(struct output_register_hold *h);
void output_register_end(const struct output_register_hold *h); /* keeps errno */

#endif
