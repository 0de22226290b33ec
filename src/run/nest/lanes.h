#ifndef RUN_NEST_LANES_H
#define RUN_NEST_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/open_spans.h"
#include "base/table.h"
#include "format/ledger.h"
#include "model/batch.h"
#include "model/trace.h"

/* ---- nesting ---- */

/*
 * Nesting of the spans of a track, in one pass with bounded memory, for any order of arrival.
 *
 * A span goes to the first lane of its track where it overlaps no span partially.  Touching ends do not
 * overlap; of two equal spans the later contains the earlier.  Spans of length 0 are on lane 0, and not
 * stored.  Ends saturate at 2^64 - 1.
 *
 * The limits below are on allocated memory.  Spans inside others, except the NEST_WINDOW last to end, are
 * dropped first, then the oldest ones.  A span that may overlap dropped ones is marked as inexact.  When the
 * total capacity is used up, the limit of each track is halved.  The same spans give the same results on
 * every run.
 *
 * Cost: O(1) for spans in order of their end (of equal ends the inner one first); others need a search, and
 * spans that end later are moved.
 */
#define NEST_TRACK_ROOM 65536     /* spans of one track, on all lanes */
#define NEST_TOTAL_ROOM (3 << 18) /* of all tracks */
#define NEST_LANES 64             /* of one track */
#define NEST_EXTRA_LANES 131072   /* lanes above 0, of all tracks */
#define NEST_WINDOW 1024          /* max distance from the newest at which a span is inserted */

struct nest_span {
	uint64_t start, end; /* start < end */
	uint32_t size;       /* of the subtree: the span, and stored spans inside it */
};

/* Ordered by end, of equal ends the inner one first: spans inside another one directly precede it. */
struct nest_lane {
	struct nest_span *spans;
	uint32_t n, cap;
	uint32_t flat;       /* spans below this index contained no others at the last check */
	uint64_t lost_inner; /* latest end of dropped spans inside others */
	uint64_t lost;       /* latest end of other dropped spans */
};

struct nest_track {
	struct nest_lane first; /* lane 0 */
	struct nest_lane *more; /* lanes 1 .. nmore */
	uint32_t capacity;      /* sum of cap over the lanes */
	uint64_t missed;        /* latest end of spans that were not stored */
	uint64_t apart;         /* latest end of unstored spans, and of spans in lanes 1 .. nmore */
	uint16_t nmore;
};

struct nesting {
	struct nest_track *tracks; /* by index, made on demand */
	uint32_t ntracks;
	uint32_t limit;    /* current max capacity of a track */
	uint32_t capacity; /* total capacity of all tracks */
	uint32_t grown;    /* capacity allocated since the last sweep */
	uint32_t nextra;   /* lanes above 0 */
	uint32_t looks;    /* credit for examining spans ... */
	uint32_t moves;    /* ... and for moving spans (any_order.c) */
	bool failed;       /* OOM: later results are invalid */
};

struct nest_result {
	uint16_t lane; /* 0 .. NEST_LANES - 1 */
	bool inexact;  /* dropped spans may overlap it, or it was dropped: its lane may be wrong */
	bool dropped;  /* no free lane; `lane` is the last one */
};

void nesting_init(struct nesting *n);
void nesting_free(struct nesting *n);

/* The general case of nesting_span, with the end computed. */
void nesting_place(struct nesting *n, uint32_t track, const struct nest_span *x, struct nest_result *out);

static inline void nesting_span(struct nesting *n, uint32_t track, uint64_t start, uint64_t dur,
                                struct nest_result *out)
{
	const uint64_t end = saturating_add(start, dur);
	const struct nest_span x = { start, end, 1 };

	if (track >= n->ntracks || start < n->tracks[track].apart) {
		nesting_place(n, track, &x, out);
		return;
	}
	struct nest_lane *const l = &n->tracks[track].first;
	if (l->n == l->cap || end < (l->spans + l->n)[-1].end || start == end) {
		nesting_place(n, track, &x, out);
		return;
	}
	struct nest_span *const last = l->spans + l->n, *top = last;

	/* No other lane is active and no span ends later: spans inside are the last trees of lane 0. */
	uint32_t size = 1;
	while (top[-1].start >= start) {
		size += top[-1].size;
		top -= top[-1].size;
		if (top == l->spans) {
			nesting_place(n, track, &x, out);
			return;
		}
	}
	if (top[-1].end > start) {
		nesting_place(n, track, &x, out);
		return;
	}
	*last = (struct nest_span){ start, end, size };
	l->n++;
	*out = (struct nest_result){ .lane = 0 };
}

/* ---- spans in order of time ---- */

/*
 * Lanes of spans in order of time (ORDER_TIME).  The result is that of struct nesting, but only open spans
 * are stored: a span fits a lane if it ends no later than the innermost open span there.  Nothing is dropped
 * unless NEST_TOTAL_ROOM spans are open at a time: further ones are inexact, and not stored.
 */
struct nest_open_track {
	struct nested_spans first; /* lane 0; `what` is the start */
	struct nested_spans *more; /* lanes 1 .. nmore */
	uint64_t missed;           /* latest end of spans that were not stored */
	uint16_t nmore;
};

/* Zero-initialise to start. */
struct nest_sorted {
	struct nest_open_track *tracks; /* by index, allocated on demand */
	uint32_t ntracks;
	uint32_t capacity; /* sum of cap over all lanes */
	uint32_t nextra;   /* lanes above 0 */
	bool failed;       /* OOM: later results are invalid */
};

/* Adds a span to a track.  out: as nesting_span(). */
void nest_sorted_span(struct nest_sorted *n, uint32_t track, uint64_t start, uint64_t dur,
                      struct nest_result *out);
void nest_sorted_free(struct nest_sorted *n);

/* ---- lanes ---- */

/*
 * For writers that need nested spans: a span that partially overlaps others of its track is moved to an extra
 * lane, a track of its own.  Spans that may overlap (EVENT_ASYNC) are unchanged.
 *
 * Lanes are not part of the trace, so this may run on another thread than reading: only tracks are shared,
 * and they do not change.
 */
struct lanes {
	struct nesting nesting;
	struct nest_sorted open; /* used instead if events are in order of time */
	bool sorted;             /* events are in order of time; set after lanes_init(), like bias */
	uint64_t bias; /* 2^63 if times are signed: ts ^ bias orders them as unsigned numbers; else 0 */
	bool off;      /* overlapping spans are only counted */
	struct arena arena;
	struct track **tracks; /* of lanes, in order of creation */
	uint32_t ntracks, tracks_cap;
	uint32_t listed;       /* already listed in batches */
	struct table64 places; /* track index << 16 | lane -> tracks[] */
};

/* The first track.index of lanes. */
#define LANES_FIRST_INDEX (UINT32_C(1) << 31)

void lanes_init(struct lanes *l, bool off);
void lanes_free(struct lanes *l);

/* Moves spans of a batch to lanes; batches are in the order of the trace.  Spans without a free lane go to
 * the last one and are counted in the ledger. */
bool lanes_batch(struct lanes *l, struct batch *b, struct ledger *ledger);

/* Adds new lanes to the new tracks of the batch. */
bool lanes_list(struct lanes *l, struct batch *b);

/* At the end: adds all lanes to the tracks of a trace; they remain owned by `l`. */
bool lanes_join(const struct lanes *l, struct trace *trace);

#endif
