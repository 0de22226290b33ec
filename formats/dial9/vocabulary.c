#include "dial9/vocabulary.h"

#include "dial9/made.h"
#include "dial9/walk.h"

/*
 * By the vocabulary some events hold facts of the whole trace: the wall clock,
 * metadata, names of addresses.  The reader takes these itself, because
 * `validate` checks them and symbols stand at the end.
 */

#define SECOND UINT64_C(1000000000)

static uint32_t
field_named(const void *ctx, struct slice name)
{
	const struct d9_schema *const s = ctx;

	for (uint32_t i = 0; name.p != NULL && i < s->nfields; i++)
		if (slice_equal(s->fields[i].name, name))
			return i;
	return D9_NO_FIELD;
}

static bool
has_field(const void *ctx, struct slice name)
{
	return field_named(ctx, name) != D9_NO_FIELD;
}

static uint8_t
field_type(const void *ctx, uint32_t field)
{
	const struct d9_schema *const s = ctx;

	return d9_type(s->fields[field].type)->value;
}

/* Whether the reader does all that the plan asks for. */
static bool
is_done_by_reader(const struct d9_schema *s, const struct class_plan *p)
{
	const unsigned mine = CLASS_PLAN_EPOCH | CLASS_PLAN_FACTS;

	return s->kind != D9_KIND_PLAIN && (p->says & ~mine) == 0 && (p->says & mine) != mine;
}

static void
find_parts(struct d9_schema *s, const struct class_plan *p)
{
	s->parts[D9_PART_CLOCK] = p->epoch;
	s->parts[D9_PART_FACTS] = p->facts;
	s->parts[D9_PART_ADDRESS] = field_named(s, plan_word(p->plan, "address"));
	s->parts[D9_PART_NAME] = field_named(s, plan_word(p->plan, "name"));
	s->parts[D9_PART_DEPTH] = field_named(s, plan_word(p->plan, "depth"));
}

static void
find_used(struct d9_schema *s, const struct plan *m)
{
	s->plan = m;
	for (uint32_t i = 0; i < s->nfields; i++) {
		s->fields[i].used = plan_uses(m, &s->fields[i].name);
		if (s->fields[i].used)
			s->nused = i + 1;
	}
}

static enum d9_kind
kind_of(const struct d9_schema *s, const struct plan *m)
{
	if (slice_is(plan_word(m, "symbol"), "true"))
		return D9_KIND_SYMBOL;
	if (slice_is(plan_word(m, "made"), "track") && d9_made_track_schema(s))
		return D9_KIND_TRACK;
	if (s->timed && s->parts[D9_PART_CLOCK] != D9_NO_FIELD)
		return D9_KIND_CLOCK;
	const uint32_t facts = s->parts[D9_PART_FACTS];
	return facts != D9_NO_FIELD && d9_type(s->fields[facts].type) == &d9_types[D9_STRING_MAP]
	           ? D9_KIND_FACTS
	           : D9_KIND_PLAIN;
}

static void
find_plan(struct d9_state *st, struct d9_schema *s)
{
	const struct plan *const m = trace_find_plan(st->r->trace, s->name, has_field, s);
	const struct class_plan_fields fields = { s, field_named, field_type };
	struct class_plan p;

	s->kind = D9_KIND_PLAIN;
	if (m == NULL || !s->readable)
		return;
	class_plan_compile(&p, m, &fields);
	find_parts(s, &p);
	s->kind = (uint8_t)kind_of(s, m);
	if (d9_wants_raw(st)) /* facts of the trace are still checked */
		return;
	find_used(s, m);
	s->structure = m->phase == PLAN_STRUCTURE;
	s->reader_applies = is_done_by_reader(s, &p);
	if (slice_is(plan_word(m, "made"), "event") && d9_made_event_schema(st, s))
		s->reader_applies = true;
}

bool
d9_schema_plan(struct d9_state *st, struct d9_schema *s)
{
	find_plan(st, s);
	s->cls = trace_name_class(st->r->trace, s->made != NULL ? s->made->cls : s->name);
	return s->cls != NULL && !st->no_memory;
}

bool
d9_schema_class(struct d9_state *st, struct d9_schema *s)
{
	const struct slice category = s->made != NULL ? s->made->category : (struct slice){ NULL, 0, 0 };
	const uint32_t hidden = s->made != NULL ? s->made->nhidden : 0;
	const struct class like = { .name = s->cls->name,
		                    .category = category,
		                    .fields = s->declared + hidden,
		                    .nfields = s->nhead + s->nfields - hidden,
		                    .plan = s->plan,
		                    .reader_applies = s->reader_applies };
	struct class *const c = trace_plan_class(st->r->trace, &like);

	if (c == NULL) {
		st->no_memory = true;
		return false;
	}
	s->cls = c;
	s->planned = true;
	if (s->kind == D9_KIND_PLAIN && !s->structure)
		s->run_need = s->need;
	return true;
}

void
d9_schemas_declare(struct d9_state *st)
{
	for (uint32_t i = 0; i < st->schemas.n; i++) {
		struct d9_schema *const s = st->schemas.all[i];
		if (s->cls != NULL && s->declared != NULL && !s->planned) /* NULL: there was no memory */
			(void)d9_schema_class(st, s);
	}
}

