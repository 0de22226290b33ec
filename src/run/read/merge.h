#ifndef RUN_READ_MERGE_H
#define RUN_READ_MERGE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * K-way merge with a tournament tree of losers: finds the source with the least key; of equal keys the lower
 * source number wins.  Keys of a source never decrease.
 *
 * Each inner node stores the loser of its match, so a new key of the winner is compared with log2(n) others.
 * A node is one word: the distance of the key from `base`, then the source number.  Keys too far from `base`
 * rank after all others; when only such keys are left, `base` becomes the least key and the tree is rebuilt.
 */
struct merge_entry {
	uint64_t key;
	uint32_t source; /* number */
};

struct merge {
	struct merge_entry first; /* the first winner */
	uint64_t *words;          /* losers, 1 .. leaves - 1; the parent of i is i / 2 */
	uint64_t *keys;           /* by source: keys that are too far from base */
	bool *ended;              /* by source */
	uint64_t base, limit;     /* distances below the limit are exact */
	uint32_t leaves;          /* a power of two, > 1 */
	uint32_t bits;            /* of the source number in a word */
};

/* Flag in `source`: no more keys. */
#define MERGE_ENDED (UINT32_C(1) << 31)

/* Ranks after all others, also after the largest key. */
static inline struct merge_entry merge_ended(uint32_t source)
{
	return (struct merge_entry){ UINT64_MAX, source | MERGE_ENDED };
}

/* Starts with the first keys of sources 0 .. n - 1, or merge_ended().  n < 2^30. */
bool merge_init(struct merge *m, const struct merge_entry *first, uint32_t n);
void merge_free(struct merge *m);

/* The word of a key that is too far from base, or of an ended source. */
uint64_t merge_far_word(struct merge *m, struct merge_entry x);

/* All remaining keys are too far from base: rebuilds the tree. */
struct merge_entry merge_from_afar(struct merge *m, uint64_t winner);

/* Replaces the winner by its next key, or merge_ended(), and returns the new winner; with MERGE_ENDED: all
 * have ended.  No branch depends on a comparison of keys, as the next stream is unpredictable. */
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
