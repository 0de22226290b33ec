#ifndef HEPH_COUNTER_H
#define HEPH_COUNTER_H

#include "format/format.h"

struct heph_packet;
struct heph_state;

/*
 * The counters of stream 0, whose packets come a little out of order: a bit
 * for each of the 4096 numbers [base, base + 4096), modulo 2^32.
 */
#define HEPH_SHARED_WINDOW 4096U
struct heph_shared {
	bool any;
	uint32_t base, lowest, highest;
	uint64_t bits[HEPH_SHARED_WINDOW / 64]; /* bit of n: n % 4096 */
	uint64_t missing;                       /* numbers between lowest and highest that have not come */
	struct finding_tally jump;              /* the first one behind which a number is missing */
	struct finding_tally first;             /* the packet with the lowest */
};

struct heph_counters {
	struct heph_shared shared;       /* of stream 0 */
	struct finding_tally late_start; /* streams that do not begin at 0 */
};

/* Checks the counter of an event.  No memory: the state remembers. */
void heph_counter_check(struct heph_state *st, const struct heph_packet *k);

/* Reports what is known about counters only at the end. */
void heph_counters_finish(struct heph_state *st);

#endif
