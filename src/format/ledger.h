#ifndef FORMAT_LEDGER_H
#define FORMAT_LEDGER_H

#include "event/event.h"

/* One kind of thing that an output cannot hold. */
struct loss {
	const char *id;   /* the format or stage, a slash, then words */
	const char *text; /* one line, said with a count behind it: "texts that ...: 3" */
};

struct ledger_row {
	const struct loss *loss;
	uint64_t count;
	uint64_t first_offset; /* in the input, of the first event that lost it */
};

#define LEDGER_ROWS 16 /* kinds a writer may have */

struct ledger {
	struct ledger_row rows[LEDGER_ROWS];
	size_t n;
};

void ledger_add(struct ledger *l, const struct loss *loss, uint64_t offset, uint64_t count);
void ledger_merge(struct ledger *into, const struct ledger *from);

#endif
