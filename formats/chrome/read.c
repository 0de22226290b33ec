/*
 * The reader.  The file is an array of events, or an object with such an array among its members.  A record
 * is one bracket, member or event with the blanks and comma before it.  It is applied only when all of it is
 * in the window, so the result does not depend on where windows end.
 */
#include "chrome/chrome.h"

#include <stdarg.h>
#include <stdlib.h>

/* ---- findings ---- */

void chrome_report(struct chrome_reading *st, enum chrome_rule rule, const char *at, const char *fmt, ...)
{
	const struct input *const in = st->r->in;
	struct chrome_line line = st->line;
	char text[600] = "";
	va_list ap;

	if (st->r->findings == NULL)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	for (const char *p = in->p; p < at && (p = memchr(p, '\n', (size_t)(at - p))) != NULL; p++) {
		line.number++;
		line.start = input_offset(in, p + 1);
	}
	const uint64_t offset = input_offset(in, at);
	finding_add_line(st->r->findings, &chrome_rules[rule], offset, line.number, offset - line.start + 1,
	                 st->r->records + (st->where == CHROME_IN_EVENTS), "%s", text);
}

void chrome_report_limit(struct chrome_reading *st, enum chrome_limit which, const char *what)
{
	if (st->limits[which])
		return;
	st->limits[which] = true;
	chrome_report(st, CHROME_RULE_LIMIT, st->r->in->p, "%s", what);
}

/* ---- events as tokens ---- */

enum chrome_member chrome_find_member(struct slice key)
{
	static const struct {
		struct slice key;
		enum chrome_member member;
	} rows[] = {
		{ SLICE_LIT("name"), CHROME_NAME },
		{ SLICE_LIT("cat"), CHROME_CAT },
		{ SLICE_LIT("ph"), CHROME_PH },
		{ SLICE_LIT("ts"), CHROME_TS },
		{ SLICE_LIT("dur"), CHROME_DUR },
		{ SLICE_LIT("pid"), CHROME_PID },
		{ SLICE_LIT("tid"), CHROME_TID },
		{ SLICE_LIT("args"), CHROME_ARGS },
		{ SLICE_LIT("id"), CHROME_ID },
		{ SLICE_LIT("id2"), CHROME_ID2 },
		{ SLICE_LIT("s"), CHROME_S },
		{ SLICE_LIT("scope"), CHROME_SCOPE },
		{ SLICE_LIT("ids"), CHROME_IDS },
		{ SLICE_LIT("bp"), CHROME_BP },
		{ SLICE_LIT("bind_id"), CHROME_BIND_ID },
		{ SLICE_LIT("flow_in"), CHROME_FLOW_IN },
		{ SLICE_LIT("flow_out"), CHROME_FLOW_OUT },
		{ SLICE_LIT("sf"), CHROME_SF },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (slice_equal(rows[i].key, key))
			return rows[i].member;
	return CHROME_MEMBERS;
}

/* Reports members that occur again.  A second pass, because nothing is reported before all of the event is in
 * the window. */
static void report_duplicates(struct chrome_reading *st)
{
	const struct chrome_record *const rec = &st->rec;
	struct json json = st->json; /* a copy: flaws are listed already */
	struct json_walk w = json_walk(&json, rec->p, rec->end);
	bool seen[CHROME_MEMBERS] = { false };

	while (json_walk_next(&w)) {
		const struct slice key = json_token_text(&w.key);
		const enum chrome_member m = chrome_find_member(key);
		if (m == CHROME_MEMBERS)
			continue;
		if (seen[m])
			chrome_report(st, CHROME_RULE_DUPLICATE_KEY, w.key.p,
			              "%.*s stands in the event twice", (int)key.n, key.p);
		seen[m] = true;
	}
}

/* Reads the event at p into st->rec.  Returns its end, or NULL with st->json.error set. */
static const char *parse_event(struct chrome_reading *st, const char *p, const char *e)
{
	struct chrome_record *const rec = &st->rec;
	struct json *const json = &st->json;
	struct slice key;
	enum json_kind kind;
	bool more;

	*rec = (struct chrome_record){ .p = p };
	for (p = json_first(json, p, e, &more); p != NULL && more; p = json_next(json, p, e, '}', &more)) {
		const char *const v = json_key(json, p, e, &key, &kind);
		p = v != NULL ? json_value(json, v, e, &kind) : NULL;
		if (p == NULL)
			return NULL;
		const enum chrome_member m = chrome_find_member(key);
		if (m == CHROME_MEMBERS) {
			rec->has_others = true;
			continue;
		}
		rec->has_duplicates |= rec->of[m].kind != JSON_ABSENT;
		rec->of[m] = (struct json_token){ v, p, kind };
	}
	if (p == NULL)
		return NULL;
	rec->end = p;
	if (rec->has_duplicates)
		report_duplicates(st);
	const struct slice ph = chrome_token_text(&rec->of[CHROME_PH]);
	rec->ph = '\0';
	if (ph.n == 1 && rec->of[CHROME_PH].kind == JSON_STRING)
		rec->ph = *ph.p;
	return p;
}

struct slice chrome_text(struct arena *a, const struct json_token *t)
{
	const struct slice raw = chrome_token_text(t);

