#ifndef RUN_SORT_EVENT_SAMPLES_TEST_H
#define RUN_SORT_EVENT_SAMPLES_TEST_H

#include "run/sort/sorter.h"
#include "model/trace_engine.h"

/* For tests: events of all kinds, the same for the same seed, and ways to compare them. */

struct event_samples {
	uint64_t random;
	uint64_t time_range; /* ts is below it, but for a few; small: many are equal */
	bool large;          /* some events are of hundreds of KiB */
};

void event_samples_init(struct event_samples *s, uint64_t seed);

uint64_t event_samples_random(struct event_samples *s);

/* Fills an empty batch with up to n events.  Text lies in its scratch arena, or is static and flagged
 * SLICE_STAYS. */
void event_samples_fill(struct event_samples *s, struct batch *b, uint32_t n);

/* Compares two events with all they point to.  Returns NULL if they are equal, else the difference.  Text
 * with SLICE_STAYS must be at the same address, other text must not. */
const char *event_samples_differ(const struct batch *a, uint32_t i, const struct batch *b, uint32_t j);

/* A list in a list in a list ... around a text, in the scratch arena of a batch. */
struct value event_samples_nest(struct batch *b, uint32_t depth);

#endif
