#ifndef FORMAT_LOSS_H
#define FORMAT_LOSS_H

#include "model/event.h"
#include "format/features.h"

/* One kind of thing that an output cannot hold.  Lists of them end with an id of NULL. */
struct loss {
	/* format or stage, slash, words; a line, reported with a count; why, and what stands instead */
	const char *id, *text, *explain;
	unsigned needs, touches;  /* to lose it: format/holds.h; what differs then: format/touches.h */
	const char *adds, *lacks; /* fields beside (touches.h); what no file has, "fields of # spans" */
};

struct ledger; /* what was lost, by kind; see format/ledger.h */

/* Counts losses; offset: of the event (in the input). */
void ledger_add(struct ledger *l, const struct loss *loss, uint64_t offset, uint64_t count);

#endif
