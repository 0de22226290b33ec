#ifndef RUN_READ_READING_H
#define RUN_READ_READING_H

#include <stdbool.h>
#include <stdint.h>

#include "model/trace_engine.h"
#include "run/job.h"
#include "run/read/source.h"

/*
 * The first stage: reads the inputs of the operands one after the other, or merges them by time if they are
 * streams of one trace.
 */

/* A stream that cannot be merged with the others: read after them. */
struct deferred_input {
	struct deferred_input *next;
	struct source_location location;
};

struct streams;

struct reading {
	struct stage stage;
	struct trace_context *context; /* of the run; borrowed, like the pool */
	struct batch_pool *pool;
	struct operands operands;
	size_t inputs;        /* upper bound */
	size_t operand, file; /* the next input */
	uint32_t number;      /* of the next input, from 0 */
	/* State of the current operand. */
	bool problems_reported;
	bool has_input;       /* a file of it is not a sidecar */
	bool has_error;       /* an error that prevents opening a file was reported */
	struct input *first;  /* opened by reading_open_first(); NULL: it was not, or is being read */
	struct source source; /* the current one, unless streams are merged */
	bool has_source;
	struct streams *streams; /* merged ones; NULL: none */
	struct deferred_input *deferred, **deferred_end;
	size_t piece;            /* max bytes of an input in memory; 0: default */
	enum stage_status ended; /* STAGE_MORE: not ended */
};

struct reading *reading_new(struct trace_context *c, struct batch_pool *pool);

/* Opens the first input before its turn if it can be read once only, for zero_time_find(). */
void reading_open_first(struct reading *r);

/* Closes open sources and calls the hooks. */
void reading_end(struct reading *r);
void reading_free(struct reading *r);

/* The source that is being read, for findings of faults; NULL: none. */
struct source *reading_present(struct reading *r);

/* Calls the hooks and closes the source. */
void reading_report(struct reading *r, struct source *s);

/* ---- streams.c ---- */

/* Whether inputs of this source's format are merged for the job. */
bool streams_wanted(const struct source *s);

/* Whether the source cannot be added to the streams: each compressed stream needs a thread and some MiB. */
bool streams_full(const struct reading *r, const struct source *s);

/* Opens the source as a stream and takes it over.  Returns false if a hook stops the run. */
bool streams_add(struct reading *r, struct source *s);

/* The next events in order of time. */
enum stage_status streams_next(struct reading *r, struct batch **out);

/* Reports and frees all streams. */
void streams_end(struct reading *r);

/* The stream that was read last; NULL: none. */
struct source *streams_present(struct reading *r);

/* ---- ahead.c ---- */

/*
 * The stage after reading, which reads ahead on a thread of its own.  Batches, findings and the order of
 * tracks and classes are the same as with one thread: each change of the trace passes the gate.  There the
 * reader waits until all earlier batches are used, and the other stages wait until the reader waits.
 */
struct ahead;

/* When the thread starts.  raw (borrowed): records are only copied, which is known with the first batch. */
struct ahead_rule {
	const bool *raw;
	bool marked;  /* copied records are of a made selection; others are read without a thread */
	bool if_slow; /* only if reading takes long, as for copied records */
	bool if_idle; /* only if the other threads of the process have little to do */
};

/* NULL: out of memory.  `reading` is borrowed. */
struct ahead *ahead_new(struct stage *reading, struct ahead_rule rule);

struct stage *ahead_stage(struct ahead *a);

/* The gate of the trace and of its findings. */
struct gate *ahead_gate(struct ahead *a);

/* Ends the thread, and releases the batches that were read but not requested.  The stage has no more then.
 * Accepts NULL. */
void ahead_stop(struct ahead *a);

/* Stops and frees it. */
void ahead_free(struct ahead *a);

/* ---- before.c; reader_look_ahead() is in format/reader_modes.h ---- */

/* The least time of all events of a job's inputs, from a pass without findings. */
struct min_time {
	uint64_t ns;
	bool known;    /* there is an event in an input that can be read twice */
	bool complete; /* all inputs can be read twice */
	bool failed;   /* OOM or a failed system call: the rest is invalid */
	char why[256]; /* the reason, unless OOM */
};

struct min_time min_time_find(const struct pipeline_job *job, const struct operands *operands,
                              struct vocabularies *vocabularies);

/* trace.zero_ns of the inputs: the first one that is not 0.
 * first: the first input, if it is open, or NULL. */
uint64_t zero_time_find(const struct pipeline_job *job, const struct operands *operands, struct input *first);

#endif
