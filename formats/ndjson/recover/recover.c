/*
 * Recovery: lines that the reader reads without an error are kept byte for byte.  Any other line is searched
 * for records: a whole one gets a separate line, a damaged one is repaired (json/repair.h), loses the members
 * and fields that the reader leaves out, or is dropped.  Missing lines that a trace must have, and missing
 * lines of tracks and classes that are referred to, are inserted.
 *
 * The cost is linear: the first KiB decides whether a record begins in a damaged line.
 */
#include "ndjson/recover/recover.h"

#include <stdlib.h>

/* Each of these errors makes a reader leave out a line, or a part of a line. */
static const char *const structure[] = {
	"ndjson/not-json",         "ndjson/bad-utf8",
	"ndjson/cut-line",         "ndjson/no-trace",
	"ndjson/no-end",           "ndjson/unknown-type",
	"ndjson/missing-member",   "ndjson/wrong-type",
	"ndjson/duplicate-member", "ndjson/out-of-range",
	"ndjson/bad-value",        "ndjson/unknown-reference",
	"ndjson/index-twice",      "ndjson/unexpected-line",
	"ndjson/version",          NULL,
};

/* ---- the output ---- */

/* Converts a position in the copy of the current line, which is before in->p, to one in the window. */
static const char *place(const struct recovery *rc, const char *at)
{
	const struct ndjson_recovery *const s = rc->state;

	return rc->r->in->p - (s->copy.p + s->copy.n - at);
}

/* Whether the bytes before s->from are dropped and belong to the same line. */
static bool is_dropping(const struct recovery *rc)
{
	const struct ndjson_recovery *const s = rc->state;

	return rc->gap.length > 0 && s->from > s->copy.p;
}

static void drop(struct recovery *rc, const char *to, enum ndjson_rule rule, const char *why)
{
	const struct ndjson_reading *const st = rc->r->state;
	struct ndjson_recovery *const s = rc->state;

	if (to == s->from)
		return;
	if (!is_dropping(rc))
		finding_add_line(
		    st->r->findings, &ndjson_rules[rule],
		    (struct finding_place){ .offset = rc->at, .line = st->lines, .record = rc->r->records },
		    "%s", why);
	recover_drop(rc, place(rc, to));
	s->from = to;
}

static void replace(struct recovery *rc, const char *to, const char *text, size_t n, enum ndjson_rule rule,
                    const char *why)
{
	struct ndjson_recovery *const s = rc->state;

	recover_replace(rc, place(rc, to), text, n, &ndjson_rules[rule], "%s", why);
	s->from = to;
}

/* Inserts text before the next undecided byte. */
static void insert(struct recovery *rc, const char *text, size_t n, enum ndjson_rule rule, const char *why)
{
	const struct input *const in = rc->r->in;

	recover_replace(rc, in->p - (input_offset(in, in->p) - rc->at), text, n, &ndjson_rules[rule], "%s",
	                why);
}

/* Inserts the line of type trace, or trace_end. */
static void insert_line(struct recovery *rc, enum ndjson_type type)
{
	struct ndjson_recovery *const s = rc->state;
	struct text *const line = &s->line;

	(void)ndjson_restore(rc->r->state, s, type, true, line);
	text_char(line, '\n');
	rc->r->no_memory |= line->failed;
	if (type == NDJSON_TRACE) {
		insert(rc, line->p, line->n, NDJSON_RULE_NO_TRACE, "the line of the trace is missing");
		s->head = true;
	} else {
		insert(rc, line->p, line->n, NDJSON_RULE_NO_END, "the line of the end is missing");
		s->ended = true;
	}
}

static void insert_lost(struct recovery *rc)
{
	struct ndjson_recovery *const s = rc->state;
	char why[100];

	if (s->inserted.n == 1)
		snprintf(why, sizeof why, "the line of %s %" PRIu64 " is lost", s->inserted.type,
		         s->inserted.index);
	else
		snprintf(why, sizeof why, "the lines of %s %" PRIu64 " and %" PRIu64 " more are lost",
		         s->inserted.type, s->inserted.index, s->inserted.n - 1);
	insert(rc, s->inserted.text.p, s->inserted.text.n, NDJSON_RULE_UNKNOWN_REFERENCE, why);
	text_clear(&s->inserted.text);
	s->inserted.n = 0;
}

