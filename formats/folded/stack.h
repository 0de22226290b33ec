#ifndef FOLDED_STACK_H
#define FOLDED_STACK_H

#include "folded/tree.h"

/*
 * The spans of one track that are open.  Spans come in order of their starts, of
 * equal starts the longer first.  What lies within a span takes from its self
 * time, once where several overlap; of spans that start and end together the one
 * that came last lies around the others.  The statistics count so, too.
 */
#define FOLDED_OPEN_MAX 4096U
#define FOLDED_LOOKS 64U /* runs of nested spans that are looked at for what lies around a span */

struct folded_open {
	uint64_t start, end;
	uint64_t covered, until; /* ns of it that others within it take; to where they reach */
	uint32_t node;
	uint32_t run; /* from this one on each lies around the next */
};

/* Zero-initialise to start, and set `tree` and `root`. */
struct folded_stack {
	struct folded_tree *tree;
	uint32_t root; /* the node of the track */
	struct folded_open *open;
	uint32_t n, cap;
	uint32_t sweep_at; /* n at which spans that are over are looked for below others */
	uint32_t *equal;   /* frames of spans that start and end together, and wait */
	uint32_t nequal, equal_cap;
	uint64_t equal_start, equal_end, equal_offset;
};

/* Failures of memory are those of the chunk. */
void folded_stack_span(struct folded_stack *s, uint64_t start, uint64_t end, uint32_t frame, uint64_t offset,
                       struct chunk *chunk);

/* Ends all. */
void folded_stack_end(struct folded_stack *s, struct chunk *chunk);

void folded_stack_free(struct folded_stack *s);

#endif
