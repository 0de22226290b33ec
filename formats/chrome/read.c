/*
 * The reader: findings, events as tokens, times, fields, facts of the trace.  document/document.c finds the
 * events in the file.
 */
#include "chrome/chrome.h"
#include "base/compiler.h"
#include "base/pieces.h"
#include "model/number.h"

#include <stdarg.h>

/* ---- findings ---- */

/* Returns the bytes of the input from which [from, to) of the window was read. */
static uint64_t bytes_between(const struct chrome_reading *st, const char *from, const char *to)
{
	return st->wide != NULL ? chrome_wide_bytes(st, from, to) : (uint64_t)(to - from);
}

/* A record may have a finding for each of its members: lines are counted from the last finding on. */
struct finding_place chrome_place(struct chrome_reading *st, const char *at)
{
	struct chrome_counted *const c = &st->counted;
	const char *last = NULL;

	at = chrome_origin(st, at);
	if (c->to == NULL || at < c->to)
		*c = (struct chrome_counted){ st->p, chrome_offset(st, st->p), st->line };
	for (const char *p = c->to; p < at && (p = memchr(p, '\n', (size_t)(at - p))) != NULL; p++) {
		c->line.number++;
		last = p + 1;
	}
	if (last != NULL)
		c->line.start = c->offset + bytes_between(st, c->to, last);
	if (at > c->to) {
		c->offset += bytes_between(st, c->to, at);
		c->to = at;
	}
	const uint64_t offset = at == c->to ? c->offset : chrome_offset(st, at);
	return (struct finding_place){ .offset = offset,
		                       .line = c->line.number,
		                       .column = offset - c->line.start + 1,
		                       .record = st->r->records + (st->where == CHROME_IN_EVENTS) };
}

bool chrome_report(struct chrome_reading *st, enum chrome_rule rule, const char *at, const char *fmt, ...)
{
	char text[600];
	va_list ap;

	if (st->r->findings == NULL)
		return false;
	const struct finding_place place = chrome_place(st, at);
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	finding_add_line(st->r->findings, &chrome_rules[rule], place, "%s", text);
	return false;
}

void chrome_report_long(struct chrome_reading *st, const char *at)
{
	finding_add_line(st->r->findings, &input_rules[INPUT_RULE_RECORD_LIMIT], chrome_place(st, at),
	                 "an event was not checked: it is longer than --max-record, %" PRIu64 " bytes",
	                 st->r->max_record);
}

void chrome_report_limit(struct chrome_reading *st, enum chrome_limit which, const char *what)
{
	if (st->limits[which])
		return;
	st->limits[which] = true;
	chrome_report(st, CHROME_RULE_LIMIT, st->p, "%s", what);
}

/* ---- events as tokens ---- */

enum chrome_member chrome_find_member(struct slice key)
{
	/* Literals instead of a loop over names: comparisons of constant length are inlined. */
#define COMPARE(text, member)                                                                                \
	if (memcmp(key.p, text, sizeof text - 1) == 0)                                                       \
		return member;

	switch (key.n) {
	case 1:
		COMPARE("s", CHROME_S)
		break;
	case 2:
		COMPARE("ph", CHROME_PH)
		COMPARE("ts", CHROME_TS)
		COMPARE("id", CHROME_ID)
		COMPARE("bp", CHROME_BP)
		COMPARE("sf", CHROME_SF)
		break;
	case 3:
		COMPARE("pid", CHROME_PID)
		COMPARE("tid", CHROME_TID)
		COMPARE("dur", CHROME_DUR)
		COMPARE("cat", CHROME_CAT)
		COMPARE("id2", CHROME_ID2)
		COMPARE("ids", CHROME_IDS)
		break;
	case 4:
		COMPARE("name", CHROME_NAME)
		COMPARE("args", CHROME_ARGS)
		break;
	case 5:
		COMPARE("scope", CHROME_SCOPE)
		break;
	case 7:
		COMPARE("bind_id", CHROME_BIND_ID)
		COMPARE("flow_in", CHROME_FLOW_IN)
		break;
	case 8:
		COMPARE("flow_out", CHROME_FLOW_OUT)
		break;
	default:
		break;
	}
#undef COMPARE
	return CHROME_MEMBERS;
}

void chrome_report_duplicates(struct chrome_reading *st)
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
			chrome_report(st, CHROME_RULE_DUPLICATE_KEY, w.key.p, "%.*s is in the event twice",
			              (int)key.n, key.p);
		seen[m] = true;
	}
}

