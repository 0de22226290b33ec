#include "flow/interpret.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/textscan.h"
#include "flow/interpret_parts.h"

static const struct loss arrows_left = { "arrows/too-far", "arrows left out: too much happened between their ends" };
static const struct loss names_forgotten = { "names/forgotten", "names that may be missing: what other events said for them was too much to keep" };

/* The short ways, where nobody wants fields. */
enum simple { SIMPLE_NOT, SIMPLE_BEGIN, SIMPLE_END };

/* What is known of the events of a class without looking at them. */
struct bound {
	const struct meaning *m; /* NULL: nothing to do */
	const struct bound *otherwise;
	struct slice name; /* p NULL: it is made for each event, or the reader's stays */
	uint16_t pair;
	uint8_t simple; /* enum simple */
	bool light;  /* nothing but a fixed name and a phase */
	bool fields; /* its events have their fields, whoever asks */
};

enum verdict { KEEP, DROP, NO_MEMORY };

void
interpret_init(struct interpret *in, struct trace *trace, enum interpret_mode mode, unsigned want)
{
	*in = (struct interpret){ .trace = trace, .want = want };
	in->spans = mode == INTERPRET_SPANS;
	in->fields = (want & WANT_FIELDS) != 0;
	pairing_init(&in->pairing, trace);
	arrows_init(&in->arrows); /* allocates nothing yet */
}

void
interpret_free(struct interpret *in)
{
	free(in->bounds);
	arena_free(&in->arena);
	interpret_lines_free(in);
	pairing_free(&in->pairing);
	early_free(&in->early);
	arrows_free(&in->arrows);
	*in = (struct interpret){ .trace = NULL };
}

/* ---- classes ---- */

static bool
looks_at_fields(const struct meaning *m, bool fields)
{
	return m->key.nfields > 0 || m->ndefines > 0 || m->ntracks > 0 || m->epoch.p != NULL || m->facts.p != NULL || m->flow_name.p != NULL ||
	       (m->has_layout && fields);
}

static void
bind_one(const struct interpret *in, struct bound *bd, const struct class *cls, const struct meaning *m)
{
	const bool simple = m->phase == MEANING_AS_READ || m->phase == MEANING_BEGIN || m->phase == MEANING_END || m->phase == MEANING_INSTANT;

	*bd = (struct bound){ .m = m, .fields = in->fields || class_needs_fields(cls) };
	if (m->nnames > 0 && m->names[0].nparts == 1 && m->names[0].parts[0].ref.nfields == 0) {
		const struct slice text = m->names[0].parts[0].text;
		bd->name = textscan_slice(text.p, text.n);
		bd->name.flags |= SLICE_STAYS;
	}
	bd->light = simple && !m->async && m->named.p == NULL && (m->nnames == 0 || bd->name.p != NULL) &&
	            !looks_at_fields(m, bd->fields);
	bd->pair = m->pair;
	if (bd->light && in->spans && !in->fields)
		bd->simple = m->phase == MEANING_BEGIN ? SIMPLE_BEGIN : m->phase == MEANING_END && m->pair > 0 ? SIMPLE_END : SIMPLE_NOT;
	if (bd->light && bd->simple == SIMPLE_BEGIN && bd->name.p == NULL)
		bd->simple = SIMPLE_NOT;
}

/* false: no memory. */
static bool
bind(struct interpret *in, struct bound *bd, const struct class *cls)
{
	*bd = (struct bound){ .m = NULL };
	if (cls->meaning == NULL || cls->meant)
		return true;
	for (const struct meaning *m = cls->meaning;; m = m->otherwise) {
		bind_one(in, bd, cls, m);
		if (m->named.p == NULL || m->otherwise == NULL)
			return true;
		struct bound *const next = arena_zalloc(&in->arena, 1, sizeof *next);
		if (next == NULL)
			return false;
		bd->otherwise = next;
		bd = next;
	}
}

/* NULL: no memory. */
static const struct bound *
new_bound(struct interpret *in, const struct class *cls)
{
	if (!array_reach(&in->bounds, &in->nbounds, cls->index, sizeof *in->bounds))
		return NULL;
	return bind(in, &in->bounds[cls->index], cls) ? &in->bounds[cls->index] : NULL;
}

/* NULL: it is not known yet.  A class may get its meaning, or another one, when it has been there for a while; one without is as zeroes say. */
static inline const struct bound *
known_bound(const struct interpret *in, const struct class *cls)
{
	const struct bound *const bd = cls->index < in->nbounds ? &in->bounds[cls->index] : NULL;

	return bd != NULL && bd->m == (cls->meant ? NULL : cls->meaning) ? bd : NULL;
}

