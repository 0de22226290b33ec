/*
 * The reader of DFTracer .pfw ("DFTracer Format"): JSON objects, one a line, in nine dialects that write the
 * same things differently.  Whole lines with one clean record each take the fast path, all others the
 * general path, which gives the same results where both can read a line.
 *
 * Names may be defined after their first use: a look-ahead pass collects them before the first event.
 */
#define _GNU_SOURCE /* memrchr */

#include <stdlib.h>

#include "dftracer/dftracer.h"

/* ---- one record ---- */

/* Checks the record in st->record, applies it, and adds its event if wanted. */
static void process_record(struct dft_state *st, struct batch *b)
{
	struct trace *const trace = st->r->trace;
	const struct dft_record *const rec = &st->record;
	struct dft_facts f;

	/* a look-ahead pass collects names only */
	if (st->ahead && !dft_is_metadata(rec)) {
		st->r->records++;
		return;
	}
	dft_check(st, rec, &f);
	if (st->no_memory)
		return;
	dft_meta_apply(st, rec, &f);
	if (st->no_memory)
		return;
	dft_dialect_check(st, rec, &f);
	st->r->records++;
	trace->events += !dft_event_is_structure(&f);
	if (st->r->want != WANT_FINDINGS && !st->in_run)
		dft_event_add(st, rec, &f, b);
}

/* ---- general path: one item at a time ---- */

/* Items are records in any form, and the bytes around them: line ends, brackets, commas, blanks, runs of NUL,
 * pieces of records.  No decision depends on where windows end.  A record that cannot be parsed is dropped up
 * to the next complete record of its line. */

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

/* Finds the end of the current line, or of the first DFT_MAX_LINE bytes of it.  Returns false if more input
 * is needed. */
static bool find_line_end(struct dft_state *st, const char **e)
{
	struct input *const in = st->r->in;
	struct dft_line *const l = &st->line;
	const uint64_t at = offset_of(st, in->p);
	const char *const limit = (size_t)(in->end - in->p) > DFT_MAX_LINE ? in->p + DFT_MAX_LINE : in->end;

	if (!l->end_known) {
		const char *const from = l->searched > at ? in->p + (l->searched - at) : in->p;
		const char *const nl = from < limit ? memchr(from, '\n', (size_t)(limit - from)) : NULL;
		l->searched = offset_of(st, limit);
		l->end_known = nl != NULL || (limit == in->end && in->last);
		l->end = offset_of(st, nl != NULL ? nl : limit);
	}
	*e = l->end_known ? in->p + (l->end - at) : limit;
	return l->end_known || limit - in->p == DFT_MAX_LINE;
}

static void report_line_end(struct dft_state *st)
{
	struct dft_line *const l = &st->line;

	if (l->records > 1)
		dft_report_line(st, DFT_RULE_TWO_RECORDS, l->second,
		                "%" PRIu32 " records on one line; the second begins here", l->records);
	if (l->comma && l->records > 0)
		dft_tally_add(st, DFT_TRAILING_COMMAS, dft_line_position(st, l->comma_at), slice_of(NULL, 0));
	if (l->skipped > 0)
		dft_report_line(st, DFT_RULE_RECORD_TOO_LONG, l->skip_start,
		                "%" PRIu64 " bytes without the end of the record; dropped", l->skipped);
}

static void read_newline(struct dft_state *st)
{
	struct input *const in = st->r->in;

	if (!st->line.begun || st->line.only_cr)
		dft_tally_add(st, DFT_BLANK_LINES, dft_line_position(st, st->line.start), slice_of(NULL, 0));
	report_line_end(st);
	in->p++;
	st->line = (struct dft_line){ .number = st->line.number + 1, .start = offset_of(st, in->p) };
}

/* Returns whether a run of bytes that ends at p may continue in the next window.  Raw events must not depend
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
	dft_report_line(st, DFT_RULE_NUL_BYTES, l->nul_start, "%" PRIu64 " NUL byte%s", l->nul_bytes,
	                l->nul_bytes == 1 ? "" : "s");
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
		dft_tally_add(st, DFT_CR_LF, dft_line_position(st, offset_of(st, q - 1)), slice_of(NULL, 0));
	else if (first && q < e && *q == '{')
		dft_tally_add(st, DFT_LEADING_BLANKS, dft_line_position(st, l->start), slice_of(NULL, 0));
	consume(st, q);
	l->only_cr = first && q == e;
}

/* Reports a `]` that seemed to be the last, since a record or bracket follows it. */
static void report_closed_early(struct dft_state *st)
{
	if (!st->closed)
		return;
	st->closed = false;
	dft_report_at(st, DFT_RULE_BRACKET, st->closed_at, "closing ] is followed by records");
}

