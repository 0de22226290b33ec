#ifndef RUN_WRITE_WRITING_H
#define RUN_WRITE_WRITING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/copier.h"
#include "format/format.h"
#include "format/recover.h"
#include "run/nest/lanes.h"
#include "run/pipeline.h"
#include "run/read/source.h"

struct closure;

/* ---- writing ---- */

/*
 * The end of a pipeline that writes: assigns lanes to spans of batches, renders them, on several threads if
 * available, and passes on chunks in order, with their losses.
 */

/* The output.  `file`: name in a folder, created even if n is 0; NULL: the output is one file.  Failures are
 * sticky. */
struct writing_output {
	bool (*put)(void *ctx, const char *file, const char *p, size_t n);
	void *ctx;
};

struct writing_options {
	const struct option_value *values;
	const char *tool;
	const char *temp_near; /* a path next to which the writer creates temporary files; NULL: $TMPDIR */
	unsigned threads;      /* in total; 0 counts as 1 */
	bool surveyed;         /* the caller runs the survey, for several writings */
};

struct writing_job;

struct writing {
	struct pipeline *pipeline;
	const struct format *to;
	struct writing_output out;
	struct run_facts run;
	bool copies; /* records of its own format: with the copier, not the writer */
	void *state; /* of the writer or copier in use */
	struct writer writer;
	bool any; /* some bytes were written */
	struct copier copier;
	struct closure *closure; /* of a selection, if the copier states references; or NULL */
	bool copying;            /* records are copied now; false: surveyed, or not begun */
	uint64_t input, offset;  /* of the copier: number of the current input, from 1; the last record */
	struct chunk chunk;      /* for the first and the last bytes */
	struct ledger total;
	struct lanes lanes; /* used in order, on any thread, like the ledger */
	struct ledger lanes_lost;
	bool has_lanes;
	bool begun;
	atomic_bool no_memory, failed; /* failed: the output or the writer */
	const char *failure;           /* of the writer; NULL: the output failed */
	struct workers *workers;
	struct writing_job *jobs; /* by slot */
	size_t njobs;
};

/* Writes the first bytes, when an input of `p` is open.  Returns false on OOM, or if the output failed, like
 * the functions below. */
bool writing_begin(struct writing *w, struct pipeline *p, const struct format *to, struct writing_output out,
                   const struct writing_options *options);

/* If events are selected: whether the copier needs a survey, and the survey of a batch
 * (record_marks_survey()), which returns true. */
bool writing_needs_survey(const struct writing *w);
bool writing_survey(void *writing, const struct batch *b);

/* Whether the copier of a split can do without an event of another part: copier_ops.skips.
 * surveys: in the survey. */
bool writing_skips(const struct writing *w, bool surveys, const struct event *e, struct slice bytes);

/* Takes over the batch. */
bool writing_put(struct writing *w, struct batch *b);

/* The same, but the batch remains the caller's.  For one thread. */
bool writing_lend(struct writing *w, struct batch *b);

/* Waits until all batches are written and released. */
void writing_settle(struct writing *w);

/* Writes the end of the output. */
bool writing_end(struct writing *w);
void writing_free(struct writing *w);

/* ---- recovery (recover.c) ---- */

/* Recovery of one input, see format/recover.h. */
struct recover_run {
	/* set by the caller; all borrowed */
	struct pipeline_job job; /* from, dialect, options; sink gets the faults that prevent reading */
	struct source_location location;
	bool sort;
	bool (*put)(void *ctx, const char *p, size_t n); /* false: the output failed */
	void (*list)(void *ctx, const struct recover_change *c);
	/* The format is known: the output can be opened.  false: stop. */
	bool (*opened)(void *ctx, const struct source *s);
	void (*progress)(void *ctx, const struct input *in);
	void *ctx;
	/* results */
	struct source source;
	struct recovery recovery;
	bool unreadable;       /* the bytes could not be checked; the sink got the reason */
	uint64_t not_repaired; /* errors of files next to the input, which the output has too */
	bool packed_damage;    /* the compressed stream is damaged: an unknown number of bytes is missing */
	const char *dialect;   /* static text; a record can change it, so it is known at the end */
};

/* Recovers an opened input, which it takes over.  false: unreadable, or the output failed
 * (recovery.failed). */
bool recover_run(struct recover_run *run, struct input *in);

#endif
