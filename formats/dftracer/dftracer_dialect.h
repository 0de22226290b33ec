#ifndef DFTRACER_DIALECT_H
#define DFTRACER_DIALECT_H

#include "base/slice.h"

/* Which version of the tracer wrote a trace. */

extern const char *const dft_dialects[]; /* ended by NULL */

/* What the first bytes say; complete: they are all there are.  NULL: no memory. */
const char *dft_dialect_of(struct slice head, bool complete);

/* reader_ops.probe */
int dft_probe(struct slice head, bool complete);

#endif