/* ---- facts of the trace ---- */

/* The value of a field that something is done with, as the bytes have it.  false: there is none. */
static bool
part_value(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f, enum d9_part part,
           struct batch *b, struct value *v)
{
	const uint32_t field = s->parts[part];
	struct d9_walk w;

	if (field == D9_NO_FIELD)
		return false;
	d9_walk_values(&w, st, s, f, b);
	w.raw = true;
	for (uint32_t i = 0; i < field; i++)
		(void)d9_walk_value(&w, s->fields[i].type, 0, NULL);
	return d9_walk_value(&w, s->fields[field].type, 0, v) && v->type != VALUE_NONE;
}

static bool
part_integer(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f, enum d9_part part,
             uint64_t *number)
{
	const uint32_t field = s->parts[part];
	struct value v;

	if (field == D9_NO_FIELD || !d9_is_integer(s->fields[field].type) ||
	    !part_value(st, s, f, part, NULL, &v))
		return false;
	*number = v.u64;
	return true;
}

static void
learn_clock(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f)
{
	struct trace *const trace = st->r->trace;
	uint64_t realtime;

	if (!part_integer(st, s, f, D9_PART_CLOCK, &realtime) || realtime < st->base)
		return;
	const uint64_t epoch = realtime - st->base;
	const uint64_t first = trace->epoch_ns, apart = epoch > first ? epoch - first : first - epoch;
	if (!trace->epoch_known) {
		trace->epoch_known = true;
		trace->epoch_ns = epoch;
	} else if (apart > SECOND && !d9_find_unshown(st, D9_RULE_CLOCK_CHANGED, f)) {
		d9_find(st, D9_RULE_CLOCK_CHANGED, f,
		        "time 0 was %" PRIu64 " ns after 1970, now it is %" PRIu64, first, epoch);
	}
}

/* A fact of the trace.  The first one of a name is retained. */
static void
learn_fact(struct d9_state *st, struct slice name, const struct value *v, const struct d9_frame *f)
{
	struct trace *const trace = st->r->trace;
	const uint32_t bytes = name.n + v->count;
	uint32_t i = 0;
	struct quoted q, q2, q3;

	while (i < trace->nmeta && !slice_equal(trace->meta[i].name, name))
		i++;
	if (i < trace->nmeta) {
		if (!slice_equal(value_text(&trace->meta[i].value), value_text(v)) &&
		    !d9_find_unshown(st, D9_RULE_METADATA_CHANGED, f))
			d9_find(st, D9_RULE_METADATA_CHANGED, f, "%s was %s, now it is %s", quoted(&q, name),
			        quoted(&q2, value_text(&trace->meta[i].value)), quoted(&q3, value_text(v)));
		return;
	}
	if (trace->nmeta == D9_MAX_META || bytes > D9_MAX_META_BYTES - st->meta_bytes) {
		d9_tally(&st->tallies.metadata, f, bytes);
		return;
	}
	st->meta_bytes += bytes;
	st->no_memory |= !trace_add_meta(trace, name, *v);
}

static void
learn_facts(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f)
{
	struct batch scratch = { .cap = 0 };
	struct value map;

	if (f->end - f->p > D9_MAX_META_BYTES) {
		d9_tally(&st->tallies.metadata, f, (uint64_t)(f->end - f->p));
		return;
	}
	if (part_value(st, s, f, D9_PART_FACTS, &scratch, &map))
		for (uint32_t i = 0; i < map.count; i++)
			learn_fact(st, value_text(&map.values[2 * i]), &map.values[2 * i + 1], f);
	arena_free(&scratch.scratch);
}

static void
learn_symbol(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f)
{
	const uint32_t field = s->parts[D9_PART_NAME];
	const struct d9_type_info *const type = field != D9_NO_FIELD ? d9_type(s->fields[field].type) : NULL;
	const struct d9_entry *e = NULL;
	uint64_t address, depth = 0;
	struct value name;

	if (type != &d9_types[D9_STRING] && type != &d9_types[D9_POOLED_STRING])
		return;
	if (!part_integer(st, s, f, D9_PART_ADDRESS, &address) ||
	    !part_value(st, s, f, D9_PART_NAME, NULL, &name))
		return;
	(void)part_integer(st, s, f, D9_PART_DEPTH, &depth);
	if (name.type == VALUE_STRING)
		d9_ahead_symbol(st, address, depth, value_text(&name));
	else if ((e = d9_pool_find(&st->pools[D9_STRINGS], (uint32_t)name.u64)) != NULL && e->text != NULL)
		d9_ahead_symbol(st, address, depth, (struct slice){ e->text, e->n, e->flags });
}

void
d9_learn(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f)
{
	switch ((enum d9_kind)s->kind) {
	case D9_KIND_CLOCK:
		learn_clock(st, s, f);
		break;
	case D9_KIND_FACTS:
		if (st->collects == NULL)
			learn_facts(st, s, f);
		break;
	case D9_KIND_SYMBOL:
		st->symbols_met = true;
		if (st->collects != NULL)
			learn_symbol(st, s, f);
		break;
	case D9_KIND_TRACK:
		d9_made_track(st, s, f);
		break;
	case D9_KIND_PLAIN:
		break;
	}
}
