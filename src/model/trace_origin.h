#ifndef MODEL_TRACE_ORIGIN_H
#define MODEL_TRACE_ORIGIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/slice.h"

/* zero_ns of traces with times before 0.  Their times are far from both ends of the range, so only code that
 * shows or writes times depends on it.  Other traces have 0. */
#define TRACE_ZERO (UINT64_C(1) << 62)

/* Sets *wall to the ns since 1970 at ts, of the epoch_ns and zero_ns of its trace.  Returns false before 1970
 * and beyond 64 bits. */
static inline bool trace_wall(uint64_t epoch, uint64_t ts, uint64_t zero, uint64_t *wall)
{
	const uint64_t from_zero = ts - zero; /* wraps if ts is before 0 */

	*wall = epoch + from_zero;
	return ts >= zero ? *wall >= epoch : *wall < epoch;
}

/* Whether a file states that tracetool wrote it: "tracetool 0.1.0", of any version. */
static inline bool trace_tool_is_own(struct slice tool)
{
	static const char own[] = "tracetool ";

	return tool.n >= sizeof own && memcmp(tool.p, own, sizeof own - 1) == 0;
}

struct trace;
struct track;

/* Metadata of an input about the trace that it was converted from.  Offsets of its events refer to that
 * trace. */
struct trace_facts {
	const char *format, *dialect, *byte_order, *clock, *record_id; /* as in struct trace */
};

struct trace_loss {
	struct slice id;
	uint64_t count;
};

struct trace_origin {
	struct trace_facts first, last; /* at its start and end; last.format NULL: no end was read */
	uint64_t records, events;       /* in total, from its end */
	bool rebased;
	int128 rebased_by; /* ns that were subtracted from its times; below 0: it began before 0 */
	struct trace_loss *losses;
	uint32_t nlosses;
};

/* Sets the clock to a copy of the name that a file of tracetool states.  Returns false on OOM, and for texts
 * that are not a name: empty, longer than 60 bytes, or with bytes other than printable ASCII. */
bool trace_name_clock(struct trace *t, struct slice name);

/* Sets the host of a process, a copy; empty: not known.  false: OOM. */
bool trace_set_host(struct trace *t, struct track *process, struct slice host);

#endif
