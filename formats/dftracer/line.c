#include "dftracer/line.h"

#include "dftracer/facts.h"
#include "dftracer/parse.h"
#include "dftracer/raw.h"
#include "dftracer/report.h"

/*
 * What stands around the records: line ends, brackets, commas, blanks, runs of
 * NUL, and pieces of records.  One such thing, or a record, is consumed at a
 * time; what is decided never depends on where windows end.
 */

static uint64_t
offset_of(const struct dft_state *st, const char *p)
{
	return input_offset(st->r->in, p);
}

static void
consume(struct dft_state *st, const char *to)
{
	st->r->in->p = to;
	st->line.begun = true;
}

/* ---- line ends ---- */

/* Where the bytes of the present line end that can be looked at; false: more must come first. */
static bool
find_end(struct dft_state *st, const char **e)
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

static void
end_line(struct dft_state *st)
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

static void
next_line(struct dft_state *st, uint64_t start)
{
	st->line = (struct dft_line){ .number = st->line.number + 1, .start = start };
}

static void
newline(struct dft_state *st)
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
static bool
may_go_on(const struct dft_state *st, const char *p)
{
	const struct input *const in = st->r->in;

	return st->raw && p == in->end && !in->last && (size_t)(p - in->p) < DFT_MAX_LINE;
}

/* ---- NUL ---- */

static void
report_nul_run(struct dft_state *st)
{
	struct dft_line *const l = &st->line;

	if (l->nul_bytes == 0)
		return;
	dft_report_line(st, DFT_RULE_NUL_BYTES, l->nul_start, "%" PRIu64 " NUL byte%s", l->nul_bytes,
	                l->nul_bytes == 1 ? "" : "s");
	l->nul_bytes = 0;
}

static bool
nul_run(struct dft_state *st)
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

static void
blanks(struct dft_state *st, const char *e)
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
static void
report_closed_early(struct dft_state *st)
{
	if (!st->closed)
		return;
	st->closed = false;
	dft_report_at(st, DFT_RULE_BRACKET, st->closed_at, "closing ] is followed by records");
}

static void
open_bracket(struct dft_state *st, const char *e)
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

static void
close_bracket(struct dft_state *st)
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

static void
comma(struct dft_state *st)
{
	st->line.comma = true;
	st->line.comma_at = offset_of(st, st->r->in->p);
	consume(st, st->r->in->p + 1);
}

/* ---- objects around the records ---- */

static bool
unwrap(struct dft_state *st, const char *e)
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
static bool
pass_trailer(struct dft_state *st)
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

static bool
parse(struct dft_state *st, const char *p, const char *e)
{
	const bool ok = dft_parse(&st->record, &st->keys, p, e);

	st->no_memory |= st->record.no_memory;
	return ok;
}

/* A complete record that begins at p, and is more than some object with an id or name. */
static bool
is_record(struct dft_state *st, const char *p, const char *e)
{
	const struct dft_record *const rec = &st->record;

	return parse(st, p, e) && dft_top_kind(rec, DFT_NAME) != JSON_ABSENT &&
	       (dft_top_kind(rec, DFT_PH) != JSON_ABSENT || dft_top_kind(rec, DFT_TS) != JSON_ABSENT);
}

/* The next complete record on the line behind p; e: there is none.  Gives up after some that only look like
 * one.
 */
static const char *
next_record(struct dft_state *st, const char *p, const char *e)
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
static void
drop(struct dft_state *st, const char *to, const char *e)
{
	consume(st, to);
	st->line.skipping = to == e && !st->line.end_known;
	st->line.dropped = true;
}

static void
garbage(struct dft_state *st, const char *e)
{
	const char *const p = st->r->in->p, *const to = next_record(st, p, e);
	const struct slice s = slice_of(p, (size_t)(to - p));
	struct quoted q;

	dft_report_line(st, DFT_RULE_BROKEN_JSON, offset_of(st, p), "expected a record, found %s",
	                quoted(&q, s));
	drop(st, to, e);
}

static void
too_long(struct dft_state *st, const char *e)
{
	st->line.skip_start = offset_of(st, st->r->in->p);
	st->line.skipped = (uint64_t)(e - st->r->in->p);
	drop(st, e, e);
}

/* The record at p could not be read: reports why, and finds where to go on. */
static void
failed(struct dft_state *st, const char *e)
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
static void
skip(struct dft_state *st, const char *e)
{
	if (st->line.skipped > 0)
		st->line.skipped += (uint64_t)(e - st->r->in->p);
	drop(st, e, e);
}

/* ---- records ---- */

/* false: more of it must come first. */
static bool
record(struct dft_state *st, struct batch *b, const char *e)
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

static void
byte_order_mark(struct dft_state *st)
{
	dft_report_line(st, DFT_RULE_BYTE_ORDER_MARK, 0, "file begins with a byte order mark");
	st->r->in->p += 3; /* the line has not begun */
}

/* Anything but NUL, a line end and a record; e: see find_end(). */
static void
other(struct dft_state *st, const char *e)
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

static bool
line_next(struct dft_state *st, struct batch *b)
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

bool
dft_line_next(struct dft_state *st, struct batch *b)
{
	const bool done = line_next(st, b);

	if (done && st->raw && !st->no_memory)
		dft_raw_gap(st, b);
	return done;
}

void
dft_line_finish(struct dft_state *st)
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
