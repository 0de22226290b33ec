/* The tokenizer; strings that are not plain are read by string.c.  Nested values are read with a stack of one
 * bit per level, so deep nesting does not use the stack of the process. */
#include "json/token.h"

#include "base/compiler.h"
#include "base/numbers.h"
#include "base/scan.h"
#include "json/number.h"

/* ---- errors and flaws ---- */

void json_flaw_add(struct json *x, unsigned kind, const char *at)
{
	x->met++;
	/* Only the first of each kind: one bad path has many bad bytes. */
	for (uint32_t i = 0; i < x->nflaws; i++)
		if (x->flaws[i].kind == kind)
			return;
	if (x->nflaws < JSON_FLAWS)
		x->flaws[x->nflaws++] = (struct json_flaw_at){ at, (uint8_t)kind };
}

const char *json_fail(struct json *x, const char *at, const char *why)
{
	x->error = (struct json_error){ at, why, false };
	return NULL;
}

const char *json_cut(struct json *x, const char *at, const char *why)
{
	x->error = (struct json_error){ at, why, true };
	return NULL;
}

/* ---- numbers and words ---- */

const char *json_number(const char *p, const char *e, enum json_kind *kind)
{
	const bool minus = p < e && *p == '-';
	const char *const first = p + minus;

	p = json_skip_digits(first, e);
	if (p == first || (p - first > 1 && *first == '0'))
		return NULL;
	*kind = minus ? JSON_INT : JSON_UINT;
	if (p < e && *p == '.') {
		const char *const fraction = p + 1;
		p = json_skip_digits(fraction, e);
		if (p == fraction)
			return NULL;
		*kind = JSON_NUMBER;
	}
	if (p < e && (*p == 'e' || *p == 'E')) {
		p++;
		if (p < e && (*p == '+' || *p == '-'))
			p++;
		const char *const exponent = p;
		p = json_skip_digits(exponent, e);
		if (p == exponent)
			return NULL;
		*kind = JSON_NUMBER;
	}
	return p;
}

INLINE bool ends_value(const char *p, const char *e)
{
	return p == e || *p == ',' || *p == '}' || *p == ']' || json_is_blank(*p);
}

static bool is_word_byte(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' ||
	       c == '-' || c == '.' || c == '_' || c == '#';
}

bool json_is_word(struct slice s, const char *w)
{
	if (s.n != strlen(w))
		return false;
	for (uint32_t i = 0; i < s.n; i++)
		if ((s.p[i] | 0x20) != w[i])
			return false;
	return true;
}

/* Accepts the forms that C and C++ libraries print. */
static bool is_not_finite(struct slice s)
{
	if (s.n > 0 && (*s.p == '-' || *s.p == '+'))
		s = slice_of(s.p + 1, s.n - 1);
	return json_is_word(s, "nan") || json_is_word(s, "inf") || json_is_word(s, "infinity");
}

/* Reads a run of letters, digits and signs that is no JSON value. */
static const char *read_bad_word(struct json *x, const char *p, const char *e, enum json_kind *kind)
{
	const char *q = p;

	while (q < e && is_word_byte(*q))
		q++;
	if (q == p)
		return json_fail(x, p, "expected a value");
	if (q == e && !x->complete)
		return json_cut(x, p, "unterminated value");
	if (!ends_value(q, e))
		return json_fail(x, q, "expected a comma or a closing bracket");
	const bool known = is_not_finite(slice_of(p, (size_t)(q - p)));
	if (!x->lenient)
		return json_fail(x, p, known ? "nan and inf are not JSON numbers" : "invalid value");
	*kind = known ? JSON_NOT_FINITE : JSON_BAD_WORD;
	json_flaw_add(x, known ? JSON_FLAW_NOT_FINITE : JSON_FLAW_WORD, p);
	return q;
}

static const char *literal(const char *p, const char *e, const char *word)
{
	const size_t n = strlen(word);

	return (size_t)(e - p) >= n && memcmp(p, word, n) == 0 && ends_value(p + n, e) ? p + n : NULL;
}

