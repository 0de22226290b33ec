/*
 * Schemas: the fields of events, and annotations of fields.
 *
 * Segments register the same schemas again and again, so a schema is known by its bytes after the type_id
 * and made once for the trace.  D9_MAX_SCHEMAS and D9_MAX_DESCRIBED bound the memory, which lasts as long
 * as the trace because events point into it.
 */
#include <stdlib.h>

#include "dial9/dial9.h"

/* Bytes that a schema and a field cost besides their bytes in the frame. */
#define SCHEMA_COST 256 /* what a schema costs besides its bytes and fields */
#define FIELD_COST (sizeof(struct d9_field) + sizeof(struct class_field) + 2 * sizeof(struct d9_op) + 32)

void d9_schemas_free(struct d9_schemas *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		free(s->all[i]->ops);
		free(s->all[i]);
	}
	free(s->all);
	free(s->by_type);
	free(s->registered);
	tabletext_free(&s->index);
}

void d9_schemas_forget(struct d9_schemas *s)
{
	for (uint32_t i = 0; i < s->nregistered; i++)
		s->by_type[s->registered[i]] = NULL;
	s->nregistered = 0;
}

/* ---- registering ---- */

/* Reports the first difference between two schemas of one type_id. */
static void report_redefined(struct d9_state *st, const struct d9_frame *f, uint16_t id,
                             const struct d9_schema *old, const struct d9_schema *now)
{
	struct quoted q, q2;
	uint32_t i = 0;

	while (i < old->nfields && i < now->nfields && old->fields[i].type == now->fields[i].type &&
	       slice_equal(old->fields[i].name, now->fields[i].name))
		i++;
	if (!slice_equal(old->name, now->name))
		d9_find(st, D9_RULE_SCHEMA_REDEFINED, f, "type_id %u was %s, now it is %s", id,
		        quoted(&q, old->name), quoted(&q2, now->name));
	else if (old->nfields != now->nfields)
		d9_find(st, D9_RULE_SCHEMA_REDEFINED, f,
		        "field_count of type_id %u was %" PRIu32 ", now it is %" PRIu32, id, old->nfields,
		        now->nfields);
	else if (i < old->nfields)
		d9_find(st, D9_RULE_SCHEMA_REDEFINED, f,
		        "field %" PRIu32 " of type_id %u was %s %s, now it is %s %s", i, id,
		        quoted(&q, old->fields[i].name), d9_type_name(old->fields[i].type),
		        quoted(&q2, now->fields[i].name), d9_type_name(now->fields[i].type));
	else
		d9_find(st, D9_RULE_SCHEMA_REDEFINED, f, "has_timestamp of type_id %u was %d, now it is %d",
		        id, old->timed, now->timed);
}

static void register_schema(struct d9_state *st, const struct d9_frame *f, uint16_t id,
                            struct d9_schema *schema)
{
	struct d9_schemas *const s = &st->schemas;
	const struct d9_schema *const old = d9_schema_find(s, id);

	if (old != NULL && old != schema)
		report_redefined(st, f, id, old, schema);
	if (!array_reach(&s->by_type, &s->ntypes, id, sizeof(struct d9_schema *)) ||
	    !array_reserve(&s->registered, s->nregistered, &s->registered_cap, sizeof *s->registered)) {
		st->no_memory = true;
		return;
	}
	if (old == NULL)
		s->registered[s->nregistered++] = id;
	s->by_type[id] = schema;
}

/* ---- fields ---- */

static struct slice read_text(struct cursor *c)
{
	const uint16_t n = cursor_u16(c, "length");
	const struct slice s = cursor_take(c, n, "text");

	return textscan_slice(s.p, s.n);
}

static void check_type(struct d9_state *st, const struct d9_frame *f, struct d9_schema *s,
                       const struct d9_field *field, const char *at)
{
	const char *const newer = d9_type(field->type)->newer;
	struct quoted q, q2;

	if (!d9_type_known(field->type)) {
		s->readable = false;
		d9_find_at(st,
		           d9_is_optional(field->type) ? D9_RULE_OPTIONAL_UNKNOWN_TYPE
		                                       : D9_RULE_UNKNOWN_FIELD_TYPE,
		           f, at, "field %s of %s has type 0x%02x", quoted(&q, field->name),
		           quoted(&q2, s->name), field->type);
	} else if (newer != NULL) {
		d9_note_newer(st, f, at, newer);
	}
}

