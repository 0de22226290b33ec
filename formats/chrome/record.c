#include <stdlib.h>

#include "chrome/read.h"

/* One event as tokens, and what they say. */

static enum chrome_member
member_of(struct slice key)
{
	static const struct {
		struct slice key;
		enum chrome_member member;
	} rows[] = {
		{ SLICE_LIT("name"), CHROME_NAME }, { SLICE_LIT("cat"), CHROME_CAT },
		{ SLICE_LIT("ph"), CHROME_PH },     { SLICE_LIT("ts"), CHROME_TS },
		{ SLICE_LIT("dur"), CHROME_DUR },   { SLICE_LIT("pid"), CHROME_PID },
		{ SLICE_LIT("tid"), CHROME_TID },   { SLICE_LIT("args"), CHROME_ARGS },
		{ SLICE_LIT("id"), CHROME_ID },     { SLICE_LIT("id2"), CHROME_ID2 },
		{ SLICE_LIT("s"), CHROME_S },       { SLICE_LIT("scope"), CHROME_SCOPE },
		{ SLICE_LIT("ids"), CHROME_IDS },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (slice_equal(rows[i].key, key))
			return rows[i].member;
	return CHROME_MEMBERS;
}

/* The members that stand in it again.  A pass of its own: nothing is reported of an event before all of it is
 * in the window. */
static void
report_twice(struct chrome_reading *st)
{
	const struct chrome_record *const rec = &st->rec;
	struct json json = st->json; /* its flaws are noted already */
	bool seen[CHROME_MEMBERS] = { false };
	const char *const e = rec->end;
	struct slice key;
	enum json_kind kind;
	bool more;

	for (const char *p = json_first(&json, rec->p, e, &more); p != NULL && more;
	     p = json_next(&json, p, e, '}', &more)) {
		const char *const at = p;
		p = json_key(&json, p, e, &key, &kind);
		p = p != NULL ? json_value(&json, p, e, &kind) : NULL;
		const enum chrome_member m = p != NULL ? member_of(key) : CHROME_MEMBERS;
		if (m == CHROME_MEMBERS)
			continue;
		if (seen[m])
			chrome_report(st, CHROME_RULE_DUPLICATE_KEY, at, "%.*s stands in the event twice",
			              (int)key.n, key.p);
		seen[m] = true;
	}
}

const char *
chrome_parse(struct chrome_reading *st, const char *p, const char *e)
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
		const enum chrome_member m = member_of(key);
		if (m == CHROME_MEMBERS)
			continue;
		if (rec->of[m].kind == JSON_ABSENT)
			rec->of[m] = (struct chrome_token){ v, p, kind };
		else
			rec->twice = true;
	}
	if (p == NULL)
		return NULL;
	rec->end = p;
	if (rec->twice)
		report_twice(st);
	const struct slice ph = chrome_token_text(&rec->of[CHROME_PH]);
	rec->ph = '\0';
	if (ph.n == 1 && rec->of[CHROME_PH].kind == JSON_STRING)
		rec->ph = *ph.p;
	return p;
}

struct slice
chrome_text(struct arena *a, const struct chrome_token *t)
{
	const struct slice raw = chrome_token_text(t);

	if (t->kind == JSON_ESCAPED || (t->kind == JSON_BAD_STRING && memchr(raw.p, '\\', raw.n) != NULL))
		return json_unescape(a, raw);
	return textscan_slice(raw.p, raw.n);
}

/* ---- times ---- */

/* 10^n microseconds are how many nanoseconds; digits beyond the ninth of an exponent count as many. */
static bool
exponent_of(const char *p, const char *e, int *n)
{
	const bool minus = p < e && *p == '-';
	int v = 0;

	if (p < e && (*p == '-' || *p == '+'))
		p++;
	for (; p < e; p++)
		v = v < 10000 ? v * 10 + (*p - '0') : v;
	*n = minus ? -v : v;
	return true;
}

/* Nanoseconds of a number of microseconds, exact; what is below a nanosecond is cut off.  false: they do not
 * fit; *ns is the nearest that does. */
