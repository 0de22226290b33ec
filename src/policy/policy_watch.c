#include "policy/policy_watch.h"

#include <stdlib.h>

#include "base/array.h"

void
policy_watch_init(struct policy_watch *w, const struct policy_checks *checks)
{
	*w = (struct policy_watch){ .checks = checks };
	stats_init(&w->stats);
	names_init(&w->names, &w->text);
}

void
policy_watch_free(struct policy_watch *w)
{
	stats_free(&w->stats);
	names_free(&w->names);
	arena_free(&w->text);
	free(w->masks);
	w->masks = NULL;
}

/* ---- events that are expected ---- */

static uint64_t
match(const struct policy_watch *w, const struct event *e)
{
	uint64_t mask = 0;

	for (uint32_t i = 0; i < w->checks->nevents; i++) {
		const struct policy_event *const x = w->checks->events[i];
		if ((x->name.p == NULL || plan_glob(x->name, e->name)) &&
		    (x->category.p == NULL || plan_glob(x->category, e->cls->category)))
			mask |= UINT64_C(1) << i;
	}
	return mask;
}

/* Patterns are tried once for each name of a class. */
static bool
find_mask(struct policy_watch *w, const struct event *e, uint64_t *mask)
{
	const uint32_t known = w->names.n, i = names_index(&w->names, e->name, e->cls->index);

	if (i == NAMES_FAILED)
		return false;
	if (i == NAMES_OTHER) {
		*mask = match(w, e);
		return true;
	}
	if (i < known) {
		*mask = w->masks[i];
		return true;
	}
	if (!array_reach(&w->masks, &w->nmasks, i, sizeof *w->masks))
		return false;
	*mask = w->masks[i] = match(w, e);
	return true;
}

static bool
count_event(struct policy_watch *w, const struct event *e)
{
	uint64_t mask;

	if (!find_mask(w, e, &mask))
		return false;
	for (; mask != 0; mask &= mask - 1) {
		const int i = __builtin_ctzll(mask);
		struct policy_tally *const t = &w->events[i];
		if (t->count == 0)
			t->first = e->offset;
		if (t->count == w->checks->events[i]->count.max)
			t->beyond = e->offset;
		t->count++;
	}
	return true;
}

static void
see_times(struct policy_watch *w, const struct event *e)
{
	uint64_t end = e->ts;

	if (e->phase == PHASE_SPAN)
		end = e->dur > UINT64_MAX - e->ts ? UINT64_MAX : e->ts + e->dur;
	if (!w->any || e->ts < w->first_ns) {
		w->first_ns = e->ts;
		w->first_offset = e->offset;
	}
	if (!w->any || end > w->last_ns) {
		w->last_ns = end;
		w->last_offset = e->offset;
	}
	w->any = true;
}

bool
policy_watch_batch(struct policy_watch *w, const struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		const struct event *const e = &b->events[i];
		if (e->phase == PHASE_STRUCTURE)
			continue;
		see_times(w, e);
		if (w->checks->nevents > 0 && !count_event(w, e))
			return false;
	}
	return stats_batch(&w->stats, b);
}

void
policy_watch_input(struct policy_watch *w, const struct source *s)
{
	w->counts_lost |= s->reader.counts_lost;
	w->lost += s->reader.lost;
	w->records += s->reader.records;
}