	if (t->kind == JSON_ESCAPED || (t->kind == JSON_BAD_STRING && memchr(raw.p, '\\', raw.n) != NULL))
		return json_unescape(a, raw);
	return textscan_slice(raw.p, raw.n);
}

/* ---- times ---- */

/* Returns a decimal exponent, limited to about 100,000: any larger one has the same effect. */
static int parse_exponent(const char *p, const char *e)
{
	const bool minus = p < e && *p == '-';
	int v = 0;

	if (p < e && (*p == '-' || *p == '+'))
		p++;
	for (; p < e; p++)
		v = v < 10000 ? v * 10 + (*p - '0') : v;
	return minus ? -v : v;
}

#define BELOW UINT64_C(1000000000000000000) /* units of time.below in a nanosecond */

/* A time: whole nanoseconds, and what is below one. */
struct usec {
	uint64_t ns, below;
};

static uint64_t add_digit(uint64_t v, char c, uint64_t max, bool *fits)
{
	const uint64_t d = (uint64_t)(c - '0');

	*fits &= v < max / 10 || (v == max / 10 && d <= max % 10);
	return *fits ? v * 10 + d : max;
}

/* Converts decimal microseconds to nanoseconds exactly; *t is without the sign.  Returns false beyond `max`.
 */
static bool parse_usec(const char *p, const char *e, uint64_t max, struct usec *t)
{
	const char *exp = p;
	int place = 3; /* decimal places of ns still to be read; below 0: of `below` */
	uint64_t unit = BELOW / 10;
	bool fraction = false, fits = true;

	*t = (struct usec){ 0, 0 };
	while (exp < e && *exp != 'e' && *exp != 'E')
		exp++;
	const char *const point = memchr(p, '.', (size_t)(exp - p));
	if (exp < e)
		place += parse_exponent(exp + 1, e);
	int left = (int)((point != NULL ? point : exp) - p) + place; /* digits of ns */
	for (; left < 0 && unit > 0; left++)
		unit /= 10;
	for (; p < exp; p++) {
		fraction |= *p == '.';
		if (*p == '.')
			continue;
		if (left > 0) {
			left--;
			t->ns = add_digit(t->ns, *p, max, &fits);
		} else {
			t->below += (uint64_t)(*p - '0') * unit;
			unit /= 10;
		}
	}
	for (; left > 0 && fits && t->ns != 0; left--)
		t->ns = add_digit(t->ns, '0', max, &fits);
	return fits;
}

/* Other formats have times of 64 bits, and our own output all of them. */
static uint64_t max_time(const struct chrome_reading *st)
{
	return chrome_is_dialect(st, CHROME_DIALECT_TRACETOOL) && st->r->trace->zero_ns == 0 ? UINT64_MAX
	                                                                                     : INT64_MAX;
}

/* Returns false if the member is absent or, after a finding, not a number. */
static bool read_time(struct chrome_reading *st, enum chrome_member m, const char *name, struct usec *time)
{
	const struct json_token *const t = &st->rec.of[m];
	const struct slice s = chrome_token_text(t);
	enum json_kind kind = t->kind;
	struct quoted q;

	if (kind == JSON_ABSENT)
		return false;
	if (kind == JSON_STRING) {
		if (json_number(s.p, s.p + s.n, &kind) != s.p + s.n)
			kind = JSON_STRING;
		else
			chrome_report(st, CHROME_RULE_QUOTED_NUMBER, t->p, "%s is a text, %s", name,
			              quoted(&q, s));
	}
	if (kind != JSON_UINT && kind != JSON_INT && kind != JSON_NUMBER) {
		chrome_report(st, CHROME_RULE_BAD_NUMBER, t->p, "%s is %s, expected a number", name,
		              quoted(&q, s));
		return false;
	}
	const bool minus = s.n > 0 && *s.p == '-';
	if (!parse_usec(s.p + minus, s.p + s.n, max_time(st), time))
		chrome_report(st, CHROME_RULE_BAD_NUMBER, t->p, "%s is %s; read as %s%" PRIu64 " ns", name,
		              quoted(&q, s), minus ? "-" : "", time->ns);
	if (!minus || (time->ns == 0 && time->below == 0))
		return true;
	if (m == CHROME_DUR || time->ns >= st->r->trace->zero_ns) {
		chrome_report(st, CHROME_RULE_BAD_NUMBER, t->p, "%s is %s; read as 0", name, quoted(&q, s));
		*time = (struct usec){ 0, 0 };
		return true;
	}
	/* down to the nanosecond before */
	*time = (struct usec){ -(time->ns + (time->below > 0)), time->below > 0 ? BELOW - time->below : 0 };
	chrome_tally(st, CHROME_TALLY_NEGATIVE, input_offset(st->r->in, st->rec.p));
	return true;
}

/* The end of a span is rounded down, not its duration: spans of which one ends where the next begins do not
 * overlap then. */
void chrome_read_times(struct chrome_reading *st)
{
	struct chrome_record *const rec = &st->rec;
	struct usec ts = { 0, 0 }, dur = { 0, 0 };
	struct quoted q;

	rec->has_ts = read_time(st, CHROME_TS, "ts", &ts);
	rec->has_dur = rec->ph == 'X' && read_time(st, CHROME_DUR, "dur", &dur);
	rec->ts = st->r->trace->zero_ns + ts.ns;
	rec->dur = dur.ns + (ts.below + dur.below >= BELOW);
	const uint64_t max = max_time(st);
	if (rec->has_ts && rec->has_dur && ts.ns <= max && rec->dur > max - ts.ns) {
		if (dur.ns < max) /* else read_time() reported it */
			chrome_report(st, CHROME_RULE_BAD_NUMBER, rec->of[CHROME_DUR].p,
			              "dur %s and ts together are beyond the last time; shortened",
			              quoted(&q, chrome_token_text(&rec->of[CHROME_DUR])));
		rec->dur = max - ts.ns;
	}
}

/* ---- fields ---- */

static struct value json_value_of(struct slice s)
{
	return (struct value){ .type = VALUE_JSON, .count = s.n, .p = s.p };
}

/* Returns JSON without blanks between its tokens; on OOM as it is. */
static struct slice compact(struct arena *a, struct slice s)
{
	const char *p = s.p, *const e = s.p + s.n;
	bool in_text = false;

