/* The parts of the tournament (merge.h) that are not on the hot path: keys too far from the base, and
 * rebuilding.  Words of such keys, and of ended sources, are the two values above all exact distances. */
#include "run/read/merge.h"

#include <stdlib.h>

uint64_t merge_far_word(struct merge *m, struct merge_entry x)
{
	const uint32_t source = x.source & ~MERGE_ENDED;

	m->ended[source] = x.source >= MERGE_ENDED;
	m->keys[source] = x.key;
	return (m->limit + m->ended[source]) << m->bits | source;
}

static uint64_t word_of(const struct merge *m, uint32_t source)
{
	const uint64_t far = m->keys[source] - m->base;

	return (m->ended[source] ? m->limit + 1 : far < m->limit ? far : m->limit) << m->bits | source;
}

/* Plays all matches below a node and returns the winner.  Recursive, 30 levels at most. */
static uint64_t play(struct merge *m, uint32_t node)
{
	if (node >= m->leaves)
		return word_of(m, node - m->leaves);
	const uint64_t a = play(m, 2 * node), b = play(m, 2 * node + 1);
	m->words[node] = a < b ? b : a;
	return a < b ? a : b;
}

/* Requires the current keys of all sources in keys[]. */
static struct merge_entry rebuild(struct merge *m)
{
	m->base = UINT64_MAX;
	for (uint32_t i = 0; i < m->leaves; i++)
		if (!m->ended[i] && m->keys[i] < m->base)
			m->base = m->keys[i];
	const uint64_t winner = play(m, 1);
	const uint32_t source = (uint32_t)winner & (m->leaves - 1);
	return m->ended[source] ? merge_ended(source) : (struct merge_entry){ m->keys[source], source };
}

struct merge_entry merge_from_afar(struct merge *m, uint64_t winner)
{
	const uint32_t source = (uint32_t)winner & (m->leaves - 1);

	return m->ended[source] ? merge_ended(source) : rebuild(m);
}

bool merge_init(struct merge *m, const struct merge_entry *first, uint32_t n)
{
	*m = (struct merge){ .leaves = 2, .bits = 1 };
	while (m->leaves < n) {
		m->leaves *= 2;
		m->bits++;
	}
	m->limit = (UINT64_MAX >> m->bits) - 1;
	m->words = malloc(m->leaves * sizeof *m->words);
	m->keys = malloc(m->leaves * sizeof *m->keys);
	m->ended = malloc(m->leaves * sizeof *m->ended);
	if (m->words == NULL || m->keys == NULL || m->ended == NULL) {
		merge_free(m);
		return false;
	}
	for (uint32_t i = 0; i < m->leaves; i++) {
		m->keys[i] = i < n ? first[i].key : UINT64_MAX;
		m->ended[i] = i >= n || first[i].source >= MERGE_ENDED;
	}
	m->first = rebuild(m);
	return true;
}

void merge_free(struct merge *m)
{
	free(m->words);
	free(m->keys);
	free(m->ended);
	*m = (struct merge){ .words = NULL };
}
