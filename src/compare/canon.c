/* Hashes of values in the canonical form of identity.h.  JSON text is hashed in one pass without recursion,
 * with a stack of open lists and objects, so that hostile nesting costs neither memory nor stack. */
#include "compare/identity.h"

#include <math.h>
#include <stdlib.h>

#include "base/numbers.h"
#include "format/fields_json.h"
#include "json/number.h"
#include "json/token.h"

enum canon_tag { CANON_NONE = 1, CANON_FLOAT, CANON_TEXT, CANON_LIST, CANON_OBJECT, CANON_MEMBER };

/* ---- forms ---- */

#define MAX_EXACT ((UINT64_C(1) << 53) - 1)

static struct wide_hash canon_none(void)
{
	return wide_hash_start(CANON_NONE);
}

static struct wide_hash canon_float(double v)
{
	const double magnitude = fabs(v);
	struct wide_hash h = wide_hash_start(CANON_FLOAT);

	if (magnitude < 0x1p64 && magnitude == floor(magnitude))
		return canon_integer(v < 0, (uint64_t)magnitude);
	wide_hash_add(&h, isnan(v) ? 0 : double_bits(v));
	return h;
}

/* Parses the digits of an integer beyond the exact integers of a double, which JSON writers quote. */
static bool long_number(struct slice s, bool *negative, uint64_t *v)
{
	*negative = s.n > 0 && s.p[0] == '-';
	if (*negative)
		s = slice_of(s.p + 1, s.n - 1);
	return s.n >= 16 && s.n <= 20 && s.p[0] != '0' && json_digits_any(s.p, s.n, v) && *v > MAX_EXACT &&
	       (!*negative || *v <= UINT64_C(1) << 63);
}

static struct wide_hash canon_text(struct slice s)
{
	struct wide_hash h = wide_hash_start(CANON_TEXT);
	bool negative = false;
	uint64_t v;

	if (s.n > 0 && (s.p[0] == '-' || (s.p[0] >= '0' && s.p[0] <= '9')) &&
	    ((hex_number(s, &v) && (s.n == 3 || s.p[2] != '0')) || long_number(s, &negative, &v)))
		return canon_integer(negative, v);
	wide_hash_add_text(&h, s);
	return h;
}

/* all: hashes of the values of a list, added in turn to { 0, 0 }; or the sum of the members of an object. */
static struct wide_hash canon_nested(bool object, uint64_t count, struct wide_hash all)
{
	struct wide_hash h = wide_hash_start(object ? CANON_OBJECT : CANON_LIST);

	wide_hash_add(&h, count);
	wide_hash_add_hash(&h, all);
	return h;
}

static struct wide_hash canon_member(struct slice name, struct wide_hash of_value)
{
	struct wide_hash h = wide_hash_start(CANON_MEMBER);

	wide_hash_add_text(&h, name);
	wide_hash_add_hash(&h, of_value);
	return wide_hash_end(h);
}

/* ---- JSON ---- */

struct level {
	bool object;
	uint64_t count;
	struct wide_hash hash; /* of the values of a list; sum of the members of an object */
	struct slice name;     /* of the current member */
};

struct walk {
	struct canon *canon;
	struct json json;
	const char *end;
	struct level levels[CANON_DEPTH];
	unsigned n;     /* open levels */
	unsigned depth; /* levels around the text */
};

static struct slice unescape(struct walk *w, struct slice s, enum json_kind kind)
{
	return kind == JSON_ESCAPED ? json_unescape(&w->canon->scratch, s) : s;
}

static struct wide_hash json_number_hash(struct walk *w, struct slice s)
{
	char buffer[64], *copy = buffer;
	uint64_t v;

	const bool negative = s.p[0] == '-';
	if (json_digits_any(s.p + negative, s.n - negative, &v))
		return canon_integer(negative, v);
	if (s.n >= sizeof buffer)
		copy = arena_alloc(&w->canon->scratch, (size_t)s.n + 1);
	if (copy == NULL)
		return canon_none();
	memcpy(copy, s.p, s.n);
	copy[s.n] = '\0';
	return canon_float(strtod(copy, NULL));
}

