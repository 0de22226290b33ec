/*
 * Elements of the array that are objects: whole events, and damaged ones, which are repaired (json/repair.h)
 * or left out up to the next event.
 */
#include "chrome/chrome.h"

#include <stdlib.h>

#define CAREFUL (4u << 10) /* bytes that are parsed before looking for the start of the next event */
#define EAGER (1u << 10)   /* bytes that are repaired eagerly after many bytes were parsed in vain */

/* ---- findings of repairs ---- */

static const struct {
	enum chrome_rule rule;
	const char *text;
} fault_rows[JSON_FAULT_KINDS] = {
	[JSON_FAULT_QUOTE] = { CHROME_RULE_UNESCAPED_QUOTE, "an unescaped or missing quote in a text" },
	[JSON_FAULT_ESCAPE] = { CHROME_RULE_BAD_ESCAPE, "an invalid escape" },
	[JSON_FAULT_CONTROL] = { CHROME_RULE_CONTROL_BYTE, "a control byte in a text" },
	[JSON_FAULT_UTF8] = { CHROME_RULE_INVALID_UTF8, "text is not UTF-8" },
	[JSON_FAULT_SURROGATE] = { CHROME_RULE_LONE_SURROGATE, "half of a surrogate pair" },
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
	[JSON_FAULT_INNER] = { CHROME_RULE_INTERLEAVED, "an event inside another one" },
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

void chrome_report_commas(struct chrome_reading *st, const struct chrome_commas *c, const char *p)
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
	st->borrowed = st->repaired || st->plain || st->wide != NULL;
	if (st->rec.has_duplicates)
		chrome_report_duplicates(st);
	if (st->json.suspect != NULL)
		chrome_report(st, CHROME_RULE_SUSPECT_ESCAPE, st->json.suspect,
		              "an escape after a drive letter");
	if (st->json.big != NULL)
		chrome_report(st, CHROME_RULE_BIG_INTEGER, st->json.big, "an integer of more than 64 bits");
	if (*json_skip_blanks(st->rec.p + 1, st->rec.end) == '}') {
		chrome_report(st, CHROME_RULE_EMPTY_EVENT, p, "an element without members");
		return chrome_end_gap(st, rec, CHROME_EVENT, p, end);
	}
	if (!chrome_read_event(st, rec))
		return chrome_end_gap(st, rec, CHROME_EVENT, p, end);
	rec->p = p;
	rec->offset = chrome_offset(st, p);
	return chrome_end_item(st, rec, CHROME_EVENT, p, end);
}

