#ifndef DIAL9_WRITE_SELECT_H
#define DIAL9_WRITE_SELECT_H

#include "base/table.h"
#include "dial9/type.h"
#include "dial9/write_symbols.h"
#include "format/format.h"

/* What a selection of records refers to: schemas, annotations and pools of the present segment. */

/* A definition that an event may refer to: a schema, or an entry of a pool. */
struct d9w_known {
	struct slice bytes; /* of the schema frame, or of the entry; p NULL: it is not defined yet */
	uint32_t notes;     /* schemas: the first of its annotations + 1, or 0 */
	uint32_t last_note; /* likewise */
	bool written;
	bool refers;  /* schemas: events may refer to pools, or have stacks */
	bool symbol;  /* schemas: of symbols */
	bool timed;   /* schemas: of events with a time */
	bool awaited; /* entries: a retained event refers to it */
};

struct d9w_note {
	struct slice entry;
	uint32_t next; /* + 1, or 0 */
};

struct d9w_select {
	struct arena arena;   /* of this segment */
	struct table64 index; /* kind and number -> known[] */
	struct d9w_known *known;
	uint32_t nknown, known_cap;
	struct d9w_note *notes;
	uint32_t nnotes, notes_cap;
	uint64_t type_id;    /* of the annotations whose entries come */
	uint8_t entry_kind;  /* enum d9w_kind of the entries that come */
	bool any;            /* a header was written */
	bool header_pending; /* that of this segment was not */
	bool full;           /* what is defined from here on is written at once */
	struct d9w_symbols symbols;
};

struct d9w_state;

void d9w_select(struct d9w_state *st, const struct batch *b, struct chunk *chunk);
/* A trace of which nothing was selected is a header. */
void d9w_select_end(struct d9w_state *st, struct chunk *chunk);
void d9w_select_free(struct d9w_select *s);

#endif
