#ifndef HTDUMP_FAST_H
#define HTDUMP_FAST_H

#include "htdump/state.h"

/* Consumes ordinary events that begin in the next `most` bytes (at most 1 MiB) of the window, and makes no
 * events of the model of them.  Stops where ht_read_record() is needed, maybe at once.  Out of memory:
 * st->ids.failed. */
void ht_read_fast(struct ht_state *st, size_t most);

#endif
