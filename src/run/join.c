/* Several traces as one (merge): a first pass over each trace, the offsets of their clocks, and the stage
 * that reads them one after the other, each by its own pipeline, and moves their events to the common trace.
 * A window of the whole becomes a window of each trace.  Times are computed with 128 bits, as offsets are
 * signed. */
#include "run/join.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/numbers.h"
#include "base/workers.h"
#include "model/event_traits.h"
#include "model/trace_origin.h"
#include "run/private.h"
#include "run/read/operands.h"

/* ---- times of the traces, on the clock of the whole ---- */

static int128 begin_of(const struct join_trace *joined)
{
	return joined->first_ns + joined->offset_ns;
}

static int128 end_of(const struct join_trace *joined)
{
	return joined->last_ns + joined->offset_ns;
}

/* The trace that begins first; NULL: there are no events. */
static const struct join_trace *first_trace(const struct join *j)
{
	const struct join_trace *first = NULL;

	for (const struct join_trace *p = j->traces; p < j->traces + j->n; p++)
		if (p->any && (first == NULL || begin_of(p) < begin_of(first)))
			first = p;
	return first;
}

/* The first time, with offsets; 0 without events. */
static int128 first_time(const struct join *j)
{
	const struct join_trace *const first = first_trace(j);

	return first != NULL ? begin_of(first) : 0;
}

/* The last end, with offsets; 0 without events. */
static int128 last_time(const struct join *j)
{
	const struct join_trace *const first = first_trace(j);
	int128 last = first != NULL ? end_of(first) : 0;

	for (const struct join_trace *p = j->traces; p < j->traces + j->n; p++)
		last = p->any && end_of(p) > last ? end_of(p) : last;
	return last;
}

/* ---- the time window ---- */

/* On the clock of the whole, from its time 0 on. */
static int128 time_of(const struct join *j, const struct select_time *t)
{
	const int128 first = first_time(j) - j->zero_ns, last = last_time(j) - j->zero_ns;

	switch (t->kind) {
	case SELECT_WALL:
		return (int128)t->v - j->epoch_ns;
	case SELECT_FROM_FIRST:
		return first + t->v;
	case SELECT_BEFORE_LAST:
		return last - t->v;
	case SELECT_FRACTION:
		return first + (last - first) * t->v / SELECT_WHOLE;
	default:
		return t->v;
	}
}

/* Converts a time on the clock of the whole to event times of the trace. */
static struct select_time in_trace(const struct join_trace *joined, const struct select_time *t, int128 at)
{
	const int128 ts = at - joined->offset_ns + joined->zero_ns;

	if (t->kind == SELECT_ANY_TIME)
		return *t;
	return (struct select_time){ .kind = SELECT_EVENT_TIME,
		                     .v = ts < 0            ? 0
		                          : ts > UINT64_MAX ? UINT64_MAX
		                                            : (uint64_t)ts };
}

static const char *why_reversed(struct join *j, const struct select *s, int128 since, int128 until)
{
	char why[SELECT_WHY];

	select_put_reversed(why, s, since, until);
	const struct slice copy = arena_copy(&j->arena, slice_str(why));
	return copy.p != NULL ? copy.p : "--since is not before --until";
}

const char *join_window(struct join *j, const struct select *s)
{
	if (s->since.kind == SELECT_ANY_TIME && s->until.kind == SELECT_ANY_TIME)
		return NULL;
	if (!j->epoch_known && (s->since.kind == SELECT_WALL || s->until.kind == SELECT_WALL))
		return "the wall time of the merged trace is not known: name the time window by its own "
		       "times";
	const int128 since = time_of(j, &s->since), until = time_of(j, &s->until);
	if (s->since.kind != SELECT_ANY_TIME && s->until.kind != SELECT_ANY_TIME && since >= until)
		return why_reversed(j, s, since, until);
	for (size_t i = 0; i < j->n; i++) {
		struct select *const own = arena_alloc(&j->arena, sizeof *own);
		if (note_failure(&j->failed, own == NULL))
			return NULL;
		*own = *s;
		own->since = in_trace(&j->traces[i], &s->since, since);
		own->until = in_trace(&j->traces[i], &s->until, until);
		j->traces[i].select = own;
	}
	return NULL;
}

/* ---- the traces ---- */

