#include "run/choose/split_route.h"

static uint32_t
part_of(const struct event *e)
{
	return (uint32_t)(e->offset >> ORDER_PART_SHIFT);
}

static void
take_part_off(struct event *e)
{
	e->offset &= (UINT64_C(1) << ORDER_PART_SHIFT) - 1;
}

/* ---- reading ---- */

static bool
sorter_failed(struct split_route *r, struct pipeline *p)
{
	char why[512];

	sorter_reason(&r->sorter, why, sizeof why);
	pipeline_failed(p, why);
	return false;
}

bool
split_route_fill(struct split_route *r, struct pipeline *p)
{
	const struct sorter_options options = {
		.order = { .order = ORDER_FILE, .by_part = true },
		.memory = p->job->sort_memory > 0 ? p->job->sort_memory : SORTER_MEMORY,
		.beside = p->job->sort_beside,
	};
	enum stage_status status;
	struct batch *b;

	if (!batch_pool_init(&r->pool, PIPELINE_BATCH_EVENTS, false)) {
		pipeline_no_memory(p);
		return false;
	}
	sorter_init(&r->sorter, &options);
	r->begun = true;
	while ((status = pipeline_next(p, &b)) == STAGE_MORE) {
		const bool added = sorter_add(&r->sorter, b);
		batch_release(b);
		if (!added)
			return sorter_failed(r, p);
	}
	return status == STAGE_END && (sorter_end(&r->sorter) || sorter_failed(r, p));
}

/* ---- a part ---- */

static void
let_go(struct split_route *r)
{
	batch_release(r->held);
	shared_memory_drop(r->memory);
	r->held = NULL;
	r->memory = NULL;
	r->at = 0;
}

static enum stage_status
no_memory(struct split_route *r, struct batch *b)
{
	batch_release(b);
	pipeline_no_memory(r->to);
	return STAGE_BAD;
}

/* STAGE_MORE: there is an event at r->at. */
static enum stage_status
take_more(struct split_route *r)
{
	if (r->held != NULL && r->at < r->held->n)
		return STAGE_MORE;
	let_go(r);
	if (r->ended)
		return STAGE_END;
	if ((r->held = batch_pool_take(&r->pool)) == NULL)
		return no_memory(r, NULL);
	const enum sorter_status given = sorter_next(&r->sorter, r->held);
	if (given == SORTER_MORE)
		return STAGE_MORE;
	let_go(r);
	r->ended = true;
	if (given == SORTER_END)
		return STAGE_END;
	sorter_failed(r, r->to);
	return STAGE_BAD;
}

/* Copies the events of the part from the batch that is held, which others may have some of, too. */
static bool
copy_events(struct split_route *r, struct batch *b)
{
	if (r->memory == NULL && (r->memory = batch_share_memory(r->held)) == NULL)
		return false;
	if (!batch_hold(b, r->memory))
		return false;
	for (; r->at < r->held->n && part_of(&r->held->events[r->at]) == r->part; r->at++) {
		const struct event *const from = &r->held->events[r->at];
		struct event *const to = &b->events[b->n];
		struct field *const fields = from->nfields > 0 ? batch_fields(b, from->nfields) : NULL;
		*to = *from;
		take_part_off(to);
		if (from->nfields > 0) {
			if (fields == NULL)
				return false;
			memcpy(fields, r->held->fields + from->first_field, from->nfields * sizeof *fields);
			to->first_field = b->nfields;
			b->nfields += from->nfields;
		}
		b->n++;
	}
	return true;
}

/* The batch that is held is of one part alone. */
static struct batch *
hand_on(struct split_route *r)
{
	struct batch *const b = r->held;

	r->held = NULL;
	for (uint32_t i = 0; i < b->n; i++)
		take_part_off(&b->events[i]);
	return b;
}

static enum stage_status
next(struct stage *st, struct batch **out)
{
	struct split_route *const r = (struct split_route *)st;
	const enum stage_status status = take_more(r);

	*out = NULL;
	if (status != STAGE_MORE)
		return status;
	const struct batch *const held = r->held;
	if (part_of(&held->events[r->at]) != r->part)
		return STAGE_END;
	if (r->at == 0 && part_of(&held->events[held->n - 1]) == r->part) {
		*out = hand_on(r);
	} else if ((*out = batch_pool_take(&r->to->pool)) == NULL || !copy_events(r, *out)) {
		return no_memory(r, *out);
	}
	return select_stage_note(&r->to->select, *out) ? STAGE_MORE : no_memory(r, *out);
}

struct stage *
split_route_part(struct split_route *r, struct pipeline *to, uint32_t part)
{
	r->stage.next = next;
	r->to = to;
	r->part = part;
	return &r->stage;
}

void
split_route_free(struct split_route *r)
{
	let_go(r);
	if (r->begun)
		sorter_free(&r->sorter);
	batch_pool_free(&r->pool);
}
