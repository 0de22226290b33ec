#ifndef NDJSON_AGREE_TEST_H
#define NDJSON_AGREE_TEST_H

#include "format/format.h"
#include "ndjson/test/oracle.h"

/*
 * Passes batches to the writer, parses the lines with oracle.h, and fails the test if they differ from the
 * events.
 */
struct agree {
	const char *what; /* for messages */
	const struct trace *trace;
	struct run_facts run;
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

/* Uses trace, raw, rebased, rebased_by and signed_time of w.  keep: receives a copy of the lines, or NULL. */
void agree_begin(struct agree *g, const char *what, struct run_facts run, struct text *keep);

/* The caller keeps the batch. */
void agree_batch(struct agree *g, const struct batch *b);

void agree_end(struct agree *g);

/* Does all of it for an input, as convert does.  keep: as above. */
void agree_input(const char *path, bool raw, struct text *keep);

/* Calls `each` for good and bad samples of all formats and for findings of the fuzzer. */
void agree_samples(void (*each)(const char *path, void *ctx), void *ctx);

#endif
