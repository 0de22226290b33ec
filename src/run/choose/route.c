/* Events of all parts, sorted by part, as the first stage of the pipeline of each part (route.h).  A batch of
 * the sorter with events of one part is passed on; events of mixed batches are copied and share its memory.
 */
#include "run/choose/route.h"

static uint32_t part_of(const struct event *e)
{
	return (uint32_t)(e->offset >> ORDER_PART_SHIFT);
}

static void clear_part(struct event *e)
{
	e->offset &= (UINT64_C(1) << ORDER_PART_SHIFT) - 1;
}

bool split_route_begin(struct split_route *r, const struct arrangement *arrange,
                       const struct stage_faults *faults)
{
	const struct sorter_options options = {
		.order = { .order = ORDER_FILE, .by_part = true },
		.memory = sorter_memory(arrange->memory),
		.temp_near = arrange->temp_near,
	};

	if (!batch_pool_init(&r->pool, PIPELINE_BATCH_EVENTS, false))
		return stage_fails(faults, STAGE_NO_MEMORY, NULL);
	sorter_init(&r->sorter, &options);
	r->begun = true;
	return true;
}

bool split_route_add(struct split_route *r, const struct batch *b, const struct stage_faults *faults)
{
	return sorter_add(&r->sorter, b) || sorter_fails(&r->sorter, faults);
}

bool split_route_end(struct split_route *r, const struct stage_faults *faults)
{
	return sorter_end(&r->sorter) || sorter_fails(&r->sorter, faults);
}

static void release_held(struct split_route *r)
{
	batch_release(r->held);
	shared_memory_drop(r->memory);
	r->held = NULL;
	r->memory = NULL;
	r->at = 0;
}

/* Ensures an event at r->at (STAGE_MORE). */
static enum stage_status read_more(struct split_route *r)
{
	if (r->held != NULL && r->at < r->held->n)
		return STAGE_MORE;
	release_held(r);
	if (r->ended)
		return STAGE_END;
	if ((r->held = batch_pool_take(&r->pool)) == NULL)
		return stage_no_memory(r->out_faults, NULL);
	const enum sorter_status given = sorter_next(&r->sorter, r->held);
	if (given == SORTER_MORE)
		return STAGE_MORE;
	release_held(r);
	r->ended = true;
	return given == SORTER_END || sorter_fails(&r->sorter, r->out_faults) ? STAGE_END : STAGE_BAD;
}

/* Copies the events of the part from the held batch, which may have events of other parts. */
static bool copy_events(struct split_route *r, struct batch *b)
{
	if (r->memory == NULL && (r->memory = batch_share_memory(r->held)) == NULL)
		return false;
	if (!batch_hold(b, r->memory))
		return false;
	for (; r->at < r->held->n && part_of(&r->held->events[r->at]) == r->part; r->at++) {
		if (!batch_copy_event(b, r->held, r->at))
			return false;
		clear_part(&b->events[b->n - 1]);
	}
	return true;
}

/* Passes the held batch on; all of its events are of the part. */
static struct batch *pass_on(struct split_route *r)
{
	struct batch *const b = r->held;

	r->held = NULL;
	for (uint32_t i = 0; i < b->n; i++)
		clear_part(&b->events[i]);
	return b;
}

static enum stage_status next(struct stage *st, struct batch **out)
{
	struct split_route *const r = (struct split_route *)st;
	const enum stage_status status = read_more(r);

	*out = NULL;
	if (status != STAGE_MORE)
		return status;
	const struct batch *const held = r->held;
	if (part_of(&held->events[r->at]) != r->part)
		return STAGE_END;
	if (r->at == 0 && part_of(&held->events[held->n - 1]) == r->part) {
		*out = pass_on(r);
	} else if ((*out = batch_pool_take(r->out_pool)) == NULL || !copy_events(r, *out)) {
		return stage_no_memory(r->out_faults, *out);
	}
	return select_stage_note(r->out_select, *out) ? STAGE_MORE : stage_no_memory(r->out_faults, *out);
}

struct stage *split_route_stage(struct split_route *r, uint32_t part, struct batch_pool *pool,
                                struct select_stage *select, const struct stage_faults *faults)
{
	r->stage.next = next;
	r->out_pool = pool;
	r->out_select = select;
	r->out_faults = faults;
	r->part = part;
	return &r->stage;
}

void split_route_free(struct split_route *r)
{
	release_held(r);
	if (r->begun)
		sorter_free(&r->sorter);
	batch_pool_free(&r->pool);
}