static struct wide_hash json_scalar_hash(struct walk *w, const char *p, const char *end, enum json_kind kind)
{
	const struct slice s = json_text(p, end, kind);

	if (json_is_string(kind) || kind == JSON_BAD_WORD) {
		const struct slice t = unescape(w, s, kind);
		return t.p != NULL ? canon_text(t) : canon_none();
	}
	if (kind == JSON_TRUE || kind == JSON_FALSE)
		return canon_integer(false, kind == JSON_TRUE);
	return kind == JSON_NULL ? canon_none() : json_number_hash(w, s);
}

/* Reads the key of a member.  Returns the start of its value. */
static const char *read_key(struct walk *w, const char *p)
{
	enum json_kind kind;
	struct slice s;

	p = json_key(&w->json, p, w->end, &s, &kind);
	if (p == NULL)
		return NULL;
	w->levels[w->n - 1].name = unescape(w, s, kind);
	return w->levels[w->n - 1].name.p != NULL ? p : NULL;
}

/* Adds a value to the innermost level. */
static void add_value(struct walk *w, struct wide_hash h)
{
	struct level *const l = &w->levels[w->n - 1];

	l->count++;
	if (l->object)
		wide_hash_sum(&l->hash, canon_member(l->name, h));
	else
		wide_hash_add_hash(&l->hash, h);
}

/* Continues after a value of the innermost level, or with `first` after its opening bracket: closes the
 * levels that end here.  Returns the next value; NULL at the end of the text (sets *done, and *out to the
 * hash of the whole), or if the text is not JSON. */
static const char *next_value(struct walk *w, const char *p, bool first, struct wide_hash *out, bool *done)
{
	bool more = false;

	while (w->n > 0) {
		const bool object = w->levels[w->n - 1].object;
		p = first ? json_first(&w->json, p, w->end, &more)
		          : json_next(&w->json, p, w->end, object ? '}' : ']', &more);
		first = false;
		if (p == NULL)
			return NULL;
		if (more)
			return object ? read_key(w, p) : p;
		const struct level *const l = &w->levels[--w->n];
		*out = canon_nested(object, l->count, l->hash);
		if (w->n > 0)
			add_value(w, *out);
	}
	*done = json_skip_blanks(p, w->end) == w->end;
	return NULL;
}

/* Returns false if the text is not JSON, or on OOM. */
static bool walk_json(struct walk *w, const char *p, struct wide_hash *out)
{
	bool done = false;

	while (p != NULL) {
		enum json_kind kind;
		const bool nested = p < w->end && (*p == '{' || *p == '[');
		if (nested && w->n + w->depth < CANON_DEPTH) {
			w->levels[w->n++] = (struct level){ .object = *p == '{' };
			p = next_value(w, p, true, out, &done);
			continue;
		}
		const char *const end = nested ? json_nested(&w->json, p, w->end, &kind)
		                               : json_scalar(&w->json, p, w->end, &kind);
		if (end == NULL)
			return false;
		*out = nested ? canon_none() : json_scalar_hash(w, p, end, kind);
		if (w->n > 0)
			add_value(w, *out);
		p = next_value(w, end, false, out, &done);
	}
	return done;
}

/* Hashes the text of a VALUE_JSON at this depth.  Text that is not JSON is hashed by its bytes. */
static struct wide_hash canon_json(struct canon *c, struct slice text, unsigned depth)
{
	struct walk w; /* without an initialiser: clearing the levels costs more than the rest */
	struct wide_hash h;

	w.canon = c;
	w.json = (struct json){ .lenient = true, .complete = true, .depth = JSON_MAX_DEPTH };
	w.end = text.p + text.n;
	w.n = 0;
	w.depth = depth;

	return walk_json(&w, json_skip_blanks(text.p, w.end), &h) ? h : canon_text(text);
}

