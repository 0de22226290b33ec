/* Comparison event by event: a merge of both sides by time.  In the common case both heads are equal and
 * nothing is pending; no event is hashed or copied then.  Otherwise an event is matched with the pending ones
 * of the other side, or becomes pending. */
#include "compare/private.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"

#define COMPACT_FROM 1024U /* pending events; with fewer, gaps are not closed */

/* ---- counters by name ---- */

static bool add_name(struct by_name *t, struct slice name, uint64_t key)
{
	const bool others = t->n + 1 == BY_NAME_MAX;
	struct slice copy = slice_of(name.p, name.n < BY_NAME_MAX_TEXT ? name.n : BY_NAME_MAX_TEXT);

	if (!array_reserve(&t->rows, t->n, &t->cap, sizeof *t->rows))
		return false;
	copy = others ? SLICE_LIT("(other names)") : arena_copy(&t->texts, copy);
	if (copy.p == NULL || (!others && !table64_put(&t->index, key, t->n)))
		return false;
	t->rows[t->n++] = (struct by_name_row){ .name = copy };
	return true;
}

struct by_name_row *by_name_row(struct by_name *t, struct slice name)
{
	/* heads are mostly equal: the name was counted last for the other side */
	if (t->last < t->n && t->last + 1 < BY_NAME_MAX && name.n < BY_NAME_MAX_TEXT &&
	    slice_equal(t->rows[t->last].name, name))
		return &t->rows[t->last];
	const uint64_t key = hash_bytes(name.p, name.n, hash_seed());
	uint32_t i = table64_get(&t->index, key);
	if (i == TABLE_NONE) {
		if (t->n < BY_NAME_MAX && !add_name(t, name, key))
			return NULL;
		i = t->n - 1;
	}
	t->last = i;
	return &t->rows[i];
}

void by_name_free(struct by_name *t)
{
	free(t->rows);
	table64_free(&t->index);
	arena_free(&t->texts);
}

/* ---- heads: the next event of each side ---- */

/* Returns the time of an event in an unsigned order. */
static uint64_t head_time(const struct differ_side *s, uint32_t at)
{
	return s->batch->events[at].ts ^ (uint64_t)s->source.signed_time << 63;
}

/* Returns true for events of classes that only B has. */
static bool is_only_in_b(const struct differ *d, int which, const struct event *e)
{
	return which == DIFFER_B && d->rules.extra_classes != NULL &&
	       name_lists_contain(d->rules.extra_classes, e->cls->name);
}

static struct wide_hash own_track(const struct differ_side *s)
{
	return track_own_identity(&s->identities, event_compared_track(&s->batch->events[s->at]));
}

/* Returns the compared parts in which the heads differ, without time.  OOM sets canon.scratch.failed of A. */
static unsigned head_differences(struct differ *d)
{
	const struct differ_side *const a = &d->sides[DIFFER_A], *const b = &d->sides[DIFFER_B];
	const struct event_pair x = { .batch = { a->batch, b->batch },
		                      .event = { &a->batch->events[a->at], &b->batch->events[b->at] },
		                      .fields = { &d->rules.fields[DIFFER_A], &d->rules.fields[DIFFER_B] },
		                      .ignore = d->rules.ignore };
	/* own identities are hashes of names: not made for equal tracks */
	const bool track = (d->rules.ignore & PART_TRACK) == 0 && !wide_hash_equal(a->track, b->track) &&
	                   !tracks_equal(a->track, own_track(a), b->track, own_track(b));

	return event_pair_differences(&x, &d->sides[DIFFER_A].canon) | (track ? PART_TRACK : 0U);
}

/* Whether an event can be reported before the next ones are read. */
static bool can_report_at_once(const struct differ *d)
{
	return d->rules.sorted && d->rules.pair_all && d->rules.tolerance == 0 &&
	       (d->rules.ignore & PART_TIME) == 0 && d->names == NULL &&
	       d->sides[DIFFER_A].pending.alive == 0 && d->sides[DIFFER_B].pending.alive == 0;
}

/* Whether the next event of the side has a later time, and is in the same batch. */
static bool is_last_of_time(const struct differ *d, int which)
{
	const struct differ_side *const s = &d->sides[which];
	uint32_t i = s->at + 1;

	while (i < s->batch->n && (!event_is_compared(&s->batch->events[i], d->rules.referred) ||
	                           is_only_in_b(d, which, &s->batch->events[i])))
		i++;
	return i < s->batch->n && head_time(s, i) > s->id.ts;
}