static void read_opening_bracket(struct dft_state *st, const char *e)
{
	const char *const p = st->r->in->p, *const q = json_skip_blanks(p + 1, e);

	if (st->closed)
		report_closed_early(st); /* ][ is one finding */
	else if (st->r->records > 0 || st->opened)
		dft_report_line(st, DFT_RULE_BRACKET, offset_of(st, p), "opening [ between records");
	else if (q < e)
		dft_report_line(st, DFT_RULE_BRACKET, offset_of(st, p),
		                "opening [ is not on a line of its own");
	st->opened = true;
	consume(st, p + 1);
}

static void read_closing_bracket(struct dft_state *st)
{
	const char *const p = st->r->in->p;

	report_closed_early(st);
	if (st->line.records > 0)
		dft_report_line(st, DFT_RULE_BRACKET, offset_of(st, p),
		                "closing ] is not on a line of its own");
	st->closed = true;
	st->closed_at = dft_line_position(st, offset_of(st, p));
	consume(st, p + 1);
	if (st->wrapped) {
		st->trailer = true;
		st->trailer_start = offset_of(st, p + 1);
	}
}

static void read_comma(struct dft_state *st)
{
	st->line.comma = true;
	st->line.comma_at = offset_of(st, st->r->in->p);
	consume(st, st->r->in->p + 1);
}

/* Consumes the start of an object around the records, if there is one. */
static bool read_wrapper(struct dft_state *st, const char *e)
{
	const char *const p = st->r->in->p;
	const char *const q = st->r->records == 0 && !st->wrapped ? dft_wrapper_end(p, e) : NULL;

	if (q == NULL)
		return false;
	dft_report_line(st, DFT_RULE_WRAPPED, offset_of(st, p),
	                "records are in the array traceEvents of an object");
	st->wrapped = st->opened = true;
	consume(st, q);
	return true;
}

/* Skips the input after the array of a wrapper. */
static bool skip_trailer(struct dft_state *st)
{
	struct input *const in = st->r->in;
	const char *const limit = (size_t)(in->end - in->p) > DFT_MAX_LINE ? in->p + DFT_MAX_LINE : in->end;

	if (may_continue(st, limit))
		return false;
	for (const char *p = in->p; p < limit; p++)
		if (*p != '}' && *p != '\n' && *p != '\r' && *p != ' ' && *p != '\t')
			st->trailer_bytes++;
	consume(st, limit);
	return true;
}

static void read_byte_order_mark(struct dft_state *st)
{
	dft_report_line(st, DFT_RULE_BYTE_ORDER_MARK, 0, "file begins with a byte order mark");
	st->r->in->p += 3; /* the line has not begun */
}

/* ---- unreadable bytes ---- */

static bool parse(struct dft_state *st, const char *p, const char *e)
{
	const bool ok = dft_parse(&st->record, &st->keys, p, e);

	st->no_memory |= st->record.no_memory;
	return ok;
}

/* Returns whether a complete record is at p, not just an object with an id or name. */
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

	dft_report_line(st, DFT_RULE_BROKEN_JSON, offset_of(st, p), "expected a record, found %s",
	                quoted(&q, s));
	drop(st, to, e);
}

