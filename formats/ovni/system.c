#include "ovni/system.h"

#include <stdlib.h>

/* Looms, processes, threads and CPUs, merged from all streams ("computed by merging all the values"). */

#define LOOMS_SEARCHED 256 /* for a process whose loom is not given */

void
ovni_system_free(struct ovni_system *s)
{
	arena_free(&s->text);
	free(s->looms);
	free(s->processes);
	free(s->cpus);
	free(s->labels);
	tabletext_free(&s->loom_index);
	tabletext_free(&s->label_index);
	table64_free(&s->process_index);
	table64_free(&s->tids);
	table64_free(&s->phyids);
}

void
ovni_system_limit(struct ovni_system *s, struct reader *r, const char *what, uint32_t most)
{
	if (!s->limited)
		ovni_report(r, OVNI_RULE_LIMIT, "more than %" PRIu32 " %s: the others are not compared", most,
		            what);
	s->limited = true;
}

struct slice
ovni_system_text(struct ovni_system *s, struct reader *r, const char *text)
{
	const size_t n = strlen(text);

	if (n > OVNI_MAX_TEXT - s->text_bytes) {
		ovni_system_limit(s, r, "bytes of names", OVNI_MAX_TEXT);
		return SLICE_LIT("");
	}
	s->text_bytes += (uint32_t)n;
	const struct slice copy = arena_copy(&s->text, textscan_slice(text, (uint32_t)n));
	s->no_memory |= copy.p == NULL;
	return copy;
}

/* Room for one more in a list, and its number under a key.  false: no memory. */
static bool
add_numbered(struct ovni_system *s, void *list, uint32_t n, uint32_t *cap, size_t size, struct table64 *index,
             uint64_t key)
{
	const bool ok = array_room(list, n, cap, size) && table64_put(index, key, n);

	s->no_memory |= !ok;
	return ok;
}

/* ---- looms, processes, threads ---- */

static uint32_t
add_loom(struct ovni_system *s, struct reader *r, struct slice name)
{
	const uint32_t known = name.p != NULL ? tabletext_get(&s->loom_index, name) : TABLE_NONE;

	if (name.p == NULL || known != TABLE_NONE)
		return known;
	if (s->nlooms >= OVNI_MAX_LOOMS) {
		ovni_system_limit(s, r, "looms", OVNI_MAX_LOOMS);
		return TABLE_NONE;
	}
	if (!array_room(&s->looms, s->nlooms, &s->looms_cap, sizeof *s->looms) ||
	    !tabletext_put(&s->loom_index, name, s->nlooms)) {
		s->no_memory = true;
		return TABLE_NONE;
	}
	s->looms[s->nlooms] = (struct ovni_loom){ .name = name };
	return s->nlooms++;
}

/* NULL: no memory. */
static const struct track *
process_track(struct reader *r, const struct ovni_thread *t)
{
	char name[200];
	int n = t->loom.p == NULL ? snprintf(name, sizeof name, "pid %" PRId64, t->pid)
	                          : snprintf(name, sizeof name, "%.*s pid %" PRId64,
	                                     (int)(t->loom.n < 64 ? t->loom.n : 64), t->loom.p, t->pid);

	if (t->rank >= 0)
		n += snprintf(name + n, sizeof name - (size_t)n, " (rank %" PRId64, t->rank);
	if (t->app_id >= 0)
		n += snprintf(name + n, sizeof name - (size_t)n, "%sapp %" PRId64, t->rank >= 0 ? ", " : " (",
		              t->app_id);
	if (t->rank >= 0 || t->app_id >= 0)
		n += snprintf(name + n, sizeof name - (size_t)n, ")");
	struct track *const k =
	    trace_add_process(r->trace, t->process_name.p != NULL ? t->process_name
	                                                          : textscan_slice(name, (uint32_t)n));
	if (k != NULL) {
		k->has_id = true;
		k->id = (uint64_t)t->pid;
	}
	return k;
}

static uint64_t
process_key(uint32_t loom, int64_t pid)
{
	return (uint64_t)(loom + 1) << 32 | (uint64_t)pid; /* TABLE_NONE + 1 is 0 */
}

static uint32_t
add_process(struct ovni_system *s, struct reader *r, const struct ovni_thread *t, uint32_t loom)
{
	const uint64_t key = process_key(loom, t->pid);
	const uint32_t known = table64_get(&s->process_index, key), n = s->nprocesses;

	if (known != TABLE_NONE)
		return known;
	if (n >= OVNI_MAX_PROCESSES) {
		ovni_system_limit(s, r, "processes", OVNI_MAX_PROCESSES);
		return TABLE_NONE;
	}
	if (!add_numbered(s, &s->processes, n, &s->processes_cap, sizeof *s->processes, &s->process_index,
	                  key))
		return TABLE_NONE;
	struct ovni_process *const p = &s->processes[s->nprocesses++];
	*p = (struct ovni_process){ .loom = loom, .pid = t->pid, .app_id = -1, .rank = -1, .nranks = -1 };
	if (r->trace->ntracks < TRACE_MAX_TRACKS) {
		p->track = process_track(r, t);
		s->no_memory |= p->track == NULL;
	}
	return n;
}

