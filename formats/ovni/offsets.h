#ifndef OVNI_OFFSETS_H
#define OVNI_OFFSETS_H

#include "output/text.h"
#include "ovni/system.h"

/* Clock offsets of hosts: clock-offsets.txt in the folder of the trace, or the file of --clock-offsets. */

struct ovni_host {
	struct slice name;
	int64_t offset; /* ns */
	bool used;
};

struct ovni_offsets {
	const char *file; /* what messages call it */
	bool read, named; /* the table was there; --clock-offsets named it */
	struct text copy; /* of the file, for WANT_FILES */
	struct ovni_host *hosts;
	uint32_t nhosts, hosts_cap;
	struct tabletext host_index;
};

/* Reads the table, if there is one.  false: no memory, or the file that the user named cannot be read (a
 * finding says why). */
bool ovni_offsets_open(struct ovni_offsets *o, struct ovni_system *s, struct reader *r);
void ovni_offsets_free(struct ovni_offsets *o);

/* What is to be added to the clocks of a loom (its name; p NULL: not known), ns. */
int64_t ovni_offsets_find(struct ovni_offsets *o, struct slice loom);

/* After the last stream. */
void ovni_offsets_check(const struct ovni_offsets *o, const struct ovni_system *s, struct reader *r);

/* A clock on the time line of the trace, within the range of times. */
static inline uint64_t
ovni_offset_add(uint64_t clock, int64_t offset)
{
	const uint64_t by = offset < 0 ? 0 - (uint64_t)offset : (uint64_t)offset;

	if (offset < 0)
		return clock < by ? 0 : clock - by;
	return clock > UINT64_MAX - by ? UINT64_MAX : clock + by;
}

#endif
