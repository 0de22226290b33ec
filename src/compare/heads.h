#ifndef COMPARE_HEADS_H
#define COMPARE_HEADS_H

#include "compare/differ.h"

/* The next events of both sides of a differ: what can be said of them without hashing and copying them. */

/* Times in an order that all of them have. */
static inline uint64_t
heads_time(const struct differ_side *s, uint32_t at)
{
	return s->batch->events[at].ts ^ (uint64_t)s->source.signed_time << 63;
}

/* Whether the event has a class of which only B has events. */
bool heads_is_more(const struct differ *d, int which, const struct event *e);

/* In which parts that count (enum event_part) both differ, times aside.  Memory is out if the scratch arena
 * of A's canon failed. */
unsigned heads_differences(struct differ *d);

/* Whether nothing waits, and both are the only events of their time: no other partner is possible. */
bool heads_are_alone(const struct differ *d);

/* Whether nothing waits, and the other side has no event of the time of this one, which is the earlier. */
bool heads_is_alone(const struct differ *d, int which);

/* Counts and reports two events that differ in these parts. */
enum differ_status heads_report_both(struct differ *d, unsigned parts);

/* Counts and reports an event without a partner. */
enum differ_status heads_report(struct differ *d, int which);

#endif
