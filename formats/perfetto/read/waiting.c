/*
 * Events that wait: those of tracks whose events are not in order of time in the file.
 *
 * An event is given out when no packet to come has an earlier one.  For that a look-ahead notes the least
 * time of each track in each part of the file.  A thread waits for its own events alone, if they are known;
 * all other tracks wait for each other, as they may share lanes or exchange events.
 */
#include <stdlib.h>

#include "base/os.h"
#include "perfetto/read/read.h"

#define PART_BITS 16U                  /* parts of the file have 64 KiB */
#define MAX_LEAST 1024U                /* parts noted for a track; they are doubled when there are more */
#define MAX_SHARED (UINT64_C(1) << 16) /* parts noted for the tracks that wait for each other */
#ifndef PF_RELEASE
#define PF_RELEASE (16U << 20) /* bytes that wait before any are given out; less to test short inputs */
#endif

/* ---- least times, noted by a look-ahead ---- */

static void add_part(struct pf_state *st, struct pf_least_times *l)
{
	if (l->n == MAX_LEAST) {
		uint32_t n = 0;
		for (uint32_t i = 0; i < l->n; i++) {
			const struct pf_least x = { l->list[i].part >> 1, l->list[i].ts };
			if (n > 0 && l->list[n - 1].part == x.part)
				l->list[n - 1].ts = x.ts < l->list[n - 1].ts ? x.ts : l->list[n - 1].ts;
			else
				l->list[n++] = x;
		}
		l->n = n;
		l->shift++;
		l->last.part >>= 1;
	}
	if (reader_reserve(st->r, &l->list, l->n, &l->cap, sizeof *l->list))
		l->list[l->n++] = l->last;
}

void pf_least_note(struct pf_state *st, struct pf_least_times *l, uint64_t ts)
{
	const uint64_t part = st->offset >> (PART_BITS + l->shift);

	if (l->any && l->last.part == part) {
		l->last.ts = ts < l->last.ts ? ts : l->last.ts;
		return;
	}
	if (l->any)
		add_part(st, l);
	l->any = true;
	l->last = (struct pf_least){ st->offset >> (PART_BITS + l->shift), ts };
}

/* Whether the track waits for its own events alone. */
static bool is_alone(const struct pf_description *d)
{
	return d->kind == PF_THREAD && !d->moved;
}

/* The number of the last part of 64 KiB of the i-th part noted. */
static uint64_t last_part(const struct pf_least_times *l, uint32_t i)
{
	return ((l->list[i].part + 1) << l->shift) - 1;
}

static bool make_shared(struct pf_state *st)
{
	const uint64_t last = st->offset >> PART_BITS;

	while (last >> st->shared_shift >= MAX_SHARED)
		st->shared_shift++;
	st->nshared = (uint32_t)(last >> st->shared_shift) + 1;
	st->shared = malloc(st->nshared * sizeof *st->shared);
	if (st->shared == NULL)
		st->r->no_memory = true;
	else
		memset(st->shared, 0xff, st->nshared * sizeof *st->shared);
	return st->shared != NULL;
}

void pf_least_end(struct pf_state *st)
{
	for (uint32_t i = 0; i < st->ntracks; i++) {
		struct pf_description *const d = &st->tracks[i]->desc;
		struct pf_least_times *const l = &d->least;
		if (!d->disordered || !l->any) {
			pf_least_free(l);
			continue;
		}
		add_part(st, l);
		for (uint32_t k = l->n; k-- > 1;)
			if (l->list[k].ts < l->list[k - 1].ts)
				l->list[k - 1].ts = l->list[k].ts;
		if (is_alone(d))
			continue;
		if (st->shared == NULL && !make_shared(st))
			return;
		for (uint32_t k = 0; k < l->n; k++) {
			const uint64_t at = last_part(l, k) >> st->shared_shift;
			uint64_t *const least = &st->shared[at < st->nshared ? at : st->nshared - 1];
			*least = l->list[k].ts < *least ? l->list[k].ts : *least;
		}
	}
	for (uint32_t k = st->nshared; st->shared != NULL && k-- > 1;)
		if (st->shared[k] < st->shared[k - 1])
			st->shared[k - 1] = st->shared[k];
}

void pf_least_free(struct pf_least_times *l)
{
	free(l->list);
	*l = (struct pf_least_times){ .n = 0 };
}

