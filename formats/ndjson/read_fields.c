/*
 * Reads the fields of a line and their values, by the rules of the section "Types" of the manual page. Fields
 * are `args`, an object, with `types` for types that the JSON does not show; or `pairs`, a list.  Names are
 * compared with each other up to NDJSON_FEW_FIELDS, then found in a table, so the time is linear.  Recursion
 * is bounded by NDJSON_MAX_VALUES; values of a list are collected on a stack and copied once when the list
 * ends.
 */
#include "ndjson/ndjson.h"

#include <stdlib.h>

#include "base/numbers.h"
#include "model/event_traits.h"
#include "model/value.h"
#include "out/kind.h"

struct fault {
	const char *at;
	const char *why; /* NULL: no fault */
	bool range;      /* a number does not fit its type */
};

struct reading {
	struct ndjson_reading *st;
	const struct ndjson_target *to;
	const struct ndjson_entry *entry; /* the class; NULL: none */
	uint32_t n;                       /* fields in the batch after b->nfields */
	struct tabletext seen;            /* of args, with more than NDJSON_FEW_FIELDS: their names */
	struct fault fault;               /* of the current field */
};

/* ---- text ---- */

struct slice ndjson_string_of(const struct ndjson_target *to, const struct json_token *t)
{
	/* not json_token_text(): this runs for each text of an event, and none is absent */
	const struct slice raw = json_text(t->p, t->end, t->kind);

	if (t->kind == JSON_ESCAPED)
		return json_unescape(to->arena, raw);
	struct slice s = textscan_slice(raw.p, raw.n);
	return to->copy ? arena_copy(to->arena, s) : s;
}

struct slice ndjson_unescape_bytes(struct arena *a, struct slice s, bool *bad)
{
	char *const start = arena_alloc(a, s.n), *to = start;

	for (uint32_t i = 0; start != NULL && i < s.n;) {
		if (s.p[i] != '\\') {
			*to++ = s.p[i++];
		} else if (i + 1 < s.n && s.p[i + 1] == '\\') {
			*to++ = '\\';
			i += 2;
		} else {
			const bool whole = s.n - i >= 4 && s.p[i + 1] == 'x';
			*bad = !whole || !hex_bytes(to, slice_of(s.p + i + 2, 2));
			if (*bad)
				return SLICE_NONE;
			to++;
			i += 4;
		}
	}
	return start != NULL ? textscan_slice(start, (uint32_t)(to - start)) : SLICE_NONE;
}

/* Reads the bits of a double that is infinite or NaN. */
static bool parse_not_finite(struct slice s, uint64_t *bits)
{
	if (slice_is(s, "NaN"))
		*bits = UINT64_C(0x7ff8000000000000);
	else if (slice_is(s, "Infinity"))
		*bits = UINT64_C(0x7ff0000000000000);
	else if (slice_is(s, "-Infinity"))
		*bits = UINT64_C(0xfff0000000000000);
	else if (s.n > 4 && memcmp(s.p, "NaN:", 4) == 0)
		return hex_number(slice_of(s.p + 4, s.n - 4), bits);
	else
		return false;
	return true;
}

/* Reads a JSON number [p, e) if its digits and the power of ten are exact as doubles (Clinger's fast path):
 * their quotient is the nearest double.  Returns false for any other number. */
