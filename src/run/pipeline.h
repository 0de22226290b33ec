#ifndef PIPELINE_PIPELINE_H
#define PIPELINE_PIPELINE_H

#include "model/trace_engine.h"
#include "run/meaning/interpret.h"
#include "run/nest/lanes.h"
#include "run/sort/sorter.h"
#include "run/choose/marks.h"
#include "run/adjust/anonymise.h"
#include "run/adjust/repeats.h"
#include "run/choose/select.h"
#include "run/read/source.h"
#include "run/stage.h"

/*
 * Inputs -> sources -> (merge by clock) -> interpret -> (select) -> repeats -> (rebase) -> (anonymise) ->
 * (order) -> (lanes)
 * -> whoever asks.
 * All commands run it; `validate` releases what it gets.
 */

/* Small enough that events, fields and the text made of them stay in the second-level cache. */
#define PIPELINE_BATCH_EVENTS 1024

/* What happens to the inputs while batches are asked for.  Any may be NULL. */
struct pipeline_hooks {
	bool (*opened)(void *ctx, const struct source *s); /* it can be read.  false: stop */
	/* A source is about to be closed: batches that were handed out must not be looked at any more. */
	void (*settle)(void *ctx);
	/* It was read, or could not be; its findings are complete. */
	void (*closed)(void *ctx, const struct source *s);
	void (*progress)(void *ctx, const struct input *in); /* how far a reader is */
	void *ctx;
};

struct operand; /* run/read/operands.h */
struct operands;

/* What to read and how.  All pointers are borrowed and outlive the pipeline. */
struct pipeline_job {
	/* Operands that make one trace: "-" is standard input; of a folder all files that are named like
	 * traces are read, in the order of the bytes of their paths. */
	const char *const *paths;
	size_t npaths;
	const struct operand *operand;   /* instead of listing paths[0], which is its name; NULL: list it */
	const struct operands *operands; /* instead of listing paths; NULL: list them */
	struct input *input;       /* instead of opening paths[0], which is only its name then; taken over */
	const struct format *from; /* NULL: told by content */
	const char *dialect;       /* NULL: told by content */
	const struct option_value *options;
	const struct schema_file *schemas; /* the first counts most; before what is built in */
	size_t nschemas;
	struct vocabularies
	    *vocabularies;             /* kept from one to the next with the same schemas; NULL: its own */
	struct input_files *files;     /* of the run: each pass sees the same ones; NULL: there is one pass */
	unsigned want;                 /* enum want */
	enum interpret_mode interpret; /* what is made of the events before anybody gets them */
	bool raw;                      /* events as the file has them, not interpreted */
	const struct format *raw_from; /* so too where the trace is of this format; NULL: none */
	bool raw_fields; /* fields of raw events are looked at although the writer needs their bytes only */
	bool raw_bare;   /* fields of raw events are not looked at, those of structure are: WRITER_RAW_BARE */
	bool raw_runs;   /* the writer takes runs of raw records: WRITER_RAW_RUNS */
	/* Which events come out; NULL: all.  Raw events that are not selected have EVENT_LEFT_OUT, or, with
	 * raw_drops, do not come out; spans that cross the window are whole.  See record_marks.h. */
	const struct select *select;
	bool raw_drops;
	/* Events that `select` does not choose come out all the same, with EVENT_LEFT_OUT, unless they lie
	 * outside of the time window and it cuts spans (SELECT_CLIP).  Not with raw. */
	bool select_keeps;
	/* Of events that this does not select findings are not reported; NULL: of all they are. */
	const struct select *scope;
	struct split *split;     /* of whose parts events come out, of one alone; NULL: it is not split */
	uint32_t part, part_end; /* [part, part_end); SPLIT_ALL: see split_route.h; when the split is planned;
	                            `select` is not NULL then */
	struct record_marks *marks; /* for the engine: this pass fills them; NULL: it does not */
	enum event_order order;     /* of the events that come out */
	uint64_t sort_memory;       /* bytes for that; 0: the usual */
	const char *sort_beside;    /* where its temporary file goes: see sorter_options.beside */
	bool lanes;                 /* spans of one track nest, */
	bool lanes_off;             /* or it is counted where they do not */
	uint64_t max_repeat; /* long texts may take so many times the bytes of the input; 0: REPEATS_FACTOR */
	bool late;           /* the caller runs pipeline_late() for each batch */
	bool rebase; /* subtract the least time (the first event's, where the input can be read only once) */
	const struct join *join;           /* traces that paths are, as one; NULL: paths are of one trace */
	const struct anonymise *anonymise; /* texts become pseudonyms; NULL: they stay.  Not with raw */
	finding_sink *sink;                /* of each finding; may be NULL */
	void *ctx;                         /* of the sink */
	struct pipeline_hooks hooks;
};

struct join;
struct joining;
struct reading;
struct split;

