#ifndef RUN_READ_MERGE_H
#define RUN_READ_MERGE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A tournament of n sources: which has the least key?  Of equal keys the source
 * of the lower number wins.  The keys of one source never get less.
 *
 * Each inner node holds the loser of its match, so a new key of the winner
 * meets log2(n) others on its way up.  Key and source are one word there: the
 * distance of the key from `base`, then the number of the source.  A key too far
 * away for that is put behind all that are nearer; when nothing else is left,
 * `base` becomes the least key and all are told anew.
 */
struct merge_entry {
	uint64_t key;
	uint32_t source; /* its number */
};

struct merge {
	struct merge_entry first; /* the winner of the first keys */
	uint64_t *words;          /* the losers, 1 .. leaves - 1; above i is i / 2 */
	uint64_t *keys;           /* by source: of those that are too far away */
	bool *ended;              /* by source */
	uint64_t base, limit;     /* distances below the limit are told */
	uint32_t leaves;          /* a power of two, > 1 */
	uint32_t bits;            /* of the source's number in a word */
};

/* Stands in `source` of an entry that has no more keys. */
#define MERGE_ENDED (UINT32_C(1) << 31)

/* Such an entry comes behind all others, also behind the largest key. */
static inline struct merge_entry merge_ended(uint32_t source)
{
	return (struct merge_entry){ UINT64_MAX, source | MERGE_ENDED };
}

/* Sources 0 .. n - 1 with their first keys, or merge_ended() if they have none.  n < 2^30.  false: no memory.
 */
bool merge_init(struct merge *m, const struct merge_entry *first, uint32_t n);
void merge_free(struct merge *m);

/* The word of a key that is too far away, or of one that has ended. */
uint64_t merge_far_word(struct merge *m, struct merge_entry x);

/* No key that is left is near enough: the winner all the same. */
struct merge_entry merge_from_afar(struct merge *m, uint64_t winner);

/* The winner's next key (or merge_ended()) takes part; gives the new winner: the least key of all.  One with
 * MERGE_ENDED: all have ended.  No branch depends on which key is less: which stream comes next cannot be
 * foretold. */
static inline struct merge_entry merge_next(struct merge *m, struct merge_entry x)
{
	const uint32_t bits = m->bits;
	uint64_t word = x.key - m->base;

	word = x.source < MERGE_ENDED && word < m->limit ? word << bits | x.source : merge_far_word(m, x);
	for (uint32_t i = (m->leaves + (x.source & ~MERGE_ENDED)) >> 1; i > 0; i >>= 1) {
		const uint64_t other = m->words[i];
		m->words[i] = word < other ? other : word;
		word = word < other ? word : other;
	}
	if (word >> bits >= m->limit)
		return merge_from_afar(m, word);
	return (struct merge_entry){ m->base + (word >> bits), (uint32_t)word & (m->leaves - 1) };
}

#endif