/* The least time that events of the track have from this part of 64 KiB on. */
static uint64_t least_from(const struct pf_state *st, const struct pf_track *t, uint64_t part)
{
	const struct pf_least_times *const l = &t->final->least;
	uint32_t first = 0, n = l->n;

	if (!is_alone(t->final)) {
		const uint64_t at = part >> st->ahead->shared_shift;
		return st->ahead->shared == NULL || at >= st->ahead->nshared ? UINT64_MAX
		                                                             : st->ahead->shared[at];
	}
	while (n > 0) {
		const uint32_t half = n / 2;
		if (last_part(l, first + half) < part) {
			first += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return first < l->n ? l->list[first].ts : UINT64_MAX;
}

/* ---- events that wait ---- */

static void destroy_memory(struct shared_memory *m)
{
	struct pf_waiting_memory *const kept = (struct pf_waiting_memory *)(void *)m;

	free(kept->batch.fields);
	arena_free(&kept->batch.scratch);
	free(kept);
}

static bool new_memory(struct pf_state *st)
{
	st->waiting_memory = calloc(1, sizeof *st->waiting_memory);
	if (note_failure(&st->r->no_memory, st->waiting_memory == NULL))
		return false;
	shared_memory_init(&st->waiting_memory->memory, destroy_memory);
	return true;
}

static uint64_t bytes_waiting(const struct pf_state *st)
{
	const struct batch *const b = &st->waiting_memory->batch;

	return b->scratch.used + b->nfields * sizeof(struct field) + st->nwaiting * sizeof(struct pf_waiting);
}

void pf_waiting_add(struct pf_state *st, const struct pf_event *x)
{
	if (st->waiting_memory == NULL && !new_memory(st))
		return;
	if (st->max_waiting == 0) {
		const uint64_t share = usable_memory() / 4;
		st->max_waiting = share < PF_LEAST_WAITING ? PF_LEAST_WAITING
		                  : share > PF_MAX_WAITING ? PF_MAX_WAITING
		                                           : share;
		st->release_at = PF_RELEASE;
	}
	if (!reader_reserve(st->r, &st->waiting, st->nwaiting, &st->waiting_cap, sizeof *st->waiting))
		return;
	if (bytes_waiting(st) > st->max_waiting) {
		pf_report_limit(st, PF_FULL_WAITING,
		                "events out of order take more than %" PRIu64
		                " bytes: the others are left out",
		                st->max_waiting);
		return;
	}
	struct batch *const b = &st->waiting_memory->batch;
	struct pf_waiting *const w = &st->waiting[st->nwaiting];
	*w = (struct pf_waiting){ .event = *x, .offset = st->offset, .record = st->ordinal };
	w->made = (struct event){ .name = { "", 0, 0 } };
	if (x->kind == PF_ARROW)
		pf_make_further(st, b, x, &w->made);
	else
		pf_make_event(st, b, &w->made);
	pf_copy_values(b, &w->made);
	w->event.name = w->made.name;
	st->r->no_memory |= b->scratch.failed || b->engine.failed;
	st->nwaiting++;
}

/* Sorts those that no event of the packets from this offset on precedes. */
static void release(struct pf_state *st, uint64_t offset, bool all)
{
	struct timed *const list = malloc(2 * (size_t)st->nwaiting * sizeof *list); /* and space to sort it */
	const struct pf_track *track = NULL;
	uint64_t least = UINT64_MAX;
	uint32_t n = 0;

	if (note_failure(&st->r->no_memory, list == NULL))
		return;
	for (uint32_t i = 0; i < st->nwaiting; i++) {
		const struct pf_event *const e = &st->waiting[i].event;
		if (e->track != track && !all) {
			track = e->track;
			least = least_from(st, track, offset >> PART_BITS);
		}
		if (e->ts <= least)
			list[n++] = (struct timed){ e->ts, i };
	}
	timed_sort(list, n, list + n);
	st->released = list;
	st->nreleased = n;
	st->at_released = 0;
}

/* Moves those that still wait, with their fields and texts, into memory of their own. */
static void move_others(struct pf_state *st)
{
	struct pf_waiting_memory *const from = st->waiting_memory;
	uint32_t n = 0;

	if (!new_memory(st)) {
		st->waiting_memory = from;
		return;
	}
	struct batch *const b = &st->waiting_memory->batch;
	for (uint32_t i = 0; i < st->nwaiting; i++) {
		const struct event made = st->waiting[i].made;
		struct pf_waiting *const w = &st->waiting[n];
		if (st->waiting[i].nested)
			continue;
		*w = st->waiting[i];
		n++;
		struct field *const f =
		    made.nfields > 0 ? batch_event_fields(b, &w->made, made.nfields) : NULL;
		if (f != NULL)
			memcpy(f, from->batch.fields + made.first_field, made.nfields * sizeof *f);
		pf_copy_values(b, &w->made);
		w->event.name = w->made.name;
	}
	st->nwaiting = n;
	st->r->no_memory |= b->scratch.failed || b->engine.failed;
	shared_memory_drop(&from->memory);
}

static void end_release(struct pf_state *st)
{
	free(st->released);
	st->released = NULL;
	if (st->nreleased > 0)
		move_others(st);
	/* a search looks at all of them: the next one is due when there are twice as many */
	const uint64_t kept = bytes_waiting(st), most = st->max_waiting / 8;
	const uint64_t step = kept > PF_RELEASE ? kept : PF_RELEASE;
	st->release_at = kept + (step < most ? step : most);
}

bool pf_waiting_due(struct pf_state *st, uint64_t offset)
{
	if (st->released != NULL)
		return true;
	if (bytes_waiting(st) <= st->release_at)
		return false;
	release(st, offset, false);
	return st->released != NULL;
}

struct pf_waiting *pf_waiting_next(struct pf_state *st)
{
	if (st->released == NULL)
		release(st, 0, true);
	if (st->released != NULL && st->at_released < st->nreleased)
		return &st->waiting[st->released[st->at_released].at];
	if (st->released != NULL)
		end_release(st);
	return NULL;
}

void pf_waiting_free(struct pf_state *st)
{
	if (st->waiting_memory != NULL)
		shared_memory_drop(&st->waiting_memory->memory);
	free(st->waiting);
	free(st->released);
	free(st->shared);
}
