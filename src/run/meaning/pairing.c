/* Pairs BEGIN and END events into spans: a stack and a list of states per track, hash tables for async spans
 * and for ends that precede their begin.  Open spans are in one array with a free list; an END searches at
 * most PAIRING_LOOK entries of the stack.  The limits are in interpret.h. */
#include <stdlib.h>

#include "base/memory.h"
#include "run/engine_losses.h"
#include "run/meaning/interpret.h"

/* ---- ends that precede their begin ---- */

#define BUCKETS 8192U

struct pending_end {
	uint64_t ts, offset, key;
	struct slice name;
	const struct class *cls;
	const struct track *track; /* NULL: free slot */
	struct retained *retained;
	uint32_t next; /* slot + 1 */
	uint16_t pair;
};

static void pending_ends_free(struct pending_ends *a)
{
	for (uint32_t i = 0; i < a->n; i++)
		retained_free(a->ends[i].retained);
	free(a->ends);
	free(a->buckets);
	*a = (struct pending_ends){ .n = 0 };
}

/* The hash of an end of an async span.  owner: the index of its process; 0: it may end anywhere. */
static uint64_t hash_async(const struct pairing *p, uint32_t owner, const struct pairing_how *how)
{
	const uint64_t which = (uint64_t)owner << 16 | how->pair;

	return hash_u64(how->key, p->seed ^ which * UINT64_C(0x9e3779b97f4a7c15));
}

static uint32_t *bucket_of(const struct pending_ends *a, const struct pairing *p, const struct track *track,
                           const struct pairing_how *how)
{
	return &a->buckets[hash_async(p, track_process(track)->index, how) & (BUCKETS - 1)];
}

/* Frees a copy of texts, or passes it on. */
static void release_texts(struct pairing *p, struct retained *k, struct batch *b)
{
	if (k == NULL)
		return;
	p->retained_bytes -= k->bytes;
	retained_done(k, b, &p->spare);
}

/* Returns a free slot + 1, or 0 beyond the limit or on OOM. */
static uint32_t reserve_end(struct pending_ends *a, struct pairing *p)
{
	const uint32_t slot = a->free;

	if (note_failure(&p->failed,
	                 a->buckets == NULL && (a->buckets = calloc(BUCKETS, sizeof *a->buckets)) == NULL))
		return 0;
	if (slot != 0) {
		a->free = a->ends[slot - 1].next;
		return slot;
	}
	if (a->n == PENDING_END_MAX)
		return 0;
	if (note_failure(&p->failed, !array_reserve(&a->ends, a->n, &a->cap, sizeof *a->ends)))
		return 0;
	a->ends[a->n].retained = NULL;
	return ++a->n;
}

static void free_end(struct pending_ends *a, struct pairing *p, struct pending_end *s, struct batch *b)
{
	release_texts(p, s->retained, b);
	s->retained = NULL;
	s->track = NULL;
	s->next = a->free;
	a->free = (uint32_t)(s - a->ends) + 1;
}

/* Retains an END without an open span.  Returns true if it is retained: the event is no longer needed. */
static bool retain_end(struct pending_ends *a, struct pairing *p, struct batch *b, const struct event *e,
                       const struct pairing_how *how)
{
	const struct slice name = how->lasting ? SLICE_NONE : e->name;
	const uint32_t n = how->fields ? e->nfields : 0;
	enum retained_made made = RETAINED_MADE;
	struct retained *k = NULL;
	const uint32_t slot = reserve_end(a, p);

	if (slot == 0)
		return false;
	struct pending_end *const s = &a->ends[slot - 1];
	*s =
	    (struct pending_end){ e->ts, e->offset, how->key, e->name, e->cls, e->track, NULL, 0, how->pair };
	if (n > 0 || !how->lasting)
		made = retained_new(&k, name, e->cls, b->fields + e->first_field, n,
		                    PAIRING_BYTES - p->retained_bytes, &p->spare);
	if (made != RETAINED_MADE) {
		p->failed |= made == RETAINED_NO_MEMORY;
		free_end(a, p, s, b);
		return false;
	}
	s->retained = k;
	p->retained_bytes += k != NULL ? k->bytes : 0;
	if (!how->lasting)
		s->name = k->name;
	uint32_t *const head = bucket_of(a, p, e->track, how);
	s->next = *head;
	*head = slot;
	return true;
}

