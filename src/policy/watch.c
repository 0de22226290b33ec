/*
 * Counts the events of a trace for its policy, while they are read: the expected events, the statistics of
 * the trace, and those of the threads that budgets name.
 */
#include "policy/policy.h"
#include "model/event_traits.h"

#include <stdlib.h>

#include "base/match.h"
#include "base/memory.h"
#include "base/table.h"

#define MAX_KNOWN (1U << 18) /* names in the cache */

/* Creates a part for each pattern of threads in budgets. */
static bool new_parts(struct policy_watch *w)
{
	const struct policy_checks *const c = w->checks;

	if (c->file == NULL || c->file->nparts == 0)
		return true;
	w->parts = calloc(c->file->nparts, sizeof *w->parts);
	if (w->parts == NULL)
		return false;
	for (; w->nparts < c->file->nparts; w->nparts++) {
		w->parts[w->nparts].thread = c->file->parts[w->nparts];
		stats_init(&w->parts[w->nparts].stats);
	}
	return true;
}

bool policy_watch_init(struct policy_watch *w, const struct policy_checks *checks)
{
	*w = (struct policy_watch){ .checks = checks };
	stats_init(&w->stats);
	w->seed = hash_seed();
	for (uint32_t i = 0; i < checks->nevents; i++) {
		const struct policy_who *const who = &checks->events[i]->who;
		for (int k = 0; k < POLICY_KINDS; k++)
			w->of_kind[k] |= (uint64_t)(who->kinds >> k & 1) << i;
		w->threaded |= (uint64_t)(who->thread.p != NULL) << i;
	}
	return new_parts(w);
}

void policy_watch_free(struct policy_watch *w)
{
	stats_free(&w->stats);
	for (uint32_t i = 0; i < w->nparts; i++) {
		stats_free(&w->parts[i].stats);
		free(w->parts[i].events);
	}
	free(w->parts);
	free(w->threads);
	free(w->known.masks);
	table64_free(&w->known.index);
}

/* ---- threads ---- */

/* Returns the patterns that fit a thread; none fits a process.  Compares again when the name changes: the
 * name may follow the first event of the thread. */
static const struct policy_thread *find_thread(struct policy_watch *w, const struct track *t)
{
	while (t->parent != NULL && (t->lane > 0 || t->is_child))
		t = t->parent;
	if (!array_reach(&w->threads, &w->nthreads, t->index, sizeof *w->threads))
		return NULL;
	struct policy_thread *const l = &w->threads[t->index];
	if (l->known && l->name == t->name.p && l->n == t->name.n)
		return l;
	*l = (struct policy_thread){ .name = t->name.p, .n = t->name.n, .known = true };
	if (t->kind != TRACK_THREAD)
		return l;
	for (uint32_t i = 0; i < w->checks->nevents; i++) {
		const struct slice thread = w->checks->events[i]->who.thread;
		l->events |= (uint64_t)(thread.p != NULL && glob_fits(thread, t->name)) << i;
	}
	for (uint32_t i = 0; i < w->nparts; i++)
		l->parts |= (uint32_t)glob_fits(w->parts[i].thread, t->name) << i;
	return l;
}

/* Adds the events of a part's threads to its statistics. */
static bool count_part(struct policy_watch *w, uint32_t part, const struct batch *b)
{
	struct policy_part *const p = &w->parts[part];
	struct batch own = *b;

	if (p->cap < b->n) {
		if (!array_resize(&p->events, b->n, sizeof *p->events))
			return false;
		p->cap = b->n;
	}
	own.events = p->events;
	own.n = 0;
	for (uint32_t i = 0; i < b->n; i++) {
		const struct event *const e = &b->events[i];
		const struct policy_thread *const l =
		    e->phase != PHASE_STRUCTURE ? find_thread(w, e->track) : NULL;
		if (l == NULL && e->phase != PHASE_STRUCTURE)
			return false;
		if (l != NULL && (l->parts >> part & 1) != 0)
			own.events[own.n++] = *e;
	}
	return stats_batch(&p->stats, &own);
}

/* ---- expected events ---- */

static uint64_t match_events(const struct policy_watch *w, const struct event *e)
{
	uint64_t mask = 0;

	for (uint32_t i = 0; i < w->checks->nevents; i++) {
		const struct policy_who *const who = &w->checks->events[i]->who;
		if ((who->name.p == NULL || glob_fits(who->name, e->name)) &&
		    (who->category.p == NULL || glob_fits(who->category, e->cls->category)))
			mask |= UINT64_C(1) << i;
	}
	return mask;
}

/* Finds the expectations whose patterns fit the event.  Patterns are compared once for each name of a class:
 * a cache of 2^18 names, emptied when it is full.  The hash alone is the key; its seed is secret, so no trace
 * can be constructed with two names of one hash. */
static bool find_mask(struct policy_watch *w, const struct event *e, uint64_t *mask)
{
	struct policy_known *const k = &w->known;
	const uint64_t hash =
	    hash_bytes(e->name.p, e->name.n, w->seed + e->cls->index * UINT64_C(0x9e3779b97f4a7c15));
	const uint32_t at = table64_get(&k->index, hash);

	if (at != TABLE_NONE) {
		*mask = k->masks[at];
		return true;
	}
	if (k->n == MAX_KNOWN) {
		table64_free(&k->index);
		k->index = (struct table64){ 0 };
		k->n = 0;
	}
	*mask = match_events(w, e);
	if (!array_reserve(&k->masks, k->n, &k->cap, sizeof *k->masks) || !table64_put(&k->index, hash, k->n))
		return false;
	k->masks[k->n++] = *mask;
	return true;
}

static enum policy_kind kind_of(const struct event *e)
{
	if (e->phase == PHASE_SPAN)
		return (e->flags & EVENT_ASYNC) != 0 ? KIND_ASYNC : KIND_SPAN;
	return e->phase == PHASE_INSTANT   ? KIND_INSTANT
	       : e->phase == PHASE_COUNTER ? KIND_COUNTER
	                                   : KIND_OTHER;
}

static bool count_event(struct policy_watch *w, const struct event *e)
{
	uint64_t mask;

	if (!find_mask(w, e, &mask))
		return false;
	mask &= w->of_kind[kind_of(e)];
	if ((mask & w->threaded) != 0) {
		const struct policy_thread *const l = find_thread(w, e->track);
		if (l == NULL)
			return false;
		mask &= ~w->threaded | l->events;
	}
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

static void extend_times(struct policy_watch *w, const struct event *e)
{
	const uint64_t end = event_end(e);

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

bool policy_watch_batch(struct policy_watch *w, const struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		const struct event *const e = &b->events[i];
		if (e->phase == PHASE_STRUCTURE)
			continue;
		extend_times(w, e);
		if (w->checks->nevents > 0 && !count_event(w, e))
			return false;
	}
	for (uint32_t i = 0; i < w->nparts; i++)
		if (!count_part(w, i, b))
			return false;
	return stats_batch(&w->stats, b);
}

bool policy_watch_end(struct policy_watch *w)
{
	bool ok = stats_end(&w->stats);

	for (uint32_t i = 0; i < w->nparts; i++)
		ok &= stats_end(&w->parts[i].stats);
	return ok;
}

void policy_watch_input(struct policy_watch *w, const struct source *s)
{
	w->counts_lost |= s->reader.counts_lost;
	w->lost += s->reader.lost;
	w->records += s->reader.records;
}
