#include "dftracer/dftracer.h"

/* ---- take ---- */

/* Checks the record in st->record, learns from it, and adds its event, if that is wanted.  Out of memory:
 * st->no_memory. */
static void dft_record_take(struct dft_state *st, struct batch *b)
{
	struct trace *const trace = st->r->trace;
	const struct dft_record *const rec = &st->record;
	struct dft_facts f;

	/* a look-ahead pass is for names alone */
	if (st->ahead && !dft_is_metadata(rec)) {
		st->r->records++;
		return;
	}
	dft_check(st, rec, &f);
	if (st->no_memory)
		return;
	dft_learn(st, rec, &f);
	if (st->no_memory)
		return;
	dft_dialect_check(st, rec, &f);
	st->r->records++;
	trace->events += !dft_event_is_structure(&f);
	if (st->r->want != WANT_FINDINGS && !st->in_run)
		dft_event_add(st, rec, &f, b);
}

/* ---- usual ---- */

/*
 * Most records of a trace are complete events of the process of the record
 * before, with hashes that are known.  Of these, nothing can be found but that
 * their id is repeated: dft_check() and those behind it would change the same
 * counts.
 */

/* Digits of a time and of a length whose sum fits 64 bits as ns ... */
#define USUAL_TS 16
#define USUAL_DUR 8
#define USUAL_UNIT 1000 /* ... if this is the most that they count in */

/* No message can come of the numbers; the pid is read elsewhere. */
static inline bool has_usual_numbers(const struct dft_record *rec)
{
	const struct dft_token *const t = rec->top;

	return t[DFT_TS].n <= USUAL_TS && t[DFT_DUR].n <= USUAL_DUR && t[DFT_TID].n < 20 &&
	       json_few_digits(t[DFT_PID].at, t[DFT_PID].n) && json_few_digits(t[DFT_ID].at, t[DFT_ID].n);
}

/* The tracer's own events may start or end a process: their category has eight letters. */
static inline bool is_usual(const struct dft_record *rec)
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

/* The process of the last record, if it is this one's too and its host has a name; else NULL. */
static inline struct dft_process *same_process(const struct dft_state *st, const struct dft_record *rec,
                                               const struct dft_arg *host)
{
	const struct dft_shared *const sh = st->sh;
	struct dft_process *const p = sh->processes.last;

	if (p == NULL || host->kind > JSON_STRING || p->pid != few_digits(rec, DFT_PID) ||
	    p->host_name.p == NULL || p->host_known != sh->names.hosts_defined || p->unit > USUAL_UNIT)
		return NULL;
	return dft_same_host(dft_host_text(&sh->who, p->host), dft_token_text(rec, host->value)) ? p : NULL;
}

/* Whether all hashes but the host's were defined; *texts: how many are text. */
static inline bool knows_hashes(struct dft_state *st, const struct dft_record *rec, uint64_t pid,
                                uint32_t *texts)
{
	for (uint64_t left = rec->hashes; left != 0; left &= left - 1) {
		const struct dft_arg *const a = &rec->args[__builtin_ctzll(left)];
		struct dft_recent_hash key;
		*texts += a->kind == JSON_STRING;
		if (a->role == DFT_ROLE_HHASH)
			continue;
		if (!dft_recent_key(rec, a, pid, &key) ||
		    !dft_recent_is(dft_recent(&st->sh->names, &key), &key))
			return false;
	}
	return *texts == 0 || st->tallies[DFT_HASHES_AS_TEXT].met.count > 0;
}

/* Does for st->record, a record of an ordinary line (DFT_SPARE bytes behind it can be read), what
 * dft_record_take() does where no events are wanted.  False: nothing was done, for it is not one of the usual
 * records. */