/* Whether the repaired event, whose bytes end at `end`, is whole enough to be read. */
static bool is_usable(struct chrome_reading *st, const char *end, const char *limit)
{
	const struct json_repair *const x = st->repair;
	const struct json_token *const ts = &st->rec.of[CHROME_TS];

	st->json.complete = true;
	st->json.suspect = st->json.big = NULL;
	return !x->text.failed &&
	       chrome_parse_event(&st->rec, &st->json, x->text.p, x->text.p + x->text.n) != NULL &&
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

/* Returns false on OOM. */
static bool begin_repair(struct chrome_reading *st)
{
	if (st->repair != NULL)
		return true;
	st->repair = calloc(1, sizeof *st->repair);
	if (note_failure(&st->r->no_memory, st->repair == NULL))
		return false;
	st->records = (struct json_records){ .starts = chrome_starts, .is_key = chrome_is_key, .ctx = st };
	st->repair->records = &st->records;
	return true;
}

/* Copies an event or member without the spare escapes that it has, so that all readers of its tokens compare
 * what they mean.  Returns false on OOM. */
static bool make_plain(struct chrome_reading *st, const char *p, const char *end)
{
	if (!begin_repair(st))
		return false;
	json_repair_escapes(st->repair, p, end);
	st->r->no_memory |= st->repair->text.failed;
	return st->plain = !st->repair->text.failed;
}

static bool read_plain(struct chrome_reading *st, const char *p, const char *end)
{
	if (!make_plain(st, p, end))
		return false;
	const struct text *const text = &st->repair->text;
	st->json.suspect = st->json.big = NULL;
	return chrome_parse_event(&st->rec, &st->json, text->p, text->p + text->n) != NULL;
}

/* Marks the bytes after and between the records inside the event, to be skipped. */
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

/* Repairs eagerly first, over EAGER bytes: if careful repair fails for many events, each of them costs
 * reading to the end of the window.  Returns whether the event is usable. */
static bool read_eagerly(struct chrome_reading *st, const char *p, const char *limit, const char **end)
{
	const char *const near = limit - p > (ptrdiff_t)EAGER ? p + EAGER : limit;

	*end = repair(st, p, near, false, true);
	return !st->repair->more && st->repair->closed && is_usable(st, *end, near);
}

/* Reads an event that is not strict JSON.  wasted: bytes parsed in vain. */
static enum record_status read_damaged(struct chrome_reading *st, struct record *rec, const char *p,
                                       const char *limit, const struct chrome_commas *commas, uint64_t wasted)
{
	if (!begin_repair(st))
		return RECORD_BAD;
	struct json_repair *const x = st->repair;
	const char *end = NULL;
	bool usable = false;
	if (st->eager && st->wasted > 8 * (CHROME_PIECE + chrome_offset(st, p)))
		st->eager = usable = read_eagerly(st, p, limit, &end);
	if (!usable) {
		end = repair(st, p, limit, false, false);
		usable = !x->more && is_usable(st, end, limit);
	}
	if (!usable && !x->more && x->differs) {
		/* not to the end of the window: the careful repair may be taken, and the same bytes read
		 * again */
		const size_t n = (size_t)(end - p);
		const char *const far = (size_t)(limit - end) > n + EAGER ? end + n + EAGER : limit;
		wasted += n;
		end = repair(st, p, far, false, true);
		st->eager = usable = !x->more && is_usable(st, end, far);
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
	chrome_report_commas(st, commas, p);
	const char *const item_end = set_skips(st, end);
	if (usable || x->closed) {
		st->repaired = true;
		report_faults(st, true);
		return end_event(st, rec, p, item_end);
	}
	if (x->ninner > 0)
		chrome_report(st, CHROME_RULE_INTERLEAVED, x->inner[0].p, "an event inside another one");
	if ((end == limit && limit < st->end) || x->text.n > UINT32_MAX) {
		chrome_report_long(st, p);
		st->nskips = 0;
		st->lost = true;
		return chrome_read_part(st, rec, p, p, CHROME_DROPPED);
	}
	if (end == st->end)
		chrome_report(st, CHROME_RULE_CUT_EVENT, p, "the input ends %zu bytes into the event",
		              (size_t)(end - p));
	else
		chrome_report(st, CHROME_RULE_CUT_EVENT, p, "%zu bytes into the event something else begins",
		              (size_t)(end - p));
	return chrome_end_gap(st, rec, CHROME_DROPPED, p, item_end);
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

/* Returns NULL if the object at p, in the event that was parsed, is an event; else where to search on: after
 * args if it is in them (a list there that lost its end would also need the bracket of args), or after it. */
static const char *pass_no_event(const struct chrome_reading *st, const char *p, const char *e)
{
	const struct json_token *const args = &st->rec.of[CHROME_ARGS];
	struct chrome_record rec;
	struct json json = st->json;

	if (args->kind != JSON_ABSENT && p > args->p && p < args->end)
		return args->end;
	if (chrome_parse_event(&rec, &json, p, e) == NULL)
		return p + 1;
	return chrome_phase_known(rec.ph) && (rec.ph == 'M' || rec.of[CHROME_TS].kind != JSON_ABSENT)
	           ? NULL
	           : rec.end;
}

/* Reads an object without ph or ts, or with unknown members.  Events got into it by damage: if it has ph and
 * ts, they are in a list of an unknown member that lost its end. */
static enum record_status read_no_event(struct chrome_reading *st, struct record *rec, const char *p,
                                        const char *end)
{
	const struct json_token *const of = st->rec.of;
	const bool is_whole = of[CHROME_PH].kind != JSON_ABSENT && of[CHROME_TS].kind != JSON_ABSENT;
	const char *start = find_start(st, p, end), *next;

	while (is_whole && start != NULL && (next = pass_no_event(st, start, end)) != NULL)
		start = find_start(st, next - 1, end);
	if (start == NULL && st->json.spare != NULL && !read_plain(st, p, end))
		return RECORD_BAD;
	if (start == NULL)
		return end_event(st, rec, p, end);
	chrome_report(st, CHROME_RULE_CUT_EVENT, p, "%zu bytes into the event something else begins",
	              (size_t)(start - p));
	return chrome_end_gap(st, rec, CHROME_DROPPED, p, start);
}

/* Whether the parsed item has the members of an event, and no unknown ones that may contain events. */
static bool is_whole_event(const struct chrome_reading *st)
{
	const struct json_token *const of = st->rec.of;

	return st->in_samples || (of[CHROME_PH].kind != JSON_ABSENT && !st->rec.has_other_kinds &&
	                          (of[CHROME_TS].kind != JSON_ABSENT || st->rec.ph == 'M'));
}

/* Whether an event at p, for which the window grew, is valid up to `limit` and continues.  Continues where
 * the last call for it stopped: a pipe's window grows in small steps, and after a lost bracket all later
 * events may look like values of this one. */
static bool goes_on(struct chrome_reading *st, const char *p, const char *limit)
{
	struct chrome_begun *const b = &st->begun;
	struct json json = { .depth = JSON_MAX_DEPTH };

	if (b->bytes == 0 || b->at != chrome_offset(st, p)) {
		if (st->last || limit < st->end || limit - p <= (ptrdiff_t)CHROME_PIECE)
			return false;
		*b = (struct chrome_begun){ .at = chrome_offset(st, p) };
	}
	const char *const to = json_nested_part(&json, &b->nest, p + b->bytes, limit);
	b->bytes = to != NULL ? (size_t)(to - p) : 0;
	return b->nest.depth > 0;
}

enum record_status chrome_read_element(struct chrome_reading *st, struct record *rec, const char *p,
                                       const struct chrome_commas *commas)
{
	const char *const e = st->end;
	const char *const limit = (uint64_t)(e - p) > st->r->max_record ? p + st->r->max_record : e;
	/* After a lost bracket many events may look like arguments of one.  If that happens often, reading
	 * all of them each time is expensive. */
	const bool careful = st->wasted > (CHROME_PIECE + chrome_offset(st, p)) / 4;
	const char *end = NULL, *tried = careful && limit - p > (ptrdiff_t)CAREFUL ? p + CAREFUL : limit;

	st->json.complete = st->last && tried == e;
	st->json.suspect = st->json.big = st->json.spare = NULL;
	st->json.error.cut = !careful && goes_on(st, p, limit);
	if (!st->json.error.cut && (end = chrome_parsed_ahead(st, p, tried)) == NULL)
		end = chrome_parse_event(&st->rec, &st->json, p, tried);
	if (end == NULL && tried < limit && st->json.error.cut && find_start(st, p, tried) == NULL) {
		tried = limit;
		st->json.complete = st->last && tried == e;
		end = chrome_parse_event(&st->rec, &st->json, p, tried);
	}
	if (end != NULL) {
		chrome_report_commas(st, commas, p);
		if (st->json.spare != NULL && !read_plain(st, p, end))
			return RECORD_BAD;
		if (is_whole_event(st))
			return end_event(st, rec, p, end);
		if (st->plain) /* positions of tokens in the window are needed */
			(void)chrome_parse_event(&st->rec, &st->json, p, end);
		st->plain = false;
		return read_no_event(st, rec, p, end);
	}
	if (st->json.error.cut && tried == e && !st->last)
		return RECORD_MORE;
	const uint64_t wasted = (uint64_t)((st->json.error.cut ? tried : st->json.error.at) - p);
	return read_damaged(st, rec, p, limit, commas, wasted);
}

bool chrome_skip_rest(struct chrome_reading *st, struct record *rec, enum record_status *status)
{
	const uint64_t at = chrome_offset(st, st->p);
	struct chrome_range *const s = &st->skips[0];

	while (st->nskips > 0 && s->from < at)
		memmove(s, s + 1, --st->nskips * sizeof *s);
	if (st->nskips == 0 || s->from != at)
		return false;
	const uint64_t left = (uint64_t)(st->end - st->p);
	const char *const end = st->wide != NULL    ? chrome_wide_after(st, s->to - at)
	                        : s->to - at < left ? st->p + (s->to - at)
	                                            : st->end;
	*status = RECORD_MORE;
	if (chrome_offset(st, end) >= s->to || st->last) {
		*status = chrome_end_gap(st, rec, CHROME_DROPPED, st->p, end);
		memmove(s, s + 1, --st->nskips * sizeof *s);
	}
	return true;
}

/* ---- members ---- */

enum record_status chrome_plain_member(struct chrome_reading *st, struct record *rec, const char *p,
                                       const char *end)
{
	struct json_token t;
	struct slice key;

	if (!make_plain(st, p, end))
		return RECORD_BAD;
	const struct text *const text = &st->repair->text;
	t.end = text->p + text->n;
	t.p = json_key(&st->json, text->p, t.end, &key, &t.kind);
	if (t.p != NULL && json_value(&st->json, t.p, t.end, &t.kind) != NULL)
		chrome_read_fact(st, key, &t);
	return chrome_end_gap(st, rec, CHROME_MEMBER, p, end);
}

enum record_status chrome_repair_member(struct chrome_reading *st, struct record *rec, const char *p)
{
	const char *const e = st->end;

	if (!begin_repair(st))
		return RECORD_BAD;
	const struct json_repair *const x = st->repair;
	const char *const end =
	    repair(st, p, e - p > (ptrdiff_t)CHROME_MAX_MEMBER ? p + CHROME_MAX_MEMBER : e, true, false);
	if (x->text.failed)
		return RECORD_BAD;
	if (x->more && chrome_may_grow(st))
		return RECORD_MORE;
	if (!x->closed || end == p) {
		if (!st->lost)
			chrome_report(st, CHROME_RULE_FOREIGN_BYTES, p,
			              "a member of the file that cannot be read");
		return chrome_end_gap(st, rec, CHROME_DROPPED, p, end > p ? end : p + 1);
	}
	st->repaired = true;
	report_faults(st, false);
	/* a whole CPU profile needs its nodes; other members may have lost more than is seen */
	struct slice key;
	enum json_kind kind;
	const char *const text_end = x->text.p + x->text.n;
	const char *const v = json_key(&st->json, x->text.p, text_end, &key, &kind);
	if (v != NULL && v < text_end && *v == '[' && slice_is(key, "nodes"))
		chrome_read_fact(st, key, &(struct json_token){ v, text_end, JSON_ARRAY });
	return chrome_end_gap(st, rec, CHROME_MEMBER, p, end);
}

enum record_status chrome_read_part_of_list(struct chrome_reading *st, struct record *rec, struct slice key,
                                            const char *p, const char *v, uint64_t max)
{
	struct json json = { .depth = 1 }; /* not complete: the last number may lack digits */
	struct json_walk w = json_walk(&json, v, st->end);
	const char *end = v + 1;
	uint64_t n = 0;

	if (!begin_repair(st))
		return RECORD_BAD;
	for (; n < max && json_walk_next(&w); n++)
		end = w.value.end;
	if (json.error.why != NULL)
		chrome_report(st, json.error.cut ? CHROME_RULE_CUT_EVENT : CHROME_RULE_FOREIGN_BYTES, end,
		              "%.*s ends after %" PRIu64 " whole elements: %s", (int)key.n, key.p, n,
		              json.error.why);
	struct json_repair *const x = st->repair;
	text_clear(&x->text);
	text_add(&x->text, p, (size_t)(end - p));
	text_char(&x->text, ']');
	x->nfaults = x->ninner = x->nplaces = 0;
	x->from = p;
	if (x->text.failed)
		return RECORD_BAD;
	st->repaired = st->profiles.is_cut = true;
	st->profiles.nids = n;
	chrome_read_fact(st, key,
	                 &(struct json_token){ x->text.p + (v - p), x->text.p + x->text.n, JSON_ARRAY });
	(void)chrome_end_gap(st, rec, CHROME_MEMBER, p, end);
	st->lost = true; /* the rest is reported */
	return RECORD_DONE;
}

void chrome_damage_free(struct chrome_reading *st)
{
	if (st->repair != NULL)
		text_free(&st->repair->text);
	free(st->repair);
	chrome_wide_free(st->wide);
}
