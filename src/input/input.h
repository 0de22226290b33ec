#ifndef INPUT_INPUT_H
#define INPUT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

/* ---- input fault ---- */

/* What can be wrong with an input itself, whatever its format. */
enum input_fault {
	INPUT_OK,
	INPUT_MISSING,    /* no such file, or a link to nowhere */
	INPUT_DENIED,     /* no permission */
	INPUT_NOT_A_FILE, /* directory, FIFO, device, socket, terminal */
	INPUT_EMPTY,      /* no bytes at all (also: a compressed stream of no bytes) */
	INPUT_SYSTEM,     /* read, map, memory, thread */
	INPUT_SHRUNK,     /* the file became shorter while it was mapped */
	INPUT_CHANGED,    /* it is not what it was before in this run, or was written to while it was read */
	INPUT_CUT,        /* the compressed stream, or archive, ends early */
	INPUT_CORRUPT,    /* the compressed stream, or archive, is damaged (bits, checksum, length) */
	INPUT_TRAILING, /* bytes after the compressed stream that are no further member; a warning, not an end
	                 */
	INPUT_REPLACED, /* of several files of one name in an archive one is read; a warning too */
	INPUT_ELSEWHERE, /* links out of a folder, or other file systems in it, are left out; a warning too */
};

/* Whether the rest of the input is read all the same. */
static inline bool input_fault_is_warning(enum input_fault fault)
{
	return fault == INPUT_TRAILING || fault == INPUT_REPLACED || fault == INPUT_ELSEWHERE;
}

enum input_packing { INPUT_PLAIN, INPUT_GZIP, INPUT_ZSTD, INPUT_XZ };

/* ---- input ---- */

/*
 * Bytes of a trace, from a mapped file, a pipe, or a gzip, zstd or xz stream.  A reader sees a window
 * [p, end) and moves p forward.  When a record does not fit, it asks for more; the window may then lie
 * elsewhere in memory, with the same unread bytes at its start.
 *
 * Lifetime: the bytes of the current window are valid.  Earlier ones are valid as long as a batch holds their
 * buffer: the engine makes the batch that is being filled hold each buffer whose window the reader sees
 * meanwhile.
 */
struct input {
	const char *p;    /* first byte not yet consumed; the reader moves it */
	const char *end;  /* one past the last byte of the window */
	bool last, again; /* nothing comes after `end`; for the engine: a further pass over a file */
	/* For the engine: see input_open.h. */
	const char *base;     /* a place in the window ... */
	uint64_t base_offset; /* ... and its offset in the (unpacked) trace */
	struct input_holds *holds;
	const struct input_source_ops *ops;
	struct input_source *source;
	struct input_files *files; /* of the run; NULL: none */
	const char *path;          /* as given; "-" is standard input */
	enum input_packing packing;
	enum input_fault fault;
	uint64_t fault_offset; /* in the unpacked trace */
	char fault_text[256];  /* one line: the reason, without the path */
};

/* Keeps [p, end) and adds at least one byte; p and end may move.  false: there is no more.  The cost of
 * asking byte by byte is amortised: a window that must grow grows by at least half. */
bool input_more(struct input *in);

/* Makes at least n bytes available at p.  false: the input ends before; the window then holds all that is
 * left. */
static inline bool input_need(struct input *in, size_t n)
{
	while ((size_t)(in->end - in->p) < n)
		if (in->last || !input_more(in))
			return false;
	return true;
}

/* The offset of a place in the current window, in the unpacked trace. */
static inline uint64_t input_offset(const struct input *in, const char *at)
{
	return in->base_offset + (uint64_t)(at - in->base);
}

/* Drops the whole rest, and returns how many bytes that was: to report how many were not read. */
uint64_t input_drain(struct input *in);

/* The name of the input, without the folders before it. */
struct slice input_name(const struct input *in);

#endif
