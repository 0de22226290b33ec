/*
 * validate: traces are read on several threads, and reported in the order of the command line.  Findings of a
 * trace wait in its slot until its turn; one that has more than MAX_WAITING bytes of them waits itself.
 * --init writes a policy (tracetool.yaml(5)) from good traces.
 */

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/workers.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/reports.h"
#include "cli/say.h"
#include "cmd/report.h"
#include "policy/policy.h"
#include "run/read/operands.h"

/* Reads a trace and counts its events.  Returns false if it is unreadable, after reporting that. */
static bool watch_trace(struct policy_watch *w, struct pipeline **out, const struct pipeline_job *job)
{
	enum stage_status status = STAGE_BAD;
	struct batch *b;
	bool ok = true;

	if (pipeline_open(out, job))
		while (ok && (status = pipeline_next(*out, &b)) == STAGE_MORE) {
			ok = policy_watch_batch(w, b);
			batch_release(b);
		}
	ok = ok && policy_watch_end(w);
	if (!ok)
		pipeline_no_memory(*out);
	pipeline_end(*out);
	return ok && status == STAGE_END;
}

/* ---- --init ---- */

struct init {
	struct options *options;
	struct policy_watch *watch;
	struct policy_starter *starter;
	uint64_t errors;
	enum exit_status status;
};

static void init_progress(void *ctx, const struct input *in)
{
	struct init *const n = ctx;

	progress_show(&n->options->progress, in);
}

static void init_closed(void *ctx, const struct source *f)
{
	struct init *const n = ctx;

	progress_clear(&n->options->progress);
	if (f->open && !f->as_whole)
		policy_watch_input(n->watch, f);
	n->errors += f->findings.levels[LEVEL_ERROR];
	n->status = worse(n->status, say_end(n->options, f));
}

static enum exit_status write_starter(struct init *n, const struct trace_groups *traces)
{
	struct policy_starter *const s = n->starter;
	struct options *const o = n->options;
	struct report_out out = { .out = NULL };
	struct text t = { .p = NULL };
	struct shown_path shown;

	if (!report_out_open(&out, o))
		return STATUS_UNREADABLE;
	out.no_memory |= !policy_starter_write(s, &t, show_path(&shown, trace_group_path(&traces->list[0])));
	report_out_put(&out, &t);
	text_free(&t);
	const enum exit_status status = report_out_close(&out);
	if (status == STATUS_CLEAN && o->output != NULL && !o->quiet) {
		struct shown_path file;
		show_path(&file, o->output);
		say("wrote %s: %" PRIu32 " event%s, %" PRIu32
		    " budget%s; check: tracetool validate --config %s %s%s",
		    file.s, s->nevents, s->nevents == 1 ? "" : "s", s->nbudgets, s->nbudgets == 1 ? "" : "s",
		    file.s, show_path(&shown, trace_group_path(&traces->list[0])),
		    traces->n > 1 ? " ..." : "");
	}
	return status;
}

/* Returns false after a message if no policy is made of it. */
static bool add_trace(struct init *n, const struct trace_group *trace)
{
	static const struct policy_checks none = { .any = false };
	struct pipeline_job job = options_job(n->options, say_finding, n->options);
	const char *const path = trace_group_path(trace);
	const uint64_t before = n->errors;
	struct pipeline *p;

	job.in.paths = &path;
	job.in.npaths = 1;
	job.in.operand = &trace->operand;
	job.read.want = WANT_TIMES | WANT_ORDER;
	job.read.interpret = INTERPRET_SPANS;
	job.to.hooks = (struct pipeline_hooks){ .closed = init_closed, .progress = init_progress, .ctx = n };
	progress_init(&n->options->progress, n->options);
	policy_watch_init(n->watch, &none);
	const bool read = watch_trace(n->watch, &p, &job);
	const bool good = read && n->errors == before && n->status == STATUS_CLEAN;
	if (good) {
		const struct run_report report = pipeline_report(p);
		policy_starter_add(n->starter, n->watch, &report);
	} else {
		say_of(path, "a policy is made from a good trace; this one has %" PRIu64 " error%s",
		       n->errors - before, n->errors - before == 1 ? "" : "s");
		n->status = worse(n->status, STATUS_FINDINGS);
	}
	policy_watch_free(n->watch);
	pipeline_close(p);
	return good;
}

