#ifndef POLICY_STARTER_H
#define POLICY_STARTER_H

#include "output/text.h"
#include "policy/policy_watch.h"

/* A policy with comments that a trace keeps which was read to its end.  shown: its name, escaped.  false: no
 * memory. */
bool policy_starter(struct text *t, const struct policy_watch *w, const struct pipeline *p,
                    const char *shown);

#endif
