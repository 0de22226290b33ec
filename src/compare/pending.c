#include "compare/pending.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/table.h"
#include "run/sort/event_codec.h"

/* Of events with the same key, so many are looked at: more would make input slow that is made for it. */
#define MOST_LOOKS 64

#define FIRST_ROOM 4096U

/* A copy of the event; NULL: no memory. */
static char *
pack(struct pending *p, const struct batch *b, uint32_t i, uint64_t *size)
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
static bool
link(struct pending *p, uint32_t i)
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

bool
pending_add(struct pending *p, const struct batch *b, uint32_t i, const struct event_identity *id,
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

void
pending_drop(struct pending *p, struct pending_event *e)
{
	p->bytes -= event_packed_size(e->packed);
	free(e->packed);
	e->packed = NULL;
	e->gone = true;
	p->alive--;
}

bool
pending_oldest(struct pending *p, uint64_t *ts)
{
	while (p->oldest < p->n && p->list[p->oldest].gone)
		p->oldest++;
	if (p->oldest < p->n)
		*ts = p->list[p->oldest].id.ts;
	return p->oldest < p->n;
}

static bool
within(uint64_t x, uint64_t y, uint64_t limit)
{
	return (x > y ? x - y : y - x) <= limit;
}

/* The first that is there still of those from `first` on; what is gone is passed only once. */
static uint32_t
first_alive(struct pending *p, uint64_t key, uint32_t first)
{
	const uint32_t tail = p->list[first].tail;
	uint32_t i = first;

	while (p->list[i].gone && p->list[i].next != PENDING_NONE)
		i = p->list[i].next;
	if (i != first && table64_put(&p->keys, key, i))
		p->list[i].tail = tail;
	return i;
}

bool
pending_take(struct pending *p, const struct event_identity *id, struct wide_hash key,
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

bool
pending_compact(struct pending *p)
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

void
pending_free(struct pending *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		free(p->list[i].packed);
	table64_free(&p->keys);
	free(p->list);
	free(p->room);
}
