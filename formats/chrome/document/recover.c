/*
 * Recovery: the output is one document of strict JSON, an object if the input begins as one, else an array.
 * Whole events are kept byte for byte, repaired ones are replaced by their text, and commas and brackets
 * between them are corrected.
 *
 * Events may follow the end of the array: another document, a second traceEvents.  So decisions about the
 * bytes after the array wait, up to MAX_WAITING: if events follow, these bytes are removed, and their
 * replacement is written at the end.
 */
#include "chrome/chrome.h"

#include <stdlib.h>

#define NEXT_BYTES (1u << 20)   /* of input that one next() reads */
#define MAX_WAITING (16u << 20) /* bytes of text whose place is not decided yet */
#define MAX_DECISIONS 4096      /* that wait */

/* Part of the document at the end of the output so far. */
enum out {
	OUT_NOTHING,
	OUT_ARRAY,  /* in the array of events, which is the document */
	OUT_OBJECT, /* in the object, before its events */
	OUT_EVENTS, /* in its array of events */
	OUT_AFTER,  /* after the array of events */
};

/* A decision about a range of the input. */
struct decision {
	uint64_t length;
	size_t text; /* bytes in `waiting` */
	enum { KEEP, DROP, REPLACE } kind;
	enum chrome_rule rule;
	const char *why; /* a literal */
};

struct chrome_recovery {
	enum out out;
	bool object;       /* the document is an object */
	bool any;          /* the array or object has an element */
	bool keeps_member; /* keep the member that is read in parts, or as samples */
	bool in_list;      /* in the list of samples */
	bool any_sample;   /* the list of samples has an element */
	bool any_event;
	bool holds_ids;    /* decisions wait from the samples of a CPU profile on, for their times */
	bool closed;       /* the last bracket was read */
	bool lacks_events; /* the object has no events ... */
	bool has_members;  /* ... but other members */
	bool sealed;       /* no decision waits any more */
	bool reopened;     /* events followed: `tail` is written at the end */
	struct decision *decisions;
	uint32_t ndecisions, decisions_cap;
	uint64_t waiting_bytes; /* of the input */
	struct text waiting, tail;
	size_t late_at;      /* start of the latest member in `tail` */
	const char *decided; /* the item is decided up to here */
};

static const char *const structure[] = {
	"chrome/cut-event",     "chrome/foreign-bytes", "chrome/unescaped-quote",
	"chrome/bad-escape",    "chrome/control-byte",  "chrome/bad-utf8",
	"chrome/not-finite",    "chrome/bare-word",     "chrome/number-form",
	"chrome/missing-comma", "chrome/extra-comma",   "chrome/bad-key",
	"chrome/missing-value", "chrome/interleaved",   "chrome/missing-bracket",
	"chrome/not-an-event",  "chrome/no-events",     NULL,
};

/* ---- decisions ---- */

static const char *before(struct recovery *rc, uint64_t offset)
{
	const struct input *const in = rc->r->in;

	return in->p + (ptrdiff_t)(offset - input_offset(in, in->p));
}

/* Writes the array that the object lacks: no event follows.  CPU profiles have none. */
static void put_no_events(struct recovery *rc, bool any)
{
	const struct chrome_reading *const st = rc->r->state;
	const char *const text = any ? ",\"traceEvents\":[]" : "\"traceEvents\":[]";

	if (st->dialect == CHROME_DIALECT_CPUPROFILE && st->has_events)
		return;
	recover_replace(rc, before(rc, rc->at), text, strlen(text), &chrome_rules[CHROME_RULE_NO_EVENTS],
	                "%s", "the object has no events");
}

static void release(struct recovery *rc)
{
	struct chrome_recovery *const s = rc->state;
	const char *text = s->waiting.p;

	if (s->lacks_events && !s->sealed)
		put_no_events(rc, s->has_members);
	for (uint32_t i = 0; i < s->ndecisions; i++) {
		const struct decision *const d = &s->decisions[i];
		const char *const to = before(rc, rc->at + d->length);
		if (d->kind == KEEP)
			recover_keep_copy(rc, text, d->length);
		else if (d->kind == DROP)
			recover_drop_for(rc, to, &chrome_rules[d->rule], d->why);
		else
			recover_replace(rc, to, text, d->text, &chrome_rules[d->rule], "%s", d->why);
		text += d->text;
	}
	s->ndecisions = 0;
	s->waiting_bytes = 0;
	s->holds_ids = false;
	text_clear(&s->waiting);
}

