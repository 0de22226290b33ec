#ifndef HEPH_RAW_H
#define HEPH_RAW_H

#include "heph/packet.h"

struct heph_state;

/* Declares the fields that every raw event and every raw option has, in file order. */
void heph_raw_declare(struct class *event, struct class *metadata);

/* The fields of an event before its attributes.  false: no memory. */
bool heph_raw_add_event(struct heph_packet *k, struct batch *b);

/* The fields of an option, which become those of e.  false: no memory. */
bool heph_raw_add_option(const struct heph_packet *k, struct slice name, struct value value, struct event *e,
                         struct batch *b);

#endif
