/* Events without a partner so far, in chains by the hash of the parts that are equal for partners.  Events
 * whose time has passed are paired with the most similar ones, in rounds of decreasing strictness: each round
 * sorts both sides by a hash of the parts that it compares, and merges them, in O(n log n). */
#include "compare/private.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "run/sort/sorter.h"

#define MAX_PROBES 64      /* events of one key that are examined: hostile traces have very many */
#define MAX_CHOICES 16     /* candidates that are compared with one event, for the same reason */
#define FIRST_BUFFER 4096U /* bytes */

static char *pack_event(struct pending *p, const struct batch *b, uint32_t i, uint64_t *size)
{
	while ((*size = p->buffer != NULL ? event_pack(p->buffer, p->buffer_size, b, i, NULL) : 0) == 0) {
		const uint64_t want = p->buffer_size > 0 ? p->buffer_size * 2 : FIRST_BUFFER;
		if (want > EVENT_PACKED_MAX || !array_resize(&p->buffer, want, 1))
			return NULL;
		p->buffer_size = want;
	}
	char *const copy = malloc(*size + EVENT_PACKED_SLACK);
	if (copy != NULL)
		memcpy(copy, p->buffer, *size);
	return copy;
}

/* Appends list[i] to the chain of its key. */
static bool link_event(struct pending *p, uint32_t i)
{
	struct pending_event *const e = &p->list[i];
	const uint32_t first = table64_get(&p->keys, e->key.a);

	e->next = PENDING_NONE;
	e->tail = i;
	if (first == TABLE_NONE)
		return table64_put(&p->keys, e->key.a, i);
	p->list[p->list[first].tail].next = i;
	p->list[first].tail = i;
	return true;
}

bool pending_add(struct pending *p, const struct batch *b, uint32_t i, const struct event_identity *id,
                 struct wide_hash track, struct wide_hash own, struct wide_hash key)
{
	uint64_t size;

	if (!array_reserve(&p->list, p->n, &p->cap, sizeof *p->list))
		return false;
	char *const packed = pack_event(p, b, i, &size);
	if (packed == NULL)
		return false;
	p->list[p->n] = (struct pending_event){
		.id = *id, .track = track, .own = own, .key = key, .packed = packed, .partner = PENDING_NONE
	};
	if (!link_event(p, p->n)) {
		free(packed);
		return false;
	}
	p->n++;
	p->alive++;
	p->bytes += size;
	return true;
}

static void remove_pending(struct pending *p, struct pending_event *e)
{
	p->bytes -= event_packed_size(e->packed);
	free(e->packed);
	e->packed = NULL;
	e->removed = true;
	p->alive--;
}

bool pending_oldest(struct pending *p, uint64_t *ts)
{
	while (p->oldest < p->n && p->list[p->oldest].removed)
		p->oldest++;
	if (p->oldest < p->n)
		*ts = p->list[p->oldest].id.ts;
	return p->oldest < p->n;
}

/* Returns the first event of a chain that is not removed.  Removed events before it are unlinked, so that
 * each is passed only once. */
static uint32_t first_alive(struct pending *p, uint64_t key, uint32_t first)
{
	const uint32_t tail = p->list[first].tail;
	uint32_t i = first;

	while (p->list[i].removed && p->list[i].next != PENDING_NONE)
		i = p->list[i].next;
	if (i != first && table64_put(&p->keys, key, i))
		p->list[i].tail = tail;
	return i;
}

bool pending_match(struct pending *p, const struct event_identity *id, struct wide_hash key,
                   struct pending_limits limits)
{
	uint32_t i = p->alive > 0 ? table64_get(&p->keys, key.a) : TABLE_NONE;

	if (i == TABLE_NONE)
		return false;
	i = first_alive(p, key.a, i);
	for (int probes = 0; i != PENDING_NONE && probes < MAX_PROBES; i = p->list[i].next, probes++) {
		struct pending_event *const e = &p->list[i];
		if (e->removed || !wide_hash_equal(e->key, key) || !within(e->id.ts, id->ts, limits.time) ||
		    !within(e->id.dur, id->dur, limits.dur))
			continue;
		remove_pending(p, e);
		return true;
	}
	return false;
}

bool pending_compact(struct pending *p)
{
	uint32_t n = 0;
	bool ok = true;

	table64_free(&p->keys);
	for (uint32_t i = 0; i < p->n; i++)
		if (!p->list[i].removed)
			p->list[n++] = p->list[i];
	p->n = n;
	p->oldest = 0;
	for (uint32_t i = 0; ok && i < n; i++)
		ok = link_event(p, i);
	return ok;
}

void pending_free(struct pending *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		free(p->list[i].packed);
	table64_free(&p->keys);
	free(p->list);
	free(p->buffer);
}

