#ifndef DIAL9_RUN_TEST_H
#define DIAL9_RUN_TEST_H

#include "model/trace_engine.h"
#include "format/format.h"
#include "run/read/source.h"

/* A dial9 reader without the engine, and every batch that it filled, all alive. */

struct d9t_run {
	struct trace trace;
	struct findings findings;
	struct vocabulary *vocabulary; /* the built-in one */
	struct reader r;
	struct batch *batches;
	size_t n;
	enum read_status status; /* of the last batch */
};

/* Opens a reader, which owns the input. */
void d9t_open(struct d9t_run *t, struct input *in, unsigned want);

/* Reads one more batch of at most `cap` events. */
enum read_status d9t_next(struct d9t_run *t, uint32_t cap);

/* Reads all batches. */
void d9t_read(struct d9t_run *t, uint32_t cap);

/* Closes the reader; the batches stay valid. */
void d9t_close_reader(struct d9t_run *t);
void d9t_free(struct d9t_run *t);

/* Appends all that a batch refers to, as text. */
void d9t_put_batch(struct text *to, const struct batch *b);

#endif