static bool dft_usual_take(struct dft_state *st, const struct dft_record *rec)
{
	if (!is_usual(rec) || !has_usual_numbers(rec))
		return false;
	const struct dft_arg *const host = &rec->args[rec->special[DFT_ROLE_HHASH] - 1];
	struct dft_process *const p = same_process(st, rec, host);
	uint32_t texts = 0;
	if (p == NULL || !knows_hashes(st, rec, p->pid, &texts) ||
	    (!st->mixed_reported && dft_signature(rec, DFT_PHASE_COMPLETE) != st->usual_signature))
		return false;
	p->records++;
	p->calls++;
	st->r->records++;
	st->r->trace->events++;
	st->tallies[DFT_HASHES_AS_TEXT].met.count += texts;
	if (idset_add(&st->sh->ids, dft_id_place(p) + few_digits(rec, DFT_ID)))
		dft_tally_add(st, DFT_IDS_REPEATED, dft_place_of(rec), dft_top_text(rec, DFT_ID));
	return true;
}

/* ---- fast ---- */

/* Ordinary lines: a record and nothing else, clean, like records before it.  All others are left to
 * dft_line_next(). */

#define FAST_BYTES (256 << 10) /* about as many are taken in one go: bytes to copy stay in the cache */

/* Positions at which things lie that are behind p already. */
static void catch_up(struct dft_state *st)
{
	const uint32_t at = (uint32_t)(st->r->in->p - st->index->base);

	while (*st->lines < at)
		st->lines++;
	while (*st->quotes < at)
		st->quotes++;
	while (*st->odd < at)
		st->odd++;
}

/* An index of the window from p on that has at least one line end; false: there is none near. */
static bool have_index(struct dft_state *st)
{
	struct input *const in = st->r->in;
	struct json_index *const ix = st->index;

	if (ix->base != NULL && (size_t)(in->p - ix->base) < ix->n) {
		catch_up(st);
		if (*st->lines != UINT32_MAX)
			return true;
	}
	json_index_make(ix, st->scanner, in->p, (size_t)(in->end - in->p));
	st->lines = ix->lines.at;
	st->quotes = ix->quotes.at;
	st->odd = ix->odd.at;
	return *st->lines != UINT32_MAX;
}

/* Nothing is open that an ordinary line would have to know of. */
static bool ordinary(const struct dft_state *st)
{
	return !st->line.begun && !st->closed && !st->trailer;
}

/* A clean line that takes no known path: if it is a valid record, the next like it will. */
static bool learn_line(struct dft_state *st, const char *e)
{
	struct dft_record *const rec = &st->record;

	if (!dft_parse(rec, &st->keys, st->r->in->p, e) || rec->end != e || rec->json.nflaws > 0 ||
	    rec->nextras > 0 || rec->too_many)
		return false;
	if (!st->raw_fields)
		dft_paths_learn(&st->paths, rec);
	rec->clean = true;
	while (*st->quotes < (uint32_t)(e - st->index->base))
		st->quotes++;
	return true;
}

