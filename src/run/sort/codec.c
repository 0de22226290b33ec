/* Packs an event with everything it points to into contiguous bytes, and unpacks it; the layout is in
 * sorter.h.  Hot: runs once per sorted event in each direction. */
#include <stddef.h>

#include "base/compiler.h"
#include "base/cursor.h"
#include "base/numbers.h"
#include "model/call_stack.h"
#include "model/value.h"
#include "run/sort/sorter.h"

/* ---- layout ---- */

/* Precedes the value of a field that is in no row, with the name between them. */
struct packed_shape {
	uint8_t name_flags, name_kind;
	uint8_t type, flags, element;
};

/* Storage of a text: none, its bytes, or its address (SLICE_STAYS). */
enum kind { KIND_NULL, KIND_TEXT, KIND_STAYS };

_Static_assert(sizeof(struct event) == 64 && sizeof(struct value) == 16 && sizeof(struct packed_shape) == 5,
               "the parts of a packed event have no gaps");

#define LONG_TEXT 255U /* length byte: the length follows in four bytes */

/* First byte of a text that is a value, if it is not its length: the length follows in four bytes, ... */
#define VALUE_IS_LONG 253U /* ... and the text */
#define VALUE_IS_NULL 254U
#define VALUE_STAYS 255U /* ... and its address */

/* In packed lists: placeholder for the address of a text stored after the entries. */
#define PACKED_TEXT ((const char *)(uintptr_t)1)

static inline enum kind kind_of(const char *p, uint32_t flags)
{
	return (flags & SLICE_STAYS) != 0 ? KIND_STAYS : p == NULL ? KIND_NULL : KIND_TEXT;
}

/* Whether only the number of the event's fields is packed. */
static inline bool omits_fields(const struct event_shapes *s, const struct event *e)
{
	return s != NULL && s->few_fields && e->phase != PHASE_COUNTER && !call_stack_of_class(e->cls);
}

/* Zigzag encoding of to - from: small for small differences of either sign. */
static inline uint64_t distance(uint64_t from, uint64_t to)
{
	const uint64_t d = to - from;

	return d << 1 ^ -(d >> 63);
}

static inline uint64_t at_distance(uint64_t from, uint64_t distance)
{
	return from + (distance >> 1 ^ -(distance & 1));
}

/* ---- packing ---- */

#define HEAD_MAX (6 + 3 * 8) /* max bytes of the numbers of an event */

/* Returns the bytes of a number without leading zero bytes. */
static unsigned bytes_of(uint64_t v)
{
	return v == 0 ? 0 : (high_bit(v) + 8) / 8;
}

struct packing {
	char *at, *end;
	const struct event_shapes *shapes;
	struct field_rows *rows;
	uint32_t *row; /* the likely row */
};

static bool pack_bytes(struct packing *k, const void *p, uint64_t n)
{
	if (n > (uint64_t)(k->end - k->at))
		return false;
	if (n > 0)
		(void)text_put(k->at, p, (size_t)n);
	k->at += n;
	return true;
}

/* Packs the length of a text; checks that there is space for `follow` more bytes. */
static bool pack_length(struct packing *k, uint32_t n, uint64_t follow)
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

static bool pack_text(struct packing *k, const char *p, uint32_t n)
{
	if (!pack_length(k, n, n))
		return false;
	(void)text_put(k->at, p, n);
	k->at += n;
	return true;
}

static bool pack_slice(struct packing *k, const char *p, uint32_t n, enum kind kind)
{
	if (kind == KIND_TEXT)
		return pack_text(k, p, n);
	/* A NULL text keeps its length. */
	return pack_length(k, n, 0) && (kind == KIND_NULL || pack_bytes(k, &p, sizeof p));
}

/* Packs the name of a field, and properties of its value. */
static bool pack_shape(struct packing *k, const struct field *f)
{
	const enum kind kind = kind_of(f->name.p, f->name.flags);
	const struct packed_shape shape = {
		.name_flags = (uint8_t)f->name.flags,
		.name_kind = (uint8_t)kind,
		.type = f->value.type,
		.flags = f->value.flags,
		.element = f->value.element,
	};

	return pack_bytes(k, &shape, sizeof shape) && pack_slice(k, f->name.p, f->name.n, kind);
}

#define VALUE_MAX (1 + 4 + 8 + 7) /* max bytes that put_value() writes */

