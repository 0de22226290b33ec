#include <stdlib.h>

#include "htdump/htdump_state.h"

/* Records as events: which span, on whose track, with which fields. */

static const struct track *
new_thread(struct ht_state *st, uint64_t id, const struct ht_record *rec)
{
	struct trace *const trace = st->r->trace;

	if (trace->ntracks >= TRACE_MAX_TRACKS) {
		ht_find(st, HT_RULE_THREAD_LIMIT, rec, "thread %" PRIu64 " and others share one track", id);
		if (st->more_threads == NULL)
			st->more_threads =
			    trace_add_thread(trace, st->process, UINT64_MAX, SLICE_LIT("more threads"));
		return st->more_threads;
	}
	const struct slice name = trace_track_name(trace, false, HT_THREAD, id);
	struct track *const t = name.p != NULL ? trace_add_thread(trace, st->process, id, name) : NULL;
	return t != NULL && table64_put(&st->threads, id, t->index) ? t : NULL;
}

static const struct track *
thread_track(struct ht_state *st, uint64_t id, const struct ht_record *rec)
{
	if (st->last_track != NULL && st->last_thread == id)
		return st->last_track;
	const uint32_t known = table64_get(&st->threads, id);
	const struct track *const t =
	    known != TABLE_NONE ? st->r->trace->tracks[known] : new_thread(st, id, rec);
	st->last_thread = id;
	st->last_track = t;
	return t;
}

/* The decimal text of a label that nothing names. */
static struct slice
label_number(struct batch *b, uint64_t label)
{
	struct slice s = arena_printf(&b->scratch, "%" PRIu64, label);

	s.flags = SLICE_UTF8 | SLICE_JSON;
	return s;
}

static enum ht_outcome
name_event(struct ht_state *st, const struct ht_record *rec, struct batch *b, struct event *e)
{
	const struct ht_plan *const plan = rec->c->plan;

	if (plan->name != HT_NO_LEAF) {
		e->name = ht_leaf_string(st, &plan->leaves[plan->name]);
	} else if (plan->label != HT_NO_LEAF && st->label_name.p != NULL) {
		e->name = st->label_name;
		return batch_hold(b, &st->mappings.texts->shared) ? HT_DONE : HT_NO_MEMORY;
	} else if (plan->label != HT_NO_LEAF) {
		e->name = label_number(b, ht_leaf_integer(st, &plan->leaves[plan->label]));
	}
	return e->name.p != NULL ? HT_DONE : HT_NO_MEMORY;
}

static enum ht_outcome
add_fields(struct ht_state *st, const struct ht_record *rec, struct batch *b, struct event *e)
{
	const struct ht_plan *const plan = rec->c->plan;
	const bool cut = e->phase == PHASE_SPAN && e->dur != rec->dur;
	struct field *const first = batch_fields(b, plan->nargs + 2);
	struct field *f = first;

	if (f == NULL)
		return HT_NO_MEMORY;
	f->name = st->wire ? SLICE_LIT("id") : SLICE_LIT("event_id");
	f->value = value_u64(rec->id);
	f++;
	for (uint32_t i = 0; i < plan->nargs; i++, f++) {
		const struct ht_leaf *const l = &plan->leaves[plan->args[i]];
		f->name = l->name;
		f->value = ht_leaf_value(st, l);
	}
	if (cut) { /* the true duration, which does not fit behind its start */
		f->name = plan->leaves[plan->duration].name;
		f->value = ht_leaf_value(st, &plan->leaves[plan->duration]);
		f++;
	}
	e->first_field = b->nfields;
	e->nfields = (uint16_t)(f - first);
	b->nfields += e->nfields;
	return HT_DONE;
}

enum ht_outcome
ht_event_add(struct ht_state *st, const struct ht_record *rec, struct batch *b)
{
	const struct ht_plan *const plan = rec->c->plan;
	struct event *const e = &b->events[b->n];
	enum ht_outcome result = HT_DONE;

	e->ts = rec->ts;
	e->dur = 0;
	e->name = rec->c->name;
	e->cls = rec->c->cls;
	e->track = NULL;
	e->offset = rec->offset;
	e->nfields = 0;
	e->flags = 0;
	e->phase = PHASE_STRUCTURE;
	if (rec->c->kind == HT_KIND_EVENT) {
		e->track = thread_track(
		    st, plan->thread == HT_NO_LEAF ? 0 : ht_leaf_integer(st, &plan->leaves[plan->thread]),
		    rec);
		if (e->track == NULL)
			return HT_NO_MEMORY;
		e->phase = plan->duration != HT_NO_LEAF ? PHASE_SPAN : PHASE_INSTANT;
		/* a span that ends past 2^64, which was said where the record was checked, is cut there */
		e->dur = rec->dur > UINT64_MAX - e->ts ? UINT64_MAX - e->ts : rec->dur;
		result = name_event(st, rec, b, e);
	}
	if (result == HT_DONE && ((st->r->want & WANT_FIELDS) != 0 || plan->always_fields))
		result = add_fields(st, rec, b, e);
	if (b->bytes != NULL)
		b->bytes[b->n] = slice_of(rec->p, (size_t)(rec->end - rec->p));
	if (result == HT_DONE)
		b->n++;
	return result;
}
