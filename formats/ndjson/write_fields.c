/*
 * Writes the fields of an event and their values, so that they read back equal.  Fields are an object if a
 * JSON reader can get all of them (the names are UTF-8 and differ), else a list of pairs.  Events of a class
 * usually have fields of the same names, so the text before each value is prepared once and kept in a small
 * cache of shapes.
 */
#include <math.h>

#include "base/numbers.h"
#include "format/fields_json.h"
#include "ndjson/ndjson.h"
#include "out/field_names.h"
#include "out/kind.h"

#define MAX_DEPTH 200 /* nesting; readers return less */

const struct loss ndjson_losses[NDJSON_LOSSES + 1] = {
#define LOSS LOSS_ROW
#include "ndjson/losses.def"
#undef LOSS
};

/* ---- text ---- */

/* Writes valid UTF-8 in escaped form: a backslash is `\\`, in JSON four backslashes. */
static void put_valid(struct text *t, const char *p, size_t n)
{
	const char *const end = p + n;

	while (p < end) {
		const char *const found = memchr(p, '\\', (size_t)(end - p));
		const char *const stop = found != NULL ? found : end;
		struct slice s = slice_of(p, (size_t)(stop - p));
		s.flags = SLICE_UTF8;
		text_json_chars(t, s);
		if (found != NULL)
			text_add(t, "\\\\\\\\", 4);
		p = stop + (found != NULL);
	}
}

static void put_escaped(struct text *t, struct slice s)
{
	static const char digits[] = "0123456789abcdef";

	for (uint32_t i = 0; i < s.n;) {
		const uint32_t valid = (uint32_t)utf8_valid_prefix(s.p + i, s.n - i);
		put_valid(t, s.p + i, valid);
		i += valid;
		const uint32_t bad = i < s.n ? (uint32_t)utf8_invalid_run(s.p + i, s.n - i) : 0;
		for (const uint32_t stop = i + bad; i < stop; i++) {
			const unsigned char b = (unsigned char)s.p[i];
			text_add(t, (const char[]){ '\\', '\\', 'x', digits[b >> 4], digits[b & 15] }, 5);
		}
	}
}

bool ndjson_chars(struct text *t, struct slice s)
{
	const size_t start = t->n;

	if (text_json_chars(t, s) == 0)
		return false;
	t->n = start;
	put_escaped(t, s);
	return true;
}

bool ndjson_string(struct text *t, struct slice s)
{
	text_char(t, '"');
	const bool escaped = ndjson_chars(t, s);
	text_char(t, '"');
	return escaped;
}

/* ---- types and their forms ---- */

/*
 * Rule for readers: if a type is expected (declared by a class for the field, by a list for its values), a
 * value in a form of this type has this type; any other value has the natural type of its form: an integer is
 * U64, or I64 below 0, another number F64, text STRING, and so on.  The type is written only if neither gives
 * it.
 */

/*
 * Written forms of a value: an enum value_type or one of these.  A list of values of one type is
 * KIND_LIST_OF | type if the source format declares it for the list, KIND_LIST_SAME | type if it does not.
 */
enum kind {
	KIND_ESCAPED = 32, /* text that is not UTF-8: \xHH for a byte, \\ for a backslash */
	KIND_JSON_TEXT,    /* JSON that a line cannot contain unchanged */
	KIND_OBJECT,       /* a map as an object; VALUE_MAP: as a list of pairs */
	KIND_LIST_OF = 64,
	KIND_LIST_SAME = 128,
};

enum form {
	FORM_OTHER = 0, /* null, true, false, a list, an object: the form gives the type */
	FORM_INTEGER = 1,
	FORM_FRACTION = 2, /* a number with a point or an exponent */
	FORM_TEXT = 4,
};

struct type {
	uint8_t form; /* form of its values; infinities and NaN are text */
	uint8_t fits; /* forms that have this type if it is expected; 0: never expected */
};

static const struct type types[KIND_OBJECT + 1] = {
	[VALUE_U8] = { FORM_INTEGER, FORM_INTEGER },
	[VALUE_U16] = { FORM_INTEGER, FORM_INTEGER },
	[VALUE_U32] = { FORM_INTEGER, FORM_INTEGER },
	[VALUE_U64] = { FORM_INTEGER, FORM_INTEGER },
	[VALUE_I8] = { FORM_INTEGER, FORM_INTEGER },
	[VALUE_I16] = { FORM_INTEGER, FORM_INTEGER },
	[VALUE_I32] = { FORM_INTEGER, FORM_INTEGER },
	[VALUE_I64] = { FORM_INTEGER, FORM_INTEGER },
	[VALUE_F32] = { FORM_FRACTION, FORM_INTEGER | FORM_FRACTION | FORM_TEXT },
	[VALUE_F64] = { FORM_FRACTION, FORM_INTEGER | FORM_FRACTION | FORM_TEXT },
	[VALUE_ADDRESS] = { FORM_TEXT, FORM_TEXT },
	[VALUE_STRING] = { FORM_TEXT, FORM_TEXT },
	[VALUE_BYTES] = { FORM_TEXT, FORM_TEXT },
	[KIND_ESCAPED] = { FORM_TEXT, 0 },
	[KIND_JSON_TEXT] = { FORM_TEXT, 0 },
};

