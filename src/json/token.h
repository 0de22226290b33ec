#ifndef JSON_TOKEN_H
#define JSON_TOKEN_H

#include "base/memory.h"

/*
 * JSON (RFC 8259) token by token.
 *
 * Text: one value or a part of it lies in [p, e), and nothing outside is read.
 * Strict reading accepts valid JSON only; surrogates in escapes must come in
 * pairs.  Lenient reading also accepts what some writers get wrong and what can
 * be read in one way only, and lists it: see enum json_flaw.  A byte order mark
 * is not accepted.  Nothing recurses: depth is bounded by max_depth.
 *
 * Memory: nothing is allocated or copied but by json_unescape().  Whatever is
 * found are places in the caller's text.
 *
 * Errors: a function returns where the token ends, or NULL.  Then error.at is
 * the exact place, error.why the reason in a few words (a literal), and
 * error.cut tells whether the text may merely end too early.
 */

#define JSON_MAX_DEPTH 128

/* What a value looks like.  Four bits. */
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
	JSON_NOT_FINITE, /* lenient: nan, inf or infinity in any case, with a sign or not */
	JSON_BAD_WORD,   /* lenient: another word without quotes, or a number such as 007, +1, 1. */
	JSON_BAD_NESTED, /* lenient: an object or array with flaws inside */
};

static inline bool json_is_string(enum json_kind kind)
{
	return kind >= JSON_STRING && kind <= JSON_BAD_STRING;
}

/* What lenient reading accepts. */
enum json_flaw {
	JSON_FLAW_CONTROL_BYTE, /* inside a string */
	JSON_FLAW_NUL,
	JSON_FLAW_UTF8,
	JSON_FLAW_ESCAPE, /* a backslash that begins no escape, or half a surrogate pair */
	JSON_FLAW_NOT_FINITE,
	JSON_FLAW_WORD,  /* see JSON_BAD_WORD */
	JSON_FLAW_COMMA, /* before a closing bracket */
	JSON_FLAW_KINDS  /* callers may add kinds of their own from here on */
};

#define JSON_FLAWS 8 /* that are listed; the rest is counted */

struct json_flaw_at {
	const char *at;
	uint8_t kind;
};

struct json_error {
	const char *at, *why;
	bool cut; /* the text ends before the token does */
};

/* Settings, and what came of the reading.  Set the first three, zero the rest. */
struct json {
	bool lenient;
	bool complete;  /* nothing follows e: a number or word may end there */
	unsigned depth; /* how deep values may nest, at most JSON_MAX_DEPTH */
	struct json_error error;
	struct json_flaw_at flaws[JSON_FLAWS]; /* one of each kind, the first, in order */
	uint32_t nflaws;
	uint32_t met; /* flaws of all kinds, never reset */
};

/* Forgets the flaws. */
static inline void json_clear(struct json *x)
{
	x->nflaws = 0;
}

void json_flaw_add(struct json *x, unsigned kind, const char *at);

/* Set the error and return NULL. */
const char *json_fail(struct json *x, const char *at, const char *why);
const char *json_cut(struct json *x, const char *at, const char *why);

static inline const char *json_skip_blanks(const char *p, const char *e)
{
	while (p < e && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n'))
		p++;
	return p;
}

/* ---- values ---- */

/* At the opening quote. */
const char *json_string(struct json *x, const char *p, const char *e, enum json_kind *kind);

/* Any value but an object or array. */
const char *json_scalar(struct json *x, const char *p, const char *e, enum json_kind *kind);

/* At the opening bracket of an object or array, to its closing one. */
const char *json_nested(struct json *x, const char *p, const char *e, enum json_kind *kind);

/* Any value. */
const char *json_value(struct json *x, const char *p, const char *e, enum json_kind *kind);

/* A number, strictly; NULL: it is none, and no error is set. */
const char *json_number(const char *p, const char *e, enum json_kind *kind);

/* What stands between the quotes of a string [p, q), and all of any other value. */
static inline struct slice json_text(const char *p, const char *q, enum json_kind kind)
{
	return json_is_string(kind) ? slice_of(p + 1, (size_t)(q - p) - 2) : slice_of(p, (size_t)(q - p));
}

/* The text of a string, from the bytes between its quotes; bad escapes stay as they are.  It lies in the
 * arena.  p NULL: no memory. */
struct slice json_unescape(struct arena *a, struct slice s);

/* ---- walking through an object or array ---- */

/*
 *	for (p = json_first(x, p, e, &more); p != NULL && more; p = json_next(x, p, e, close, &more)) {
 *		(objects: p = json_key(x, p, e, &key, &kind))
 *		p = json_value(x, p, e, &kind)
 *	}
 *
 * Blanks around the tokens are skipped.  Each of these may return NULL.
 */

/* At the opening bracket: to the first key or value, or behind the closing bracket (*more is false). */
const char *json_first(struct json *x, const char *p, const char *e, bool *more);

/* `"key":`, to the value; *key is what stands between the quotes, and *kind tells whether it has escapes. */
const char *json_key(struct json *x, const char *p, const char *e, struct slice *key, enum json_kind *kind);

/* Behind a value: to the next key or value, or behind the closing bracket, which is `close`. */
const char *json_next(struct json *x, const char *p, const char *e, char close, bool *more);

/* ---- documents ---- */

/* NULL if the n bytes are one JSON value, strictly, with nothing but blanks around it; else what is wrong,
 * and *at is the place. */
const char *json_document_fault(const char *p, size_t n, unsigned depth, size_t *at);

#endif
