/* Strings and their escapes: read, compared, unescaped.  Plain bytes are skipped with base/scan.h. */
#include "json/token.h"

#include "base/cursor.h"
#include "base/numbers.h"
#include "base/scan.h"

#define LANES UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

/* Returns 0x80 in each byte of w (all ASCII) that is at least c; other bits are arbitrary. */
static inline uint64_t at_least(uint64_t w, char c)
{
	return w + LANES * (uint64_t)(0x80 - c);
}

/* Reads eight hexadecimal digits at once: the hashes of some formats have 16 in each record. */
static inline bool eight_hex_digits(uint64_t w, uint64_t *v)
{
	const uint64_t small = w | LANES * 0x20;
	const uint64_t digit = at_least(w, '0') & ~at_least(w, '9' + 1),
	               letter = at_least(small, 'a') & ~at_least(small, 'f' + 1);

	if ((w & HIGHS) != 0 || ((digit | letter) & HIGHS) != HIGHS)
		return false;
	w = (w & LANES * 0x0f) + (w >> 6 & LANES) * 9;
	w = (w << 4 | w >> 8) & UINT64_C(0x00ff00ff00ff00ff);
	w = (w << 8 | w >> 16) & UINT64_C(0x0000ffff0000ffff);
	*v = (w << 16 | w >> 32) & UINT64_C(0xffffffff);
	return true;
}

bool json_hex(struct slice s, uint64_t *v)
{
	uint64_t eight;
	uint32_t i = 0;

	*v = 0;
	for (; s.n <= 16 && s.n - i >= 8; i += 8) {
		if (!eight_hex_digits(load_u64(s.p + i, false), &eight))
			return false;
		*v = *v << 32 | eight;
	}
	for (; s.n <= 16 && i < s.n; i++) {
		const char c = s.p[i];
		const int d = hex_digit(c >= 'A' && c <= 'F' ? (char)(c | 0x20) : c);
		if (d < 0)
			return false;
		*v = *v << 4 | (uint64_t)d;
	}
	return s.n > 0 && s.n <= 16;
}

/* Returns the value of four hexadecimal digits; -1: not four digits. */
static int32_t hex4(const char *p, const char *e)
{
	uint64_t v;

	return e - p >= 4 && json_hex(slice_of(p, 4), &v) ? (int32_t)v : -1;
}

uint32_t json_escape_length(const char *p, const char *e)
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

bool json_is_surrogate(const char *p, const char *e)
{
	const int32_t v = e - p >= 6 && p[1] == 'u' ? hex4(p + 2, e) : -1;

	return v >= 0xd800 && v <= 0xdfff;
}

char json_spare(const char *p, const char *e)
{
	uint64_t c;

	if (e - p < 6 || p[1] != 'u' || p[2] != '0' || p[3] != '0' || !json_hex(slice_of(p + 4, 2), &c))
		return '\0';
	return c >= 0x20 && c < 0x7f && strchr("\"\\/<>&'+`", (int)c) == NULL ? (char)c : '\0';
}

char *json_put_plain(char *to, const char *p, const char *e)
{
	while (p < e) {
		const char c = *p == '\\' ? json_spare(p, e) : '\0';
		const uint32_t n = *p == '\\' && c == '\0' ? json_escape_length(p, e) : 0;
		if (c != '\0') {
			*to++ = c;
			p += 6;
			continue;
		}
		*to++ = *p++;
		for (uint32_t i = 1; i < n; i++)
			*to++ = *p++;
	}
	return to;
}

/* Lists a flaw inside a string; with strict reading, sets an error and returns false.  Without a closing
 * quote after the flaw, error.cut is set: the text may end inside a character or escape. */
static bool flawed(struct json *x, enum json_flaw flaw, const char *at, const char *e, const char *why)
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

/* Skips bytes that are not ASCII, which must be UTF-8.  Returns NULL after an error. */
static const char *skip_utf8(struct json *x, const char *p, const char *e, enum json_kind *kind)
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

