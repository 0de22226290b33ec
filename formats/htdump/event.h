#ifndef HTDUMP_EVENT_H
#define HTDUMP_EVENT_H

#include "htdump/record.h"

/* Adds the event of a record whose parts are in the state.  No memory: the state remembers, and nothing is
 * added.
 */
void ht_event_add(struct ht_state *st, const struct ht_record *rec, struct batch *b);

#endif
