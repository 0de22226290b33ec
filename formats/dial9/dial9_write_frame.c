#include "dial9/dial9_write.h"

/* Frames of the output that every mode needs. */

#define MOST_DELTA 0xffffffU /* "timestamp_delta_ns is a 24-bit unsigned integer" */

void
d9w_number(struct text *t, uint64_t v, unsigned size)
{
	char *const p = text_room(t, 8);

	if (p == NULL)
		return;
	for (unsigned i = 0; i < size; i++)
		p[i] = (char)(v >> (8 * i));
	t->n += size;
}

void
d9w_reset(struct d9w_state *st, uint64_t ts, struct chunk *chunk)
{
	text_char(&chunk->text, D9_TAG_RESET);
	d9w_number(&chunk->text, ts, 8);
	st->base = ts;
}

uint64_t
d9w_time(const struct d9w_state *st, const struct event *e, struct chunk *chunk)
{
	if (!st->rebased || e->ts <= INT64_MAX)
		return e->ts;
	/* where the least time is known, only what is no event in time is earlier: symbols at time 0 */
	if (st->signed_time && e->phase != PHASE_STRUCTURE)
		d9w_lose(chunk, D9W_NEGATIVE_TIME, e->offset);
	return 0;
}

uint32_t
d9w_delta(struct d9w_state *st, uint64_t ts, struct chunk *chunk)
{
	if (ts < st->base || ts - st->base > MOST_DELTA)
		d9w_reset(st, ts, chunk);
	const uint32_t delta = (uint32_t)(ts - st->base);

	st->base = ts;
	return delta;
}
