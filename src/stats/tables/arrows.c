/* Open arrows: an array of starts, in chains by the hash of their id. */
#include "stats/tables/arrows.h"

#include <stdlib.h>

#include "base/table.h"
#include "model/event_traits.h"

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
	a->starts[at - 1] = (struct open_arrow){ e->dur, e->ts, e->offset, e->track, what, *bucket };
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

bool arrow_pairing_add(struct arrow_pairing *a, const struct event *e, uint32_t what, arrow_sink *sink,
                       void *ctx)
{
	struct open_arrow other;

	if (e->phase == PHASE_FLOW_IN) {
		const bool step = event_is_step(e);
		if (!open_arrows_end(&a->starts, e, &other))
			return open_arrows_start(&a->early, e, what) &&
			       (!step || open_arrows_start(&a->starts, e, what));
		if (!sink(ctx, e, what, &other, ARROW_ARRIVES))
			return false;
		if (!step)
			return true;
	}
	if (a->early.open > 0 && open_arrows_end(&a->early, e, &other)) {
		if (other.ts == e->ts)
			return sink(ctx, e, what, &other, ARROW_LEAVES);
		if (!sink(ctx, e, what, &other, ARROW_ALONE))
			return false;
	}
	return open_arrows_start(&a->starts, e, what);
}

void arrow_pairing_free(struct arrow_pairing *a)
{
	open_arrows_free(&a->starts);
	open_arrows_free(&a->early);
}
