#ifndef PIPELINE_NEST_COVER_H
#define PIPELINE_NEST_COVER_H

#include "run/nest/nesting.h"

/* From nesting.pieces: what of x is covered, and what it takes from the spans around it, `holders`, of which
 * there is at most one in a lane: the innermost.  Sets covered and nlate of *out, and nesting.late. */
void nest_cover(struct nesting *n, const struct nest_span *x, const struct nest_span *holders,
                uint32_t nholders, struct nest_result *out);

/* The same if x fits into the only lane, where `covered` ns of it are covered.  holder: NULL if there is
 * none. */
void nest_cover_alone(struct nesting *n, const struct nest_span *x, const struct nest_span *holder,
                      uint64_t covered, struct nest_result *out);

#endif
