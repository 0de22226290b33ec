#include "dial9/write.h"

/* The string pool of the output. */

#define ENTRY_COST 64U /* about what an entry costs a reader besides its text */

uint32_t
d9w_pool_find(struct d9w_state *st, struct slice s)
{
	const uint32_t id = s.n <= D9W_MOST_POOLED ? tabletext_get(&st->pool, s) : TABLE_NONE;

	if (id == TABLE_NONE || s.n > D9W_MOST_REFERRED - st->referred)
		return D9W_NO_ID;
	st->referred += s.n;
	return id;
}

uint32_t
d9w_pool_put(struct d9w_state *st, struct slice s, struct chunk *chunk)
{
	const uint32_t known = d9w_pool_find(st, s);
	struct text *const t = &chunk->text;

	if (known != D9W_NO_ID || s.n > D9W_MOST_POOLED || s.n > D9W_MOST_REFERRED - st->referred ||
	    s.n + ENTRY_COST > D9W_MOST_POOL - st->pool_bytes)
		return known;
	const struct slice copy = arena_copy(&st->arena, s);
	if (copy.p == NULL || !tabletext_put(&st->pool, copy, st->npool)) {
		t->failed = true;
		return D9W_NO_ID;
	}
	st->pool_bytes += s.n + ENTRY_COST;
	st->referred += s.n;
	text_char(t, D9_TAG_STRINGS);
	d9w_number(t, 1, 4);
	d9w_number(t, st->npool, 4);
	d9w_text32(t, s);
	return st->npool++;
}
