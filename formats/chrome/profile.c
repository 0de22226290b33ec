/*
 * CPU profiles of V8: the event Profile begins one and states its time 0, events ProfileChunk add nodes of
 * its tree of calls, and samples, each a node and the time since the sample before.  These events remain
 * instants with their fields; samples are further events, on the thread of Profile (another thread writes the
 * chunks). A parent has a smaller index than its nodes, so a call stack ends.
 * A file .cpuprofile has the same lists as members.
 */
#include "chrome/chrome.h"

#include <stdlib.h>

#include "model/call_stack.h"

#define MAX_FRAMES 1024u /* of a call stack, from the leaf on */
#define NONE UINT32_MAX

struct chrome_node {
	uint32_t parent;    /* NONE: a root */
	uint32_t name, url; /* in texts[]; NONE: none */
	bool is_defined;    /* else only its parent names it */
};

struct chrome_profile {
	const struct chrome_task *task;
	int64_t ns; /* time of the last sample */
};

/* An array of a chunk, element by element. */
struct list {
	struct json json;
	struct json_token t;
	const char *p, *end;
	bool more;
};

/* Mistakes of one kind in a chunk, reported once. */
struct mistakes {
	uint64_t n;
	struct json_token first;
};

static void add_mistake(struct mistakes *m, const struct json_token *t)
{
	if (m->n++ == 0)
		m->first = *t;
}

static void report_mistakes(struct chrome_reading *st, enum chrome_rule rule, const struct mistakes *m,
                            const char *what)
{
	struct quoted q;

	if (m->n > 0)
		chrome_report(st, rule, m->first.p, "%s: %s; %" PRIu64 " in this chunk", what,
		              quoted(&q, chrome_token_text(&m->first)), m->n);
}

/* ---- tokens ---- */

/* Empty unless the token is an array. */
static struct list list_of(const struct json_token *t)
{
	struct list l = { .json = { .lenient = true, .complete = true, .depth = JSON_MAX_DEPTH } };

	l.end = t->end;
	if (t->kind != JSON_ABSENT && *t->p == '[')
		l.p = json_first(&l.json, t->p, t->end, &l.more);
	return l;
}

static bool list_next(struct list *l)
{
	if (l->p == NULL || !l->more)
		return false;
	l->t.p = l->p;
	l->p = l->t.end = json_value(&l->json, l->p, l->end, &l->t.kind);
	if (l->p != NULL)
		l->p = json_next(&l->json, l->p, l->end, ']', &l->more);
	return l->t.end != NULL;
}

static uint64_t list_rest(struct list *l)
{
	uint64_t n = 0;

	while (list_next(l))
		n++;
	return n;
}

/* The member of an object; absent if `of` is none. */
static struct json_token member(const struct json_token *of, const char *name)
{
	if (of->kind == JSON_ABSENT || *of->p != '{')
		return (struct json_token){ .kind = JSON_ABSENT };
	struct json_walk w = json_walk_again(of);
	while (json_walk_next(&w))
		if (slice_is(json_token_text(&w.key), name))
			return w.value;
	return (struct json_token){ .kind = JSON_ABSENT };
}

static bool read_u32(const struct json_token *t, uint32_t *v)
{
	const struct slice s = chrome_token_text(t);
	uint64_t wide;

	if (t->kind != JSON_UINT || !json_digits_any(s.p, s.n, &wide) || wide >= UINT32_MAX)
		return false;
	*v = (uint32_t)wide;
	return true;
}

static bool read_i64(const struct json_token *t, int64_t *v)
{
	uint64_t bits;

	if ((t->kind != JSON_UINT && t->kind != JSON_INT) || !json_integer(chrome_token_text(t), &bits) ||
	    (t->kind == JSON_UINT && bits > INT64_MAX))
		return false;
	*v = (int64_t)bits;
	return true;
}

