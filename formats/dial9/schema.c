#include "dial9/schema.h"

#include <stdlib.h>

#include "dial9/dialect.h"
#include "dial9/measure.h"
#include "dial9/record.h"
#include "dial9/vocabulary.h"

/*
 * Schema frames.  Segments register the same schemas again and again, so a
 * schema is known by its bytes behind the type_id and made once for the trace.
 */

#define SCHEMA_COST 256 /* what a schema costs besides its bytes and fields */
#define FIELD_COST (sizeof(struct d9_field) + sizeof(struct class_field) + 2 * sizeof(struct d9_op) + 32)

void
d9_schemas_free(struct d9_schemas *s)
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

void
d9_schemas_forget(struct d9_schemas *s)
{
	for (uint32_t i = 0; i < s->nregistered; i++)
		s->by_type[s->registered[i]] = NULL;
	s->nregistered = 0;
}

/* ---- registering ---- */

/* The first thing in which two schemas differ. */
static void
report_redefined(struct d9_state *st, const struct d9_frame *f, uint16_t id, const struct d9_schema *old,
                 const struct d9_schema *now)
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

static void
register_schema(struct d9_state *st, const struct d9_frame *f, uint16_t id, struct d9_schema *schema)
{
	struct d9_schemas *const s = &st->schemas;
	const struct d9_schema *const old = d9_schema_find(s, id);

	if (old != NULL && old != schema)
		report_redefined(st, f, id, old, schema);
	if (!array_reach(&s->by_type, &s->ntypes, id, sizeof(struct d9_schema *)) ||
	    !array_room(&s->registered, s->nregistered, &s->registered_cap, sizeof *s->registered)) {
		st->no_memory = true;
		return;
	}
	if (old == NULL)
		s->registered[s->nregistered++] = id;
	s->by_type[id] = schema;
}

/* ---- reading ---- */

/* Finds the end of a schema frame. */
static enum d9_result
measure(struct d9_state *st, struct d9_frame *f)
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
		return d9_lacks(st, &c);
	f->end = c.p;
	return D9_DONE;
}

static struct slice
take_text(struct cursor *c)
{
	const uint16_t n = cursor_u16(c, "length");
	const struct slice s = cursor_take(c, n, "text");

	return textscan_slice(s.p, s.n);
}

static void
check_type(struct d9_state *st, const struct d9_frame *f, struct d9_schema *s, const struct d9_field *field,
           const char *at)
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
		d9_newer(st, f, at, newer);
	}
}

/* Arguments of one name would hide each other: the later gets a number.  Fields of raw events do not. */
static bool
unique_name(struct d9_state *st, const struct d9_frame *f, struct d9_schema *s, struct tabletext *names,
            uint32_t i)
{
	struct d9_field *const field = &s->fields[i];
	const struct slice plain = field->name;
	struct quoted q, q2;
	const uint32_t same = tabletext_get(names, plain);

	if (same == TABLE_NONE)
		return tabletext_put(names, plain, 1);
	if (!d9_find_unshown(st, D9_RULE_DUPLICATE_FIELD, f))
		d9_find(st, D9_RULE_DUPLICATE_FIELD, f,
		        "field %" PRIu32 " of %s has the name of an earlier field, %s", i,
		        quoted(&q, s->name), quoted(&q2, plain));
	for (uint32_t nth = same + 1;; nth++) {
		struct slice name =
		    arena_printf(&st->r->trace->arena, "%.*s (%" PRIu32 ")", (int)plain.n, plain.p, nth);
		if (name.p == NULL)
			return false;
		name.flags = plain.flags;
		if (tabletext_get(names, name) != TABLE_NONE)
			continue;
		if (!d9_wants_raw(st))
			field->name = name;
		return tabletext_put(names, plain, nth) && tabletext_put(names, name, 1);
	}
}

static bool
unique_names(struct d9_state *st, const struct d9_frame *f, struct d9_schema *s)
{
	struct tabletext names = { .slots = NULL };
	bool ok = true;

	for (uint32_t i = 0; ok && i < s->nfields; i++)
		ok = unique_name(st, f, s, &names, i);
	tabletext_free(&names);
	return ok;
}

