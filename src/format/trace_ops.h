#ifndef FORMAT_TRACE_OPS_H
#define FORMAT_TRACE_OPS_H

#include "check/findings.h"
#include "format/reader.h"
#include "input/open.h"

/*
 * Only for formats whose traces are several files: what these share, what lies
 * beside them, and what only the whole trace or the order of its events shows.
 * Any member may be 0.
 */
struct trace_ops {
	/* Names of files in a folder that belong to a trace of this format but hold no events;
	 * NULL-terminated. */
	const char *const *sidecars;
	/* Names of other files that readers open with reader_open_beside(); NULL-terminated. */
	const char *const *beside;
	/* How many bytes of the path of a file in a folder name the trace that it belongs to; 0: as much as
	 * that folder.  NULL: always 0. */
	size_t (*trace_path)(const char *path);
	/* Checks such a file where it lies (the findings' path is its own); in, state and shared are not set.
	 * Files of other programs may have the same name: of those it reports nothing. */
	void (*check_sidecar)(struct reader *r);
	/* What the inputs of one trace know of each other: zeroed at first, freed behind `close`. */
	size_t shared_size;
	/* Before the first input: reads what belongs to all of them.  Not set: in, state.  false: as
	 * reader_ops.open. */
	bool (*open)(struct reader *r);
	/* After the last input: checks the trace as a whole.  Not set: in, state, dialect, folder. */
	void (*check)(struct reader *r);
	void (*close)(void *shared); /* NULL: it owns nothing */
	/* The inputs are streams, each in order of time, that the engine merges (WANT_ORDER).  Their states
	 * are alive at the same time, so they should be small. */
	bool merges;
	/* Whether the checks that these options ask for need the events in that order. */
	bool (*checks_order)(const struct option_value *options);
	/* Checks an event in that order; r is the reader of its stream. */
	void (*check_event)(struct reader *r, const struct batch *b, const struct event *e);
	/* The reader checks whether payloads fit what the vocabulary says; else the engine does where it
	 * reads them. */
	bool checks_payloads;
};

/* Opens a file that belongs to the trace, where its inputs lie: in their archive if they are in one.  NULL:
 * no memory. */
struct input *reader_open_beside(const struct reader *r, const char *path);

/* After a file beside the input was read: whether that went well.  If not, it is reported under this name,
 * and the input, or the trace, counts as one that could not be read.  An empty file is fine. */
bool reader_can_use(struct reader *r, struct input *file, const char *name);

/* For the engine: the trace_ops of a format, or some that are all 0. */
const struct trace_ops *format_trace_ops(const struct format *f);

#endif