/* ---- reports of pending events ---- */

static unsigned find_differences(const struct differ *d, const struct pending_event *a,
                                 const struct pending_event *b)
{
	const struct event_identity *const x = &a->id, *const y = &b->id;
	const uint64_t tolerance = d->rules.tolerance;
	unsigned parts = 0;

	if (!within(x->ts, y->ts, tolerance))
		parts |= PART_TIME;
	if (!within(x->dur, y->dur, tolerance))
		parts |= PART_DURATION;
	if (x->phase != y->phase || x->async != y->async || x->step != y->step)
		parts |= PART_PHASE;
	if (!wide_hash_equal(x->name, y->name))
		parts |= PART_NAME;
	if (!wide_hash_equal(x->category, y->category))
		parts |= PART_CATEGORY;
	if (x->nfields != y->nfields || !wide_hash_equal(x->fields, y->fields))
		parts |= PART_FIELDS;
	if (!tracks_equal(a->track, a->own, b->track, b->own))
		parts |= PART_TRACK;
	return parts & ~d->rules.ignore;
}

static bool count_difference(struct differ *d, const struct difference *diff,
                             const struct pending_event *const e[DIFFER_SIDES])
{
	const int side = e[DIFFER_A] != NULL ? DIFFER_A : DIFFER_B;
	const bool pair = e[DIFFER_A] != NULL && e[DIFFER_B] != NULL;

	d->changed += pair;
	d->only[side] += !pair;
	if (d->names == NULL)
		return true;
	struct by_name_row *const row = by_name_row(d->names, difference_event(diff, side)->name);
	if (row == NULL)
		return false;
	row->changed += pair;
	row->only[side] += !pair;
	return true;
}

/* a or b NULL: the event is on the other side only. */
static enum differ_status report_pending(struct differ *d, struct pending_event *a, struct pending_event *b)
{
	const struct pending_event *const e[DIFFER_SIDES] = { a, b };
	struct difference diff = { .parts = a != NULL && b != NULL ? find_differences(d, a, b) : 0 };

	for (int i = 0; i < DIFFER_SIDES; i++) {
		struct batch *const shown = &d->sides[i].shown;
		if (e[i] == NULL)
			continue;
		batch_recycle(shown);
		if (!event_unpack_copy(shown, e[i]->packed, NULL))
			return DIFFER_NO_MEMORY;
		diff.in[i] = shown;
	}
	const bool same =
	    a != NULL && b != NULL && diff.parts == 0; /* by the own identities of their tracks */
	d->same += same;
	if (!same && !count_difference(d, &diff, e))
		return DIFFER_NO_MEMORY;
	if (a != NULL)
		remove_pending(&d->sides[DIFFER_A].pending, a);
	if (b != NULL)
		remove_pending(&d->sides[DIFFER_B].pending, b);
	return same || d->sink == NULL || d->sink(d->ctx, &diff) ? DIFFER_DONE : DIFFER_STOPPED;
}

/* ---- pairs of similar events ---- */

/* Parts that the events of a pair have in common.  Each round pairs events that the previous rounds left. */
enum {
	SAME_TRACK = 1,
	SAME_NAME = 2,
	SAME_PHASE = 4,
	SAME_FIELDS = 8,
	SAME_TIME = 16,
	SAME_DURATION = 32,
};

/* For two runs: the same name and phase is a better match than the same time. */
static const unsigned run_rounds[] = {
	SAME_TRACK | SAME_NAME | SAME_TIME | SAME_DURATION,
	SAME_TRACK | SAME_NAME | SAME_PHASE,
	SAME_NAME | SAME_TIME | SAME_DURATION,
	SAME_TRACK | SAME_TIME | SAME_DURATION,
	SAME_TRACK,
	SAME_NAME | SAME_PHASE | SAME_FIELDS,
	SAME_NAME,
	0,
};

/* For a trace and its conversion: times hardly change, and as many events as possible are paired.  A writer
 * may change all names, but rarely a phase: of events with equal times, equal phases are paired first. */
static const unsigned copy_rounds[] = {
	SAME_TRACK | SAME_NAME | SAME_PHASE | SAME_FIELDS | SAME_TIME | SAME_DURATION,
	SAME_TRACK | SAME_NAME | SAME_FIELDS | SAME_TIME | SAME_DURATION,
	SAME_TRACK | SAME_NAME | SAME_PHASE | SAME_TIME | SAME_DURATION,
	SAME_TRACK | SAME_NAME | SAME_TIME | SAME_DURATION,
	SAME_NAME | SAME_PHASE | SAME_TIME | SAME_DURATION,
	SAME_NAME | SAME_TIME | SAME_DURATION,
	SAME_TRACK | SAME_PHASE | SAME_TIME | SAME_DURATION,
	SAME_TRACK | SAME_TIME | SAME_DURATION,
	SAME_PHASE | SAME_TIME | SAME_DURATION,
	SAME_TIME | SAME_DURATION,
	SAME_TRACK | SAME_NAME | SAME_PHASE,
	SAME_TRACK,
	SAME_NAME | SAME_PHASE | SAME_FIELDS,
	SAME_NAME,
	SAME_TIME,
	0,
};