/* ---- values ---- */

/* Hashes bytes as the text "0x" and their digits, in pieces. */
static struct wide_hash canon_bytes(const struct value *v)
{
	static const char digits[] = "0123456789abcdef";
	struct wide_hash h = wide_hash_start(CANON_TEXT);
	char piece[64] = "0x";
	uint32_t n = 2;

	wide_hash_add(&h, 2 + 2 * (uint64_t)v->count);
	for (uint32_t i = 0; i < v->count; i++) {
		piece[n++] = digits[(unsigned char)v->p[i] >> 4];
		piece[n++] = digits[v->p[i] & 15];
		if (n == sizeof piece) {
			wide_hash_add_piece(&h, piece, n);
			n = 0;
		}
	}
	if (v->count <= 8)
		return canon_text(slice_of(piece, n));
	wide_hash_add_piece(&h, piece, n);
	return h;
}

static struct wide_hash hash_value(struct canon *c, const struct value *v, unsigned depth);

static struct wide_hash hash_list(struct canon *c, const struct value *values, uint32_t count, unsigned depth)
{
	struct wide_hash run = { 0, 0 };

	for (uint32_t i = 0; i < count; i++)
		wide_hash_add_hash(&run, hash_value(c, &values[i], depth + 1));
	return canon_nested(false, count, run);
}

static bool is_member_compared(const struct canon *c, struct slice name)
{
	const struct event_fields *const f = c->fields;

	return f == NULL || f->members == NULL || f->members(f->ctx, c->field, name);
}

static struct wide_hash hash_map(struct canon *c, const struct value *v, unsigned depth)
{
	const bool object = value_is_object(v);
	struct wide_hash all = { 0, 0 };
	uint32_t left_out = 0;

	for (uint32_t i = 0; i < v->count; i++) {
		const struct value *const key = &v->values[2 * (size_t)i];
		if (object && !is_member_compared(c, value_text(key)))
			left_out++;
		else if (object)
			wide_hash_sum(&all, canon_member(value_text(key), hash_value(c, key + 1, depth + 1)));
		else
			wide_hash_add_hash(&all, hash_list(c, key, 2, depth + 1));
	}
	return canon_nested(object, v->count - left_out, all);
}

static struct wide_hash hash_value(struct canon *c, const struct value *v, unsigned depth)
{
	switch ((enum value_type)v->type) {
	case VALUE_BOOL:
		return canon_integer(false, v->u64 != 0);
	case VALUE_U8:
	case VALUE_U16:
	case VALUE_U32:
	case VALUE_U64:
	case VALUE_ADDRESS:
		return canon_integer(false, v->u64);
	case VALUE_I8:
	case VALUE_I16:
	case VALUE_I32:
	case VALUE_I64:
		return canon_integer(v->i64 < 0, v->i64 < 0 ? 0 - (uint64_t)v->i64 : (uint64_t)v->i64);
	case VALUE_F32: /* as the double of its shortest decimal text; small integers are exact */
		return canon_float(v->f64 == floor(v->f64) && fabs(v->f64) < 0x1p20 ? v->f64
		                                                                    : decimal_widen(v->f64));
	case VALUE_F64:
		return canon_float(v->f64);
	case VALUE_STRING:
		return canon_text(value_text(v));
	case VALUE_BYTES:
		return canon_bytes(v);
	case VALUE_JSON:
		return canon_json(c, value_text(v), depth);
	case VALUE_LIST:
		return depth < CANON_DEPTH ? hash_list(c, v->values, v->count, depth) : canon_none();
	case VALUE_MAP:
		return depth < CANON_DEPTH ? hash_map(c, v, depth) : canon_none();
	case VALUE_NONE:
		break;
	}
	return canon_none();
}

struct wide_hash canon_value(struct canon *c, const struct value *v)
{
	arena_reset(&c->scratch);
	return hash_value(c, v, 0);
}

void canon_free(struct canon *c)
{
	arena_free(&c->scratch);
}
