#ifndef FORMAT_TRACE_OPS_H
#define FORMAT_TRACE_OPS_H

#include "check/findings.h"
#include "format/claims.h"
#include "format/reader.h"
#include "input/open.h"

/*
 * For formats whose traces consist of several files: shared state, other files of the trace, and checks of
 * the whole trace or of the order of its events.  Any member may be 0.
 */
struct trace_ops {
	/* Names of files of a trace that contain no events; NULL-terminated. */
	const char *const *sidecars;
	/* Patterns (glob_fits()) of the names of other files that readers open with reader_open_auxiliary();
	 * NULL-terminated. */
	const char *const *auxiliary;
	/* Length of the prefix of a file's path that identifies its trace; 0: its folder.  NULL: always 0. */
	size_t (*common_path_length)(const char *path);
	/* Checks a sidecar (the path of the findings is that of the sidecar); in, state and shared are not
	 * set.  Reports nothing for files of other programs with the same name. */
	void (*check_sidecar)(struct reader *r);
	/* Size of the state shared by the inputs of a trace: zeroed at first, freed after `close`. */
	size_t shared_size;
	/* Called before the first input: reads files common to all inputs.  Not set: in, state.  Returns
	 * false like reader_ops.open. */
	bool (*open)(struct reader *r);
	/* Called after the last input: checks the trace as a whole.  Not set: in, state, dialect, folder.
	 * `unreadable` is set if an input cannot be read or is missing. */
	void (*check)(struct reader *r);
	void (*close)(void *shared); /* NULL: it owns nothing */
	/* Claims the state of an input that was read apart, without WANT_FIELDS (claims.h).  Returns false if
	 * the inputs must be read in turn.  NULL: they always must. */
	bool (*claims)(const void *shared, const struct trace *trace, struct claims *c);
	/* Length of the prefix of a path that inputs with a common state have in common, such as the folder
	 * of a process: they are read together, apart from others, and `check` sees all inputs.  NULL: each
	 * input is read by itself, with a `check` of its own. */
	size_t (*apart_length)(const char *path);
	bool own_clocks; /* each input states its clock; otherwise the trace has one */
	/* The inputs are streams, each in order of time, that the engine merges (WANT_ORDER).  Their states
	 * exist at the same time and should be small. */
	bool merges;
	/* Whether the checks selected by these options need the events in that order. */
	bool (*checks_order)(const struct option_value *options);
	/* Checks an event in that order; r is the reader of its stream. */
	void (*check_event)(struct reader *r, const struct batch *b, const struct event *e);
	/* The reader validates payloads against the vocabulary; else the engine does when it reads them. */
	bool checks_payloads;
};

/* Opens a file of the trace, in the folder or archive of its inputs.  NULL on OOM. */
struct input *reader_open_auxiliary(const struct reader *r, const char *path);

/* Whether there is no such file; false on OOM. */
bool reader_lacks_auxiliary(const struct reader *r, const char *path);

/* To be called after another file of the trace was read.  Returns whether it was read without faults.  If
 * not, reports it under this name and marks the input, or the trace, as unreadable.  Accepts an empty
 * file. */
bool reader_can_use(struct reader *r, struct input *file, const char *name);

/* For the engine: the trace_ops of a format; all 0 if it has none. */
const struct trace_ops *format_trace_ops(const struct format *f);

/* Whether two statements of the epoch of one clock, in ns, agree: a monotonic clock and the wall time are not
 * sampled at exactly the same time. */
static inline bool epochs_agree(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) <= UINT64_C(1000000000);
}

#endif
