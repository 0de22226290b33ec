/*
 * Events: the plans of their schemas, events with facts of the whole trace, events of the batch.
 *
 * The reader, not the engine, applies the plan for the wall clock, metadata, names of addresses and threads
 * of workers: `validate` checks these, and some follow their use.  Values of frequent types are read without
 * setting up a walk; d9_walk_value() reads all others.
 */
#include "dial9/dial9.h"
#include "model/event_traits.h"
#include "model/value.h"

/* ---- plans of schemas ---- */

static uint32_t field_named(const void *ctx, struct slice name)
{
	const struct d9_schema *const s = ctx;

	for (uint32_t i = 0; name.p != NULL && i < s->nfields; i++)
		if (slice_equal(s->fields[i].name, name))
			return i;
	return D9_NO_FIELD;
}

static bool is_field(const void *ctx, struct slice name)
{
	return field_named(ctx, name) != D9_NO_FIELD;
}

static uint8_t field_type(const void *ctx, uint32_t field)
{
	const struct d9_schema *const s = ctx;

	return d9_type(s->fields[field].type)->value;
}

/* Whether the reader does all that the plan asks for. */
static bool is_done_by_reader(const struct d9_schema *s, const struct class_plan *p)
{
	const unsigned mine = CLASS_PLAN_EPOCH | CLASS_PLAN_FACTS;

	return s->use != D9_USE_PLAIN && (p->says & ~mine) == 0 && (p->says & mine) != mine;
}

static void find_roles(struct d9_schema *s, const struct class_plan *p)
{
	static const char *const words[D9_ROLES] = { [D9_ROLE_ADDRESS] = "address",
		                                     [D9_ROLE_NAME] = "name",
		                                     [D9_ROLE_DEPTH] = "depth",
		                                     [D9_ROLE_WORKER] = "worker",
		                                     [D9_ROLE_THREAD] = "thread" };

	s->roles[D9_ROLE_CLOCK] = p->epoch;
	s->roles[D9_ROLE_FACTS] = p->facts;
	for (int i = D9_ROLE_ADDRESS; i < D9_ROLES; i++)
		s->roles[i] = field_named(s, plan_word(p->plan, words[i]));
}

static void find_used(struct d9_schema *s, const struct plan *m)
{
	s->plan = m;
	for (uint32_t i = 0; i < s->nfields; i++) {
		s->fields[i].used = plan_uses(m, &s->fields[i].name);
		s->declared[s->nhead + i].name = s->fields[i].name;
		if (s->fields[i].used)
			s->nused = i + 1;
	}
}

static enum d9_use choose_use(const struct d9_state *st, const struct d9_schema *s, const struct plan *m)
{
	if (slice_is(plan_word(m, "symbol"), "true"))
		return D9_USE_SYMBOL;
	if (slice_is(plan_word(m, "made"), "track") && d9_made_is_track(s))
		return D9_USE_TRACK;
	if (st->threads_pass && s->roles[D9_ROLE_WORKER] != D9_NO_FIELD)
		return D9_USE_WORKER;
	if (s->timed && s->roles[D9_ROLE_CLOCK] != D9_NO_FIELD)
		return D9_USE_CLOCK;
	const uint32_t facts = s->roles[D9_ROLE_FACTS];
	return facts != D9_NO_FIELD && d9_type(s->fields[facts].type) == &d9_types[D9_STRING_MAP]
	           ? D9_USE_FACTS
	           : D9_USE_PLAIN;
}

/* Returns the plan of a schema that tracetool wrote, for spans that are waiting; NULL on OOM.  The vocabulary
 * has two plans, with stacks and without. */
static const struct plan *waiting_plan(struct d9_state *st, const struct plan *m)
{
	const unsigned i = m->stack.n > 0;

	if (st->made_plans[i] == m)
		return st->waiting_plans[i];
	struct plan *const to = arena_alloc(&st->r->trace->arena, sizeof *to);
	if (note_failure(&st->r->no_memory, to == NULL))
		return NULL;
	*to = *m;
	to->waiting = true;
	st->made_plans[i] = m;
	return st->waiting_plans[i] = to;
}