bool join_init(struct join *j, const struct trace_groups *traces)
{
	*j = (struct join){ .traces = calloc(traces->n, sizeof *j->traces), .n = traces->n };
	for (uint32_t i = 0; j->traces != NULL && i < traces->n; i++) {
		j->traces[i].path = trace_group_path(&traces->list[i]);
		j->traces[i].operand = &traces->list[i].operand;
	}
	return j->traces != NULL;
}

void join_free(struct join *j)
{
	free(j->traces);
	arena_free(&j->arena);
	table64_free(&j->ids);
	tabletext_free(&j->names);
	*j = (struct join){ .n = 0 };
}

/* ---- the first pass ---- */

/* Traces are read on several threads; what they add to common data is added in their order. */
struct look {
	struct join *join;
	const struct pipeline_job *like;
	struct workers *workers;
	struct look_slot {
		struct look *look;
		size_t number; /* of the trace */
		struct pipeline_why why;
		bool ok;
		struct vocabularies vocabularies; /* reused from one trace to the next */
	} * slots;
	atomic_size_t taken; /* traces */
	atomic_bool failed;
};

static bool add_times(void *ctx, const struct batch *b)
{
	const struct look_slot *const l = ctx;
	struct join_trace *const joined = &l->look->join->traces[l->number];

	for (uint32_t i = 0; i < b->n; i++) {
		const struct event *const e = &b->events[i];
		const uint64_t end = event_end(e);
		joined->first_ns = !joined->any || e->ts < joined->first_ns ? e->ts : joined->first_ns;
		joined->last_ns = end > joined->last_ns ? end : joined->last_ns;
		joined->any = true;
	}
	return true;
}

/* Whether a process is the same in all traces: its id is one of its host. */
static bool is_common(const struct track *process)
{
	return process->global || (process->has_id && process->host.n > 0);
}

/* Maps the process to the trace that has it, or to JOIN_SEVERAL. */
static void add_process(struct join *j, const struct track *t, uint32_t number)
{
	const uint32_t known = t->has_id ? table64_get(&j->ids, t->id) : tabletext_get(&j->names, t->name);
	bool ok = true;

	if (is_common(t) || known == number || j->ids.used + j->names.used >= JOIN_MAX_PROCESSES)
		return;
	if (known != TABLE_NONE)
		number = JOIN_SEVERAL;
	if (t->has_id) {
		ok = table64_put(&j->ids, t->id, number);
	} else {
		const struct slice name = arena_copy(&j->arena, t->name);
		ok = name.p != NULL && tabletext_put(&j->names, name, number);
	}
	j->failed |= !ok;
}

static const char *copy_text(struct join *j, const char *s)
{
	return s != NULL ? arena_copy(&j->arena, slice_str(s)).p : NULL;
}

static void take_facts(void *ctx, struct pipeline *p)
{
	const struct look_slot *const l = ctx;
	struct join *const j = l->look->join;
	struct join_trace *const joined = &j->traces[l->number];

	workers_turn(l->look->workers, (size_t)(l - l->look->slots));
	for (uint32_t i = 0; i < p->trace.ntracks; i++)
		if (p->trace.tracks[i]->kind == TRACK_PROCESS)
			add_process(j, p->trace.tracks[i], (uint32_t)l->number);
	joined->format = copy_text(j, p->trace.format);
	joined->dialect = copy_text(j, p->trace.dialect);
	joined->byte_order = copy_text(j, p->trace.byte_order);
	joined->clock = copy_text(j, p->trace.clock);
	joined->epoch_known = p->trace.epoch_known;
	joined->epoch_ns = p->trace.epoch_ns;
	joined->zero_ns = p->trace.zero_ns;
	joined->labelled = p->trace.labelled;
	j->failed |= j->arena.failed;
	j->nparts += p->trace.parts > 0;
	j->max_parts = p->trace.parts > j->max_parts ? p->trace.parts : j->max_parts;
}

/* The first trace whose facts are missing shows its progress. */
static void show_progress(void *ctx, const struct input *in)
{
	const struct look_slot *const l = ctx;

	if (atomic_load(&l->look->taken) == l->number)
		job_progress(l->look->like, in);
}

