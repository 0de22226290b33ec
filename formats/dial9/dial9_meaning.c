#include "dial9/dial9_state.h"

/*
 * The three events that say something about the whole trace: what the wall
 * clock was, what was recorded, and which names addresses have.
 */

#define SECOND UINT64_C(1000000000)

static void
learn_clock(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f)
{
	struct trace *const trace = st->r->trace;
	const uint32_t i = d9_field_named(s, "realtime_ns");
	uint64_t realtime;

	if (i == D9_NO_FIELD || !d9_value_integer(s->fields[i].type, d9_field_at(s, f, i), &realtime) ||
	    realtime < st->base)
		return;
	const uint64_t epoch = realtime - st->base;
	const uint64_t first = trace->epoch_ns, apart = epoch > first ? epoch - first : first - epoch;
	if (!trace->epoch_known) {
		trace->epoch_known = true;
		trace->epoch_ns = epoch;
	} else if (apart > SECOND) {
		if (finding_is_shown(st->r->judge, &d9_rules[D9_RULE_CLOCK_CHANGED]))
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
		if (finding_is_shown(st->r->judge, &d9_rules[D9_RULE_METADATA_CHANGED]))
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
learn_metadata(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f)
{
	const uint32_t i = d9_field_named(s, "entries");
	struct batch scratch = { .cap = 0 };
	struct value map;
	bool ok = true;

	if (i == D9_NO_FIELD || (s->fields[i].type & ~D9_OPTIONAL) != D9_STRING_MAP ||
	    f->end - f->p > D9_MAX_META_BYTES)
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
	case D9_KIND_METADATA:
		return st->ahead_of != NULL ? D9_DONE : learn_metadata(st, s, f);
	case D9_KIND_SYMBOL:
		st->symbols_met = true;
		return st->ahead_of == NULL || d9_ahead_symbol(st, s, f) ? D9_DONE : D9_NO_MEMORY;
	case D9_KIND_PLAIN:
		break;
	}
	return D9_DONE;
}
