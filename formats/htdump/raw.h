#ifndef HTDUMP_RAW_H
#define HTDUMP_RAW_H

#include "htdump/record.h"

/* Adds the raw event of a record whose parts are in the state.  No memory: the state remembers, and nothing
 * is added. */
void ht_raw_add(struct ht_state *st, const struct ht_record *rec, struct batch *b);

/* Adds a run of so many records (WANT_RUNS), as one event without fields whose ts is their number. */
void ht_raw_add_run(struct ht_state *st, struct slice bytes, uint64_t offset, uint64_t records,
                    struct batch *b);

#endif
