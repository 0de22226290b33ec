#include "parquet/dictionary.h"

#include <string.h>

#include "base/utf8.h"
#include "output/text_utf8.h"

void
plain_text(struct text *t, struct slice s)
{
	plain_u32(t, s.n);
	text_add(t, s.p, s.n);
}

uint32_t
dictionary_u64(struct dictionary *d, uint64_t v, unsigned size, bool *fresh)
{
	const uint32_t known = table64_get(&d->numbers, v);

	*fresh = known == TABLE_NONE;
	if (!*fresh)
		return known;
	if (d->n == DICTIONARY_MAX)
		return DICTIONARY_NONE;
	if (!table64_put(&d->numbers, v, d->n)) {
		d->no_memory = true;
		return DICTIONARY_NONE;
	}
	if (size == 4)
		plain_u32(&d->plain, (uint32_t)v);
	else
		plain_u64(&d->plain, v);
	return d->n++;
}

static bool
remember(struct dictionary *d, struct slice s, uint32_t value)
{
	const struct slice copy = arena_copy(&d->arena, s);

	if (copy.p != NULL && tabletext_put(&d->texts, copy, value))
		return true;
	d->no_memory = true;
	return false;
}

static bool
has_room(const struct dictionary *d, size_t more)
{
	return d->n < DICTIONARY_MAX && d->arena.used + more < DICTIONARY_BYTES;
}

/* A text that is not there yet. */
static struct dictionary_text
add_text(struct dictionary *d, struct slice s)
{
	struct dictionary_text none = { .number = DICTIONARY_NONE };

	if (!has_room(d, s.n) || !remember(d, s, d->n << 1))
		return none;
	plain_text(&d->plain, s);
	return (struct dictionary_text){ .number = d->n++, .fresh = true, .stored = s };
}

static struct dictionary_text
add_mended(struct dictionary *d, struct slice s)
{
	struct text room = { .p = NULL };
	struct dictionary_text found = { .number = DICTIONARY_NONE };

	if (!has_room(d, 4 * (size_t)s.n)) /* a byte becomes three */
		return found;
	(void)text_utf8(&room, s);
	const struct slice mended = { room.p, (uint32_t)room.n, SLICE_UTF8 };
	if (room.failed)
		d->no_memory = true;
	else if ((found.number = tabletext_get(&d->texts, mended)) == TABLE_NONE)
		found = add_text(d, mended);
	else
		found.number >>= 1;
	if (found.number != DICTIONARY_NONE && !remember(d, s, found.number << 1 | 1))
		found.number = DICTIONARY_NONE;
	found.mended = true;
	if (found.fresh) /* the copy in the dictionary, as `room` goes away */
		found.stored.p = tabletext_key(&d->texts, mended);
	text_free(&room);
	return found;
}

struct dictionary_text
dictionary_text(struct dictionary *d, struct slice s)
{
	const uint32_t known = tabletext_get(&d->texts, s);

	if (known != TABLE_NONE)
		return (struct dictionary_text){ .number = known >> 1, .mended = (known & 1) != 0 };
	if ((s.flags & (SLICE_UTF8 | SLICE_JSON)) != 0 || utf8_valid(s.p, s.n))
		return add_text(d, s);
	return add_mended(d, s);
}

void
dictionary_reset(struct dictionary *d)
{
	tabletext_free(&d->texts);
	table64_free(&d->numbers);
	arena_reset(&d->arena);
	text_clear(&d->plain);
	d->n = 0;
}

void
dictionary_free(struct dictionary *d)
{
	dictionary_reset(d);
	arena_free(&d->arena);
	text_free(&d->plain);
}
