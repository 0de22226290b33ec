#include "cmd/operand_names.h"
#include "cmd/recover_list.h"
#include "cmd/say.h"
#include "input/input_open.h"

enum { O_SORT, O_FORMAT, O_REPORT };

static const struct cmd_option own[] = {
	[O_SORT] = { "sort", NULL, "put regions whose records have no order in order", 0 },
	[O_FORMAT] = { "format", "text|json",
	               "the list of changes: text on standard error (default), or JSON", 0 },
	[O_REPORT] = { "report", "FILE", "write the list of changes to FILE too, as JSON", 0 },
	{ NULL, NULL, NULL, 0 },
};

const struct command recover_command = {
	.name = "recover",
	.operands = "[options] IN OUT",
	.summary = "Copies the whole records of a damaged trace, and lists what it leaves out.  OUT.gz and "
	           "OUT.zst are compressed.",
	.options = own,
	.reads = true,
	.writes = true,
	.run = cmd_recover,
};

struct recover {
	struct options options;
	const char *in, *out;
	const char *report; /* NULL: none */
	bool sort, json;
	struct recover_run run;
	struct recover_list list;
	struct output *output; /* NULL: not opened */
	struct progress progress;
	enum exit_status status; /* the worst so far */
};

/* ---- command line ---- */

static bool
check(struct recover *c)
{
	struct options *const o = &c->options;

	if (c->json && c->report != NULL)
		o->status = options_mistake(o, "--format json and --report are the same list; name one");
	else if (c->json && strcmp(c->out, "-") == 0)
		o->status = options_mistake(o, "--format json writes to standard output, and so does OUT; "
		                               "use --report FILE");
	else if (c->report != NULL && strcmp(c->report, c->out) == 0)
		o->status = options_mistake(o, "--report and OUT name the same file");
	else if (c->report != NULL && strcmp(c->report, c->in) == 0)
		o->status = options_mistake(o, "--report and IN name the same file");
	return o->status == STATUS_CLEAN;
}

static bool
parse(struct recover *c)
{
	static const char *const forms[] = { "text", "json", NULL };
	struct options *const o = &c->options;
	const char *arg;
	int opt;

	while ((opt = options_next(o, &arg)) >= 0) {
		if (opt == O_SORT)
			c->sort = true;
		else if (opt == O_REPORT)
			c->report = arg;
		else if ((opt = options_word(o, "--format", arg, forms)) >= 0)
			c->json = opt == 1;
		else
			return false;
	}
	if (opt == OPTIONS_STOP)
		return false;
	const int operands = o->argc - o->first_operand;
	if (operands != (o->output != NULL ? 1 : 2)) {
		o->status = options_mistake(o, "takes one input and one output");
		return false;
	}
	c->in = o->argv[o->first_operand];
	c->out = o->output != NULL ? o->output : o->argv[o->first_operand + 1];
	return names_check(o, &c->in, 1, c->out) && check(c);
}

/* ---- what the engine calls ---- */

static bool
put(void *ctx, const char *p, size_t n)
{
	struct recover *const c = ctx;

	return output_write(c->output, p, n);
}

static void
list(void *ctx, const struct recover_change *change)
{
	struct recover *const c = ctx;

	progress_clear(&c->progress);
	recover_list_change(&c->list, change);
}

static bool
opened(void *ctx, const struct source *s)
{
	struct recover *const c = ctx;
	struct shown_path shown;
	char why[512];

	c->status = STATUS_UNREADABLE;
	if (s->format->recover == NULL) {
		say("%s: traces in format %s cannot be recovered", show_path(&shown, c->in), s->format->name);
		return false;
	}
	c->list.format = s->format->name;
	c->list.dialect = s->context->trace->dialect;
	c->output = output_open(c->out, c->options.force ? OUTPUT_FORCE : 0, why, sizeof why);
	if (c->output == NULL) {
		say("%s", why);
		return false;
	}
	const bool listed = recover_list_open(&c->list, c->json ? "-" : c->report, c->options.force);
	c->status = listed ? STATUS_CLEAN : STATUS_UNREADABLE;
	return listed;
}

static void
show_progress(void *ctx, const struct input *in)
{
	struct recover *const c = ctx;

	progress_show(&c->progress, in);
}

/* ---- the run ---- */

/* Ends the output, well or not. */
static enum exit_status
end_output(struct recover *c, bool whole)
{
	struct shown_path shown;
	char why[512];

	if (whole && output_finish(c->output)) {
		if (output_commit(c->output, why, sizeof why))
			return STATUS_CLEAN;
		say("%s", why);
		return STATUS_UNREADABLE;
	}
	const bool pipe_closed = output_pipe_closed(c->output);
	if (output_error(c->output) != NULL && !pipe_closed)
		say("%s", output_error(c->output));
	else if (!pipe_closed)
		say("%s: not written", show_path(&shown, c->out));
	output_discard(c->output);
	return pipe_closed ? STATUS_PIPE_CLOSED : STATUS_UNREADABLE;
}

/* Nothing that a reader recognises would be left. */
static bool
is_lost(const struct recover *c)
{
	struct shown_path shown;

	if (c->list.records > 0 || (c->list.dropped == 0 && !c->list.packed_damage))
		return false;
	say("%s: no record is whole", show_path(&shown, c->in));
	return true;
}

static void
recover(struct recover *c)
{
	struct recover_run *const run = &c->run;

	c->list.input = c->in;
	c->list.output = c->out;
	c->list.no_text = c->json;
	progress_init(&c->progress, &c->options);
	run->job = options_job(&c->options, say_finding, &c->options);
	run->place = (struct source_place){ .path = c->in, .operand = c->in };
	run->sort = c->sort;
	run->put = put;
	run->list = list;
	run->opened = opened;
	run->progress = show_progress;
	run->ctx = c;
	const bool ok = recover_run(run, input_open(c->in));
	progress_clear(&c->progress);
	if (c->output == NULL || (!ok && c->status != STATUS_CLEAN)) {
		output_discard(c->output);
		c->status = STATUS_UNREADABLE;
		return;
	}
	recover_list_run(&c->list, run);
	recover_list_sums(&c->list, c->options.quiet || c->json);
	const enum exit_status status = end_output(c, ok && !is_lost(c));
	if (status == STATUS_CLEAN && (c->list.dropped > 0 || c->list.packed_damage))
		c->status = STATUS_FINDINGS;
	c->status = worse(c->status, worse(status, recover_list_close(&c->list, status == STATUS_CLEAN)));
}

enum exit_status
cmd_recover(const struct command *cmd, int argc, char **argv)
{
	struct recover c = { .in = NULL };

	options_init(&c.options, cmd, argc, argv);
	if (parse(&c))
		recover(&c);
	else
		c.status = c.options.status;
	text_free(&c.list.text);
	options_free(&c.options);
	return c.status;
}