/* ---- names ---- */

/* false: no memory.  *lasting: the name outlives the batch. */
static bool
find_name(struct interpret *in, struct batch *b, struct event *e, const struct bound *bd, bool *lasting)
{
	const struct meaning *const m = bd->m;
	struct slice name;

	*lasting = true;
	if (bd->name.p != NULL) {
		e->name = bd->name;
		return true;
	}
	for (uint32_t i = 0; i < m->nnames; i++) {
		const enum interpret_made made = interpret_template(in, b, e, &m->names[i], &name, lasting);
		if (made == INTERPRET_MADE)
			e->name = name;
		if (made != INTERPRET_UNRESOLVED)
			return made == INTERPRET_MADE;
		if (i == 0 && definitions_forgotten(&in->trace->definitions) > 0)
			ledger_add(&in->pairing.ledger, &names_forgotten, e->offset, 1);
	}
	*lasting = e->name.p == e->cls->name.p;
	return true;
}

/* ---- phases ---- */

static enum verdict
closed(struct interpret *in, struct event *e, enum pairing_result result)
{
	switch (result) {
	case PAIRING_SPAN:
		return KEEP;
	case PAIRING_ALONE:
		pairing_alone(&in->pairing, e);
		e->phase = PHASE_INSTANT;
		return KEEP;
	case PAIRING_DROPPED:
		return DROP;
	case PAIRING_NO_MEMORY:
		break;
	}
	return NO_MEMORY;
}

static enum verdict
begin(struct interpret *in, struct batch *b, struct event *e, struct pairing_end_of how)
{
	bool met = false;

	e->phase = PHASE_BEGIN;
	if (!in->spans)
		return KEEP;
	if ((how.flags & PAIRING_ASYNC) != 0 && !early_meet(&in->early, &in->pairing, b, e, how, &met))
		return NO_MEMORY;
	if (met)
		return KEEP;
	return pairing_begin(&in->pairing, b, e, how) ? DROP : NO_MEMORY;
}

static enum verdict
end(struct interpret *in, struct batch *b, struct event *e, struct pairing_end_of how)
{
	bool waits = false;

	e->phase = PHASE_END;
	if (!in->spans)
		return KEEP;
	const enum pairing_result result = pairing_end(&in->pairing, b, e, how);
	if (result == PAIRING_ALONE && (how.flags & PAIRING_ASYNC) != 0 && !early_keep(&in->early, &in->pairing, b, e, how, &waits))
		return NO_MEMORY;
	return waits ? DROP : closed(in, e, result);
}

/* The state before ends, and comes out; the new one begins. */
static enum verdict
state(struct interpret *in, struct batch *b, struct event *e, struct pairing_end_of how)
{
	struct event closing = *e;

	e->phase = PHASE_INSTANT;
	if (!in->spans)
		return KEEP;
	closing.nfields = 0; /* they are the next one's */
	const enum pairing_result result = pairing_end(&in->pairing, b, &closing, how);
	if (result == PAIRING_NO_MEMORY || !pairing_begin(&in->pairing, b, e, how))
		return NO_MEMORY;
	if (result != PAIRING_SPAN)
		return DROP;
	*e = closing;
	return KEEP;
}

static void
span(struct batch *b, struct event *e, const struct meaning *m)
{
	struct field *const first = b->fields + e->first_field;
	uint32_t i = 0;
	uint64_t dur;

	e->flags |= m->async ? EVENT_ASYNC : 0;
	while (i < e->nfields && !slice_equal(first[i].name, m->duration))
		i++;
	if (m->duration.p == NULL || i == e->nfields)
		return;
	const struct value *const v = &first[i].value;
	if (v->type == VALUE_STRING || v->type == VALUE_BYTES || !interpret_number(v, &dur) ||
	    (v->type >= VALUE_I8 && v->type <= VALUE_I64 && v->i64 < 0))
		return;
	e->phase = PHASE_SPAN;
	e->dur = dur;
	if (dur > UINT64_MAX - e->ts) { /* cut where time ends; the field says the true length */
		e->dur = UINT64_MAX - e->ts;
		return;
	}
	memmove(first + i, first + i + 1, (e->nfields - i - 1U) * sizeof *first);
	e->nfields--;
}

