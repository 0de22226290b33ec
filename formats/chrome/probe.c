#include "chrome/read.h"

#include "json/json_token.h"

/*
 * Whether bytes are this format: an object with an array traceEvents, or an
 * array of objects that have a ph of the format.  Other formats are made of
 * such objects too: the bits are fewer than those of a format that finds what
 * nobody but its own writers writes.
 */

#define OBJECT_BITS 48
#define ARRAY_BITS 40
#define LIKELY_BITS 24 /* the bytes end before what would decide */
#define EMPTY_BITS 4
#define LOOKED_AT 4 /* elements of an array */

/* Members of the object form that stand before traceEvents in some files. */
static bool
is_known_member(struct slice key)
{
	static const char *const keys[] = { "displayTimeUnit", "otherData",         "stackFrames",
		                            "samples",         "systemTraceEvents", "controllerTraceDataKey",
		                            "schemaVersion" };

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (slice_is(key, keys[i]))
			return true;
	return false;
}

static int
probe_object(struct json *x, const char *p, const char *e)
{
	bool more, known = false, unit = false;
	enum json_kind kind;
	struct slice key;

	for (p = json_first(x, p, e, &more); p != NULL && more; p = json_next(x, p, e, '}', &more)) {
		p = json_key(x, p, e, &key, &kind);
		if (p == NULL)
			break;
		if (slice_is(key, "traceEvents"))
			return p == e || *p == '[' ? OBJECT_BITS : 0;
		known |= is_known_member(key);
		unit |= slice_is(key, "displayTimeUnit"); /* which nobody else has */
		p = json_value(x, p, e, &kind);
		if (p == NULL)
			break;
	}
	return unit || (known && p == NULL && x->error.cut) ? LIKELY_BITS : 0;
}

/* Whether the object at p is an event; *end is behind it, NULL: it could not be read to its end. */
static bool
is_event(struct json *x, const char *p, const char *e, const char **end)
{
	bool more, has_phase = false, has_time = false;
	enum json_kind kind;
	struct slice key;

	for (p = json_first(x, p, e, &more); p != NULL && more; p = json_next(x, p, e, '}', &more)) {
		p = json_key(x, p, e, &key, &kind);
		const char *const v = p;
		if (p == NULL || (p = json_value(x, p, e, &kind)) == NULL)
			break;
		const struct slice text = json_text(v, p, kind);
		if (slice_is(key, "ph"))
			has_phase = kind == JSON_STRING && text.n == 1 && chrome_phase_known(*text.p);
		has_time |= slice_is(key, "ts") || (slice_is(key, "ph") && slice_is(text, "M"));
	}
	*end = p;
	return has_phase && has_time;
}

static int
probe_array(struct json *x, const char *p, const char *e)
{
	bool more;
	unsigned i = 0;

	for (p = json_first(x, p, e, &more); p != NULL && more && i < LOOKED_AT;
	     p = json_next(x, p, e, ']', &more), i++) {
		const char *end;
		if (*p != '{')
			return 0;
		const bool event = is_event(x, p, e, &end);
		if (event && end == NULL)
			return x->error.cut ? LIKELY_BITS : 0;
		/* a comma, a bracket, or nothing: an array may lack its end */
		end = end != NULL ? json_skip_blanks(end, e) : NULL;
		if (event && (end == e || *end == ',' || *end == ']'))
			return ARRAY_BITS;
		if (end == NULL)
			return 0;
		p = end;
	}
	return i == 0 && (p != NULL || x->error.cut) ? EMPTY_BITS : 0;
}

int
chrome_probe(struct slice head, bool complete)
{
	struct json x = { .lenient = true, .complete = complete, .depth = JSON_MAX_DEPTH };
	const char *p = head.p, *const e = head.p + head.n;

	if (head.n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
		p += 3;
	p = json_skip_blanks(p, e);
	if (p == e)
		return 0;
	if (*p == '{')
		return probe_object(&x, p, e);
	return *p == '[' ? probe_array(&x, p, e) : 0;
}
