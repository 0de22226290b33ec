/*
 * The file: an array of events, or an object with such an array among its members.  A record is one bracket,
 * member or event with the blanks and commas before it.
 *
 * What no strict parser reads is repaired (json/repair.h) or passed over up to where an event starts, so a
 * fault costs one event at most.  A record is applied, and its findings are reported, only when all bytes
 * that decide about it are in the window, so the result does not depend on where windows end.
 */
#include "chrome/chrome.h"

#include <stdlib.h>

#define PIECE (1u << 20)   /* of bytes that are passed over at once */
#define CAREFUL (4u << 10) /* bytes that are parsed before looking for the start of the next event */

/* ---- positions ---- */

const char *chrome_origin(const struct chrome_reading *st, const char *at)
{
	const struct json_repair *const x = st->repair;

	if (x == NULL || !st->repaired || at < x->text.p || at > x->text.p + x->text.n)
		return at;
	return json_repair_origin(x, at);
}

uint64_t chrome_offset(const struct chrome_reading *st, const char *at)
{
	const struct input *const in = st->r->in;

	at = chrome_origin(st, at);
	return st->wide != NULL ? input_offset(in, in->p) + chrome_wide_bytes(st, at) : input_offset(in, at);
}

/* ---- items ---- */

/* Counts the lines that end in [p, end).  *last: the end of the last one. */
static inline uint64_t count_lines(const char *p, const char *end, const char **last)
{
	uint64_t n = 0;

#if defined(__SSE2__)
	const __m128i line = _mm_set1_epi8('\n');
	for (; end - p >= 16; p += 16) {
		const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
		const unsigned found = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, line));
		if (found == 0)
			continue;
		for (unsigned bits = found; bits != 0; bits &= bits - 1)
			n++;
		*last = p + 31 - __builtin_clz(found);
	}
#endif
	for (; p < end; p++)
		if (*p == '\n') {
			n++;
			*last = p;
		}
	return n;
}

static enum record_status end_item(struct chrome_reading *st, struct record *rec, enum chrome_item item,
                                   const char *at, const char *end)
{
	const char *last = NULL;
	st->next_line.number += count_lines(st->p, end, &last);
	if (last != NULL)
		st->next_line.start = chrome_offset(st, last + 1);
	st->item = item;
	st->item_at = at;
	st->item_end = end;
	st->lost = item == CHROME_DROPPED;
	st->first &= item == CHROME_DROPPED;
	rec->end = end;
	return RECORD_DONE;
}

/* The record is no event; raw reading shows it as structure. */
static enum record_status end_gap(struct chrome_reading *st, struct record *rec, enum chrome_item item,
                                  const char *at, const char *end)
{
	rec->cls = st->gaps;
	rec->ts = 0;
	rec->role = RECORD_IS_GAP;
	return end_item(st, rec, item, at, end);
}

/* Quotes the start of [p, e). */
static const char *quote_start(struct quoted *q, const char *p, const char *e)
{
	return quoted(q, slice_of(p, (size_t)(e - p) < 40 ? (size_t)(e - p) : 40));
}

/* Whether the window may grow for the record, which is not an event. */
static bool may_grow(const struct chrome_reading *st)
{
	return !st->last && (size_t)(st->end - st->p) <= CHROME_MAX_MEMBER;
}

/* ---- damage ---- */

/* Passes over the bytes from p on, up to where reading can go on. */
static enum record_status skip_damage(struct chrome_reading *st, struct record *rec, const char *p,
                                      enum chrome_rule rule)
{
	const char *const at = p, *const e = st->end;
	bool more = false;
	struct quoted q;

	for (p++; p < e && !more && !chrome_resumes(st, at + 1, p, &more); p++)
		;
	if (!st->last && (p == e || more)) {
		if ((size_t)(e - at) < PIECE)
			return RECORD_MORE;
		p = e - CHROME_START_LOOK - 256;
	}
	if (p == e && st->where == CHROME_AT_END)
		rule = CHROME_RULE_TRAILING_DATA;
	if (!st->lost)
		chrome_report(st, rule, at, "not part of an event: %s", quote_start(&q, at, at + 1));
	return end_gap(st, rec, CHROME_DROPPED, at, p);
}

/* Passes over the next part of a member that is larger than the window, or of an event that is too long; p: a
 * value or key in it. */
