/* Trace text for terminals and logs of CI services, which act on parts of their input: escapes, shortening to
 * a width, and commands in logs. */
#include "output/text_visible.h"

#include <string.h>

#include "base/scan.h"

/* ---- escapes ---- */

bool text_is_command(const char *p, const char *end)
{
	if (end - p < 3 || p[0] != '#' || p[1] != '#')
		return false;
	return p[2] == '[' || (p[2] >= 'a' && p[2] <= 'z') || (p[2] >= 'A' && p[2] <= 'Z');
}

/* The size of the character or of the invalid byte at p, of n bytes. */
static size_t char_size(const char *p, size_t n)
{
	const size_t size = utf8_size(p, n);

	return size > 0 ? size : 1;
}

static void add_char(struct text *t, const char *p, size_t size, const char *backslash)
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

/* Returns how many of the n bytes at p are shown unchanged: in most text, all. */
static size_t count_plain(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n && p[i] >= ' ' && p[i] < 0x7f && p[i] != '\\' && p[i] != '#')
		i++;
	return i;
}

static void add_visible(struct text *t, struct slice s, size_t max, const char *backslash)
{
	const size_t limit = max == 0 || max > s.n ? s.n : max;
	size_t i = 0;

	while (i < limit) {
		const size_t plain = count_plain(s.p + i, limit - i);
		if (plain > 0) {
			text_add(t, s.p + i, plain);
			i += plain;
			continue;
		}
		if (text_is_command(s.p + i, s.p + limit)) {
			text_str(t, "#\\x23");
			i += 2;
		}
		const size_t size = char_size(s.p + i, s.n - i);
		if (size > limit - i)
			break;
		add_char(t, s.p + i, size, backslash);
		i += size;
	}
	if (i < s.n)
		text_add(t, "...", 3);
}

void text_visible(struct text *t, struct slice s, size_t max)
{
	add_visible(t, s, max, "\\\\");
}

void text_visible_message(struct text *t, struct slice s)
{
	add_visible(t, s, 0, "\\");
}

void text_visible_ends(struct text *t, struct slice s, size_t max)
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

void text_csv_cell(struct text *t, struct slice s)
{
	struct text visible = { .p = NULL };
	bool quotes = false;

	text_visible(&visible, s, 0);
	for (size_t i = 0; i < visible.n; i++)
		quotes |= visible.p[i] == ',' || visible.p[i] == '"';
	text_str(t, quotes ? "\"" : "");
	for (size_t i = 0; i < visible.n; i++) {
		if (visible.p[i] == '"')
			text_char(t, '"');
		text_char(t, visible.p[i]);
	}
	text_str(t, quotes ? "\"" : "");
	t->failed |= visible.failed;
	text_free(&visible);
}

void text_csv_next(struct text *t, struct slice s)
{
	text_char(t, ',');
	text_csv_cell(t, s);
}

void text_isolated(struct text *t, struct slice visible)
{
	bool isolates = false;

	for (size_t i = 0, n; i < visible.n && !isolates; i += n) {
		n = char_size(visible.p + i, visible.n - i);
		isolates = n > 1 && utf8_is_right_to_left(utf8_point(visible.p + i, n));
	}
	text_str(t, isolates ? "\xe2\x81\xa8" : "");
	text_slice(t, visible);
	text_str(t, isolates ? "\xe2\x81\xa9" : "");
}

/* ---- width ---- */

#define DOTS 3 /* columns of "..." */

/* Blocks whose characters terminals draw two columns wide: scripts of East Asia, and emoji. */
static bool is_wide(uint32_t point)
{
	static const struct {
		uint32_t first, last;
	} blocks[] = {
		{ 0x1100, 0x115f },   { 0x2e80, 0x303e },   { 0x3041, 0x4dbf },   { 0x4e00, 0xa4cf },
		{ 0xa960, 0xa97f },   { 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },   { 0xfe30, 0xfe6f },
		{ 0xff01, 0xff60 },   { 0xffe0, 0xffe6 },   { 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff },
		{ 0x1f900, 0x1f9ff }, { 0x1fa70, 0x1faff }, { 0x20000, 0x3fffd },
	};

	for (size_t i = 0; i < COUNT_OF(blocks) && point >= blocks[i].first; i++)
		if (point <= blocks[i].last)
			return true;
	return false;
}

static size_t char_width(const char *p, size_t size)
{
	if (size < 2 || size > 4)
		return 1;
	const uint32_t point = utf8_point(p, size);
	return utf8_is_mark(point) ? 0 : is_wide(point) ? 2 : 1;
}

