#ifndef INPUT_INPUT_OPEN_H
#define INPUT_INPUT_OPEN_H

#include "input/input.h"
#include "input/input_files.h"
#include "input/input_holds.h"

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

#endif
