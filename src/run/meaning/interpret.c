/* The stage that applies plans (interpret.h): definitions, facts and arrow ends of an event, then its name,
 * track and phase.  Constant properties of classes are cached by class index; events of classes without
 * fields or keys take a fast path. */
#include "run/meaning/interpret.h"

#include <stdlib.h>

#include "base/compiler.h"
#include "base/match.h"
#include "base/memory.h"
#include "run/engine_losses.h"

/* ---- definitions, facts, arrows ---- */

#define FACTS_MAX 512U /* facts of a trace, those of its reader included */
#define FACTS_BYTES (256U << 10)

/* Adds facts: only texts and numbers, the first of each name. */
static void add_facts(struct interpret *in, const struct value *map)
{
	for (uint32_t i = 0; map->type == VALUE_MAP && i < map->count; i++) {
		const struct value *const key = &map->values[2 * (size_t)i], *const v = key + 1;
		const uint64_t bytes = (uint64_t)key->count + (v->type == VALUE_STRING ? v->count : 0);
		if (key->type != VALUE_STRING || v->type > VALUE_STRING || v->type == VALUE_NONE)
			continue;
		if (in->trace->nmeta >= FACTS_MAX || bytes > FACTS_BYTES - in->facts_bytes ||
		    trace_meta(in->trace, value_text(key)) != NULL)
			continue;
		in->facts_bytes += (uint32_t)bytes;
		in->failed |= !trace_add_meta(in->trace, value_text(key), *v);
	}
}

/* Adds the facts and the epoch that an event states. */
static void learn_facts(struct interpret *in, const struct batch *b, const struct event *e,
                        const struct plan *m)
{
	struct trace *const t = in->trace;
	const struct value *v;
	uint64_t wall;

	if (m->epoch.p != NULL && !t->epoch_known && (v = interpret_field(b, e, m->epoch)) != NULL &&
	    v->type != VALUE_STRING && interpret_number(v, &wall) && wall >= e->ts) {
		t->epoch_known = true;
		t->epoch_ns = wall - e->ts;
	}
	if (m->facts.p != NULL && (v = interpret_field(b, e, m->facts)) != NULL)
		add_facts(in, v);
}

/* Whether arrows of the plan are wanted. */
static inline bool has_arrows(const struct interpret *in, const struct plan *m)
{
	return m->flow_name.p != NULL && in->spans && !in->no_arrows && in->others == NULL;
}

/* Adds the arrow ends of an event; none if the plan has no arrows, or nobody reads them. */
static void add_arrow_ends(struct interpret *in, const struct batch *b, struct event *e, const struct plan *m)
{
	if (!has_arrows(in, m))
		return;
	const struct value *const out = m->flow_out.p != NULL ? interpret_field(b, e, m->flow_out) : NULL;
	const struct value *const arrives = m->flow_in.p != NULL ? interpret_field(b, e, m->flow_in) : NULL;
	uint64_t key;

	if (out != NULL && interpret_number(out, &key)) {
		const bool instant =
		    m->phase == PLAN_INSTANT || (m->phase == PLAN_AS_READ && e->phase == PHASE_INSTANT);
		/* writers take the name of the arrow from this plan, the first of the class with arrows */
		if (instant && m == plan_with_arrows(e->cls->plan))
			e->flags |= EVENT_ARROW;
		arrows_out(&in->arrows, m->flow_name, key, e);
		if ((e->flags & EVENT_ARROW) != 0)
			e->dur = in->arrows.id;
	}
	if (arrives != NULL && interpret_number(arrives, &key))
		arrows_in(&in->arrows, m->flow_name, key, e);
}

/* ---- the cache of classes ---- */

/* Kinds of events on the fast path, without fields. */
enum simple { SIMPLE_NOT, SIMPLE_BEGIN, SIMPLE_END, SIMPLE_INSTANT };

/* Properties common to all events of a class. */
struct known_class {
	const struct class *cls; /* NULL: not cached */
	const struct plan *m;    /* NULL: nothing to do */
	const struct known_class *otherwise;
	struct slice name; /* p NULL: composed per event, or set by the reader */
	uint16_t pair;
	uint8_t simple; /* enum simple */
	bool light;     /* the plan has only a fixed name and a phase */
	bool plain;     /* not even these: nothing to do except for begins, ends and structure */
	bool learns;    /* it has facts or an epoch */
	bool direct;    /* simple, and steps_direct() finds its name and track */
	struct steps *steps;
};