void ndjson_put_kind(struct text *t, unsigned kind)
{
	static const char *const more[] = { "escaped", "json-text", "object" };
	const unsigned list = kind & (KIND_LIST_OF | KIND_LIST_SAME), base = kind & ~list;

	if (list != 0)
		text_char(t, '[');
	text_str(t, base < VALUE_TYPES ? value_type_name(base) : more[base - KIND_ESCAPED]);
	if (list == KIND_LIST_SAME)
		text_char(t, '?');
	if (list != 0)
		text_char(t, ']');
}

/* ---- kinds ---- */

/* Whether a line can contain the JSON so that a reader gets all of its bytes back. */
static bool json_fits_line(const struct value *v)
{
	const char *const p = v->p;

	return v->count > 0 && (unsigned char)p[0] > ' ' && (unsigned char)p[v->count - 1] > ' ' &&
	       memchr(p, '\n', v->count) == NULL && memchr(p, '\r', v->count) == NULL;
}

/* An object whose only member starts with $ would be read as a kind. */
static bool map_fits_object(const struct value *v)
{
	if (!value_is_object(v) || (v->count == 1 && value_key(v, 0).n > 0 && *value_key(v, 0).p == '$'))
		return false;
	for (uint32_t i = 0; i < v->count; i++)
		if (!slice_is_utf8(value_key(v, i)))
			return false;
	return true;
}

/* Whether the form alone gives the type when none is expected. */
static bool is_natural(const struct value *v, unsigned kind)
{
	switch (kind) {
	case VALUE_I64:
		return v->i64 < 0;
	case VALUE_F64:
		return isfinite(v->f64);
	case VALUE_NONE:
	case VALUE_BOOL:
	case VALUE_U64:
	case VALUE_STRING:
	case VALUE_LIST:
	case KIND_OBJECT:
		return true;
	default:
		return false;
	}
}

static unsigned list_kind(const struct value *v)
{
	const unsigned type = v->count > 0 ? v->values[0].type : VALUE_NONE;
	bool natural = true;

	if (v->element != VALUE_NONE)
		return KIND_LIST_OF | v->element;
	if (!ndjson_expectable(type))
		return VALUE_LIST;
	for (uint32_t i = 0; i < v->count; i++) {
		if (v->values[i].type != type)
			return VALUE_LIST;
		natural = natural && is_natural(&v->values[i], type);
	}
	return natural ? VALUE_LIST : KIND_LIST_SAME | type;
}

static unsigned kind_of(const struct value *v)
{
	switch ((enum value_type)v->type) {
	case VALUE_STRING:
		return slice_is_utf8(value_text(v)) ? VALUE_STRING : KIND_ESCAPED;
	case VALUE_JSON:
		return json_fits_line(v) ? VALUE_JSON : KIND_JSON_TEXT;
	case VALUE_LIST:
		return list_kind(v);
	case VALUE_MAP:
		return map_fits_object(v) ? KIND_OBJECT : VALUE_MAP;
	default:
		return v->type;
	}
}

/* Returns the kind if it must be written, else 0. */
static unsigned kind_to_write(const struct value *v, unsigned kind, unsigned expected)
{
	if (kind == expected)
		return 0;
	return is_natural(v, kind) && (types[kind].form & types[expected].fits) == 0 ? 0 : kind;
}

/* ---- scalars ---- */

/* NaN has many bit patterns; all but the default one are written. */
static void put_not_finite(struct text *t, double v)
{
	const uint64_t bits = double_bits(v);

	if (!isnan(v))
		text_str(t, v < 0 ? "\"-Infinity\"" : "\"Infinity\"");
	else if (bits == UINT64_C(0x7ff8000000000000))
		text_str(t, "\"NaN\"");
	else
		text_printf(t, "\"NaN:0x%016llx\"", (unsigned long long)bits);
}