/* Returns the link to the earliest retained end that is not before the begin e, or NULL. */
static uint32_t *find_end(const struct pending_ends *a, const struct pairing *p, const struct event *e,
                          const struct pairing_how *how)
{
	uint32_t *link = bucket_of(a, p, e->track, how), *best = NULL;

	for (unsigned i = 0; *link != 0 && i < PAIRING_LOOK; i++) {
		struct pending_end *const s = &a->ends[*link - 1];
		if (s->pair == how->pair && s->key == how->key && s->ts >= e->ts &&
		    track_process(s->track) == track_process(e->track) &&
		    (best == NULL || s->ts < a->ends[*best - 1].ts))
			best = link;
		link = &s->next;
	}
	return best;
}

/* If the end of this BEGIN preceded it, turns e into the span and returns true. */
static bool match_end(struct pending_ends *a, struct pairing *p, struct batch *b, struct event *e,
                      const struct pairing_how *how)
{
	uint32_t *const link = a->buckets != NULL ? find_end(a, p, e, how) : NULL;

	if (link == NULL)
		return false;
	struct pending_end *const s = &a->ends[*link - 1];
	struct field *const to =
	    s->retained != NULL && how->fields ? batch_fields(b, e->nfields + s->retained->nfields) : NULL;
	if (to != NULL) {
		const uint32_t n = retained_join(b, b->fields + e->first_field, e->nfields,
		                                 s->retained->fields, s->retained->nfields, to);
		batch_set_fields(b, e, (uint16_t)(n < UINT16_MAX ? n : UINT16_MAX));
	}
	a->ended_by = s->offset;
	e->dur = s->ts - e->ts;
	e->phase = PHASE_SPAN;
	e->flags = EVENT_ASYNC;
	*link = s->next;
	free_end(a, p, s, b);
	return true;
}

/* Adds retained ends without a begin as instants, at the end of the trace.  Returns true if the batch is
 * full. */
static bool finish_ends(struct pending_ends *a, struct pairing *p, struct batch *b)
{
	for (; a->at < a->n && b->n < b->cap; a->at++) {
		struct pending_end *const s = &a->ends[a->at];
		if (s->track == NULL)
			continue;
		const uint32_t n = s->retained != NULL ? s->retained->nfields : 0;
		struct field *const to = batch_fields(b, n);
		if (to == NULL)
			continue;
		if (n > 0)
			memcpy(to, s->retained->fields, n * sizeof *to);
		struct event *const e = &b->events[b->n++];
		*e = (struct event){ .ts = s->ts,
			             .name = s->name,
			             .cls = s->cls,
			             .track = s->track,
			             .offset = s->offset,
			             .phase = PHASE_INSTANT };
		batch_set_fields(b, e, (uint16_t)n);
		pairing_alone(p, e);
		free_end(a, p, s, b);
	}
	return a->at < a->n;
}

/* ---- pairing ---- */

#define ASYNC_BUCKETS 65536U

void pairing_init(struct pairing *p, struct trace *trace)
{
	*p = (struct pairing){ .trace = trace, .seed = hash_seed() };
}

void pairing_free(struct pairing *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		retained_free(p->spans[i].retained);
	free(p->spans);
	free(p->tracks);
	free(p->buckets);
	table64_free(&p->beyond);
	pending_ends_free(&p->pending);
	retained_spare_free(&p->spare);
	ledger_free(&p->ledger);
	*p = (struct pairing){ .trace = NULL };
}