/* Reads a time in microseconds.  V8 writes integers, Bun's begin of a profile has a fraction. */
static bool read_us(const struct json_token *t, int64_t *ns)
{
	int64_t us;

	return read_i64(t, &us) ? !__builtin_mul_overflow(us, 1000, ns)
	                        : t->kind == JSON_NUMBER && chrome_read_us(chrome_token_text(t), ns);
}

static void check_list(struct chrome_reading *st, enum chrome_rule rule, const struct json_token *t)
{
	struct quoted q;

	if (t->kind != JSON_ABSENT && *t->p != '[')
		chrome_report(st, rule, t->p, "expected a list, found %s", quoted(&q, chrome_token_text(t)));
}

/* ---- nodes ---- */

static bool is_full(struct chrome_reading *st, bool full)
{
	if (full) {
		st->profiles.full = true;
		chrome_report_limit(st, CHROME_LIMIT_PROFILES,
		                    "more than 1,048,576 nodes of CPU profiles, or 16 MiB of their texts: "
		                    "samples of the others have no call stack");
	}
	return full;
}

/* Returns the index of a text in texts[]; NONE: it is empty, a limit is reached, or OOM. */
static uint32_t intern(struct chrome_reading *st, const struct json_token *t)
{
	struct chrome_profiles *const f = &st->profiles;
	struct slice s = json_is_string(t->kind) ? chrome_text(&st->scratch, t) : slice_of("", 0);
	const uint32_t known = s.n > 0 ? tabletext_get(&f->known_texts, s) : NONE;

	st->r->no_memory |= s.p == NULL;
	if (s.n == 0 || known != NONE || is_full(st, s.n > CHROME_MAX_PROFILE_BYTES - f->bytes))
		return known;
	s = arena_copy(&st->r->trace->arena, s);
	if (s.p == NULL || !array_reserve(&f->texts, f->ntexts, &f->texts_cap, sizeof *f->texts) ||
	    !tabletext_put(&f->known_texts, s, f->ntexts)) {
		st->r->no_memory = true;
		return NONE;
	}
	f->bytes += s.n;
	f->texts[f->ntexts] = textscan_slice(s.p, s.n);
	return f->ntexts++;
}

static uint64_t node_key(const struct chrome_reading *st, const struct chrome_profile *p, uint32_t id)
{
	return (uint64_t)(p - st->profiles.list) << 32 | id;
}

static uint32_t find_node(const struct chrome_reading *st, const struct chrome_profile *p, uint32_t id)
{
	return table64_get(&st->profiles.ids, node_key(st, p, id));
}

/* Returns its index; NONE: a limit is reached, or OOM. */
static uint32_t add_node(struct chrome_reading *st, const struct chrome_profile *p, uint32_t id,
                         uint32_t parent)
{
	struct chrome_profiles *const f = &st->profiles;

	if (is_full(st, f->nnodes == CHROME_MAX_NODES))
		return NONE;
	if (!array_reserve(&f->nodes, f->nnodes, &f->nodes_cap, sizeof *f->nodes) ||
	    !table64_put(&f->ids, node_key(st, p, id), f->nnodes)) {
		st->r->no_memory = true;
		return NONE;
	}
	f->nodes[f->nnodes] = (struct chrome_node){ .parent = parent, .name = NONE, .url = NONE };
	return f->nnodes++;
}

/* Adds the nodes that are named as children and follow. */
static void add_children(struct chrome_reading *st, const struct chrome_profile *p,
                         const struct json_token *children, uint32_t parent, struct mistakes *bad)
{
	struct list l = list_of(children);
	uint32_t id;

	while (list_next(&l))
		if (!read_u32(&l.t, &id) || find_node(st, p, id) != NONE)
			add_mistake(bad, &l.t);
		else
			(void)add_node(st, p, id, parent);
}

static void read_node(struct chrome_reading *st, const struct chrome_profile *p, const struct json_token *t,
                      struct mistakes *bad)
{
	const struct json_token id_token = member(t, "id"), above = member(t, "parent"),
	                        frame = member(t, "callFrame"), name = member(&frame, "functionName"),
	                        url = member(&frame, "url"), children = member(t, "children");
	uint32_t id, parent_id, parent = NONE;

