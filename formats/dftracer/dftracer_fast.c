#include "dftracer/dftracer_record.h"

/*
 * Records as tracers write them, on a line of their own.  The quotes are known
 * beforehand, so no string is looked through, and where one field ends says
 * nothing that the next has to wait for.  Every byte is still judged: what
 * stands between strings must be exactly what JSON wants there, and the
 * caller has seen that no string holds anything odd.  Whatever is not as it
 * should be, or not as usual, is left to dft_parse().
 */

struct walk {
	struct dft_record *rec;
	struct dft_keys *keys;
	const char *base;   /* positions count from here */
	const uint32_t *q;  /* the next quote */
	uint32_t end;       /* position of the line's end */
};

/* ---- numbers ---- */

/* The first byte that is no digit; the line end is one.  What carries of the addition change only bytes behind it. */
static inline const char *
skip_digits(const char *p)
{
	for (;; p += 8) {
		const uint64_t w = load_u64(p, false) ^ UINT64_C(0x3030303030303030);
		const uint64_t other = ((w + UINT64_C(0x0606060606060606)) | w) & UINT64_C(0xf0f0f0f0f0f0f0f0);
		if (other != 0)
			return p + (__builtin_ctzll(other) >> 3);
	}
}

static inline bool
ends_number(char c)
{
	return c == ',' || c == '}';
}

/* NULL: no number, or it is not followed by a comma or brace. */
static inline const char *
number(const char *p, const char *e, uint8_t *kind)
{
	const bool minus = *p == '-';
	const char *const first = p + minus, *q = skip_digits(first);
	enum dft_kind slow;

	if (q > first && ends_number(*q) && (*first != '0' || q - first == 1)) {
		*kind = minus ? DFT_INT : DFT_UINT;
		return q;
	}
	q = dft_json_number(p, e, &slow);
	*kind = (uint8_t)slow;
	return q != NULL && q < e && ends_number(*q) ? q : NULL;
}

/* ---- values ---- */

static inline const char *
at(const struct walk *w, uint32_t position)
{
	return w->base + position;
}

/* Whether the next quote is at p. */
static inline bool
is_quote(const struct walk *w, const char *p)
{
	return w->q[0] == (uint32_t)(p - w->base);
}

/* An object, array or word inside the arguments. */
static const char *
rare_value(struct walk *w, const char *v, struct dft_arg *a)
{
	const char *const e = at(w, w->end);
	enum dft_kind kind;
	const char *const q =
	    *v == '{' || *v == '[' ? dft_json_nested(w->rec, v, e, &kind) : dft_json_scalar(w->rec, v, e, &kind);

	if (q == NULL || w->rec->nfaults > 0)
		return NULL;
	a->kind = (uint8_t)kind;
	while (w->q[0] < (uint32_t)(q - w->base))
		w->q++;
	return q;
}

/* The value at v, with the token that it is, into a; w->q is at the first quote behind the key. */
static inline const char *
value(struct walk *w, const char *v, struct dft_arg *a)
{
	const char *const start = w->rec->p;
	const char *q;

	if (*v == '"') {
		/* the quotes of the line come in pairs, and w->q is at v */
		const uint32_t close = w->q[1];
		if (close >= w->end)
			return NULL;
		q = at(w, close);
		a->kind = DFT_STRING;
		a->value = (struct dft_token){ (uint32_t)(v + 1 - start), (uint32_t)(q - v - 1) };
		w->q += 2;
		return q + 1;
	}
	if (*v == '-' || (*v >= '0' && *v <= '9'))
		q = number(v, at(w, w->end), &a->kind);
	else
		q = rare_value(w, v, a);
	if (q != NULL)
		a->value = (struct dft_token){ (uint32_t)(v - start), (uint32_t)(q - v) };
	return q;
}

/* The value's first byte behind the key that begins at w->q; NULL: no key and colon.  One blank is allowed: some print it. */
static inline const char *
key(struct walk *w, struct dft_token *token)
{
	const uint32_t open = w->q[0], close = w->q[1];

	if (close >= w->end)
		return NULL;
	const char *v = at(w, close) + 1;
	if (*v != ':')
		return NULL;
	v++;
	v += *v == ' ';
	*token = (struct dft_token){ (uint32_t)(at(w, open) + 1 - w->rec->p), close - open - 1 };
	w->q += 2;
	return v;
}

/* Behind a value, at the comma: whether the next key begins there. */
static inline bool
next_key(const struct walk *w, const char *p)
{
	p++;
	p += *p == ' ';
	return is_quote(w, p);
}

/* ---- arguments ---- */

