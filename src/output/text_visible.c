/* Trace text for people's terminals, which obey more than they print. */
#include "base/utf8.h"
#include "output/text_commands.h"
#include "output/text_visible.h"

static size_t
size_of(unsigned char lead)
{
	if (lead < 0x80)
		return 1;
	return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/* One character or one invalid byte at p, of n bytes; returns how many bytes that is. */
static size_t
visible_size(const char *p, size_t n)
{
	const size_t size = size_of((unsigned char)*p);

	return size <= n && utf8_valid(p, size) ? size : 1;
}

static void
add_visible(struct text *t, const char *p, size_t size, const char *backslash)
{
	const unsigned char c = (unsigned char)*p;

	if (size > 1) {
		const uint32_t point = utf8_point(p, size);
		if (utf8_is_hidden(point))
			text_printf(t, "\\u{%04x}", (unsigned)point);
		else
			text_add(t, p, size);
	} else if (c == '\\') {
		text_str(t, backslash);
	} else if (c < 0x20 || c >= 0x7f) {
		text_printf(t, "\\x%02x", (unsigned)c);
	} else {
		text_char(t, (char)c);
	}
}

static void
add_all(struct text *t, struct slice s, size_t max, const char *backslash)
{
	const size_t limit = max == 0 || max > s.n ? s.n : max;
	size_t i = 0;

	while (i < limit) {
		if (text_is_command(s.p + i, s.p + limit)) {
			text_str(t, "#\\x23");
			i += 2;
		}
		const size_t size = visible_size(s.p + i, s.n - i);
		if (size > limit - i)
			break;
		add_visible(t, s.p + i, size, backslash);
		i += size;
	}
	if (i < s.n)
		text_add(t, "...", 3);
}

void
text_visible(struct text *t, struct slice s, size_t max)
{
	add_all(t, s, max, "\\\\");
}

void
text_visible_message(struct text *t, struct slice s)
{
	add_all(t, s, 0, "\\");
}

void
text_visible_ends(struct text *t, struct slice s, size_t max)
{
	size_t tail = max - max / 3;

	if (s.n <= max || max == 0) {
		text_visible(t, s, 0);
		return;
	}
	while (tail > 0 && ((unsigned char)s.p[s.n - tail] & 0xc0) == 0x80) /* within a character */
		tail--;
	text_visible(t, s, max / 3);
	text_visible(t, slice_of(s.p + s.n - tail, tail), 0);
}
