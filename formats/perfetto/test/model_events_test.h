#ifndef PERFETTO_MODEL_EVENTS_TEST_H
#define PERFETTO_MODEL_EVENTS_TEST_H

#include "perfetto/test/model_test.h"

/* Track events of the packets, in file order. */
struct model_event {
	uint64_t ts, place, track;
	unsigned type; /* 1 begin, 2 end, 3 instant, 4 counter */
	struct slice name, category;
	bool has_name;
	char *args;
	unsigned legacy; /* phase, a character; 0: none */
	uint64_t id;
	double value;
	bool has_value;
};

struct model_events {
	struct model_event *list;
	uint32_t n, cap;
	struct slice *interned[32]; /* by field of InternedData, then by number - 1 */
	uint32_t ninterned[32], interned_cap[32];
};

/* Makes space for one more element after the n of a list; fails the test on OOM. */
void model_room(void *list, uint32_t *n, uint32_t *cap, size_t size);
#define ADD(list, n, cap) (model_room(&(list), &(n), &(cap), sizeof *(list)), &(list)[(n)-1])

/* Sorts the events and replays them with one stack per track. */
void model_replay(struct model *m);

#endif
