#include "compare/by_name.h"

#include <stdlib.h>

#include "base/array.h"

static bool
add(struct by_name *t, struct slice name, uint64_t key)
{
	const bool rest = t->n + 1 == BY_NAME_MAX;
	struct slice copy = slice_of(name.p, name.n < BY_NAME_MAX_TEXT ? name.n : BY_NAME_MAX_TEXT);

	if (!array_room(&t->rows, t->n, &t->cap, sizeof *t->rows))
		return false;
	copy = rest ? SLICE_LIT("(other names)") : arena_copy(&t->texts, copy);
	if (copy.p == NULL || (!rest && !table64_put(&t->index, key, t->n)))
		return false;
	t->rows[t->n++] = (struct by_name_row){ .name = copy };
	return true;
}

struct by_name_row *
by_name_row(struct by_name *t, struct slice name, const struct event_identity *id)
{
	const uint64_t key = id->name.a;

	if (t->n > 0 && key == t->last_key)
		return &t->rows[t->last];
	uint32_t i = table64_get(&t->index, key);
	if (i == TABLE_NONE) {
		if (t->n < BY_NAME_MAX && !add(t, name, key))
			return NULL;
		i = t->n - 1;
	}
	t->last_key = key;
	t->last = i;
	return &t->rows[i];
}

void
by_name_free(struct by_name *t)
{
	free(t->rows);
	table64_free(&t->index);
	arena_free(&t->texts);
}
