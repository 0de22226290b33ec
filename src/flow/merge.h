#ifndef FLOW_MERGE_H
#define FLOW_MERGE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A tournament of n sources: which has the least key?  Of equal keys the source
 * of the lower number wins.  Each inner node holds the loser of its match, so a
 * new key of the winner meets log2(n) others on its way up.
 */
struct merge_entry {
	uint64_t key;
	uint32_t source; /* its number */
};

/* Entries 1 .. leaves - 1 are losers; above i is i / 2.  Two arrays, as the halves of an entry take different ways. */
struct merge {
	struct merge_entry first; /* the winner of the first keys */
	uint64_t *keys;
	uint32_t *sources;
	uint32_t leaves; /* a power of two */
};

/* Stands in `source` of an entry that has no more keys. */
#define MERGE_ENDED (UINT32_C(1) << 31)

/* Such an entry comes behind all others, also behind the largest key. */
static inline struct merge_entry
merge_ended(uint32_t source)
{
	return (struct merge_entry){ UINT64_MAX, source | MERGE_ENDED };
}

/* Sources 0 .. n - 1 with their first keys, or merge_ended() if they have none.  n < 2^30.  false: no memory. */
bool merge_init(struct merge *m, const struct merge_entry *first, uint32_t n);
void merge_free(struct merge *m);

/* The winner's next key (or merge_ended()) takes part; gives the new winner: the least key of all.  One with MERGE_ENDED: all have
 * ended.  No branch depends on keys: which stream comes next cannot be foretold. */
static inline struct merge_entry
merge_next(const struct merge *m, struct merge_entry x)
{
	uint64_t *const keys = m->keys, key = x.key;
	uint32_t *const sources = m->sources, source = x.source;

	for (uint32_t i = (m->leaves + (source & ~MERGE_ENDED)) >> 1; i > 0; i >>= 1) {
		const uint64_t other_key = keys[i];
		const uint32_t other = sources[i];
		const uint64_t less = (uint64_t)(other_key < key) | ((uint64_t)(other_key == key) & (uint64_t)(other < source));
		const uint64_t key_swap = (key ^ other_key) & (UINT64_C(0) - less);
		const uint32_t source_swap = (source ^ other) & (UINT32_C(0) - (uint32_t)less);
		keys[i] = other_key ^ key_swap;
		sources[i] = other ^ source_swap;
		key ^= key_swap;
		source ^= source_swap;
	}
	return (struct merge_entry){ key, source };
}

#endif
