#ifndef FORMAT_LOSS_H
#define FORMAT_LOSS_H

#include "event/event.h"

/* One kind of thing that an output cannot hold.  Lists of them end with an id of NULL. */
struct loss {
	const char *id;      /* the format or stage, a slash, then words */
	const char *text;    /* one line, reported with a count behind it: "texts that ...: 3" */
	const char *explain; /* a paragraph: why, and what stands in the output instead */
};

/* Of LOSS(NAME, id, text, explain) in a file X_losses.def: a row of the list. */
#define LOSS_ROW(name, id, text, explain) { id, text, explain },

struct ledger; /* what was lost, by kind; see format/ledger.h */

/* Counts losses; offset: of the event (in the input). */
void ledger_add(struct ledger *l, const struct loss *loss, uint64_t offset, uint64_t count);

#endif
