#include <stdlib.h>

#include "dial9/dial9.h"

/* ---- ahead ---- */

/*
 * The symbol table stands at the end of a trace, and a pool entry may stand
 * behind its first use.  When either is wanted and the input can be read
 * twice, one look-ahead pass over all of it collects both.  Symbols are those of one
 * program and hold for all segments; a late definition belongs to its segment.
 */

struct symbol {
	struct slice name;
	uint64_t depth; /* of inlining: 0 is the function that the address lies in */
};

/* Which definition: the id and its kind in 33 bits, the segment in the others. */
static uint64_t late_key(uint64_t segment, enum d9_pool_kind kind, uint32_t id)
{
	return segment << 33 | (uint64_t)kind << 32 | id;
}

static bool has_key(uint64_t segment)
{
	return segment < UINT64_C(1) << 31;
}

/* ---- collecting ---- */

/* A copy of the text of one more of n things; p NULL: it is one too many, or there is no memory. */
static struct slice retain(struct d9_state *st, uint32_t n, uint32_t max, struct slice text)
{
	struct d9_ahead *const a = st->collects;
	struct slice copy = { NULL, 0, 0 };

	if (n == max || a->text.used > D9_MAX_AHEAD_BYTES || text.n > D9_MAX_AHEAD_BYTES - a->text.used) {
		a->dropped++;
		return copy;
	}
	copy = arena_copy(&a->text, text);
	st->no_memory |= copy.p == NULL;
	return copy;
}

void d9_ahead_symbol(struct d9_state *st, uint64_t address, uint64_t depth, struct slice name)
{
	struct d9_ahead *const a = st->collects;
	const uint32_t known = table64_get(&a->symbol_index, address);

	if (known != TABLE_NONE && a->symbols[known].depth <= depth)
		return;
	const struct symbol symbol = { retain(st, a->nsymbols, D9_MAX_SYMBOLS, name), depth };
	if (symbol.name.p == NULL)
		return;
	if (known != TABLE_NONE)
		a->symbols[known] = symbol;
	else if (array_room(&a->symbols, a->nsymbols, &a->symbols_cap, sizeof *a->symbols) &&
	         table64_put(&a->symbol_index, address, a->nsymbols))
		a->symbols[a->nsymbols++] = symbol;
	else
		st->no_memory = true;
}

void d9_ahead_late(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, struct slice data)
{
	struct d9_ahead *const a = st->collects;

	const struct slice copy =
	    retain(st, has_key(st->segment) ? a->nlate : D9_MAX_LATE, D9_MAX_LATE, data);
	if (copy.p == NULL)
		return;
	if (array_room(&a->late, a->nlate, &a->late_cap, sizeof *a->late) &&
	    table64_put(&a->late_index, late_key(st->segment, kind, id), a->nlate))
		a->late[a->nlate++] = copy;
	else
		st->no_memory = true;
}

/* ---- the pass ---- */

static void destroy(struct shared_memory *m)
{
	struct d9_ahead *const a = (struct d9_ahead *)m;

	table64_free(&a->symbol_index);
	table64_free(&a->late_index);
	free(a->symbols);
	free(a->late);
	arena_free(&a->text);
	free(a);
}

void d9_ahead_drop(struct d9_state *st)
{
	shared_memory_drop(st->ahead != NULL ? &st->ahead->shared : NULL);
	st->ahead = NULL;
}

void d9_ahead_hold(struct d9_state *st, struct batch *b)
{
	st->no_memory |= st->ahead != NULL && !batch_hold(b, &st->ahead->shared);
}

