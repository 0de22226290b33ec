/* Open arrows: an array of starts, in chains by the hash of their id. */
#include "stats/tables/arrows.h"

#include <stdlib.h>

#include "base/table.h"

static uint32_t *bucket_of(const struct open_arrows *a, uint64_t id)
{
	return &a->buckets[hash_u64(id, a->seed) % OPEN_ARROWS_MAX];
}

bool open_arrows_start(struct open_arrows *a, const struct event *e, uint32_t what)
{
	if (a->starts == NULL) {
		a->seed = hash_seed();
		a->starts = malloc(OPEN_ARROWS_MAX * sizeof *a->starts);
		a->buckets = calloc(OPEN_ARROWS_MAX, sizeof *a->buckets);
		if (a->starts == NULL || a->buckets == NULL)
			return false;
	}
	uint32_t at = a->free_start;
	if (at != 0) {
		a->free_start = a->starts[at - 1].next;
	} else if (a->nstarts < OPEN_ARROWS_MAX) {
		at = ++a->nstarts;
	} else {
		a->missed++;
		return true;
	}
	uint32_t *const bucket = bucket_of(a, e->dur);
	a->starts[at - 1] = (struct open_arrow){ e->dur, e->ts, e->track, what, *bucket };
	*bucket = at;
	a->open++;
	return true;
}

bool open_arrows_end(struct open_arrows *a, const struct event *e, struct open_arrow *start)
{
	if (a->starts == NULL)
		return false;
	for (uint32_t *at = bucket_of(a, e->dur); *at != 0; at = &a->starts[*at - 1].next) {
		struct open_arrow *const found = &a->starts[*at - 1];
		if (found->id != e->dur)
			continue;
		const uint32_t freed = *at;
		*start = *found;
		*at = found->next;
		found->next = a->free_start;
		a->free_start = freed;
		a->open--;
		return true;
	}
	return false;
}

void open_arrows_free(struct open_arrows *a)
{
	free(a->starts);
	free(a->buckets);
}
