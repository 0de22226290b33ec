#ifndef COMPARE_DIFFER_H
#define COMPARE_DIFFER_H

#include "compare/by_name.h"
#include "compare/pending.h"
#include "compare/track_identity.h"
#include "model/batch_pool.h"
#include "run/stage.h"

/*
 * Compares two traces event by event.  Both sides give their interpreted events in order of time.  An event
 * has a partner if the other side has one on the same track, within the tolerance of its time and duration,
 * that is the same in all that counts (compare/event_identity.h).  Events of a track and a time that have
 * none are put together by their names, then by their order: they were changed.  What is left is on one side
 * only.
 *
 * in_step: what comes next on both sides are partners, if they are the same or the sink takes the difference;
 * else one of them has none, if the sink takes that.  Nothing waits.
 *
 * Memory: what has no partner is kept until the time is past, at most PENDING_MAX events of a side.
 */

enum { DIFFER_A, DIFFER_B, DIFFER_SIDES };

struct differ_source {
	enum stage_status (*next)(void *ctx, struct batch **out); /* as stage_next() */
	void *ctx;
	const struct trace *trace; /* of the events' tracks */
	bool signed_time;          /* ts is a signed number */
};

struct differ_rules {
	unsigned ignore;    /* enum event_part */
	uint64_t tolerance; /* ns, of times and durations */
	bool pair_all;      /* what is left of a time is put together, however much differs */
	bool sorted;        /* no event is earlier than the one before it; false: hardly any */
	bool in_step;       /* events have partners by their place alone, in whatever order they come */
	bool left_out;      /* A may have EVENT_LEFT_OUT: B may have those, too, in the same order */
	struct event_fields fields[DIFFER_SIDES];
	unsigned tracks; /* enum tracks_without */
	const char *const
	    *more; /* lists of words, ended by NULL: classes of events that only B has; or NULL */
};

/* One of both may be NULL: it is on the other side only. */
struct difference {
	const struct batch *in[DIFFER_SIDES]; /* a batch whose only event it is */
	unsigned parts;                       /* enum event_part: those that differ */
};

static inline const struct event *
difference_event(const struct difference *d, int side)
{
	return d->in[side] != NULL ? &d->in[side]->events[0] : NULL;
}

/* false: stop. */
typedef bool difference_sink(void *ctx, const struct difference *d);

struct differ_side {
	struct differ_source source;
	struct batch *batch;
	uint32_t at;
	bool ended;
	bool identified;          /* all of id, and key; else only the time and the track are known */
	struct event_identity id; /* of the event at `at` */
	struct wide_hash track, key;
	uint64_t events; /* so far */
	struct track_identities identities;
	struct canon canon;
	struct pending pending;
	struct batch shown; /* for differences */
};

enum differ_status {
	DIFFER_DONE,
	DIFFER_STOPPED, /* by the sink */
	DIFFER_BAD,     /* a source could not go on */
	DIFFER_NO_MEMORY,
};

struct differ {
	struct differ_rules rules;
	struct differ_side sides[DIFFER_SIDES];
	difference_sink *sink;
	void *ctx;
	struct by_name *names;                      /* NULL: not wanted */
	uint64_t same, changed, only[DIFFER_SIDES]; /* pairs, pairs, events */
	uint64_t more;                              /* events of B of the classes in rules.more */
	uint64_t full;                              /* how many times a side had more than PENDING_MAX */
	int bad_side;                               /* after DIFFER_BAD */
};

/* sink: of each difference, in order of time. */
void differ_init(struct differ *d, const struct differ_rules *rules, struct differ_source a,
                 struct differ_source b, difference_sink *sink, void *ctx);

/* Compares all; once. */
enum differ_status differ_run(struct differ *d);

void differ_free(struct differ *d);

/* ---- leftovers.c ---- */

/* Reports the waiting events of both sides from before this time (UINT64_MAX: all), with what is most like
 * them on the other side, and forgets them.  DIFFER_DONE: go on. */
enum differ_status differ_leftovers(struct differ *d, uint64_t before);

#endif