/* Whether nothing is pending, and both heads are the only events of their time: no other partner is
 * possible. */
static bool heads_are_alone(const struct differ *d)
{
	return can_report_at_once(d) && d->sides[DIFFER_A].id.ts == d->sides[DIFFER_B].id.ts &&
	       is_last_of_time(d, DIFFER_A) && is_last_of_time(d, DIFFER_B);
}

/* Whether nothing is pending, and the other side has ended, or its head is later. */
static bool head_is_alone(const struct differ *d, int which)
{
	const struct differ_side *const other = &d->sides[!which];

	return can_report_at_once(d) && (other->ended || other->id.ts > d->sides[which].id.ts);
}

/* Returns the head in a batch of its own. */
static struct batch head_batch(const struct differ_side *s)
{
	struct batch b = *s->batch;

	b.events += s->at;
	b.bytes = b.bytes != NULL ? b.bytes + s->at : NULL;
	b.n = b.cap = 1;
	return b;
}

static enum differ_status report_heads(struct differ *d, unsigned parts)
{
	const struct batch a = head_batch(&d->sides[DIFFER_A]), b = head_batch(&d->sides[DIFFER_B]);
	const struct difference diff = { .in = { &a, &b }, .parts = parts };

	d->changed++;
	return d->sink == NULL || d->sink(d->ctx, &diff) ? DIFFER_DONE : DIFFER_STOPPED;
}

static enum differ_status report_head(struct differ *d, int which)
{
	const struct batch b = head_batch(&d->sides[which]);
	struct difference diff = { .parts = 0 };

	diff.in[which] = &b;
	d->only[which]++;
	return d->sink == NULL || d->sink(d->ctx, &diff) ? DIFFER_DONE : DIFFER_STOPPED;
}

/* Hashes the parts that are equal for partners; with a tolerance, without times and durations. */
static struct wide_hash partner_key(const struct differ *d, const struct differ_side *s)
{
	const unsigned near = d->rules.tolerance > 0 ? (unsigned)(PART_TIME | PART_DURATION) : 0;
	struct wide_hash h = event_identity_hash(&s->id, d->rules.ignore | near);

	if ((d->rules.ignore & PART_TRACK) == 0)
		wide_hash_add_hash(&h, s->track);
	return wide_hash_end(h);
}

/* Computes the identity and the key of the head. */
static enum differ_status identify_head(struct differ *d, int which)
{
	struct differ_side *const s = &d->sides[which];

	if (s->identified || s->ended)
		return DIFFER_DONE;
	s->id = event_identity(&s->canon, s->batch, &s->batch->events[s->at], &d->rules.fields[which]);
	s->key = partner_key(d, s);
	s->id.ts = head_time(s, s->at);
	s->identified = true;
	return s->canon.scratch.failed ? DIFFER_NO_MEMORY : DIFFER_DONE;
}

/* Computes time and track of a new head, and counts it by name. */
static enum differ_status read_head(struct differ *d, int which)
{
	struct differ_side *const s = &d->sides[which];
	const struct event *const e = &s->batch->events[s->at];

	s->identified = false;
	s->id.ts = head_time(s, s->at);
	s->track = track_identity(&s->identities, s->source.trace, event_compared_track(e));
	s->events++;
	if (d->names != NULL) {
		struct by_name_row *const row = by_name_row(d->names, e->name);
		if (row == NULL)
			return DIFFER_NO_MEMORY;
		row->events[which]++;
		row->dur[which] += event_compared_duration(e);
	}
	return s->identities.failed ? DIFFER_NO_MEMORY : DIFFER_DONE;
}

/* Whether the event is compared.  Counts the events that only B has. */
static bool is_included(struct differ *d, int which, const struct event *e)
{
	const bool compared = event_is_compared(e, d->rules.referred),
	           extra = compared && is_only_in_b(d, which, e);

	d->extra_events += extra;
	return compared && !extra;
}

/* Advances a side to its next event, or to its end. */
static enum differ_status advance(struct differ *d, int which)
{
	struct differ_side *const s = &d->sides[which];

	for (s->at++;; s->at = 0) {
		while (s->batch != NULL && s->at < s->batch->n &&
		       !is_included(d, which, &s->batch->events[s->at]))
			s->at++;
		if (s->batch != NULL && s->at < s->batch->n)
			return read_head(d, which);
		batch_release(s->batch);
		s->batch = NULL;
		const enum stage_status status = s->source.next(s->source.ctx, &s->batch);
		if (status == STAGE_MORE)
			continue;
		s->batch = NULL;
		s->ended = status == STAGE_END;
		return s->ended ? DIFFER_DONE : DIFFER_BAD;
	}
}

