#include "dial9/dial9_state.h"

/* Frames as records of the trace. */

static struct event *
next_event(struct batch *b, const struct d9_frame *f, const struct class *cls, uint64_t ts)
{
	struct event *const e = &b->events[b->n];

	*e = (struct event){
		.ts = ts, .name = cls->name, .cls = cls, .offset = f->at, .phase = PHASE_STRUCTURE
	};
	if (b->bytes != NULL)
		b->bytes[b->n] = slice_of(f->p, (size_t)(f->end - f->p));
	return e;
}

enum d9_result
d9_structure_add(struct d9_state *st, enum d9_structure which, const struct d9_frame *f, struct batch *b,
                 const struct field *fields, uint32_t n)
{
	if (!d9_wants_structure(st))
		return D9_DONE;
	struct event *const e = next_event(b, f, st->structure[which], st->base);
	if (d9_wants_fields(st)) {
		struct field *const to = batch_fields(b, n);
		if (to == NULL)
			return D9_NO_MEMORY;
		memcpy(to, fields, n * sizeof *fields);
		e->first_field = b->nfields;
		e->nfields = (uint16_t)n;
		b->nfields += n;
	}
	b->n++;
	return D9_DONE;
}

/* The most frequent type without a call. */
static inline const char *
value_of(struct d9_state *st, struct batch *b, uint8_t type, const char *p, struct value *v,
         const struct d9_frame *f)
{
	if (type != D9_VARINT)
		return d9_value(st, b, type, p, v, f);
	*v = value_u64(d9_varint(&p));
	return p;
}

/* All fields, or those that the meaning looks at. */
static bool
add_fields(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f, struct batch *b,
           struct event *e)
{
	const bool all = d9_wants_fields(st) || s->plan != s->cls->plan;
	const uint32_t n = all ? s->nfields : s->nused;
	struct field *const first = batch_fields(b, n), *to = first;
	const char *p = f->p + (s->timed ? D9_TIMED_EVENT_HEAD : D9_EVENT_HEAD);

	if (first == NULL)
		return false;
	st->event_pooled = 0;
	for (const struct d9_field *i = s->fields, *const end = s->fields + n; i < end && p != NULL; i++) {
		if (!all && !i->used) {
			p = d9_value_end(i->type, p);
			continue;
		}
		to->name = i->name;
		p = value_of(st, b, i->type, p, &to->value, f);
		to++;
	}
	e->first_field = b->nfields;
	e->nfields = (uint16_t)(to - first);
	b->nfields += e->nfields;
	return p != NULL;
}

/* Whose an event is the vocabulary says; until then it is nobody's in particular. */
static const struct track *
no_track(struct d9_state *st)
{
	if (st->no_track == NULL) {
		struct track *const t =
		    trace_add_thread(st->r->trace, st->process, 0, SLICE_LIT("no thread"));
		if (t != NULL)
			t->has_id = false;
		st->no_track = t;
	}
	return st->no_track;
}

static enum d9_result
add_event(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f, struct batch *b)
{
	struct event *const e = next_event(b, f, s->cls, st->base);

	if (!s->structure)
		e->phase = PHASE_INSTANT;
	e->track = no_track(st);
	if (e->track == NULL ||
	    ((d9_wants_fields(st) || class_needs_fields(s->cls)) && !add_fields(st, s, f, b, e)))
		return D9_NO_MEMORY;
	b->n++;
	return D9_DONE;
}

void
d9_advance(struct d9_state *st, const struct d9_frame *f)
{
	const uint32_t delta = load_u32(f->p + 2, false) >> 8;

	if (delta > UINT64_MAX - st->base) {
		d9_find_at(st, D9_RULE_TIME_OVERFLOW, f, f->p + 3, "base %" PRIu64 " plus delta %" PRIu32,
		           st->base, delta);
		st->base = UINT64_MAX;
	} else {
		st->base += delta; /* "then set timestamp_base_ns = timestamp_ns" */
	}
}

static enum d9_result
unreadable(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f)
{
	struct quoted q, q2;

	for (uint32_t i = 0; i < s->nfields; i++) {
		const uint8_t type = s->fields[i].type;
		if (d9_type_known(type))
			continue;
		d9_find(st, type < D9_OPTIONAL ? D9_RULE_UNKNOWN_FIELD_TYPE : D9_RULE_OPTIONAL_UNKNOWN_TYPE,
		        f, "an event of %s: the size of field %s is not known (type 0x%02x)",
		        quoted(&q, s->cls->name), quoted(&q2, s->fields[i].name), type);
		return D9_BAD;
	}
	d9_find(st, D9_RULE_HAS_TIMESTAMP, f, "an event of %s: whether it holds a time is not known",
	        quoted(&q, s->cls->name));
	return D9_BAD;
}

/* Structure is wanted by those who look at it, and by the engine if it says something for others to look up.
 */
static bool
is_wanted(const struct d9_state *st, const struct d9_schema *s)
{
	return (st->r->want & WANT_TIMES) != 0 &&
	       (!s->structure || d9_wants_structure(st) || class_needs_fields(s->cls));
}

/* An event whose end is known. */
static enum d9_result
whole_event(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f, struct batch *b)
{
	struct trace *const trace = st->r->trace;
	enum d9_result result = D9_DONE;

	if (s->timed)
		d9_advance(st, f);
	st->records++;
	trace->events += !s->structure;
	s->cls->records++;
	st->last_offset = f->offset;
	if (s->kind != D9_KIND_PLAIN)
		result = d9_learn(st, s, f);
	if (result == D9_DONE && is_wanted(st, s))
		result = add_event(st, s, f, b);
	return result;
}

enum d9_result
d9_event_frame(struct d9_state *st, struct d9_frame *f, struct batch *b)
{
	const size_t left = (size_t)(f->end - f->p);

	if (left < D9_EVENT_HEAD) {
		struct cursor c = cursor_on(f->p, f->end, false);
		cursor_take(&c, D9_EVENT_HEAD, "type_id");
		return d9_lacks(st, &c);
	}
	const uint16_t type_id = load_u16(f->p + 1, false);
	const struct d9_schema *const s = d9_schema_of(st, type_id);
	if (s == NULL) {
		d9_find(st, D9_RULE_EVENT_BEFORE_SCHEMA, f,
		        "type_id %u has no schema in this segment; schemas there are: %" PRIu32, type_id,
		        st->schemas.nregistered);
		return D9_BAD;
	}
	if (!s->readable)
		return unreadable(st, s, f);
	const char *const end = s->ops != NULL && left >= s->need ? d9_measure(st, s, f->p, f->end) : NULL;
	if (end != NULL) {
		f->end = end;
	} else {
		const enum d9_result result = d9_walk_event(st, s, f);
		if (result != D9_DONE)
			return result;
	}
	return whole_event(st, s, f, b);
}
