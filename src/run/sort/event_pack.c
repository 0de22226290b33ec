#include <stddef.h>

#include "run/sort/event_packed.h"

#define HEAD_ROOM (6 + 3 * 8) /* what the numbers of an event may take */

/* How many bytes a number takes without its leading zeros. */
static unsigned
bytes_of(uint64_t v)
{
	return v == 0 ? 0 : (71 - (unsigned)__builtin_clzll(v)) / 8;
}

static unsigned
size_of_number(uint64_t v)
{
	return v == 0 ? 0 : v >> 8 == 0 ? 1 : v >> 16 == 0 ? 2 : v >> 32 == 0 ? 4 : 8;
}

struct packing {
	char *at, *end;
	struct field_shapes *shapes;
};

static bool
put(struct packing *k, const void *p, uint64_t n)
{
	if (n > (uint64_t)(k->end - k->at))
		return false;
	if (n > 0)
		memcpy(k->at, p, (size_t)n);
	k->at += n;
	return true;
}

/* The length of a text of which `follow` bytes follow. */
static bool
put_length(struct packing *k, uint32_t n, uint64_t follow)
{
	if (follow + (n < LONG_TEXT ? 1 : 5) > (uint64_t)(k->end - k->at))
		return false;
	*k->at++ = (char)(n < LONG_TEXT ? n : LONG_TEXT);
	if (n >= LONG_TEXT) {
		memcpy(k->at, &n, sizeof n);
		k->at += sizeof n;
	}
	return true;
}

static bool
put_text(struct packing *k, const char *p, uint32_t n)
{
	if (!put_length(k, n, n))
		return false;
	if (n > 0)
		memcpy(k->at, p, n);
	k->at += n;
	return true;
}

static bool
put_slice(struct packing *k, const char *p, uint32_t n, enum kind kind)
{
	if (kind == KIND_TEXT)
		return put_text(k, p, n);
	/* Text that is NULL has a length as well, whatever it may mean. */
	return put_length(k, n, 0) && (kind == KIND_NULL || put(k, &p, sizeof p));
}

/* The name, and what is known of the value. */
static bool
put_shape(struct packing *k, const struct field *f)
{
	const enum kind kind = kind_of(f->name.p, f->name.flags);
	const struct packed_shape shape = {
		.name_flags = (uint8_t)f->name.flags,
		.name_kind = (uint8_t)kind,
		.type = f->value.type,
		.flags = f->value.flags,
		.element = f->value.element,
	};

	return put(k, &shape, sizeof shape) && put_slice(k, f->name.p, f->name.n, kind);
}

static bool
put_field(struct packing *k, const struct field *f)
{
	const struct value *const v = &f->value;
	const bool text = is_text(v), list = is_list(v);
	const struct packed_field head = {
		.shape = k->shapes != NULL ? field_shapes_find(k->shapes, f) : FIELD_SHAPE_NONE,
		.kind = (uint8_t)(text   ? kind_of(v->p, v->flags)
		                  : list ? sizeof v->count
		                         : size_of_number(v->u64)),
	};

	if (!put(k, &head, sizeof head) || (head.shape == FIELD_SHAPE_NONE && !put_shape(k, f)))
		return false;
	return text ? put_slice(k, v->p, v->count, (enum kind)head.kind)
	            : put(k, list ? (const void *)&v->count : &v->u64, head.kind);
}

/* The entries of a list; texts among them follow later. */
static bool
put_list(struct packing *k, const struct value *list)
{
	return put(k, list->values, entries(list) * sizeof *list);
}

/* The entries of all lists: what was copied is the queue of those whose own entries are still to be copied.
 */
static bool
put_lists(struct packing *k, const struct field *fields, uint32_t n)
{
	char *const count = k->at, *const first = count + sizeof(uint64_t);
	const uint64_t none = 0;

	if (!put(k, &none, sizeof none))
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (is_list(&fields[i].value) && !put_list(k, &fields[i].value))
			return false;
	for (const char *at = first; at < k->at; at += sizeof(struct value)) {
		struct value v;
		memcpy(&v, at, sizeof v);
		if (is_list(&v) && !put_list(k, &v))
			return false;
	}
	const uint64_t all = (uint64_t)(k->at - first) / sizeof(struct value);
	memcpy(count, &all, sizeof all);
	for (uint64_t i = 0; i < all; i++) {
		char *const at = first + i * sizeof(struct value);
		struct value v;
		memcpy(&v, at, sizeof v);
		if (!is_text(&v) || kind_of(v.p, v.flags) != KIND_TEXT)
			continue;
		if (!put_text(k, v.p, v.count))
			return false;
		v.p = PACKED_TEXT;
		memcpy(at, &v, sizeof v);
	}
	return true;
}

