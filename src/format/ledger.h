#ifndef FORMAT_LEDGER_H
#define FORMAT_LEDGER_H

#include "format/loss.h"

struct ledger_row {
	const struct loss *loss;
	uint64_t count;
	uint64_t first_offset; /* in the input, of the first event */
};

/* Losses by kind, in order of first occurrence.  Zero-initialise. */
struct ledger {
	struct ledger_row *rows;
	size_t n, cap;
	bool failed; /* OOM: rows are missing */
};

void ledger_merge(struct ledger *into, const struct ledger *from);
void ledger_free(struct ledger *l);

#endif
