#include "compare/differ.h"

#include "compare/heads.h"

/* Batches of one event, for differences. */
#define SHOWN_CAP 1

/* Less than this is not worth closing gaps. */
#define COMPACT_FROM 1024U

void
differ_init(struct differ *d, const struct differ_rules *rules, struct differ_source a,
            struct differ_source b, difference_sink *sink, void *ctx)
{
	*d = (struct differ){ .rules = *rules, .sink = sink, .ctx = ctx };
	d->sides[DIFFER_A].source = a;
	d->sides[DIFFER_B].source = b;
	for (int i = 0; i < DIFFER_SIDES; i++)
		d->sides[i].identities.without = rules->tracks;
}

/* What a partner has to have.  With a tolerance, times and durations are compared apart. */
static struct wide_hash
key_of(const struct differ *d, const struct differ_side *s)
{
	const unsigned near = d->rules.tolerance > 0 ? (unsigned)(PART_TIME | PART_DURATION) : 0;
	struct wide_hash h = event_identity_hash(&s->id, d->rules.ignore | near);

	if ((d->rules.ignore & PART_TRACK) == 0)
		wide_hash_add_hash(&h, s->track);
	return wide_hash_end(h);
}

/* All that is compared of the event at `at`. */
static enum differ_status
identify(struct differ *d, int which)
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
static enum differ_status
meet(struct differ *d, int which)
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
static bool
takes_part(struct differ *d, int which, const struct event *e)
{
	const bool more = event_is_compared(e) && heads_is_more(d, which, e);

	d->more += more;
	return event_is_compared(e) && !more;
}

/* To the next event of a side, if there is one. */
static enum differ_status
go_on(struct differ *d, int which)
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

static uint64_t
limit(const struct differ *d, enum event_part part)
{
	return (d->rules.ignore & (unsigned)part) != 0 ? UINT64_MAX : d->rules.tolerance;
}

static bool
within(uint64_t x, uint64_t y, uint64_t most)
{
	return (x > y ? x - y : y - x) <= most;
}

/* The usual case: what comes next is the same on both sides, and nothing waits. */
static bool
heads_can_match(const struct differ *d)
{
	const struct differ_side *const a = &d->sides[DIFFER_A], *const b = &d->sides[DIFFER_B];

	return !a->ended && !b->ended && a->pending.alive == 0 && b->pending.alive == 0 &&
	       within(a->id.ts, b->id.ts, limit(d, PART_TIME));
}

/* Whether something waits in vain, as all that comes is too late for it.  Twice the tolerance, so that more
 * of it goes at once. */
static bool
is_late(const struct differ *d, struct pending *p, uint64_t now)
{
	uint64_t ts;

	return pending_oldest(p, &ts) && ts < now && (now - ts) / 2 >= d->rules.tolerance;
}

/* Room for one more that waits. */
static enum differ_status
make_room(struct differ *d, struct differ_side *s)
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
static enum differ_status
place(struct differ *d, int which)
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
static enum differ_status
flush_late(struct differ *d, uint64_t now)
{
	const uint64_t tolerance = d->rules.tolerance;

	if (!is_late(d, &d->sides[DIFFER_A].pending, now) && !is_late(d, &d->sides[DIFFER_B].pending, now))
		return DIFFER_DONE;
	return differ_leftovers(d, now > tolerance ? now - tolerance : 0);
}

static enum differ_status
go_on_both(struct differ *d, enum differ_status status)
{
	if (status == DIFFER_DONE)
		status = go_on(d, DIFFER_A);
	return status == DIFFER_DONE ? go_on(d, DIFFER_B) : status;
}

/* In which parts both heads differ, beyond the tolerance. */
static unsigned
differences(struct differ *d)
{
	const struct differ_side *const a = &d->sides[DIFFER_A], *const b = &d->sides[DIFFER_B];
	const unsigned parts = heads_differences(d);

	return within(event_compared_length(&a->batch->events[a->at]),
	              event_compared_length(&b->batch->events[b->at]), limit(d, PART_DURATION))
	           ? parts & ~(unsigned)PART_DURATION
	           : parts;
}

/* The heads, if they belong together; *taken: they did. */
static enum differ_status
take_both(struct differ *d, bool *taken)
{
	const unsigned parts = differences(d);

	if (d->sides[DIFFER_A].canon.scratch.failed)
		return DIFFER_NO_MEMORY;
	*taken = parts == 0 || heads_are_alone(d);
	d->same += parts == 0;
	return parts != 0 && *taken ? heads_report_both(d, parts) : DIFFER_DONE;
}

/* Whether the head of A need not be in B. */
static bool
is_left_out(const struct differ *d)
{
	const struct differ_side *const a = &d->sides[DIFFER_A];

	return d->rules.left_out && !a->ended && (a->batch->events[a->at].flags & EVENT_LEFT_OUT) != 0;
}

/* Such a one came along because others refer to it, if the head of B is the same. */
static enum differ_status
step_left_out(struct differ *d)
{
	const struct differ_side *const a = &d->sides[DIFFER_A], *const b = &d->sides[DIFFER_B];
	const bool came_along = !b->ended && a->id.ts == b->id.ts && heads_differences(d) == 0;

	if (a->canon.scratch.failed)
		return DIFFER_NO_MEMORY;
	return came_along ? go_on_both(d, DIFFER_DONE) : go_on(d, DIFFER_A);
}

static enum differ_status
step_by_time(struct differ *d)
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
static enum differ_status
pass_alone(struct differ *d, int which, bool *taken)
{
	const enum differ_status status = heads_report(d, which);

	*taken = status == DIFFER_DONE;
	return *taken ? go_on(d, which) : status;
}

/* The heads are partners, if the sink takes that; if not, one of them has none. */
static enum differ_status
step_both(struct differ *d)
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

static enum differ_status
step(struct differ *d)
{
	if (is_left_out(d))
		return step_left_out(d);
	return d->rules.in_step ? step_both(d) : step_by_time(d);
}

enum differ_status
differ_run(struct differ *d)
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

void
differ_free(struct differ *d)
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