static bool
put_fields(struct packing *k, const struct field *fields, uint32_t n)
{
	bool lists = false;

	for (uint32_t i = 0; i < n; i++) {
		if (!put_field(k, &fields[i]))
			return false;
		lists |= entries(&fields[i].value) > 0;
	}
	return !lists || put_lists(k, fields, n);
}

/* large: room for its size follows. */
static bool
put_head(struct packing *k, const struct event *e, uint64_t base, uint16_t shape, bool large)
{
	const uint64_t ts = distance(base, e->ts);
	const unsigned ndur = bytes_of(e->dur), noffset = bytes_of(e->offset), nts = bytes_of(ts);
	const uint32_t sizes = (large ? EVENT_PACKED_LARGE : 0) | ndur << 20 | noffset << 24 | nts << 28;
	const unsigned n = 6 + ndur + noffset + nts;
	const bool roomy = k->end - k->at >= (ptrdiff_t)HEAD_ROOM;
	char tight[HEAD_ROOM], *const head = roomy ? k->at : tight;

	/* All eight bytes of each: those that are zero are overwritten. */
	memcpy(head, &sizes, sizeof sizes);
	memcpy(head + 4, &shape, sizeof shape);
	memcpy(head + 6, &e->dur, sizeof e->dur);
	memcpy(head + 6 + ndur, &e->offset, sizeof e->offset);
	memcpy(head + 6 + ndur + noffset, &ts, sizeof ts);
	if (roomy)
		k->at += n;
	else if (!put(k, head, n))
		return false;
	const uint64_t size = 0;
	if (large && !put(k, &size, sizeof size))
		return false;
	if (shape != EVENT_SHAPE_NONE)
		return true;
	const struct event whole = event_shape_of(e);
	return put(k, &whole, sizeof whole);
}

static bool
put_rest(struct packing *k, const struct batch *b, uint32_t i, bool with_bytes)
{
	const struct event *const e = &b->events[i];

	if (kind_of(e->name.p, e->name.flags) == KIND_TEXT && !put_text(k, e->name.p, e->name.n))
		return false;
	if (e->nfields > 0 && !put_fields(k, b->fields + e->first_field, e->nfields))
		return false;
	if (!with_bytes)
		return true;
	const struct slice record = b->bytes != NULL ? b->bytes[i] : (struct slice){ .p = NULL };
	const uint8_t kind = (uint8_t)kind_of(record.p, record.flags);
	return put(k, &kind, 1) && put(k, &record.flags, sizeof record.flags) &&
	       put_slice(k, record.p, record.n, (enum kind)kind);
}

uint64_t
event_pack(char *to, uint64_t room, const struct batch *b, uint32_t i, struct event_shapes *shapes,
           bool with_bytes)
{
	const struct event *const e = &b->events[i];
	const uint16_t shape = shapes != NULL ? event_shapes_find(shapes, e) : EVENT_SHAPE_NONE;
	const uint64_t base = shapes != NULL ? shapes->base : 0;
	struct packing k = { to, to + (room < EVENT_PACKED_MAX ? room : EVENT_PACKED_MAX),
		             shapes != NULL ? shapes->fields : NULL };

	if (!put_head(&k, e, base, shape, false) || !put_rest(&k, b, i, with_bytes))
		return 0;
	uint64_t size = (uint64_t)(k.at - to);
	if (size < EVENT_PACKED_LARGE) {
		uint32_t head;
		memcpy(&head, to, sizeof head);
		head |= (uint32_t)size;
		memcpy(to, &head, sizeof head);
		return size;
	}
	k.at = to;
	if (!put_head(&k, e, base, shape, true))
		return 0;
	char *const at = k.at - sizeof size - (shape == EVENT_SHAPE_NONE ? sizeof *e : 0);
	if (!put_rest(&k, b, i, with_bytes))
		return 0;
	size = (uint64_t)(k.at - to);
	memcpy(at, &size, sizeof size);
	return size;
}
