#ifndef EVENT_EVENT_ORDER_H
#define EVENT_EVENT_ORDER_H

/*
 * The orders in which an output can need its events.  Both sorted orders are
 * total: events that are equal in everything below stay in input order.
 *
 * Ties: of two events with the same start the longer span is first, so that a
 * span comes before what it contains.  Only PHASE_SPAN has a duration here;
 * all others count as 0 long.
 */
enum event_order {
	ORDER_FILE,       /* as they come */
	ORDER_TIME,       /* by start */
	ORDER_TRACK_TIME, /* by index of the track, then by start; events without a track come first */
};

#endif
