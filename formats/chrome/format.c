/*
 * The formats chrome and chrome-dir, and the probe: an object with an array traceEvents, or an array of
 * objects with a ph of the format.  Other formats use such objects, too, so the score is below that of
 * formats with a signature of their own.
 */
#include "chrome/chrome.h"

#include "base/match.h"
#include "base/numbers.h"
#include "chrome/write/write.h"

/* ---- probe ---- */

#define OBJECT_BITS 48
#define ARRAY_BITS 40
#define LIKELY_BITS 24 /* the bytes end before the deciding member */
#define CUT_BITS 26    /* they end in the first event; above formats of a record per line */
#define EMPTY_BITS 4
#define LINES_BITS 28
#define DAMAGED_BITS 20
#define PROBED_ELEMENTS 4 /* of an array */
#define PROBED_BRACES 200 /* if neither an object nor an array is whole */

/* Members that precede traceEvents in some files. */
static const char *const known_members[] = {
	"displayTimeUnit",    "otherData",
	"stackFrames",        "samples",
	"systemTraceEvents",  "controllerTraceDataKey",
	"schemaVersion",      "file_info",
	"viztracer_metadata", "deviceProperties",
	"distributedInfo",    "baseTimeNanoseconds",
	"beginningOfTime",    NULL,
};

/* Whether an object with the key, in quotes, begins at p. */
static bool is_object_with(const char *p, const char *e, struct slice key)
{
	return p < e && *p == '{' && chrome_has_key(p, e, key);
}

static int probe_object(struct json *x, const char *p, const char *e)
{
	bool more = false, known = false, unit = false;
	enum json_kind kind;
	char word[JSON_WORD];
	struct slice key;

	for (p = json_first(x, p, e, &more); p != NULL && more; p = json_next(x, p, e, '}', &more)) {
		p = json_key(x, p, e, &key, &kind);
		if (p == NULL)
			break;
		key = json_plain(word, key);
		if (slice_is(key, "traceEvents"))
			return p == e || *p == '[' ? OBJECT_BITS : 0;
		if (slice_is(key, "nodes") && p < e && *p == '[' &&
		    is_object_with(json_skip_blanks(p + 1, e), e, SLICE_LIT("\"callFrame\"")))
			return OBJECT_BITS; /* a CPU profile of V8 */
		/* Chromium's DevTools write `metadata` first; it may contain source maps */
		known |= slice_is_one_of(key, known_members) ||
		         (slice_is(key, "metadata") && is_object_with(p, e, SLICE_LIT("\"dataOrigin\"")));
		unit |= slice_is(key, "displayTimeUnit"); /* no other format has it */
		p = json_value(x, p, e, &kind);
		if (p == NULL)
			break;
	}
	return unit || (known && p == NULL && x->error.cut) ? LIKELY_BITS : 0;
}

/* Whether the object at p is an event.  *end: after the object, NULL if it is cut or invalid. */
static bool is_event(struct json *x, const char *p, const char *e, const char **end)
{
	struct json_walk w = json_walk(x, p, e);
	bool has_phase = false, has_time = false;
	char words[2][JSON_WORD];

	while (json_walk_next(&w)) {
		const struct slice key = json_plain(words[0], json_token_text(&w.key)),
		                   text = json_plain(words[1], json_token_text(&w.value));
		if (slice_is(key, "ph"))
			has_phase = text.n == 1 && chrome_phase_known(*text.p);
		has_time |= slice_is(key, "ts") || (slice_is(key, "ph") && slice_is(text, "M"));
	}
	*end = w.p;
	return has_phase && has_time;
}

static bool starts_with_member(const char *p, const char *e)
{
	struct slice key;
	bool more = false;

	return chrome_key_at(json_skip_blanks(p + 1, e), e, &key, &more) &&
	       chrome_find_member(key) != CHROME_MEMBERS;
}

