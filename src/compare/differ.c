#include <stdlib.h>

#include "compare/compare.h"
#include "run/sort/sorter.h"

/* ---- leftovers ---- */

/* Events without a partner: those of both sides that were probably one are put together. */

/* What two events have to have in common; each round takes what the ones before left. */
enum { TRACK = 1, NAME = 2, PHASE = 4, FIELDS = 8, TIME = 16, LENGTH = 32 };

/* Of two traces: what happened twice is more alike than what happened at the same time. */
static const unsigned usual_rounds[] = {
	TRACK | NAME | TIME | LENGTH,
	TRACK | NAME | PHASE,
	NAME | TIME | LENGTH,
	TRACK | TIME | LENGTH,
	TRACK,
	NAME | PHASE | FIELDS,
	NAME,
	0,
};

/* Of a trace and what was made of it, where times hardly change: all are put together. */
static const unsigned all_rounds[] = {
	TRACK | NAME | FIELDS | TIME | LENGTH,
	TRACK | NAME | PHASE | TIME | LENGTH,
	TRACK | NAME | TIME | LENGTH,
	NAME | TIME | LENGTH,
	TRACK | TIME | LENGTH,
	TIME | LENGTH,
	TRACK | NAME | PHASE,
	TRACK,
	NAME | PHASE | FIELDS,
	NAME,
	TIME,
	0,
};

/* A place in a list of events, ordered by what its round compares, then by time, then by duration. */
struct place {
	uint64_t likeness, ts, dur;
	uint32_t index;
};

struct lists {
	struct place *places[DIFFER_SIDES];
	uint32_t n[DIFFER_SIDES];
};

/* A time that may be off is as good as any other. */
static uint64_t likeness(const struct differ *d, const struct pending_event *e, unsigned round)
{
	const unsigned ignore = d->rules.ignore;
	const bool exact = d->rules.tolerance == 0;
	struct wide_hash h = wide_hash_start(round);

	if ((round & TRACK) != 0 && (ignore & PART_TRACK) == 0)
		wide_hash_add_hash(&h, e->track);
	if ((round & NAME) != 0 && (ignore & PART_NAME) == 0)
		wide_hash_add_hash(&h, e->id.name);
	if ((round & PHASE) != 0)
		wide_hash_add(&h, e->id.phase);
	if ((round & FIELDS) != 0)
		wide_hash_add_hash(&h, e->id.fields);
	if ((round & TIME) != 0 && exact)
		wide_hash_add(&h, e->id.ts);
	if ((round & LENGTH) != 0 && exact)
		wide_hash_add(&h, e->id.dur);
	return wide_hash_end(h).a;
}

static int compare_places(const void *x, const void *y)
{
	const struct place *const a = x, *const b = y;

	if (a->likeness != b->likeness)
		return a->likeness < b->likeness ? -1 : 1;
	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	if (a->dur != b->dur)
		return a->dur < b->dur ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static uint32_t list(const struct differ *d, const struct pending *p, unsigned round, struct place *to)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n; i++)
		if (!p->list[i].gone)
			to[n++] = (struct place){ likeness(d, &p->list[i], round), p->list[i].id.ts,
				                  p->list[i].id.dur, i };
	if (n > 1)
		qsort(to, n, sizeof *to, compare_places);
	return n;
}

/* ---- reports ---- */

static unsigned parts_of(const struct differ *d, const struct pending_event *a, const struct pending_event *b)
{
	const struct event_identity *const x = &a->id, *const y = &b->id;
	const uint64_t tolerance = d->rules.tolerance;
	unsigned parts = 0;

	if ((x->ts > y->ts ? x->ts - y->ts : y->ts - x->ts) > tolerance)
		parts |= PART_TIME;
	if ((x->dur > y->dur ? x->dur - y->dur : y->dur - x->dur) > tolerance)
		parts |= PART_DURATION;
	if (x->phase != y->phase || x->async != y->async || x->step != y->step)
		parts |= PART_PHASE;
	if (!wide_hash_equal(x->name, y->name))
		parts |= PART_NAME;
	if (!wide_hash_equal(x->category, y->category))
		parts |= PART_CATEGORY;
	if (x->nfields != y->nfields || !wide_hash_equal(x->fields, y->fields))
		parts |= PART_FIELDS;
	if (!wide_hash_equal(a->track, b->track))
		parts |= PART_TRACK;
	return parts & ~d->rules.ignore;
}

