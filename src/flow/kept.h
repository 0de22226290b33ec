#ifndef FLOW_KEPT_H
#define FLOW_KEPT_H

#include "event/batch.h"

/* A name and fields of an event, copied with all they point to, for as long as a span is open. */
struct kept {
	struct kept *next; /* for whoever holds it */
	uint32_t bytes;    /* what it takes */
	uint32_t nfields;
	struct slice name; /* p NULL: it needed no copy */
	struct field fields[];
};

enum kept_made {
	KEPT_MADE,
	KEPT_TOO_MUCH, /* more than `limit` bytes, or lists in lists without end */
	KEPT_NO_MEMORY,
};

/* name: p NULL if it outlives the batch anyway. */
enum kept_made kept_new(struct kept **made, struct slice name, const struct field *fields, uint32_t n, uint32_t limit);

void kept_free(struct kept *k); /* NULL is fine */

/* Same type, same content. */
bool kept_equal(const struct value *a, const struct value *b);

/* The fields of a span: those of its BEGIN, then what the END adds; one of the same name and another value is "end.NAME".  `to` has room
 * for all, *n are used.  false: no memory. */
bool kept_join(struct batch *b, const struct field *begin, uint32_t nbegin, const struct field *end, uint32_t nend, struct field *to, uint32_t *n);

#endif