void d9_look_ahead(struct d9_state *st)
{
	enum look_ahead result = LOOK_AHEAD_FAILED;

	if (st->asked_ahead || st->r->ahead_of != NULL)
		return;
	st->asked_ahead = true;
	st->ahead = calloc(1, sizeof *st->ahead);
	if (st->ahead != NULL) {
		shared_memory_init(&st->ahead->shared, destroy);
		result = reader_look_ahead(st->r);
	}
	st->looked_ahead = result == LOOK_AHEAD_DONE;
	st->no_memory |= result == LOOK_AHEAD_FAILED;
	if (st->looked_ahead)
		d9_ahead_hold(st, st->batch);
	else
		d9_ahead_drop(st);
}

void d9_look_for_threads(struct d9_state *st)
{
	struct d9_threads found = { .trace = st->r->trace, .process = d9_process(st) };

	if (st->asked_threads || st->r->ahead_of != NULL || found.process == NULL)
		return;
	st->asked_threads = true;
	st->threads = &found;
	st->no_memory |= reader_look_ahead(st->r) == LOOK_AHEAD_FAILED;
	st->threads = NULL;
	table64_free(&found.workers);
}

/* ---- asking ---- */

struct slice d9_ahead_find(const struct d9_state *st, enum d9_pool_kind kind, uint32_t id)
{
	const uint32_t known = st->ahead != NULL && has_key(st->segment)
	                           ? table64_get(&st->ahead->late_index, late_key(st->segment, kind, id))
	                           : TABLE_NONE;

	return known != TABLE_NONE ? st->ahead->late[known] : (struct slice){ NULL, 0, 0 };
}

struct value *d9_stack_values(struct d9_state *st, bool names, struct arena *a, const char *addresses,
                              uint32_t n, uint32_t *cost, uint8_t *element)
{
	const struct d9_ahead *const ahead = names ? st->ahead : NULL;
	struct value *const values = arena_alloc(a, n * sizeof *values);
	uint32_t named = 0;
	uint64_t sum = 0;

	st->no_memory |= values == NULL;
	for (uint32_t i = 0; values != NULL && i < n; i++) {
		const uint64_t address = load_u64(addresses + (size_t)i * 8, false);
		const uint32_t known =
		    ahead != NULL ? table64_get(&ahead->symbol_index, address) : TABLE_NONE;
		if (known != TABLE_NONE)
			values[i] = value_string(ahead->symbols[known].name);
		else
			values[i] = (struct value){ .type = VALUE_ADDRESS, .u64 = address };
		named += known != TABLE_NONE;
		sum += known != TABLE_NONE ? values[i].count + 4U : D9_ADDRESS_COST;
	}
	*element = named == 0 ? VALUE_ADDRESS : named == n ? VALUE_STRING : VALUE_NONE;
	*cost = sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
	return values;
}

/* ---- format ---- */

static const char *const suffixes[] = { ".bin", NULL };

static const struct format_option options[] = {
	{ .name = "to-dialect",
	  .arg = "NAME",
	  .help = "the dialect of the output: d1, d3 or d5; 0.3 or 0.4 (default: the last)",
	  .words = d9_dialects,
	  .of_output = true },
	{ .name = NULL },
};

extern const struct format dial9_format;

const struct format dial9_format = {
	.name = "dial9",
	.title = "dial9 trace",
	.spec = "dial9-trace-format binary specification, version 1",
	.suffixes = suffixes,
	.recounted = (const char *const[]){ "timestamp_delta_ns", NULL },
	.dialects = d9_dialects,
	.options = options,
	.reader = &d9_reader_ops,
	.writer = &d9w_ops,
	.recover = &d9_recover_ops,
	.rules = d9_rules,
	.losses = d9w_losses,
	.holds = HOLDS_FIELDS | HOLDS_INSTANTS | HOLDS_COUNTERS | HOLDS_ARROWS | HOLDS_ASYNC | HOLDS_ENDS |
	         HOLDS_STACKS | HOLDS_LISTS | HOLDS_NAN | HOLDS_PARTS | HOLDS_NOT_UTF8 | HOLDS_NUL |
	         HOLDS_FACTS | HOLDS_EPOCH | HOLDS_NUMBERS,
};
