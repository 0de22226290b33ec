#ifndef MODEL_BATCH_H
#define MODEL_BATCH_H

#include "base/memory.h"
#include "model/batch_engine.h"
#include "model/event.h"
#include "input/input_pins.h"

/* A run of events in the order of the trace.  It owns, or holds a reference to, all that its events point to,
 * except classes, tracks and their texts; so several batches can exist at once, on different threads. */
struct batch {
	struct event *events;
	uint32_t n, cap;
	struct field *fields; /* of all events; see event.first_field */
	uint32_t nfields, fields_cap;
	struct slice *bytes;          /* the record of each event; NULL without WANT_BYTES */
	struct track *const *tracks;  /* new in this batch; an event's track is in this or an earlier one */
	struct class *const *classes; /* likewise */
	uint32_t ntracks, nclasses;
	struct arena scratch;       /* memory for texts and values that are not in the input */
	struct input_pins pins;     /* buffers of the input that events point into */
	struct batch_engine engine; /* for the engine */
};

#endif
