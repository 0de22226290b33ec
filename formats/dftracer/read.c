#include <stdlib.h>

#include "dftracer/dialect.h"
#include "dftracer/facts.h"
#include "dftracer/line.h"
#include "dftracer/read.h"
#include "dftracer/report.h"

/*
 * DFTracer .pfw ("DFTracer Format"): JSON objects, one a line, in nine dialects
 * that differ in how they write the same things.  Lines as tracers write them
 * take a fast path (dftracer_fast.c); all others take a slow one, which gives
 * the same where both can.
 */

#define NEXT_BYTES (4u << 20)    /* of input, until the engine looks around */
#define RUNS_BYTES (512u << 10)  /* likewise, where one event is many records: batches wait for a thread */

static bool
dft_open(struct reader *r)
{
	struct dft_state *const st = r->state;
	const struct dft_state *const asking = r->ahead_of;
	struct trace *const trace = r->trace;
	const size_t head = (size_t)(r->in->end - r->in->p), looked = head < 65536 ? head : 65536;

	st->r = r;
	st->sh = r->shared;
	st->sh->arena = &trace->arena;
	st->ahead = asking != NULL;
	st->names_to = asking != NULL ? asking->sh : st->sh;
	st->raw = (r->want & WANT_RAW) != 0;
	st->no_events = r->want == WANT_FINDINGS && asking == NULL;
	st->runs = st->raw && (r->want & WANT_RUNS) != 0;
	st->raw_fields = st->raw && (r->want & WANT_FIELDS) != 0;
	st->resolve = (r->want & WANT_FIELDS) != 0 && !st->raw;
	st->keep_ids = option_find(r->options, "keep-hashes") != NULL;
	st->line.number = 1;
	st->scanner = json_scanner_best();
	st->index = malloc(sizeof *st->index);
	if (st->index == NULL || !dft_record_init(&st->record) || !dft_keys_init(&st->keys) ||
	    !dft_paths_init(&st->paths))
		return false;
	st->index->base = NULL;
	st->record.keep_members = st->raw_fields;
	st->dialect = r->dialect;
	if (st->dialect == NULL)
		st->dialect = dft_dialect_of(slice_of(r->in->p, looked), looked == head && r->in->last);
	if (st->dialect == NULL)
		return false;
	trace->dialect = st->dialect;
	trace->clock = "unix";
	trace->record_id = "id";
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
	arena_free(&st->scratch);
}

static void
dft_shared_close(void *shared)
{
	struct dft_shared *const sh = shared;

	dft_who_free(&sh->who);
	dft_names_free(&sh->names);
	dft_titles_free(&sh->titles);
	dft_processes_free(&sh->processes);
	tabletext_free(&sh->classes.index);
	idset_free(&sh->ids);
}

static bool
no_memory(const struct dft_state *st)
{
	return st->no_memory || st->keys.text.failed || st->sh->ids.failed;
}

static enum read_status
finish(struct dft_state *st)
{
	dft_line_finish(st);
	dft_learn_finish(st);
	dft_names_finish(st);
	dft_tallies_report(st);
	return no_memory(st) ? READ_NO_MEMORY : READ_END;
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

/* Some records, or whatever else is next. */
static void
read_some(struct dft_state *st, struct batch *b)
{
	struct input *const in = st->r->in;

	dft_lines_fast(st, b);
	if (b->n < b->cap && in->p < in->end && !st->no_memory && !dft_line_next(st, b)) {
		st->index->base = NULL;
		input_more(in);
	}
}

static enum read_status
dft_next(struct reader *r, struct batch *b)
{
	struct dft_state *const st = r->state;
	struct input *const in = r->in;
	const uint64_t start = input_offset(in, in->p), most = st->runs ? RUNS_BYTES : NEXT_BYTES;

	if (st->resolve && !st->looked_ahead) {
		st->looked_ahead = true;
		st->no_memory = reader_look_ahead(r) == LOOK_AHEAD_FAILED;
	}
	st->index->base = NULL; /* the window may have moved */
	while (b->n < b->cap && input_offset(in, in->p) - start < most && !st->no_memory) {
		if (!any_left(st))
			return finish(st);
		if (st->ahead)
			dft_ahead_skip(st);
		if (in->p < in->end)
			read_some(st, b);
	}
	return no_memory(st) ? READ_NO_MEMORY : READ_MORE;
}

const struct reader_ops dft_reader_ops = {
	.state_size = sizeof(struct dft_state),
	.probe = dft_probe,
	.open = dft_open,
	.next = dft_next,
	.close = dft_close,
};

/* The processes of a job write files of one folder whose names begin alike: PREFIX-PROGRAM-PID-KIND.pfw, or
 * PREFIX-PID.pfw.  Where the number or the program comes, the common part ends. */
static size_t
trace_path(const char *path)
{
	const char *const slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;

	name += *name == '.';
	return (size_t)(name - path) + strcspn(name, "-.0123456789");
}

const struct trace_ops dft_trace_ops = {
	.trace_path = trace_path,
	.shared_size = sizeof(struct dft_shared),
	.close = dft_shared_close,
};
