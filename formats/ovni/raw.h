#ifndef OVNI_RAW_H
#define OVNI_RAW_H

#include "ovni/rules.h"
#include "ovni/wire.h"

/*
 * Raw events (WANT_RAW): the header of the stream, which is no record of the count, and each event as a
 * record. Times are the clocks as they lie in the file: no clock offset is added.
 *
 *   header  magic (string of 4 bytes), version (u32)
 *   event   flags (u8, the size code of the payload included), mcv (string of 3 bytes), clock (u64, ns),
 *           jumbo_size (u32, of jumbo events), payload (bytes, if there are any; of jumbo events the data)
 */

/* An event as it lies in the file. */
struct ovni_record {
	struct slice bytes;   /* of a jumbo event that is too large: its head alone */
	struct slice payload; /* of a jumbo event: the data; p NULL: none, or dropped */
	uint64_t offset;
};

/* Declares the fields of a class of events. */
void ovni_raw_declare(struct class *cls);

/* Adds the header to an empty batch.  false: no memory. */
bool ovni_raw_add_header(struct reader *r, struct batch *b, struct slice header, bool big);

/* Adds the fields of the event at p to the batch.  false: no memory. */
bool ovni_raw_add_fields(struct batch *b, struct event *e, const char *p, struct slice payload, bool big);

#endif