static bool waits(const struct chrome_recovery *s)
{
	return s->holds_ids || (s->out == OUT_AFTER && !s->sealed && !s->reopened);
}

/* Adds a decision, for the bytes up to `to`, to those that wait. */
static void add_decision(struct recovery *rc, const char *to, const char *text, size_t n, struct decision d)
{
	struct chrome_recovery *const s = rc->state;

	d.length = input_offset(rc->r->in, to) - rc->at - s->waiting_bytes;
	d.text = n;
	if (d.length == 0 && n == 0)
		return;
	if (!reader_reserve(rc->r, &s->decisions, s->ndecisions, &s->decisions_cap, sizeof *s->decisions))
		return;
	text_add(&s->waiting, text, n);
	rc->r->no_memory |= s->waiting.failed;
	struct decision *const last =
	    s->ndecisions > (s->holds_ids ? 1 : 0) ? &s->decisions[s->ndecisions - 1] : NULL;
	if (last != NULL && last->kind == KEEP && d.kind == KEEP) {
		last->length += d.length;
		last->text += n;
	} else {
		s->decisions[s->ndecisions++] = d;
	}
	s->waiting_bytes += d.length;
	if (s->waiting.n > MAX_WAITING || s->ndecisions == MAX_DECISIONS) {
		const bool at_end = !s->holds_ids;
		release(rc);
		s->sealed |= at_end;
	}
}

/* Returns the position in the input for a position in the reader's window. */
static const char *raw(struct recovery *rc, const char *at)
{
	return before(rc, chrome_offset(rc->r->state, at));
}

/* Decides about the bytes up to `to`, a position in the input: at once, or when it is known where they
 * belong. text: the n bytes that the output gets, none if they are dropped. */
static void decide(struct recovery *rc, const char *to, const char *text, size_t n, struct decision d)
{
	if (waits(rc->state))
		add_decision(rc, to, text, n, d);
	else if (d.kind == KEEP)
		recover_keep(rc, to);
	else if (d.kind == DROP)
		recover_drop_for(rc, to, &chrome_rules[d.rule], d.why);
	else if (n > 0 || input_offset(rc->r->in, to) > rc->at)
		recover_replace(rc, to, text, n, &chrome_rules[d.rule], "%s", d.why);
}

/* keep(), drop() and replace() decide about the bytes up to `to`, a position in the window of the reader. */
static void keep(struct recovery *rc, const char *to)
{
	const struct chrome_reading *const st = rc->r->state;
	struct chrome_recovery *const s = rc->state;
	const char *const from = s->decided;

	s->decided = to;
	if (to != from)
		decide(rc, raw(rc, to), from, (size_t)(to - from),
		       (struct decision){ .kind = st->wide != NULL ? REPLACE : KEEP,
		                          .rule = CHROME_RULE_UTF_16,
		                          .why = "written as UTF-8" });
}

static void drop(struct recovery *rc, const char *to, enum chrome_rule rule, const char *why)
{
	struct chrome_recovery *const s = rc->state;

	s->decided = to;
	decide(rc, raw(rc, to), "", 0, (struct decision){ .kind = DROP, .rule = rule, .why = why });
}

/* to: a position in the input. */
static void replace_raw(struct recovery *rc, const char *to, const char *text, size_t n,
                        enum chrome_rule rule, const char *why)
{
	decide(rc, to, text, n, (struct decision){ .kind = REPLACE, .rule = rule, .why = why });
}

static void replace(struct recovery *rc, const char *to, const char *text, size_t n, enum chrome_rule rule,
                    const char *why)
{
	struct chrome_recovery *const s = rc->state;

	s->decided = to;
	replace_raw(rc, raw(rc, to), text, n, rule, why);
}

