/*
 * validate: traces are read on several threads, and reported in the order of the command line.  The findings
 * of a trace are kept until its turn; with more than MAX_WAITING bytes of them, reading the trace waits.
 * --init writes a policy (tracetool.yaml(5)) from good traces.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/apart.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/reports.h"
#include "cli/say.h"
#include "cli/traces.h"
#include "cmd/report.h"
#include "policy/policy.h"

#define THREADS_NOT_GIVEN UINT64_MAX

struct validate {
	struct trace_run run;
	struct policy_options policy;
	struct policies policies;
	struct reports reports;
	const struct report_ops *form; /* argument of --format; NULL: not given */
	uint64_t threads;              /* 0: one per core; or THREADS_NOT_GIVEN */
	bool init, scope;
	bool policy_reports; /* the policy names the reports */
	bool failed;         /* OOM: findings are missing */
	/* of --init; both are freed by validate_init() */
	struct policy_watch *watch;     /* events of the current trace */
	struct policy_starter *starter; /* the policy */
	uint64_t errors;                /* in all traces so far */
};

/* Opens a pipeline, reads the trace and counts its events; *out stays open.  Returns false after a finding if
 * the trace is unreadable. */
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

static void init_closed(void *ctx, const struct source *f)
{
	struct trace_slot *const t = ctx;
	struct validate *const v = (struct validate *)t->run;

	if (f->open && !f->as_whole)
		policy_watch_input(v->watch, f);
	v->errors += f->findings.levels[LEVEL_ERROR];
	trace_slot_closed(t, f);
}

/* Adds a trace to the policy, unless an earlier trace was not good. */
static void init_trace(struct trace_slot *t)
{
	static const struct policy_checks none = { .any = false };
	struct validate *const v = (struct validate *)t->run;
	struct pipeline_job job = trace_slot_job(t);
	const uint64_t before = v->errors;
	struct pipeline *p;

	if (v->run.status != STATUS_CLEAN)
		return;
	job.read.want = WANT_TIMES | WANT_ORDER;
	job.read.interpret = INTERPRET_SPANS;
	job.to.hooks.closed = init_closed;
	policy_watch_init(v->watch, &none);
	const bool read = watch_trace(v->watch, &p, &job);
	if (read && v->errors == before && v->run.status == STATUS_CLEAN) {
		const struct run_report report = pipeline_report(p);
		policy_starter_add(v->starter, v->watch, &report);
	} else {
		say_of(t->path, "a policy is made from a good trace; this one has %" PRIu64 " error%s",
		       v->errors - before, v->errors - before == 1 ? "" : "s");
		v->run.status = worse(v->run.status, STATUS_FINDINGS);
	}
	policy_watch_free(v->watch);
	pipeline_close(p);
}

static enum exit_status write_starter(struct validate *v)
{
	const struct trace_groups *const traces = &v->run.groups;
	struct policy_starter *const s = v->starter;
	struct options *const o = &v->run.options;
	struct report_out out = { .out = NULL };
	struct text t = { .p = NULL };
	struct shown_path shown, file, policy;

	if (!report_out_open(&out, o))
		return STATUS_UNREADABLE;
	out.no_memory |= !policy_starter_write(s, &t, show_path(&shown, trace_group_path(&traces->list[0])));
	report_out_put(&out, &t);
	text_free(&t);
	const enum exit_status status = report_out_close(&out);
	if (status == STATUS_CLEAN && o->output != NULL && !o->quiet)
		say("wrote %s: %" PRIu32 " event%s, %" PRIu32
		    " budget%s; check: tracetool validate --config %s %s%s",
		    show_path(&file, o->output), s->nevents, s->nevents == 1 ? "" : "s", s->nbudgets,
		    s->nbudgets == 1 ? "" : "s", show_operand(&policy, o->output),
		    show_operand(&shown, trace_group_path(&traces->list[0])), traces->n > 1 ? " ..." : "");
	return status;
}

/* `validate --init TRACE`: writes a policy that a good trace satisfies, to standard output or to -o. */
static enum exit_status validate_init(struct validate *v)
{
	struct options *const o = &v->run.options;

	v->watch = malloc(sizeof *v->watch);
	v->starter = calloc(1, sizeof *v->starter);
	if (v->watch == NULL || v->starter == NULL) {
		options_no_memory(o);
	} else if (v->run.groups.n == 0) {
		options_mistake(o, "--init: there is no trace");
	} else if (o->status == STATUS_CLEAN) {
		traces_each(&v->run, 1, 0, init_trace);
		o->status = v->run.status == STATUS_CLEAN ? write_starter(v) : v->run.status;
	}
	if (v->starter != NULL)
		policy_starter_free(v->starter);
	free(v->starter);
	free(v->watch);
	return o->status;
}

