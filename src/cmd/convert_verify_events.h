#ifndef CMD_CONVERT_VERIFY_EVENTS_H
#define CMD_CONVERT_VERIFY_EVENTS_H

#include "compare/allowance.h"

struct convert;
struct pipeline;

/*
 * Compares the events that were written with those that are read back, one by one, and reports the first
 * differences that the losses do not allow.  Those that were written are the ones that were kept
 * (VERIFY_EVENTS), or come from the input, which is read once more.
 * back: the output, of which nothing was read so far.  *refused: how many events differ.  false: it could not
 * be done, after a message or as a finding of `back` says.
 */
bool convert_verify_events(struct convert *c, struct pipeline *back, struct allowance *allowance,
                           uint64_t *refused);

/* The same where the input can be read twice and the output has its events in the order in which they were
 * written, which saves putting them in order.  Whether they differ in what the losses allow; false, too, if
 * that cannot be told.  Nothing is said, and the allowance stays. */
bool convert_verify_in_step(struct convert *c, struct pipeline *back, const struct allowance *allowance);

#endif
