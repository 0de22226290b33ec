/*
 * The file: an array of events, or an object with such an array among its members.  A record is one bracket,
 * member or event with the blanks and commas before it.
 *
 * Other bytes are skipped up to the start of an event; events are in event.c.  A record is applied, and its
 * findings are reported, only when all bytes that it depends on are in the window, so the result does not
 * depend on window boundaries.
 */
#include "chrome/chrome.h"

#include "base/compiler.h"
#include "base/match.h"

/* ---- what begins at a bracket or quote, where reading continues after damage ---- */

bool chrome_key_at(const char *p, const char *e, struct slice *key, bool *more)
{
	struct json json = { .depth = 1 };
	enum json_kind kind;

	if (p < e && *p != '"')
		return false;
	const char *const v = json_key(&json, p, e - p > 256 ? p + 256 : e, key, &kind);
	*more |= v == NULL && json.error.cut && e - p <= 256;
	return v != NULL;
}

static struct slice mark_of(const struct chrome_phases *c)
{
	return c->samples ? SLICE_LIT("\"sf\"") : SLICE_LIT("\"ph\"");
}

/* Returns the position of the first "ph" in [p, e), or e. */
static const char *find_phase(struct chrome_phases *c, const char *p, const char *e)
{
	const char *const mark = mark_of(c).p;

	if (c->from == NULL || p < c->from || p > c->at)
		c->from = c->at = p;
	while (c->at < e) {
		const char *const q = memchr(c->at, '"', (size_t)(e - c->at));
		c->at = q != NULL ? q : e;
		if (e - c->at < 4)
			return e;
		if (memcmp(c->at, mark, 4) == 0)
			return c->at;
		c->at++;
	}
	return e;
}

bool chrome_has_key(const char *p, const char *e, struct slice key)
{
	unsigned depth = 0;
	char word[JSON_WORD];

	for (; p < e; p++) {
		if (*p == '{' || *p == '[') {
			/* No event nests deeper.  So a byte is visited from few starts, however the braces
			 * are arranged. */
			if (++depth > JSON_MAX_DEPTH)
				return false;
		} else if ((*p == '}' || *p == ']') && --depth == 0) {
			return false;
		} else if (*p == '"') {
			const char *const open = p;
			for (p++; p < e && *p != '"' && *p != '\n'; p++)
				p += *p == '\\' && p + 1 < e;
			if (depth == 1 && p < e && *p == '"' &&
			    slice_equal(json_plain(word, slice_of(open, (size_t)(p - open) + 1)), key))
				return true;
		}
	}
	return false;
}

bool chrome_event_starts(struct chrome_phases *c, const char *p, const char *e, bool *more)
{
	const char *const limit = e - p > (ptrdiff_t)CHROME_START_LOOK ? p + CHROME_START_LOOK : e;
	bool cut = false;
	struct slice key;

	const char *const name = json_skip_blanks(p + 1, e);
	if (!chrome_key_at(name, e, &key, &cut) ||
	    (!c->samples && chrome_find_member(key) == CHROME_MEMBERS)) {
		*more |= cut;
		return false;
	}
	const bool found = find_phase(c, p, limit) < limit && chrome_has_key(p, limit, mark_of(c));
	*more |= !found && limit == e;
	return found;
}

/* Whether the brace after the colon begins no value: it is on the next line, or the key takes no object. */
static bool is_no_value(const char *from, const char *colon, const char *brace)
{
	static const struct slice keys[] = { SLICE_LIT("\"name\""), SLICE_LIT("\"cat\""),
		                             SLICE_LIT("\"ph\""),   SLICE_LIT("\"ts\""),
		                             SLICE_LIT("\"dur\""),  SLICE_LIT("\"pid\""),
		                             SLICE_LIT("\"tid\"") };

	if (memchr(colon, '\n', (size_t)(brace - colon)) != NULL)
		return true;
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if ((size_t)(colon - from) >= keys[i].n &&
		    memcmp(colon - keys[i].n, keys[i].p, keys[i].n) == 0)
			return true;
	return false;
}