static void find_plan(struct d9_state *st, struct d9_schema *s)
{
	const struct plan *const m = trace_find_plan(st->r->trace, s->name, is_field, s);
	const struct class_plan_fields fields = { s, field_named, field_type };
	struct class_plan p;

	s->use = D9_USE_PLAIN;
	if (m == NULL || !s->readable)
		return;
	class_plan_compile(&p, m, &fields);
	find_roles(s, &p);
	s->use = (uint8_t)choose_use(st, s, m);
	if (d9_wants_raw(st)) /* facts of the trace are checked in raw events, too */
		return;
	find_used(s, m);
	s->structure = m->phase == PLAN_STRUCTURE;
	s->reader_applies = is_done_by_reader(s, &p);
	if (slice_is(plan_word(m, "made"), "event") && d9_made_schema(st, s)) {
		s->reader_applies = true;
		if (s->made->waiting)
			s->plan = waiting_plan(st, s->plan);
	}
}

bool d9_schema_plan(struct d9_state *st, struct d9_schema *s)
{
	find_plan(st, s);
	s->cls = trace_name_class(st->r->trace, s->made != NULL ? s->made->cls : s->name);
	return s->cls != NULL && !st->r->no_memory;
}

/* Makes the class of the schema's events: before the first event, and when a declared field has changed. */
static bool update_class(struct d9_state *st, struct d9_schema *s)
{
	const struct slice category = s->made != NULL ? s->made->category : SLICE_NONE;
	const uint32_t hidden = s->made != NULL ? s->made->nhidden : 0;
	const struct class like = { .name = s->cls->name,
		                    .category = category,
		                    .fields = s->declared + hidden,
		                    .nfields = s->nhead + s->nfields - hidden,
		                    .plan = s->plan,
		                    .reader_applies = s->reader_applies };
	struct class *const c = trace_plan_class(st->r->trace, &like);

	if (note_failure(&st->r->no_memory, c == NULL))
		return false;
	s->cls = c;
	s->planned = true;
	if (s->use != D9_USE_PLAIN || s->structure ||
	    (st->r->range != NULL && (s->made != NULL || !plan_keeps_times(s->plan))))
		return true;
	s->run_need = s->need;
	st->r->no_memory |= !d9_make_read_steps(st, s);
	return !st->r->no_memory;
}

void d9_schemas_declare(struct d9_state *st)
{
	for (uint32_t i = 0; i < st->schemas.n; i++) {
		struct d9_schema *const s = st->schemas.all[i];
		if (s->cls != NULL && s->declared != NULL && !s->planned) /* NULL after OOM */
			(void)update_class(st, s);
	}
}

/* ---- facts of the trace ---- */

/* Reads the raw value of a field with a role.  Returns false if it is absent. */
static bool role_value(struct d9_state *st, const struct d9_schema *s, const struct record *f,
                       enum d9_role part, struct batch *b, struct value *v)
{
	const uint32_t field = s->roles[part];
	struct d9_walk w;

	if (field == D9_NO_FIELD)
		return false;
	d9_walk_values(&w, st, s, f, b);
	w.raw = true;
	for (uint32_t i = 0; i < field; i++)
		(void)d9_walk_value(&w, s->fields[i].type, 0, NULL);
	return d9_walk_value(&w, s->fields[field].type, 0, v) && v->type != VALUE_NONE;
}

static bool role_integer(struct d9_state *st, const struct d9_schema *s, const struct record *f,
                         enum d9_role part, uint64_t *number)
{
	const uint32_t field = s->roles[part];
	struct value v;

	if (field == D9_NO_FIELD || !d9_is_integer(s->fields[field].type) ||
	    !role_value(st, s, f, part, NULL, &v))
		return false;
	*number = v.u64;
	return true;
}

static void set_clock(struct d9_state *st, const struct d9_schema *s, const struct record *f)
{
	struct trace *const trace = st->r->trace;
	uint64_t realtime;

	if (!role_integer(st, s, f, D9_ROLE_CLOCK, &realtime) || realtime < st->base)
		return;
	const uint64_t epoch = realtime - st->base;
	const uint64_t first = trace->epoch_ns;
	if (!trace->epoch_known) {
		trace_change(trace);
		trace->epoch_known = true;
		trace->epoch_ns = epoch;
	} else if (!epochs_agree(epoch, first)) {
		d9_find(st, D9_RULE_CLOCK_CHANGED, f,
		        "time 0 was %" PRIu64 " ns after 1970, now it is %" PRIu64, first, epoch);
	}
}

