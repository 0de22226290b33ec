/* What events of tokio telemetry mean, a second time: slow and by hand. */
#include "dial9/test/facts_test.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct d9f_row *d9f_row(struct d9f_facts *f, const char *phase, const char *category, const char *name,
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
	struct d9f_row *const r = &f->rows[f->n];
	*r = (struct d9f_row){ .count = 0 };
	memcpy(r->key, key, sizeof key);
	char *const copy = strdup(key); /* rows move */
	cr_assert(copy != NULL && tabletext_put(&f->index, (struct slice){ copy, text.n, 0 }, f->n));
	f->n++;
	return r;
}

void d9f_free(struct d9f_facts *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		const struct slice key = { f->rows[i].key, (uint32_t)strlen(f->rows[i].key), 0 };
		free((void *)(uintptr_t)tabletext_key(&f->index, key));
	}
	free(f->rows);
	tabletext_free(&f->index);
}

/* ---- fields ---- */

/* Moves to the field; false: there is none. */
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

bool d9f_number(struct d9o *o, size_t event, const char *field, uint64_t *v)
{
	uint8_t type;

	if (!seek(o, event, field, &type))
		return false;
	*v = type == 9 ? d9o_leb(o) : d9o_number(o, type == 11 ? 1 : type == 12 ? 2 : type == 13 ? 4 : 8);
	return true;
}

/* Definitions that stand before an event; events are mostly asked about in their order. */
static struct {
	const struct d9o *of;
	struct table64 strings; /* segment << 32 | id -> entries[] */
	size_t at;              /* the first that is not in it */
} defined;

static bool pooled(const struct d9o *o, size_t event, uint32_t id, char *to, size_t room)
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
	snprintf(to, room, "%.*s", (int)o->entries[known].n, (const char *)o->p + o->entries[known].data);
	return true;
}

bool d9f_text(struct d9o *o, size_t event, const char *field, char *to, size_t room)
{
	uint8_t type;

	if (!seek(o, event, field, &type))
		return false;
	if (type == 7)
		return pooled(o, event, (uint32_t)d9o_number(o, 4), to, room);
	const uint64_t n = d9o_number(o, 4);
	cr_assert(type == 4 && n <= o->n - o->at);
	snprintf(to, room, "%.*s", (int)n, (const char *)o->p + o->at);
	return true;
}

/* ---- what is expected ---- */

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
	struct d9f_facts *facts;
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

	cr_assert(d9f_number(m->o, i, "worker_id", &worker) && worker < 254);
	if (kind == SPAN)
		cr_assert(d9f_number(m->o, i, "span_id", &key));
	struct open *const open = &m->open[kind * WORKERS + worker];
	cr_assert_lt(open->n, DEPTH);
	struct begun *const b = &open->of[open->n++];
	*b = (struct begun){ .ts = m->o->events[i].ts, .key = key, .name = "parked" };
	snprintf(b->category, sizeof b->category, "%s", categories[kind]);
	if (kind == SPAN)
		module_of(schema, b->category);
	if (kind != PARK)
		cr_assert(
		    d9f_text(m->o, i, kind == POLL ? "spawn_loc" : "span_name", b->name, sizeof b->name));
}

static void add_span(struct maker *m, const struct begun *b, uint64_t worker, uint64_t end)
{
	char track[64];

	worker_track(track, worker);
	struct d9f_row *const r = d9f_row(m->facts, "X", b->category, b->name, track);
	r->count++;
	r->ns += end > b->ts ? end - b->ts : 0;
}

static void end(struct maker *m, size_t i, enum kind kind)
{
	static const char *const categories[] = { "poll", "park", "span" };
	uint64_t worker = 254, key = 0;
	char name[300] = "", track[64];

	cr_assert(d9f_number(m->o, i, "worker_id", &worker) && worker < 254);
	if (kind == SPAN)
		cr_assert(d9f_number(m->o, i, "span_id", &key));
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
		cr_assert(d9f_text(m->o, i, "span_name", name, sizeof name));
	d9f_row(m->facts, "i", categories[kind],
	        kind == POLL   ? "end of poll"
	        : kind == PARK ? "parked"
	                       : name,
	        track)
	    ->count++;
}

static void task(struct maker *m, size_t i, bool spawn)
{
	uint64_t id;

	cr_assert(d9f_number(m->o, i, "task_id", &id));
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
		cr_assert(d9f_text(m->o, i, "spawn_loc", t->name, sizeof t->name));
	} else {
		t->ended = true;
		t->end = m->o->events[i].ts;
	}
}

/* A worker tells its thread: in each park, and in samples that name one. */
static void link_worker(struct maker *m, size_t i)
{
	uint64_t tid, worker;

	if (d9f_number(m->o, i, "tid", &tid) && d9f_number(m->o, i, "worker_id", &worker) && worker < 254)
		cr_assert(table64_put(&m->worker_of, tid, (uint32_t)worker));
}

static void on_thread(struct maker *m, size_t i, const char *category, const char *name)
{
	char track[64];
	uint64_t tid;

	cr_assert(d9f_number(m->o, i, "tid", &tid));
	const uint32_t worker = table64_get(&m->worker_of, tid);
	if (worker != TABLE_NONE)
		worker_track(track, worker);
	else
		snprintf(track, sizeof track, "thread %" PRIu64, tid);
	d9f_row(m->facts, "i", category, name, track)->count++;
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
		cr_assert(d9f_number(m->o, i, "target_worker", &worker));
		worker_track(track, worker);
		d9f_row(m->facts, "i", "wake", "wake", track)->count++;
		return;
	}
	while (k < 3 && strcmp(schema, others[k][0]) != 0)
		k++;
	cr_assert(k < 3 || strcmp(schema, "QueueSampleEvent") == 0, "%s", schema);
	if (k == 0) { /* a dump stands on the line of its task */
		cr_assert(d9f_number(m->o, i, "task_id", &worker));
		snprintf(track, sizeof track, "task %" PRIu64, worker);
	}
	if (k < 3)
		d9f_row(m->facts, "i", others[k][1], others[k][2], k == 0 ? track : "no thread")->count++;
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

/* What is open, and the lives of tasks. */
static void finish(struct maker *m)
{
	for (size_t k = 0; k < KINDS * (size_t)WORKERS; k++)
		for (size_t i = 0; i < m->open[k].n; i++) {
			add_span(m, &m->open[k].of[i], k % WORKERS, m->facts->last);
			m->facts->unfinished++;
		}
	for (size_t i = 0; i < m->ntasks; i++) {
		const struct task *const t = &m->tasks[i];
		struct d9f_row *const r = d9f_row(m->facts, t->spawned ? "b" : "i", "task",
		                                  t->spawned ? t->name : "task ended", "no thread");
		r->count++;
		if (t->spawned)
			r->ns += (t->ended ? t->end : m->facts->last) - t->ts;
		m->facts->unfinished += t->spawned && !t->ended;
	}
}

void d9f_expected(struct d9f_facts *f, struct d9o *o)
{
	struct maker m = { .facts = f, .o = o };

	*f = (struct d9f_facts){ .first = UINT64_MAX };
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
