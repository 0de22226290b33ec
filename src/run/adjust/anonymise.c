#include "run/adjust/anonymise.h"

#include "json/json_token.h"
#include "output/text_json.h"

#define WORD 13        /* letters of a pseudonym: 60 bits behind the first */
#define SUFFIX_MOST 8  /* letters of a suffix, without its dot */
#define MOST_DEPTH 256 /* of lists; formats bound it well below */

void
anonymise_set_key(struct anonymise *a, const void *p, size_t n)
{
	static const struct siphash_key first = { 1, 2 }, second = { 3, 4 };

	a->key.k0 = siphash(&first, p, n);
	a->key.k1 = siphash(&second, p, n);
}

void
anonymise_set_shift(struct anonymise *a)
{
	a->shift = siphash(&a->key, "the shift of times", 18) >> 9; /* up to 417 days */
}

/* ---- texts ---- */

static char *
put_word(const struct anonymise *a, char *to, const char *p, size_t n)
{
	static const char letters[32] = "abcdefghijkmnpqrstuvwxyz23456789";
	uint64_t h = siphash(&a->key, p, n);

	*to++ = 'w';
	for (int i = 1; i < WORD; i++, h >>= 5)
		*to++ = letters[h & 31];
	return to;
}

static bool
is_letter(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Bytes at the end of [p, p + n) that are a suffix; 0: none. */
static size_t
suffix_of(const char *p, size_t n)
{
	size_t k = 0;

	while (k < n && k <= SUFFIX_MOST && is_letter(p[n - 1 - k]))
		k++;
	return k > 0 && k < n - 1 && k <= SUFFIX_MOST && p[n - 1 - k] == '.' ? k + 1 : 0;
}

/* What lies between slashes, or all of a text.  A path is made of parts, and only the last has a suffix. */
static char *
put_part(const struct anonymise *a, char *to, const char *p, size_t n, bool last)
{
	const size_t suffix = a->keep_suffixes && last ? suffix_of(p, n) : 0;

	if (n > suffix)
		to = put_word(a, to, p, n - suffix);
	memcpy(to, p + n - suffix, suffix);
	return to + suffix;
}

struct slice
anonymise_text(const struct anonymise *a, struct slice s, struct arena *into)
{
	const char *p = s.p, *const end = s.p + s.n;
	size_t parts = 1;

	if (s.n == 0)
		return SLICE_LIT("");
	for (const char *q = p; a->keep_paths && q < end; q++)
		parts += *q == '/';
	char *const text = arena_alloc(into, parts * (WORD + 1) + SUFFIX_MOST + 1), *to = text;
	if (text == NULL)
		return (struct slice){ .p = NULL };
	while (true) {
		const char *const slash = a->keep_paths ? memchr(p, '/', (size_t)(end - p)) : NULL;
		const char *const stop = slash != NULL ? slash : end;
		to = put_part(a, to, p, (size_t)(stop - p), slash == NULL);
		if (slash == NULL)
			break;
		*to++ = '/';
		p = slash + 1;
	}
	return (struct slice){ text, (uint32_t)(to - text), SLICE_UTF8 | SLICE_JSON };
}

/* ---- values ---- */

uint64_t
anonymise_number(const struct anonymise *a, uint64_t v, unsigned bits)
{
	unsigned char p[9] = { 'n' };

	for (int i = 0; i < 8; i++)
		p[1 + i] = (unsigned char)(v >> 8 * i);
	return siphash(&a->key, p, sizeof p) >> (64 - bits);
}

/* One that a field holds: its type stays. */
static void
hide_number(const struct anonymise *a, struct value *v)
{
	static const uint8_t bits[] = {
		[VALUE_U8] = 8,   [VALUE_U16] = 16, [VALUE_U32] = 32, [VALUE_U64] = 64,    [VALUE_I8] = 7,
		[VALUE_I16] = 15, [VALUE_I32] = 31, [VALUE_I64] = 63, [VALUE_ADDRESS] = 64
	};

	if (v->type == VALUE_F32 || v->type == VALUE_F64) /* 24 bits: exact in both */
		v->f64 = (double)anonymise_number(a, v->u64, 24) / 16777216.0;
	else if (v->type < sizeof bits && bits[v->type] > 0)
		v->u64 = anonymise_number(a, v->u64, bits[v->type]);
}

/* As many bytes as there were, made of the key and them; at most 32. */
static bool
hide_bytes(const struct anonymise *a, struct value *v, struct arena *into)
{
	const uint32_t n = v->count < 32 ? v->count : 32;
	char *const p = arena_alloc(into, n);
	uint64_t h = siphash(&a->key, v->p, v->count);

	if (p == NULL)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		p[i] = (char)(h >> 8 * (i % 8));
		if (i % 8 == 7)
			h = siphash(&a->key, &h, sizeof h);
	}
	v->p = p;
	v->count = n;
	return true;
}

