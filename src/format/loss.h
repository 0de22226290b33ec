#ifndef FORMAT_LOSS_H
#define FORMAT_LOSS_H

#include "model/event.h"

/* A kind of information that an output cannot represent.  Lists end with an id of NULL. */
struct loss {
	/* id: format or stage, slash, name; text: one line, with a count; explain: reason, substitute */
	const char *id, *text, *explain;
	unsigned needs, affects;  /* enum feature, enum effect (format/ledger.h) */
	const char *adds, *lacks; /* fields added to events; what no output has: "fields of # spans" */
};

struct ledger; /* format/ledger.h */

#define LOSS_NOWHERE UINT64_MAX /* offset of what is not a part of an event */

/* Counts losses; offset: of the event in the input. */
void ledger_add(struct ledger *l, const struct loss *loss, uint64_t offset, uint64_t count);

#endif
