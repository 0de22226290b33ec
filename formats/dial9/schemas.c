/*
 * Schemas and their annotations.  Every segment registers the same schemas, so a schema is looked up by its
 * bytes after the type_id and made once for the trace.  Its memory lasts as long as the trace, because events
 * point into it; D9_MAX_SCHEMAS and D9_MAX_DESCRIBED are its limits.
 */
#include <stdlib.h>

#include "dial9/dial9.h"

/* Bytes of memory that a schema and a field cost in addition to their bytes in the frame. */
#define SCHEMA_COST 256
#define FIELD_COST                                                                                           \
	(sizeof(struct d9_field) + sizeof(struct class_field) + 2 * sizeof(struct d9_measure_step) + 32)

void d9_schemas_free(struct d9_schemas *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		free(s->all[i]->measure_steps);
		free(s->all[i]->read_steps);
		free(s->all[i]);
	}
	free(s->all);
	free(s->by_type);
	free(s->registered);
	tabletext_free(&s->index);
}

void d9_schemas_clear(struct d9_schemas *s)
{
	for (uint32_t i = 0; i < s->nregistered; i++)
		s->by_type[s->registered[i]] = NULL;
	s->nregistered = 0;
}

/* ---- registering ---- */

/* Reports the first difference between two schemas of one type_id. */
static void report_redefined(struct d9_state *st, const struct record *f, uint16_t id,
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

static void register_schema(struct d9_state *st, const struct record *f, uint16_t id,
                            struct d9_schema *schema)
{
	struct d9_schemas *const s = &st->schemas;
	const struct d9_schema *const old = d9_schema_find(s, id);

	if (old != NULL && old != schema)
		report_redefined(st, f, id, old, schema);
	if (note_failure(&st->r->no_memory,
	                 !array_reach(&s->by_type, &s->ntypes, id, sizeof(struct d9_schema *)) ||
	                     !array_reserve(&s->registered, s->nregistered, &s->registered_cap,
	                                    sizeof *s->registered)))
		return;
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

static void check_type(struct d9_state *st, const struct record *f, struct d9_schema *s,
                       const struct d9_field *field, const char *at)
{
	const struct d9_type_info *const type = d9_type(field->type);
	struct quoted q, q2;

	if (!d9_type_known(field->type)) {
		s->readable = false;
		d9_find_at(st,
		           d9_is_optional(field->type) ? D9_RULE_OPTIONAL_UNKNOWN_TYPE
		                                       : D9_RULE_UNKNOWN_FIELD_TYPE,
		           f, at, "field %s of %s has type 0x%02x", quoted(&q, field->name),
		           quoted(&q2, s->name), field->type);
	} else if (type->newer != NULL) {
		d9_note_newer(st, f, at, type->newer, (enum d9_dialect)type->since);
	}
}

/* Numbers fields that have the name of an earlier one, as arguments of one name would hide each other. Fields
 * of raw events keep their names. */
static bool set_unique_names(struct d9_state *st, const struct record *f, struct d9_schema *s)
{
	struct tabletext names = { .slots = NULL };
	struct quoted q, q2;
	bool ok = true;

	for (uint32_t i = 0; ok && i < s->nfields; i++) {
		const struct slice plain = s->fields[i].name;
		const struct slice name = tabletext_unique(&names, &st->r->trace->arena, plain);
		ok = name.p != NULL;
		if (!ok || name.n == plain.n)
			continue;
		d9_find(st, D9_RULE_DUPLICATE_FIELD, f,
		        "field %" PRIu32 " of %s has the name of an earlier field, %s", i,
		        quoted(&q, s->name), quoted(&q2, plain));
		if (!d9_wants_raw(st))
			s->fields[i].name = (struct slice){ name.p, name.n, name.flags | SLICE_STAYS };
	}
	tabletext_free(&names);
	return ok;
}

/* Fields of the frame's head; in raw events they precede those that the schema declares. */
static const struct class_field head_fields[] = {
	{ SLICE_LIT("type_id"), SLICE_LIT("U16"), VALUE_U16, 2, NULL },
	{ SLICE_LIT("timestamp_delta_ns"), SLICE_LIT("u24"), VALUE_U32, 3, "ns" },
};

/* Makes the fields of the class. */
static bool declare_fields(struct d9_state *st, const struct record *f, struct d9_schema *s)
{
	const uint32_t room = UINT16_MAX - s->nfields; /* event.nfields has 16 bits */
	const uint32_t head = s->timed ? 2 : 1;

	if (d9_wants_raw(st)) {
		s->nhead = room < head ? room : head;
		if (room < head)
			d9_find(st, D9_RULE_LIMIT, f,
			        "%s has %" PRIu32 " fields: its raw events have no field for %s",
			        quoted(&(struct quoted){ "" }, s->name), s->nfields,
			        room > 0   ? "timestamp_delta_ns"
			        : head > 1 ? "type_id and timestamp_delta_ns"
			                   : "type_id");
	}
	const uint32_t n = s->nhead + s->nfields;
	s->declared = arena_alloc(&st->r->trace->arena, n * sizeof *s->declared);
	if (s->declared == NULL)
		return false;
	memcpy(s->declared, head_fields, s->nhead * sizeof *head_fields);
	for (uint32_t i = 0; i < s->nfields; i++) {
		const uint8_t type = s->fields[i].type;
		const char *const name = d9_type_name(type);
		s->declared[s->nhead + i] = (struct class_field){
			.name = s->fields[i].name,
			.type = { name, (uint32_t)strlen(name), SLICE_UTF8 | SLICE_JSON },
			.value = d9_type(type)->value,
			.size = d9_fixed_size(type),
		};
	}
	return true;
}

/* Reads the fields at c, which points into `copy`, a copy of the frame's bytes after the type_id. */
static bool read_fields(struct d9_state *st, const struct record *f, struct d9_schema *s, struct cursor *c,
                        const char *copy)
{
	s->fields = arena_zalloc(&st->r->trace->arena, s->nfields, sizeof *s->fields);
	if (s->fields == NULL)
		return false;
	for (uint32_t i = 0; i < s->nfields; i++) {
		struct d9_field *const field = &s->fields[i];
		field->in_file = read_text(c);
		field->name = field->in_file;
		field->name.flags |= SLICE_STAYS;
		field->type = cursor_u8(c, "field_type");
		const char *const end = f->p + D9_SCHEMA_HEAD + (c->p - copy);
		struct slice in_frame = field->name; /* in the frame, for offsets */
		in_frame.p = end - 1 - in_frame.n;
		d9_check_text(st, f, in_frame, "field name", s->name);
		check_type(st, f, s, field, end - 1);
	}
	return set_unique_names(st, f, s) && declare_fields(st, f, s);
}

/* ---- frames ---- */

/* Finds the end of a schema frame. */
static enum record_status measure_schema(struct d9_state *st, struct record *f)
{
	struct d9_bytes b = d9_bytes_of(st, f), fields;
	uint16_t n;
	const char *p;

	if (d9_bytes_read(&b, D9_SCHEMA_HEAD, "tag and type_id") == NULL ||
	    !d9_bytes_u16(&b, &n, "name_len") || !d9_bytes_run(&b, n, 1, "name_len", &p) ||
	    d9_bytes_read(&b, 1, "has_timestamp") == NULL || !d9_bytes_u16(&b, &n, "field_count"))
		return RECORD_MORE;
	fields = b;
	if (!d9_bytes_run(&fields, n, 3, "field_count", &p))
		return RECORD_MORE;
	for (uint32_t left = n; left > 0; left--)
		if (!d9_bytes_u16(&b, &n, "field name_len") ||
		    !d9_bytes_run(&b, n, 1, "field name_len", &p) ||
		    d9_bytes_read(&b, 1, "field_type") == NULL)
			return RECORD_MORE;
	f->end = b.p;
	return RECORD_DONE;
}

/* Makes a schema that is new in the trace; `key` is a copy of its bytes. */
static struct d9_schema *new_schema(struct d9_state *st, const struct record *f, struct slice key)
{
	struct cursor c = cursor_on(key.p, key.p + key.n, false);
	struct d9_schemas *const all = &st->schemas;
	struct d9_schema *const s = calloc(1, sizeof *s);

	if (s == NULL || !array_reserve(&all->all, all->n, &all->cap, sizeof(struct d9_schema *)) ||
	    !tabletext_put(&all->index, key, all->n)) {
		free(s);
		return NULL;
	}
	all->all[all->n++] = s; /* owns the schema from here on */
	const struct slice name = read_text(&c);
	struct slice in_frame = name;
	in_frame.p = f->p + D9_SCHEMA_NAME;
	d9_check_text(st, f, in_frame, "schema name", SLICE_NONE);
	s->name = name; /* points into the key, which stays */
	const uint8_t timed = cursor_u8(&c, "has_timestamp");
	s->nfields = cursor_u16(&c, "field_count");
	s->timed = timed == 1;
	s->readable = timed <= 1;
	if (!s->readable)
		d9_find_at(st, D9_RULE_HAS_TIMESTAMP, f, f->p + D9_SCHEMA_NAME + name.n,
		           "has_timestamp of %s is %u", quoted(&(struct quoted){ "" }, name), timed);
	if (!read_fields(st, f, s, &c, key.p))
		return NULL;
	return d9_schema_plan(st, s) && d9_make_measure_steps(st, s) ? s : NULL;
}

uint32_t d9_schema_fields(struct d9_state *st, const struct record *f, struct batch *b, struct field *to)
{
	const struct d9_schema *const s = st->schema;
	struct value *const pairs = arena_zalloc(&b->scratch, s->nfields, 2 * sizeof *pairs);
	const bool raw = d9_wants_raw(st);
	const uint8_t timed = (uint8_t)f->p[D9_SCHEMA_NAME + s->name.n];

	if (pairs == NULL)
		return 0;
	for (uint32_t i = 0; i < s->nfields; i++) {
		pairs[2 * i] = value_string(s->fields[i].name);
		pairs[2 * i + 1] = raw ? (struct value){ .type = VALUE_U8, .u64 = s->fields[i].type }
		                       : value_string(s->declared[i].type);
	}
	to[0] = (struct field){ SLICE_LIT("type_id"), { .type = VALUE_U16, .u64 = d9_type_id(f->p) } };
	to[1] = (struct field){ SLICE_LIT("name"), value_string(s->name) };
	to[2] = (struct field){ SLICE_LIT("has_timestamp"),
		                raw ? (struct value){ .type = VALUE_U8, .u64 = timed }
		                    : (struct value){ .type = VALUE_BOOL, .u64 = s->timed } };
	to[3] = (struct field){ SLICE_LIT("fields"),
		                { .type = VALUE_MAP, .count = s->nfields, .values = pairs } };
	return 4;
}

/* Charges a schema of these bytes against the limits.  Reports and returns false if it exceeds them. */
static bool reserve_schema(struct d9_state *st, const struct record *f, struct slice bytes)
{
	struct d9_schemas *const all = &st->schemas;
	const uint16_t name_len = load_u16(bytes.p, false);
	const uint64_t nfields =
	    load_u16(bytes.p + 3 + name_len, false); /* after name_len and has_timestamp */
	const uint64_t cost = SCHEMA_COST + 2 * ((uint64_t)name_len + bytes.n) + nfields * FIELD_COST;

	if (all->n == D9_MAX_SCHEMAS ||
	    !reader_charge(&all->memory, cost, D9_MAX_DESCRIBED, D9_MAX_DESCRIBED + 4 * st->r->max_record)) {
		d9_find(st, D9_RULE_LIMIT, f,
		        "schema %" PRIu32 " of the trace needs %" PRIu64 " bytes of memory; %" PRIu64
		        " are in use: from here on nothing was checked",
		        all->n + 1, cost, all->memory.used + all->memory.used_long);
		return false;
	}
	return true;
}

enum record_status d9_schema_frame(struct d9_state *st, struct record *f)
{
	const enum record_status status = measure_schema(st, f);

	if (status != RECORD_DONE)
		return status;
	const struct slice bytes = slice_of(f->p + D9_SCHEMA_HEAD, (size_t)(f->end - f->p - D9_SCHEMA_HEAD));
	const uint32_t known = tabletext_get(&st->schemas.index, bytes);
	struct d9_schema *s = known != TABLE_NONE ? st->schemas.all[known] : NULL;
	if (s == NULL) {
		if (!reserve_schema(st, f, bytes))
			return d9_pass_rest(st, f);
		const struct slice key = arena_copy(&st->r->trace->arena, bytes);
		s = key.p != NULL ? new_schema(st, f, key) : NULL;
	}
	if (note_failure(&st->r->no_memory, s == NULL))
		return RECORD_BAD;
	register_schema(st, f, d9_type_id(f->p), s);
	st->schema = s;
	return d9_end_frame(st, f);
}

/* ---- annotations ---- */

/*
 * Schema annotations (0.4): keys and values that describe the fields of a schema.  The only key in use,
 * metrique.unit, is shown with the field's type.  Like pool frames, annotations are read entry by entry.
 */

static bool read_annotation(struct d9_bytes *b, struct d9_annotation *a)
{
	const char *key, *value;
	uint16_t key_len;
	uint32_t n;

	if (!d9_bytes_u16(b, &a->field, "field_index") || !d9_bytes_u16(b, &key_len, "key_len") ||
	    !d9_bytes_run(b, key_len, 1, "key_len", &key))
		return false;
	a->key = textscan_slice(key, key_len);
	if (!d9_bytes_u32(b, &n, "value_len") || !d9_bytes_run(b, n, 1, "value_len", &value))
		return false;
	a->value = textscan_slice(value, n);
	return true;
}

/* Sets the unit of a field, unless it has one; the unit is also part of the type that users see. */
static void set_unit(struct d9_state *st, struct d9_schema *s, struct class_field *field, struct slice unit)
{
	struct arena *const arena = &st->r->trace->arena;

	if (unit.n > 32 || field->unit != NULL)
		return;
	field->unit = arena_copy(arena, slice_is(unit, "bytes") ? SLICE_LIT("byte") : unit).p;
	const struct slice type =
	    arena_printf(arena, "%.*s (%.*s)", (int)field->type.n, field->type.p, (int)unit.n, unit.p);
	if (field->unit == NULL || type.p == NULL)
		st->r->no_memory = true;
	else
		field->type = textscan_slice(type.p, type.n);
	s->planned = false; /* a class that its events already have does not change */
	s->run_need = s->events_need = SIZE_MAX;
}

static void apply_annotation(struct d9_state *st, const struct record *f, const struct d9_annotation *a)
{
	struct d9_schema *const s = d9_schema_find(&st->schemas, st->open.type_id);
	struct quoted q;

	d9_check_text(st, f, a->key, "annotation key", SLICE_NONE);
	if (s == NULL)
		return;
	if (a->field >= s->nfields)
		d9_find(st, D9_RULE_ANNOTATION_FIELD, f, "field_index is %u, field_count of %s is %" PRIu32,
		        a->field, quoted(&q, s->name), s->nfields);
	else if (slice_is(a->key, "metrique.unit"))
		set_unit(st, s, &s->declared[s->nhead + a->field], a->value);
}

uint32_t d9_annotation_fields(struct d9_state *st, struct field *to)
{
	const struct d9_annotation *const a = &st->annotation;
	uint32_t n = 0;

	if (st->first || !d9_wants_raw(st))
		to[n++] = (struct field){ SLICE_LIT("type_id"), value_u64(st->open.type_id) };
	if (st->first)
		to[n++] = (struct field){ SLICE_LIT("count"), { .type = VALUE_U16, .u64 = st->open.count } };
	if (st->open.count > 0) {
		to[n++] = (struct field){ SLICE_LIT("field_index"), { .type = VALUE_U16, .u64 = a->field } };
		to[n++] = (struct field){ SLICE_LIT("key"), value_string(a->key) };
		to[n++] = (struct field){ SLICE_LIT("value"), value_string(a->value) };
	}
	return n;
}

/* Reads the head up to the first annotation. */
static enum record_status read_annotations_head(struct d9_state *st, const struct record *f,
                                                struct d9_bytes *bytes, struct d9_open_frame *open)
{
	uint16_t count;

	(void)d9_bytes_read(bytes, 1, "tag");
	const unsigned n = d9_bytes_leb128(bytes, &open->type_id, "type_id");
	if (n > D9_VARINT_MAX) {
		d9_find_at(st, D9_RULE_LEB128_TOO_LONG, f, f->p + 1,
		           "type_id of annotations has no end within %d bytes", D9_VARINT_MAX);
		return RECORD_BAD;
	}
	if (n == 0 || !d9_bytes_u16(bytes, &count, "count"))
		return RECORD_MORE;
	open->left = open->count = count;
	return RECORD_DONE;
}

enum record_status d9_annotation_frame(struct d9_state *st, struct record *f)
{
	struct d9_bytes bytes = d9_bytes_of(st, f);
	struct d9_open_frame open = st->open;
	const enum record_status status =
	    st->first ? read_annotations_head(st, f, &bytes, &open) : RECORD_DONE;

	if (status != RECORD_DONE)
		return status;
	if (open.left > 0 && !read_annotation(&bytes, &st->annotation))
		return RECORD_MORE;
	f->end = bytes.p;
	st->open = open;
	if (st->first) {
		struct d9_bytes id = { .p = f->p + 1, .end = f->end, .lack = &st->lack };
		const unsigned n = d9_bytes_leb128(&id, &open.type_id, "type_id");
		d9_note_newer(st, f, f->p, "annotations frame 0x06", D9_0_4);
		if (d9_is_over_64_bits(id.p, n))
			d9_report_over_64_bits(st, f, id.p);
		if (d9_schema_find(&st->schemas, open.type_id) == NULL)
			d9_find(st, D9_RULE_ANNOTATION_SCHEMA, f,
			        "type_id %" PRIu64 " has no schema in this segment; count is %" PRIu32,
			        open.type_id, open.count);
	}
	if (open.left > 0)
		apply_annotation(st, f, &st->annotation);
	return RECORD_DONE;
}

/* Begins to pass over an annotation, after the frame's head. */
enum record_status d9_annotation_pass(struct d9_state *st, const struct record *f)
{
	struct d9_bytes bytes = d9_bytes_of(st, f);
	const enum record_status status =
	    st->first ? read_annotations_head(st, f, &bytes, &st->open) : RECORD_DONE;
	uint16_t key_len;
	uint32_t n;

	if (status != RECORD_DONE)
		return status;
	if (d9_bytes_read(&bytes, 2, "field_index") == NULL || !d9_bytes_u16(&bytes, &key_len, "key_len") ||
	    d9_bytes_read(&bytes, key_len, "key") == NULL || !d9_bytes_u32(&bytes, &n, "value_len"))
		return RECORD_MORE;
	st->pass = (struct d9_pass){ .run = (uint64_t)(bytes.p - f->p) + n,
		                     .total = n,
		                     .length = n,
		                     .missing = "value_len",
		                     .what = "an annotation" };
	return RECORD_DONE;
}