static enum record_status read_part(struct chrome_reading *st, struct record *rec, const char *at,
                                    const char *p, enum chrome_item item)
{
	st->json.complete = st->last;
	const char *const end = json_nested_part(&st->json, &st->nest, p, st->end);

	if (end != NULL && end > p)
		return end_gap(st, rec, item, at, end);
	if (end != NULL && may_grow(st))
		return RECORD_MORE;
	if (!st->lost)
		chrome_report(st, CHROME_RULE_FOREIGN_BYTES, st->json.error.at, "%s", st->json.error.why);
	return skip_damage(st, rec, p, CHROME_RULE_FOREIGN_BYTES);
}

/* ---- findings of repairs ---- */

static const struct {
	enum chrome_rule rule;
	const char *text;
} fault_rows[JSON_FAULT_KINDS] = {
	[JSON_FAULT_QUOTE] = { CHROME_RULE_UNESCAPED_QUOTE, "a quote in a text, or none at its end" },
	[JSON_FAULT_ESCAPE] = { CHROME_RULE_BAD_ESCAPE, "a backslash that begins no escape" },
	[JSON_FAULT_CONTROL] = { CHROME_RULE_CONTROL_BYTE, "a control byte in a text" },
	[JSON_FAULT_UTF8] = { CHROME_RULE_INVALID_UTF8, "text is not UTF-8" },
	[JSON_FAULT_SURROGATE] = { CHROME_RULE_LONE_SURROGATE, "an escape of half a character" },
	[JSON_FAULT_NOT_FINITE] = { CHROME_RULE_NOT_FINITE, "JSON has no such number; read as text" },
	[JSON_FAULT_WORD] = { CHROME_RULE_BARE_WORD, "a value without quotes" },
	[JSON_FAULT_NUMBER] = { CHROME_RULE_NUMBER_FORM, "JSON has no numbers of this form" },
	[JSON_FAULT_MISSING_COMMA] = { CHROME_RULE_MISSING_COMMA, "a comma is missing before this" },
	[JSON_FAULT_EXTRA_COMMA] = { CHROME_RULE_EXTRA_COMMA, "a comma too many" },
	[JSON_FAULT_TRAILING_COMMA] = { CHROME_RULE_TRAILING_COMMA, "trailing comma; ignored" },
	[JSON_FAULT_KEY] = { CHROME_RULE_BAD_KEY, "a key that is not in double quotes" },
	[JSON_FAULT_VALUE] = { CHROME_RULE_MISSING_VALUE, "a value is missing; read as null" },
	[JSON_FAULT_BRACKET] = { CHROME_RULE_MISSING_BRACKET, "a closing bracket is missing before this" },
	[JSON_FAULT_FOREIGN] = { CHROME_RULE_FOREIGN_BYTES, "not part of the event" },
	[JSON_FAULT_INNER] = { CHROME_RULE_INTERLEAVED, "an event inside of another one" },
};

enum chrome_rule chrome_fault_rule(const struct chrome_reading *st)
{
	const struct json_repair *const x = st->repair;

	return x->nfaults > 0 ? fault_rows[x->faults[0].kind].rule : CHROME_RULE_MISSING_BRACKET;
}

static void report_faults(struct chrome_reading *st, bool of_event)
{
	const struct json_repair *const x = st->repair;

	for (uint32_t i = 0; i < x->nfaults; i++)
		chrome_report(st, fault_rows[x->faults[i].kind].rule, x->faults[i].at, "%s",
		              fault_rows[x->faults[i].kind].text);
	if (of_event && !x->closed)
		chrome_report(st, CHROME_RULE_MISSING_BRACKET, x->text.p, "the event does not end");
}

/* ---- events ---- */

/* Commas before an element. */
struct commas {
	const char *first, *second;
	bool line; /* a line ends before the element */
};

static void report_commas(struct chrome_reading *st, const struct commas *c, const char *p)
{
	if (st->lost || st->nskips > 0)
		return;
	if (c->second != NULL || (c->first != NULL && st->first))
		chrome_report(st, CHROME_RULE_EXTRA_COMMA, c->second != NULL ? c->second : c->first,
		              "a comma too many");
	if (c->first != NULL || st->first || st->no_array || st->has_no_commas)
		return;
	if (c->line && st->r->records == 1) {
		st->has_no_commas = true;
		chrome_report(st, CHROME_RULE_NO_COMMAS, p, "no comma between the first two events");
	} else {
		chrome_report(st, CHROME_RULE_MISSING_COMMA, p, "a comma is missing before this");
	}
}