/* Arguments of one name would hide each other: the later gets a number.  Fields of raw events keep theirs. */
static bool set_unique_name(struct d9_state *st, const struct d9_frame *f, struct d9_schema *s,
                            struct tabletext *names, uint32_t i)
{
	const struct slice plain = s->fields[i].name;
	const struct slice name = tabletext_unique(names, &st->r->trace->arena, plain);
	struct quoted q, q2;

	if (name.n == plain.n || name.p == NULL)
		return name.p != NULL;
	if (!d9_find_unshown(st, D9_RULE_DUPLICATE_FIELD, f))
		d9_find(st, D9_RULE_DUPLICATE_FIELD, f,
		        "field %" PRIu32 " of %s has the name of an earlier field, %s", i,
		        quoted(&q, s->name), quoted(&q2, plain));
	if (!d9_wants_raw(st))
		s->fields[i].name = name;
	return true;
}

static bool set_unique_names(struct d9_state *st, const struct d9_frame *f, struct d9_schema *s)
{
	struct tabletext names = { .slots = NULL };
	bool ok = true;

	for (uint32_t i = 0; ok && i < s->nfields; i++)
		ok = set_unique_name(st, f, s, &names, i);
	tabletext_free(&names);
	return ok;
}

static struct class_field describe_field(const struct d9_field *field)
{
	const char *const name = d9_type_name(field->type);

	return (struct class_field){
		.name = field->name,
		.type = { name, (uint32_t)strlen(name), SLICE_UTF8 | SLICE_JSON },
		.value = d9_type(field->type)->value,
		.size = d9_fixed_size(field->type),
	};
}

/* Fields of the frame itself; raw events have them before those that the schema declares. */
static const struct class_field head_fields[] = {
	{ SLICE_LIT("type_id"), SLICE_LIT("U16"), VALUE_U16, 2, NULL },
	{ SLICE_LIT("timestamp_delta_ns"), SLICE_LIT("u24"), VALUE_U32, 3, "ns" },
};

/* Makes the fields of the class. */
static bool declare_fields(struct d9_state *st, struct d9_schema *s)
{
	if (d9_wants_raw(st) && s->nfields <= UINT16_MAX - 2) /* event.nfields has 16 bits */
		s->nhead = s->timed ? 2 : 1;
	const uint32_t n = s->nhead + s->nfields;
	s->declared = arena_alloc(&st->r->trace->arena, n * sizeof *s->declared);
	if (s->declared == NULL)
		return false;
	memcpy(s->declared, head_fields, s->nhead * sizeof *head_fields);
	for (uint32_t i = 0; i < s->nfields; i++)
		s->declared[s->nhead + i] = describe_field(&s->fields[i]);
	return true;
}

/* Reads the fields at c, which lies in `copy`, a copy of the frame's bytes after the type_id. */
static bool read_fields(struct d9_state *st, const struct d9_frame *f, struct d9_schema *s, struct cursor *c,
                        const char *copy)
{
	s->fields = arena_zalloc(&st->r->trace->arena, s->nfields, sizeof *s->fields);
	if (s->fields == NULL)
		return false;
	for (uint32_t i = 0; i < s->nfields; i++) {
		struct d9_field *const field = &s->fields[i];
		field->name = field->in_file = read_text(c);
		field->type = cursor_u8(c, "field_type");
		const char *const end = f->p + 3 + (c->p - copy);
		struct slice there = field->name; /* in the frame, for offsets */
		there.p = end - 1 - there.n;
		d9_check_text(st, f, there, "field name", s->name);
		check_type(st, f, s, field, end - 1);
	}
	return set_unique_names(st, f, s) && declare_fields(st, s);
}

/* ---- schema frames ---- */