/* Reports why the record at the start of the window cannot be read, and drops it. */
static void drop_record(struct dft_state *st, const char *e)
{
	const char *const p = st->r->in->p, *const at = st->record.json.error.at;
	const char *const why = st->record.json.error.why;
	const bool cut = st->record.json.error.cut;
	struct quoted q;

	if (st->no_memory) /* the record may be valid */
		return;
	if (cut && !st->line.end_known) { /* longer than DFT_MAX_LINE: reported at the end of the line */
		st->line.skip_start = offset_of(st, p);
		st->line.skipped = (uint64_t)(e - p);
		drop(st, e, e);
		return;
	}
	const char *const to = find_record(st, p, e);
	if (to < e)
		dft_report_line(st, DFT_RULE_CUT_RECORD, offset_of(st, p),
		                "record is cut short, and another begins at column %" PRIu64
		                " (%s at column %" PRIu64 ")",
		                offset_of(st, to) - st->line.start + 1, why,
		                offset_of(st, at) - st->line.start + 1);
	else if (cut)
		dft_report_line(
		    st, DFT_RULE_CUT_RECORD, offset_of(st, p),
		    "record is cut short by the end of the line after %zu bytes: %s (column %" PRIu64 ")",
		    (size_t)(e - p), why, offset_of(st, at) - st->line.start + 1);
	else
		dft_report_line(st, DFT_RULE_BROKEN_JSON, offset_of(st, at), "%s, found %s; record dropped",
		                why, quoted(&q, slice_of(at, (size_t)(e - at))));
	drop(st, to, e);
}

/* ---- records, and any item ---- */

/* Reads a record.  Returns false if more input is needed. */
static bool read_record(struct dft_state *st, struct batch *b, const char *e)
{
	struct dft_record *const rec = &st->record;
	struct input *const in = st->r->in;
	struct dft_line *const l = &st->line;

	if (!parse(st, in->p, e)) {
		/* the record may continue, as the end of its line is unknown */
		if (rec->json.error.cut && !l->end_known && e == in->end &&
		    e - in->p < (ptrdiff_t)DFT_MAX_LINE && !st->no_memory)
			return false;
		drop_record(st, e);
		return true;
	}
	rec->offset = offset_of(st, in->p);
	rec->line = l->number;
	rec->column = rec->offset - l->start + 1;
	rec->ordinal = st->r->records + 1;
	report_closed_early(st);
	process_record(st, b);
	if (st->raw && !st->no_memory)
		dft_raw_set_bytes(st, b, rec, NULL);
	if (++l->records == 2)
		l->second = rec->offset;
	l->comma = false;
	consume(st, rec->end);
	return true;
}

/* Reads anything but NUL, a line end and a record; e: see find_line_end(). */
static void read_other(struct dft_state *st, const char *e)
{
	const char *const p = st->r->in->p;

	if (*p == ' ' || *p == '\t' || *p == '\r')
		read_blanks(st, e);
	else if (*p == ',')
		read_comma(st);
	else if (*p == '[')
		read_opening_bracket(st, e);
	else if (*p == ']')
		read_closing_bracket(st);
	else if (offset_of(st, p) == 0 && e - p >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
		read_byte_order_mark(st);
	else
		drop_garbage(st, e);
}

static bool read_item(struct dft_state *st, struct batch *b)
{
	const struct input *const in = st->r->in;
	const char *e;

	if (st->trailer)
		return skip_trailer(st);
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
		return read_wrapper(st, e) || read_record(st, b, e);
	} else {
		read_other(st, e);
	}
	return true;
}

bool dft_line_next(struct dft_state *st, struct batch *b)
{
	const bool done = read_item(st, b);

	if (done && st->raw && !st->no_memory)
		dft_raw_add_gap(st, b);
	return done;
}

void dft_line_finish(struct dft_state *st)
{
	report_nul_run(st);
	report_line_end(st);
	if (st->trailer_bytes > 0)
		dft_report_line(st, DFT_RULE_WRAPPED,
		                st->trailer_start < st->line.start ? st->line.start : st->trailer_start,
		                "members of the object after the array were not read");
	if (st->r->records > 0 && (!st->opened || !st->closed))
		dft_report_at(st, DFT_RULE_NO_BRACKETS, (struct dft_position){ 0, 1, 1, 0 }, "%s missing",
		              st->opened   ? "the closing ] is"
		              : st->closed ? "the opening [ is"
		                           : "the opening [ and the closing ] are");
}

/* ---- fast path: common records without events ---- */

/*
 * Most records of a trace are complete events of the same process as the record before, with known hashes.
 * Their only possible finding is a repeated id: process_record() would change the same counts.
 */

/* Digits of ts and dur whose sum fits 64 bits as ns ... */
#define COMMON_TS 16
#define COMMON_DUR 8
#define COMMON_UNIT 1000 /* ... in units of at most 1000 ns */