const char *chrome_parse_event(struct chrome_record *rec, struct json *json, const char *p, const char *e)
{
	struct slice key;
	bool more;

	chrome_record_clear(rec);
	rec->p = p;
	for (p = json_first(json, p, e, &more); p != NULL && more; p = json_next(json, p, e, '}', &more)) {
		enum json_kind kind;
		const char *const v = json_key(json, p, e, &key, &kind);
		p = v != NULL ? json_value(json, v, e, &kind) : NULL;
		if (p == NULL)
			return NULL;
		const enum chrome_member m = chrome_find_member(key);
		if (m == CHROME_MEMBERS) {
			rec->has_others = true;
			rec->has_other_kinds |= kind < JSON_UINT || kind > JSON_NUMBER;
			continue;
		}
		rec->has_duplicates |= rec->of[m].kind != JSON_ABSENT;
		rec->of[m] = (struct json_token){ v, p, kind };
	}
	if (p == NULL)
		return NULL;
	rec->end = p;
	chrome_record_set_phase(rec);
	return p;
}

struct slice chrome_text(struct arena *a, const struct json_token *t)
{
	const struct slice raw = json_token_text(t);

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
#define NOISE (BELOW / 100)                 /* see chrome_read_times() */

/* A time: whole nanoseconds, and a fraction in units of 1 / BELOW. */
struct usec {
	uint64_t ns, below;
};

static uint64_t add_digit(uint64_t v, char c, uint64_t max, bool *fits)
{
	const uint64_t d = (uint64_t)(c - '0');

	*fits &= v < max / 10 || (v == max / 10 && d <= max % 10);
	return *fits ? v * 10 + d : max;
}

/* parse_usec() for the usual forms: at most 16 digits, as in times since 1970, alone or with a point and
 * three digits. */
static inline bool parse_plain_usec(const char *p, const char *e, uint64_t max, struct usec *t)
{
	const char *const first = p;
	uint64_t v = 0;

	for (; p < e && (unsigned char)(*p - '0') <= 9; p++)
		v = v * 10 + (uint64_t)(*p - '0');
	if (p == first || p - first > 16 || (p < e && (e - p != 4 || *p != '.')))
		return false;
	if (p == e)
		v *= 1000;
	for (p++; p < e; p++) {
		if ((unsigned char)(*p - '0') > 9)
			return false;
		v = v * 10 + (uint64_t)(*p - '0');
	}
	*t = (struct usec){ v, 0 };
	return v <= max;
}

/* Converts decimal microseconds to nanoseconds exactly; *t has no sign.  Returns false beyond `max`. */
static bool parse_usec(const char *p, const char *e, uint64_t max, struct usec *t)
{
	const char *exp = p;
	int place = 3; /* decimal places of ns still to be read; negative: of `below` */
	uint64_t unit = BELOW / 10;
	bool fits = true;

	if (parse_plain_usec(p, e, max, t))
		return true;
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

/* Returns the last time: that of other formats; output of tracetool may use all 64 bits. */
static uint64_t max_time(const struct chrome_reading *st)
{
	return st->dialect == CHROME_DIALECT_TRACETOOL && st->r->trace->zero_ns == 0 ? UINT64_MAX : INT64_MAX;
}

/* A span may last from a time before 0 to the last one. */
static uint64_t max_dur(const struct chrome_reading *st)
{
	return max_time(st) + st->r->trace->zero_ns;
}

/* Returns false if the member is absent or, after a finding, not a number. */
static bool read_time(struct chrome_reading *st, enum chrome_member m, const char *name, struct usec *time)
{
	const struct json_token *const t = &st->rec.of[m];
	const struct slice s = json_token_text(t);
	enum json_kind kind = t->kind;
	struct quoted q;

	if (kind == JSON_ABSENT)
		return false;
	if (kind == JSON_STRING) {
		if (json_is_number(s, &kind))
			chrome_tally(st, CHROME_TALLY_QUOTED, chrome_offset(st, t->p));
		else
			kind = JSON_STRING;
	}
	if (kind != JSON_UINT && kind != JSON_INT && kind != JSON_NUMBER)
		return chrome_report(st, CHROME_RULE_BAD_NUMBER, t->p, "%s is %s, expected a number", name,
		                     quoted(&q, s));
	const bool minus = s.n > 0 && *s.p == '-';
	const uint64_t zero = st->r->trace->zero_ns, max = m == CHROME_DUR ? max_dur(st) : max_time(st);
	if (!parse_usec(s.p + minus, s.p + s.n, max, time))
		chrome_report(st, CHROME_RULE_BAD_NUMBER, t->p, "%s is %s; read as %s%" PRIu64 " ns", name,
		              quoted(&q, s), minus ? "-" : "", time->ns);
	if (!minus || (time->ns == 0 && time->below == 0))
		return true;
	if (m == CHROME_DUR || time->ns > zero || (time->ns == zero && time->below > 0)) {
		chrome_report(st, CHROME_RULE_BAD_NUMBER, t->p, "%s is %s; read as 0", name, quoted(&q, s));
		*time = (struct usec){ 0, 0 };
		return true;
	}
	*time = (struct usec){ -(time->ns + (time->below > 0)), time->below > 0 ? BELOW - time->below : 0 };
	chrome_tally(st, CHROME_TALLY_NEGATIVE, chrome_offset(st, st->rec.p));
	return true;
}

/*
 * Rounds down the begin and the end of a span, not its duration, so that a span does not overlap one that
 * begins at its end.  A sum of floats is a little below the exact value, 0.0009999999997 for 0.001: a time at
 * most NOISE below a nanosecond is rounded up.
 */
void chrome_read_times(struct chrome_reading *st)
{
	struct chrome_record *const rec = &st->rec;
	struct usec ts = { 0, 0 }, dur = { 0, 0 };
	struct quoted q;

	rec->has_ts = read_time(st, CHROME_TS, "ts", &ts);
	rec->has_dur = rec->ph == 'X' && read_time(st, CHROME_DUR, "dur", &dur);
	const uint64_t max = max_dur(st), up = ts.below >= BELOW - NOISE && ts.ns != max_time(st),
	               end_up = (ts.below + dur.below + NOISE) / BELOW;
	rec->ts = st->r->trace->zero_ns + ts.ns + up;
	rec->dur = dur.ns + (dur.ns < max ? end_up - up : 0);
	if (rec->has_ts && rec->has_dur && rec->dur > max - rec->ts) {
		if (dur.ns < max) /* else read_time() reported it */
			chrome_report(st, CHROME_RULE_BAD_NUMBER, rec->of[CHROME_DUR].p,
			              "dur %s and ts together are beyond the last time; shortened",
			              quoted(&q, json_token_text(&rec->of[CHROME_DUR])));
		rec->dur = max - rec->ts;
	}
}

/* ---- fields ---- */

/* Returns JSON without blanks between its tokens; on OOM, `s` itself. */
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
	if (json_is_string(t->kind))
		return value_string(chrome_text(a, t));
	if (t->kind == JSON_OBJECT || t->kind == JSON_ARRAY)
		return value_json(compact(a, json_token_text(t)));
	return value_of_json(t);
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
		f[same].value = f[n].value; /* the last of equal names counts */
		n += same == n;
	}
	b->nfields += n - before;
	e->nfields = (uint16_t)n;
	return true;
}

