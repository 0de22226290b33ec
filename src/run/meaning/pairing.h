#ifndef PIPELINE_PAIRING_H
#define PIPELINE_PAIRING_H

#include "base/table.h"
#include "model/batch_pool.h"
#include "model/trace_engine.h"
#include "run/meaning/pending_end.h"
#include "run/meaning/retained.h"
#include "format/ledger.h"

/*
 * Beginnings and ends become spans.
 *
 * Each track has a stack of what is open.  An END closes the innermost one of
 * the same pair (and key), also from the middle of the stack: a scan from the
 * top down, PAIRING_LOOK places at most.  A track's states stand beside the
 * stack, one for each word.  What is async (the life of a task, say) may end on
 * another track than it began on: it is found by process, pair and key.
 *
 * A span comes out where its END came, with time, name, class, track, offset and fields
 * of its BEGIN, and those fields of the END that say something else.
 *
 * Memory is bounded: PAIRING_TRACK open ones of a track, PAIRING_ALL in all,
 * PAIRING_BYTES of copied fields.  What is beyond the first two is counted,
 * and its END does not close another; beyond the last the fields are left out.
 * If the system has no memory, `failed` of the pairing or the batch is set; who calls asks once a batch.
 */
#define PAIRING_LOOK 64
#define PAIRING_TRACK 4096
#define PAIRING_ALL (1U << 17) /* 72 bytes each */
#define PAIRING_BYTES (8U << 20)
#define PAIRING_BEYOND_ROOM                                                                                  \
	(1U << 16) /* tracks and pairs of which spans are not retained that are told apart */

enum pairing_flags {
	PAIRING_ASYNC = 1,
	PAIRING_STATE = 2,
};

struct open_span {
	uint64_t ts, offset, key;
	struct slice name;
	const struct class *cls; /* NULL: the place is free */
	const struct track *track;
	struct retained *retained; /* NULL: nothing had to be copied */
	uint32_t below;            /* place + 1 of the next in its list */
	uint16_t pair;             /* or state */
	uint8_t flags;             /* enum pairing_flags */
};

struct open_track {
	uint64_t last; /* the latest time met on it */
	uint32_t top;  /* place + 1 of the innermost span; 0: none */
	uint32_t depth;
	uint32_t states; /* place + 1 of the first of its states */
};

struct pairing {
	struct trace *trace;
	struct open_span *spans;
	uint32_t n;                /* places, free or not */
	uint32_t free;             /* place + 1 of the first free one */
	struct open_track *tracks; /* by index */
	uint32_t ntracks;
	uint32_t *buckets; /* async ones by hash: place + 1; made for the first */
	uint64_t seed;
	struct table64 beyond; /* track and pair -> open ones that are not retained */
	uint32_t nbeyond;      /* sum of these */
	uint32_t retained_bytes;
	struct pending_ends pending; /* ends that came before their beginnings */
	uint32_t at;                 /* pairing_finish: what is next */
	uint64_t last;               /* the latest time of other tracks; pairing_finish: of all */
	uint64_t unpaired;           /* begins and ends without a partner, or not retained */
	struct ledger ledger;
	bool failed; /* memory ran out some time: what came out since then is of no use */
};

void pairing_init(struct pairing *p, struct trace *trace);
void pairing_free(struct pairing *p);

enum pairing_result {
	PAIRING_SPAN,    /* the event is now the span that it completes */
	PAIRING_OPEN,    /* it is retained until its other end comes; the event itself is no longer needed */
	PAIRING_ALONE,   /* nothing was open; the event is as it was */
	PAIRING_DROPPED, /* what it closes was not retained; the event says nothing */
};

/* A BEGIN, or a STATE that opens: OPEN, or SPAN if its end came before it. */
enum pairing_result pairing_begin(struct pairing *p, struct batch *b, struct event *e,
                                  struct pairing_end_of how);

/* An END; OPEN if it is async and its beginning may still come. */
enum pairing_result pairing_end(struct pairing *p, struct batch *b, struct event *e,
                                struct pairing_end_of how);

/* An event that nothing was open for is counted as such. */
void pairing_alone(struct pairing *p, const struct event *e);

/* At the end of the trace: adds what is still open to the batch, as spans that last to the last time of the
 * trace, with the field "unfinished"; states end when their track was last heard of.  true: there was no
 * room for all. */
bool pairing_finish(struct pairing *p, struct batch *b, bool fields);

/* A time was met on a track. */
static inline void
pairing_see(struct pairing *p, const struct track *track, uint64_t ts)
{
	uint64_t *const last = track->index < p->ntracks ? &p->tracks[track->index].last : &p->last;

	if (ts > *last)
		*last = ts;
}

/* The time at which an event is over. */
static inline void
pairing_see_span(struct pairing *p, const struct event *e)
{
	const uint64_t dur = e->phase == PHASE_SPAN ? e->dur : 0;

	pairing_see(p, e->track, dur > UINT64_MAX - e->ts ? UINT64_MAX : e->ts + dur);
}

/*
 * The common cases, where nothing has to be copied or counted, without a call.  false: not that simple,
 * nothing was done; the functions above do it.  `name` outlives the batch; nobody wants fields; no key.
 */
static inline bool
pairing_begin_fast(struct pairing *p, const struct event *e, struct slice name, uint16_t pair)
{
	const uint32_t place = p->free, track = e->track->index;

	if (place == 0 || p->nbeyond > 0 || track >= p->ntracks)
		return false;
	struct open_track *const t = &p->tracks[track];
	struct open_span *const s = &p->spans[place - 1];
	if (t->depth >= PAIRING_TRACK)
		return false;
	p->free = s->below;
	s->ts = e->ts;
	s->offset = e->offset;
	s->key = 0;
	s->name = name;
	s->cls = e->cls;
	s->track = e->track;
	s->retained = NULL;
	s->below = t->top;
	s->pair = pair;
	s->flags = 0;
	t->top = place;
	t->depth++;
	if (e->ts > t->last)
		t->last = e->ts;
	return true;
}

/* Writes the span to `to`, which may be e itself. */
static inline bool
pairing_end_fast(struct pairing *p, const struct event *e, uint16_t pair, struct event *to)
{
	const uint64_t end = e->ts;
	const uint32_t track = e->track->index;

	if (p->nbeyond > 0 || track >= p->ntracks)
		return false;
	struct open_track *const t = &p->tracks[track];
	const uint32_t place = t->top;
	if (place == 0)
		return false;
	struct open_span *const s = &p->spans[place - 1];
	if (s->pair != pair || s->key != 0 || s->retained != NULL || end < s->ts)
		return false;
	*to = (struct event){ .ts = s->ts,
		              .dur = end - s->ts,
		              .name = s->name,
		              .cls = s->cls,
		              .track = s->track,
		              .offset = s->offset,
		              .phase = PHASE_SPAN };
	t->top = s->below;
	t->depth--;
	if (end > t->last)
		t->last = end;
	s->cls = NULL;
	s->below = p->free;
	p->free = place;
	return true;
}

#endif
