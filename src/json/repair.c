/* The repair of one object: a parser that always continues.  It writes recognised items with the brackets,
 * commas and quotes that strict JSON needs, and skips all other bytes.  Commas are written before items, so
 * missing and surplus commas need no special code.
 *
 * A quote ends a text only if the next bytes can follow a value: a comma and a key, or closing brackets that
 * match the open ones and bytes that can follow these. */
#include "json/repair.h"

#include <stdio.h>

#include "base/compiler.h"
#include "base/match.h"
#include "base/scan.h"

#define MAX_KEY 100       /* max bytes of a key that is expected after a quote */
#define MAX_LONG_KEY 1000 /* of a key in quotes */

/* ---- faults and places ---- */

static void add_fault(struct json_repair *x, enum json_fault kind, const char *at)
{
	for (uint32_t i = 0; i < x->nfaults; i++)
		if (x->faults[i].kind == kind)
			return;
	x->faults[x->nfaults].at = at;
	x->faults[x->nfaults++].kind = (uint8_t)kind;
}

static void add_place(struct json_repair *x, const char *at)
{
	if (x->nplaces == JSON_REPAIR_PLACES)
		return;
	x->places[x->nplaces].at = at;
	x->places[x->nplaces++].to = x->text.n;
}

const char *json_repair_origin(const struct json_repair *x, const char *at)
{
	const size_t to = (size_t)(at - x->text.p);
	uint32_t i = x->nplaces;

	while (i > 1 && x->places[i - 1].to > to)
		i--;
	return i > 0 ? x->places[i - 1].at : x->from;
}

/* ---- the next bytes ---- */

static bool at_end(struct json_repair *x, const char *p, const char *e)
{
	if (p < e)
		return false;
	x->more |= !x->complete;
	return true;
}

static bool starts_record(struct json_repair *x, const char *p, const char *e)
{
	return x->records->starts(x->records->ctx, x->from, p, e, &x->more);
}

static bool is_key_byte(char c)
{
	return (unsigned char)c >= 0x20 && c != '"' && c != '\\' && c != '{' && c != '}' && c != ':' &&
	       c != ',';
}

/* Matches a key in quotes and its colon.  *key: its text. */
static bool key_follows(struct json_repair *x, const char *p, const char *e, struct slice *key)
{
	const char *const limit = e - p > MAX_KEY ? p + MAX_KEY : e, *const name = ++p;

	while (p < limit && is_key_byte(*p))
		p++;
	if (at_end(x, p, e) || *p != '"')
		return false;
	*key = slice_of(name, (size_t)(p - name));
	p = json_skip_blanks(p + 1, e);
	return !at_end(x, p, e) && *p == ':';
}

/* Matches `name:`, `name":`, `'name':`.  Returns the position after the colon, or NULL. */
static const char *bare_key(struct json_repair *x, const char *p, const char *e, struct slice *key)
{
	const char *const limit = e - p > MAX_KEY ? p + MAX_KEY : e;

	p += p < e && *p == '\'';
	const char *const name = p;
	while (p < limit && is_identifier_byte(*p))
		p++;
	*key = slice_of(name, (size_t)(p - name));
	if (at_end(x, p, e) || p == name)
		return NULL;
	p += *p == '"' || *p == '\'';
	p = json_skip_blanks(p, e);
	return !at_end(x, p, e) && *p == ':' ? p + 1 : NULL;
}

static bool known_key_follows(struct json_repair *x, const char *p, const char *e)
{
	struct slice key;

	return (*p == '\'' || is_identifier_byte(*p)) && bare_key(x, p, e, &key) != NULL &&
	       x->records->is_key(key);
}

