/*
 * The reader of DFTracer .pfw ("DFTracer Format"): JSON objects, one a line, in nine dialects that write the
 * same things differently.  Lines as tracers write them take the fast path (fast.c), all others the careful
 * path (line.c), which gives the same results where both can read a line.
 *
 * Names of hashes, processes and threads may be defined after their first use.  A look-ahead pass collects
 * them before the first event is returned.  It parses only metadata; other lines are skipped by a search for
 * the six names that such metadata has (see apply_metadata() in meta.c), which have no escapes in any
 * dialect.  The rest of metadata differs between dialects, and one file may contain records of several.
 */
#define _GNU_SOURCE /* memrchr */

#include <stdlib.h>

#include "dftracer/dftracer.h"

/* ---- look-ahead pass ---- */

#define MAX_KEYWORD 16 /* bytes; more than any has */
#define SKIP_BYTES (1u << 20)

struct keyword {
	char rare;       /* a byte that is rare in events ... */
	uint8_t rare_at; /* ... and its index in the text */
	struct slice text;
};

static const struct keyword keywords[DFT_AHEAD_NAMES] = {
	{ 'H', 0, SLICE_LIT("H\"") },     /* "FH", "HH", "SH" */
	{ 'R', 2, SLICE_LIT("\"PR\"") },  /* a rank */
	{ '_', 0, SLICE_LIT("_name\"") }, /* "process_name", "thread_name" */
};

/* Returns the first occurrence in [p, end); end if there is none. */
static const char *find_keyword(const struct keyword *k, const char *const p, const char *end)
{
	const char *q = p;

	while (q < end && (q = memchr(q, k->rare, (size_t)(end - q))) != NULL) {
		if (q - p >= k->rare_at && end - q >= k->text.n - k->rare_at &&
		    memcmp(q - k->rare_at, k->text.p, k->text.n) == 0)
			return q - k->rare_at;
		q++;
	}
	return end;
}

/* Returns the first occurrence of any keyword in [p, end), which starts a line; end if there is none.  Each
 * byte is searched once per keyword: occurrences not yet reached are remembered. */
static const char *find_any_keyword(struct dft_state *st, const char *p, const char *end)
{
	const uint64_t from = input_offset(st->r->in, p);
	const char *first = end;

	for (int i = 0; i < DFT_AHEAD_NAMES; i++) {
		uint64_t *const next = &st->ahead_next[i];
		if (*next <= from || *next - from < (uint64_t)(first - p)) {
			const char *const start = *next > from ? p + (*next - from) : p;
			const char *const at = find_keyword(&keywords[i], start, first);
			const uint64_t offset = input_offset(st->r->in, at);
			/* a keyword may start before the end of the searched bytes and continue after it */
			*next = at < first ? offset : offset - (offset < MAX_KEYWORD ? offset : MAX_KEYWORD);
			first = at;
		}
	}
	return first;
}

/* Skips lines of the window without metadata. */
static void skip_lines_ahead(struct dft_state *st)
{
	struct input *const in = st->r->in;
	const size_t window = (size_t)(in->end - in->p);
	const char *const limit = window > SKIP_BYTES ? in->p + SKIP_BYTES : in->end;

	/* before the first record there may be the start of a wrapper, which decides where the array ends */
	if (st->line.begun || st->closed || st->wrapped || st->trailer || st->r->records == 0)
		return;
	const char *const at = find_any_keyword(st, in->p, limit);
	const char *const nl = memrchr(in->p, '\n', (size_t)(at - in->p));
	if (nl == NULL)
		return;
	in->p = nl + 1;
	st->line = (struct dft_line){ .number = st->line.number + 1, .start = input_offset(in, in->p) };
}

/* ---- the reader ---- */

#define NEXT_BYTES (4u << 20)   /* of input per batch */
#define RUNS_BYTES (512u << 10) /* likewise, if one event covers many records: batches wait for a thread */

static bool dft_open(struct reader *r)
{
	struct dft_state *const st = r->state;
	const struct dft_state *const asking = r->ahead_of;
	struct trace *const trace = r->trace;
	const size_t window = (size_t)(r->in->end - r->in->p), head = window < 65536 ? window : 65536;

	st->r = r;
	st->sh = r->shared;
	st->sh->arena = &trace->arena;
	st->ahead = asking != NULL;
	st->names_owner = asking != NULL ? asking->sh : st->sh;
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
		st->dialect = dft_dialect_of(slice_of(r->in->p, head), head == window && r->in->last);
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

	dft_numbers_free(&sh->numbers);
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
	dft_meta_finish(st);
	dft_names_finish(st);
	dft_tallies_report(st);
	return no_memory(st) ? READ_NO_MEMORY : READ_END;
}

/* Returns whether there is input left; fills an empty window. */
static bool any_left(struct dft_state *st)
{
	struct input *const in = st->r->in;

	if (in->p < in->end)
		return true;
	st->index->base = NULL;
	return !in->last && input_more(in);
}

static void read_lines(struct dft_state *st, struct batch *b)
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
	const uint64_t start = input_offset(in, in->p), max = st->runs ? RUNS_BYTES : NEXT_BYTES;

	if (st->resolve && !st->looked_ahead) {
		st->looked_ahead = true;
		st->no_memory = reader_look_ahead(r) == LOOK_AHEAD_FAILED;
	}
	st->index->base = NULL; /* the window may have moved */
	while (b->n < b->cap && input_offset(in, in->p) - start < max && !st->no_memory) {
		if (!any_left(st))
			return finish(st);
		if (st->ahead)
			skip_lines_ahead(st);
		if (in->p < in->end)
			read_lines(st, b);
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

/* Returns the length of the part of the path that all files of a trace share.  The processes of a job write
 * PREFIX-PROGRAM-PID-KIND.pfw, or PREFIX-PID.pfw, to one folder; the common part ends before program or pid.
 */
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