static void insert(struct recovery *rc, const char *text, enum chrome_rule rule, const char *why)
{
	const struct chrome_recovery *const s = rc->state;

	replace_raw(rc, before(rc, rc->at + s->waiting_bytes), text, strlen(text), rule, why);
}

static const char moved[] = "events follow: moved behind them";

/* Removes the bytes that wait after the array, because events follow, and drops damaged ones. */
static void reopen(struct recovery *rc)
{
	struct chrome_recovery *const s = rc->state;
	uint64_t length = 0;

	if (s->lacks_events)
		text_char(&s->tail, ']');
	text_add(&s->tail, s->waiting.p, s->waiting.n);
	rc->r->no_memory |= s->tail.failed;
	s->out = s->lacks_events ? OUT_OBJECT : s->object ? OUT_EVENTS : OUT_ARRAY;
	s->reopened = true;
	for (uint32_t i = 0; i < s->ndecisions; i++) {
		const struct decision *const d = &s->decisions[i];
		if (d->kind != DROP) {
			length += d->length;
			continue;
		}
		replace_raw(rc, before(rc, rc->at + length), "", 0, CHROME_RULE_CONCATENATED, moved);
		recover_drop_for(rc, before(rc, rc->at + d->length), &chrome_rules[d->rule], d->why);
		length = 0;
	}
	replace_raw(rc, before(rc, rc->at + length), "", 0, CHROME_RULE_CONCATENATED, moved);
	s->ndecisions = 0;
	s->waiting_bytes = 0;
	text_clear(&s->waiting);
	s->any = s->lacks_events ? s->has_members : s->any_event;
}

/* ---- output ---- */

/* Writes exactly the comma that the item at `at` needs before it. */
static void put_comma(struct recovery *rc, const char *at)
{
	struct chrome_recovery *const s = rc->state;
	const struct chrome_reading *const st = rc->r->state;
	const char *const from = st->p;
	unsigned commas = 0;
	bool blank = true;

	for (const char *p = from; p < at; p++) {
		commas += *p == ',';
		blank &= strchr(", \t\r\n", *p) != NULL && *p != '\0';
	}
	if (blank && commas == s->any)
		keep(rc, at);
	else if (s->any)
		replace(rc, at, ",\n", 2, commas > 1 ? CHROME_RULE_EXTRA_COMMA : CHROME_RULE_MISSING_COMMA,
		        "one comma between two elements");
	else
		replace(rc, at, "", 0, CHROME_RULE_EXTRA_COMMA, "no comma before the first element");
	s->any = true;
}

/* Makes the output ready for an event.  Returns false if it cannot take one. */
static bool open_array(struct recovery *rc)
{
	struct chrome_recovery *const s = rc->state;

	if (s->out == OUT_AFTER && s->sealed)
		return false;
	if (s->out == OUT_AFTER)
		reopen(rc);
	switch (s->out) {
	case OUT_NOTHING:
		insert(rc, "[\n", CHROME_RULE_NO_ARRAY, "the opening bracket is missing");
		s->out = OUT_ARRAY;
		s->any = false;
		return true;
	case OUT_OBJECT:
		insert(rc, s->any ? ",\n\"traceEvents\":[\n" : "\"traceEvents\":[\n", CHROME_RULE_NO_EVENTS,
		       "the array of events does not begin");
		s->out = OUT_EVENTS;
		s->any = false;
		return true;
	default:
		return true;
	}
}

static bool is_bad_time(const struct json_token *t)
{
	enum json_kind kind;

	if (t->kind >= JSON_UINT && t->kind <= JSON_NUMBER)
		return false;
	return !json_is_string(t->kind) || !json_is_number(json_token_text(t), &kind);
}

/* Whether the event may have other times than its ts that are not numbers. */
static bool may_have_bad_times(const struct chrome_record *rec)
{
	const struct json_token *const dur = &rec->of[CHROME_DUR];

	return rec->has_other_kinds || rec->has_duplicates || (dur->kind != JSON_ABSENT && is_bad_time(dur));
}