static void look_at_trace(void *ctx, size_t slot)
{
	const struct look *const look = ctx;
	const struct pipeline_job *const like = look->like;
	struct look_slot *const l = &look->slots[slot];
	const struct join_trace *const joined = &look->join->traces[l->number];
	struct pass pass = {
		.in = pass_inputs(like),
		.read = { .want = WANT_TIMES | WANT_ORDER, .interpret = like->read.interpret },
		.max_repeat = like->adjust.max_repeat,
		.hooks = { .progress = show_progress, .ctx = l },
		.take = add_times,
		.ended = take_facts,
		.ctx = l,
		.why = &l->why,
	};

	if (atomic_load(&look->failed))
		return;
	pass.in.paths = &joined->path;
	pass.in.npaths = 1;
	pass.in.helpers = 0;
	pass.in.operand = joined->operand;
	pass.in.vocabularies = &l->vocabularies;
	l->why.text[0] = '\0';
	l->ok = pipeline_pass(&pass);
}

static void end_trace(void *ctx, size_t slot)
{
	struct look *const look = ctx;
	const struct look_slot *const l = &look->slots[slot];
	struct join *const j = look->join;

	atomic_fetch_add(&look->taken, 1);
	if (j->failed_path != NULL || (l->ok && !j->failed))
		return;
	j->failed = true;
	j->failed_path = j->traces[l->number].path;
	j->why = l->why;
	atomic_store(&look->failed, true);
}

bool join_look(struct join *j, const struct pipeline_job *job, size_t threads)
{
	static const struct workers_ops ops = { .run = look_at_trace, .finish = end_trace };
	/* More slots than threads, so that a finished trace does not wait for an earlier one. */
	const size_t n = threads == 1 || j->n < 2 ? 1 : j->n < 4 * threads ? j->n : 4 * threads;
	struct look look = { .join = j, .like = job, .slots = calloc(n, sizeof *look.slots) };

	look.workers =
	    look.slots != NULL ? workers_new(n, (threads < n ? threads : n) - 1, &ops, &look) : NULL;
	if (look.workers == NULL) {
		free(look.slots);
		j->failed = true;
		j->failed_path = j->traces[0].path;
		return false;
	}
	for (size_t i = 0; i < j->n; i++) {
		struct look_slot *const l = &look.slots[workers_slot(look.workers)];
		l->look = &look;
		l->number = i;
		workers_put(look.workers);
	}
	workers_settle(look.workers);
	workers_free(look.workers);
	for (size_t i = 0; i < n; i++)
		vocabularies_free(&look.slots[i].vocabularies);
	free(look.slots);
	for (size_t i = 0; i < j->n; i++)
		j->zero_ns = j->traces[i].zero_ns > j->zero_ns ? j->traces[i].zero_ns : j->zero_ns;
	for (size_t i = 0; i < j->n; i++) {
		j->traces[i].first_ns += j->zero_ns - j->traces[i].zero_ns;
		j->traces[i].last_ns += j->zero_ns - j->traces[i].zero_ns;
	}
	return !j->failed;
}

/* ---- offsets ---- */

static bool set_offset(struct join_trace *joined, int128 offset)
{
	joined->offset_ns = offset > INT64_MAX    ? INT64_MAX
	                    : offset < -INT64_MAX ? -INT64_MAX
	                                          : (int64_t)offset;
	return joined->offset_ns == offset;
}

bool join_by_epoch(struct join *j)
{
	uint64_t min = UINT64_MAX;
	bool fits = true;

	for (size_t i = 0; i < j->n; i++)
		if (j->traces[i].epoch_ns < min)
			min = j->traces[i].epoch_ns;
	for (size_t i = 0; i < j->n; i++)
		fits &= set_offset(&j->traces[i], (int128)j->traces[i].epoch_ns - min);
	j->epoch_known = true;
	j->epoch_ns = min;
	return fits;
}

bool join_by_start(struct join *j)
{
	bool fits = true;

	for (size_t i = 0; i < j->n; i++)
		fits &= set_offset(&j->traces[i], j->zero_ns - j->traces[i].first_ns);
	return fits;
}

void join_allow_negative(struct join *j)
{
	if (j->zero_ns > 0 || first_time(j) >= 0)
		return;
	j->zero_ns = TRACE_ZERO;
	for (size_t i = 0; i < j->n; i++) {
		j->traces[i].first_ns += TRACE_ZERO;
		j->traces[i].last_ns += TRACE_ZERO;
	}
}

