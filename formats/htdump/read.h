#ifndef HTDUMP_READ_H
#define HTDUMP_READ_H

#include "htdump/record.h"

/* Reads one record at the start of the window, which is not empty.  HT_MORE: nothing happened, the window is
 * too short: ht_read_more() grows it.  b is not looked at when nothing is wanted. */
enum ht_outcome ht_read_record(struct ht_state *st, struct batch *b);
void ht_read_more(struct ht_state *st);

extern const struct reader_ops ht_reader_ops;

#endif
