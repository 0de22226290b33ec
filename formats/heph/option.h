#ifndef HEPH_OPTION_H
#define HEPH_OPTION_H

#include "heph/packet.h"

struct heph_state;

/* Reads a metadata packet.  No memory: the state remembers. */
void heph_option_read(struct heph_state *st, struct heph_packet *k, struct batch *b);

#endif