	if (!read_u32(&id_token, &id)) {
		add_mistake(bad, t);
		return;
	}
	if (above.kind != JSON_ABSENT) {
		parent = read_u32(&above, &parent_id) ? find_node(st, p, parent_id) : NONE;
		if (parent == NONE && !st->profiles.full)
			add_mistake(bad, &above);
	}
	uint32_t at = find_node(st, p, id);
	if (at != NONE && (st->profiles.nodes[at].is_defined ||
	                   (above.kind != JSON_ABSENT && parent != st->profiles.nodes[at].parent))) {
		add_mistake(bad, t);
		return;
	}
	at = at != NONE ? at : add_node(st, p, id, parent);
	if (at == NONE)
		return;
	struct chrome_node *const node = &st->profiles.nodes[at];
	node->is_defined = true;
	node->name = intern(st, &name);
	node->url = intern(st, &url);
	add_children(st, p, &children, at, bad);
}

static void read_nodes(struct chrome_reading *st, const struct chrome_profile *p, const struct json_token *t)
{
	struct mistakes bad = { .n = 0 };
	struct list l = list_of(t);

	while (list_next(&l))
		read_node(st, p, &l.t, &bad);
	report_mistakes(st, CHROME_RULE_PROFILE_NODE, &bad, "an invalid node, or id of its parent");
}

/* ---- samples ---- */

static const char unknown_sample[] = "a sample of a node that is not defined";
static const char bad_delta[] = "an invalid time since the last sample";

/* Returns false if the time is none of the trace. */
static bool to_time(const struct chrome_reading *st, int64_t ns, uint64_t *ts)
{
	const uint64_t zero = st->r->trace->zero_ns;

	*ts = zero + (uint64_t)ns;
	return ns >= 0 || -(uint64_t)ns <= zero;
}

/* Adds the time since the last sample.  Returns false if the sum, *ts, is no time of the trace. */
static bool add_delta(struct chrome_reading *st, struct chrome_profile *p, const struct json_token *t,
                      uint64_t *ts, struct mistakes *bad)
{
	int64_t delta, ns;
	const bool valid = read_us(t, &delta) && !__builtin_add_overflow(p->ns, delta, &ns);

	if (valid)
		p->ns = ns;
	const bool fits = to_time(st, p->ns, ts);
	if (!valid || !fits)
		add_mistake(bad, t);
	return fits;
}

static uint32_t sample_node(struct chrome_reading *st, const struct chrome_profile *p,
                            const struct json_token *t, struct mistakes *unknown)
{
	uint32_t id;
	const uint32_t node = read_u32(t, &id) ? find_node(st, p, id) : NONE;

	if (node == NONE && !st->profiles.full)
		add_mistake(unknown, t);
	return node;
}

static void add_sample(struct chrome_reading *st, uint32_t node, uint64_t ts, uint32_t line, uint32_t column)
{
	struct chrome_profiles *const f = &st->profiles;

	if (f->nsamples == CHROME_MAX_SAMPLES) {
		chrome_report_limit(st, CHROME_LIMIT_SAMPLES,
		                    "more than 4,194,304 samples of a CPU profile in one event: the others "
		                    "are left out");
		return;
	}
	if (!array_reserve(&f->samples, f->nsamples, &f->samples_cap, sizeof *f->samples)) {
		st->r->no_memory = true;
		return;
	}
	f->samples[f->nsamples++] = (struct chrome_sample){ ts, node, line, column };
}

/* The next number of a list, 0 if it ends. */
static uint32_t next_number(struct list *l, uint64_t *n)
{
	uint32_t v = 0;

	if (!list_next(l))
		return 0;
	++*n;
	(void)read_u32(&l->t, &v);
	return v;
}

