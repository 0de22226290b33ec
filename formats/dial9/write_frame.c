#include "dial9/write.h"

#include "base/utf8.h"
#include "output/text_utf8.h"

/* Frames of the output that every mode needs. */

#define MOST_DELTA 0xffffffU /* "timestamp_delta_ns is a 24-bit unsigned integer" */

void
d9w_number(struct text *t, uint64_t v, unsigned size)
{
	char *const p = text_room(t, 8);

	if (p == NULL)
		return;
	for (unsigned i = 0; i < size; i++)
		p[i] = (char)(v >> (8 * i));
	t->n += size;
}

void
d9w_reset(struct d9w_state *st, uint64_t ts, struct chunk *chunk)
{
	text_char(&chunk->text, D9_TAG_RESET);
	d9w_number(&chunk->text, ts, 8);
	st->base = ts;
}

uint32_t
d9w_delta(struct d9w_state *st, uint64_t ts, struct chunk *chunk)
{
	if (ts < st->base || ts - st->base > MOST_DELTA)
		d9w_reset(st, ts, chunk);
	const uint32_t delta = (uint32_t)(ts - st->base);

	st->base = ts;
	return delta;
}

void
d9w_varint(struct text *t, uint64_t v)
{
	char *const p = text_room(t, D9_VARINT_MAX);
	unsigned n = 0;

	if (p == NULL)
		return;
	for (; v >= 0x80; v >>= 7)
		p[n++] = (char)(v | 0x80);
	p[n++] = (char)v;
	t->n += n;
}

void
d9w_text16(struct text *t, struct slice s)
{
	d9w_number(t, s.n, 2);
	text_slice(t, s);
}

void
d9w_text32(struct text *t, struct slice s)
{
	d9w_number(t, s.n, 4);
	text_slice(t, s);
}

/* ---- text ---- */

bool
d9w_is_utf8(struct slice s)
{
	return (s.flags & SLICE_UTF8) != 0 || s.n == 0 || utf8_valid(s.p, s.n);
}

bool
d9w_clean(struct text *t, struct slice s, uint32_t most)
{
	const size_t start = t->n;
	const bool cut = s.n > most;

	s.n = (uint32_t)utf8_cut(s.p, s.n, most);
	const bool changed = text_utf8(t, s) > 0;
	if (!t->failed)
		t->n = start + utf8_cut(t->p + start, t->n - start, most);
	return changed || cut;
}
