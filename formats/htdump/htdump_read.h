#ifndef HTDUMP_READ_H
#define HTDUMP_READ_H

#include "htdump/htdump_record.h"

/* Reads one record at the start of the window, which is not empty.  HT_MORE: the window was too short, and is
 * longer now. b is not looked at when nothing is wanted. */
enum ht_outcome ht_read_record(struct ht_state *st, struct batch *b);

extern const struct reader_ops ht_reader_ops;

#endif
