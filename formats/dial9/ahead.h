#ifndef DIAL9_AHEAD_H
#define DIAL9_AHEAD_H

#include "dial9/pool.h"

/* What stands later in the trace: symbols, and definitions behind their use. */

struct symbol;

/* What a look-ahead pass found.  Events point to its texts, so batches hold it; it does not change once the
 * pass is over. */
struct d9_ahead {
	struct shared_memory shared;
	struct table64 symbol_index; /* address -> symbols[] */
	struct symbol *symbols;
	uint32_t nsymbols, symbols_cap;
	struct table64 late_index; /* segment, kind and id -> late[] */
	struct slice *late;
	uint32_t nlate, late_cap;
	struct arena text; /* of both */
	uint64_t dropped;  /* that were not retained, because of the bounds */
};

/* Asks for a look-ahead pass, the first time it is called. */
void d9_look_ahead(struct d9_state *st);

void d9_ahead_drop(struct d9_state *st); /* batches that hold it keep it */

/* The batch that is to be filled may point to what was found. */
void d9_ahead_hold(struct d9_state *st, struct batch *b);

/* Called by the pass. */
void d9_ahead_symbol(struct d9_state *st, uint64_t address, uint64_t depth, struct slice name);
void d9_ahead_late(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, struct slice data);

/* The bytes of a definition that stands later in this segment; p is NULL if there is none. */
struct slice d9_ahead_find(const struct d9_state *st, enum d9_pool_kind kind, uint32_t id);

/* The names of a stack's addresses, or the addresses where they have none; `names` false: only those.  *cost:
 * about how many bytes they take in an output; *element: the type of all of them, or VALUE_NONE.  NULL: no
 * memory. */
struct value *d9_stack_values(struct d9_state *st, bool names, struct arena *a, const char *addresses,
                              uint32_t n, uint32_t *cost, uint8_t *element);

#endif
