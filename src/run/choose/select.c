/* The select stage: removes events that do not meet the conditions (conditions.c) or are outside of the time
 * window, and cuts spans at its ends.  While marks are gathered it marks records instead of removing events.
 * Cost: one test per condition and event; without conditions events only compare times. */
#include "run/choose/select.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/memory.h"
#include "model/batch_fill.h"
#include "model/event_traits.h"
#include "model/plan.h"
#include "run/sort/sorter.h"

/* ---- the window ---- */

void select_range_extend(struct select_range *r, const struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		const uint64_t end = event_end(&b->events[i]);
		r->known = true;
		r->first = b->events[i].ts < r->first ? b->events[i].ts : r->first;
		r->last = end > r->last ? end : r->last;
	}
}

bool select_is_reversed(const struct select *s)
{
	if (s->since.kind != s->until.kind || s->since.kind == SELECT_ANY_TIME)
		return false;
	return s->since.kind == SELECT_BEFORE_LAST ? s->since.v <= s->until.v : s->since.v >= s->until.v;
}

static bool is_relative(const struct select_time *t)
{
	return t->kind > SELECT_EVENT_TIME;
}

/* Returns false if it needs facts that the range does not have. */
static bool resolve(const struct select_time *t, const struct select_range *r, uint64_t *ns)
{
	switch (t->kind) {
	case SELECT_AT:
		*ns = saturating_add(r->zero, t->v);
		return true;
	case SELECT_EVENT_TIME:
		*ns = t->v;
		return true;
	case SELECT_WALL:
		*ns = r->zero + t->v > r->epoch ? r->zero + t->v - r->epoch : 0;
		return r->epoch_known;
	case SELECT_FROM_FIRST:
		*ns = saturating_add(r->first, t->v);
		return r->known;
	case SELECT_BEFORE_LAST:
		*ns = t->v < r->last ? r->last - t->v : 0;
		return r->known;
	case SELECT_FRACTION:
		*ns =
		    r->known ? r->first + (uint64_t)((uint128)(r->last - r->first) * t->v / SELECT_WHOLE) : 0;
		return r->known;
	default:
		return true;
	}
}

struct shown_ns {
	char text[24];
};

static struct shown_ns show_ns(int128 ns)
{
	const uint128 size = (uint128)(ns < 0 ? -ns : ns);
	struct shown_ns to;

	(void)snprintf(to.text, sizeof to.text, "%s%" PRIu64, ns < 0 ? "-" : "",
	               size > UINT64_MAX ? UINT64_MAX : (uint64_t)size);
	return to;
}

void select_put_reversed(char why[SELECT_WHY], const struct select *s, int128 since, int128 until)
{
	(void)snprintf(why, SELECT_WHY,
	               "--since %s (%s ns) is not before --until %s (%s ns): no event can be between them",
	               s->since.text, show_ns(since).text, s->until.text, show_ns(until).text);
}

/* Returns false after reporting an empty window.  zero: the time that is shown as 0. */
static bool check_window(struct select_stage *st, uint64_t zero)
{
	const struct select *const s = st->select;
	char why[SELECT_WHY];

	if (st->since < st->until || s->since.text == NULL || s->until.text == NULL)
		return true;
	select_put_reversed(why, s, (int128)st->since - zero, (int128)st->until - zero);
	return stage_fails(st->faults, STAGE_REFUSED, why);
}

/* Resolves a bound.  Returns false after reporting why that is not possible. */
static bool set_bound(struct select_stage *st, const char *option, const struct select_time *t,
                      const struct select_range *r, uint64_t *ns)
{
	char why[SELECT_WHY];

	if (resolve(t, r, ns))
		return true;
	(void)snprintf(
	    why, sizeof why, "%s %s: %s", option, t->text != NULL ? t->text : "",
	    t->kind == SELECT_WALL
	        ? "the wall time of this trace is not known: name the time window by its own times"
	        : "this needs all of the trace, and the input can be read only once: read it from a file");
	return stage_fails(st->faults, STAGE_FAILED, why);
}

