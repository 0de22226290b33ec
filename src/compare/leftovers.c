#include <stdlib.h>

#include "compare/differ.h"
#include "run/sort/event_codec.h"

/* Events without a partner: those of both sides that were probably one are put together. */

/* What two events have to have in common; each round takes what the ones before left. */
enum { TRACK = 1, NAME = 2, PHASE = 4, FIELDS = 8, TIME = 16, LENGTH = 32 };

/* Of two traces: what happened twice is more alike than what happened at the same time. */
static const unsigned usual_rounds[] = {
	TRACK | NAME | TIME | LENGTH,
	TRACK | NAME | PHASE,
	NAME | TIME | LENGTH,
	TRACK | TIME | LENGTH,
	TRACK,
	NAME | PHASE | FIELDS,
	NAME,
	0,
};

/* Of a trace and what was made of it, where times hardly change: all are put together. */
static const unsigned all_rounds[] = {
	TRACK | NAME | FIELDS | TIME | LENGTH,
	TRACK | NAME | PHASE | TIME | LENGTH,
	TRACK | NAME | TIME | LENGTH,
	NAME | TIME | LENGTH,
	TRACK | TIME | LENGTH,
	TIME | LENGTH,
	TRACK | NAME | PHASE,
	TRACK,
	NAME | PHASE | FIELDS,
	NAME,
	TIME,
	0,
};

/* A place in a list of events, ordered by what its round compares, then by time, then by duration. */
struct place {
	uint64_t likeness, ts, dur;
	uint32_t index;
};

struct lists {
	struct place *places[DIFFER_SIDES];
	uint32_t n[DIFFER_SIDES];
};

/* A time that may be off is as good as any other. */
static uint64_t
likeness(const struct differ *d, const struct pending_event *e, unsigned round)
{
	const unsigned ignore = d->rules.ignore;
	const bool exact = d->rules.tolerance == 0;
	struct wide_hash h = wide_hash_start(round);

	if ((round & TRACK) != 0 && (ignore & PART_TRACK) == 0)
		wide_hash_add_hash(&h, e->track);
	if ((round & NAME) != 0 && (ignore & PART_NAME) == 0)
		wide_hash_add_hash(&h, e->id.name);
	if ((round & PHASE) != 0)
		wide_hash_add(&h, e->id.phase);
	if ((round & FIELDS) != 0)
		wide_hash_add_hash(&h, e->id.fields);
	if ((round & TIME) != 0 && exact)
		wide_hash_add(&h, e->id.ts);
	if ((round & LENGTH) != 0 && exact)
		wide_hash_add(&h, e->id.dur);
	return wide_hash_end(h).a;
}

static int
compare_places(const void *x, const void *y)
{
	const struct place *const a = x, *const b = y;

	if (a->likeness != b->likeness)
		return a->likeness < b->likeness ? -1 : 1;
	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	if (a->dur != b->dur)
		return a->dur < b->dur ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static uint32_t
list(const struct differ *d, const struct pending *p, unsigned round, struct place *to)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n; i++)
		if (!p->list[i].gone)
			to[n++] = (struct place){ likeness(d, &p->list[i], round), p->list[i].id.ts,
				                  p->list[i].id.dur, i };
	if (n > 1)
		qsort(to, n, sizeof *to, compare_places);
	return n;
}

/* ---- reports ---- */

static unsigned
parts_of(const struct differ *d, const struct pending_event *a, const struct pending_event *b)
{
	const struct event_identity *const x = &a->id, *const y = &b->id;
	const uint64_t tolerance = d->rules.tolerance;
	unsigned parts = 0;

	if ((x->ts > y->ts ? x->ts - y->ts : y->ts - x->ts) > tolerance)
		parts |= PART_TIME;
	if ((x->dur > y->dur ? x->dur - y->dur : y->dur - x->dur) > tolerance)
		parts |= PART_DURATION;
	if (x->phase != y->phase || x->async != y->async || x->step != y->step)
		parts |= PART_PHASE;
	if (!wide_hash_equal(x->name, y->name))
		parts |= PART_NAME;
	if (!wide_hash_equal(x->category, y->category))
		parts |= PART_CATEGORY;
	if (x->nfields != y->nfields || !wide_hash_equal(x->fields, y->fields))
		parts |= PART_FIELDS;
	if (!wide_hash_equal(a->track, b->track))
		parts |= PART_TRACK;
	return parts & ~d->rules.ignore;
}

/* The event in a batch of its own; NULL: no memory. */
static const struct batch *
show(struct differ_side *s, const struct pending_event *e)
{
	batch_recycle(&s->shown);
	return event_unpack_copy(&s->shown, e->packed, NULL, false) ? &s->shown : NULL;
}

