#include "run/adjust/rehome.h"

#include <stdlib.h>

#include "base/array.h"
#include "model/event_traits.h"
#include "run/engine_losses.h"

void
rehome_init(struct rehome *r, struct trace *to)
{
	*r = (struct rehome){ .to = to };
}

void
rehome_free(struct rehome *r)
{
	free(r->tracks);
	free(r->classes);
	tabletext_free(&r->readable);
	arena_free(&r->names);
	ledger_free(&r->ledger);
	*r = (struct rehome){ .to = NULL };
}

/* A text of the first trace, in memory of the second. */
static struct slice
text_of(const struct rehome *r, struct slice s)
{
	return r->words != NULL ? anonymise_text(r->words, s, &r->to->arena) : arena_copy(&r->to->arena, s);
}

/* ---- tracks ---- */

static uint64_t
id_of(const struct rehome *r, const struct track *t)
{
	return r->words != NULL && r->words->hide_numbers ? anonymise_number(r->words, t->id, 31) : t->id;
}

/* parent: in the second trace. */
static struct track *
make_track(struct rehome *r, const struct track *t, const struct track *parent)
{
	struct track *const known = r->same_track != NULL ? r->same_track(r->ctx, t, parent) : NULL;

	if (known != NULL)
		return known;
	const struct slice name = t->kind == TRACK_PROCESS && r->process_name != NULL
	                              ? r->process_name(r->ctx, t, &r->to->arena)
	                              : text_of(r, t->name);
	if (name.p == NULL)
		return NULL;
	struct track *const k = t->kind == TRACK_PROCESS ? trace_add_process(r->to, name)
	                                                 : trace_add_thread(r->to, parent, 0, name);
	if (k == NULL)
		return NULL;
	k->has_id = t->has_id;
	k->id = id_of(r, t);
	k->is_child = t->is_child;
	k->global = t->global;
	k->lane = t->lane;
	return k;
}

/* The track of the second trace; NULL: no memory.  Above it are a few others at most. */
static struct track *
track_of(struct rehome *r, const struct track *t)
{
	const struct track *parent = NULL;

	if (t->index < r->ntracks && r->tracks[t->index] != NULL)
		return r->tracks[t->index];
	if (!array_reach(&r->tracks, &r->ntracks, t->index, sizeof *r->tracks) ||
	    (t->parent != NULL && (parent = track_of(r, t->parent)) == NULL))
		return NULL;
	return r->tracks[t->index] = make_track(r, t, parent);
}

/* ---- classes ---- */

/* The class of the second trace; NULL: no memory. */
static struct class *
class_of(struct rehome *r, const struct class *c)
{
	struct class like = *c;

	if (c->index < r->nclasses && r->classes[c->index] != NULL)
		return r->classes[c->index];
	if (!array_reach(&r->classes, &r->nclasses, c->index, sizeof *r->classes))
		return NULL;
	if (r->words == NULL)
		return r->classes[c->index] = trace_plan_class(r->to, c);
	like.name = text_of(r, c->name);
	like.category = text_of(r, c->category);
	if (like.name.p == NULL || like.category.p == NULL)
		return NULL;
	return r->classes[c->index] = trace_copy_class(r->to, &like);
}

/* ---- events ---- */

static void
move_time(struct rehome *r, struct event *e)
{
	const __int128 ts = (__int128)e->ts + r->later + (r->words != NULL ? r->words->shift : 0);

	e->ts = ts < 0 ? 0 : ts > UINT64_MAX ? UINT64_MAX : (uint64_t)ts;
	bool cut = e->ts != ts;
	if (e->phase == PHASE_SPAN && e->dur > UINT64_MAX - e->ts) {
		e->dur = UINT64_MAX - e->ts;
		cut = true;
	}
	if (cut)
		ledger_add(&r->ledger, &engine_losses[ENGINE_LOSS_TIME_CUT], e->offset, 1);
}

uint64_t
rehome_flow_id(uint64_t trace, uint64_t id)
{
	return siphash(&(struct siphash_key){ trace, trace }, &id, sizeof id);
}

/* So that who anonymises can be told. */
static bool
note_name(struct rehome *r, struct slice name)
{
	if (r->nnames == REHOME_MOST_NAMES || tabletext_get(&r->readable, name) != TABLE_NONE)
		return true;
	name = arena_copy(&r->names, name);
	return name.p != NULL && tabletext_put(&r->readable, name, r->nnames++);
}

static bool
hide_texts(struct rehome *r, struct batch *b, struct event *e)
{
	e->name = anonymise_text(r->words, e->name, &b->scratch);
	if (e->name.p == NULL)
		return false;
	for (uint32_t i = 0; i < e->nfields; i++) {
		struct field *const f = &b->fields[e->first_field + i];
		if (!anonymise_value(r->words, &f->value, &b->scratch) || !note_name(r, f->name))
			return false;
	}
	return true;
}

bool
rehome_batch(struct rehome *r, struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		struct event *const e = &b->events[i];
		const struct track *const track = e->track;

		if ((e->cls = class_of(r, e->cls)) == NULL ||
		    (track != NULL && (e->track = track_of(r, track)) == NULL))
			return false;
		if (r->later != 0 || r->words != NULL)
			move_time(r, e);
		if (r->flows != 0 && (event_is_flow(e) || (e->flags & EVENT_ARROW) != 0))
			e->dur = rehome_flow_id(r->flows, e->dur);
		if (r->words != NULL && !hide_texts(r, b, e))
			return false;
	}
	return true;
}

/* ---- the trace as a whole ---- */

void
rehome_facts(struct rehome *r, const struct trace *from)
{
	const bool shifted = r->words != NULL && r->words->shift != 0;

	r->to->format = from->format;
	r->to->dialect = from->dialect;
	r->to->byte_order = from->byte_order;
	r->to->record_id = from->record_id;
	r->to->clock = shifted ? "unknown" : from->clock;
	r->to->epoch_known = from->epoch_known && !shifted;
	r->to->epoch_ns = r->to->epoch_known ? from->epoch_ns : 0;
	r->to->records = from->records;
	r->to->events = from->events;
}

bool
rehome_rest(struct rehome *r, const struct trace *from)
{
	for (uint32_t i = 0; i < from->ntracks; i++)
		if (!from->tracks[i]->hidden && track_of(r, from->tracks[i]) == NULL)
			return false;
	for (uint32_t i = 0; i < from->nmeta; i++) {
		struct value v = from->meta[i].value;
		if ((r->words != NULL &&
		     (!anonymise_value(r->words, &v, &r->to->arena) || !note_name(r, from->meta[i].name))) ||
		    !trace_add_meta(r->to, from->meta[i].name, v))
			return false;
	}
	return true;
}
