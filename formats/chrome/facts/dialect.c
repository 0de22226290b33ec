/*
 * Dialects: the program that wrote the file, by marks: members of the object, the start of the input, or
 * categories and names of the first events.  Of the marks of events, the first decides; a member of the
 * object wins over it, even if it follows.  The dialect gives the clock, and the rules of its vocabulary
 * ("kineto:kernel").
 */
#include "chrome/chrome.h"

#include "base/match.h"

#define HEAD (1u << 18)     /* bytes that are searched at the start of the input */
#define TAIL 4096u          /* and at its end, if that is in the window */
#define MARKED_EVENTS 4096u /* events that are searched for marks */

#define NAME(dialect, name, clock) name,
#define CLOCK(dialect, name, clock) clock,

const char *const chrome_dialects[CHROME_DIALECTS + 1] = { CHROME_DIALECT_ROWS(NAME) NULL };
static const char *const clocks[CHROME_DIALECTS] = { CHROME_DIALECT_ROWS(CLOCK) };

void chrome_set_dialect(struct chrome_reading *st, enum chrome_dialect d)
{
	if (st->forced_dialect || d == CHROME_DIALECT_UNKNOWN || st->dialect == CHROME_DIALECT_TRACETOOL ||
	    st->dialect == d)
		return;
	trace_change(st->r->trace);
	st->dialect = d;
	st->recent = NULL; /* plans depend on the dialect */
	st->r->trace->dialect = chrome_dialects[d];
	if (clocks[d] != NULL)
		st->r->trace->clock = clocks[d];
}

/* ---- marks of the file ---- */

struct mark {
	const char *text;
	enum chrome_dialect dialect;
};

static const struct mark head_marks[] = {
	{ "\"viztracer_metadata\"", CHROME_DIALECT_VIZTRACER },
	{ "\"deviceProperties\"", CHROME_DIALECT_KINETO },
	{ "\"distributedInfo\"", CHROME_DIALECT_KINETO },
	{ "\"baseTimeNanoseconds\"", CHROME_DIALECT_KINETO },
	{ "\"beginningOfTime\"", CHROME_DIALECT_CLANG },
	{ "\"isNVRTC\"", CHROME_DIALECT_NVCC },
	{ "\"build_id\"", CHROME_DIALECT_BAZEL },
	{ "\"version\":\"uftrace ", CHROME_DIALECT_UFTRACE },
	{ "\"clientInfo\"", CHROME_DIALECT_CHROME },
	{ "\"clock-domain\"", CHROME_DIALECT_CHROME },
	{ "\"trace_processor_stats\"", CHROME_DIALECT_PERFETTO }, /* Chromium has both */
};

static bool holds(struct slice s, const char *text)
{
	return slice_contains(s, slice_str(text));
}

/* Searches n bytes, at most TAIL. */
static enum chrome_dialect find_mark(const char *p, uint32_t n)
{
	char plain[TAIL];
	const struct slice s = slice_of(plain, (size_t)(json_put_plain(plain, p, p + n) - plain));

	for (size_t i = 0; i < sizeof head_marks / sizeof head_marks[0]; i++)
		if (holds(s, head_marks[i].text))
			return head_marks[i].dialect;
	return CHROME_DIALECT_UNKNOWN;
}

/* Whether the key is at the quote p; its value, if the text contains it, is at *value. */
static bool is_key(const char *p, const char *e, const char *key, const char **value)
{
	const size_t left = (size_t)(e - p) - 1, most = 6 * strlen(key) + 1;
	const char *const close = memchr(p + 1, '"', left < most ? left : most);
	char word[JSON_WORD];

	if (close == NULL || !slice_is(json_plain(word, slice_of(p + 1, (size_t)(close - p) - 1)), key))
		return false;
	p = json_skip_blanks(close + 1, e);
	*value = json_skip_blanks(p < e && *p == ':' ? p + 1 : p, e);
	return true;
}

/* Whether the key ts ends before p. */
static bool ends_with_ts(const char *begin, const char *p)
{
	const char *const close = p - 1, *open = close, *value;

	if (p == begin || *close != '"')
		return false;
	while (open > begin && close - open <= 2 * 6)
		if (*--open == '"')
			return is_key(open, p, "ts", &value);
	return false;
}