/* Appends the event without times that are not numbers: Perfetto stops silently at `"dur":null`.  Returns
 * true if there are such times. */
static bool put_without_bad_times(struct text *to, const char *p, const char *end)
{
	struct json json = { .complete = true, .depth = JSON_MAX_DEPTH };
	struct json_walk w = json_walk(&json, p, end);
	bool bad = false;

	text_char(to, '{');
	while (json_walk_next(&w)) {
		const struct slice key = json_token_text(&w.key);
		if ((slice_is(key, "dur") || slice_is(key, "tts") || slice_is(key, "tdur")) &&
		    is_bad_time(&w.value)) {
			bad = true;
			continue;
		}
		if (to->n > 1)
			text_char(to, ',');
		text_add(to, w.key.p, (size_t)(w.value.end - w.key.p));
	}
	text_char(to, '}');
	return bad;
}

static bool is_whole(const struct chrome_record *rec)
{
	if (*json_skip_blanks(rec->p + 1, rec->end) == '}')
		return true;
	return json_is_string(rec->of[CHROME_PH].kind) &&
	       (json_token_text(&rec->of[CHROME_PH]).n > 0 &&
	        (rec->ph == 'M' || rec->of[CHROME_TS].kind != JSON_ABSENT)) &&
	       (rec->ph == 'M' || !is_bad_time(&rec->of[CHROME_TS]));
}

static void put_item(struct recovery *rc, const char *end)
{
	const struct chrome_reading *const st = rc->r->state;

	if (st->repaired)
		replace(rc, end, st->repair->text.p, st->repair->text.n, chrome_fault_rule(st), "repaired");
	else
		keep(rc, end);
}

static void recover_event(struct recovery *rc, const char *end)
{
	struct chrome_reading *const st = rc->r->state;
	struct chrome_recovery *const s = rc->state;
	struct text fixed = { .p = NULL };

	if (!is_whole(&st->rec)) {
		drop(rc, end, CHROME_RULE_NOT_AN_EVENT, "an event without what it needs");
		return;
	}
	if (!open_array(rc)) {
		drop(rc, end, CHROME_RULE_LIMIT,
		     "an event more than 16 MiB or 4,096 members behind the array of events");
		return;
	}
	put_comma(rc, st->item_at);
	const bool bad =
	    may_have_bad_times(&st->rec) && put_without_bad_times(&fixed, st->rec.p, st->rec.end);
	rc->r->no_memory |= fixed.failed;
	if (bad)
		replace(rc, end, fixed.p, fixed.n, CHROME_RULE_BAD_NUMBER,
		        "a time that is not a number is left out");
	else
		put_item(rc, end);
	text_free(&fixed);
	s->any_event = true;
	rc->records++;
}

/* ---- the document ---- */

/* Writes the missing bracket after the events. */
static void close_events(struct recovery *rc)
{
	struct chrome_recovery *const s = rc->state;

	s->out = OUT_AFTER;
	insert(rc, "]", CHROME_RULE_UNCLOSED, "the array of events does not end");
	s->any = true;
}

/* Moves the text `before` and [from, end) of a member that follows a second array of events. */
static void recover_late(struct recovery *rc, const char *before, const char *from, const char *end)
{
	const struct chrome_reading *const st = rc->r->state;
	struct chrome_recovery *const s = rc->state;

	if (s->tail.n + (size_t)(end - from) > MAX_WAITING) {
		s->tail.n = s->late_at;
		s->keeps_member = s->in_list = false;
		recover_drop_for(rc, end, &chrome_rules[CHROME_RULE_LIMIT],
		                 "a member after which more events may follow, where 16 MiB wait already");
		return;
	}
	text_str(&s->tail, before);
	if (st->repaired)
		text_add(&s->tail, st->repair->text.p, st->repair->text.n);
	else
		text_add(&s->tail, from, (size_t)(end - from));
	replace(rc, end, "", 0, CHROME_RULE_DUPLICATE_KEY, "moved behind the events that follow");
}

