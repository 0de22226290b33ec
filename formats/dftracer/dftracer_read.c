#include <stdlib.h>

#include "dftracer/dftracer_state.h"

/*
 * DFTracer .pfw ("DFTracer Format"): JSON objects, one a line, in nine dialects
 * that differ in how they write the same things.  Lines that are as tracers
 * write them take a fast way; all others a patient one, which gives the same
 * where both can.
 */

#define NEXT_BYTES (4u << 20) /* of input, until the engine looks around */

static bool
dft_open(struct reader *r)
{
	struct dft_state *const st = r->state;
	struct trace *const trace = r->trace;
	const size_t head = (size_t)(r->in->end - r->in->p), looked = head < 65536 ? head : 65536;

	st->r = r;
	st->sh = st->names_to = r->shared;
	st->sh->arena = &trace->arena;
	st->ahead = r->ahead_of != NULL;
	if (st->ahead) {
		const struct dft_state *const asking = r->ahead_of;
		st->names_to = asking->sh;
		st->few_metadata = dft_writes_m(asking->dialect);
	}
	st->scanner = json_scanner_best();
	st->raw = (r->want & WANT_RAW) != 0;
	st->resolve = (r->want & WANT_FIELDS) != 0 && !st->raw;
	st->keep_ids = option_find(r->options, "keep-ids") != NULL;
	st->line.number = 1;
	st->index = malloc(sizeof *st->index);
	if (st->index == NULL || !dft_record_init(&st->record) || !dft_keys_init(&st->keys) ||
	    !dft_paths_init(&st->paths))
		return false;
	st->index->base = NULL;
	st->record.keep_members = st->raw;
	st->dialect = r->dialect;
	if (st->dialect == NULL)
		st->dialect = dft_dialect_of(slice_of(r->in->p, looked), looked == head && r->in->last);
	trace->dialect = st->dialect;
	trace->clock = "unix";
	trace->epoch_known = true;
	trace->epoch_ns = 0;
	return true;
}

static void
dft_close(struct reader *r)
{
	struct dft_state *const st = r->state;

	free(st->index);
	dft_record_free(&st->record);
	dft_keys_free(&st->keys);
	dft_paths_free(&st->paths);
	arena_free(&st->moment);
}

static void
dft_shared_close(void *shared)
{
	struct dft_shared *const sh = shared;

	dft_names_free(&sh->names);
	dft_processes_free(sh);
	tabletext_free(&sh->classes);
	idset_free(&sh->ids);
}

enum dft_outcome
dft_record_take(struct dft_state *st, struct batch *b)
{
	struct trace *const trace = st->r->trace;
	const struct dft_record *const rec = &st->record;
	struct dft_facts f;

	/* a look ahead is for names alone */
	if (st->ahead && !dft_is_metadata(rec))
		return DFT_DONE;
	if (!dft_check(st, rec, &f) || !dft_learn(st, rec, &f))
		return DFT_NO_MEMORY;
	dft_dialect_check(st, rec, &f);
	st->r->records++;
	st->records++;
	trace->events += !dft_event_is_structure(&f);
	return st->r->want == WANT_FINDINGS ? DFT_DONE : dft_event_add(st, rec, &f, b);
}

static enum read_status
finish(struct dft_state *st)
{
	dft_line_finish(st);
	dft_learn_finish(st);
	dft_names_finish(st);
	dft_tallies_say(st);
	return READ_END;
}

/* Whether there are bytes in the window. */
static bool
any_left(struct dft_state *st)
{
	struct input *const in = st->r->in;

	if (in->p < in->end)
		return true;
	st->index->base = NULL;
	return !in->last && input_more(in);
}

static enum read_status
dft_next(struct reader *r, struct batch *b)
{
	struct dft_state *const st = r->state;
	struct input *const in = r->in;
	const uint64_t start = input_offset(in, in->p);

	if (st->resolve && !st->looked_ahead) {
		st->looked_ahead = true;
		if (reader_look_ahead(r) == LOOK_AHEAD_NO_MEMORY)
			return READ_NO_MEMORY;
	}
	st->index->base = NULL; /* the window may have moved */
	while (b->n < b->cap && input_offset(in, in->p) - start < NEXT_BYTES) {
		if (!any_left(st))
			return finish(st);
		if (st->ahead)
			dft_ahead_skip(st);
		if (in->p == in->end)
			continue;
		enum dft_outcome step = dft_lines_fast(st, b);
		if (step == DFT_DONE && b->n < b->cap && in->p < in->end)
			step = dft_line_step(st, b);
		if (step == DFT_NO_MEMORY)
			return READ_NO_MEMORY;
		if (step == DFT_WAIT) {
			st->index->base = NULL;
			input_more(in);
		}
	}
	return READ_MORE;
}

const struct reader_ops dft_reader_ops = {
	.state_size = sizeof(struct dft_state),
	.probe = dft_probe,
	.open = dft_open,
	.next = dft_next,
	.close = dft_close,
};

const struct trace_ops dft_trace_ops = {
	.shared_size = sizeof(struct dft_shared),
	.close = dft_shared_close,
};