/* Returns whether the numbers are free of findings.  The pid is checked in same_process(). */
static inline bool has_common_numbers(const struct dft_record *rec)
{
	const struct dft_token *const t = rec->top;

	return t[DFT_TS].n <= COMMON_TS && t[DFT_DUR].n <= COMMON_DUR && t[DFT_TID].n < 20 &&
	       json_few_digits(t[DFT_PID].at, t[DFT_PID].n) && json_few_digits(t[DFT_ID].at, t[DFT_ID].n);
}

/* Excludes categories of eight letters, as "dftracer": its events may start or end a process. */
static inline bool is_common(const struct dft_record *rec)
{
	return rec->shape == DFT_USUAL_COMPLETE && rec->top[DFT_PH].n == 1 &&
	       rec->p[rec->top[DFT_PH].at] == 'X' && rec->top[DFT_CAT].n != 8 &&
	       rec->special[DFT_ROLE_HHASH] != 0 &&
	       (rec->special[DFT_ROLE_HOSTNAME] | rec->special[DFT_ROLE_FNAME]) == 0;
}

static inline uint64_t few_digits(const struct dft_record *rec, enum dft_top which)
{
	const struct dft_token t = rec->top[which];

	return json_last_digits(rec->p + t.at + t.n, t.n);
}

/* Returns the process of the last record if it is also this record's and its host has a name; else NULL. */
static inline struct dft_process *same_process(const struct dft_state *st, const struct dft_record *rec,
                                               const struct dft_arg *host)
{
	const struct dft_shared *const sh = st->sh;
	struct dft_process *const p = sh->processes.last;

	if (p == NULL || host->kind > JSON_STRING || p->pid != few_digits(rec, DFT_PID) ||
	    p->host_name.p == NULL || p->host_known != sh->names.hosts_defined || p->unit > COMMON_UNIT)
		return NULL;
	return dft_same_host(dft_host_text(&sh->numbers, p->host), dft_token_text(rec, host->value)) ? p
	                                                                                             : NULL;
}

/* Returns whether all hashes but the host's are defined; *texts: number of hashes that are text. */
static inline bool has_defined_hashes(struct dft_state *st, const struct dft_record *rec, uint64_t pid,
                                      uint32_t *texts)
{
	for (uint64_t left = rec->hashes; left != 0; left &= left - 1) {
		const struct dft_arg *const a = &rec->args[__builtin_ctzll(left)];
		struct dft_recent_hash key;
		*texts += a->kind == JSON_STRING;
		if (a->role == DFT_ROLE_HHASH)
			continue;
		if (!dft_recent_key(rec, a, pid, &key) ||
		    !dft_recent_matches(dft_recent_slot(&st->sh->names, &key), &key))
			return false;
	}
	return *texts == 0 || st->tallies[DFT_HASHES_AS_TEXT].found.count > 0;
}

/* Replaces process_record() for a common record if no events are wanted.  Returns false, having done
 * nothing, for other records.  DFT_SPARE bytes after the record must be readable. */
static bool count_common(struct dft_state *st, const struct dft_record *rec)
{
	if (!is_common(rec) || !has_common_numbers(rec))
		return false;
	const struct dft_arg *const host = &rec->args[rec->special[DFT_ROLE_HHASH] - 1];
	struct dft_process *const p = same_process(st, rec, host);
	uint32_t texts = 0;
	if (p == NULL || !has_defined_hashes(st, rec, p->pid, &texts) ||
	    (!st->mixed_reported && dft_signature(rec, DFT_PHASE_COMPLETE) != st->last_signature))
		return false;
	p->records++;
	p->calls++;
	st->r->records++;
	st->r->trace->events++;
	st->tallies[DFT_HASHES_AS_TEXT].found.count += texts;
	if (idset_add(&st->sh->ids, dft_id_base(p) + few_digits(rec, DFT_ID)))
		dft_tally_add(st, DFT_IDS_REPEATED, dft_record_position(rec), dft_top_text(rec, DFT_ID));
	return true;
}

/* ---- fast path: lines ---- */

#define FAST_BYTES (256 << 10) /* per call, about: bytes that are copied stay in the cache */

