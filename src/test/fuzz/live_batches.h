#ifndef FUZZ_LIVE_BATCHES_H
#define FUZZ_LIVE_BATCHES_H

#include "model/trace_engine.h"
#include "run/pipeline.h"

/*
 * All batches that a reader makes of an input, alive at the same time, while reader and input are closed: for
 * tests of the contents of events, and of the lifetime of the memory that they point to.
 */
struct live_batches {
	struct trace trace;
	struct findings findings; /* counts only */
	struct batch **batches;
	uint64_t *digests; /* of the batches, computed when each was new */
	size_t n;
	enum read_status status; /* the last one; READ_NO_MEMORY also if the input could not be opened */
};

/* Reads all of `in`, in batches of `cap` events, and closes it.  Applies the vocabulary only as far as the
 * reader itself does.  Aborts on OOM. */
void live_batches_read(struct live_batches *l, const struct format *format, struct input *in, unsigned want,
                       uint32_t cap);

/* Returns the number of batches that have changed since they were new. */
size_t live_batches_changed(const struct live_batches *l);

/* Returns a hash of all events, independent of batch boundaries. */
uint64_t live_batches_digest(const struct live_batches *l);

/* Reads n bytes as raw events and again as `validate` does.  Returns false if the findings or the ends
 * differ, a record is not at its offset in the bytes, a batch has changed, or there are fewer raw events
 * (more are allowed: the vocabulary can turn events into structure). */
bool live_batches_raw_agrees(const struct format *format, const char *p, size_t n);

/* Returns the concatenated bytes of all records, to be freed; only with WANT_BYTES. */
char *live_batches_bytes(const struct live_batches *l, size_t *n);

/* Frees the batches, the oldest first.  Returns the number of batches that had changed by then. */
size_t live_batches_free(struct live_batches *l);

/* Hashes of a text, and of a value with all that it contains, chained by `h`. */
uint64_t text_digest(uint64_t h, struct slice s);
uint64_t value_digest(uint64_t h, const struct value *v);

#endif
