#ifndef FORMAT_READER_H
#define FORMAT_READER_H

#include "check/finding.h"
#include "model/batch_fill.h"
#include "model/trace.h"
#include "model/plan.h"
#include "input/input.h"

/* Needs of the consumer.  A reader always checks everything, but builds only this. */
enum want {
	WANT_FINDINGS = 0,  /* batches stay empty */
	WANT_TIMES = 1,     /* events with phase, ts, dur, name, class, track, offset */
	WANT_FIELDS = 2,    /* fields of events, and names that other records give to tracks */
	WANT_STRUCTURE = 4, /* structure records */
	WANT_BYTES = 8,     /* batch.bytes */
	WANT_RAW = 32,      /* raw events; always with TIMES and STRUCTURE, and FIELDS or BYTES */
	WANT_ORDER = 64,    /* for the engine: streams of a trace are merged by time */
	WANT_RUNS = 128,    /* with RAW: see WRITER_RAW_RUNS; optional for readers */
};

/* Raw events are unmodified records.  Their fields are all those of the record (also those that become ts,
 * dur, name or track) in file order, with the file's widths and numbers; none is resolved, renamed or
 * omitted, and no vocabulary applies.  The bytes of all records of a valid input, concatenated, are the
 * input. */

struct reader {
	const struct format *format;
	struct input *in;
	struct trace *trace;
	struct findings *findings; /* NULL: a quiet pass */
	unsigned want;             /* enum want */
	const char *dialect;       /* requested by the user, or NULL */
	const struct option_value *options;
	void *state;          /* state_size bytes, zeroed and freed by the engine */
	void *shared;         /* trace_ops.shared_size bytes, shared by all inputs of a trace */
	uint64_t records;     /* of this input, counted by the reader; the first is number 1 */
	const void *ahead_of; /* in a look-ahead pass: the state of the reader that requested it; else NULL */
	size_t
	    folder; /* length of the folder prefix of its path; 0: the file was named on the command line */
	char unreadable[256]; /* why another file of the trace could not be read, for a quiet pass; or "" */
	const struct input_archive *archive; /* for reader_open_auxiliary() */
	struct input_files *files;           /* of the run, for input_open_in(); NULL: none */
	uint64_t unread;  /* with READ_BAD: bytes that were skipped as they cannot be trusted */
	bool counts_lost; /* set in open: records are numbered, so missing ones are detected */
	uint64_t lost;    /* number of missing records */
};

enum read_status {
	READ_MORE,      /* call again */
	READ_END,       /* the batch has the last events */
	READ_BAD,       /* the same, but the rest cannot be read; a finding says why */
	READ_NO_MEMORY, /* the engine reports this, or why a look-ahead pass failed */
};

enum { PROBE_NO_MEMORY = -1 };

struct reader_ops {
	size_t state_size;
	bool common_suffix; /* other files have the suffix, too: not read in folders by default */
	/* The number of bits of `head`, the trace's first bytes, that match this format: the maximum wins; 0:
	 * no match; PROBE_NO_MEMORY on OOM.  `complete`: head is the whole trace.  Without side effects. */
	int (*probe)(struct slice head, bool complete);
	/* Called once, first: sets up the trace (dialect, clock, ...).  Returns false on OOM or after a
	 * finding. */
	bool (*open)(struct reader *r);
	/* Adds at most b->cap events.  Consumes at most a few MiB of records, so that the engine can report
	 * progress. Counts r->records, r->trace->events and class.records. */
	enum read_status (*next)(struct reader *r, struct batch *b);
	void (*close)(struct reader *r); /* also if open failed; NULL: the state owns nothing */
};

#endif