static bool set_window(struct select_stage *st, const struct select_range *r)
{
	const struct select *const s = st->select;

	if (!set_bound(st, "--since", &s->since, r, &st->since) ||
	    !set_bound(st, "--until", &s->until, r, &st->until))
		return false;
	st->ready = true;
	st->zeroed |= r->known;
	return check_window(st, r->zero);
}

bool select_needs_range(const struct select *s)
{
	return is_relative(&s->since) || is_relative(&s->until);
}

bool select_stage_begin(struct select_stage *st, const struct choice *choice, unsigned want,
                        struct trace *trace, const struct stage_faults *faults)
{
	*st = (struct select_stage){ .choice = choice,
		                     .want = want,
		                     .trace = trace,
		                     .faults = faults,
		                     .select = choice->select,
		                     .kinds = select_kinds(choice->select),
		                     .until = UINT64_MAX };
	st->found = select_found_new(choice->select);
	if (st->found == NULL)
		return stage_fails(faults, STAGE_NO_MEMORY, NULL);
	if (!select_needs_range(choice->select))
		return set_window(st, &(struct select_range){ .known = false });
	/* If the reader passes over records, a pass for the range costs less than keeping marks until the
	 * end. */
	const struct record_marks *const m = choice->split == NULL ? choice->marks : NULL;
	st->waits = m != NULL && (m->format == NULL || m->format->reader->run == NULL);
	return true;
}

bool select_stage_set_range(struct select_stage *st, const struct select_range *r)
{
	if (r->known)
		return set_window(st, r);
	st->ready = true; /* there is no event */
	return true;
}

void select_stage_select_none(struct select_stage *st)
{
	st->ready = true;
	st->until = 0;
}

/* For an input that can be read only once: the first event is the start of the range. */
static bool begin_late(struct select_stage *st, const struct batch *b)
{
	const struct select *const s = st->select;
	const struct trace *const t = st->trace;
	const bool needs_last = s->since.kind == SELECT_BEFORE_LAST || s->since.kind == SELECT_FRACTION ||
	                        s->until.kind == SELECT_BEFORE_LAST || s->until.kind == SELECT_FRACTION;
	struct select_range r = { .epoch_known = t->epoch_known, .epoch = t->epoch_ns, .zero = t->zero_ns };

	for (uint32_t i = 0; i < b->n && !r.known && !needs_last; i++)
		if (b->events[i].phase != PHASE_STRUCTURE) {
			r.known = true;
			r.first = b->events[i].ts;
		}
	st->assumed = s->since.kind == SELECT_WALL || s->until.kind == SELECT_WALL;
	st->epoch = t->epoch_ns;
	return (b->n > 0 && !r.known && !needs_last) || set_window(st, &r);
}

/* Returns false after reporting that the trace has another epoch than its first event seemed to have. */
static bool check_epoch(const struct select_stage *st)
{
	return !st->assumed || (st->trace->epoch_known && st->trace->epoch_ns == st->epoch) ||
	       stage_fails(st->faults, STAGE_FAILED,
	                   "the wall time of this trace is stated after its first events, and the input "
	                   "can be read only once: read it from a file");
}

/* ---- events ---- */

/* Adds the field "clipped" to a copy of its fields. */
static bool add_clipped(struct batch *b, struct event *e, const char *what)
{
	struct field *const to = batch_fields(b, (uint32_t)e->nfields + 1);

	if (to == NULL || e->nfields == UINT16_MAX)
		return false;
	if (e->nfields > 0)
		memcpy(to, b->fields + e->first_field, e->nfields * sizeof *to);
	to[e->nfields] = (struct field){ SLICE_LIT("clipped"), value_string(slice_str(what)) };
	batch_set_fields(b, e, (uint16_t)(e->nfields + 1));
	return true;
}

