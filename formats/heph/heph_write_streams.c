#include <stdlib.h>

#include "heph/heph_write.h"

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
	/* what is shared by threads may come out of order under the number 0 alone */
	s->in_turn = *renumbered && s->id == 0;
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

/* ---- the counter of stream 0 ---- */

static void
use(struct hpw_shared *s, uint32_t n)
{
	s->bits[n % HPW_WINDOW / 64] |= (uint64_t)1 << n % 64;
}

static bool
is_used(const struct hpw_shared *s, uint32_t n)
{
	return (s->bits[n % HPW_WINDOW / 64] >> n % 64 & 1) != 0;
}

/* Numbers up to `highest` are in the window from now on. */
static void
reach(struct hpw_shared *s, uint32_t highest)
{
	if (highest - s->highest > HPW_WINDOW) {
		memset(s->bits, 0, sizeof s->bits);
		s->low = highest - HPW_WINDOW + 1;
	} else {
		for (uint32_t n = s->highest + 1; n != highest + 1; n++)
			s->bits[n % HPW_WINDOW / 64] &= ~((uint64_t)1 << n % 64);
		if (highest - s->low >= HPW_WINDOW)
			s->low = highest - HPW_WINDOW + 1;
	}
	s->highest = highest;
}

static void
keep(struct hpw_shared *s, uint32_t counter)
{
	if (!s->any) {
		s->any = true;
		s->low = s->highest = counter;
	} else if (counter - s->highest <= INT32_MAX) {
		reach(s, counter);
	} else if (s->low - counter <= INT32_MAX && s->highest - counter < HPW_WINDOW) {
		s->low = counter; /* the stream begins before its first packet */
	} else if (s->highest - counter >= HPW_WINDOW) {
		return;
	}
	use(s, counter);
}

/* The least number that nobody has. */
static uint32_t
least(struct hpw_shared *s)
{
	while (s->low != s->highest + 1 && is_used(s, s->low))
		s->low++;
	if (s->low == s->highest + 1)
		reach(s, s->low);
	use(s, s->low);
	return s->low;
}

/* ---- counters ---- */

uint32_t
hpw_stream_counter(struct hpw_streams *all, struct hpw_stream *s, uint32_t counter)
{
	struct hpw_shared *const shared = &all->shared;

	if (s->in_turn)
		return s->next++;
	if (s->out != 0)
		return counter - s->less;
	if (shared->renumbered && shared->any)
		return least(shared);
	keep(shared, counter);
	return counter;
}

void
hpw_stream_leave_out(struct hpw_streams *all, struct hpw_stream *s, uint32_t counter)
{
	struct hpw_shared *const shared = &all->shared;

	s->less++;
	if (s->out != 0 || s->in_turn)
		return;
	if (!shared->any) { /* the stream begins with what follows; 0 may come a little later */
		shared->any = true;
		shared->low = counter < 64 ? 0 : counter;
		shared->highest = shared->low - 1;
	}
	shared->renumbered = true;
}
