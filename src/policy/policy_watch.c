#include "policy/policy_watch.h"

#include "base/glob.h"
#include "base/table.h"

void
policy_watch_init(struct policy_watch *w, const struct policy_checks *checks)
{
	*w = (struct policy_watch){ .checks = checks };
	stats_init(&w->stats);
	w->seed = hash_seed();
}

void
policy_watch_free(struct policy_watch *w)
{
	stats_free(&w->stats);
}

/* ---- events that are expected ---- */

static uint64_t
match(const struct policy_watch *w, const struct event *e)
{
	uint64_t mask = 0;

	for (uint32_t i = 0; i < w->checks->nevents; i++) {
		const struct policy_event *const x = w->checks->events[i];
		if ((x->name.p == NULL || glob_fits(x->name, e->name)) &&
		    (x->category.p == NULL || glob_fits(x->category, e->cls->category)))
			mask |= UINT64_C(1) << i;
	}
	return mask;
}

/* Patterns are tried once for each name of a class, unless there are thousands of names. */
static uint64_t
find_mask(struct policy_watch *w, const struct event *e)
{
	const uint64_t hash = hash_bytes(e->name.p, e->name.n, w->seed + e->cls->index);
	struct policy_known *const k = &w->known[hash % POLICY_KNOWN];

	if (k->hash != hash)
		*k = (struct policy_known){ hash, match(w, e) };
	return k->mask;
}

static void
count_event(struct policy_watch *w, const struct event *e)
{
	for (uint64_t mask = find_mask(w, e); mask != 0; mask &= mask - 1) {
		const int i = __builtin_ctzll(mask);
		struct policy_tally *const t = &w->events[i];
		if (t->count == 0)
			t->first = e->offset;
		if (t->count == w->checks->events[i]->count.max)
			t->beyond = e->offset;
		t->count++;
	}
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
		if (w->checks->nevents > 0)
			count_event(w, e);
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
