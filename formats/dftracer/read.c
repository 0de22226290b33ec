/*
 * The reader of DFTracer .pfw ("DFTracer Format"): JSON objects, one a line, in nine dialects that write the
 * same things differently.  Whole lines with one clean record each take the fast path, all others the
 * general path, which gives the same results where both can read a line.
 *
 * Names may be defined after their first use: a look-ahead pass collects them before the first event.
 */
#include <stdlib.h>

#include "base/os.h"
#include "base/pieces.h"
#include "dftracer/dftracer.h"

/*
 * General path: one item at a time.  Items are records in any form, and the bytes around them: line ends,
 * brackets, commas, blanks, runs of NUL, pieces of records.  No decision depends on where windows end.  A
 * record that cannot be parsed is dropped up to the next complete record of its line.
 *
 * read_any() returns a record or a gap: one item by read_item(), which calls read_record() at a brace, or
 * read_other(); of raw records also the items up to their end, by read_rest().
 */

static uint64_t offset_of(const struct dft_state *st, const char *p)
{
	return input_offset(st->r->in, p);
}

static void consume(struct dft_state *st, const char *to)
{
	st->r->in->p = to;
	st->line.begun = true;
}

/* ---- line ends ---- */

/* Finds the end of the current line, or of its first max_record bytes.  Returns false if more input is
 * needed. */
static bool find_line_end(struct dft_state *st, const char **e)
{
	struct input *const in = st->r->in;
	struct dft_line *const l = &st->line;
	const uint64_t at = offset_of(st, in->p);
	const char *const limit =
	    (size_t)(in->end - in->p) > st->r->max_record ? in->p + st->r->max_record : in->end;

	if (!l->end_known) {
		const char *const from = l->searched > at ? in->p + (l->searched - at) : in->p;
		const char *const nl = from < limit ? memchr(from, '\n', (size_t)(limit - from)) : NULL;
		l->searched = offset_of(st, limit);
		l->end_known = nl != NULL || (limit == in->end && in->last);
		l->end = offset_of(st, nl != NULL ? nl : limit);
	}
	*e = l->end_known ? in->p + (l->end - at) : limit;
	return l->end_known || (uint64_t)(limit - in->p) == st->r->max_record;
}

/* Returns the position of an offset on the current line. */
static inline struct finding_place line_position(const struct dft_state *st, uint64_t offset)
{
	return (struct finding_place){ .offset = offset,
		                       .line = st->line.number,
		                       .column = offset - st->line.start + 1,
		                       .record = st->r->records };
}

static void report_line_end(struct dft_state *st)
{
	struct dft_line *const l = &st->line;

	if (l->records > 1)
		dft_report(st, DFT_RULE_TWO_RECORDS, line_position(st, l->second),
		           "%" PRIu32 " records on one line; the second begins here", l->records);
	if (l->comma && l->records > 0)
		dft_tally_add(st, DFT_TRAILING_COMMAS, line_position(st, l->comma_at), SLICE_NONE);
	if (l->skipped > 0)
		finding_add_line(st->r->findings, &input_rules[INPUT_RULE_RECORD_LIMIT],
		                 (struct finding_place){ .offset = l->skip_start,
		                                         .line = l->number,
		                                         .column = l->skip_start - l->start + 1 },
		                 "a record of %" PRIu64 " bytes was not checked: --max-record is %" PRIu64,
		                 l->skipped, st->r->max_record);
}

static void read_newline(struct dft_state *st)
{
	struct input *const in = st->r->in;

	if (!st->line.begun || st->line.only_cr)
		dft_tally_add(st, DFT_BLANK_LINES, line_position(st, st->line.start), SLICE_NONE);
	report_line_end(st);
	in->p++;
	st->line = (struct dft_line){ .number = st->line.number + 1, .start = offset_of(st, in->p) };
}

/* Whether a run of bytes that ends at p may continue in the next window.  Raw events must not depend
 * on where windows end. */