void interpret_init(struct interpret *in, struct trace *trace, enum interpret_mode mode, unsigned want)
{
	*in = (struct interpret){ .trace = trace, .want = want };
	in->spans = mode == INTERPRET_SPANS;
	in->fields = (want & WANT_FIELDS) != 0;
	in->no_arrows = (want & (WANT_FIELDS | WANT_ARROWS)) == 0;
	pairing_init(&in->pairing, trace);
	arrows_init(&in->arrows);
}

void interpret_free(struct interpret *in)
{
	free(in->classes);
	arena_free(&in->arena);
	tabletext_free(&in->tracks);
	pairing_free(&in->pairing);
	by_time_free(&in->by_time);
	arrows_free(&in->arrows);
	*in = (struct interpret){ .trace = NULL };
}

/* ---- classes ---- */

/* Finds whether the fast path can handle events of the class. */
static void find_simple(const struct interpret *in, struct known_class *k)
{
	const struct plan *const m = k->m;

	if (!in->spans || in->fields || m->async || m->named.p != NULL || k->learns || has_arrows(in, m))
		return;
	k->direct = !k->light && steps_are_direct(k->steps);
	if (!k->light && !k->direct)
		return;
	if (m->phase == PLAN_BEGIN && (k->direct || k->name.p != NULL))
		k->simple = SIMPLE_BEGIN;
	else if (m->phase == PLAN_END && m->pair > 0)
		k->simple = SIMPLE_END;
	else if (m->phase == PLAN_INSTANT && (k->direct || k->name.p != NULL))
		k->simple = SIMPLE_INSTANT;
}

static void compile_plan(struct interpret *in, struct known_class *k, const struct class *cls,
                         const struct plan *m)
{
	const bool simple = m->phase == PLAN_AS_READ || m->phase == PLAN_BEGIN || m->phase == PLAN_END ||
	                    m->phase == PLAN_INSTANT;
	struct class_plan plan;

	class_plan_compile(&plan, m, NULL);
	*k = (struct known_class){
		.cls = cls, .m = m, .name = in->unnamed ? cls->name : plan.fixed_name, .pair = m->pair
	};
	const bool fields = in->fields || class_needs_fields(cls);
	k->light = simple && !m->async && m->named.p == NULL && !(m->has_layout && fields) &&
	           (plan.says & ~(unsigned)(CLASS_PLAN_FIXED_NAME | CLASS_PLAN_MORE)) == 0;
	k->plain =
	    k->light && m->phase == PLAN_AS_READ && k->name.p == NULL && (cls->nparts == 0 || !in->fields);
	k->learns = m->epoch.p != NULL || m->facts.p != NULL;
	if ((k->steps = steps_compile(&in->arena, m, k->name, fields, in->fields)) == NULL)
		k->m = NULL;
	else
		find_simple(in, k);
}

static void compile_plans(struct interpret *in, struct known_class *k, const struct class *cls)
{
	*k = (struct known_class){ .cls = cls };
	if (cls->plan == NULL || cls->reader_applies)
		return;
	for (const struct plan *m = cls->plan;; m = m->otherwise) {
		compile_plan(in, k, cls, m);
		if (m->named.p == NULL || m->otherwise == NULL)
			return;
		struct known_class *const next = arena_zalloc(&in->arena, 1, sizeof *next);
		if (next == NULL)
			return;
		k->otherwise = next;
		k = next;
	}
}

/* Caches a class.  On OOM the class is treated as having no plan. */
static const struct known_class *cache_class(struct interpret *in, const struct class *cls)
{
	static const struct known_class nothing;

	if (note_failure(&in->failed,
	                 !array_reach(&in->classes, &in->nclasses, cls->index, sizeof *in->classes)))
		return &nothing;
	compile_plans(in, &in->classes[cls->index], cls);
	return &in->classes[cls->index];
}

/* Returns NULL if the class is not cached. */
static inline const struct known_class *known_class_of(const struct interpret *in, const struct class *cls)
{
	const struct known_class *const k = cls->index < in->nclasses ? &in->classes[cls->index] : NULL;

	return k != NULL && k->cls == cls ? k : NULL;
}

