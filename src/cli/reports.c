#define _XOPEN_SOURCE 700 /* realpath() */

/*
 * Reports of findings: what --report, --format and policies ask for, the reports of commands that do
 * something else (--report of convert), and the losses of an output.  Findings of one file are in memory at a
 * time.
 */

#include "cli/reports.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/match.h"
#include "cli/options.h"
#include "cli/say.h"
#include "input/open.h"
#include "json/out.h"
#include "output/text_visible.h"
#include "run/engine_losses.h"

/* ---- losses: which count ---- */

struct kind_search {
	struct slice kind;
	bool found;
};

static void match_kind(void *ctx, const struct loss *loss)
{
	struct kind_search *const s = ctx;

	s->found |= glob_fits(s->kind, slice_str(loss->id));
}

/* The next kind of a list; advances *list. */
static struct slice next_kind(const char **list)
{
	const size_t n = strcspn(*list, ",");
	const struct slice kind = slice_of(*list, (uint32_t)n);

	*list += n + ((*list)[n] == ',');
	return kind;
}

bool losses_out_fail_on(struct losses_out *l, struct options *o, const char *kinds)
{
	struct shown_path shown;

	l->kinds = l->fail && l->kinds == NULL ? NULL : kinds;
	l->fail = true;
	for (const char *p = kinds; p != NULL && *p != '\0';) {
		char word[80];
		struct kind_search search = { next_kind(&p), false };
		snprintf(word, sizeof word, "%.*s", (int)search.kind.n, search.kind.p);
		if (search.kind.n < sizeof word && glob_is_linear(search.kind))
			losses_visit(match_kind, &search);
		if (search.found)
			continue;
		const char *const near = loss_nearest_id(word);
		o->status = options_mistake(o, "--fail-on-loss-of: there is no kind of loss %s%s%s%s",
		                            show_path(&shown, word), near != NULL ? "; did you mean " : "",
		                            near != NULL ? near : "",
		                            near != NULL ? "?" : " (tracetool explain lists them)");
		return false;
	}
	return true;
}

static bool counts(const struct losses_out *l, const struct loss *loss)
{
	const char *p = l->kinds;

	if (!l->fail || p == NULL)
		return l->fail;
	while (*p != '\0')
		if (glob_fits(next_kind(&p), slice_str(loss->id)))
			return true;
	return false;
}

/* ---- losses: schemas/losses.schema.json ---- */

static void put_loss(struct json_out *o, const struct losses_out *l, const struct ledger_row *row)
{
	json_out_space(o, "\n  ");
	json_out_begin(o, NULL, "{");
	json_out_string(o, "id", row->loss->id);
	json_out_string(o, "text", row->loss->text);
	json_out_string(o, "explain", row->loss->explain);
	json_out_u64_or_string(o, "count", row->count);
	json_out_u64_or_string(o, "first_offset", row->first_offset);
	json_out_bool(o, "fails", counts(l, row->loss));
	json_out_end(o, "}");
}

static void put_losses(struct text *t, const struct losses_out *l, const struct losses_of *of)
{
	struct json_out o = { .t = t };

	json_out_begin(&o, NULL, "{");
	json_out_string(&o, "tool", TOOL_NAME);
	json_out_begin(&o, "inputs", "[");
	for (size_t i = 0; i < of->nin; i++)
		json_out_string(&o, NULL, of->in[i]);
	json_out_end(&o, "]");
	json_out_string(&o, "from", of->from);
	json_out_string(&o, "output", of->out);
	json_out_string(&o, "to", of->to);
	json_out_bool(&o, "lossless", of->ledger->n == 0);
	json_out_begin(&o, "losses", "[");
	for (size_t i = 0; i < of->ledger->n; i++)
		put_loss(&o, l, &of->ledger->rows[i]);
	json_out_end(&o, of->ledger->n > 0 ? "\n]}\n" : "]}\n");
}

bool losses_out_open(struct losses_out *l, const struct options *o)
{
	return l->path == NULL || report_out_open_file(&l->report, l->path, o->force);
}

enum exit_status losses_out_end(struct losses_out *l, const struct losses_of *of, struct publication *p)
{
	enum exit_status status = STATUS_CLEAN;
	struct text t = { .p = NULL };

	for (size_t i = 0; i < of->ledger->n; i++)
		if (counts(l, of->ledger->rows[i].loss))
			status = STATUS_FINDINGS;
	if (l->report.out == NULL)
		return status;
	put_losses(&t, l, of);
	report_out_put(&l->report, &t);
	text_free(&t);
	publication_add(p, &l->report);
	return status;
}

/* ---- side reports ---- */

struct side_reports {
	struct reports reports;
	struct policy policy; /* what counts without one */
	struct finding_log log;
};

bool side_reports_add(struct options *o, const char *arg)
{
	struct side_reports *const s = o->side != NULL ? o->side : calloc(1, sizeof *s);

	if (s == NULL) {
		options_no_memory(o);
		return false;
	}
	if (o->side == NULL)
		finding_log_init(&s->log);
	o->side = s;
	s->policy = (struct policy){ .most = UINT64_MAX };
	if (!reports_add(&s->reports, o, arg, true))
		return false;
	if (strcmp(s->reports.list[s->reports.n - 1].path, "-") != 0)
		return true;
	o->status =
	    options_mistake(o,
	                    "--report %s needs a file (FORMAT=FILE): only validate reports to standard "
	                    "output",
	                    s->reports.list[s->reports.n - 1].kind->name);
	return false;
}