/* The size of a character or an escape; *width: its number of columns. */
static size_t unit_size(const char *p, size_t n, size_t *width)
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
	*width = char_width(p, size);
	return size;
}

/* Number of bytes of the longest prefix of at most this width. */
static size_t prefix_size(struct slice s, size_t width)
{
	size_t i = 0, w;

	while (i < s.n) {
		const size_t size = unit_size(s.p + i, s.n - i, &w);
		if (w > width)
			break;
		width -= w;
		i += size;
	}
	return i;
}

size_t text_width(struct slice s)
{
	size_t width = 0, w;

	for (size_t i = 0; i < s.n; width += w)
		i += unit_size(s.p + i, s.n - i, &w);
	return width;
}

/* Start of the longest suffix of at most this width. */
static size_t suffix_start(struct slice s, size_t width)
{
	size_t over = text_width(s), i = 0, w;

	while (over > width) {
		i += unit_size(s.p + i, s.n - i, &w);
		over -= w;
	}
	return i;
}

/* Whether the text is a location: src/main.rs:115:9, a::b */
static bool is_location(struct slice s)
{
	size_t digits = 0;

	while (digits < s.n && s.p[s.n - digits - 1] >= '0' && s.p[s.n - digits - 1] <= '9')
		digits++;
	if (digits > 0 && digits < s.n && s.p[s.n - digits - 1] == ':')
		return true;
	return s.n > 0 && (memchr(s.p, '/', s.n) != NULL || slice_find(s, SLICE_LIT("::")) != NULL);
}

void text_shorten(struct text *t, struct slice s, size_t width)
{
	if (text_width(s) <= width) {
		text_slice(t, s);
		return;
	}
	const size_t shown = width > DOTS ? width - DOTS : 0;
	const size_t before = is_location(s) ? 0 : shown / 3;
	const size_t at = suffix_start(s, shown - before);
	text_add(t, s.p, prefix_size(s, before));
	text_str(t, "...");
	text_add(t, s.p + at, s.n - at);
}

void text_shorten_end(struct text *t, struct slice s, size_t width)
{
	if (text_width(s) <= width) {
		text_slice(t, s);
		return;
	}
	text_add(t, s.p, prefix_size(s, width > DOTS ? width - DOTS : 0));
	text_str(t, "...");
}

size_t text_line(struct slice s, size_t width, size_t *next)
{
	size_t n = prefix_size(s, width), blank = n;

	*next = n;
	if (n < s.n) {
		while (blank > 0 && s.p[blank] != ' ')
			blank--;
		if (blank > 0)
			n = blank;
		else if (n == 0) /* at least one character */
			n = unit_size(s.p, s.n, &blank);
		*next = n;
	}
	while (*next < s.n && s.p[*next] == ' ')
		++*next;
	while (n > 0 && s.p[n - 1] == ' ')
		n--;
	return n;
}

void text_wrap(struct text *t, struct slice s, size_t column, size_t indent, size_t width)
{
	const size_t min = 20; /* min columns of a line */
	size_t next;

	if (width == 0) {
		text_slice(t, s);
		return;
	}
	for (size_t start = column; s.n > 0; start = indent) {
		const size_t n = text_line(s, width > start + min ? width - start : min, &next);
		text_add(t, s.p, n);
		s = slice_of(s.p + next, s.n - next);
		if (s.n > 0)
			text_printf(t, "\n%*s", (int)indent, "");
	}
}

void text_wrap_lines(struct text *t, const struct text *lines, size_t indent, size_t width)
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

/* ---- commands of CI services ---- */

/* The size of a blank at p; 0: none.  CI runners trim all white space of Unicode. */
static size_t blank_size(const char *p, const char *end)
{
	const size_t size = utf8_size(p, (size_t)(end - p));

	if (*p == ' ' || (*p >= '\t' && *p <= '\r' && *p != '\n'))
		return 1;
	if (size < 2)
		return 0;
	const uint32_t point = utf8_point(p, size);
	const bool blank = point == 0x85 || point == 0xa0 || point == 0x1680 ||
	                   (point >= 0x2000 && point <= 0x200a) || point == 0x2028 || point == 0x2029 ||
	                   point == 0x202f || point == 0x205f || point == 0x3000 || point == 0xfeff;
	return blank ? size : 0;
}

static const char *skip_blanks(const char *p, const char *end)
{
	for (size_t n; p < end && (n = blank_size(p, end)) > 0; p += n)
		;
	return p;
}

