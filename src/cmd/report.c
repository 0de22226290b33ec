/*
 * report: an HTML page that shows a trace.  One trace is read once.  Several are read as one, after a first
 * pass for their times; their clocks are aligned by wall time if all state it, else at their starts.  A
 * comparison reads the old side (of two traces, both sides) for stacks and spans.
 */
#include "cmd/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/os.h"
#include "cli/reports.h"
#include "cli/say.h"
#include "format/format.h"
#include "page/page.h"

/* ---- reading ---- */

struct making {
	struct page_run *run;
	struct page page;
	struct stats stats; /* statistics of all traces as one */
	struct stats_tables tables;
	struct stats sides[CHANGE_SIDES];
	struct stats *runs[CHANGE_SIDES]; /* of `change`: the sides */
	bool compared;
	char lost[1024]; /* why a reading whose findings are not reported failed; "": none did */
	struct change change;
	struct join join;
	uint64_t files;
	struct stats_thread thread;
	struct vocabularies vocabularies;
};

static bool opened(void *ctx, const struct source *s)
{
	struct making *const m = ctx;

	(void)s;
	m->files++;
	return true;
}

static void closed(void *ctx, const struct source *s)
{
	struct making *const m = ctx;

	progress_clear(&m->run->options->progress);
	if (m->run->closed == NULL)
		return;
	m->run->failed |= s->unreadable;
	m->run->closed(m->run->ctx, s);
}

/* Gets the findings that are in no list. */
static void note_lost(void *ctx, const struct findings *j, const struct finding *f)
{
	struct making *const m = ctx;
	struct shown_path shown;

	if (m->lost[0] == '\0' && input_rule_is_failure(f->rule))
		(void)snprintf(m->lost, sizeof m->lost, "%s: %s", show_path(&shown, j->path), f->message);
}

static void settle(void *ctx)
{
	struct making *const m = ctx;

	(void)stats_thread_settle(&m->thread);
}

static void show_progress(void *ctx, const struct input *in)
{
	const struct making *const m = ctx;

	options_progress(m->run->options, in);
}

/* Returns a job that reads the spans of a trace in order of time. */
static struct pipeline_job job_of(struct making *m, bool first)
{
	struct pipeline_job job = options_job(m->run->options, note_lost, m);

	job.in.vocabularies = &m->vocabularies;
	job.read.interpret = INTERPRET_SPANS;
	job.in.helpers = options_threads(m->run->threads) - 1;
	job.read.ahead = read_ahead_beside(job.in.helpers + 1);
	job.read.want = WANT_TIMES | WANT_ORDER | WANT_NAMES | WANT_ARROWS | WANT_STACKS |
	                options_want_sizes(m->run->options);
	job.arrange.order = ORDER_TIME;
	job.arrange.bare = true;
	job.arrange.memory = m->run->memory > 0 ? m->run->memory : PAGE_SORT_MEMORY;
	job.choice.keeps = true;
	job.choice.keeps_arrows = true;
	job.to.list = first ? m->run->list : NULL;
	job.to.hooks = (struct pipeline_hooks){ .settle = settle, .ctx = m };
	if (first) {
		job.to.hooks.opened = opened;
		job.to.hooks.closed = closed;
		job.to.hooks.progress = show_progress;
	}
	return job;
}

/* Reads all events into the page and the statistics.  Returns false on OOM. */
static bool read_events(struct making *m, struct pipeline **p, const struct pipeline_job *job,
                        struct stats *s, unsigned parts, unsigned side)
{
	enum stage_status status = STAGE_BAD;
	struct batch *b;
	bool ok = stats_thread_begin(&m->thread, s, options_threads(m->run->threads));

	page_begin(&m->page, parts, side);
	if (pipeline_open(p, job))
		while (ok && (status = pipeline_next(*p, &b)) == STAGE_MORE) {
			ok = page_batch(&m->page, b);
			ok = stats_thread_put(&m->thread, b) && ok;
		}
	ok = stats_thread_settle(&m->thread) && ok && page_end(&m->page) && stats_end(s);
	if (!ok)
		pipeline_no_memory(*p);
	pipeline_end(*p);
	stats_thread_end(&m->thread);
	return ok;
}