/* A token of JSON that begins at p: a text, a number, or one byte of all else.  NULL: no memory. */
static const char *
put_token(const struct anonymise *a, struct text *t, const char *p, const char *end, struct arena *into)
{
	struct json x = { .lenient = true, .complete = true, .depth = 1 };
	enum json_kind kind;
	const char *behind = p + 1;

	if (*p == '"' && (behind = json_string(&x, p, end, &kind)) != NULL) {
		struct slice s = json_text(p, behind, kind);
		if (kind != JSON_STRING)
			s = json_unescape(into, s);
		const struct slice word = s.p != NULL ? anonymise_text(a, s, into) : s;
		if (word.p == NULL)
			return NULL;
		text_char(t, '"');
		text_slice(t, word);
		text_char(t, '"');
		return behind;
	}
	if (a->hide_numbers && ((*p >= '0' && *p <= '9') || *p == '-') &&
	    (behind = json_number(p, end, &kind)) != NULL) {
		text_u64(t, siphash(&a->key, p, (size_t)(behind - p)) >> 32);
		return behind;
	}
	if (*p != '"')
		text_char(t, *p);
	return p + 1;
}

static bool
hide_json(const struct anonymise *a, struct value *v, struct arena *into)
{
	const char *p = v->p, *const end = v->p + v->count;
	struct text t = { .p = NULL };

	while (p != NULL && p < end && !t.failed)
		p = put_token(a, &t, p, end, into);
	const struct slice s = p != NULL && !t.failed
	                           ? arena_copy(into, slice_of(t.p != NULL ? t.p : "", t.n))
	                           : (struct slice){ .p = NULL };
	text_free(&t);
	v->p = s.p;
	v->count = s.n;
	return s.p != NULL;
}

static bool hide(const struct anonymise *a, struct value *v, struct arena *into, unsigned depth);

static bool
hide_entries(const struct anonymise *a, struct value *v, struct arena *into, unsigned depth)
{
	const size_t n = v->type == VALUE_MAP ? (size_t)v->count * 2 : v->count;
	struct value *const copy = arena_alloc(into, n * sizeof *copy);

	if (copy == NULL)
		return false;
	if (depth == MOST_DEPTH) {
		*v = (struct value){ .type = VALUE_NONE };
		return true;
	}
	if (n > 0)
		memcpy(copy, v->values, n * sizeof *copy);
	for (size_t i = 0; i < n; i++)
		if (!hide(a, &copy[i], into, depth + 1))
			return false;
	v->values = copy;
	return true;
}

static bool
hide(const struct anonymise *a, struct value *v, struct arena *into, unsigned depth)
{
	if (v->type == VALUE_STRING) {
		*v = value_string(anonymise_text(a, value_text(v), into));
		return v->p != NULL;
	}
	if (v->type == VALUE_BYTES)
		return hide_bytes(a, v, into);
	if (v->type == VALUE_JSON)
		return hide_json(a, v, into);
	if (v->type == VALUE_LIST || v->type == VALUE_MAP)
		return hide_entries(a, v, into, depth);
	if (a->hide_numbers)
		hide_number(a, v);
	return true;
}

bool
anonymise_value(const struct anonymise *a, struct value *v, struct arena *into)
{
	return hide(a, v, into, 0);
}
