#include "dial9/dialect.h"
#include "dial9/record.h"

/*
 * Schema annotations (0.4): facts about the fields of a schema, each a key and
 * a value.  The one key in use, metrique.unit, is shown with the field's type.
 * Like pool frames, they are read entry by entry.
 */

struct annotation {
	uint16_t field;
	struct slice key, value; /* p NULL: there is none, or it came in pieces */
};

static bool
take_entry(struct d9_bytes *b, struct annotation *a)
{
	const char *key, *value;
	uint16_t key_len;
	uint32_t n;

	if (!d9_bytes_u16(b, &a->field, "field_index") || !d9_bytes_u16(b, &key_len, "key_len") ||
	    (key = d9_bytes_take(b, key_len, "key")) == NULL)
		return false;
	if (!b->pieces)
		a->key = textscan_slice(key, key_len);
	if (!d9_bytes_u32(b, &n, "value_len") || !d9_bytes_run(b, n, 1, "value_len", &value))
		return false;
	if (!b->pieces)
		a->value = textscan_slice(value, n);
	return true;
}

/* The unit, and as part of the type that people see; the first one stays. */
static void
set_unit(struct d9_state *st, struct d9_schema *s, struct class_field *field, struct slice unit)
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
	s->planned = false; /* events of it may have a class already, which does not change */
	s->run_need = SIZE_MAX;
}

static void
learn(struct d9_state *st, const struct d9_frame *f, const struct annotation *a)
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

/* The entry that is there if the frame has any; `first`: with the frame's head. */
static void
show(struct d9_state *st, const struct d9_frame *f, struct batch *b, const struct annotation *a, bool first)
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
	d9_record_structure(st, D9_S_ANNOTATIONS, f, b, fields, n);
}

enum d9_result
d9_annotations_head(struct d9_state *st, struct d9_frame *f, struct batch *b)
{
	struct d9_bytes bytes = d9_bytes_of(st, f);
	struct d9_open_frame head = { .tag = f->tag, .offset = f->offset };
	struct annotation a = { .field = 0 };
	uint16_t count;

	(void)d9_bytes_take(&bytes, 1, "tag");
	const unsigned n = d9_bytes_leb128(&bytes, &head.type_id, "type_id");
	if (n > D9_VARINT_MAX) {
		d9_find_at(st, D9_RULE_LEB128_TOO_LONG, f, f->p + 1,
		           "type_id of annotations has no end within %d bytes", D9_VARINT_MAX);
		return D9_BAD;
	}
	if (n == 0 || !d9_bytes_u16(&bytes, &count, "count") || (count > 0 && !take_entry(&bytes, &a)))
		return D9_MORE;
	f->end = bytes.p;
	head.left = head.count = count;
	st->open = head;
	d9_newer(st, f, f->p, "annotations frame 0x06");
	if (d9_schema_find(&st->schemas, head.type_id) == NULL)
		d9_find(st, D9_RULE_ANNOTATION_SCHEMA, f,
		        "type_id %" PRIu64 " has no schema in this segment; count is %u", head.type_id,
		        count);
	if (count > 0)
		learn(st, f, &a);
	show(st, f, b, &a, true);
	return D9_DONE;
}

enum d9_result
d9_annotation(struct d9_state *st, struct d9_frame *f, struct batch *b)
{
	struct d9_bytes bytes = d9_bytes_of(st, f);
	struct annotation a;

	if (!take_entry(&bytes, &a))
		return D9_MORE;
	f->end = bytes.p;
	learn(st, f, &a);
	show(st, f, b, &a, false);
	return D9_DONE;
}

enum d9_result
d9_annotation_skip(struct d9_state *st)
{
	struct d9_bytes bytes = d9_bytes_pieces(st);
	struct annotation a;

	const bool ok = take_entry(&bytes, &a);
	st->r->in->p = bytes.p;
	return ok ? D9_DONE : D9_MORE;
}