static bool read_side(struct making *m, const struct trace_groups *traces, size_t from, size_t to,
                      unsigned side)
{
	for (size_t i = from; i < to; i++) {
		/* of two traces, both are read again, and their findings were reported before */
		const bool first = side == CHANGE_OLD && m->run->against != NULL;
		struct pipeline_job job = job_of(m, first);
		const char *const path = trace_group_path(&traces->list[i]);
		struct pipeline *p = NULL;
		struct stats s;
		job.in.paths = &path;
		job.in.npaths = 1;
		job.in.operand = &traces->list[i].operand;
		job.to.hooks.opened = NULL; /* the hook counts files of the page */
		stats_init(&s);
		bool ok = read_events(m, &p, &job, &s, PAGE_STACKS, side);
		if (ok) {
			const struct run_report run = pipeline_report(p);
			if (run.format != NULL)
				stats_describe(&s, path, run.bytes, run.trace, run.found);
			ok = change_add(&m->sides[side], &s, NULL, false);
		}
		stats_free(&s);
		pipeline_close(p);
		if (!ok)
			return false;
	}
	return true;
}

static bool compare(struct making *m)
{
	const bool two = m->run->against == NULL;
	const struct trace_groups *const new = m->run->traces, *const old = two ? new : m->run->against;

	m->compared = true;
	for (int i = 0; i < CHANGE_SIDES; i++) {
		stats_init(&m->sides[i]);
		m->runs[i] = &m->sides[i];
	}
	if (!read_side(m, old, 0, two ? 1 : old->n, CHANGE_OLD) ||
	    !read_side(m, new, two ? 1 : 0, new->n, CHANGE_NEW))
		return false;
	if (!stats_end(&m->sides[CHANGE_OLD]) || !stats_end(&m->sides[CHANGE_NEW]))
		return false;
	m->change = (struct change){ .floors = CHANGE_FLOORS };
	for (int i = 0; i < CHANGE_SIDES; i++)
		m->change.sides[i] = (struct change_side){ .runs = &m->runs[i], .nruns = 1 };
	return change_make(&m->change);
}

/* ---- the page ---- */

static bool put_page(struct making *m, const struct run_report *run, const char *const *paths, bool by_wall)
{
	const struct trace_groups *const traces = m->run->traces, *const old = m->run->against;
	struct report_page *const out = &m->run->page;
	struct page_trace *const list = calloc((size_t)traces->n + 1, sizeof *list);
	const char **const old_paths = calloc((old != NULL ? old->n : 0) + 1, sizeof *old_paths);
	bool ok = list != NULL && old_paths != NULL;

	for (size_t i = 0; ok && i < traces->n; i++) {
		list[i].path = paths[i];
		if (traces->n > 1 && m->join.traces != NULL) {
			list[i].format = m->join.traces[i].format;
			list[i].dialect = m->join.traces[i].dialect;
		} else if (run->format != NULL) {
			list[i].format = run->format->title;
			list[i].dialect = run->trace->dialect;
			list[i].trace = run->trace;
		}
	}
	for (size_t i = 0; ok && old != NULL && i < old->n; i++)
		old_paths[i] = trace_group_path(&old->list[i]);
	struct page_view v = {
		.page = &m->page,
		.stats = &m->stats,
		.traces = list,
		.ntraces = traces->n,
		.bytes = run->bytes,
		.files = m->files,
		.pairs = run->pairs,
		.cut = run->cut,
		.change = m->compared ? &m->change : NULL,
		.old = old != NULL ? old_paths : paths,
		.new = old != NULL ? paths : paths + 1,
		.nold = old != NULL ? old->n : 1,
		.nnew = old != NULL ? traces->n : 1,
		.by_wall = by_wall,
	};
	ok = ok && page_facts(&out->facts, &v);
	if (ok && run->trace != NULL && (run->format != NULL || traces->n > 1))
		ok = page_sections(&out->sections, &v) && page_data(&out->data, &v);
	free(list);
	free(old_paths);
	return ok;
}

/* Aligns the clocks of several traces.  Returns false if one of them cannot be read, or on OOM:
 * join_window(). */
static bool join_traces(struct making *m, struct pipeline_job *job, bool *by_wall)
{
	struct join *const j = &m->join;

	if (m->run->traces->n > JOIN_MAX_TRACES)
		return say("the page has only the findings: there are %" PRIu32 " traces, more than %u",
		           m->run->traces->n, JOIN_MAX_TRACES);
	if (!pipeline_reads_twice(job))
		return false;
	if (!join_init(j, m->run->traces) || !join_look(j, job, options_threads(m->run->threads))) {
		struct shown_path shown;
		(void)snprintf(m->lost, sizeof m->lost, "%s: %s",
		               show_path(&shown, j->failed ? j->failed_path
		                                           : trace_group_path(&m->run->traces->list[0])),
		               pipeline_why_text(&j->why));
		return false;
	}
	*by_wall = true;
	for (size_t i = 0; i < j->n; i++)
		*by_wall &= j->traces[i].epoch_known || !j->traces[i].any;
	bool fits = *by_wall && join_by_epoch(j);
	/* one counts from 0, another from 1970: a timeline of both would show neither */
	if (fits && say_gap(m->run->options, j, "all traces begin at the same time")) {
		*by_wall = j->epoch_known = false;
		j->epoch_ns = 0;
	}
	fits = *by_wall ? fits : join_by_start(j);
	return fits && join_window(j, &m->run->options->select.select) == NULL;
}

