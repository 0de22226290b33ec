#ifndef FORMAT_READER_H
#define FORMAT_READER_H

#include "check/finding.h"
#include "model/batch_fill.h"
#include "model/trace.h"
#include "model/plan.h"
#include "input/input.h"

/* What somebody will look at.  A reader always checks everything, and builds only what was asked for. */
enum want {
	WANT_FINDINGS = 0,  /* batches stay empty */
	WANT_TIMES = 1,     /* events with phase, ts, dur, name, class, track, offset */
	WANT_FIELDS = 2,    /* and their fields */
	WANT_STRUCTURE = 4, /* structure records too */
	WANT_BYTES = 8,     /* and batch.bytes */
	WANT_RAW = 32,      /* raw events; always with TIMES and STRUCTURE, and FIELDS or BYTES */
	WANT_ORDER = 64,    /* for the engine: streams of one trace are merged by time */
	WANT_RUNS = 128,    /* with RAW: see WRITER_RAW_RUNS; readers need not care */
};

/* Raw events are the records as the file has them.  Their fields are all those of the record (what becomes
 * ts, dur, name or track too) in file order, with the file's widths and numbers; nothing is resolved, renamed
 * or left out, no vocabulary applied.  The bytes of all records of a valid input in a row are the input. */

struct reader {
	const struct format *format;
	struct input *in;
	struct trace *trace;
	struct findings *findings; /* NULL: a quiet pass */
	unsigned want;             /* enum want */
	const char *dialect;       /* asked for by the user, or NULL */
	const struct option_value *options;
	void *state;          /* state_size bytes, zeroed and freed by the engine */
	void *shared;         /* trace_ops.shared_size bytes, for all inputs of one trace */
	uint64_t records;     /* of this input, counted by the reader; the first one is number 1 */
	const void *ahead_of; /* in a look-ahead pass: the state of the reader that asked for it; else NULL */
	size_t folder; /* so many bytes of its path are the folder it was found in; 0: it was named itself */
	char unreadable[256]; /* why a file beside the input could not be read, for a quiet pass; or "" */
	const struct input_archive *archive; /* for reader_open_beside() */
	struct input_files *files;           /* of the run, for input_open_in(); NULL: none */
	uint64_t unread;  /* with READ_BAD: bytes that were not read because they cannot be trusted */
	bool counts_lost; /* set in open: records are numbered, so that missing ones are noticed */
	uint64_t lost;    /* records that are missing by these numbers */
};

enum read_status {
	READ_MORE,      /* the batch is as full as it should be; call again */
	READ_END,       /* the batch holds the last events */
	READ_BAD,       /* the same, but the input cannot be read on; a finding says why */
	READ_NO_MEMORY, /* the engine reports it, or what else kept a look-ahead pass from its end */
};

enum { PROBE_NO_MEMORY = -1 };

struct reader_ops {
	size_t state_size;
	bool common_suffix; /* other files have the suffix too: not read in folders unless asked for */
	/* How many bits of `head`, the trace's first bytes, speak for this format: most win; 0: none;
	 * PROBE_NO_MEMORY: it could not look.  `complete`: nothing follows.  It must not change anything. */
	int (*probe)(struct slice head, bool complete);
	/* Once, first: sets up the trace (dialect, clock, ...).  false: no memory, or a finding says why. */
	bool (*open)(struct reader *r);
	/* Adds at most b->cap events.  Consumes at most some MiB of records, so that the engine can look
	 * around. Counts r->records, r->trace->events and class.records. */
	enum read_status (*next)(struct reader *r, struct batch *b);
	void (*close)(struct reader *r); /* also when open failed; NULL: the state owns nothing */
};

#endif
