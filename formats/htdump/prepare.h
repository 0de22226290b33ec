#ifndef HTDUMP_PREPARE_H
#define HTDUMP_PREPARE_H

#include "htdump/record.h"

/* Makes the plan of rec's class, whose first record this is.  false: its layout cannot be known (see the
 * finding), or no memory, which the state remembers. */
bool ht_class_prepare(struct ht_state *st, const struct ht_record *rec);

#endif
