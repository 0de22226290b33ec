#ifndef DIAL9_VOCABULARY_H
#define DIAL9_VOCABULARY_H

#include "dial9/state.h"

/* Plans of schemas, and events that hold facts of the whole trace. */

/* Looks up the plan of a schema, and what this program does with its events.  false: no memory. */
bool d9_schema_plan(struct d9_state *st, struct d9_schema *s);

/* The class of its events: asked for before the first event, and again when a declared field changed.
 * false: no memory, which the state remembers. */
bool d9_schema_class(struct d9_state *st, struct d9_schema *s);

/* The classes of schemas without events, for what they declare. */
void d9_schemas_declare(struct d9_state *st);

/* Takes the facts that an event holds. */
void d9_learn(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f);

#endif