/* Leaves out the samples that have no time: viewers count on lists of one length. */
static void cut_ids(struct recovery *rc, uint64_t ntimes)
{
	struct chrome_recovery *const s = rc->state;
	struct decision *const d = &s->decisions[0];
	const char *const list = memchr(s->waiting.p, '[', d->text);
	struct json json = { .depth = 1, .complete = true };
	uint64_t n = 0;

	if (list == NULL) /* another value */
		return;
	struct json_walk w = json_walk(&json, list, s->waiting.p + d->text);
	const char *to = list + 1;
	for (; n < ntimes && json_walk_next(&w); n++)
		to = w.value.end;
	const size_t length = (size_t)(to - s->waiting.p) + 1;
	if (length >= d->text)
		return;
	memmove(s->waiting.p + length, s->waiting.p + d->text, s->waiting.n - d->text);
	s->waiting.p[length - 1] = ']';
	s->waiting.n -= d->text - length;
	d->kind = REPLACE;
	d->rule = CHROME_RULE_PROFILE_COUNT;
	d->why = "samples without a time are left out";
	d->text = length;
}

static bool is_member(const struct chrome_reading *st, const char *name, const char *end)
{
	const size_t n = strlen(name);

	return (size_t)(end - st->item_at) > n + 2 && memcmp(st->item_at + 1, name, n) == 0 &&
	       st->item_at[n + 1] == '"';
}

/* Recovers a list of numbers of a CPU profile. */
static void recover_numbers(struct recovery *rc, const char *end)
{
	struct chrome_reading *const st = rc->r->state;
	struct chrome_recovery *const s = rc->state;
	const bool is_times = is_member(st, "timeDeltas", end);

	if (!is_times && s->holds_ids)
		release(rc);
	put_comma(rc, st->item_at);
	s->holds_ids |= !is_times;
	put_item(rc, end);
	if (!is_times || rc->r->no_memory)
		return;
	if (s->holds_ids && st->profiles.is_cut)
		cut_ids(rc, st->profiles.nids);
	if (s->holds_ids)
		release(rc);
	rc->records += st->profiles.nstored;
	st->profiles.nstored = 0;
}

/* Whether a member became a list of events by its repair.  Events that are whole are none of it: a list is
 * read event by event. */
static bool is_repaired_list(const struct chrome_reading *st)
{
	static const char key[] = "\"traceEvents\"";

	return st->repaired && st->repair->text.n >= sizeof key - 1 &&
	       memcmp(st->repair->text.p, key, sizeof key - 1) == 0;
}

static void recover_member(struct recovery *rc, const char *end)
{
	struct chrome_reading *const st = rc->r->state;
	struct chrome_recovery *const s = rc->state;

	if (st->item != CHROME_PART)
		s->keeps_member = s->object && st->documents == 1;
	if (st->item != CHROME_PART && s->keeps_member && is_repaired_list(st)) {
		s->keeps_member = false;
		drop(rc, end, chrome_fault_rule(st), "a member that is damaged");
	} else if (!s->keeps_member) {
		drop(rc, end, CHROME_RULE_CONCATENATED, "a member of a further document");
	} else if (st->item == CHROME_PART) {
		if (s->reopened)
			recover_late(rc, "", st->p, end);
		else
			keep(rc, end);
	} else if (s->reopened) {
		s->late_at = s->tail.n;
		recover_late(rc, ",", st->item_at, end);
	} else if (st->dialect == CHROME_DIALECT_CPUPROFILE && s->out == OUT_OBJECT &&
	           (is_member(st, "samples", end) || is_member(st, "timeDeltas", end))) {
		recover_numbers(rc, end);
	} else {
		if (s->out == OUT_EVENTS)
			close_events(rc);
		put_comma(rc, st->item_at);
		put_item(rc, end);
	}
}