/* Skips positions of the index that are before the window. */
static void skip_positions(struct dft_state *st)
{
	const uint32_t at = (uint32_t)(st->r->in->p - st->index->base);

	while (*st->lines < at)
		st->lines++;
	while (*st->quotes < at)
		st->quotes++;
	while (*st->odd < at)
		st->odd++;
}

/* Makes an index of the start of the window unless there is one.  Returns false if it has no line end. */
static bool index_window(struct dft_state *st)
{
	struct input *const in = st->r->in;
	struct json_index *const ix = st->index;

	if (ix->base != NULL && (size_t)(in->p - ix->base) < ix->n) {
		skip_positions(st);
		if (*st->lines != UINT32_MAX)
			return true;
	}
	json_index_make(ix, st->scanner, in->p, (size_t)(in->end - in->p));
	st->lines = ix->lines.at;
	st->quotes = ix->quotes.at;
	st->odd = ix->odd.at;
	return *st->lines != UINT32_MAX;
}

/* Parses a clean line that follows no known path.  If it is a valid record, the next of its kind will. */
static bool learn_line(struct dft_state *st, const char *e)
{
	struct dft_record *const rec = &st->record;

	if (!dft_parse(rec, &st->keys, st->r->in->p, e) || rec->end != e || rec->json.nflaws > 0 ||
	    rec->nextras > 0 || rec->too_many)
		return false;
	if (!st->raw_fields)
		dft_paths_learn(&st->paths, rec, st->r->records + 1);
	rec->clean = true;
	while (*st->quotes < (uint32_t)(e - st->index->base))
		st->quotes++;
	return true;
}

/* Reads the lines of the index.  Returns false at a line that is left to dft_line_next(), or if the batch is
 * full. */
static bool read_indexed_lines(struct dft_state *st, struct batch *b)
{
	struct input *const in = st->r->in;
	struct dft_record *const rec = &st->record;
	const char *const base = st->index->base;
	const bool raw = st->raw && !st->in_run, members = st->raw_fields;
	const bool count_only = st->no_events || st->in_run;

	for (; *st->lines != UINT32_MAX; st->lines++) {
		const char *const e = base + *st->lines;
		for (const char *q = in->p; q < e; q += 64)
			__builtin_prefetch(q + JSON_CHUNK); /* the next index is made from these bytes */
		if (b->n == b->cap || *in->p != '{' || *st->odd < *st->lines ||
		    (size_t)(in->end - e) < DFT_SPARE)
			return false;
		if ((members || !dft_paths_follow(&st->paths, rec, base, &st->quotes, in->p, e)) &&
		    !learn_line(st, e))
			return false;
		rec->offset = input_offset(in, in->p);
		rec->line = st->line.number;
		rec->column = 1;
		rec->ordinal = st->r->records + 1;
		if (!count_only || !count_common(st, rec))
			process_record(st, b);
		if (st->no_memory)
			return false;
		if (raw)
			dft_raw_set_bytes(st, b, rec, e + 1);
		in->p = e + 1;
		st->line.number++;
		st->line.start = rec->offset + (uint64_t)(in->p - rec->p);
	}
	return true;
}

void dft_lines_fast(struct dft_state *st, struct batch *b)
{
	struct input *const in = st->r->in;
	const char *const from = in->p;
	/* a look-ahead pass skips lines before each call */
	const ptrdiff_t max = st->ahead ? 1 : FAST_BYTES;

	if (b->n == b->cap || st->line.begun || st->closed || st->trailer)
		return;
	st->in_run = st->runs && st->r->records > 0;
	while (in->p < in->end && in->p - from < max && index_window(st) && read_indexed_lines(st, b))
		;
	if (st->in_run && in->p > from && !st->no_memory)
		dft_raw_add_run(st, b, slice_of(from, (size_t)(in->p - from)));
	st->in_run = false;
}

/* ---- look-ahead pass ---- */

/* The pass parses only metadata; other lines are skipped by a search for the six names that such metadata has
 * (see apply_metadata() in meaning.c), which have no escapes in any dialect.  The rest of metadata differs
 * between dialects, and one file may contain records of several. */

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
	st->resolve = (r->want & (WANT_FIELDS | WANT_NAMES)) != 0 && !st->raw;
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
		st->no_memory |= reader_look_ahead(r) == LOOK_AHEAD_FAILED;
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