/* Whether the window cuts a span that is in it. */
static bool is_cut(const struct select_stage *st, const struct event *e)
{
	return e->phase == PHASE_SPAN && st->select->edges == SELECT_CLIP &&
	       (e->ts < st->since || event_end(e) > st->until);
}

#define CUTS_MAX (1U << 16) /* remembered cuts: spans in order of begin are cut to few different times */

/* Sets EVENT_INNER if the window cut the span and an earlier one around it to the same times.  Of equal spans
 * the later is taken for the outer one, so spans in order of begin would be nested the wrong way round. */
static bool mark_inner(struct select_stage *st, struct event *e, struct select_cut cut)
{
	if (e->track == NULL || (e->flags & EVENT_ASYNC) != 0)
		return true;
	const uint64_t key = hash_u64(cut.from, hash_u64(cut.to, e->track->index + 1ULL));
	const bool cuts = cut.from != cut.start || cut.to != cut.end;
	const uint32_t at = cuts ? table64_element(&st->cut_of, key, &st->cuts, &st->ncuts, &st->cuts_cap,
	                                           sizeof *st->cuts, CUTS_MAX)
	                         : table64_get(&st->cut_of, key);
	if (at >= TABLE_FAILED)
		return at == TABLE_NONE;
	struct select_cut *const last = &st->cuts[at];
	const bool is_less = cut.start > last->start || cut.end < last->end;
	if (last->track == e->track && cut.from == last->from && cut.to == last->to &&
	    cut.start >= last->start && cut.end <= last->end && is_less)
		e->flags |= EVENT_INNER;
	if (cuts)
		*last = cut;
	return true;
}

/* Cuts a span to the window. */
static bool clip(struct select_stage *st, struct batch *b, struct event *e)
{
	const uint64_t end = event_end(e);
	const uint64_t from = e->ts < st->since ? st->since : e->ts, to = end > st->until ? st->until : end;
	const bool before = from > e->ts, after = to < end;

	if ((from == st->since || to == st->until) &&
	    !mark_inner(st, e, (struct select_cut){ from, to, e->ts, end, e->track }))
		return false;
	if (!before && !after)
		return true;
	assert(from <= to); /* as the window is not reversed and the span is in it */
	e->ts = from;
	e->dur = to - from;
	return (st->want & WANT_FIELDS) == 0 || add_clipped(b, e,
	                                                    before && after ? "both"
	                                                    : before        ? "start"
	                                                                    : "end");
}

static inline bool in_window(const struct select_stage *st, const struct event *e)
{
	if (e->phase != PHASE_SPAN || e->dur == 0)
		return e->ts >= st->since && (e->ts < st->until || st->until == UINT64_MAX);
	if (st->select->edges == SELECT_DROP)
		return e->ts >= st->since && event_end(e) <= st->until;
	return event_end(e) > st->since && e->ts < st->until;
}

static inline bool is_noted(const struct select_stage *st, const struct track *t)
{
	return t == NULL || (t->index < st->nseen && st->seen[t->index] != 0);
}

/* Adds its track, after its ancestors. */
static bool note_track(struct select_stage *st, const struct track *t)
{
	struct track *const *const all = st->trace->tracks;

	if (is_noted(st, t))
		return true;
	if (!note_track(st, t->parent) || !array_reach(&st->seen, &st->nseen, t->index, 1) ||
	    !array_reserve(&st->tracks, st->ntracks, &st->tracks_cap, sizeof(struct track *)))
		return false;
	st->seen[t->index] = 1;
	st->tracks[st->ntracks++] = all[t->index];
	return true;
}

/* The part of a selected event in a split: that in which it begins after the window has cut it. */
static uint32_t part_of(struct select_stage *st, const struct event *e)
{
	const struct choice *const choice = st->choice;
	const uint64_t input = choice->marks != NULL ? e->offset >> choice->marks->shift : 0;
	const bool whole = e->ts >= st->since || st->select->edges == SELECT_KEEP;

	return split_part_of(choice->split, &st->parts, e, whole ? e->ts : st->since, input);
}

