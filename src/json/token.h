#ifndef JSON_TOKEN_H
#define JSON_TOKEN_H

#include "base/compiler.h"
#include "base/memory.h"

/*
 * JSON (RFC 8259) token by token.
 *
 * Text: [p, e) contains one value or its start; nothing outside is read.  Strict reading accepts only valid
 * JSON; surrogates in escapes must be pairs.  Lenient reading also accepts common mistakes of writers that
 * have only one interpretation, and lists them: see enum json_flaw.  A byte order mark is not accepted.
 * There is no recursion; nesting is bounded by json.depth.
 *
 * Memory: only json_unescape() allocates or copies.  Tokens are positions in the caller's text.
 *
 * Errors: a function returns the end of the token, or NULL.  With NULL, error.at is the exact position,
 * error.why the reason in a few words (a literal), and error.cut is true if more text may complete the token.
 */

#define JSON_MAX_DEPTH 128

/* Form of a value.  Four bits. */
enum json_kind {
	JSON_ABSENT,
	JSON_UINT,       /* digits */
	JSON_INT,        /* a minus sign and digits */
	JSON_NUMBER,     /* with a fraction or an exponent */
	JSON_STRING,     /* UTF-8 without escapes */
	JSON_ESCAPED,    /* with escapes */
	JSON_BAD_STRING, /* lenient: a string with flaws */
	JSON_TRUE,
	JSON_FALSE,
	JSON_NULL,
	JSON_OBJECT, /* brackets included */
	JSON_ARRAY,
	JSON_NOT_FINITE, /* lenient: nan, inf or infinity in any case, with an optional sign */
	JSON_BAD_WORD,   /* lenient: another word without quotes, or a number such as 007, +1, 1. */
	JSON_BAD_NESTED, /* lenient: an object or array with flaws inside */
};

static inline bool json_is_string(enum json_kind kind)
{
	return kind >= JSON_STRING && kind <= JSON_BAD_STRING;
}

/* A value, or a key with its quotes, in the caller's text. */
struct json_token {
	const char *p, *end;
	enum json_kind kind;
};

/* Mistakes that lenient reading accepts. */
enum json_flaw {
	JSON_FLAW_CONTROL_BYTE, /* inside a string */
	JSON_FLAW_NUL,
	JSON_FLAW_UTF8,
	JSON_FLAW_ESCAPE, /* an invalid escape, or half a surrogate pair */
	JSON_FLAW_NOT_FINITE,
	JSON_FLAW_WORD,  /* see JSON_BAD_WORD */
	JSON_FLAW_COMMA, /* before a closing bracket */
	JSON_FLAW_KINDS  /* callers may define further kinds from this value */
};

#define JSON_FLAWS 8 /* max listed flaws; all are counted */

struct json_flaw_at {
	const char *at;
	uint8_t kind;
};

struct json_error {
	const char *at, *why;
	bool cut; /* the text ends before the end of the token */
};

/* Settings and results.  Set the first three members, zero the rest. */
struct json {
	bool lenient;
	bool complete;  /* the text ends at e, so a number or word may end there */
	unsigned depth; /* limit of nesting, at most JSON_MAX_DEPTH */
	struct json_error error;
	struct json_flaw_at flaws[JSON_FLAWS]; /* the first of each kind, in order */
	uint32_t nflaws;
	uint32_t met;        /* number of all flaws, never reset */
	const char *suspect; /* the last escape that may be a part of a path, as in C:\new; NULL: none */
	const char *big;     /* the first integer that does not fit in 64 bits; NULL: none */
	const char *spare;   /* the last escape that is spare, see json_spare(); NULL: none */
};

/* Empties the list of flaws. */
static inline void json_clear(struct json *x)
{
	x->nflaws = 0;
}

void json_flaw_add(struct json *x, unsigned kind, const char *at);

/* Set the error and return NULL.  json_cut() also sets error.cut. */
const char *json_fail(struct json *x, const char *at, const char *why);
const char *json_cut(struct json *x, const char *at, const char *why);

