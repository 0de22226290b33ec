#ifndef RUN_SORT_SORTER_RUN_TEST_H
#define RUN_SORT_SORTER_RUN_TEST_H

#include "run/sort/test/event_samples_test.h"
#include "run/sort/sorter.h"

/* For tests of the sorter: lists of batches, and their passage through a sorter. */

struct batches {
	struct batch *list;
	uint32_t n, cap;
};

/* Adds a new batch for up to `cap` events. */
struct batch *batches_add(struct batches *b, uint32_t cap);
void batches_free(struct batches *b);
uint64_t batches_events(const struct batches *b);

/* Makes n sample events in batches of odd sizes; equal for equal *s. */
struct batches batches_of_samples(struct event_samples *s, uint32_t n);

/* Adds the same batches, but makes and frees them one by one.  *s: as before batches_of_samples(). */
void sorter_add_samples(struct sorter *s, struct event_samples *samples, uint32_t n);

/* Ends the input, and takes all output in batches of `cap` events. */
struct batches sorter_take_all(struct sorter *s, uint32_t cap);

/* Fails unless `got` are all events of `given` in this order. */
void batches_must_be_sorted(const struct batches *given, const struct batches *got, struct order_rule rule);

/* The reason why a sorter failed. */
const char *sorter_says(const struct sorter *s);

int open_descriptors(void);

#endif
