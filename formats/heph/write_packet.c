#include "heph/write.h"

#include "base/textscan.h"
#include "base/utf8.h"
#include "output/text_utf8.h"

/* Packets that are made: numbers, texts, attributes. */

void
hpw_lose(struct hpw_packet *k, enum hpw_loss loss)
{
	ledger_add(k->ledger, &hpw_losses[loss], k->offset, 1);
	k->lost = true;
}

void
hpw_number(struct hpw_packet *k, uint64_t v, unsigned size)
{
	char *const p = text_room(k->text, size);

	if (p != NULL) {
		hpw_store(p, v, size);
		k->text->n += size;
	}
}

/* ---- texts ---- */

/* A text that is too long, or perhaps not UTF-8. */
static void
text_checked(struct hpw_packet *k, struct slice s)
{
	struct text *const t = k->text;
	size_t n = utf8_cut(s.p, s.n, HPW_MOST_TEXT);
	bool cut = n < s.n;

	s.n = (uint32_t)n;
	hpw_number(k, 0, 2);
	const size_t start = t->n;
	if (text_utf8(t, s) > 0)
		hpw_lose(k, HPW_TEXT_REPLACED);
	if (t->failed)
		return;
	n = utf8_cut(t->p + start, t->n - start, HPW_MOST_TEXT);
	cut |= n < t->n - start;
	t->n = start + n;
	hpw_store(t->p + start - 2, n, 2);
	if (cut)
		hpw_lose(k, HPW_TEXT_CUT);
}

void
hpw_text(struct hpw_packet *k, struct slice s)
{
	struct text *const t = k->text;

	if ((s.flags & SLICE_UTF8) == 0 || s.n > HPW_MOST_TEXT) {
		text_checked(k, s);
		return;
	}
	char *const p = text_room(t, (size_t)s.n + 2);
	if (p == NULL)
		return;
	hpw_store(p, s.n, 2);
	if (s.n > 0)
		memcpy(p + 2, s.p, s.n);
	t->n += (size_t)s.n + 2;
}

/* ---- attributes ---- */

static void
begin_attribute(struct hpw_packet *k, const char *name, uint8_t type)
{
	hpw_text(k, (struct slice){ name, (uint32_t)strlen(name), SLICE_UTF8 });
	hpw_number(k, type, 1);
}

void
hpw_text_attribute(struct hpw_packet *k, const char *name, struct slice s)
{
	begin_attribute(k, name, HEPH_STRING);
	hpw_text(k, s);
}

void
hpw_number_attribute(struct hpw_packet *k, const char *name, uint64_t v)
{
	begin_attribute(k, name, HEPH_UNSIGNED);
	hpw_number(k, v, 8);
}

/* ---- packets ---- */

struct hpw_packet
hpw_begin_option(struct hpw_state *st, struct chunk *chunk, const char *name, uint64_t offset)
{
	struct hpw_packet k = { .st = st,
		                .text = &chunk->text,
		                .ledger = &chunk->ledger,
		                .offset = offset,
		                .start = chunk->text.n };

	text_clear(&st->types);
	hpw_number(&k, HEPH_MAGIC_METADATA, 4);
	hpw_number(&k, 0, 4);
	hpw_text(&k, slice_str(name));
	return k;
}

void
hpw_finish(struct hpw_packet *k)
{
	struct text *const t = k->text;

	if (!t->failed)
		hpw_store(t->p + k->start + HPW_AT_SIZE, t->n - k->start, 4);
}
