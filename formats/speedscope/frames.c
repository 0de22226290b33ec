/*
 * Frames, each stored once as JSON and numbered, and call stacks as lists of these numbers.  Consecutive
 * samples with the same stack become one with a weight.
 */
#include "speedscope/speedscope.h"

/* ---- frames ---- */

uint32_t speedscope_category(struct speedscope_frames *f, struct slice category)
{
	const uint32_t found = tabletext_get(&f->categories, category);

	if (found != TABLE_NONE)
		return found;
	return tabletext_put(&f->categories, category, f->ncategories + 1) ? ++f->ncategories : 0;
}

static void write_frame(struct speedscope_frames *f, struct slice name, struct slice category,
                        uint64_t offset, struct chunk *chunk)
{
	text_str(&f->json, f->n > 0 ? ",\n{\"name\":" : "\n{\"name\":");
	size_t bad = text_json_string(&f->json, name);
	if (category.n > 0) {
		text_str(&f->json, ",\"file\":");
		bad += text_json_string(&f->json, category);
	}
	text_char(&f->json, '}');
	if (bad > 0)
		speedscope_add_loss(chunk, SPEEDSCOPE_BAD_TEXT, offset);
	f->n++;
}

/* Returns the frame that replaces all frames beyond the limits. */
static uint32_t other_frame(struct speedscope_frames *f, uint64_t offset, struct chunk *chunk)
{
	speedscope_add_loss(chunk, SPEEDSCOPE_FRAMES_FULL, offset);
	if (f->other == 0) {
		write_frame(f, SLICE_LIT("(other)"), SLICE_LIT(""), offset, chunk);
		f->other = f->n;
	}
	return f->other - 1;
}

static bool has_space(const struct speedscope_frames *f, struct slice name, struct slice category)
{
	const uint64_t max = 6 * ((uint64_t)name.n + category.n) + 32; /* an escaped byte takes 6 */

	return f->n < SPEEDSCOPE_FRAMES_MAX && f->json.n < SPEEDSCOPE_FRAMES_BYTES &&
	       max <= SPEEDSCOPE_FRAMES_BYTES - f->json.n;
}

uint32_t speedscope_frame(struct speedscope_frames *f, struct slice name, uint32_t category,
                          struct slice text, uint64_t offset, struct chunk *chunk)
{
	if (name.n == 0)
		name = SLICE_LIT("(no name)");
	if (category == 0)
		text.n = 0;
	struct known_text *const known = known_text(f->known, KNOWN_TEXTS, name, category);
	if (known_text_is(known, name, category))
		return known->number;
	text_clear(&f->key);
	text_add(&f->key, (const char *)&category, sizeof category);
	text_slice(&f->key, name);
	if (f->key.failed) {
		chunk->text.failed = true;
		return 0;
	}
	const struct slice key = slice_of(f->key.p, f->key.n);
	const uint32_t found = tabletext_get(&f->table, key);
	if (found != TABLE_NONE) {
		known_text_set(known, name, category, found);
		return found;
	}
	if (!has_space(f, name, text))
		return other_frame(f, offset, chunk);

	const struct slice own = arena_copy(&f->keys, key);
	if (own.p == NULL || !tabletext_put(&f->table, own, f->n)) {
		chunk->text.failed = true;
		return 0;
	}
	write_frame(f, name, text, offset, chunk);
	return f->n - 1;
}

void speedscope_frames_free(struct speedscope_frames *f)
{
	text_free(&f->json);
	text_free(&f->key);
	arena_free(&f->keys);
	tabletext_free(&f->table);
	tabletext_free(&f->categories);
}

/* ---- samples ---- */

static void write_weight(struct speedscope_samples *s)
{
	if (s->weights.n > 0)
		text_char(&s->weights, ',');
	text_u64(&s->weights, s->weight);
}

void speedscope_samples_add(struct speedscope_samples *s, struct speedscope_frames *frames,
                            const struct call_stack *stack, uint64_t offset, struct chunk *chunk)
{
	struct text *const t = &s->stacks;
	const uint32_t depth = stack->n < SPEEDSCOPE_STACK_DEPTH ? stack->n : SPEEDSCOPE_STACK_DEPTH;
	char address[CALL_STACK_ADDRESS];

	if (depth < stack->n)
		ledger_add(&chunk->ledger, &speedscope_losses[SPEEDSCOPE_TOO_DEEP], offset, stack->n - depth);
	const size_t last_end = t->n;
	if (s->weight > 0)
		text_str(t, ",\n");
	const size_t start = t->n;
	text_char(t, '[');
	for (uint32_t i = 0; i < depth; i++) {
		const struct slice name = call_stack_from_root(stack, i, address);
		if (i > 0)
			text_char(t, ',');
		text_u64(t, speedscope_frame(frames, name, 0, name, offset, chunk));
	}
	text_char(t, ']');
	if (t->failed) {
		chunk->text.failed = true;
		return;
	}
	s->count++;
	const size_t n = t->n - start;
	if (s->weight > 0 && last_end - s->last == n && memcmp(t->p + s->last, t->p + start, n) == 0) {
		t->n = last_end;
		s->weight++;
		return;
	}
	if (s->weight > 0)
		write_weight(s);
	s->last = start;
	s->weight = 1;
}

void speedscope_samples_flush(struct speedscope_samples *s, struct text *to)
{
	write_weight(s);
	text_str(to, ",\"unit\":\"none\",\"startValue\":0,\"endValue\":");
	text_u64(to, s->count);
	text_str(to, ",\"samples\":[\n");
	text_add(to, s->stacks.p, s->stacks.n);
	text_str(to, "],\"weights\":[");
	text_add(to, s->weights.p, s->weights.n);
	to->failed |= s->weights.failed;
	text_str(to, "]}");
	text_clear(&s->stacks);
	text_clear(&s->weights);
	s->last = 0;
	s->weight = s->count = 0;
}

void speedscope_samples_free(struct speedscope_samples *s)
{
	text_free(&s->title);
	text_free(&s->stacks);
	text_free(&s->weights);
}
