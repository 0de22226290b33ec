#include "dial9/value.h"

/* Pools and symbols may add only so much to an event, whose fields can all name one long text. */
static bool
has_room(struct d9_state *st, uint32_t bytes, struct finding_tally *limit, uint32_t id,
         const struct d9_frame *f)
{
	if (bytes > D9_MAX_EVENT_POOLED - st->event_pooled) {
		d9_tally(limit, f, id);
		return false;
	}
	st->event_pooled += bytes;
	st->batch_pooled += bytes;
	return true;
}

void
d9_value_stack(struct d9_state *st, const char *addresses, uint32_t n, const struct d9_frame *f,
               struct batch *b, struct value *v)
{
	const uint64_t plain = (uint64_t)n * D9_ADDRESS_COST;
	uint32_t cost;

	*v = (struct value){ .type = VALUE_NONE };
	if (!d9_wants_fields(st))
		return; /* names of events are not made of stacks */
	d9_look_ahead(st);
	if (!st->looked_ahead)
		d9_tally(&st->tallies.symbols_late, f, n);
	*v = (struct value){ .type = VALUE_LIST, .count = n };
	v->values = d9_stack_values(st, true, &b->scratch, addresses, n, &cost, &v->element);
	if (cost > plain && !has_room(st, cost - (uint32_t)plain, &st->tallies.names_limit, n, f))
		v->values = d9_stack_values(st, false, &b->scratch, addresses, n, &cost, &v->element);
}

/* What is shown of an id for which nothing better is there. */
static void
number(uint32_t id, struct value *v)
{
	*v = (struct value){ .type = VALUE_U32, .u64 = id };
}

/* An id that is not defined yet. */
static void
late(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, const struct d9_frame *f, struct batch *b,
     struct value *v)
{
	d9_look_ahead(st);
	const struct slice data = d9_ahead_find(st, kind, id);
	if (data.p == NULL)
		d9_pool_shown(st, kind, id);
	if (data.p == NULL || !has_room(st, data.n, &st->tallies.pool_limit, id, f))
		return;
	if (kind == D9_STACKS)
		d9_value_stack(st, data.p, data.n / 8, f, b, v);
	else
		*v = value_string(data);
}

/* What is no text of a pool. */
static void
other(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, const struct d9_frame *f, struct batch *b,
      struct value *v)
{
	const struct d9_entry *const e = d9_pool_find(&st->pools[kind], id);

	number(id, v);
	if (kind == D9_STACKS && !d9_wants_fields(st))
		return;
	if (e == NULL) {
		late(st, kind, id, f, b, v);
	} else if (has_room(st, e->cost, &st->tallies.pool_limit, id, f)) {
		*v = (struct value){ .type = VALUE_LIST, .element = e->element, .count = e->n };
		v->values = e->values;
		if (!st->looked_ahead)
			d9_tally(&st->tallies.symbols_late, f, e->n);
	}
}

void
d9_value_id(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, const struct d9_frame *f,
            struct batch *b, struct value *v)
{
	const struct d9_entry *const e = d9_pool_find(&st->pools[kind], id);

	if (kind == D9_STACKS || e == NULL)
		other(st, kind, id, f, b, v);
	else if (has_room(st, e->cost, &st->tallies.pool_limit, id, f))
		*v = value_string((struct slice){ e->text, e->n, e->flags });
	else
		number(id, v);
}