/* ---- slots ---- */

static void grow_slots(struct pairing *p)
{
	const uint32_t cap = p->n == 0 ? 64 : p->n * 2;

	if (note_failure(&p->failed, !array_resize(&p->spans, cap, sizeof *p->spans)))
		return;
	for (; p->n < cap; p->n++) {
		p->spans[p->n] = (struct open_span){ .below = p->free };
		p->free = p->n + 1;
	}
}

/* Returns a free slot, or NULL on OOM; the caller checked the limit. */
static struct open_span *take_slot(struct pairing *p)
{
	if (p->free == 0)
		grow_slots(p);
	if (p->free == 0)
		return NULL;
	struct open_span *const s = &p->spans[p->free - 1];
	p->free = s->below;
	return s;
}

static void free_slot(struct pairing *p, struct open_span *s, struct batch *b)
{
	release_texts(p, s->retained, b);
	s->retained = NULL;
	s->cls = NULL;
	s->below = p->free;
	p->free = (uint32_t)(s - p->spans) + 1;
}

/* ---- lists ---- */

/* Returns the head of the list that a span belongs to. */
static uint32_t *list_of(const struct pairing *p, const struct track *track, const struct pairing_how *how)
{
	if ((how->flags & PAIRING_ASYNC) != 0)
		return &p->buckets[hash_async(
		                       p,
		                       (how->flags & PAIRING_ANYWHERE) != 0 ? 0 : track_process(track)->index,
		                       how) &
		                   (ASYNC_BUCKETS - 1)];
	struct open_track *const t = &p->tracks[track->index];
	return (how->flags & PAIRING_STATE) != 0 ? &t->states : &t->top;
}

static bool is_same_process(const struct open_span *s, const struct track *track)
{
	return track_process(s->track) == track_process(track);
}

static bool matches(const struct open_span *s, const struct track *track, const struct pairing_how *how)
{
	if ((how->name.p != NULL && !slice_equal(s->name, how->name)) ||
	    (how->cls != NULL && s->cls != how->cls && !slice_equal(s->cls->name, how->cls->name)) ||
	    (s->flags & PAIRING_ENDLESS) != 0)
		return false;
	if ((how->flags & PAIRING_ASYNC) != 0)
		return s->pair == how->pair && s->key == how->key &&
		       ((how->flags & PAIRING_ANYWHERE) != 0 || is_same_process(s, track));
	if (how->pair == 0)
		return how->key == 0 || s->key == how->key;
	return s->pair == how->pair && s->key == how->key;
}

/* Returns the link to the span that an end closes, or NULL. */
static uint32_t *find_open(const struct pairing *p, const struct track *track, const struct pairing_how *how)
{
	uint32_t *elsewhere = NULL;

	if ((how->flags & PAIRING_ASYNC) != 0 ? p->buckets == NULL : track->index >= p->ntracks)
		return NULL;
	uint32_t *link = list_of(p, track, how);
	for (unsigned i = 0; *link != 0 && i < PAIRING_LOOK; i++) {
		struct open_span *const s = &p->spans[*link - 1];
		if (matches(s, track, how)) {
			if ((how->flags & PAIRING_ANYWHERE) == 0 || is_same_process(s, track))
				return link;
			elsewhere = elsewhere == NULL ? link : elsewhere;
		}
		link = &s->below;
	}
	return elsewhere;
}

/* ---- spans beyond the limits ---- */

static uint64_t beyond_key(const struct track *track, const struct pairing_how *how)
{
	const struct track *const t = (how->flags & PAIRING_ASYNC) != 0 ? track_process(track) : track;

	return (uint64_t)t->index << 16 | how->pair;
}

/* Returns the counts of a track, or NULL for async spans. */
static uint32_t *beyond_of_track(const struct pairing *p, const struct track *track,
                                 const struct pairing_how *how)
{
	return (how->flags & PAIRING_ASYNC) == 0 && track->index < p->ntracks
	           ? &p->tracks[track->index].beyond
	           : NULL;
}

