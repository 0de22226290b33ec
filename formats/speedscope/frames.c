#include "speedscope/frames.h"

uint32_t
speedscope_category(struct speedscope_frames *f, struct slice category)
{
	const uint32_t known = tabletext_get(&f->categories, category);

	if (known != TABLE_NONE)
		return known;
	return tabletext_put(&f->categories, category, f->ncategories + 1) ? ++f->ncategories : 0;
}

static void
put_frame(struct speedscope_frames *f, struct slice name, struct slice category, uint64_t offset,
          struct chunk *chunk)
{
	text_str(&f->json, f->n > 0 ? ",\n{\"name\":" : "\n{\"name\":");
	size_t bad = text_json_string(&f->json, name);
	if (category.n > 0) {
		text_str(&f->json, ",\"file\":");
		bad += text_json_string(&f->json, category);
	}
	text_char(&f->json, '}');
	if (bad > 0)
		ledger_add(&chunk->ledger, &speedscope_losses[SPEEDSCOPE_BAD_TEXT], offset, 1);
	f->n++;
}

static uint32_t
other_frame(struct speedscope_frames *f, uint64_t offset, struct chunk *chunk)
{
	ledger_add(&chunk->ledger, &speedscope_losses[SPEEDSCOPE_FRAMES_FULL], offset, 1);
	if (f->other == 0) {
		put_frame(f, SLICE_LIT("(other)"), SLICE_LIT(""), offset, chunk);
		f->other = f->n;
	}
	return f->other - 1;
}

/* An escaped byte has six. */
static bool
has_room(const struct speedscope_frames *f, struct slice name, struct slice category)
{
	const uint64_t most = 6 * ((uint64_t)name.n + category.n) + 32;

	return f->n < SPEEDSCOPE_FRAMES_MAX && most <= SPEEDSCOPE_FRAMES_ROOM - f->json.n;
}

uint32_t
speedscope_frame(struct speedscope_frames *f, struct slice name, uint32_t category, struct slice text,
                 uint64_t offset, struct chunk *chunk)
{
	if (name.n == 0)
		name = SLICE_LIT("(no name)");
	if (category == 0)
		text.n = 0;
	text_clear(&f->key);
	text_add(&f->key, (const char *)&category, sizeof category);
	text_slice(&f->key, name);
	if (f->key.failed) {
		chunk->text.failed = true;
		return 0;
	}
	const struct slice key = slice_of(f->key.p, f->key.n);
	const uint32_t known = tabletext_get(&f->table, key);
	if (known != TABLE_NONE)
		return known;
	if (f->json.n >= SPEEDSCOPE_FRAMES_ROOM || !has_room(f, name, text))
		return other_frame(f, offset, chunk);

	const struct slice own = arena_copy(&f->keys, key);
	if (own.p == NULL || !tabletext_put(&f->table, own, f->n)) {
		chunk->text.failed = true;
		return 0;
	}
	put_frame(f, name, text, offset, chunk);
	return f->n - 1;
}

void
speedscope_frames_free(struct speedscope_frames *f)
{
	text_free(&f->json);
	text_free(&f->key);
	arena_free(&f->keys);
	tabletext_free(&f->table);
	tabletext_free(&f->categories);
}
