#include "ndjson/test/oracle.h"

#include <stdlib.h>

struct parser {
	struct arena *a;
	const char *p, *end;
	const char *fault;
};

static void *get(struct arena *a, size_t count, size_t size)
{
	void *const p = arena_zalloc(a, count, size);

	if (p == NULL)
		abort();
	return p;
}

static void fail(struct parser *s, const char *fault)
{
	if (s->fault == NULL)
		s->fault = fault;
	s->p = s->end;
}

static bool take(struct parser *s, char c)
{
	if (s->p == s->end || *s->p != c)
		return false;
	s->p++;
	return true;
}

/* ---- text ---- */

/* Four hexadecimal digits. */
static uint32_t unit(struct parser *s)
{
	char digits[5] = "";

	if (s->end - s->p < 4) {
		fail(s, "an escape that is cut off");
		return 0;
	}
	memcpy(digits, s->p, 4);
	s->p += 4;
	return (uint32_t)strtoul(digits, NULL, 16);
}

/* Writes the character of an escape, at most four bytes; s->p is after the backslash. */
static uint32_t escape(struct parser *s, char *to)
{
	static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
	const char c = *s->p++;
	const char *const at = c != '\0' ? strchr(letters, c) : NULL;
	uint32_t n = 0;

	if (at != NULL) {
		to[0] = meanings[at - letters];
		return 1;
	}
	if (c != 'u')
		fail(s, "an escape that JSON does not have");
	uint32_t v = unit(s);
	if (v >= 0xd800 && v < 0xdc00) {
		s->p += s->end - s->p >= 2 ? 2 : 0; /* \u */
		v = 0x10000 + ((v - 0xd800) << 10) + (unit(s) - 0xdc00);
	}
	if (v < 0x80) {
		to[n++] = (char)v;
		return n;
	}
	if (v >= 0x10000)
		to[n++] = (char)(0xf0 | v >> 18);
	if (v >= 0x800)
		to[n++] = (char)(v >= 0x10000 ? 0x80 | (v >> 12 & 0x3f) : 0xe0 | v >> 12);
	to[n++] = (char)(v >= 0x800 ? 0x80 | (v >> 6 & 0x3f) : 0xc0 | v >> 6);
	to[n++] = (char)(0x80 | (v & 0x3f));
	return n;
}

/* Returns an upper bound of the end of the text that starts at p. */
static const char *text_end(const char *p, const char *end)
{
	for (; p < end && *p != '"'; p++)
		p += *p == '\\' && end - p > 1;
	return p;
}

static struct slice text(struct parser *s)
{
	if (!take(s, '"')) {
		fail(s, "no text");
		return slice_of("", 0);
	}
	char *const to = get(s->a, (size_t)(text_end(s->p, s->end) - s->p) + 1, 1);
	uint32_t n = 0;
	while (s->p < s->end && *s->p != '"') {
		const char c = *s->p++;
		if ((unsigned char)c < 0x20)
			fail(s, "a control character");
		if (c == '\\' && s->p < s->end)
			n += escape(s, to + n);
		else
			to[n++] = c;
	}
	if (!take(s, '"'))
		fail(s, "text without its end");
	return slice_of(to, n);
}

/* ---- values ---- */

static void value(struct parser *s, struct oracle_json *to);

/* Occur in values of type json only. */
static void blanks(struct parser *s)
{
	while (s->p < s->end && (*s->p == ' ' || *s->p == '\t'))
		s->p++;
}

static void add(struct parser *s, struct oracle_json *to, uint32_t *cap)
{
	if (to->n == *cap) {
		const uint32_t more = *cap * 2 + 4;
		struct oracle_json *const items = get(s->a, more, sizeof *items);
		struct slice *const names = get(s->a, more, sizeof *names);
		if (to->n > 0) {
			memcpy(items, to->items, to->n * sizeof *items);
			memcpy(names, to->names, to->n * sizeof *names);
		}
		to->items = items;
		to->names = names;
		*cap = more;
	}
	to->n++;
}

