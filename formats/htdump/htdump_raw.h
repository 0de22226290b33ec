#ifndef HTDUMP_RAW_H
#define HTDUMP_RAW_H

#include "htdump/htdump_record.h"

/* Adds the raw event of a record whose parts are in the state.  No memory: the state remembers, and nothing
 * is added. */
void ht_raw_add(struct ht_state *st, const struct ht_record *rec, struct batch *b);

#endif
