#include "check/input_rules.h"
#include "pipeline/pipeline.h"

static void
begin(struct order_stage *st)
{
	const struct pipeline_job *const job = st->p->job;
	const struct sorter_options options = {
		.order = { job->order, st->p->rebase.signed_time },
		.with_bytes = (job->want & WANT_BYTES) != 0,
		.memory = job->sort_memory > 0 ? job->sort_memory : SORTER_MEMORY,
		.beside = job->sort_beside,
	};

	sorter_init(&st->sorter, &options);
	st->begun = true;
}

static enum stage_status
failed(struct order_stage *st, struct batch *b)
{
	char why[512];

	sorter_reason(&st->sorter, why, sizeof why);
	batch_release(b);
	pipeline_failed(st->p, why);
	return STAGE_BAD;
}

/* Adds input until there is something to give.  false: it cannot go on, and *status says so. */
static bool
add_input(struct order_stage *st, enum stage_status *status)
{
	struct batch *b;

	*status = stage_next(st->stage.from, &b);
	if (*status == STAGE_BAD)
		return false;
	const bool ok = *status == STAGE_END ? sorter_end(&st->sorter) : sorter_add(&st->sorter, b);
	st->ended = *status == STAGE_END;
	if (*status == STAGE_MORE)
		batch_release(b);
	if (!ok)
		*status = failed(st, NULL);
	return ok;
}

enum stage_status
order_stage_next(struct stage *stage, struct batch **out)
{
	struct order_stage *const st = (struct order_stage *)stage;
	enum stage_status status = STAGE_MORE;

	if (!st->begun)
		begin(st);
	struct batch *const b = batch_pool_take(&st->p->pool);
	if (b == NULL) {
		pipeline_no_memory(st->p);
		return STAGE_BAD;
	}
	for (;;) {
		switch (sorter_next(&st->sorter, b)) {
		case SORTER_MORE:
			*out = b;
			return STAGE_MORE;
		case SORTER_NEEDS_INPUT:
			if (add_input(st, &status))
				break;
			batch_release(b);
			return status;
		case SORTER_END:
			batch_release(b);
			return STAGE_END;
		case SORTER_NO_RESULT:
			return failed(st, b);
		}
	}
}

void
order_stage_free(struct order_stage *st)
{
	if (st->begun)
		sorter_free(&st->sorter);
}