/* Finds the end of a schema frame. */
static enum d9_result measure_schema(struct d9_state *st, struct d9_frame *f)
{
	struct cursor c = cursor_on(f->p, f->end, false);

	cursor_take(&c, 3, "tag and type_id");
	cursor_take(&c, cursor_u16(&c, "name_len"), "name");
	cursor_u8(&c, "has_timestamp");
	const uint16_t n = cursor_u16(&c, "field_count");
	if (c.missing == NULL && n * 3UL > cursor_left(&c)) {
		st->lack = (struct d9_lack){ .what = "field_count",
			                     .bytes = n * 3UL - cursor_left(&c),
			                     .length = n,
			                     .left = cursor_left(&c),
			                     .has_length = true };
		return D9_MORE;
	}
	for (uint32_t i = 0; i < n && c.missing == NULL; i++) {
		cursor_take(&c, cursor_u16(&c, "field name_len"), "field name");
		cursor_u8(&c, "field_type");
	}
	if (c.missing != NULL)
		return d9_note_lack(st, &c);
	f->end = c.p;
	return D9_DONE;
}

static bool append_schema(struct d9_schemas *s, struct d9_schema *schema, struct slice key)
{
	if (!array_reserve(&s->all, s->n, &s->cap, sizeof(struct d9_schema *)) ||
	    !tabletext_put(&s->index, key, s->n))
		return false;
	s->all[s->n++] = schema; /* owns it from here on */
	return true;
}

/* Makes a schema that is new in the trace; `key` is a copy of its bytes. */
static struct d9_schema *new_schema(struct d9_state *st, const struct d9_frame *f, struct slice key)
{
	struct cursor c = cursor_on(key.p, key.p + key.n, false);
	struct d9_schema *const s = calloc(1, sizeof *s);

	if (s == NULL || !append_schema(&st->schemas, s, key)) {
		free(s);
		return NULL;
	}
	const struct slice name = read_text(&c);
	struct slice there = name;
	there.p = f->p + 5;
	d9_check_text(st, f, there, "schema name", (struct slice){ NULL, 0, 0 });
	s->name = name; /* lies in the key, which stays */
	const uint8_t timed = cursor_u8(&c, "has_timestamp");
	s->nfields = cursor_u16(&c, "field_count");
	s->timed = timed == 1;
	s->readable = timed <= 1;
	if (!s->readable)
		d9_find_at(st, D9_RULE_HAS_TIMESTAMP, f, f->p + 5 + name.n, "has_timestamp of %s is %u",
		           quoted(&(struct quoted){ "" }, name), timed);
	if (!read_fields(st, f, s, &c, key.p))
		return NULL;
	return d9_schema_plan(st, s) && d9_ops_make(s) ? s : NULL;
}

static void show_schema(struct d9_state *st, const struct d9_frame *f, struct batch *b, uint16_t id,
                        const struct d9_schema *s)
{
	if (!d9_wants_structure(st))
		return;
	struct value *const pairs = arena_zalloc(&b->scratch, s->nfields, 2 * sizeof *pairs);
	const bool raw = d9_wants_raw(st);
	const uint8_t timed = (uint8_t)f->p[5 + s->name.n];
	const struct field fields[] = {
		{ SLICE_LIT("type_id"), { .type = VALUE_U16, .u64 = id } },
		{ SLICE_LIT("name"), value_string(s->name) },
		{ SLICE_LIT("has_timestamp"), raw ? (struct value){ .type = VALUE_U8, .u64 = timed }
		                                  : (struct value){ .type = VALUE_BOOL, .u64 = s->timed } },
		{ SLICE_LIT("fields"), { .type = VALUE_MAP, .count = s->nfields, .values = pairs } },
	};

	if (pairs == NULL) {
		st->no_memory = true;
		return;
	}
	for (uint32_t i = 0; i < s->nfields; i++) {
		pairs[2 * i] = value_string(s->fields[i].name);
		pairs[2 * i + 1] = raw ? (struct value){ .type = VALUE_U8, .u64 = s->fields[i].type }
		                       : value_string(s->declared[i].type);
	}
	d9_add_structure(st, D9_S_SCHEMA, f, b, fields, sizeof fields / sizeof fields[0]);
}

