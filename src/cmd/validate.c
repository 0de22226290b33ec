#include <unistd.h>

#include "check/report.h"
#include "cmd/report_out.h"
#include "cmd/say.h"

enum { O_FORMAT, O_FAIL_LEVEL };

static const struct cmd_option own[] = {
	[O_FORMAT] = { "format", "text|json", "the report's form (default: text, one finding a line)", 0 },
	[O_FAIL_LEVEL] = { "fail-level", "LEVEL",
	                   "exit 1 from this level on: error (default), warning, note or never", 0 },
	{ NULL, NULL, NULL, 0 },
};

const struct command validate_command = {
	.name = "validate",
	.operands = "[options] IN ...",
	.summary = "Validates traces against the rules of their formats, and reports where each fault is.",
	.options = own,
	.reads = true,
	.writes = true,
	.run = cmd_validate,
};

struct validate {
	struct options options;
	struct report_out out;
	bool json, color;
	int fail_level; /* LEVEL_COUNT: never */
	struct report_json report;
	struct text findings; /* of the present file, for JSON */
	struct text text;
	struct progress progress;
	enum exit_status status; /* the worst so far */
};

static bool
parse(struct validate *v)
{
	static const char *const forms[] = { "text", "json", NULL };
	static const char *const levels[] = { "note", "warning", "error", "never", NULL };
	struct options *const o = &v->options;
	const char *arg;
	int opt, word = 0;

	v->fail_level = LEVEL_ERROR;
	while ((opt = options_next(o, &arg)) >= 0) {
		if (opt == O_FORMAT)
			v->json = (word = options_word(o, "--format", arg, forms)) == 1;
		else
			v->fail_level = word = options_word(o, "--fail-level", arg, levels);
		if (word < 0)
			return false;
	}
	return opt == OPTIONS_END && options_name_traces(o);
}

static void
take_finding(void *ctx, const struct findings *j, const struct finding *f)
{
	struct validate *const v = ctx;

	if (v->json) {
		report_json_finding(&v->findings, f);
		return;
	}
	if (v->options.quiet && f->rule->level < LEVEL_ERROR)
		return;
	report_text_finding(&v->text, j, f, v->color);
	report_out_put(&v->out, &v->text);
}

/* The exit status that the findings of one input mean. */
static enum exit_status
status_of(const struct validate *v, const struct source *f)
{
	if (f->unreadable)
		return STATUS_UNREADABLE;
	for (int level = v->fail_level; level < LEVEL_COUNT; level++)
		if (f->findings.levels[level] > 0)
			return STATUS_FINDINGS;
	return STATUS_CLEAN;
}

static void
show_progress(void *ctx, const struct input *in)
{
	struct validate *const v = ctx;

	progress_show(&v->progress, in);
}

/* One input was read, or could not be. */
static void
closed(void *ctx, const struct source *f)
{
	struct validate *const v = ctx;
	const struct findings *const j = &f->findings;
	const struct report_file file = {
		.path = j->path,
		.format = f->open ? f->format->name : NULL,
		.dialect = f->open ? f->context->trace->dialect : NULL,
		.records = f->reader.records,
		.unread_bytes = f->open ? f->reader.unread : 0,
		.valid = j->levels[LEVEL_ERROR] == 0 && !f->unreadable,
		.whole = f->as_whole,
	};

	progress_clear(&v->progress);
	if (v->json) {
		report_json_file(&v->report, j, &file, &v->findings);
		text_clear(&v->findings);
		report_out_put(&v->out, &v->report.text);
	} else if (!v->options.quiet) {
		report_text_rest(&v->text, j);
		report_text_summary(&v->text, j, &file);
		report_out_put(&v->out, &v->text);
	}
	v->status = worse(v->status, status_of(v, f));
}

static void
validate_one(struct validate *v, const char *path)
{
	struct pipeline p;
	struct pipeline_job job = options_job(&v->options, take_finding, v);

	job.paths = &path;
	job.npaths = 1;
	job.want = WANT_FINDINGS;
	job.hooks = (struct pipeline_hooks){ .closed = closed, .progress = show_progress, .ctx = v };
	progress_init(&v->progress, &v->options);
	if (pipeline_open(&p, &job))
		pipeline_drain(&p);
	pipeline_close(&p);
}

enum exit_status
cmd_validate(const struct command *cmd, int argc, char **argv)
{
	struct validate v = { .json = false };

	options_init(&v.options, cmd, argc, argv);
	if (!parse(&v))
		return v.options.status;
	if (!report_out_open(&v.out, &v.options))
		return STATUS_UNREADABLE;
	v.color = v.options.output == NULL && options_color(&v.options, STDOUT_FILENO);
	if (v.json)
		report_json_begin(&v.report, TOOL_NAME);
	for (int i = v.options.first_operand; i < argc; i++)
		validate_one(&v, argv[i]);
	if (v.json)
		report_json_end(&v.report);
	report_out_put(&v.out, &v.report.text);
	v.status = worse(v.status, report_out_close(&v.out));
	text_free(&v.report.text);
	text_free(&v.findings);
	text_free(&v.text);
	options_free(&v.options);
	return v.status;
}
