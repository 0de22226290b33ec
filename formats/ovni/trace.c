/*
 * The trace: registration and rules of the format, the system, which merges the metadata of all streams
 * ("computed by merging all the values"), and the checks that need all streams.
 * Memory: all lists are bounded (OVNI_MAX_...); tables index their members.
 */
#include "ovni/ovni.h"

#include <stdarg.h>
#include <stdlib.h>

#include "model/trace_origin.h"

#define LOOMS_SEARCHED 256 /* for a process whose loom is not given */

/* ---- rules ---- */

const struct rule ovni_rules[OVNI_RULE_COUNT + 1] = {
#define RULE RULE_ROW
#include "ovni/rules.def"
#undef RULE
	{ .id = NULL }
};

/* The same rows as errors, for faults that only ovniemu refuses. */
static const struct rule refused[OVNI_RULE_COUNT] = {
#define ERROR_ROW(name, id, level, text, spec, explain) RULE_ROW(name, id, ERROR, text, spec, explain)
#define RULE ERROR_ROW
#include "ovni/rules.def"
#undef RULE
#undef ERROR_ROW
};

bool ovni_group_is_selected(const struct option_value *list, const char *group)
{
	for (; list != NULL; list = list->next)
		if (strcmp(list->name, "check") == 0 && strcmp(list->value, group) == 0)
			return true;
	return false;
}

void ovni_report_refused(struct reader *r, enum ovni_rule rule, const char *fmt, ...)
{
	const bool strict = ovni_group_is_selected(r->options, "state");
	va_list ap;

	va_start(ap, fmt);
	finding_add_v(r->findings, strict ? &refused[rule] : &ovni_rules[rule], 0, 0, fmt, ap);
	va_end(ap);
}

/* ---- the system ---- */

void ovni_system_limit(struct ovni_system *s, struct reader *r, const char *what, uint32_t max)
{
	if (!s->limited)
		ovni_report(r, OVNI_RULE_LIMIT, "more than %" PRIu32 " %s: the others are not compared", max,
		            what);
	s->limited = true;
}

struct slice ovni_system_text(struct ovni_system *s, struct reader *r, const char *text)
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

static uint32_t add_loom(struct ovni_system *s, struct reader *r, struct slice name)
{
	const uint32_t known = name.p != NULL ? tabletext_get(&s->loom_index, name) : TABLE_NONE;

	if (name.p == NULL || known != TABLE_NONE)
		return known;
	if (s->nlooms >= OVNI_MAX_LOOMS) {
		ovni_system_limit(s, r, "looms", OVNI_MAX_LOOMS);
		return TABLE_NONE;
	}
	if (note_failure(&s->no_memory,
	                 !array_reserve(&s->looms, s->nlooms, &s->looms_cap, sizeof *s->looms) ||
	                     !tabletext_put(&s->loom_index, name, s->nlooms)))
		return TABLE_NONE;
	s->looms[s->nlooms] = (struct ovni_loom){ .name = name };
	return s->nlooms++;
}

static const struct track *add_process_track(struct reader *r, const struct ovni_thread *t)
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
	struct track *const k = trace_add_process(
	    r->trace, t->process_name.p != NULL ? t->process_name : textscan_slice(name, (uint32_t)n));
	if (k != NULL) {
		k->has_id = true;
		k->id = (uint64_t)t->pid;
	}
	return k != NULL && trace_set_host(r->trace, k, ovni_host_of(t->loom)) ? k : NULL;
}

static uint64_t process_key(uint32_t loom, int64_t pid)
{
	return (uint64_t)(loom + 1) << 32 | (uint64_t)pid; /* TABLE_NONE + 1 is 0 */
}