/* Whether an item of the innermost level follows the comma before p. */
static bool item_follows(struct json_repair *x, const char *p, const char *e, bool in_object)
{
	struct slice key;

	p = json_skip_blanks(p, e);
	while (p < e && *p == ',')
		p = json_skip_blanks(p + 1, e);
	if (at_end(x, p, e))
		return x->complete;
	if (*p == '{')
		return !in_object || starts_record(x, p, e);
	if (in_object)
		return *p == '}' || (*p == '"' ? key_follows(x, p, e, &key) : known_key_follows(x, p, e));
	return strchr("]\"[-0123456789tfnN", *p) != NULL;
}

/* Whether the text at p can follow a value. */
static bool follows_value(struct json_repair *x, const char *p, const char *e)
{
	uint128 objects = x->objects;
	unsigned depth = x->depth;
	struct slice key;

	for (;;) {
		const char *const before = p;
		p = json_skip_blanks(p, e);
		if (at_end(x, p, e))
			return x->complete;
		const bool in_object = (objects & 1) != 0;
		if (depth == 0 && *p == ',') {
			p = json_skip_blanks(p + 1, e);
			return at_end(x, p, e) ? x->complete : strchr("{],", *p) != NULL;
		}
		if (depth == 0)
			return strchr("]{}", *p) != NULL ||
			       memchr(before, '\n', (size_t)(p - before)) != NULL;
		if (*p == ',')
			return item_follows(x, p + 1, e, in_object);
		if (*p == '"')
			return in_object && key_follows(x, p, e, &key);
		if (*p == '{')
			return starts_record(x, p, e);
		if (*p != (in_object ? '}' : ']'))
			return false;
		objects >>= 1;
		depth--;
		p++;
	}
}

/* Whether the quote p begins a known key, after a comma. */
static bool begins_known_key(struct json_repair *x, const char *open, const char *p, const char *e)
{
	const char *q = p;
	struct slice key;

	while (q > open + 1 && (q[-1] == ' ' || q[-1] == '\n'))
		q--;
	return q > open + 1 && q[-1] == ',' && key_follows(x, p, e, &key) && x->records->is_key(key);
}

/* Returns the end, after its quote, of the text that begins with the quote `open`.  An escaped quote ends it,
 * too, if the next bytes can follow a value (a path that ends in a backslash).  *unquoted: the text has no
 * closing quote; the end is after its last byte.  Returns NULL if it has no end before *stop. */
static const char *find_end(struct json_repair *x, const char *open, const char *e, bool *unquoted,
                            const char **stop)
{
	const char *last = NULL; /* the last quote */

	*unquoted = false;
	for (const char *p = open + 1; p < e; p++) {
		*stop = p;
		if (*p == '{' && starts_record(x, p, e))
			return NULL;
		const bool escape = *p == '\\' && e - p >= 2 && p[1] != '{';
		p += escape;
		if (*p != '"')
			continue;
		if (!escape && (x->objects & 1) != 0 && begins_known_key(x, open, p, e)) {
			x->differs = true;
			if (x->eager) {
				*unquoted = last == NULL;
				while (last == NULL && p[-1] != ',')
					p--;
				return last != NULL ? last + 1 : p - 1;
			}
		}
		if (follows_value(x, p + 1, e))
			return p + 1;
		last = escape ? last : p;
	}
	(void)at_end(x, e, e);
	*stop = e;
	return NULL;
}

const char *json_text_end(struct json_repair *x, const char *p, const char *e)
{
	const char *stop;
	bool unquoted;

	return find_end(x, p, e, &unquoted, &stop);
}

/* ---- texts ---- */

static void put_control(struct text *t, char c)
{
	static const char names[] = "btnvfr";
	char escape[8] = { '\\', c >= '\b' && c <= '\r' && c != '\v' ? names[c - '\b'] : 'u' };

	if (escape[1] == 'u')
		snprintf(escape + 2, sizeof escape - 2, "%04x", (unsigned)(unsigned char)c);
	text_str(t, escape);
}