static bool is_letter(char c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* Whether the escape at p, after a colon, looks like the start of a path: C:\new.  The quote of the text is
 * before p, so p[-2] exists, and p[-3] if p[-2] is a letter. */
static bool is_path(const char *p, const char *e)
{
	return e - p >= 3 && strchr("bfnrt", p[1]) != NULL && is_letter(p[2]) && is_letter(p[-2]) &&
	       !is_letter(p[-3]);
}

/* Skips the escape at p, or an invalid backslash.  Returns NULL after an error. */
static const char *skip_escape(struct json *x, const char *p, const char *e, enum json_kind *kind)
{
	const uint32_t n = json_escape_length(p, e);

	if (n > 0) {
		if (p[-1] == ':' && n == 2 && is_path(p, e))
			x->suspect = p;
		if (n == 6 && json_spare(p, e) != '\0')
			x->spare = p;
		*kind = *kind == JSON_STRING ? JSON_ESCAPED : *kind;
		return p + n;
	}
	*kind = JSON_BAD_STRING;
	if (e - p >= 2 && !flawed(x, JSON_FLAW_ESCAPE, p, e, "invalid escape in a string"))
		return NULL;
	return p + 1;
}

const char *json_string(struct json *x, const char *p, const char *e, enum json_kind *kind)
{
	const char *const open = p++;

	*kind = JSON_STRING;
	while (p != NULL && (p = textscan_plain_end(p, e)) < e && *p != '"') {
		if ((unsigned char)*p >= 0x80) {
			p = skip_utf8(x, p, e, kind);
		} else if (*p == '\\') {
			p = skip_escape(x, p, e, kind);
		} else if (*p == 0x7f) {
			p++; /* JSON allows it */
		} else {
			/* A NUL is more than a missing escape: its origin is memory or a file system. */
			const enum json_flaw flaw = *p == '\0' ? JSON_FLAW_NUL : JSON_FLAW_CONTROL_BYTE;
			*kind = JSON_BAD_STRING;
			p = flawed(x, flaw, p, e, "control byte in a string") ? p + 1 : NULL;
		}
	}
	if (p == NULL)
		return NULL;
	return p < e ? p + 1 : json_cut(x, open, "unterminated string");
}

char *json_put_utf8(char *to, uint32_t c)
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

/* Writes the character of an escape.  n: its length, from json_escape_length(). */
static char *put_escape(char *to, const char *p, uint32_t n)
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
	return json_put_utf8(to, c);
}

bool json_token_is(const struct json_token *t, const char *text)
{
	const struct slice s = json_token_text(t);
	char bytes[4];

	if (t->kind != JSON_ESCAPED)
		return slice_is(s, text);
	for (const char *p = s.p, *const e = s.p + s.n; p < e;) {
		const uint32_t n = *p == '\\' ? json_escape_length(p, e) : 0;
		const size_t m = n > 0 ? (size_t)(put_escape(bytes, p, n) - bytes) : 1;
		if (strnlen(text, m) < m || memcmp(text, n > 0 ? bytes : p, m) != 0)
			return false;
		text += m;
		p += n > 0 ? n : 1;
	}
	return *text == '\0';
}

char *json_put_unescaped(char *to, struct slice s)
{
	const char *const e = s.p + s.n;

	for (const char *p = s.p; p < e;) {
		const uint32_t n = *p == '\\' ? json_escape_length(p, e) : 0;
		if (n > 0) {
			to = put_escape(to, p, n);
			p += n;
		} else {
			*to++ = *p++;
		}
	}
	return to;
}

struct slice json_unescape(struct arena *a, struct slice s)
{
	char *const start = arena_alloc(a, s.n);

	return start == NULL ? SLICE_NONE
	                     : textscan_slice(start, (uint32_t)(json_put_unescaped(start, s) - start));
}
