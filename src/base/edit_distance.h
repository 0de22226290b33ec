#ifndef BASE_EDIT_DISTANCE_H
#define BASE_EDIT_DISTANCE_H

#include <stddef.h>

/* How many letters must be changed, added, left out or swapped with a neighbour to make b out of a; words
 * longer than 63 bytes count as far away (SIZE_MAX). */
size_t edit_distance(const char *a, const char *b);

/* True if b is near enough to be what somebody who typed a meant (at most a third of the letters, at least 1,
 * at most 3). */
int edit_distance_plausible(const char *typed, const char *known);

#endif