const char *json_scalar(struct json *x, const char *p, const char *e, enum json_kind *kind)
{
	const char *q = NULL;
	uint64_t v;

	if (p == e)
		return json_cut(x, p, "expected a value");
	if (*p == '"')
		return json_string(x, p, e, kind);
	if (*p == '-' || (*p >= '0' && *p <= '9'))
		q = json_number(p, e, kind);
	else if ((q = literal(p, e, "true")) != NULL)
		*kind = JSON_TRUE;
	else if ((q = literal(p, e, "false")) != NULL)
		*kind = JSON_FALSE;
	else if ((q = literal(p, e, "null")) != NULL)
		*kind = JSON_NULL;
	if (q == e && !x->complete)
		return json_cut(x, p, "unterminated value");
	if (q - p >= 19 && *kind <= JSON_INT && x->big == NULL &&
	    !json_integer(slice_of(p, (size_t)(q - p)), &v))
		x->big = p;
	return q != NULL && ends_value(q, e) ? q : read_bad_word(x, p, e, kind);
}

/* ---- plain values ---- */

/* Returns the closing quote of the text that begins at p, or NULL if the text is not plain. */
static inline const char *plain_text_end(const char *p, const char *e)
{
#if defined(__SSE2__)
	const __m128i control = _mm_set1_epi8(0x20), quote = _mm_set1_epi8('"'), back = _mm_set1_epi8('\\');

	for (; e - p >= 16; p += 16) {
		const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
		/* as signed bytes, bytes that are not ASCII are below 0x20, too */
		const __m128i odd =
		    _mm_or_si128(_mm_cmplt_epi8(v, control),
		                 _mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, back)));
		const unsigned found = (unsigned)_mm_movemask_epi8(odd);
		if (found == 0)
			continue;
		p += low_bit(found);
		return *p == '"' ? p : NULL;
	}
#endif
	p = textscan_plain_end(p, e);
	return p < e && *p == '"' ? p : NULL;
}

/* Skips blanks one by one: the CPU predicts their number, so the next bytes need not wait for it. */
static inline const char *skip_some_blanks(const char *p, const char *e)
{
	if (p < e && (unsigned char)*p > ' ')
		return p;
	return json_skip_blanks(p, e);
}

/* Returns the end of a number or word, or NULL: use json_scalar(). */
static inline const char *plain_scalar(const char *p, const char *e, enum json_kind *kind)
{
	const char *const start = p;

	if (e - p < 32)
		return NULL;
	if (*p == 't' || *p == 'f' || *p == 'n') {
		*kind = *p == 't' ? JSON_TRUE : *p == 'f' ? JSON_FALSE : JSON_NULL;
		return memcmp(p, "true", 4) == 0 || memcmp(p, "null", 4) == 0 ? p + 4
		       : memcmp(p, "false", 5) == 0                           ? p + 5
		                                                              : NULL;
	}
	p += *p == '-';
	*kind = p > start ? JSON_INT : JSON_UINT;
	const char *const first = p;
	p = json_skip_eights(p, e);
	if (p == NULL || p == first || p - first > 18 || (*first == '0' && p - first > 1))
		return NULL;
	if (*p == '.') {
		const char *const fraction = ++p;
		p = json_skip_eights(p, e);
		*kind = JSON_NUMBER;
		if (p == NULL || p == fraction)
			return NULL;
	}
	return *p != 'e' && *p != 'E' ? p : NULL;
}

static inline const char *text_end(struct json *x, const char *p, const char *e, enum json_kind *kind)
{
	const char *const q = plain_text_end(p + 1, e);

	*kind = JSON_STRING;
	return q != NULL ? q + 1 : json_string(x, p, e, kind);
}

/* ---- walking through an object or array ---- */

static const char *unterminated(struct json *x, const char *p, bool object)
{
	return json_cut(x, p, object ? "unterminated object" : "unterminated array");
}

const char *json_first(struct json *x, const char *p, const char *e, bool *more)
{
	const bool object = *p == '{';

	p = json_skip_blanks(p + 1, e);
	if (p == e)
		return unterminated(x, p, object);
	*more = *p != (object ? '}' : ']');
	return *more ? p : p + 1;
}

const char *json_key(struct json *x, const char *p, const char *e, struct slice *key, enum json_kind *kind)
{
	if (p == e)
		return unterminated(x, p, true);
	if (*p != '"')
		return json_fail(x, p, "expected a name in quotes");
	const char *const q = text_end(x, p, e, kind);
	if (q == NULL)
		return NULL;
	*key = slice_of(p + 1, (size_t)(q - p) - 2);
	p = skip_some_blanks(q, e);
	if (p == e)
		return json_cut(x, p, "expected a colon");
	return *p == ':' ? skip_some_blanks(p + 1, e) : json_fail(x, p, "expected a colon");
}

