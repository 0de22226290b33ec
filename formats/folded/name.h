#ifndef FOLDED_NAME_H
#define FOLDED_NAME_H

#include "folded/state.h"

#define FOLDED_NAME_MAX 1024U /* bytes of a name that are shown */

/* The name as a frame: no ';', no line feed, nothing that cannot be seen; not empty.  What is written so is
 * in the manual. */
void folded_name(struct text *t, struct slice name);

#endif
