/*
 * Meaning of the real traces: spans of each worker, tracks of instants, lives of tasks, and the duration
 * of the trace, compared with facts made from the oracle's events by the rules of tracetool-dial9(5).
 */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "cmd/test/samples_test_util.h"
#include "dial9/test/oracle.h"

/* ---- facts ---- */

/* Number and total duration of events by "PHASE|category|name|track". */
struct row {
	char key[600];
	uint64_t count, ns;
};

struct facts {
	struct row *rows;
	uint32_t n, cap;
	struct tabletext index;
	uint64_t first, last; /* times of all events */
	uint64_t unfinished;  /* spans */
};

static struct row *get_row(struct facts *f, const char *phase, const char *category, const char *name,
                           const char *track)
{
	char key[600];

	snprintf(key, sizeof key, "%s|%s|%s|%s", phase, category, name, track);
	const struct slice text = { key, (uint32_t)strlen(key), 0 };
	const uint32_t known = tabletext_get(&f->index, text);
	if (known != TABLE_NONE)
		return &f->rows[known];
	if (f->n == f->cap) {
		f->cap = f->cap * 2 + 256;
		f->rows = realloc(f->rows, f->cap * sizeof *f->rows);
		cr_assert_not_null(f->rows);
	}
	struct row *const r = &f->rows[f->n];
	*r = (struct row){ .count = 0 };
	memcpy(r->key, key, sizeof key);
	char *const copy = strdup(key); /* rows move */
	cr_assert(copy != NULL && tabletext_put(&f->index, (struct slice){ copy, text.n, 0 }, f->n));
	f->n++;
	return r;
}

static void free_facts(struct facts *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		const struct slice key = { f->rows[i].key, (uint32_t)strlen(f->rows[i].key), 0 };
		free((void *)(uintptr_t)tabletext_key(&f->index, key));
	}
	free(f->rows);
	tabletext_free(&f->index);
}

/* ---- fields of the oracle ---- */

/* Moves to the field.  Returns false if there is none. */
static bool seek(struct d9o *o, size_t event, const char *field, uint8_t *type)
{
	const struct d9o_event *const e = &o->events[event];
	const struct d9o_schema *const s = &o->schemas[e->schema];

	o->at = e->values;
	for (size_t i = 0; i < s->nfields; i++) {
		*type = s->fields[i].type;
		if (strcmp(s->fields[i].name, field) != 0) {
			d9o_skip_value(o, *type);
			continue;
		}
		const bool there = *type < 0x80 || d9o_number(o, 1) != 0;
		*type &= 0x7f;
		return there;
	}
	return false;
}

/* Reads a field of an event.  Returns false if it is absent. */
static bool get_number(struct d9o *o, size_t event, const char *field, uint64_t *v)
{
	uint8_t type;

	if (!seek(o, event, field, &type))
		return false;
	*v = type == 9 ? d9o_leb(o) : d9o_number(o, type == 11 ? 1 : type == 12 ? 2 : type == 13 ? 4 : 8);
	return true;
}

/* Definitions before an event; events are mostly visited in order. */
static struct {
	const struct d9o *of;
	struct table64 strings; /* segment << 32 | id -> entries[] */
	size_t at;              /* the first that is not in it */
} defined;

static bool pooled(const struct d9o *o, size_t event, uint32_t id, char *to, size_t size)
{
	const struct d9o_event *const e = &o->events[event];

	if (defined.of != o || (defined.at > 0 && o->entries[defined.at - 1].offset > e->offset)) {
		table64_free(&defined.strings);
		defined.of = o;
		defined.at = 0;
	}
	for (; defined.at < o->nentries && o->entries[defined.at].offset < e->offset; defined.at++) {
		const struct d9o_entry *const d = &o->entries[defined.at];
		if (d->kind == 3)
			cr_assert(table64_put(&defined.strings, (uint64_t)d->segment << 32 | d->id,
			                      (uint32_t)defined.at));
	}
	const uint32_t known = table64_get(&defined.strings, (uint64_t)e->segment << 32 | id);
	if (known == TABLE_NONE)
		return false;
	snprintf(to, size, "%.*s", (int)o->entries[known].n, (const char *)o->p + o->entries[known].data);
	return true;
}

