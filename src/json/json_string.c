#include "base/textscan.h"
#include "base/utf8.h"
#include "json/json_token.h"

/* Strings: where they end, and what they say. */

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The number of four hexadecimal digits; -1: they are not there. */
static int32_t
hex4(const char *p, const char *e)
{
	int32_t v = 0;

	if (e - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		const int d = hex_digit(p[i]);
		if (d < 0)
			return -1;
		v = v << 4 | d;
	}
	return v;
}

/* The bytes of a valid escape at the backslash, a pair of surrogates as one; 0: there is none. */
static uint32_t
escape_length(const char *p, const char *e)
{
	if (e - p < 2)
		return 0;
	if (p[1] != 'u')
		return p[1] != '\0' && strchr("\"\\/bfnrt", p[1]) != NULL ? 2 : 0;
	const int32_t first = hex4(p + 2, e);
	if (first < 0 || (first >= 0xdc00 && first <= 0xdfff))
		return 0;
	if (first < 0xd800 || first > 0xdbff)
		return 6;
	if (e - p < 12 || p[6] != '\\' || p[7] != 'u')
		return 0;
	const int32_t second = hex4(p + 8, e);
	return second >= 0xdc00 && second <= 0xdfff ? 12 : 0;
}

/* Notes a flaw inside a string; false: it is an error.  Without a closing quote behind it the text may be cut
 * inside a character or escape, which then is no flaw. */
static bool
flawed(struct json *x, enum json_flaw flaw, const char *at, const char *e, const char *why)
{
	if (x->lenient) {
		json_flaw_add(x, flaw, at);
		return true;
	}
	if (memchr(at + 1, '"', (size_t)(e - at) - 1) == NULL)
		json_cut(x, at, why);
	else
		json_fail(x, at, why);
	return false;
}

/* Bytes that are not ASCII, up to the next that is: all of them must be UTF-8.  NULL: an error. */
static const char *
beyond_ascii(struct json *x, const char *p, const char *e, enum json_kind *kind)
{
	const char *q = p;

	while (q < e && (unsigned char)*q >= 0x80)
		q++;
	const size_t good = utf8_valid_prefix(p, (size_t)(q - p));
	if (good == (size_t)(q - p))
		return q;
	*kind = JSON_BAD_STRING;
	return flawed(x, JSON_FLAW_UTF8, p + good, e, "string is not UTF-8") ? q : NULL;
}

/* Behind the backslash or the escape at p; NULL: an error. */
static const char *
escape(struct json *x, const char *p, const char *e, enum json_kind *kind)
{
	const uint32_t n = escape_length(p, e);

	if (n > 0) {
		*kind = *kind == JSON_STRING ? JSON_ESCAPED : *kind;
		return p + n;
	}
	*kind = JSON_BAD_STRING;
	if (e - p >= 2 && !flawed(x, JSON_FLAW_ESCAPE, p, e, "invalid escape in a string"))
		return NULL;
	return p + 1;
}

const char *
json_string(struct json *x, const char *p, const char *e, enum json_kind *kind)
{
	const char *const open = p++;

	*kind = JSON_STRING;
	while (p != NULL && (p = textscan_plain_end(p, e)) < e && *p != '"') {
		if ((unsigned char)*p >= 0x80) {
			p = beyond_ascii(x, p, e, kind);
		} else if (*p == '\\') {
			p = escape(x, p, e, kind);
		} else if (*p == 0x7f) {
			p++; /* JSON allows it */
		} else {
			/* NUL is more than a missing escape: memory or a file system put it there */
			const enum json_flaw flaw = *p == '\0' ? JSON_FLAW_NUL : JSON_FLAW_CONTROL_BYTE;
			*kind = JSON_BAD_STRING;
			p = flawed(x, flaw, p, e, "control byte in a string") ? p + 1 : NULL;
		}
	}
	if (p == NULL)
		return NULL;
	return p < e ? p + 1 : json_cut(x, open, "unterminated string");
}

/* ---- escapes resolved ---- */

static char *
put_utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		*to++ = (char)c;
	} else if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
		*to++ = (char)(0x80 | (c & 63));
	} else if (c < 0x10000) {
		*to++ = (char)(0xe0 | c >> 12);
		*to++ = (char)(0x80 | (c >> 6 & 63));
		*to++ = (char)(0x80 | (c & 63));
	} else {
		*to++ = (char)(0xf0 | c >> 18);
		*to++ = (char)(0x80 | (c >> 12 & 63));
		*to++ = (char)(0x80 | (c >> 6 & 63));
		*to++ = (char)(0x80 | (c & 63));
	}
	return to;
}

/* One escape of n bytes, as escape_length() measured it. */
static char *
put_escape(char *to, const char *p, uint32_t n)
{
	static const char names[] = "bfnrt", bytes[] = "\b\f\n\r\t";
	uint32_t c;

	if (n == 2) {
		const char *const at = strchr(names, p[1]);
		*to++ = at != NULL ? bytes[at - names] : p[1];
		return to;
	}
	c = (uint32_t)hex4(p + 2, p + 6);
	if (n == 12)
		c = 0x10000 + ((c - 0xd800) << 10) + ((uint32_t)hex4(p + 8, p + 12) - 0xdc00);
	return put_utf8(to, c);
}

struct slice
json_unescape(struct arena *a, struct slice s)
{
	char *const start = arena_alloc(a, s.n), *to = start;
	const char *const e = s.p + s.n;

	if (start == NULL)
		return (struct slice){ NULL, 0, 0 };
	for (const char *p = s.p; p < e;) {
		const uint32_t n = *p == '\\' ? escape_length(p, e) : 0;
		if (n > 0) {
			to = put_escape(to, p, n);
			p += n;
		} else {
			*to++ = *p++;
		}
	}
	return textscan_slice(start, (uint32_t)(to - start));
}
