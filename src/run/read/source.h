#ifndef RUN_READ_SOURCE_H
#define RUN_READ_SOURCE_H

#include "check/findings.h"
#include "format/reader.h"
#include "format/reader_modes.h"
#include "run/read/marks.h"
#include "run/read/operands.h"

/* ---- records (records.c) ---- */

enum read_status {
	READ_MORE,
	READ_END,       /* the batch has the last events */
	READ_BAD,       /* likewise, but the rest cannot be read; a finding gives the reason */
	READ_NO_MEMORY, /* or a look-ahead pass failed, which has reported the reason */
};

struct record_marks;

/* Fills an empty batch with the next records of the input; it may remain empty while READ_MORE is returned.
 * With WANT_PLAIN and marks that have stretches, plain events are joined: as with WANT_RUNS, but the event is
 * an instant.  marks may be NULL; input: number of the input in the marks. */
enum read_status records_next(struct reader *r, struct batch *b, struct record_marks *marks, uint32_t input);

/* Reads the record at the start of the window, without an event. */
enum record_status records_check(struct reader *r, struct record *rec);

/* Grows the window after RECORD_MORE.  The `held` bytes before its start remain in memory. */
void records_more(struct input *in, size_t held);

/* ---- sources (source.c) ---- */

/*
 * One opened input with its reader.  All reading goes through source_next(): the plain loop, the merge of
 * streams, the search for the least time and look-ahead passes.
 */

/* Faults that may not recur.  A missing or unreadable file remains so for the whole run (struct
 * input_files). */
static inline bool source_is_failure(enum input_fault fault)
{
	return fault == INPUT_SYSTEM || fault == INPUT_SHRUNK || fault == INPUT_CHANGED;
}

/* State shared by the sources of a trace, besides the trace itself. */
struct trace_context {
	const struct pipeline_job *job;      /* borrowed */
	struct trace *trace;                 /* borrowed */
	struct gate *gate;                   /* passed before a change of this state; NULL: none */
	struct vocabularies *vocabularies;   /* borrowed; NULL: only `vocabulary` */
	const struct vocabulary *vocabulary; /* of the format; NULL: loaded when the format is known */
	const void *ahead_of;        /* state of the reader that requested a look-ahead pass; NULL: none */
	unsigned want;               /* needs of the job and of checks */
	bool quiet;                  /* a pass without findings */
	bool recovers;               /* as in struct reader */
	struct record_marks *marks;  /* to apply, or to gather; NULL: none */
	bool raw;                    /* unmodified records; valid when the format is known */
	bool checks_order;           /* trace_ops.check_event is called */
	const struct format *format; /* of the trace; NULL: unknown yet */
	const char *dialect;         /* of earlier sources; "": none */
	struct source_clock {
		bool any, epoch_known;
		uint64_t epoch_ns;
	} clock;      /* that of earlier sources, for formats whose inputs have clocks of their own */
	void *shared; /* trace_ops.shared_size bytes */
	bool opened;  /* trace_ops.open was called */
	/* of the whole trace */
	struct findings findings; /* path NULL: no input recognised yet */
	struct finding_list deferred;
	struct arena deferred_arena; /* of this list and of the lists of streams */
	size_t deferred_left;
	bool unreadable;
	bool incomplete;    /* another file of the trace could not be read */
	bool lacks_inputs;  /* an input could not be read, or is missing */
	char refused[512];  /* why the request cannot be met for the trace; or "" */
	bool system_failed; /* OOM, a read error or a shrunk file: events may be missing */
	char why[256];      /* the first other file that could not be read, and the reason; or "" */
	uint64_t bytes;     /* of closed sources, unpacked */
	uint64_t read;      /* of all sources, by source_next() */
};

/* The location of an input.  All borrowed. */
struct source_location {
	const char *path;
	const char *operand;                 /* of the command line */
	bool in_folder;                      /* the operand is a folder */
	uint32_t number;                     /* in the order of opening, from 0 */
	const struct input_archive *archive; /* the operand, if it is one; outlives the source; or NULL */
};

struct source {
	struct trace_context *context;
	struct source_location location;
	struct input *in;            /* NULL: closed */
	const struct format *format; /* NULL: not recognised */
	const char *dialect;         /* valid after source_end(); "": none */
	struct reader reader;
	struct findings findings;
	struct finding_list deferred; /* of a merged stream */
	enum read_status status;      /* of the last source_next(); READ_MORE before */
	bool open;                    /* the reader was opened */
	bool unreadable;              /* the input failed, was cut or not recognised, or OOM */
	bool complete;                /* the reader reached the end; valid after source_end() */
	bool as_whole;                /* no input: the source has the findings of the whole trace */
	bool is_sidecar;              /* no input: a file without events */
};

void trace_context_init(struct trace_context *c, const struct pipeline_job *job, struct trace *trace,
                        struct vocabularies *vocabularies, unsigned want);
void trace_context_free(struct trace_context *c);

/* Returns a list for findings that are reported later. */
struct finding_list trace_context_list(struct trace_context *c);

/* Makes the id of an arrow of the input (or trace) of this number different from ids of other inputs. */
uint64_t source_flow_id(uint64_t number, uint64_t id);

/* Takes over `in` (NULL: OOM) and finds its format.  Returns false after findings if it cannot be read; close
 * it nevertheless. */
bool source_begin(struct source *s, struct trace_context *c, struct source_location location,
                  struct input *in);

/* A source without an input, for findings; it is closed like others. */
struct source source_of_findings(struct trace_context *c, const char *path);

/* A reader for it that reports to `findings`; without input and state. */
struct reader source_reader(const struct source *s, struct findings *findings);

/* Whether the input is a stream of the trace in a folder, also if it cannot be read. */
bool source_is_stream(const struct source *s);

/* Opens its reader.  Returns false after findings of the source or of the trace. */
bool source_start(struct source *s);

/* Fills an empty batch; it may remain empty while s->status is READ_MORE. */
void source_next(struct source *s, struct batch *b);

/* Runs checks in the order of the trace on its events, if the job needs them. */
void source_check_events(struct source *s, const struct batch *b);

/* Reports OOM as a finding of the source. */
void source_no_memory(struct source *s);

/* Reports faults of the input itself, and closes reader and input.  The findings remain.  Idempotent. */
void source_end(struct source *s);

/* Ends it and frees the findings. */
void source_close(struct source *s);

/* Reports OOM at the position of `in`, which may be NULL. */
void source_report_no_memory(struct findings *j, const struct input *in);

#endif
