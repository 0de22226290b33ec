#ifndef BASE_PARENTS_H
#define BASE_PARENTS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Which span a span lies in: the innermost one of its track that begins not
 * later and ends not earlier.  Spans come by start, the longer ones first.
 *
 * Of the spans of a track those are kept, in a stack, that may hold another
 * one: a later one that ends later too hides an earlier one.  So ends get less
 * from the bottom to the top, each span goes in and out once, and spans that
 * overlap in part need no lanes.
 */
#define PARENTS_TRACK 4096     /* open spans of one track */
#define PARENTS_ALL (1U << 20) /* places of all tracks; 24 bytes each */

struct parents_span {
	uint64_t end;
	int64_t id;
	uint32_t depth; /* how many are around it */
};

struct parents_track {
	struct parents_span *spans;
	uint32_t n, cap;
};

struct parents {
	struct parents_track *tracks; /* by index */
	uint32_t ntracks;
	uint32_t room; /* sum of cap */
};

struct parents_found {
	int64_t id;     /* 0: none */
	uint32_t depth; /* 0: none is around it */
	bool forgotten; /* it could not be kept: the parent of later ones may be further out */
};

/* The next span; ids are not 0.  false: no memory. */
bool parents_next(struct parents *p, uint32_t track, uint64_t start, uint64_t end, int64_t id,
                  struct parents_found *out);
void parents_free(struct parents *p);

#endif