/* Writes the escape at p, or an escaped backslash.  Returns the position after it. */
static const char *put_escape(struct json_repair *x, const char *p, const char *end)
{
	const uint32_t n = json_escape_length(p, end);

	if (n > 0) {
		text_add(&x->text, p, n);
		return p + n;
	}
	if (json_is_surrogate(p, end)) {
		add_fault(x, JSON_FAULT_SURROGATE, p);
		text_str(&x->text, "\xef\xbf\xbd");
		return p + 6;
	}
	add_fault(x, JSON_FAULT_ESCAPE, p);
	text_str(&x->text, "\\\\");
	return p + 1;
}

/* Returns the character of two surrogates that are encoded separately (CESU-8), or 0. */
static uint32_t cesu_pair(const char *p, const char *end)
{
	const unsigned char *const s = (const unsigned char *)p;

	if (end - p < 6 || s[0] != 0xed || (s[1] & 0xf0) != 0xa0 || (s[2] & 0xc0) != 0x80 || s[3] != 0xed ||
	    (s[4] & 0xf0) != 0xb0 || (s[5] & 0xc0) != 0x80)
		return 0;
	return 0x10000 + ((s[1] & 0xfU) << 16 | (s[2] & 0x3fU) << 10 | (s[4] & 0xfU) << 6 | (s[5] & 0x3fU));
}

/* Writes the bytes at p that are not ASCII: all of them, since their end is searched only once. */
static const char *put_high(struct json_repair *x, const char *p, const char *end)
{
	const char *q = p;

	while (q < end && (unsigned char)*q >= 0x80)
		q++;
	for (;;) {
		const size_t good = utf8_valid_prefix(p, (size_t)(q - p));
		text_add(&x->text, p, good);
		p += good;
		if (p == q)
			return p;
		add_fault(x, JSON_FAULT_UTF8, p);
		const uint32_t c = cesu_pair(p, q);
		if (c == 0) {
			text_str(&x->text, "\xef\xbf\xbd");
			p += utf8_invalid_run(p, (size_t)(q - p));
			continue;
		}
		char *const to = text_reserve(&x->text, 4);
		if (to != NULL)
			x->text.n += (size_t)(json_put_utf8(to, c) - to);
		p += 6;
	}
}

static void put_text(struct json_repair *x, const char *p, const char *end)
{
	text_char(&x->text, '"');
	while (p < end) {
		const char *const plain = textscan_plain_end(p, end);
		text_add(&x->text, p, (size_t)(plain - p));
		p = plain;
		if (p == end)
			break;
		if ((unsigned char)*p >= 0x80) {
			p = put_high(x, p, end);
		} else if (*p == '\\') {
			p = put_escape(x, p, end);
		} else if (*p == '"') {
			add_fault(x, JSON_FAULT_QUOTE, p++);
			text_str(&x->text, "\\\"");
		} else if (*p == 0x7f) {
			text_char(&x->text, *p++);
		} else {
			add_fault(x, JSON_FAULT_CONTROL, p);
			put_control(&x->text, *p++);
		}
	}
	text_char(&x->text, '"');
}

/* ---- numbers and words ---- */

/* Returns the JSON text of a number that is not finite, in the forms of C and C++ libraries, or NULL. */
static const char *not_finite(struct slice s)
{
	const bool minus = s.n > 0 && *s.p == '-', sign = minus || (s.n > 0 && *s.p == '+');

	s = slice_of(s.p + sign, s.n - sign);
	if (json_is_word(s, "nan") || json_is_word(s, "nan(ind)") || slice_is(s, "1.#IND") ||
	    slice_is(s, "1.#QNAN"))
		return "\"NaN\"";
	if (json_is_word(s, "inf") || json_is_word(s, "infinity") || slice_is(s, "1.#INF"))
		return minus ? "\"-Infinity\"" : "\"Infinity\"";
	return NULL;
}