static bool parse_short_f64(const char *p, const char *e, double *to)
{
	static const double powers[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
		                         1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
		                         1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
	const bool minus = *p == '-';
	uint64_t digits = 0;
	unsigned decimals = 0;
	bool has_point = false;

	for (p += minus; p < e; p++) {
		if (*p == '.') {
			has_point = true;
			continue;
		}
		if (*p < '0' || *p > '9' || digits >= UINT64_C(900719925474099))
			return false;
		digits = digits * 10 + (uint64_t)(*p - '0');
		decimals += has_point;
	}
	if (decimals >= sizeof powers / sizeof powers[0])
		return false;
	*to = (double)digits / powers[decimals];
	*to = minus ? -*to : *to;
	return true;
}

/* ---- faults ---- */

static struct value fail(struct reading *g, const char *at, const char *why)
{
	if (g->fault.why == NULL)
		g->fault = (struct fault){ .at = at, .why = why };
	return (struct value){ .type = VALUE_NONE };
}

static struct value no_memory(struct reading *g, const char *at)
{
	g->st->r->no_memory = true;
	return fail(g, at, "no memory");
}

/* ---- numbers ---- */

static struct value out_of_range(struct reading *g, const struct json_token *t)
{
	fail(g, t->p, "a number that does not fit its width");
	g->fault.range = true;
	return (struct value){ .type = VALUE_NONE };
}

static struct value read_integer(struct reading *g, const struct json_token *t, unsigned type)
{
	static const uint8_t bits[] = {
		[VALUE_U8] = 8, [VALUE_U16] = 16, [VALUE_U32] = 32, [VALUE_U64] = 64,
		[VALUE_I8] = 8, [VALUE_I16] = 16, [VALUE_I32] = 32, [VALUE_I64] = 64
	};
	const bool minus = t->kind == JSON_INT, is_signed = type >= VALUE_I8;
	struct value v = { .type = (uint8_t)type };
	uint64_t magnitude;

	if (t->kind != JSON_UINT && t->kind != JSON_INT)
		return fail(g, t->p, "no integer");
	if (!ndjson_magnitude(t, &magnitude))
		return out_of_range(g, t);
	const uint64_t max =
	    is_signed ? (UINT64_C(1) << (bits[type] - 1)) - !minus : UINT64_MAX >> (64 - bits[type]);
	if (magnitude > (minus && !is_signed ? 0 : max))
		return out_of_range(g, t);
	v.u64 = minus ? 0 - magnitude : magnitude;
	return v;
}

static double parse_float(struct reading *g, const struct json_token *t, bool f32)
{
	const size_t n = (size_t)(t->end - t->p);
	char buffer[64];
	double v;

	if (!f32 && parse_short_f64(t->p, t->end, &v))
		return v;
	char *const copy = n < sizeof buffer ? buffer : arena_alloc(&g->st->scratch, n + 1);
	if (copy == NULL) {
		no_memory(g, t->p);
		return 0;
	}
	memcpy(copy, t->p, n);
	copy[n] = '\0';
	return f32 ? (double)strtof(copy, NULL) : strtod(copy, NULL);
}

static struct value read_float(struct reading *g, const struct json_token *t, unsigned type)
{
	struct value v = { .type = (uint8_t)type };
	uint64_t bits;

	if (t->kind >= JSON_UINT && t->kind <= JSON_NUMBER) {
		v.f64 = parse_float(g, t, type == VALUE_F32);
		return v;
	}
	if (t->kind != JSON_STRING || !parse_not_finite(json_token_text(t), &bits))
		return fail(g, t->p, "no floating-point number");
	memcpy(&v.f64, &bits, sizeof bits);
	return v;
}

/* ---- texts, bytes and JSON ---- */

static struct value read_bytes(struct reading *g, const struct json_token *t)
{
	const struct slice s = json_token_text(t);
	char *const to = arena_alloc(g->to->arena, s.n / 2);

	if (to == NULL)
		return no_memory(g, t->p);
	if (s.n % 2 != 0)
		return fail(g, t->p, "half a byte");
	if (!hex_bytes(to, s))
		return fail(g, t->p, "bytes are two hexadecimal digits each");
	return (struct value){ .type = VALUE_BYTES, .count = s.n / 2, .p = to };
}

static struct value read_json(struct reading *g, const char *at, struct slice s)
{
	if (g->to->copy)
		s = arena_copy(g->to->arena, s);
	return s.p != NULL ? value_json(s) : no_memory(g, at);
}

static struct value read_json_text(struct reading *g, const struct json_token *t)
{
	const struct slice s = ndjson_string_of(g->to, t);
	size_t at;

	if (s.p == NULL)
		return no_memory(g, t->p);
	if (json_document_fault(s.p, s.n, JSON_MAX_DEPTH, &at) != NULL)
		return fail(g, t->p, "no JSON in the text");
	return value_json(s);
}

static struct value read_string(struct reading *g, const struct json_token *t, bool escaped)
{
	struct slice s = ndjson_string_of(g->to, t);
	bool bad = false;

	if (s.p != NULL && escaped)
		s = ndjson_unescape_bytes(g->to->arena, s, &bad);
	if (bad)
		return fail(g, t->p, "a text that is not in the escaped form");
	return s.p != NULL ? value_string(s) : no_memory(g, t->p);
}

static struct value read_text(struct reading *g, const struct json_token *t, unsigned type)
{
	struct value v = { .type = (uint8_t)type };

	if (!json_is_string(t->kind))
		return fail(g, t->p, "no text");
	if (type == VALUE_STRING)
		return read_string(g, t, false);
	if (type == VALUE_BYTES)
		return read_bytes(g, t);
	return hex_number(json_token_text(t), &v.u64) ? v : fail(g, t->p, "no address");
}

/* ---- lists and maps ---- */

static struct value read_any(struct reading *g, const struct json_token *t, unsigned expected,
                             unsigned depth);

static struct value read_named_type(struct reading *g, const struct json_token *t, struct slice type_name,
                                    unsigned depth);

static bool push_value(struct reading *g, const char *at, struct value v)
{
	struct ndjson_reading *const st = g->st;

	if (!array_reserve(&st->stack, st->nstack, &st->stack_cap, sizeof *st->stack)) {
		no_memory(g, at);
		return false;
	}
	st->stack[st->nstack++] = v;
	return g->fault.why == NULL;
}

/* Removes the values from `base` on and stores them in v. */
static struct value pop_values(struct reading *g, const char *at, uint32_t base, struct value v)
{
	struct ndjson_reading *const st = g->st;
	const uint32_t n = st->nstack - base;

	st->nstack = base;
	if (g->fault.why != NULL)
		return (struct value){ .type = VALUE_NONE };
	struct value *const to = arena_alloc(g->to->arena, n * sizeof *to);
	if (to == NULL)
		return no_memory(g, at);
	if (n > 0)
		memcpy(to, st->stack + base, n * sizeof *to);
	v.count = v.type == VALUE_MAP ? n / 2 : n;
	v.values = to;
	return v;
}

/* Reads an array and adds its values to the stack. */
static void push_array(struct reading *g, const struct json_token *t, unsigned expected, unsigned depth)
{
	struct json_walk w = json_walk_again(t);

	while (json_walk_next(&w))
		if (!push_value(g, w.value.p, read_any(g, &w.value, expected, depth + 1)))
			break;
}

static struct value read_list(struct reading *g, const struct json_token *t, unsigned expected,
                              unsigned depth)
{
	const uint32_t base = g->st->nstack;

	if (t->kind != JSON_ARRAY)
		return fail(g, t->p, "no list");
	push_array(g, t, expected, depth);
	return pop_values(g, t->p, base, (struct value){ .type = VALUE_LIST });
}

/* Reads a list of a key and a value. */
static bool read_map_pair(struct reading *g, const struct json_token *t, unsigned depth)
{
	const uint32_t base = g->st->nstack;

	if (t->kind == JSON_ARRAY)
		push_array(g, t, VALUE_NONE, depth);
	if (g->st->nstack != base + 2)
		fail(g, t->p, "no list of a key and a value");
	return g->fault.why == NULL;
}

static struct value read_map_pairs(struct reading *g, const struct json_token *t, unsigned depth)
{
	const uint32_t base = g->st->nstack;

	if (t->kind != JSON_ARRAY)
		return fail(g, t->p, "no list of pairs");
	struct json_walk w = json_walk_again(t);
	while (json_walk_next(&w))
		if (!read_map_pair(g, &w.value, depth))
			break;
	return pop_values(g, t->p, base, (struct value){ .type = VALUE_MAP });
}

/* Reads a map, or the value of an object with one member whose name is $ and a type. */
static struct value read_object(struct reading *g, const struct json_token *t, unsigned depth)
{
	struct json_walk w = json_walk_again(t);
	const uint32_t base = g->st->nstack;

	for (bool first = true; json_walk_next(&w); first = false) {
		const struct slice name = json_token_text(&w.key);
		if (first && name.n > 0 && *name.p == '$' && *json_skip_blanks(w.p, t->end) == '}')
			return read_named_type(g, &w.value, slice_of(name.p + 1, name.n - 1), depth);
		if (!push_value(g, w.key.p, read_string(g, &w.key, false)) ||
		    !push_value(g, w.value.p, read_any(g, &w.value, VALUE_NONE, depth + 1)))
			break;
	}
	return pop_values(g, t->p, base, (struct value){ .type = VALUE_MAP });
}

/* ---- any value ---- */

static struct value read_type(struct reading *g, const struct json_token *t, unsigned type)
{
	if (type <= VALUE_I64)
		return read_integer(g, t, type);
	return type <= VALUE_F64 ? read_float(g, t, type) : read_text(g, t, type);
}

/* Whether a value of this JSON kind has this type when the type is expected. */
static bool fits_type(enum json_kind kind, unsigned type)
{
	if (type < VALUE_U8)
		return false;
	if (type <= VALUE_I64)
		return kind == JSON_UINT || kind == JSON_INT;
	if (type <= VALUE_F64)
		return (kind >= JSON_UINT && kind <= JSON_NUMBER) || json_is_string(kind);
	return type <= VALUE_BYTES && json_is_string(kind);
}

static struct value read_any(struct reading *g, const struct json_token *t, unsigned expected, unsigned depth)
{
	if (depth > NDJSON_MAX_VALUES)
		return fail(g, t->p, "values nested too deep");
	if (fits_type(t->kind, expected))
		return read_type(g, t, expected);
	switch (t->kind) {
	case JSON_UINT:
		return read_integer(g, t, VALUE_U64);
	case JSON_INT:
		return read_integer(g, t, VALUE_I64);
	case JSON_NUMBER:
		return read_float(g, t, VALUE_F64);
	case JSON_STRING:
	case JSON_ESCAPED:
		return read_string(g, t, false);
	case JSON_TRUE:
	case JSON_FALSE:
		return (struct value){ .type = VALUE_BOOL, .u64 = t->kind == JSON_TRUE };
	case JSON_NULL:
		return (struct value){ .type = VALUE_NONE };
	case JSON_OBJECT:
		return read_object(g, t, depth);
	case JSON_ARRAY:
		return read_list(g, t, VALUE_NONE, depth);
	default:
		return fail(g, t->p, "no value");
	}
}

/* Reads a list of values of one type, which the source format declares or (`same`) does not. */
static struct value read_typed_list(struct reading *g, const struct json_token *t, unsigned type, bool same,
                                    unsigned depth)
{
	struct value v = read_list(g, t, type, depth);

	for (uint32_t i = 0; i < v.count && !same && g->fault.why == NULL; i++)
		if (v.values[i].type != type)
			return fail(g, t->p, "a list with a value of another type than it says");
	v.element = (uint8_t)(same ? VALUE_NONE : type);
	return v;
}

static struct value read_named_type(struct reading *g, const struct json_token *t, struct slice type_name,
                                    unsigned depth)
{
	const bool list = type_name.n > 2 && type_name.p[0] == '[' && type_name.p[type_name.n - 1] == ']';
	const bool same = list && type_name.p[type_name.n - 2] == '?';
	const unsigned type =
	    ndjson_type_of_name(list ? slice_of(type_name.p + 1, type_name.n - 2 - same) : type_name);

	if (slice_is(type_name, "escaped") || slice_is(type_name, "json-text"))
		return !json_is_string(t->kind) ? fail(g, t->p, "no text")
		       : *type_name.p == 'e'    ? read_string(g, t, true)
		                                : read_json_text(g, t);
	if (type == VALUE_NONE)
		return fail(g, type_name.p, "an unknown type");
	if (list)
		return read_typed_list(g, t, type, same, depth);
	if (type == VALUE_JSON)
		return read_json(g, t->p, slice_of(t->p, (size_t)(t->end - t->p)));
	if (type == VALUE_MAP)
		return read_map_pairs(g, t, depth);
	if (ndjson_expectable(type))
		return read_type(g, t, type);
	return fail(g, type_name.p, "a type that is never said");
}

/* ---- names and declared types of fields ---- */

unsigned ndjson_type_of_name(struct slice type_name)
{
	const unsigned type = value_type_named(type_name);

	return type < VALUE_TYPES ? type : VALUE_NONE;
}

bool ndjson_index_types(struct tabletext *to, const struct class *c)
{
	for (uint32_t i = c->nfields; i-- > 0;) { /* the first of equal names counts */
		const struct class_field *const f = &c->fields[i];
		if (!tabletext_put(to, f->name, ndjson_expectable(f->value) ? f->value : VALUE_NONE))
			return false;
	}
	return true;
}

static unsigned expected_type(const struct reading *g, struct slice name)
{
	const struct class *const c = g->entry != NULL ? g->entry->cls : NULL;

	if (c != NULL && c->nfields > NDJSON_FEW_FIELDS) {
		const uint32_t found = tabletext_get(&g->entry->types, name);
		return found != TABLE_NONE ? found : VALUE_NONE;
	}
	for (uint32_t i = 0; c != NULL && i < c->nfields; i++)
		if (slice_equal(c->fields[i].name, name))
			return ndjson_expectable(c->fields[i].value) ? c->fields[i].value : VALUE_NONE;
	return VALUE_NONE;
}

static const struct field *fields_so_far(const struct reading *g)
{
	const struct batch *const b = g->to->b;

	return b->fields != NULL ? b->fields + b->nfields : NULL;
}

/* Adds a name to the table, which begins with the first NDJSON_FEW_FIELDS names. */
static bool add_name(struct reading *g, struct slice name)
{
	const struct field *const f = fields_so_far(g);

	if (g->n < NDJSON_FEW_FIELDS)
		return true;
	for (uint32_t i = 0; g->n == NDJSON_FEW_FIELDS && i < NDJSON_FEW_FIELDS; i++)
		if (!tabletext_put(&g->seen, f[i].name, 1))
			return false;
	return tabletext_put(&g->seen, name, 1);
}

static bool has_name(const struct reading *g, struct slice name)
{
	return g->n > NDJSON_FEW_FIELDS ? tabletext_get(&g->seen, name) != TABLE_NONE
	                                : field_find(fields_so_far(g), g->n, name) != NULL;
}

/* ---- fields ---- */

static void report_fault(struct reading *g, struct slice name)
{
	const struct fault *const fault = &g->fault;
	struct quoted q;

	ndjson_report(g->st, fault->range ? NDJSON_RULE_OUT_OF_RANGE : NDJSON_RULE_BAD_VALUE, fault->at,
	              "field %s: %s; left out", quoted(&q, name), fault->why);
}

/* Appends a field, whose name and value stay valid as long as the batch. */
static bool add_field(struct reading *g, struct slice name, const struct value *v)
{
	struct field *const f = g->st->r->no_memory ? NULL : batch_fields(g->to->b, g->n + 1);
	if (note_failure(&g->st->r->no_memory, f == NULL))
		return false;
	f[g->n++] = (struct field){ name, *v };
	return true;
}

static bool is_full(struct reading *g, const char *at)
{
	if (g->n < NDJSON_MAX_FIELDS)
		return false;
	ndjson_report(g->st, NDJSON_RULE_LIMIT, at, "more than %d fields", NDJSON_MAX_FIELDS);
	return true;
}

/* ---- args, an object ---- */

/* Cursor over `types`, which usually has the order of the fields; a table finds the others.  Keys are
 * compared with their escapes. */
struct type_cursor {
	const struct ndjson_pairs *types;
	uint32_t next, used;
	struct tabletext others; /* name -> position in types; created when needed */
};

static const struct json_token *find_type(struct reading *g, struct type_cursor *s, struct slice name)
{
	const struct ndjson_pairs *const t = s->types;

	if (s->used == t->n)
		return NULL;
	if (s->next < t->n && slice_equal(t->list[s->next].name, name)) {
		s->used++;
		return &t->list[s->next++].value;
	}
	if (s->others.slots == NULL)
		for (uint32_t i = t->n; i-- > 0;)
			g->st->r->no_memory |= !tabletext_put(&s->others, t->list[i].name, i);
	const uint32_t i = tabletext_get(&s->others, name);
	if (i == TABLE_NONE)
		return NULL;
	s->next = i + 1;
	s->used++;
	return &t->list[i].value;
}

static bool read_arg(struct reading *g, struct type_cursor *s, const struct ndjson_pair *pair)
{
	const struct json_token key = { pair->name.p - 1, pair->name.p + pair->name.n + 1, pair->name_kind };
	const struct json_token *const type = find_type(g, s, pair->name);
	const struct slice name = ndjson_string_of(g->to, &key);
	struct value v;

	g->fault.why = NULL;
	if (note_failure(&g->st->r->no_memory, name.p == NULL || g->st->r->no_memory))
		return false;
	if (has_name(g, name)) {
		ndjson_report(g->st, NDJSON_RULE_DUPLICATE_MEMBER, key.p, "the name is in fields twice");
		return true;
	}
	if (is_full(g, key.p))
		return false;
	if (type == NULL)
		v = read_any(g, &pair->value, expected_type(g, name), 0);
	else if (json_is_string(type->kind))
		v = read_named_type(g, &pair->value, json_token_text(type), 0);
	else
		fail(g, type->p, "its type is not a text");
	if (g->fault.why == NULL) {
		g->st->r->no_memory |= !add_name(g, name);
		return add_field(g, name, &v);
	}
	report_fault(g, name);
	return true;
}

static void read_args(struct reading *g)
{
	const struct ndjson_pairs *const fields = &g->st->line.args;
	struct type_cursor s = { .types = &g->st->line.types };

	for (uint32_t i = 0; i < fields->n && !g->st->r->no_memory; i++)
		if (!read_arg(g, &s, &fields->list[i]))
			break;
	if (s.used < s.types->n && g->n < NDJSON_MAX_FIELDS)
		ndjson_report(g->st, NDJSON_RULE_BAD_VALUE, g->st->line.of[NDJSON_M_TYPES].p,
		              "%" PRIu32 " types are stated for fields that are missing",
		              s.types->n - s.used);
	tabletext_free(&s.others);
}

/* ---- pairs, a list ---- */

/* Splits a list.  Returns false unless it has two values. */
static bool split_pair(const struct json_token *t, struct json_token to[2])
{
	unsigned n = 0;

	if (t->kind != JSON_ARRAY)
		return false;
	struct json_walk w = json_walk_again(t);
	while (json_walk_next(&w)) {
		if (n == 2)
			return false;
		to[n++] = w.value;
	}
	return w.p != NULL && n == 2;
}

static bool read_pair(struct reading *g, const struct json_token *t)
{
	struct json_token two[2];
	struct slice name = slice_of("", 0);
	struct value v = { .type = VALUE_NONE };

	g->fault.why = NULL;
	if (!split_pair(t, two)) {
		fail(g, t->p, "it is not a list of a name and a value");
	} else {
		const struct value n = read_any(g, &two[0], VALUE_NONE, 0);
		name = n.type == VALUE_STRING ? value_text(&n) : name;
		if (n.type != VALUE_STRING)
			fail(g, t->p, "its name is not a text");
	}
	if (g->fault.why == NULL)
		v = read_any(g, &two[1], VALUE_NONE, 0);
	if (g->st->r->no_memory || is_full(g, t->p))
		return false;
	if (g->fault.why != NULL) {
		report_fault(g, name);
		return true;
	}
	return add_field(g, name, &v);
}

uint32_t ndjson_read_fields(struct ndjson_reading *st, const struct ndjson_target *to,
                            const struct ndjson_entry *entry)
{
	const struct ndjson_line *const line = &st->line;
	struct reading g = { .st = st, .to = to, .entry = entry };

	if (ndjson_has(line, NDJSON_M_ARGS) && ndjson_has(line, NDJSON_M_PAIRS))
		ndjson_report(st, NDJSON_RULE_BAD_VALUE, line->of[NDJSON_M_PAIRS].p,
		              "a line has args or pairs, not both; pairs are left out");
	if (ndjson_has(line, NDJSON_M_ARGS))
		read_args(&g);
	else if (ndjson_has(line, NDJSON_M_PAIRS))
		for (struct json_walk w = json_walk_again(&line->of[NDJSON_M_PAIRS]); json_walk_next(&w);)
			if (!read_pair(&g, &w.value))
				break;
	tabletext_free(&g.seen);
	return g.n;
}
