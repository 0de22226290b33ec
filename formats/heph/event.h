#ifndef HEPH_EVENT_H
#define HEPH_EVENT_H

#include "heph/packet.h"

struct heph_state;

/* Reads an event packet.  No memory: the state remembers. */
void heph_event_read(struct heph_state *st, struct heph_packet *k, struct batch *b);

#endif