static uint32_t add_process(struct ovni_system *s, struct reader *r, const struct ovni_thread *t,
                            uint32_t loom)
{
	const uint32_t n = s->nprocesses;
	const uint32_t i =
	    table64_element(&s->process_index, process_key(loom, t->pid), &s->processes, &s->nprocesses,
	                    &s->processes_cap, sizeof *s->processes, OVNI_MAX_PROCESSES);

	if (i == TABLE_NONE)
		ovni_system_limit(s, r, "processes", OVNI_MAX_PROCESSES);
	s->no_memory |= i == TABLE_FAILED;
	if (i != n)
		return i < n ? i : TABLE_NONE;
	struct ovni_process *const p = &s->processes[n];
	*p = (struct ovni_process){ .loom = loom, .pid = t->pid, .app_id = -1, .rank = -1, .nranks = -1 };
	if (r->trace->ntracks < TRACE_MAX_TRACKS) {
		p->track = add_process_track(r, t);
		s->no_memory |= p->track == NULL;
	}
	return n;
}

static void merge_number(struct reader *r, const char *key, int64_t pid, int64_t *known, int64_t now)
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

static void add_tid(struct ovni_system *s, struct reader *r, const struct ovni_thread *t, uint32_t process)
{
	const uint64_t key = (uint64_t)process << 32 | (uint64_t)t->tid;

	if (table64_get(&s->tids, key) != TABLE_NONE)
		ovni_report(r, OVNI_RULE_TID_REPEATED,
		            "thread %" PRId64 " of process %" PRId64 " has another stream", t->tid, t->pid);
	else if (s->tids.used >= OVNI_MAX_THREADS)
		ovni_system_limit(s, r, "threads", OVNI_MAX_THREADS);
	else
		s->no_memory |= !table64_put(&s->tids, key, 0);
}

/* Returns the track of a thread of a known process; NULL: there are too many, or OOM. */
static const struct track *add_thread_track(struct ovni_system *s, struct reader *r,
                                            const struct track *process, const struct ovni_thread *t)
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

uint32_t ovni_system_add_thread(struct ovni_system *s, struct reader *r, const struct ovni_thread *t,
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
	stream->track = add_thread_track(s, r, p->track, t);
	return loom;
}

void ovni_system_add_unknown(struct ovni_system *s, struct reader *r, struct ovni_stream *stream)
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

uint32_t ovni_system_find_process(const struct ovni_system *s, int64_t pid)
{
	uint32_t found = TABLE_NONE;

	for (uint32_t i = 0; i < s->nlooms && i < LOOMS_SEARCHED && found == TABLE_NONE; i++)
		found = table64_get(&s->process_index, process_key(i, pid));
	return found;
}

void ovni_system_add_cpu(struct ovni_system *s, struct reader *r, uint32_t loom, uint32_t index,
                         uint32_t phyid)
{
	const uint64_t key = (uint64_t)loom << 32 | phyid;
	const uint32_t n = s->ncpus;
	const uint32_t i = table64_element(&s->phyids, key, &s->cpus, &s->ncpus, &s->cpus_cap,
	                                   sizeof *s->cpus, OVNI_MAX_CPUS);

	s->no_memory |= i == TABLE_FAILED;
	if (i == TABLE_NONE) {
		ovni_system_limit(s, r, "CPUs", OVNI_MAX_CPUS);
	} else if (i == n) {
		s->cpus[i] = (struct ovni_cpu){ loom, index, phyid };
		s->looms[loom].cpus++;
	} else if (i < n && s->cpus[i].index != index) {
		ovni_report(r, OVNI_RULE_CPU_PHYID,
		            "phyid %" PRIu32 " has index %" PRIu32 ", but %" PRIu32 " in another list", phyid,
		            index, s->cpus[i].index);
	}
}

bool ovni_system_requires(const struct ovni_system *s, struct slice model)
{
	for (uint32_t i = 0; i < s->nrequired; i++)
		if (slice_equal(s->required[i], model))
			return true;
	return false;
}

void ovni_system_require(struct ovni_system *s, struct reader *r, const char *model)
{
	if (!ovni_system_requires(s, slice_str(model)) && s->nrequired < OVNI_MAX_REQUIRED)
		s->required[s->nrequired++] = ovni_system_text(s, r, model);
}

/* ---- checks of the complete system ---- */

