#ifndef PIPELINE_PIPELINE_H
#define PIPELINE_PIPELINE_H

#include "check/finding_deferred.h"
#include "pipeline/interpret.h"
#include "pipeline/vocabularies.h"
#include "format/format.h"

/*
 * The one loop: input -> reader -> batches -> whoever wants them.  All
 * commands run it; `validate` is the loop with nobody at the end.
 */

/* What to read and how.  All pointers are borrowed and outlive the flow. */
struct pipeline_job {
	const char *path; /* "-": standard input */
	const char *const
	    *paths; /* for pipeline_each: npaths operands that make one trace; NULL: path alone */
	size_t npaths;
	const struct format *from; /* NULL: told by content */
	const char *dialect;       /* NULL: told by content */
	const struct option_value *options;
	const struct schema_file *schemas; /* the first counts most; before what is built in */
	size_t nschemas;
	struct vocabularies
	    *vocabularies; /* kept from flow to flow with the same schemas; NULL: those of the flow */
	unsigned want;     /* enum want */
	enum interpret_mode interpret; /* what is made of the events before anybody gets them */
	bool
	    rebase; /* subtract the earliest time (the first event's, where the input cannot be read twice) */
	finding_sink *sink; /* told of each finding; may be NULL */
	void *ctx;
	/* Told between batches how far the reader is; may be NULL. */
	void (*progress)(void *ctx, const struct input *in);
	void *progress_ctx;
};

struct streams;
struct deferred_input;

struct pipeline {
	const struct pipeline_job *job;
	unsigned want; /* the job's, and what the reader needs to check */
	struct input *in;
	const struct format *format; /* NULL: nobody recognised it */
	struct trace trace;
	struct findings findings;
	struct reader reader;
	struct batch batch;
	uint32_t shown_tracks, shown_classes; /* of the trace, in batches so far */
	struct interpret interpret;
	void *shared; /* of the format: reader_ops.shared_size */
	const struct format *shared_format;
	struct vocabularies vocabularies; /* unless the job has them */
	uint64_t rebase_ns;               /* what was subtracted */
	bool rebased;
	bool signed_time;             /* a time may have been before that */
	bool checking;                /* the reader checks event by event, in order of time */
	struct streams *streams;      /* inputs that are merged */
	struct deferred_input *later; /* and those that wait until that is done */
	size_t piece;                 /* how much of an input may be in memory; 0: as usual */
	/* of the trace as a whole */
	struct findings trace_findings; /* path NULL: there is none yet */
	struct deferred_findings trace_deferred;
	size_t deferred_room;
	bool trace_unreadable;
	bool whole; /* what is done now is no input, but all of them together */
	/* of the present input */
	const char *operand; /* in which it was found */
	bool in_folder;      /* which is a folder */
	bool open;           /* the reader is open */
	bool unreadable; /* exit status 2: the input failed, was cut, is of no known format, or memory ran out
	                  */
	bool complete;   /* the reader reached the end of the trace */
	/* of all inputs so far */
	uint64_t bytes; /* read, unpacked */
	bool failed;    /* the system failed: what was read may lack what was there */
};

/* Takes a batch.  false: stop (it has said or remembered why). */
typedef bool pipeline_sink(void *ctx, struct pipeline *f, struct batch *b);

/* Opens the input and finds its format.  false: nothing can be read; findings said why.  In any case end with
 * pipeline_close. */
bool pipeline_open(struct pipeline *f, const struct pipeline_job *job);

/* The same on an input that is open already (NULL: there was no memory for it); pipeline_close closes it.
 * job->path is only its name then. */
bool pipeline_open_input(struct pipeline *f, const struct pipeline_job *job, struct input *in);

/* Reads to the end, or to where the input cannot be read on.  false: a sink said stop. */
bool pipeline_run(struct pipeline *f, pipeline_sink *sink, void *ctx);

void pipeline_close(struct pipeline *f);

/* What is to happen with the inputs of an operand; any may be NULL. */
struct pipeline_hooks {
	bool (*opened)(void *ctx, struct pipeline *f); /* it can be read.  false: stop */
	pipeline_sink *take;
	void (*done)(void *ctx,
	             struct pipeline *f); /* it was read, or could not be; its findings are complete */
};

/* Reads the operands one after the other into one trace.  An operand is a file, or a folder: its files that
 * are named like a trace, in the order of the bytes of their paths.  In any case end with pipeline_close.
 * false: a hook said stop.
 *
 * Streams that are to be merged (reader_ops.merges, WANT_ORDER) are all opened first; `take` then gets their
 * events in the order of (time, path, offset), with f->in NULL where they are of several, and `done` comes
 * for one stream after the other when all are read. */
bool pipeline_each(struct pipeline *f, const struct pipeline_job *job, const struct pipeline_hooks *hooks,
                   void *ctx);

/* Says that memory ran out, as a finding of this input. */
void pipeline_no_memory(struct pipeline *f);

#endif