static struct class_field
declaration(const struct d9_field *field)
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
static const struct class_field heads[] = {
	{ SLICE_LIT("type_id"), SLICE_LIT("U16"), VALUE_U16, 2, NULL },
	{ SLICE_LIT("timestamp_delta_ns"), SLICE_LIT("u24"), VALUE_U32, 3, "ns" },
};

/* Makes the fields of the class.  false: no memory. */
static bool
declare(struct d9_state *st, struct d9_schema *s)
{
	if (d9_wants_raw(st) && s->nfields <= UINT16_MAX - 2) /* struct event has room for so many */
		s->nhead = s->timed ? 2 : 1;
	const uint32_t n = s->nhead + s->nfields;
	s->declared = arena_alloc(&st->r->trace->arena, n * sizeof *s->declared);
	if (s->declared == NULL)
		return false;
	memcpy(s->declared, heads, s->nhead * sizeof *heads);
	for (uint32_t i = 0; i < s->nfields; i++)
		s->declared[s->nhead + i] = declaration(&s->fields[i]);
	return true;
}

/* Reads the fields at c, which lies in a copy of what follows the type_id of the frame. */
static bool
read_fields(struct d9_state *st, const struct d9_frame *f, struct d9_schema *s, struct cursor *c,
            const char *copy)
{
	s->fields = arena_zalloc(&st->r->trace->arena, s->nfields, sizeof *s->fields);
	if (s->fields == NULL)
		return false;
	for (uint32_t i = 0; i < s->nfields; i++) {
		struct d9_field *const field = &s->fields[i];
		field->name = field->in_file = take_text(c);
		field->type = cursor_u8(c, "field_type");
		const char *const end = f->p + 3 + (c->p - copy);
		struct slice there = field->name; /* in the frame, for the offset */
		there.p = end - 1 - there.n;
		d9_check_text(st, f, there, "field name", s->name);
		check_type(st, f, s, field, end - 1);
	}
	return unique_names(st, f, s) && declare(st, s);
}

static bool
append(struct d9_schemas *s, struct d9_schema *schema, struct slice key)
{
	if (!array_room(&s->all, s->n, &s->cap, sizeof(struct d9_schema *)) ||
	    !tabletext_put(&s->index, key, s->n))
		return false;
	s->all[s->n++] = schema; /* owned from here on */
	return true;
}

/* A schema that was not met before; `key` is a copy of its bytes. */
static struct d9_schema *
new_schema(struct d9_state *st, const struct d9_frame *f, struct slice key)
{
	struct cursor c = cursor_on(key.p, key.p + key.n, false);
	struct d9_schema *const s = calloc(1, sizeof *s);

	if (s == NULL || !append(&st->schemas, s, key)) {
		free(s);
		return NULL;
	}
	const struct slice name = take_text(&c);
	struct slice there = name;
	there.p = f->p + 5;
	d9_check_text(st, f, there, "schema name", (struct slice){ NULL, 0, 0 });
	s->name = name; /* in the key, which stays */
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

/* ---- as a record ---- */

static void
show(struct d9_state *st, const struct d9_frame *f, struct batch *b, uint16_t id, const struct d9_schema *s)
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
	d9_record_structure(st, D9_S_SCHEMA, f, b, fields, sizeof fields / sizeof fields[0]);
}

/* Whether one more schema of these bytes can be retained. */
static bool
has_room(struct d9_state *st, const struct d9_frame *f, struct slice bytes)
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

enum d9_result
d9_schema_frame(struct d9_state *st, struct d9_frame *f, struct batch *b)
{
	const enum d9_result result = measure(st, f);

	if (result != D9_DONE)
		return result;
	const uint16_t id = load_u16(f->p + 1, false);
	const struct slice bytes = slice_of(f->p + 3, (size_t)(f->end - f->p - 3));
	const uint32_t known = tabletext_get(&st->schemas.index, bytes);
	struct d9_schema *s = known != TABLE_NONE ? st->schemas.all[known] : NULL;
	if (s == NULL) {
		if (!has_room(st, f, bytes))
			return D9_BAD;
		const struct slice key = arena_copy(&st->r->trace->arena, bytes);
		s = key.p != NULL ? new_schema(st, f, key) : NULL;
	}
	if (s == NULL) {
		st->no_memory = true;
		return D9_DONE;
	}
	register_schema(st, f, id, s);
	show(st, f, b, id, s);
	d9_count_frame(st, D9_S_SCHEMA, f);
	return D9_DONE;
}