/* Charges a schema of these bytes against the limits; reports if it exceeds them. */
static bool reserve_schema(struct d9_state *st, const struct d9_frame *f, struct slice bytes)
{
	struct d9_schemas *const all = &st->schemas;
	const uint16_t name_len = load_u16(bytes.p, false);
	const uint64_t nfields = load_u16(bytes.p + 3 + name_len, false);
	const uint64_t cost = SCHEMA_COST + 2 * ((uint64_t)name_len + bytes.n) + nfields * FIELD_COST;

	if (all->n == D9_MAX_SCHEMAS || cost > D9_MAX_DESCRIBED - all->memory) {
		d9_find(st, D9_RULE_LIMIT, f,
		        "schema %" PRIu32 " of the trace needs %" PRIu64 " bytes of memory; %" PRIu32
		        " are in use",
		        all->n + 1, cost, all->memory);
		return false;
	}
	all->memory += (uint32_t)cost;
	return true;
}

enum d9_result d9_schema_frame(struct d9_state *st, struct d9_frame *f, struct batch *b)
{
	const enum d9_result result = measure_schema(st, f);

	if (result != D9_DONE)
		return result;
	const uint16_t id = load_u16(f->p + 1, false);
	const struct slice bytes = slice_of(f->p + 3, (size_t)(f->end - f->p - 3));
	const uint32_t known = tabletext_get(&st->schemas.index, bytes);
	struct d9_schema *s = known != TABLE_NONE ? st->schemas.all[known] : NULL;
	if (s == NULL) {
		if (!reserve_schema(st, f, bytes))
			return D9_BAD;
		const struct slice key = arena_copy(&st->r->trace->arena, bytes);
		s = key.p != NULL ? new_schema(st, f, key) : NULL;
	}
	if (s == NULL) {
		st->no_memory = true;
		return D9_DONE;
	}
	register_schema(st, f, id, s);
	show_schema(st, f, b, id, s);
	d9_count_frame(st, D9_S_SCHEMA, f);
	return D9_DONE;
}

/* ---- annotations ---- */

/*
 * Schema annotations (0.4): facts about the fields of a schema, each a key and a value.  The one key in use,
 * metrique.unit, is shown with the field's type.  Like pool frames, they are read entry by entry.
 */

struct annotation {
	uint16_t field;
	struct slice key, value; /* p NULL: absent, or read in pieces */
};

static bool read_annotation(struct d9_bytes *b, struct annotation *a)
{
	const char *key, *value;
	uint16_t key_len;
	uint32_t n;

	if (!d9_bytes_u16(b, &a->field, "field_index") || !d9_bytes_u16(b, &key_len, "key_len") ||
	    (key = d9_bytes_read(b, key_len, "key")) == NULL)
		return false;
	if (!b->pieces)
		a->key = textscan_slice(key, key_len);
	if (!d9_bytes_u32(b, &n, "value_len") || !d9_bytes_run(b, n, 1, "value_len", &value))
		return false;
	if (!b->pieces)
		a->value = textscan_slice(value, n);
	return true;
}

/* Sets the unit, also as part of the type that users see.  The first one counts. */
static void set_unit(struct d9_state *st, struct d9_schema *s, struct class_field *field, struct slice unit)
{
	struct arena *const arena = &st->r->trace->arena;

	if (unit.n > 32 || field->unit != NULL)
		return;
	field->unit = arena_copy(arena, slice_is(unit, "bytes") ? SLICE_LIT("byte") : unit).p;
	const struct slice type =
	    arena_printf(arena, "%.*s (%.*s)", (int)field->type.n, field->type.p, (int)unit.n, unit.p);
	if (field->unit == NULL || type.p == NULL)
		st->no_memory = true;
	else
		field->type = textscan_slice(type.p, type.n);
	s->planned = false; /* its events may have a class already, which does not change */
	s->run_need = SIZE_MAX;
}