static bool get_text(struct d9o *o, size_t event, const char *field, char *to, size_t size)
{
	uint8_t type;

	if (!seek(o, event, field, &type))
		return false;
	if (type == 7)
		return pooled(o, event, (uint32_t)d9o_number(o, 4), to, size);
	const uint64_t n = d9o_number(o, 4);
	cr_assert(type == 4 && n <= o->n - o->at);
	snprintf(to, size, "%.*s", (int)n, (const char *)o->p + o->at);
	return true;
}

/* ---- expected facts ---- */

#define WORKERS 256
#define DEPTH 64

enum kind { POLL, PARK, SPAN, KINDS };

struct begun {
	uint64_t ts, key;
	char category[200], name[300];
};

struct open {
	struct begun of[DEPTH];
	size_t n;
};

struct task {
	uint64_t id, ts;
	char name[300];
	bool spawned, ended;
	uint64_t end;
};

struct maker {
	struct facts *facts;
	struct d9o *o;
	struct open *open; /* by kind and worker */
	struct task *tasks;
	size_t ntasks;
	struct table64 by_id, worker_of;
};

static bool starts(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

static void worker_track(char *to, uint64_t worker)
{
	if (worker < 254)
		snprintf(to, 64, "worker %" PRIu64, worker);
	else
		snprintf(to, 64, "no thread");
}

/* SpanEnter:MODULE::FUNCTION:FILE:LINE -> MODULE */
static void module_of(const char *schema, char *to)
{
	const char *const from = schema + strlen("SpanEnter:"), *end = from;

	snprintf(to, 200, "span");
	if (starts(schema, "SpanEnter:")) {
		for (const char *p = from; (p = strstr(p, "::")) != NULL; p += 2)
			end = p;
		snprintf(to, 200, "%.*s", (int)(end - from), from);
	}
}

static void begin(struct maker *m, size_t i, enum kind kind, const char *schema)
{
	static const char *const categories[] = { "poll", "park", "" };
	uint64_t worker = 254, key = 0;

	cr_assert(get_number(m->o, i, "worker_id", &worker) && worker < 254);
	if (kind == SPAN)
		cr_assert(get_number(m->o, i, "span_id", &key));
	struct open *const open = &m->open[kind * WORKERS + worker];
	cr_assert_lt(open->n, DEPTH);
	struct begun *const b = &open->of[open->n++];
	*b = (struct begun){ .ts = m->o->events[i].ts, .key = key, .name = "parked" };
	snprintf(b->category, sizeof b->category, "%s", categories[kind]);
	if (kind == SPAN)
		module_of(schema, b->category);
	if (kind != PARK)
		cr_assert(
		    get_text(m->o, i, kind == POLL ? "spawn_loc" : "span_name", b->name, sizeof b->name));
}

static void add_span(struct maker *m, const struct begun *b, uint64_t worker, uint64_t end)
{
	char track[64];

	worker_track(track, worker);
	struct row *const r = get_row(m->facts, "X", b->category, b->name, track);
	r->count++;
	r->ns += end > b->ts ? end - b->ts : 0;
}

static void end(struct maker *m, size_t i, enum kind kind)
{
	static const char *const categories[] = { "poll", "park", "span" };
	uint64_t worker = 254, key = 0;
	char name[300] = "", track[64];

	cr_assert(get_number(m->o, i, "worker_id", &worker) && worker < 254);
	if (kind == SPAN)
		cr_assert(get_number(m->o, i, "span_id", &key));
	struct open *const open = &m->open[kind * WORKERS + worker];
	size_t at = open->n;
	while (at > 0 && open->of[at - 1].key != key)
		at--;
	if (at > 0) {
		add_span(m, &open->of[at - 1], worker, m->o->events[i].ts);
		memmove(&open->of[at - 1], &open->of[at], (open->n - at) * sizeof open->of[0]);
		open->n--;
		return;
	}
	worker_track(track, worker);
	if (kind == SPAN)
		cr_assert(get_text(m->o, i, "span_name", name, sizeof name));
	get_row(m->facts, "i", categories[kind],
	        kind == POLL   ? "end of poll"
	        : kind == PARK ? "parked"
	                       : name,
	        track)
	    ->count++;
}

static void task(struct maker *m, size_t i, bool spawn)
{
	uint64_t id;

	cr_assert(get_number(m->o, i, "task_id", &id));
	uint32_t at = table64_get(&m->by_id, id);
	if (at == TABLE_NONE) {
		at = (uint32_t)m->ntasks++;
		m->tasks = realloc(m->tasks, m->ntasks * sizeof *m->tasks);
		cr_assert(m->tasks != NULL && table64_put(&m->by_id, id, at));
		m->tasks[at] = (struct task){ .id = id };
	}
	struct task *const t = &m->tasks[at];
	if (spawn) {
		t->spawned = true;
		t->ts = m->o->events[i].ts;
		cr_assert(get_text(m->o, i, "spawn_loc", t->name, sizeof t->name));
	} else {
		t->ended = true;
		t->end = m->o->events[i].ts;
	}
}

/* Parks, and samples that name a worker, state its thread. */
static void link_worker(struct maker *m, size_t i)
{
	uint64_t tid, worker;

	if (get_number(m->o, i, "tid", &tid) && get_number(m->o, i, "worker_id", &worker) && worker < 254)
		cr_assert(table64_put(&m->worker_of, tid, (uint32_t)worker));
}

static void on_thread(struct maker *m, size_t i, const char *category, const char *name)
{
	char track[64];
	uint64_t tid;

	cr_assert(get_number(m->o, i, "tid", &tid));
	const uint32_t worker = table64_get(&m->worker_of, tid);
	if (worker != TABLE_NONE)
		worker_track(track, worker);
	else
		snprintf(track, sizeof track, "thread %" PRIu64, tid);
	get_row(m->facts, "i", category, name, track)->count++;
}

static void instant(struct maker *m, size_t i, const char *schema)
{
	static const char *const others[][3] = { { "TaskDumpEvent", "task dump", "task dump" },
		                                 { "SpanCloseEvent", "span", "span closed" },
		                                 { "ClockSyncEvent", "ClockSyncEvent", "ClockSyncEvent" } };
	uint64_t worker = 254;
	char track[64];
	size_t k = 0;

	if (strcmp(schema, "CpuSampleEvent") == 0) {
		link_worker(m, i);
		on_thread(m, i, "stack", "CPU sample");
		return;
	}
	if (strcmp(schema, "AllocEvent") == 0 || strcmp(schema, "FreeEvent") == 0) {
		on_thread(m, i, "memory", *schema == 'A' ? "alloc" : "free");
		return;
	}
	if (strcmp(schema, "WakeEventEvent") == 0) {
		cr_assert(get_number(m->o, i, "target_worker", &worker));
		worker_track(track, worker);
		get_row(m->facts, "i", "wake", "wake", track)->count++;
		return;
	}
	while (k < 3 && strcmp(schema, others[k][0]) != 0)
		k++;
	cr_assert(k < 3 || strcmp(schema, "QueueSampleEvent") == 0, "%s", schema);
	if (k == 0) { /* a dump stands on the line of its task */
		cr_assert(get_number(m->o, i, "task_id", &worker));
		snprintf(track, sizeof track, "task %" PRIu64, worker);
	}
	if (k < 3)
		get_row(m->facts, "i", others[k][1], others[k][2], k == 0 ? track : "no thread")->count++;
}

static void one(struct maker *m, size_t i)
{
	const char *const schema = m->o->schemas[m->o->events[i].schema].name;
	const uint64_t ts = m->o->events[i].ts;

	if (strcmp(schema, "SymbolTableEntry") == 0 || strcmp(schema, "CallframeDefEvent") == 0 ||
	    strcmp(schema, "SegmentMetadataEvent") == 0)
		return;
	m->facts->first = ts < m->facts->first ? ts : m->facts->first;
	m->facts->last = ts > m->facts->last ? ts : m->facts->last;
	if (starts(schema, "Worker"))
		link_worker(m, i);
	if (strcmp(schema, "PollStartEvent") == 0 || strcmp(schema, "PollEndEvent") == 0)
		schema[4] == 'S' ? begin(m, i, POLL, schema) : end(m, i, POLL);
	else if (strcmp(schema, "WorkerParkEvent") == 0)
		begin(m, i, PARK, schema);
	else if (strcmp(schema, "WorkerUnparkEvent") == 0)
		end(m, i, PARK);
	else if (starts(schema, "SpanEnter"))
		begin(m, i, SPAN, schema);
	else if (starts(schema, "SpanExit"))
		end(m, i, SPAN);
	else if (starts(schema, "TaskSpawn") || starts(schema, "TaskTerminate"))
		task(m, i, schema[4] == 'S');
	else
		instant(m, i, schema);
}

/* Adds open spans, and the lives of tasks. */
static void finish(struct maker *m)
{
	for (size_t k = 0; k < KINDS * (size_t)WORKERS; k++)
		for (size_t i = 0; i < m->open[k].n; i++) {
			add_span(m, &m->open[k].of[i], k % WORKERS, m->facts->last);
			m->facts->unfinished++;
		}
	for (size_t i = 0; i < m->ntasks; i++) {
		const struct task *const t = &m->tasks[i];
		struct row *const r = get_row(m->facts, t->spawned ? "b" : "i", "task",
		                              t->spawned ? t->name : "task ended", "no thread");
		r->count++;
		if (t->spawned)
			r->ns += (t->ended ? t->end : m->facts->last) - t->ts;
		m->facts->unfinished += t->spawned && !t->ended;
	}
}

/* Makes the facts from the oracle's events, by the rules of tracetool-dial9(5). */
static void make_expected(struct facts *f, struct d9o *o)
{
	struct maker m = { .facts = f, .o = o };

	*f = (struct facts){ .first = UINT64_MAX };
	m.open = calloc(KINDS * (size_t)WORKERS, sizeof *m.open);
	cr_assert_not_null(m.open);
	for (size_t i = 0; i < o->nevents; i++)
		one(&m, i);
	finish(&m);
	free(m.open);
	free(m.tasks);
	table64_free(&m.by_id);
	table64_free(&m.worker_of);
}

/* ---- facts of the output ---- */

/* The text after a key, up to the next `until`. */
static bool copy_value(const char *line, const char *key, char until, char *to, size_t size)
{
	const char *const p = strstr(line, key);

	if (p == NULL)
		return false;
	const char *const from = p + strlen(key);
	const char *const end = strchr(from, until);
	snprintf(to, size, "%.*s", end != NULL ? (int)(end - from) : 0, from);
	return true;
}

/* Microseconds with three decimals, as ns. */
static uint64_t nanoseconds(const char *line, const char *key)
{
	char text[64];
	uint64_t us = 0;
	unsigned ns = 0;

	cr_assert(copy_value(line, key, ',', text, sizeof text) &&
	              sscanf(text, "%" SCNu64 ".%3u", &us, &ns) == 2,
	          "%.200s", line);
	return us * 1000 + ns;
}

struct output {
	struct facts *facts;
	char (*tracks)[64];
	uint32_t ntracks;
	struct table64 by_tid, begun; /* tid -> tracks[], id of an async span -> row */
	uint64_t *starts;             /* of async spans, by row of `begun` */
	uint32_t nstarts;
	uint32_t *rows;
};

static void take_track(struct output *o, const char *line)
{
	char tid[32];

	o->tracks = realloc(o->tracks, (o->ntracks + 1) * sizeof *o->tracks);
	cr_assert(o->tracks != NULL && copy_value(line, "\"tid\":", ',', tid, sizeof tid));
	char *const name = o->tracks[o->ntracks];
	cr_assert(copy_value(line, "\"args\":{\"name\":\"", '"', name, 64));
	char *const lane = strstr(name, " (");
	if (lane != NULL)
		*lane = '\0';
	cr_assert(table64_put(&o->by_tid, strtoull(tid, NULL, 10), o->ntracks++));
}

/* Begins or ends an async span. */
static void take_async(struct output *o, const char *line, struct row *row, bool begins)
{
	const uint64_t ts = nanoseconds(line, "\"ts\":");
	char id[32];

	cr_assert(copy_value(line, "\"id\":\"", '"', id, sizeof id) ||
	              copy_value(line, "\"local\":\"", '"', id, sizeof id),
	          "%.200s", line);
	const uint64_t key = strtoull(id, NULL, 0);
	if (begins) {
		o->starts = realloc(o->starts, (o->nstarts + 1) * sizeof *o->starts);
		o->rows = realloc(o->rows, (o->nstarts + 1) * sizeof *o->rows);
		cr_assert(o->starts != NULL && o->rows != NULL);
		o->starts[o->nstarts] = ts;
		o->rows[o->nstarts] = (uint32_t)(row - o->facts->rows);
		cr_assert(table64_put(&o->begun, key, o->nstarts++));
		row->count++;
		return;
	}
	const uint32_t at = table64_get(&o->begun, key);
	cr_assert_neq(at, TABLE_NONE);
	o->facts->rows[o->rows[at]].ns += ts - o->starts[at];
}

static void take_line(struct output *o, const char *line)
{
	char phase[8], name[300], category[200], tid[32];

	if (!copy_value(line, "\"ph\":\"", '"', phase, sizeof phase))
		return;
	if (*phase == 'M' && strstr(line, "\"thread_name\"") != NULL)
		take_track(o, line);
	if (strchr("Xibe", *phase) == NULL)
		return;
	cr_assert(copy_value(line, "\"name\":\"", '"', name, sizeof name) &&
	              copy_value(line, "\"cat\":\"", '"', category, sizeof category) &&
	              copy_value(line, "\"tid\":", ',', tid, sizeof tid),
	          "%.200s", line);
	const uint32_t track = table64_get(&o->by_tid, strtoull(tid, NULL, 10));
	cr_assert_neq(track, TABLE_NONE, "%.200s", line);
	o->facts->unfinished += strstr(line, "\"unfinished\":true") != NULL;
	if (*phase == 'e') {
		take_async(o, line, NULL, false);
		return;
	}
	struct row *const r = get_row(o->facts, phase, category, name, o->tracks[track]);
	if (*phase == 'b')
		take_async(o, line, r, true);
	else
		r->count++;
	if (*phase == 'X')
		r->ns += nanoseconds(line, "\"dur\":");
}

/* Makes the facts from the output of `convert --to chrome`; changes the text. */
static void make_converted(struct facts *f, char *text)
{
	struct output o = { .facts = f };
	char *next;

	*f = (struct facts){ .first = UINT64_MAX };
	for (char *line = text; line != NULL && *line != '\0'; line = next) {
		next = strchr(line, '\n');
		if (next != NULL)
			*next++ = '\0';
		take_line(&o, line);
	}
	free(o.tracks);
	free(o.starts);
	free(o.rows);
	table64_free(&o.by_tid);
	table64_free(&o.begun);
}

/* ---- comparison ---- */

static const char *real_trace(char path[1024], const char *name)
{
	const char *const dir = real_traces();

	snprintf(path, 1024, "%s/%s", dir, name);
	return path;
}

static struct ran converted(const char *path)
{
	struct ran r =
	    run_tool((const char *const[]){ "convert", "--to", "chrome", path, "-", NULL }, NULL, 0);

	cr_assert_eq(r.status, 0, "%s: %s", path, r.err);
	return r;
}

/* Expects each row of a in b. */
static void is_in(const struct facts *a, const struct facts *b, const char *path)
{
	for (uint32_t i = 0; i < a->n; i++) {
		const struct row *const r = &a->rows[i];
		const uint32_t at =
		    tabletext_get(&b->index, (struct slice){ r->key, (uint32_t)strlen(r->key), 0 });
		const struct row *const other = at != TABLE_NONE ? &b->rows[at] : NULL;
		cr_expect(other != NULL && r->count == other->count && r->ns == other->ns,
		          "%s: %s: %" PRIu64 " of %" PRIu64 " ns, %" PRIu64 " of %" PRIu64 " ns", path,
		          r->key, r->count, r->ns, other != NULL ? other->count : 0,
		          other != NULL ? other->ns : 0);
	}
}

static void times_agree(const struct facts *want, const char *path)
{
	struct ran r = run_tool((const char *const[]){ "stats", "--format", "json", path, NULL }, NULL, 0);
	char first[64], last[64];

	snprintf(first, sizeof first, "\"first_ns\": %" PRIu64 ",", want->first);
	snprintf(last, sizeof last, "\"last_ns\": %" PRIu64 ",", want->last);
	cJSON *const report = cJSON_Parse(r.out);
	const cJSON *const in = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(report, "inputs"), 0);
	cr_expect_eq(cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(in, "first_ns")),
	             (double)want->first, "%s", path);
	cr_expect_eq(cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(in, "last_ns")),
	             (double)want->last, "%s", path);
	cJSON_Delete(report);
	ran_free(&r);
}