#define OF_NAME SELECT_BIT(SELECT_NAME)
#define OF_CATEGORY SELECT_BIT(SELECT_CATEGORY)

/* Key of a long name or category in long_texts: the address of a name that stays, or of the class.  NULL: the
 * text is short or does not stay, or there is no condition for it. */
static inline const void *long_text_key(const struct select_stage *st, const struct event *e, unsigned kind)
{
	if ((st->kinds & kind) == 0)
		return NULL;
	const struct slice s = kind == OF_NAME ? e->name : e->cls->category;
	if (s.n <= sizeof st->names[0].text)
		return NULL;
	return kind == OF_CATEGORY ? (const void *)e->cls : (s.flags & SLICE_STAYS) != 0 ? s.p : NULL;
}

/* Whether the event meets the conditions of this kind; key: long_text_key(). */
static bool long_text_matches(struct select_stage *st, const struct batch *b, const struct event *e,
                              const void *key, unsigned kind)
{
	uint32_t fits = table64_get(&st->long_texts, (uint64_t)(uintptr_t)key);

	if (fits == TABLE_NONE) {
		fits = select_meets_kinds(st->select, b, e, kind);
		/* on OOM the next event compares again */
		(void)table64_put(&st->long_texts, (uint64_t)(uintptr_t)key, fits);
	}
	return fits != 0;
}

/* Whether its name meets the conditions for names; traces have few different ones. */
static bool name_matches(struct select_stage *st, const struct batch *b, uint32_t i)
{
	const struct event *const e = &b->events[i];
	const struct slice name = e->name;
	const void *const key = long_text_key(st, e, OF_NAME);

	if (key != NULL)
		return long_text_matches(st, b, e, key, OF_NAME);
	if (name.n == 0 || name.n > sizeof st->names[0].text)
		return select_meets_kinds(st->select, b, e, OF_NAME);
	const uint32_t some = (uint32_t)(unsigned char)name.p[0] |
	                      (uint32_t)(unsigned char)name.p[name.n / 2] << 8 |
	                      (uint32_t)(unsigned char)name.p[name.n - 1] << 16 | name.n << 24;
	struct select_name *const k = &st->names[(some * 0x9E3779B1U) >> (32 - SELECT_NAMES_BITS)];
	if (k->n != name.n || memcmp(k->text, name.p, name.n) != 0) {
		k->n = (uint8_t)name.n;
		memcpy(k->text, name.p, name.n);
		k->fits = select_meets_kinds(st->select, b, e, OF_NAME);
	}
	return k->fits;
}

static inline bool matches(struct select_stage *st, const struct batch *b, uint32_t i)
{
	const struct event *const e = &b->events[i];
	const void *const category = long_text_key(st, e, OF_CATEGORY);
	const unsigned others = st->kinds & ~(category != NULL ? OF_NAME | OF_CATEGORY : OF_NAME);

	return ((st->kinds & OF_NAME) == 0 || name_matches(st, b, i)) &&
	       (category == NULL || long_text_matches(st, b, e, category, OF_CATEGORY)) &&
	       (others == 0 || select_meets_kinds(st->select, b, e, others));
}

/* Looks for conditions that no event has met; long texts are compared once. */
static void see_unmet(struct select_stage *st, const struct batch *b, uint32_t i)
{
	const struct event *const e = &b->events[i];
	unsigned kinds = ~0U;

	for (unsigned k = 0; k < 2; k++) {
		const unsigned kind = k == 0 ? OF_NAME : OF_CATEGORY;
		const void *const key = long_text_key(st, e, kind);
		if (key == NULL)
			continue;
		if (table64_get(&st->long_texts, (uint64_t)(uintptr_t)key) != TABLE_NONE)
			kinds &= ~kind;
		else
			(void)long_text_matches(st, b, e, key, kind);
	}
	select_found_see(st->found, st->select, b, i, kinds);
}