/* Applies the event in st->rec, whose bytes are [p, end). */
static enum record_status end_event(struct chrome_reading *st, struct record *rec, const char *p,
                                    const char *end)
{
	st->borrowed = st->repaired || st->wide != NULL;
	if (st->rec.has_duplicates)
		chrome_report_duplicates(st);
	if (st->json.suspect != NULL)
		chrome_report(st, CHROME_RULE_SUSPECT_ESCAPE, st->json.suspect,
		              "an escape after a drive letter");
	if (st->json.big != NULL)
		chrome_report(st, CHROME_RULE_BIG_INTEGER, st->json.big,
		              "an integer that 64 bits do not hold");
	if (*json_skip_blanks(st->rec.p + 1, st->rec.end) == '}') {
		chrome_report(st, CHROME_RULE_EMPTY_EVENT, p, "an element without members");
		return end_gap(st, rec, CHROME_EVENT, p, end);
	}
	if (!chrome_read_event(st, rec))
		return end_gap(st, rec, CHROME_EVENT, p, end);
	rec->p = p;
	rec->offset = chrome_offset(st, p);
	return end_item(st, rec, CHROME_EVENT, p, end);
}

/* Whether the repaired event, whose bytes end at `end`, is whole enough to be read. */
static bool is_usable(struct chrome_reading *st, const char *end, const char *limit)
{
	const struct json_repair *const x = st->repair;
	const struct json_token *const ts = &st->rec.of[CHROME_TS];

	st->json.complete = true;
	st->json.suspect = st->json.big = NULL;
	return !x->text.failed && chrome_parse_event(st, x->text.p, x->text.p + x->text.n) != NULL &&
	       (x->closed || (x->clean && end < limit)) &&
	       (chrome_phase_known(st->rec.ph) || chrome_is_sample(st)) &&
	       (st->rec.ph == 'M' || (ts->kind >= JSON_UINT && ts->kind <= JSON_ESCAPED));
}

static const char *repair(struct chrome_reading *st, const char *p, const char *limit, bool member,
                          bool eager)
{
	struct json_repair *const x = st->repair;

	x->member = member;
	x->eager = eager;
	x->complete = st->last && limit == st->end;
	const char *const end = json_repair(x, p, limit);
	st->r->no_memory |= x->text.failed;
	if (x->text.n > UINT32_MAX) /* the limit of a slice: escapes make a text longer */
		x->closed = x->clean = false;
	x->more &= limit == st->end && !st->last;
	return end;
}

/* Prepares for a repair.  Returns false on OOM. */
static bool begin_repair(struct chrome_reading *st)
{
	static const struct json_records records = { .starts = chrome_starts, .is_key = chrome_is_key };

	if (st->repair == NULL) {
		st->repair = calloc(1, sizeof *st->repair);
		st->r->no_memory |= st->repair == NULL;
		st->records = records;
		st->records.ctx = st;
	}
	if (st->repair != NULL)
		st->repair->records = &st->records;
	return st->repair != NULL;
}

/* The bytes after and between the records that stand in the event are of no use. */
static const char *set_skips(struct chrome_reading *st, const char *end)
{
	const struct json_repair *const x = st->repair;

	st->nskips = x->ninner;
	for (uint32_t i = 0; i < x->ninner; i++)
		st->skips[i] = (struct chrome_range){
			chrome_offset(st, x->inner[i].end),
			chrome_offset(st, i + 1 < x->ninner ? x->inner[i + 1].p : end),
		};
	return x->ninner > 0 ? x->inner[0].p : end;
}

/* wasted: bytes that were parsed in vain. */
static enum record_status read_damaged(struct chrome_reading *st, struct record *rec, const char *p,
                                       const char *limit, const struct commas *commas, uint64_t wasted)
{
	if (!begin_repair(st))
		return RECORD_BAD;
	struct json_repair *const x = st->repair;
	const char *end = repair(st, p, limit, false, false);
	bool usable = !x->more && is_usable(st, end, limit);
	if (!usable && !x->more && x->differs) {
		end = repair(st, p, limit, false, true);
		usable = !x->more && is_usable(st, end, limit);
		if (!usable && !x->more) {
			end = repair(st, p, limit, false, false);
			(void)is_usable(st, end, limit);
		}
	}
	if (x->more)
		return RECORD_MORE;
	if (x->text.failed)
		return RECORD_BAD;
	st->wasted += wasted + (uint64_t)(end - p);
	report_commas(st, commas, p);
	const char *const item_end = set_skips(st, end);
	if (usable || x->closed) {
		st->repaired = true;
		report_faults(st, true);
		return end_event(st, rec, p, item_end);
	}
	if (x->ninner > 0)
		chrome_report(st, CHROME_RULE_INTERLEAVED, x->inner[0].p, "an event inside of another one");
	if ((end == limit && limit < st->end) || x->text.n > UINT32_MAX) {
		chrome_report_long(st, p);
		st->nskips = 0;
		st->lost = true;
		return read_part(st, rec, p, p, CHROME_DROPPED);
	}
	if (end == st->end)
		chrome_report(st, CHROME_RULE_CUT_EVENT, p, "the input ends %zu bytes into the event",
		              (size_t)(end - p));
	else
		chrome_report(st, CHROME_RULE_CUT_EVENT, p, "%zu bytes into the event something else begins",
		              (size_t)(end - p));
	return end_gap(st, rec, CHROME_DROPPED, p, item_end);
}