/* Whether the text has a ts with a minus sign, of an event or in arguments. */
static bool holds_negative_key(struct slice s)
{
	const char *const e = s.p + s.n;

	for (const char *p = s.p; (p = memchr(p, '-', (size_t)(e - p))) != NULL; p++) {
		const char *key = p - (p > s.p && p[-1] == '"');
		key = json_skip_blanks_back(s.p, key);
		key = json_skip_blanks_back(s.p, key - (key > s.p && key[-1] == ':'));
		if (ends_with_ts(s.p, key))
			return true;
	}
	return false;
}

/* Whether the text has an event whose ts has a minus sign. */
static bool holds_negative_time(struct slice s)
{
	const char *p = s.p, *value, *const e = s.p + s.n;
	bool skips = true; /* arguments, up to the first that are cut or wrong */

	if (!holds_negative_key(s)) /* the common case, at a tenth of the cost */
		return false;
	while ((p = memchr(p, '"', (size_t)(e - p))) != NULL) {
		if (is_key(p, e, "ts", &value)) {
			p = value + (value < e && *value == '"');
			if (p < e && *p == '-')
				return true;
		} else if (skips && is_key(p, e, "args", &value) && value < e && *value == '{') {
			struct json x = { .lenient = true, .depth = JSON_MAX_DEPTH };
			enum json_kind kind;
			const char *const end = json_nested(&x, value, e, &kind);
			skips = end != NULL;
			p = skips ? end : value;
		} else {
			p++;
		}
	}
	return false;
}

/* Likewise for UTF-16, also for a ts in arguments.  The key is searched in the 32 to 63 characters before the
 * minus sign. */
static bool holds_negative_wide(struct slice s)
{
	const size_t low = s.p[0] == '\xff' ? 0 : 1; /* offset of the lower byte of a unit */
	char near[64];
	size_t n = 0;

	for (size_t i = 2; i + 1 < s.n; i += 2) {
		if (n == sizeof near) {
			n /= 2;
			memcpy(near, near + n, n);
		}
		near[n++] = s.p[i + 1 - low] == '\0' ? s.p[i + low] : 'x';
		if (near[n - 1] == '-' && holds_negative_key(slice_of(near, n)))
			return true;
	}
	return false;
}

uint64_t chrome_zero(struct input *in)
{
	const struct slice head = reader_peek(in, HEAD);
	const bool wide = chrome_has_wide_mark(head);

	return (wide ? holds_negative_wide(head) : holds_negative_time(head)) ? TRACE_ZERO : 0;
}

static const char own_head[] = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";

void chrome_look_at_head(struct chrome_reading *st)
{
	struct reader *const r = st->r;
	const uint64_t zero = chrome_zero(r->in);
	const char *const p = r->in->p;
	const size_t n = (size_t)(r->in->end - p);
	const uint32_t most = n < TAIL ? (uint32_t)n : TAIL;

	r->trace->dialect = "";
	r->trace->clock = "unknown";
	if (r->trace->zero_ns == 0)
		r->trace->zero_ns = zero;
	if (r->dialect != NULL) /* one of these: the command line is checked */
		chrome_set_dialect(st, (enum chrome_dialect)option_word(chrome_dialects, r->dialect));
	st->forced_dialect = r->dialect != NULL;
	if (n >= sizeof own_head - 1 && memcmp(p, own_head, sizeof own_head - 1) == 0)
		chrome_set_dialect(st, CHROME_DIALECT_TRACETOOL);
	chrome_set_dialect(st, find_mark(p, most));
	if (st->dialect == CHROME_DIALECT_UNKNOWN && r->in->last)
		chrome_set_dialect(st, find_mark(r->in->end - most, most));
}

/* ---- marks of events ---- */

static const struct mark categories[] = {
	{ "cpu_op", CHROME_DIALECT_KINETO },
	{ "cuda_runtime", CHROME_DIALECT_KINETO },
	{ "kernel", CHROME_DIALECT_KINETO },
	{ "user_annotation", CHROME_DIALECT_KINETO },
	{ "python_function", CHROME_DIALECT_KINETO },
	{ "Kernel", CHROME_DIALECT_KINETO },
	{ "Runtime", CHROME_DIALECT_KINETO },
	{ "Operator", CHROME_DIALECT_KINETO },
	{ "FEE", CHROME_DIALECT_VIZTRACER },
	{ "Source", CHROME_DIALECT_CLANG },
	{ "build phase marker", CHROME_DIALECT_BAZEL },
	{ "critical path component", CHROME_DIALECT_BAZEL },
	{ "devtools.timeline", CHROME_DIALECT_CHROME },
	{ "disabled-by-default-devtools.timeline", CHROME_DIALECT_CHROME },
	{ "toplevel", CHROME_DIALECT_CHROME },
	{ "cmake", CHROME_DIALECT_CMAKE },
};