bool join_rebase(struct join *j)
{
	const int128 min = first_time(j);
	bool fits = true;

	for (size_t i = 0; i < j->n; i++)
		fits &= set_offset(&j->traces[i], j->traces[i].offset_ns - min);
	j->rebased_by = min - j->zero_ns;
	return fits;
}

/* ---- clocks that are far apart ---- */

#define YEAR_NS ((int128)365 * DAY_NS)

uint64_t join_gap(const struct join *j, const struct join_trace **before, const struct join_trace **after)
{
	const struct join_trace *const first = first_trace(j);

	*before = *after = NULL;
	for (const struct join_trace *p = j->traces; first != NULL && p < j->traces + j->n; p++) {
		const bool early = p->any && begin_of(p) - begin_of(first) < YEAR_NS;
		if (early && (*before == NULL || end_of(p) > end_of(*before)))
			*before = p;
		else if (p->any && !early && (*after == NULL || begin_of(p) < begin_of(*after)))
			*after = p;
	}
	const int128 gap = *after != NULL ? begin_of(*after) - end_of(*before) : 0;
	return gap <= YEAR_NS ? 0 : gap > UINT64_MAX ? UINT64_MAX : (uint64_t)gap;
}

/* ---- reading the traces ---- */

/* A joined trace, open from its first event to the end of the run, as events point into its memory. */
struct opened_trace {
	struct joining *joining;
	const struct join_trace *joined;
	struct pipeline_job job;
	struct pipeline *pipeline;
	struct rebind rebind;
	bool open;
};

struct joining {
	struct stage stage;
	struct pipeline *p;
	const struct join *join;
	struct opened_trace *list;
	size_t at;                  /* the trace being read */
	struct select_found *found; /* in all traces; NULL: no selection */
	bool is_found;              /* joining_found() was called */
	struct tabletext common;    /* "parent id name host" of tracks common to all traces -> index */
	struct tabletext files;     /* names of files -> trace, or JOIN_SEVERAL */
	struct table64 facts;       /* hash of a fact of the whole -> its index */
	struct arena arena;
};

/* rebind.same_track: common processes and their threads are the same in all traces. */
static struct track *same_track(void *ctx, const struct track *t, const struct track *parent)
{
	struct opened_trace *const in = ctx;
	struct joining *const g = in->joining;

	if (parent == NULL ? !is_common(t)
	                   : !is_common(parent) || !t->has_id || parent->kind != TRACK_PROCESS)
		return NULL;
	const struct slice head =
	    arena_printf(&g->arena, "%" PRId64 " %" PRIu64 " %" PRIu32 " ",
	                 parent != NULL ? (int64_t)parent->index : -1, t->id, t->name.n);
	const struct slice key = head.p != NULL ? ARENA_JOIN(&g->arena, head, t->name, t->host) : SLICE_NONE;
	const uint32_t known = key.p != NULL ? tabletext_get(&g->common, key) : TABLE_NONE;
	if (known != TABLE_NONE)
		return g->p->trace.tracks[known];
	/* the caller creates it next: it becomes the trace's last track */
	g->arena.failed |= key.p == NULL || !tabletext_put(&g->common, key, g->p->trace.ntracks);
	return NULL;
}

static const char *file_name(const struct join_trace *joined)
{
	const char *const slash = strrchr(joined->path, '/');

	return slash != NULL && slash[1] != '\0' ? slash + 1 : joined->path;
}

/* Returns false on OOM. */
static bool list_files(struct joining *g)
{
	const struct join *const j = g->join;

	for (uint32_t i = 0; i < j->n; i++) {
		const struct slice name = slice_str(file_name(&j->traces[i]));
		const bool known = tabletext_get(&g->files, name) != TABLE_NONE;
		if (!tabletext_put(&g->files, name, known ? JOIN_SEVERAL : i))
			return false;
	}
	return true;
}

/* The name of the file; its path if several traces have a file of that name. */
static const char *label_of(const struct opened_trace *in)
{
	const char *const base = file_name(in->joined);

	if (strcmp(base, "-") == 0)
		return "standard input";
	return tabletext_get(&in->joining->files, slice_str(base)) == JOIN_SEVERAL ? in->joined->path : base;
}

