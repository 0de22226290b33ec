#ifndef CMD_TIME_OPTION_H
#define CMD_TIME_OPTION_H

#include "run/choose/select.h"

/*
 * Times and durations on the command line:
 *   12.5ms         on the trace's own clock; the unit (ns, us, ms, s, min, h) is ns unless given
 *   +1.5s, -2s     behind the first, before the last time of the trace
 *   50%            of the way from the first to the last
 *   2026-11-22T08:30:00.5Z, 2026-11-22   wall time; without Z or an offset (+01:00) it is UTC
 * Digits beyond a nanosecond are refused.
 */

/* false: *t is not set. */
bool time_option(const char *s, struct select_time *t);

/* A duration in ns, "12.5ms"; false: it is none, or does not fit. */
bool duration_option(const char *s, uint64_t *ns);

/* The same, and the unit is not left out: 100 is hardly ever meant in nanoseconds. */
bool length_option(const char *s, uint64_t *ns);

/* What was due instead of a text that is none of them, for "--since takes ..., not 200%". */
const char *time_option_why(const char *s);
const char *duration_option_why(const char *s);

#endif
