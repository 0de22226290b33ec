#ifndef DFTRACER_LINE_H
#define DFTRACER_LINE_H

#include "dftracer/state.h"

/* What stands around the records.  Out of memory: st->no_memory. */

/* Consumes one thing at the start of the window: a record, or something that stands between records.  false:
 * the window ends too early, and nothing happened. */
bool dft_line_next(struct dft_state *st, struct batch *b);

/* As many ordinary lines as the batch and the next piece of the window hold (dftracer_fast.c); where it
 * stops, dft_line_next() is needed. */
void dft_lines_fast(struct dft_state *st, struct batch *b);

/* In a look-ahead pass: passes over lines of the window that hold no metadata (dftracer_ahead.c). */
void dft_ahead_skip(struct dft_state *st);

/* At the end: reports what is still open. */
void dft_line_finish(struct dft_state *st);

#endif
