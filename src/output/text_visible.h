#ifndef OUTPUT_TEXT_VISIBLE_H
#define OUTPUT_TEXT_VISIBLE_H

#include "output/text.h"

/* Trace text for a terminal: printable UTF-8 as it is, everything else (controls, C1, DEL, invalid bytes,
 * bidirectional marks) as \xNN or \u{NNNN}; backslash doubled; commands
 * of CI services (text_commands.h) as #\x23[.  At most `max` bytes of `s` are shown (cut at a character),
 * then
 * "..."; max 0: all. */
void text_visible(struct text *t, struct slice s, size_t max);

/* The same, but what is too long loses its middle: names are often paths, and their ends tell them apart. */
void text_visible_ends(struct text *t, struct slice s, size_t max);

/* A message that may hold such text already: all of it, with each backslash as it is. */
void text_visible_message(struct text *t, struct slice s);

#endif
