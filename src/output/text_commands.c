#include "output/text_commands.h"

#include "base/utf8.h"

bool
text_is_command(const char *p, const char *end)
{
	if (end - p < 3 || p[0] != '#' || p[1] != '#')
		return false;
	return p[2] == '[' || (p[2] >= 'a' && p[2] <= 'z') || (p[2] >= 'A' && p[2] <= 'Z');
}

/* ---- the start of a line ---- */

/* The bytes of a blank; 0: it is none.  Runners trim all that Unicode calls white space. */
static size_t
blank_size(const char *p, const char *end)
{
	const unsigned char c = (unsigned char)*p;
	const size_t size = c < 0xe0 ? 2 : 3;

	if (c == ' ' || (c >= '\t' && c <= '\r' && c != '\n'))
		return 1;
	if (c < 0xc2 || c > 0xef || (size_t)(end - p) < size || !utf8_valid(p, size))
		return 0;
	const uint32_t point = utf8_point(p, size);
	const bool blank = point == 0x85 || point == 0xa0 || point == 0x1680 ||
	                   (point >= 0x2000 && point <= 0x200a) || point == 0x2028 || point == 0x2029 ||
	                   point == 0x202f || point == 0x205f || point == 0x3000 || point == 0xfeff;
	return blank ? size : 0;
}

static const char *
skip_blanks(const char *p, const char *end)
{
	for (size_t n; p < end && (n = blank_size(p, end)) > 0; p += n)
		;
	return p;
}

/* Which character of a line that begins here is to be escaped; NULL: none. */
static const char *
line_command(const char *p, const char *end)
{
	const char *const begin = skip_blanks(p, end);

	if (end - begin >= 2 && begin[0] == ':' && begin[1] == ':')
		return begin + 1;
	if (end - p >= 4 && (*p == '-' || *p == '+' || *p == '~' || *p == '^') && p[1] == *p && p[2] == *p &&
	    p[3] == ' ')
		return p;
	return NULL;
}

/* ---- all of it ---- */

/* What is to be looked at still; each byte is looked at once. */
struct scan {
	const char *p, *end;
	const char *hash; /* the next command anywhere; NULL: none is left */
	const char *line; /* the next line to be looked at; NULL: none is left */
};

static const char *
find_hash(const char *p, const char *end)
{
	while ((p = memchr(p, '#', (size_t)(end - p))) != NULL && !text_is_command(p, end))
		p++;
	return p;
}

static const char *
next_line(const char *p, const char *end)
{
	const char *const newline = memchr(p, '\n', (size_t)(end - p));

	return newline != NULL ? newline + 1 : NULL;
}

static struct scan
scan_start(const char *p, size_t n, unsigned flags)
{
	struct scan s = { .p = p, .end = p + n, .hash = find_hash(p, p + n), .line = p };

	if ((flags & TEXT_OWN_COMMANDS) != 0)
		s.line = NULL;
	else if ((flags & TEXT_MID_LINE) != 0)
		s.line = next_line(p, s.end);
	return s;
}

/* The next byte that is to be escaped; end: none. */
static const char *
scan_next(struct scan *s)
{
	const char *at;

	while (s->line != NULL && (s->hash == NULL || s->line <= s->hash + 1)) {
		at = line_command(s->line, s->end);
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

bool
text_has_commands(const char *p, size_t n, unsigned flags)
{
	struct scan s;

	if (n == 0)
		return false;
	s = scan_start(p, n, flags);
	return scan_next(&s) < s.end;
}

void
text_add_guarded(struct text *t, const char *p, size_t n, unsigned flags)
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

unsigned
text_line_state(const char *p, size_t n, unsigned flags)
{
	size_t begin = n;

	while (begin > 0 && p[begin - 1] != '\n')
		begin--;
	if (begin == 0 && (flags & TEXT_MID_LINE) != 0)
		return TEXT_MID_LINE;
	return n > 0 && skip_blanks(p + begin, p + n) < p + n ? TEXT_MID_LINE : 0;
}