static bool may_continue(const struct dft_state *st, const char *p)
{
	const struct input *const in = st->r->in;

	return st->raw && p == in->end && !in->last && (size_t)(p - in->p) < DFT_MAX_LINE;
}

/* ---- between records ---- */

static void report_nul_run(struct dft_state *st)
{
	struct dft_line *const l = &st->line;

	if (l->nul_bytes == 0)
		return;
	dft_report(st, DFT_RULE_NUL_BYTES, line_position(st, l->nul_start), "%" PRIu64 " NUL byte%s",
	           l->nul_bytes, l->nul_bytes == 1 ? "" : "s");
	l->nul_bytes = 0;
}

static bool read_nul_run(struct dft_state *st)
{
	struct input *const in = st->r->in;
	const char *p = in->p;
	/* in portions: the input releases mapped pages between them */
	const char *const limit = (size_t)(in->end - p) > DFT_MAX_LINE ? p + DFT_MAX_LINE : in->end;

	if (st->line.nul_bytes == 0)
		st->line.nul_start = offset_of(st, p);
	while (p < limit && *p == '\0')
		p++;
	if (may_continue(st, p))
		return false;
	st->line.dropped = true;
	st->line.nul_bytes += (uint64_t)(p - in->p);
	consume(st, p);
	return true;
}

static void read_blanks(struct dft_state *st, const char *e)
{
	const char *const p = st->r->in->p, *const q = json_skip_blanks(p, e);
	struct dft_line *const l = &st->line;
	const bool first = !l->begun;

	if (q == e && q[-1] == '\r')
		dft_tally_add(st, DFT_CR_LF, line_position(st, offset_of(st, q - 1)), SLICE_NONE);
	else if (first && q < e && *q == '{')
		dft_tally_add(st, DFT_LEADING_BLANKS, line_position(st, l->start), SLICE_NONE);
	consume(st, q);
	l->only_cr = first && q == e;
}

/* Reports a `]` that seemed to be the last, since a record or bracket follows it. */
static void report_closed_early(struct dft_state *st)
{
	if (!st->closed)
		return;
	st->closed = false;
	dft_report(st, DFT_RULE_BRACKET, st->closed_at, "closing ] is followed by records");
}

static void read_opening_bracket(struct dft_state *st, const char *e)
{
	const char *const p = st->r->in->p, *const q = json_skip_blanks(p + 1, e);

	if (st->closed)
		report_closed_early(st); /* ][ is one finding */
	else if (st->r->records > 0 || st->opened)
		dft_report(st, DFT_RULE_BRACKET, line_position(st, offset_of(st, p)),
		           "opening [ between records");
	else if (q < e)
		dft_report(st, DFT_RULE_BRACKET, line_position(st, offset_of(st, p)),
		           "opening [ is not on a line of its own");
	st->opened = true;
	consume(st, p + 1);
}

static void read_closing_bracket(struct dft_state *st)
{
	const char *const p = st->r->in->p;

	report_closed_early(st);
	if (st->line.records > 0)
		dft_report(st, DFT_RULE_BRACKET, line_position(st, offset_of(st, p)),
		           "closing ] is not on a line of its own");
	st->closed = true;
	st->closed_at = line_position(st, offset_of(st, p));
	consume(st, p + 1);
	if (st->wrapped) {
		st->trailer = true;
		st->trailer_start = offset_of(st, p + 1);
	}
}

/* Consumes the start of an object around the records, if there is one. */
static bool read_wrapper(struct dft_state *st, const char *e)
{
	const char *const p = st->r->in->p;
	const char *const q = st->r->records == 0 && !st->wrapped ? dft_wrapper_end(p, e) : NULL;

	if (q == NULL)
		return false;
	dft_report(st, DFT_RULE_WRAPPED, line_position(st, offset_of(st, p)),
	           "records are in the array traceEvents of an object");
	st->wrapped = st->opened = true;
	consume(st, q);
	return true;
}

