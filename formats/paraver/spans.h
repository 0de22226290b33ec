#ifndef PARAVER_SPANS_H
#define PARAVER_SPANS_H

#include "paraver/names.h"

/*
 * Spans that are open, and their records in order of time.  A stack holds the
 * spans of one category (or time line) and one thread, or one of its lanes,
 * which lie within each other.  Its type of event has the innermost span as
 * value, 0 if there is none; a span below others has a type of its level
 * besides, so that nothing of it is hidden by what is inside it.
 *
 * Async spans overlap at will.  Each has one of 1,024 types of its category
 * as long as it is open.
 */
#define PARAVER_MOST_OPEN (1U << 20)
#define PARAVER_MOST_STACKS (1U << 18)
#define PARAVER_MOST_WAITING 65536U
#define PARAVER_LEVELS 1024U
#define PARAVER_ASYNC_WORDS 16U
#define PARAVER_ASYNC_LANES (64U * PARAVER_ASYNC_WORDS)

struct paraver_stack {
	uint64_t wait_end; /* of those that wait */
	uint64_t *busy;    /* async: lanes that are in use, a bit each; PARAVER_ASYNC_WORDS */
	uint32_t row, group, lane;
	uint32_t type;  /* of the innermost; async: 0 */
	uint32_t top;   /* open[]; TABLE_NONE: none */
	uint32_t waits; /* the last of waiting[]; TABLE_NONE: none */
	uint32_t depth;
};

struct paraver_open {
	uint64_t end;
	uint32_t value, type; /* of its level; 0: it has none */
	uint32_t below;       /* open[]; of a free place: the next one */
	uint32_t stack;
};

/* Spans that start and end together wait for each other: the last to come lies around the others, as in the
 * statistics. */
struct paraver_waiting {
	uint64_t offset;
	uint32_t value, next;
};

/* An end to come; the inner of two with one time has the larger number. */
struct paraver_end {
	uint64_t time, number;
	uint32_t open;
};

/* Zero-initialise to start. */
struct paraver_spans {
	struct paraver_stack *stacks;
	struct paraver_open *open;
	struct paraver_end *ends; /* a heap, the first end at [0] */
	struct paraver_waiting *waiting;
	uint32_t *waiters; /* stacks with waiting spans, in order of arrival */
	uint32_t nstacks, stacks_cap, nopen, open_cap, nends, ends_cap;
	uint32_t nwaiting, waiting_cap, nwaiters, waiters_cap;
	uint32_t free; /* open[] + 1; 0: none */
	uint64_t now, number;
	struct table64 by_place;
};

struct paraver_state;

/* What a span is, besides its place. */
struct paraver_span {
	uint64_t end, offset;
	uint32_t value;
};

/* The stack of a place; TABLE_NONE: there is no room. */
uint32_t paraver_stack_of(struct paraver_state *st, const struct paraver_stack *like, uint32_t track,
                          bool async);

/* Time goes on: what begins and ends before is written. */
void paraver_advance(struct paraver_state *st, uint64_t time, struct chunk *chunk);

/* A span begins now. */
void paraver_span(struct paraver_state *st, uint32_t stack, const struct paraver_span *s,
                  struct chunk *chunk);
void paraver_async(struct paraver_state *st, uint32_t stack, const struct paraver_span *s,
                   struct chunk *chunk);

/* All that is open ends, at its time. */
void paraver_spans_end(struct paraver_state *st, struct chunk *chunk);

void paraver_spans_free(struct paraver_spans *s);

#endif