/* Adds a fact of the trace, unless an earlier one has its name. */
static void add_fact(struct d9_state *st, struct slice name, const struct value *v, const struct record *f)
{
	struct trace *const trace = st->r->trace;
	const struct field *const known = trace_meta(trace, name);
	const uint32_t bytes = name.n + v->count;
	struct quoted q, q2, q3;

	if (known != NULL) {
		if (!slice_equal(value_text(&known->value), value_text(v)))
			d9_find(st, D9_RULE_METADATA_CHANGED, f, "%s was %s, now it is %s", quoted(&q, name),
			        quoted(&q2, value_text(&known->value)), quoted(&q3, value_text(v)));
		return;
	}
	if (trace->nmeta == D9_MAX_META || bytes > D9_MAX_META_BYTES - st->meta_bytes) {
		d9_tally(&st->tallies.metadata, f, bytes);
		return;
	}
	st->meta_bytes += bytes;
	st->r->no_memory |= !trace_add_meta(trace, name, *v);
}

static void add_facts(struct d9_state *st, const struct d9_schema *s, const struct record *f)
{
	struct batch scratch = { .cap = 0 };
	struct value map;

	if (st->r->ahead_of != NULL)
		return;
	if (f->end - f->p > D9_MAX_META_BYTES) {
		d9_tally(&st->tallies.metadata, f, (uint64_t)(f->end - f->p));
		return;
	}
	if (role_value(st, s, f, D9_ROLE_FACTS, &scratch, &map))
		for (uint32_t i = 0; i < map.count; i++)
			add_fact(st, value_text(&map.values[2 * i]), &map.values[2 * i + 1], f);
	arena_free(&scratch.scratch);
}

static void add_symbol(struct d9_state *st, const struct d9_schema *s, const struct record *f)
{
	const uint32_t field = s->roles[D9_ROLE_NAME];
	const struct d9_type_info *const type = field != D9_NO_FIELD ? d9_type(s->fields[field].type) : NULL;
	const struct d9_entry *e = NULL;
	uint64_t address, depth = 0;
	struct value name;

	st->symbols_seen = true;
	if (st->collects == NULL || (type != &d9_types[D9_STRING] && type != &d9_types[D9_POOLED_STRING]))
		return;
	if (!role_integer(st, s, f, D9_ROLE_ADDRESS, &address) ||
	    !role_value(st, s, f, D9_ROLE_NAME, NULL, &name))
		return;
	(void)role_integer(st, s, f, D9_ROLE_DEPTH, &depth);
	if (name.type == VALUE_STRING)
		d9_ahead_symbol(st, address, depth, value_text(&name));
	else if ((e = d9_pool_find(&st->pools[D9_STRINGS], (uint32_t)name.u64)) != NULL && e->text != NULL)
		d9_ahead_symbol(st, address, depth, (struct slice){ e->text, e->n, e->flags });
}

/* Makes the first thread that an event states for a worker the id of the worker's track. */
static void add_thread(struct d9_state *st, const struct d9_schema *s, const struct record *f)
{
	struct d9_threads *const t = st->threads;
	uint64_t worker, tid;

	if (d9_threads_end(t, f->offset) || !role_integer(st, s, f, D9_ROLE_WORKER, &worker) ||
	    !role_integer(st, s, f, D9_ROLE_THREAD, &tid) || table64_get(&t->workers, worker) != TABLE_NONE ||
	    t->workers.used >= D9_MAX_WORKERS)
		return;
	st->r->no_memory |= !table64_put(&t->workers, worker, 0);
	t->last = f->offset;
	trace_define(t->trace, "thread-of", t->process, worker, 0, value_u64(tid));
}

/* By enum d9_use. */
static void (*const uses[])(struct d9_state *, const struct d9_schema *, const struct record *) = {
	[D9_USE_CLOCK] = set_clock,     [D9_USE_FACTS] = add_facts,   [D9_USE_SYMBOL] = add_symbol,
	[D9_USE_TRACK] = d9_made_track, [D9_USE_WORKER] = add_thread,
};

