#ifndef STATE_CHECK_H
#define STATE_CHECK_H

#include "ovni/ovni.h"

/*
 * The group of rules "state": faults that ovniemu, the emulator of ovni, rejects.  Threads start, run and
 * end, hold CPUs, and open and close states on their stacks; tasks are created from types and run as bodies.
 * The vocabulary gives the action of an event by keywords for the reader (schemas/ovni.yaml lists them).
 *
 * After a broken rule the state is set as the event requires, so that one fault is reported once.  All tables
 * are bounded.
 */

struct state_checker; /* of one trace */

/* Borrows the system. */
struct state_checker *state_checker_new(struct ovni_system *system);
void state_checker_free(struct state_checker *c); /* NULL is fine */

/* Checks one event.  The events of all streams of the trace come in order of time, those of a stream with its
 * reader.  Sets system->no_memory on OOM. */
void state_check_event(struct state_checker *c, struct ovni_stream *stream, struct reader *r,
                       const struct batch *b, const struct event *e);

/* Reports a stream without events: its thread never ends. */
void state_check_no_events(struct reader *r);

/* Checks that need the end of the trace; r is the reader of the trace. */
void state_check_end(const struct state_checker *c, struct reader *r);

#endif
