/* What events say for others to look up, of the whole trace, and of what they wake. */
#include "run/meaning/interpret_parts.h"

#define FACTS_MAX 512U
#define FACTS_BYTES (256U << 10)

static void
define(struct interpret *in, const struct batch *b, const struct event *e, const struct plan_define *d)
{
	const struct value v = interpret_ref(in, b, e, &d->value);
	uint64_t key[2] = { 0, 0 };

	for (uint32_t i = 0; i < d->nkeys; i++) {
		const struct value *const k = interpret_field(b, e, d->key[i]);
		if (k == NULL || !interpret_number(k, &key[i]))
			return;
	}
	if (v.type == VALUE_NONE || v.type == VALUE_BYTES || v.type > VALUE_BYTES)
		return;
	definitions_put(&in->trace->definitions, d->table, interpret_scope(in, e, d->table), key[0], key[1],
	                v);
}

static bool
has_fact(const struct trace *t, struct slice name)
{
	for (uint32_t i = 0; i < t->nmeta; i++)
		if (slice_equal(t->meta[i].name, name))
			return true;
	return false;
}

/* The first one of a name counts; texts and numbers only. */
static void
add_facts(struct interpret *in, const struct value *map)
{
	for (uint32_t i = 0; map->type == VALUE_MAP && i < map->count; i++) {
		const struct value *const key = &map->values[2 * (size_t)i], *const v = key + 1;
		const uint64_t bytes = (uint64_t)key->count + (v->type == VALUE_STRING ? v->count : 0);
		if (key->type != VALUE_STRING || v->type > VALUE_STRING || v->type == VALUE_NONE)
			continue;
		if (in->trace->nmeta >= FACTS_MAX || bytes > FACTS_BYTES - in->facts_bytes ||
		    has_fact(in->trace, value_text(key)))
			continue;
		in->facts_bytes += (uint32_t)bytes;
		in->failed |= !trace_add_meta(in->trace, value_text(key), *v);
	}
}

static void
learn_epoch(struct trace *t, const struct value *v, uint64_t ts)
{
	uint64_t wall;

	if (t->epoch_known || v->type == VALUE_STRING || !interpret_number(v, &wall) || wall < ts)
		return;
	t->epoch_known = true;
	t->epoch_ns = wall - ts;
}

void
interpret_learn(struct interpret *in, const struct batch *b, const struct event *e, const struct plan *m)
{
	const struct value *v;

	for (uint32_t i = 0; i < m->ndefines; i++)
		define(in, b, e, &m->defines[i]);
	if (m->epoch.p != NULL && (v = interpret_field(b, e, m->epoch)) != NULL)
		learn_epoch(in->trace, v, e->ts);
	if (m->facts.p != NULL && (v = interpret_field(b, e, m->facts)) != NULL)
		add_facts(in, v);
}

void
interpret_arrows(struct interpret *in, const struct batch *b, struct event *e, const struct plan *m)
{
	const struct value *const out = m->flow_out.p != NULL ? interpret_field(b, e, m->flow_out) : NULL;
	const struct value *const arrives = m->flow_in.p != NULL ? interpret_field(b, e, m->flow_in) : NULL;
	uint64_t key;

	if (out != NULL && interpret_number(out, &key)) {
		const bool instant =
		    m->phase == PLAN_INSTANT || (m->phase == PLAN_AS_READ && e->phase == PHASE_INSTANT);
		/* the arrow's name is that of the first such meaning of the class */
		if (instant && m == plan_with_arrows(e->cls->plan))
			e->flags |= EVENT_ARROW;
		arrows_out(&in->arrows, m->flow_name, key, e);
		if ((e->flags & EVENT_ARROW) != 0)
			e->dur = in->arrows.id;
	}
	if (arrives != NULL && interpret_number(arrives, &key))
		arrows_in(&in->arrows, m->flow_name, key, e);
}