/* `validate --init TRACE`: writes a policy that a good trace keeps, to standard output or to the file of -o.
 */
static enum exit_status validate_init(struct options *o)
{
	struct init n = { .options = o };
	struct trace_groups traces = { .n = 0 };
	uint32_t i = 0;

	n.watch = malloc(sizeof *n.watch);
	n.starter = calloc(1, sizeof *n.starter);
	if (n.watch == NULL || n.starter == NULL || !trace_groups_init(&traces, o->in, o->nin, o->from)) {
		options_no_memory(o);
	} else if (traces.n == 0) {
		options_mistake(o, "--init: there is no trace");
	} else {
		while (i < traces.n && add_trace(&n, &traces.list[i]))
			i++;
		o->status = i < traces.n ? n.status : write_starter(&n, &traces);
	}
	trace_groups_free(&traces);
	if (n.starter != NULL)
		policy_starter_free(n.starter);
	free(n.starter);
	free(n.watch);
	return o->status;
}

/* ---- traces side by side ---- */

/* Bytes of findings of one trace that wait for their turn; with more, the trace itself waits. */
#define MAX_WAITING ((size_t)1 << 20)
#define SLOTS_PER_THREAD 16

/* A trace that is read, or waits for its turn in the reports. */
struct slot {
	struct run *run;
	size_t index;
	const struct trace_group *trace;
	size_t trace_index;
	struct finding_log log;
	uint64_t inputs;            /* number of closed inputs */
	struct policy_watch *watch; /* while it is read; NULL: its policy expects nothing */
	uint64_t left_findings;     /* number of findings outside of the scope */
	struct select_found *found; /* of the scope; NULL: none */
	char refused[512];          /* why the scope makes no sense for the trace, or "" */
	bool turn;                  /* all traces before it are reported */
};

/* Parsed vocabularies, reused from one trace to the next, by one thread at a time. */
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
	struct kept *kept; /* free list */
	pthread_mutex_t lock;
	struct progress progress; /* if there is one trace */
	enum exit_status status;  /* of the scope */
	bool failed;              /* OOM; written with the lock, or in finish_slot() */
};

static void hand_over(struct slot *s)
{
	const struct policies *const p = s->run->policies;
	struct policy policy;

	policies_of(p, p->traces[s->trace_index], &policy);
	for (const struct file_record *k = s->log.first; k != NULL; k = k->next)
		reports_file(s->run->reports, k, &policy);
	s->run->failed |= finding_log_failed(&s->log);
	finding_log_clear(&s->log);
}

/* Closes an input in the log, whether it was read or unreadable. */
static void slot_closed(void *ctx, const struct source *f)
{
	struct slot *const s = ctx;
	const struct file_record what = source_record(f);

	progress_clear(&s->run->progress);
	if (f->context->refused[0] != '\0')
		return; /* nothing was read; reported in turn */
	s->left_findings += f->findings.nleft_out;
	if (s->watch != NULL && f->open && !f->as_whole)
		policy_watch_input(s->watch, f);
	if (s->watch != NULL && s->turn) /* the last record may still get findings of the trace */
		hand_over(s);
	s->inputs += !f->as_whole;
	finding_log_close(&s->log, &what, &f->findings);
	if (!s->turn && s->log.bytes > MAX_WAITING) {
		workers_turn(s->run->workers, s->index);
		s->turn = true;
	}
	if (s->turn && s->watch == NULL)
		hand_over(s);
}

