#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "compare/compare.h"
#include "run/sort/sorter.h"

/* ---- heads ---- */

bool heads_is_more(const struct differ *d, int which, const struct event *e)
{
	return which == DIFFER_B && d->rules.more != NULL && event_words_have(d->rules.more, e->cls->name);
}

unsigned heads_differences(struct differ *d)
{
	const struct differ_side *const a = &d->sides[DIFFER_A], *const b = &d->sides[DIFFER_B];
	const struct alike x = { .batch = { a->batch, b->batch },
		                 .event = { &a->batch->events[a->at], &b->batch->events[b->at] },
		                 .fields = { &d->rules.fields[DIFFER_A], &d->rules.fields[DIFFER_B] },
		                 .ignore = d->rules.ignore };
	const bool track = (d->rules.ignore & PART_TRACK) == 0 && !wide_hash_equal(a->track, b->track);

	return events_differences(&x, &d->sides[DIFFER_A].canon) | (track ? PART_TRACK : 0U);
}

/* Whether an event can be reported before the events behind it are known. */
static bool at_once(const struct differ *d)
{
	return d->rules.sorted && d->rules.pair_all && d->rules.tolerance == 0 &&
	       (d->rules.ignore & PART_TIME) == 0 && d->names == NULL &&
	       d->sides[DIFFER_A].pending.alive == 0 && d->sides[DIFFER_B].pending.alive == 0;
}

/* Whether the next event of its side has a later time; false, too, if that is in the next batch. */
static bool is_last_of_time(const struct differ *d, int which)
{
	const struct differ_side *const s = &d->sides[which];
	uint32_t i = s->at + 1;

	while (i < s->batch->n &&
	       (!event_is_compared(&s->batch->events[i]) || heads_is_more(d, which, &s->batch->events[i])))
		i++;
	return i < s->batch->n && heads_time(s, i) > s->id.ts;
}

bool heads_are_alone(const struct differ *d)
{
	return at_once(d) && d->sides[DIFFER_A].id.ts == d->sides[DIFFER_B].id.ts &&
	       is_last_of_time(d, DIFFER_A) && is_last_of_time(d, DIFFER_B);
}

bool heads_is_alone(const struct differ *d, int which)
{
	const struct differ_side *const other = &d->sides[!which];

	return at_once(d) && (other->ended || other->id.ts > d->sides[which].id.ts);
}

/* The head in a batch of its own. */
static struct batch view(const struct differ_side *s)
{
	struct batch b = *s->batch;

	b.events += s->at;
	b.bytes = b.bytes != NULL ? b.bytes + s->at : NULL;
	b.n = b.cap = 1;
	return b;
}

enum differ_status heads_report_both(struct differ *d, unsigned parts)
{
	const struct batch a = view(&d->sides[DIFFER_A]), b = view(&d->sides[DIFFER_B]);
	const struct difference diff = { .in = { &a, &b }, .parts = parts };

	d->changed++;
	return d->sink == NULL || d->sink(d->ctx, &diff) ? DIFFER_DONE : DIFFER_STOPPED;
}

enum differ_status heads_report(struct differ *d, int which)
{
	const struct batch b = view(&d->sides[which]);
	struct difference diff = { .parts = 0 };

	diff.in[which] = &b;
	d->only[which]++;
	return d->sink == NULL || d->sink(d->ctx, &diff) ? DIFFER_DONE : DIFFER_STOPPED;
}

/* ---- pending ---- */

/* Of events with the same key, so many are looked at: more would make input slow that is made for it. */
#define MOST_LOOKS 64
#define FIRST_ROOM 4096U

/* A copy of the event; NULL: no memory. */
static char *pack(struct pending *p, const struct batch *b, uint32_t i, uint64_t *size)
{
	while ((*size = p->room != NULL ? event_pack(p->room, p->room_size, b, i, NULL, false) : 0) == 0) {
		const uint64_t want = p->room_size > 0 ? p->room_size * 2 : FIRST_ROOM;
		char *const room = want <= EVENT_PACKED_MAX ? realloc(p->room, want) : NULL;
		if (room == NULL)
			return NULL;
		p->room = room;
		p->room_size = want;
	}
	char *const copy = malloc(*size + EVENT_PACKED_SLACK);
	if (copy != NULL)
		memcpy(copy, p->room, *size);
	return copy;
}

