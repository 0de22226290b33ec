/* UTF-8: validation, cutting, and the characters that terminals obey. */
#include "base/utf8.h"

/* ---- validation ---- */

/* The bytes that may follow a lead byte.  Only the second byte has its own bounds (against overlong forms,
 * surrogates, and code points above U+10FFFF); the others are 80..BF. */
struct lead {
	unsigned char size; /* bytes of the whole character; 0: not a lead byte */
	unsigned char low, high;
};

static inline struct lead lead_of(unsigned char c)
{
	if (c < 0xc2 || c > 0xf4)
		return (struct lead){ 0, 0, 0 };
	if (c < 0xe0)
		return (struct lead){ 2, 0x80, 0xbf };
	if (c < 0xf0)
		return (struct lead){ 3, c == 0xe0 ? 0xa0 : 0x80, c == 0xed ? 0x9f : 0xbf };
	return (struct lead){ 4, c == 0xf0 ? 0x90 : 0x80, c == 0xf4 ? 0x8f : 0xbf };
}

/* The number of bytes at p, of n, that are the start of one valid character: lead.size if it is complete. */
static inline size_t good_bytes(const unsigned char *p, size_t n, struct lead lead)
{
	if (n < 2 || p[1] < lead.low || p[1] > lead.high)
		return 1;

	size_t i = 2;
	while (i < lead.size && i < n && (p[i] & 0xc0) == 0x80)
		i++;
	return i;
}

static inline size_t ascii_prefix(const unsigned char *p, size_t n)
{
	size_t i = 0;

	for (uint64_t w; n - i >= sizeof w; i += sizeof w) {
		memcpy(&w, p + i, sizeof w);
		if ((w & UINT64_C(0x8080808080808080)) != 0)
			break;
	}
	while (i < n && p[i] < 0x80)
		i++;
	return i;
}

size_t utf8_valid_prefix(const char *text, size_t n)
{
	const unsigned char *const p = (const unsigned char *)text;
	size_t i = 0;

	while (i < n) {
		if (p[i] < 0x80) {
			i += ascii_prefix(p + i, n - i);
			continue;
		}
		const struct lead lead = lead_of(p[i]);
		if (lead.size == 0 || good_bytes(p + i, n - i, lead) != lead.size)
			break;
		i += lead.size;
	}
	return i;
}

size_t utf8_cut(const char *p, size_t n, size_t max)
{
	size_t to = max;

	if (n <= max)
		return n;
	while (to > 0 && max - to < 3 && ((unsigned char)p[to] & 0xc0) == 0x80)
		to--;
	return to;
}

size_t utf8_invalid_run(const char *text, size_t n)
{
	const unsigned char *const p = (const unsigned char *)text;
	const struct lead lead = lead_of(p[0]);

	return lead.size == 0 ? 1 : good_bytes(p, n, lead);
}

/* ---- hidden characters ---- */

uint32_t utf8_point(const char *p, size_t size)
{
	uint32_t c = (unsigned char)*p & (size == 1 ? 0x7fu : 0x7fu >> size);

	for (size_t i = 1; i < size; i++)
		c = c << 6 | ((unsigned char)p[i] & 0x3f);
	return c;
}

bool utf8_is_hidden(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{ 0x7f, 0x9f },       /* DEL, C1 */
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

/* No other byte begins a hidden character. */
static inline bool may_hide(unsigned char c)
{
	return c == 0x7f || c == 0xc2 || c == 0xd8 || c == 0xe2 || c == 0xef || c == 0xf3;
}

bool utf8_valid_hidden(const char *text, size_t n, bool *hidden)
{
	const unsigned char *const p = (const unsigned char *)text;
	size_t i = 0;

	*hidden = false;
	while (i < n) {
		if (p[i] < 0x80) {
			i += ascii_prefix(p + i, n - i);
			continue;
		}
		const struct lead lead = lead_of(p[i]);
		if (lead.size == 0 || good_bytes(p + i, n - i, lead) != lead.size)
			return false;
		if (may_hide(p[i]) && utf8_is_hidden(utf8_point(text + i, lead.size)))
			*hidden = true;
		i += lead.size;
	}
	return true;
}

const char *utf8_find_hidden(const char *p, const char *end, size_t *size)
{
	for (; p < end; p++) {
		const unsigned char c = (unsigned char)*p;
		if (!may_hide(c))
			continue;
		const struct lead lead = lead_of(c);
		*size = c < 0x80 ? 1 : lead.size;
		if (c >= 0x80 && ((size_t)(end - p) < lead.size ||
		                  good_bytes((const unsigned char *)p, (size_t)(end - p), lead) != lead.size))
			continue;
		if (utf8_is_hidden(utf8_point(p, *size)))
			return p;
	}
	return end;
}

bool utf8_is_right_to_left(uint32_t point)
{
	return (point >= 0x590 && point <= 0x8ff) || (point >= 0xfb1d && point <= 0xfdff) ||
	       (point >= 0xfe70 && point <= 0xfeff) || (point >= 0x10800 && point <= 0x10fff) ||
	       (point >= 0x1e800 && point <= 0x1efff);
}

bool utf8_is_mark(uint32_t point)
{
	return (point >= 0x300 && point <= 0x36f) || (point >= 0x483 && point <= 0x489) ||
	       (point >= 0x1ab0 && point <= 0x1aff) || (point >= 0x1dc0 && point <= 0x1dff) ||
	       (point >= 0x20d0 && point <= 0x20ff) || (point >= 0xfe20 && point <= 0xfe2f);
}