/* ---- one trace ---- */

/* Bytes of findings of one trace that are kept until its turn; with more, reading the trace waits. */
#define MAX_WAITING ((size_t)1 << 20)

/* A trace that is read, or waits for its turn in the reports. */
struct checked {
	struct finding_log log;
	uint64_t inputs;            /* number of closed inputs */
	struct policy_watch *watch; /* set while the trace is read; NULL: its policy expects nothing */
	uint64_t left_findings;     /* number of findings outside of the scope */
	struct select_found *found; /* events of the scope; NULL: none */
	char refused[512];          /* why the scope does not apply to the trace, or "" */
};

/* Passes the files of a log, with their findings, to the reports, and empties the log. */
static void hand_over(const struct trace_slot *t, struct finding_log *log)
{
	struct validate *const v = (struct validate *)t->run;
	struct policy policy;

	policies_of(&v->policies, v->policies.traces[t->number], &policy);
	for (const struct file_record *k = log->first; k != NULL; k = k->next)
		reports_file(&v->reports, k, &policy);
	v->failed |= finding_log_failed(log);
	finding_log_clear(log);
}

/* Closes an input in the log, whether it was read or unreadable. */
static void input_closed(void *ctx, const struct source *f)
{
	struct trace_slot *const t = ctx;
	struct checked *const s = t->state;
	const struct file_record what = source_record(f);

	if (t->run->groups.n == 1)
		progress_clear(&t->run->options.progress);
	if (f->context->refused[0] != '\0')
		return; /* nothing was read; reported in turn */
	s->left_findings += f->findings.nleft_out;
	if (s->watch != NULL && f->open && !f->as_whole)
		policy_watch_input(s->watch, f);
	/* the verdict may still add findings to the last file */
	if (s->watch != NULL && t->turn)
		hand_over(t, &s->log);
	s->inputs += !f->as_whole;
	finding_log_close(&s->log, &what, &f->findings);
	if (s->log.bytes > MAX_WAITING)
		trace_slot_turn(t);
	if (t->turn && s->watch == NULL)
		hand_over(t, &s->log);
}

/* Findings about the whole trace are added to its file, or to a record of their own if it has several. */
static void add_verdict(struct checked *s, const struct policy_verdict *v)
{
	const struct file_record what = {
		.path = v->path,
		.format = v->run->format->name,
		.dialect = v->run->trace->dialect,
		.rules = v->run->format->rules,
		.whole = true,
	};

	if (s->inputs == 1 || s->log.last->whole)
		finding_log_amend(&s->log, v->findings);
	else if (v->findings->ncounts > 0 || s->log.nchecks > 0)
		finding_log_close(&s->log, &what, v->findings);
}

/* Reads a trace whose policy has expectations, and adds the verdict to the log. */
static void read_watched(struct trace_slot *t, struct pipeline **p, const struct pipeline_job *job,
                         const struct policy_baseline *baseline)
{
	struct checked *const s = t->state;
	const bool is_read = watch_trace(s->watch, p, job);
	const struct run_report run = pipeline_report(*p);
	struct policy_verdict v = { s->watch, &run, t->path, baseline, NULL, &s->log };
	struct findings findings;

	if (!is_read || run.format == NULL || s->log.last == NULL)
		return;
	job_findings(job, &findings, v.path);
	v.findings = &findings;
	s->log.failed |= !policy_verdict(&v);
	add_verdict(s, &v);
	findings_free(&findings);
}

/* ---- portions that are checked apart ---- */

static bool begin_portion(struct apart_portion *f)
{
	f->job.read.want = WANT_FINDINGS;
	return true;
}

static void report_portions(struct trace_slot *t, void *ctx, struct finding_log *logs, uint32_t n)
{
	(void)ctx;
	for (uint32_t i = 0; i < n; i++)
		hand_over(t, &logs[i]);
}

static bool check_apart(struct trace_slot *t)
{
	static const struct apart_ops ops = { .begin = begin_portion, .report = report_portions };

	return select_is_any(&t->run->options.select.select) && apart_is_possible(t, &ops) &&
	       apart_read(t, &ops, NULL);
}

/* ---- a trace as a whole ---- */

