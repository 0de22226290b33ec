#include "test/fuzz/strict_json.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct json {
	const char *p, *end;
	const char *fault; /* the first; p is its position */
};

static bool fail(struct json *j, const char *fault)
{
	if (j->fault == NULL)
		j->fault = fault;
	return false;
}

static bool next_is(const struct json *j, char c)
{
	return j->p < j->end && *j->p == c;
}

static bool accept(struct json *j, char c)
{
	if (!next_is(j, c))
		return false;
	j->p++;
	return true;
}

static void skip_blanks(struct json *j)
{
	while (next_is(j, ' ') || next_is(j, '\t') || next_is(j, '\n') || next_is(j, '\r'))
		j->p++;
}

size_t strict_utf8_length(const char *p, const char *end)
{
	static const uint32_t min[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char c = p < end ? (unsigned char)*p : 0xff;
	const size_t n = c < 0x80             ? 1
	                 : (c & 0xe0) == 0xc0 ? 2
	                 : (c & 0xf0) == 0xe0 ? 3
	                 : (c & 0xf8) == 0xf0 ? 4
	                                      : 0;
	uint32_t code = n > 1 ? c & (0x7fU >> n) : c;

	if (n == 0 || n > (size_t)(end - p))
		return 0;
	for (size_t i = 1; i < n; i++) {
		if (((unsigned char)p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | ((unsigned char)p[i] & 0x3f);
	}
	return code < min[n] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? 0 : n;
}

/* Parses the four hexadecimal digits of an escape.  Returns -1 for others. */
static int32_t hex4(struct json *j)
{
	int32_t v = 0;

	for (int i = 0; i < 4; i++, j->p++) {
		const char c = j->p < j->end ? *j->p : '?';
		const int digit = c >= '0' && c <= '9'   ? c - '0'
		                  : c >= 'a' && c <= 'f' ? c - 'a' + 10
		                  : c >= 'A' && c <= 'F' ? c - 'A' + 10
		                                         : -1;
		if (digit < 0)
			return -1;
		v = v << 4 | digit;
	}
	return v;
}

/* After the backslash. */
static bool escape(struct json *j)
{
	if (j->p < j->end && *j->p != '\0' && strchr("\"\\/bfnrt", *j->p) != NULL) {
		j->p++;
		return true;
	}
	if (!accept(j, 'u'))
		return fail(j, "an escape that JSON does not have");
	const int32_t first = hex4(j);
	if (first < 0)
		return fail(j, "an escape without its four digits");
	if (first < 0xd800 || first > 0xdfff)
		return true;
	if (first > 0xdbff || !accept(j, '\\') || !accept(j, 'u'))
		return fail(j, "half of a surrogate pair");
	const int32_t second = hex4(j);
	return (second >= 0xdc00 && second <= 0xdfff) || fail(j, "half of a surrogate pair");
}

static bool string(struct json *j)
{
	if (!accept(j, '"'))
		return fail(j, "no string where one must be");
	while (!accept(j, '"')) {
		const size_t n = strict_utf8_length(j->p, j->end);
		if (j->p == j->end)
			return fail(j, "a string without its end");
		if (n == 0)
			return fail(j, "a string that is not UTF-8");
		if ((unsigned char)*j->p < 0x20)
			return fail(j, "a control byte in a string");
		if (accept(j, '\\')) {
			if (!escape(j))
				return false;
		} else {
			j->p += n;
		}
	}
	return true;
}

const char *strict_json_string_end(const char *p, const char *end)
{
	struct json j = { .p = p, .end = end };

	return string(&j) ? j.p : NULL;
}

static bool digits(struct json *j)
{
	const char *const start = j->p;

	while (j->p < j->end && *j->p >= '0' && *j->p <= '9')
		j->p++;
	return j->p > start || fail(j, "no digit where one must be");
}

static bool number(struct json *j)
{
	accept(j, '-');
	if (!accept(j, '0') && !digits(j))
		return false;
	if (accept(j, '.') && !digits(j))
		return false;
	if (accept(j, 'e') || accept(j, 'E')) {
		if (!accept(j, '+'))
			accept(j, '-');
		return digits(j);
	}
	return true;
}

static bool literal(struct json *j, const char *w)
{
	const size_t n = strlen(w);

	if ((size_t)(j->end - j->p) < n || memcmp(j->p, w, n) != 0)
		return fail(j, "no value where one must be");
	j->p += n;
	return true;
}

static bool value(struct json *j, int depth);

/* After the opening bracket or brace. */
static bool members(struct json *j, bool named, int depth)
{
	const char close = named ? '}' : ']';

	skip_blanks(j);
	if (accept(j, close))
		return true;
	do {
		skip_blanks(j);
		if (named) {
			if (!string(j))
				return false;
			skip_blanks(j);
			if (!accept(j, ':'))
				return fail(j, "no colon behind a name");
		}
		if (!value(j, depth))
			return false;
	} while (accept(j, ','));
	return accept(j, close) || fail(j, "neither a comma nor the end of a list");
}

static bool value(struct json *j, int depth)
{
	bool ok;

	if (depth >= STRICT_JSON_DEPTH)
		return fail(j, "values nest too deep");
	skip_blanks(j);
	if (next_is(j, '"'))
		ok = string(j);
	else if (accept(j, '{'))
		ok = members(j, true, depth + 1);
	else if (accept(j, '['))
		ok = members(j, false, depth + 1);
	else if (next_is(j, 't') || next_is(j, 'f') || next_is(j, 'n'))
		ok = literal(j, *j->p == 't' ? "true" : *j->p == 'f' ? "false" : "null");
	else
		ok = number(j);
	skip_blanks(j);
	return ok;
}

const char *strict_json_fault(const char *p, size_t n, size_t *at)
{
	struct json j = { .p = p, .end = p + n };

	if (value(&j, 0) && j.p != j.end)
		fail(&j, "something behind the end");
	*at = (size_t)(j.p - p);
	return j.fault;
}