static void report_counts(struct chrome_reading *st, const struct json_token *at, uint64_t nsamples,
                          uint64_t ntimes, uint64_t nlines, uint64_t ncolumns)
{
	if (ntimes != nsamples)
		chrome_report(st, CHROME_RULE_PROFILE_COUNT, at->p,
		              "%" PRIu64 " samples and %" PRIu64 " times", nsamples, ntimes);
	else if ((nlines != 0 && nlines != nsamples) || (ncolumns != 0 && ncolumns != nsamples))
		chrome_report(st, CHROME_RULE_PROFILE_COUNT, at->p,
		              "%" PRIu64 " samples, %" PRIu64 " lines and %" PRIu64 " columns", nsamples,
		              nlines, ncolumns);
}

/* data: has the members lines and columns. */
static void read_samples(struct chrome_reading *st, struct chrome_profile *p,
                         const struct json_token *samples, const struct json_token *times,
                         const struct json_token *data)
{
	const struct json_token lines = member(data, "lines"), columns = member(data, "columns");
	check_list(st, CHROME_RULE_PROFILE_COUNT, &lines);
	check_list(st, CHROME_RULE_PROFILE_COUNT, &columns);
	struct list ids = list_of(samples), deltas = list_of(times), line = list_of(&lines),
	            column = list_of(&columns);
	struct mistakes unknown = { .n = 0 }, bad_time = { .n = 0 };
	uint64_t n = 0, ntimes = 0, nlines = 0, ncolumns = 0;

	while (list_next(&deltas)) {
		uint64_t ts;
		const bool fits = add_delta(st, p, &deltas.t, &ts, &bad_time);
		ntimes++;
		if (!list_next(&ids))
			continue;
		n++;
		const uint32_t node = sample_node(st, p, &ids.t, &unknown);
		const uint32_t l = next_number(&line, &nlines), c = next_number(&column, &ncolumns);
		if (fits)
			add_sample(st, node, ts, l, c);
	}
	n += list_rest(&ids);
	report_mistakes(st, CHROME_RULE_PROFILE_SAMPLE, &unknown, unknown_sample);
	report_mistakes(st, CHROME_RULE_PROFILE_TIME, &bad_time, bad_delta);
	report_counts(st, samples->kind != JSON_ABSENT ? samples : times, n, ntimes,
	              nlines + list_rest(&line), ncolumns + list_rest(&column));
}

/* ---- events ---- */

/* The key of the profile of st->rec: ids are of a process. */
static uint64_t profile_key(const struct chrome_reading *st)
{
	const struct chrome_id id = chrome_find_id(&st->rec);
	const struct slice s = chrome_token_text(&id.token);
	const uint32_t process = st->task->owner != NULL ? st->task->owner->index : NONE;

	return hash_bytes(s.p, s.n, hash_u64(process, hash_seed()));
}

static bool read_start(struct chrome_reading *st, const struct json_token *t, int64_t *ns)
{
	struct quoted q;

	if (read_us(t, ns))
		return true;
	chrome_report(st, CHROME_RULE_PROFILE_TIME, t->kind != JSON_ABSENT ? t->p : st->rec.p,
	              "startTime is %s, expected microseconds", quoted(&q, chrome_token_text(t)));
	return false;
}

/* Whether there are too many profiles for another one. */
static bool is_beyond_limit(struct chrome_reading *st)
{
	const bool beyond = st->profiles.n == CHROME_MAX_PROFILES;

	if (beyond)
		chrome_report_limit(st, CHROME_LIMIT_PROFILES,
		                    "more than 4,096 CPU profiles: the others are left out");
	return beyond;
}

static void begin_profile(struct chrome_reading *st, const struct json_token *data)
{
	struct chrome_profiles *const f = &st->profiles;
	const struct json_token start = member(data, "startTime");
	const uint64_t key = profile_key(st);
	struct chrome_profile p = { .task = st->task };

	if (!read_start(st, &start, &p.ns))
		return;
	if (is_beyond_limit(st))
		return;
	if (table64_get(&f->keys, key) != NONE)
		chrome_report(st, CHROME_RULE_DUPLICATE_ID, st->rec.p,
		              "a CPU profile of this process and id has begun before");
	if (!array_reserve(&f->list, f->n, &f->cap, sizeof *f->list) || !table64_put(&f->keys, key, f->n))
		st->r->no_memory = true;
	else
		f->list[f->n++] = p;
}