static bool put_hex(struct text *t, struct slice s, bool minus)
{
	uint64_t v;

	if (s.n < 3 || s.p[0] != '0' || (s.p[1] | 0x20) != 'x' || !json_hex(slice_of(s.p + 2, s.n - 2), &v))
		return false;
	if (minus)
		text_char(t, '-');
	text_u64(t, v);
	return true;
}

/* Writes a number that is not in JSON form.  Returns false if it is no number. */
static bool put_number(struct text *t, struct slice s)
{
	const size_t before = t->n;
	const bool minus = s.n > 0 && *s.p == '-', sign = minus || (s.n > 0 && *s.p == '+');
	enum json_kind kind;

	s = slice_of(s.p + sign, s.n - sign);
	if (put_hex(t, s, minus))
		return true;
	while (s.n > 1 && s.p[0] == '0' && s.p[1] >= '0' && s.p[1] <= '9')
		s = slice_of(s.p + 1, s.n - 1);
	if (minus)
		text_char(t, '-');
	for (uint32_t i = 0; i < s.n; i++) {
		const bool digit_before = i > 0 && s.p[i - 1] >= '0' && s.p[i - 1] <= '9';
		const bool digit_after = i + 1 < s.n && s.p[i + 1] >= '0' && s.p[i + 1] <= '9';
		if (s.p[i] == '.' && !digit_before)
			text_char(t, '0');
		if ((s.p[i] == '.' || s.p[i] == ',') && digit_after)
			text_char(t, '.');
		else if (s.p[i] != '.' && s.p[i] != ',')
			text_char(t, s.p[i]);
	}
	if (!t->failed && t->n > before && json_number(t->p + before, t->p + t->n, &kind) == t->p + t->n)
		return true;
	t->n = t->failed ? t->n : before;
	return false;
}

/* Includes the comma of `3,5` in the number before p if no key can begin there. */
static const char *skip_decimals(struct json_repair *x, const char *from, const char *p, const char *e)
{
	if ((x->objects & 1) == 0 || p == e || *p != ',' || json_skip_digits(from + (*from == '-'), p) != p)
		return p;
	const char *const q = json_skip_digits(p + 1, e);
	const char *const next = json_skip_blanks(q, e);
	return q > p + 1 && !at_end(x, next, e) && (*next == ',' || *next == '}') ? q : p;
}

static bool ends_word(char c)
{
	return c == ',' || c == '}' || c == ']' || c == '{' || c == '[' || c == '"' || c == '\n' ||
	       c == '\r' || c == '\0';
}

static bool begins_comment(const char *p, const char *e)
{
	return e - p >= 2 && p[0] == '/' && (p[1] == '/' || p[1] == '*');
}

/* Reads a value other than a text, object or array. */
static const char *read_word(struct json_repair *x, const char *p, const char *e)
{
	const char *q = p;
	enum json_kind kind;

	while (q < e && !ends_word(*q) && !begins_comment(q, e))
		q++;
	while (q > p + 1 && (q[-1] == ' ' || q[-1] == '\t'))
		q--;
	(void)at_end(x, q, e);
	q = skip_decimals(x, p, q, e);
	const struct slice s = slice_of(p, (size_t)(q - p));
	const char *special;
	if (json_is_number(s, &kind) || slice_is(s, "true") || slice_is(s, "false") || slice_is(s, "null")) {
		text_slice(&x->text, s);
	} else if ((special = not_finite(s)) != NULL) {
		add_fault(x, JSON_FAULT_NOT_FINITE, p);
		text_str(&x->text, special);
	} else if (put_number(&x->text, s)) {
		add_fault(x, JSON_FAULT_NUMBER, p);
	} else if (json_is_word(s, "true") || json_is_word(s, "false")) {
		add_fault(x, JSON_FAULT_WORD, p);
		text_str(&x->text, json_is_word(s, "true") ? "true" : "false");
	} else if (json_is_word(s, "null") || json_is_word(s, "none") || json_is_word(s, "undefined")) {
		add_fault(x, JSON_FAULT_WORD, p);
		text_str(&x->text, "null");
	} else {
		const bool quoted = s.n >= 2 && *p == '\'' && q[-1] == '\'';
		add_fault(x, JSON_FAULT_WORD, p);
		put_text(x, p + quoted, q - quoted);
		q += q < e && *q == '"' && follows_value(x, q + 1, e); /* only the opening quote is missing */
	}
	return q;
}