static inline bool json_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static inline const char *json_skip_blanks(const char *p, const char *e)
{
	while (p < e && json_is_blank(*p))
		p++;
	return p;
}

/* Returns the end of the text before p, without blanks. */
static inline const char *json_skip_blanks_back(const char *from, const char *p)
{
	while (p > from && json_is_blank(p[-1]))
		p--;
	return p;
}

static inline const char *json_skip_digits(const char *p, const char *e)
{
	while (p < e && *p >= '0' && *p <= '9')
		p++;
	return p;
}

/* Whether s is the word w in upper or lower case.  w: in lower case. */
bool json_is_word(struct slice s, const char *w);

/* ---- values ---- */

/* Reads a string.  p: the opening quote. */
const char *json_string(struct json *x, const char *p, const char *e, enum json_kind *kind);

/* Reads any value except an object or array. */
const char *json_scalar(struct json *x, const char *p, const char *e, enum json_kind *kind);

/* Reads an object or array.  p: the opening bracket. */
const char *json_nested(struct json *x, const char *p, const char *e, enum json_kind *kind);

/* The state at a position in nested values. */
struct json_nest {
	uint128 objects; /* open objects (1) and arrays (0), one bit each, the innermost lowest */
	unsigned depth;  /* number of open objects and arrays */
	bool after;      /* after a value; else before a value or its key */
};

/* Reads an object or array in parts, for values larger than a window.  *n must be zero before the first part.
 * While n->depth is not 0, the value continues, and the result is the start of the next part. */
const char *json_nested_part(struct json *x, struct json_nest *n, const char *p, const char *e);

/* Reads any value. */
const char *json_value(struct json *x, const char *p, const char *e, enum json_kind *kind);

/* Reads a valid number.  Returns NULL, without setting an error, if there is none. */
const char *json_number(const char *p, const char *e, enum json_kind *kind);

/* Whether the whole text is a valid number.  *kind: its form. */
static inline bool json_is_number(struct slice s, enum json_kind *kind)
{
	return s.n > 0 && json_number(s.p, s.p + s.n, kind) == s.p + s.n;
}

/* Returns the bytes between the quotes of a string [p, q), or all of any other value. */
static inline struct slice json_text(const char *p, const char *q, enum json_kind kind)
{
	return json_is_string(kind) ? slice_of(p + 1, (size_t)(q - p) - 2) : slice_of(p, (size_t)(q - p));
}

/* The same for a token; empty for an absent one. */
static inline struct slice json_token_text(const struct json_token *t)
{
	return t->kind != JSON_ABSENT ? json_text(t->p, t->end, t->kind) : slice_of("", 0);
}

/* Whether the token has this text, with or without escapes. */
bool json_token_is(const struct json_token *t, const char *text);

/* Copies a string with its escapes replaced by their characters.  s: the bytes between the quotes.  Invalid
 * escapes are copied unchanged.  Returns the end of the copy, which is not longer. */
char *json_put_unescaped(char *to, struct slice s);

/* The same in an arena.  On OOM, p of the result is NULL. */
struct slice json_unescape(struct arena *a, struct slice s);

/* Reads 1 to 16 hexadecimal digits.  Returns false if the text is anything else. */
bool json_hex(struct slice s, uint64_t *v);

/* Returns the length of a valid escape at the backslash p, with both surrogates of a pair; 0: invalid. */
uint32_t json_escape_length(const char *p, const char *e);

/* Whether the escape at the backslash p is a surrogate, of a pair or not. */
bool json_is_surrogate(const char *p, const char *e);

/*
 * Returns the character of the escape at the backslash p if the escape is spare, else '\0'.  Spare is an
 * escape of 6 bytes for a character that needs none and that no writer escapes for HTML.  It is valid but
 * unexpected in keys and words, which readers compare with those of their format.
 */
char json_spare(const char *p, const char *e);

/* Copies valid JSON without its spare escapes.  Returns the end of the copy, which is not longer. */
char *json_put_plain(char *to, const char *p, const char *e);

#define JSON_WORD 128 /* bytes of a key or word that may be one of a format */

