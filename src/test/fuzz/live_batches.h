#ifndef FUZZ_LIVE_BATCHES_H
#define FUZZ_LIVE_BATCHES_H

#include "run/pipeline.h"

/*
 * All batches that a reader makes of an input, alive at the same time, the
 * reader and the input closed: for tests of what events hold, and of how long
 * what they point to lasts.
 */
struct live_batches {
	struct trace trace;
	struct findings findings; /* counts only */
	struct batch **batches;
	uint64_t *digests; /* of the batches, taken when each was new */
	size_t n;
	enum read_status status; /* the last one; READ_NO_MEMORY also when the input could not be opened */
};

/* Reads all of `in`, in batches of `cap` events, and closes it.  Applies no vocabulary beyond what the reader
 * does itself.  Memory must not run out.  live_batches_free() afterwards. */
void live_batches_read(struct live_batches *l, const struct format *format, struct input *in, unsigned want,
                       uint32_t cap);

/* How many batches are no longer what they were when they were new. */
size_t live_batches_changed(const struct live_batches *l);

/* Reads n bytes as raw events and once more as `validate` does.  false: the findings or the ends differ, a
 * record is not where it should be in the bytes, or a batch changed; or there are fewer raw events, of which
 * some may be structure by the vocabulary. */
bool live_batches_raw_agrees(const struct format *format, const char *p, size_t n);

/* The bytes of all records, one behind the other, to be freed; only with WANT_BYTES. */
char *live_batches_bytes(const struct live_batches *l, size_t *n);

/* Gives the batches back, the oldest first, comparing each with what it was before it goes.  Returns how many
 * had changed. */
size_t live_batches_free(struct live_batches *l);

#endif