/* An event in a round. */
struct candidate {
	uint64_t hash, ts, dur;
	uint32_t index;
};

struct candidates {
	struct candidate *list[DIFFER_SIDES]; /* sorted by compare_candidates() */
	uint32_t n[DIFFER_SIDES];
};

/* Hashes the parts of a round.  With a tolerance, times and durations are not compared. */
static uint64_t round_hash(const struct differ *d, const struct pending_event *e, unsigned round)
{
	const unsigned ignore =
	    d->rules.ignore | (d->rules.tolerance > 0 ? (unsigned)(PART_TIME | PART_DURATION) : 0);
	struct wide_hash h = wide_hash_start(round);

	if ((round & SAME_TRACK) != 0 && (ignore & PART_TRACK) == 0)
		wide_hash_add_hash(&h, e->track);
	if ((round & SAME_NAME) != 0 && (ignore & PART_NAME) == 0)
		wide_hash_add_hash(&h, e->id.name);
	if ((round & SAME_PHASE) != 0)
		wide_hash_add(&h, e->id.phase);
	if ((round & SAME_FIELDS) != 0)
		wide_hash_add_hash(&h, e->id.fields);
	if ((round & SAME_TIME) != 0 && (ignore & PART_TIME) == 0)
		wide_hash_add(&h, e->id.ts);
	if ((round & SAME_DURATION) != 0 && (ignore & PART_DURATION) == 0)
		wide_hash_add(&h, e->id.dur);
	return wide_hash_end(h).a;
}

static int compare_candidates(const void *x, const void *y)
{
	const struct candidate *const a = x, *const b = y;

	return a->hash != b->hash ? ORDER(a->hash, b->hash)
	       : a->ts != b->ts   ? ORDER(a->ts, b->ts)
	       : a->dur != b->dur ? ORDER(a->dur, b->dur)
	                          : ORDER(a->index, b->index);
}

static uint32_t collect_candidates(const struct differ *d, const struct pending *p, unsigned round,
                                   struct candidate *to)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n; i++)
		if (!p->list[i].removed && p->list[i].partner == PENDING_NONE)
			to[n++] = (struct candidate){ round_hash(d, &p->list[i], round), p->list[i].id.ts,
				                      p->list[i].id.dur, i };
	if (n > 1)
		qsort(to, n, sizeof *to, compare_candidates);
	return n;
}

static bool is_before(const struct pending_event *e, uint64_t before)
{
	return before == UINT64_MAX || e->id.ts < before;
}

/* Whether a pair is made; with `allowed`, only if rules.may_differ accepts its differences. */
static bool is_made(const struct differ *d, const struct pending_event *a, const struct pending_event *b,
                    uint64_t before, bool allowed)
{
	return is_before(a, before) && is_before(b, before) &&
	       (!allowed || d->rules.may_differ(d->ctx, find_differences(d, a, b)));
}

/* Pairs x with the first of the n candidates y of the same hash that rules.may_differ accepts, and reports
 * the pair at once, as rules.may_differ depends on earlier pairs.  Returns whether y[0] can be the partner of
 * a later event: it was not taken, and x was compared with all candidates of its hash. */
static bool match_allowed(struct differ *d, const struct candidate *x, const struct candidate *y, uint32_t n,
                          uint64_t before, enum differ_status *status)
{
	struct pending_event *const a = &d->sides[DIFFER_A].pending.list[x->index];
	struct pending_event *const list = d->sides[DIFFER_B].pending.list;
	uint32_t i = 0;

	while (i < n && i < MAX_CHOICES && y[i].hash == x->hash && !a->removed && *status == DIFFER_DONE) {
		struct pending_event *const b = &list[y[i++].index];
		if (!b->removed && is_made(d, a, b, before, true))
			*status = report_pending(d, a, b);
	}
	return !list[y->index].removed && (a->removed || i < MAX_CHOICES);
}

/* Pairs the candidates, with `allowed` those that rules.may_differ accepts.  The other pairs are reported
 * later, in order of time. */