static void put_f64(struct text *t, double v)
{
	char *const p = text_reserve(t, DECIMAL_F64_MAX + 2);

	if (p == NULL)
		return;
	char *to = decimal_f64(p, v);
	const char *q = p + (*p == '-');
	while (q < to && *q >= '0' && *q <= '9')
		q++;
	if (q == to) { /* digits alone would be an integer */
		*to++ = '.';
		*to++ = '0';
	}
	t->n = (size_t)(to - t->p);
}

/* ---- any value ---- */

struct out {
	struct text *t;
	struct chunk *chunk;
	uint64_t offset; /* of the event in the input */
};

static void put_kind(const struct out *o, const struct value *v, unsigned kind, unsigned depth);

/* Writes a value with its kind if that is needed: {"$u8":7}. */
static void put_typed(const struct out *o, const struct value *v, unsigned expected, unsigned depth)
{
	const unsigned kind = kind_of(v), kind_written = kind_to_write(v, kind, expected);

	if (kind_written != 0) {
		text_str(o->t, "{\"$");
		ndjson_put_kind(o->t, kind_written);
		text_str(o->t, "\":");
	}
	put_kind(o, v, kind, depth);
	if (kind_written != 0)
		text_char(o->t, '}');
}

static void put_list(const struct out *o, const struct value *v, unsigned expected, unsigned depth)
{
	text_char(o->t, '[');
	for (uint32_t i = 0; i < v->count; i++) {
		if (i > 0)
			text_char(o->t, ',');
		put_typed(o, &v->values[i], expected, depth + 1);
	}
	text_char(o->t, ']');
}

static void put_map_object(const struct out *o, const struct value *v, unsigned depth)
{
	text_char(o->t, '{');
	for (uint32_t i = 0; i < v->count; i++) {
		if (i > 0)
			text_char(o->t, ',');
		text_json_string(o->t, value_key(v, i));
		text_char(o->t, ':');
		put_typed(o, &v->values[2 * (size_t)i + 1], VALUE_NONE, depth + 1);
	}
	text_char(o->t, '}');
}

static void put_map_pairs(const struct out *o, const struct value *v, unsigned depth)
{
	text_char(o->t, '[');
	for (uint32_t i = 0; i < v->count; i++) {
		const struct value *const pair = &v->values[2 * (size_t)i];
		text_str(o->t, i > 0 ? ",[" : "[");
		put_typed(o, pair, VALUE_NONE, depth + 1);
		text_char(o->t, ',');
		put_typed(o, pair + 1, VALUE_NONE, depth + 1);
		text_char(o->t, ']');
	}
	text_char(o->t, ']');
}

static void put_nested(const struct out *o, const struct value *v, unsigned kind, unsigned depth)
{
	const unsigned type = kind & ~(unsigned)(KIND_LIST_OF | KIND_LIST_SAME);

	if (depth >= MAX_DEPTH) {
		text_str(o->t, "null");
		ledger_add(&o->chunk->ledger, &ndjson_losses[NDJSON_LOSS_TOO_DEEP], o->offset, 1);
	} else if (kind == KIND_OBJECT) {
		put_map_object(o, v, depth);
	} else if (kind == VALUE_MAP) {
		put_map_pairs(o, v, depth);
	} else {
		put_list(o, v, kind != VALUE_LIST && ndjson_expectable(type) ? type : VALUE_NONE, depth);
	}
}

static void put_kind(const struct out *o, const struct value *v, unsigned kind, unsigned depth)
{
	struct text *const t = o->t;

	switch (kind) {
	case VALUE_F32:
	case VALUE_F64:
		if (!isfinite(v->f64))
			put_not_finite(t, v->f64);
		else if (kind == VALUE_F64)
			put_f64(t, v->f64);
		else
			text_json_f32(t, (float)v->f64);
		break;
	case VALUE_STRING:
	case KIND_ESCAPED:
		ndjson_string(t, value_text(v));
		break;
	case VALUE_BYTES:
		text_char(t, '"');
		text_hex(t, v->p, v->count);
		text_char(t, '"');
		break;
	case VALUE_JSON:
		text_json_text(t, v->p, v->count);
		break;
	case KIND_JSON_TEXT:
		(void)text_json_quoted(t, slice_of(v->p, v->count));
		break;
	default:
		if (kind < VALUE_STRING)
			(void)fields_json_as_is(t, v);
		else
			put_nested(o, v, kind, depth);
	}
}

/* Writes a value.  expected: the declared type, VALUE_NONE for none.  Returns the kind that must be written
 * with it so that it reads back equal; 0: none.  offset: of the event, for losses. */