/* at: the chunk. */
static void give_out(struct chrome_reading *st, const struct chrome_profile *p, const char *at)
{
	struct chrome_profiles *const f = &st->profiles;

	f->task = p->task;
	f->offset = chrome_offset(st, chrome_origin(st, at));
	if ((st->r->want & WANT_RAW) != 0 || st->r->recovers)
		f->nsamples = 0; /* they are shown, or written, as parts of the chunk */
	else if (f->nsamples > 0)
		st->gives_samples = true;
}

static void read_chunk(struct chrome_reading *st, const struct json_token *data)
{
	struct chrome_profiles *const f = &st->profiles;
	const struct json_token profile = member(data, "cpuProfile"), nodes = member(&profile, "nodes"),
	                        samples = member(&profile, "samples"), times = member(data, "timeDeltas");
	const uint32_t at = table64_get(&f->keys, profile_key(st));

	if (nodes.kind == JSON_ABSENT && samples.kind == JSON_ABSENT && times.kind == JSON_ABSENT)
		return;
	if (at == NONE) {
		if (f->n < CHROME_MAX_PROFILES)
			chrome_report(st, CHROME_RULE_PROFILE_START, st->rec.p,
			              "no event Profile of this process and id precedes");
		return;
	}
	f->nsamples = 0; /* of a file that is a profile, too */
	check_list(st, CHROME_RULE_PROFILE_NODE, &nodes);
	check_list(st, CHROME_RULE_PROFILE_SAMPLE, &samples);
	check_list(st, CHROME_RULE_PROFILE_TIME, &times);
	read_nodes(st, &f->list[at], &nodes);
	read_samples(st, &f->list[at], &samples, &times, data);
	give_out(st, &f->list[at], st->rec.p);
}

void chrome_read_profile(struct chrome_reading *st)
{
	const struct slice name = chrome_token_text(&st->rec.of[CHROME_NAME]);
	const bool begins = slice_is(name, "Profile");

	if (!begins && !slice_is(name, "ProfileChunk"))
		return;
	const struct json_token data = member(&st->rec.of[CHROME_ARGS], "data");
	if (data.kind == JSON_ABSENT || *data.p != '{')
		return;
	if (begins)
		begin_profile(st, &data);
	else
		read_chunk(st, &data);
}

/* ---- files of one profile ---- */

/* Begins the profile if the list of nodes is that of V8. */
static bool begin_file(struct chrome_reading *st, const struct json_token *nodes)
{
	struct chrome_profiles *const f = &st->profiles;
	struct list l = list_of(nodes);

	if (st->has_events || !list_next(&l))
		return false;
	const struct json_token frame = member(&l.t, "callFrame");
	if (frame.kind == JSON_ABSENT || is_beyond_limit(st))
		return false;
	chrome_set_dialect(st, CHROME_DIALECT_CPUPROFILE);
	const struct chrome_profile p = { .task = chrome_no_task(st) };
	if (p.task == NULL || !array_reserve(&f->list, f->n, &f->cap, sizeof *f->list)) {
		st->r->no_memory = true;
		return true;
	}
	f->file = ++f->n;
	f->list[f->file - 1] = p;
	f->has_start = false;
	f->nsamples = 0;
	return true;
}

/* Keeps the samples, without their times. */
static void read_ids(struct chrome_reading *st, const struct chrome_profile *p, const struct json_token *t)
{
	struct mistakes unknown = { .n = 0 };
	struct list l = list_of(t);

	check_list(st, CHROME_RULE_PROFILE_SAMPLE, t);
	st->profiles.nsamples = 0;
	while (list_next(&l))
		add_sample(st, sample_node(st, p, &l.t, &unknown), 0, 0, 0);
	report_mistakes(st, CHROME_RULE_PROFILE_SAMPLE, &unknown, unknown_sample);
}

