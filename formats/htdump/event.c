#include "htdump/event.h"

#include "htdump/plan.h"
#include "htdump/track.h"
#include "htdump/value.h"

/* Records as events: which span, on whose track, with which fields. */

/* The decimal text of a label that nothing names. */
static struct slice
label_number(struct batch *b, uint64_t label)
{
	struct slice s = arena_printf(&b->scratch, "%" PRIu64, label);

	s.flags = SLICE_UTF8 | SLICE_JSON;
	return s;
}

/* false: no memory. */
static bool
name_event(struct ht_state *st, const struct ht_record *rec, struct batch *b, struct event *e)
{
	const struct ht_plan *const plan = rec->c->plan;

	if (plan->name != HT_NO_LEAF) {
		e->name = ht_leaf_string(st, &plan->leaves[plan->name]);
	} else if (plan->label != HT_NO_LEAF && st->label_name.p != NULL) {
		e->name = st->label_name;
		return batch_hold(b, &st->labels.texts->shared);
	} else if (plan->label != HT_NO_LEAF) {
		e->name = label_number(b, ht_leaf_integer(st, &plan->leaves[plan->label]));
	}
	return e->name.p != NULL;
}

/* false: no memory. */
static bool
add_fields(struct ht_state *st, const struct ht_record *rec, struct batch *b, struct event *e)
{
	const struct ht_plan *const plan = rec->c->plan;
	const bool cut = e->phase == PHASE_SPAN && e->dur != rec->dur;
	struct field *const first = batch_fields(b, plan->nargs + 2);
	struct field *f = first;

	if (f == NULL)
		return false;
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
	return true;
}

/* Phase, track, length and name of what is no structure.  false: no memory. */
static bool
place_event(struct ht_state *st, const struct ht_record *rec, struct batch *b, struct event *e)
{
	const struct ht_plan *const plan = rec->c->plan;

	e->track = ht_track(
	    st, plan->thread == HT_NO_LEAF ? 0 : ht_leaf_integer(st, &plan->leaves[plan->thread]), rec);
	e->phase = plan->duration != HT_NO_LEAF ? PHASE_SPAN : PHASE_INSTANT;
	/* a span that ends past 2^64, which was reported where the record was checked, is cut there */
	e->dur = rec->dur > UINT64_MAX - e->ts ? UINT64_MAX - e->ts : rec->dur;
	return e->track != NULL && name_event(st, rec, b, e);
}

void
ht_event_add(struct ht_state *st, const struct ht_record *rec, struct batch *b)
{
	struct event *const e = &b->events[b->n];
	bool ok = true;

	e->ts = rec->ts;
	e->dur = 0;
	e->name = rec->c->name;
	e->cls = rec->c->cls;
	e->track = NULL;
	e->offset = rec->offset;
	e->nfields = 0;
	e->flags = 0;
	e->phase = PHASE_STRUCTURE;
	if (rec->c->kind == HT_KIND_EVENT)
		ok = place_event(st, rec, b, e);
	if (ok && ((st->r->want & WANT_FIELDS) != 0 || rec->c->plan->always_fields))
		ok = add_fields(st, rec, b, e);
	if (b->bytes != NULL)
		b->bytes[b->n] = slice_of(rec->p, (size_t)(rec->end - rec->p));
	b->n += ok;
	st->no_memory |= !ok;
}