/* The event in a batch of its own; NULL: no memory. */
static const struct batch *show(struct differ_side *s, const struct pending_event *e)
{
	batch_recycle(&s->shown);
	return event_unpack_copy(&s->shown, e->packed, NULL, false) ? &s->shown : NULL;
}

static bool count(struct differ *d, const struct difference *diff,
                  const struct pending_event *const e[DIFFER_SIDES])
{
	const int side = e[DIFFER_A] != NULL ? DIFFER_A : DIFFER_B;
	const bool pair = e[DIFFER_A] != NULL && e[DIFFER_B] != NULL;

	d->changed += pair;
	d->only[side] += !pair;
	if (d->names == NULL)
		return true;
	struct by_name_row *const row =
	    by_name_row(d->names, difference_event(diff, side)->name, &e[side]->id);
	if (row == NULL)
		return false;
	row->changed += pair;
	row->only[side] += !pair;
	return true;
}

/* a or b NULL: it is on the other side alone. */
static enum differ_status report(struct differ *d, struct pending_event *a, struct pending_event *b)
{
	const struct pending_event *const e[DIFFER_SIDES] = { a, b };
	struct difference diff = { .parts = a != NULL && b != NULL ? parts_of(d, a, b) : 0 };

	for (int i = 0; i < DIFFER_SIDES; i++)
		if (e[i] != NULL && (diff.in[i] = show(&d->sides[i], e[i])) == NULL)
			return DIFFER_NO_MEMORY;
	if (!count(d, &diff, e))
		return DIFFER_NO_MEMORY;
	if (a != NULL)
		pending_drop(&d->sides[DIFFER_A].pending, a);
	if (b != NULL)
		pending_drop(&d->sides[DIFFER_B].pending, b);
	return d->sink == NULL || d->sink(d->ctx, &diff) ? DIFFER_DONE : DIFFER_STOPPED;
}

/* ---- rounds ---- */

static bool is_before(const struct pending_event *e, uint64_t before)
{
	return before == UINT64_MAX || e->id.ts < before;
}

static enum differ_status match(struct differ *d, const struct lists *l, uint64_t before)
{
	struct pending *const p = &d->sides[DIFFER_A].pending, *const q = &d->sides[DIFFER_B].pending;
	enum differ_status status = DIFFER_DONE;
	uint32_t i = 0, k = 0;

	while (i < l->n[DIFFER_A] && k < l->n[DIFFER_B] && status == DIFFER_DONE) {
		const struct place a = l->places[DIFFER_A][i], b = l->places[DIFFER_B][k];
		if (a.likeness == b.likeness &&
		    (is_before(&p->list[a.index], before) || is_before(&q->list[b.index], before)))
			status = report(d, &p->list[a.index], &q->list[b.index]);
		i += a.likeness <= b.likeness;
		k += b.likeness <= a.likeness;
	}
	return status;
}

/* The first from list[i] on that is there and from before the time; n: there is none. */
static uint32_t next_before(const struct pending *p, uint32_t i, uint64_t before)
{
	while (i < p->n && p->list[i].gone)
		i++;
	return i < p->n && !is_before(&p->list[i], before) ? p->n : i;
}

/* What no round put together, in order of time. */
static enum differ_status rest(struct differ *d, uint64_t before)
{
	struct pending *const p = &d->sides[DIFFER_A].pending, *const q = &d->sides[DIFFER_B].pending;
	enum differ_status status = DIFFER_DONE;
	uint32_t i = 0, k = 0;

	while (status == DIFFER_DONE) {
		i = next_before(p, i, before);
		k = next_before(q, k, before);
		if (i == p->n && k == q->n)
			break;
		if (k == q->n || (i < p->n && p->list[i].id.ts <= q->list[k].id.ts))
			status = report(d, &p->list[i], NULL);
		else
			status = report(d, NULL, &q->list[k]);
	}
	return status;
}

/* Reports the waiting events of both sides from before this time (UINT64_MAX: all), with what is most like
 * them on the other side, and forgets them.  DIFFER_DONE: go on. */