static void slot_progress(void *ctx, const struct input *in)
{
	struct slot *const s = ctx;

	progress_show(&s->run->progress, in);
}

static struct kept *get_kept(struct run *r)
{
	pthread_mutex_lock(&r->lock);
	struct kept *k = r->kept;
	if (k != NULL)
		r->kept = k->next;
	pthread_mutex_unlock(&r->lock);
	return k != NULL ? k : calloc(1, sizeof *k);
}

static void put_kept(struct run *r, struct kept *k)
{
	pthread_mutex_lock(&r->lock);
	k->next = r->kept;
	r->kept = k;
	pthread_mutex_unlock(&r->lock);
}

/* ---- one trace ---- */

/* Findings about the trace as a whole go to its file, or to a record of their own if it has several. */
static void add_verdict(struct slot *s, const struct run_report *run, const struct findings *j)
{
	const struct file_record what = {
		.path = trace_group_path(s->trace),
		.format = run->format->name,
		.dialect = run->trace->dialect,
		.rules = run->format->rules,
		.whole = true,
	};

	if (s->inputs == 1 || s->log.last->whole)
		finding_log_amend(&s->log, j);
	else if (j->ncounts > 0 || s->log.nchecks > 0)
		finding_log_close(&s->log, &what, j);
}

/* Reads a trace whose policy expects something. */
static void read_watched(struct slot *s, struct pipeline **p, const struct pipeline_job *job,
                         const struct policy_baseline *baseline)
{
	const bool is_read = watch_trace(s->watch, p, job);
	const struct run_report run = pipeline_report(*p);
	struct policy_verdict v = { s->watch, &run, trace_group_path(s->trace), baseline, NULL, &s->log };
	struct findings findings;

	if (!is_read || run.format == NULL || s->log.last == NULL)
		return;
	job_findings(job, &findings, v.path);
	v.findings = &findings;
	s->log.failed |= !policy_verdict(&v);
	add_verdict(s, &run, &findings);
	findings_free(&findings);
}

/* Returns false on OOM. */
static bool run_trace(struct slot *s, struct pipeline_job *job)
{
	const struct policy_baseline *baseline;
	struct policy_checks checks;
	struct policy_watch *watch = NULL;
	struct pipeline *p = NULL;

	if (!policies_checks(s->run->policies, s->trace_index, &checks, &baseline))
		return false;
	const bool ok =
	    !checks.any || ((watch = malloc(sizeof *watch)) != NULL && policy_watch_init(watch, &checks));
	if (ok && watch != NULL) {
		job->read.want = WANT_TIMES | WANT_ORDER | options_want_sizes(s->run->options);
		job->read.interpret = INTERPRET_SPANS;
		s->watch = watch;
		read_watched(s, &p, job, baseline);
		s->watch = NULL;
	} else if (ok && pipeline_open(&p, job)) {
		pipeline_drain(p);
	}
	pipeline_end(p);
	s->found = pipeline_take_found(p);
	(void)snprintf(s->refused, sizeof s->refused, "%s", pipeline_report(p).refused);
	pipeline_close(p);
	if (watch != NULL)
		policy_watch_free(watch);
	free(watch);
	policy_checks_free(&checks);
	return ok;
}

static void run_slot(void *ctx, size_t index)
{
	struct run *const r = ctx;
	struct slot *const s = &r->slots[index];
	struct pipeline_job job = options_job(r->options, NULL, NULL);
	struct kept *const kept = get_kept(r);

	if (kept == NULL) {
		s->log.failed = true;
		return;
	}
	job.to.list = &s->log.open;
	job.in.paths = &s->trace->operand.path;
	job.in.npaths = 1;
	job.in.operand = &s->trace->operand;
	job.in.vocabularies = &kept->vocabularies;
	job.read.want = WANT_FINDINGS;
	job.choice.scope = job.choice.select;
	job.choice.select = NULL;
	job.to.hooks = (struct pipeline_hooks){ .closed = slot_closed, .progress = slot_progress, .ctx = s };
	s->inputs = s->left_findings = 0;
	s->refused[0] = '\0';
	s->log.failed |= !run_trace(s, &job);
	put_kept(r, kept);
}