/* Returns where an event starts in (p, e), or NULL. */
static const char *find_start(struct chrome_reading *st, const char *p, const char *e)
{
	bool more = false;

	for (p++; p < e && (p = memchr(p, '{', (size_t)(e - p))) != NULL; p++)
		if (chrome_starts(st, st->p, p, st->end, &more))
			return p;
	return NULL;
}

/* Reads an object that has no ph, or no ts, or members that are not known.  Events in it were drawn into it
 * by damage. */
static enum record_status read_no_event(struct chrome_reading *st, struct record *rec, const char *p,
                                        const char *end)
{
	const char *const start = find_start(st, p, end);

	if (start == NULL)
		return end_event(st, rec, p, end);
	chrome_report(st, CHROME_RULE_CUT_EVENT, p, "%zu bytes into the event something else begins",
	              (size_t)(start - p));
	return end_gap(st, rec, CHROME_DROPPED, p, start);
}

/* Whether an event that the window grew for, at p, is valid up to `limit` and goes on.  Reads on where the
 * last call for it stopped: a pipe's window grows in small steps, and after a lost bracket all later events
 * may pass for values of this one. */
static bool goes_on(struct chrome_reading *st, const char *p, const char *limit)
{
	struct chrome_begun *const b = &st->begun;
	struct json json = { .depth = JSON_MAX_DEPTH };

	if (b->bytes == 0 || b->at != chrome_offset(st, p)) {
		if (st->last || limit < st->end || limit - p <= (ptrdiff_t)PIECE)
			return false;
		*b = (struct chrome_begun){ .at = chrome_offset(st, p) };
	}
	const char *const to = json_nested_part(&json, &b->nest, p + b->bytes, limit);
	b->bytes = to != NULL ? (size_t)(to - p) : 0;
	return b->nest.depth > 0;
}

/* Reads the event at p. */
static enum record_status read_event(struct chrome_reading *st, struct record *rec, const char *p,
                                     const struct commas *commas)
{
	const char *const e = st->end;
	const char *const limit = (uint64_t)(e - p) > st->r->max_record ? p + st->r->max_record : e;
	/* A bracket that is missing may let many events pass for arguments of one.  Where that happens often,
	 * reading them all each time would cost much. */
	const bool careful = st->wasted > (PIECE + chrome_offset(st, p)) / 4;
	const char *end = NULL, *tried = careful && limit - p > (ptrdiff_t)CAREFUL ? p + CAREFUL : limit;

	st->json.complete = st->last && tried == e;
	st->json.suspect = st->json.big = NULL;
	st->json.error.cut = !careful && goes_on(st, p, limit);
	if (!st->json.error.cut)
		end = chrome_parse_event(st, p, tried);
	if (end == NULL && tried < limit && st->json.error.cut && find_start(st, p, tried) == NULL) {
		tried = limit;
		st->json.complete = st->last && tried == e;
		end = chrome_parse_event(st, p, tried);
	}
	if (end != NULL) {
		report_commas(st, commas, p);
		const bool whole =
		    st->in_samples || (st->rec.of[CHROME_PH].kind != JSON_ABSENT && !st->rec.has_others &&
		                       (st->rec.of[CHROME_TS].kind != JSON_ABSENT || st->rec.ph == 'M'));
		return whole ? end_event(st, rec, p, end) : read_no_event(st, rec, p, end);
	}
	if (st->json.error.cut && tried == e && !st->last)
		return RECORD_MORE;
	const uint64_t wasted = (uint64_t)((st->json.error.cut ? tried : st->json.error.at) - p);
	return read_damaged(st, rec, p, limit, commas, wasted);
}