/* Skips the input after the array of a wrapper. */
static void skip_trailer(struct dft_state *st, const char *to)
{
	for (const char *p = st->r->in->p; p < to; p++)
		if (*p != '}' && *p != '\n' && *p != '\r' && *p != ' ' && *p != '\t')
			st->trailer_bytes++;
	consume(st, to);
}

/* ---- unreadable bytes ---- */

static bool parse(struct dft_state *st, const char *p, const char *e)
{
	const bool ok = dft_parse(&st->record, &st->keys, p, e);

	st->r->no_memory |= st->record.no_memory;
	return ok;
}

/* Whether a complete record is at p, not just an object with an id or name. */
static bool is_record(struct dft_state *st, const char *p, const char *e)
{
	const struct dft_record *const rec = &st->record;

	return parse(st, p, e) && dft_top_kind(rec, DFT_NAME) != JSON_ABSENT &&
	       (dft_top_kind(rec, DFT_PH) != JSON_ABSENT || dft_top_kind(rec, DFT_TS) != JSON_ABSENT);
}

/* Returns the next complete record of the line after p; e if there is none.  Gives up after 16 candidates. */
static const char *find_record(struct dft_state *st, const char *p, const char *e)
{
	unsigned tries = 0;

	while (tries < 16 && ++p < e && (p = memchr(p, '{', (size_t)(e - p))) != NULL) {
		if (!dft_begins_record(p, e))
			continue;
		if (is_record(st, p, e))
			return p;
		tries++;
	}
	return e;
}

/* Drops the bytes up to `to`; if these are all known bytes of the line, also the rest of the line. */
static void drop(struct dft_state *st, const char *to, const char *e)
{
	consume(st, to);
	st->line.skipping = to == e && !st->line.end_known;
	st->line.dropped = true;
}

static void drop_garbage(struct dft_state *st, const char *e)
{
	const char *const p = st->r->in->p, *const to = find_record(st, p, e);
	const struct slice s = slice_of(p, (size_t)(to - p));
	struct quoted q;

	dft_report(st, DFT_RULE_BROKEN_JSON, line_position(st, offset_of(st, p)),
	           "expected a record, found %s", quoted(&q, s));
	drop(st, to, e);
}

/* Reports why the record at the start of the window cannot be read, and drops it. */
static void drop_record(struct dft_state *st, const char *e)
{
	const char *const p = st->r->in->p, *const at = st->record.json.error.at;
	const char *const why = st->record.json.error.why;
	const bool cut = st->record.json.error.cut;
	struct quoted q;

	if (st->r->no_memory) /* the record may be valid */
		return;
	if (cut && !st->line.end_known) { /* longer than --max-record: reported at the end of the line */
		st->line.skip_start = offset_of(st, p);
		st->line.skipped = (uint64_t)(e - p);
		st->r->records++;
		drop(st, e, e);
		return;
	}
	const char *const to = find_record(st, p, e);
	if (to < e)
		dft_report(st, DFT_RULE_CUT_RECORD, line_position(st, offset_of(st, p)),
		           "record is cut short, and another begins at column %" PRIu64
		           " (%s at column %" PRIu64 ")",
		           offset_of(st, to) - st->line.start + 1, why,
		           offset_of(st, at) - st->line.start + 1);
	else if (cut)
		dft_report(st, DFT_RULE_CUT_RECORD, line_position(st, offset_of(st, p)),
		           "record is cut short by the end of the line after %zu bytes: %s (column %" PRIu64
		           ")",
		           (size_t)(e - p), why, offset_of(st, at) - st->line.start + 1);
	else
		dft_report(st, DFT_RULE_BROKEN_JSON, line_position(st, offset_of(st, at)),
		           "%s, found %s; record dropped", why, quoted(&q, slice_of(at, (size_t)(e - at))));
	drop(st, to, e);
}

/* ---- records, and any item ---- */