/* The character that must be escaped in a line that begins at p; NULL: none. */
static const char *find_line_command(const char *p, const char *end)
{
	const char *const begin = skip_blanks(p, end);

	if (end - begin >= 2 && begin[0] == ':' && begin[1] == ':')
		return begin + 1;
	if (end - p >= 4 && (*p == '-' || *p == '+' || *p == '~' || *p == '^') && p[1] == *p && p[2] == *p &&
	    p[3] == ' ')
		return p;
	return NULL;
}

/* A search for commands: each byte is compared once. */
struct scan {
	const char *p, *end;
	const char *hash; /* the next command anywhere; NULL: none */
	const char *line; /* next line to search; NULL: none */
};

static const char *find_hash(const char *p, const char *end)
{
	while ((p = memchr(p, '#', (size_t)(end - p))) != NULL && !text_is_command(p, end))
		p++;
	return p;
}

static const char *next_line(const char *p, const char *end)
{
	const char *const newline = memchr(p, '\n', (size_t)(end - p));

	return newline != NULL ? newline + 1 : NULL;
}

static struct scan scan_start(const char *p, size_t n, unsigned flags)
{
	struct scan s = { .p = p, .end = p + n, .hash = find_hash(p, p + n), .line = p };

	if ((flags & TEXT_OWN_COMMANDS) != 0)
		s.line = NULL;
	else if ((flags & TEXT_MID_LINE) != 0)
		s.line = next_line(p, s.end);
	return s;
}

/* The next byte that must be escaped; end: none. */
static const char *scan_next(struct scan *s)
{
	const char *at;

	while (s->line != NULL && (s->hash == NULL || s->line <= s->hash + 1)) {
		at = find_line_command(s->line, s->end);
		s->line = next_line(s->line, s->end);
		if (at != NULL)
			return at;
	}
	if (s->hash == NULL)
		return s->end;
	at = s->hash + 1;
	s->hash = find_hash(at, s->end);
	return at;
}

bool text_has_commands(const char *p, size_t n, unsigned flags)
{
	struct scan s;

	if (n == 0)
		return false;
	s = scan_start(p, n, flags);
	return scan_next(&s) < s.end;
}

void text_add_guarded(struct text *t, const char *p, size_t n, unsigned flags)
{
	if (n == 0)
		return;
	struct scan s = scan_start(p, n, flags);
	for (const char *at; s.p < s.end; s.p = at < s.end ? at + 1 : at) {
		at = scan_next(&s);
		text_add(t, s.p, (size_t)(at - s.p));
		if (at < s.end)
			text_printf(t, *at == '#' ? "\\u%04x" : "\\x%02x", (unsigned)(unsigned char)*at);
	}
}

unsigned text_line_state(const char *p, size_t n, unsigned flags)
{
	size_t begin = n;

	while (begin > 0 && p[begin - 1] != '\n')
		begin--;
	if (begin == 0 && (flags & TEXT_MID_LINE) != 0)
		return TEXT_MID_LINE;
	return n > 0 && skip_blanks(p + begin, p + n) < p + n ? TEXT_MID_LINE : 0;
}

void text_markdown(struct text *t, struct slice s)
{
	static const char marks[] = "\\`*_{}[]#|~";

	for (uint32_t i = 0; i < s.n; i++) {
		const char c = s.p[i];
		if (c == '<')
			text_str(t, "&lt;");
		else if (c == '>')
			text_str(t, "&gt;");
		else if (c == '&')
			text_str(t, "&amp;");
		else if (c == '@')
			text_str(t, "&#64;");
		else if (c != '\0' &&
		         (strchr(marks, c) != NULL || (c == ':' && i + 1 < s.n && s.p[i + 1] == '/')))
			text_printf(t, "&#%d;", c);
		else
			text_char(t, c);
	}
}

/* ---- HTML ---- */

#define MAX_MARKS 3 /* max combining marks of a letter */

void text_html(struct text *t, struct slice s)
{
	unsigned marks = 0;

	for (size_t i = 0, n; i < s.n; i += n) {
		n = char_size(s.p + i, s.n - i);
		marks = n > 1 && utf8_is_mark(utf8_point(s.p + i, n)) ? marks + 1 : 0;
		if (s.p[i] == '<')
			text_str(t, "&lt;");
		else if (s.p[i] == '>')
			text_str(t, "&gt;");
		else if (s.p[i] == '&')
			text_str(t, "&amp;");
		else if (s.p[i] == '"')
			text_str(t, "&quot;");
		else if (marks <= MAX_MARKS)
			text_add(t, s.p + i, n);
	}
}