/* Reads an element that is no object, or bytes that are none. */
static enum record_status read_other(struct chrome_reading *st, struct record *rec, const char *p,
                                     const struct commas *commas)
{
	enum json_kind kind;
	struct quoted q;
	bool more = false;

	st->json.complete = st->last;
	const char *const end = json_value(&st->json, p, st->end, &kind);
	const char *const next = end != NULL ? json_skip_blanks(end, st->end) : NULL;
	if (next == st->end || (next == NULL && st->json.error.cut && !st->last && *p != '['))
		more = !st->last && may_grow(st);
	if (more)
		return RECORD_MORE;
	if (next == NULL || (next < st->end && *next != ',' && *next != ']') ||
	    (*p == '[' && chrome_begins_array(st, p, &more)))
		return skip_damage(st, rec, p, CHROME_RULE_FOREIGN_BYTES);
	report_commas(st, commas, p);
	if (st->in_samples) {
		chrome_report(st, CHROME_RULE_MISSING_FIELD, p, "a sample that is no object; left out");
		return end_gap(st, rec, CHROME_EVENT, p, end);
	}
	chrome_report(st, CHROME_RULE_NOT_AN_EVENT, p, "expected an object, found %s",
	              quote_start(&q, p, end));
	return end_gap(st, rec, CHROME_DROPPED, p, end);
}

/* ---- the array ---- */

static const char *read_commas(struct chrome_reading *st, struct commas *c)
{
	const char *p = json_skip_blanks(st->p, st->end);

	*c = (struct commas){ NULL, NULL, memchr(st->p, '\n', (size_t)(p - st->p)) != NULL };
	while (p < st->end && *p == ',') {
		if (c->first == NULL)
			c->first = p;
		else if (c->second == NULL)
			c->second = p;
		p = json_skip_blanks(p + 1, st->end);
	}
	return p;
}

/* Ends the array at its bracket, or where something stands that must follow it. */
static enum record_status close_array(struct chrome_reading *st, struct record *rec, const struct commas *c,
                                      const char *p)
{
	st->in_samples = false;
	if (*p == ']') {
		if (c->first != NULL && !st->lost)
			chrome_report(st, st->first ? CHROME_RULE_EXTRA_COMMA : CHROME_RULE_TRAILING_COMMA,
			              c->first, "trailing comma; ignored");
		st->where = st->in_object ? CHROME_IN_OBJECT : CHROME_AT_END;
		return end_gap(st, rec, CHROME_CLOSES, p, p + 1);
	}
	chrome_report(st, CHROME_RULE_UNCLOSED, p, "the array of events does not end");
	st->where = CHROME_IN_OBJECT;
	return end_gap(st, rec, CHROME_BLANKS, st->p, st->p);
}

/* Passes over the rest of an event in which others stand. */
static bool skip_rest(struct chrome_reading *st, struct record *rec, enum record_status *status)
{
	const uint64_t at = chrome_offset(st, st->p);
	struct chrome_range *const s = &st->skips[0];

	while (st->nskips > 0 && s->from < at)
		memmove(s, s + 1, --st->nskips * sizeof *s);
	if (st->nskips == 0 || s->from != at)
		return false;
	const char *end =
	    st->wide == NULL && s->to - at <= (uint64_t)(st->end - st->p) ? st->p + (s->to - at) : st->p;
	while (end < st->end && chrome_offset(st, end) < s->to)
		end++;
	*status = RECORD_MORE;
	if (chrome_offset(st, end) >= s->to || st->last) {
		*status = end_gap(st, rec, CHROME_DROPPED, st->p, end);
		memmove(s, s + 1, --st->nskips * sizeof *s);
	}
	return true;
}

/* Reads an element, or the end of the array. */
static enum record_status array_step(struct chrome_reading *st, struct record *rec)
{
	enum record_status status;
	struct commas commas;
	struct slice key;
	bool more = false;