/* ---- phases: functions return true if the event is kept ---- */

static bool apply_pairing(struct interpret *in, struct event *e, enum pairing_result result)
{
	switch (result) {
	case PAIRING_SPAN:
		return true;
	case PAIRING_ALONE:
		pairing_alone(&in->pairing, e);
		e->phase = PHASE_INSTANT;
		return true;
	case PAIRING_OPEN:
	case PAIRING_DROPPED:
		break;
	}
	return false;
}

/* Whether begins and ends wait for the order of time. */
static bool put_by_time(struct interpret *in, struct batch *b, struct event *e, struct pairing_how *how)
{
	const bool keyed = (e->flags & EVENT_ASYNC) != 0;

	if (!in->trace->free_order)
		return false;
	if (keyed) {
		how->key = e->dur;
		how->flags |= PAIRING_ASYNC | PAIRING_ANYWHERE;
	}
	if (e->phase == PHASE_BEGIN && (e->flags & EVENT_ENDLESS) != 0)
		how->flags |= PAIRING_ENDLESS;
	e->dur = 0;
	if (in->spans)
		by_time_put(in, b, e, how);
	return in->spans;
}

/* Applies a begin or end. */
static bool apply_bound(struct interpret *in, struct batch *b, struct event *e, struct pairing_how *how,
                        enum phase phase)
{
	e->phase = (uint8_t)phase;
	if (put_by_time(in, b, e, how))
		return false;
	return !in->spans || apply_pairing(in, e,
	                                   phase == PHASE_BEGIN ? pairing_begin(&in->pairing, b, e, how)
	                                                        : pairing_end(&in->pairing, b, e, how));
}

/* Ends the previous state, which replaces the event, and begins the new one. */
static bool apply_state(struct interpret *in, struct batch *b, struct event *e, struct pairing_how *how)
{
	struct event closing = *e;

	e->phase = PHASE_INSTANT;
	if (!in->spans)
		return true;
	closing.nfields = 0; /* the fields belong to the next state */
	const enum pairing_result result = pairing_end(&in->pairing, b, &closing, how);
	pairing_begin(&in->pairing, b, e, how);
	if (result == PAIRING_SPAN)
		*e = closing;
	return result == PAIRING_SPAN;
}

static void apply_span(struct batch *b, struct event *e, const struct plan *m)
{
	struct field *const first = b->fields + e->first_field;
	uint64_t dur;

	e->flags |= m->async ? EVENT_ASYNC : 0;
	const struct field *const f =
	    m->duration.p != NULL ? field_find(first, e->nfields, m->duration) : NULL;
	if (f == NULL)
		return;
	const struct value *const v = &f->value;
	if (v->type == VALUE_STRING || v->type == VALUE_BYTES || !interpret_number(v, &dur) ||
	    (v->type >= VALUE_I8 && v->type <= VALUE_I64 && v->i64 < 0))
		return;
	e->phase = PHASE_SPAN;
	e->dur = dur;
	if (dur > UINT64_MAX - e->ts) { /* cut at the end of time; the field keeps the true length */
		e->dur = UINT64_MAX - e->ts;
		return;
	}
	const size_t i = (size_t)(f - first);
	memmove(first + i, first + i + 1, (e->nfields - i - 1U) * sizeof *first);
	e->nfields--;
}

/* Applies the phase set by the reader.  Both ends of an async span have its id in dur.  The id is unique in
 * the track or, if ends pair by time, in the trace. */
static bool apply_own_phase(struct interpret *in, struct batch *b, struct event *e, struct pairing_how *how)
{
	if (in->spans && !in->trace->free_order && (e->flags & EVENT_ASYNC) != 0 &&
	    (e->phase == PHASE_BEGIN || e->phase == PHASE_END)) {
		how->flags = PAIRING_ASYNC;
		how->key = e->dur;
		e->dur = 0;
		e->flags &= (uint8_t)~EVENT_ASYNC;
	}
	return (e->phase != PHASE_BEGIN && e->phase != PHASE_END) || apply_bound(in, b, e, how, e->phase);
}

/* Applies the phase of an event without a plan. */
static bool apply_as_read(struct interpret *in, struct batch *b, struct event *e)
{
	struct pairing_how how = { .lasting = e->name.p == e->cls->name.p, .fields = in->fields };

	return apply_own_phase(in, b, e, &how);
}