/* ---- events of the batch ---- */

/* The track of events until the vocabulary assigns one. */
static const struct track *make_default_track(struct d9_state *st)
{
	if (!d9_wants_raw(st))
		d9_look_for_threads(st);
	const struct track *const process = d9_process(st);
	struct track *const t =
	    process != NULL ? trace_add_thread(st->r->trace, process, 0, SLICE_LIT("no thread")) : NULL;
	if (t != NULL)
		t->has_id = false;
	st->r->no_memory |= t == NULL;
	st->default_track = t;
	return t;
}

static inline const struct track *default_track(struct d9_state *st)
{
	return st->default_track != NULL ? st->default_track : make_default_track(st);
}

/* Adds the fields of the frame's head, which the schema does not declare, to a raw event. */
static uint32_t add_head_fields(const struct d9_schema *s, const struct record *f, struct field *to)
{
	to[0] = (struct field){ s->declared[0].name, { .type = VALUE_U16, .u64 = d9_type_id(f->p) } };
	if (s->nhead > 1)
		to[1] = (struct field){ s->declared[1].name,
			                { .type = VALUE_U32, .u64 = load_u32(f->p + 2, false) >> 8 } };
	return s->nhead;
}

/* Reads a value of a frequent type of a checked event; v may be NULL.  Returns false, without reading, for
 * other types. */
static inline bool read_frequent(struct d9_state *st, uint8_t type, const char **p, const struct record *f,
                                 struct batch *b, struct value *v)
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

/* Adds all fields if they are requested or the event is a counter, else those that the plan uses.  Begins
 * with the field at p, which has the index `skipped`. */
static void add_fields(struct d9_state *st, const struct d9_schema *s, const struct record *f,
                       struct batch *b, struct event *e, const char *p, uint32_t skipped)
{
	const bool all = d9_wants_fields(st) || e->phase == PHASE_COUNTER;
	const struct d9_field *const end = s->fields + (all ? s->nfields : s->nused);
	struct field *const first = batch_fields(b, s->nhead + s->nfields);
	const size_t scratch = b->scratch.used;
	struct d9_walk w; /* set up when a field needs it */
	bool walks = false;
	struct field *to = first;

	if (first == NULL)
		return;
	if (s->nhead > 0)
		to += add_head_fields(s, f, to);
	for (const struct d9_field *i = s->fields + skipped; i < end; i++) {
		struct value *v = NULL;
		if (all || i->used) {
			to->name = i->name;
			v = &to++->value;
		}
		if (read_frequent(st, i->type, &p, f, b, v))
			continue;
		if (!walks)
			d9_walk_values(&w, st, s, f, b);
		walks = true;
		w.bytes.p = p;
		w.raw = d9_wants_raw(st) || (s->made != NULL && i->type == D9_STACK);
		(void)d9_walk_value(&w, i->type, 0, v);
		p = w.bytes.p;
	}
	batch_set_fields(b, e, (uint16_t)(to - first));
	if (walks)
		st->r->referred += b->scratch.used - scratch;
}

/* Completes an event that tracetool wrote. */
static void add_made(struct d9_state *st, const struct d9_schema *s, const struct record *f, struct batch *b,
                     struct event *e)
{
	const char *args;

	d9_made_event(st, s, f, b, e, &args);
	if (e->track == NULL)
		e->track = default_track(st);
	if (!d9_wants_fields(st) && e->phase != PHASE_COUNTER)
		return;
	add_fields(st, s, f, b, e, args, s->made->nhidden);
	for (uint32_t i = 0; i < e->nfields && !st->r->no_memory; i++)
		if (s->made->types[i] != D9_MADE_NONE)
			d9_made_restore(st, s->made->types[i], b, &b->fields[e->first_field + i].value);
}

void d9_event(struct reader *r, const struct record *f, struct batch *b, struct event *e)
{
	struct d9_state *const st = r->state;
	const struct d9_schema *const s = st->schema;

	st->unheld |= b->n == 0;
	if (st->tag != D9_TAG_EVENT) {
		if (d9_wants_fields(st))
			d9_structure_fields(st, f, b, e);
		return;
	}
	if (s->use == D9_USE_SYMBOL)
		e->flags |= EVENT_REFERRED;
	st->event_pooled = 0;
	if (s->made != NULL) {
		add_made(st, s, f, b, e);
	} else {
		e->track = default_track(st);
		if (d9_wants_fields(st) || class_needs_fields(s->cls))
			add_fields(st, s, f, b, e, f->p + d9_schema_head(s), 0);
	}
	if (st->unheld)
		d9_names_hold(st, b);
}

