#include <stdlib.h>

#include "dial9/dial9_state.h"

/*
 * The symbol table stands at the end of a trace, and a pool entry may stand
 * behind its first use.  When either is wanted and the input can be read
 * twice, one quiet pass over all of it collects both.  Symbols are those of one
 * program and hold for all segments; a late definition belongs to its segment.
 */

struct symbol {
	struct slice name;
	uint64_t depth; /* of inlining: 0 is the function that the address lies in */
};

/* Events point to its texts, so batches hold it.  It does not change once the pass is over. */
struct d9_ahead {
	struct shared_memory shared;
	struct table64 symbol_index; /* address -> symbols[] */
	struct symbol *symbols;
	uint32_t nsymbols, symbols_cap;
	struct table64 late_index; /* late_key() -> late[] */
	struct slice *late;
	uint32_t nlate, late_cap;
	struct arena text; /* of both */
	uint64_t lost;     /* that were not kept, because of the bounds */
};

/* Which definition: the id and its kind in 33 bits, the segment in the others. */
static uint64_t
late_key(uint64_t segment, enum d9_pool_kind kind, uint32_t id)
{
	return segment << 33 | (uint64_t)kind << 32 | id;
}

static bool
countable(uint64_t segment)
{
	return segment < UINT64_C(1) << 31;
}

static bool
has_room(struct d9_ahead *a, uint32_t n, uint32_t max, uint32_t bytes)
{
	const bool room =
	    n < max && a->text.used <= D9_MAX_AHEAD_BYTES && bytes <= D9_MAX_AHEAD_BYTES - a->text.used;

	a->lost += !room;
	return room;
}

/* ---- collecting ---- */

/* The text of a field of the symbol table, or p is NULL; flags are known. */
static struct slice
text_of(struct d9_state *st, uint8_t type, const char *p)
{
	if ((type & D9_OPTIONAL) != 0 && *p++ == 0)
		return (struct slice){ NULL, 0, 0 };
	if ((type & ~D9_OPTIONAL) == D9_STRING)
		return textscan_slice(p + 4, load_u32(p, false));
	const struct d9_entry *const e = (type & ~D9_OPTIONAL) == D9_POOLED_STRING
	                                     ? d9_pool_find(&st->pools[D9_STRINGS], load_u32(p, false))
	                                     : NULL;
	return e != NULL ? (struct slice){ e->text, e->n, e->flags } : (struct slice){ NULL, 0, 0 };
}

static bool
add_symbol(struct d9_ahead *a, uint64_t address, struct symbol symbol)
{
	const uint32_t known = table64_get(&a->symbol_index, address);

	if ((known != TABLE_NONE && a->symbols[known].depth <= symbol.depth) ||
	    !has_room(a, a->nsymbols, D9_MAX_SYMBOLS, symbol.name.n))
		return true;
	symbol.name = arena_copy(&a->text, symbol.name);
	if (symbol.name.p == NULL)
		return false;
	if (known != TABLE_NONE) {
		a->symbols[known] = symbol;
		return true;
	}
	if (!array_room(&a->symbols, a->nsymbols, &a->symbols_cap, sizeof *a->symbols))
		return false;
	a->symbols[a->nsymbols] = symbol;
	return table64_put(&a->symbol_index, address, a->nsymbols++);
}

bool
d9_ahead_symbol(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f)
{
	const uint32_t addr = s->parts[D9_PART_ADDRESS], name = s->parts[D9_PART_NAME],
	               depth = s->parts[D9_PART_DEPTH];
	struct symbol symbol = { .depth = 0 };
	uint64_t address;

	if (addr == D9_NO_FIELD || name == D9_NO_FIELD ||
	    !d9_value_integer(s->fields[addr].type, d9_field_at(s, f, addr), &address))
		return true;
	if (depth != D9_NO_FIELD)
		(void)d9_value_integer(s->fields[depth].type, d9_field_at(s, f, depth), &symbol.depth);
	symbol.name = text_of(st, s->fields[name].type, d9_field_at(s, f, name));
	return symbol.name.p == NULL || add_symbol(st->collects, address, symbol);
}

bool
d9_ahead_late(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, struct slice data)
{
	struct d9_ahead *const a = st->collects;

	if (!countable(st->segment))
		a->lost++;
	if (!countable(st->segment) || !has_room(a, a->nlate, D9_MAX_LATE, data.n))
		return true;
	const struct slice copy = arena_copy(&a->text, data);
	if (copy.p == NULL || !array_room(&a->late, a->nlate, &a->late_cap, sizeof *a->late))
		return false;
	a->late[a->nlate] = copy;
	return table64_put(&a->late_index, late_key(st->segment, kind, id), a->nlate++);
}

/* ---- the pass ---- */

static void
destroy(struct shared_memory *m)
{
	struct d9_ahead *const a = (struct d9_ahead *)m;

	table64_free(&a->symbol_index);
	table64_free(&a->late_index);
	free(a->symbols);
	free(a->late);
	arena_free(&a->text);
	free(a);
}

void
d9_ahead_drop(struct d9_state *st)
{
	shared_memory_drop(st->ahead != NULL ? &st->ahead->shared : NULL);
	st->ahead = NULL;
}

bool
d9_ahead_hold(struct d9_state *st, struct batch *b)
{
	return st->ahead == NULL || batch_hold(b, &st->ahead->shared);
}

/* Once, and only if it will not be in vain; what cannot be found so stays unresolved and is reported. */
bool
d9_look_ahead(struct d9_state *st)
{
	if (st->asked_ahead || st->collects != NULL)
		return true;
	st->asked_ahead = true;
	st->ahead = calloc(1, sizeof *st->ahead);
	if (st->ahead == NULL)
		return false;
	shared_memory_init(&st->ahead->shared, destroy);
	const enum look_ahead result = reader_look_ahead(st->r);
	st->looked_ahead = result == LOOK_AHEAD_DONE;
	if (!st->looked_ahead)
		d9_ahead_drop(st);
	return result != LOOK_AHEAD_NO_MEMORY && d9_ahead_hold(st, st->batch);
}

/* ---- asking ---- */

uint64_t
d9_ahead_lost(const struct d9_state *st)
{
	return st->ahead != NULL ? st->ahead->lost : 0;
}

struct slice
d9_symbol(const struct d9_state *st, uint64_t address)
{
	const uint32_t known =
	    st->ahead != NULL ? table64_get(&st->ahead->symbol_index, address) : TABLE_NONE;

	return known != TABLE_NONE ? st->ahead->symbols[known].name : (struct slice){ NULL, 0, 0 };
}

struct slice
d9_late_find(const struct d9_state *st, enum d9_pool_kind kind, uint32_t id)
{
	const uint32_t known = st->ahead != NULL && countable(st->segment)
	                           ? table64_get(&st->ahead->late_index, late_key(st->segment, kind, id))
	                           : TABLE_NONE;

	return known != TABLE_NONE ? st->ahead->late[known] : (struct slice){ NULL, 0, 0 };
}
