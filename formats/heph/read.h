#ifndef HEPH_READ_H
#define HEPH_READ_H

#include "heph/state.h"

/* Reads one packet at the start of the window; k is as much of it as was understood.  Behind a damaged one a
 * search begins (st->gap.open).  false: the window ends too early, nothing happened.  b is not looked at when
 * nothing is wanted. */
struct heph_packet;
bool heph_read_packet(struct heph_state *st, struct heph_packet *k, struct batch *b);

extern const struct reader_ops heph_reader_ops;

#endif