static inline bool
note_key(struct walk *w, struct dft_arg *a)
{
	struct dft_record *const rec = w->rec;
	struct dft_keys *const keys = w->keys;

	if (a->key.n > 16)
		a->number = dft_key_number(keys, dft_token_text(rec, a->key));
	else
		a->number = dft_key_number_short(keys, rec->p + a->key.at, a->key.n);
	if (a->number == DFT_NO_KEY)
		return false;
	struct dft_key *const k = &keys->keys[a->number];
	if (k->object == keys->object)
		return false; /* it comes twice */
	k->object = keys->object;
	k->repeats = 0;
	a->repeats = 0;
	a->meaning = k->meaning;
	if (k->meaning != DFT_MEANS_NOTHING) {
		const uint32_t i = rec->nargs;
		rec->special[k->meaning] = (uint16_t)(i + 1);
		if (dft_means_hash((enum dft_meaning)k->meaning) && i < 64)
			rec->hashes |= UINT64_C(1) << i;
	}
	return true;
}

/* The object of the arguments, at its brace. */
static inline const char *
arguments(struct walk *w, const char *p)
{
	struct dft_record *const rec = w->rec;

	w->keys->object++;
	if (p[1] == '}')
		return p + 2;
	if (!is_quote(w, p + 1))
		return NULL;
	for (;;) {
		if (rec->nargs == rec->args_cap)
			return NULL;
		struct dft_arg *const a = &rec->args[rec->nargs];
		const char *const v = key(w, &a->key);
		if (v == NULL || !note_key(w, a))
			return NULL;
		p = value(w, v, a);
		if (p == NULL)
			return NULL;
		rec->nargs++;
		if (*p == '}')
			return p + 1;
		if (*p != ',' || !next_key(w, p))
			return NULL;
	}
}

/* ---- the record ---- */

#define KEY2(a, b) ((uint32_t)(a) | (uint32_t)(b) << 8)
#define KEY3(a, b, c) (KEY2(a, b) | (uint32_t)(c) << 16)
#define KEY4(a, b, c, d) (KEY3(a, b, c) | (uint32_t)(d) << 24)

static inline enum dft_top
top_of(const char *p, uint32_t n)
{
	switch (n <= 4 ? load_u32(p, false) & (uint32_t)((UINT64_C(1) << 8 * n) - 1) : 0) {
	case KEY2('i', 'd'):
		return DFT_ID;
	case KEY2('t', 's'):
		return DFT_TS;
	case KEY2('p', 'h'):
		return DFT_PH;
	case KEY3('c', 'a', 't'):
		return DFT_CAT;
	case KEY3('p', 'i', 'd'):
		return DFT_PID;
	case KEY3('t', 'i', 'd'):
		return DFT_TID;
	case KEY3('d', 'u', 'r'):
		return DFT_DUR;
	case KEY4('n', 'a', 'm', 'e'):
		return DFT_NAME;
	case KEY4('t', 'y', 'p', 'e'):
		return DFT_TYPE;
	case KEY4('a', 'r', 'g', 's'):
		return DFT_ARGS;
	default:
		return DFT_TOPS;
	}
}

static inline const char *
top_field(struct walk *w)
{
	struct dft_record *const rec = w->rec;
	struct dft_arg a;
	const char *const v = key(w, &a.key), *p;

	if (v == NULL)
		return NULL;
	const enum dft_top which = top_of(rec->p + a.key.at, a.key.n);
	if (which == DFT_TOPS || dft_top_kind(rec, which) != DFT_ABSENT)
		return NULL;
	if (which == DFT_ARGS && *v == '{') {
		p = arguments(w, v);
		if (p == NULL)
			return NULL;
		a.kind = DFT_OBJECT;
		a.value = (struct dft_token){ (uint32_t)(v - rec->p), (uint32_t)(p - v) };
	} else if ((p = value(w, v, &a)) == NULL) {
		return NULL;
	}
	rec->top[which] = a.value;
	rec->shape |= (uint64_t)a.kind << 4 * which;
	return p;
}

bool
dft_parse_fast(struct dft_record *rec, struct dft_keys *keys, const char *base, const uint32_t **quotes, const char *p,
               const char *e)
{
	struct walk w = { rec, keys, base, *quotes, (uint32_t)(e - base) };

	dft_record_clear(rec);
	rec->p = p;
	if (!is_quote(&w, p + 1))
		return false;
	for (;;) {
		p = top_field(&w);
		if (p == NULL)
			return false;
		if (*p == '}')
			break;
		if (*p != ',' || !next_key(&w, p))
			return false;
	}
	if (p + 1 != e)
		return false;
	rec->end = e;
	rec->clean = true;
	*quotes = w.q;
	return true;
}