/* Returns false if more input is needed. */
static bool read_record(struct dft_state *st, struct record *to, const char *e)
{
	struct dft_record *const rec = &st->record;
	struct input *const in = st->r->in;
	struct dft_line *const l = &st->line;

	if (!parse(st, in->p, e)) {
		/* the record may continue, as the end of its line is unknown */
		if (rec->json.error.cut && !l->end_known && e == in->end &&
		    (uint64_t)(e - in->p) < st->r->max_record && !st->r->no_memory)
			return false;
		drop_record(st, e);
		return true;
	}
	rec->offset = offset_of(st, in->p);
	rec->line = l->number;
	rec->column = rec->offset - l->start + 1;
	rec->ordinal = to->ordinal;
	report_closed_early(st);
	dft_take_record(st, to);
	if (++l->records == 2)
		l->second = rec->offset;
	l->comma = false;
	consume(st, rec->end);
	return true;
}

/* Reads an item other than NUL, a line end or a record; e: see find_line_end(). */
static void read_other(struct dft_state *st, const char *e)
{
	const char *const p = st->r->in->p;

	if (*p == ' ' || *p == '\t' || *p == '\r') {
		read_blanks(st, e);
	} else if (*p == ',') {
		st->line.comma = true;
		st->line.comma_at = offset_of(st, p);
		consume(st, p + 1);
	} else if (*p == '[') {
		read_opening_bracket(st, e);
	} else if (*p == ']') {
		read_closing_bracket(st);
	} else if (offset_of(st, p) == 0 && e - p >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) {
		dft_report(st, DFT_RULE_BYTE_ORDER_MARK, line_position(st, 0),
		           "file begins with a byte order mark");
		st->r->in->p += 3; /* the line has not begun */
	} else {
		drop_garbage(st, e);
	}
}

/* Reads one item at the start of the window: a record, or bytes between records.  Returns false if the window
 * ends too early; nothing changes then. */
static bool read_item(struct dft_state *st, struct record *rec)
{
	const struct input *const in = st->r->in;
	const char *e;

	if (st->trailer) {
		e = (size_t)(in->end - in->p) > DFT_MAX_LINE ? in->p + DFT_MAX_LINE : in->end;
		if (may_continue(st, e))
			return false;
		skip_trailer(st, e);
		return true;
	}
	if (*in->p == '\0' && !st->line.skipping)
		return read_nul_run(st);
	report_nul_run(st);
	if (*in->p == '\n') {
		read_newline(st);
		return true;
	}
	if (!find_line_end(st, &e))
		return false;
	if (st->line.skipping) {
		if (st->line.skipped > 0)
			st->line.skipped += (uint64_t)(e - in->p);
		drop(st, e, e);
	} else if (*in->p == '{') {
		return read_wrapper(st, e) || read_record(st, rec, e);
	} else {
		read_other(st, e);
	}
	return true;
}

/* Reads the items up to dft_raw_end(), which are part of the raw record. */
static void read_rest(struct dft_state *st, struct record *rec)
{
	struct reader *const r = st->r;
	const bool counts = rec->role < RECORD_IS_GAP;
	const char *const to = dft_raw_end(st, counts);

	r->records += counts; /* findings of the rest have the ordinal after this record */
	while (r->in->p < to)
		if (st->trailer)
			skip_trailer(st, to);
		else
			(void)read_item(st, rec);
	r->records -= counts;
}

static enum record_status read_any(struct dft_state *st, struct record *rec)
{
	struct input *const in = st->r->in;

	if (in->p == in->end)
		return in->last ? RECORD_END : RECORD_MORE;
	st->line.dropped = false;
	rec->role = RECORD_IS_GAP;
	rec->alone = true;
	if (!read_item(st, rec))
		return RECORD_MORE;
	const bool dropped = st->line.dropped;
	if (dropped && st->line.skipped > 0) { /* of a record that is too long */
		const char *const end = in->p;
		in->p = rec->p;
		return reader_pass_to(st->r, rec, end);
	}
	if (st->raw && !st->r->no_memory)
		read_rest(st, rec);
	rec->end = in->p;
	in->p = rec->p;
	if (st->raw && rec->role == RECORD_IS_GAP)
		dft_raw_gap(st, rec, dropped);
	return RECORD_DONE;
}

