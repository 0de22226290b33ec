/*
 * Numbers of processes and threads: a hash table of those in use, O(1) a track.  Memory: 16 bytes a track, at
 * a load of at most one half.
 */
#include "base/memory.h"
#include "out/tracks.h"

/* Two numbers below 2^32 have a key of their own, so that only larger ones can collide. */
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