/* Reads the traces one after the other for their findings alone. */
static void read_findings(struct making *m, const char *const *paths)
{
	for (size_t i = 0; i < m->run->traces->n; i++) {
		struct pipeline_job job = job_of(m, true);
		struct pipeline *p = NULL;
		job.in.paths = &paths[i];
		job.in.npaths = 1;
		job.in.operand = &m->run->traces->list[i].operand;
		job.arrange.order = ORDER_FILE;
		if (pipeline_open(&p, &job))
			(void)pipeline_drain(p);
		pipeline_end(p);
		pipeline_close(p);
	}
}

static bool make(struct making *m, const char **paths)
{
	static const struct stats_tables_asked asked = { .flows = true, .share = true, .gaps = 3 };
	const struct trace_groups *const traces = m->run->traces;
	struct pipeline_job job = job_of(m, true);
	struct pipeline *p = NULL;
	bool by_wall = false, joined = true, ok;

	for (size_t i = 0; i < traces->n; i++)
		paths[i] = trace_group_path(&traces->list[i]);
	job.in.paths = paths;
	job.in.npaths = traces->n;
	if (traces->n == 1)
		job.in.operand = &traces->list[0].operand;
	stats_tables_begin(&m->tables, &asked);
	m->stats.tables = &m->tables;
	if ((m->run->against != NULL || traces->n == 2) && !compare(m))
		return false;
	if (traces->n > 1) {
		joined = join_traces(m, &job, &by_wall);
		job.adjust.join = &m->join;
	}
	if (m->join.failed && m->join.failed_path == NULL)
		return false;
	if (traces->n == 0 || !joined) {
		const struct run_report none = { .format = NULL };
		read_findings(m, paths);
		return put_page(m, &none, paths, false);
	}
	ok = read_events(m, &p, &job, &m->stats, m->compared ? PAGE_TIME : PAGE_TIME | PAGE_STACKS, PAGE_NEW);
	const struct run_report run = pipeline_report(p);
	if (ok && run.trace != NULL) {
		m->stats.unpaired = run.unpaired;
		stats_describe(&m->stats, paths[0], run.bytes, run.trace, run.found);
	}
	ok = ok && put_page(m, &run, paths, by_wall);
	if (m->run->closed != NULL)
		m->run->status = say_selected(m->run->options, paths[0], run.found, run.trace);
	pipeline_close(p);
	return ok;
}

bool page_run(struct page_run *r)
{
	struct making *const m = calloc(1, sizeof *m);
	const char **const paths = calloc((size_t)r->traces->n + 1, sizeof *paths);
	bool ok = m != NULL && paths != NULL;

	if (ok) {
		m->run = r;
		page_init(&m->page);
		progress_init(&r->options->progress, r->options);
		stats_init(&m->stats);
		ok = !m->page.no_memory && make(m, paths);
		if (m->lost[0] != '\0' && !r->failed)
			ok = say("%s", m->lost);
		progress_clear(&r->options->progress);
		if (ok && m->compared && !r->options->quiet)
			say_moved(change_count_moved(&m->change), "tracetool compare --ignore-lines");
		stats_free(&m->stats);
		stats_tables_free(&m->tables);
		if (m->compared) {
			change_free(&m->change);
			for (int i = 0; i < CHANGE_SIDES; i++)
				stats_free(&m->sides[i]);
		}
		page_free(&m->page);
		join_free(&m->join);
		vocabularies_free(&m->vocabularies);
	}
	free(m);
	free(paths);
	return ok;
}

/* ---- the command ---- */

#define MAX_AGAINST 64

struct report_run {
	struct options options; /* first */
	struct reports reports;
	struct finding_log log;
	struct policy policy;
	const char *against[MAX_AGAINST];
	size_t nagainst;
	uint64_t threads, memory;
	struct trace_groups traces, old;
};

static bool add_against(void *run, struct options *o, const char *arg)
{
	struct report_run *const r = run;

	if (r->nagainst == MAX_AGAINST)
		return options_mistake(o, "--against may be given at most %d times", MAX_AGAINST);
	r->against[r->nagainst++] = arg;
	return true;
}

