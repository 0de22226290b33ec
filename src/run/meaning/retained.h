#ifndef PIPELINE_RETAINED_H
#define PIPELINE_RETAINED_H

#include "model/batch_pool.h"

/* A name and fields of an event, copied with all they point to, for as long as a span is open. */
struct retained {
	struct batch_block block; /* for the batch that it is given to */
	uint32_t bytes;           /* what it takes */
	uint32_t nfields;
	struct slice name; /* p NULL: it needed no copy */
	struct field fields[];
};

enum retained_made {
	RETAINED_MADE,
	RETAINED_TOO_MUCH, /* more than `limit` bytes, or lists in lists without end */
	RETAINED_NO_MEMORY,
};

/* name: p NULL if it outlives the batch anyway. */
enum retained_made retained_new(struct retained **made, struct slice name, const struct field *fields,
                                uint32_t n, uint32_t limit);

void retained_free(struct retained *k); /* NULL is fine */

/* Same type, same content. */
bool retained_equal(const struct value *a, const struct value *b);

/* The fields of a span: those of its BEGIN, then what the END adds; one of the same name and another value is
 * "end.NAME".  `to` has room for all; returns how many there are.  Without memory the batch has failed. */
uint32_t retained_join(struct batch *b, const struct field *begin, uint32_t nbegin, const struct field *end,
                   uint32_t nend, struct field *to);

#endif