/* ---- the object ---- */

enum expected { EXPECT_FIRST, EXPECT_ITEM, EXPECT_VALUE, EXPECT_NEXT };

struct walk {
	struct json_repair *x;
	const char *e;
	uint128 any; /* a bit for each level, as in x->objects: the level has an item */
	enum expected expected;
	const char *comma;  /* the last comma between items */
	bool ended;         /* the object ends before p without its bracket */
	bool in_text;       /* and it ends inside a key or value */
	bool no_end[2];     /* no line, [1]: no comment in brackets, ends between p and e */
	const char *no_key; /* no quote before it begins a key: they are escaped in a text that is none */
};

static bool in_object(const struct walk *w)
{
	return (w->x->objects & 1) != 0;
}

/* Begins an item at p: writes the comma before it. */
static void begin_item(struct walk *w, const char *p)
{
	if (w->expected == EXPECT_NEXT)
		add_fault(w->x, JSON_FAULT_MISSING_COMMA, p);
	if (w->expected != EXPECT_VALUE && (w->any & 1) != 0)
		text_char(&w->x->text, ',');
	w->any |= 1;
	add_place(w->x, p);
}

static void put_null(struct walk *w, const char *p)
{
	if (w->expected != EXPECT_VALUE)
		return;
	add_fault(w->x, JSON_FAULT_VALUE, p);
	text_str(&w->x->text, "null");
	w->expected = EXPECT_NEXT;
}

static void close_level(struct walk *w)
{
	struct json_repair *const x = w->x;

	text_char(&x->text, in_object(w) ? '}' : ']');
	x->objects >>= 1;
	w->any >>= 1;
	x->depth--;
	w->expected = EXPECT_NEXT;
}

static const char *read_close(struct walk *w, const char *p)
{
	struct json_repair *const x = w->x;
	const bool object = *p == '}';
	const uint128 levels = ((uint128)1 << x->depth) - 1;

	put_null(w, p);
	if (!object && (~x->objects & levels) == 0) {
		w->ended = true; /* the bracket of the array around the record */
		return p;
	}
	if (w->expected == EXPECT_ITEM)
		add_fault(x, JSON_FAULT_TRAILING_COMMA, p);
	while (in_object(w) != object) {
		add_fault(x, JSON_FAULT_BRACKET, p);
		close_level(w);
	}
	if (x->member && x->depth == 1)
		return p; /* the bracket of the object around the member */
	close_level(w);
	return p + 1;
}

/* Skips foreign bytes: at least one, up to a byte that may begin a token. */
static const char *skip_foreign(struct walk *w, const char *p)
{
	const char *const e = w->e;

	add_fault(w->x, JSON_FAULT_FOREIGN, p);
	if (begins_comment(p, e) && !w->no_end[p[1] == '*']) {
		const bool brackets = p[1] == '*';
		const char *q = p + 2;
		while (q < e && (brackets ? *q != '/' || q[-1] != '*' : *q != '\n'))
			q++;
		if (!at_end(w->x, q, e))
			return q + 1;
		if (!w->x->complete)
			return e;
		w->no_end[brackets] = true; /* no comment: damage, behind which a record may start */
	}
	for (p++; p < e && strchr(",\"{}[] \t\r\n", *p) == NULL; p++)
		;
	return p;
}

