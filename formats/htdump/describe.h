#ifndef HTDUMP_DESCRIBE_H
#define HTDUMP_DESCRIBE_H

#include "htdump/class.h"

struct ht_record;

/* A class info or field info record, its parts in the state. */
void ht_describe_class(struct ht_state *st, const struct ht_record *rec);
void ht_describe_field(struct ht_state *st, const struct ht_record *rec);

/* The first event of the class was read: what was compared so far is all of its fields. */
void ht_describe_end(struct ht_state *st, struct ht_class *c);

/* A new EndiannessInfoEvent: from here on classes may be described afresh. */
void ht_describe_restart(struct ht_state *st);

#endif