static void apply_annotation(struct d9_state *st, const struct d9_frame *f, const struct annotation *a)
{
	struct d9_schema *const s = d9_schema_find(&st->schemas, st->open.type_id);
	struct quoted q;

	if ((a->key.flags & SLICE_UTF8) == 0)
		d9_check_text(st, f, a->key, "annotation key", (struct slice){ NULL, 0, 0 });
	if (s == NULL)
		return;
	if (a->field >= s->nfields)
		d9_find(st, D9_RULE_ANNOTATION_FIELD, f, "field_index is %u, field_count of %s is %" PRIu32,
		        a->field, quoted(&q, s->name), s->nfields);
	else if (slice_is(a->key, "metrique.unit"))
		set_unit(st, s, &s->declared[s->nhead + a->field], a->value);
}

/* Records the entry, if the frame has any; `first`: with the frame's head. */
static void show_annotation(struct d9_state *st, const struct d9_frame *f, struct batch *b,
                            const struct annotation *a, bool first)
{
	struct field fields[5];
	uint32_t n = 0;

	if (!d9_wants_structure(st))
		return;
	if (first || !d9_wants_raw(st))
		fields[n++] = (struct field){ SLICE_LIT("type_id"), value_u64(st->open.type_id) };
	if (first)
		fields[n++] =
		    (struct field){ SLICE_LIT("count"), { .type = VALUE_U16, .u64 = st->open.count } };
	if (st->open.count > 0) {
		fields[n++] =
		    (struct field){ SLICE_LIT("field_index"), { .type = VALUE_U16, .u64 = a->field } };
		fields[n++] = (struct field){ SLICE_LIT("key"), value_string(a->key) };
		fields[n++] = (struct field){ SLICE_LIT("value"), value_string(a->value) };
	}
	d9_add_structure(st, D9_S_ANNOTATIONS, f, b, fields, n);
}

enum d9_result d9_annotations_head(struct d9_state *st, struct d9_frame *f, struct batch *b)
{
	struct d9_bytes bytes = d9_bytes_of(st, f);
	struct d9_open_frame head = { .tag = f->tag, .offset = f->offset };
	struct annotation a = { .field = 0 };
	uint16_t count;

	(void)d9_bytes_read(&bytes, 1, "tag");
	const unsigned n = d9_bytes_leb128(&bytes, &head.type_id, "type_id");
	if (n > D9_VARINT_MAX) {
		d9_find_at(st, D9_RULE_LEB128_TOO_LONG, f, f->p + 1,
		           "type_id of annotations has no end within %d bytes", D9_VARINT_MAX);
		return D9_BAD;
	}
	if (n == 0 || !d9_bytes_u16(&bytes, &count, "count") || (count > 0 && !read_annotation(&bytes, &a)))
		return D9_MORE;
	f->end = bytes.p;
	head.left = head.count = count;
	st->open = head;
	d9_note_newer(st, f, f->p, "annotations frame 0x06");
	if (d9_schema_find(&st->schemas, head.type_id) == NULL)
		d9_find(st, D9_RULE_ANNOTATION_SCHEMA, f,
		        "type_id %" PRIu64 " has no schema in this segment; count is %u", head.type_id,
		        count);
	if (count > 0)
		apply_annotation(st, f, &a);
	show_annotation(st, f, b, &a, true);
	return D9_DONE;
}

enum d9_result d9_annotation(struct d9_state *st, struct d9_frame *f, struct batch *b)
{
	struct d9_bytes bytes = d9_bytes_of(st, f);
	struct annotation a;

	if (!read_annotation(&bytes, &a))
		return D9_MORE;
	f->end = bytes.p;
	apply_annotation(st, f, &a);
	show_annotation(st, f, b, &a, false);
	return D9_DONE;
}

enum d9_result d9_annotation_skip(struct d9_state *st)
{
	struct d9_bytes bytes = d9_bytes_pieces(st);
	struct annotation a;

	const bool ok = read_annotation(&bytes, &a);
	st->r->in->p = bytes.p;
	return ok ? D9_DONE : D9_MORE;
}