	if (st->nest.depth > 0)
		return read_part(st, rec, st->p, st->p, CHROME_DROPPED);
	if (st->nskips > 0 && skip_rest(st, rec, &status))
		return status;
	const char *const p = read_commas(st, &commas), *const e = st->end;
	if (p == e && !st->last && (size_t)(e - st->p) < PIECE)
		return RECORD_MORE;
	if (p == e && !st->last)
		return end_gap(st, rec, CHROME_DROPPED, st->p, e);
	if (p == e) {
		if (!st->no_array)
			chrome_report(st, CHROME_RULE_UNCLOSED, e, "the input ends after %" PRIu64 " events",
			              st->r->records);
		st->where = CHROME_AT_END;
		return end_gap(st, rec, CHROME_BLANKS, e, e);
	}
	switch (*p) {
	case '{':
		return read_event(st, rec, p, &commas);
	case ']':
		if (!st->no_array)
			return close_array(st, rec, &commas, p);
		break;
	case '}':
		if (st->in_object)
			return close_array(st, rec, &commas, p);
		break;
	case '"':
		if (st->in_object && chrome_key_at(p, e, &key, &more))
			return close_array(st, rec, &commas, p);
		if (more && !st->last)
			return RECORD_MORE;
		return read_other(st, rec, p, &commas);
	default:
		return read_other(st, rec, p, &commas);
	}
	return skip_damage(st, rec, p, CHROME_RULE_FOREIGN_BYTES);
}

/* ---- the object around it ---- */

/* Reads a damaged member. */
static enum record_status repair_member(struct chrome_reading *st, struct record *rec, const char *p)
{
	const char *const e = st->end;

	if (!begin_repair(st))
		return RECORD_BAD;
	const struct json_repair *const x = st->repair;
	const char *const end =
	    repair(st, p, e - p > (ptrdiff_t)CHROME_MAX_MEMBER ? p + CHROME_MAX_MEMBER : e, true, false);
	if (x->text.failed)
		return RECORD_BAD;
	if (x->more && may_grow(st))
		return RECORD_MORE;
	if (!x->closed || end == p) {
		if (!st->lost)
			chrome_report(st, CHROME_RULE_FOREIGN_BYTES, p,
			              "a member of the file that cannot be read");
		return end_gap(st, rec, CHROME_DROPPED, p, end > p ? end : p + 1);
	}
	st->repaired = true;
	report_faults(st, false);
	return end_gap(st, rec, CHROME_MEMBER, p, end);
}

/* Lists of objects like events that are none of the trace. */
static bool is_other_list(struct slice key)
{
	return slice_is(key, "systemTraceEvents") || slice_is(key, "samples");
}

static enum record_status read_member(struct chrome_reading *st, struct record *rec, const char *p)
{
	const char *const e = st->end, *q = NULL;
	struct slice key;
	enum json_kind kind;

	st->json.complete = st->last;
	const char *const v = json_key(&st->json, p, e, &key, &kind);
	if ((v == NULL ? st->json.error.cut : v == e) && may_grow(st))
		return RECORD_MORE;
	bool more = false;
	const bool named = v != NULL && slice_is(key, "traceEvents"), list = v != NULL && v < e && *v == '[';
	const bool lists =
	    list && (named || (!st->has_events && !is_other_list(key) && chrome_begins_array(st, v, &more)));
	const bool samples = list && slice_is(key, "samples") && chrome_begins_samples(st, v, &more);
	if (more && !lists && !samples && may_grow(st))
		return RECORD_MORE;
	if (samples) {
		chrome_begin_samples(st);
		st->where = CHROME_IN_EVENTS;
		(void)end_gap(st, rec, CHROME_SAMPLES, p, v + 1);
		st->first = true;
		return RECORD_DONE;
	}
	if (lists) {
		if (!named)
			chrome_report(st, CHROME_RULE_BAD_KEY, p,
			              "a list of events that is not called traceEvents");
		else if (st->has_events)
			chrome_report(st, CHROME_RULE_DUPLICATE_KEY, p, "a second array of events");
		st->misnamed = !named;
		st->where = CHROME_IN_EVENTS;
		st->has_events = true;
		(void)end_gap(st, rec, CHROME_LISTS, p, v + 1);
		st->first = true;
		return RECORD_DONE;
	}
	if (v != NULL)
		q = json_value(&st->json, v, e, &kind);
	if (q == NULL && v != NULL && v < e && st->json.error.cut && !st->last) {
		const bool nested = *v == '[' || *v == '{';
		const bool frames = slice_is(key, "stackFrames");
		if ((uint64_t)(e - v) < (nested && !frames ? CHROME_MAX_FACT : st->r->max_record))
			return RECORD_MORE;
		if (nested) {
			chrome_lose_fact(st, key, v);
			return read_part(st, rec, p, v, CHROME_MEMBER);
		}
	}
	if (q == NULL)
		return repair_member(st, rec, p);
	chrome_read_fact(st, key, &(struct json_token){ v, q, kind });
	return end_gap(st, rec, CHROME_MEMBER, p, q);
}

