#ifndef RUN_SORT_SORTER_RUN_TEST_H
#define RUN_SORT_SORTER_RUN_TEST_H

#include "run/sort/test/event_samples_test.h"
#include "run/sort/sorter.h"

/* For tests of the sorter: batches, and all of them through a sorter. */

struct batches {
	struct batch *list;
	uint32_t n, cap;
};

/* A new one, for up to `cap` events. */
struct batch *batches_add(struct batches *b, uint32_t cap, bool with_bytes);
void batches_free(struct batches *b);
uint64_t batches_events(const struct batches *b);

/* n sample events in batches of odd sizes, the same for the same *s. */
struct batches batches_of_samples(struct event_samples *s, uint32_t n, bool with_bytes);

/* Adds the same batches, each made again and freed at once.  *s: as it was for batches_of_samples. */
void sorter_add_samples(struct sorter *s, struct event_samples *samples, uint32_t n);

/* Ends it, and takes all that comes out, in batches of `cap` events. */
struct batches sorter_take_all(struct sorter *s, uint32_t cap);

/* Fails unless `got` are all events of `given` in this order. */
void batches_must_be_sorted(const struct batches *given, const struct batches *got, struct order_rule rule);

/* What a sorter says that failed. */
const char *sorter_says(const struct sorter *s);

int open_descriptors(void);

#endif
