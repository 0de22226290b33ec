#ifndef FORMAT_LOSS_H
#define FORMAT_LOSS_H

#include "event/event.h"

/* One kind of thing that an output cannot hold.  Lists of them end with an id of NULL. */
struct loss {
	/* The format or stage, a slash, then words; one line, which is reported with a count behind it; a
	 * paragraph: why, and what stands in the output instead. */
	const char *id, *text, *explain;
};

struct ledger; /* what was lost, by kind; see format/ledger.h */

/* Counts losses; offset: of the event (in the input). */
void ledger_add(struct ledger *l, const struct loss *loss, uint64_t offset, uint64_t count);

#endif
