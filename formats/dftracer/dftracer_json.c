#include "base/textscan.h"
#include "base/utf8.h"
#include "dftracer/dftracer_record.h"

/*
 * JSON by the letter of RFC 8259, with patience: what tracers are known to get
 * wrong is noted as a fault and read all the same, where it cannot mean
 * anything else.  Nothing here looks outside [p, e).
 */

void
dft_fault_add(struct dft_record *rec, enum dft_rule rule, const char *at)
{
	rec->met++;
	/* a rule once a record: one bad path has many bad bytes */
	for (uint32_t i = 0; i < rec->nfaults && i < DFT_FAULTS; i++)
		if (rec->faults[i].rule == rule)
			return;
	if (rec->nfaults < DFT_FAULTS)
		rec->faults[rec->nfaults++] = (struct dft_fault){ (uint8_t)rule, (uint32_t)(at - rec->p) };
}

const char *
dft_json_fail(struct dft_record *rec, const char *at, const char *why)
{
	rec->fail_at = at;
	rec->why = why;
	rec->cut = false;
	return NULL;
}

const char *
dft_json_cut(struct dft_record *rec, const char *at, const char *why)
{
	dft_json_fail(rec, at, why);
	rec->cut = true;
	return NULL;
}

/* ---- strings ---- */

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

/* The bytes of a valid escape at the backslash, a pair of surrogates as one; 0: none that JSON has. */
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

/* Bytes that are not ASCII, up to the next that is: all of them must be UTF-8. */
static const char *
beyond_ascii(struct dft_record *rec, const char *p, const char *e, enum dft_kind *kind)
{
	const char *q = p;

	while (q < e && (unsigned char)*q >= 0x80)
		q++;
	const size_t good = utf8_valid_prefix(p, (size_t)(q - p));
	if (good < (size_t)(q - p)) {
		dft_fault_add(rec, DFT_RULE_INVALID_UTF8, p + good);
		*kind = DFT_MENDED;
	}
	return q;
}