static void recover_sample(struct recovery *rc, const char *end)
{
	struct chrome_reading *const st = rc->r->state;
	struct chrome_recovery *const s = rc->state;

	if (!s->in_list) {
		drop(rc, end, CHROME_RULE_CONCATENATED, "a member of a further document");
		return;
	}
	rc->records++;
	if (s->reopened) {
		recover_late(rc, s->any_sample ? ",\n" : "", st->item_at, end);
	} else {
		s->any = s->any_sample;
		put_comma(rc, st->item_at);
		put_item(rc, end);
	}
	s->any_sample = true;
}

/* Recovers the bracket after the samples. */
static void recover_samples_end(struct recovery *rc, const char *end)
{
	const struct chrome_reading *const st = rc->r->state;
	struct chrome_recovery *const s = rc->state;

	s->in_list = false;
	s->any = true;
	if (s->reopened) {
		recover_late(rc, "", st->item_at, end);
		return;
	}
	if (memchr(st->p, ',', (size_t)(st->item_at - st->p)) != NULL)
		replace(rc, st->item_at, "", 0, CHROME_RULE_TRAILING_COMMA, "a comma before the end");
	keep(rc, end);
}

/* Writes the missing bracket after the samples. */
static void close_samples(struct recovery *rc)
{
	struct chrome_recovery *const s = rc->state;

	s->in_list = false;
	s->any = true;
	if (s->reopened)
		text_char(&s->tail, ']');
	else
		insert(rc, "]", CHROME_RULE_UNCLOSED, "the list of samples does not end");
}

static void recover_opening(struct recovery *rc, const char *end)
{
	struct chrome_recovery *const s = rc->state;

	if (s->out != OUT_NOTHING) {
		replace(rc, end, "", 0, CHROME_RULE_CONCATENATED, "the start of a further document");
		return;
	}
	s->object = end[-1] == '{';
	s->out = s->object ? OUT_OBJECT : OUT_ARRAY;
	s->any = false;
	keep(rc, end);
}

/* Recovers the start of an array of events. */
static void recover_list(struct recovery *rc, const char *end)
{
	struct chrome_reading *const st = rc->r->state;
	struct chrome_recovery *const s = rc->state;

	if (s->out != OUT_OBJECT) {
		replace(rc, end, "", 0, CHROME_RULE_DUPLICATE_KEY, "its events follow those before");
		return;
	}
	put_comma(rc, st->item_at);
	if (st->misnamed)
		replace(rc, end, "\"traceEvents\":[", 15, CHROME_RULE_BAD_KEY,
		        "the name of the list of events");
	else
		keep(rc, end);
	s->out = OUT_EVENTS;
	s->any = false;
}

static void recover_closing(struct recovery *rc, const char *end)
{
	struct chrome_reading *const st = rc->r->state;
	struct chrome_recovery *const s = rc->state;
	const bool array = end[-1] == ']';
	const bool fits =
	    array ? s->out == OUT_ARRAY || s->out == OUT_EVENTS : s->object && s->out != OUT_NOTHING;

	if (s->reopened || s->closed || !fits || st->documents > 1) {
		replace(rc, end, "", 0, CHROME_RULE_CONCATENATED, "not the end of the document");
		return;
	}
	if (!array && s->out == OUT_EVENTS)
		close_events(rc);
	if (memchr(st->p, ',', (size_t)(st->item_at - st->p)) != NULL)
		replace(rc, st->item_at, "", 0, CHROME_RULE_TRAILING_COMMA, "a comma before the end");
	s->lacks_events |= s->out == OUT_OBJECT;
	s->has_members = s->any;
	s->out = OUT_AFTER;
	s->any = true;
	s->closed = !array || !s->object;
	keep(rc, end);
}

/* Recovers blanks and commas, or damage. */
static void recover_rest(struct recovery *rc, const char *end)
{
	const struct chrome_reading *const st = rc->r->state;
	const char *const from = st->p;

	const bool mark = st->where == CHROME_AT_START && (unsigned char)*from >= 0xef;
	if (st->item == CHROME_DROPPED && !mark)
		drop(rc, end, CHROME_RULE_FOREIGN_BYTES, "not part of the trace");
	else if (st->item == CHROME_DROPPED)
		replace(rc, end, "", 0, CHROME_RULE_BYTE_ORDER_MARK, "a byte order mark");
	else if (memchr(from, ',', (size_t)(end - from)) != NULL)
		replace(rc, end, "", 0, CHROME_RULE_TRAILING_COMMA, "a comma before the end");
	else
		keep(rc, end);
}

