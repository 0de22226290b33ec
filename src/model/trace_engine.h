#ifndef MODEL_TRACE_ENGINE_H
#define MODEL_TRACE_ENGINE_H

#include "model/trace.h"

/* Operations on a trace that only the engine uses. */

void trace_init(struct trace *t);
void trace_free(struct trace *t);

/* Whether memory ran out for a part of the trace. */
static inline bool trace_failed(const struct trace *t)
{
	return t->arena.failed || t->definitions.failed;
}

/* The same while it is read.  Interpretation changes the definitions of a trace with a gate meanwhile, and
 * checks them itself. */
static inline bool trace_reading_failed(const struct trace *t)
{
	return t->arena.gate != NULL ? t->arena.failed : trace_failed(t);
}

/* At the end of the trace: plans the classes without events. */
bool trace_plan_rest(struct trace *t);

/* A new class equal to `like` in all members, even if others of the name are, too.  Its texts are copied, but
 * not those of its fields. */
struct class *trace_copy_class(struct trace *t, const struct class *like);

/* Records of all classes of a name, by its first class. */
uint64_t trace_class_records(const struct class *first);

/* Finds or creates the track named "NAME: WHAT" below that of a thread or process. */
const struct track *trace_child_track(struct trace *t, const struct track *track, struct slice what);

/* Makes a track a child of another one. */
static inline void track_put_below(struct track *t, const struct track *parent)
{
	t->parent = parent;
	t->process = track_process(parent);
	t->depth = (uint16_t)(parent->depth + 1);
}

#endif
