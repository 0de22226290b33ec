#include "dial9/dial9_state.h"

/* Values of events that were measured: nothing here can run past the frame, so nothing is checked again. */

static struct slice
plain_text(const char **p)
{
	const uint32_t n = load_u32(*p, false);
	const struct slice s = textscan_slice(*p + 4, n);

	*p += 4 + (size_t)n;
	return s;
}

/* ---- stacks ---- */

struct value *
d9_stack_values(const struct d9_state *st, struct arena *a, const char *addresses, uint32_t n)
{
	struct value *const values = arena_zalloc(a, n, sizeof *values);

	for (uint32_t i = 0; values != NULL && i < n; i++) {
		const uint64_t address = load_u64(addresses + (size_t)i * 8, false);
		const struct slice name = st != NULL ? d9_symbol(st, address) : (struct slice){ NULL, 0, 0 };
		values[i] = (struct value){ .type = VALUE_ADDRESS, .u64 = address };
		if (name.p != NULL)
			values[i] = value_string(name);
	}
	return values;
}

static bool
stack(struct d9_state *st, struct batch *b, const char *addresses, uint32_t n, struct value *v,
      const struct d9_frame *f)
{
	*v = (struct value){ .type = VALUE_NONE };
	if (!d9_wants_fields(st))
		return true; /* names of events are not made of stacks */
	if (!d9_look_ahead(st))
		return false;
	if (!st->looked_ahead)
		d9_tally_add(&st->symbols_late, f, n);
	*v = (struct value){ .type = VALUE_LIST, .count = n };
	v->values = d9_stack_values(st, &b->scratch, addresses, n);
	return v->values != NULL;
}

/* ---- what stands in the pools ---- */

/* The pools may add only so much to an event, whose fields can all name one long text. */
static bool
has_room(struct d9_state *st, uint64_t bytes, uint32_t id, const struct d9_frame *f)
{
	if (bytes > D9_MAX_EVENT_POOLED - st->event_pooled) {
		d9_tally_add(&st->pool_limit, f, id);
		return false;
	}
	st->event_pooled += (uint32_t)bytes;
	st->fill_pooled += bytes;
	return true;
}

/* What a stack's names may take in an output. */
static uint64_t
stack_cost(const struct value *values, uint32_t n)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < n; i++)
		bytes += values[i].type == VALUE_STRING ? values[i].count + 4U : 20U;
	return bytes;
}

static bool
pooled(struct d9_state *st, struct batch *b, enum d9_pool_kind kind, uint32_t id, struct value *v,
       const struct d9_frame *f)
{
	const struct d9_entry *const e = d9_pool_find(&st->pools[kind], id);

	*v = (struct value){ .type = VALUE_U32, .u64 = id };
	if (kind == D9_STACKS && !d9_wants_fields(st))
		return true;
	if (e == NULL) {
		if (!d9_look_ahead(st))
			return false;
		const struct slice late = d9_late_find(st, kind, id);
		if (late.p == NULL)
			d9_pool_shown(st, kind, id);
		if (late.p == NULL || !has_room(st, late.n, id, f))
			return true;
		if (kind == D9_STACKS)
			return stack(st, b, late.p, late.n / 8, v, f);
		*v = value_string(late);
	} else if (kind == D9_STRINGS) {
		if (has_room(st, e->n, id, f))
			*v = value_string((struct slice){ e->text, e->n, e->flags });
	} else if (has_room(st, stack_cost(e->values, e->n), id, f)) {
		*v = (struct value){ .type = VALUE_LIST, .count = e->n, .values = e->values };
		if (!st->looked_ahead)
			d9_tally_add(&st->symbols_late, f, e->n);
	}
	return true;
}

/* ---- lists and maps ---- */

static const char *
string_map(struct batch *b, const char *p, struct value *v)
{
	const uint32_t n = load_u32(p, false);
	struct value *const pairs = arena_alloc(&b->scratch, 2 * (size_t)n * sizeof *pairs);

	if (pairs == NULL)
		return NULL;
	p += 4;
	for (size_t i = 0; i < 2 * (size_t)n; i++)
		pairs[i] = value_string(plain_text(&p));
	*v = (struct value){ .type = VALUE_MAP, .count = n, .values = pairs };
	return p;
}

/* Nested to D9_MAX_NESTING at most, which was checked. */
static const char *
elements(struct d9_state *st, struct batch *b, bool map, const char *p, struct value *v,
         const struct d9_frame *f)
{
	const uint32_t n = load_u32(p, false);
	const size_t all = (size_t)n << map;
	struct value *const values = arena_alloc(&b->scratch, all * sizeof *values);

	if (values == NULL)
		return NULL;
	p += 4;
	for (size_t i = 0; i < all && p != NULL; i++)
		p = d9_value(st, b, (uint8_t)*p, p + 1, &values[i], f);
	*v = (struct value){ .type = map ? VALUE_MAP : VALUE_LIST, .count = n, .values = values };
	return p;
}

