/*
 * Writes the fields of an event: as an object if a JSON reader gets them all (the names are UTF-8 and
 * differ), else as a list of pairs.  Events of a class usually have fields of the same names, so the text
 * before each value is prepared once and kept in a small cache of shapes.
 */
#include "base/numbers.h"
#include "ndjson/ndjson.h"

void ndjson_shapes_init(struct ndjson_shapes *s)
{
	for (int i = 0; i < NDJSON_SHAPES; i++) {
		s->rows[i].cls = NULL;
		s->rows[i].n = 0; /* matches nothing: only events with fields are looked up */
	}
}

static struct slice name_at(const void *ctx, uint32_t i)
{
	const struct field *const f = ctx;

	return f[i].name;
}

static bool fits_object(const struct field *f, uint32_t n, struct text *t)
{
	for (uint32_t i = 0; i < n; i++)
		if (!ndjson_is_utf8(f[i].name))
			return false;
	return ndjson_distinct(t, name_at, f, n);
}

static uint8_t expected_type(const struct ndjson_class *cls, struct slice name)
{
	const uint32_t type = cls != NULL ? tabletext_get(&cls->types, name) : TABLE_NONE;

	return type == TABLE_NONE ? VALUE_NONE : (uint8_t)type;
}

/* ---- names ---- */

/* Writes a UTF-8 name as a key. */
static void put_name(struct text *t, struct slice name, bool first)
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

static void put_object(const struct ndjson_class *cls, const struct field *f, uint32_t n, uint64_t offset,
                       struct chunk *c)
{
	struct text *const t = &c->text;
	unsigned written = 0;
	bool any = false;

	for (uint32_t i = 0; i < n; i++) {
		put_name(t, f[i].name, i == 0);
		written |= ndjson_value(c, &f[i].value, expected_type(cls, f[i].name), offset);
	}
	text_char(t, '}');
	for (uint32_t i = 0; i < n && written != 0; i++) {
		const unsigned kind = ndjson_value_kind(t, &f[i].value, expected_type(cls, f[i].name));
		if (kind != 0)
			put_type(t, f[i].name, kind, &any);
	}
	if (any)
		text_char(t, '}');
}

/* ---- shapes ---- */

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
		put_name(t, f[i].name, i == 0);
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

/* Writes `,"types":{...}`, usually the text that the previous event had. */
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
		kinds[i] = (uint16_t)ndjson_value(c, v, s->expected[i], offset);
		written |= kinds[i];
	}
	text_char(t, '}');
	if (written != 0)
		put_types(s, kinds, t);
}

/* ---- any fields ---- */

static void put_pairs(const struct field *f, uint32_t n, uint64_t offset, struct chunk *c)
{
	text_str(&c->text, ",\"pairs\":[");
	for (uint32_t i = 0; i < n; i++) {
		const struct value name = value_string(f[i].name);
		text_str(&c->text, i > 0 ? ",[" : "[");
		ndjson_typed_value(c, &name, offset);
		text_char(&c->text, ',');
		ndjson_typed_value(c, &f[i].value, offset);
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

void ndjson_fields(struct ndjson_shapes *shapes, uint32_t index, const struct ndjson_class *cls,
                   const struct field *f, uint32_t n, uint64_t offset, struct chunk *c)
{
	if (n == 0)
		return;
	struct ndjson_shape *const s = &shapes->rows[row_of(index, f, n)];

	if (n <= NDJSON_SHAPE_FIELDS) {
		if (s->n != n || s->cls != cls || !same_names(s, f))
			fill_shape(s, cls, f, n, &c->text);
		if (s->keyed)
			put_shaped(s, f, offset, c);
		else if (s->object)
			put_object(cls, f, n, offset, c);
		else
			put_pairs(f, n, offset, c);
	} else if (fits_object(f, n, &c->text)) {
		put_object(cls, f, n, offset, c);
	} else {
		put_pairs(f, n, offset, c);
	}
}
