#define _XOPEN_SOURCE 700 /* realpath() */

/*
 * Opens, writes and publishes the reports that --report, --format and policies request, including --report of
 * commands other than validate (such as convert), and the report of --losses.  src/report/ makes their
 * contents.
 */

#include "cli/reports.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/match.h"
#include "cli/options.h"
#include "cli/say.h"
#include "input/open.h"
#include "json/out.h"
#include "output/text_visible.h"
#include "run/engine_losses.h"

/* ---- side reports ---- */

bool side_reports_add(void *run, struct options *o, const char *arg)
{
	struct side_reports *const s = o->side != NULL ? o->side : calloc(1, sizeof *s);

	if (s == NULL)
		return options_no_memory(o);
	if (o->side == NULL)
		finding_log_init(&s->log);
	o->side = s;
	s->policy = policy_of_rules;
	s->reports.said = true;
	if (!reports_add(&s->reports, o, arg))
		return false;
	if (strcmp(s->reports.list[s->reports.n - 1].path, "-") != 0)
		return true;
	return options_mistake(
	    o, "--report %s needs a file (FORMAT=FILE): only validate reports to standard output",
	    s->reports.list[s->reports.n - 1].kind->name);
}

bool side_reports_open(struct options *o)
{
	return o->side == NULL || reports_open(&o->side->reports, o, &o->side->policy);
}

void side_reports_record(struct options *o, const struct file_record *what, const struct findings *j)
{
	struct side_reports *const s = o->side;

	if (s == NULL)
		return;
	finding_log_close(&s->log, what, j);
	for (const struct file_record *k = s->log.first; k != NULL; k = k->next)
		reports_file(&s->reports, k, &s->policy);
	finding_log_clear(&s->log);
}

enum exit_status side_reports_end(struct options *o, struct publication *p)
{
	struct side_reports *const s = o->side;

	return s != NULL ? reports_end(&s->reports, finding_log_failed(&s->log), p) : STATUS_CLEAN;
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

/* ---- kinds of reports ---- */

bool reports_kind(struct options *o, const char *option, const char *name, const struct report_ops **kind)
{
	const int i = options_word(o, option, name, report_words);

	*kind = i >= 0 ? report_kind((size_t)i) : NULL;
	return i >= 0;
}

bool is_job_summary(const char *path)
{
	const char *const summary = getenv("GITHUB_STEP_SUMMARY");

	return summary != NULL && strcmp(summary, path) == 0;
}

bool reports_request(struct reports *r, struct options *o, const struct report_ops *kind, const char *path)
{
	if (r->n == REPORTS_MAX)
		return options_mistake(o, "makes %d reports at most", REPORTS_MAX);
	r->list[r->n++] = (struct report_request){
		.kind = kind, .path = path, .append = kind == &report_markdown && is_job_summary(path)
	};
	return true;
}

bool reports_add(void *reports, struct options *o, const char *arg)
{
	const struct report_ops *kind;
	const char *const equals = strchr(arg, '=');
	char name[32];
	const size_t n = equals != NULL ? (size_t)(equals - arg) : strlen(arg);

	snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name), arg);
	if (!reports_kind(o, "--report", name, &kind))
		return false;
	if (equals != NULL && equals[1] == '\0')
		return options_mistake(o, "--report %s=: the name of the file is empty", name);
	if (equals == NULL)
		return options_mistake(
		    o,
		    o->cmd->reports ? "--report %s needs a file (%s=FILE); --format %s is for standard output"
		                    : "--report %s needs a file (%s=FILE)",
		    name, name, name);
	return reports_request(reports, o, kind, equals + 1);
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
	if (path.p == NULL)
		return options_no_memory(o);
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

/* Copies the present content of the file, if it exists, which the report is appended to. */
static bool copy_before(struct report_request *q, struct options *o)
{
	struct input *const in = input_open(q->path);

	if (in == NULL)
		return options_no_memory(o);
	while (in->p != in->end) {
		output_write(q->out.out, in->p, (size_t)(in->end - in->p));
		in->p = in->end;
		if (!in->last)
			input_more(in);
	}
	const bool ok = in->fault == INPUT_OK || in->fault == INPUT_EMPTY || in->fault == INPUT_MISSING ||
	                say_of(q->path, "%s", in->fault_text);
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
	q->out.as_is = q->kind == &report_html; /* it has no commands, and a hash of its unchanged script */
	if (!report_init(&q->report, q->kind, &r->context))
		return options_no_memory(o);
	q->report.color = standard ? options_color(o, STDOUT_FILENO) : o->color == COLOR_ALWAYS;
	if (q->append && !standard && !copy_before(q, o))
		return false;
	if (q->kind->begin != NULL)
		q->kind->begin(&q->report);
	return true;
}