static unsigned put_value(struct chunk *c, const struct value *v, unsigned expected, uint64_t offset)
{
	const struct out o = { &c->text, c, offset };
	unsigned kind = v->type;

	if (kind == VALUE_STRING) { /* one scan: writing shows whether it is UTF-8 */
		if (ndjson_string(&c->text, value_text(v)))
			kind = KIND_ESCAPED;
	} else {
		kind = kind_of(v);
		put_kind(&o, v, kind, 0);
	}
	return kind_to_write(v, kind, expected);
}

/* ---- fields: an object ---- */

/* Whether the names are UTF-8 and differ; sets t->failed on OOM. */
static bool fits_object(const struct field *f, uint32_t n, struct text *t)
{
	struct tabletext seen = { .slots = NULL };
	bool fits = true;

	for (uint32_t i = 0; i < n; i++)
		if (!slice_is_utf8(f[i].name))
			return false;
	if (n <= NDJSON_FEW_FIELDS)
		return !field_names_may_repeat(f, n);
	for (uint32_t i = 0; i < n && fits && !t->failed; i++) {
		fits = tabletext_get(&seen, f[i].name) == TABLE_NONE;
		t->failed |= fits && !tabletext_put(&seen, f[i].name, 1);
	}
	tabletext_free(&seen);
	return fits;
}

static uint8_t expected_type(const struct ndjson_class *cls, struct slice name)
{
	const uint32_t type = cls != NULL ? tabletext_get(&cls->types, name) : TABLE_NONE;

	return type == TABLE_NONE ? VALUE_NONE : (uint8_t)type;
}

/* Writes a UTF-8 name as a key. */
static void put_key(struct text *t, struct slice name, bool first)
{
	static const char begin[] = ",\"args\":{";
	char *p = text_reserve(t, (size_t)name.n + sizeof begin + 4);

	if (p == NULL)
		return;
	memcpy(p, begin, sizeof begin);
	p += first ? sizeof begin - 1 : 1;
	*p++ = '"';
	if ((name.flags & SLICE_JSON) != 0) {
		p = text_put(p, name.p, name.n);
	} else {
		t->n = (size_t)(p - t->p);
		text_json_chars(t, name);
		if ((p = text_reserve(t, 2)) == NULL)
			return;
	}
	*p++ = '"';
	*p++ = ':';
	t->n = (size_t)(p - t->p);
}

static void put_type(struct text *t, struct slice name, unsigned kind, bool *any)
{
	text_str(t, *any ? "," : ",\"types\":{");
	*any = true;
	text_json_string(t, name);
	text_str(t, ":\"");
	ndjson_put_kind(t, kind);
	text_char(t, '"');
}

static void put_args(const struct ndjson_class *cls, const struct field *f, uint32_t n, uint64_t offset,
                     struct chunk *c)
{
	struct text *const t = &c->text;
	unsigned written = 0;
	bool any = false;

	for (uint32_t i = 0; i < n; i++) {
		put_key(t, f[i].name, i == 0);
		written |= put_value(c, &f[i].value, expected_type(cls, f[i].name), offset);
	}
	text_char(t, '}');
	for (uint32_t i = 0; i < n && written != 0; i++) {
		const struct value *const v = &f[i].value;
		const unsigned kind = kind_to_write(v, kind_of(v), expected_type(cls, f[i].name));
		if (kind != 0)
			put_type(t, f[i].name, kind, &any);
	}
	if (any)
		text_char(t, '}');
}

/* ---- fields of a shape ---- */

void ndjson_shapes_init(struct ndjson_shapes *s)
{
	for (int i = 0; i < NDJSON_SHAPES; i++) {
		s->rows[i].cls = NULL;
		s->rows[i].n = 0; /* matches nothing: only events with fields are looked up */
	}
}

static inline bool same_names(const struct ndjson_shape *s, const struct field *f)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->names[i].n != f[i].name.n ||
		    (s->names[i].p != f[i].name.p && memcmp(s->names[i].p, f[i].name.p, f[i].name.n) != 0))
			return false;
	return true;
}

/* Stores the text before each value.  Returns false if it is too long. */
static bool fill_keys(struct ndjson_shape *s, const struct field *f, struct text *t)
{
	const size_t start = t->n;

	for (uint32_t i = 0; i < s->n; i++) {
		put_key(t, f[i].name, i == 0);
		if (t->failed || t->n - start > sizeof s->keys) {
			t->n = start;
			return false;
		}
		s->key_ends[i] = (uint16_t)(t->n - start);
	}
	memcpy(s->keys, t->p + start, t->n - start);
	t->n = start;
	return true;
}