static uint64_t sum_of(const struct facts *f, const char *start)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < f->n; i++)
		n += strncmp(f->rows[i].key, start, strlen(start)) == 0 ? f->rows[i].count : 0;
	return n;
}

/* *want: the caller frees it. */
static void agree(const char *name, struct facts *want)
{
	struct facts got;
	char path[1024];
	struct d9o o;
	size_t n;

	struct ran r = converted(real_trace(path, name));
	unsigned char *const p = (unsigned char *)read_unpacked(path, &n);
	d9o_decode(&o, p, n);
	cr_assert_null(o.fault);
	make_expected(want, &o);
	make_converted(&got, r.out);
	is_in(want, &got, path);
	is_in(&got, want, path);
	cr_expect_eq(got.unfinished, want->unfinished, "%s: %" PRIu64 " of %" PRIu64, path, got.unfinished,
	             want->unfinished);
	times_agree(want, path);
	free_facts(&got);
	d9o_free(&o);
	free(p);
	ran_free(&r);
}

Test(dial9_meaning, metrics_service)
{
	struct facts f;

	agree("dial9/metrics-service.bin", &f);
	cr_expect_eq(sum_of(&f, "b|task|"), 309); /* some end in earlier blocks than they are spawned in */
	cr_expect_eq(sum_of(&f, "X|metrics_service::routes|query_metric|"), 5584);
	cr_expect_eq(sum_of(&f, "X|metrics_service::ddb|query_metric|"), 5584);
	cr_expect_eq(sum_of(&f, "X|metrics_service::"), 27392);
	free_facts(&f);
}