/* Reads a record inside of the object, or sets w->ended if the record ends the object. */
static const char *read_inner(struct walk *w, const char *p)
{
	struct json_repair *const x = w->x;
	struct json strict = { .complete = x->complete, .depth = JSON_REPAIR_DEPTH };
	enum json_kind kind;
	struct slice key;
	const char *const end = json_nested(&strict, p, w->e, &kind);

	x->more |= end == NULL && strict.error.cut && !x->complete;
	const char *next = end != NULL ? json_skip_blanks(end, w->e) : w->e;
	bool goes_on = end != NULL && !at_end(x, next, w->e) && *next == '}';
	if (next < w->e && *next == ',') {
		next = json_skip_blanks(next + 1, w->e);
		goes_on = !at_end(x, next, w->e) && *next == '"' && key_follows(x, next, w->e, &key);
	}
	if (!goes_on || x->ninner == JSON_REPAIR_INNER) {
		w->ended = true;
		return p;
	}
	put_null(w, p);
	add_fault(x, JSON_FAULT_INNER, p);
	x->inner[x->ninner++] = (struct json_range){ p, end };
	w->expected = EXPECT_NEXT;
	return end;
}

static const char *open_level(struct walk *w, const char *p)
{
	struct json_repair *const x = w->x;

	if (x->depth == JSON_REPAIR_DEPTH) {
		w->ended = true;
		return p;
	}
	begin_item(w, p);
	text_char(&x->text, *p);
	x->objects = x->objects << 1 | (*p == '{');
	w->any <<= 1;
	x->depth++;
	w->expected = EXPECT_FIRST;
	return p + 1;
}

static const char *read_text(struct walk *w, const char *p)
{
	const char *stop;
	bool unquoted;
	const char *const end = find_end(w->x, p, w->e, &unquoted, &stop);

	if (end == NULL) {
		w->ended = w->in_text = true;
		return stop;
	}
	begin_item(w, p);
	if (unquoted)
		add_fault(w->x, JSON_FAULT_QUOTE, end);
	put_text(w->x, p + 1, end - !unquoted);
	w->expected = EXPECT_NEXT;
	return end;
}

/* Reads a key and its colon at the quote p.  Returns the position after them, or NULL; then it remembers
 * which quotes after p can begin no key either, since they end where this text ends. */
static const char *quoted_key(struct walk *w, const char *p, struct slice *key, bool *cut)
{
	const struct json lenient = { .lenient = true, .complete = w->x->complete, .depth = 1 };
	struct json x = lenient, again = lenient;
	enum json_kind kind;

	if (w->no_key != NULL && p < w->no_key)
		return NULL;
	const char *const v = json_key(&x, p, w->e, key, &kind);
	if (v != NULL && key->n <= MAX_LONG_KEY)
		return v;
	*cut = v == NULL && x.error.cut;
	w->x->more |= *cut && !w->x->complete;
	if (v != NULL)
		w->no_key = key->p + key->n - MAX_LONG_KEY - 1;
	else
		w->no_key = *cut ? w->e : json_string(&again, p, w->e, &kind) - 1;
	return NULL;
}

static const char *read_key(struct walk *w, const char *p)
{
	struct json_repair *const x = w->x;
	struct slice key;
	bool cut = false;
	const char *v;

	if (*p == '"') {
		v = quoted_key(w, p, &key, &cut);
	} else {
		v = bare_key(x, p, w->e, &key);
		if (v != NULL && w->expected == EXPECT_NEXT && !x->records->is_key(key))
			v = NULL;
	}
	if (v == NULL) {
		w->ended = w->in_text = cut && x->complete;
		return w->ended ? w->e : skip_foreign(w, p);
	}
	begin_item(w, p);
	if (*p != '"')
		add_fault(x, JSON_FAULT_KEY, p);
	put_text(x, key.p, key.p + key.n);
	text_char(&x->text, ':');
	w->expected = EXPECT_VALUE;
	return v;
}