/* Inserts lines that the current record needs before it.  Lines inserted for a record that was dropped later
 * stay, but after the line of type trace. */
static void begin_record(struct recovery *rc)
{
	const struct ndjson_reading *const st = rc->r->state;
	struct ndjson_recovery *const s = rc->state;

	if (rc->last != '\n' && rc->last != '\0')
		insert(rc, "\n", 1, NDJSON_RULE_NOT_JSON, "the record gets a line of its own");
	if (!s->head)
		insert_line(rc, NDJSON_TRACE);
	if (s->inserted.n > 0 && st->line.type != NDJSON_TRACE)
		insert_lost(rc);
}

/* ---- records of a damaged line ---- */

static bool is_blank(const char *p, const char *end)
{
	return json_skip_blanks(p, end) == end;
}

/* Decides about the bytes up to `to`, which are no record. */
static void pass_over(struct recovery *rc, const char *to)
{
	struct ndjson_recovery *const s = rc->state;
	const char *p = s->from;

	while (p < to && strchr(", \t\r", *p) != NULL && *p != '\0')
		p++;
	if (to == s->from)
		return;
	if (p == to && !is_dropping(rc))
		replace(rc, to, "", 0, NDJSON_RULE_NOT_JSON, "commas and blanks between records");
	else
		drop(rc, to, NDJSON_RULE_NOT_JSON, "bytes that are not a record");
}

/* Keeps the record [p, end) of the copy, or writes `text` in its place. */
static void put_record(struct recovery *rc, const char *p, const char *end, const struct text *text)
{
	struct ndjson_recovery *const s = rc->state;
	const bool indented = !s->any && is_blank(s->from, p);

	if (!indented)
		pass_over(rc, p);
	begin_record(rc);
	recover_keep(rc, place(rc, p));
	s->from = p;
	if (text != NULL)
		replace(rc, end, text->p, text->n, s->rule, s->why);
	else
		recover_keep(rc, place(rc, end));
	s->from = end;
	s->any = true;
	rc->records++;
}

/* Remembers the first fault of a record. */
static void note_fault(struct ndjson_recovery *s)
{
	s->rule = s->faults.n > 0 ? s->faults.list[0].rule : NDJSON_RULE_NOT_JSON;
	snprintf(s->why, sizeof s->why, "%s", s->faults.n > 0 ? s->faults.why : "no record");
}

/* Returns the start of a record in [p, e), or e. */
static const char *find_start(const char *p, const char *e, bool first)
{
	if (first && *json_skip_blanks(p, e) == '{')
		return json_skip_blanks(p, e);
	while (p < e && (p = memchr(p, '{', (size_t)(e - p))) != NULL && ndjson_begins(p, e) == NDJSON_TYPES)
		p++;
	return p != NULL ? p : e;
}

/* Whether a line of this type begins in [p, e). */
static bool begins_later(const char *p, const char *e, enum ndjson_type type)
{
	for (p = find_start(p, e, false); p < e; p = find_start(p + 1, e, false))
		if (ndjson_begins(p, e) == type)
			return true;
	return false;
}

#define ROUNDS 4 /* rounds of mending: faults hide others */

/* Mends the refused record that ends at `end`, in a line that ends at e.  whole: no part is missing.  Returns
 * NULL if the record is useless. */
static const struct text *mend(struct recovery *rc, bool whole, const char *end, const char *e)
{
	struct ndjson_reading *const st = rc->r->state;
	struct ndjson_recovery *const s = rc->state;
	struct text *to = &s->texts[0];

	for (int i = 0; whole && i < ROUNDS && ndjson_mend(st, to); i++) {
		if (ndjson_accept(rc, to->p, to->p + to->n))
			return to;
		to = to == s->texts ? s->texts + 1 : s->texts;
	}
	const enum ndjson_type type = ndjson_restorable(st, s);
	if (type == NDJSON_TYPES || begins_later(end, e, type) || ndjson_type_is_ahead(rc, type))
		return NULL;
	return ndjson_restore(st, s, type, false, to) && ndjson_accept(rc, to->p, to->p + to->n) ? to : NULL;
}

