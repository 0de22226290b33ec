/*
 * Finds what begins at a bracket or quote: an event, an array of events, the object around it, a member.
 * Reading continues there after damage.
 */
#include "chrome/chrome.h"

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

	for (; p < e; p++) {
		if (*p == '{' || *p == '[') {
			/* No event nests deeper.  So a byte is looked at from few starts, however the braces
			 * are arranged. */
			if (++depth > JSON_MAX_DEPTH)
				return false;
		} else if ((*p == '}' || *p == ']') && --depth == 0) {
			return false;
		} else if (*p == '"') {
			if (depth == 1 && (size_t)(e - p) >= key.n && memcmp(p, key.p, key.n) == 0)
				return true;
			for (p++; p < e && *p != '"' && *p != '\n'; p++)
				p += *p == '\\' && p + 1 < e;
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
	const char *q = p;

	while (q > from && (q[-1] == ' ' || q[-1] == '\t' || q[-1] == '\r' || q[-1] == '\n'))
		q--;
	return (q == from || q[-1] != ':' || is_no_value(from, q - 1, p)) &&
	       chrome_event_starts(&st->phases, p, e, more);
}

bool chrome_is_key(struct slice key)
{
	static const char *const others[] = { "bp",  "bind_id", "flow_in", "flow_out",
		                              "tts", "tdur",    "sf",      "cname" };

	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (slice_is(key, others[i]))
			return true;
	return chrome_find_member(key) != CHROME_MEMBERS;
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

bool chrome_begins_array(struct chrome_reading *st, const char *p, bool *more)
{
	p = json_skip_blanks(p + 1, st->end);
	*more |= p == st->end && !st->last;
	return p < st->end && *p == '{' && chrome_event_starts(&st->phases, p, st->end, more);
}

bool chrome_begins_samples(const struct chrome_reading *st, const char *p, bool *more)
{
	do
		p = json_skip_blanks(p + 1, st->end);
	while (p < st->end && *p == ',');
	*more |= p == st->end && !st->last;
	return p < st->end && *p == '{';
}

bool chrome_begins_object(const struct chrome_reading *st, const char *p, bool *more)
{
	static const char *const keys[] = { "traceEvents",    "displayTimeUnit", "otherData",
		                            "metadata",       "schemaVersion",   "viztracer_metadata",
		                            "beginningOfTime" };
	struct slice key;

	if (!chrome_key_at(json_skip_blanks(p + 1, st->end), st->end, &key, more))
		return false;
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (slice_is(key, keys[i]))
			return true;
	return false;
}

bool chrome_resumes(struct chrome_reading *st, const char *from, const char *p, bool *more)
{
	struct slice key;

	switch (*p) {
	case '{':
		return chrome_starts(st, from, p, st->end, more) ||
		       (st->where != CHROME_IN_EVENTS && st->where != CHROME_IN_OBJECT &&
		        chrome_begins_object(st, p, more));
	case '[':
		return st->where != CHROME_IN_EVENTS && st->where != CHROME_IN_OBJECT &&
		       chrome_begins_array(st, p, more);
	case ']':
		return st->where == CHROME_IN_EVENTS && !st->no_array && ends_array(st, p, more);
	case '"':
		return st->where == CHROME_IN_OBJECT && chrome_key_at(p, st->end, &key, more);
	default:
		return false;
	}
}