void dft_line_finish(struct dft_state *st)
{
	report_nul_run(st);
	report_line_end(st);
	if (st->trailer_bytes > 0)
		dft_report(st, DFT_RULE_WRAPPED,
		           line_position(st, st->trailer_start < st->line.start ? st->line.start
		                                                                : st->trailer_start),
		           "members of the object after the array were not read");
	if (st->r->records > 0 && (!st->opened || !st->closed))
		dft_report(st, DFT_RULE_NO_BRACKETS, (struct finding_place){ .line = 1, .column = 1 },
		           "%s missing",
		           st->opened   ? "the closing ] is"
		           : st->closed ? "the opening [ is"
		                        : "the opening [ and the closing ] are");
}

/* ---- the reader ---- */

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
	st->plain = (r->want & WANT_PLAIN) != 0;
	st->raw_fields = st->raw && (r->want & WANT_FIELDS) != 0;
	st->resolve = reader_wants_names(r) && !st->raw;
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
	dft_pieces_begin(st);
	/* For runs of records, which have the first class: the copier must not take them for gaps. */
	return (r->want & (WANT_RUNS | WANT_PLAIN)) == 0 ||
	       trace_add_class(trace, SLICE_LIT("records")) != NULL;
}

static void dft_close(struct reader *r)
{
	struct dft_state *const st = r->state;

	free(st->index);
	pieces_free(st->pieces);
	dft_record_free(&st->record);
	dft_keys_free(&st->keys);
	dft_paths_free(&st->paths);
	arena_free(&st->scratch);
}

static void dft_shared_close(void *shared)
{
	struct dft_shared *const sh = shared;

	tabletext_free(&sh->hosts.index);
	free(sh->hosts.texts);
	dft_names_free(&sh->names);
	table64_free(&sh->titles.index);
	free(sh->titles.texts);
	free(sh->processes.list);
	table64_free(&sh->processes.index);
	table64_free(&sh->processes.threads);
	tabletext_free(&sh->classes.index);
	idset_free(&sh->ids);
}

static enum record_status dft_read(struct reader *r, struct record *rec)
{
	struct dft_state *const st = r->state;

	if (st->resolve && !st->looked_ahead) {
		st->looked_ahead = true;
		r->no_memory |= reader_look_ahead(r) == LOOK_AHEAD_FAILED;
	}
	if (r->records > 0 && dft_fast_line(st, rec))
		return RECORD_DONE;
	return read_any(st, rec);
}

static void dft_end(struct reader *r)
{
	struct dft_state *const st = r->state;

	dft_line_finish(st);
	dft_meta_finish(st);
	dft_names_finish(st);
	dft_ids_finish(st);
	dft_tallies_report(st);
}

const struct reader_ops dft_reader_ops = {
	.state_size = sizeof(struct dft_state),
	.probe = dft_probe,
	.open = dft_open,
	.record = dft_read,
	.event = dft_event,
	.fields = dft_raw_fields,
	.run = dft_run,
	.end = dft_end,
	.close = dft_close,
};

/* Returns the length of the part of the path that all files of a trace share.  The processes of a job write
 * PREFIX-PROGRAM-PID-KIND.pfw, or PREFIX-PID.pfw, to one folder;
 * the common part ends before program or pid. */
static size_t common_path_length(const char *path)
{
	const char *name = path_name(path);

	name += *name == '.';
	return (size_t)(name - path) + strcspn(name, "-.0123456789");
}

const struct trace_ops dft_trace_ops = {
	.common_path_length = common_path_length,
	.shared_size = sizeof(struct dft_shared),
	.close = dft_shared_close,
	.claims = dft_claims,
	.own_clocks = true,
};
