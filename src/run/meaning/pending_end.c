#include "run/meaning/pairing.h"

#include <stdlib.h>

#include "base/array.h"

#define BUCKETS 8192U
#define LOOK 64 /* places of a bucket */

struct pending_end {
	uint64_t ts, offset, key;
	struct slice name;
	const struct class *cls;
	const struct track *track; /* NULL: the place is free */
	struct retained *retained;
	uint32_t next; /* place + 1 */
	uint16_t pair;
};

void
pending_ends_free(struct pending_ends *a)
{
	for (uint32_t i = 0; i < a->n; i++)
		retained_free(a->ends[i].retained);
	free(a->ends);
	free(a->buckets);
	*a = (struct pending_ends){ .n = 0 };
}

static uint32_t *
bucket_of(const struct pending_ends *a, const struct pairing *p, const struct track *track,
          struct pairing_end_of how)
{
	const uint64_t which = (uint64_t)track_process(track)->index << 16 | how.pair;

	return &a->buckets[hash_u64(how.key, p->seed ^ which * UINT64_C(0x9e3779b97f4a7c15)) & (BUCKETS - 1)];
}

/* 0: there are enough already, or there is no memory. */
static uint32_t
take_place(struct pending_ends *a, struct pairing *p)
{
	const uint32_t place = a->free;

	if (a->buckets == NULL && (a->buckets = calloc(BUCKETS, sizeof *a->buckets)) == NULL) {
		p->failed = true;
		return 0;
	}
	if (place != 0) {
		a->free = a->ends[place - 1].next;
		return place;
	}
	if (a->n == PENDING_END_MAX)
		return 0;
	if (!array_room(&a->ends, a->n, &a->cap, sizeof *a->ends)) {
		p->failed = true;
		return 0;
	}
	a->ends[a->n].retained = NULL;
	return ++a->n;
}

/* What it points to is the batch's from now on. */
static void
give_place(struct pending_ends *a, struct pairing *p, struct pending_end *s, struct batch *b)
{
	if (s->retained != NULL) {
		p->retained_bytes -= s->retained->bytes;
		batch_own(b, &s->retained->block);
	}
	s->retained = NULL;
	s->track = NULL;
	s->next = a->free;
	a->free = (uint32_t)(s - a->ends) + 1;
}

bool
pending_end_keep(struct pending_ends *a, struct pairing *p, struct batch *b, const struct event *e,
                 struct pairing_end_of how)
{
	const struct slice name = how.lasting ? (struct slice){ NULL, 0, 0 } : e->name;
	const uint32_t n = how.fields ? e->nfields : 0;
	enum retained_made made = RETAINED_MADE;
	struct retained *k = NULL;
	const uint32_t place = take_place(a, p);

	if (place == 0)
		return false;
	struct pending_end *const s = &a->ends[place - 1];
	*s = (struct pending_end){ e->ts, e->offset, how.key, e->name, e->cls, e->track, NULL, 0, how.pair };
	if (n > 0 || !how.lasting)
		made =
		    retained_new(&k, name, b->fields + e->first_field, n, PAIRING_BYTES - p->retained_bytes);
	if (made != RETAINED_MADE) {
		p->failed |= made == RETAINED_NO_MEMORY;
		give_place(a, p, s, b);
		return false;
	}
	s->retained = k;
	p->retained_bytes += k != NULL ? k->bytes : 0;
	if (!how.lasting)
		s->name = k->name;
	uint32_t *const head = bucket_of(a, p, e->track, how);
	s->next = *head;
	*head = place;
	return true;
}

/* The link to the earliest end that is not before the beginning, or NULL. */
static uint32_t *
find(const struct pending_ends *a, const struct pairing *p, const struct event *e, struct pairing_end_of how)
{
	uint32_t *link = bucket_of(a, p, e->track, how), *best = NULL;

	for (unsigned i = 0; *link != 0 && i < LOOK; i++) {
		struct pending_end *const s = &a->ends[*link - 1];
		if (s->pair == how.pair && s->key == how.key && s->ts >= e->ts &&
		    track_process(s->track) == track_process(e->track) &&
		    (best == NULL || s->ts < a->ends[*best - 1].ts))
			best = link;
		link = &s->next;
	}
	return best;
}

bool
pending_end_meet(struct pending_ends *a, struct pairing *p, struct batch *b, struct event *e,
                 struct pairing_end_of how)
{
	uint32_t *const link = a->buckets != NULL ? find(a, p, e, how) : NULL;

	if (link == NULL)
		return false;
	struct pending_end *const s = &a->ends[*link - 1];
	struct field *const to =
	    s->retained != NULL && how.fields ? batch_fields(b, e->nfields + s->retained->nfields) : NULL;
	if (to != NULL) {
		const uint32_t n = retained_join(b, b->fields + e->first_field, e->nfields,
		                                 s->retained->fields, s->retained->nfields, to);
		e->first_field = b->nfields;
		e->nfields = (uint16_t)(n < UINT16_MAX ? n : UINT16_MAX);
		b->nfields += n;
	}
	a->met = s->offset;
	e->dur = s->ts - e->ts;
	e->phase = PHASE_SPAN;
	e->flags = EVENT_ASYNC;
	*link = s->next;
	give_place(a, p, s, b);
	return true;
}

bool
pending_end_finish(struct pending_ends *a, struct pairing *p, struct batch *b)
{
	for (; a->at < a->n && b->n < b->cap; a->at++) {
		struct pending_end *const s = &a->ends[a->at];
		if (s->track == NULL)
			continue;
		const uint32_t n = s->retained != NULL ? s->retained->nfields : 0;
		struct field *const to = batch_fields(b, n);
		if (to == NULL)
			continue;
		if (n > 0)
			memcpy(to, s->retained->fields, n * sizeof *to);
		struct event *const e = &b->events[b->n++];
		*e = (struct event){ .ts = s->ts,
			             .name = s->name,
			             .cls = s->cls,
			             .track = s->track,
			             .offset = s->offset,
			             .phase = PHASE_INSTANT,
			             .first_field = b->nfields,
			             .nfields = (uint16_t)n };
		b->nfields += n;
		pairing_alone(p, e);
		give_place(a, p, s, b);
	}
	return a->at < a->n;
}