/* ---- the reader ---- */

static const struct class gap_class = { .name = SLICE_LIT("between events"),
	                                .fields = &reader_bytes_field,
	                                .nfields = 1 };

static bool open_reader(struct reader *r)
{
	struct chrome_reading *const st = r->state;

	st->r = r;
	st->json = (struct json){ .depth = JSON_MAX_DEPTH };
	st->next_line.number = 1;
	st->names_for = st;
	st->is_ahead = r->ahead_of != NULL;
	if (st->is_ahead) { /* const, but this pass sets names in the other reader */
		union {
			const void *state;
			struct chrome_reading *asking;
		} of = { .state = r->ahead_of };
		st->names_for = of.asking;
	}
	r->trace->free_order = true;
	chrome_profiles_init(st);
	chrome_look_at_head(st);
	/* With its field, so that the equal class of earlier files of the trace is found. */
	st->gaps = trace_plan_class(r->trace, &gap_class);
	return st->gaps != NULL && !st->scratch.failed;
}

static void close_reader(struct reader *r)
{
	struct chrome_reading *const st = r->state;

	pieces_free(st->ahead);
	chrome_tasks_free(st);
	chrome_pairs_free(st);
	chrome_frames_free(&st->frames);
	cpu_profiles_free(&st->profiles.all);
	chrome_damage_free(st);
	for (unsigned i = 0; i < CHROME_STACK_KINDS; i++)
		tabletext_free(&st->class_names[i]);
	arena_free(&st->scratch);
}

static const char *const common[] = { ".cpuprofile", NULL }; /* one a process: node --cpu-prof-dir */

const struct reader_ops chrome_reader_ops = {
	.state_size = sizeof(struct chrome_reading),
	.common = common,
	.probe = chrome_probe,
	.zero = chrome_zero,
	.open = open_reader,
	.record = chrome_next_record,
	.event = chrome_meaning,
	.fields = chrome_fields,
	.end = chrome_end,
	.extra = 2,
	.close = close_reader,
};