Test(dial9_meaning, block_in_place)
{
	struct facts f;

	agree("dial9/block-in-place.bin", &f);
	cr_expect_eq(sum_of(&f, "b|task|"), 10);
	cr_expect_eq(sum_of(&f, "i|stack|CPU sample|worker "), 194);
	free_facts(&f);
}

Test(dial9_meaning, span_enter_event)
{
	struct facts f;

	agree("next/dial9/span-enter-event.bin", &f);
	cr_expect_eq(sum_of(&f, "X|span|"), 37489);
	cr_expect_eq(sum_of(&f, "i|span|"), 0);
	cr_expect_eq(sum_of(&f, "i|wake|wake|no thread"), 9);
	cr_expect_eq(sum_of(&f, "i|wake|"), 31146);
	free_facts(&f);
}

Test(dial9_meaning, wall_time_metadata)
{
	struct facts f;

	agree("next/dial9/wall-time-metadata.bin", &f);
	cr_expect_eq(f.last - f.first, 4341471479); /* not 56 years */
	cr_expect_eq(f.unfinished, 93);
	free_facts(&f);
}

Test(dial9_meaning, callframe_def)
{
	struct facts f;

	agree("next/dial9/callframe-def.bin", &f);
	cr_expect_eq(f.last - f.first, 4155207653); /* not 11 days */
	free_facts(&f);
}