static const char *read_comma(struct walk *w, const char *p)
{
	put_null(w, p);
	if (w->expected != EXPECT_NEXT)
		add_fault(w->x, JSON_FAULT_EXTRA_COMMA, p);
	else
		w->comma = p;
	w->expected = w->expected == EXPECT_NEXT ? EXPECT_ITEM : w->expected;
	return p + 1;
}

/* Reads the next key, value, comma or bracket.  Sets w->ended if the object ends before p. */
static const char *read_part(struct walk *w, const char *p)
{
	const bool is_key = in_object(w) && w->expected != EXPECT_VALUE;

	switch (*p) {
	case ',':
		return read_comma(w, p);
	case '}':
	case ']':
		return read_close(w, p);
	case '{':
		if (starts_record(w->x, p, w->e))
			return read_inner(w, p);
		return is_key ? skip_foreign(w, p) : open_level(w, p);
	case '[':
		return is_key ? skip_foreign(w, p) : open_level(w, p);
	case ':':
	case '\0':
		return skip_foreign(w, p);
	case '/':
		if (begins_comment(p, w->e))
			return skip_foreign(w, p);
		break;
	case '"':
		return is_key ? read_key(w, p) : read_text(w, p);
	default:
		break;
	}
	if (is_key)
		return *p == '\'' || is_identifier_byte(*p) ? read_key(w, p) : skip_foreign(w, p);
	if (w->expected == EXPECT_NEXT)
		return skip_foreign(w, p);
	begin_item(w, p);
	w->expected = EXPECT_NEXT;
	return read_word(w->x, p, w->e);
}

static bool is_whole_member(const struct walk *w)
{
	return w->x->member && w->x->depth == 1 && w->any != 0 && w->expected == EXPECT_NEXT;
}

const char *json_repair(struct json_repair *x, const char *p, const char *e)
{
	struct walk w = { .x = x, .e = e, .expected = EXPECT_FIRST };

	text_clear(&x->text);
	x->nfaults = x->ninner = x->nplaces = 0;
	x->closed = x->clean = x->differs = x->more = false;
	x->open = 0;
	x->objects = x->member || *p == '{';
	x->depth = 1;
	x->from = p;
	add_place(x, p);
	if (!x->member)
		text_char(&x->text, *p++);
	while (x->depth > 0 && !w.ended && !is_whole_member(&w)) {
		p = json_skip_blanks(p, e);
		if (at_end(x, p, e) || (x->member && x->depth == 1 && (*p == '}' || *p == ']')))
			break;
		p = read_part(&w, p);
	}
	x->closed = x->depth == 0 || is_whole_member(&w);
	if (x->member)
		return p;
	x->clean = !x->closed && !w.in_text && (w.expected == EXPECT_NEXT || w.expected == EXPECT_ITEM);
	if (w.expected == EXPECT_VALUE)
		text_str(&x->text, "null");
	else if (w.ended && x->clean && w.expected == EXPECT_ITEM)
		p = w.comma; /* this comma separates the object from the next record */
	x->open = x->depth;
	while (x->depth > 0)
		close_level(&w);
	return p;
}

/* ---- spare escapes ---- */

static bool is_between(char c)
{
	return json_is_blank(c) || c == ':' || c == ',';
}

void json_repair_escapes(struct json_repair *x, const char *p, const char *e)
{
	bool in_text = false, begins = true; /* a key or value, if p is no blank */

	text_clear(&x->text);
	x->nfaults = x->ninner = x->nplaces = 0;
	x->from = p;
	char *to = text_reserve(&x->text, (size_t)(e - p));
	while (to != NULL && p < e) {
		const uint32_t escape = *p == '\\' ? json_escape_length(p, e) : 0,
		               n = escape > 0 ? escape : 1;
		if (begins && !in_text && !is_between(*p))
			add_place(x, p);
		begins = is_between(*p) || *p == '{' || *p == '[';
		in_text ^= *p == '"';
		to = json_put_plain(to, p, p + n);
		x->text.n = (size_t)(to - x->text.p);
		p += n;
	}
}
