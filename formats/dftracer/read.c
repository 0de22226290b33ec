#define _GNU_SOURCE /* memrchr */

#include <stdlib.h>

#include "dftracer/dftracer.h"

/* ---- ahead ---- */

/*
 * Names that stand behind their first use: of hashes, processes, threads.
 * A look-ahead pass collects them before the first event is given out; it
 * needs nothing but the records that hold them.  These have one of six names
 * (see learn_metadata() in dftracer_meta.c), without escapes, whatever the
 * dialect; what tells metadata from events differs, and one file may hold
 * records of several dialects.
 */

#define WORD_MAX 16 /* more than the bytes of one */

struct word {
	char rare;     /* a byte of it that events seldom have */
	uint8_t where; /* in the text */
	struct slice text;
};

static const struct word words[DFT_AHEAD_WORDS] = {
	{ 'H', 0, SLICE_LIT("H\"") },     /* "FH", "HH", "SH" */
	{ 'R', 2, SLICE_LIT("\"PR\"") },  /* a rank */
	{ '_', 0, SLICE_LIT("_name\"") }, /* "process_name", "thread_name" */
};

/* Where the word stands in [p, end); end: nowhere. */
static const char *find_word(const struct word *w, const char *const p, const char *end)
{
	const char *q = p;

	while (q < end && (q = memchr(q, w->rare, (size_t)(end - q))) != NULL) {
		if (q - p >= w->where && end - q >= w->text.n - w->where &&
		    memcmp(q - w->where, w->text.p, w->text.n) == 0)
			return q - w->where;
		q++;
	}
	return end;
}

/* Where the first of them stands in [p, end), which begins a line; end: nowhere.  Each byte is searched once
 * for each word: places that were found and not yet reached are remembered. */
static const char *find_any(struct dft_state *st, const char *p, const char *end)
{
	const uint64_t from = input_offset(st->r->in, p);
	const char *first = end;

	for (int i = 0; i < DFT_AHEAD_WORDS; i++) {
		uint64_t *const next = &st->ahead_next[i]; /* it is nowhere before this */
		if (*next <= from || *next - from < (uint64_t)(first - p)) {
			const char *const start = *next > from ? p + (*next - from) : p;
			const char *const at = find_word(&words[i], start, first);
			const uint64_t offset = input_offset(st->r->in, at);
			/* one may begin here, and its rest be behind what was searched */
			*next = at < first ? offset : offset - (offset < WORD_MAX ? offset : WORD_MAX);
			first = at;
		}
	}
	return first;
}

/* In a look-ahead pass: passes over lines of the window that hold no metadata (dftracer_ahead.c). */
static void dft_ahead_skip(struct dft_state *st)
{
	struct input *const in = st->r->in;
	const size_t window = (size_t)(in->end - in->p);
	const char *const most = window > DFT_SKIP ? in->p + DFT_SKIP : in->end;

	/* before the first record may stand the beginning of an object, which tells where its array ends */
	if (st->line.begun || st->closed || st->wrapped || st->trailer || st->r->records == 0)
		return;
	const char *const at = find_any(st, in->p, most);
	const char *const nl = memrchr(in->p, '\n', (size_t)(at - in->p));
	if (nl == NULL)
		return;
	in->p = nl + 1;
	st->line = (struct dft_line){ .number = st->line.number + 1, .start = input_offset(in, in->p) };
}

/* ---- read ---- */

/*
 * DFTracer .pfw ("DFTracer Format"): JSON objects, one a line, in nine dialects
 * that differ in how they write the same things.  Lines as tracers write them
 * take a fast path (dftracer_fast.c); all others take a slow one, which gives
 * the same where both can.
 */

#define NEXT_BYTES (4u << 20)   /* of input, until the engine looks around */
#define RUNS_BYTES (512u << 10) /* likewise, where one event is many records: batches wait for a thread */

static bool dft_open(struct reader *r)
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

static void dft_close(struct reader *r)
{
	struct dft_state *const st = r->state;

	free(st->index);
	dft_record_free(&st->record);
	dft_keys_free(&st->keys);
	dft_paths_free(&st->paths);
	arena_free(&st->scratch);
}

static void dft_shared_close(void *shared)
{
	struct dft_shared *const sh = shared;

	dft_who_free(&sh->who);
	dft_names_free(&sh->names);
	dft_titles_free(&sh->titles);
	dft_processes_free(&sh->processes);
	tabletext_free(&sh->classes.index);
	idset_free(&sh->ids);
}

static bool no_memory(const struct dft_state *st)
{
	return st->no_memory || st->keys.text.failed || st->sh->ids.failed;
}

static enum read_status finish(struct dft_state *st)
{
	dft_line_finish(st);
	dft_learn_finish(st);
	dft_names_finish(st);
	dft_tallies_report(st);
	return no_memory(st) ? READ_NO_MEMORY : READ_END;
}

/* Whether there are bytes in the window. */
static bool any_left(struct dft_state *st)
{
	struct input *const in = st->r->in;

	if (in->p < in->end)
		return true;
	st->index->base = NULL;
	return !in->last && input_more(in);
}

/* Some records, or whatever else is next. */
static void read_some(struct dft_state *st, struct batch *b)
{
	struct input *const in = st->r->in;

	dft_lines_fast(st, b);
	if (b->n < b->cap && in->p < in->end && !st->no_memory && !dft_line_next(st, b)) {
		st->index->base = NULL;
		input_more(in);
	}
}

static enum read_status dft_next(struct reader *r, struct batch *b)
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
static size_t trace_path(const char *path)
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