/* rebind.process_name: adds the label of the trace if several have the process. */
static struct slice process_name(void *ctx, const struct track *t, struct arena *into)
{
	const struct opened_trace *const in = ctx;
	const struct join *const j = in->joining->join;
	const uint32_t in_trace = t->has_id ? table64_get(&j->ids, t->id) : tabletext_get(&j->names, t->name);

	if (is_common(t) || in->joined->labelled || in_trace != JOIN_SEVERAL)
		return arena_copy(into, t->name);
	return ARENA_JOIN(into, t->name, SLICE_LIT(" ["), slice_str(label_of(in)), SLICE_LIT("]"));
}

static void open_trace(struct joining *g, struct opened_trace *in)
{
	const struct pipeline_job *const all = g->p->job;
	const size_t number = (size_t)(in - g->list);

	in->joining = g;
	in->joined = &g->join->traces[number];
	in->job = (struct pipeline_job){
		.in = pass_inputs(all),
		.read = { .want = all->read.want,
		          .interpret = all->read.interpret,
		          .ahead = job_reads_ahead(all) ? READ_AHEAD : READ_ALONG },
		.choice.select = in->joined->select != NULL ? in->joined->select : all->choice.select,
		.adjust.max_repeat = all->adjust.max_repeat,
		.to = all->to,
	};
	in->job.in.helpers = 0; /* traces are many, and open at a time */
	in->job.in.paths = &in->joined->path;
	in->job.in.npaths = 1;
	in->job.in.operand = in->joined->operand;
	in->job.in.batches = g->p->pool; /* as there may be thousands of traces of few events */
	rebind_init(&in->rebind, &g->p->trace);
	in->rebind.offset_ns = in->joined->offset_ns;
	if (g->join->zero_ns > 0 && !all->adjust.rebase)
		in->rebind.max_ts = g->join->zero_ns + INT64_MAX;
	in->rebind.flows = number;
	in->rebind.same_track = same_track;
	in->rebind.process_name = process_name;
	in->rebind.ctx = in;
	in->open = true;
}

static uint64_t hash_fact(const struct field *m)
{
	const uint64_t seed = hash_seed(), name = hash_bytes(m->name.p, m->name.n, seed);
	const struct value *const v = &m->value;
	const bool text = v->type == VALUE_STRING || v->type == VALUE_JSON;

	return text ? hash_bytes(v->p, v->count, name ^ v->type) : hash_u64(v->u64, name ^ v->type);
}

static bool is_same_fact(const struct field *m, const struct field *k)
{
	const struct value *const a = &m->value, *const b = &k->value;

	return slice_equal(m->name, k->name) && a->type == b->type &&
	       (a->type == VALUE_STRING || a->type == VALUE_JSON
	            ? slice_equal(value_text(a), value_text(b))
	            : a->type <= VALUE_ADDRESS && a->u64 == b->u64);
}

/* Facts that several traces state are listed once; those from `from` on are of the last trace. */
static bool drop_known_facts(struct joining *g, uint32_t from)
{
	struct trace *const to = &g->p->trace;
	bool ok = true;

	for (uint32_t i = from; i < to->nmeta;) {
		const uint32_t known = table64_get(&g->facts, hash_fact(&to->meta[i]));
		if (known != TABLE_NONE && is_same_fact(&to->meta[known], &to->meta[i]))
			to->meta[i] = to->meta[--to->nmeta];
		else
			i++;
	}
	for (uint32_t i = from; i < to->nmeta && ok; i++)
		ok = table64_put(&g->facts, hash_fact(&to->meta[i]), i);
	return ok;
}

/* The trace was read to its end. */
static bool finish_trace(struct joining *g, struct opened_trace *in)
{
	struct trace *const to = &g->p->trace;
	const uint64_t records = to->records, events = to->events;
	const uint32_t nmeta = to->nmeta;

	pipeline_end(in->pipeline);
	g->p->context.system_failed |= in->pipeline->context.system_failed;
	if (!rebind_rest(&in->rebind, &in->pipeline->trace))
		return false;
	to->records = records + in->pipeline->trace.records;
	to->events = events + in->pipeline->trace.events;
	return drop_known_facts(g, nmeta);
}

static enum stage_status next_of_traces(struct stage *st, struct batch **out)
{
	struct joining *const g = (struct joining *)st;

