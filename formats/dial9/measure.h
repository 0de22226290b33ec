#ifndef DIAL9_MEASURE_H
#define DIAL9_MEASURE_H

#include "dial9/state.h"

/* How long an event is, at full speed. */

/* A step of measuring an event. */
struct d9_op {
	uint8_t kind;
	uint8_t size;  /* of an item of a run */
	uint32_t need; /* after a value of any length: bytes the steps up to the next one may take */
};

/* Makes s->ops and s->need, if events of this schema can be measured so.  false: no memory. */
bool d9_ops_make(struct d9_schema *s);

/* The end of an event that begins at p and has s->need bytes before `end`; NULL: it must be looked at more
 * closely. */
const char *d9_measure(const struct d9_state *st, const struct d9_schema *s, const char *p, const char *end);

/* Counts plain events and resets at the start of the window, for passes that want none of them; stops at
 * anything else.  How many. */
uint32_t d9_check_run(struct d9_state *st, uint32_t most);

#endif
