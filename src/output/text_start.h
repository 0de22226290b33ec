#ifndef OUTPUT_TEXT_START_H
#define OUTPUT_TEXT_START_H

#include "output/text.h"

/* An empty text in `room` bytes of the caller's, moved to memory of its own when it outgrows them.  What fits
 * needs no memory, so that a message can tell of its lack; where it fails, what fitted before stays. */
static inline struct text
text_start(char *p, size_t room)
{
	return (struct text){ .p = p, .cap = room, .borrowed = true };
}

#endif