static enum differ_status differ_leftovers(struct differ *d, uint64_t before)
{
	struct pending *const p = &d->sides[DIFFER_A].pending, *const q = &d->sides[DIFFER_B].pending;
	struct lists l = { .n = { 0 } };
	const unsigned *round = d->rules.pair_all ? all_rounds : usual_rounds;
	enum differ_status status = DIFFER_DONE;

	if (p->alive > 0 && q->alive > 0) {
		l.places[DIFFER_A] = malloc(p->n * sizeof *l.places[0]);
		l.places[DIFFER_B] = malloc(q->n * sizeof *l.places[0]);
		if (l.places[DIFFER_A] == NULL || l.places[DIFFER_B] == NULL)
			status = DIFFER_NO_MEMORY;
	}
	for (; *round != 0 && status == DIFFER_DONE && p->alive > 0 && q->alive > 0; round++) {
		l.n[DIFFER_A] = list(d, p, *round, l.places[DIFFER_A]);
		l.n[DIFFER_B] = list(d, q, *round, l.places[DIFFER_B]);
		status = match(d, &l, before);
	}
	free(l.places[DIFFER_A]);
	free(l.places[DIFFER_B]);
	if (status == DIFFER_DONE)
		status = rest(d, before);
	return status == DIFFER_DONE && !(pending_compact(p) && pending_compact(q)) ? DIFFER_NO_MEMORY
	                                                                            : status;
}

/* ---- differ ---- */

/* Batches of one event, for differences. */
#define SHOWN_CAP 1

/* Less than this is not worth closing gaps. */
#define COMPACT_FROM 1024U

void differ_init(struct differ *d, const struct differ_rules *rules, struct differ_source a,
                 struct differ_source b, difference_sink *sink, void *ctx)
{
	*d = (struct differ){ .rules = *rules, .sink = sink, .ctx = ctx };
	d->sides[DIFFER_A].source = a;
	d->sides[DIFFER_B].source = b;
	for (int i = 0; i < DIFFER_SIDES; i++)
		d->sides[i].identities.without = rules->tracks;
}

/* What a partner has to have.  With a tolerance, times and durations are compared apart. */
static struct wide_hash key_of(const struct differ *d, const struct differ_side *s)
{
	const unsigned near = d->rules.tolerance > 0 ? (unsigned)(PART_TIME | PART_DURATION) : 0;
	struct wide_hash h = event_identity_hash(&s->id, d->rules.ignore | near);

	if ((d->rules.ignore & PART_TRACK) == 0)
		wide_hash_add_hash(&h, s->track);
	return wide_hash_end(h);
}

/* All that is compared of the event at `at`. */
static enum differ_status identify(struct differ *d, int which)
{
	struct differ_side *const s = &d->sides[which];

	if (s->identified || s->ended)
		return DIFFER_DONE;
	s->id = event_identity(&s->canon, s->batch, &s->batch->events[s->at], &d->rules.fields[which]);
	s->key = key_of(d, s);
	s->id.ts = heads_time(s, s->at);
	s->identified = true;
	return s->canon.scratch.failed ? DIFFER_NO_MEMORY : DIFFER_DONE;
}

/* The event at `at` becomes known. */
static enum differ_status meet(struct differ *d, int which)
{
	struct differ_side *const s = &d->sides[which];
	const struct event *const e = &s->batch->events[s->at];

	s->identified = false;
	s->id.ts = heads_time(s, s->at);
	s->track = track_identity(&s->identities, s->source.trace, event_compared_track(e));
	s->events++;
	if (d->names != NULL) {
		if (identify(d, which) != DIFFER_DONE)
			return DIFFER_NO_MEMORY;
		struct by_name_row *const row = by_name_row(d->names, e->name, &s->id);
		if (row == NULL)
			return DIFFER_NO_MEMORY;
		row->events[which]++;
		row->dur[which] += s->id.dur;
	}
	return s->identities.failed ? DIFFER_NO_MEMORY : DIFFER_DONE;
}

/* Whether the event takes part; one of B's own is counted. */
static bool takes_part(struct differ *d, int which, const struct event *e)
{
	const bool more = event_is_compared(e) && heads_is_more(d, which, e);

	d->more += more;
	return event_is_compared(e) && !more;
}

/* To the next event of a side, if there is one. */
static enum differ_status go_on(struct differ *d, int which)
{
	struct differ_side *const s = &d->sides[which];