/* Writes a value, without a text of its own, and up to 7 bytes more.  Returns its end. */
static inline char *put_value(char *p, const struct value *v, enum kind kind)
{
	if (!value_is_text(v)) {
		const unsigned n = value_is_list(v) ? 4 : bytes_of(v->u64);
		const uint64_t number = value_is_list(v) ? v->count : v->u64;
		*p++ = (char)n;
		(void)store_uint(p, number, 8, false); /* the next value overwrites the zero bytes */
		return p + n;
	}
	if (kind == KIND_TEXT && v->count < VALUE_IS_LONG) {
		*p++ = (char)v->count;
		return p;
	}
	*p++ = (char)(kind == KIND_TEXT ? VALUE_IS_LONG : kind == KIND_NULL ? VALUE_IS_NULL : VALUE_STAYS);
	memcpy(p, &v->count, sizeof v->count);
	p += sizeof v->count;
	if (kind != KIND_STAYS)
		return p;
	memcpy(p, &v->p, sizeof v->p);
	return p + sizeof v->p;
}

/* Returns the end of the value, or NULL: no space. */
static inline char *pack_value(char *at, const char *end, const struct value *v)
{
	const enum kind kind = value_is_text(v) ? kind_of(v->p, v->flags) : KIND_NULL;
	char tight[VALUE_MAX];

	if (end - at >= VALUE_MAX) {
		at = put_value(at, v, kind);
	} else {
		const size_t n = (size_t)(put_value(tight, v, kind) - tight);
		if (n > (size_t)(end - at))
			return NULL;
		memcpy(at, tight, n);
		at += n;
	}
	if (kind != KIND_TEXT)
		return at;
	if (v->count > (uint64_t)(end - at))
		return NULL;
	(void)text_put(at, v->p, v->count);
	return at + v->count;
}

/* Packs the entries of a list, without the bytes of texts. */
static bool pack_list(struct packing *k, const struct value *list)
{
	return pack_bytes(k, list->values, value_entries(list) * sizeof *list);
}

/* Packs the entries of all lists, breadth first: the copied entries are the queue of lists to visit.  The
 * bytes of their texts follow. */
static bool pack_lists(struct packing *k, const struct field *fields, uint32_t n)
{
	char *const count = k->at, *const first = count + sizeof(uint64_t);
	const uint64_t none = 0;

	if (!pack_bytes(k, &none, sizeof none))
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (value_is_list(&fields[i].value) && !pack_list(k, &fields[i].value))
			return false;
	for (const char *at = first; at < k->at; at += sizeof(struct value)) {
		struct value v;
		memcpy(&v, at, sizeof v);
		if (value_is_list(&v) && !pack_list(k, &v))
			return false;
	}
	const uint64_t all = (uint64_t)(k->at - first) / sizeof(struct value);
	memcpy(count, &all, sizeof all);
	for (uint64_t i = 0; i < all; i++) {
		char *const at = first + i * sizeof(struct value);
		struct value v;
		memcpy(&v, at, sizeof v);
		if (!value_is_text(&v) || kind_of(v.p, v.flags) != KIND_TEXT)
			continue;
		if (!pack_text(k, v.p, v.count))
			return false;
		v.p = PACKED_TEXT;
		memcpy(at, &v, sizeof v);
	}
	return true;
}

static bool pack_fields(struct packing *k, const struct field *fields, uint32_t n)
{
	uint32_t row = FIELD_ROW_NONE;
	bool lists = false;

	if (k->rows != NULL)
		row = *k->row = field_rows_find(k->rows, fields, n, *k->row);
	if (!pack_bytes(k, &(const uint16_t){ (uint16_t)row }, sizeof(uint16_t)))
		return false;
	char *at = k->at;
	for (uint32_t i = 0; i < n; i++) {
		if (row == FIELD_ROW_NONE) {
			k->at = at;
			if (!pack_shape(k, &fields[i]))
				return false;
			at = k->at;
		}
		if ((at = pack_value(at, k->end, &fields[i].value)) == NULL)
			return false;
		lists |= value_is_list(&fields[i].value) && fields[i].value.count > 0;
	}
	k->at = at;
	return !lists || pack_lists(k, fields, n);
}

/* Packs the head of an event.  large: leaves space for its size of 64 bits. */
static bool pack_head(struct packing *k, const struct event *e, uint64_t base, uint16_t shape, bool large)
{
	const uint64_t ts = distance(base, e->ts);
	const unsigned ndur = bytes_of(e->dur), noffset = bytes_of(e->offset), nts = bytes_of(ts);
	const uint32_t sizes = (large ? EVENT_PACKED_LARGE : 0) | ndur << 20 | noffset << 24 | nts << 28;
	const unsigned n = 6 + ndur + noffset + nts;
	const bool has_space = k->end - k->at >= (ptrdiff_t)HEAD_MAX;
	char tight[HEAD_MAX], *const head = has_space ? k->at : tight;

	/* Stores eight bytes of each number; the next one overwrites the zero bytes. */
	memcpy(head, &sizes, sizeof sizes);
	memcpy(head + 4, &shape, sizeof shape);
	(void)store_uint(head + 6, e->dur, 8, false);
	(void)store_uint(head + 6 + ndur, e->offset, 8, false);
	(void)store_uint(head + 6 + ndur + noffset, ts, 8, false);
	if (has_space)
		k->at += n;
	else if (!pack_bytes(k, head, n))
		return false;
	const uint64_t size = 0;
	if (large && !pack_bytes(k, &size, sizeof size))
		return false;
	if (shape != EVENT_SHAPE_NONE)
		return true;
	const struct event whole = event_shape_of(e);
	return pack_bytes(k, &whole, sizeof whole);
}