/* Updates the statistics, also for events that are removed. */
static inline void see(struct select_stage *st, const struct batch *b, uint32_t i)
{
	struct select_found *const f = st->found;
	const uint64_t end = event_end(&b->events[i]);

	f->events++;
	f->first = b->events[i].ts < f->first ? b->events[i].ts : f->first;
	f->last = end > f->last ? end : f->last;
	if (f->unmet != 0)
		see_unmet(st, b, i);
}

/* Marks the records of selected events. */
static void mark_batch(struct select_stage *st, const struct batch *b)
{
	struct record_marks *const marks = st->choice->marks;
	const bool splits = st->choice->split != NULL;

	for (uint32_t i = 0; i < b->n; i++) {
		const struct event *const e = &b->events[i];
		if (e->phase == PHASE_STRUCTURE) {
			record_marks_add(marks, b, i, splits ? SPLIT_ALL : 0);
			if (splits && i + 1 < b->n && e[1].offset > e->offset)
				st->choice->split->structure += e[1].offset - e->offset;
			continue;
		}
		see(st, b, i);
		if ((!st->waits && !in_window(st, e)) || !matches(st, b, i)) {
			st->found->left_out++;
			continue;
		}
		if (st->waits) {
			record_marks_keep(marks, b, i);
			continue;
		}
		st->found->crossing += is_cut(st, e);
		record_marks_add(marks, b, i, splits ? part_of(st, e) : 0);
	}
}

static bool is_wanted(void *ctx, const struct event *e)
{
	struct select_stage *const st = ctx;
	const bool wanted = in_window(st, e);

	st->found->left_out += !wanted;
	st->found->crossing += wanted && is_cut(st, e);
	return wanted;
}

/* Sets the window, now that all events have been seen, and marks the records of those in it.  Returns false
 * after reporting why there is none. */
static bool end_waiting(struct select_stage *st)
{
	const struct select_range r = { .known = st->found->events > 0,
		                        .first = st->found->first,
		                        .last = st->found->last,
		                        .epoch_known = st->trace->epoch_known,
		                        .epoch = st->trace->epoch_ns,
		                        .zero = st->trace->zero_ns };

	st->waits = false;
	if (!select_stage_set_range(st, &r))
		return false;
	record_marks_release(st->choice->marks, is_wanted, st);
	return true;
}

/* Whether an event is in the part of the job.  With SPLIT_ALL, stores its part in the offset. */
static bool is_of_part(struct select_stage *st, struct event *e)
{
	const uint32_t wanted = st->choice->part, part = part_of(st, e);

	if (wanted != SPLIT_ALL || part == SPLIT_NONE)
		return part == wanted;
	e->offset = (e->offset & ((UINT64_C(1) << ORDER_PART_SHIFT) - 1)) | (uint64_t)part
	                                                                        << ORDER_PART_SHIFT;
	return true;
}

/* Adds time 0 of the trace, which is known with its first batch, to times of the user. */
static void add_zero(struct select_stage *st)
{
	const uint64_t zero = st->trace->zero_ns;

	st->zeroed = true;
	if (st->ready && st->select->since.kind == SELECT_AT)
		st->since += zero;
	if (st->ready && st->select->until.kind == SELECT_AT)
		st->until = saturating_add(st->until, zero);
}

/* Whether a raw event can be selected without other records. */
static bool is_whole(struct select_stage *st, const struct event *e)
{
	const struct class *const cls = e->cls;
	struct class_plan plan;

	if ((e->flags & EVENT_PART) != 0 || e->phase == PHASE_BEGIN || e->phase == PHASE_END)
		return false;
	if (cls->plan == NULL || cls->reader_applies || cls == st->plain)
		return true;
	class_plan_compile(&plan, cls->plan, NULL);
	if (plan.says != 0 || cls->plan->phase != PLAN_AS_READ || cls->plan->async)
		return false;
	st->plain = cls;
	return true;
}