/* Reports what the scope left out. */
static enum exit_status say_scope(const struct slot *s)
{
	const struct options *const o = s->run->options;
	const char *const path = trace_group_path(s->trace);
	struct shown_path shown;

	if (s->refused[0] != '\0') {
		say("%s: %s: %s", o->cmd->name, show_path(&shown, path), s->refused);
		return STATUS_USAGE;
	}
	if (!o->quiet && s->left_findings > 0)
		say_of(path, "%" PRIu64 " finding%s outside of the scope", s->left_findings,
		       s->left_findings == 1 ? " is" : "s are");
	return say_selected(o, path, s->found);
}

static void finish_slot(void *ctx, size_t index)
{
	struct run *const r = ctx;
	struct slot *const s = &r->slots[index];

	hand_over(s);
	finding_log_reset(&s->log);
	r->status = worse(r->status, say_scope(s));
	select_found_free(s->found);
	s->found = NULL;
	s->turn = false;
}

/* ---- all traces ---- */

/* The number of threads, the calling one included; at most one a trace. */
static size_t threads_of(const struct run *r, uint64_t wanted)
{
	const size_t n = options_threads(wanted);

	return n < r->groups->n ? n : r->groups->n > 0 ? r->groups->n : 1;
}

static bool read_all(struct run *r, size_t threads)
{
	static const struct workers_ops ops = { .run = run_slot, .finish = finish_slot };
	const size_t slots = threads > 1 ? threads * SLOTS_PER_THREAD : 1;

	r->slots = calloc(slots, sizeof *r->slots);
	if (r->slots == NULL || (r->workers = workers_new(slots, threads - 1, &ops, r)) == NULL)
		return false;
	for (size_t i = 0; i < slots; i++)
		finding_log_init(&r->slots[i].log);
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
		finding_log_free(&r->slots[i].log);
	return true;
}

static void free_run(struct run *r)
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

/* Reads all traces on several threads (0: one per core), and hands their findings to the reports in the order
 * of the operands, each trace with its policy.  *scope: exit status of --scope.  Returns false on OOM:
 * findings are missing. */
