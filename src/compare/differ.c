#include "compare/differ.h"

#include "compare/events_alike.h"

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

/* Times in an order that all of them have. */
static uint64_t
time_of(const struct differ_side *s)
{
	return s->batch->events[s->at].ts ^ (uint64_t)s->source.signed_time << 63;
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
	s->id.ts = time_of(s);
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
	s->id.ts = time_of(s);
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
	if (!event_is_compared(e))
		return false;
	if (which == DIFFER_A || d->rules.more == NULL || !words_have(d->rules.more, e->cls->name))
		return true;
	d->more++;
	return false;
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

/* Whether they are the same to the byte, for which they need not be hashed. */
static bool
heads_are_alike(const struct differ *d)
{
	const struct differ_side *const a = &d->sides[DIFFER_A], *const b = &d->sides[DIFFER_B];

	return ((d->rules.ignore & PART_TRACK) != 0 || wide_hash_equal(a->track, b->track)) &&
	       events_alike(
	           &(struct alike){ .batch = { a->batch, b->batch },
	                            .event = { &a->batch->events[a->at], &b->batch->events[b->at] },
	                            .fields = { &d->rules.fields[DIFFER_A], &d->rules.fields[DIFFER_B] },
	                            .ignore = d->rules.ignore });
}

static bool
heads_match(const struct differ *d)
{
	const struct differ_side *const a = &d->sides[DIFFER_A], *const b = &d->sides[DIFFER_B];

	return wide_hash_equal(a->key, b->key) && within(a->id.dur, b->id.dur, limit(d, PART_DURATION));
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
	struct differ_side *const s = &d->sides[which], *const other = &d->sides[!which];
	const struct pending_limits limits = { limit(d, PART_TIME), limit(d, PART_DURATION) };
	const uint64_t now = s->id.ts, tolerance = d->rules.tolerance;
	enum differ_status status = DIFFER_DONE;

	if (is_late(d, &s->pending, now) || is_late(d, &other->pending, now))
		status = differ_leftovers(d, now > tolerance ? now - tolerance : 0);
	if (status == DIFFER_DONE && pending_take(&other->pending, &s->id, s->key, limits)) {
		d->same++;
		return DIFFER_DONE;
	}
	if (status == DIFFER_DONE)
		status = make_room(d, s);
	if (status != DIFFER_DONE)
		return status;
	return pending_add(&s->pending, s->batch, s->at, &s->id, s->track, s->key) ? DIFFER_DONE
	                                                                           : DIFFER_NO_MEMORY;
}

static enum differ_status
step(struct differ *d)
{
	const struct differ_side *const a = &d->sides[DIFFER_A], *const b = &d->sides[DIFFER_B];
	const bool can = heads_can_match(d);
	enum differ_status status;
	bool same = can && heads_are_alike(d);

	if (!same) {
		if (identify(d, DIFFER_A) != DIFFER_DONE || identify(d, DIFFER_B) != DIFFER_DONE)
			return DIFFER_NO_MEMORY;
		same = can && heads_match(d);
	}
	if (same) {
		d->same++;
		status = go_on(d, DIFFER_A);
		return status == DIFFER_DONE ? go_on(d, DIFFER_B) : status;
	}
	const int which = b->ended || (!a->ended && a->id.ts <= b->id.ts) ? DIFFER_A : DIFFER_B;
	status = place(d, which);
	return status == DIFFER_DONE ? go_on(d, which) : status;
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
