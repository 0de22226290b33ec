/*
 * Facts of the whole trace: the members of the object around the events.  They become metadata, with their
 * nesting; members that state the wall time of the file's time 0 become the epoch.  Members of otherData are
 * separate facts, as this program writes its facts there.
 *
 * A trace may be a part of a job: a rank of a PyTorch program, an object of a clang build.  Files of a folder
 * have equal processes (GPU 0 to 7, pid 1), so the part precedes their names: "rank 3: GPU 0".
 */
#include "chrome/chrome.h"

#include "base/os.h"

/* ---- dialects ---- */

/*
 * Dialects: the program that wrote the file, by marks: members of the object, the start of the input, or
 * categories and names of the first events.  Of the marks of events, the first decides; a member of the
 * object wins over it, even if it follows.  The dialect gives the clock, and the rules of its vocabulary
 * ("kineto:kernel").
 */

#define HEAD (1u << 18)     /* bytes that are searched at the start of the input */
#define TAIL 4096u          /* and at its end, if that is in the window */
#define MARKED_EVENTS 4096u /* events that are searched for marks */

const char *const chrome_dialects[CHROME_DIALECTS + 1] = {
	"",      "chrome",     "kineto",    "clang-time-trace", "nvcc",      "bazel",
	"jax",   "node",       "viztracer", "tracing-chrome",   "uftrace",   "go",
	"cmake", "typescript", "perfetto",  "cpuprofile",       "tracetool", NULL
};

/* NULL: not known */
static const char *const clocks[CHROME_DIALECTS] = {
	[CHROME_DIALECT_CHROME] = "monotonic",     [CHROME_DIALECT_KINETO] = "unix",
	[CHROME_DIALECT_CLANG] = "monotonic",      [CHROME_DIALECT_NVCC] = "monotonic",
	[CHROME_DIALECT_BAZEL] = "monotonic",      [CHROME_DIALECT_NODE] = "monotonic",
	[CHROME_DIALECT_VIZTRACER] = "monotonic",  [CHROME_DIALECT_TRACING] = "monotonic",
	[CHROME_DIALECT_UFTRACE] = "monotonic",    [CHROME_DIALECT_CPUPROFILE] = "monotonic",
	[CHROME_DIALECT_GO] = "monotonic",         [CHROME_DIALECT_CMAKE] = "monotonic",
	[CHROME_DIALECT_TYPESCRIPT] = "monotonic",
};

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
	const size_t n = strlen(text);

	for (const char *p = s.p, *const e = s.p + s.n; (size_t)(e - p) >= n; p++) {
		p = memchr(p, *text, (size_t)(e - p) - n + 1);
		if (p == NULL)
			return false;
		if (memcmp(p, text, n) == 0)
			return true;
	}
	return false;
}

static enum chrome_dialect find_mark(struct slice s)
{
	for (size_t i = 0; i < sizeof head_marks / sizeof head_marks[0]; i++)
		if (holds(s, head_marks[i].text))
			return head_marks[i].dialect;
	return CHROME_DIALECT_UNKNOWN;
}

/* Returns true if key is at p; its value, if the text contains it, is at *value. */
static bool is_key(const char *p, const char *e, struct slice key, const char **value)
{
	if ((size_t)(e - p) <= key.n || memcmp(p, key.p, key.n) != 0)
		return false;
	p = json_skip_blanks(p + key.n, e);
	*value = json_skip_blanks(p < e && *p == ':' ? p + 1 : p, e);
	return true;
}

/* Returns the end of the text before p, without blanks. */
static const char *skip_blanks_back(const char *begin, const char *p)
{
	while (p > begin && (p[-1] == ' ' || p[-1] == '\t' || p[-1] == '\n' || p[-1] == '\r'))
		p--;
	return p;
}

/* Returns true if the text has a ts with a minus sign, of an event or in arguments. */
static bool holds_negative_key(struct slice s)
{
	const char *const e = s.p + s.n;

	for (const char *p = s.p; (p = memchr(p, '-', (size_t)(e - p))) != NULL; p++) {
		const char *key = p - (p > s.p && p[-1] == '"');
		key = skip_blanks_back(s.p, key);
		key = skip_blanks_back(s.p, key - (key > s.p && key[-1] == ':'));
		if (key - s.p >= 4 && memcmp(key - 4, "\"ts\"", 4) == 0)
			return true;
	}
	return false;
}

