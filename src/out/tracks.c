/* Tracks as writers need them: numbers of processes and threads, in a hash table of used numbers, O(1) a
 * track, 16 bytes at a load of at most one half; and parents of spans that are ordered by start, by a stack
 * of open spans for each track, O(1) a span, as each is pushed and popped once. */
#include "base/memory.h"
#include "out/tracks.h"

/* ---- numbers ---- */

/* Two numbers below 2^32 have a unique key, so only larger ones can collide. */
static uint64_t key_of(uint64_t scope, uint64_t number)
{
	return scope <= UINT32_MAX && number <= UINT32_MAX ? scope << 32 | number
	                                                   : hash_u64(number, hash_u64(scope, hash_seed()));
}

uint32_t track_numbers_get(const struct track_numbers *n, uint64_t scope, uint64_t number)
{
	return table64_get(&n->used, key_of(scope, number));
}

bool track_numbers_put(struct track_numbers *n, uint64_t scope, uint64_t number, uint32_t tag)
{
	return table64_put(&n->used, key_of(scope, number), tag);
}

uint64_t track_numbers_generate(struct track_numbers *n, uint64_t scope)
{
	do
		n->generated++;
	while (track_numbers_get(n, scope, TRACKS_LAST_PID + n->generated) != TABLE_NONE);
	return TRACKS_LAST_PID + n->generated;
}

bool track_numbers_assign(struct track_numbers *n, uint64_t scope, const uint64_t *own, uint64_t *number)
{
	const bool keeps = own != NULL && track_numbers_get(n, scope, *own) == TABLE_NONE;

	*number = keeps ? *own : track_numbers_generate(n, scope);
	return track_numbers_put(n, scope, *number, 0);
}

bool tracks_reach(void *list, uint32_t *n, size_t size, const struct batch *b)
{
	for (uint32_t i = 0; i < b->ntracks; i++)
		if (!array_reach(list, n, b->tracks[i]->index, size))
			return false;
	return true;
}

/* ---- parents of spans ---- */

bool parents_next(struct parents *p, uint32_t track, uint64_t start, uint64_t end, int64_t id,
                  struct parents_found *out)
{
	if (!array_reach(&p->tracks, &p->ntracks, track, sizeof *p->tracks))
		return false;
	struct nested_spans *const t = &p->tracks[track];
	while (t->n > 0 && (t->spans[t->n - 1].end <= start || t->spans[t->n - 1].end < end))
		t->n--;
	const struct nested_span *const parent = nested_spans_last(t);
	const uint32_t more = nested_spans_growth(t);
	out->id = parent != NULL ? (int64_t)parent->what : 0;
	out->depth = t->n;
	out->forgotten = t->n == PARENTS_TRACK || more > PARENTS_ALL - p->capacity;
	if (out->forgotten)
		return true;
	p->capacity += more;
	return nested_spans_push(t, (struct nested_span){ end, (uint64_t)id });
}

bool parents_of_event(struct parents *p, const struct track *t, const struct event *e, bool signed_time,
                      int64_t id, struct parents_found *out)
{
	/* with the highest bit inverted, signed times have the order of unsigned ones */
	const uint64_t start = e->ts ^ (uint64_t)signed_time << 63, left = UINT64_MAX - start;

	return parents_next(p, t->index, start, e->dur > left ? UINT64_MAX : start + e->dur, id, out);
}

void parents_free(struct parents *p)
{
	for (uint32_t i = 0; i < p->ntracks; i++)
		free(p->tracks[i].spans);
	free(p->tracks);
	*p = (struct parents){ .tracks = NULL };
}