static bool starts(void *ctx, const char *from, const char *p, const char *e, bool *more)
{
	return p > from && ndjson_begins(p, e) != NDJSON_TYPES;
}

static bool is_key(struct slice key)
{
	return ndjson_find_member(key) != NDJSON_MEMBERS;
}

/* Returns NULL on OOM. */
static struct json_repair *get_repair(struct recovery *rc)
{
	static const struct json_records records = { .starts = starts, .is_key = is_key };
	struct ndjson_recovery *const s = rc->state;

	if (s->repair == NULL)
		s->repair = calloc(1, sizeof *s->repair);
	rc->r->no_memory |= s->repair == NULL;
	if (s->repair != NULL) {
		s->repair->records = &records;
		s->repair->complete = true;
	}
	return s->repair;
}

/* Whether the bytes [p, end) may end inside a number. */
static bool ends_in_number(const char *p, const char *end)
{
	while (end > p && strchr(" \t\r,", end[-1]) != NULL)
		end--;
	return end > p && strchr("0123456789+-.eE", end[-1]) != NULL;
}

/* Repairs the record at the brace p, which is no JSON.  Returns its end; NULL: OOM. */
static const char *recover_damaged(struct recovery *rc, const char *p, const char *e)
{
	struct ndjson_reading *const st = rc->r->state;
	struct ndjson_recovery *const s = rc->state;
	const char *stop = NULL;

	struct json_repair *const x = get_repair(rc);
	if (x == NULL)
		return NULL;
	note_fault(s);
	for (int attempt = 1; attempt == 1 || (attempt == 2 && x->differs); attempt++) {
		x->eager = attempt == 2;
		const char *const end = json_repair(x, p, e);
		stop = stop == NULL ? end : stop;
		rc->r->no_memory |= x->text.failed;
		if (x->text.failed)
			break;
		if (x->ninner > 0) {
			stop = x->inner[0].p;
			continue;
		}
		const char *const to = x->text.p + x->text.n;
		if (!x->closed && ends_in_number(p, end))
			continue;
		const bool whole = x->closed || (x->clean && x->open == 1);
		const struct text *text = NULL;
		if (!whole)
			(void)ndjson_parse_line(st, x->text.p, to); /* for its remaining members */
		if (whole && ndjson_accept(rc, x->text.p, to))
			text = &x->text;
		else
			text = mend(rc, whole, end, e);
		if (text != NULL) {
			put_record(rc, p, end, text);
			return end;
		}
	}
	if (stop != NULL) {
		pass_over(rc, p);
		drop(rc, stop, s->rule, s->why);
	}
	return stop;
}

/* Recovers the record at the brace p.  Returns its end; NULL: OOM. */
static const char *recover_record(struct recovery *rc, const char *p, const char *e)
{
	struct ndjson_recovery *const s = rc->state;
	const struct text *text = NULL;

	const char *const end = ndjson_frame(rc, p, e);
	if (end == NULL)
		return recover_damaged(rc, p, e);
	if (!ndjson_accept(rc, p, end)) {
		note_fault(s);
		/* a second line of type trace, after others, begins another trace */
		s->over |=
		    s->rule == NDJSON_RULE_VERSION || (s->rule == NDJSON_RULE_UNEXPECTED_LINE && !s->ended &&
		                                       s->next_track + s->next_class + s->records > 0);
		text = mend(rc, true, end, e);
		if (text == NULL) {
			pass_over(rc, p);
			drop(rc, end, s->rule, s->why);
			return end;
		}
	}
	put_record(rc, p, end, text);
	return end;
}

/* ---- lines ---- */

