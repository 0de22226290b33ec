#include "dial9/dial9_state.h"

/*
 * Pool frames: a count, then entries.  A frame may be larger than memory, so
 * its entries are read one by one; st->open says how many are still to come.
 * Each entry is a record of its own; the first one carries the frame's head.
 */

static void
open_frame(struct d9_state *st, const struct d9_frame *f, uint8_t tag, uint32_t count)
{
	st->open = (struct d9_open_frame){ .tag = tag, .left = count, .count = count, .offset = f->offset };
	if (count == 0)
		st->last_offset = f->offset;
}

static enum d9_result
show(struct d9_state *st, const struct d9_frame *f, struct batch *b, uint32_t id, struct slice data,
     bool first)
{
	const bool strings = st->open.tag == D9_TAG_STRINGS;
	struct field fields[3];
	uint32_t n = 0;

	if (!d9_wants_structure(st))
		return D9_DONE;
	if (first)
		fields[n++] =
		    (struct field){ SLICE_LIT("count"), { .type = VALUE_U32, .u64 = st->open.count } };
	fields[n++] = (struct field){ SLICE_LIT("pool_id"), { .type = VALUE_U32, .u64 = id } };
	fields[n] = (struct field){ strings ? SLICE_LIT("data") : SLICE_LIT("frames"), value_string(data) };
	if (!strings) {
		fields[n].value = (struct value){ .type = VALUE_LIST, .count = data.n / 8 };
		fields[n].value.values = d9_stack_values(NULL, &b->scratch, data.p, data.n / 8);
		if (fields[n].value.values == NULL)
			return D9_NO_MEMORY;
	}
	return d9_structure_add(st, strings ? D9_S_STRINGS : D9_S_STACKS, f, b, fields, n + 1);
}

/* The bytes of an entry at c, and its id. */
static enum d9_result
take_entry(struct d9_state *st, struct cursor *c, bool strings, uint32_t *id, struct slice *data)
{
	*id = cursor_u32(c, "pool_id");
	const uint32_t n = cursor_u32(c, strings ? "data_len" : "frame_count");
	const uint64_t bytes = strings ? n : (uint64_t)n * 8;
	const size_t left = cursor_left(c);

	if (c->missing != NULL)
		return d9_lacks(st, c);
	if (bytes > left)
		return d9_lacks_length(st, strings ? "data_len" : "frame_count", n, bytes - left, left);
	*data = strings ? textscan_slice(c->p, n) : slice_of(c->p, (size_t)bytes);
	c->p += bytes;
	return D9_DONE;
}

static enum d9_result
entry(struct d9_state *st, struct d9_frame *f, struct batch *b, struct cursor *c, bool first, uint32_t count)
{
	const uint8_t tag = f->tag;
	struct slice data;
	uint32_t id;
	enum d9_result result = take_entry(st, c, tag == D9_TAG_STRINGS, &id, &data);

	if (result != D9_DONE)
		return result;
	if (first)
		open_frame(st, f, tag, count);
	f->end = c->p;
	if (tag == D9_TAG_STRINGS && (data.flags & SLICE_UTF8) == 0)
		d9_check_text(st, f, data, "pool data", (struct slice){ NULL, 0, 0 });
	result = d9_pool_define(st, tag == D9_TAG_STRINGS ? D9_STRINGS : D9_STACKS, id, data, f);
	if (result == D9_DONE)
		result = show(st, f, b, id, data, first);
	if (--st->open.left == 0)
		st->last_offset = st->open.offset;
	return result;
}

enum d9_result
d9_pool_head(struct d9_state *st, struct d9_frame *f, struct batch *b)
{
	struct cursor c = cursor_on(f->p, f->end, false);
	const uint8_t tag = f->tag;
	cursor_u8(&c, "tag");
	const uint32_t count = cursor_u32(&c, "count");

	if (c.missing != NULL)
		return d9_lacks(st, &c);
	if (count > 0) {
		const enum d9_result result = entry(st, f, b, &c, true, count);
		if (result == D9_DONE && tag == D9_TAG_STACKS)
			d9_newer(st, f, f->p, "stack pool frame 0x04");
		return result;
	}
	open_frame(st, f, tag, 0);
	f->end = c.p;
	if (tag == D9_TAG_STACKS)
		d9_newer(st, f, f->p, "stack pool frame 0x04");
	const struct field none = { SLICE_LIT("count"), { .type = VALUE_U32, .u64 = 0 } };
	return d9_structure_add(st, tag == D9_TAG_STRINGS ? D9_S_STRINGS : D9_S_STACKS, f, b, &none, 1);
}

enum d9_result
d9_pool_entry(struct d9_state *st, struct d9_frame *f, struct batch *b)
{
	struct cursor c = cursor_on(f->p, f->end, false);

	return entry(st, f, b, &c, false, 0);
}