void side_reports_names(const struct options *o, struct run_names *n)
{
	if (o->side != NULL)
		reports_names(&o->side->reports, n);
}

bool side_reports_open(struct options *o)
{
	return o->side == NULL || reports_open(&o->side->reports, o, &o->side->policy);
}

void side_reports_finding(struct side_reports *s, const struct finding *f)
{
	finding_list_add(&s->log.open, f);
}

void side_reports_input(struct options *o, const struct source *input)
{
	struct side_reports *const s = o->side;
	const struct file_record what = source_record(input);

	finding_log_close(&s->log, &what, &input->findings);
	for (const struct file_record *k = s->log.first; k != NULL; k = k->next)
		reports_file(&s->reports, k, &s->policy);
	finding_log_clear(&s->log);
}

enum exit_status side_reports_end(struct options *o, struct publication *p)
{
	struct side_reports *const s = o->side;

	return s != NULL ? reports_end(&s->reports, s->log.failed, p) : STATUS_CLEAN;
}

void side_reports_free(struct options *o)
{
	if (o->side == NULL)
		return;
	reports_free(&o->side->reports);
	finding_log_free(&o->side->log);
	free(o->side);
	o->side = NULL;
}

/* ---- reports: which ---- */

/* In the order of report_kinds, then auto. */
const char *const reports_words[] = { "text",   "gcc",      "json",   "ndjson", "sarif", "junit",
	                              "github", "markdown", "gitlab", "auto",   NULL };

static bool in_actions(void)
{
	const char *const value = getenv("GITHUB_ACTIONS");

	return value != NULL && strcmp(value, "true") == 0;
}

bool reports_kind(struct options *o, const char *option, const char *name, const struct report_ops **kind)
{
	const int i = options_word(o, option, name, reports_words);

	if (i < 0)
		return false;
	*kind = report_kinds[i] != NULL ? report_kinds[i] : in_actions() ? &report_github : &report_text;
	return true;
}

/* Whether it is the file to which a job of GitHub Actions appends its summary. */
static bool is_summary(const char *path)
{
	const char *const summary = getenv("GITHUB_STEP_SUMMARY");

	return summary != NULL && strcmp(summary, path) == 0;
}

bool reports_request(struct reports *r, struct options *o, const struct report_ops *kind, const char *path)
{
	if (r->n == REPORTS_MAX) {
		o->status = options_mistake(o, "makes %d reports at most", REPORTS_MAX);
		return false;
	}
	r->list[r->n++] = (struct report_request){ .kind = kind,
		                                   .path = path,
		                                   .append = kind == &report_markdown && is_summary(path) };
	return true;
}

bool reports_add(struct reports *r, struct options *o, const char *arg, bool needs_file)
{
	const struct report_ops *kind;
	const char *const equals = strchr(arg, '=');
	char name[32];
	const size_t n = equals != NULL ? (size_t)(equals - arg) : strlen(arg);

	snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name), arg);
	if (!reports_kind(o, "--report", name, &kind))
		return false;
	if (equals != NULL && equals[1] == '\0') {
		o->status = options_mistake(o, "--report %s=: the name of the file is empty", name);
		return false;
	}
	if (equals == NULL && needs_file) {
		o->status = options_mistake(
		    o,
		    o->cmd->reports ? "--report %s needs a file (%s=FILE); --format %s is for standard output"
		                    : "--report %s needs a file (%s=FILE)",
		    name, name, name);
		return false;
	}
	return reports_request(r, o, kind, equals != NULL ? equals + 1 : "-");
}

bool reports_add_of_policy(struct reports *r, struct options *o, const char *folder,
                           const struct policy_report *report)
{
	const struct report_ops *kind;

	if (!reports_kind(o, "report", report->format, &kind))
		return false;
	if (report->file == NULL)
		return reports_request(r, o, kind, "-");
	const struct slice path = arena_printf(&r->names, "%s/%s", folder, report->file);
	if (path.p == NULL) {
		options_no_memory(o);
		return false;
	}
	if (!reports_request(r, o, kind, path.p))
		return false;
	struct report_request *const q = &r->list[r->n - 1];
	q->append = false;
	q->folder = folder;
	q->below = report->file;
	return true;
}

void reports_names(const struct reports *r, struct run_names *n)
{
	for (size_t i = 0; i < r->n; i++)
		run_names_written(n, "report", r->list[i].path);
}

/* ---- reports: opening ---- */

