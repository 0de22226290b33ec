#ifndef MODEL_TRACE_ENGINE_H
#define MODEL_TRACE_ENGINE_H

#include "model/trace.h"

/* What only the engine does with a trace. */

void trace_init(struct trace *t);
void trace_free(struct trace *t);

/* Whether memory ran out some time for what the trace holds. */
static inline bool trace_failed(const struct trace *t)
{
	return t->arena.failed || t->definitions.failed;
}

/* Plans the classes of which there was no event after all.  false: no memory. */
bool trace_plan_rest(struct trace *t);

/* A class that is like this one word for word, category and all, although others of the name may be, too. Its
 * texts are copied, but not those of its fields.  NULL: no memory. */
struct class *trace_copy_class(struct trace *t, const struct class *like);

/* Records of all classes of a name; its first class is given. */
uint64_t trace_class_records(const struct class *first);

/* The track named "NAME: WHAT" below a thread's (or process's) own, made when it is asked for first.  NULL:
 * no memory. */
const struct track *trace_child_track(struct trace *t, const struct track *track, struct slice what);

/* Puts a track below another one. */
static inline void track_put_below(struct track *t, const struct track *parent)
{
	t->parent = parent;
	t->process = track_process(parent);
	t->depth = (uint16_t)(parent->depth + 1);
}

#endif
