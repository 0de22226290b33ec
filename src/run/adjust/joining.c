#include <inttypes.h>
#include <stdlib.h>

#include "run/adjust/join.h"

/* One of the traces, while it is read and as long as its events are there. */
struct inner {
	struct joining *joining;
	const struct join_part *part;
	struct pipeline_job job;
	struct pipeline pipeline;
	struct rehome rehome;
	bool open;
};

struct joining {
	struct stage stage;
	struct pipeline *p;
	const struct join *join;
	struct inner *list;
	size_t at;                /* which is read */
	struct select_found *found; /* in all of them, when somebody asked */
	struct tabletext globals; /* "parent id name" of tracks that are one in all traces -> their index */
	struct arena arena;
};

/* ---- processes ---- */

/* rehome.same_track: a process that is one whichever trace tells of it, and its threads. */
static struct track *
same_track(void *ctx, const struct track *t, const struct track *parent)
{
	struct inner *const in = ctx;
	struct joining *const g = in->joining;

	if (parent == NULL ? !t->global : !parent->global || !t->has_id || parent->kind != TRACK_PROCESS)
		return NULL;
	const struct slice key =
	    arena_printf(&g->arena, "%" PRId64 " %" PRIu64 " %.*s",
	                 parent != NULL ? (int64_t)parent->index : -1, t->id, (int)t->name.n, t->name.p);
	const uint32_t known = key.p != NULL ? tabletext_get(&g->globals, key) : TABLE_NONE;
	if (known != TABLE_NONE)
		return g->p->trace.tracks[known];
	/* it is made next, and will be the trace's last track */
	if (key.p == NULL || !tabletext_put(&g->globals, key, g->p->trace.ntracks))
		g->arena.failed = true;
	return NULL;
}

/* The part's path, or what is behind its last slash if that is enough. */
static const char *
label_of(const struct inner *in)
{
	const struct join *const j = in->joining->join;
	const char *const slash = strrchr(in->part->path, '/');
	const char *const base = slash != NULL && slash[1] != '\0' ? slash + 1 : in->part->path;

	if (strcmp(base, "-") == 0)
		return "standard input";
	for (size_t i = 0; i < j->n; i++) {
		const char *const other = strrchr(j->parts[i].path, '/');
		if (&j->parts[i] != in->part &&
		    strcmp(other != NULL ? other + 1 : j->parts[i].path, base) == 0)
			return in->part->path;
	}
	return base;
}

/* rehome.process_name: renamed apart where several traces have it. */
static struct slice
process_name(void *ctx, const struct track *t, struct arena *into)
{
	const struct inner *const in = ctx;
	const struct join *const j = in->joining->join;
	const uint32_t in_part = t->has_id ? table64_get(&j->ids, t->id) : tabletext_get(&j->names, t->name);

	if (t->global || in_part != JOIN_SEVERAL)
		return arena_copy(into, t->name);
	return arena_printf(into, "%.*s [%s]", (int)t->name.n, t->name.p, label_of(in));
}

/* ---- the stage ---- */

static void
open_inner(struct joining *g, struct inner *in)
{
	const size_t number = (size_t)(in - g->list);

	in->joining = g;
	in->part = &g->join->parts[number];
	in->job = *g->p->job;
	in->job.paths = &in->part->path;
	in->job.npaths = 1;
	in->job.operand = in->part->operand;
	in->job.order = ORDER_FILE;
	in->job.lanes = in->job.lanes_off = in->job.late = in->job.rebase = false;
	in->job.join = NULL;
	if (in->part->select != NULL)
		in->job.select = in->part->select;
	rehome_init(&in->rehome, &g->p->trace);
	in->rehome.later = in->part->later;
	in->rehome.flows = number;
	in->rehome.same_track = same_track;
	in->rehome.process_name = process_name;
	in->rehome.ctx = in;
	in->open = true;
}

/* All of it was read.  false: no memory. */
static bool
finish(struct joining *g, struct inner *in)
{
	struct trace *const to = &g->p->trace;
	const uint64_t records = to->records, events = to->events;
	const uint32_t nmeta = to->nmeta;

	pipeline_end(&in->pipeline);
	g->p->context.system_failed |= in->pipeline.context.system_failed;
	if (!rehome_rest(&in->rehome, &in->pipeline.trace))
		return false;
	to->records = records + in->pipeline.trace.records;
	to->events = events + in->pipeline.trace.events;
	for (uint32_t i = nmeta; i < to->nmeta; i++) /* what another trace says, too, is said once */
		for (uint32_t k = 0; k < nmeta; k++) {
			const struct value *const a = &to->meta[i].value, *const b = &to->meta[k].value;
			if (!slice_equal(to->meta[i].name, to->meta[k].name) || a->type != b->type ||
			    (a->type == VALUE_STRING ? !slice_equal(value_text(a), value_text(b))
			                             : a->type > VALUE_ADDRESS || a->u64 != b->u64))
				continue;
			to->meta[i--] = to->meta[--to->nmeta];
			break;
		}
	return true;
}

