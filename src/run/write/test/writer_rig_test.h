#ifndef RUN_WRITE_WRITER_RIG_TEST_H
#define RUN_WRITE_WRITER_RIG_TEST_H

#include "model/trace_engine.h"
#include "run/write/writing.h"

/*
 * Runs a writer for tests: made-up batches go through the stages that the writer needs (order, lanes) and
 * through writing.c, on the given threads; the output is kept in memory, by file.
 */

struct writer_rig_job {
	const struct format *to;
	unsigned threads;
	const struct option_value *options;
	bool raw, selected;
	/* Adds the events of the number-th batch; false: there is no such batch.  The trace is for tracks and
	 * classes. */
	bool (*fill)(void *ctx, struct trace *trace, struct batch *b, uint32_t number);
	void *ctx;
	uint64_t fail_after;   /* the output fails when it has taken so many bytes; 0: never */
	uint64_t sort_memory;  /* 0: the usual */
	const char *temp_near; /* as in struct pipeline_job */
};

struct writer_rig_file {
	char *name; /* NULL: the output is one file */
	struct text text;
};

struct writer_rig {
	struct writer_rig_file *files; /* in the order of their first bytes */
	uint32_t nfiles, files_cap;
	struct ledger losses;
	bool written;           /* all of the output was written */
	bool no_memory, failed; /* status of writing.c */
	uint64_t bytes, fail_after;
	uint64_t puts_after_failure;
	uint32_t next; /* batch to be filled */
	bool ended;    /* there was none */
	const struct writer_rig_job *job;
	struct pipeline *pipeline;
	char finding[256]; /* the first; "": none */
};

/* Runs the job to its end, or to the first failure. */
void writer_rig_run(struct writer_rig *r, const struct writer_rig_job *job);
void writer_rig_free(struct writer_rig *r);

/* The bytes of a file (NULL: of an output that is one file), NUL-terminated; NULL: there is no such file. */
const char *writer_rig_text(const struct writer_rig *r, const char *file);

/* How often a loss was counted. */
uint64_t writer_rig_lost(const struct writer_rig *r, const char *id);

/* Runs the job with 1, 2 and 7 threads; fails unless files, losses and status are the same.  *r: the first
 * run, to be freed. */
void writer_rig_run_all(struct writer_rig *r, const struct writer_rig_job *job);

/* Adds an instant at `ts`. */
struct event *writer_rig_event(struct batch *b, const struct class *cls, const struct track *track,
                               uint64_t ts, struct slice name);

/* Adds a field to the latest event. */
void writer_rig_field(struct batch *b, struct slice name, struct value value);

#endif