static void finish(struct recovery *rc)
{
	struct chrome_recovery *const s = rc->state;
	const char *const line = rc->last == '\n' ? "" : "\n";
	char text[16];

	if (s->in_list)
		close_samples(rc);
	if (s->reopened) {
		if (!s->closed && s->object)
			text_char(&s->tail, '}');
		text_char(&s->tail, '\0');
		rc->r->no_memory |= s->tail.failed;
		if (!s->tail.failed)
			insert(rc, s->tail.p, CHROME_RULE_CONCATENATED, "the end of the document");
		return;
	}
	release(rc);
	s->sealed = true;
	if (s->out == OUT_OBJECT)
		put_no_events(rc, s->any);
	if (s->out == OUT_NOTHING)
		insert(rc, "[]\n", CHROME_RULE_NO_EVENTS, "there are no events");
	if (s->closed || s->out == OUT_NOTHING)
		return;
	snprintf(text, sizeof text, "%s%s\n", line,
	         s->out == OUT_ARRAY    ? "]"
	         : s->out == OUT_EVENTS ? "]}"
	                                : "}");
	insert(rc, text, CHROME_RULE_UNCLOSED, "the closing bracket is missing");
}

static void recover_item(struct recovery *rc)
{
	const struct chrome_reading *const st = rc->r->state;
	struct chrome_recovery *const s = rc->state;
	const char *const end = st->item_end;

	s->decided = st->p;
	if (s->in_list && !st->in_samples && st->item != CHROME_CLOSES)
		close_samples(rc);
	if (s->holds_ids && st->item < CHROME_BLANKS && st->item != CHROME_MEMBER)
		release(rc);
	switch (st->item) {
	case CHROME_OPENS:
		recover_opening(rc, end);
		break;
	case CHROME_LISTS:
		recover_list(rc, end);
		break;
	case CHROME_MEMBER:
	case CHROME_PART:
		recover_member(rc, end);
		break;
	case CHROME_SAMPLES: /* the start of a member */
		recover_member(rc, end);
		s->in_list = s->keeps_member;
		s->any_sample = false;
		break;
	case CHROME_EVENT:
		if (st->in_samples)
			recover_sample(rc, end);
		else
			recover_event(rc, end);
		break;
	case CHROME_CLOSES:
		if (s->in_list)
			recover_samples_end(rc, end);
		else
			recover_closing(rc, end);
		break;
	default:
		recover_rest(rc, end);
		break;
	}
}

static bool recover_next(struct recovery *rc)
{
	struct reader *const r = rc->r;
	struct input *const in = r->in;
	const uint64_t start = input_offset(in, in->p);
	struct record rec;

	while (input_offset(in, in->p) - start < NEXT_BYTES && !r->no_memory) {
		rec = (struct record){ .p = in->p,
			               .offset = input_offset(in, in->p),
			               .ordinal = r->records + 1 };
		const enum record_status status = chrome_next_record(r, &rec);
		if (status == RECORD_MORE) {
			const size_t n = (size_t)(in->end - in->p);
			(void)input_need(in, n + n / 4 + 1);
		} else if (status == RECORD_DONE) {
			recover_item(rc);
			in->p = rec.end;
			if (rec.role < RECORD_IS_GAP)
				r->records = rec.ordinal;
		} else if (!r->no_memory) {
			finish(rc);
			return false;
		}
	}
	return true;
}

static void close_recovery(struct recovery *rc)
{
	struct chrome_recovery *const s = rc->state;

	free(s->decisions);
	text_free(&s->waiting);
	text_free(&s->tail);
}

const struct recover_ops chrome_recover_ops = {
	.state_size = sizeof(struct chrome_recovery),
	.structure = structure,
	.next = recover_next,
	.close = close_recovery,
};
