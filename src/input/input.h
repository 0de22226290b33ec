#ifndef INPUT_INPUT_H
#define INPUT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

/*
 * Bytes of a trace, whatever they come from: a mapped file, a pipe, a gzip or
 * zstd stream.  The reader sees a window [p, end) and moves p forward; when a
 * record does not fit, it asks for more, and the window may then lie elsewhere
 * in memory with the same unread bytes at its start.
 *
 * Lifetime: bytes of the window stay valid as long as one of these holds: the
 * input is a mapped file (always), or the buffer is held (struct input_holds), or it is the
 * current window.
 */
struct input_buffer; /* reference-counted memory behind one window */

/* The buffers that somebody's slices point into. */
struct input_holds {
	struct input_buffer **buffers;
	size_t n, cap;
};

enum input_fault {
	INPUT_OK,
	INPUT_MISSING,    /* no such file, or a link to nowhere */
	INPUT_DENIED,     /* no permission */
	INPUT_NOT_A_FILE, /* directory, FIFO, device, socket, terminal */
	INPUT_EMPTY,      /* no bytes at all (also: a compressed stream of no bytes) */
	INPUT_SYSTEM,     /* read, map, memory, thread */
	INPUT_SHRUNK,     /* the file became shorter while it was mapped */
	INPUT_CUT,        /* the compressed stream ends early */
	INPUT_CORRUPT,    /* the compressed stream is damaged (bits, checksum, length) */
	INPUT_TRAILING, /* bytes after the compressed stream that are no further member; a warning, not an end
	                 */
};

enum input_packing { INPUT_PLAIN, INPUT_GZIP, INPUT_ZSTD };

struct input {
	const char *p;   /* first byte not yet consumed; the reader moves it */
	const char *end; /* one past the last byte of the window */
	bool last;       /* nothing comes after `end` */

	/* The rest is for input/ itself and for questions through the functions below. */
	const char *base;     /* a place in the window ... */
	uint64_t base_offset; /* ... and its offset in the (unpacked) trace */
	struct input_holds *holds;
	const struct input_source_ops *ops;
	struct input_source *source;
	const char *path; /* as given; "-" is standard input */
	enum input_packing packing;
	enum input_fault fault;
	uint64_t fault_offset; /* in the unpacked trace */
	char fault_text[256];  /* one line: the reason, without the path */
};

/* Opens a path ("-": standard input; "/dev/stdin" and "/dev/fd/N" too, so that process substitution works).
 * Regular files are mapped read-only, everything else is read; gzip and zstd are told by content and
 * unpacked, gzip on a thread of its own.  A named FIFO, device, folder, socket or terminal is refused without
 * blocking.  Never NULL unless memory is out; on failure ->fault is set, and the window is empty and last.
 * The first window is ready (at least 64 KiB or the whole input, so that probing works). */
struct input *input_open(const char *path);

/* The same for one of very many inputs that are read side by side: of a plain regular file about `piece`
 * bytes are in memory at a time, and neither a descriptor nor a mapping is kept. */
struct input *input_open_pieces(const char *path, size_t piece);

/* Whether a path names a file, and is no descriptor that is open already: looking at it takes nothing away.
 */
bool input_is_named(const char *path);

/* Bytes in memory, for tests: not copied, the window is the whole. */
struct input *input_from_memory(const char *p, size_t n);

/* Bytes in memory behind a sliding window that gives out at most `step` bytes more each time (>= 1), with a
 * new buffer each time: for tests of readers, every record crosses a border. */
struct input *input_from_memory_slowly(const char *p, size_t n, size_t step);

/* Keeps [p, end) and makes it longer by at least one byte (p and end may move to another place).  false:
 * there is no more (last is set; fault tells whether that is the true end).  The cost of asking byte by byte
 * is amortised: a window that must grow grows by at least half. */
bool input_more(struct input *in);

/* Makes at least n bytes available at p; false if the input ends before (the window then holds all that is
 * left). */
static inline bool
input_need(struct input *in, size_t n)
{
	while ((size_t)(in->end - in->p) < n)
		if (in->last || !input_more(in))
			return false;
	return true;
}

/* The offset of a place in the current window, in the unpacked trace. */
static inline uint64_t
input_offset(const struct input *in, const char *at)
{
	return in->base_offset + (uint64_t)(at - in->base);
}

/* Whether a second, independent input on the same bytes can be opened. */
bool input_can_reopen(const struct input *in);

/* A second input on the same bytes, from the start; NULL if it cannot be.  Close it before the first. */
struct input *input_reopen(const struct input *in);

/* What people call it: its name without the folders before it. */
struct slice input_name(const struct input *in);

/* Size of the file in bytes as it lies (packed); 0 when unknown (pipes). */
uint64_t input_file_size(const struct input *in);

/* For the whole remaining input: counts and drops it (used to report how many bytes were not read).  For a mapped
 * file at once; others are read to the end. */
uint64_t input_drain(struct input *in);

/* From now on every buffer whose window the reader sees is added to `holds` (the current one at once).  NULL:
 * stop. */
void input_hold(struct input *in, struct input_holds *holds);

/* Gives up what was held; the array is kept for reuse. */
void input_release(struct input_holds *holds);
void input_holds_free(struct input_holds *holds);

/* Mapped files: pages before p will not be looked at again soon; gives them back to the system now and then.
 */
void input_behind(struct input *in);

/* How many bytes behind p may stay in memory, about; for inputs that are read side by side. */
void input_keep(struct input *in, size_t bytes);

/* Memory that stays in use because of what is held; mapped files do not count. */
uint64_t input_holds_size(const struct input_holds *holds);

/* Moves what is held from the one to the other.  false: no memory, and nothing was moved. */
bool input_holds_move(struct input_holds *to, struct input_holds *from);

/* True if bytes read since the last question may be wrong because the file shrank under the mapping; sets
 * ->fault. */
bool input_shrunk(struct input *in);

void input_close(struct input *in); /* NULL is fine */

/* Installs the SIGBUS handler that turns a shrinking file into INPUT_SHRUNK.  Once, from main. */
void input_handle_signals(void);

#endif
