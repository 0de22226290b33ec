#include "cmd/validate_run.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/say.h"
#include "cmd/source_record.h"
#include "run/read/trace_groups.h"
#include "run/write/workers.h"
#include "policy/policy_watch.h"

/* What waits for its turn may take so many bytes for each trace; then the trace itself waits. */
#define WAITING_MOST ((size_t)1 << 20)
#define SLOTS_PER_THREAD 16

/* A trace that is read, or was. */
struct slot {
	struct run *run;
	size_t index;
	const struct trace_group *trace;
	size_t trace_index;
	struct file_records records;
	uint64_t inputs;            /* that were closed */
	struct policy_watch *watch; /* while it is read; NULL: nothing is expected of it */
	uint64_t left_findings;              /* outside of the scope */
	struct select_found *found;          /* of the scope; NULL: there is none */
	char refused[512];                   /* why that makes no sense for the trace; "": it does */
	bool turn;                  /* all traces before it are reported */
};

/* What is kept from one trace to the next, by one thread at a time. */
struct kept {
	struct kept *next;
	struct vocabularies vocabularies;
};

struct run {
	struct options *options;
	struct reports *reports;
	const struct trace_groups *groups;
	struct policies *policies;
	struct slot *slots;
	struct workers *workers;
	struct kept *kept; /* those that nobody has */
	pthread_mutex_t lock;
	struct progress progress; /* of a trace that is alone */
	enum exit_status status;  /* of the scope */
	bool failed;              /* memory ran out; with the lock, or in finish */
};

/* ---- one trace ---- */

static void
hand_over(struct slot *s)
{
	const struct policy *const policy =
	    s->records.first != NULL ? policies_of(s->run->policies, s->trace_index) : NULL;

	for (const struct file_record *k = s->records.first; k != NULL; k = k->next)
		reports_file(s->run->reports, k, policy);
	s->run->failed |= s->records.failed;
	file_records_clear(&s->records);
}

static void
take_finding(void *ctx, const struct findings *j, const struct finding *f)
{
	struct slot *const s = ctx;

	(void)j;
	file_records_finding(&s->records, f);
}

/* One input was read, or could not be. */
static void
closed(void *ctx, const struct source *f)
{
	struct slot *const s = ctx;
	const struct file_record what = source_record(f);

	progress_clear(&s->run->progress);
	if (f->context->refused[0] != '\0')
		return; /* nothing was read; that is said in turn */
	s->left_findings += f->findings.nleft_out;
	if (s->watch != NULL && f->open && !f->as_whole)
		policy_watch_input(s->watch, f);
	if (s->watch != NULL && s->turn) /* the last one may get findings yet */
		hand_over(s);
	s->inputs += !f->as_whole;
	file_records_close(&s->records, &what, &f->findings);
	if (!s->turn && s->records.arena.used > WAITING_MOST) {
		workers_turn(s->run->workers, s->index);
		s->turn = true;
	}
	if (s->turn && s->watch == NULL)
		hand_over(s);
}

static void
show_progress(void *ctx, const struct input *in)
{
	struct slot *const s = ctx;

	progress_show(&s->run->progress, in);
}

/* NULL: no memory. */
static struct kept *
take_kept(struct run *r)
{
	pthread_mutex_lock(&r->lock);
	struct kept *k = r->kept;
	if (k != NULL)
		r->kept = k->next;
	pthread_mutex_unlock(&r->lock);
	return k != NULL ? k : calloc(1, sizeof *k);
}

static void
give_kept(struct run *r, struct kept *k)
{
	pthread_mutex_lock(&r->lock);
	k->next = r->kept;
	r->kept = k;
	pthread_mutex_unlock(&r->lock);
}

/* ---- what is expected of it ---- */

/* The findings about the trace go to its file; to a record of their own where it has several. */
static void
add_verdict(struct slot *s, const struct pipeline *p, const struct findings *j)
{
	const struct file_record what = {
		.path = trace_group_path(s->trace),
		.format = pipeline_format(p)->name,
		.dialect = p->trace.dialect,
		.rules = pipeline_format(p)->rules,
		.whole = true,
	};

	if (s->inputs == 1 || s->records.last->whole)
		file_records_amend(&s->records, j);
	else if (j->ncounts > 0 || s->records.nchecks > 0)
		file_records_close(&s->records, &what, j);
}

static void
take_found(struct slot *s, struct pipeline *p)
{
	s->found = p->marks.found;
	p->marks.found = NULL;
	memcpy(s->refused, p->context.refused, sizeof s->refused);
}

/* Reads a trace of which something is expected. */
static void
run_expecting(struct slot *s, struct pipeline *p, const struct pipeline_job *job,
              const struct policy_baseline *baseline)
{
	struct policy_verdict v = { s->watch, p, trace_group_path(s->trace), baseline, NULL, &s->records };
	enum stage_status status = STAGE_BAD;
	struct findings findings;
	struct batch *b;
	bool ok = true;

	if (pipeline_open(p, job))
		while (ok && (status = pipeline_next(p, &b)) == STAGE_MORE) {
			ok = policy_watch_batch(s->watch, b);
			batch_release(b);
		}
	ok = ok && policy_watch_end(s->watch);
	if (!ok)
		pipeline_no_memory(p);
	pipeline_end(p);
	if (!ok || status != STAGE_END || pipeline_format(p) == NULL || s->records.last == NULL)
		return;
	findings_init(&findings, v.path, take_finding, s);
	v.findings = &findings;
	s->records.failed |= !policy_verdict(&v);
	add_verdict(s, p, &findings);
	findings_free(&findings);
}

