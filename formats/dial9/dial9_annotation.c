#include "dial9/dial9_state.h"

/*
 * Schema annotations (0.4): facts about the fields of a schema, each a key and
 * a value.  The one key in use, metrique.unit, is shown with the field's type.
 * Like pool frames, they are read entry by entry.
 */

/* The unit, and as part of the type that people see; the first one stays. */
static bool
set_unit(struct d9_state *st, struct class_field *field, struct slice unit)
{
	const struct slice plain = slice_is(unit, "bytes") ? SLICE_LIT("byte") : unit;

	if (unit.n > 32 || field->unit != NULL)
		return true;
	field->unit = arena_copy(&st->r->trace->arena, plain).p;
	const struct slice type = arena_printf(&st->r->trace->arena, "%.*s (%.*s)", (int)field->type.n,
	                                       field->type.p, (int)unit.n, unit.p);
	if (field->unit == NULL || type.p == NULL)
		return false;
	field->type = textscan_slice(type.p, type.n);
	return true;
}

static enum d9_result
learn(struct d9_state *st, const struct d9_frame *f, uint16_t index, struct slice key, struct slice value)
{
	const struct d9_schema *const s = d9_schema_of(st, st->open.type_id);
	struct quoted q;

	if ((key.flags & SLICE_UTF8) == 0)
		d9_check_text(st, f, key, "annotation key", (struct slice){ NULL, 0, 0 });
	if (s == NULL)
		return D9_DONE;
	if (index >= s->nfields) {
		d9_find(st, D9_RULE_ANNOTATION_FIELD, f, "field_index is %u, field_count of %s is %" PRIu32,
		        index, quoted(&q, s->cls->name), s->nfields);
		return D9_DONE;
	}
	return !slice_is(key, "metrique.unit") || set_unit(st, &s->shown[index], value) ? D9_DONE
	                                                                                : D9_NO_MEMORY;
}

static enum d9_result
show(struct d9_state *st, const struct d9_frame *f, struct batch *b, uint16_t index, struct slice key,
     struct slice value, bool first)
{
	struct field fields[5];
	uint32_t n = 0;

	if (!d9_wants_structure(st))
		return D9_DONE;
	fields[n++] = (struct field){ SLICE_LIT("type_id"), { .type = VALUE_U32, .u64 = st->open.type_id } };
	if (first)
		fields[n++] =
		    (struct field){ SLICE_LIT("count"), { .type = VALUE_U32, .u64 = st->open.count } };
	if (st->open.count > 0) {
		fields[n++] = (struct field){ SLICE_LIT("field_index"), { .type = VALUE_U16, .u64 = index } };
		fields[n++] = (struct field){ SLICE_LIT("key"), value_string(key) };
		fields[n++] = (struct field){ SLICE_LIT("value"), value_string(value) };
	}
	return d9_structure_add(st, D9_S_ANNOTATIONS, f, b, fields, n);
}

/* One entry at c. */
static enum d9_result
take_entry(struct d9_state *st, struct cursor *c, uint16_t *index, struct slice *key, struct slice *value)
{
	*index = cursor_u16(c, "field_index");
	*key = cursor_take(c, cursor_u16(c, "key_len"), "key");
	const uint32_t n = cursor_u32(c, "value_len");
	const size_t left = cursor_left(c);

	if (c->missing != NULL)
		return d9_lacks(st, c);
	if (n > left)
		return d9_lacks_length(st, "value_len", n, n - left, left);
	*key = textscan_slice(key->p, key->n);
	*value = textscan_slice(c->p, n);
	c->p += n;
	return D9_DONE;
}

static enum d9_result
entry(struct d9_state *st, struct d9_frame *f, struct batch *b, struct cursor *c,
      const struct d9_open_frame *head)
{
	struct slice key = { NULL, 0, 0 }, value = { NULL, 0, 0 };
	uint16_t index = 0;
	enum d9_result result;

	if (head == NULL || head->count > 0) {
		result = take_entry(st, c, &index, &key, &value);
		if (result != D9_DONE)
			return result;
	}
	f->end = c->p;
	if (head != NULL) {
		st->open = *head;
		d9_newer(st, f, f->p, "annotations frame 0x06");
		if (d9_schema_of(st, head->type_id) == NULL)
			d9_find(st, D9_RULE_ANNOTATION_SCHEMA, f,
			        "type_id %" PRIu32 " has no schema in this segment; count is %" PRIu32,
			        head->type_id, head->count);
	}
	result = st->open.count > 0 ? learn(st, f, index, key, value) : D9_DONE;
	if (result == D9_DONE)
		result = show(st, f, b, index, key, value, head != NULL);
	if (st->open.left > 0)
		st->open.left--;
	if (st->open.left == 0)
		st->last_offset = st->open.offset;
	return result;
}

/* The type_id at c, a LEB128 number; more than 32 bits of it name no schema anyway. */
static enum d9_result
take_type_id(struct d9_state *st, const struct d9_frame *f, struct cursor *c, uint32_t *type_id)
{
	const char *const start = c->p;
	uint64_t v = 0;

	for (unsigned shift = 0; c->missing == NULL; shift += 7) {
		const uint8_t byte = cursor_u8(c, "type_id");
		if (shift == 63 && byte >= 0x80) {
			d9_find_at(st, D9_RULE_LEB128_TOO_LONG, f, start,
			           "type_id of annotations has no end within %d bytes", D9_VARINT_MAX);
			return D9_BAD;
		}
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			break;
	}
	*type_id = v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
	return D9_DONE;
}

enum d9_result
d9_annotations_head(struct d9_state *st, struct d9_frame *f, struct batch *b)
{
	struct cursor c = cursor_on(f->p, f->end, false);
	struct d9_open_frame head = { .tag = cursor_u8(&c, "tag"), .offset = f->offset };

	if (take_type_id(st, f, &c, &head.type_id) != D9_DONE)
		return D9_BAD;
	head.left = head.count = cursor_u16(&c, "count");
	if (c.missing != NULL)
		return d9_lacks(st, &c);
	return entry(st, f, b, &c, &head);
}

enum d9_result
d9_annotation(struct d9_state *st, struct d9_frame *f, struct batch *b)
{
	struct cursor c = cursor_on(f->p, f->end, false);

	return entry(st, f, b, &c, NULL);
}
