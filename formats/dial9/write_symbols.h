#ifndef DIAL9_WRITE_SYMBOLS_H
#define DIAL9_WRITE_SYMBOLS_H

#include "base/arena.h"
#include "base/table.h"
#include "format/format.h"

/* The entries of the symbol table in a selection: those come along whose address a written stack has. */

struct d9w_symbol {
	struct slice bytes; /* of the frame */
	uint64_t address, ts;
	bool timed;
};

struct d9w_symbols {
	struct table64 needed; /* addresses of the stacks that were written, of all segments */
	struct arena arena;
	struct d9w_symbol *retained; /* of this segment, while no stack had their address */
	uint32_t n, cap;
	bool all; /* too many addresses to remember: all symbols come */
};

/* Whether the events of a schema frame are symbols: their first field is an address. */
bool d9w_is_symbol(struct slice schema);

/* That of an event, which the reader checked. */
uint64_t d9w_symbol_address(struct slice schema, struct slice event);

/* Remembers the addresses of a stack: n numbers of 8 bytes.  false: no memory. */
bool d9w_symbols_need(struct d9w_symbols *s, const char *addresses, uint32_t n);

bool d9w_symbols_needed(const struct d9w_symbols *s, uint64_t address);

/* Retains a copy.  false: there is no room, so that it has to be written now. */
bool d9w_symbols_retain(struct d9w_symbols *s, const struct d9w_symbol *symbol);

/* Forgets what is retained. */
void d9w_symbols_forget(struct d9w_symbols *s);
void d9w_symbols_free(struct d9w_symbols *s);

#endif