static bool
nanoseconds(struct slice s, uint64_t *ns)
{
	const char *p = s.p, *const e = s.p + s.n;
	const bool minus = p < e && *p == '-';
	int shift = 3; /* decimal places that are still to be taken */
	bool fraction = false, fits = true, zero = true;
	const char *exp = p;

	p += minus;
	while (exp < e && *exp != 'e' && *exp != 'E')
		exp++;
	if (exp < e) {
		int n;
		exponent_of(exp + 1, e, &n);
		shift += n;
	}
	*ns = 0;
	for (; p < exp; p++) {
		if (*p == '.') {
			fraction = true;
			continue;
		}
		if (fraction)
			shift--;
		if (fraction && shift < 0)
			continue;
		if (*ns > (UINT64_MAX - (uint64_t)(*p - '0')) / 10)
			fits = false;
		*ns = *ns * 10 + (uint64_t)(*p - '0');
		zero &= *p == '0';
	}
	for (; shift > 0 && fits && *ns != 0; shift--) {
		fits = *ns <= UINT64_MAX / 10;
		*ns *= 10;
	}
	for (; shift < 0 && !fraction && *ns != 0; shift++)
		*ns /= 10;
	if (!fits)
		*ns = UINT64_MAX;
	if (minus && !zero)
		*ns = 0;
	return fits && !(minus && !zero);
}

/* false: there is none that can be read. */
static bool
time_of(struct chrome_reading *st, enum chrome_member m, const char *name, uint64_t *ns)
{
	const struct chrome_token *const t = &st->rec.of[m];
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
	if (!nanoseconds(s, ns))
		chrome_report(st, CHROME_RULE_BAD_NUMBER, t->p, "%s is %s; read as %" PRIu64 " ns", name,
		              quoted(&q, s), *ns);
	return true;
}

void
chrome_times(struct chrome_reading *st)
{
	struct chrome_record *const rec = &st->rec;
	struct quoted q;

	rec->has_ts = time_of(st, CHROME_TS, "ts", &rec->ts);
	rec->has_dur = rec->ph == 'X' && time_of(st, CHROME_DUR, "dur", &rec->dur);
	if (rec->has_ts && rec->has_dur && rec->dur > UINT64_MAX - rec->ts) {
		if (rec->dur < UINT64_MAX) /* else it was reported */
			chrome_report(st, CHROME_RULE_BAD_NUMBER, rec->of[CHROME_DUR].p,
			              "dur %s and ts together are beyond 2^64 ns; shortened",
			              quoted(&q, chrome_token_text(&rec->of[CHROME_DUR])));
		rec->dur = UINT64_MAX - rec->ts;
	}
}

/* ---- fields ---- */

static struct value
json_text_value(struct slice s)
{
	return (struct value){ .type = VALUE_JSON, .count = s.n, .p = s.p };
}

static struct value
value_of(struct arena *a, const struct chrome_token *t)
{
	const struct slice s = chrome_token_text(t);
	const bool minus = t->kind == JSON_INT;
	uint64_t v;

	switch (t->kind) {
	case JSON_UINT:
	case JSON_INT:
		if (slice_is(s, "-0") || !json_digits_any(s.p + minus, s.n - minus, &v) ||
		    (minus && v > (uint64_t)1 << 63))
			return json_text_value(s);
		return minus ? (struct value){ .type = VALUE_I64, .i64 = (int64_t)-v } : value_u64(v);
	case JSON_TRUE:
	case JSON_FALSE:
		return (struct value){ .type = VALUE_BOOL, .u64 = t->kind == JSON_TRUE };
	case JSON_NULL:
	case JSON_ABSENT:
		return (struct value){ .type = VALUE_NONE };
	case JSON_NUMBER:
	case JSON_OBJECT:
	case JSON_ARRAY:
		return json_text_value(s);
	default:
		return value_string(chrome_text(a, t));
	}
}

/* Of many fields only the nearest are compared: input must not make this slow. */
#define COMPARED 64

static bool
is_there(const struct field *f, uint32_t n, struct slice name)
{
	for (uint32_t i = n > COMPARED ? n - COMPARED : 0; i < n; i++)
		if (slice_equal(f[i].name, name))
			return true;
	return false;
}

bool
chrome_fields(struct chrome_reading *st, struct batch *b, struct event *e, const char *p, const char *end)
{
	struct json json = { .lenient = true, .depth = JSON_MAX_DEPTH, .complete = true };
	const uint32_t before = e->nfields;
	uint32_t n = before;
	bool more;

	if (before == 0)
		e->first_field = b->nfields;
	for (p = json_first(&json, p, end, &more); p != NULL && more;
	     p = json_next(&json, p, end, '}', &more)) {
		struct chrome_token key = { .p = p }, t;
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
		f[n] = (struct field){ chrome_text(&b->scratch, &key), value_of(&b->scratch, &t) };
		if (f[n].name.p == NULL || (f[n].value.type == VALUE_STRING && f[n].value.p == NULL))
			return false;
		if (!is_there(f, n, f[n].name))
			n++;
	}
	b->nfields += n - before;
	e->nfields = (uint16_t)n;
	return true;
}