const char *json_next(struct json *x, const char *p, const char *e, char close, bool *more)
{
	p = json_skip_blanks(p, e);
	if (p == e)
		return unterminated(x, p, close == '}');
	*more = *p == ',';
	if (*p == close)
		return p + 1;
	if (!*more)
		return json_fail(x, p, "expected a comma or a closing bracket");
	p = json_skip_blanks(p + 1, e);
	if (p == e)
		return unterminated(x, p, close == '}');
	if (*p != close)
		return p;
	if (!x->lenient)
		return json_fail(x, p, close == '}' ? "expected a name in quotes" : "expected a value");
	json_flaw_add(x, JSON_FLAW_COMMA, p);
	*more = false;
	return p + 1;
}

/* ---- nested values ---- */

static bool in_object(const struct json_nest *n)
{
	return (n->objects & 1) != 0;
}

/* Reads a key if the level is an object, then a scalar or an opening bracket.  *more: a level was opened. */
static const char *read_member(struct json *x, struct json_nest *n, const char *p, const char *e, bool *more)
{
	struct slice key;
	enum json_kind kind;

	if (n->depth > 0 && in_object(n) && (p = json_key(x, p, e, &key, &kind)) == NULL)
		return NULL;
	*more = false;
	if (p == e || (*p != '{' && *p != '['))
		return json_scalar(x, p, e, &kind);
	if (n->depth == x->depth)
		return json_fail(x, p, "values nested too deep");
	const bool object = *p == '{';
	p = json_first(x, p, e, more);
	if (p != NULL && *more) {
		n->objects = n->objects << 1 | object;
		n->depth++;
	}
	return p;
}

/* The fast part of read_nested().  Reads until a value is not of the usual form: valid, texts of ASCII
 * without escapes, integers below 10^18, nested at most 64 deep.  Returns the position where it stopped. */
static const char *read_plain(const struct json *x, struct json_nest *n, const char *p, const char *e)
{
	const unsigned max = x->depth < 64 ? x->depth : 64;
	uint64_t objects = (uint64_t)n->objects;
	unsigned depth = n->depth;
	const char *at = p; /* after the last value or opening bracket */
	bool after = n->after;
	enum json_kind kind;

	if (depth > max)
		return p;
	if (after)
		goto next;
	if (depth > 0 && (objects & 1) != 0)
		goto key;
value:
	if (p == e)
		goto stop;
	if (*p == '"') {
		p = plain_text_end(p + 1, e);
		if (p == NULL)
			goto stop;
		p++;
	} else if (*p == '{' || *p == '[') {
		const bool object = *p == '{';
		p = skip_some_blanks(p + 1, e);
		if (p == e || depth == max)
			goto stop;
		if (*p != (object ? '}' : ']')) {
			objects = objects << 1 | object;
			depth++;
			at = p;
			after = false;
			if (object)
				goto key;
			goto value;
		}
		p++;
	} else {
		p = plain_scalar(p, e, &kind);
		if (p == NULL || !ends_value(p, e))
			goto stop;
	}
	after = true;
	at = p;
next:
	while (depth > 0) {
		p = skip_some_blanks(p, e);
		if (p == e)
			goto stop;
		if (*p == ',')
			break;
		if (*p != ((objects & 1) != 0 ? '}' : ']'))
			goto stop;
		at = ++p;
		objects >>= 1;
		depth--;
	}
	if (depth == 0)
		goto stop;
	p = skip_some_blanks(p + 1, e);
	if ((objects & 1) == 0)
		goto value;
key:
	if (p == e || *p != '"' || (p = plain_text_end(p + 1, e)) == NULL)
		goto stop;
	p = skip_some_blanks(p + 1, e);
	if (p == e || *p != ':')
		goto stop;
	p = skip_some_blanks(p + 1, e);
	goto value;
stop:
	n->objects = objects;
	n->depth = depth;
	n->after = after;
	return at;
}

/* Continues to read a value.  Returns its end, or NULL after an error.  *done: the end of the valid part; *n
 * is the state there. */
