/* CPU profiles of V8: nodes, samples and their times, from the lists of a chunk. */
#include "format/cpu_profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/scan.h"
#include "json/number.h"

#define NONE CPU_PROFILE_NONE

/* ---- findings ---- */

/* Mistakes of one kind in a chunk, reported once. */
struct mistakes {
	uint64_t n;
	struct json_token first;
};

static void PRINTF(4, 5)
    report(const struct cpu_profiles *f, enum cpu_profile_fault fault, const char *at, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	f->report(f->ctx, fault, at, text);
}

static void report_limit(const struct cpu_profiles *f, bool *reported, const char *at, const char *what)
{
	if (!*reported)
		f->report(f->ctx, CPU_PROFILE_LIMIT, at, what);
	*reported = true;
}

static void add_mistake(struct mistakes *m, const struct json_token *t)
{
	if (m->n++ == 0)
		m->first = *t;
}

static void report_mistakes(const struct cpu_profiles *f, enum cpu_profile_fault fault,
                            const struct mistakes *m, const char *what)
{
	struct quoted q;

	if (m->n > 0)
		report(f, fault, m->first.p, "%s: %s; %" PRIu64 " in this chunk", what,
		       quoted(&q, json_token_text(&m->first)), m->n);
}

/* ---- tokens ---- */

struct cpu_profile_chunk cpu_profile_chunk(const struct json_token *data)
{
	static const char *const outer[] = { "cpuProfile", "timeDeltas", "lines", "columns" },
	                         *const inner[] = { "nodes", "samples" };
	struct json_token of[4], in[2];

	json_members(data, outer, 4, of);
	json_members(&of[0], inner, 2, in);
	return (struct cpu_profile_chunk){
		.nodes = in[0], .samples = in[1], .times = of[1], .lines = of[2], .columns = of[3]
	};
}

static bool read_u32(const struct json_token *t, uint32_t *v)
{
	const struct slice s = json_token_text(t);
	uint64_t wide;

	if (t->kind != JSON_UINT || !json_digits_any(s.p, s.n, &wide) || wide >= UINT32_MAX)
		return false;
	*v = (uint32_t)wide;
	return true;
}

static bool read_i64(const struct json_token *t, int64_t *v)
{
	uint64_t bits;

	if ((t->kind != JSON_UINT && t->kind != JSON_INT) || !json_integer(json_token_text(t), &bits) ||
	    (t->kind == JSON_UINT && bits > INT64_MAX))
		return false;
	*v = (int64_t)bits;
	return true;
}

/* V8 writes integers, Bun's start of a profile has a fraction. */
bool cpu_profile_time(const struct json_token *t, int64_t *ns)
{
	static const int64_t units[] = { 100, 10, 1 };
	const struct slice s = json_token_text(t);
	const char *const e = s.p + s.n, *const dot = t->kind == JSON_NUMBER ? memchr(s.p, '.', s.n) : NULL;
	const bool minus = s.n > 0 && *s.p == '-';
	int64_t us, fraction = 0;

	const struct json_token whole = { s.p, dot, minus ? JSON_INT : JSON_UINT };
	if (!read_i64(dot != NULL ? &whole : t, &us) || ckd_mul(ns, us, 1000))
		return false;
	for (const char *p = dot != NULL ? dot + 1 : e; p < e; p++) {
		if (*p < '0' || *p > '9')
			return false;
		fraction += p - dot <= 3 ? (*p - '0') * units[p - dot - 1] : 0;
	}
	return !ckd_add(ns, *ns, minus ? -fraction : fraction);
}

static void check_list(const struct cpu_profiles *f, enum cpu_profile_fault fault, const struct json_token *t)
{
	struct quoted q;

	if (t->kind != JSON_ABSENT && *t->p != '[')
		report(f, fault, t->p, "expected a list, found %s", quoted(&q, json_token_text(t)));
}

/* ---- nodes ---- */

