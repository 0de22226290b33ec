/* Stages of a few lines (run/pipeline.h), whose data is in struct pipeline: interpretation, the limit of
 * texts, times, pseudonyms and lanes. */
#include "run/private.h"

/* ---- interpret ---- */

/* At the end: spans and arrows that are still open. */
static enum stage_status finish_interpret(struct pipeline *p, struct batch **out)
{
	*out = NULL;
	while (p->finishing) {
		struct batch *const b = batch_pool_take(p->pool);
		if (b == NULL || !interpret_finish(&p->interpret, b, &p->finishing))
			return pipeline_stop_no_memory(p, b);
		if (b->n > 0) {
			*out = b;
			return STAGE_MORE;
		}
		batch_release(b);
	}
	return STAGE_END;
}

/* Arrows that did not fit into the last batch.  *out NULL: none. */
static enum stage_status more_arrows(struct pipeline *p, struct batch **out)
{
	struct batch *const b = batch_pool_take(p->pool);

	*out = NULL;
	if (b == NULL)
		return pipeline_stop_no_memory(p, b);
	p->more_arrows = interpret_more(&p->interpret, b);
	if (p->more_arrows)
		*out = b;
	else
		batch_release(b);
	return STAGE_MORE;
}

enum stage_status short_interpret(struct stage *stage, struct batch **out)
{
	struct pipeline *const p = ((struct short_stage *)stage)->p;
	enum stage_status status = STAGE_MORE;

	*out = NULL;
	if (p->more_arrows) {
		status = more_arrows(p, out);
		if (status != STAGE_MORE || *out != NULL)
			return status;
	}
	while ((status = stage_next(stage->from, out)) == STAGE_MORE) {
		struct batch *const b = *out;
		if (!p->context.raw && !interpret_batch(&p->interpret, p->context.format, b))
			return pipeline_stop_no_memory(p, b);
		b->engine.inputs = NULL;
		p->more_arrows = p->interpret.spans;
		if (b->n > 0)
			return STAGE_MORE;
		batch_release(b);
		if (p->more_arrows && ((status = more_arrows(p, out)) != STAGE_MORE || *out != NULL))
			return status;
	}
	return status == STAGE_END && !p->context.raw ? finish_interpret(p, out) : status;
}

/* ---- repeats ---- */

enum stage_status short_repeats(struct stage *stage, struct batch **out)
{
	struct pipeline *const p = ((struct short_stage *)stage)->p;
	const enum stage_status status = stage_next(stage->from, out);

	if (p->context.raw && (p->job->read.want & WANT_BYTES) != 0)
		return status; /* records are written by their bytes */
	if (status != STAGE_MORE)
		return status;
	if ((*out)->engine.read > 0)
		p->read = (*out)->engine.read;
	return repeats_batch(&p->repeats, *out, p->read) ? status : pipeline_stop_no_memory(p, *out);
}

/* ---- rebase: the least time of the trace is subtracted from all times ---- */

enum stage_status short_rebase(struct stage *stage, struct batch **out)
{
	struct rebase *const r = &((struct short_stage *)stage)->p->rebase;
	const enum stage_status status = stage_next(stage->from, out);

	if (status != STAGE_MORE)
		return status;
	struct batch *const b = *out;
	uint32_t i = 0;
	if (!r->known) { /* of the first event; records before it are structure */
		while (i < b->n && b->events[i].phase == PHASE_STRUCTURE)
			i++;
		r->known = i < b->n;
		r->by = r->known ? b->events[i].ts : 0;
	}
	for (; i < b->n; i++) {
		uint64_t *const ts = &b->events[i].ts;
		/* A time before `by` is that of a record without a time.  With signed_time, earlier times
		 * wrap, and writers read ts as signed. */
		*ts = r->signed_time || *ts > r->by ? *ts - r->by : 0;
	}
	return STAGE_MORE;
}

/* ---- zero: times before time 0 of the trace become negative ---- */

enum stage_status short_zero(struct stage *stage, struct batch **out)
{
	const struct pipeline *const p = ((struct short_stage *)stage)->p;
	const enum stage_status status = stage_next(stage->from, out);
	const uint64_t zero = p->trace.zero_ns;

	if (status != STAGE_MORE || zero == 0)
		return status;
	struct batch *const b = *out;
	for (uint32_t i = 0; i < b->n; i++) {
		struct event *const e = &b->events[i];
		if (e->phase == PHASE_STRUCTURE)
			continue;
		if (!p->rebase.signed_time && e->ts < zero) { /* no pass found it: cut */
			e->dur -= e->phase != PHASE_SPAN ? 0 : e->dur < zero - e->ts ? e->dur : zero - e->ts;
			e->ts = zero;
		}
		e->ts -= zero;
	}
	return status;
}

/* ---- pseudonyms: events move to another trace ---- */

enum stage_status short_rebind(struct stage *stage, struct batch **out)
{
	struct pipeline *const p = ((struct short_stage *)stage)->p;
	const enum stage_status status = stage_next(stage->from, out);

	return status != STAGE_MORE || rebind_batch(&p->rebind, *out) ? status
	                                                              : pipeline_stop_no_memory(p, *out);
}

/* ---- lanes ---- */

enum stage_status short_lanes(struct stage *stage, struct batch **out)
{
	struct pipeline *const p = ((struct short_stage *)stage)->p;
	const enum stage_status status = stage_next(stage->from, out);

	if (status != STAGE_MORE || p->context.raw)
		return status;
	return lanes_batch(&p->lanes, *out, &p->ledger) ? status : pipeline_stop_no_memory(p, *out);
}