bool reports_open(struct reports *r, struct options *o, const struct policy *policy)
{
	r->folder = realpath(".", NULL);
	if (r->folder == NULL && errno != ENOENT) /* the folder was removed */
		return say("the current directory: %s", strerror(errno));
	r->context = (struct report_context){
		.tool = TOOL_NAME,
		.version = TOOL_VERSION,
		.command = o->cmd->name,
		.policy = policy,
		.quiet = o->quiet,
	};
	report_context_place(&r->context, r->folder != NULL ? r->folder : "/");
	if (r->context.root != r->context.folder) {
		errno = 0;
		r->context.real_root = r->root = realpath(r->context.root, NULL);
		if (errno == ENOMEM)
			return options_no_memory(o);
	}
	for (size_t i = 0; i < r->n; i++)
		if (!open_one(r, o, &r->list[i]))
			return false;
	return true;
}

/* ---- reports: files ---- */

/* Prints why a file is unreadable: status 2 has a message on the terminal, also if reports go to files or the
 * policy leaves the finding out. */
static void say_unreadable(const struct reports *r, const struct report_file *file)
{
	bool shown = r->said;

	for (size_t i = 0; i < r->n; i++)
		shown |= strcmp(r->list[i].path, "-") == 0;
	for (struct report_view v = { .n = 0 }; report_next(file, &v);) {
		if (v.finding.level != LEVEL_ERROR && (r->context.quiet || !shown))
			continue;
		if (!shown)
			say_line_of(file->record->path, &v.finding, false);
		return;
	}
	say_of(file->record->path, "unreadable (the finding with the reason is not shown)");
}

void reports_file(struct reports *r, const struct file_record *k, const struct policy *policy)
{
	struct report_file file;

	arena_reset(&r->arena);
	if (!report_judge(&file, k, policy, r->context.policy->max, &r->totals, &r->arena))
		return; /* the arena records the failure */
	for (size_t i = 0; i < r->n; i++) {
		report_file(&r->list[i].report, &file);
		report_out_put(&r->list[i].out, &r->list[i].report.out);
	}
	if (k->unreadable)
		say_unreadable(r, &file);
}

/* ---- reports: closing ---- */

enum exit_status reports_end(struct reports *r, bool no_memory, struct publication *p)
{
	const bool lost = no_memory || r->arena.failed;

	for (size_t i = 0; i < r->n; i++) {
		struct report_request *const q = &r->list[i];
		if (q->kind->end != NULL)
			q->kind->end(&q->report, &r->totals);
		q->out.no_memory |= q->report.failed || lost;
		report_out_put(&q->out, &q->report.out);
		if (q->report.dropped > 0)
			say_of(q->path,
			       "%" PRIu64 " findings are left out: this kind of report has no room for them",
			       q->report.dropped);
		publication_add(p, &q->out);
	}
	return r->totals.unreadable > 0 ? STATUS_UNREADABLE
	       : r->totals.exits        ? STATUS_FINDINGS
	                                : STATUS_CLEAN;
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
	free(r->root);
	*r = (struct reports){ .n = 0 };
}

/* ---- losses of an output: --fail-on-loss ---- */

/* Returns the next kind of a comma-separated list; advances *list. */
static struct slice next_kind(const char **list)
{
	const size_t n = strcspn(*list, ",");
	const struct slice kind = slice_of(*list, (uint32_t)n);

	*list += n + ((*list)[n] == ',');
	return kind;
}

bool losses_out_fail_on(void *losses_out, struct options *o, const char *kinds)
{
	struct losses_out *const l = losses_out;
	struct shown_path shown;

	l->kinds = l->fail && l->kinds == NULL ? NULL : kinds;
	l->fail = true;
	for (const char *p = kinds; p != NULL && (p == kinds || *p != '\0');) {
		char name[80];
		struct loss_walk w = { .format = 0 };
		const struct slice kind = next_kind(&p);
		const struct loss *loss = NULL;
		snprintf(name, sizeof name, "%.*s", (int)kind.n, kind.p);
		if (kind.n < sizeof name && glob_is_linear(kind))
			while ((loss = loss_next(&w)) != NULL && !glob_fits(kind, slice_str(loss->id)))
				;
		if (loss != NULL)
			continue;
		const char *const near = loss_nearest_id(name);
		return options_mistake(o, "--fail-on-loss-of: there is no kind of loss %s%s%s%s",
		                       show_path(&shown, name), near != NULL ? "; did you mean " : "",
		                       near != NULL ? near : "",
		                       near != NULL ? "?" : " (tracetool rules --losses lists them)");
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

/* ---- --losses ---- */

static void put_loss(struct json_out *o, const struct losses_out *l, const struct ledger_row *row)
{
	json_out_begin_after(o, "\n  ", NULL, "{");
	json_out_string(o, "id", row->loss->id);
	json_out_string(o, "text", row->loss->text);
	json_out_string(o, "explain", row->loss->explain);
	json_out_u64_or_string(o, "count", row->count);
	if (row->first_offset != LOSS_NOWHERE)
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