/* ---- any value ---- */

static struct value
fixed(unsigned type, const char *p)
{
	switch (type) {
	case D9_BOOL:
		return (struct value){ .type = VALUE_BOOL, .u64 = *p != 0 };
	case D9_U8:
		return (struct value){ .type = VALUE_U8, .u64 = (uint8_t)*p };
	case D9_U16:
		return (struct value){ .type = VALUE_U16, .u64 = load_u16(p, false) };
	case D9_U32:
		return (struct value){ .type = VALUE_U32, .u64 = load_u32(p, false) };
	default: /* an I64, and a double's bits */
		return (struct value){ .type = type == D9_I64 ? VALUE_I64 : VALUE_F64,
			               .u64 = load_u64(p, false) };
	}
}

const char *
d9_value(struct d9_state *st, struct batch *b, uint8_t type, const char *p, struct value *v,
         const struct d9_frame *f)
{
	if ((type & D9_OPTIONAL) != 0 && *p++ == 0) {
		*v = (struct value){ .type = VALUE_NONE };
		return p;
	}
	const unsigned inner = type & ~(unsigned)D9_OPTIONAL;
	switch (inner) {
	case D9_VARINT:
		*v = value_u64(d9_varint(&p));
		return p;
	case D9_POOLED_STRING:
	case D9_POOLED_STACK:
		return pooled(st, b, inner == D9_POOLED_STRING ? D9_STRINGS : D9_STACKS, load_u32(p, false),
		              v, f)
		           ? p + 4
		           : NULL;
	case D9_STRING:
		*v = value_string(plain_text(&p));
		return p;
	case D9_BYTES:
		*v = (struct value){ .type = VALUE_BYTES, .count = load_u32(p, false), .p = p + 4 };
		return p + 4 + v->count;
	case D9_STACK:
		/* its bytes are there whether it is built or not */
		return stack(st, b, p + 4, load_u32(p, false), v, f) ? p + 4 + (size_t)load_u32(p, false) * 8
		                                                     : NULL;
	case D9_STRING_MAP:
		return string_map(b, p, v);
	case D9_LIST:
	case D9_MAP:
		return elements(st, b, inner == D9_MAP, p, v, f);
	default:
		*v = fixed(inner, p);
		return d9_value_end((uint8_t)inner, p);
	}
}

/* ---- finding the way without building anything ---- */

const char *
d9_value_end(uint8_t type, const char *p)
{
	if ((type & D9_OPTIONAL) != 0 && *p++ == 0)
		return p;
	switch (type & ~D9_OPTIONAL) {
	case D9_BOOL:
	case D9_U8:
		return p + 1;
	case D9_U16:
		return p + 2;
	case D9_U32:
	case D9_POOLED_STRING:
	case D9_POOLED_STACK:
		return p + 4;
	case D9_VARINT:
		(void)d9_varint(&p);
		return p;
	case D9_STRING:
	case D9_BYTES:
		return p + 4 + (size_t)load_u32(p, false);
	case D9_STACK:
		return p + 4 + (size_t)load_u32(p, false) * 8;
	case D9_STRING_MAP: {
		uint64_t n = (uint64_t)load_u32(p, false) * 2;
		for (p += 4; n > 0; n--)
			p = d9_value_end(D9_STRING, p);
		return p;
	}
	case D9_LIST:
	case D9_MAP: {
		uint64_t n = (uint64_t)load_u32(p, false) << ((type & ~D9_OPTIONAL) == D9_MAP);
		for (p += 4; n > 0; n--)
			p = d9_value_end((uint8_t)*p, p + 1);
		return p;
	}
	default:
		return p + 8;
	}
}

bool
d9_value_integer(uint8_t type, const char *p, uint64_t *v)
{
	if ((type & D9_OPTIONAL) != 0 && *p++ == 0)
		return false;
	switch (type & ~D9_OPTIONAL) {
	case D9_U8:
		*v = (uint8_t)*p;
		return true;
	case D9_U16:
		*v = load_u16(p, false);
		return true;
	case D9_U32:
		*v = load_u32(p, false);
		return true;
	case D9_I64:
		*v = load_u64(p, false);
		return true;
	case D9_VARINT:
		*v = d9_varint(&p);
		return true;
	default:
		return false;
	}
}

const char *
d9_field_at(const struct d9_schema *s, const struct d9_frame *f, uint32_t i)
{
	const char *p = f->p + (s->timed ? D9_TIMED_EVENT_HEAD : D9_EVENT_HEAD);

	for (uint32_t k = 0; k < i; k++)
		p = d9_value_end(s->fields[k].type, p);
	return p;
}

uint32_t
d9_field_named(const struct d9_schema *s, struct slice name)
{
	for (uint32_t i = 0; name.p != NULL && i < s->nfields; i++)
		if (slice_equal(s->fields[i].name, name))
			return i;
	return D9_NO_FIELD;
}