static enum stage_status
next(struct stage *st, struct batch **out)
{
	struct joining *const g = (struct joining *)st;

	*out = NULL;
	while (g->at < g->join->n) {
		struct inner *const in = &g->list[g->at];
		enum stage_status status = STAGE_MORE;
		if (!in->open) {
			open_inner(g, in);
			status = pipeline_open(&in->pipeline, &in->job) ? STAGE_MORE : STAGE_BAD;
		}
		if (status == STAGE_MORE)
			status = pipeline_next(&in->pipeline, out);
		if (status == STAGE_BAD)
			return status;
		if (status == STAGE_END ? !finish(g, in) : !rehome_batch(&in->rehome, *out)) {
			pipeline_no_memory(g->p);
			batch_release(*out);
			return STAGE_BAD;
		}
		g->at += status == STAGE_END;
		if (status == STAGE_END)
			continue;
		(*out)->ntracks = (*out)->nclasses = 0; /* those were of the other trace */
		if ((*out)->n > 0)
			return STAGE_MORE;
		batch_release(*out);
	}
	*out = NULL;
	if (g->arena.failed)
		pipeline_no_memory(g->p);
	return g->arena.failed ? STAGE_BAD : STAGE_END;
}

/* What all parts agree in. */
static const char *
common(const struct join *j, size_t member, const char *none)
{
	const char *first = NULL;

	for (size_t i = 0; i < j->n; i++) {
		const char *const s = *(const char *const *)((const char *)&j->parts[i] + member);
		if (s == NULL || s[0] == '\0' || (first != NULL && strcmp(s, first) != 0))
			return none;
		first = s;
	}
	return first;
}

struct joining *
joining_new(struct pipeline *p)
{
	const struct join *const j = p->job->join;
	struct joining *const g = calloc(1, sizeof *g);

	if (g == NULL || (g->list = calloc(j->n, sizeof *g->list)) == NULL) {
		free(g);
		return NULL;
	}
	g->stage.next = next;
	g->p = p;
	g->join = j;
	p->trace.format = common(j, offsetof(struct join_part, format), "merged");
	p->trace.dialect = common(j, offsetof(struct join_part, dialect), "");
	p->trace.byte_order = common(j, offsetof(struct join_part, byte_order), NULL);
	p->trace.clock = common(j, offsetof(struct join_part, clock), j->epoch_known ? "aligned" : "unknown");
	p->trace.epoch_known = j->epoch_known;
	p->trace.epoch_ns = j->epoch_ns;
	return g;
}

struct stage *
joining_stage(struct joining *g)
{
	return &g->stage;
}

void
joining_end(struct joining *g)
{
	for (size_t i = 0; i < g->join->n; i++)
		if (g->list[i].open) {
			pipeline_end(&g->list[i].pipeline);
			g->p->context.system_failed |= g->list[i].pipeline.context.system_failed;
		}
}

void
joining_losses(const struct joining *g, struct ledger *into)
{
	for (size_t i = 0; i < g->join->n; i++)
		if (g->list[i].open) {
			pipeline_losses(&g->list[i].pipeline, into);
			ledger_merge(into, &g->list[i].rehome.ledger);
		}
}

const struct select_found *
joining_found(struct joining *g)
{
	if (g->p->job->select == NULL || g->found != NULL)
		return g->found;
	g->found = select_found_new(g->p->job->select);
	if (g->found == NULL)
		return NULL;
	g->found->complete = g->at == g->join->n;
	for (size_t i = 0; i < g->join->n; i++) {
		const struct select_found *const f =
		    g->list[i].open ? pipeline_found(&g->list[i].pipeline) : NULL;
		if (f != NULL)
			select_found_add(g->found, f);
	}
	return g->found;
}

void
joining_free(struct joining *g)
{
	if (g == NULL)
		return;
	for (size_t i = 0; i < g->join->n; i++)
		if (g->list[i].open) {
			pipeline_close(&g->list[i].pipeline);
			rehome_free(&g->list[i].rehome);
		}
	select_found_free(g->found);
	tabletext_free(&g->globals);
	arena_free(&g->arena);
	free(g->list);
	free(g);
}