/* Sets the times of the samples. */
static void read_deltas(struct chrome_reading *st, struct chrome_profile *p, const struct json_token *t)
{
	struct chrome_profiles *const f = &st->profiles;
	struct mistakes bad = { .n = 0 };
	struct list l = list_of(t);
	const uint32_t nids = f->nsamples;
	uint64_t n = 0;

	check_list(st, CHROME_RULE_PROFILE_TIME, t);
	f->nsamples = 0;
	for (; list_next(&l); n++) {
		uint64_t ts = 0;
		const bool fits = add_delta(st, p, &l.t, &ts, &bad);
		if (fits && n < nids) {
			f->samples[f->nsamples] = f->samples[n];
			f->samples[f->nsamples++].ts = ts;
		}
	}
	report_mistakes(st, CHROME_RULE_PROFILE_TIME, &bad, bad_delta);
	if (!st->limits[CHROME_LIMIT_SAMPLES])
		report_counts(st, t, nids, n, 0, 0);
	give_out(st, p, t->p);
}

bool chrome_is_profile_list(const struct chrome_reading *st, struct slice key)
{
	return (slice_is(key, "nodes") && !st->has_events) ||
	       (st->profiles.file > 0 && (slice_is(key, "samples") || slice_is(key, "timeDeltas")));
}

bool chrome_read_profile_member(struct chrome_reading *st, struct slice key, const struct json_token *t)
{
	struct chrome_profiles *const f = &st->profiles;
	struct chrome_profile *p = f->file > 0 && f->document == st->documents ? &f->list[f->file - 1] : NULL;

	if (slice_is(key, "nodes") && p == NULL && begin_file(st, t)) {
		f->document = st->documents;
		if (!st->r->no_memory)
			read_nodes(st, &f->list[f->file - 1], t);
		return true;
	}
	if (p == NULL)
		return false;
	if (slice_is(key, "startTime")) {
		f->has_start = read_start(st, t, &p->ns);
		if (f->has_start && p->ns > 0) /* V8: since the machine started, Bun: since 1970 */
			chrome_mark_wall(st, st->r->trace->zero_ns + (uint64_t)p->ns);
	} else if (slice_is(key, "samples")) {
		read_ids(st, p, t);
		return true;
	} else if (slice_is(key, "timeDeltas")) {
		st->has_events = true;
		if (f->has_start)
			read_deltas(st, p, t);
		else
			chrome_report(st, CHROME_RULE_PROFILE_TIME, t->p,
			              "no startTime before the times of samples");
		f->file = 0;
		return true;
	}
	return false;
}

/* ---- further events ---- */

static struct class *sample_class(struct chrome_reading *st, bool idle)
{
	static const struct slice names[] = { SLICE_LIT("cpu_profile"), SLICE_LIT("cpu_profile_idle") };
	struct trace *const trace = st->r->trace;
	struct class **const cls = &st->profiles.classes[idle];

	if (*cls == NULL)
		*cls = trace_plan_class(
		    trace, &(struct class){ .name = names[idle],
		                            .plan = trace_find_plan(trace, names[idle], NULL, NULL) });
	st->r->no_memory |= *cls == NULL;
	return *cls;
}

enum record_status chrome_next_sample(struct chrome_reading *st, struct record *rec)
{
	struct chrome_profiles *const f = &st->profiles;
	const struct chrome_sample *const s = &f->samples[f->at++];
	const uint32_t name = s->node != NONE ? f->nodes[s->node].name : NONE;

	f->current = *s;
	if (f->at == f->nsamples) {
		f->at = f->nsamples = 0;
		st->gives_samples = false;
	}
	rec->cls = sample_class(st, name != NONE && slice_is(f->texts[name], "(idle)"));
	rec->ts = f->current.ts;
	rec->track = f->task->track;
	rec->role = RECORD_IS_MORE;
	rec->end = rec->p;
	rec->offset = f->offset;
	return rec->cls != NULL ? RECORD_DONE : RECORD_BAD;
}