/* Returns false on OOM. */
static bool read_trace(struct trace_slot *t, struct pipeline_job *job)
{
	const struct validate *const v = (const struct validate *)t->run;
	struct checked *const s = t->state;
	const struct policy_baseline *baseline;
	struct policy_checks checks;
	struct policy_watch *watch = NULL;
	struct pipeline *p = NULL;

	if (!policies_checks(&v->policies, t->number, &checks, &baseline))
		return false;
	if (!checks.any && check_apart(t)) {
		policy_checks_free(&checks);
		return true;
	}
	const bool ok =
	    !checks.any || ((watch = malloc(sizeof *watch)) != NULL && policy_watch_init(watch, &checks));
	if (ok && watch != NULL) {
		job->read.want = WANT_TIMES | WANT_ORDER | options_want_sizes(&v->run.options) |
		                 (policy_checks_names(&checks) ? (unsigned)WANT_NAMES : 0);
		job->read.interpret = INTERPRET_SPANS;
		job->read.ahead = t->helpers > 0 ? READ_AHEAD : READ_ALONG;
		s->watch = watch;
		read_watched(t, &p, job, baseline);
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

static void check_trace(struct trace_slot *t)
{
	struct checked *const s = t->state;
	struct pipeline_job job = trace_slot_job(t);

	finding_log_init(&s->log);
	job.to.sink = NULL;
	job.to.list = &s->log.open;
	job.in.paths = &t->trace->operand.path;
	job.read.want = WANT_FINDINGS;
	job.choice.scope = job.choice.select;
	job.choice.select = NULL;
	job.to.hooks.closed = input_closed;
	if (t->run->groups.n > 1)
		job.to.hooks.progress = NULL;
	s->log.failed |= !read_trace(t, &job);
}

static enum exit_status say_scope(const struct trace_slot *t)
{
	const struct options *const o = &t->run->options;
	const struct checked *const s = t->state;
	struct shown_path shown;

	if (s->refused[0] != '\0') {
		say("%s: %s: %s", o->cmd->name, show_path(&shown, t->path), s->refused);
		return STATUS_USAGE;
	}
	if (!o->quiet && s->left_findings > 0)
		say_of(t->path, "%" PRIu64 " finding%s outside of the scope", s->left_findings,
		       s->left_findings == 1 ? " is" : "s are");
	return say_selected(o, t->path, s->found, NULL);
}

static void finish_trace(struct trace_slot *t)
{
	struct checked *const s = t->state;

	hand_over(t, &s->log);
	finding_log_free(&s->log);
	t->run->status = worse(t->run->status, say_scope(t));
	select_found_free(s->found);
}

/* ---- options ---- */

static const struct cmd_words words[] = {
	{ "--report", WORDS_LIST, report_words },
	{ "--format", WORDS_LIST, report_words },
	{ "--level", WORDS_LIST, level_names },
	{ "--fail-level", WORDS_LIST, policy_fail_levels },
	{ NULL, WORDS_LIST, NULL },
};

static bool set_format(void *form, struct options *o, const char *arg)
{
	return reports_kind(o, "--format", arg, form);
}

/* The last of --config and --no-config takes effect. */
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
	{ "report", "FORMAT=FILE", "also write a report in this format to FILE", 0,
	  TO_CALL(struct validate, reports, reports_add) },
	{ "format", "FORMAT",
	  "text (default), gcc, json, ndjson, sarif, junit, github, markdown, gitlab, html, auto", 0,
	  TO_CALL(struct validate, form, set_format) },
	{ "select-rules", "RULES", "report only findings of these rules (* matches any text)", 0,
	  TO_CALL(struct validate, policy, policy_select) },
	ROWS_RULES(struct validate, policy),
	{ "limit", "N", "list at most N findings, and count the rest (0: all)", 'n',
	  TO_LIMIT(struct validate, policy.limit) },
	ROWS_EXIT(struct validate, policy),
	ROW_THREADS(struct validate, threads),
	{ "config", "FILE", "the policy (default: the nearest .tracetool.yaml)", 0, OPTION_CALL,
	  .set = set_config },
	{ "no-config", NULL, "use no policy", 0, OPTION_CALL, .set = set_config },
	{ "baseline", "FILE", "compare with this output of stats --format json (repeatable)", 0,
	  TO_CALL(struct validate, policy, add_baseline) },
	{ "init", NULL, "write a starter policy for a good trace", 0, TO_FLAG(struct validate, init) },
	{ "scope", NULL, "report only findings about the selected events", 0,
	  TO_FLAG(struct validate, scope) },
	{ .name = NULL },
};

/* --name and similar options select events only with --scope, so that they are not mistaken for
 * --select-rules. */
static bool check_scope(struct validate *v)
{
	struct options *const o = &v->run.options;
	const bool any = !select_is_any(&o->select.select);
	const struct policy_choice *const rules = &v->policy.choice;

	if (any && !v->scope)
		return options_mistake(
		    o, "a selection needs --scope: it limits the findings to the selected events");
	if (v->scope && !any)
		return options_mistake(o,
		                       "--scope needs --since, --name or another option that selects events");
	if (v->scope && v->init)
		return options_mistake(o, "--init excludes --scope: it needs the whole trace");
	if (v->init && (v->policy.config != NULL || v->policy.nbaselines > 0 || v->reports.n > 0))
		return options_mistake(o, "--init excludes --config, --baseline and --report");
	if (v->init && (v->form != NULL || v->policy.limit > 0 || rules->effects != NULL ||
	                rules->fail_level >= 0 || rules->exit_zero >= 0))
		return options_mistake(o, "--init writes a policy, no report: it excludes --format, --limit "
		                          "and the options of rules and levels");
	return true;
}

/* Whether all files of the run are different.  Called again after reading the policies, which also name
 * files. */
static bool check_names(struct validate *v)
{
	struct options *const o = &v->run.options;
	struct run_names n;

	run_names_begin(&n, o, o->in, o->nin);
	n.listed = &v->run.groups.operands;
	if (v->init)
		run_names_output(&n);
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
	struct options *const o = &v->run.options;

	v->threads = THREADS_NOT_GIVEN;
	if (!options_parse(o, v))
		return false;
	return check_scope(v) && options_traces(o, &v->run.groups) && check_names(v);
}

/* Adds the reports that the policy of the first trace requests, if the command line requests none. */
static bool add_reports(struct validate *v)
{
	const struct policy_file *const file = policies_first(&v->policies);
	struct options *const o = &v->run.options;

	v->policy_reports =
	    v->reports.n == 0 && v->form == NULL && o->output == NULL && file != NULL && file->nreports > 0;
	if (v->policy_reports)
		for (uint32_t i = 0; i < file->nreports; i++)
			if (!reports_add_of_policy(&v->reports, o, file->folder, &file->reports[i]))
				return false;
	/* --format and -o are the short form of one report, in addition to those of --report */
	if ((v->reports.n == 0 || v->form != NULL || o->output != NULL) &&
	    !reports_request(&v->reports, o, v->form != NULL ? v->form : &report_text,
	                     o->output != NULL ? o->output : "-"))
		return false;
	return true;
}

static bool wants_page(const struct validate *v)
{
	for (size_t i = 0; i < v->reports.n; i++)
		if (v->reports.list[i].kind == &report_html)
			return true;
	return false;
}

/* Reads the traces again for the page, if that is possible; their findings were reported.  Returns false on
 * OOM. */
static bool make_page(struct validate *v, struct page_run *page)
{
	struct pipeline_job job = options_job(&v->run.options, NULL, NULL);

	trace_groups_fold(&v->run.groups);
	job.in.paths = v->run.options.in;
	job.in.npaths = v->run.options.nin;
	*page = (struct page_run){ .options = &v->run.options,
		                   .traces = &v->run.groups,
		                   .failed = v->reports.totals.unreadable > 0,
		                   .page.findings_first = true };
	v->reports.context.page = &page->page;
	return !pipeline_reads_twice(&job) || page_run(page);
}

static enum exit_status run(struct validate *v)
{
	const struct policy_file *const file = policies_first(&v->policies);
	const uint64_t policy_threads = file != NULL ? file->threads : 0;
	const uint64_t threads = v->threads == THREADS_NOT_GIVEN ? policy_threads : v->threads;
	struct publication p = { .n = 0 };
	enum exit_status status = STATUS_UNREADABLE;
	struct page_run page = { .options = NULL };

	if (reports_open(&v->reports, &v->run.options, &v->policies.whole)) {
		v->run.finish = finish_trace;
		traces_each(&v->run, threads, sizeof(struct checked), check_trace);
		v->failed |= v->run.options.status != STATUS_CLEAN; /* not all were read */
		if (wants_page(v))
			v->failed |= !make_page(v, &page);
		status = reports_end(&v->reports, v->failed, &p);
		(void)publication_end(&p, NULL, NULL, 0);
	}
	reports_free(&v->reports);
	report_page_free(&page.page);
	return worse(worse(status, p.status), v->run.status);
}

static enum exit_status cmd_validate(const struct command *cmd, int argc, char **argv)
{
	struct validate v = { .form = NULL };
	struct options *const o = &v.run.options;
	enum exit_status status;

	options_init(o, cmd, argc, argv);
	policy_options_init(&v.policy);
	if (!parse(&v))
		status = o->status;
	else if (v.init)
		status = validate_init(&v);
	else if (policies_init(&v.policies, o, &v.policy, &v.run.groups) && add_reports(&v) &&
	         check_names(&v))
		status = run(&v);
	else /* a conflict of names is a mistake of the policy if the command line names no report */
		status = v.policy_reports ? STATUS_UNREADABLE : o->status;
	policies_free(&v.policies);
	trace_groups_free(&v.run.groups);
	policy_options_free(&v.policy);
	options_free(o);
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
