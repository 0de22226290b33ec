#include "check/input_rules.h"
#include "run/pipeline.h"

static void
begin(struct order_stage *st)
{
	const struct pipeline_job *const job = st->p->job;
	const struct sorter_options options = {
		.order = { .order = job->order, .signed_time = st->p->rebase.signed_time },
		.with_bytes = false, /* raw records alone have some for sure, and those stay as they come */
		.memory = job->sort_memory > 0 ? job->sort_memory : SORTER_MEMORY,
		.beside = job->sort_beside,
	};

	sorter_init(&st->sorter, &options);
	st->begun = true;
}

static enum stage_status
failed(struct order_stage *st)
{
	char why[512];

	sorter_reason(&st->sorter, why, sizeof why);
	pipeline_failed(st->p, why);
	return STAGE_BAD;
}

/* What the whole output spans is known before its first event. */
static void
note_times(struct order_stage *st, const struct batch *b)
{
	struct pipeline *const p = st->p;
	struct trace *const t = p->rehome.p != NULL ? &p->rehome.trace : &p->trace;
	const uint64_t bias = (uint64_t)p->rebase.signed_time << 63;

	for (uint32_t i = 0; i < b->n; i++) {
		const struct event *const e = &b->events[i];
		const uint64_t start = e->ts ^ bias, dur = e->phase == PHASE_SPAN ? e->dur : 0;
		const uint64_t end = dur > UINT64_MAX - start ? UINT64_MAX : start + dur;
		if (e->phase == PHASE_STRUCTURE || (e->flags & EVENT_ASYNC) != 0)
			continue;
		if (t->last_end == 0 || start < t->first_start)
			t->first_start = start;
		if (end > t->last_end)
			t->last_end = end;
	}
}

/* Adds what the stage before gave: a batch, or its end.  false: it failed. */
static bool
take(struct order_stage *st, enum stage_status status, struct batch *b)
{
	if (status == STAGE_END)
		return sorter_end(&st->sorter);
	note_times(st, b);
	const bool ok = sorter_add(&st->sorter, b);
	batch_release(b);
	return ok;
}

/* Fills a batch, adding input as long as that takes. */
static enum stage_status
fill(struct order_stage *st, struct batch *b)
{
	for (;;) {
		const enum sorter_status given = sorter_next(&st->sorter, b);
		if (given != SORTER_NEEDS_INPUT)
			return given == SORTER_MORE  ? STAGE_MORE
			       : given == SORTER_END ? STAGE_END
			                             : failed(st);
		struct batch *more;
		const enum stage_status status = stage_next(st->stage.from, &more);
		if (status == STAGE_BAD)
			return status;
		if (!take(st, status, more))
			return failed(st);
	}
}

enum stage_status
order_stage_next(struct stage *stage, struct batch **out)
{
	struct order_stage *const st = (struct order_stage *)stage;
	enum stage_status status;

	if (!st->begun) { /* only now it is known whether the records are to stay as they come */
		status = stage_next(stage->from, out);
		if (status == STAGE_BAD || st->p->context.raw)
			return status;
		begin(st);
		if (!take(st, status, *out))
			return failed(st);
	}
	*out = batch_pool_take(&st->p->pool);
	if (*out == NULL) {
		pipeline_no_memory(st->p);
		return STAGE_BAD;
	}
	status = fill(st, *out);
	if (status != STAGE_MORE)
		batch_release(*out);
	return status;
}

void
order_stage_free(struct order_stage *st)
{
	if (st->begun)
		sorter_free(&st->sorter);
}
