#ifndef PIPELINE_ARROWS_H
#define PIPELINE_ARROWS_H

#include "base/table.h"
#include "model/batch_pool.h"
#include "model/trace_engine.h"

/*
 * Arrows between events: from one that says "the task K is woken" to the one
 * that says "the task K runs now".  An arrow leaves where an `out` is and
 * arrives at the first `in` of the same name and key that is not before it in
 * time.  Several may arrive at one place; an in without outs and, at the end
 * of the trace, an out without an in are nothing special.
 *
 * Traces hold their threads in blocks, so order in the file is not order in
 * time: ends wait in a window.  When it is full, the older half of what it
 * holds is resolved and leaves it; at the end of the trace all of it.  The
 * same trace gives the same arrows on every run.
 *
 *     for each batch:
 *             for each event with a flow: arrows_out, arrows_in
 *             while (arrows_give(a, some_batch_with_room, false)) ...
 *     at the end:
 *             while (arrows_give(a, some_batch_with_room, true)) ...
 */
#define ARROWS_WINDOW 262144 /* ends that wait; 56 bytes each, so 14 MiB */

struct arrow_end;

struct arrows {
	struct arrow_end *ends; /* as they came */
	uint32_t *order, *to;   /* as long as ends; see arrows.c */
	uint32_t *buckets;
	uint32_t n, cap;
	uint32_t at, resolved;  /* [at, resolved) are being handed out; later ones came meanwhile */
	uint32_t old;           /* those before it leave the window then */
	struct tabletext names; /* name -> its number */
	struct slice *list;     /* of the names, by number */
	uint32_t nnames;
	uint64_t id; /* of the last out */
	uint64_t
	    dropped; /* outs that had to leave the window before their in was met: their arrows are missing */
	bool failed; /* memory ran out some time: ends are missing */
};

/* Allocates nothing yet. */
void arrows_init(struct arrows *a);
void arrows_free(struct arrows *a);

/* An arrow leaves at the event, or arrives there.  The bytes of the name, the track and the class must
 * outlive `a`.  The caller takes what is resolved (arrows_give) at least once for each ARROWS_WINDOW ends;
 * what comes beyond twice the window counts as dropped.  The id of an arrow is a->id behind arrows_out():
 * 1, 2, 3 ...  Without memory a->failed is set. */
void arrows_out(struct arrows *a, struct slice name, uint64_t key, const struct event *e);
void arrows_in(struct arrows *a, struct slice name, uint64_t key, const struct event *e);

/* Adds what is resolved to the batch, as far as b->cap goes: pairs of events FLOW_OUT and FLOW_IN with dur =
 * the arrow's id, the arrow's name, no fields, and class, track, ts, offset of its two ends, EVENT_ARROW as
 * the out has it; in the order in which the outs came.  `end`: nothing more will come.  A batch needs room
 * for two events at least.  true: there is more, call again with another batch. */
bool arrows_give(struct arrows *a, struct batch *b, bool end);

#endif