static const struct cmd_option own[] = {
	{ "report", "FORMAT=FILE", "also write the findings in this format to FILE", 0,
	  TO_CALL(struct report_run, reports, reports_add) },
	{ "against", "OLD", "compare with this trace, the old side (repeatable)", 0, OPTION_CALL,
	  .set = add_against },
	ROW_THREADS(struct report_run, threads),
	{ "memory", "BYTES", "memory for sorting (default: 64 MiB); more needs a temporary file", 0,
	  TO_BYTES(struct report_run, memory) },
	{ .name = NULL },
};

static const struct cmd_words words[] = {
	{ "--against", WORDS_FILES, NULL },
	{ "--report", WORDS_LIST, report_words },
	{ NULL, WORDS_LIST, NULL },
};

static void close_input(void *ctx, const struct source *s)
{
	struct report_run *const r = ctx;
	const struct file_record what = source_record(s);

	if (s->as_whole && s->findings.ncounts == 0)
		return;
	finding_log_close(&r->log, &what, &s->findings);
	if (r->log.last == NULL)
		return;
	const struct finding *f = r->log.last->findings;
	for (size_t i = 0; i < r->log.last->nfindings; i++, f = f->next)
		say_finding(&r->options, &s->findings, f);
}

static bool parse(struct report_run *r)
{
	struct options *const o = &r->options;
	struct run_names n;

	if (!options_parse(o, r))
		return false;
	if (o->output == NULL && isatty(STDOUT_FILENO))
		return options_mistake(o, "name the page with -o, for example -o report.html");
	if (!options_traces(o, &r->traces))
		return false;
	run_names_begin(&n, o, o->in, o->nin);
	n.listed = &r->traces.operands;
	run_names_output(&n);
	reports_names(&r->reports, &n);
	for (size_t i = 0; i < r->nagainst; i++)
		run_names_read(&n, "old side", r->against[i]);
	if (!run_names_end(&n) ||
	    !(trace_groups_init(&r->old, r->against, r->nagainst, o->from) || options_no_memory(o)))
		return false;
	trace_groups_fold(&r->traces);
	return true;
}

static const char *title_of(const struct report_run *r, char *space, size_t size)
{
	if (r->traces.n == 1) {
		const char *const path = trace_group_path(&r->traces.list[0]), *const name = path_name(path);
		return name[0] != '\0' ? name : path;
	}
	snprintf(space, size, "%u traces", (unsigned)r->traces.n);
	return space;
}

static enum exit_status run(struct report_run *r)
{
	struct options *const o = &r->options;
	struct page_run page = {
		.options = o,
		.traces = &r->traces,
		.against = r->nagainst > 0 ? &r->old : NULL,
		.closed = close_input,
		.list = &r->log.open,
		.ctx = r,
		.threads = r->threads,
		.memory = r->memory,
	};
	struct publication p = { .n = 0 };
	char title[64];

	r->policy = policy_of_rules;
	r->reports.said = true; /* close_input() prints findings */
	if (!reports_request(&r->reports, o, &report_html, o->output != NULL ? o->output : "-") ||
	    !reports_open(&r->reports, o, &r->policy))
		return o->status != STATUS_CLEAN ? o->status : STATUS_UNREADABLE;
	const bool ok = page_run(&page);
	page.page.title = title_of(r, title, sizeof title);
	r->reports.context.page = &page.page;
	for (const struct file_record *k = r->log.first; k != NULL; k = k->next)
		reports_file(&r->reports, k, &r->policy);
	enum exit_status status = reports_end(&r->reports, !ok || finding_log_failed(&r->log), &p);
	(void)publication_end(&p, NULL, NULL, 0);
	report_page_free(&page.page);
	return worse(worse(status, page.status), p.status);
}

static enum exit_status cmd_report(const struct command *cmd, int argc, char **argv)
{
	struct report_run r = { .nagainst = 0 };

	options_init(&r.options, cmd, argc, argv);
	finding_log_init(&r.log);
	const enum exit_status status = parse(&r) ? run(&r) : r.options.status;
	say_found(&r.options);
	reports_free(&r.reports);
	finding_log_free(&r.log);
	trace_groups_free(&r.traces);
	trace_groups_free(&r.old);
	options_free(&r.options);
	return status;
}

const struct command report_command = {
	.name = "report",
	.operands = "[options] IN ...",
	.summary = "Makes a page (HTML) that shows a trace: timeline, stacks, tables, findings, comparison.",
	.options = own,
	.words = words,
	.reads = true,
	.writes = true,
	.reports = true,
	.selects = true,
	.run = cmd_report,
};