static bool apply_phase(struct interpret *in, struct batch *b, struct event *e, const struct plan *m,
                        struct pairing_how *how)
{
	how->fields = in->fields || (m->nbytes > 0 && (in->want & WANT_SIZES) != 0);
	switch ((enum plan_phase)m->phase) {
	case PLAN_AS_READ:
		return apply_own_phase(in, b, e, how);
	case PLAN_BEGIN:
		return apply_bound(in, b, e, how, PHASE_BEGIN);
	case PLAN_END:
		return apply_bound(in, b, e, how, PHASE_END);
	case PLAN_STATE:
		return apply_state(in, b, e, how);
	case PLAN_STATE_END:
		return !in->spans || apply_pairing(in, e, pairing_end(&in->pairing, b, e, how));
	case PLAN_SPAN:
		apply_span(b, e, m);
		return true;
	case PLAN_INSTANT:
		e->phase = PHASE_INSTANT;
		return true;
	case PLAN_COUNTER:
		interpret_series(in, b, e, m);
		return true;
	case PLAN_STRUCTURE:
		e->phase = PHASE_STRUCTURE;
		return true;
	}
	return true;
}

/* ---- one event ---- */

/* Returns the plan for an event by its name, or NULL. */
static inline const struct known_class *choose_plan(const struct known_class *k, const struct event *e)
{
	while (k != NULL && k->m->named.p != NULL && !glob_fits(k->m->named, e->name))
		k = k->otherwise;
	return k;
}

/* Applies the phase, after name and track are set. */
static inline bool finish_event(struct interpret *in, struct batch *b, struct event *e, const struct plan *m,
                                const struct stepped *found)
{
	const bool state = m->phase == PLAN_STATE || m->phase == PLAN_STATE_END;

	if (in->spans && !in->fields && !m->async) {
		if (m->phase == PLAN_BEGIN && found->lasting &&
		    pairing_begin_fast(&in->pairing, e, e->name, m->pair, found->key))
			return false;
		if (m->phase == PLAN_END && m->pair > 0 &&
		    pairing_end_fast(&in->pairing, e, m->pair, found->key, e))
			return true;
	}
	if (m->phase == PLAN_INSTANT && e->phase == PHASE_INSTANT)
		return true;
	struct pairing_how how = { .pair = state ? m->state : m->pair,
		                   .flags = (uint8_t)((m->async ? PAIRING_ASYNC : 0) |
		                                      (state ? PAIRING_STATE : 0)),
		                   .lasting = found->lasting,
		                   .key = found->key };
	return apply_phase(in, b, e, m, &how);
}

static bool apply_plan(struct interpret *in, struct batch *b, struct event *e, const struct known_class *k)
{
	struct stepped found;

	k = choose_plan(k, e);
	if (k == NULL || k->m->phase != PLAN_STRUCTURE)
		pairing_see(&in->pairing, e->track, e->ts);
	if (k == NULL)
		return apply_as_read(in, b, e);
	const struct plan *const m = k->m;
	/* A span has the name of its begin: that of an end is looked up only if it ends no span. */
	const bool late = m->phase == PLAN_END && in->spans && !m->async && m->nnames > 0;
	const struct track *const own = e->track;
	steps_apply(in, b, e, k->steps, !late, &found);
	if (k->learns)
		learn_facts(in, b, e, m);
	e->track = found.track;
	if (m->phase != PLAN_STRUCTURE)
		pairing_see(&in->pairing, found.track, e->ts);
	add_arrow_ends(in, b, e, m);
	const bool kept = finish_event(in, b, e, m, &found);
	if (late && kept && e->phase == PHASE_INSTANT) {
		e->track = own;
		steps_name(in, b, e, k->steps, &found);
		e->track = found.track;
	}
	if (found.payload != NULL)
		e->nfields = 0;
	return kept;
}

/* ---- any event ---- */

/* A record without a track, or of structure: it may define something, but neither begins nor ends a span. */
static void apply_definitions(struct interpret *in, struct batch *b, struct event *e,
                              const struct known_class *k)
{
	if (k->m != NULL)
		k = choose_plan(k, e);
	if (k != NULL && k->m != NULL) {
		steps_define(in, b, e, k->steps);
		if (k->learns)
			learn_facts(in, b, e, k->m);
	}
}