static bool is_full(struct cpu_profiles *f, bool full, const char *at)
{
	if (full) {
		f->full = true;
		report_limit(f, &f->reported_nodes, at,
		             "more than 1,048,576 nodes of CPU profiles, or 16 MiB of their texts: "
		             "samples of the others have no call stack");
	}
	return full;
}

/* Returns the index of a text in texts[]; NONE: it is empty, a limit is reached, or OOM. */
static uint32_t intern(struct cpu_profiles *f, const struct json_token *t)
{
	const bool is_escaped = t->kind == JSON_ESCAPED || t->kind == JSON_BAD_STRING;
	struct slice s = json_is_string(t->kind) ? json_token_text(t) : slice_of("", 0);
	struct arena unescaped = { .head = NULL };
	uint32_t at = NONE;

	if (is_escaped && memchr(s.p, '\\', s.n) != NULL)
		s = json_unescape(&unescaped, s);
	*f->no_memory |= s.p == NULL;
	if (s.p != NULL && s.n > 0)
		at = tabletext_get(&f->known_texts, s);
	if (s.p != NULL && s.n > 0 && at == NONE &&
	    !is_full(f, s.n > CPU_PROFILE_MAX_BYTES - f->bytes, t->p)) {
		s = arena_copy(f->arena, s);
		if (s.p == NULL || !array_reserve(&f->texts, f->ntexts, &f->texts_cap, sizeof *f->texts) ||
		    !tabletext_put(&f->known_texts, s, f->ntexts)) {
			*f->no_memory = true;
		} else {
			f->bytes += s.n;
			f->texts[f->ntexts] = textscan_slice(s.p, s.n);
			at = f->ntexts++;
		}
	}
	arena_free(&unescaped);
	return at;
}

static uint64_t node_key(uint32_t profile, uint32_t id)
{
	return (uint64_t)profile << 32 | id;
}

static uint32_t find_node(const struct cpu_profiles *f, uint32_t profile, uint32_t id)
{
	return table64_get(&f->ids, node_key(profile, id));
}

/* Returns its index; NONE: a limit is reached, or OOM. */
static uint32_t add_node(struct cpu_profiles *f, uint32_t profile, uint32_t id, uint32_t parent,
                         const char *at)
{
	if (is_full(f, f->nnodes == CPU_PROFILE_MAX_NODES, at))
		return NONE;
	if (!array_reserve(&f->nodes, f->nnodes, &f->nodes_cap, sizeof *f->nodes) ||
	    !table64_put(&f->ids, node_key(profile, id), f->nnodes)) {
		*f->no_memory = true;
		return NONE;
	}
	f->nodes[f->nnodes] = (struct cpu_profile_node){ .parent = parent, .name = NONE, .url = NONE };
	return f->nnodes++;
}

/* Adds the nodes that are named as children and follow. */
static void add_children(struct cpu_profiles *f, uint32_t profile, const struct json_token *children,
                         uint32_t parent, struct mistakes *bad)
{
	struct json_walk w = json_walk_list(children);
	uint32_t id;

	while (json_walk_next(&w))
		if (!read_u32(&w.value, &id) || find_node(f, profile, id) != NONE)
			add_mistake(bad, &w.value);
		else
			(void)add_node(f, profile, id, parent, w.value.p);
}

static void read_node(struct cpu_profiles *f, uint32_t profile, const struct json_token *t,
                      struct mistakes *bad)
{
	static const char *const names[] = { "id", "parent", "callFrame", "children" }, *const of_frame[] = {
		"functionName", "url"
	};
	struct json_token of[4], frame[2];
	const struct json_token *const id_token = &of[0], *const above = &of[1];
	uint32_t id, parent_id, parent = NONE;