bool chrome_starts(void *ctx, const char *from, const char *p, const char *e, bool *more)
{
	struct chrome_reading *const st = ctx;
	const char *const q = json_skip_blanks_back(from, p);

	return (q == from || q[-1] != ':' || is_no_value(from, q - 1, p)) &&
	       chrome_event_starts(&st->phases, p, e, more);
}

bool chrome_is_key(struct slice key)
{
	return chrome_find_member(key) != CHROME_MEMBERS || slice_is(key, "tts") || slice_is(key, "tdur") ||
	       slice_is(key, "cname");
}

/* Whether the array of events ends with the bracket p. */
static bool ends_array(const struct chrome_reading *st, const char *p, bool *more)
{
	struct slice key;

	p = json_skip_blanks(p + 1, st->end);
	if (p == st->end) {
		*more |= !st->last;
		return st->last;
	}
	return *p == '}' ||
	       (*p == ',' && chrome_key_at(json_skip_blanks(p + 1, st->end), st->end, &key, more));
}

/* Whether an array of events, or of samples, begins at the bracket p. */
static bool begins_array(struct chrome_reading *st, const char *p, bool *more)
{
	p = json_skip_blanks(p + 1, st->end);
	*more |= p == st->end && !st->last;
	return p < st->end && *p == '{' && chrome_event_starts(&st->phases, p, st->end, more);
}

static bool begins_samples(const struct chrome_reading *st, const char *p, bool *more)
{
	do
		p = json_skip_blanks(p + 1, st->end);
	while (p < st->end && *p == ',');
	*more |= p == st->end && !st->last;
	return p < st->end && *p == '{';
}

/* Whether the object around the events begins at the brace p. */
static bool begins_object(const struct chrome_reading *st, const char *p, bool *more)
{
	static const char *const keys[] = { "traceEvents",     "displayTimeUnit",
		                            "otherData",       "metadata",
		                            "schemaVersion",   "viztracer_metadata",
		                            "beginningOfTime", NULL };
	struct slice key;

	return chrome_key_at(json_skip_blanks(p + 1, st->end), st->end, &key, more) &&
	       slice_is_one_of(key, keys);
}

/* Whether reading can continue at p, after damage from `from` on. */
static bool resumes(struct chrome_reading *st, const char *from, const char *p, bool *more)
{
	struct slice key;

	switch (*p) {
	case '{':
		return chrome_starts(st, from, p, st->end, more) ||
		       (st->where != CHROME_IN_EVENTS && st->where != CHROME_IN_OBJECT &&
		        begins_object(st, p, more));
	case '[':
		return st->where != CHROME_IN_EVENTS && st->where != CHROME_IN_OBJECT &&
		       begins_array(st, p, more);
	case ']':
		return st->where == CHROME_IN_EVENTS && !st->no_array && ends_array(st, p, more);
	case '"':
		return st->where == CHROME_IN_OBJECT && chrome_key_at(p, st->end, &key, more);
	default:
		return false;
	}
}

/* ---- positions ---- */

const char *chrome_origin(const struct chrome_reading *st, const char *at)
{
	const struct json_repair *const x = st->repair;

	if (x == NULL || (!st->repaired && !st->plain) || at < x->text.p || at > x->text.p + x->text.n)
		return at;
	return json_repair_origin(x, at);
}

uint64_t chrome_offset(const struct chrome_reading *st, const char *at)
{
	const struct input *const in = st->r->in;

	at = chrome_origin(st, at);
	return st->wide != NULL ? input_offset(in, in->p) + chrome_wide_bytes(st, st->p, at)
	                        : input_offset(in, at);
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
		*last = p + high_bit(found);
	}
#endif
	for (; p < end; p++)
		if (*p == '\n') {
			n++;
			*last = p;
		}
	return n;
}

