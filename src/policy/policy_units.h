#ifndef POLICY_UNITS_H
#define POLICY_UNITS_H

#include "base/slice.h"

/* Numbers with units, as people write them into a policy.  Each is all of the text; false: it is none, or
 * does not fit. */

/* "0", "500us", "1.5 ms", "2 h": ns, us, ms, s, min or h. */
bool policy_time(struct slice s, uint64_t *ns);

/* "2026-05-09", "2026-05-09T22:08:04.5Z": UTC, from 1970 on, as ns since then. */
bool policy_wall(struct slice s, uint64_t *ns);

/* "2.5%": 0.025. */
bool policy_share(struct slice s, double *share);

/* Digits alone. */
bool policy_count(struct slice s, uint64_t *n);

/* "100/s", "2.5 / ms": events in a second. */
bool policy_rate(struct slice s, double *per_second);

#endif
