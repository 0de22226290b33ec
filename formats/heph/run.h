#ifndef HEPH_RUN_H
#define HEPH_RUN_H

#include "heph/state.h"

/* Runs of event packets with nothing to report, at full speed. */

/* Whether packets are only checked, or are wanted as runs (WANT_RUNS). */
bool heph_run_wanted(const struct heph_state *st);

/* Checks and counts plain event packets at the start of the window, up to about the offset `until`; stops at
 * anything else.  Where runs are wanted, they become one raw event of the batch, which has room.  false:
 * there are none.  No memory: the state remembers. */
bool heph_run_read(struct heph_state *st, struct batch *b, uint64_t until);

#endif