/* Puts list[i] behind the others of its key.  false: no memory. */
static bool link(struct pending *p, uint32_t i)
{
	struct pending_event *const e = &p->list[i];
	const uint32_t first = table64_get(&p->keys, e->key.a);

	e->next = PENDING_NONE;
	e->tail = i;
	if (first == TABLE_NONE)
		return table64_put(&p->keys, e->key.a, i);
	p->list[p->list[first].tail].next = i;
	p->list[first].tail = i;
	return true;
}

bool pending_add(struct pending *p, const struct batch *b, uint32_t i, const struct event_identity *id,
                 struct wide_hash track, struct wide_hash key)
{
	uint64_t size;

	if (!array_room(&p->list, p->n, &p->cap, sizeof *p->list))
		return false;
	char *const packed = pack(p, b, i, &size);
	if (packed == NULL)
		return false;
	p->list[p->n] = (struct pending_event){ .id = *id, .track = track, .key = key, .packed = packed };
	if (!link(p, p->n)) {
		free(packed);
		return false;
	}
	p->n++;
	p->alive++;
	p->bytes += size;
	return true;
}

void pending_drop(struct pending *p, struct pending_event *e)
{
	p->bytes -= event_packed_size(e->packed);
	free(e->packed);
	e->packed = NULL;
	e->gone = true;
	p->alive--;
}

bool pending_oldest(struct pending *p, uint64_t *ts)
{
	while (p->oldest < p->n && p->list[p->oldest].gone)
		p->oldest++;
	if (p->oldest < p->n)
		*ts = p->list[p->oldest].id.ts;
	return p->oldest < p->n;
}

static bool within(uint64_t x, uint64_t y, uint64_t limit)
{
	return (x > y ? x - y : y - x) <= limit;
}

/* The first that is there still of those from `first` on; what is gone is passed only once. */
static uint32_t first_alive(struct pending *p, uint64_t key, uint32_t first)
{
	const uint32_t tail = p->list[first].tail;
	uint32_t i = first;

	while (p->list[i].gone && p->list[i].next != PENDING_NONE)
		i = p->list[i].next;
	if (i != first && table64_put(&p->keys, key, i))
		p->list[i].tail = tail;
	return i;
}

bool pending_take(struct pending *p, const struct event_identity *id, struct wide_hash key,
                  struct pending_limits limits)
{
	uint32_t i = p->alive > 0 ? table64_get(&p->keys, key.a) : TABLE_NONE;

	if (i == TABLE_NONE)
		return false;
	i = first_alive(p, key.a, i);
	for (int looks = 0; i != PENDING_NONE && looks < MOST_LOOKS; i = p->list[i].next, looks++) {
		struct pending_event *const e = &p->list[i];
		if (e->gone || !wide_hash_equal(e->key, key) || !within(e->id.ts, id->ts, limits.time) ||
		    !within(e->id.dur, id->dur, limits.dur))
			continue;
		pending_drop(p, e);
		return true;
	}
	return false;
}

bool pending_compact(struct pending *p)
{
	uint32_t n = 0;
	bool ok = true;

	table64_free(&p->keys);
	p->keys = (struct table64){ .slots = NULL };
	for (uint32_t i = 0; i < p->n; i++)
		if (!p->list[i].gone)
			p->list[n++] = p->list[i];
	p->n = n;
	p->oldest = 0;
	for (uint32_t i = 0; ok && i < n; i++)
		ok = link(p, i);
	return ok;
}

void pending_free(struct pending *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		free(p->list[i].packed);
	table64_free(&p->keys);
	free(p->list);
	free(p->room);
}
