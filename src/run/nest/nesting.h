#ifndef RUN_NEST_NESTING_H
#define RUN_NEST_NESTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- nesting ---- */

/*
 * How the spans of a track nest, found in one pass with bounded memory, in
 * whatever order they arrive.
 *
 * Each track has a few lanes.  A span goes to the first lane where it overlaps
 * no span in part only.  Ends that touch do not overlap.  What covers a span
 * is the union of all spans of its track, on any lane, that lie within it; of
 * two equal spans the later lies around the earlier one.  A span that arrives
 * after one that it lies within takes from the outer one's self time what
 * nothing took before (struct nest_late).  A span of no length overlaps
 * nothing and covers nothing: lane 0, not kept.  An end beyond 2^64 - 1 counts
 * as 2^64 - 1.
 *
 * The bounds below are on memory, used or not.  What lies within a known span
 * and is not among the NEST_WINDOW last to end is forgotten first, then the
 * oldest of the rest.  A span that may have to do with what was forgotten is
 * marked as inexact.  When the room for all tracks is used up, the limit for
 * each of them is halved.  The same spans give the same answers on every run.
 *
 * Cheap are spans in order of their end (equal ends: the inner one first); the
 * others cost a search, and each span that ends later is moved.
 */
#define NEST_TRACK_ROOM 65536     /* spans of one track, all lanes together */
#define NEST_TOTAL_ROOM (3 << 18) /* of all tracks */
#define NEST_LANES 64             /* of one track */
#define NEST_EXTRA_LANES 131072   /* lanes above 0, of all tracks */
#define NEST_WINDOW 1024          /* how far below the newest a span is put in */

struct nest_span {
	uint64_t start, end; /* start < end */
	uint32_t who;        /* the caller's */
	uint32_t size;       /* of its tree: it, and what is kept of the spans within it */
};

/* In the order of ends, of equal ends the inner one first: what lies within a span stands right before it. */
struct nest_lane {
	struct nest_span *spans;
	uint32_t n, cap;
	uint32_t flat;       /* below this, none had others within it when it was looked at last */
	uint64_t lost_inner; /* the latest end of those within others that were forgotten */
	uint64_t lost;       /* and of those that were not */
};

struct nest_track {
	struct nest_lane first; /* lane 0 */
	struct nest_lane *more; /* lanes 1 .. nmore */
	uint32_t room;          /* sum of cap over the lanes */
	uint64_t missed;        /* the latest end of spans that were not kept */
	uint64_t apart;         /* the latest end of those, and of all in lanes 1 .. nmore */
	uint16_t nmore;
};

/* A span that came before the present one and lies around it. */
struct nest_late {
	uint64_t ns; /* its self time becomes less by this */
	uint32_t who;
};

/* A span that shares time with the present one. */
struct nest_piece {
	uint64_t start, end;
};

struct nesting {
	struct nest_track *tracks; /* by index, made on demand */
	uint32_t ntracks;
	uint32_t limit;  /* room that one track may have now */
	uint32_t room;   /* sum over all tracks */
	uint32_t grown;  /* room given out since the last sweep */
	uint32_t nextra; /* lanes above 0 */
	uint32_t looks;  /* how many spans may be looked at, and */
	uint32_t moves;  /* moved to put another one in: see nesting.c */
	bool cover;      /* somebody asks what covers a span */
	bool failed;     /* memory ran out some time: results since then are of no use */
	struct nest_piece *pieces;
	uint32_t npieces, pieces_cap;
	struct nest_late late[NEST_LANES]; /* of the last span; nest_result.nlate of them */
};

struct nest_result {
	uint64_t covered; /* ns of the span that the spans within it cover, of those met before; <= dur */
	uint32_t nlate;
	uint16_t lane; /* 0 .. NEST_LANES - 1 */
	bool inexact; /* what was forgotten may share time with it, or it is forgotten itself: its lane may be
	                 wrong, and self times too large */
	bool dropped; /* it overlaps in every lane there may be; `lane` is the last one */
};

/* cover: false if lanes alone are asked for. */
void nesting_init(struct nesting *n, bool cover);
void nesting_free(struct nesting *n);

/* The general case of nesting_span, with the end computed. */
void nesting_place(struct nesting *n, uint32_t track, const struct nest_span *x, struct nest_result *out);

/* Takes the next span of a track; who: the number by which nest_late names it. */
static inline void nesting_span(struct nesting *n, uint32_t track, uint64_t start, uint64_t dur, uint32_t who,
                                struct nest_result *out)
{
	const uint64_t end = dur > UINT64_MAX - start ? UINT64_MAX : start + dur;
	const struct nest_span x = { start, end, who, 1 };

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

	/* Other lanes are over, nothing ends later: what lies within it are the last trees of lane 0. */
	uint64_t covered = 0;
	uint32_t size = 1;
	while (top[-1].start >= start) {
		covered += top[-1].end - top[-1].start;
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
	*last = (struct nest_span){ start, end, who, size };
	l->n++;
	*out = (struct nest_result){ .covered = covered };
}

/* ---- nest lane ---- */

/* One lane of nesting.h: where a span would go, and what is around it. */

struct nest_look {
	uint32_t pos;     /* the span would be put in here */
	uint32_t first;   /* fits: the first of those within it; they end at pos */
	uint32_t holder;  /* of the innermost span that it lies within: index + 1; 0: there is none */
	uint64_t covered; /* ns that spans of this lane within it cover */
	bool fits;        /* it overlaps no span of this lane in part only */
	bool unsure;      /* forgotten, or too much to look at: all the rest may be wrong */
};

/* What of a track is looked at.  pieces: every span that shares time with the new one but does not lie around
 * it is added to nesting.pieces; of nested ones the outermost within the new one, and all that overlap it in
 * part only.  whole: look at all even if it does not fit.  Each span that is looked at costs one of
 * nesting.looks. */
struct nest_asked {
	struct nesting *n;
	bool pieces, whole;
};

/* True if nothing known of this lane reaches beyond the start of x. */
static inline bool nest_lane_is_before(const struct nest_lane *l, const struct nest_span *x)
{
	return l->n > 0 && l->spans[l->n - 1].end <= x->start;
}

/* ---- nest room ---- */

/* The room of lanes: counted in spans, given out in powers of two, bounded. */

enum nest_room { NEST_ROOM_OK, NEST_ROOM_NONE, NEST_ROOM_NO_MEMORY };

static inline struct nest_lane *nest_lane_at(struct nest_track *t, uint32_t i)
{
	return i == 0 ? &t->first : &t->more[i - 1];
}

#endif
