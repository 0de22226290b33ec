/* Trace text for people's terminals, which obey more than they print. */
#include "base/utf8.h"
#include "output/text_visible.h"

/* Characters that steer the terminal or cannot be seen; each a range.  Joiners (U+200C, U+200D) are not
 * here: they shape visible text in several scripts. */
static bool
is_hidden(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{ 0x80, 0x9f },       /* C1 */
		{ 0xad, 0xad },       /* soft hyphen */
		{ 0x61c, 0x61c },     /* Arabic letter mark */
		{ 0x200b, 0x200b },   /* zero width space */
		{ 0x200e, 0x200f },   /* left-to-right and right-to-left mark */
		{ 0x2028, 0x202e },   /* line and paragraph separator, embeddings, overrides */
		{ 0x2060, 0x206f },   /* isolates, invisible operators */
		{ 0xfeff, 0xfeff },   /* byte order mark */
		{ 0xfff9, 0xfffb },   /* interlinear marks */
		{ 0xe0000, 0xe0fff }, /* tags */
	};

	for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

static size_t
size_of(unsigned char lead)
{
	if (lead < 0x80)
		return 1;
	return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/* The code point of a valid character of `size` bytes, at least 2. */
static uint32_t
decode(const char *p, size_t size)
{
	uint32_t c = (unsigned char)*p & (0x7fu >> size);

	for (size_t i = 1; i < size; i++)
		c = c << 6 | ((unsigned char)p[i] & 0x3f);
	return c;
}

/* One character or one invalid byte at p, of n bytes; returns how many bytes that is. */
static size_t
visible_size(const char *p, size_t n)
{
	const size_t size = size_of((unsigned char)*p);

	return size <= n && utf8_valid(p, size) ? size : 1;
}

static void
add_visible(struct text *t, const char *p, size_t size)
{
	const unsigned char c = (unsigned char)*p;

	if (size > 1) {
		const uint32_t point = decode(p, size);
		if (is_hidden(point))
			text_printf(t, "\\u{%04x}", (unsigned)point);
		else
			text_add(t, p, size);
	} else if (c == '\\') {
		text_add(t, "\\\\", 2);
	} else if (c < 0x20 || c >= 0x7f) {
		text_printf(t, "\\x%02x", (unsigned)c);
	} else {
		text_char(t, (char)c);
	}
}

void
text_visible(struct text *t, struct slice s, size_t max)
{
	const size_t limit = max == 0 || max > s.n ? s.n : max;
	size_t i = 0;

	while (i < limit) {
		const size_t size = visible_size(s.p + i, s.n - i);
		if (size > limit - i)
			break;
		add_visible(t, s.p + i, size);
		i += size;
	}
	if (i < s.n)
		text_add(t, "...", 3);
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