static uint32_t beyond_count(const struct pairing *p, const struct track *track,
                             const struct pairing_how *how)
{
	const uint32_t *const sum = beyond_of_track(p, track, how);
	const bool any = p->nbeyond > 0 && (sum == NULL || *sum > 0);
	const uint32_t n = any ? table64_get(&p->beyond, beyond_key(track, how)) : TABLE_NONE;

	return n == TABLE_NONE ? 0 : n;
}

static void beyond_set(struct pairing *p, const struct track *track, const struct pairing_how *how,
                       uint32_t n)
{
	const uint32_t old = beyond_count(p, track, how);

	if (n > old && (p->beyond.used >= PAIRING_BEYOND_ROOM || p->nbeyond == UINT32_MAX))
		return;
	uint32_t *const sum = beyond_of_track(p, track, how);
	p->nbeyond += n - old;
	if (sum != NULL)
		*sum += n - old;
	p->failed |= !table64_put(&p->beyond, beyond_key(track, how), n);
}

/* Whether an END belongs to a span that was only counted, which it ends. */
static bool drop_beyond(struct pairing *p, const struct track *track, const struct pairing_how *how)
{
	const uint32_t n = beyond_count(p, track, how);

	if (n == 0)
		return false;
	p->unpaired++;
	beyond_set(p, track, how, n - 1);
	return true;
}

/* ---- the two ends ---- */

struct slice pairing_retain(struct pairing *p, const struct batch *b, const struct event *e,
                            const struct pairing_how *how, uint32_t limit, struct retained_spare *spare,
                            struct retained **kept)
{
	const struct slice name = how->lasting ? SLICE_NONE : e->name;
	const uint32_t n = how->fields ? e->nfields : 0;

	*kept = NULL;
	if (n == 0 && how->lasting)
		return e->name;
	enum retained_made made =
	    retained_new(kept, name, e->cls, b->fields + e->first_field, n, limit, spare);
	if (made == RETAINED_TOO_MUCH && n > 0) {
		ledger_add(&p->ledger, &engine_losses[ENGINE_LOSS_FIELDS_LEFT_OUT], e->offset, 1);
		made = how->lasting ? RETAINED_MADE : retained_new(kept, name, e->cls, NULL, 0, limit, spare);
	}
	p->failed |= made == RETAINED_NO_MEMORY;
	return how->lasting ? e->name : *kept != NULL ? (*kept)->name : e->cls->name;
}

/* Ensures the list that a span belongs to. */
static bool reserve_list(struct pairing *p, const struct event *e, const struct pairing_how *how)
{
	if ((how->flags & PAIRING_ASYNC) != 0 && p->buckets == NULL) {
		p->buckets = calloc(ASYNC_BUCKETS, sizeof *p->buckets);
		p->failed |= p->buckets == NULL;
		return p->buckets != NULL;
	}
	const bool ok = array_reach(&p->tracks, &p->ntracks, e->track->index, sizeof *p->tracks);
	p->failed |= !ok;
	return ok;
}

static bool has_capacity(const struct pairing *p, const struct event *e, const struct pairing_how *how)
{
	const bool listed = (how->flags & (PAIRING_ASYNC | PAIRING_STATE)) == 0;

	return (p->free != 0 || p->n < PAIRING_ALL) &&
	       (p->nbeyond == 0 || beyond_count(p, e->track, how) == 0) &&
	       !(listed && p->tracks[e->track->index].depth >= PAIRING_TRACK);
}