/* Copies the present content of the file, to which the report is appended. */
static bool copy_before(struct report_request *q)
{
	struct shown_path shown;
	struct input *const in = access(q->path, F_OK) == 0 ? input_open(q->path) : NULL;
	bool ok = true;

	if (in == NULL)
		return true;
	while (ok && in->p != in->end) {
		output_write(q->out.out, in->p, (size_t)(in->end - in->p));
		in->p = in->end;
		if (!in->last)
			input_more(in);
	}
	if (in->fault != INPUT_OK && in->fault != INPUT_EMPTY) {
		say("%s: %s", show_path(&shown, q->path), in->fault_text);
		ok = false;
	}
	input_close(in);
	return ok;
}

static bool open_one(struct reports *r, struct options *o, struct report_request *q)
{
	const bool standard = strcmp(q->path, "-") == 0;

	if (q->folder != NULL ? !report_out_open_below(&q->out, q->folder, q->below, q->kind->head)
	                      : !report_out_open_file(&q->out, q->path, o->force || q->append))
		return false;
	q->out.path = standard ? q->out.path : q->path;
	if (q->kind == &report_github)
		q->out.lines = TEXT_OWN_COMMANDS;
	if (!report_init(&q->report, q->kind, &r->context)) {
		options_no_memory(o);
		return false;
	}
	q->report.color = standard ? options_color(o, STDOUT_FILENO) : o->color_always;
	if (q->append && !copy_before(q))
		return false;
	report_begin(&q->report);
	return true;
}

/* The root of the repository: as the CI service states it, else the current folder. */
static const char *root_of(const char *folder)
{
	static const char *const names[] = { "GITHUB_WORKSPACE", "CI_PROJECT_DIR" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *const root = getenv(names[i]);
		if (root != NULL && root[0] == '/')
			return root;
	}
	return folder;
}

bool reports_open(struct reports *r, struct options *o, const struct policy *policy)
{
	r->folder = realpath(".", NULL);
	if (r->folder == NULL && errno != ENOENT) { /* it was removed */
		say("the current folder: %s", strerror(errno));
		r->status = STATUS_UNREADABLE;
		return false;
	}
	const char *const folder = r->folder != NULL ? r->folder : "/";
	r->context = (struct report_context){
		.tool = TOOL_NAME,
		.version = TOOL_VERSION,
		.policy = policy,
		.folder = folder,
		.root = root_of(folder),
		.in_actions = in_actions(),
		.quiet = o->quiet,
	};
	for (size_t i = 0; i < r->n; i++)
		if (!open_one(r, o, &r->list[i])) {
			r->status = STATUS_UNREADABLE;
			return false;
		}
	return true;
}

/* ---- reports: files ---- */

/* A status other than 0 has a message, whatever the policy leaves out. */
static void say_unreadable(const struct reports *r, const struct report_file *file)
{
	struct shown_path shown;

	for (struct report_view v = { .n = 0 }; report_next(file, &v);)
		if (!r->context.quiet || v.finding.level == LEVEL_ERROR)
			return;
	say("%s could not be read; why is among the findings that are left out",
	    show_path(&shown, file->record->path));
}

static void add_totals(struct reports *r, const struct report_file *file)
{
	r->totals.files += !file->record->whole;
	r->totals.unreadable += file->record->unreadable;
	r->totals.left_out += file->left_out;
	r->totals.listed += file->nlisted;
	for (int level = 0; level < LEVEL_COUNT; level++)
		r->totals.levels[level] += file->levels[level];
	if (file->record->unreadable)
		r->status = worse(r->status, STATUS_UNREADABLE);
	else if (file->exits)
		r->status = worse(r->status, STATUS_FINDINGS);
}

void reports_file(struct reports *r, const struct file_record *k, const struct policy *policy)
{
	const uint64_t most = r->context.policy->most - r->totals.listed;
	struct report_file file;

	arena_reset(&r->arena);
	if (!report_judge(&file, k, policy, most, &r->arena))
		return; /* the arena has the sticky failure */
	add_totals(r, &file);
	for (size_t i = 0; i < r->n; i++) {
		report_file(&r->list[i].report, &file);
		report_out_put(&r->list[i].out, &r->list[i].report.out);
	}
	if (k->unreadable)
		say_unreadable(r, &file);
}

/* ---- reports: closing ---- */

static void end_one(struct reports *r, struct report_request *q, bool no_memory)
{
	struct shown_path shown;

	report_end(&q->report, &r->totals);
	q->out.no_memory |= q->report.failed || no_memory;
	report_out_put(&q->out, &q->report.out);
	if (q->report.dropped > 0)
		say("%s: %" PRIu64 " findings are left out: this kind of report has no room for them",
		    show_path(&shown, q->path), q->report.dropped);
}

enum exit_status reports_end(struct reports *r, bool no_memory, struct publication *p)
{
	const bool lost = no_memory || r->arena.failed;

	for (size_t i = 0; i < r->n; i++) {
		end_one(r, &r->list[i], lost);
		publication_add(p, &r->list[i].out);
	}
	return r->status;
}

void reports_free(struct reports *r)
{
	for (size_t i = 0; i < r->n; i++) {
		report_out_discard(&r->list[i].out);
		if (r->list[i].report.ops != NULL)
			report_free(&r->list[i].report);
	}
	arena_free(&r->arena);
	arena_free(&r->names);
	free(r->folder);
	*r = (struct reports){ .n = 0 };
}
