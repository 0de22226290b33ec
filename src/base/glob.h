#ifndef BASE_GLOB_H
#define BASE_GLOB_H

#include "base/slice.h"

/* Whether a pattern fits all of a text: * is any text, ? is any one byte, \ takes away the meaning of the
 * byte behind it, all else is itself.  Takes time in proportion to the sum of both lengths, as long as no
 * more than GLOB_LINEAR bytes stand between two * of the pattern. */
#define GLOB_LINEAR 64U
bool glob_fits(struct slice pattern, struct slice text);

/* Whether it takes no longer than that. */
bool glob_is_linear(struct slice pattern);

/* How many * it has that mean any text: each begins a search of its own. */
uint32_t glob_stars(struct slice pattern);

#endif
