/*
 * Facts of the whole trace: the members of the object around the events.  They become metadata, with their
 * nesting; members that state the wall time of the file's time 0 become the epoch.  Members of otherData are
 * separate facts, as this program writes its facts there.
 *
 * A trace may be a part of a job: a rank of a PyTorch program, an object of a clang build.  Files of a folder
 * have equal processes (GPU 0 to 7, pid 1), so the part precedes their names: "rank 3: GPU 0".
 */
#include "chrome/chrome.h"

#include "base/match.h"
#include "base/os.h"

#define MAX_FACTS (4u << 20) /* bytes of all facts */

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
	st->r->no_memory |= name.p == NULL || !trace_add_meta(trace, textscan_slice(name.p, name.n), v);
}

static bool read_uint(const struct json_token *t, uint64_t *v)
{
	const struct slice s = json_token_text(t);

	return t->kind == JSON_NUMBER
	           ? json_whole(s, v)
	           : (t->kind == JSON_UINT || t->kind == JSON_STRING) && json_digits_any(s.p, s.n, v);
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
		if (slice_is(key, "clock") && !inner && st->dialect == CHROME_DIALECT_TRACETOOL &&
		    w.value.kind == JSON_STRING)
			(void)trace_name_clock(st->r->trace, text);
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
		                              "thread_sort_index", NULL };
	const struct json_token *const name = &st->rec.of[CHROME_NAME];
	const struct json_token *const args = &st->rec.of[CHROME_ARGS];
	const struct slice key = json_token_text(name);
	struct json_token value = *args;
	unsigned n = 0;

	if (args->kind == JSON_ABSENT || *args->p != '{' || name->kind != JSON_STRING || key.n == 0 ||
	    slice_is_one_of(key, others) || trace_meta(st->r->trace, key) != NULL)
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
	if (st->dialect == CHROME_DIALECT_KINETO && (st->has_rank || rank_of_name(file, &rank))) {
		char digits[DECIMAL_U64_MAX];
		text = ARENA_JOIN(a, SLICE_LIT("rank "), decimal_slice(digits, rank), SLICE_LIT(": "), name);
	} else if (st->dialect == CHROME_DIALECT_KINETO || st->dialect == CHROME_DIALECT_CLANG ||
	           st->dialect == CHROME_DIALECT_NVCC || st->dialect == CHROME_DIALECT_CPUPROFILE)
		text = ARENA_JOIN(a, slice_of(file, (size_t)stem(file)), SLICE_LIT(": "), name);
	else
		return name;
	st->r->trace->labelled = true;
	return text.p != NULL ? textscan_slice(text.p, text.n) : text;
}
