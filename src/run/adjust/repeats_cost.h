#ifndef PIPELINE_REPEATS_COST_H
#define PIPELINE_REPEATS_COST_H

#include "model/batch.h"

/*
 * What an event takes in an output, estimated in bytes: about what a line of JSON takes.
 */
#define COST_EVENT 128U /* times, numbers, punctuation */
#define COST_VALUE 6U   /* a small number, or the punctuation of a text or a list */
#define COST_WIDE 20U   /* a large number */
#define COST_ESCAPED 6U /* a byte that needs an escape: \u0001 */

#define COST_DEPTH 128U /* lists in lists: more than readers make and writers show */

/* How much of a text or list counts. */
struct cost_limits {
	uint32_t text;    /* bytes as they are written */
	uint32_t entries; /* of a list */
};

struct cost {
	uint64_t texts;   /* texts and lists */
	uint64_t all;     /* these and everything else */
	uint64_t entries; /* of lists, that were looked at */
};

/* As it is written, at most. */
static inline uint64_t
cost_text(uint32_t n, uint32_t flags)
{
	return (flags & (SLICE_JSON | SLICE_RAW_JSON)) != 0 ? n : (uint64_t)COST_ESCAPED * n;
}

static inline uint64_t
cost_slice(const struct slice *s)
{
	return cost_text(s->n, s->flags);
}

/* How many values a list or map has in itself. */
static inline uint64_t
cost_entries(const struct value *v)
{
	return v->type == VALUE_MAP ? 2 * (uint64_t)v->count : v->count;
}

/* Adds the event and its fields.  Looking at a list ends when it takes more than `most`: of the texts then
 * more than that is added. */
void cost_add_event(const struct batch *b, const struct event *e, struct cost_limits limits, uint64_t most,
                    struct cost *sum);

/* How many bytes of a text take at most `most` bytes when they are written; whole characters, if it is UTF-8.
 */
uint32_t cost_prefix(struct slice s, uint32_t most);

#endif
