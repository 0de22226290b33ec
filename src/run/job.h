#ifndef RUN_JOB_H
#define RUN_JOB_H

#include "check/findings.h"
#include "model/event.h"
#include "run/stage.h"

/*
 * Input and options of one run.  The command fills in the job; each struct is read by the folder in its
 * heading.  All pointers are borrowed and outlive the run.
 */

struct anonymise;
struct format;
struct input;
struct input_files;
struct join;
struct operand;
struct operands;
struct batch_pool;
struct reader_range;
struct option_value;
struct record_marks;
struct schema_file;
struct select;
struct source;
struct split;
struct vocabularies;

/* Extent of the interpretation of events (run/meaning/). */
enum interpret_mode {
	INTERPRET_NOT,    /* as the reader made them */
	INTERPRET_EVENTS, /* each event by itself: fields, names, tracks */
	INTERPRET_SPANS,  /* also pairs of begin and end become spans; also arrows, if fields are wanted */
};

/* Spans that overlap others of their track without nesting. */
enum lanes_mode {
	LANES_NONE,   /* not detected */
	LANES_ASSIGN, /* get extra tracks */
	LANES_COUNT,  /* only counted */
};

/* Reading modes. */
enum read_as {
	READ_MEANING, /* interpreted events */
	READ_FIELDS,  /* a raw event: the unmodified record, with all its fields */
	READ_COPY,    /* the same for a writer of the same format; only the parts that this writer reads */
};

/* Called while batches are requested.  Any may be NULL. */
struct pipeline_hooks {
	bool (*opened)(void *ctx, const struct source *s); /* its reader is open; false stops the run */
	/* A source is about to be closed: batches received from it must not be read any more. */
	void (*settle)(void *ctx);
	/* Called at the end of an input, also an unreadable one; its findings are complete. */
	void (*closed)(void *ctx, const struct source *s);
	void (*progress)(void *ctx, const struct input *in); /* the reader's position changed */
	void *ctx;
};

/* ---- input (run/read/) ---- */

/* Portion of a trace that a run reads, apart from the other portions (cli/apart.h). */
enum trace_portion {
	PORTION_WHOLE,
	PORTION_FILES, /* some files of a folder, without the checks of the whole trace */
	PORTION_FRAME, /* these checks: all files are opened, but no records are read */
};

struct trace_input {
	/* Operands that make one trace: "-" is standard input; of a folder, all files with names of traces
	 * are read, in the order of the bytes of their paths. */
	const char *const *paths;
	size_t npaths;
	const struct operand *operand;   /* paths[0], listed before; NULL: list it */
	const struct operands *operands; /* all paths, listed before; NULL: list them */
	enum trace_portion portion;      /* of `operand` */
	size_t first_file, nfiles;       /* of PORTION_FILES, in operand->tree */
	struct input *input;             /* opened before, taken over; paths[0] is its name.  NULL: open it */
	const struct format *from;       /* NULL: recognised by content */
	const struct format *expected;   /* that of other files of the trace, tried first; NULL: unknown */
	const char *dialect;             /* NULL: recognised by content */
	uint64_t max_record;             /* bytes; 0: READER_USUAL_RECORD */
	const struct option_value *options;
	const struct schema_file *schemas; /* in descending precedence; all precede the built-in one */
	size_t nschemas;
	struct vocabularies *vocabularies; /* shared by runs with the same schemas; NULL: separate */
	struct batch_pool *batches;        /* of the run that this run is part of; NULL: separate */
	struct input_files *files;         /* each pass of the run sees the same files; NULL: one pass only */
	unsigned helpers;                  /* threads that each reader may start to parse ahead */
};

/* ---- interpretation (run/read/, run/meaning/) ---- */

/* The thread that reads a file's meaning and calls the hooks. */
enum read_ahead {
	READ_ALONG,         /* that of the consumer */
	READ_AHEAD_IF_IDLE, /* a separate one if events are sorted, or if the second core is idle */
	READ_AHEAD_IF_SLOW, /* a separate one if events are sorted, or if reading takes long */
	READ_AHEAD,         /* a separate one */
};