/* Reads a member of the object around the events, or its end. */
static enum record_status object_step(struct chrome_reading *st, struct record *rec)
{
	struct commas commas;

	if (st->nest.depth > 0)
		return read_part(st, rec, st->p, st->p, CHROME_PART);
	const char *const p = read_commas(st, &commas), *const e = st->end;
	bool more = false;
	if (p == e && !st->last)
		return (size_t)(e - st->p) < PIECE ? RECORD_MORE : end_gap(st, rec, CHROME_DROPPED, st->p, e);
	if (p == e || *p == '}') {
		if (!st->has_events)
			chrome_report(st, CHROME_RULE_NO_EVENTS, p, "the object has no traceEvents");
		if (p == e)
			chrome_report(st, CHROME_RULE_UNCLOSED, e, "the input ends after %" PRIu64 " events",
			              st->r->records);
		else if (commas.first != NULL && !st->lost)
			chrome_report(st, CHROME_RULE_TRAILING_COMMA, commas.first,
			              "trailing comma; ignored");
		st->where = CHROME_AT_END;
		return p == e ? end_gap(st, rec, CHROME_BLANKS, e, e)
		              : end_gap(st, rec, CHROME_CLOSES, p, p + 1);
	}
	if (*p == '{' && chrome_starts(st, st->p, p, e, &more)) {
		if (!st->lost)
			chrome_report(st, CHROME_RULE_FOREIGN_BYTES, p, "an event outside of traceEvents");
		st->where = CHROME_IN_EVENTS;
		(void)end_gap(st, rec, CHROME_BLANKS, st->p, st->p);
		st->first = st->has_events = true;
		return RECORD_DONE;
	}
	if (more && !st->last)
		return RECORD_MORE;
	if (*p != '"')
		return skip_damage(st, rec, p, CHROME_RULE_FOREIGN_BYTES);
	const uint64_t records = st->r->records;
	const bool lost = st->lost, first = st->first;
	const enum record_status status = read_member(st, rec, p);
	if (status != RECORD_DONE || lost || records != st->r->records)
		return status;
	if (commas.second != NULL || (commas.first != NULL && first))
		chrome_report(st, CHROME_RULE_EXTRA_COMMA,
		              commas.second != NULL ? commas.second : commas.first, "a comma too many");
	else if (commas.first == NULL && !first)
		chrome_report(st, CHROME_RULE_MISSING_COMMA, p, "a comma is missing before this");
	return status;
}

/* ---- start and end ---- */

/* Begins a document at the bracket p. */
static enum record_status begin_document(struct chrome_reading *st, struct record *rec, const char *p)
{
	st->documents++;
	st->in_object = *p == '{';
	st->no_array = false;
	st->where = st->in_object ? CHROME_IN_OBJECT : CHROME_IN_EVENTS;
	st->has_events = !st->in_object;
	(void)end_gap(st, rec, CHROME_OPENS, p, p + 1);
	st->first = true;
	return RECORD_DONE;
}

/* Begins to read events that stand in no array. */
static enum record_status begin_lines(struct chrome_reading *st, struct record *rec)
{
	st->documents++;
	st->in_object = false;
	st->no_array = st->has_events = true;
	st->where = CHROME_IN_EVENTS;
	(void)end_gap(st, rec, CHROME_BLANKS, st->p, st->p);
	st->first = true;
	return RECORD_DONE;
}

static enum record_status start_step(struct chrome_reading *st, struct record *rec)
{
	const char *const e = st->end, *p = json_skip_blanks(st->p, e);
	bool more = false;