void d9_fields(struct reader *r, const struct record *f, struct batch *b, struct event *e)
{
	struct d9_state *const st = r->state;

	if (st->tag != D9_TAG_EVENT) {
		d9_structure_fields(st, f, b, e);
		return;
	}
	if (st->schema->use == D9_USE_SYMBOL)
		e->flags |= EVENT_REFERRED;
	add_fields(st, st->schema, f, b, e, f->p + d9_schema_head(st->schema), 0);
}

/* ---- event frames ---- */

/* Advances the time base by the delta of a timed event, to 2^64 - 1 at most. */
static inline void advance_time(struct d9_state *st, const struct record *f)
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

static inline enum record_status end_event(struct d9_state *st, struct d9_schema *s, struct record *f)
{
	st->schema = s;
	st->last_offset = f->offset;
	f->cls = s->cls;
	f->role = s->structure ? RECORD_IS_STRUCTURE : RECORD_IS_EVENT;
	f->track = d9_wants_raw(st) ? default_track(st) : NULL;
	return RECORD_DONE;
}

static enum record_status report_unreadable(struct d9_state *st, const struct d9_schema *s,
                                            const struct record *f)
{
	struct quoted q, q2;

	for (uint32_t i = 0; i < s->nfields; i++) {
		const uint8_t type = s->fields[i].type;
		if (d9_type_known(type))
			continue;
		d9_find(st, d9_is_optional(type) ? D9_RULE_OPTIONAL_UNKNOWN_TYPE : D9_RULE_UNKNOWN_FIELD_TYPE,
		        f, "an event of %s: the size of field %s is not known (type 0x%02x)",
		        quoted(&q, s->name), quoted(&q2, s->fields[i].in_file), type);
		return RECORD_BAD;
	}
	d9_find(st, D9_RULE_HAS_TIMESTAMP, f, "an event of %s: whether it has a timestamp is not known",
	        quoted(&q, s->name));
	return RECORD_BAD;
}

enum record_status d9_event_frame(struct d9_state *st, struct record *f)
{
	const size_t left = (size_t)(f->end - f->p);

	struct d9_bytes head = d9_bytes_of(st, f);
	if (d9_bytes_read(&head, D9_EVENT_HEAD, "type_id") == NULL)
		return RECORD_MORE;
	const uint16_t type_id = d9_type_id(f->p);
	struct d9_schema *const s = d9_schema_find(&st->schemas, type_id);
	if (s == NULL) {
		d9_find(st, D9_RULE_EVENT_BEFORE_SCHEMA, f,
		        "type_id %u has no schema in this segment; number of its schemas: %" PRIu32, type_id,
		        st->schemas.nregistered);
		return RECORD_BAD;
	}
	if (!s->readable)
		return report_unreadable(st, s, f);
	if (!s->planned && !update_class(st, s))
		return RECORD_BAD;
	const char *const end = left >= s->need ? d9_measure(st, s, f->p, f->end) : NULL;
	if (end != NULL) {
		f->end = end;
	} else {
		const enum record_status status = d9_walk_event(st, s, f);
		if (status != RECORD_DONE || st->pass.open)
			return status;
	}
	if (s->timed)
		advance_time(st, f);
	if (s->use != D9_USE_PLAIN)
		uses[s->use](st, s, f);
	return end_event(st, s, f);
}

enum record_status d9_event_pass(struct d9_state *st, struct record *f)
{
	struct d9_schema *const s = d9_schema_find(&st->schemas, d9_type_id(f->p));

	if (f->end - f->p < (ptrdiff_t)d9_schema_head(s))
		return RECORD_MORE;
	if (s->timed)
		advance_time(st, f);
	st->pass = (struct d9_pass){
		.run = d9_schema_head(s), .total = d9_schema_head(s), .schema = s, .what = "an event"
	};
	return end_event(st, s, f);
}
