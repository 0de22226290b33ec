#include "run/adjust/join.h"

#include <stdlib.h>

#include "run/choose/select.h"
#include "run/read/trace_groups.h"

bool
join_init(struct join *j, const struct trace_groups *traces)
{
	*j = (struct join){ .parts = calloc(traces->n, sizeof *j->parts), .n = traces->n };
	for (uint32_t i = 0; j->parts != NULL && i < traces->n; i++) {
		j->parts[i].path = trace_group_path(&traces->list[i]);
		j->parts[i].operand = &traces->list[i].operand;
	}
	return j->parts != NULL;
}

void
join_free(struct join *j)
{
	free(j->parts);
	arena_free(&j->arena);
	table64_free(&j->ids);
	tabletext_free(&j->names);
	*j = (struct join){ .n = 0 };
}

/* ---- the first pass ---- */

static void
see_times(struct join_part *part, const struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		const struct event *const e = &b->events[i];
		const uint64_t dur = e->phase == PHASE_SPAN ? e->dur : 0;
		const uint64_t end = dur <= UINT64_MAX - e->ts ? e->ts + dur : UINT64_MAX;
		if (e->phase == PHASE_STRUCTURE)
			continue;
		part->first_ns = !part->any || e->ts < part->first_ns ? e->ts : part->first_ns;
		part->last_ns = end > part->last_ns ? end : part->last_ns;
		part->any = true;
	}
}

/* Which of the parts has it, or that several have. */
static void
see_process(struct join *j, const struct track *t, uint32_t part)
{
	const uint32_t known = t->has_id ? table64_get(&j->ids, t->id) : tabletext_get(&j->names, t->name);
	bool ok = true;

	if (t->global || known == part || j->ids.used + j->names.used >= JOIN_MOST_PROCESSES)
		return;
	if (known != TABLE_NONE)
		part = JOIN_SEVERAL;
	if (t->has_id) {
		ok = table64_put(&j->ids, t->id, part);
	} else {
		const struct slice name = arena_copy(&j->arena, t->name);
		ok = name.p != NULL && tabletext_put(&j->names, name, part);
	}
	j->failed |= !ok;
}

static const char *
keep(struct join *j, const char *s)
{
	return s != NULL ? arena_copy(&j->arena, slice_str(s)).p : NULL;
}

static void
look(struct join *j, uint32_t number, const struct pipeline_job *like)
{
	struct join_part *const part = &j->parts[number];
	struct pipeline p;
	struct batch *b;
	struct pipeline_job job = *like;
	struct select select;
	enum stage_status status = STAGE_BAD;

	if (job.select != NULL) { /* a time window is one of the whole, which is not known yet */
		select = *job.select;
		select.since.kind = select.until.kind = SELECT_ANY_TIME;
		job.select = &select;
	}
	j->failed_path = part->path;
	job.paths = &part->path;
	job.npaths = 1;
	job.operand = part->operand;
	job.want = WANT_TIMES | WANT_ORDER;
	job.order = ORDER_FILE;
	job.lanes = job.lanes_off = job.late = job.rebase = false;
	job.sink = pipeline_note_why;
	job.ctx = &j->why;
	job.join = NULL;
	job.hooks = (struct pipeline_hooks){ .progress = job.hooks.progress, .ctx = job.hooks.ctx };
	if (pipeline_open(&p, &job))
		while ((status = pipeline_next(&p, &b)) == STAGE_MORE) {
			see_times(part, b);
			batch_release(b);
		}
	pipeline_end(&p);
	for (uint32_t i = 0; i < p.trace.ntracks; i++)
		if (p.trace.tracks[i]->kind == TRACK_PROCESS)
			see_process(j, p.trace.tracks[i], number);
	j->failed |= pipeline_pass_failed(&p, status) || j->arena.failed;
	part->format = keep(j, p.trace.format);
	part->dialect = keep(j, p.trace.dialect);
	part->byte_order = keep(j, p.trace.byte_order);
	part->clock = keep(j, p.trace.clock);
	part->epoch_known = p.trace.epoch_known;
	part->epoch_ns = p.trace.epoch_ns;
	pipeline_close(&p);
}

bool
join_look(struct join *j, const struct pipeline_job *job)
{
	for (size_t i = 0; i < j->n && !j->failed; i++)
		look(j, (uint32_t)i, job);
	j->failed |= j->arena.failed;
	return !j->failed;
}

/* ---- offsets ---- */

static bool
set(struct join_part *part, __int128 later)
{
	part->later = later > INT64_MAX ? INT64_MAX : later < -INT64_MAX ? -INT64_MAX : (int64_t)later;
	return part->later == later;
}

bool
join_by_epoch(struct join *j)
{
	uint64_t least = UINT64_MAX;
	bool fits = true;

	for (size_t i = 0; i < j->n; i++)
		if (j->parts[i].epoch_ns < least)
			least = j->parts[i].epoch_ns;
	for (size_t i = 0; i < j->n; i++)
		fits &= set(&j->parts[i], (__int128)j->parts[i].epoch_ns - least);
	j->epoch_known = true;
	j->epoch_ns = least;
	return fits;
}

bool
join_by_start(struct join *j)
{
	bool fits = true;

	for (size_t i = 0; i < j->n; i++)
		fits &= set(&j->parts[i], -(__int128)j->parts[i].first_ns);
	return fits;
}

bool
join_rebase(struct join *j)
{
	__int128 least = 0;
	bool any = false, fits = true;

	for (size_t i = 0; i < j->n; i++) {
		const __int128 first = (__int128)j->parts[i].first_ns + j->parts[i].later;
		if (j->parts[i].any && (!any || first < least)) {
			least = first;
			any = true;
		}
	}
	for (size_t i = 0; i < j->n; i++)
		fits &= set(&j->parts[i], j->parts[i].later - least);
	j->rebased_by = (uint64_t)least;
	return fits && least >= 0;
}
