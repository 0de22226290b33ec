#ifndef DIAL9_VOCABULARY_H
#define DIAL9_VOCABULARY_H

#include "dial9/dial9_state.h"

/* Plans of schemas, and events that hold facts of the whole trace. */

/* Looks up the plan of a schema, and what this program does with its events. */
void d9_schema_plan(struct d9_state *st, struct d9_schema *s);

/* Takes the facts that an event holds. */
void d9_learn(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f);

#endif