static void
merge_number(struct reader *r, const char *key, int64_t pid, int64_t *known, int64_t now)
{
	if (now < 0)
		return;
	if (*known >= 0 && *known != now)
		ovni_report(r, OVNI_RULE_PROCESS_CONFLICT,
		            "ovni.%s of process %" PRId64 " is %" PRId64 ", but %" PRId64
		            " in another thread",
		            key, pid, now, *known);
	if (*known < 0)
		*known = now;
}

static void
add_tid(struct ovni_system *s, struct reader *r, const struct ovni_thread *t, uint32_t process)
{
	const uint64_t key = (uint64_t)process << 32 | (uint64_t)t->tid;

	if (table64_get(&s->tids, key) != TABLE_NONE)
		ovni_report(r, OVNI_RULE_TID_REPEATED,
		            "thread %" PRId64 " of process %" PRId64 " has another stream", t->tid, t->pid);
	else if (s->ntids >= OVNI_MAX_THREADS)
		ovni_system_limit(s, r, "threads", OVNI_MAX_THREADS);
	else
		s->no_memory |= !table64_put(&s->tids, key, s->ntids++);
}

/* The track of a thread of a known process; NULL: there are too many, or no memory. */
static const struct track *
thread_track(struct ovni_system *s, struct reader *r, const struct track *process,
             const struct ovni_thread *t)
{
	char name[40];

	if (process == NULL || r->trace->ntracks >= TRACE_MAX_TRACKS)
		return NULL;
	const int n = snprintf(name, sizeof name, "thread %" PRId64, t->tid);
	const struct track *const k =
	    trace_add_thread(r->trace, process, (uint64_t)t->tid,
	                     t->name.p != NULL ? t->name : textscan_slice(name, (uint32_t)n));
	s->no_memory |= k == NULL;
	return k;
}

uint32_t
ovni_system_add_thread(struct ovni_system *s, struct reader *r, const struct ovni_thread *t,
                       struct ovni_stream *stream)
{
	const uint32_t loom = add_loom(s, r, t->loom);
	const uint32_t process = t->pid > 0 ? add_process(s, r, t, loom) : TABLE_NONE;

	if (process == TABLE_NONE)
		return loom;
	struct ovni_process *const p = &s->processes[process];
	merge_number(r, "app_id", p->pid, &p->app_id, t->app_id);
	merge_number(r, "rank", p->pid, &p->rank, t->rank);
	merge_number(r, "nranks", p->pid, &p->nranks, t->nranks);
	if (t->tid <= 0)
		return loom;
	add_tid(s, r, t, process);
	stream->process = process;
	stream->tid = (int32_t)t->tid;
	stream->track = thread_track(s, r, p->track, t);
	return loom;
}

void
ovni_system_add_unknown(struct ovni_system *s, struct reader *r, struct ovni_stream *stream)
{
	struct trace *const trace = r->trace;
	const char *const path = strcmp(r->in->path, "-") == 0 ? "standard input" : r->in->path;
	const size_t n = strlen(path), cut = n > 200 ? n - 200 : 0;

	if (s->unknown == NULL)
		s->unknown = trace_add_process(trace, SLICE_LIT("unknown process"));
	if (s->unknown != NULL && trace->ntracks < TRACE_MAX_TRACKS)
		stream->track = trace_add_thread(trace, s->unknown, trace->ntracks,
		                                 textscan_slice(path + cut, (uint32_t)(n - cut)));
	else if (s->unknown != NULL && s->more_threads == NULL)
		s->more_threads = trace_add_thread(trace, s->unknown, UINT64_MAX, SLICE_LIT("more threads"));
	if (stream->track == NULL)
		stream->track = s->more_threads;
	s->no_memory |= stream->track == NULL;
}

uint32_t
ovni_system_find_process(const struct ovni_system *s, int64_t pid)
{
	uint32_t found = TABLE_NONE;

	for (uint32_t i = 0; i < s->nlooms && i < LOOMS_SEARCHED && found == TABLE_NONE; i++)
		found = table64_get(&s->process_index, process_key(i, pid));
	return found;
}

/* ---- CPUs, models ---- */

void
ovni_system_add_cpu(struct ovni_system *s, struct reader *r, uint32_t loom, uint32_t index, uint32_t phyid)
{
	const uint64_t key = (uint64_t)loom << 32 | phyid;
	const uint32_t known = table64_get(&s->phyids, key);

	if (known != TABLE_NONE) {
		if (s->cpus[known].index != index)
			ovni_report(r, OVNI_RULE_CPU_PHYID,
			            "phyid %" PRIu32 " has index %" PRIu32 ", but %" PRIu32
			            " in another list",
			            phyid, index, s->cpus[known].index);
		return;
	}
	if (s->ncpus >= OVNI_MAX_CPUS) {
		ovni_system_limit(s, r, "CPUs", OVNI_MAX_CPUS);
		return;
	}
	if (!add_numbered(s, &s->cpus, s->ncpus, &s->cpus_cap, sizeof *s->cpus, &s->phyids, key))
		return;
	s->cpus[s->ncpus++] = (struct ovni_cpu){ loom, index, phyid };
	s->looms[loom].cpus++;
}

void
ovni_system_require(struct ovni_system *s, struct reader *r, const char *model)
{
	for (uint32_t i = 0; i < s->nrequired; i++)
		if (slice_is(s->required[i], model))
			return;
	if (s->nrequired < OVNI_MAX_REQUIRED)
		s->required[s->nrequired++] = ovni_system_text(s, r, model);
}