	json_members(t, names, 4, of);
	json_members(&of[2], of_frame, 2, frame);
	if (!read_u32(id_token, &id)) {
		add_mistake(bad, t);
		return;
	}
	if (above->kind != JSON_ABSENT) {
		parent = read_u32(above, &parent_id) ? find_node(f, profile, parent_id) : NONE;
		if (parent == NONE && !f->full)
			add_mistake(bad, above);
	}
	uint32_t at = find_node(f, profile, id);
	if (at != NONE &&
	    (f->nodes[at].is_defined || (above->kind != JSON_ABSENT && parent != f->nodes[at].parent))) {
		add_mistake(bad, t);
		return;
	}
	at = at != NONE ? at : add_node(f, profile, id, parent, t->p);
	if (at == NONE)
		return;
	f->nodes[at].is_defined = true;
	f->nodes[at].name = intern(f, &frame[0]);
	f->nodes[at].url = intern(f, &frame[1]);
	add_children(f, profile, &of[3], at, bad);
}

void cpu_profile_read_nodes(struct cpu_profiles *f, uint32_t profile, const struct json_token *t)
{
	struct mistakes bad = { .n = 0 };
	struct json_walk w = json_walk_list(t);

	while (json_walk_next(&w))
		read_node(f, profile, &w.value, &bad);
	report_mistakes(f, CPU_PROFILE_NODE, &bad, "an invalid node, or id of its parent");
}

/* ---- samples ---- */

static const char unknown_sample[] = "a sample of a node that is not defined";
static const char bad_delta[] = "an invalid time since the last sample";

/* Adds the time since the last sample.  Returns false if the sum, *ts, is not a time of the trace. */
static bool add_delta(struct cpu_profile *p, const struct json_token *t, uint64_t *ts, struct mistakes *bad)
{
	int64_t delta, ns;
	const bool valid = cpu_profile_time(t, &delta) && !ckd_add(&ns, p->ns, delta);

	if (valid)
		p->ns = ns;
	const bool fits = p->ns >= 0 || -(uint64_t)p->ns <= p->zero_ns;
	if (!valid || !fits)
		add_mistake(bad, t);
	*ts = p->zero_ns + (uint64_t)p->ns;
	return fits;
}

static uint32_t sample_node(const struct cpu_profiles *f, uint32_t profile, const struct json_token *t,
                            struct mistakes *unknown)
{
	uint32_t id;
	const uint32_t node = read_u32(t, &id) ? find_node(f, profile, id) : NONE;

	if (node == NONE && !f->full)
		add_mistake(unknown, t);
	return node;
}

static void add_sample(struct cpu_profiles *f, struct cpu_profile_sample s, const char *at)
{
	if (f->nsamples == CPU_PROFILE_MAX_SAMPLES)
		report_limit(f, &f->reported_samples, at,
		             "more than 4,194,304 samples of a CPU profile in one event: the others "
		             "are left out");
	else if (array_reserve(&f->samples, f->nsamples, &f->samples_cap, sizeof *f->samples))
		f->samples[f->nsamples++] = s;
	else
		*f->no_memory = true;
}

/* The next number of a list, 0 if it ends. */
static uint32_t next_number(struct json_walk *w, uint64_t *n)
{
	uint32_t v = 0;

	if (!json_walk_next(w))
		return 0;
	++*n;
	(void)read_u32(&w->value, &v);
	return v;
}

static void report_counts(const struct cpu_profiles *f, const struct json_token *at, uint64_t nsamples,
                          uint64_t ntimes, uint64_t nlines, uint64_t ncolumns)
{
	if (ntimes != nsamples)
		report(f, CPU_PROFILE_COUNT, at->p, "%" PRIu64 " samples and %" PRIu64 " times", nsamples,
		       ntimes);
	else if ((nlines != 0 && nlines != nsamples) || (ncolumns != 0 && ncolumns != nsamples))
		report(f, CPU_PROFILE_COUNT, at->p,
		       "%" PRIu64 " samples, %" PRIu64 " lines and %" PRIu64 " columns", nsamples, nlines,
		       ncolumns);
}

