#include "ovni/ovni_state.h"

/*
 * Strict JSON (RFC 8259), looked at before cJSON builds a tree of it: cJSON takes numbers such as 01,
 * control bytes in strings and text that is not UTF-8.  No recursion; depth is bounded.
 */
struct scan {
	const char *p, *end, *fault;
	uint64_t objects; /* a bit for each open list or object, 1: an object */
	unsigned depth;
};

static bool
fail(struct scan *s, const char *why)
{
	if (s->fault == NULL)
		s->fault = why;
	return false;
}

static void
blanks(struct scan *s)
{
	while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' || *s->p == '\n' || *s->p == '\r'))
		s->p++;
}

static bool
at(const struct scan *s, char c)
{
	return s->p < s->end && *s->p == c;
}

static bool
escape(struct scan *s)
{
	static const char hex[] = "0123456789abcdefABCDEF";

	if (s->p == s->end || strchr("\"\\/bfnrtu", *s->p) == NULL || *s->p == '\0')
		return fail(s, "a wrong escape in a string");
	if (*s->p++ != 'u')
		return true;
	for (int i = 0; i < 4; i++, s->p++)
		if (s->p == s->end || *s->p == '\0' || strchr(hex, *s->p) == NULL)
			return fail(s, "a wrong escape in a string");
	return true;
}

static bool
string(struct scan *s)
{
	const char *const start = s->p;

	if (!at(s, '"'))
		return fail(s, "a string is missing");
	for (s->p++; s->p < s->end && *s->p != '"';) {
		if ((unsigned char)*s->p < 0x20)
			return fail(s, "a control byte in a string");
		if (*s->p++ == '\\' && !escape(s))
			return false;
	}
	if (s->p == s->end)
		return fail(s, "a string without its end");
	if ((textscan_slice(start, (uint32_t)(s->p - start)).flags & SLICE_UTF8) == 0) {
		s->p = start;
		return fail(s, "a string that is not UTF-8");
	}
	s->p++;
	return true;
}

static bool
digits(struct scan *s)
{
	const char *const start = s->p;

	while (s->p < s->end && *s->p >= '0' && *s->p <= '9')
		s->p++;
	return s->p > start || fail(s, "a digit is missing");
}

static bool
number(struct scan *s)
{
	s->p += at(s, '-');
	if (at(s, '0') && s->end - s->p > 1 && s->p[1] >= '0' && s->p[1] <= '9')
		return fail(s, "a number that starts with 0");
	if (!digits(s))
		return false;
	if (at(s, '.')) {
		s->p++;
		if (!digits(s))
			return false;
	}
	if (at(s, 'e') || at(s, 'E')) {
		s->p++;
		s->p += at(s, '+') || at(s, '-');
		return digits(s);
	}
	return true;
}

static bool
word(struct scan *s, const char *w)
{
	const size_t n = strlen(w);

	if ((size_t)(s->end - s->p) < n || memcmp(s->p, w, n) != 0)
		return fail(s, "a value is missing");
	s->p += n;
	return true;
}

static bool
key(struct scan *s)
{
	blanks(s);
	if (!string(s))
		return false;
	blanks(s);
	if (!at(s, ':'))
		return fail(s, "a colon is missing");
	s->p++;
	return true;
}

static bool
scalar(struct scan *s)
{
	if (s->p == s->end)
		return fail(s, "the text ends early");
	switch (*s->p) {
	case '"':
		return string(s);
	case 't':
		return word(s, "true");
	case 'f':
		return word(s, "false");
	case 'n':
		return word(s, "null");
	default:
		return number(s);
	}
}

/* Into a list or object; *empty: and out again. */
static bool
open_nested(struct scan *s, bool *empty)
{
	const bool object = *s->p++ == '{';

	if (s->depth == OVNI_MAX_DEPTH)
		return fail(s, "lists and objects nest too deep");
	blanks(s);
	*empty = at(s, object ? '}' : ']');
	if (*empty) {
		s->p++;
		return true;
	}
	s->objects = s->objects << 1 | object;
	s->depth++;
	return !object || key(s);
}

/* Behind a value: closes what ends here; true with *more when another value follows. */
static bool
after_value(struct scan *s, bool *more)
{
	*more = false;
	while (s->depth > 0) {
		const bool object = (s->objects & 1) != 0;
		blanks(s);
		if (at(s, ',')) {
			s->p++;
			*more = true;
			return !object || key(s);
		}
		if (!at(s, object ? '}' : ']'))
			return fail(s,
			            s->p == s->end ? "the text ends early" : "a comma or an end is missing");
		s->p++;
		s->objects >>= 1;
		s->depth--;
	}
	return true;
}

const char *
ovni_json_fault(const char *p, size_t n, size_t *where)
{
	struct scan s = { .p = p, .end = p + n };
	bool more = true;

	if (n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
		fail(&s, "a byte order mark");
	while (s.fault == NULL && more) {
		bool empty = true;
		blanks(&s);
		const bool nested = at(&s, '{') || at(&s, '[');
		if (nested ? !open_nested(&s, &empty) : !scalar(&s))
			break;
		if (nested && !empty)
			continue;
		if (!after_value(&s, &more))
			break;
	}
	blanks(&s);
	if (s.fault == NULL && s.p < s.end)
		fail(&s, "text behind the end of the JSON value");
	*where = (size_t)(s.p - p);
	return s.fault;
}
