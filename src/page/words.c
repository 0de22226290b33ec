/*
 * Text of a trace as the page shows it.  Hidden characters are escaped as in all reports
 * (output/text_visible.h); besides, a letter has at most three combining marks, which could draw over other
 * lines, and a long text loses its middle.
 */
#include "page/page.h"

#include <stdio.h>

#include "base/utf8.h"
#include "output/text_json.h"
#include "output/text_visible.h"

#define MARKS 3 /* of a letter */

/* Bytes of the character at p; valid UTF-8. */
static size_t size_at(const char *p, const char *end)
{
	size_t n = 1;

	while (p + n < end && ((unsigned char)p[n] & 0xc0) == 0x80)
		n++;
	return n;
}

void page_words(struct text *t, struct slice s)
{
	struct text visible = { .p = NULL };
	size_t chars = 0, marks = 0, at = 0;
	const size_t before = t->n;

	/* Enough bytes for both ends, whatever their characters are. */
	text_visible_ends(&visible, s, 12 * PAGE_WORD);
	const char *const end = visible.p + visible.n;
	for (const char *p = visible.p; p != end; p += size_at(p, end))
		chars++;
	for (const char *p = visible.p; p != end; at++) {
		const size_t n = size_at(p, end);
		marks = n > 1 && utf8_is_mark(utf8_point(p, n)) ? marks + 1 : 0;
		const bool middle = chars > PAGE_WORD && at >= PAGE_WORD / 2 && at < chars - PAGE_WORD / 2;
		if (middle && at == PAGE_WORD / 2)
			text_printf(t, "\xe2\x80\xa6(%zu bytes)\xe2\x80\xa6", (size_t)s.n);
		else if (!middle && marks <= MARKS)
			text_add(t, p, n);
		p += n;
	}
	if (t->n == before)
		text_str(t, "(no name)");
	t->failed |= visible.failed;
	text_free(&visible);
}

void page_html(struct text *t, struct slice s)
{
	struct text words = { .p = NULL };

	page_words(&words, s);
	text_html(t, slice_of(words.p, words.n));
	t->failed |= words.failed;
	text_free(&words);
}

void page_json(struct text *t, struct slice s)
{
	struct text words = { .p = NULL };

	page_words(&words, s);
	text_char(t, '"');
	text_json_chars(t, slice_of(words.p, words.n));
	text_char(t, '"');
	t->failed |= words.failed;
	text_free(&words);
}

void page_script(struct text *t, const struct text *json)
{
	for (size_t i = 0; i < json->n; i++)
		if (json->p[i] == '<' || json->p[i] == '>' || json->p[i] == '&')
			text_printf(t, "\\u%04x", (unsigned)json->p[i]);
		else
			text_char(t, json->p[i]);
}