static const char *const clang_names[] = {
	"Source",   "ParseClass", "InstantiateFunction", "InstantiateClass", "OptFunction",
	"Frontend", "Backend",    "ExecuteCompiler",     "CodeGen Function", "PerformPendingInstantiations",
	NULL
};

/* Returns true for metadata of Node.js. */
static bool is_node_metadata(struct slice name)
{
	return slice_is(name, "node") || slice_is(name, "version");
}

/* Returns true for the first event of tsc, which has the metadata of Chromium, so that DevTools read it. */
static bool is_typescript(struct slice name, struct slice args)
{
	return slice_is(name, "process_name") && (holds(args, "\"tsc\"") || holds(args, "\"tsgo\""));
}

static enum chrome_dialect event_mark(const struct chrome_record *rec)
{
	const struct slice cat = json_token_text(&rec->of[CHROME_CAT]),
	                   name = json_token_text(&rec->of[CHROME_NAME]),
	                   args = json_token_text(&rec->of[CHROME_ARGS]);

	for (size_t i = 0; i < sizeof categories / sizeof categories[0]; i++)
		if (slice_is(cat, categories[i].text))
			return categories[i].dialect;
	if (cat.n >= 10 && memcmp(cat.p, "__metadata", 10) == 0)
		return is_typescript(name, args) ? CHROME_DIALECT_TYPESCRIPT
		       : is_node_metadata(name)  ? CHROME_DIALECT_NODE
		                                 : CHROME_DIALECT_CHROME;
	if (cat.n >= 4 && memcmp(cat.p, "node", 4) == 0 && (cat.n == 4 || cat.p[4] == '.' || cat.p[4] == ','))
		return CHROME_DIALECT_NODE;
	if (rec->ph == 'X' && cat.n == 0 && holds(args, "\"detail\"") && slice_is_one_of(name, clang_names))
		return CHROME_DIALECT_CLANG;
	if (rec->ph == 'C' && slice_is(name, "Goroutines") && holds(args, "\"GCWaiting\""))
		return CHROME_DIALECT_GO;
	const struct slice all = slice_of(rec->p, (uint32_t)(rec->end - rec->p));
	if (rec->end - rec->p < 4096 && (holds(all, "\"[file]\"") || holds(all, "\".file\"")))
		return CHROME_DIALECT_TRACING;
	return CHROME_DIALECT_UNKNOWN;
}

void chrome_mark_wall(struct chrome_reading *st, uint64_t ts)
{
	struct trace *const trace = st->r->trace;

	if (trace->epoch_known || st->has_base || ts - trace->zero_ns < CHROME_YEAR_2001_NS ||
	    ts - trace->zero_ns > INT64_MAX)
		return;
	trace_change(trace);
	trace->epoch_known = true; /* the epoch is that of time 0 */
	trace->clock = "unix";
}

void chrome_mark_event(struct chrome_reading *st)
{
	struct trace *const trace = st->r->trace;
	/* Node.js has the metadata of Chromium, then its own */
	const bool may_be_node = st->dialect == CHROME_DIALECT_CHROME && st->rec.ph == 'M' &&
	                         is_node_metadata(json_token_text(&st->rec.of[CHROME_NAME]));

	if (st->r->records < MARKED_EVENTS && (st->dialect == CHROME_DIALECT_UNKNOWN || may_be_node))
		chrome_set_dialect(st, event_mark(&st->rec));
	/* other programs: the first time decides, a later one may be a mistake */
	const bool may_be_wall =
	    st->dialect == CHROME_DIALECT_KINETO ||
	    (clocks[st->dialect] == NULL && !st->has_time && st->dialect != CHROME_DIALECT_TRACETOOL);
	if (may_be_wall && st->rec.has_ts)
		chrome_mark_wall(st, st->rec.ts);
	st->has_time |= st->rec.has_ts && st->rec.ph != 'M' && st->rec.ts > trace->zero_ns;
	if (st->rec.ph == 'M' && slice_is(json_token_text(&st->rec.of[CHROME_NAME]), "node"))
		chrome_set_dialect(st, CHROME_DIALECT_NODE);
}