bool select_stage_choose(struct select_stage *st, struct batch *b)
{
	if (!st->zeroed)
		add_zero(st);
	for (uint32_t i = 0; i < b->n; i++) {
		struct event *const e = &b->events[i];
		if (e->phase == PHASE_STRUCTURE)
			continue;
		if (!is_whole(st, e)) {
			for (; i > 0; i--)
				b->events[i - 1].flags &= (uint8_t)~EVENT_LEFT_OUT;
			return false;
		}
		see(st, b, i);
		const bool wanted = in_window(st, e) && matches(st, b, i);
		e->flags |= wanted ? 0 : EVENT_LEFT_OUT;
		st->found->left_out += !wanted;
		st->found->crossing += wanted && is_cut(st, e);
	}
	return true;
}

/* Removes events that are not selected. */
static bool select_batch(struct select_stage *st, struct batch *b)
{
	const bool splits = st->choice->split != NULL, clips = st->select->edges == SELECT_CLIP;
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		struct event *const e = &b->events[i];
		if (e->phase == PHASE_STRUCTURE)
			continue;
		see(st, b, i);
		const bool inside = in_window(st, e), wanted = inside && matches(st, b, i);
		st->found->left_out += !wanted;
		if (!wanted) {
			const bool keeps = inside || st->select->edges == SELECT_KEEP
			                       ? st->choice->keeps
			                       : st->choice->keeps_arrows && event_has_arrow_id(e);
			if (!keeps)
				continue;
			e->flags |= inside ? EVENT_LEFT_OUT : EVENT_LEFT_OUT | EVENT_OUTSIDE;
		}
		if (splits && !is_of_part(st, e))
			continue;
		if ((wanted && !is_noted(st, e->track) && !note_track(st, e->track)) ||
		    (e->phase == PHASE_SPAN && clips && !clip(st, b, e)))
			return false;
		if (n < i) {
			b->events[n] = *e;
			if (b->bytes != NULL)
				b->bytes[n] = b->bytes[i];
		}
		n++;
	}
	b->n = n;
	return true;
}

bool select_stage_note(struct select_stage *st, const struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		if (!note_track(st, b->events[i].track))
			return false;
	return true;
}

enum stage_status select_stage_next(struct stage *stage, struct batch **out)
{
	struct select_stage *const st = (struct select_stage *)stage;
	enum stage_status status;

	while ((status = stage_next(stage->from, out)) == STAGE_MORE) {
		if (st->chosen != NULL && *st->chosen)
			return STAGE_MORE;
		if (!st->zeroed)
			add_zero(st);
		if (!st->ready && !st->waits && !begin_late(st, *out)) {
			batch_release(*out);
			return STAGE_BAD;
		}
		if (st->choice->marks != NULL) {
			mark_batch(st, *out);
		} else if (!select_batch(st, *out)) {
			return stage_no_memory(st->faults, *out);
		}
		if ((*out)->n > 0 && st->choice->marks == NULL)
			return STAGE_MORE;
		batch_release(*out);
	}
	if (status == STAGE_END && ((st->waits && !end_waiting(st)) || !check_epoch(st)))
		return STAGE_BAD;
	if (st->found != NULL) {
		st->found->complete =
		    status == STAGE_END && *st->trace->format != '\0'; /* else nothing was read */
		st->found->zero = st->trace->zero_ns;
		st->found->epoch = st->trace->epoch_ns;
		st->found->epoch_known = st->trace->epoch_known;
	}
	return status;
}

void select_stage_hide(struct select_stage *st)
{
	const struct trace *const t = st->trace;

	for (uint32_t i = 0; i < t->ntracks; i++)
		if (!is_noted(st, t->tracks[i]))
			t->tracks[i]->hidden = true;
}

void select_stage_free(struct select_stage *st)
{
	free(st->tracks);
	free(st->seen);
	free(st->cuts);
	table64_free(&st->cut_of);
	table64_free(&st->long_texts);
	select_found_free(st->found);
	split_cache_free(&st->parts);
	*st = (struct select_stage){ .choice = NULL };
}
