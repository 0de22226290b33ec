#ifndef INPUT_INPUT_H
#define INPUT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "input/fault.h"

/*
 * Bytes of a trace, from a mapped file, a pipe, or a gzip, zstd or xz stream.  A reader sees a window
 * [p, end) and moves p forward.  When a record does not fit, it calls input_more(); the window may then move
 * in memory, with the same unread bytes at its start.
 *
 * The bytes of the current window are valid.  Earlier bytes are valid as long as a batch has a reference to
 * their buffer: the engine adds each buffer that the reader sees to the batch that is being filled.
 */
struct input {
	const char *p;   /* first byte not yet consumed; the reader moves it */
	const char *end; /* one past the last byte of the window */
	bool last;       /* no bytes follow `end` */
	/* For the engine and input/; see open.h. */
	bool again;           /* a further pass over the file */
	const char *base;     /* a position in the window ... */
	uint64_t base_offset; /* ... and its offset in the (unpacked) trace */
	struct input_pins *pins;
	const struct input_source_ops *ops;
	struct input_source *source;
	struct input_files *files; /* files of the run; NULL: none */
	const char *path;          /* as given; "-" is standard input */
	enum input_packing packing;
	enum input_fault fault;
	uint64_t fault_offset; /* in the unpacked trace */
	char fault_text[256];  /* reason on one line, without the path */
};

/* Keeps [p, end) and adds at least one byte; p and end may move.  Returns false at the end of the input, or
 * after a fault.  Amortised O(1) per byte: a window that must grow grows by at least half. */
bool input_more(struct input *in);

/* Makes at least n bytes available at p.  Returns false if there are fewer; the window then has all. */
static inline bool input_need(struct input *in, size_t n)
{
	while ((size_t)(in->end - in->p) < n)
		if (in->last || !input_more(in))
			return false;
	return true;
}

/* The offset of a position in the current window, in the unpacked trace. */
static inline uint64_t input_offset(const struct input *in, const char *at)
{
	return in->base_offset + (uint64_t)(at - in->base);
}

/* Skips the rest of the input and returns its size, to report how many bytes were not read. */
uint64_t input_drain(struct input *in);

/* The name of the input, without folders. */
struct slice input_name(const struct input *in);

#endif
