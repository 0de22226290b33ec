#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include "base/slice.h"

/* Numbers with units, as people write them into a policy or on the command line.  Each is all of the text;
 * false: it is none, or does not fit. */

/* "0", "500us", "1.5 ms", "2 h": ns, us, ms, s, min or h. */
bool units_time(struct slice s, uint64_t *ns);

/* "2026-05-09", "2026-05-09T22:08:04.5Z": UTC, from 1970 on, as ns since then. */
bool units_wall(struct slice s, uint64_t *ns);

/* "2.5%": 0.025. */
bool units_share(struct slice s, double *share);

/* "12.5%" of `whole`, a multiple of 100; false: it is no whole number, or more than that. */
bool units_part(struct slice s, uint64_t whole, uint64_t *part);

/* "104857600", "64k", "100M", "1.5G" and "64KiB" to "1.5GiB": by 1024; "100kB", "100MB", "2GB": by 1000. */
bool units_bytes(struct slice s, uint64_t *n);

/* Digits alone. */
bool units_count(struct slice s, uint64_t *n);

/* "100/s", "2.5 / ms": events in a second. */
bool units_rate(struct slice s, double *per_second);

#endif
