#include "dial9/made.h"
#include "dial9/measure.h"
#include "dial9/record.h"
#include "dial9/value.h"
#include "dial9/vocabulary.h"
#include "dial9/walk.h"
#include "model/event_traits.h"

/* Event frames. */

/* The frame's own fields, in raw events: the schema does not declare them.  There is room for them. */
static uint32_t
add_head(const struct d9_schema *s, const struct d9_frame *f, struct field *to)
{
	to[0] =
	    (struct field){ s->declared[0].name, { .type = VALUE_U16, .u64 = load_u16(f->p + 1, false) } };
	if (s->nhead > 1)
		to[1] = (struct field){ s->declared[1].name,
			                { .type = VALUE_U32, .u64 = load_u32(f->p + 2, false) >> 8 } };
	return s->nhead;
}

/* A value of the frequent types, without setting up a walk; the event was checked.  v: NULL if nobody wants
 * it.  false: it is of another type, nothing was done. */
static inline bool
frequent_value(struct d9_state *st, uint8_t type, const char **p, const struct d9_frame *f, struct batch *b,
               struct value *v)
{
	const bool optional = d9_is_optional(type);
	const char *at = *p + optional;
	uint64_t number;

	if (optional && **p == 0) {
		*p = at;
		if (v != NULL)
			*v = (struct value){ .type = VALUE_NONE };
		return true;
	}
	switch (type & ~(unsigned)D9_OPTIONAL) {
	case D9_VARINT:
		number = d9_varint(&at);
		if (v != NULL)
			*v = value_u64(number);
		break;
	case D9_U8:
		if (v != NULL)
			*v = (struct value){ .type = VALUE_U8, .u64 = (uint8_t)*at };
		at++;
		break;
	case D9_U32:
		if (v != NULL)
			*v = (struct value){ .type = VALUE_U32, .u64 = load_u32(at, false) };
		at += 4;
		break;
	case D9_POOLED_STRING:
		if (v != NULL && d9_wants_raw(st))
			return false;
		if (v != NULL)
			d9_value_id(st, D9_STRINGS, load_u32(at, false), f, b, v);
		at += 4;
		break;
	default:
		return false;
	}
	*p = at;
	return true;
}

/* The track of events until the vocabulary assigns one. */
static const struct track *
no_track(struct d9_state *st)
{
	if (st->no_track == NULL) {
		const struct track *const process = d9_process(st);
		struct track *const t = process != NULL ? trace_add_thread(st->r->trace, process, 0,
		                                                           SLICE_LIT("no thread"))
		                                        : NULL;
		if (t != NULL)
			t->has_id = false;
		st->no_memory |= t == NULL;
		st->no_track = t;
	}
	return st->no_track;
}

/* All fields, of counters in any case, or those that the plan looks at; from the one at p on, which is the
 * `skipped`-th. */
static void
add_fields(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f, struct batch *b,
           struct event *e, const char *p, uint32_t skipped)
{
	const bool all = d9_wants_fields(st) || e->phase == PHASE_COUNTER;
	const struct d9_field *const end = s->fields + (all ? s->nfields : s->nused);
	struct field *const first = batch_fields(b, s->nhead + s->nfields);
	struct d9_walk w; /* made when a field needs it */
	bool walks = false;
	struct field *to = first;

	if (first == NULL) {
		st->no_memory = true;
		return;
	}
	if (s->nhead > 0)
		to += add_head(s, f, to);
	for (const struct d9_field *i = s->fields + skipped; i < end; i++) {
		struct value *v = NULL;
		if (all || i->used) {
			to->name = i->name;
			v = &to++->value;
		}
		if (frequent_value(st, i->type, &p, f, b, v))
			continue;
		if (!walks)
			d9_walk_values(&w, st, s, f, b);
		walks = true;
		w.bytes.p = p;
		w.raw = d9_wants_raw(st) || (s->made != NULL && i->type == D9_STACK);
		(void)d9_walk_value(&w, i->type, 0, v);
		p = w.bytes.p;
	}
	e->first_field = b->nfields;
	e->nfields = (uint16_t)(to - first);
	b->nfields += e->nfields;
}

