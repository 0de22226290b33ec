#ifndef EVENT_TRACE_ORIGIN_H
#define EVENT_TRACE_ORIGIN_H

#include "base/slice.h"

struct trace_facts {
	const char *format, *dialect, *byte_order, *clock, *record_id; /* as in struct trace */
};

struct trace_loss {
	struct slice id;
	uint64_t count;
};

/* What an input says of the trace that it was made of.  Events have the offsets of that trace then. */
struct trace_origin {
	struct trace_facts first, last; /* at its beginning, and at its end; last.format NULL: it has none */
	uint64_t records, events;       /* at its end */
	bool rebased;
	uint64_t rebased_by; /* ns that were subtracted from its times */
	struct trace_loss *losses;
	uint32_t nlosses;
};

#endif
