#ifndef NDJSON_AGREE_TEST_H
#define NDJSON_AGREE_TEST_H

#include "format/format.h"
#include "ndjson/test/oracle.h"

/*
 * Gives batches to the writer, reads the lines back, and compares what they say
 * with what was given.  A test fails where they differ.
 */
struct agree {
	const char *what; /* named in messages */
	const struct trace *trace;
	struct writer writer;
	struct chunk chunk, alone; /* alone: rendered event by event */
	struct arena arena;        /* of one line */
	struct arena lasting;
	struct oracle_json **classes; /* the lines of classes, by index */
	uint32_t nclasses, classes_cap;
	uint32_t ntracks;
	bool deep;       /* values nest deeper than the strict parser goes */
	uint64_t events; /* lines */
	struct text *keep;
	struct ledger total;
};

/* w: its trace, raw, rebased, rebased_by and signed_time.  keep: the lines are added to this too; may be
 * NULL. */
void agree_begin(struct agree *g, const char *what, struct writer w, struct text *keep);

/* The batch stays the caller's. */
void agree_batch(struct agree *g, const struct batch *b);

void agree_end(struct agree *g);

/* All of that for an input, as convert does it.  keep: as above. */
void agree_input(const char *path, bool raw, struct text *keep);

/* Calls `each` for the samples of all formats, good and bad ones, and what the fuzzer found. */
void agree_samples(void (*each)(const char *path, void *ctx), void *ctx);

#endif