static bool pack_rest(struct packing *k, const struct batch *b, uint32_t i)
{
	const struct event *const e = &b->events[i];

	if (kind_of(e->name.p, e->name.flags) == KIND_TEXT && !pack_text(k, e->name.p, e->name.n))
		return false;
	return e->nfields == 0 || omits_fields(k->shapes, e) ||
	       pack_fields(k, b->fields + e->first_field, e->nfields);
}

uint64_t event_pack(char *to, uint64_t capacity, const struct batch *b, uint32_t i,
                    struct event_shapes *shapes)
{
	const struct event *const e = &b->events[i];
	const uint16_t shape = shapes != NULL ? event_shapes_find(shapes, e) : EVENT_SHAPE_NONE;
	const uint64_t base = shapes != NULL ? shapes->base : 0;
	uint32_t none = FIELD_ROW_NONE;
	struct packing k = { to, to + (capacity < EVENT_PACKED_MAX ? capacity : EVENT_PACKED_MAX), shapes,
		             shapes != NULL ? shapes->rows : NULL,
		             shape != EVENT_SHAPE_NONE ? &shapes->list[shape].first_field : &none };

	if (!pack_head(&k, e, base, shape, false) || !pack_rest(&k, b, i))
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
	if (!pack_head(&k, e, base, shape, true))
		return 0;
	char *const at = k.at - sizeof size - (shape == EVENT_SHAPE_NONE ? sizeof *e : 0);
	if (!pack_rest(&k, b, i))
		return 0;
	size = (uint64_t)(k.at - to);
	memcpy(at, &size, sizeof size);
	return size;
}

/* ---- unpacking ---- */

static inline uint64_t number_at(const char *p, unsigned n)
{
	return n == 0 ? 0 : load_u64(p, false) & UINT64_MAX >> (64 - 8 * n);
}

void event_read_head(struct packed_head *h, const char *packed, const struct event_shapes *shapes)
{
	uint32_t sizes;
	uint16_t shape;

	memcpy(&sizes, packed, sizeof sizes);
	memcpy(&shape, packed + 4, sizeof shape);
	const unsigned dur = sizes >> 20 & 15, offset = sizes >> 24 & 15, ts = sizes >> 28;
	h->dur = number_at(packed + 6, dur);
	h->offset = number_at(packed + 6 + dur, offset);
	h->ts = at_distance(shapes != NULL ? shapes->base : 0, number_at(packed + 6 + dur + offset, ts));
	h->rest = packed + 6 + dur + offset + ts;
	if ((sizes & EVENT_PACKED_LARGE) == EVENT_PACKED_LARGE)
		h->rest += sizeof(uint64_t);
	if (shape != EVENT_SHAPE_NONE) {
		h->shape = &shapes->list[shape];
	} else {
		memcpy(&h->own, h->rest, sizeof h->own);
		h->shape = &h->own;
		h->rest += sizeof h->own;
	}
}

struct order_key event_head_key(const struct packed_head *h, struct order_rule rule)
{
	const struct event e = { .ts = h->ts,
		                 .dur = h->dur,
		                 .track = h->shape->track,
		                 .offset = h->offset,
		                 .phase = h->shape->phase };

	return order_key_of(&e, rule);
}

static void unpack_bytes(const char **at, void *to, size_t n)
{
	memcpy(to, *at, n);
	*at += n;
}

static uint32_t unpack_length(const char **at)
{
	uint32_t n = (uint8_t) * *at;

	++*at;
	if (n == LONG_TEXT)
		unpack_bytes(at, &n, sizeof n);
	return n;
}

static struct slice unpack_text(const char **at, uint32_t flags)
{
	const uint32_t n = unpack_length(at);
	const struct slice s = { *at, n, flags };

	*at += n;
	return s;
}

static struct slice unpack_slice(const char **at, enum kind kind, uint32_t flags)
{
	struct slice s = { .flags = flags };

	if (kind == KIND_TEXT)
		return unpack_text(at, flags);
	s.n = unpack_length(at);
	if (kind == KIND_STAYS)
		unpack_bytes(at, &s.p, sizeof s.p);
	return s;
}