/* false: no memory. */
static bool
run_trace(struct slot *s, struct pipeline_job *job)
{
	const struct policy_baseline *baseline;
	struct policy_checks checks;
	struct pipeline p;

	if (!policies_checks(s->run->policies, s->trace_index, &checks, &baseline))
		return false;
	s->watch = checks.any ? malloc(sizeof *s->watch) : NULL;
	bool ok = s->watch != NULL || !checks.any;
	if (s->watch != NULL && !policy_watch_init(s->watch, &checks)) {
		ok = false;
		policy_watch_free(s->watch);
		free(s->watch);
		s->watch = NULL;
	}
	if (s->watch != NULL) {
		job->want = WANT_TIMES | WANT_ORDER;
		job->interpret = INTERPRET_SPANS;
		run_expecting(s, &p, job, baseline);
		policy_watch_free(s->watch);
		free(s->watch);
		s->watch = NULL;
		take_found(s, &p);
		pipeline_close(&p);
	} else if (ok) {
		if (pipeline_open(&p, job))
			pipeline_drain(&p);
		pipeline_end(&p);
		take_found(s, &p);
		pipeline_close(&p);
	}
	policy_checks_free(&checks);
	return ok;
}

static void
run_slot(void *ctx, size_t index)
{
	struct run *const r = ctx;
	struct slot *const s = &r->slots[index];
	struct pipeline_job job = options_job(r->options, take_finding, s);
	struct kept *const kept = take_kept(r);

	if (kept == NULL) {
		s->records.failed = true;
		return;
	}
	job.paths = &s->trace->operand.path;
	job.npaths = 1;
	job.operand = &s->trace->operand;
	job.vocabularies = &kept->vocabularies;
	job.want = WANT_FINDINGS;
	job.scope = job.select;
	job.select = NULL;
	job.hooks = (struct pipeline_hooks){ .closed = closed, .progress = show_progress, .ctx = s };
	s->inputs = s->left_findings = 0;
	s->refused[0] = '\0';
	s->records.failed |= !run_trace(s, &job);
	give_kept(r, kept);
}

/* What was left out is said, in the order of the traces. */
static enum exit_status
say_scope(const struct slot *s)
{
	const struct options *const o = s->run->options;
	const char *const path = trace_group_path(s->trace);
	struct shown_path shown;

	if (s->refused[0] != '\0') {
		say("%s: %s: %s", o->cmd->name, show_path(&shown, path), s->refused);
		return STATUS_USAGE;
	}
	if (!o->quiet && s->left_findings > 0)
		say("%s: %" PRIu64 " finding%s outside of the scope", show_path(&shown, path),
		    s->left_findings, s->left_findings == 1 ? " is" : "s are");
	return say_selected(o, path, s->found);
}

static void
finish_slot(void *ctx, size_t index)
{
	struct run *const r = ctx;
	struct slot *const s = &r->slots[index];

	hand_over(s);
	r->status = worse(r->status, say_scope(s));
	select_found_free(s->found);
	s->found = NULL;
	s->turn = false;
}

/* ---- all ---- */

/* No more than there are traces, and the caller's. */
static size_t
threads_of(const struct run *r, uint64_t wanted)
{
	const size_t n = options_threads(wanted);

	return n < r->groups->n ? n : r->groups->n > 0 ? r->groups->n : 1;
}

static bool
read_all(struct run *r, size_t threads)
{
	static const struct workers_ops ops = { .run = run_slot, .finish = finish_slot };
	const size_t slots = threads > 1 ? threads * SLOTS_PER_THREAD : 1;

	r->slots = calloc(slots, sizeof *r->slots);
	if (r->slots == NULL || (r->workers = workers_new(slots, threads - 1, &ops, r)) == NULL)
		return false;
	progress_init(&r->progress, r->options);
	r->progress.wanted &= r->groups->n == 1;
	for (uint32_t i = 0; i < r->groups->n; i++) {
		const size_t index = workers_slot(r->workers);
		struct slot *const s = &r->slots[index];
		s->run = r;
		s->index = index;
		s->trace = &r->groups->list[i];
		s->trace_index = i;
		workers_put(r->workers);
	}
	workers_settle(r->workers);
	for (size_t i = 0; i < slots; i++)
		file_records_free(&r->slots[i].records);
	return true;
}

static void
free_run(struct run *r)
{
	workers_free(r->workers);
	while (r->kept != NULL) {
		struct kept *const k = r->kept;
		r->kept = k->next;
		vocabularies_free(&k->vocabularies);
		free(k);
	}
	free(r->slots);
	pthread_mutex_destroy(&r->lock);
}

bool
validate_run(struct options *o, struct reports *reports, const struct trace_groups *traces,
             struct policies *policies, uint64_t threads, enum exit_status *scope)
{
	struct run r = { .options = o, .reports = reports, .groups = traces, .policies = policies };

	if (pthread_mutex_init(&r.lock, NULL) != 0)
		return false;
	const bool ok = read_all(&r, threads_of(&r, threads));
	free_run(&r);
	*scope = r.status;
	return ok && !r.failed;
}