struct reading_mode {
	unsigned want; /* enum want */
	enum interpret_mode interpret;
	/* The consumer reads no names, texts or arrows of events, so they are not built.  Not with conditions
	 * for names, or with WANT_FIELDS. */
	bool unnamed;
	/* The consumer reads no tracks and no arrows: tracks serve for pairing only. */
	bool unplaced;
	/* Findings about records are not reported, so readers do not make them.  If unnamed or unplaced, they
	 * need not find names or tracks either. */
	bool unreported;
	bool no_arrows; /* the consumer reads fields, but no arrows */
	/* If only the first and the last time of the trace are wanted: gets times of events, so that the
	 * reader need not make the events.  With the built-in vocabulary only; NULL: all events are made. */
	struct reader_range *range;
	enum read_as as;
	enum read_ahead ahead;
	const struct format *copy_of; /* `as` is for traces of this format only; NULL: of any */
};

/* ---- selection (run/choose/) ---- */

struct choice {
	/* Selection of events; NULL: all.  Raw events that are not selected have EVENT_LEFT_OUT or, with
	 * `drops`, are removed; spans that cross the window are whole (run/read/marks.h). */
	const struct select *select;
	bool drops;
	/* Events that `select` rejects get EVENT_LEFT_OUT instead of being removed; those outside of a time
	 * window that cuts spans (SELECT_CLIP) are removed nevertheless.  Not with raw events. */
	bool keeps;
	bool keeps_arrows;          /* with `keeps`: ends of arrows outside of such a window are kept, too */
	const struct select *scope; /* findings of events outside of it are not reported; NULL: all are */
	struct split *split;        /* only events of some of its parts are returned; NULL: not split */
	uint32_t part, part_end;    /* of a planned split, whose `select` is not NULL: parts [part, part_end);
	                             * SPLIT_ALL: see run/choose/route.h */
	struct record_marks *marks; /* that this run, a pass, gathers; NULL: it gathers none */
};

/* ---- changes of events (run/adjust/) ---- */

struct adjustment {
	uint64_t max_repeat; /* max ratio of long texts to bytes of input; 0: REPEATS_FACTOR */
	bool rebase;    /* subtract the least time (of the first event, if the input can be read only once) */
	bool from_zero; /* subtract trace.zero_ns: times are signed then */
	const struct join *join; /* paths are several traces, read as one; NULL: all paths are one trace */
	/* Replaces texts by pseudonyms; NULL: texts are unchanged.  Not with raw events. */
	const struct anonymise *anonymise;
};

/* ---- order (run/sort/, run/nest/) ---- */

struct arrangement {
	enum event_order order;
	/* Parts of events that the consumer does not use: sorting omits them. */
	bool bare;             /* fields: only those of counters, call stacks and plan_bytes are kept */
	bool few_fields;       /* values of fields other than those of counters and call stacks */
	bool arrows_alone;     /* the order of events other than arrow ends: they come first, as read */
	uint64_t memory;       /* of the sorter, bytes; 0: sorter_memory() */
	const char *temp_near; /* its temporary file is created next to this path: sorter_options.temp_near */
	enum lanes_mode lanes; /* by writing (run/write/); before the sorter if it sorts by track */
};

/* ---- findings and events of the run ---- */

struct listener {
	struct finding_list *list; /* stores findings; NULL: they are passed to the listener */
	finding_sink *sink;        /* listener; may be NULL */
	void *ctx;                 /* of the listener */
	struct pipeline_hooks hooks;
};

struct pipeline_job {
	struct trace_input in;
	struct reading_mode read;
	struct choice choice;
	struct adjustment adjust;
	struct arrangement arrange;
	struct listener to;
};

/* For a consumer that works with this number of threads. */
static inline enum read_ahead read_ahead_beside(unsigned threads)
{
	return threads > 2 ? READ_AHEAD : threads == 2 ? READ_AHEAD_IF_IDLE : READ_ALONG;
}

static inline bool job_reads_ahead(const struct pipeline_job *job)
{
	return job->read.ahead == READ_AHEAD ||
	       (job->read.ahead != READ_ALONG && job->arrange.order != ORDER_FILE);
}

static inline void job_progress(const struct pipeline_job *job, const struct input *in)
{
	if (job->to.hooks.progress != NULL)
		job->to.hooks.progress(job->to.hooks.ctx, in);
}

/* The findings of an input of the job. */
static inline void job_findings(const struct pipeline_job *job, struct findings *j, const char *path)
{
	findings_init(j, path, job->to.sink, job->to.ctx);
	j->list = job->to.list;
}

#endif
