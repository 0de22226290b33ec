#include "flow/merge.h"

#include <stdlib.h>

static bool
before(const struct merge_entry *a, const struct merge_entry *b)
{
	return a->key != b->key ? a->key < b->key : a->source < b->source;
}

bool
merge_init(struct merge *m, const struct merge_entry *first, uint32_t n)
{
	uint32_t leaves = 1;

	while (leaves < n)
		leaves *= 2;
	*m = (struct merge){ .leaves = leaves };
	m->keys = malloc(leaves * sizeof *m->keys);
	m->sources = malloc(leaves * sizeof *m->sources);
	struct merge_entry *const winners = malloc(2 * (size_t)leaves * sizeof *winners);
	if (m->keys == NULL || m->sources == NULL || winners == NULL) {
		free(winners);
		merge_free(m);
		return false;
	}
	for (uint32_t i = 0; i < leaves; i++)
		winners[leaves + i] = i < n ? first[i] : merge_ended(i);
	for (uint32_t i = leaves - 1; i > 0; i--) {
		const struct merge_entry *const a = &winners[2 * i], *const b = &winners[2 * i + 1];
		const struct merge_entry *const loser = before(b, a) ? a : b;
		winners[i] = before(b, a) ? *b : *a;
		m->keys[i] = loser->key;
		m->sources[i] = loser->source;
	}
	m->first = winners[1];
	free(winners);
	return true;
}

void
merge_free(struct merge *m)
{
	free(m->keys);
	free(m->sources);
	*m = (struct merge){ .keys = NULL };
}