static void open_span(struct pairing *p, const struct batch *b, const struct event *e,
                      const struct pairing_how *how)
{
	const bool listed = reserve_list(p, e, how), room = listed && has_capacity(p, e, how);
	struct open_span *const s = room ? take_slot(p) : NULL;

	if (s == NULL) {
		if (listed && !room) {
			p->unpaired++;
			ledger_add(&p->ledger, &engine_losses[ENGINE_LOSS_TOO_MANY_OPEN], e->offset, 1);
			beyond_set(p, e->track, how, beyond_count(p, e->track, how) + 1);
		}
		retained_free(how->kept);
		return;
	}
	s->ts = e->ts;
	s->offset = e->offset;
	s->key = how->key;
	s->name = e->name;
	s->cls = e->cls;
	s->track = e->track;
	s->pair = how->pair;
	s->flags = how->flags;
	s->retained = how->kept;
	/* else there is nothing to copy, or it was copied: no call */
	if (how->kept == NULL && (!how->lasting || (how->fields && e->nfields > 0)))
		s->name =
		    pairing_retain(p, b, e, how, PAIRING_BYTES - p->retained_bytes, &p->spare, &s->retained);
	p->retained_bytes += s->retained != NULL ? s->retained->bytes : 0;
	uint32_t *const list = list_of(p, e->track, how);
	s->below = *list;
	*list = (uint32_t)(s - p->spans) + 1;
	if ((how->flags & (PAIRING_ASYNC | PAIRING_STATE)) == 0)
		p->tracks[e->track->index].depth++;
}

enum pairing_result pairing_begin(struct pairing *p, struct batch *b, struct event *e,
                                  const struct pairing_how *how)
{
	if ((how->flags & PAIRING_ASYNC) != 0 && match_end(&p->pending, p, b, e, how))
		return PAIRING_SPAN;
	open_span(p, b, e, how);
	return PAIRING_OPEN;
}

/* Joins the fields of BEGIN and END. */
static void join_fields(struct pairing *p, struct batch *b, struct event *e, const struct retained *k)
{
	const uint32_t of_end = (uint32_t)e->nfields <= (uint32_t)UINT16_MAX - k->nfields ? e->nfields : 0;
	struct field *const to = batch_fields(b, k->nfields + of_end);

	if (to == NULL)
		return;
	if (of_end < e->nfields)
		ledger_add(&p->ledger, &engine_losses[ENGINE_LOSS_FIELDS_LEFT_OUT], e->offset, 1);
	const uint32_t n = retained_join(b, k->fields, k->nfields, b->fields + e->first_field, of_end, to);
	batch_set_fields(b, e, (uint16_t)n);
}

/* Turns an END into the span. */
static void make_span(const struct open_span *s, struct event *e)
{
	e->dur = e->ts - s->ts;
	e->ts = s->ts;
	e->name = s->name;
	e->cls = s->cls;
	e->track = s->track;
	e->offset = s->offset;
	e->phase = PHASE_SPAN;
	e->flags = (s->flags & PAIRING_ASYNC) != 0 ? EVENT_ASYNC : 0;
}

static enum pairing_result close_span(struct pairing *p, struct batch *b, struct event *e,
                                      const struct pairing_how *how)
{
	if (p->nbeyond > 0 && how->key == 0 && drop_beyond(p, e->track, how))
		return PAIRING_DROPPED;
	uint32_t *const link = find_open(p, e->track, how);
	if (link == NULL)
		return drop_beyond(p, e->track, how) ? PAIRING_DROPPED : PAIRING_ALONE;
	struct open_span *const s = &p->spans[*link - 1];
	if (e->ts < s->ts) {
		ledger_add(&p->ledger, &engine_losses[ENGINE_LOSS_BACKWARDS], s->offset, 1);
		e->ts = s->ts;
	}
	if (s->retained != NULL && how->fields)
		join_fields(p, b, e, s->retained);
	make_span(s, e);
	*link = s->below;
	if ((s->flags & (PAIRING_ASYNC | PAIRING_STATE)) == 0)
		p->tracks[s->track->index].depth--;
	free_slot(p, s, b);
	return PAIRING_SPAN;
}