	for (; p < e && (in_text || (unsigned char)*p > ' '); p++) {
		in_text ^= *p == '"';
		p += in_text && *p == '\\';
	}
	char *const copy = p < e ? arena_alloc(a, s.n) : NULL;
	if (copy == NULL)
		return s;
	uint32_t n = (uint32_t)(p - s.p);
	memcpy(copy, s.p, n);
	for (; p < e; p++) {
		if (!in_text && (unsigned char)*p <= ' ')
			continue;
		in_text ^= *p == '"';
		copy[n++] = *p;
		if (in_text && *p == '\\' && p + 1 < e)
			copy[n++] = *++p;
	}
	return slice_of(copy, n);
}

struct value chrome_read_value(struct arena *a, const struct json_token *t)
{
	const struct slice s = chrome_token_text(t);
	const bool minus = t->kind == JSON_INT;
	uint64_t v;

	switch (t->kind) {
	case JSON_UINT:
	case JSON_INT:
		if (slice_is(s, "-0") || !json_digits_any(s.p + minus, s.n - minus, &v) ||
		    (minus && v > (uint64_t)1 << 63))
			return json_value_of(s);
		return minus ? (struct value){ .type = VALUE_I64, .i64 = (int64_t)-v } : value_u64(v);
	case JSON_TRUE:
	case JSON_FALSE:
		return (struct value){ .type = VALUE_BOOL, .u64 = t->kind == JSON_TRUE };
	case JSON_NULL:
	case JSON_ABSENT:
		return (struct value){ .type = VALUE_NONE };
	case JSON_NUMBER:
		return json_value_of(s);
	case JSON_OBJECT:
	case JSON_ARRAY:
		return json_value_of(compact(a, s));
	default:
		return value_string(chrome_text(a, t));
	}
}

#define COMPARED 64 /* latest fields whose names are compared: linear time for any number of fields */

/* Returns the index of the field of this name, or n. */
static uint32_t find_field(const struct field *f, uint32_t n, struct slice name)
{
	for (uint32_t i = n > COMPARED ? n - COMPARED : 0; i < n; i++)
		if (slice_equal(f[i].name, name))
			return i;
	return n;
}

bool chrome_read_fields(struct chrome_reading *st, struct batch *b, struct event *e, const char *p,
                        const char *end)
{
	struct json json = { .lenient = true, .depth = JSON_MAX_DEPTH, .complete = true };
	const uint32_t before = e->nfields;
	uint32_t n = before;
	bool more;

	if (before == 0)
		e->first_field = b->nfields;
	/* Not json_walk(): that costs 1 % of the instructions of a conversion. */
	for (p = json_first(&json, p, end, &more); p != NULL && more;
	     p = json_next(&json, p, end, '}', &more)) {
		struct json_token key = { .p = p }, t;
		struct slice text;
		t.p = json_key(&json, p, end, &text, &key.kind);
		t.end = p = t.p != NULL ? json_value(&json, t.p, end, &t.kind) : NULL;
		if (p == NULL)
			break;
		key.end = text.p + text.n + 1;
		if (n == CHROME_MAX_ARGS) {
			chrome_report_limit(st, CHROME_LIMIT_ARGS,
			                    "more than 60,000 args; the others are left out");
			break;
		}
		if (batch_fields(b, n - before + 1) == NULL)
			return false;
		struct field *const f = b->fields + e->first_field;
		f[n] = (struct field){ chrome_text(&b->scratch, &key), chrome_read_value(&b->scratch, &t) };
		if (f[n].name.p == NULL || (f[n].value.type == VALUE_STRING && f[n].value.p == NULL))
			return false;
		const uint32_t same = find_field(f, n, f[n].name);
		f[same].value = f[n].value; /* the last of a name */
		n += same == n;
	}
	b->nfields += n - before;
	e->nfields = (uint16_t)n;
	return true;
}

/* ---- steps ---- */

/* The record ends here. */
static void end_at(struct chrome_reading *st, struct record *rec, const char *end)
{
	const struct input *const in = st->r->in;

	rec->end = end;
	for (const char *p = in->p; p < end && (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++) {
		st->next_line.number++;
		st->next_line.start = input_offset(in, p + 1);
	}
	st->first = false;
}

static const struct class_field gap_field = { .name = SLICE_LIT("text"),
	                                      .type = SLICE_LIT("string"),
	                                      .value = VALUE_STRING };

/* The record is no event; raw reading shows it as structure. */
static void end_gap(struct chrome_reading *st, struct record *rec, const char *end)
{
	rec->cls = st->gaps;
	rec->ts = 0;
	rec->role = RECORD_IS_GAP;
	end_at(st, rec, end);
}

/* Quotes the start of [p, e). */
static const char *quote_start(struct quoted *q, const char *p, const char *e)
{
	return quoted(q, slice_of(p, (size_t)(e - p) < 40 ? (size_t)(e - p) : 40));
}

/* Asks for more input if the token at p is cut, else reports st->json.error. */
static enum record_status fail(struct chrome_reading *st, const char *p)
{
	const struct input *const in = st->r->in;
	const struct json_error *const error = &st->json.error;
	struct quoted q;

	if (error->cut && (size_t)(in->end - in->p) > CHROME_MAX_EVENT)
		chrome_report(st, CHROME_RULE_LIMIT, p, "an event or member longer than 8 MiB");
	else if (error->cut && !in->last)
		return RECORD_MORE;
	else if (error->cut && st->where == CHROME_IN_EVENTS)
		chrome_report(st, CHROME_RULE_CUT_EVENT, p, "the input ends %zu bytes into the event: %s",
		              (size_t)(in->end - p), error->why);
	else if (error->cut)
		chrome_report(st, CHROME_RULE_NOT_JSON, error->at, "the input ends early: %s", error->why);
	else
		chrome_report(
		    st, CHROME_RULE_NOT_JSON, error->at, "%s, found %s", error->why,
		    quote_start(&q, error->at, error->at + 1)); /* one byte, whatever follows in the window */
	return RECORD_BAD;
}

static enum record_status fail_at(struct chrome_reading *st, const char *p, const char *why)
{
	const struct input *const in = st->r->in;

	if (p < in->end)
		json_fail(&st->json, p, why);
	else
		json_cut(&st->json, p, why);
	return fail(st, p);
}

static void report_flaws(struct chrome_reading *st)
{
	static const struct {
		enum chrome_rule rule;
		const char *texts;
	} rows[JSON_FLAW_KINDS] = {
		[JSON_FLAW_CONTROL_BYTE] = { CHROME_RULE_NOT_JSON, "control byte in a text; retained" },
		[JSON_FLAW_NUL] = { CHROME_RULE_NOT_JSON, "NUL byte in a text; retained" },
		[JSON_FLAW_UTF8] = { CHROME_RULE_INVALID_UTF8, "text is not UTF-8; bytes retained" },
		[JSON_FLAW_ESCAPE] = { CHROME_RULE_NOT_JSON, "invalid escape; backslash retained" },
		[JSON_FLAW_NOT_FINITE] = { CHROME_RULE_NOT_JSON, "nan and inf are not JSON numbers" },
		[JSON_FLAW_WORD] = { CHROME_RULE_NOT_JSON, "not a JSON value; retained as text" },
		[JSON_FLAW_COMMA] = { CHROME_RULE_TRAILING_COMMA, "trailing comma; ignored" },
	};

	for (uint32_t i = 0; i < st->json.nflaws; i++)
		chrome_report(st, rows[st->json.flaws[i].kind].rule, st->json.flaws[i].at, "%s",
		              rows[st->json.flaws[i].kind].texts);
}

/* Reads a member of the object around the events, or its end. */
static enum record_status object_step(struct chrome_reading *st, struct record *rec)
{
	struct input *const in = st->r->in;
	const char *const e = in->end, *p = json_skip_blanks(in->p, e), *q;
	struct slice key;
	enum json_kind kind;

	if (p < e && *p == '}') {
		end_gap(st, rec, p + 1);
		st->where = CHROME_AT_END;
		if (!st->has_events)
			chrome_report(st, CHROME_RULE_NO_EVENTS, p, "the object has no traceEvents");
		return RECORD_DONE;
	}
	if (!st->first) {
		if (p == e || *p != ',')
			return fail_at(st, p, "expected a comma or a closing bracket");
		p = json_skip_blanks(p + 1, e);
	}
	json_clear(&st->json);
	const char *const v = json_key(&st->json, p, e, &key, &kind);
	if (v == NULL || v == e)
		return v == NULL ? fail(st, p) : fail_at(st, v, "expected a value");
	if (slice_is(key, "traceEvents") && !st->has_events && *v == '[') {
		end_gap(st, rec, v + 1);
		st->where = CHROME_IN_EVENTS;
		st->first = st->has_events = true;
		return RECORD_DONE;
	}
	if ((q = json_value(&st->json, v, e, &kind)) == NULL)
		return fail(st, p);
	report_flaws(st);
	chrome_read_fact(st, key, &(struct json_token){ v, q, kind });
	end_gap(st, rec, q);
	return RECORD_DONE;
}

/* Reads the event at p; its raw bytes include the comma and blanks before it. */
static enum record_status event_step(struct chrome_reading *st, struct record *rec, const char *p)
{
	struct input *const in = st->r->in;
	struct quoted q;

	json_clear(&st->json);
	if (*p != '{') {
		enum json_kind kind;
		const char *const end = json_value(&st->json, p, in->end, &kind);
		if (end == NULL)
			return fail(st, p);
		chrome_report(st, CHROME_RULE_NOT_AN_EVENT, p, "expected an object, found %s",
		              quote_start(&q, p, end));
		end_gap(st, rec, end);
		return RECORD_DONE;
	}
	const char *const end = parse_event(st, p, in->end);
	if (end == NULL)
		return fail(st, p);
	report_flaws(st);
	if (!chrome_read_event(st, rec)) {
		end_gap(st, rec, end);
		return RECORD_DONE;
	}
	rec->p = p;
	rec->offset = input_offset(in, p);
	end_at(st, rec, end);
	return RECORD_DONE;
}

/* Reads an event, or the end of the array. */
static enum record_status array_step(struct chrome_reading *st, struct record *rec)
{
	struct input *const in = st->r->in;
	const char *const e = in->end, *p = json_skip_blanks(in->p, e);
	const char *comma = NULL;

	if (p < e && *p == ',' && !st->first) {
		comma = p;
		p = json_skip_blanks(p + 1, e);
	}
	if (p == e) {
		if (!in->last)
			return (size_t)(e - in->p) > CHROME_MAX_EVENT ? fail_at(st, p, "") : RECORD_MORE;
		chrome_report(st, CHROME_RULE_UNCLOSED, e, "the input ends after %" PRIu64 " events",
		              st->r->records);
		end_gap(st, rec, e);
		st->where = CHROME_AT_END;
		return RECORD_DONE;
	}
	if (*p == ']') {
		if (comma != NULL)
			chrome_report(st, CHROME_RULE_TRAILING_COMMA, comma, "trailing comma; ignored");
		end_gap(st, rec, p + 1);
		st->where = st->in_object ? CHROME_IN_OBJECT : CHROME_AT_END;
		return RECORD_DONE;
	}
	if (comma == NULL && !st->first)
		return fail_at(st, p, "expected a comma or a closing bracket");
	return event_step(st, rec, p);
}

static enum record_status start_step(struct chrome_reading *st, struct record *rec)
{
	struct input *const in = st->r->in;
	const char *p = in->p;

	if (in->end - p < 3 && !in->last)
		return RECORD_MORE;
	if (in->end - p >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
		p += 3;
	p = json_skip_blanks(p, in->end);
	if (p == in->end)
		return fail_at(st, p, "expected an object or an array");
	if (*p != '{' && *p != '[')
		return fail_at(st, p, "expected an object or an array");
	st->in_object = *p == '{';
	end_gap(st, rec, p + 1);
	st->where = st->in_object ? CHROME_IN_OBJECT : CHROME_IN_EVENTS;
	st->has_events = !st->in_object;
	st->first = true;
	return RECORD_DONE;
}

static enum record_status end_step(struct chrome_reading *st, struct record *rec)
{
	struct input *const in = st->r->in;
	const char *const p = json_skip_blanks(in->p, in->end);
	struct quoted q;

	if (p < in->end) {
		chrome_report(st, CHROME_RULE_NOT_JSON, p, "expected the end of the input, found %s",
		              quote_start(&q, p, p + 1));
		return RECORD_BAD;
	}
	if (!in->last)
		return RECORD_MORE;
	if (in->p == p)
		return RECORD_END;
	end_gap(st, rec, p);
	return RECORD_DONE;
}

static enum record_status read_record(struct reader *r, struct record *rec)
{
	struct chrome_reading *const st = r->state;

	st->line = st->next_line;
	st->json.complete = r->in->last;
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

/* ---- the reader ---- */

static bool open_reader(struct reader *r)
{
	struct chrome_reading *const st = r->state;

	st->r = r;
	st->json = (struct json){ .lenient = true, .depth = JSON_MAX_DEPTH };
	st->next_line.number = 1;
	st->names_for = st;
	if (r->ahead_of != NULL) { /* const, but this pass fills the names of the other reader */
		union {
			const void *state;
			struct chrome_reading *asking;
		} of = { .state = r->ahead_of };
		st->names_for = of.asking;
	}
	r->trace->free_order = true;
	chrome_look_at_head(st);
	st->gaps = trace_add_class(r->trace, SLICE_LIT("between events"));
	if (st->gaps == NULL)
		return false;
	st->gaps->fields = &gap_field;
	st->gaps->nfields = 1;
	return true;
}

static void close_reader(struct reader *r)
{
	struct chrome_reading *const st = r->state;

	chrome_tasks_free(st);
	chrome_pairs_free(st);
	chrome_frames_free(&st->frames);
	tabletext_free(&st->class_names[0]);
	tabletext_free(&st->class_names[1]);
	arena_free(&st->scratch);
}

const struct reader_ops chrome_reader_ops = {
	.state_size = sizeof(struct chrome_reading),
	.common_suffix = true,
	.probe = chrome_probe,
	.zero = chrome_zero,
	.open = open_reader,
	.record = read_record,
	.event = chrome_meaning,
	.fields = chrome_fields,
	.end = chrome_end,
	.extra = 2,
	.close = close_reader,
};
