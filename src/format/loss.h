#ifndef FORMAT_LOSS_H
#define FORMAT_LOSS_H

#include "event/event.h"
#include "format/holds.h"
#include "format/touches.h"

/* One kind of thing that an output cannot hold.  Lists of them end with an id of NULL. */
struct loss {
	/* format or stage, slash, words; a line, reported with a count; why, and what stands instead */
	const char *id, *text, *explain;
	unsigned needs, touches; /* to lose it: format/holds.h; what differs then: format/touches.h */
	const char *adds;        /* what events of the output have besides, as touches.h says; or NULL */
	/* What the output lacks because it is of this format, and not because of the trace: "arrow ends", or
	 * "fields of # spans".  One line lists all of those.  NULL: the loss has a line of its own. */
	const char *lacks;
};

struct ledger; /* what was lost, by kind; see format/ledger.h */

/* Counts losses; offset: of the event (in the input). */
void ledger_add(struct ledger *l, const struct loss *loss, uint64_t offset, uint64_t count);

#endif