static void read_samples(struct cpu_profiles *f, uint32_t profile, const struct cpu_profile_chunk *c)
{
	struct json_walk ids = json_walk_list(&c->samples), deltas = json_walk_list(&c->times),
	                 line = json_walk_list(&c->lines), column = json_walk_list(&c->columns);
	struct mistakes unknown = { .n = 0 }, bad_time = { .n = 0 };
	uint64_t n = 0, ntimes = 0, nlines = 0, ncolumns = 0;

	check_list(f, CPU_PROFILE_COUNT, &c->lines);
	check_list(f, CPU_PROFILE_COUNT, &c->columns);
	f->nsamples = 0;
	while (json_walk_next(&deltas)) {
		struct cpu_profile_sample s = { .ts = 0 };
		const bool fits = add_delta(&f->list[profile], &deltas.value, &s.ts, &bad_time);
		ntimes++;
		if (!json_walk_next(&ids))
			continue;
		n++;
		s.node = sample_node(f, profile, &ids.value, &unknown);
		s.line = next_number(&line, &nlines);
		s.column = next_number(&column, &ncolumns);
		if (fits)
			add_sample(f, s, ids.value.p);
	}
	n += json_walk_rest(&ids);
	report_mistakes(f, CPU_PROFILE_SAMPLE, &unknown, unknown_sample);
	report_mistakes(f, CPU_PROFILE_TIME, &bad_time, bad_delta);
	report_counts(f, c->samples.kind != JSON_ABSENT ? &c->samples : &c->times, n, ntimes,
	              nlines + json_walk_rest(&line), ncolumns + json_walk_rest(&column));
}

void cpu_profile_read(struct cpu_profiles *f, uint32_t profile, const struct cpu_profile_chunk *c)
{
	check_list(f, CPU_PROFILE_NODE, &c->nodes);
	check_list(f, CPU_PROFILE_SAMPLE, &c->samples);
	check_list(f, CPU_PROFILE_TIME, &c->times);
	cpu_profile_read_nodes(f, profile, &c->nodes);
	read_samples(f, profile, c);
}

void cpu_profile_read_ids(struct cpu_profiles *f, uint32_t profile, const struct json_token *t)
{
	struct mistakes unknown = { .n = 0 };
	struct json_walk w = json_walk_list(t);

	check_list(f, CPU_PROFILE_SAMPLE, t);
	f->nsamples = 0;
	while (json_walk_next(&w))
		add_sample(f,
		           (struct cpu_profile_sample){ .node = sample_node(f, profile, &w.value, &unknown) },
		           w.value.p);
	report_mistakes(f, CPU_PROFILE_SAMPLE, &unknown, unknown_sample);
}

void cpu_profile_read_times(struct cpu_profiles *f, uint32_t profile, const struct json_token *t)
{
	struct mistakes bad = { .n = 0 };
	struct json_walk w = json_walk_list(t);
	const uint32_t nids = f->nsamples;
	uint64_t n = 0;

	check_list(f, CPU_PROFILE_TIME, t);
	f->nsamples = 0;
	for (; json_walk_next(&w); n++) {
		uint64_t ts = 0;
		const bool fits = add_delta(&f->list[profile], &w.value, &ts, &bad);
		if (fits && n < nids) {
			f->samples[f->nsamples] = f->samples[n];
			f->samples[f->nsamples++].ts = ts;
		}
	}
	report_mistakes(f, CPU_PROFILE_TIME, &bad, bad_delta);
	if (nids < CPU_PROFILE_MAX_SAMPLES) /* else ids are missing */
		report_counts(f, t, nids, n, 0, 0);
}

/* ---- profiles ---- */

bool cpu_profile_start(const struct cpu_profiles *f, const struct json_token *t, const char *at, int64_t *ns)
{
	struct quoted q;

	if (cpu_profile_time(t, ns))
		return true;
	report(f, CPU_PROFILE_TIME, t->kind != JSON_ABSENT ? t->p : at,
	       "startTime is %s, expected microseconds", quoted(&q, json_token_text(t)));
	return false;
}

