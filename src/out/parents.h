#ifndef OUT_PARENTS_H
#define OUT_PARENTS_H

#include "base/open_spans.h"

/*
 * The parent of a span: the innermost span of its track that begins not later and ends not earlier.  Spans
 * are added by start, the longer ones first.
 *
 * Each track has a stack of the spans that may enclose a later one: a span that begins later and ends later
 * replaces an earlier one.  So ends decrease from bottom to top, each span is pushed and popped once, and
 * spans that overlap partly need no lanes.
 */
#define PARENTS_TRACK 4096     /* open spans of one track */
#define PARENTS_ALL (1U << 20) /* capacity of all tracks; 16 bytes a span */

/* Zero-initialised. */
struct parents {
	struct nested_spans *tracks; /* by index; `what` is the id */
	uint32_t ntracks;
	uint32_t capacity; /* sum of cap */
};

struct parents_found {
	int64_t id;     /* 0: none */
	uint32_t depth; /* number of spans around it */
	bool forgotten; /* the stack is full: later spans in this one may get a parent further out */
};

/* Adds the next span, and finds its parent.  Ids are not 0. */
bool parents_next(struct parents *p, uint32_t track, uint64_t start, uint64_t end, int64_t id,
                  struct parents_found *out);
void parents_free(struct parents *p);

#endif
