#include <stdlib.h>

#include "heph/write.h"

/*
 * Streams of packets that are written as they are.  Where packets are left out,
 * or several inputs are joined, counters go on so that a reader misses no packet
 * that it did not miss before; a stream of a later input is another one unless
 * its counter goes on where the earlier one ended.
 */

#define OF_INPUT ((uint64_t)1 << 32)

void
hpw_streams_free(struct hpw_streams *all)
{
	free(all->list);
	table64_free(&all->index);
	table64_free(&all->taken);
}

/* ---- which stream ---- */

static bool
take(struct hpw_streams *all, uint64_t id)
{
	return table64_put(&all->taken, id, 1);
}

static bool
is_taken(const struct hpw_streams *all, uint32_t id)
{
	return table64_get(&all->taken, id) != TABLE_NONE ||
	       table64_get(&all->taken, OF_INPUT | id) != TABLE_NONE;
}

static struct hpw_stream *
add(struct hpw_streams *all, uint32_t id)
{
	if (!array_room(&all->list, all->n, &all->cap, sizeof *all->list) ||
	    !table64_put(&all->index, id, all->n) || !take(all, OF_INPUT | id))
		return NULL;
	if (id < HPW_DIRECT)
		all->direct[id] = all->n + 1;
	all->list[all->n] = (struct hpw_stream){ .id = id };
	return &all->list[all->n++];
}

/* Begins the stream of an input.  false: no memory. */
static bool
begin(struct hpw_streams *all, struct hpw_stream *s, bool *renumbered)
{
	s->out = s->id;
	s->less = s->next = 0;
	*renumbered = table64_get(&all->taken, s->id) != TABLE_NONE;
	/* the packets of stream 0, which threads share, may be out of order; not so under another number, and
	 * what is left out of them would look like packets that are missing */
	s->in_turn = s->id == 0 && (*renumbered || all->selected);
	while (*renumbered && is_taken(all, s->out))
		s->out = ++all->free;
	return take(all, s->out);
}

struct hpw_stream *
hpw_stream_of(struct hpw_streams *all, uint32_t id, uint32_t counter, uint32_t input, bool *renumbered)
{
	const uint32_t known = id < HPW_DIRECT ? all->direct[id] - 1 : table64_get(&all->index, id);
	struct hpw_stream *s = known != TABLE_NONE ? &all->list[known] : NULL;
	const bool is_new = s == NULL;

	*renumbered = false;
	if (is_new && (s = add(all, id)) == NULL)
		return NULL;
	if ((is_new || (s->input != input && counter != s->last + 1)) && !begin(all, s, renumbered))
		return NULL;
	if (is_new || s->input != input || id != 0 || counter - s->last <= INT32_MAX)
		s->last = counter;
	s->input = input;
	return s;
}

/* ---- counters ---- */

uint32_t
hpw_stream_counter(struct hpw_stream *s, uint32_t counter)
{
	return s->in_turn ? s->next++ : counter - s->less;
}
