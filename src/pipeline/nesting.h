#ifndef PIPELINE_NESTING_H
#define PIPELINE_NESTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How the spans of a track nest, found in one pass with bounded memory.
 *
 * Made for spans that arrive in order of their END, of equal ends the inner
 * one first: a child is written before its parent.  Each track has a few
 * lanes.  A lane keeps the spans that still wait for a parent: disjoint
 * [start, end), sorted by time.  A new span goes to the first lane where it
 * overlaps no waiting span in part only:
 *   - waiting spans inside it are its children; it takes their place,
 *   - inside a waiting span it is a child that came late: nothing is kept,
 *   - else it waits too.
 * Ends that touch do not overlap.  Of two equal spans the later is the parent.
 * A span of no length overlaps nothing and covers nothing: lane 0, not kept.
 * An end beyond 2^64 - 1 counts as 2^64 - 1.
 *
 * In other orders the answers hold as far as memory reaches: a late child is
 * not subtracted from its parent, and a span that would have to be put more
 * than NEST_DEPTH places below the newest is not kept.
 *
 * The bounds below are on memory, used or not.  What is dropped is the
 * oldest; it then counts as top level.  When the room for all tracks is used up, the
 * limit for each of them is halved.  The same spans give the same answers on every run.
 */
#define NEST_TRACK_ROOM 65536     /* waiting spans of one track, all lanes together */
#define NEST_TOTAL_ROOM (1 << 20) /* of all tracks */
#define NEST_LANES 64             /* of one track */
#define NEST_EXTRA_LANES 131072   /* lanes above 0, of all tracks */
#define NEST_DEPTH 1024           /* how far below the newest a span is put in */

struct nest_span {
	uint64_t start, end; /* start < end */
};

struct nest_lane {
	struct nest_span *spans;
	uint32_t n, cap;
};

struct nest_track {
	struct nest_lane first; /* lane 0 */
	struct nest_lane *more; /* lanes 1 .. nmore */
	uint32_t room;          /* sum of cap over the lanes */
	uint16_t nmore;
	uint16_t credit; /* see nesting.c: how many entries of other lanes may be looked at */
};

struct nesting {
	struct nest_track *tracks; /* by index, made on demand */
	uint32_t ntracks;
	uint32_t limit;  /* room that one track may have now */
	uint32_t room;   /* sum over all tracks */
	uint32_t grown;  /* room given out since the last sweep */
	uint32_t nextra; /* lanes above 0 */
	struct nest_span *scratch;
	size_t nscratch, scratch_cap;
};

struct nest_result {
	uint64_t covered; /* ns of the span that its children (spans within it, met before) cover; <= dur */
	uint16_t lane;    /* 0 .. NEST_LANES - 1 */
	bool late;        /* it lies in a span that was met before it */
	bool dropped;     /* it overlaps in every lane there may be; `lane` is the last one */
};

void nesting_init(struct nesting *n);
void nesting_free(struct nesting *n);

/* The general case of nesting_span, with the end computed. */
bool nesting_place(struct nesting *n, uint32_t track, struct nest_span x, struct nest_result *out);

/* Takes the next span of a track.  false: no memory; *out is then not set. */
static inline bool
nesting_span(struct nesting *n, uint32_t track, uint64_t start, uint64_t dur, struct nest_result *out)
{
	const uint64_t end = dur > UINT64_MAX - start ? UINT64_MAX : start + dur;
	struct nest_lane *const l =
	    track < n->ntracks && n->tracks[track].nmore == 0 ? &n->tracks[track].first : NULL;

	if (l == NULL || l->n == 0 || start == end || end < l->spans[l->n - 1].end)
		return nesting_place(n, track, (struct nest_span){ start, end }, out);

	/* One lane, nothing waits that ends later: children are at the top of the stack, mostly few. */
	struct nest_span *top = l->spans + l->n, *const stop = l->n > 16 ? top - 16 : l->spans;
	uint64_t covered = 0;
	for (; top > stop && top[-1].start >= start; top--)
		covered += top[-1].end - top[-1].start;
	const uint32_t i = (uint32_t)(top - l->spans);
	if (i == l->cap || (i > 0 && top[-1].end > start))
		return nesting_place(n, track, (struct nest_span){ start, end }, out);
	*top = (struct nest_span){ start, end };
	l->n = i + 1;
	*out = (struct nest_result){ .covered = covered };
	return true;
}

#endif