	for (s->at++;; s->at = 0) {
		while (s->batch != NULL && s->at < s->batch->n &&
		       !takes_part(d, which, &s->batch->events[s->at]))
			s->at++;
		if (s->batch != NULL && s->at < s->batch->n)
			return meet(d, which);
		batch_release(s->batch);
		s->batch = NULL;
		const enum stage_status status = s->source.next(s->source.ctx, &s->batch);
		if (status == STAGE_MORE)
			continue;
		s->batch = NULL;
		s->ended = status == STAGE_END;
		d->bad_side = which;
		return s->ended ? DIFFER_DONE : DIFFER_BAD;
	}
}

static uint64_t limit(const struct differ *d, enum event_part part)
{
	return (d->rules.ignore & (unsigned)part) != 0 ? UINT64_MAX : d->rules.tolerance;
}

static bool within(uint64_t x, uint64_t y, uint64_t most)
{
	return (x > y ? x - y : y - x) <= most;
}

/* The usual case: what comes next is the same on both sides, and nothing waits. */
static bool heads_can_match(const struct differ *d)
{
	const struct differ_side *const a = &d->sides[DIFFER_A], *const b = &d->sides[DIFFER_B];

	return !a->ended && !b->ended && a->pending.alive == 0 && b->pending.alive == 0 &&
	       within(a->id.ts, b->id.ts, limit(d, PART_TIME));
}

/* Whether something waits in vain, as all that comes is too late for it.  Twice the tolerance, so that more
 * of it goes at once. */
static bool is_late(const struct differ *d, struct pending *p, uint64_t now)
{
	uint64_t ts;

	return pending_oldest(p, &ts) && ts < now && (now - ts) / 2 >= d->rules.tolerance;
}

/* Room for one more that waits. */
static enum differ_status make_room(struct differ *d, struct differ_side *s)
{
	if (pending_is_full(&s->pending)) {
		d->full++;
		return differ_leftovers(d, UINT64_MAX);
	}
	if (s->pending.n >= COMPACT_FROM && s->pending.alive < s->pending.n / 2 &&
	    !pending_compact(&s->pending))
		return DIFFER_NO_MEMORY;
	return DIFFER_DONE;
}

/* The next event of a side finds its partner among those that wait, or waits itself. */
static enum differ_status place(struct differ *d, int which)
{
	struct differ_side *const s = &d->sides[which];
	struct pending *const other = &d->sides[!which].pending;
	const struct pending_limits limits = { limit(d, PART_TIME), limit(d, PART_DURATION) };

	if (identify(d, which) != DIFFER_DONE)
		return DIFFER_NO_MEMORY;
	if (pending_take(other, &s->id, s->key, limits)) {
		d->same++;
		return DIFFER_DONE;
	}
	const enum differ_status status = make_room(d, s);
	if (status != DIFFER_DONE)
		return status;
	return pending_add(&s->pending, s->batch, s->at, &s->id, s->track, s->key) ? DIFFER_DONE
	                                                                           : DIFFER_NO_MEMORY;
}

/* Reports what waits in vain. */
static enum differ_status flush_late(struct differ *d, uint64_t now)
{
	const uint64_t tolerance = d->rules.tolerance;

	if (!is_late(d, &d->sides[DIFFER_A].pending, now) && !is_late(d, &d->sides[DIFFER_B].pending, now))
		return DIFFER_DONE;
	return differ_leftovers(d, now > tolerance ? now - tolerance : 0);
}

static enum differ_status go_on_both(struct differ *d, enum differ_status status)
{
	if (status == DIFFER_DONE)
		status = go_on(d, DIFFER_A);
	return status == DIFFER_DONE ? go_on(d, DIFFER_B) : status;
}

/* In which parts both heads differ, beyond the tolerance. */
static unsigned differences(struct differ *d)
{
	const struct differ_side *const a = &d->sides[DIFFER_A], *const b = &d->sides[DIFFER_B];
	const unsigned parts = heads_differences(d);

	return within(event_compared_length(&a->batch->events[a->at]),
	              event_compared_length(&b->batch->events[b->at]), limit(d, PART_DURATION))
	           ? parts & ~(unsigned)PART_DURATION
	           : parts;
}

/* The heads, if they belong together; *taken: they did. */
static enum differ_status take_both(struct differ *d, bool *taken)
{
	const unsigned parts = differences(d);