const char *
dft_json_string(struct dft_record *rec, const char *p, const char *e, enum dft_kind *kind)
{
	const char *const open = p++;

	*kind = DFT_STRING;
	while ((p = textscan_plain_end(p, e)) < e && *p != '"') {
		if ((unsigned char)*p >= 0x80) {
			p = beyond_ascii(rec, p, e, kind);
		} else if (*p != '\\') {
			/* NUL is more than a missing escape: memory or a file system put it there */
			dft_fault_add(rec, *p == '\0' ? DFT_RULE_NUL_BYTES : DFT_RULE_CONTROL_BYTE, p);
			*kind = DFT_MENDED;
			p++;
		} else {
			const uint32_t n = escape_length(p, e);
			if (n > 0) {
				*kind = *kind == DFT_STRING ? DFT_ESCAPED : *kind;
				p += n;
				continue;
			}
			if (e - p >= 2)
				dft_fault_add(rec, DFT_RULE_BAD_ESCAPE, p);
			*kind = DFT_MENDED;
			p++;
		}
	}
	return p < e ? p + 1 : dft_json_cut(rec, open, "a string has no closing quote");
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

/* One escape of n bytes, as dft escape_length() measured it. */
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
dft_json_unescape(struct arena *a, struct slice s)
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

/* ---- numbers and words ---- */

static const char *
digits(const char *p, const char *e)
{
	while (p < e && *p >= '0' && *p <= '9')
		p++;
	return p;
}

const char *
dft_json_number(const char *p, const char *e, enum dft_kind *kind)
{
	const bool minus = p < e && *p == '-';
	const char *const first = p + minus;

	p = digits(first, e);
	if (p == first || (p - first > 1 && *first == '0'))
		return NULL;
	*kind = minus ? DFT_INT : DFT_UINT;
	if (p < e && *p == '.') {
		const char *const fraction = p + 1;
		p = digits(fraction, e);
		if (p == fraction)
			return NULL;
		*kind = DFT_NUMBER;
	}
	if (p < e && (*p == 'e' || *p == 'E')) {
		p++;
		if (p < e && (*p == '+' || *p == '-'))
			p++;
		const char *const exponent = p;
		p = digits(exponent, e);
		if (p == exponent)
			return NULL;
		*kind = DFT_NUMBER;
	}
	return p;
}

static bool
ends_value(const char *p, const char *e)
{
	return p == e || *p == ',' || *p == '}' || *p == ']' || *p == ' ' || *p == '\t' || *p == '\r';
}

static bool
is_word_byte(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' ||
	       c == '-' || c == '.' || c == '_' || c == '#';
}

static bool
is_word(struct slice s, const char *w)
{
	if (s.n != strlen(w))
		return false;
	for (uint32_t i = 0; i < s.n; i++)
		if ((s.p[i] | 0x20) != w[i])
			return false;
	return true;
}

/* As the C and C++ libraries print them. */
static bool
is_not_finite(struct slice s)
{
	if (s.n > 0 && (*s.p == '-' || *s.p == '+'))
		s = slice_of(s.p + 1, s.n - 1);
	return is_word(s, "nan") || is_word(s, "inf") || is_word(s, "infinity");
}

/* A run of letters, digits and signs that is no JSON value. */
static const char *
bare_word(struct dft_record *rec, const char *p, const char *e, enum dft_kind *kind)
{
	const char *q = p;

	while (q < e && is_word_byte(*q))
		q++;
	if (q == p)
		return dft_json_fail(rec, p, "a value must come here");
	if (q == e)
		return dft_json_cut(rec, p, "a value has no end");
	if (!ends_value(q, e))
		return dft_json_fail(rec, q, "a comma or the end must come here");
	const bool known = is_not_finite(slice_of(p, (size_t)(q - p)));
	*kind = known ? DFT_NOT_FINITE : DFT_BARE;
	dft_fault_add(rec, known ? DFT_RULE_NOT_FINITE : DFT_RULE_BAD_VALUE, p);
	return q;
}

static const char *
literal(const char *p, const char *e, const char *word)
{
	const size_t n = strlen(word);

	return (size_t)(e - p) >= n && memcmp(p, word, n) == 0 && ends_value(p + n, e) ? p + n : NULL;
}

const char *
dft_json_scalar(struct dft_record *rec, const char *p, const char *e, enum dft_kind *kind)
{
	const char *q = NULL;

	if (p == e)
		return dft_json_cut(rec, p, "a value is missing");
	if (*p == '"')
		return dft_json_string(rec, p, e, kind);
	if (*p == '-' || (*p >= '0' && *p <= '9'))
		q = dft_json_number(p, e, kind);
	else if ((q = literal(p, e, "true")) != NULL)
		*kind = DFT_TRUE;
	else if ((q = literal(p, e, "false")) != NULL)
		*kind = DFT_FALSE;
	else if ((q = literal(p, e, "null")) != NULL)
		*kind = DFT_NULL;
	if (q == e) /* no object ends in a value */
		return dft_json_cut(rec, p, "a value has no end");
	return q != NULL && ends_value(q, e) ? q : bare_word(rec, p, e, kind);
}

/* ---- values in values ---- */

struct nest {
	uint64_t objects; /* a bit for each level, the innermost lowest: object or array */
	unsigned depth;
};

enum await { AWAIT_VALUE, AWAIT_FIRST_VALUE, AWAIT_KEY, AWAIT_FIRST_KEY, AWAIT_COMMA };

static const char *
key_and_colon(struct dft_record *rec, const char *p, const char *e)
{
	enum dft_kind kind;

	if (*p != '"')
		return dft_json_fail(rec, p, "a name in quotes must come here");
	p = dft_json_string(rec, p, e, &kind);
	if (p == NULL)
		return NULL;
	p = dft_skip_blanks(p, e);
	if (p == e)
		return dft_json_cut(rec, p, "a value is missing");
	return *p == ':' ? p + 1 : dft_json_fail(rec, p, "a colon must come here");
}

/* The closing bracket that fits; a comma right before it is a fault, but a clear one. */
static bool
closes(struct dft_record *rec, const struct nest *n, enum await await, const char *p)
{
	const bool object = (n->objects & 1) != 0;

	if (*p != (object ? '}' : ']') || (object && await == AWAIT_VALUE))
		return false;
	if (await == AWAIT_VALUE || await == AWAIT_KEY)
		dft_fault_add(rec, DFT_RULE_COMMA_IN_OBJECT, p);
	return true;
}

static enum await
open_level(struct nest *n, char c)
{
	n->objects = n->objects << 1 | (c == '{');
	n->depth++;
	return c == '{' ? AWAIT_FIRST_KEY : AWAIT_FIRST_VALUE;
}

const char *
dft_json_nested(struct dft_record *rec, const char *p, const char *e, enum dft_kind *kind)
{
	const uint32_t met = rec->met;
	const enum dft_kind outer = *p == '{' ? DFT_OBJECT : DFT_ARRAY;
	struct nest n = { 0, 0 };
	enum await await = open_level(&n, *p++);

	while (n.depth > 0) {
		p = dft_skip_blanks(p, e);
		if (p == e)
			return dft_json_cut(rec, p, "an object or array has no end");
		if (closes(rec, &n, await, p)) {
			n.objects >>= 1;
			n.depth--;
			await = AWAIT_COMMA;
			p++;
		} else if (await == AWAIT_COMMA) {
			if (*p != ',')
				return dft_json_fail(rec, p, "a comma or the end must come here");
			await = (n.objects & 1) != 0 ? AWAIT_KEY : AWAIT_VALUE;
			p++;
		} else if (await == AWAIT_KEY || await == AWAIT_FIRST_KEY) {
			p = key_and_colon(rec, p, e);
			await = AWAIT_VALUE;
		} else if (*p == '{' || *p == '[') {
			if (n.depth == DFT_MAX_DEPTH)
				return dft_json_fail(rec, p, "values nest more than 60 deep");
			await = open_level(&n, *p++);
		} else {
			p = dft_json_scalar(rec, p, e, kind);
			await = AWAIT_COMMA;
		}
		if (p == NULL)
			return NULL;
	}
	*kind = rec->met > met ? DFT_TANGLED : outer;
	return p;
}
