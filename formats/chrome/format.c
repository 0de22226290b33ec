/*
 * The formats chrome and chrome-dir, and the probe: an object with an array traceEvents, or an array of
 * objects that have a ph of the format.  Other formats use such objects too, so the score is below that of
 * formats whose signature only their own writers produce.
 */
#include "chrome/chrome.h"

#include "base/numbers.h"

/* ---- probe ---- */

#define OBJECT_BITS 48
#define ARRAY_BITS 40
#define LIKELY_BITS 24 /* the bytes end before the deciding member */
#define EMPTY_BITS 4
#define PROBED_ELEMENTS 4 /* of an array */

/* Returns true for members that precede traceEvents in some files. */
static bool is_known_member(struct slice key)
{
	static const char *const keys[] = { "displayTimeUnit", "otherData",         "stackFrames",
		                            "samples",         "systemTraceEvents", "controllerTraceDataKey",
		                            "schemaVersion" };

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (slice_is(key, keys[i]))
			return true;
	return false;
}

static int probe_object(struct json *x, const char *p, const char *e)
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
		unit |= slice_is(key, "displayTimeUnit"); /* no other format has it */
		p = json_value(x, p, e, &kind);
		if (p == NULL)
			break;
	}
	return unit || (known && p == NULL && x->error.cut) ? LIKELY_BITS : 0;
}

/* Returns true if the object at p is an event.  *end: after the object, NULL if it is cut or invalid. */
static bool is_event(struct json *x, const char *p, const char *e, const char **end)
{
	struct json_walk w = json_walk(x, p, e);
	bool has_phase = false, has_time = false;

	while (json_walk_next(&w)) {
		const struct slice key = json_token_text(&w.key), text = json_token_text(&w.value);
		if (slice_is(key, "ph"))
			has_phase = w.value.kind == JSON_STRING && text.n == 1 && chrome_phase_known(*text.p);
		has_time |= slice_is(key, "ts") || (slice_is(key, "ph") && slice_is(text, "M"));
	}
	*end = w.p;
	return has_phase && has_time;
}

static int probe_array(struct json *x, const char *p, const char *e)
{
	bool more;
	unsigned i = 0;

	for (p = json_first(x, p, e, &more); p != NULL && more && i < PROBED_ELEMENTS;
	     p = json_next(x, p, e, ']', &more), i++) {
		const char *end;
		if (*p != '{')
			return 0;
		const bool event = is_event(x, p, e, &end);
		if (event && end == NULL)
			return x->error.cut ? LIKELY_BITS : 0;
		/* A comma, a bracket or nothing must follow: an array may lack its end. */
		end = end != NULL ? json_skip_blanks(end, e) : NULL;
		if (event && (end == e || *end == ',' || *end == ']'))
			return ARRAY_BITS;
		if (end == NULL)
			return 0;
		p = end;
	}
	return i == 0 && (p != NULL || x->error.cut) ? EMPTY_BITS : 0;
}

int chrome_probe(struct slice head, bool complete)
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

/* ---- format ---- */

const struct rule chrome_rules[CHROME_RULE_COUNT + 1] = {
#define RULE RULE_ROW
#include "chrome/rules.def"
#undef RULE
	{ .id = NULL }
};

static const char *const suffixes[] = { ".json", NULL };
static const char *const dir_suffixes[] = { ".json.d", NULL };

#define MIN_PART_BYTES 1024U

static const char *part_size_mistake(const char *arg)
{
	uint64_t n;

	if (units_bytes(slice_str(arg), &n) && n >= MIN_PART_BYTES)
		return NULL;
	return "takes a number of bytes, at least 1024";
}

#define IDS                                                                                                  \
	{                                                                                                    \
		.name = "ids", .help = "add the original pid and tid to each event, as members of ids",      \
		.of_output = true                                                                            \
	}

static const struct format_option options[] = { IDS, { .name = NULL } };

static const struct format_option dir_options[] = {
	IDS,
	{ .name = "part-size",
	  .arg = "BYTES",
	  .help = "size of a part, such as 20M (default: 256 MiB, of JSON 100 MiB)",
	  .mistake = part_size_mistake },
	{ .name = NULL },
};

extern const struct format chrome_format, chrome_dir_format;

const struct format chrome_format = {
	.name = "chrome",
	.title = "Chrome trace event JSON",
	.spec = "Trace Event Format (Chromium)",
	.suffixes = suffixes,
	.dialects = chrome_dialects + 1,
	.options = options,
	.reader = &chrome_reader_ops,
	.writer = &chrome_writer_ops,
	.rules = chrome_rules,
	.losses = chrome_losses,
	.features = HAS_FIELDS | HAS_INSTANTS | HAS_COUNTERS | HAS_ARROWS | HAS_ASYNC | HAS_ENDS |
	            HAS_STACKS | HAS_LISTS | HAS_NOT_UTF8 | HAS_NUL | HAS_FACTS | HAS_EPOCH | HAS_DEEP |
	            HAS_NUMBERS | HAS_STEPS,
};

const struct format chrome_dir_format = {
	.name = "chrome-dir",
	.title = "Chrome trace event JSON, parts",
	.spec = "Trace Event Format (Chromium)",
	.suffixes = dir_suffixes,
	.options = dir_options,
	.writer = &chrome_dir_writer_ops,
	.losses = chrome_losses,
};