/* CallframeDefEvent names the frames of samples. */
Test(dial9_meaning, callframes_are_symbols)
{
	char path[1024], name[4000], shown[4010];
	size_t n, frames = 0;
	struct d9o o;

	struct ran r = converted(real_trace(path, "next/dial9/callframe-def.bin"));
	unsigned char *const p = (unsigned char *)read_unpacked(path, &n);
	d9o_decode(&o, p, n);
	for (size_t i = 0; i < o.nevents; i++) {
		uint64_t address;
		if (strcmp(o.schemas[o.events[i].schema].name, "CallframeDefEvent") != 0)
			continue;
		cr_assert(get_number(&o, i, "address", &address) &&
		          get_text(&o, i, "symbol", name, sizeof name));
		snprintf(shown, sizeof shown, "\"0x%" PRIx64 "\"", address);
		if (strncmp(name, "0x", 2) != 0) /* "0x7fffe0472030" is the name of one */
			cr_expect_null(strstr(r.out, shown), "%s has a name: %s", shown, name);
		snprintf(shown, sizeof shown, "\"%s\"", name);
		cr_expect_not_null(strstr(r.out, shown), "%s", shown);
		frames++;
	}
	cr_expect_eq(frames, 92);
	cr_expect_null(strstr(r.out, "CallframeDefEvent"), "a symbol is an event");
	d9o_free(&o);
	free(p);
	ran_free(&r);
}

