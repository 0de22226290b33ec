#include "dial9/dial9_state.h"

/*
 * A vocabulary says which events tell something about the whole trace: what the
 * wall clock was, what was recorded, and which names addresses have.  The reader
 * does these itself, as `validate` checks them and symbols stand at the end.
 */

#define SECOND UINT64_C(1000000000)

static bool
has_field(const void *ctx, struct slice name)
{
	return d9_field_named(ctx, name) != D9_NO_FIELD;
}

/* Whether it says no more than what the reader does with events of this kind. */
static bool
is_done_by_reader(const struct d9_schema *s, const struct plan *m)
{
	const bool phase = m->phase == PLAN_AS_READ || m->phase == PLAN_INSTANT || m->phase == PLAN_STRUCTURE;

	return phase && s->kind != D9_KIND_PLAIN && m->nnames == 0 && m->ntracks == 0 && m->ndefines == 0 &&
	       m->flow_name.p == NULL && !m->has_layout && m->named.p == NULL &&
	       (m->epoch.p == NULL || m->facts.p == NULL);
}

static void
find_parts(struct d9_schema *s, const struct plan *m)
{
	s->parts[D9_PART_CLOCK] = d9_field_named(s, m->epoch);
	s->parts[D9_PART_FACTS] = d9_field_named(s, m->facts);
	s->parts[D9_PART_ADDRESS] = d9_field_named(s, plan_word(m, "address"));
	s->parts[D9_PART_NAME] = d9_field_named(s, plan_word(m, "name"));
	s->parts[D9_PART_DEPTH] = d9_field_named(s, plan_word(m, "depth"));
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

void
d9_schema_mean(struct d9_state *st, struct d9_schema *s)
{
	const struct plan *const m = trace_mean(st->r->trace, s->cls, has_field, s);

	s->kind = D9_KIND_PLAIN;
	if (m == NULL || !s->readable)
		return;
	find_parts(s, m);
	find_used(s, m);
	s->structure = m->phase == PLAN_STRUCTURE;
	if (slice_is(plan_word(m, "symbol"), "true"))
		s->kind = D9_KIND_SYMBOL;
	else if (s->timed && s->parts[D9_PART_CLOCK] != D9_NO_FIELD)
		s->kind = D9_KIND_CLOCK;
	else if (s->parts[D9_PART_FACTS] != D9_NO_FIELD)
		s->kind = D9_KIND_FACTS;
	s->cls->reader_applies = is_done_by_reader(s, m);
}

static void
learn_clock(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f)
{
	struct trace *const trace = st->r->trace;
	const uint32_t i = s->parts[D9_PART_CLOCK];
	uint64_t realtime;

	if (!d9_value_integer(s->fields[i].type, d9_field_at(s, f, i), &realtime) || realtime < st->base)
		return;
	const uint64_t epoch = realtime - st->base;
	const uint64_t first = trace->epoch_ns, apart = epoch > first ? epoch - first : first - epoch;
	if (!trace->epoch_known) {
		trace->epoch_known = true;
		trace->epoch_ns = epoch;
	} else if (apart > SECOND) {
		if (finding_is_shown(st->r->findings, &d9_rules[D9_RULE_CLOCK_CHANGED]))
			d9_find(st, D9_RULE_CLOCK_CHANGED, f,
			        "time 0 was %" PRIu64 " ns after 1970, now it is %" PRIu64, first, epoch);
		else
			d9_find(st, D9_RULE_CLOCK_CHANGED, f, "not shown");
	}
}

/* A fact of the trace.  The first one of a name is kept. */
static bool
learn_fact(struct d9_state *st, struct slice name, const struct value *v, const struct d9_frame *f)
{
	struct trace *const trace = st->r->trace;
	const uint32_t bytes = name.n + v->count;
	struct quoted q;

	for (uint32_t i = 0; i < trace->nmeta; i++) {
		if (!slice_equal(trace->meta[i].name, name))
			continue;
		if (slice_equal(value_text(&trace->meta[i].value), value_text(v)))
			return true;
		if (finding_is_shown(st->r->findings, &d9_rules[D9_RULE_METADATA_CHANGED]))
			d9_find(st, D9_RULE_METADATA_CHANGED, f, "%s gets another value", quoted(&q, name));
		else
			d9_find(st, D9_RULE_METADATA_CHANGED, f, "not shown");
		return true;
	}
	if (trace->nmeta == D9_MAX_META || bytes > D9_MAX_META_BYTES - st->meta_bytes)
		return true; /* it stands in the event all the same */
	st->meta_bytes += bytes;
	return trace_add_meta(trace, name, *v);
}

static enum d9_result
learn_facts(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f)
{
	const uint32_t i = s->parts[D9_PART_FACTS];
	struct batch scratch = { .cap = 0 };
	struct value map;
	bool ok = true;

	if ((s->fields[i].type & ~D9_OPTIONAL) != D9_STRING_MAP || f->end - f->p > D9_MAX_META_BYTES)
		return D9_DONE;
	st->event_pooled = 0;
	ok = d9_value(st, &scratch, s->fields[i].type, d9_field_at(s, f, i), &map, f) != NULL;
	for (uint32_t k = 0; ok && map.type == VALUE_MAP && k < map.count; k++)
		ok = learn_fact(st, value_text(&map.values[2 * k]), &map.values[2 * k + 1], f);
	arena_free(&scratch.scratch);
	return ok ? D9_DONE : D9_NO_MEMORY;
}

enum d9_result
d9_learn(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f)
{
	switch ((enum d9_kind)s->kind) {
	case D9_KIND_CLOCK:
		learn_clock(st, s, f);
		return D9_DONE;
	case D9_KIND_FACTS:
		return st->collects != NULL ? D9_DONE : learn_facts(st, s, f);
	case D9_KIND_SYMBOL:
		st->symbols_met = true;
		return st->collects == NULL || d9_ahead_symbol(st, s, f) ? D9_DONE : D9_NO_MEMORY;
	case D9_KIND_PLAIN:
		break;
	}
	return D9_DONE;
}
