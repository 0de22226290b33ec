#ifndef FUZZ_FUZZ_PASS_H
#define FUZZ_FUZZ_PASS_H

#include "run/pipeline.h"
#include "test/fuzz/fuzz_check.h"

/* The outcome of a pass: equal in passes that differ only in their needs (enum want). */
struct fuzz_outcome {
	const struct format *format;
	const char *dialect, *byte_order; /* NULL: not opened */
	uint64_t records, events, further, unread;
	uint64_t findings; /* hash of all findings, in order */
	uint64_t nfindings;
	bool guessed; /* the reader decided by the content of its first window */
	bool complete;
	int status;
};

/* One pass over an input. */
struct fuzz_pass {
	struct fuzz_result *result;
	const char *p; /* the input */
	size_t n;
	const struct format *from;
	const char *dialect;
	unsigned want; /* enum want */
	bool rebase;
	bool few;                      /* FUZZ_FEW */
	const struct format *raw_from; /* raw events for traces of this format; or NULL */
	size_t step;                   /* bytes by which the window grows; 0: the whole input at once */
	size_t first_window;
	bool lanes;
	/* Return false after noting a broken promise.  Each may be NULL. */
	bool (*begin)(void *ctx, struct pipeline *f);                 /* after opening */
	bool (*take)(void *ctx, struct pipeline *f, struct batch *b); /* releases the batch */
	bool (*end)(void *ctx, struct pipeline *f);                   /* after the last batch */
	struct pipeline *pipeline;                                    /* of the current run */
	bool opened, stopped;
	void *ctx;
	struct fuzz_outcome outcome; /* result */
};

/* fuzz_check.c: runs the pass.  Returns false if a promise is broken, or a function returned false. */
bool fuzz_pass_run(struct fuzz_pass *p);

/* fuzz_outputs.c: convert the input to every format that can be written, and run the reports of `stats`.
 * want: the outcome of validation.  Return false after noting a broken promise, or on OOM. */
bool fuzz_convert(struct fuzz_pass pass, const struct fuzz_outcome *want);
bool fuzz_stats(struct fuzz_pass pass, const struct fuzz_outcome *want);

#endif