enum record_status chrome_end_item(struct chrome_reading *st, struct record *rec, enum chrome_item item,
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

enum record_status chrome_end_gap(struct chrome_reading *st, struct record *rec, enum chrome_item item,
                                  const char *at, const char *end)
{
	rec->cls = st->gaps;
	rec->ts = 0;
	rec->role = RECORD_IS_GAP;
	return chrome_end_item(st, rec, item, at, end);
}

/* Same as chrome_end_gap() for the start of an array or object. */
static enum record_status begin_list(struct chrome_reading *st, struct record *rec, enum chrome_item item,
                                     const char *at, const char *end)
{
	(void)chrome_end_gap(st, rec, item, at, end);
	st->first = true;
	return RECORD_DONE;
}

/* Ends the window whose bytes from st->p on are blanks and commas; more may follow. */
static enum record_status end_window(struct chrome_reading *st, struct record *rec, enum chrome_item item)
{
	return (size_t)(st->end - st->p) < CHROME_PIECE
	           ? RECORD_MORE
	           : chrome_end_gap(st, rec, item, item == CHROME_BLANKS ? st->end : st->p, st->end);
}

static const char *quote_start(struct quoted *q, const char *p, const char *e)
{
	return quoted(q, slice_of(p, (size_t)(e - p) < 40 ? (size_t)(e - p) : 40));
}

/* ---- damage ---- */

/* Returns p, or the position before a key and a colon before p: they decide whether a brace begins a value or
 * an event, so a piece must not end between them. */
static const char *before_key(const char *from, const char *p)
{
	const char *const was = p;

	while (p > from && strchr(" \t\r\n:", p[-1]) != NULL && p[-1] != '\0')
		p--;
	return p < was && p - from > 8 ? p - 8 : p;
}

/* Skips the bytes from p on up to where reading can continue, or a piece of them.  The last piece reports the
 * finding. */
static enum record_status skip_damage(struct chrome_reading *st, struct record *rec, const char *p,
                                      enum chrome_rule rule)
{
	struct chrome_damage *const d = &st->damage;
	const char *const at = p, *const e = st->end;
	bool more = false;
	struct quoted q;

	if (!d->goes_on)
		*d = (struct chrome_damage){ false, !st->lost, *p, rule, chrome_place(st, p) };
	const char *const from = d->goes_on ? p : p + 1;
	for (p = from; p < e && (st->last || !more) && !resumes(st, from, p, &more); p++)
		;
	const bool cut = !st->last && (p == e || more);
	if (cut && (size_t)(e - at) < CHROME_PIECE)
		return RECORD_MORE;
	d->goes_on = cut;
	if (cut)
		return chrome_end_gap(st, rec, CHROME_DROPPED, at,
		                      before_key(from, e - CHROME_START_LOOK - 256));
	if (p == e && st->where == CHROME_AT_END)
		d->rule = CHROME_RULE_TRAILING_DATA;
	if (d->is_new)
		finding_add_line(st->r->findings, &chrome_rules[d->rule], d->place,
		                 "not part of an event: %s", quoted(&q, slice_of(&d->first, 1)));
	return chrome_end_gap(st, rec, CHROME_DROPPED, at, p);
}

enum record_status chrome_read_part(struct chrome_reading *st, struct record *rec, const char *at,
                                    const char *p, enum chrome_item item)
{
	st->json.complete = st->last;
	const char *const end = json_nested_part(&st->json, &st->nest, p, st->end);

	if (end != NULL && end > p)
		return chrome_end_gap(st, rec, item, at, end);
	if (end != NULL && (uint64_t)(st->end - st->p) < st->r->max_record)
		return RECORD_MORE;
	if (!st->lost)
		chrome_report(st, CHROME_RULE_FOREIGN_BYTES, st->json.error.at, "%s", st->json.error.why);
	st->nest = (struct json_nest){ .depth = 0 };
	return skip_damage(st, rec, p, CHROME_RULE_FOREIGN_BYTES);
}

/* Reads an element that is no object, or bytes that are no element. */
static enum record_status read_other(struct chrome_reading *st, struct record *rec, const char *p,
                                     const struct chrome_commas *commas)
{
	enum json_kind kind;
	struct quoted q;
	bool more = false;

	st->json.complete = st->last;
	const char *const end = json_value(&st->json, p, st->end, &kind);
	const char *const next = end != NULL ? json_skip_blanks(end, st->end) : NULL;
	if (next == st->end || (next == NULL && st->json.error.cut && !st->last && *p != '['))
		more = !st->last && chrome_may_grow(st);
	if (more)
		return RECORD_MORE;
	if (next == NULL || (next < st->end && *next != ',' && *next != ']') ||
	    (*p == '[' && begins_array(st, p, &more)))
		return skip_damage(st, rec, p, CHROME_RULE_FOREIGN_BYTES);
	chrome_report_commas(st, commas, p);
	if (st->in_samples) {
		chrome_report(st, CHROME_RULE_MISSING_FIELD, p, "a sample that is not an object; left out");
		return chrome_end_gap(st, rec, CHROME_EVENT, p, end);
	}
	chrome_report(st, CHROME_RULE_NOT_AN_EVENT, p, "expected an object, found %s",
	              quote_start(&q, p, end));
	return chrome_end_gap(st, rec, CHROME_DROPPED, p, end);
}

/* ---- the array ---- */

static const char *read_commas(struct chrome_reading *st, struct chrome_commas *c)
{
	const char *p = json_skip_blanks(st->p, st->end);

	*c = (struct chrome_commas){ NULL, NULL, memchr(st->p, '\n', (size_t)(p - st->p)) != NULL };
	while (p < st->end && *p == ',') {
		if (c->first == NULL)
			c->first = p;
		else if (c->second == NULL)
			c->second = p;
		p = json_skip_blanks(p + 1, st->end);
	}
	return p;
}

static void report_unclosed(struct chrome_reading *st)
{
	chrome_report(st, CHROME_RULE_UNCLOSED, st->end, "the input ends after %" PRIu64 " event%s",
	              st->r->records, st->r->records == 1 ? "" : "s");
}

/* Ends the array at its bracket, or before bytes that can only follow the array. */
static enum record_status close_array(struct chrome_reading *st, struct record *rec,
                                      const struct chrome_commas *c, const char *p)
{
	st->in_samples = false;
	if (*p == ']') {
		if (c->first != NULL && !st->lost)
			chrome_report(st, st->first ? CHROME_RULE_EXTRA_COMMA : CHROME_RULE_TRAILING_COMMA,
			              c->first, "trailing comma; ignored");
		st->where = st->in_object ? CHROME_IN_OBJECT : CHROME_AT_END;
		return chrome_end_gap(st, rec, CHROME_CLOSES, p, p + 1);
	}
	chrome_report(st, CHROME_RULE_UNCLOSED, p, "the array of events does not end");
	st->where = CHROME_IN_OBJECT;
	return chrome_end_gap(st, rec, CHROME_BLANKS, st->p, st->p);
}

/* Reads an element, or the end of the array. */
static enum record_status array_step(struct chrome_reading *st, struct record *rec)
{
	enum record_status status;
	struct chrome_commas commas;
	struct slice key;
	bool more = false;

	if (st->nest.depth > 0)
		return chrome_read_part(st, rec, st->p, st->p, CHROME_DROPPED);
	if (st->nskips > 0 && chrome_skip_rest(st, rec, &status))
		return status;
	const char *const p = read_commas(st, &commas), *const e = st->end;
	if (p == e && !st->last)
		return end_window(st, rec, CHROME_DROPPED);
	if (p == e) {
		if (!st->no_array)
			report_unclosed(st);
		st->where = CHROME_AT_END;
		return chrome_end_gap(st, rec, CHROME_BLANKS, e, e);
	}
	switch (*p) {
	case '{':
		return chrome_read_element(st, rec, p, &commas);
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

static enum record_status read_member(struct chrome_reading *st, struct record *rec, const char *p)
{
	const char *const e = st->end, *q = NULL;
	struct slice key;
	enum json_kind kind;
	char word[JSON_WORD];

	st->json.complete = st->last;
	st->json.spare = NULL;
	const char *const v = json_key(&st->json, p, e, &key, &kind);
	if (v != NULL && st->json.spare != NULL)
		key = json_plain(word, key);
	if ((v == NULL ? st->json.error.cut : v == e) && chrome_may_grow(st))
		return RECORD_MORE;
	bool more = false;
	const bool named = v != NULL && slice_is(key, "traceEvents"), list = v != NULL && v < e && *v == '[';
	/* objects that look like events but are not those of the trace */
	const bool others = list && (slice_is(key, "systemTraceEvents") || slice_is(key, "samples"));
	const bool lists = list && (named || (!st->has_events && !others && begins_array(st, v, &more)));
	const bool samples = list && slice_is(key, "samples") && begins_samples(st, v, &more);
	if (more && !lists && !samples && chrome_may_grow(st))
		return RECORD_MORE;
	if (samples) {
		chrome_begin_samples(st);
		st->where = CHROME_IN_EVENTS;
		return begin_list(st, rec, CHROME_SAMPLES, p, v + 1);
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
		return begin_list(st, rec, CHROME_LISTS, p, v + 1);
	}
	if (named && v < e && *v == '{' && !st->has_events) {
		chrome_report(st, CHROME_RULE_NO_EVENTS, v, "traceEvents is an object; its members are read");
		return chrome_end_gap(st, rec, CHROME_DROPPED, p, v + 1);
	}
	if (v != NULL)
		q = json_value(&st->json, v, e, &kind);
	if (q == NULL && v != NULL && v < e && st->json.error.cut && !st->last) {
		const bool nested = *v == '[' || *v == '{';
		const bool whole = slice_is(key, "stackFrames") || chrome_is_profile_list(st, key);
		if ((uint64_t)(e - v) < (nested && !whole ? CHROME_MAX_FACT : st->r->max_record))
			return RECORD_MORE;
		if (nested) {
			chrome_lose_fact(st, key, v);
			return chrome_read_part(st, rec, p, v, CHROME_MEMBER);
		}
	}
	if (v != NULL && chrome_is_number_list(st, key, v) &&
	    (q == NULL || (st->profiles.is_cut && slice_is(key, "timeDeltas"))))
		return chrome_read_part_of_list(st, rec, key, p, v,
		                                st->profiles.is_cut ? st->profiles.nids : UINT64_MAX);
	if (q == NULL)
		return chrome_repair_member(st, rec, p);
	if (st->json.spare != NULL)
		return chrome_plain_member(st, rec, p, q);
	chrome_read_fact(st, key, &(struct json_token){ v, q, kind });
	return chrome_end_gap(st, rec, CHROME_MEMBER, p, q);
}

/* Reads a member of the object around the events, or its end. */
static enum record_status object_step(struct chrome_reading *st, struct record *rec)
{
	struct chrome_commas commas;

	if (st->nest.depth > 0)
		return chrome_read_part(st, rec, st->p, st->p, CHROME_PART);
	const char *const p = read_commas(st, &commas), *const e = st->end;
	bool more = false;
	if (p == e && !st->last)
		return end_window(st, rec, CHROME_DROPPED);
	if (p == e || *p == '}') {
		if (!st->has_events)
			chrome_report(st, CHROME_RULE_NO_EVENTS, p,
			              st->profiles.file > 0 ? "the CPU profile has no timeDeltas"
			                                    : "the object has no traceEvents");
		if (p == e)
			report_unclosed(st);
		else if (commas.first != NULL && !st->lost)
			chrome_report(st, CHROME_RULE_TRAILING_COMMA, commas.first,
			              "trailing comma; ignored");
		st->where = CHROME_AT_END;
		return p == e ? chrome_end_gap(st, rec, CHROME_BLANKS, e, e)
		              : chrome_end_gap(st, rec, CHROME_CLOSES, p, p + 1);
	}
	if (*p == '{' && chrome_starts(st, st->p, p, e, &more)) {
		if (!st->lost)
			chrome_report(st, CHROME_RULE_FOREIGN_BYTES, p, "an event outside of traceEvents");
		st->where = CHROME_IN_EVENTS;
		st->has_events = true;
		return begin_list(st, rec, CHROME_BLANKS, st->p, st->p);
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

static enum record_status begin_document(struct chrome_reading *st, struct record *rec, const char *p)
{
	st->documents++;
	st->in_object = *p == '{';
	st->no_array = false;
	st->where = st->in_object ? CHROME_IN_OBJECT : CHROME_IN_EVENTS;
	st->has_events = !st->in_object;
	return begin_list(st, rec, CHROME_OPENS, p, p + 1);
}

/* Begins to read events without an array. */
static enum record_status begin_lines(struct chrome_reading *st, struct record *rec)
{
	st->documents++;
	st->in_object = false;
	st->no_array = st->has_events = true;
	st->where = CHROME_IN_EVENTS;
	return begin_list(st, rec, CHROME_BLANKS, st->p, st->p);
}

static enum record_status start_step(struct chrome_reading *st, struct record *rec)
{
	const char *const e = st->end, *p = json_skip_blanks(st->p, e);
	bool more = false;

	if (e - st->p < 3 && !st->last)
		return RECORD_MORE;
	const bool first = chrome_offset(st, st->p) == 0;
	const bool mark = first && utf8_has_mark(st->p, (size_t)(e - st->p));
	const bool wide =
	    first && st->wide == NULL && chrome_has_wide_mark(slice_of(st->p, (size_t)(e - st->p)));
	if (mark || wide) {
		chrome_report(st, mark ? CHROME_RULE_BYTE_ORDER_MARK : CHROME_RULE_UTF_16, st->p,
		              mark ? "the bytes ef bb bf" : "a byte order mark of UTF-16");
		(void)chrome_end_gap(st, rec, CHROME_DROPPED, st->p, st->p + (mark ? 3 : 2));
		st->lost = false;
		return mark || chrome_wide_begin(st, *st->p == '\xfe') ? RECORD_DONE : RECORD_BAD;
	}
	if (p == e) {
		if (!st->last)
			return end_window(st, rec, CHROME_DROPPED);
		chrome_report(st, CHROME_RULE_NO_EVENTS, e, "expected an object or an array");
		st->where = CHROME_AT_END;
		return chrome_end_gap(st, rec, CHROME_BLANKS, e, e);
	}
	const char *const limit = e - p > (ptrdiff_t)CHROME_START_LOOK ? p + CHROME_START_LOOK : e;
	const bool event = *p == '{' && chrome_event_starts(&st->phases, p, e, &more);
	if ((more || limit == e) && !st->last)
		return RECORD_MORE;
	if (event && !chrome_has_key(p, limit, SLICE_LIT("\"traceEvents\""))) {
		if (!st->lost)
			chrome_report(st, CHROME_RULE_NO_ARRAY, p, "the first event is outside an array");
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
		return end_window(st, rec, CHROME_BLANKS);
	if (p == e)
		return st->p == p ? RECORD_END : chrome_end_gap(st, rec, CHROME_BLANKS, p, e);
	const bool comma = *p == ',';
	const char *const next = comma ? json_skip_blanks(p + 1, e) : p;
	const bool event = next < e && *next == '{' && chrome_event_starts(&st->phases, next, e, &more);
	const bool document =
	    !event && !comma &&
	    ((*p == '[' && begins_array(st, p, &more)) || (*p == '{' && begins_object(st, p, &more)));
	if (more && !event && !document && chrome_may_grow(st))
		return RECORD_MORE;
	if (!event && !document)
		return skip_damage(st, rec, p, CHROME_RULE_FOREIGN_BYTES);
	if (!st->lost)
		chrome_report(st, CHROME_RULE_CONCATENATED, p, "events follow the end of the document");
	return document ? begin_document(st, rec, p) : begin_lines(st, rec);
}

static enum record_status next_step(struct chrome_reading *st, struct record *rec)
{
	const uint64_t base = chrome_offset(st, st->p) - (uint64_t)(uintptr_t)st->p;
	if (st->phases.base != base || st->phases.samples != st->in_samples || st->wide != NULL)
		st->phases = (struct chrome_phases){ .base = base, .samples = st->in_samples };
	st->repaired = st->plain = st->borrowed = false;
	st->counted.to = NULL;
	if (st->damage.goes_on)
		return skip_damage(st, rec, st->p, st->damage.rule);
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

	if (st->gives_samples)
		return chrome_next_sample(st, rec);
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