/* What the reader calls a beginning or an end is one. */
static enum verdict
own_phase(struct interpret *in, struct batch *b, struct event *e, struct pairing_end_of how)
{
	return e->phase == PHASE_BEGIN ? begin(in, b, e, how) : e->phase == PHASE_END ? end(in, b, e, how) : KEEP;
}

/* Nobody says what it means. */
static enum verdict
as_read(struct interpret *in, struct batch *b, struct event *e)
{
	return own_phase(in, b, e, (struct pairing_end_of){ .lasting = e->name.p == e->cls->name.p, .fields = in->fields });
}

static enum verdict
apply_phase(struct interpret *in, struct batch *b, struct event *e, const struct meaning *m, struct pairing_end_of how)
{
	how.fields = in->fields;
	switch ((enum meaning_phase)m->phase) {
	case MEANING_AS_READ:
		return own_phase(in, b, e, how);
	case MEANING_BEGIN:
		return begin(in, b, e, how);
	case MEANING_END:
		return end(in, b, e, how);
	case MEANING_STATE:
		return state(in, b, e, how);
	case MEANING_STATE_END:
		return in->spans ? closed(in, e, pairing_end(&in->pairing, b, e, how)) : KEEP;
	case MEANING_SPAN:
		span(b, e, m);
		return KEEP;
	case MEANING_INSTANT:
		e->phase = PHASE_INSTANT;
		return KEEP;
	case MEANING_COUNTER:
		return interpret_series(in, b, e, m) ? KEEP : NO_MEMORY;
	case MEANING_STRUCTURE:
		e->phase = PHASE_STRUCTURE;
		return (in->want & WANT_STRUCTURE) != 0 ? KEEP : DROP;
	}
	return KEEP;
}

/* ---- one event ---- */

/* The track, and the key and kind of an end of a span.  false: no memory. */
static bool
find_place(struct interpret *in, struct batch *b, struct event *e, const struct meaning *m, struct pairing_end_of *how)
{
	const bool state = m->phase == MEANING_STATE || m->phase == MEANING_STATE_END;
	const struct track *const own = e->track;

	if (m->ntracks > 0)
		e->track = interpret_line(in, b, e, m);
	else if (state)
		e->track = interpret_state_line(in, b, e, m);
	if (e->track == NULL)
		return false;
	if (m->key.nfields > 0) {
		const struct event at_home = { .track = own, .first_field = e->first_field, .nfields = e->nfields };
		const struct value v = interpret_ref(in, b, &at_home, &m->key);
		if (!interpret_number(&v, &how->key))
			how->key = 0;
	}
	how->pair = state ? m->state : m->pair;
	how->flags = (uint8_t)((m->async ? PAIRING_ASYNC : 0) | (state ? PAIRING_STATE : 0));
	return true;
}

/* What is said of an event of this name; NULL: nothing. */
static inline const struct bound *
choose(const struct bound *bd, struct slice name)
{
	while (bd != NULL && bd->m->named.p != NULL && !meaning_glob(bd->m->named, name))
		bd = bd->otherwise;
	return bd;
}

static enum verdict
interpret_event(struct interpret *in, struct batch *b, struct event *e, const struct bound *bd)
{
	struct pairing_end_of how = { .pair = 0 };

	bd = choose(bd, e->name);
	if (bd == NULL)
		return as_read(in, b, e);
	if (bd->m->has_layout && bd->fields && !interpret_layout(in, b, e, bd->m))
		return NO_MEMORY;
	if (!interpret_learn(in, b, e, bd->m) || !find_name(in, b, e, bd, &how.lasting) || !find_place(in, b, e, bd->m, &how))
		return NO_MEMORY;
	pairing_see(&in->pairing, e->track, e->ts);
	if (bd->m->flow_name.p != NULL && in->spans && in->fields && !interpret_arrows(in, b, e, bd->m))
		return NO_MEMORY;
	return apply_phase(in, b, e, bd->m, how);
}

/* A record on nobody's time line: it may say something for others to look up, but it begins and ends nothing. */
static enum verdict
untimed(struct interpret *in, struct batch *b, struct event *e, const struct bound *bd)
{
	if (bd->m != NULL)
		bd = choose(bd, e->name);
	if (bd != NULL && bd->m != NULL) {
		if (bd->m->has_layout && bd->fields && !interpret_layout(in, b, e, bd->m))
			return NO_MEMORY;
		if (!interpret_learn(in, b, e, bd->m))
			return NO_MEMORY;
	}
	return e->phase != PHASE_STRUCTURE || (in->want & WANT_STRUCTURE) != 0 ? KEEP : DROP;
}