/* One that this program wrote. */
static void
add_made(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f, struct batch *b,
         struct event *e)
{
	const char *args;

	d9_made_event(st, s, f, b, e, &args);
	if (e->track == NULL)
		e->track = no_track(st);
	if (!d9_wants_fields(st) && e->phase != PHASE_COUNTER)
		return;
	add_fields(st, s, f, b, e, args, s->made->nhidden);
	for (uint32_t i = 0; i < e->nfields && !st->no_memory; i++)
		if (s->made->words[i] < D9_MADE_WORDS)
			d9_made_restore(st, (enum d9_made_word)s->made->words[i], b,
			                &b->fields[e->first_field + i].value);
}

static void
add_event(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f, struct batch *b)
{
	struct event *const e = d9_record_event(st, b, f, s->cls);

	if (!s->structure)
		e->phase = PHASE_INSTANT;
	if (s->kind == D9_KIND_SYMBOL)
		e->flags |= EVENT_REFERRED;
	st->event_pooled = 0;
	if (!s->structure && (st->r->want & WANT_BARE) != 0) {
		e->track = no_track(st);
		b->n += !st->no_memory;
		return;
	}
	if (s->made != NULL) {
		add_made(st, s, f, b, e);
	} else {
		e->track = no_track(st);
		if (d9_wants_fields(st) || class_needs_fields(s->cls))
			add_fields(st, s, f, b, e, f->p + d9_schema_head(s), 0);
	}
	b->n += !st->no_memory;
}

static enum d9_result
unreadable(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f)
{
	struct quoted q, q2;

	for (uint32_t i = 0; i < s->nfields; i++) {
		const uint8_t type = s->fields[i].type;
		if (d9_type_known(type))
			continue;
		d9_find(st, d9_is_optional(type) ? D9_RULE_OPTIONAL_UNKNOWN_TYPE : D9_RULE_UNKNOWN_FIELD_TYPE,
		        f, "an event of %s: the size of field %s is not known (type 0x%02x)",
		        quoted(&q, s->name), quoted(&q2, s->fields[i].in_file), type);
		return D9_BAD;
	}
	d9_find(st, D9_RULE_HAS_TIMESTAMP, f, "an event of %s: whether it has a timestamp is not known",
	        quoted(&q, s->name));
	return D9_BAD;
}

/* Structure is also wanted if the engine takes definitions from it. */
static bool
is_wanted(const struct d9_state *st, const struct d9_schema *s)
{
	return (st->r->want & WANT_TIMES) != 0 &&
	       (!s->structure || d9_wants_structure(st) || class_needs_fields(s->cls));
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
	struct d9_schema *const s = d9_schema_find(&st->schemas, type_id);
	if (s == NULL) {
		d9_find(st, D9_RULE_EVENT_BEFORE_SCHEMA, f,
		        "type_id %u has no schema in this segment; number of its schemas: %" PRIu32, type_id,
		        st->schemas.nregistered);
		return D9_BAD;
	}
	if (!s->readable)
		return unreadable(st, s, f);
	if (!s->planned && !d9_schema_class(st, s))
		return D9_BAD;
	const char *const end = left >= s->need ? d9_measure(st, s, f->p, f->end) : NULL;
	if (end != NULL) {
		f->end = end;
	} else {
		const enum d9_result result = d9_walk_event(st, s, f);
		if (result != D9_DONE)
			return result;
	}
	if (s->timed)
		d9_record_time(st, f);
	d9_count_event(st, s, f);
	if (s->kind != D9_KIND_PLAIN)
		d9_learn(st, s, f);
	if (is_wanted(st, s))
		add_event(st, s, f, b);
	return D9_DONE;
}

enum d9_result
d9_event_skip(struct d9_state *st, const struct d9_frame *f)
{
	const struct d9_schema *const s = d9_schema_find(&st->schemas, load_u16(f->p + 1, false));

	if (s->timed)
		d9_record_time(st, f);
	const enum d9_result result = d9_walk_pieces(st, s, f);
	if (result == D9_DONE)
		d9_count_event(st, s, f);
	return result;
}