static const char *read_nested(struct json *x, struct json_nest *n, const char *p, const char *e,
                               const char **done)
{
	for (;;) {
		bool more;
		p = read_plain(x, n, p, e);
		if (n->after && n->depth == 0)
			return p;
		*done = p;
		if (!n->after)
			p = read_member(x, n, p, e, &more);
		else if ((p = json_next(x, p, e, in_object(n) ? '}' : ']', &more)) != NULL && !more) {
			n->objects >>= 1;
			n->depth--;
		}
		if (p == NULL)
			return NULL;
		n->after = !more;
	}
}

const char *json_nested(struct json *x, const char *p, const char *e, enum json_kind *kind)
{
	const uint32_t met = x->met;
	struct json_nest n = { .depth = 0 };

	*kind = *p == '{' ? JSON_OBJECT : JSON_ARRAY;
	p = read_nested(x, &n, p, e, &(const char *){ NULL });
	if (x->met > met)
		*kind = JSON_BAD_NESTED;
	return p;
}

const char *json_nested_part(struct json *x, struct json_nest *n, const char *p, const char *e)
{
	const char *done, *const end = read_nested(x, n, p, e, &done);

	if (end == NULL && x->error.cut && !x->complete)
		return done;
	*n = (struct json_nest){ .depth = 0 };
	return end;
}

const char *json_value(struct json *x, const char *p, const char *e, enum json_kind *kind)
{
	if (p == e)
		return json_cut(x, p, "expected a value");
	if (*p == '{' || *p == '[')
		return json_nested(x, p, e, kind);
	if (*p == '"')
		return text_end(x, p, e, kind);
	const char *const q = plain_scalar(p, e, kind);
	return q != NULL && ends_value(q, e) ? q : json_scalar(x, p, e, kind);
}

bool json_walk_next(struct json_walk *w)
{
	struct json *const x = w->json != NULL ? w->json : &w->own;
	struct json_token *const v = &w->value;
	struct slice name;

	if (v->p != NULL && v->end == NULL) /* the caller did not walk through it */
		v->end = json_value(x, v->p, w->e, &v->kind);
	if (v->p != NULL)
		w->p = v->end != NULL ? json_next(x, v->end, w->e, w->close, &w->more) : NULL;
	if (w->p == NULL || !w->more)
		return false;
	w->key.p = v->p = w->p;
	if (w->close == '}') {
		v->p = json_key(x, w->p, w->e, &name, &w->key.kind);
		w->key.end = v->p != NULL ? name.p + name.n + 1 : NULL;
	}
	v->end = NULL;
	w->p = v->p;
	if (v->p == NULL)
		return false;
	if (w->lazy && v->p < w->e && (*v->p == '{' || *v->p == '[')) {
		v->kind = *v->p == '{' ? JSON_OBJECT : JSON_ARRAY;
		return true;
	}
	v->end = json_value(x, v->p, w->e, &v->kind);
	w->p = v->end;
	return w->p != NULL;
}

uint64_t json_walk_rest(struct json_walk *w)
{
	uint64_t n = 0;

	while (json_walk_next(w))
		n++;
	return n;
}

void json_members(const struct json_token *of, const char *const *names, size_t n, struct json_token *to)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (struct json_token){ .kind = JSON_ABSENT };
	if (of->kind == JSON_ABSENT || *of->p != '{')
		return;
	struct json_walk w = json_walk_again(of);
	while (json_walk_next(&w))
		for (size_t i = 0; i < n; i++)
			if (json_token_is(&w.key, names[i])) {
				to[i] = w.value;
				break;
			}
}

struct json_token json_member(const struct json_token *of, const char *name)
{
	struct json_token found;

	json_members(of, &name, 1, &found);
	return found;
}

/* ---- documents ---- */

const char *json_document_fault(const char *p, size_t n, unsigned depth, size_t *at)
{
	const char *const e = p + n;
	struct json x = { .complete = true, .depth = depth };
	enum json_kind kind;

	*at = 0;
	if (utf8_has_mark(p, n))
		return "byte order mark";
	const char *end = json_value(&x, json_skip_blanks(p, e), e, &kind);
	if (end != NULL && (end = json_skip_blanks(end, e)) < e)
		end = json_fail(&x, end, "data after the end of the value");
	if (end != NULL)
		return NULL;
	*at = (size_t)(x.error.at - p);
	return x.error.why;
}