/* Decides about the end of the line: [s->from, end of s->copy). */
static void end_line(struct recovery *rc, const char *text_end)
{
	struct ndjson_recovery *const s = rc->state;
	const char *const end = s->copy.p + s->copy.n;

	if (s->any) {
		if (!is_blank(s->from, text_end))
			pass_over(rc, text_end);
		recover_keep(rc, place(rc, end));
	} else if (is_blank(s->from, end) && s->from < end && !is_dropping(rc)) {
		replace(rc, end, "", 0, NDJSON_RULE_NOT_JSON, "an empty line");
	} else {
		drop(rc, end, s->rule, s->why);
	}
}

static void recover_damaged_line(struct recovery *rc, const char *from, size_t n)
{
	struct ndjson_recovery *const s = rc->state;
	const struct input *const in = rc->r->in;

	note_fault(s);
	recover_keep(rc, from);
	rc->records--;
	text_clear(&s->copy);
	text_add(&s->copy, from, n);
	text_char(&s->copy, '\0'); /* so that each search ends in the copy */
	if (note_failure(&rc->r->no_memory, s->copy.failed))
		return;
	s->copy.n--;
	const char *p = s->copy.p, *const e = ndjson_text_end(p, p + n);
	s->from = p;
	s->any = false;
	if (input_offset(in, in->p) == n && utf8_has_mark(p, (size_t)(e - p)))
		replace(rc, p += 3, "", 0, NDJSON_RULE_NOT_JSON, "a byte order mark");
	for (bool first = true; p != NULL && !rc->r->no_memory; first = false) {
		p = find_start(p, e, first);
		if (p == e)
			break;
		p = recover_record(rc, p, e);
	}
	if (!rc->r->no_memory)
		end_line(rc, e);
}

static void recover_line(struct recovery *rc, const struct record *rec)
{
	struct ndjson_reading *const st = rc->r->state;
	struct ndjson_recovery *const s = rc->state;

	st->faults = &s->faults;
	/* Lines longer than --max-record were kept unread, perhaps also the first line. */
	s->head |= rc->at < rec->offset || rc->last != '\0';
	s->read_to = rec->offset + (uint64_t)(rec->end - rec->p);
	if (!ndjson_accept_plain(rc, rec->p, ndjson_text_end(rec->p, rec->end)))
		recover_damaged_line(rc, rec->p, (size_t)(rec->end - rec->p));
}

/* Adds missing lines at the end of the input. */
static bool keep(struct recovery *rc, enum record_status status)
{
	struct ndjson_reading *const st = rc->r->state;
	struct ndjson_recovery *const s = rc->state;

	if (status != RECORD_END)
		return true;
	recover_keep(rc, rc->r->in->p);
	if (rc->records == 0 && rc->dropped + rc->gap.length > 0)
		return true;
	if (rc->last != '\n' && rc->last != '\0')
		insert(rc, "\n", 1, NDJSON_RULE_CUT_LINE, "the last line feed is missing");
	/* A longer line than --max-record may be the first and the last one. */
	s->head |= rc->last != '\0';
	s->ended |= rc->last != '\0' && s->read_to < input_offset(rc->r->in, rc->r->in->p);
	if (!s->head)
		insert_line(rc, NDJSON_TRACE);
	if (!s->ended)
		insert_line(rc, NDJSON_TRACE_END);
	st->has_end = true;
	return true;
}

static void close_recovery(struct recovery *rc)
{
	struct ndjson_recovery *const s = rc->state;

	table64_free(&s->processes);
	table64_free(&s->ahead.tracks);
	table64_free(&s->ahead.classes);
	free(s->ahead.list);
	free(s->faults.list);
	text_free(&s->inserted.text);
	text_free(&s->copy);
	text_free(&s->texts[0]);
	text_free(&s->texts[1]);
	text_free(&s->line);
	if (s->repair != NULL)
		text_free(&s->repair->text);
	free(s->repair);
}

const struct recover_ops ndjson_recover_ops = {
	.state_size = sizeof(struct ndjson_recovery),
	.structure = structure,
	.record = recover_line,
	.keep = keep,
	.close = close_recovery,
};
