#ifndef STATE_CHECK_H
#define STATE_CHECK_H

#include "ovni/ovni.h"

struct ovni_stream;
struct ovni_system;

/*
 * The group of rules "state": what ovniemu, the emulator of ovni, rejects.  Threads start, run and end, hold
 * CPUs, open and close states on their stacks; tasks are created from types and run as bodies.  The action of
 * an event is given by the words that the vocabulary has for the reader (schemas/ovni.yaml lists them).
 *
 * After a broken rule the state is set as the event requires, so that one fault is reported once.  All tables
 * have bounds.
 */

struct state_checker;

/* Of one trace.  The system is borrowed.  NULL: no memory. */
struct state_checker *state_checker_new(struct ovni_system *system);
void state_checker_free(struct state_checker *c); /* NULL is fine */

/* Checks one event.  The events of all streams of the trace come in order of time, those of a stream with its
 * reader.  No memory: sets system->no_memory. */
void state_check_event(struct state_checker *c, struct ovni_stream *stream, struct reader *r,
                       const struct batch *b, const struct event *e);

/* A stream without events: its thread never ends. */
void state_check_no_events(struct reader *r);

/* Checks that need the end of the trace; r is that of the trace. */
void state_check_end(const struct state_checker *c, struct reader *r);

#endif