static void unpack_shape(const char **at, struct field *f)
{
	struct packed_shape shape;

	unpack_bytes(at, &shape, sizeof shape);
	f->name = unpack_slice(at, (enum kind)shape.name_kind, shape.name_flags);
	f->value = (struct value){ .type = shape.type, .flags = shape.flags, .element = shape.element };
}

/* v: its type and flags are known, and the rest is 0. */
static inline const char *unpack_value(const char *p, struct value *v, bool *lists)
{
	const unsigned n = (uint8_t)*p++;

	if (!value_is_text(v)) {
		const uint64_t number = number_at(p, n);
		if (value_is_list(v)) {
			v->count = (uint32_t)number;
			*lists |= number > 0;
		} else {
			v->u64 = number;
		}
		return p + n;
	}
	if (n < VALUE_IS_LONG) {
		v->count = n;
		v->p = p;
		return p + n;
	}
	memcpy(&v->count, p, sizeof v->count);
	p += sizeof v->count;
	if (n == VALUE_IS_LONG) {
		v->p = p;
		return p + v->count;
	}
	if (n != VALUE_STAYS)
		return p;
	memcpy(&v->p, p, sizeof v->p);
	return p + sizeof v->p;
}

/* Points a list to the next unassigned entries. */
static void assign_entries(struct value *v, struct value **next)
{
	if (!value_is_list(v))
		return;
	v->values = value_entries(v) > 0 ? *next : NULL;
	*next += value_entries(v);
}

static bool unpack_lists(const char **at, struct batch *out, struct field *fields, uint32_t n)
{
	uint64_t count;

	unpack_bytes(at, &count, sizeof count);
	struct value *const all = arena_alloc(&out->scratch, (size_t)(count * sizeof *all)), *next = all;
	if (all == NULL)
		return false;
	unpack_bytes(at, all, (size_t)(count * sizeof *all));
	for (uint32_t i = 0; i < n; i++)
		assign_entries(&fields[i].value, &next);
	for (uint64_t i = 0; i < count; i++) {
		if (value_is_text(&all[i]) && all[i].p == PACKED_TEXT)
			all[i].p = unpack_text(at, 0).p;
		else
			assign_entries(&all[i], &next);
	}
	return true;
}

static bool empty_fields(struct batch *out, uint32_t n)
{
	struct field *const fields = batch_fields(out, n);

	if (fields != NULL)
		memset(fields, 0, n * sizeof *fields);
	return fields != NULL;
}

static bool unpack_fields(const char **at, struct batch *out, const struct event_shapes *shapes, uint32_t n)
{
	struct field *const fields = batch_fields(out, n);
	bool lists = false;
	uint16_t row;

	if (fields == NULL)
		return false;
	unpack_bytes(at, &row, sizeof row);
	if (row != FIELD_ROW_NONE)
		memcpy(fields, shapes->rows->list[row].fields, n * sizeof *fields);
	const char *p = *at;
	for (uint32_t i = 0; i < n; i++) {
		if (row == FIELD_ROW_NONE)
			unpack_shape(&p, &fields[i]);
		p = unpack_value(p, &fields[i].value, &lists);
	}
	*at = p;
	return !lists || unpack_lists(at, out, fields, n);
}

bool event_unpack_in_place(struct batch *out, const struct packed_head *h, const struct event_shapes *shapes)
{
	struct event *const e = &out->events[out->n];
	const char *rest = h->rest;

	*e = *h->shape;
	e->ts = h->ts;
	e->dur = h->dur;
	e->offset = h->offset;
	e->first_field = out->nfields;
	if (kind_of(e->name.p, e->name.flags) == KIND_TEXT)
		e->name = unpack_text(&rest, e->name.flags);
	if (e->nfields > 0 && !(omits_fields(shapes, e) ? empty_fields(out, e->nfields)
	                                                : unpack_fields(&rest, out, shapes, e->nfields)))
		return false;
	if (out->bytes != NULL)
		out->bytes[out->n] = SLICE_NONE;
	out->nfields += e->nfields;
	out->n++;
	return true;
}

bool event_unpack_copy(struct batch *out, const char *packed, const struct event_shapes *shapes)
{
	struct packed_head h;

	event_read_head(&h, packed, shapes);
	const size_t size = (size_t)(packed + event_packed_size(packed) - h.rest);
	if (size > 0) {
		char *const copy = arena_alloc(&out->scratch, size + EVENT_PACKED_SLACK);
		if (copy == NULL)
			return false;
		memcpy(copy, h.rest, size);
		h.rest = copy;
	}
	return event_unpack_in_place(out, &h, shapes);
}
