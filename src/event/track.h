#ifndef EVENT_TRACK_H
#define EVENT_TRACK_H

#include "base/slice.h"

enum track_kind { TRACK_PROCESS, TRACK_THREAD };

/* Who did it: a process, or a thread (task, stream, ...) of one. */
struct track {
	uint32_t index;      /* in order of arrival, from 0; lanes from 2^31 */
	uint8_t kind;        /* enum track_kind */
	bool has_id, global; /* has no id: writers may choose one; global: the same process in all traces */
	bool hidden;         /* none of its events was selected; known when all was read */
	bool is_child; /* it shows something of its parent, a thread or process: its states, its marks */
	uint16_t lane; /* 0: the track itself; n: its n-th extra lane for overlapping spans, "name (n + 1)" */
	uint16_t depth; /* tracks above it, at most TRACE_MAX_DEPTH and its lane */
	uint64_t id;    /* pid or tid as the trace says, all 64 bits */
	struct slice name;
	const void *declared;        /* what the writer's declare made of it; NULL before */
	const struct track *parent;  /* a process: NULL; a thread: its process; a lane or child: its track */
	const struct track *process; /* the last one above it; NULL: it is one */
};

/* The process that a track is of; a process itself. */
static inline const struct track *
track_process(const struct track *t)
{
	return t->process != NULL ? t->process : t;
}

/* Puts a track below another one. */
static inline void
track_put_below(struct track *t, const struct track *parent)
{
	t->parent = parent;
	t->process = track_process(parent);
	t->depth = (uint16_t)(parent->depth + 1);
}

#endif
