#ifndef BASE_MATCH_H
#define BASE_MATCH_H

#include <stddef.h>

#include "base/slice.h"

/* ---- glob ---- */

/* Whether a pattern fits all of a text: * is any text, ? is any one byte, \ takes away the meaning of the
 * byte behind it, all else is itself.  Takes time in proportion to the sum of both lengths, as long as no
 * more than GLOB_LINEAR bytes stand between two * of the pattern. */
#define GLOB_LINEAR 64U

bool glob_fits(struct slice pattern, struct slice text);

/* Whether it takes no longer than that. */
bool glob_is_linear(struct slice pattern);

/* How many * it has that mean any text: each begins a search of its own. */
uint32_t glob_stars(struct slice pattern);

/* ---- edit distance ---- */

/* How many letters must be changed, added, left out or swapped with a neighbour to make b out of a; words
 * longer than 63 bytes count as far away (SIZE_MAX). */
size_t edit_distance(const char *a, const char *b);

/* True if b is near enough to be what somebody who typed a meant (at most a third of the letters, at least 1,
 * at most 3). */
int edit_distance_plausible(const char *typed, const char *known);

#endif
