#define _GNU_SOURCE /* memmem */
#include "output/text_fit.h"

#include <string.h>

#define DOTS 3

/* Bytes of a character or an escape; *width: its columns. */
static size_t
unit(const char *p, size_t n, size_t *width)
{
	size_t size = 1;

	if (*p == '\\' && n > 1) {
		const char *const end = p[1] == 'u' ? memchr(p, '}', n) : NULL;
		size = p[1] == '\\' ? 2 : p[1] == 'x' && n >= 4 ? 4 : end != NULL ? (size_t)(end - p) + 1 : 1;
		*width = size;
		return size;
	}
	while (size < n && ((unsigned char)p[size] & 0xc0) == 0x80)
		size++;
	*width = 1;
	return size;
}

/* Bytes of the longest beginning of at most this width. */
static size_t
head(struct slice s, size_t width)
{
	size_t i = 0, w;

	while (i < s.n) {
		const size_t size = unit(s.p + i, s.n - i, &w);
		if (w > width)
			break;
		width -= w;
		i += size;
	}
	return i;
}

size_t
text_width(struct slice s)
{
	size_t width = 0, w;

	for (size_t i = 0; i < s.n; width += w)
		i += unit(s.p + i, s.n - i, &w);
	return width;
}

/* Where the longest end of at most this width starts. */
static size_t
tail(struct slice s, size_t width)
{
	size_t over = text_width(s), i = 0, w;

	while (over > width) {
		i += unit(s.p + i, s.n - i, &w);
		over -= w;
	}
	return i;
}

/* src/main.rs:115:9, a::b */
static bool
is_location(struct slice s)
{
	size_t digits = 0;

	while (digits < s.n && s.p[s.n - digits - 1] >= '0' && s.p[s.n - digits - 1] <= '9')
		digits++;
	if (digits > 0 && digits < s.n && s.p[s.n - digits - 1] == ':')
		return true;
	return s.n > 0 && (memchr(s.p, '/', s.n) != NULL || memmem(s.p, s.n, "::", 2) != NULL);
}

void
text_shorten(struct text *t, struct slice s, size_t width)
{
	if (text_width(s) <= width) {
		text_slice(t, s);
		return;
	}
	const size_t room = width > DOTS ? width - DOTS : 0;
	const size_t before = is_location(s) ? 0 : room / 3;
	const size_t at = tail(s, room - before);
	text_add(t, s.p, head(s, before));
	text_str(t, "...");
	text_add(t, s.p + at, s.n - at);
}

size_t
text_line(struct slice s, size_t width, size_t *next)
{
	size_t n = head(s, width), blank = n;

	*next = n;
	if (n < s.n) {
		while (blank > 0 && s.p[blank] != ' ')
			blank--;
		if (blank > 0)
			n = blank;
		else if (n == 0) /* a character at least */
			n = unit(s.p, s.n, &blank);
		*next = n;
	}
	while (*next < s.n && s.p[*next] == ' ')
		++*next;
	while (n > 0 && s.p[n - 1] == ' ')
		n--;
	return n;
}

void
text_wrap(struct text *t, struct slice s, size_t column, size_t indent, size_t width)
{
	const size_t least = 20; /* of a line */
	size_t next;

	if (width == 0) {
		text_slice(t, s);
		return;
	}
	for (size_t start = column; s.n > 0; start = indent) {
		const size_t n = text_line(s, width > start + least ? width - start : least, &next);
		text_add(t, s.p, n);
		s = slice_of(s.p + next, s.n - next);
		if (s.n > 0)
			text_printf(t, "\n%*s", (int)indent, "");
	}
}

void
text_wrap_lines(struct text *t, const struct text *lines, size_t indent, size_t width)
{
	for (size_t i = 0; i < lines->n;) {
		const char *const line = lines->p + i, *const end = memchr(line, '\n', lines->n - i);
		const size_t n = end != NULL ? (size_t)(end - line) : lines->n - i;
		text_wrap(t, slice_of(line, n), 0, indent, width);
		text_char(t, '\n');
		i += n + 1;
	}
	t->failed |= lines->failed;
}