/* Consumers see structure only if they want it. */
static bool is_wanted(const struct interpret *in, const struct event *e)
{
	return e->phase != PHASE_STRUCTURE || (in->want & WANT_STRUCTURE) != 0;
}

static bool handle_event(struct interpret *in, struct batch *b, struct event *e, const struct known_class *k)
{
	bool kept;

	if (e->track == NULL || (k->m == NULL && e->phase == PHASE_STRUCTURE)) {
		apply_definitions(in, b, e, k);
		return is_wanted(in, e);
	}
	if (k->m == NULL || k->light)
		pairing_see(&in->pairing, e->track, e->ts);
	if (k->m == NULL) {
		kept = apply_as_read(in, b, e);
	} else if (!k->light) {
		kept = apply_plan(in, b, e, k);
	} else {
		struct pairing_how how = { .pair = k->pair,
			                   .lasting = k->name.p != NULL || e->name.p == e->cls->name.p };
		if (k->name.p != NULL)
			e->name = k->name;
		kept = apply_phase(in, b, e, k->m, &how);
	}
	if (kept && e->phase == PHASE_SPAN)
		pairing_see_span(&in->pairing, e);
	if (kept && in->fields && e->cls->nparts > 0)
		interpret_class_parts(in, b, e);
	return kept && is_wanted(in, e);
}

/* Moves an event of the batch to an earlier place. */
static inline void move(struct batch *b, struct event *to, const struct event *e)
{
	if (to == e)
		return;
	*to = *e;
	if (b->bytes != NULL)
		b->bytes[to - b->events] = b->bytes[e - b->events];
}

/* Stores the offset of the record that is copied with an event of the output: of a span, the record that
 * ended it; of other events of such a record, the begin of the span, as without that begin the record would
 * end another span; else that of the event itself. */
static NOINLINE void store_other(struct interpret *in, const struct batch *b, const struct event *e,
                                 uint64_t offset)
{
	if (e->offset != offset) {
		in->ended_by = offset;
		in->begun_by = e->offset;
	} else if (offset == in->ended_by) {
		offset = in->begun_by;
	}
	in->others[e - b->events] = offset;
}

static inline void note_other(struct interpret *in, const struct batch *b, const struct event *e,
                              uint64_t offset)
{
	if (in->others != NULL)
		store_other(in, b, e, offset);
}

/* Returns true for events without a plan, or with one that changes nothing. */
static inline bool has_nothing_to_do(const struct known_class *k, const struct event *e)
{
	return (k->m == NULL || k->plain) && e->phase != PHASE_STRUCTURE && e->phase != PHASE_BEGIN &&
	       e->phase != PHASE_END;
}

/* Applies a simple plan to an event, and writes the event that is kept to *to, which it advances.  Returns
 * false, without effect, if it does not qualify. */
INLINE bool apply_simple(struct interpret *in, struct batch *b, struct event *e, const struct known_class *k,
                         struct event **to)
{
	const struct track *const own = e->track;
	const uint64_t offset = e->offset;
	const struct slice *name = &k->name;
	struct slice text;
	struct stepped found;
	uint64_t key = 0;

	if (k->direct) {
		if (!steps_direct(in, b, e, k->steps, k->simple != SIMPLE_END ? &text : NULL, &found))
			return false;
		pairing_see(&in->pairing, own, e->ts);
		e->track = found.track;
		name = &text;
		key = found.key;
	}
	if (k->simple == SIMPLE_BEGIN) {
		if (pairing_begin_fast(&in->pairing, e, *name, k->pair, key))
			return true;
	} else if (k->simple == SIMPLE_END) {
		if (pairing_end_fast(&in->pairing, e, k->pair, key, *to)) {
			note_other(in, b, (*to)++, offset);
			return true;
		}
	} else if (e->phase == PHASE_INSTANT) {
		pairing_see(&in->pairing, e->track, e->ts);
		e->name = *name;
		move(b, *to, e);
		note_other(in, b, (*to)++, offset);
		return true;
	}
	e->track = own;
	return false;
}