bool cpu_profile_begin(struct cpu_profiles *f, struct cpu_profile p)
{
	if (f->n == CPU_PROFILE_MAX) {
		report_limit(f, &f->reported_profiles, NULL,
		             "more than 4,096 CPU profiles: the others are left out");
		return false;
	}
	if (!array_reserve(&f->list, f->n, &f->cap, sizeof *f->list)) {
		*f->no_memory = true;
		return false;
	}
	f->list[f->n++] = p;
	return true;
}

bool cpu_profile_begin_keyed(struct cpu_profiles *f, uint64_t key, struct cpu_profile p)
{
	if (!cpu_profile_begin(f, p))
		return false;
	*f->no_memory |= !table64_put(&f->keys, key, f->n - 1);
	return !*f->no_memory;
}

void cpu_profiles_free(struct cpu_profiles *f)
{
	table64_free(&f->keys);
	table64_free(&f->ids);
	tabletext_free(&f->known_texts);
	free(f->list);
	free(f->nodes);
	free(f->texts);
	free(f->samples);
	*f = (struct cpu_profiles){
		.arena = f->arena, .no_memory = f->no_memory, .report = f->report, .ctx = f->ctx
	};
}

/* ---- fields ---- */

bool cpu_profile_is_idle(const struct cpu_profiles *f, const struct cpu_profile_sample *s)
{
	const uint32_t name = s->node != NONE ? f->nodes[s->node].name : NONE;

	return name != NONE && slice_is(f->texts[name], "(idle)");
}

static struct value list_value(const struct value *v, uint32_t n)
{
	return (struct value){ .type = VALUE_LIST, .element = VALUE_STRING, .count = n, .values = v };
}

static struct value text_of(const struct cpu_profiles *f, uint32_t text, struct slice none)
{
	return value_string(text != NONE ? f->texts[text] : none);
}

/* Sets the lists of frames and of their files.  Returns the number of lists. */
static uint16_t read_stack(const struct cpu_profiles *f, uint32_t node, struct batch *b,
                           struct field fields[2], uint64_t *referred)
{
	uint32_t n = 0;
	bool any = false;

	for (uint32_t i = node; i != NONE && n < CPU_PROFILE_MAX_FRAMES; i = f->nodes[i].parent, n++)
		any |= f->nodes[i].url != NONE;
	if (n == 0)
		return 0;
	struct value *const v = arena_alloc(&b->scratch, (any ? 2 : 1) * n * sizeof *v);
	if (v == NULL) {
		*f->no_memory = true;
		return 0;
	}
	for (uint32_t i = node, k = 0; k < n; i = f->nodes[i].parent, k++) {
		v[k] = text_of(f, f->nodes[i].name, SLICE_LIT("(anonymous)"));
		if (any)
			v[n + k] = text_of(f, f->nodes[i].url, SLICE_LIT(""));
	}
	*referred += (any ? 2 : 1) * n * sizeof *v;
	fields[0] = (struct field){ SLICE_LIT("callstack"), list_value(v, n) };
	if (any)
		fields[1] = (struct field){ SLICE_LIT("callstack_mappings"), list_value(v + n, n) };
	return any ? 2 : 1;
}

uint16_t cpu_profile_fields(const struct cpu_profiles *f, const struct cpu_profile_sample *s, struct batch *b,
                            struct field fields[CPU_PROFILE_FIELDS], uint64_t *referred)
{
	uint16_t n = read_stack(f, s->node, b, fields, referred);

	if (s->line > 0)
		fields[n++] = (struct field){ SLICE_LIT("line"), value_u64(s->line) };
	if (s->column > 0)
		fields[n++] = (struct field){ SLICE_LIT("column"), value_u64(s->column) };
	return n;
}