static struct value list_value(const struct value *v, uint32_t n)
{
	return (struct value){ .type = VALUE_LIST, .element = VALUE_STRING, .count = n, .values = v };
}

static struct value text_of(const struct chrome_profiles *f, uint32_t text, struct slice none)
{
	return value_string(text != NONE ? f->texts[text] : none);
}

/* Sets the lists of frames and of their files.  Returns the number of lists. */
static uint16_t read_stack(struct chrome_reading *st, struct batch *b, struct field fields[2])
{
	const struct chrome_profiles *const f = &st->profiles;
	uint32_t n = 0;
	bool any = false;

	for (uint32_t i = f->current.node; i != NONE && n < MAX_FRAMES; i = f->nodes[i].parent, n++)
		any |= f->nodes[i].url != NONE;
	if (n == 0)
		return 0;
	struct value *const v = arena_alloc(&b->scratch, (any ? 2 : 1) * n * sizeof *v);
	st->r->no_memory |= v == NULL;
	if (v == NULL)
		return 0;
	for (uint32_t i = f->current.node, k = 0; k < n; i = f->nodes[i].parent, k++) {
		v[k] = text_of(f, f->nodes[i].name, SLICE_LIT("(anonymous)"));
		if (any)
			v[n + k] = text_of(f, f->nodes[i].url, SLICE_LIT(""));
	}
	st->r->referred += (any ? 2 : 1) * n * sizeof *v;
	fields[0] = (struct field){ SLICE_LIT("callstack"), list_value(v, n) };
	fields[1] = (struct field){ SLICE_LIT("callstack_mappings"), list_value(v + n, n) };
	return any ? 2 : 1;
}

void chrome_sample_event(struct chrome_reading *st, struct batch *b, struct event *e)
{
	const struct chrome_sample *const s = &st->profiles.current;
	struct field f[4];

	if (!reader_wants_fields(st->r, e))
		return;
	uint16_t n = read_stack(st, b, f);
	if (s->line > 0)
		f[n++] = (struct field){ SLICE_LIT("line"), value_u64(s->line) };
	if (s->column > 0)
		f[n++] = (struct field){ SLICE_LIT("column"), value_u64(s->column) };
	struct field *const to = batch_event_fields(b, e, n);
	if (to != NULL)
		memcpy(to, f, n * sizeof *f);
}

void chrome_profiles_free(struct chrome_profiles *f)
{
	table64_free(&f->keys);
	table64_free(&f->ids);
	tabletext_free(&f->known_texts);
	free(f->list);
	free(f->nodes);
	free(f->texts);
	free(f->samples);
}

/* ---- own files ---- */

static bool is_texts(struct list l)
{
	while (list_next(&l))
		if (!json_is_string(l.t.kind))
			return false;
	return true;
}

void chrome_read_stack(struct chrome_reading *st, struct batch *b, struct event *e)
{
	for (uint32_t i = 0; i < e->nfields; i++) {
		struct field *const f = &b->fields[e->first_field + i];
		if (f->value.type != VALUE_JSON || f->value.count == 0 || *f->value.p != '[' ||
		    !slice_equal(f->name, e->cls->plan->stack))
			continue;
		const struct json_token t = { f->value.p, f->value.p + f->value.count, JSON_ARRAY };
		struct list count = list_of(&t), l = count;
		const uint64_t n = list_rest(&count);
		if (n > MAX_FRAMES || !is_texts(l))
			continue;
		struct value *const v = arena_alloc(&b->scratch, (size_t)(n + 1) * sizeof *v);
		st->r->no_memory |= v == NULL;
		for (uint32_t k = 0; v != NULL && list_next(&l); k++)
			v[k] = chrome_read_value(&b->scratch, &l.t);
		if (v != NULL)
			f->value = list_value(v, (uint32_t)n);
	}
}
