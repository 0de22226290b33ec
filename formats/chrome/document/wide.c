/*
 * Files in UTF-16, as PowerShell writes output: the window is converted to UTF-8 piece by piece, and records
 * are read from that text.  A position in the text is stated as a number of two-byte units after in->p.
 */
#include "chrome/chrome.h"

#include <stdlib.h>

#define PIECE (64u << 10) /* bytes of the input that are converted at once */

struct chrome_wide {
	bool big;
	struct text text; /* converted from the input up to `to` */
	size_t at;        /* start of the next record in `text` */
	uint64_t to;
};

bool chrome_wide_begin(struct chrome_reading *st, bool big)
{
	struct chrome_wide *const w = calloc(1, sizeof *w);

	if (note_failure(&st->r->no_memory, w == NULL))
		return false;
	w->big = big;
	w->to = 2;
	st->wide = w;
	return true;
}

void chrome_wide_free(struct chrome_wide *w)
{
	if (w != NULL)
		text_free(&w->text);
	free(w);
}

/* ---- positions ---- */

/* Returns the number of units from which the character that begins with this byte was converted. */
static uint32_t units(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80 ? (unsigned char)c < 0xf0 ? 1U : 2U : 0U;
}

uint64_t chrome_wide_bytes(const struct chrome_reading *st, const char *from, const char *at)
{
	const struct text *const t = &st->wide->text;
	uint64_t n = 0;

	if (at < t->p || at > t->p + t->n)
		return 0;
	for (const char *p = from; p < at; p++)
		n += units(*p);
	return 2 * n;
}

const char *chrome_wide_after(const struct chrome_reading *st, uint64_t bytes)
{
	const char *p = st->p;

	for (uint64_t n = 0; p < st->end && n < bytes; p++)
		n += 2 * (uint64_t)units(*p);
	return p;
}

/* ---- conversion ---- */

static uint32_t unit_at(const struct chrome_wide *w, const char *p)
{
	const unsigned char *const s = (const unsigned char *)p;

	return w->big ? (uint32_t)(s[0] << 8 | s[1]) : (uint32_t)(s[1] << 8 | s[0]);
}

/* Converts [p, end); the first half of a pair at the end waits unless the input ends.  Returns the end of the
 * converted bytes. */
static const char *convert(struct chrome_wide *w, const char *p, const char *end, bool last)
{
	while (end - p >= 2) {
		uint32_t c = unit_at(w, p);
		uint32_t n = 2;
		if (c >= 0xd800 && c <= 0xdbff) {
			if (end - p < 4 && !last)
				break;
			const uint32_t low = end - p >= 4 ? unit_at(w, p + 2) : 0;
			n = low >= 0xdc00 && low <= 0xdfff ? 4 : 2;
			c = n == 4 ? 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00) : 0xfffd;
		} else if (c >= 0xdc00 && c <= 0xdfff) {
			c = 0xfffd;
		}
		char *const to = text_reserve(&w->text, 4);
		if (to == NULL)
			return p;
		w->text.n += (size_t)(json_put_utf8(to, c) - to);
		p += n;
	}
	return p;
}

/* Converts the next piece of the window.  Returns false if there is none. */
static bool convert_more(struct chrome_reading *st)
{
	const struct input *const in = st->r->in;
	struct chrome_wide *const w = st->wide;
	const char *const from = in->end - (input_offset(in, in->end) - w->to);
	const char *const to = in->end - from > (ptrdiff_t)PIECE ? from + PIECE : in->end;

	if (w->at > 0) {
		memmove(w->text.p, w->text.p + w->at, w->text.n - w->at);
		w->text.n -= w->at;
		w->at = 0;
	}
	const char *const end = convert(w, from, to, in->last && to == in->end);
	w->to += (uint64_t)(end - from);
	st->r->no_memory |= w->text.failed;
	return end > from;
}

bool chrome_wide_window(struct chrome_reading *st, bool more)
{
	const struct input *const in = st->r->in;
	struct chrome_wide *const w = st->wide;

	if ((more || w->at == w->text.n) && !convert_more(st) && more)
		return false;
	st->p = w->text.p + w->at;
	st->end = w->text.p + w->text.n;
	st->last = in->last && input_offset(in, in->end) - w->to < 2;
	return !w->text.failed;
}

void chrome_wide_end(struct chrome_reading *st, struct record *rec)
{
	const struct input *const in = st->r->in;
	struct chrome_wide *const w = st->wide;
	const uint64_t before = rec->role < RECORD_IS_GAP ? chrome_wide_bytes(st, st->p, rec->p) : 0,
	               n = chrome_wide_bytes(st, st->p, rec->end);

	w->at += (size_t)(rec->end - st->p);
	rec->p = in->p + before;
	rec->end = in->p + n;
	if (in->end - rec->end == 1 && in->last && w->at == w->text.n)
		rec->end = in->end; /* half a unit */
}