static uint64_t part_limit(const struct differ *d, enum event_part part)
{
	return (d->rules.ignore & (unsigned)part) != 0 ? UINT64_MAX : d->rules.tolerance;
}

/* ---- steps ---- */

/* The common case: nothing is pending, and both heads have about the same time. */
static bool heads_may_match(const struct differ *d)
{
	const struct differ_side *const a = &d->sides[DIFFER_A], *const b = &d->sides[DIFFER_B];

	return !a->ended && !b->ended && a->pending.alive == 0 && b->pending.alive == 0 &&
	       within(a->id.ts, b->id.ts, part_limit(d, PART_TIME));
}

/* Whether the oldest pending event is too early for all further events, even for a similar partner: after 3
 * tolerances (differ_flush()), and one more, so that more events are flushed at once. */
static bool is_late(const struct differ *d, struct pending *p, uint64_t now)
{
	uint64_t ts;

	return (d->rules.ignore & PART_TIME) == 0 && pending_oldest(p, &ts) && ts < now &&
	       (now - ts) / 4 >= d->rules.tolerance;
}

static enum differ_status reserve_pending(struct differ *d, struct differ_side *s)
{
	if (s->pending.alive >= PENDING_MAX || s->pending.bytes >= PENDING_MAX_BYTES) {
		d->full++;
		return differ_flush(d, UINT64_MAX);
	}
	if (s->pending.n >= COMPACT_FROM && s->pending.alive < s->pending.n / 2 &&
	    !pending_compact(&s->pending))
		return DIFFER_NO_MEMORY;
	return DIFFER_DONE;
}

/* Matches a head with a pending event of the other side, or makes it pending. */
static enum differ_status match_or_keep(struct differ *d, int which)
{
	struct differ_side *const s = &d->sides[which];
	struct pending *const other = &d->sides[!which].pending;
	const struct pending_limits limits = { part_limit(d, PART_TIME), part_limit(d, PART_DURATION) };

	if (identify_head(d, which) != DIFFER_DONE)
		return DIFFER_NO_MEMORY;
	if (pending_match(other, &s->id, s->key, limits)) {
		d->same++;
		return DIFFER_DONE;
	}
	const enum differ_status status = reserve_pending(d, s);
	if (status != DIFFER_DONE)
		return status;
	return pending_add(&s->pending, s->batch, s->at, &s->id, s->track, own_track(s), s->key)
	           ? DIFFER_DONE
	           : DIFFER_NO_MEMORY;
}

/* Reports pending events that cannot find a partner any more. */
static enum differ_status flush_late(struct differ *d, uint64_t now)
{
	const uint64_t tolerance = d->rules.tolerance;

	if (!is_late(d, &d->sides[DIFFER_A].pending, now) && !is_late(d, &d->sides[DIFFER_B].pending, now))
		return DIFFER_DONE;
	return differ_flush(d, now > tolerance ? now - tolerance : 0);
}

static enum differ_status advance_both(struct differ *d, enum differ_status status)
{
	if (status == DIFFER_DONE)
		status = advance(d, DIFFER_A);
	return status == DIFFER_DONE ? advance(d, DIFFER_B) : status;
}

/* Returns the parts in which the heads differ beyond the tolerance, without time. */
static unsigned differences_beyond_tolerance(struct differ *d)
{
	const struct differ_side *const a = &d->sides[DIFFER_A], *const b = &d->sides[DIFFER_B];
	const unsigned parts = head_differences(d);

	return within(event_compared_duration(&a->batch->events[a->at]),
	              event_compared_duration(&b->batch->events[b->at]), part_limit(d, PART_DURATION))
	           ? parts & ~(unsigned)PART_DURATION
	           : parts;
}

/* Matches the heads with each other.  *accepted: they are partners. */
static enum differ_status match_heads(struct differ *d, bool *accepted)
{
	const unsigned parts = differences_beyond_tolerance(d);

	if (d->sides[DIFFER_A].canon.scratch.failed)
		return DIFFER_NO_MEMORY;
	*accepted = parts == 0 || heads_are_alone(d);
	d->same += parts == 0;
	return parts != 0 && *accepted ? report_heads(d, parts) : DIFFER_DONE;
}