static enum differ_status match_candidates(struct differ *d, const struct candidates *l, uint64_t before,
                                           bool allowed)
{
	struct pending *const p = &d->sides[DIFFER_A].pending, *const q = &d->sides[DIFFER_B].pending;
	enum differ_status status = DIFFER_DONE;
	uint32_t i = 0, k = 0;

	while (i < l->n[DIFFER_A] && k < l->n[DIFFER_B] && status == DIFFER_DONE) {
		const struct candidate *const x = &l->list[DIFFER_A][i], *const y = &l->list[DIFFER_B][k];
		bool keeps_y = false;
		if (x->hash == y->hash && allowed) {
			keeps_y = match_allowed(d, x, y, l->n[DIFFER_B] - k, before, &status);
		} else if (x->hash == y->hash &&
		           is_made(d, &p->list[x->index], &q->list[y->index], before, false)) {
			p->list[x->index].partner = y->index;
			q->list[y->index].partner = x->index;
		}
		i += x->hash <= y->hash;
		k += y->hash <= x->hash && !keeps_y;
	}
	return status;
}

static uint32_t next_pending(const struct pending *p, uint32_t i)
{
	while (i < p->n && p->list[i].removed)
		i++;
	return i;
}

/* Pairs that were not reported may be made in another way later. */
static void undo_pairs(struct pending *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		p->list[i].partner = PENDING_NONE;
}

/* Reports pairs and events without a partner in order of time, up to the first event that could be paired
 * later: one that is not earlier than `before`. */
static enum differ_status report_in_order(struct differ *d, uint64_t before)
{
	struct pending *const p = &d->sides[DIFFER_A].pending, *const q = &d->sides[DIFFER_B].pending;
	enum differ_status status = DIFFER_DONE;
	uint32_t i = 0, k = 0;

	while (status == DIFFER_DONE) {
		i = next_pending(p, i);
		k = next_pending(q, k);
		struct pending_event *a = i < p->n ? &p->list[i] : NULL, *b = k < q->n ? &q->list[k] : NULL;
		if (b == NULL || (a != NULL && a->id.ts <= b->id.ts))
			b = a != NULL && a->partner != PENDING_NONE ? &q->list[a->partner] : NULL;
		else
			a = b->partner != PENDING_NONE ? &p->list[b->partner] : NULL;
		if ((a == NULL && b == NULL) ||
		    ((a == NULL || b == NULL) && !is_before(a != NULL ? a : b, before)))
			break;
		status = report_pending(d, a, b);
	}
	undo_pairs(p);
	undo_pairs(q);
	return status;
}

static enum differ_status run_through(struct differ *d, struct candidates *l, uint64_t before, bool allowed)
{
	struct pending *const p = &d->sides[DIFFER_A].pending, *const q = &d->sides[DIFFER_B].pending;
	const unsigned *round = d->rules.pair_all ? copy_rounds : run_rounds;
	enum differ_status status = DIFFER_DONE;

	for (; *round != 0 && status == DIFFER_DONE && p->alive > 0 && q->alive > 0; round++) {
		l->n[DIFFER_A] = collect_candidates(d, p, *round, l->list[DIFFER_A]);
		l->n[DIFFER_B] = collect_candidates(d, q, *round, l->list[DIFFER_B]);
		status = match_candidates(d, l, before, allowed);
	}
	return status;
}

/* Returns the time up to which events are reported: two tolerances earlier, so that the partner of an event
 * that moved by little more than the tolerance is known, and the event is reported as changed. */
static uint64_t report_until(const struct differ *d, uint64_t before)
{
	const uint64_t tolerance = d->rules.tolerance;

	return before == UINT64_MAX ? before : before / 2 >= tolerance ? before - 2 * tolerance : 0;
}

enum differ_status differ_flush(struct differ *d, uint64_t before)
{
	struct pending *const p = &d->sides[DIFFER_A].pending, *const q = &d->sides[DIFFER_B].pending;
	struct candidates l = { .n = { 0 } };
	enum differ_status status = DIFFER_DONE;

	if (p->alive > 0 && q->alive > 0) {
		l.list[DIFFER_A] = malloc(p->n * sizeof *l.list[0]);
		l.list[DIFFER_B] = malloc(q->n * sizeof *l.list[0]);
		if (l.list[DIFFER_A] == NULL || l.list[DIFFER_B] == NULL)
			status = DIFFER_NO_MEMORY;
	}
	if (status == DIFFER_DONE && d->rules.may_differ != NULL)
		status = run_through(d, &l, before, true);
	if (status == DIFFER_DONE)
		status = run_through(d, &l, before, false);
	free(l.list[DIFFER_A]);
	free(l.list[DIFFER_B]);
	if (status == DIFFER_DONE)
		status = report_in_order(d, report_until(d, before));
	return status == DIFFER_DONE && !(pending_compact(p) && pending_compact(q)) ? DIFFER_NO_MEMORY
	                                                                            : status;
}