enum pairing_result pairing_end(struct pairing *p, struct batch *b, struct event *e,
                                const struct pairing_how *how)
{
	const enum pairing_result result = close_span(p, b, e, how);

	if (result != PAIRING_ALONE || (how->flags & PAIRING_ASYNC) == 0 || p->trace->free_order)
		return result;
	return retain_end(&p->pending, p, b, e, how) ? PAIRING_OPEN : PAIRING_ALONE;
}

void pairing_alone(struct pairing *p, const struct event *e)
{
	p->unpaired++;
	ledger_add(&p->ledger, &engine_losses[ENGINE_LOSS_NO_BEGIN], e->offset, 1);
}

/* ---- the end of the trace ---- */

static uint64_t last_of(const struct pairing *p, const struct track *t)
{
	return t->index < p->ntracks ? p->tracks[t->index].last : 0;
}

/* End time.  A state of a child track lasts until the child's last event. */
static uint64_t end_of_open(const struct pairing *p, const struct open_span *s)
{
	uint64_t last = s->ts;

	if ((s->flags & PAIRING_STATE) == 0)
		return p->last > last ? p->last : last;
	for (const struct track *t = s->track; t != NULL; t = t->is_child ? t->parent : NULL)
		if (last_of(p, t) > last)
			last = last_of(p, t);
	return last;
}

static void emit_open(struct pairing *p, struct batch *b, struct open_span *s, bool fields)
{
	struct event *const e = &b->events[b->n];
	const uint32_t retained = fields && s->retained != NULL ? s->retained->nfields : 0,
	               n = retained + fields;
	struct field *const to = batch_fields(b, n);

	if (to == NULL) {
		free_slot(p, s, b);
		return;
	}
	if (retained > 0)
		memcpy(to, s->retained->fields, retained * sizeof *to);
	if (fields)
		to[retained] = (struct field){ SLICE_LIT("unfinished"), { .type = VALUE_BOOL, .u64 = 1 } };
	*e = (struct event){ .ts = end_of_open(p, s) };
	batch_set_fields(b, e, (uint16_t)n);
	b->n++;
	make_span(s, e);
	if ((s->flags & PAIRING_STATE) == 0) {
		p->unpaired++;
		ledger_add(&p->ledger, &engine_losses[ENGINE_LOSS_NO_END], s->offset, 1);
	}
	free_slot(p, s, b);
}

/* Emits the open spans of a list, innermost first, like ENDs. */
static void emit_list(struct pairing *p, struct batch *b, uint32_t *list, bool fields)
{
	while (*list != 0 && b->n < b->cap) {
		struct open_span *const s = &p->spans[*list - 1];
		const uint32_t below = s->below;
		emit_open(p, b, s, fields);
		*list = below;
	}
}

/* Returns true if the batch is full. */
static bool emit_all_open(struct pairing *p, struct batch *b, bool fields)
{
	for (; p->at < p->ntracks && b->n < b->cap; p->at += b->n < b->cap) {
		struct open_track *const t = &p->tracks[p->at];
		t->depth = 0;
		emit_list(p, b, &t->top, fields);
		emit_list(p, b, &t->states, fields);
	}
	uint32_t i = p->at < p->ntracks ? p->n : p->at - p->ntracks; /* then async spans, in order of slots */
	for (; i < p->n && b->n < b->cap; i++) {
		p->at++;
		if (p->spans[i].cls != NULL)
			emit_open(p, b, &p->spans[i], fields);
	}
	return b->n == b->cap;
}

bool pairing_finish(struct pairing *p, struct batch *b, bool fields)
{
	for (uint32_t i = 0; i < p->ntracks && p->at == 0; i++)
		if (p->tracks[i].last > p->last)
			p->last = p->tracks[i].last;
	return emit_all_open(p, b, fields) || finish_ends(&p->pending, p, b);
}