static int compare_cpus(const void *a, const void *b)
{
	const struct ovni_cpu *const x = a, *const y = b;

	return x->loom != y->loom     ? ORDER(x->loom, y->loom)
	       : x->index != y->index ? ORDER(x->index, y->index)
	                              : ORDER(x->phyid, y->phyid);
}

/* "from 0 to N - 1": in sorted order, the index of each CPU is its position.  Reports the first CPU of each
 * loom that breaks this. */
static void check_cpus(struct ovni_system *s, struct reader *r)
{
	struct quoted q;
	uint32_t position = 0; /* in its loom */
	bool reported = false;

	if (s->ncpus > 0)
		qsort(s->cpus, s->ncpus, sizeof *s->cpus, compare_cpus);
	for (uint32_t i = 0; i < s->ncpus; i++) {
		const struct ovni_cpu *const c = &s->cpus[i];
		if (i == 0 || c->loom != c[-1].loom) {
			position = 0;
			reported = false;
		}
		if (c->index != position++ && !reported) {
			ovni_report(r, OVNI_RULE_CPU_INDEX,
			            "loom %s has %" PRIu32 " CPU%s: index %" PRIu32 " (phyid %" PRIu32
			            ") where %" PRIu32 " is expected",
			            quoted(&q, s->looms[c->loom].name), s->looms[c->loom].cpus,
			            s->looms[c->loom].cpus == 1 ? "" : "s", c->index, c->phyid, position - 1);
			reported = true;
		}
	}
	for (uint32_t i = 0; i < s->nlooms; i++)
		if (s->looms[i].cpus == 0)
			ovni_report(r, OVNI_RULE_NO_CPUS, "no stream of loom %s lists its CPUs",
			            quoted(&q, s->looms[i].name));
}

static void check_process(struct ovni_system *s, struct reader *r, const struct ovni_process *p)
{
	if (p->loom == TABLE_NONE) {
		if (ovni_system_find_process(s, p->pid) == TABLE_NONE)
			ovni_report(r, OVNI_RULE_NO_LOOM, "no thread of process %" PRId64 " names its loom",
			            p->pid);
		return;
	}
	s->looms[p->loom].processes++;
	s->looms[p->loom].ranked += p->rank >= 0;
	if (p->app_id < 0)
		ovni_report_refused(r, OVNI_RULE_APP_ID,
		                    "no thread of process %" PRId64 " has a positive ovni.app_id", p->pid);
}

/* ovniemu refuses mixed ranks inside a loom, and cannot sort looms if only some have ranks. */
static void check_ranks(const struct ovni_system *s, struct reader *r)
{
	uint32_t ranked = 0, processes = 0; /* of all looms */
	bool inside = false;
	struct quoted q;

	for (uint32_t i = 0; i < s->nlooms; i++) {
		const struct ovni_loom *const l = &s->looms[i];
		processes += l->processes;
		ranked += l->ranked;
		if (l->ranked > 0 && l->ranked < l->processes)
			ovni_report_refused(r, OVNI_RULE_RANK_MIXED,
			                    "%" PRIu32 " of %" PRIu32 " processes of loom %s have a rank",
			                    l->ranked, l->processes, quoted(&q, l->name));
		inside |= l->ranked > 0 && l->ranked < l->processes;
	}
	if (!inside && ranked > 0 && ranked < processes)
		ovni_report(r, OVNI_RULE_RANK_MIXED, "%" PRIu32 " of %" PRIu32 " processes have a rank",
		            ranked, processes);
}