static bool
count(struct differ *d, const struct difference *diff, const struct pending_event *const e[DIFFER_SIDES])
{
	const int side = e[DIFFER_A] != NULL ? DIFFER_A : DIFFER_B;
	const bool pair = e[DIFFER_A] != NULL && e[DIFFER_B] != NULL;

	d->changed += pair;
	d->only[side] += !pair;
	if (d->names == NULL)
		return true;
	struct by_name_row *const row =
	    by_name_row(d->names, difference_event(diff, side)->name, &e[side]->id);
	if (row == NULL)
		return false;
	row->changed += pair;
	row->only[side] += !pair;
	return true;
}

/* a or b NULL: it is on the other side alone. */
static enum differ_status
report(struct differ *d, struct pending_event *a, struct pending_event *b)
{
	const struct pending_event *const e[DIFFER_SIDES] = { a, b };
	struct difference diff = { .parts = a != NULL && b != NULL ? parts_of(d, a, b) : 0 };

	for (int i = 0; i < DIFFER_SIDES; i++)
		if (e[i] != NULL && (diff.in[i] = show(&d->sides[i], e[i])) == NULL)
			return DIFFER_NO_MEMORY;
	if (!count(d, &diff, e))
		return DIFFER_NO_MEMORY;
	if (a != NULL)
		pending_drop(&d->sides[DIFFER_A].pending, a);
	if (b != NULL)
		pending_drop(&d->sides[DIFFER_B].pending, b);
	return d->sink == NULL || d->sink(d->ctx, &diff) ? DIFFER_DONE : DIFFER_STOPPED;
}

/* ---- rounds ---- */

static bool
is_before(const struct pending_event *e, uint64_t before)
{
	return before == UINT64_MAX || e->id.ts < before;
}

static enum differ_status
match(struct differ *d, const struct lists *l, uint64_t before)
{
	struct pending *const p = &d->sides[DIFFER_A].pending, *const q = &d->sides[DIFFER_B].pending;
	enum differ_status status = DIFFER_DONE;
	uint32_t i = 0, k = 0;

	while (i < l->n[DIFFER_A] && k < l->n[DIFFER_B] && status == DIFFER_DONE) {
		const struct place a = l->places[DIFFER_A][i], b = l->places[DIFFER_B][k];
		if (a.likeness == b.likeness &&
		    (is_before(&p->list[a.index], before) || is_before(&q->list[b.index], before)))
			status = report(d, &p->list[a.index], &q->list[b.index]);
		i += a.likeness <= b.likeness;
		k += b.likeness <= a.likeness;
	}
	return status;
}

/* The first from list[i] on that is there and from before the time; n: there is none. */
static uint32_t
next_before(const struct pending *p, uint32_t i, uint64_t before)
{
	while (i < p->n && p->list[i].gone)
		i++;
	return i < p->n && !is_before(&p->list[i], before) ? p->n : i;
}

/* What no round put together, in order of time. */
static enum differ_status
rest(struct differ *d, uint64_t before)
{
	struct pending *const p = &d->sides[DIFFER_A].pending, *const q = &d->sides[DIFFER_B].pending;
	enum differ_status status = DIFFER_DONE;
	uint32_t i = 0, k = 0;

	while (status == DIFFER_DONE) {
		i = next_before(p, i, before);
		k = next_before(q, k, before);
		if (i == p->n && k == q->n)
			break;
		if (k == q->n || (i < p->n && p->list[i].id.ts <= q->list[k].id.ts))
			status = report(d, &p->list[i], NULL);
		else
			status = report(d, NULL, &q->list[k]);
	}
	return status;
}

enum differ_status
differ_leftovers(struct differ *d, uint64_t before)
{
	struct pending *const p = &d->sides[DIFFER_A].pending, *const q = &d->sides[DIFFER_B].pending;
	struct lists l = { .n = { 0 } };
	const unsigned *round = d->rules.pair_all ? all_rounds : usual_rounds;
	enum differ_status status = DIFFER_DONE;

	if (p->alive > 0 && q->alive > 0) {
		l.places[DIFFER_A] = malloc(p->n * sizeof *l.places[0]);
		l.places[DIFFER_B] = malloc(q->n * sizeof *l.places[0]);
		if (l.places[DIFFER_A] == NULL || l.places[DIFFER_B] == NULL)
			status = DIFFER_NO_MEMORY;
	}
	for (; *round != 0 && status == DIFFER_DONE && p->alive > 0 && q->alive > 0; round++) {
		l.n[DIFFER_A] = list(d, p, *round, l.places[DIFFER_A]);
		l.n[DIFFER_B] = list(d, q, *round, l.places[DIFFER_B]);
		status = match(d, &l, before);
	}
	free(l.places[DIFFER_A]);
	free(l.places[DIFFER_B]);
	if (status == DIFFER_DONE)
		status = rest(d, before);
	return status == DIFFER_DONE && !(pending_compact(p) && pending_compact(q)) ? DIFFER_NO_MEMORY
	                                                                            : status;
}
