#ifndef PIPELINE_NEST_LANE_H
#define PIPELINE_NEST_LANE_H

#include "run/nest/nesting.h"

/* One lane of nesting.h: where a span would go, and what is around it. */

struct nest_look {
	uint32_t pos;     /* the span would be put in here */
	uint32_t first;   /* fits: the first of those within it; they end at pos */
	uint32_t holder;  /* of the innermost span that it lies within: index + 1; 0: there is none */
	uint64_t covered; /* ns that spans of this lane within it cover */
	bool fits;        /* it overlaps no span of this lane in part only */
	bool unsure;      /* forgotten, or too much to look at: all the rest may be wrong */
};

/* What of a track is looked at.  pieces: every span that shares time with the new one but does not lie around
 * it is added to nesting.pieces; of nested ones the outermost within the new one, and all that overlap it in
 * part only.  whole: look at all even if it does not fit.  Each span that is looked at costs one of
 * nesting.looks. */
struct nest_asked {
	struct nesting *n;
	bool pieces, whole;
};

/* Without memory for pieces nesting.failed is set. */
void nest_lane_look(const struct nest_lane *l, const struct nest_span *x, struct nest_asked asked,
                    struct nest_look *at);

/* Puts it in where nest_lane_look said that it fits; there is room, and no more than NEST_WINDOW to move. */
void nest_lane_put(struct nest_lane *l, const struct nest_span *x, const struct nest_look *at);

/* True if nothing known of this lane reaches beyond the start of x. */
static inline bool
nest_lane_is_before(const struct nest_lane *l, const struct nest_span *x)
{
	return l->n > 0 && l->spans[l->n - 1].end <= x->start;
}

#endif
