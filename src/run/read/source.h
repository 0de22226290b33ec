#ifndef RUN_READ_SOURCE_H
#define RUN_READ_SOURCE_H

#include "check/findings.h"
#include "format/reader.h"
#include "run/read/marks.h"
#include "run/read/operands.h"

/* ---- source ---- */

/*
 * One opened input with its reader.  Whoever reads an input does so through
 * source_next(): the plain loop, the merge of streams, the search for the least
 * time and look-ahead passes.
 */

/* What the sources of one trace have in common, besides the trace itself. */
struct trace_context {
	const struct pipeline_job *job;      /* borrowed */
	struct trace *trace;                 /* borrowed */
	struct vocabularies *vocabularies;   /* borrowed; NULL: `vocabulary` is all there is */
	const struct vocabulary *vocabulary; /* of the format; NULL: it is loaded when that is known */
	const void *ahead_of;                /* these are look-ahead passes for this reader's state */
	unsigned want;                       /* what the job wants, and what the checks need */
	bool quiet;                          /* a pass that reports nothing and whose results nobody sees */
	struct record_marks *marks;          /* of what is read, or to be found; NULL: none */
	bool raw;                            /* events are as the file has them */
	bool checks_order;                   /* trace_ops.check_event is called */
	const struct format *format;         /* of the trace; NULL: not known yet */
	const char *dialect;                 /* of the sources before; "": none */
	struct source_clock {
		bool any, epoch_known;
		uint64_t epoch_ns;
	} clock;      /* likewise, of traces of single files */
	void *shared; /* trace_ops.shared_size bytes */
	bool opened;  /* trace_ops.open was called */
	/* of the trace as a whole */
	struct findings findings; /* path NULL: no input was recognised yet */
	struct deferred_findings deferred;
	size_t deferred_room;
	bool unreadable;
	bool incomplete;    /* a file that belongs to the trace could not be read */
	char refused[512];  /* why what was asked for makes no sense for the trace; "": it does */
	bool system_failed; /* memory, a read or a file that shrank: what was read may lack what was there */
	char why[256];      /* the first file beside an input that could not be read, and the reason; or "" */
	uint64_t bytes;     /* of all sources that were closed, unpacked */
	uint64_t read;      /* of all sources, so far, by source_next() */
};

/* Where an input was found.  All borrowed. */
struct source_place {
	const char *path;
	const char *operand; /* of the command line */
	bool in_folder;      /* the operand is a folder */
	uint32_t number;     /* in the order in which the inputs of a job are opened, from 0 on */
	const struct input_archive *archive; /* the operand is one, which outlives the source; or NULL */
};

struct source {
	struct trace_context *context;
	struct source_place place;
	struct input *in;            /* NULL: closed, or none */
	const struct format *format; /* NULL: no format recognises it */
	const char *dialect;         /* known when it is ended; "": none */
	struct reader reader;
	struct findings findings;
	struct deferred_findings deferred; /* of a stream that is merged with others */
	enum read_status status;           /* of the last source_next; READ_MORE before it */
	bool open;                         /* the reader was opened */
	bool unreadable; /* the input failed, was cut, is of no known format, or memory ran out */
	bool complete;   /* the reader reached the end of the trace; known when it is closed */
	bool as_whole;   /* no input: the findings are those of the trace as a whole */
};

void trace_context_init(struct trace_context *c, const struct pipeline_job *job, struct trace *trace,
                        struct vocabularies *vocabularies, unsigned want);
void trace_context_free(struct trace_context *c);

/* The id of an arrow of the input (or trace) of this number, which differs from those of others. */
uint64_t source_flow_id(uint64_t number, uint64_t id);

/* Takes over `in` (NULL: there was no memory for it) and finds its format.  false: it cannot be read,
 * findings say why; close it all the same. */
bool source_begin(struct source *s, struct trace_context *c, struct source_place place, struct input *in);

/* Opens its reader.  false: as above, or the findings of the trace say why. */
bool source_start(struct source *s);

/* Fills an empty batch, which may stay empty while s->status is READ_MORE. */
void source_next(struct source *s, struct batch *b);

/* Checks events of its own in the order of the trace, if the job asks for it. */
void source_check_events(struct source *s, const struct batch *b);

/* Memory ran out; reported as a finding of the source. */
void source_no_memory(struct source *s);

/* Reports what is wrong with the input itself, and gives up reader and input.  The findings stay.  Harmless
 * twice. */
void source_end(struct source *s);

/* Ends it, and gives up the findings. */
void source_close(struct source *s);

/* Reports that memory ran out where `in` (may be NULL) is. */
void source_report_no_memory(struct findings *j, const struct input *in);

/* ---- min time ---- */

/* The least time of all events of a job's inputs, by a quiet pass of its own. */
struct min_time {
	uint64_t ns;
	bool known;    /* there is an event, and it can be looked at twice */
	bool complete; /* no input was left out because it can be read only once */
	bool failed;   /* memory or the system failed: nothing of this is to be used */
	char why[256]; /* then, if it was not memory */
};

struct min_time min_time_find(const struct pipeline_job *job, const struct operands *operands,
                              struct vocabularies *vocabularies);

#endif
