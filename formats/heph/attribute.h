#ifndef HEPH_ATTRIBUTE_H
#define HEPH_ATTRIBUTE_H

#include "heph/packet.h"

struct heph_state;

/* Reads the attributes from p to the end of the packet; b: where fields go, NULL: nowhere.  No memory: the
 * state remembers. */
void heph_attributes_read(struct heph_state *st, struct heph_packet *k, const char *p, struct batch *b);

#endif
