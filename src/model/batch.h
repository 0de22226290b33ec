#ifndef EVENT_BATCH_H
#define EVENT_BATCH_H

#include "base/memory.h"
#include "model/batch_engine.h"
#include "model/event.h"
#include "input/input_holds.h"

/* A run of events in the order of the trace.  It owns, or holds a reference to, all that its events point to,
 * except classes, tracks and their texts.  So several batches can be alive at once, on different threads. */
struct batch {
	struct event *events;
	uint32_t n, cap;
	struct field *fields; /* of all events; see event.first_field */
	uint32_t nfields, fields_cap;
	struct slice *bytes;         /* the record of each event; NULL unless WANT_BYTES was asked for */
	struct track *const *tracks; /* new in this batch; an event's is in this batch or in an earlier one */
	struct class *const *classes; /* likewise */
	uint32_t ntracks, nclasses;
	struct arena scratch;       /* memory for what does not lie in the input */
	struct input_holds holds;   /* the buffers of the input that events point into */
	struct batch_engine engine; /* for the engine */
};

#endif