/* --check breakdown: the breakdown of nOS-V needs it enabled in each thread. */
static void check_breakdown(const struct ovni_system *s, struct reader *r)
{
	if (!ovni_system_requires(s, SLICE_LIT("nosv")) || !ovni_group_is_selected(r->options, "breakdown"))
		return;
	if (s->breakdown_lacks.n > 0)
		ovni_report(r, OVNI_RULE_NO_BREAKDOWN,
		            "thread %" PRId64 " of process %" PRId64
		            " has no boolean nosv.can_breakdown; %" PRIu32 " such threads",
		            s->breakdown_lacks.tid, s->breakdown_lacks.pid, s->breakdown_lacks.n);
	if (s->breakdown_off.n > 0)
		ovni_report(r, OVNI_RULE_BREAKDOWN_OFF,
		            "nosv.can_breakdown of thread %" PRId64 " of process %" PRId64
		            " is false; %" PRIu32 " such threads",
		            s->breakdown_off.tid, s->breakdown_off.pid, s->breakdown_off.n);
}

/* ---- processes that are read apart (trace_ops.apart_length) ---- */

/* Threads of a process define and use its tables in the vocabulary, such as that of tasks. */
static size_t process_length(const char *path)
{
	size_t n = 0;

	for (const char *p = path; (p = strstr(p, "/thread.")) != NULL; p++)
		n = (size_t)(p - path) + 1;
	return n;
}

enum claim_kind { CLAIM_PROCESS, CLAIM_TRACKS, CLAIM_CLASS, CLAIM_MARKS };

/* The marks that the streams declare, in any order; 0: none. */
static uint64_t hash_marks(const struct ovni_system *s)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < OVNI_MARK_TYPES; i++)
		if (s->marks[i].title.p != NULL)
			sum += hash_bytes(s->marks[i].title.p, s->marks[i].title.n, hash_u64(i, hash_seed()));
	for (uint32_t i = 0; i < s->nlabels; i++)
		sum += hash_bytes(s->labels[i].text.p, s->labels[i].text.n,
		                  hash_u64((uint64_t)s->labels[i].value, s->labels[i].mark));
	return sum;
}

/* Claims processes, names of marks, which any process may declare, and limits without a finding.  Conflicting
 * metadata and most limits need no claims: they are findings of opened streams, which the caller compares. */
static bool ovni_claims(const void *shared, const struct trace *trace, struct claims *c)
{
	const struct ovni_shared *const sh = shared;
	const struct ovni_system *const s = &sh->system;
	const uint64_t marks = hash_marks(s);
	bool has_marks = marks != 0, ok = s->unknown == NULL && sh->codes.others.cls == NULL;

	for (uint32_t i = 0; ok && i < s->nprocesses; i++) {
		const struct ovni_process *const p = &s->processes[i];
		const struct slice loom = p->loom != TABLE_NONE ? s->looms[p->loom].name : SLICE_NONE;
		ok = loom.p != NULL &&
		     claims_put(c, CLAIM_PROCESS, hash_bytes(loom.p, loom.n, (uint64_t)p->pid), c->input, 0);
	}
	for (uint32_t i = 0; ok && i < trace->nclasses; i++) {
		const struct slice name = trace->classes[i]->name;
		has_marks |= name.n == 3 && memcmp(name.p, "OM", 2) == 0;
		ok = claims_put(c, CLAIM_CLASS, hash_bytes(name.p, name.n, hash_seed()), 0, 0);
	}
	return ok && (!has_marks || claims_put(c, CLAIM_MARKS, 0, marks, 0)) &&
	       claims_put(c, CLAIM_TRACKS, c->input, 0, trace->ntracks) &&
	       c->keys[CLAIM_CLASS] <= OVNI_MAX_CODES && c->weights[CLAIM_TRACKS] < TRACE_MAX_TRACKS;
}

/* ---- hooks of the engine ---- */

static bool checks_state(const struct option_value *list)
{
	return ovni_group_is_selected(list, "state");
}

static bool open_trace(struct reader *r)
{
	struct ovni_shared *const sh = r->shared;

	sh->check_state = checks_state(r->options);
	return ovni_offsets_open(&sh->offsets, &sh->system, r);
}

