#ifndef MODEL_EVENT_TRAITS_H
#define MODEL_EVENT_TRAITS_H

#include "base/compiler.h"
#include "base/scan.h"
#include "model/event.h"
#include "model/plan.h"

/* Properties of events that some readers set, and that writers query to count losses. */

enum event_traits {
	EVENT_STEP = 16,     /* of a FLOW_IN: its arrow continues from here */
	EVENT_INNER = 16,    /* of a SPAN: it is within earlier spans of the same times, not around them */
	EVENT_REFERRED = 32, /* of raw events: selected with any record that refers to it */
	EVENT_LONG = 64,     /* of raw events: bytes of a record that was not read, which copies keep */
	EVENT_ENDLESS = 64,  /* of a BEGIN: no END belongs to it */
	EVENT_NEXT = 64,     /* of a FLOW_IN: it binds to the next span of its track, not to the open one */
	EVENT_GLOBAL = 64,   /* of an INSTANT: of the whole trace */
	EVENT_PART = 128,    /* of raw events with WANT_WHOLE: it cannot be selected without other records */
	EVENT_OUTSIDE = 128, /* of other events, with EVENT_LEFT_OUT: outside of the time window */
	EVENT_SHORT = 128,   /* of events that are written: names of tracks are cut, see event_track_name() */
};

/* The first of n fields with this name; NULL: none.  f may be NULL if n is 0. */
static inline const struct field *field_find(const struct field *f, uint32_t n, struct slice name)
{
	for (uint32_t i = 0; i < n; i++)
		if (slice_equal(f[i].name, name))
			return &f[i];
	return NULL;
}

/* Whether it is a span that may overlap others of its track. */
static inline bool event_is_async(const struct event *e)
{
	return e->phase == PHASE_SPAN && (e->flags & EVENT_ASYNC) != 0;
}

/* Whether it is a span during which its track does no work (`waiting` of a vocabulary). */
static inline bool event_is_waiting(const struct event *e)
{
	return e->phase == PHASE_SPAN && e->cls->plan != NULL && e->cls->plan->waiting;
}

/* Whether an arrow starts or ends here: dur is the id that both ends share. */
static inline bool event_is_flow(const struct event *e)
{
	return e->phase == PHASE_FLOW_OUT || e->phase == PHASE_FLOW_IN;
}

/* Whether dur is the id of an arrow: of its ends, and of an instant where one may start. */
static inline bool event_has_arrow_id(const struct event *e)
{
	return event_is_flow(e) || (e->flags & EVENT_ARROW) != 0;
}

/* Whether dur is a duration in nanoseconds: of spans, and of other events with one. */
static inline bool event_has_duration(const struct event *e)
{
	return e->phase == PHASE_SPAN || (e->dur != 0 && !event_has_arrow_id(e));
}

/* End of an event: of a span, at most the last time of the clock; of others their time. */
static inline uint64_t event_end(const struct event *e)
{
	return saturating_add(e->ts, e->phase == PHASE_SPAN ? e->dur : 0);
}

/* Whether an arrow arrives here and continues. */
static inline bool event_is_step(const struct event *e)
{
	return e->phase == PHASE_FLOW_IN && (e->flags & EVENT_STEP) != 0;
}

/* Its category; empty for "no category", which outputs that need one write. */
static inline struct slice event_category(const struct event *e)
{
	const struct slice c = e->cls->category;

	return slice_is(c, "no category") ? SLICE_NONE : c;
}

/* Whether it has a category other than its name. */
static inline bool event_has_category(const struct event *e)
{
	const struct slice c = event_category(e);

	return c.n > 0 && !slice_equal(c, e->name);
}

/* ---- tracks ---- */

#define EVENT_SHORT_NAME 16U /* bytes */

/* Max bytes of the text of a track that a writer keeps to repeat with each event.  Longer texts are made for
 * each event: many tracks can have one process of a long name, which is cut if events repeat it too often. */
#define TRACK_TEXT_KEPT 1024U

/* The name of its track, or of one above, in the row of an event; e NULL: whole. */
static inline struct slice event_track_name(const struct event *e, const struct track *k)
{
	struct slice name = k->name;

	if (e != NULL && (e->flags & EVENT_SHORT) != 0 && name.n > EVENT_SHORT_NAME)
		name.n = (uint32_t)utf8_cut(name.p, name.n, EVENT_SHORT_NAME);
	return name;
}

/* The thread that a lane or child belongs to; the process if it belongs to no thread. */
static inline const struct track *track_thread(const struct track *t)
{
	while ((t->lane > 0 || t->is_child) && t->parent != NULL)
		t = t->parent;
	return t;
}

#endif
