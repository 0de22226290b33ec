#ifndef DIAL9_DIALECT_H
#define DIAL9_DIALECT_H

#include "dial9/frame.h"

/* The dialects: the document of 0.3, and what 0.4 writes under the same version. */

enum d9_dialect { D9_0_3, D9_0_4 };

extern const char *const d9_dialects[]; /* their names, ended by NULL */

/* By what the user asked for. */
void d9_dialect_begin(struct d9_state *st);

/* A feature that only 0.4 has was met at `at`: the trace is of 0.4; with
 * --from-dialect 0.3 that is an error each time. */
void d9_newer(struct d9_state *st, const struct d9_frame *f, const char *at, const char *what);

#endif