static int probe_array(struct json *x, const char *p, const char *e)
{
	bool more = false;
	unsigned i = 0;

	for (p = json_first(x, p, e, &more); p != NULL && more && i < PROBED_ELEMENTS;
	     p = json_next(x, p, e, ']', &more), i++) {
		const char *end;
		if (*p != '{')
			return 0;
		const bool event = is_event(x, p, e, &end);
		if (event && end == NULL)
			return x->error.cut ? CUT_BITS : 0;
		if (end == NULL && !x->complete && x->error.cut && starts_with_member(p, e))
			return EMPTY_BITS; /* its phase comes later */
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

/* Returns the position after the first `"key":`, or NULL. */
static const char *find_key(const char *p, const char *e, const char *key)
{
	const size_t n = strlen(key);
	struct slice found;
	bool more = false;

	for (; e - p > (ptrdiff_t)n && (p = memchr(p, '"', (size_t)(e - p))) != NULL; p++)
		if (chrome_key_at(p, e, &found, &more) && slice_is(found, key))
			return (const char *)memchr(p, ':', (size_t)(e - p)) + 1;
	return NULL;
}

/* Whether p is at a key of an event without quotes or with single quotes: `ph:`, `'ph':`. */
static bool is_bare_key(const char *p, const char *e)
{
	p = json_skip_blanks(p, e);
	p += p < e && *p == '\'';
	const char *const name = p;
	while (p < e && ((*p >= 'a' && *p <= 'z') || *p == '2'))
		p++;
	const struct slice key = slice_of(name, (size_t)(p - name));
	p += p < e && (*p == '\'' || *p == '"');
	p = json_skip_blanks(p, e);
	return p < e && *p == ':' && chrome_find_member(key) != CHROME_MEMBERS;
}

/* Whether an event starts at the brace p, though it may be damaged. */
static bool starts_event(const char *p, const char *e)
{
	struct chrome_phases phases = { .from = NULL };
	bool more = false;

	if (!chrome_event_starts(&phases, p, e, &more))
		return false;
	const char *const start = p;
	p = find_key(p, e, "ph");
	const char *const ph = p != NULL ? json_skip_blanks(p, e) : e;
	return e - ph >= 3 && ph[0] == '"' && ph[2] == '"' && chrome_phase_known(ph[1]) &&
	       (ph[1] == 'M' || find_key(start, e, "ts") != NULL);
}

/* Events not preceded by a bracket or a document: one a line, or after lines of a log or a comment. */
static int probe_damaged(const char *p, const char *e)
{
	const char *const start = p;

	for (unsigned braces = 0; p < e && braces < PROBED_BRACES; p++) {
		if (*p != '{')
			continue;
		braces++;
		if (starts_event(p, e))
			return p == start || p[-1] == '[' || p[-1] == '\n' ? LINES_BITS : DAMAGED_BITS;
		if (is_bare_key(p + 1, e))
			return DAMAGED_BITS;
	}
	return 0;
}

/* Returns the score of a file in UTF-16: that of its ASCII characters, without the byte order mark. */
static int probe_wide(struct slice head, bool big)
{
	char text[2048];
	uint32_t n = 0;

	for (uint32_t i = 2; i + 1 < head.n && n < sizeof text; i += 2)
		text[n++] = head.p[i + !big] == '\0' ? head.p[i + big] : '?';
	return chrome_probe(slice_of(text, n), n < sizeof text);
}

int chrome_probe(struct slice head, bool complete)
{
	struct json x = { .lenient = true, .complete = complete, .depth = JSON_MAX_DEPTH };
	const char *p = head.p, *const e = head.p + head.n;
	int bits = 0;

	if (utf8_has_mark(p, head.n))
		p += 3;
	if (chrome_has_wide_mark(head))
		return probe_wide(head, *p == '\xfe');
	p = json_skip_blanks(p, e);
	if (p == e)
		return 0;
	if (*p == '{')
		bits = probe_object(&x, p, e);
	else if (*p == '[')
		bits = probe_array(&x, p, e);
	return bits > 0 ? bits : probe_damaged(p, e);
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
	  /* equal to that of parquet-dir, as options of the same name have one line in the help of convert */
	  .help = "size of a part, such as 20M (default: 256 MiB, of JSON 100 MiB)",
	  .mistake = part_size_mistake },
	{ .name = NULL },
};

const struct format chrome_format = {
	.name = "chrome",
	.title = "Chrome trace event JSON",
	.spec = "Trace Event Format (Chromium)",
	.suffixes = suffixes,
	.dialects = chrome_dialects + 1,
	.options = options,
	.reader = &chrome_reader_ops,
	.recover = &chrome_recover_ops,
	.writer = &chrome_writer_ops,
	.rules = chrome_rules,
	.losses = chrome_losses,
	.features = HAS_FIELDS | HAS_INSTANTS | HAS_COUNTERS | HAS_ARROWS | HAS_ASYNC | HAS_ENDS |
	            HAS_STACKS | HAS_LISTS | HAS_NOT_UTF8 | HAS_NUL | HAS_FACTS | HAS_EPOCH | HAS_HOSTS |
	            HAS_DEEP_JSON | HAS_NUMBERS | HAS_STEPS,
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
