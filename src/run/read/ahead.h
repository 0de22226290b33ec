#ifndef RUN_READ_AHEAD_H
#define RUN_READ_AHEAD_H

#include "base/gate.h"
#include "run/stage.h"

/*
 * The stage behind reading that reads ahead on a thread of its own.  Batches, findings and the order of
 * tracks and classes are those of one thread: whatever changes the trace passes the gate, where the reader
 * waits until all batches before are used, and the other stages until the reader waits.
 */
struct ahead;

/* NULL: out of memory.  `reading` is borrowed. */
struct ahead *ahead_new(struct stage *reading);

struct stage *ahead_stage(struct ahead *a);

/* The gate of the trace and of its findings. */
struct gate *ahead_gate(struct ahead *a);

/* Ends the thread, and releases the batches that were read and not asked for.  The stage has no more then.
 * Accepts NULL. */
void ahead_stop(struct ahead *a);

/* Stops and frees it. */
void ahead_free(struct ahead *a);

#endif
