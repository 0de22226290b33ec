#include "run/sort/event_packed.h"

/* The numbers of the event, and where the rest begins. */
struct packed_head {
	uint64_t ts, dur, offset;
	const struct event *shape;
	const char *rest;
	struct event own; /* its shape, if it has no number */
};

static inline uint64_t
number_at(const char *p, unsigned n)
{
	uint64_t v;

	memcpy(&v, p, sizeof v);
	return n == 0 ? 0 : v & UINT64_MAX >> (64 - 8 * n);
}

static inline void
read_head(struct packed_head *h, const char *packed, const struct event_shapes *shapes)
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

struct order_key
event_packed_key(const char *packed, const struct event_shapes *shapes, struct order_rule rule)
{
	struct packed_head h;

	read_head(&h, packed, shapes);
	const struct event e = {
		.ts = h.ts, .dur = h.dur, .track = h.shape->track, .offset = h.offset, .phase = h.shape->phase
	};
	return order_key_of(&e, rule);
}

static const char *
take(const char **at, void *to, size_t n)
{
	const char *const p = *at;

	memcpy(to, p, n);
	*at += n;
	return p;
}

static uint32_t
take_length(const char **at)
{
	uint32_t n = (uint8_t) * *at;

	++*at;
	if (n == LONG_TEXT)
		take(at, &n, sizeof n);
	return n;
}

static struct slice
take_text(const char **at, uint32_t flags)
{
	const uint32_t n = take_length(at);
	const struct slice s = { *at, n, flags };

	*at += n;
	return s;
}

static struct slice
take_slice(const char **at, enum kind kind, uint32_t flags)
{
	struct slice s = { .flags = flags };

	if (kind == KIND_TEXT)
		return take_text(at, flags);
	s.n = take_length(at);
	if (kind == KIND_STAYS)
		take(at, &s.p, sizeof s.p);
	return s;
}

static uint64_t
take_number(const char **at, unsigned size)
{
	uint64_t v = 0;

	switch (size) {
	case 1:
		v = (uint8_t) * *at;
		break;
	case 2:
		memcpy(&v, *at, 2);
		break;
	case 4:
		memcpy(&v, *at, 4);
		break;
	case 8:
		memcpy(&v, *at, 8);
		break;
	default:
		break;
	}
	*at += size;
	return v;
}

static void
take_shape(const char **at, struct field *f)
{
	struct packed_shape shape;

	take(at, &shape, sizeof shape);
	f->name = take_slice(at, (enum kind)shape.name_kind, shape.name_flags);
	f->value = (struct value){ .type = shape.type, .flags = shape.flags, .element = shape.element };
}

static void
take_field(const char **at, const struct field_shapes *shapes, struct field *f)
{
	struct packed_field head;
	struct value *const v = &f->value;

	take(at, &head, sizeof head);
	if (head.shape != FIELD_SHAPE_NONE)
		*f = shapes->list[head.shape].field;
	else
		take_shape(at, f);
	if (is_text(v)) {
		const struct slice s = take_slice(at, (enum kind)head.kind, v->flags);
		v->count = s.n;
		v->p = s.p;
	} else if (is_list(v)) {
		v->count = (uint32_t)take_number(at, head.kind);
	} else {
		v->u64 = take_number(at, head.kind);
	}
}

/* Gives a list the next entries of all. */
static void
place_list(struct value *v, struct value **next)
{
	if (!is_list(v))
		return;
	v->values = entries(v) > 0 ? *next : NULL;
	*next += entries(v);
}

static bool
take_lists(const char **at, struct batch *out, struct field *fields, uint32_t n)
{
	uint64_t count;

	take(at, &count, sizeof count);
	struct value *const all = arena_alloc(&out->scratch, (size_t)(count * sizeof *all)), *next = all;
	if (all == NULL)
		return false;
	take(at, all, (size_t)(count * sizeof *all));
	for (uint32_t i = 0; i < n; i++)
		place_list(&fields[i].value, &next);
	for (uint64_t i = 0; i < count; i++) {
		if (is_text(&all[i]) && all[i].p == PACKED_TEXT)
			all[i].p = take_text(at, 0).p;
		else
			place_list(&all[i], &next);
	}
	return true;
}

static bool
take_fields(const char **at, struct batch *out, struct field_shapes *shapes, uint32_t n)
{
	struct field *const fields = batch_fields(out, n);
	bool lists = false;

	if (fields == NULL || (shapes != NULL && !batch_hold(out, &shapes->shared)))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		take_field(at, shapes, &fields[i]);
		lists |= entries(&fields[i].value) > 0;
	}
	return !lists || take_lists(at, out, fields, n);
}

static void
take_record(const char *at, struct slice *record)
{
	uint8_t kind;
	uint32_t flags;

	take(&at, &kind, 1);
	take(&at, &flags, sizeof flags);
	*record = take_slice(&at, (enum kind)kind, flags);
}

/* rest: where texts lie that the batch points to. */
static bool
unpack(struct batch *out, const struct packed_head *h, const char *rest, struct field_shapes *shapes,
       bool with_bytes)
{
	struct event *const e = &out->events[out->n];

	*e = *h->shape;
	e->ts = h->ts;
	e->dur = h->dur;
	e->offset = h->offset;
	e->first_field = out->nfields;
	if (kind_of(e->name.p, e->name.flags) == KIND_TEXT)
		e->name = take_text(&rest, e->name.flags);
	if (e->nfields > 0 && !take_fields(&rest, out, shapes, e->nfields))
		return false;
	if (out->bytes != NULL) {
		out->bytes[out->n] = (struct slice){ .p = NULL };
		if (with_bytes)
			take_record(rest, &out->bytes[out->n]);
	}
	out->nfields += e->nfields;
	out->n++;
	return true;
}

bool
event_unpack_in_place(struct batch *out, const char *packed, const struct event_shapes *shapes,
                      bool with_bytes)
{
	struct packed_head h;

	read_head(&h, packed, shapes);
	return unpack(out, &h, h.rest, shapes != NULL ? shapes->fields : NULL, with_bytes);
}

bool
event_unpack_copy(struct batch *out, const char *packed, const struct event_shapes *shapes, bool with_bytes)
{
	struct packed_head h;

	read_head(&h, packed, shapes);
	const size_t size = (size_t)(packed + event_packed_size(packed) - h.rest);
	const char *rest = h.rest;
	if (size > 0) {
		char *const copy = arena_alloc(&out->scratch, size);
		if (copy == NULL)
			return false;
		memcpy(copy, h.rest, size);
		rest = copy;
	}
	return unpack(out, &h, rest, shapes != NULL ? shapes->fields : NULL, with_bytes);
}