/* Returns true if the text has an event whose ts has a minus sign. */
static bool holds_negative_time(struct slice s)
{
	const char *p = s.p, *value, *const e = s.p + s.n;
	bool skips = true; /* arguments, up to the first that are cut or wrong */

	if (!holds_negative_key(s)) /* the common case, at a tenth of the cost */
		return false;
	while ((p = memchr(p, '"', (size_t)(e - p))) != NULL) {
		if (is_key(p, e, SLICE_LIT("\"ts\""), &value)) {
			p = value + (value < e && *value == '"');
			if (p < e && *p == '-')
				return true;
		} else if (skips && is_key(p, e, SLICE_LIT("\"args\""), &value) && value < e &&
		           *value == '{') {
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

uint64_t chrome_zero(struct input *in)
{
	if ((size_t)(in->end - in->p) < HEAD)
		input_need(in, HEAD);
	const size_t n = (size_t)(in->end - in->p);

	return holds_negative_time(slice_of(in->p, n < HEAD ? n : HEAD)) ? TRACE_ZERO : 0;
}

static const char own_head[] = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";

void chrome_look_at_head(struct chrome_reading *st)
{
	struct reader *const r = st->r;
	const uint64_t zero = chrome_zero(r->in);
	const char *const p = r->in->p;
	const size_t n = (size_t)(r->in->end - p);
	const struct slice marks = slice_of(p, n < TAIL ? n : TAIL);

	r->trace->dialect = "";
	r->trace->clock = "unknown";
	if (r->trace->zero_ns == 0)
		r->trace->zero_ns = zero;
	if (r->dialect != NULL) /* one of these: the command line is checked */
		chrome_set_dialect(st, (enum chrome_dialect)option_word(chrome_dialects, r->dialect));
	st->forced_dialect = r->dialect != NULL;
	if (n >= sizeof own_head - 1 && memcmp(p, own_head, sizeof own_head - 1) == 0)
		chrome_set_dialect(st, CHROME_DIALECT_TRACETOOL);
	chrome_set_dialect(st, find_mark(marks));
	if (st->dialect == CHROME_DIALECT_UNKNOWN && r->in->last)
		chrome_set_dialect(st, find_mark(slice_of(r->in->end - marks.n, marks.n)));
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
	"Frontend", "Backend",    "ExecuteCompiler",     "CodeGen Function", "PerformPendingInstantiations"
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
	const struct slice cat = chrome_token_text(&rec->of[CHROME_CAT]),
	                   name = chrome_token_text(&rec->of[CHROME_NAME]),
	                   args = chrome_token_text(&rec->of[CHROME_ARGS]);

	for (size_t i = 0; i < sizeof categories / sizeof categories[0]; i++)
		if (slice_is(cat, categories[i].text))
			return categories[i].dialect;
	if (cat.n >= 10 && memcmp(cat.p, "__metadata", 10) == 0)
		return is_typescript(name, args) ? CHROME_DIALECT_TYPESCRIPT
		       : is_node_metadata(name)  ? CHROME_DIALECT_NODE
		                                 : CHROME_DIALECT_CHROME;
	if (cat.n >= 4 && memcmp(cat.p, "node", 4) == 0 && (cat.n == 4 || cat.p[4] == '.' || cat.p[4] == ','))
		return CHROME_DIALECT_NODE;
	if (rec->ph == 'X' && cat.n == 0 && holds(args, "\"detail\""))
		for (size_t i = 0; i < sizeof clang_names / sizeof clang_names[0]; i++)
			if (slice_is(name, clang_names[i]))
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
	                         is_node_metadata(chrome_token_text(&st->rec.of[CHROME_NAME]));

	if (st->r->records < MARKED_EVENTS && (st->dialect == CHROME_DIALECT_UNKNOWN || may_be_node))
		chrome_set_dialect(st, event_mark(&st->rec));
	/* other programs: the first time decides, a later one may be a mistake */
	const bool may_be_wall =
	    st->dialect == CHROME_DIALECT_KINETO ||
	    (clocks[st->dialect] == NULL && !st->has_time && st->dialect != CHROME_DIALECT_TRACETOOL);
	if (may_be_wall && st->rec.has_ts)
		chrome_mark_wall(st, st->rec.ts);
	st->has_time |= st->rec.has_ts && st->rec.ph != 'M' && st->rec.ts > trace->zero_ns;
	if (st->rec.ph == 'M' && slice_is(chrome_token_text(&st->rec.of[CHROME_NAME]), "node"))
		chrome_set_dialect(st, CHROME_DIALECT_NODE);
}

#define MAX_FACTS (4u << 20) /* of all */
#define MAX_CLOCK_NAME 60

void chrome_lose_fact(struct chrome_reading *st, struct slice key, const char *at)
{
	struct quoted q;

	st->r->trace->facts_lost++;
	chrome_report(st, CHROME_RULE_FACT_LOST, at, "%s is left out", quoted(&q, key));
}

static void add_fact(struct chrome_reading *st, struct slice key, const struct json_token *t, bool top)
{
	struct trace *const trace = st->r->trace;
	const struct json_token text_of_key = { .p = key.p - 1,
		                                .end = key.p + key.n + 1,
		                                .kind = JSON_ESCAPED };
	const struct slice name = arena_copy(&trace->arena, chrome_text(&st->scratch, &text_of_key));
	struct value v = chrome_read_value(&st->scratch, t);

	if (trace->nmeta >= CHROME_MAX_META || t->end - t->p > CHROME_MAX_FACT || key.n > CHROME_MAX_TITLE ||
	    (size_t)(t->end - t->p) > MAX_FACTS - st->fact_bytes) {
		chrome_lose_fact(st, key, t->p);
		return;
	}
	st->fact_bytes += (uint32_t)(t->end - t->p);
	if (v.type >= VALUE_U8 && v.type <= VALUE_F64) /* the digits of the file */
		v = (struct value){ .type = VALUE_JSON, .count = (uint32_t)(t->end - t->p), .p = t->p };
	if (v.type == VALUE_STRING || v.type == VALUE_JSON) {
		const struct slice copy = arena_copy(&trace->arena, value_text(&v));
		v.p = copy.p;
		if (v.type == VALUE_STRING)
			v.flags = (uint8_t)textscan_slice(copy.p, copy.n).flags;
	}
	v.outer = top;
	if (name.p == NULL || !trace_add_meta(trace, textscan_slice(name.p, name.n), v))
		st->r->no_memory = true;
}

static bool read_uint(const struct json_token *t, uint64_t *v)
{
	const struct slice s = json_token_text(t);

	return (t->kind == JSON_UINT || t->kind == JSON_STRING) && s.n > 0 && json_digits_any(s.p, s.n, v);
}

static void set_epoch(struct chrome_reading *st, const struct json_token *t, uint64_t unit)
{
	uint64_t v;

	if (!read_uint(t, &v) || v > INT64_MAX / unit)
		return;
	trace_change(st->r->trace);
	st->r->trace->epoch_known = st->has_base = true;
	st->r->trace->epoch_ns = v * unit;
}

/* ---- members of objects ---- */

/* tracetool writes the epoch of the clock before times were rebased. */
static void add_rebased(struct chrome_reading *st, const struct json_token *t)
{
	const struct slice s = json_token_text(t);
	const bool minus = s.n > 0 && s.p[0] == '-';
	uint64_t v;

	if ((t->kind != JSON_UINT && t->kind != JSON_INT && t->kind != JSON_STRING) || s.n <= minus ||
	    !json_digits_any(s.p + minus, s.n - minus, &v) || !st->r->trace->epoch_known)
		return;
	trace_change(st->r->trace);
	st->r->trace->epoch_ns += minus ? -v : v; /* wraps as in the writer */
}

/* The clock of the events, as tracetool states it. */
static void name_clock(struct chrome_reading *st, const struct json_token *t)
{
	const struct slice text = json_token_text(t);

	if (t->kind != JSON_STRING || text.n == 0 || text.n > MAX_CLOCK_NAME ||
	    textscan_plain_end(text.p, text.p + text.n) != text.p + text.n)
		return;
	trace_change(st->r->trace);
	const struct slice name = arena_copy(&st->r->trace->arena, text);
	st->r->no_memory |= name.p == NULL;
	if (name.p != NULL)
		st->r->trace->clock = name.p;
}

/* inner: facts of the converted trace, whose clock is not that of the events. */
static void read_other_data(struct chrome_reading *st, const struct json_token *t, bool inner)
{
	struct json_walk w = json_walk_again(t);

	while (json_walk_next(&w)) {
		const struct slice key = json_token_text(&w.key), text = json_token_text(&w.value);
		if (slice_is(key, "epoch_ns") && !inner)
			set_epoch(st, &w.value, 1);
		if (slice_is(key, "rebased_by_ns") && !inner && st->dialect == CHROME_DIALECT_TRACETOOL)
			add_rebased(st, &w.value);
		if (slice_is(key, "clock") && !inner && st->dialect == CHROME_DIALECT_TRACETOOL)
			name_clock(st, &w.value);
		if (slice_is(key, "tool") && trace_tool_is_own(text))
			chrome_set_dialect(st, CHROME_DIALECT_TRACETOOL);
		else if (slice_is(key, "build_id") || slice_is(key, "output_base"))
			chrome_set_dialect(st, CHROME_DIALECT_BAZEL);
		else if (slice_is(key, "isNVRTC"))
			chrome_set_dialect(st, CHROME_DIALECT_NVCC);
		/* facts of the converted trace, as they were */
		if (slice_is(key, "trace") && w.value.kind == JSON_OBJECT &&
		    st->dialect == CHROME_DIALECT_TRACETOOL)
			read_other_data(st, &w.value, true);
		else if (!slice_is(key, "losses") || w.value.kind != JSON_OBJECT)
			add_fact(st, key, &w.value, false);
	}
}

static void read_metadata(struct chrome_reading *st, const struct json_token *t)
{
	struct json_walk w = json_walk_again(t);
	enum chrome_dialect d = CHROME_DIALECT_UNKNOWN;

	while (json_walk_next(&w)) {
		const struct slice key = json_token_text(&w.key), text = json_token_text(&w.value);
		if (slice_is(key, "highres-ticks") && st->unit_ns)
			d = CHROME_DIALECT_JAX;
		else if (slice_is(key, "version") && text.n > 8 && memcmp(text.p, "uftrace ", 8) == 0)
			d = CHROME_DIALECT_UFTRACE;
		else if (slice_is(key, "clock-domain") || slice_is(key, "source"))
			d = CHROME_DIALECT_CHROME;
		/* Chromium makes its JSON with Perfetto's export since 2022 */
		else if (slice_is(key, "trace_processor_stats") && d == CHROME_DIALECT_UNKNOWN)
			d = CHROME_DIALECT_PERFETTO;
	}
	chrome_set_dialect(st, d);
}

static void read_viztracer(struct chrome_reading *st, const struct json_token *t)
{
	struct json_walk w = json_walk_again(t);

	chrome_set_dialect(st, CHROME_DIALECT_VIZTRACER);
	while (json_walk_next(&w))
		if (slice_is(json_token_text(&w.key), "baseTimeNanoseconds"))
			set_epoch(st, &w.value, 1);
}

static void read_ranks(struct chrome_reading *st, const struct json_token *t)
{
	struct json_walk w = json_walk_again(t);
	uint64_t v;

	while (json_walk_next(&w)) {
		const struct slice key = json_token_text(&w.key), text = json_token_text(&w.value);
		if (text.n == 0 || !json_digits_any(text.p, text.n, &v))
			continue;
		if (slice_is(key, "rank")) {
			st->has_rank = true;
			st->rank = v;
		} else if (slice_is(key, "world_size")) {
			trace_change(st->r->trace);
			st->r->trace->parts = v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
		}
	}
}

/* Reads a member that is more than a fact. */
static void read_known(struct chrome_reading *st, struct slice key, const struct json_token *t)
{
	uint64_t us;

	if (slice_is(key, "baseTimeNanoseconds")) {
		set_epoch(st, t, 1);
		if (st->dialect == CHROME_DIALECT_UNKNOWN)
			chrome_set_dialect(st, CHROME_DIALECT_KINETO);
	} else if (slice_is(key, "beginningOfTime")) {
		if (read_uint(t, &us) &&
		    us >= CHROME_YEAR_2001_NS / 1000) /* LDC: since the machine started */
			set_epoch(st, t, 1000);
		chrome_set_dialect(st, CHROME_DIALECT_CLANG);
	} else if (slice_is(key, "deviceProperties") || slice_is(key, "distributedInfo")) {
		chrome_set_dialect(st, CHROME_DIALECT_KINETO);
		if (t->kind == JSON_OBJECT)
			read_ranks(st, t);
	} else if (slice_is(key, "metadata") && t->kind == JSON_OBJECT) {
		read_metadata(st, t);
	} else if (slice_is(key, "viztracer_metadata") && t->kind == JSON_OBJECT) {
		read_viztracer(st, t);
	} else if (slice_is(key, "clientInfo")) {
		chrome_set_dialect(st, CHROME_DIALECT_CHROME);
	}
}

void chrome_read_fact(struct chrome_reading *st, struct slice key, const struct json_token *t)
{
	if (slice_is(key, "stackFrames") && t->kind == JSON_OBJECT &&
	    (uint64_t)(t->end - t->p) <= st->r->max_record) /* longer ones are not read from a pipe */
		chrome_read_frames(st, t);
	if (st->is_ahead || chrome_read_profile_member(st, key, t))
		return;
	if (slice_is(key, "otherData") && t->kind == JSON_OBJECT) {
		read_other_data(st, t, false);
		return;
	}
	read_known(st, key, t);
	if (slice_is(key, "displayTimeUnit"))
		st->unit_ns = slice_is(json_token_text(t), "ns");
	else
		add_fact(st, key, t, true);
}

/* ---- metadata events ---- */

void chrome_read_metadata(struct chrome_reading *st)
{
	static const char *const others[] = { "process_name", "thread_name", "process_sort_index",
		                              "thread_sort_index" };
	const struct json_token *const name = &st->rec.of[CHROME_NAME], *const args =
	                                                                    &st->rec.of[CHROME_ARGS];
	const struct slice key = chrome_token_text(name);
	struct json_token value = *args;
	unsigned n = 0;

	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (slice_is(key, others[i]))
			return;
	if (args->kind == JSON_ABSENT || *args->p != '{' || name->kind != JSON_STRING || key.n == 0 ||
	    trace_meta(st->r->trace, key) != NULL)
		return;
	struct json_walk w = json_walk_again(args);
	while (json_walk_next(&w) && ++n == 1)
		value = w.value;
	if (n > 0)
		add_fact(st, key, n == 1 ? &value : args, false);
}

/* ---- parts of a job ---- */

/* Finds "rank3", "rank-3" or "rank_3" in a name. */
static bool rank_of_name(const char *name, uint64_t *rank)
{
	for (const char *p = name; (p = strstr(p, "rank")) != NULL;) {
		p += 4;
		p += *p == '-' || *p == '_';
		const size_t n = strspn(p, "0123456789");
		if (n > 0 && json_digits_any(p, (uint32_t)n, rank))
			return true;
	}
	return false;
}

/* Returns the length of a name without the suffixes that all files have. */
static int stem(const char *name)
{
	static const char *const suffixes[] = {
		".gz", ".zst", ".xz", ".json", ".trace", ".pt", ".cpuprofile"
	};
	size_t n = strlen(name);

	for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
		const size_t m = strlen(suffixes[i]);
		if (n > m && memcmp(name + n - m, suffixes[i], m) == 0)
			n -= m;
	}
	return (int)(n < 100 ? n : 100);
}

struct slice chrome_labelled(struct chrome_reading *st, struct slice name)
{
	struct arena *const a = &st->r->trace->arena;
	const char *const file = path_name(st->r->in->path);
	uint64_t rank = st->rank;
	struct slice text;

	if (st->r->folder == 0)
		return name;
	if (st->dialect == CHROME_DIALECT_KINETO && (st->has_rank || rank_of_name(file, &rank)))
		text = arena_printf(a, "rank %" PRIu64 ": %.*s", rank, (int)name.n, name.p);
	else if (st->dialect == CHROME_DIALECT_KINETO || st->dialect == CHROME_DIALECT_CLANG ||
	         st->dialect == CHROME_DIALECT_NVCC || st->dialect == CHROME_DIALECT_CPUPROFILE)
		text = arena_printf(a, "%.*s: %.*s", stem(file), file, (int)name.n, name.p);
	else
		return name;
	st->r->trace->labelled = true;
	return text.p != NULL ? textscan_slice(text.p, text.n) : text;
}
