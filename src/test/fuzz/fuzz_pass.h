#ifndef FUZZ_FUZZ_PASS_H
#define FUZZ_FUZZ_PASS_H

#include "run/pipeline.h"
#include "test/fuzz/fuzz_check.h"

/* What came of a pass; equal in passes that differ only in what is wanted. */
struct fuzz_outcome {
	const struct format *format;
	const char *dialect, *byte_order; /* NULL: not opened */
	uint64_t records, events, unread;
	uint64_t findings; /* hash of all that was said, in order */
	uint64_t said;
	bool guessed; /* something was decided by what the first window shows */
	bool complete;
	int status;
};

/* One way through an input. */
struct fuzz_pass {
	struct fuzz_result *result;
	const char *p; /* the input */
	size_t n;
	const struct format *from;
	const char *dialect;
	unsigned want; /* enum want */
	bool rebase;
	bool few; /* FUZZ_FEW */
	const struct format
	    *raw_from; /* events of a trace of this format are as the file has them; may be NULL */
	size_t step;   /* the window grows by so many bytes; 0: it is the whole */
	size_t first_window;
	bool lanes;
	/* false: a promise is broken, and noted.  Any may be NULL. */
	bool (*begin)(void *ctx, struct pipeline *f);                 /* the input was opened */
	bool (*take)(void *ctx, struct pipeline *f, struct batch *b); /* takes over the batch */
	bool (*end)(void *ctx, struct pipeline *f);                   /* all was read */
	struct pipeline pipeline;                                     /* of the present run */
	bool opened, stopped;
	void *ctx;
	struct fuzz_outcome outcome; /* the answer */
};

/* Runs it.  false: a promise is broken, or one of the three functions said stop. */
bool fuzz_pass_run(struct fuzz_pass *p);

#endif