static bool validate_run(struct options *o, struct reports *reports, const struct trace_groups *traces,
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

/* ---- options ---- */

static const struct cmd_words words[] = {
	{ "--report", WORDS_LIST, report_words },
	{ "--format", WORDS_LIST, report_words },
	{ "--level", WORDS_LIST, policy_levels },
	{ "--fail-level", WORDS_LIST, policy_fail_levels },
	{ NULL, WORDS_LIST, NULL },
};

#define THREADS_NOT_GIVEN UINT64_MAX

struct validate {
	struct options options;
	struct policy_options policy;
	struct trace_groups traces;
	struct policies policies;
	struct reports reports;
	const struct report_ops *form; /* of --format; NULL: not given */
	uint64_t threads;              /* 0: one per core; or THREADS_NOT_GIVEN */
	bool init, scope, exit_zero;
};

static bool set_format(void *run, struct options *o, const char *arg)
{
	struct validate *const v = run;

	return reports_kind(o, "--format", arg, &v->form);
}

/* The last of --config and --no-config counts. */
static bool set_config(void *run, struct options *o, const char *arg)
{
	struct validate *const v = run;

	v->policy.config = arg; /* NULL: --no-config */
	v->policy.no_config = arg == NULL;
	return true;
}

static bool add_baseline(void *policy_options, struct options *o, const char *arg)
{
	struct policy_options *const p = policy_options;

	if (p->nbaselines == POLICY_MAX_BASELINES)
		return options_mistake(o, "takes at most %d baselines", POLICY_MAX_BASELINES);
	p->baselines[p->nbaselines++] = arg;
	return true;
}

static const struct cmd_option own[] = {
	{ "report", "FORMAT=FILE", "also write a report in this format to FILE", 0, OPTION_CALL,
	  .at = offsetof(struct validate, reports), .set = reports_add },
	{ "format", "FORMAT",
	  "text (default), gcc, json, ndjson, sarif, junit, github, markdown, gitlab, html, auto", 0,
	  OPTION_CALL, .set = set_format },
	{ "select-rules", "RULES", "report only findings of these rules (* matches any text)", 0, OPTION_CALL,
	  .at = offsetof(struct validate, policy), .set = policy_select },
	{ "ignore-rules", "RULES", "leave out findings of these rules", 0, OPTION_CALL,
	  .at = offsetof(struct validate, policy), .set = policy_ignore },
	{ "level", "RULES=LEVEL", "set the level of these rules: error, limit, warning or note", 0,
	  OPTION_CALL, .at = offsetof(struct validate, policy), .set = policy_level },
	{ "limit", "N", "list at most N findings, and count the rest (0: all)", 'n',
	  TO_LIMIT(struct validate, policy.limit) },
	{ "fail-level", "LEVEL", "exit 1 from this level on: error (default), limit, warning, note, never", 0,
	  OPTION_CALL, .at = offsetof(struct validate, policy), .set = policy_fail_level },
	{ "exit-zero", NULL, "findings do not change the exit status", 0,
	  TO_FLAG(struct validate, exit_zero) },
	{ "threads", "N", "work with N threads (default: one per core, 16 at most)", 0,
	  TO_NUMBER(struct validate, threads) },
	{ "config", "FILE", "the policy (default: the nearest .tracetool.yaml)", 0, OPTION_CALL,
	  .set = set_config },
	{ "no-config", NULL, "use no policy", 0, OPTION_CALL, .set = set_config },
	{ "baseline", "FILE", "compare with this output of stats --format json (repeatable)", 0, OPTION_CALL,
	  .at = offsetof(struct validate, policy), .set = add_baseline },
	{ "init", NULL, "write a starter policy for a good trace", 0, TO_FLAG(struct validate, init) },
	{ "scope", NULL, "report only findings about the selected events", 0,
	  TO_FLAG(struct validate, scope) },
	{ .name = NULL },
};

/* --name and its like select events only with --scope: they are not mistaken for --select-rules. */
static bool check_scope(struct validate *v)
{
	struct options *const o = &v->options;
	const bool any = !select_is_any(&o->select.select);

	if (any && !v->scope)
		return options_mistake(
		    o, "a selection needs --scope: it limits the findings to the selected events");
	if (v->scope && !any)
		return options_mistake(o, "--scope needs --since, --name or another option that selects "
		                          "events");
	if (v->scope && v->init)
		return options_mistake(o, "--init excludes --scope: it needs the whole trace");
	if (v->init && (v->policy.config != NULL || v->policy.nbaselines > 0 || v->reports.n > 0))
		return options_mistake(o, "--init excludes --config, --baseline and --report");
	return true;
}

/* Whether all files of the run are different.  Called again when the policies are read, which name files,
 * too. */
static bool check_names(struct validate *v)
{
	struct options *const o = &v->options;
	struct run_names n;

	run_names_begin(&n, o, o->in, o->nin);
	reports_names(&v->reports, &n);
	for (unsigned i = 0; i < v->policy.nbaselines; i++)
		run_names_read(&n, "baseline", v->policy.baselines[i]);
	if (v->policies.nentries == 0)
		run_names_read(&n, "policy", v->policy.config);
	policies_names(&v->policies, &n);
	return run_names_end(&n);
}

static bool parse(struct validate *v)
{
	struct options *const o = &v->options;

	v->threads = THREADS_NOT_GIVEN;
	if (!options_parse(o, v))
		return false;
	if (v->exit_zero)
		v->policy.choice.exit_zero = true;
	return check_scope(v) && options_name_traces(o) && check_names(v);
}

/* Adds the reports that the policy of the first trace asks for, if the command line names none. */
static bool add_reports(struct validate *v)
{
	const struct policy_file *const file = policies_first(&v->policies);
	struct options *const o = &v->options;

	if (v->reports.n == 0 && v->form == NULL && o->output == NULL && file != NULL)
		for (uint32_t i = 0; i < file->nreports; i++)
			if (!reports_add_of_policy(&v->reports, o, file->folder, &file->reports[i]))
				return false;
	/* --format and -o are the short form for one report, in addition to those of --report */
	if ((v->reports.n == 0 || v->form != NULL || o->output != NULL) &&
	    !reports_request(&v->reports, o, v->form != NULL ? v->form : &report_text,
	                     o->output != NULL ? o->output : "-"))
		return false;
	return true;
}

/* Finds the traces and their policies.  Returns false after a message. */
static bool find_traces(struct validate *v)
{
	struct options *const o = &v->options;

	return options_traces(o, &v->traces) && policies_init(&v->policies, o, &v->policy, &v->traces) &&
	       add_reports(v) && check_names(v);
}

/* Whether a report shows the traces as a page. */
static bool wants_page(const struct validate *v)
{
	for (size_t i = 0; i < v->reports.n; i++)
		if (v->reports.list[i].kind == &report_html)
			return true;
	return false;
}

/* Reads the traces again for the page, if they can be; their findings were reported.  Returns false on OOM.
 */
static bool make_page(struct validate *v, struct page_run *page)
{
	struct pipeline_job job = options_job(&v->options, NULL, NULL);

	job.in.paths = v->options.in;
	job.in.npaths = v->options.nin;
	*page =
	    (struct page_run){ .options = &v->options, .traces = &v->traces, .page.findings_first = true };
	v->reports.context.page = &page->page;
	return !pipeline_reads_twice(&job) || page_run(page);
}

static enum exit_status run(struct validate *v)
{
	const struct policy_file *const file = policies_first(&v->policies);
	const uint64_t policy_threads = file != NULL ? file->threads : 0;
	const uint64_t threads = v->threads == THREADS_NOT_GIVEN ? policy_threads : v->threads;
	struct publication p = { .n = 0 };
	const bool opened = reports_open(&v->reports, &v->options, &v->policies.whole);
	enum exit_status scope = STATUS_CLEAN;
	struct page_run page = { .options = NULL };
	bool whole =
	    opened && validate_run(&v->options, &v->reports, &v->traces, &v->policies, threads, &scope);

	enum exit_status status = opened ? STATUS_CLEAN : STATUS_UNREADABLE;

	if (opened && wants_page(v))
		whole = make_page(v, &page) && whole;
	if (opened) {
		status = reports_end(&v->reports, !whole, &p);
		(void)publication_end(&p, NULL, NULL, 0);
	}
	reports_free(&v->reports);
	report_page_free(&page.page);
	return worse(worse(status, p.status), scope);
}

static enum exit_status cmd_validate(const struct command *cmd, int argc, char **argv)
{
	struct validate v = { .form = NULL };
	enum exit_status status;

	options_init(&v.options, cmd, argc, argv);
	policy_options_init(&v.policy);
	if (!parse(&v))
		status = v.options.status;
	else if (v.init)
		status = validate_init(&v.options);
	else
		status = find_traces(&v) ? run(&v) : v.options.status;
	policies_free(&v.policies);
	trace_groups_free(&v.traces);
	policy_options_free(&v.policy);
	options_free(&v.options);
	return status;
}

const struct command validate_command = {
	.name = "validate",
	.operands = "[options] IN ...",
	.summary = "Validates traces against the rules of their formats, and reports where each fault is.",
	.options = own,
	.words = words,
	.reads = true,
	.writes = true,
	.reports = true,
	.selects = true,
	.run = cmd_validate,
};