/* Returns the text without its spare escapes, in `to`; as it is if it has no escapes, or more bytes. */
static inline struct slice json_plain(char to[JSON_WORD], struct slice s)
{
	if (s.n > JSON_WORD || memchr(s.p, '\\', s.n) == NULL)
		return s;
	return slice_of(to, (size_t)(json_put_plain(to, s.p, s.p + s.n) - to));
}

/* Writes a character as UTF-8, at most 4 bytes.  Returns the position after it. */
char *json_put_utf8(char *to, uint32_t c);

/* ---- walking through an object or array ---- */

/*
 *	for (p = json_first(x, p, e, &more); p != NULL && more; p = json_next(x, p, e, close, &more)) {
 *		(objects: p = json_key(x, p, e, &key, &kind))
 *		p = json_value(x, p, e, &kind)
 *	}
 *
 * The functions skip blanks around tokens.  Each may return NULL.
 */

/* p: the opening bracket.  Returns the first key or value; if there is none (*more is false), the end of the
 * object or array. */
const char *json_first(struct json *x, const char *p, const char *e, bool *more);

/* Reads `"key":` and returns the start of the value.  *key: the bytes between the quotes, with escapes if
 * *kind is JSON_ESCAPED. */
const char *json_key(struct json *x, const char *p, const char *e, struct slice *key, enum json_kind *kind);

/* p: the end of a value.  Returns the next key or value; if there is none (*more is false), the end after the
 * closing bracket `close`. */
const char *json_next(struct json *x, const char *p, const char *e, char close, bool *more);

/*
 * A shorter form, for code that needs key and value together:
 *
 *	struct json_walk w = json_walk(x, p, e);
 *	while (json_walk_next(&w))
 *		(w.key, w.value)
 *
 * After the loop w.p is the end of the object or array, or NULL after an error.
 *
 * A lazy walk does not read objects and arrays among its values: value.end is NULL.  The caller can walk
 * through such a value and then set value.end; else json_walk_next() skips the value.
 */
struct json_walk {
	struct json *json; /* NULL: use `own` */
	struct json own;
	const char *p, *e; /* p: the next key or value */
	char close;
	bool more, lazy;
	struct json_token key; /* in objects */
	struct json_token value;
};

/* Begins a walk.  p: the opening bracket. */
static inline struct json_walk json_walk(struct json *x, const char *p, const char *e)
{
	struct json_walk w = { .json = x, .e = e, .close = *p == '{' ? '}' : ']' };

	w.p = json_first(x, p, e, &w.more);
	return w;
}

/* Begins a second walk through an object or array that was read before; its tokens are the same. */
static inline struct json_walk json_walk_again(const struct json_token *t)
{
	struct json_walk w = { .own = { .lenient = true, .complete = true, .depth = JSON_MAX_DEPTH },
		               .e = t->end,
		               .close = *t->p == '{' ? '}' : ']' };

	w.p = json_first(&w.own, t->p, t->end, &w.more);
	return w;
}

bool json_walk_next(struct json_walk *w);

/* Whether the current member has this name. */
static inline bool json_walk_is(const struct json_walk *w, const char *name)
{
	return slice_is(json_token_text(&w->key), name);
}

/* Begins a second walk through an array; it is empty if the token is none. */
static inline struct json_walk json_walk_list(const struct json_token *t)
{
	return t->kind != JSON_ABSENT && *t->p == '[' ? json_walk_again(t) : (struct json_walk){ .p = NULL };
}

/* Walks to the end.  Returns the number of members or elements that were left. */
uint64_t json_walk_rest(struct json_walk *w);

/* Returns the last member of this name, with a second walk; absent if `of` is no object, or has none. */
struct json_token json_member(const struct json_token *of, const char *name);

/* The same for n members of different names, in one walk. */
void json_members(const struct json_token *of, const char *const *names, size_t n, struct json_token *to);

/* ---- documents ---- */

/* Returns NULL if the n bytes are one valid JSON value with only blanks around it.  Else returns the error,
 * and sets *at to its offset. */
const char *json_document_fault(const char *p, size_t n, unsigned depth, size_t *at);

#endif