/* The head of A was left out.  B has it only if other events refer to it: then both heads are equal. */
static enum differ_status step_left_out(struct differ *d)
{
	const struct differ_side *const a = &d->sides[DIFFER_A], *const b = &d->sides[DIFFER_B];
	const bool is_kept = !b->ended && a->id.ts == b->id.ts && head_differences(d) == 0;

	if (a->canon.scratch.failed)
		return DIFFER_NO_MEMORY;
	return is_kept ? advance_both(d, DIFFER_DONE) : advance(d, DIFFER_A);
}

/* Returns the side whose head is next: the earlier one.  If times are not compared, the traces may be far
 * apart: then the side of which fewer events were read. */
static int next_side(const struct differ *d)
{
	const struct differ_side *const a = &d->sides[DIFFER_A], *const b = &d->sides[DIFFER_B];

	if (a->ended || b->ended)
		return b->ended ? DIFFER_A : DIFFER_B;
	if ((d->rules.ignore & PART_TIME) != 0)
		return a->events <= b->events ? DIFFER_A : DIFFER_B;
	return a->id.ts <= b->id.ts ? DIFFER_A : DIFFER_B;
}

static enum differ_status step_by_time(struct differ *d)
{
	const int which = next_side(d);
	enum differ_status status = flush_late(d, d->sides[which].id.ts);
	bool accepted = false;

	if (status == DIFFER_DONE && heads_may_match(d))
		status = match_heads(d, &accepted);
	if (accepted || status != DIFFER_DONE)
		return advance_both(d, status);
	status = head_is_alone(d, which) ? report_head(d, which) : match_or_keep(d, which);
	return status == DIFFER_DONE ? advance(d, which) : status;
}

/* Reports a head without a partner.  *accepted: the sink accepts it. */
static enum differ_status report_and_advance(struct differ *d, int which, bool *accepted)
{
	const enum differ_status status = report_head(d, which);

	*accepted = status == DIFFER_DONE;
	return *accepted ? advance(d, which) : status;
}

/* rules.in_step: both heads are partners if the sink accepts their difference; else one has no partner. */
static enum differ_status step_by_position(struct differ *d)
{
	const struct differ_side *const a = &d->sides[DIFFER_A], *const b = &d->sides[DIFFER_B];
	enum differ_status status = DIFFER_STOPPED;
	bool accepted = false;

	if (!a->ended && !b->ended) {
		unsigned parts = differences_beyond_tolerance(d);
		if (a->canon.scratch.failed)
			return DIFFER_NO_MEMORY;
		if (!within(a->id.ts, b->id.ts, part_limit(d, PART_TIME)))
			parts |= PART_TIME;
		d->same += parts == 0;
		if (parts == 0 || report_heads(d, parts) == DIFFER_DONE)
			return advance_both(d, DIFFER_DONE);
	}
	if (!b->ended)
		status = report_and_advance(d, DIFFER_B, &accepted);
	return accepted || a->ended ? status : report_and_advance(d, DIFFER_A, &accepted);
}

static enum differ_status step(struct differ *d)
{
	const struct differ_side *const a = &d->sides[DIFFER_A];

	if (d->rules.left_out && !a->ended && (a->batch->events[a->at].flags & EVENT_LEFT_OUT) != 0)
		return step_left_out(d);
	return d->rules.in_step ? step_by_position(d) : step_by_time(d);
}

/* ---- the whole comparison ---- */

void differ_init(struct differ *d, const struct differ_rules *rules, struct differ_source a,
                 struct differ_source b, difference_sink *sink, void *ctx)
{
	*d = (struct differ){ .rules = *rules, .sink = sink, .ctx = ctx };
	d->sides[DIFFER_A].source = a;
	d->sides[DIFFER_B].source = b;
	for (int i = 0; i < DIFFER_SIDES; i++)
		d->sides[i].identities.without = rules->tracks;
}

enum differ_status differ_run(struct differ *d)
{
	enum differ_status status = DIFFER_DONE;

	for (int i = 0; i < DIFFER_SIDES && status == DIFFER_DONE; i++)
		if (!batch_init(&d->sides[i].shown, 1, false))
			status = DIFFER_NO_MEMORY;
	for (int i = 0; i < DIFFER_SIDES && status == DIFFER_DONE; i++)
		status = advance(d, i);
	while (status == DIFFER_DONE && !(d->sides[DIFFER_A].ended && d->sides[DIFFER_B].ended))
		status = step(d);
	return status == DIFFER_DONE ? differ_flush(d, UINT64_MAX) : status;
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