	if (d->sides[DIFFER_A].canon.scratch.failed)
		return DIFFER_NO_MEMORY;
	*taken = parts == 0 || heads_are_alone(d);
	d->same += parts == 0;
	return parts != 0 && *taken ? heads_report_both(d, parts) : DIFFER_DONE;
}

/* Whether the head of A need not be in B. */
static bool is_left_out(const struct differ *d)
{
	const struct differ_side *const a = &d->sides[DIFFER_A];

	return d->rules.left_out && !a->ended && (a->batch->events[a->at].flags & EVENT_LEFT_OUT) != 0;
}

/* Such a one came along because others refer to it, if the head of B is the same. */
static enum differ_status step_left_out(struct differ *d)
{
	const struct differ_side *const a = &d->sides[DIFFER_A], *const b = &d->sides[DIFFER_B];
	const bool came_along = !b->ended && a->id.ts == b->id.ts && heads_differences(d) == 0;

	if (a->canon.scratch.failed)
		return DIFFER_NO_MEMORY;
	return came_along ? go_on_both(d, DIFFER_DONE) : go_on(d, DIFFER_A);
}

static enum differ_status step_by_time(struct differ *d)
{
	const struct differ_side *const a = &d->sides[DIFFER_A], *const b = &d->sides[DIFFER_B];
	const int which = b->ended || (!a->ended && a->id.ts <= b->id.ts) ? DIFFER_A : DIFFER_B;
	enum differ_status status = flush_late(d, d->sides[which].id.ts);
	bool taken = false;

	if (status == DIFFER_DONE && heads_can_match(d))
		status = take_both(d, &taken);
	if (taken || status != DIFFER_DONE)
		return go_on_both(d, status);
	status = heads_is_alone(d, which) ? heads_report(d, which) : place(d, which);
	return status == DIFFER_DONE ? go_on(d, which) : status;
}

/* An event without a partner; *taken: the sink wants to go on. */
static enum differ_status pass_alone(struct differ *d, int which, bool *taken)
{
	const enum differ_status status = heads_report(d, which);

	*taken = status == DIFFER_DONE;
	return *taken ? go_on(d, which) : status;
}

/* The heads are partners, if the sink takes that; if not, one of them has none. */
static enum differ_status step_both(struct differ *d)
{
	const struct differ_side *const a = &d->sides[DIFFER_A], *const b = &d->sides[DIFFER_B];
	enum differ_status status = DIFFER_STOPPED;
	bool taken = false;

	if (!a->ended && !b->ended) {
		unsigned parts = differences(d);
		if (a->canon.scratch.failed)
			return DIFFER_NO_MEMORY;
		if (!within(a->id.ts, b->id.ts, limit(d, PART_TIME)))
			parts |= PART_TIME;
		d->same += parts == 0;
		if (parts == 0 || heads_report_both(d, parts) == DIFFER_DONE)
			return go_on_both(d, DIFFER_DONE);
	}
	if (!b->ended)
		status = pass_alone(d, DIFFER_B, &taken);
	return taken || a->ended ? status : pass_alone(d, DIFFER_A, &taken);
}

static enum differ_status step(struct differ *d)
{
	if (is_left_out(d))
		return step_left_out(d);
	return d->rules.in_step ? step_both(d) : step_by_time(d);
}

enum differ_status differ_run(struct differ *d)
{
	enum differ_status status = DIFFER_DONE;

	for (int i = 0; i < DIFFER_SIDES && status == DIFFER_DONE; i++)
		if (!batch_init(&d->sides[i].shown, SHOWN_CAP, false))
			status = DIFFER_NO_MEMORY;
	for (int i = 0; i < DIFFER_SIDES && status == DIFFER_DONE; i++)
		status = go_on(d, i);
	while (status == DIFFER_DONE && !(d->sides[DIFFER_A].ended && d->sides[DIFFER_B].ended))
		status = step(d);
	return status == DIFFER_DONE ? differ_leftovers(d, UINT64_MAX) : status;
}

void differ_free(struct differ *d)
{
	for (int i = 0; i < DIFFER_SIDES; i++) {
		struct differ_side *const s = &d->sides[i];
		batch_release(s->batch);
		track_identities_free(&s->identities);
		canon_free(&s->canon);
		pending_free(&s->pending);
		batch_free(&s->shown);
	}
}