static void fill_shape(struct ndjson_shape *s, const struct ndjson_class *cls, const struct field *f,
                       uint32_t n, struct text *t)
{
	const uint32_t before = s->cls == cls ? s->n : 0;

	s->cls = cls;
	s->n = n;
	s->types_n = 0;
	s->object = fits_object(f, n, t);
	s->keyed = s->object && fill_keys(s, f, t);
	for (uint32_t i = 0; i < n; i++) {
		if (i >= before || !slice_equal(s->names[i], f[i].name))
			s->expected[i] = expected_type(cls, f[i].name);
		s->names[i] = f[i].name;
	}
}

/* Writes `,"types":{...}`, usually the text of the previous event. */
static void put_types(struct ndjson_shape *s, const uint16_t *kinds, struct text *t)
{
	const size_t start = t->n;
	bool any = false;

	if (s->types_n > 0 && memcmp(kinds, s->kinds, s->n * sizeof *kinds) == 0) {
		text_add(t, s->types, s->types_n);
		return;
	}
	for (uint32_t i = 0; i < s->n; i++)
		if (kinds[i] != 0)
			put_type(t, s->names[i], kinds[i], &any);
	text_char(t, '}');
	s->types_n = 0;
	if (t->failed || t->n - start > sizeof s->types)
		return;
	s->types_n = (uint16_t)(t->n - start);
	memcpy(s->types, t->p + start, s->types_n);
	memcpy(s->kinds, kinds, s->n * sizeof *kinds);
}

/* Writes args; inlines integers of the expected type, which most values are. */
static void put_shaped(struct ndjson_shape *s, const struct field *f, uint64_t offset, struct chunk *c)
{
	struct text *const t = &c->text;
	uint16_t kinds[NDJSON_SHAPE_FIELDS];
	unsigned written = 0, from = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct value *const v = &f[i].value;
		const unsigned n = s->key_ends[i] - from;
		char *p = text_reserve(t, n + DECIMAL_I64_MAX);
		if (p == NULL)
			return;
		p = text_put(p, s->keys + from, n);
		from += n;
		kinds[i] = 0;
		if (v->type == s->expected[i] && v->type >= VALUE_U8 && v->type <= VALUE_I64) {
			p = v->type <= VALUE_U64 ? decimal_u64(p, v->u64) : decimal_i64(p, v->i64);
			t->n = (size_t)(p - t->p);
			continue;
		}
		t->n = (size_t)(p - t->p);
		kinds[i] = (uint16_t)put_value(c, v, s->expected[i], offset);
		written |= kinds[i];
	}
	text_char(t, '}');
	if (written != 0)
		put_types(s, kinds, t);
}

/* ---- any fields ---- */

static void put_pairs(const struct field *f, uint32_t n, uint64_t offset, struct chunk *c)
{
	const struct out o = { &c->text, c, offset };

	text_str(&c->text, ",\"pairs\":[");
	for (uint32_t i = 0; i < n; i++) {
		const struct value name = value_string(f[i].name);
		text_str(&c->text, i > 0 ? ",[" : "[");
		put_typed(&o, &name, VALUE_NONE, 0);
		text_char(&c->text, ',');
		put_typed(&o, &f[i].value, VALUE_NONE, 0);
		text_char(&c->text, ']');
	}
	text_char(&c->text, ']');
}

/* Returns a row of the cache; shapes that alternate should have different rows. */
static inline uint32_t row_of(uint32_t index, const struct field *f, uint32_t n)
{
	const struct slice last = f[n - 1].name;

	return (index + 3 * n + 5 * last.n + (last.n > 0 ? (unsigned char)last.p[last.n / 2] : 0)) %
	       NDJSON_SHAPES;
}

void ndjson_fields(struct ndjson_shapes *shapes, const struct ndjson_class *cls, const struct field *f,
                   uint32_t n, uint64_t offset, struct chunk *c)
{
	if (n == 0)
		return;
	struct ndjson_shape *const s = &shapes->rows[row_of(cls != NULL ? cls->index : 0, f, n)];

	if (n <= NDJSON_SHAPE_FIELDS) {
		if (s->n != n || s->cls != cls || !same_names(s, f))
			fill_shape(s, cls, f, n, &c->text);
		if (s->keyed)
			put_shaped(s, f, offset, c);
		else if (s->object)
			put_args(cls, f, n, offset, c);
		else
			put_pairs(f, n, offset, c);
	} else if (fits_object(f, n, &c->text)) {
		put_args(cls, f, n, offset, c);
	} else {
		put_pairs(f, n, offset, c);
	}
}