/* Where a span was made: of each of the five functions of the trace. */
Test(dial9_meaning, functions_of_spans)
{
	static const char *const places[] = {
		"\"name\":\"query_metric\",\"cat\":\"metrics_service::routes\"",
		"\"module\":\"metrics_service::routes\",\"function\":\"query_metric\","
		"\"file\":\"examples/metrics-service/src/routes.rs\",\"line\":44}",
		"\"name\":\"query_metric\",\"cat\":\"metrics_service::ddb\"",
		"\"module\":\"metrics_service::ddb\",\"function\":\"query_metric\","
		"\"file\":\"examples/metrics-service/src/ddb.rs\",\"line\":122}",
		"\"name\":\"flush_to_ddb\",\"cat\":\"metrics_service::buffer\"",
		"\"module\":\"metrics_service::buffer\",\"function\":\"flush_to_ddb\","
		"\"file\":\"examples/metrics-service/src/buffer.rs\",\"line\":54}",
	};
	size_t met[6] = { 0 }, lines = 0;
	char path[1024], *next;

	struct ran r = converted(real_trace(path, "dial9/metrics-service.bin"));
	for (char *line = r.out; *line != '\0'; line = next) {
		next = strchr(line, '\n');
		cr_assert_not_null(next);
		*next++ = '\0';
		if (strstr(line, "\"ph\":\"X\"") == NULL)
			continue;
		for (size_t i = 0; i < 6; i += 2)
			if (strstr(line, places[i]) != NULL) {
				lines++;
				met[i]++;
				met[i + 1] += strstr(line, places[i + 1]) != NULL;
			}
	}
	cr_expect(met[0] == 5584 && met[1] == 5584 && met[2] == 5584 && met[3] == 5584 && met[4] == 78 &&
	          met[5] == 78);
	cr_expect_eq(lines, 5584 * 2 + 78);
	ran_free(&r);
}