static void close_trace(void *shared)
{
	struct ovni_shared *const sh = shared;
	struct ovni_system *const s = &sh->system;

	state_checker_free(sh->checker);
	free(sh->codes.list);
	table64_free(&sh->codes.index);
	free(sh->offsets.hosts);
	text_free(&sh->offsets.copy);
	tabletext_free(&sh->offsets.host_index);
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

static void check_trace(struct reader *r)
{
	struct ovni_shared *const sh = r->shared;

	ovni_offsets_check(&sh->offsets, &sh->system, r);
	/* After the last batch no stream can report OOM. */
	if (sh->system.no_memory)
		ovni_report(r, OVNI_RULE_LIMIT, "memory ran out: the trace was not checked completely");
	else if (sh->checker != NULL)
		state_check_end(sh->checker, r);
	/* Streams that are missing or cannot be read may declare values that the others do not. */
	if (!ovni_system_is_whole(&sh->system) || r->unreadable[0] != '\0')
		return;
	for (uint32_t i = 0; i < sh->system.nprocesses; i++)
		check_process(&sh->system, r, &sh->system.processes[i]);
	check_ranks(&sh->system, r);
	check_breakdown(&sh->system, r);
	check_cpus(&sh->system, r);
}

static void check_event(struct reader *r, const struct batch *b, const struct event *e)
{
	struct ovni_shared *const sh = r->shared;
	struct ovni_state *const st = r->state;

	if (e->phase == PHASE_STRUCTURE)
		return;
	if (sh->checker == NULL)
		sh->checker = state_checker_new(&sh->system);
	sh->system.no_memory |= sh->checker == NULL;
	if (!sh->system.no_memory && r->trace->vocabulary != NULL)
		state_check_event(sh->checker, &st->stream, r, b, e);
	r->no_memory |= sh->system.no_memory;
}

static const char *const sidecars[] = { OVNI_METADATA_FILE, "metadata.json", NULL };
static const char *const auxiliary[] = { OVNI_OFFSETS_FILE, "thread.*.json", NULL };

/* Returns the length of the path of the folder of looms; libovni writes
 * ovni/loom.HOST.PID/proc.PID/thread.TID/stream.obs. */
static size_t common_path_length(const char *path)
{
	const char *const loom = strstr(path, "/loom.");

	return loom != NULL ? (size_t)(loom - path) : 0;
}

const struct trace_ops ovni_trace_ops = {
	.common_path_length = common_path_length,
	.sidecars = sidecars,
	.auxiliary = auxiliary,
	.check_sidecar = ovni_check_sidecar,
	.shared_size = sizeof(struct ovni_shared),
	.open = open_trace,
	.check = check_trace,
	.close = close_trace,
	.claims = ovni_claims,
	.apart_length = process_length,
	.merges = true,
	.checks_order = checks_state,
	.check_event = check_event,
	.checks_payloads = true,
};

/* ---- registration ---- */

static const char *const suffixes[] = { ".obs", ".ovni", NULL };
static const char *const groups[] = { "format", "hygiene", "state", "breakdown", NULL };

static const struct format_option options[] = {
	{ .name = "check",
	  .arg = "GROUP",
	  .help = "check a further group of rules: state or breakdown",
	  .words = groups },
	{ .name = "clock-offsets",
	  .arg = "FILE",
	  .help = "clock offsets of hosts (default: clock-offsets.txt in the directory)" },
	{ .name = NULL },
};

const struct format ovni_format = {
	.name = "ovni",
	.title = "ovni trace stream",
	.spec = "ovni trace specification v3",
	.recounted = (const char *const[]){ "clock", NULL },
	.suffixes = suffixes,
	.options = options,
	.reader = &ovni_reader_ops,
	.recover = &ovni_recover_ops,
	.trace = &ovni_trace_ops,
	.writer = &ovw_ops,
	.copier = &ovw_copier_ops,
	.rules = ovni_rules,
	.losses = ovw_losses,
	.features = HAS_FIELDS | HAS_INSTANTS | HAS_COUNTERS | HAS_ENDS | HAS_LISTS | HAS_PARTS |
	            HAS_NOT_UTF8 | HAS_FACTS | HAS_EPOCH | HAS_HOSTS | HAS_NUMBERS,
};
