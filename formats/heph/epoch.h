#ifndef HEPH_EPOCH_H
#define HEPH_EPOCH_H

#include "format/format.h"

struct heph_packet;
struct heph_state;

/* The epoch of this input. */
struct heph_epoch {
	bool known;
	uint64_t ns;
	struct finding_tally latest; /* now: the latest time before the epoch was known */
};

/* The option `epoch`, its value from `value` to the end of the packet. */
void heph_epoch_set(struct heph_state *st, const struct heph_packet *k, const char *value);

/* Checks the times of an event: against each other, and with the epoch, now or when it is known. */
void heph_epoch_check(struct heph_state *st, const struct heph_packet *k);

#endif