/* s->p: after the bracket or brace. */
static void members(struct parser *s, struct oracle_json *to, char close)
{
	uint32_t cap = 0;

	blanks(s);
	if (take(s, close))
		return;
	do {
		add(s, to, &cap);
		if (close == '}') {
			blanks(s);
			to->names[to->n - 1] = text(s);
			blanks(s);
			if (!take(s, ':'))
				fail(s, "no colon");
		}
		value(s, &to->items[to->n - 1]);
	} while (take(s, ','));
	if (!take(s, close))
		fail(s, "a list or an object without its end");
}

static void word(struct parser *s, struct oracle_json *to)
{
	static const char number[] = "+-.0123456789eE";
	const size_t left = (size_t)(s->end - s->p);

	to->truth = left >= 4 && memcmp(s->p, "true", 4) == 0;
	to->form = ORACLE_BOOL;
	if (to->truth) {
		s->p += 4;
	} else if (left >= 5 && memcmp(s->p, "false", 5) == 0) {
		s->p += 5;
	} else if (left >= 4 && memcmp(s->p, "null", 4) == 0) {
		to->form = ORACLE_NULL;
		s->p += 4;
	} else {
		const char *const start = s->p;
		to->form = ORACLE_NUMBER;
		while (s->p < s->end && *s->p != '\0' && strchr(number, *s->p) != NULL)
			s->p++;
		if (s->p == start)
			fail(s, "no value");
	}
}

static void value(struct parser *s, struct oracle_json *to)
{
	blanks(s);
	const char *const start = s->p;

	if (s->p < s->end && *s->p == '"') {
		to->form = ORACLE_TEXT;
		to->text = text(s);
	} else if (take(s, '[')) {
		to->form = ORACLE_ARRAY;
		members(s, to, ']');
	} else if (take(s, '{')) {
		to->form = ORACLE_OBJECT;
		members(s, to, '}');
	} else {
		word(s, to);
	}
	to->raw = slice_of(start, (size_t)(s->p - start));
	blanks(s);
}

const char *oracle_parse(struct arena *a, struct slice line, struct oracle_json *to)
{
	struct parser s = { a, line.p, line.p + line.n, NULL };

	*to = (struct oracle_json){ .form = ORACLE_NULL };
	value(&s, to);
	if (s.p != s.end)
		fail(&s, "something behind the end");
	return s.fault;
}

/* ---- members ---- */

const struct oracle_json *oracle_member(const struct oracle_json *o, const char *name)
{
	for (uint32_t i = 0; i < o->n && o->form == ORACLE_OBJECT; i++)
		if (slice_is(o->names[i], name))
			return &o->items[i];
	return NULL;
}

/* Replaces \xHH and \\ by bytes. */
struct slice oracle_unescape(struct arena *a, struct slice s)
{
	static const char digits[] = "0123456789abcdef";
	char *const to = get(a, (size_t)s.n + 1, 1);
	uint32_t n = 0;

	for (uint32_t i = 0; i < s.n; n++) {
		if (s.p[i] != '\\') {
			to[n] = s.p[i++];
		} else if (i + 1 < s.n && s.p[i + 1] == '\\') {
			to[n] = '\\';
			i += 2;
		} else if (i + 3 < s.n && s.p[i + 1] == 'x') {
			const char *const high = strchr(digits, s.p[i + 2]);
			const char *const low = strchr(digits, s.p[i + 3]);
			if (high == NULL || low == NULL)
				abort();
			to[n] = (char)((high - digits) << 4 | (low - digits));
			i += 4;
		} else {
			abort();
		}
	}
	return slice_of(to, n);
}

struct slice oracle_text(struct arena *a, const struct oracle_json *o, const char *name)
{
	const struct oracle_json *const v = oracle_member(o, name), *const escaped =
	                                                                oracle_member(o, "escaped");

	if (v == NULL || v->form != ORACLE_TEXT)
		return slice_of(NULL, 0);
	for (uint32_t i = 0; escaped != NULL && i < escaped->n; i++)
		if (slice_is(escaped->items[i].text, name))
			return oracle_unescape(a, v->text);
	return v->text;
}

uint64_t oracle_integer(const struct oracle_json *o, const char *name, uint64_t absent)
{
	const struct oracle_json *const v = oracle_member(o, name);

	if (v == NULL || v->form != ORACLE_NUMBER)
		return absent;
	return v->raw.p[0] == '-' ? (uint64_t)strtoll(v->raw.p, NULL, 10) : strtoull(v->raw.p, NULL, 10);
}
