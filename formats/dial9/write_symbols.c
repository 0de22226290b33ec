#include "dial9/write_symbols.h"

#include <stdlib.h>

#include "base/array.h"
#include "dial9/type.h"
#include "dial9/walk.h"

/* ---- what is a symbol ---- */

struct first_field {
	struct slice event, name; /* of the schema; of the field */
	bool timed;
	uint8_t type;
};

/* "Schema": tag, type_id, name, has_timestamp, fields. */
static bool
first_field(struct slice schema, struct first_field *f)
{
	const char *p = schema.p + 3;

	f->event = slice_of(p + 2, load_u16(p, false));
	p = f->event.p + f->event.n;
	f->timed = p[0] == 1;
	if (load_u16(p + 1, false) == 0)
		return false;
	f->name = slice_of(p + 5, load_u16(p + 3, false));
	f->type = (uint8_t)f->name.p[f->name.n];
	return true;
}

/* The two kinds that the built-in vocabulary knows. */
bool
d9w_is_symbol(struct slice schema)
{
	struct first_field f = { .type = 0 };

	if (!first_field(schema, &f) || !d9_is_integer(f.type) || d9_is_optional(f.type))
		return false;
	return (slice_is(f.event, "SymbolTableEntry") && slice_is(f.name, "addr")) ||
	       (slice_is(f.event, "CallframeDefEvent") && slice_is(f.name, "address"));
}

uint64_t
d9w_symbol_address(struct slice schema, struct slice event)
{
	struct first_field f = { .type = 0 };

	(void)first_field(schema, &f);
	const char *p = event.p + (f.timed ? D9_TIMED_EVENT_HEAD : D9_EVENT_HEAD);
	uint64_t v = 0;

	if (d9_type(f.type)->shape == D9_SHAPE_LEB128)
		return d9_varint(&p);
	for (unsigned i = d9_fixed_size(f.type); i > 0; i--)
		v = v << 8 | (unsigned char)p[i - 1];
	return v;
}

/* ---- addresses ---- */

enum { MOST_ADDRESSES = 1 << 20 };

bool
d9w_symbols_need(struct d9w_symbols *s, const char *addresses, uint32_t n)
{
	for (uint32_t i = 0; i < n && !s->all; i++) {
		s->all = s->needed.used >= MOST_ADDRESSES;
		if (!s->all && !table64_put(&s->needed, load_u64(addresses + (size_t)i * 8, false), 0))
			return false;
	}
	return true;
}

bool
d9w_symbols_needed(const struct d9w_symbols *s, uint64_t address)
{
	return s->all || table64_get(&s->needed, address) != TABLE_NONE;
}

/* ---- symbols that wait ---- */

#define MOST_BYTES (8U << 20)

bool
d9w_symbols_retain(struct d9w_symbols *s, const struct d9w_symbol *symbol)
{
	const uint64_t cost = s->arena.used + (uint64_t)s->n * sizeof *s->retained + symbol->bytes.n;

	if (cost > MOST_BYTES || !array_room(&s->retained, s->n, &s->cap, sizeof *s->retained))
		return false;
	struct d9w_symbol *const to = &s->retained[s->n];
	*to = *symbol;
	to->bytes = arena_copy(&s->arena, symbol->bytes);
	if (to->bytes.p == NULL)
		return false;
	s->n++;
	return true;
}

void
d9w_symbols_forget(struct d9w_symbols *s)
{
	arena_free(&s->arena);
	s->n = 0;
}

void
d9w_symbols_free(struct d9w_symbols *s)
{
	arena_free(&s->arena);
	table64_free(&s->needed);
	free(s->retained);
}
