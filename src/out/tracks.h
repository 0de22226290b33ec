#ifndef OUT_TRACKS_H
#define OUT_TRACKS_H

#include "base/open_spans.h"
#include "base/table.h"
#include "format/writer.h"
#include "model/event.h"

/* ---- numbers ---- */

/*
 * Numbers of processes and threads, for formats that identify a track by its number alone.  A number is
 * unique in its scope: the output, or one process of it.  A track keeps its own id if the format can express
 * it and no other track of the scope has it.  Other tracks get generated numbers that no operating system
 * uses, so they never take the number of a later thread.
 */
#define TRACKS_LAST_PID 4194304U /* the largest pid of Linux */

/* Zero-initialised; freed by track_numbers_free(). */
struct track_numbers {
	struct table64 used; /* scope and number -> tag */
	uint64_t generated;  /* count of generated numbers, of all scopes: a search never starts over */
};

/* Returns the tag of a number in use, or TABLE_NONE. */
uint32_t track_numbers_get(const struct track_numbers *n, uint64_t scope, uint64_t number);

/* Marks a number as used. */
bool track_numbers_put(struct track_numbers *n, uint64_t scope, uint64_t number, uint32_t tag);

/* Returns a number above TRACKS_LAST_PID that is free in the scope, and does not mark it as used. */
uint64_t track_numbers_generate(struct track_numbers *n, uint64_t scope);

/* Assigns `own` if it is not NULL and free, else a generated number; *number is set and marked as used. */
bool track_numbers_assign(struct track_numbers *n, uint64_t scope, const uint64_t *own, uint64_t *number);

static inline void track_numbers_free(struct track_numbers *n)
{
	table64_free(&n->used);
}

/* ---- properties of tracks ---- */

/* Whether the track has the id of a thread, not the id of the thread that it is a lane or child of. */
static inline bool track_has_own_tid(const struct track *t)
{
	return t->kind == TRACK_THREAD && t->has_id && t->lane == 0 && !t->is_child;
}

static inline struct slice track_kind_name(const struct track *t)
{
	return t->kind == TRACK_PROCESS ? SLICE_LIT("process")
	       : t->is_child            ? SLICE_LIT("child")
	       : t->lane > 0            ? SLICE_LIT("lane")
	                                : SLICE_LIT("thread");
}

/* The track that a lane is part of.  In Perfetto traces, lanes may have lanes and children. */
static inline const struct track *track_without_lane(const struct track *t)
{
	while (t->lane > 0)
		t = t->parent;
	return t;
}

/* The thread of a track; NULL: it belongs to a process, or is below one. */
static inline const struct track *track_thread_or_null(const struct track *t)
{
	while (t != NULL && (t->lane > 0 || t->is_child || t->parent == NULL))
		t = t->parent;
	return t;
}

/* Extends a writer's array by the tracks that are new in the batch; it is indexed by track.index, new
 * elements are zero.  Not for writers with `nested`: lanes that the engine makes have indexes beyond the
 * others. */
bool tracks_reach(void *list, uint32_t *n, size_t size, const struct batch *b);

/* ---- parents of spans ---- */

/*
 * The parent of a span: the innermost span of its track that begins not later and ends not earlier.  Spans
 * are added by start, the longer ones first.
 *
 * Each track has a stack of the spans that may enclose a later one: a span that begins later and ends later
 * replaces an earlier one.  So ends decrease from bottom to top, each span is pushed and popped once, and
 * spans that overlap partly need no lanes.
 */
#define PARENTS_TRACK 4096     /* open spans of one track */
#define PARENTS_ALL (1U << 20) /* capacity of all tracks; 16 bytes a span */

/* Zero-initialised. */
struct parents {
	struct nested_spans *tracks; /* by index; `what` is the id */
	uint32_t ntracks;
	uint32_t capacity; /* sum of cap */
};

struct parents_found {
	int64_t id;     /* 0: none */
	uint32_t depth; /* number of spans around it */
	bool forgotten; /* the stack is full: later spans in this one may get an outer span as parent */
};

/* Adds the next span, and finds its parent.  Ids are not 0. */
bool parents_next(struct parents *p, uint32_t track, uint64_t start, uint64_t end, int64_t id,
                  struct parents_found *out);

/* Likewise for the span of an event on a track without lanes. */
bool parents_of_event(struct parents *p, const struct track *t, const struct event *e, bool signed_time,
                      int64_t id, struct parents_found *out);
void parents_free(struct parents *p);

#endif
