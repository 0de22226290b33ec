#ifndef DIAL9_RECOVER_H
#define DIAL9_RECOVER_H

#include "format/recover.h"

extern const struct recover_ops d9_recover_ops;

/* A frame of entries, as far as it is there. */
struct d9_entries {
	uint32_t count_at; /* where its count stands ... */
	uint32_t count_size;
	uint32_t count, whole; /* ... the count, and how many entries are complete */
	size_t size;           /* of the frame up to the end of these */
	bool large;            /* some entry is larger than the reader takes */
	bool more;             /* further bytes may complete it */
};

/* Walks over the frame at p, which is of a pool or of annotations, from what e says of it: zeroed at first,
 * or what fewer bytes gave.  false: its head is not complete, or none. */
bool d9_entries_walk(struct d9_entries *e, const char *p, const char *end);

#endif
