#ifndef MODEL_TRACK_H
#define MODEL_TRACK_H

#include "base/slice.h"

enum track_kind { TRACK_PROCESS, TRACK_THREAD };

/* A time line: a process, or a thread (task, stream, ...) of one. */
struct track {
	uint32_t index;       /* in order of arrival, from 0; lanes from 2^31 */
	uint8_t kind;         /* enum track_kind */
	bool has_id, global;  /* without an id writers choose one; global: the same process in all traces */
	bool hidden;          /* none of its events was selected; valid at the end of the trace */
	bool is_child;        /* a part of its parent, a thread or process: its states, its marks */
	uint16_t lane, depth; /* the n-th extra lane, "name (n + 1)", or 0; tracks above it */
	uint64_t id;          /* pid or tid as the trace says, all 64 bits */
	struct slice name, host;              /* host: of a process, where the trace says it; else p NULL */
	const void *declared;                 /* set by the writer's declare; NULL before */
	const struct track *parent, *process; /* next ancestor; topmost ancestor; NULL: a process */
};

/* The process that a track is of; a process itself. */
static inline const struct track *track_process(const struct track *t)
{
	return t->process != NULL ? t->process : t;
}

#endif