/* The fast path, from the i-th event on, as long as events qualify.  *n: number of events kept. */
static uint32_t fast_path(struct interpret *in, struct batch *b, uint32_t i, uint32_t *n)
{
	const struct event *const end = b->events + b->n;
	struct event *e = b->events + i, *to = b->events + *n;
	const struct class *cls = NULL;
	const struct known_class *k = NULL;

	for (; e < end; e++) {
		const uint64_t offset = e->offset;
		if (e->cls != cls)
			k = known_class_of(in, cls = e->cls);
		if (k == NULL || e->track == NULL)
			break;
		if (k->simple != SIMPLE_NOT) {
			if (!apply_simple(in, b, e, k, &to))
				break;
		} else if (has_nothing_to_do(k, e)) {
			pairing_see_span(&in->pairing, e);
			move(b, to, e);
			note_other(in, b, to++, offset);
		} else {
			break;
		}
	}
	*n = (uint32_t)(to - b->events);
	return (uint32_t)(e - b->events);
}

/* Checked once per batch: on OOM functions omit something and continue. */
static bool failed(const struct interpret *in, const struct batch *b)
{
	return in->failed || in->arena.failed || in->pairing.failed || in->arrows.failed || batch_failed(b) ||
	       trace_failed(in->trace);
}

bool interpret_batch(struct interpret *in, const struct format *of, struct batch *b)
{
	uint32_t n = 0;

	in->checks_payloads = format_trace_ops(of)->checks_payloads;
	in->pairing.stateless = in->trace->vocabulary != NULL && in->trace->vocabulary->stateless;
	for (uint32_t i = 0; i < b->n; i++) {
		const struct known_class *k = known_class_of(in, b->events[i].cls);
		if (k != NULL && (k->m == NULL || k->plain || k->simple != SIMPLE_NOT)) {
			i = fast_path(in, b, i, &n);
			if (i == b->n)
				break;
			k = known_class_of(in, b->events[i].cls);
		}
		if (k == NULL)
			k = cache_class(in, b->events[i].cls);
		uint64_t other = b->events[i].offset;
		in->pairing.pending.ended_by = other;
		if (!handle_event(in, b, &b->events[i], k))
			continue;
		if (in->pairing.pending.ended_by != other)
			other = in->pairing.pending.ended_by;
		move(b, &b->events[n], &b->events[i]);
		note_other(in, b, &b->events[n++], other);
	}
	b->n = n;
	return !failed(in, b);
}

bool interpret_more(struct interpret *in, struct batch *b)
{
	const uint32_t n = b->n;

	(void)by_time_give(in, b, false);
	if (b->cap - b->n >= 2)
		arrows_give(&in->arrows, b, false);
	return b->n > n;
}

static void add_lost_arrows(struct interpret *in)
{
	const struct arrows *const a = &in->arrows;
	const uint64_t alone = (in->want & WANT_DEPARTURES) == 0 ? a->alone : 0;
	const bool first_alone = alone > 0 && (a->endless == 0 || a->alone_at < a->endless_at);

	if (a->dropped > 0)
		ledger_add(&in->pairing.ledger, &engine_losses[ENGINE_LOSS_ARROWS_TOO_FAR], a->dropped_at,
		           a->dropped);
	if (a->endless + alone > 0)
		ledger_add(&in->pairing.ledger, &engine_losses[ENGINE_LOSS_ARROWS_NO_END],
		           first_alone ? a->alone_at : a->endless_at, a->endless + alone);
}

bool interpret_finish(struct interpret *in, struct batch *b, bool *more)
{
	*more = true;
	if (!in->open_given && by_time_give(in, b, true))
		return !failed(in, b);
	if (!in->open_given) {
		uint32_t i = b->n;
		in->open_given = !pairing_finish(&in->pairing, b, in->fields);
		for (uint32_t k = i; in->others != NULL && k < b->n; k++)
			in->others[k] = b->events[k].offset;
		for (; in->fields && i < b->n; i++)
			if (b->events[i].cls->nparts > 0)
				interpret_class_parts(in, b, &b->events[i]);
	}
	if (!in->open_given || b->cap - b->n < 2)
		return !failed(in, b);
	*more = arrows_give(&in->arrows, b, true);
	if (!*more && in->trace->facts_lost > 0)
		ledger_add(&in->pairing.ledger, &engine_losses[ENGINE_LOSS_FACTS], LOSS_NOWHERE,
		           in->trace->facts_lost);
	if (!*more)
		add_lost_arrows(in);
	return !failed(in, b);
}