struct pipeline {
	const struct pipeline_job *job;
	struct trace trace;
	uint32_t lent_tracks; /* of the trace, if it is lent: without those of lanes */
	struct trace_context context;
	struct vocabularies vocabularies; /* unless the job has them */
	struct batch_pool pool;
	struct reading *reading; /* the first stage; NULL where ... */
	struct joining *joining; /* ... traces are joined */
	struct interpret interpret;
	struct interpret_stage {
		struct stage stage;
		struct pipeline *p;
		bool more, finishing;
	} interpret_stage;
	struct select_stage select;
	struct record_marks marks;
	struct repeats_stage {
		struct stage stage;
		struct pipeline *p;
		struct repeats repeats;
		struct ledger ledger; /* of it alone: others may be used by another thread */
	} repeats;
	struct rebase_stage {
		struct stage stage;
		struct pipeline *p;
		bool known;       /* by is */
		bool signed_time; /* a time may have been less than that */
		uint64_t by;      /* ns, what is subtracted */
	} rebase;
	struct rehome_stage {
		struct stage stage;
		struct pipeline *p; /* NULL: events stay in the trace */
		struct rehome rehome;
		struct trace trace; /* that they get */
	} rehome;
	struct order_stage order;
	struct lanes_stage {
		struct stage stage;
		struct pipeline *p;
		struct lanes lanes;
	} lanes;
	struct stage *last;
	struct source rest; /* findings that are of no input: what is open at the end */
	bool rest_begun;
	uint32_t shown_tracks, shown_classes; /* of the trace, in batches so far */
	bool ended, rest_rehomed;
	bool late_lanes;      /* they are what pipeline_late() does */
	struct ledger ledger; /* of lanes */
};

/* Whether the inputs can be read more than once: none is a descriptor. */
bool pipeline_reads_twice(const struct pipeline_job *job);

/* As pipeline_open() of one part of a split: events of the trace of `of`, which was read and stays open, from
 * this stage on.  They were selected; the rest is as the job says.  Until pipeline_close_part(), which is
 * also to be called if this fails, the trace is lent to p. */
bool pipeline_open_part(struct pipeline *p, const struct pipeline_job *job, struct pipeline *of,
                        struct stage *first);
void pipeline_close_part(struct pipeline *p, struct pipeline *of);

/* Whether a pass over the inputs that was read until this status, and ended, has not seen all that the pass
 * sees whose findings are reported: memory or the system failed, or a file changed.  What it found is of no
 * use then. */
bool pipeline_pass_failed(const struct pipeline *pass, enum stage_status status);

/* A finding_sink of such a pass, whose ctx is a struct pipeline_why: keeps the first reason for that. */
void pipeline_note_why(void *ctx, const struct findings *j, const struct finding *f);

/* The reason, or that memory ran out. */
const char *pipeline_why_text(const struct pipeline_why *why);

/* Opens nothing yet.  false: no memory, which a finding says.  In any case end with pipeline_close. */
bool pipeline_open(struct pipeline *p, const struct pipeline_job *job);

/* The next batch, to be released with batch_release().  Streams that are to be merged (trace_ops.merges,
 * WANT_ORDER) are all opened first; their events come in the order of (time, path, offset). */
enum stage_status pipeline_next(struct pipeline *p, struct batch **out);

/* What job.late left to do with each batch that pipeline_next() gave, in that order, before its events and
 * new tracks are looked at.  It may run on another thread than pipeline_next(), beside it.  false: no memory.
 */
bool pipeline_late(struct pipeline *p, struct batch *b);

/* After the last batch: the lanes become tracks of the trace like others.  false: no memory. */
bool pipeline_join_lanes(struct pipeline *p);

/* Asks for all batches and releases them. */
enum stage_status pipeline_drain(struct pipeline *p);

/* Ends the reading, at its end or before: sources that are open are closed, the hooks told.  What the trace
 * is known for stays. */
void pipeline_end(struct pipeline *p);

void pipeline_close(struct pipeline *p);

/* Reports that memory ran out, as a finding of the input that is read. */
void pipeline_no_memory(struct pipeline *p);

/* Reports what the system failed to do (one line), likewise. */
void pipeline_failed(struct pipeline *p, const char *why);

/* Says that what was asked for makes no sense for this trace (one line): the hooks are told of an input that
 * has context->refused. */
void pipeline_refused(struct pipeline *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* What the selection found, by whichever pass it was made; NULL: nothing was selected. */
const struct select_found *pipeline_found(struct pipeline *p);

/* What was lost on the way: pairs, arrows, lanes. */
void pipeline_losses(const struct pipeline *p, struct ledger *into);

/* The trace that the events are of which come out, and what is known of it so far. */
const struct trace *pipeline_trace(struct pipeline *p);

/* The format that the trace turned out to have; NULL: none was recognised. */
static inline const struct format *pipeline_format(const struct pipeline *p)
{
	return p->context.format;
}

#endif