static enum verdict
one(struct interpret *in, struct batch *b, struct event *e, const struct bound *bd)
{
	enum verdict v;

	if (e->track == NULL)
		return untimed(in, b, e, bd);
	pairing_see(&in->pairing, e->track, e->ts);
	if (bd->m == NULL) {
		v = as_read(in, b, e);
	} else if (!bd->light) {
		v = interpret_event(in, b, e, bd);
	} else {
		const struct pairing_end_of how = { .pair = bd->pair, .lasting = bd->name.p != NULL || e->name.p == e->cls->name.p };
		if (bd->name.p != NULL)
			e->name = bd->name;
		v = apply_phase(in, b, e, bd->m, how);
	}
	if (v == KEEP && e->phase == PHASE_SPAN)
		pairing_see(&in->pairing, e->track, e->ts + e->dur);
	return v;
}

static inline void
move(struct batch *b, uint32_t to, uint32_t from)
{
	if (to == from)
		return;
	b->events[to] = b->events[from];
	if (b->bytes != NULL)
		b->bytes[to] = b->bytes[from];
}

/* Most events of formats that say it all themselves; no time line is watched for the end of what is open. */
static inline bool
has_nothing_to_do(const struct interpret *in, const struct bound *bd, const struct event *e)
{
	return bd->m == NULL && in->pairing.ntracks == 0 && e->phase != PHASE_BEGIN && e->phase != PHASE_END;
}

/* The short ways, from the i-th event on, as far as they lead.  *n: how many events come out so far. */
static uint32_t
short_ways(struct interpret *in, struct batch *b, uint32_t i, uint32_t *n)
{
	const struct class *cls = NULL;
	const struct bound *bd = NULL;
	uint32_t to = *n;

	for (; i < b->n; i++) {
		const struct event *const e = &b->events[i];
		if (e->cls != cls)
			bd = known_bound(in, cls = e->cls);
		if (bd == NULL || e->track == NULL)
			break;
		if (bd->simple == SIMPLE_BEGIN) {
			if (!pairing_begin_plain(&in->pairing, e, bd->name, bd->pair))
				break;
		} else if (bd->simple == SIMPLE_END) {
			if (!pairing_end_plain(&in->pairing, e, bd->pair, &b->events[to]))
				break;
			to++;
		} else if (has_nothing_to_do(in, bd, e)) {
			move(b, to++, i);
		} else {
			break;
		}
	}
	*n = to;
	return i;
}

bool
interpret_batch(struct interpret *in, const struct format *of, struct judge *judge, struct batch *b)
{
	uint32_t n = 0;

	in->judge = judge;
	in->judges_payloads = of->reader->judges_payloads;
	pairing_recycle(&in->pairing);
	for (uint32_t i = 0; i < b->n; i++) {
		const struct bound *bd = known_bound(in, b->events[i].cls);
		if (bd != NULL && (bd->m == NULL || bd->simple != SIMPLE_NOT)) {
			i = short_ways(in, b, i, &n);
			if (i == b->n)
				break;
			bd = known_bound(in, b->events[i].cls);
		}
		if (bd == NULL)
			bd = new_bound(in, b->events[i].cls);
		struct event *const e = &b->events[i];
		const enum verdict v = bd != NULL ? one(in, b, e, bd) : NO_MEMORY;
		if (v == NO_MEMORY)
			return false;
		if (v == KEEP)
			move(b, n++, i);
	}
	b->n = n;
	return true;
}

bool
interpret_more(struct interpret *in, struct batch *b)
{
	const uint32_t n = b->n;

	if (b->cap - n >= 2)
		arrows_give(&in->arrows, b, false);
	return b->n > n;
}

bool
interpret_finish(struct interpret *in, struct batch *b, bool *more)
{
	pairing_recycle(&in->pairing);
	if (!in->open_given) {
		if (!pairing_finish(&in->pairing, b, in->fields, more) || (!*more && !early_finish(&in->early, &in->pairing, b, more)))
			return false;
		in->open_given = !*more;
	}
	*more = true;
	if (!in->open_given || b->cap - b->n < 2)
		return true;
	*more = arrows_give(&in->arrows, b, true);
	if (!*more && in->arrows.left > 0)
		ledger_add(&in->pairing.ledger, &arrows_left, 0, in->arrows.left);
	return true;
}

const struct ledger *
interpret_ledger(const struct interpret *in)
{
	return &in->pairing.ledger;
}

uint64_t
interpret_unpaired(const struct interpret *in)
{
	return in->pairing.unpaired;
}