	*out = NULL;
	while (g->at < g->join->n) {
		struct opened_trace *const in = &g->list[g->at];
		enum stage_status status = STAGE_MORE;
		if (!in->open) {
			open_trace(g, in);
			status = pipeline_open(&in->pipeline, &in->job) ? STAGE_MORE : STAGE_BAD;
		}
		if (status == STAGE_MORE)
			status = pipeline_next(in->pipeline, out);
		if (status == STAGE_BAD)
			return status;
		in->rebind.zero_change = g->join->zero_ns - in->pipeline->trace.zero_ns;
		if (status == STAGE_END ? !finish_trace(g, in) : !rebind_batch(&in->rebind, *out))
			return pipeline_stop_no_memory(g->p, *out);
		g->at += status == STAGE_END;
		if (status == STAGE_END)
			continue;
		(*out)->ntracks = (*out)->nclasses = 0; /* of its own trace */
		if ((*out)->n > 0)
			return STAGE_MORE;
		batch_release(*out);
	}
	*out = NULL;
	return g->arena.failed ? pipeline_stop_no_memory(g->p, NULL) : STAGE_END;
}

/* The text that this member has in all traces; else `none`. */
static const char *common_fact(const struct join *j, size_t member, const char *none)
{
	const char *first = NULL;

	for (size_t i = 0; i < j->n; i++) {
		const char *const s = *(const char *const *)((const char *)&j->traces[i] + member);
		if (s == NULL || s[0] == '\0' || (first != NULL && strcmp(s, first) != 0))
			return none;
		first = s;
	}
	return first;
}

struct joining *joining_new(struct pipeline *p)
{
	const struct join *const j = p->job->adjust.join;
	struct joining *const g = calloc(1, sizeof *g);

	if (g == NULL)
		return NULL;
	g->stage.next = next_of_traces;
	g->p = p;
	g->join = j;
	const struct select *const select = p->job->choice.select;
	if ((g->list = calloc(j->n, sizeof *g->list)) == NULL || !list_files(g) ||
	    (select != NULL && (g->found = select_found_new(select)) == NULL)) {
		tabletext_free(&g->files);
		free(g->list);
		free(g);
		return NULL;
	}
	p->trace.format = common_fact(j, offsetof(struct join_trace, format), "merged");
	p->trace.dialect = common_fact(j, offsetof(struct join_trace, dialect), "");
	p->trace.byte_order = common_fact(j, offsetof(struct join_trace, byte_order), NULL);
	p->trace.clock =
	    common_fact(j, offsetof(struct join_trace, clock), j->epoch_known ? "aligned" : "unknown");
	p->trace.epoch_known = j->epoch_known;
	p->trace.epoch_ns = j->epoch_ns;
	return g;
}

struct stage *joining_stage(struct joining *g)
{
	return &g->stage;
}

void joining_end(struct joining *g)
{
	for (size_t i = 0; i < g->join->n; i++)
		if (g->list[i].open) {
			pipeline_end(g->list[i].pipeline);
			g->p->context.system_failed |= pipeline_report(g->list[i].pipeline).failed;
		}
}

void joining_losses(const struct joining *g, struct ledger *into)
{
	for (size_t i = 0; i < g->join->n; i++)
		if (g->list[i].open) {
			pipeline_losses(g->list[i].pipeline, into);
			ledger_merge(into, &g->list[i].rebind.ledger);
		}
}

const struct select_found *joining_found(struct joining *g)
{
	if (g->found == NULL || g->is_found)
		return g->found;
	g->is_found = true;
	g->found->complete = g->at == g->join->n;
	for (size_t i = 0; i < g->join->n; i++) {
		const struct select_found *const f = pipeline_report(g->list[i].pipeline).found;
		if (f != NULL)
			select_found_add(g->found, f);
	}
	return g->found;
}

void joining_free(struct joining *g)
{
	if (g == NULL)
		return;
	for (size_t i = 0; i < g->join->n; i++)
		if (g->list[i].open) {
			pipeline_close(g->list[i].pipeline);
			rebind_free(&g->list[i].rebind);
		}
	select_found_free(g->found);
	tabletext_free(&g->common);
	tabletext_free(&g->files);
	table64_free(&g->facts);
	arena_free(&g->arena);
	free(g->list);
	free(g);
}