/* The lines of the index; false: they end at one that is not ordinary, or where the batch does. */
static bool take_lines(struct dft_state *st, struct batch *b)
{
	struct input *const in = st->r->in;
	struct dft_record *const rec = &st->record;
	const char *const base = st->index->base;
	const bool raw = st->raw && !st->in_run, members = st->raw_fields;
	const bool quick = st->no_events || st->in_run;

	for (; *st->lines != UINT32_MAX; st->lines++) {
		const char *const e = base + *st->lines;
		for (const char *q = in->p; q < e; q += 64)
			__builtin_prefetch(q + JSON_CHUNK); /* what the next index is made of */
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
		if (!quick || !dft_usual_take(st, rec))
			dft_record_take(st, b);
		if (st->no_memory)
			return false;
		if (raw)
			dft_raw_cover(st, b, rec, e + 1);
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
	/* a look-ahead pass skips lines that it need not read */
	const ptrdiff_t most = st->ahead ? 1 : FAST_BYTES;

	if (b->n == b->cap || !ordinary(st))
		return;
	st->in_run = st->runs && st->r->records > 0;
	while (in->p < in->end && in->p - from < most && have_index(st) && take_lines(st, b))
		;
	if (st->in_run && in->p > from && !st->no_memory)
		dft_raw_add_run(st, b, slice_of(from, (size_t)(in->p - from)));
	st->in_run = false;
}

/* ---- line ---- */

/*
 * What stands around the records: line ends, brackets, commas, blanks, runs of
 * NUL, and pieces of records.  One such thing, or a record, is consumed at a
 * time; what is decided never depends on where windows end.
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

/* Where the bytes of the present line end that can be looked at; false: more must come first. */
static bool find_end(struct dft_state *st, const char **e)
{
	struct input *const in = st->r->in;
	struct dft_line *const l = &st->line;
	const uint64_t at = offset_of(st, in->p);
	const char *const most = (size_t)(in->end - in->p) > DFT_MAX_LINE ? in->p + DFT_MAX_LINE : in->end;

	if (!l->end_known) {
		const char *const from = l->searched > at ? in->p + (l->searched - at) : in->p;
		const char *const nl = from < most ? memchr(from, '\n', (size_t)(most - from)) : NULL;
		l->searched = offset_of(st, most);
		l->end_known = nl != NULL || (most == in->end && in->last);
		l->end = offset_of(st, nl != NULL ? nl : most);
	}
	*e = l->end_known ? in->p + (l->end - at) : most;
	return l->end_known || most - in->p == DFT_MAX_LINE;
}

static void end_line(struct dft_state *st)
{
	struct dft_line *const l = &st->line;

	if (l->records > 1)
		dft_report_line(st, DFT_RULE_TWO_RECORDS, l->second,
		                "%" PRIu32 " records on one line; the second begins here", l->records);
	if (l->comma && l->records > 0)
		dft_tally_add(st, DFT_TRAILING_COMMAS, dft_place_at(st, l->comma_at), slice_of(NULL, 0));
	if (l->skipped > 0)
		dft_report_line(st, DFT_RULE_RECORD_TOO_LONG, l->skip_start,
		                "%" PRIu64 " bytes without the end of the record; dropped", l->skipped);
}

static void next_line(struct dft_state *st, uint64_t start)
{
	st->line = (struct dft_line){ .number = st->line.number + 1, .start = start };
}

static void newline(struct dft_state *st)
{
	struct input *const in = st->r->in;

	if (!st->line.begun || st->line.only_cr)
		dft_tally_add(st, DFT_BLANK_LINES, dft_place_at(st, st->line.start), slice_of(NULL, 0));
	end_line(st);
	in->p++;
	next_line(st, offset_of(st, in->p));
}

/* Raw events do not depend on where windows end: whether more must be seen of a run of bytes that goes to p.
 */
static bool may_go_on(const struct dft_state *st, const char *p)
{
	const struct input *const in = st->r->in;

	return st->raw && p == in->end && !in->last && (size_t)(p - in->p) < DFT_MAX_LINE;
}

/* ---- NUL ---- */

static void report_nul_run(struct dft_state *st)
{
	struct dft_line *const l = &st->line;

	if (l->nul_bytes == 0)
		return;
	dft_report_line(st, DFT_RULE_NUL_BYTES, l->nul_start, "%" PRIu64 " NUL byte%s", l->nul_bytes,
	                l->nul_bytes == 1 ? "" : "s");
	l->nul_bytes = 0;
}

static bool nul_run(struct dft_state *st)
{
	struct input *const in = st->r->in;
	const char *p = in->p;
	/* in portions: mapped pages behind are given back between them */
	const char *const most = (size_t)(in->end - p) > DFT_MAX_LINE ? p + DFT_MAX_LINE : in->end;

	if (st->line.nul_bytes == 0)
		st->line.nul_start = offset_of(st, p);
	while (p < most && *p == '\0')
		p++;
	if (may_go_on(st, p))
		return false;
	st->line.dropped = true;
	st->line.nul_bytes += (uint64_t)(p - in->p);
	consume(st, p);
	return true;
}

/* ---- blanks, commas, brackets ---- */

static void blanks(struct dft_state *st, const char *e)
{
	const char *const p = st->r->in->p, *const q = json_skip_blanks(p, e);
	struct dft_line *const l = &st->line;
	const bool first = !l->begun;

	if (q == e && q[-1] == '\r')
		dft_tally_add(st, DFT_CR_LF, dft_place_at(st, offset_of(st, q - 1)), slice_of(NULL, 0));
	else if (first && q < e && *q == '{')
		dft_tally_add(st, DFT_LEADING_BLANKS, dft_place_at(st, l->start), slice_of(NULL, 0));
	consume(st, q);
	l->only_cr = first && q == e;
}

/* Something follows a `]` that seemed to be the last. */
static void report_closed_early(struct dft_state *st)
{
	if (!st->closed)
		return;
	st->closed = false;
	dft_report_at(st, DFT_RULE_BRACKET, st->closed_at, "closing ] is followed by records");
}

static void open_bracket(struct dft_state *st, const char *e)
{
	const char *const p = st->r->in->p, *const q = json_skip_blanks(p + 1, e);

	if (st->closed)
		report_closed_early(st); /* ][ is one thing */
	else if (st->r->records > 0 || st->opened)
		dft_report_line(st, DFT_RULE_BRACKET, offset_of(st, p), "opening [ between records");
	else if (q < e)
		dft_report_line(st, DFT_RULE_BRACKET, offset_of(st, p),
		                "opening [ is not on a line of its own");
	st->opened = true;
	consume(st, p + 1);
}

static void close_bracket(struct dft_state *st)
{
	const char *const p = st->r->in->p;

	report_closed_early(st);
	if (st->line.records > 0)
		dft_report_line(st, DFT_RULE_BRACKET, offset_of(st, p),
		                "closing ] is not on a line of its own");
	st->closed = true;
	st->closed_at = dft_place_at(st, offset_of(st, p));
	consume(st, p + 1);
	if (st->wrapped) {
		st->trailer = true;
		st->trailer_start = offset_of(st, p + 1);
	}
}

static void comma(struct dft_state *st)
{
	st->line.comma = true;
	st->line.comma_at = offset_of(st, st->r->in->p);
	consume(st, st->r->in->p + 1);
}

/* ---- objects around the records ---- */

static bool unwrap(struct dft_state *st, const char *e)
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

/* What stands behind the array: to the end, without a look. */
static bool pass_trailer(struct dft_state *st)
{
	struct input *const in = st->r->in;
	const char *const most = (size_t)(in->end - in->p) > DFT_MAX_LINE ? in->p + DFT_MAX_LINE : in->end;

	if (may_go_on(st, most))
		return false;
	for (const char *p = in->p; p < most; p++)
		if (*p != '}' && *p != '\n' && *p != '\r' && *p != ' ' && *p != '\t')
			st->trailer_bytes++;
	consume(st, most);
	return true;
}

/* ---- what cannot be read ---- */

static bool parse(struct dft_state *st, const char *p, const char *e)
{
	const bool ok = dft_parse(&st->record, &st->keys, p, e);

	st->no_memory |= st->record.no_memory;
	return ok;
}

/* A complete record that begins at p, and is more than some object with an id or name. */
static bool is_record(struct dft_state *st, const char *p, const char *e)
{
	const struct dft_record *const rec = &st->record;

	return parse(st, p, e) && dft_top_kind(rec, DFT_NAME) != JSON_ABSENT &&
	       (dft_top_kind(rec, DFT_PH) != JSON_ABSENT || dft_top_kind(rec, DFT_TS) != JSON_ABSENT);
}

/* The next complete record on the line behind p; e: there is none.  Gives up after some that only look like
 * one.
 */
static const char *next_record(struct dft_state *st, const char *p, const char *e)
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

/* Drops [p, to).  Behind the end of what could be looked at, the rest of the line goes too. */
static void drop(struct dft_state *st, const char *to, const char *e)
{
	consume(st, to);
	st->line.skipping = to == e && !st->line.end_known;
	st->line.dropped = true;
}

static void garbage(struct dft_state *st, const char *e)
{
	const char *const p = st->r->in->p, *const to = next_record(st, p, e);
	const struct slice s = slice_of(p, (size_t)(to - p));
	struct quoted q;

	dft_report_line(st, DFT_RULE_BROKEN_JSON, offset_of(st, p), "expected a record, found %s",
	                quoted(&q, s));
	drop(st, to, e);
}

static void too_long(struct dft_state *st, const char *e)
{
	st->line.skip_start = offset_of(st, st->r->in->p);
	st->line.skipped = (uint64_t)(e - st->r->in->p);
	drop(st, e, e);
}

/* The record at p could not be read: reports why, and finds where to go on. */
static void failed(struct dft_state *st, const char *e)
{
	const char *const p = st->r->in->p, *const at = st->record.json.error.at;
	const char *const why = st->record.json.error.why;
	const bool cut = st->record.json.error.cut;
	struct quoted q;

	if (st->no_memory) /* it may be sound */
		return;
	if (cut && !st->line.end_known) {
		too_long(st, e);
		return;
	}
	const char *const to = next_record(st, p, e);
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

/* The rest of a line that is dropped. */
static void skip(struct dft_state *st, const char *e)
{
	if (st->line.skipped > 0)
		st->line.skipped += (uint64_t)(e - st->r->in->p);
	drop(st, e, e);
}

/* ---- records ---- */

/* false: more of it must come first. */
static bool record(struct dft_state *st, struct batch *b, const char *e)
{
	struct dft_record *const rec = &st->record;
	struct input *const in = st->r->in;
	struct dft_line *const l = &st->line;

	if (!parse(st, in->p, e)) {
		/* on a line whose end is not known, there may be more of the record */
		if (rec->json.error.cut && !l->end_known && e == in->end &&
		    e - in->p < (ptrdiff_t)DFT_MAX_LINE && !st->no_memory)
			return false;
		failed(st, e);
		return true;
	}
	rec->offset = offset_of(st, in->p);
	rec->line = l->number;
	rec->column = rec->offset - l->start + 1;
	rec->ordinal = st->r->records + 1;
	report_closed_early(st);
	dft_record_take(st, b);
	if (st->raw && !st->no_memory)
		dft_raw_cover(st, b, rec, NULL);
	if (++l->records == 2)
		l->second = rec->offset;
	l->comma = false;
	consume(st, rec->end);
	return true;
}

static void byte_order_mark(struct dft_state *st)
{
	dft_report_line(st, DFT_RULE_BYTE_ORDER_MARK, 0, "file begins with a byte order mark");
	st->r->in->p += 3; /* the line has not begun */
}

/* Anything but NUL, a line end and a record; e: see find_end(). */
static void other(struct dft_state *st, const char *e)
{
	const char *const p = st->r->in->p;

	if (*p == ' ' || *p == '\t' || *p == '\r')
		blanks(st, e);
	else if (*p == ',')
		comma(st);
	else if (*p == '[')
		open_bracket(st, e);
	else if (*p == ']')
		close_bracket(st);
	else if (offset_of(st, p) == 0 && e - p >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
		byte_order_mark(st);
	else
		garbage(st, e);
}

static bool line_next(struct dft_state *st, struct batch *b)
{
	const struct input *const in = st->r->in;
	const char *e;

	if (st->trailer)
		return pass_trailer(st);
	if (*in->p == '\0' && !st->line.skipping)
		return nul_run(st);
	report_nul_run(st);
	if (*in->p == '\n') {
		newline(st);
		return true;
	}
	if (!find_end(st, &e))
		return false;
	if (st->line.skipping)
		skip(st, e);
	else if (*in->p == '{')
		return unwrap(st, e) || record(st, b, e);
	else
		other(st, e);
	return true;
}

bool dft_line_next(struct dft_state *st, struct batch *b)
{
	const bool done = line_next(st, b);

	if (done && st->raw && !st->no_memory)
		dft_raw_gap(st, b);
	return done;
}

void dft_line_finish(struct dft_state *st)
{
	report_nul_run(st);
	end_line(st);
	if (st->trailer_bytes > 0)
		dft_report_line(st, DFT_RULE_WRAPPED,
		                st->trailer_start < st->line.start ? st->line.start : st->trailer_start,
		                "members of the object after the array were not read");
	if (st->r->records > 0 && (!st->opened || !st->closed))
		dft_report_at(st, DFT_RULE_NO_BRACKETS, (struct dft_place){ 0, 1, 1, 0 }, "%s missing",
		              st->opened   ? "the closing ] is"
		              : st->closed ? "the opening [ is"
		                           : "the opening [ and the closing ] are");
}
