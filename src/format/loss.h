#ifndef FORMAT_LOSS_H
#define FORMAT_LOSS_H

#include "event/event.h"

/* One kind of thing that an output cannot hold. */
struct loss {
	const char *id;   /* the format or stage, a slash, then words */
	const char *text; /* one line, reported with a count behind it: "texts that ...: 3" */
};

struct ledger; /* what was lost, by kind; see format/ledger.h */

/* Counts losses; offset: of the event (in the input). */
void ledger_add(struct ledger *l, const struct loss *loss, uint64_t offset, uint64_t count);

#endif