	if (e - st->p < 3 && !st->last)
		return RECORD_MORE;
	if (e - st->p >= 3 && memcmp(st->p, "\xef\xbb\xbf", 3) == 0 && chrome_offset(st, st->p) == 0) {
		chrome_report(st, CHROME_RULE_BYTE_ORDER_MARK, st->p, "the bytes ef bb bf");
		(void)end_gap(st, rec, CHROME_DROPPED, st->p, st->p + 3);
		st->lost = false;
		return RECORD_DONE;
	}
	if (e - st->p >= 2 && (memcmp(st->p, "\xff\xfe", 2) == 0 || memcmp(st->p, "\xfe\xff", 2) == 0) &&
	    st->wide == NULL && chrome_offset(st, st->p) == 0) {
		chrome_report(st, CHROME_RULE_UTF_16, st->p, "a byte order mark of UTF-16");
		(void)end_gap(st, rec, CHROME_DROPPED, st->p, st->p + 2);
		st->lost = false;
		return chrome_wide_begin(st, *st->p == '\xfe') ? RECORD_DONE : RECORD_BAD;
	}
	if (p == e) {
		if (!st->last)
			return (size_t)(e - st->p) < PIECE ? RECORD_MORE
			                                   : end_gap(st, rec, CHROME_DROPPED, st->p, e);
		chrome_report(st, CHROME_RULE_NO_EVENTS, e, "expected an object or an array");
		st->where = CHROME_AT_END;
		return end_gap(st, rec, CHROME_BLANKS, e, e);
	}
	const char *const limit = e - p > (ptrdiff_t)CHROME_START_LOOK ? p + CHROME_START_LOOK : e;
	const bool event = *p == '{' && chrome_event_starts(&st->phases, p, e, &more);
	if ((more || limit == e) && !st->last)
		return RECORD_MORE;
	if (event && !chrome_has_key(p, limit, SLICE_LIT("\"traceEvents\""))) {
		if (!st->lost)
			chrome_report(st, CHROME_RULE_NO_ARRAY, p, "the first event stands in no array");
		return begin_lines(st, rec);
	}
	const char *const next = json_skip_blanks(p + 1, e);
	if (*p == '{' || (*p == '[' && (next == e || strchr("{],/\"n", *next) != NULL)))
		return begin_document(st, rec, p);
	return skip_damage(st, rec, p, CHROME_RULE_FOREIGN_BYTES);
}

static enum record_status end_step(struct chrome_reading *st, struct record *rec)
{
	const char *const e = st->end, *p = json_skip_blanks(st->p, e);
	bool more = false;

	if (p == e && !st->last)
		return (size_t)(e - st->p) < PIECE ? RECORD_MORE : end_gap(st, rec, CHROME_BLANKS, p, e);
	if (p == e)
		return st->p == p ? RECORD_END : end_gap(st, rec, CHROME_BLANKS, p, e);
	const bool comma = *p == ',';
	const char *const next = comma ? json_skip_blanks(p + 1, e) : p;
	const bool event = next < e && *next == '{' && chrome_event_starts(&st->phases, next, e, &more);
	const bool document = !event && !comma &&
	                      ((*p == '[' && chrome_begins_array(st, p, &more)) ||
	                       (*p == '{' && chrome_begins_object(st, p, &more)));
	if (more && !event && !document && may_grow(st))
		return RECORD_MORE;
	if (!event && !document)
		return skip_damage(st, rec, p, CHROME_RULE_FOREIGN_BYTES);
	if (!st->lost)
		chrome_report(st, CHROME_RULE_CONCATENATED, p, "events follow the end of the document");
	return document ? begin_document(st, rec, p) : begin_lines(st, rec);
}

static enum record_status next_step(struct chrome_reading *st, struct record *rec)
{
	st->phases = (struct chrome_phases){ .samples = st->in_samples };
	st->repaired = st->borrowed = false;
	switch (st->where) {
	case CHROME_AT_START:
		return start_step(st, rec);
	case CHROME_IN_OBJECT:
		return object_step(st, rec);
	case CHROME_IN_EVENTS:
		return array_step(st, rec);
	default:
		return end_step(st, rec);
	}
}

static enum record_status next_wide(struct chrome_reading *st, struct record *rec)
{
	enum record_status status = RECORD_MORE;

	for (bool more = false; status == RECORD_MORE; more = true) {
		if (!chrome_wide_window(st, more))
			return st->r->no_memory ? RECORD_BAD : RECORD_MORE;
		status = next_step(st, rec);
	}
	if (status == RECORD_DONE)
		chrome_wide_end(st, rec);
	return status;
}

enum record_status chrome_next_record(struct reader *r, struct record *rec)
{
	struct chrome_reading *const st = r->state;

	enum record_status status;

	st->line = st->next_line;
	if (st->wide != NULL) {
		status = next_wide(st, rec);
	} else {
		st->p = r->in->p;
		st->end = r->in->end;
		st->last = r->in->last;
		status = next_step(st, rec);
	}
	r->no_memory |= st->scratch.failed;
	return status;
}

void chrome_damage_free(struct chrome_reading *st)
{
	if (st->repair != NULL)
		text_free(&st->repair->text);
	free(st->repair);
	chrome_wide_free(st->wide);
}
