#include <inttypes.h>

#include "cmd/say.h"
#include "flow/writing.h"
#include "format/registry.h"

enum { O_OUTPUT, O_FORCE, O_TO, O_LANES, O_REBASE, O_FAIL_ON_LOSS, O_KEEP_PARTIAL };

static const struct cmd_option own[] = {
	[O_OUTPUT] = { "output", "OUT", "the output, instead of the second operand", 'o' },
	[O_FORCE] = { "force", NULL, "replace an existing output", 'f' },
	[O_TO] = { "to", "FORMAT", "the output's format (default: told by the end of its name)", 0 },
	[O_LANES] = { "lanes", "on|off", "give spans that overlap without nesting a track of their own (default: on)", 0 },
	[O_REBASE] = { "rebase", NULL, "subtract the earliest time of the trace from all times", 0 },
	[O_FAIL_ON_LOSS] = { "fail-on-loss", NULL, "exit 1 if the output cannot hold everything", 0 },
	[O_KEEP_PARTIAL] = { "keep-partial", NULL, "keep what was written when the input fails half-way", 0 },
	{ NULL, NULL, NULL, 0 },
};

const struct command convert_command = {
	.name = "convert",
	.operands = "[options] IN OUT",
	.summary = "Writes a trace in another format.  - is standard input or output; OUT.gz and OUT.zst are compressed.",
	.options = own,
	.reads = true,
	.run = cmd_convert,
};

struct convert {
	struct options options;
	const char *in, *out;
	const struct format *to;
	bool force, no_lanes, rebase, fail_on_loss, keep_partial;
	struct progress progress;
};

static bool
parse(struct convert *c)
{
	static const char *const on_off[] = { "on", "off", NULL };
	struct options *const o = &c->options;
	const char *arg, *to = NULL;
	int opt;

	while ((opt = options_next(o, &arg)) >= 0) {
		if (opt == O_OUTPUT)
			c->out = arg;
		else if (opt == O_FORCE)
			c->force = true;
		else if (opt == O_TO)
			to = arg;
		else if (opt == O_REBASE)
			c->rebase = true;
		else if (opt == O_FAIL_ON_LOSS)
			c->fail_on_loss = true;
		else if (opt == O_KEEP_PARTIAL)
			c->keep_partial = true;
		else if ((opt = options_word(o, "--lanes", arg, on_off)) >= 0)
			c->no_lanes = opt == 1;
		else
			return false;
	}
	if (opt == OPTIONS_STOP)
		return false;
	const int operands = o->argc - o->first_operand;
	if (operands != (c->out == NULL ? 2 : 1)) {
		o->status = options_mistake(o, "takes one input and one output, not %d name%s", operands + (c->out != NULL),
		                            operands + (c->out != NULL) == 1 ? "" : "s");
		return false;
	}
	c->in = o->argv[o->first_operand];
	if (c->out == NULL)
		c->out = o->argv[o->first_operand + 1];
	c->to = to != NULL ? format_by_name(to) : format_by_suffix(c->out);
	if (c->to != NULL && c->to->writer != NULL)
		return true;
	struct shown_path shown;
	if (to != NULL)
		o->status = options_mistake(o, "there is no output format named %s; tracetool formats lists them", show_path(&shown, to));
	else
		o->status = options_mistake(o, "the name %s does not tell the output's format; name it with --to", show_path(&shown, c->out));
	return false;
}

static void
say_losses(const struct convert *c, const struct ledger *l)
{
	struct shown_path shown;

	for (size_t i = 0; i < l->n && !c->options.quiet; i++)
		say("%s: %" PRIu64 " %s; the first at input offset %" PRIu64 " [%s]", show_path(&shown, c->out), l->rows[i].count,
		    l->rows[i].loss->text, l->rows[i].first_offset, l->rows[i].loss->id);
}

/* What the input's faults leave worth having: a cut or damaged packed stream keeps what came before, a failing system does not. */
static bool
worth_keeping(const struct convert *c, const struct flow *f)
{
	const bool failed = f->in->fault == INPUT_SHRUNK || f->in->fault == INPUT_SYSTEM;

	return !failed || c->keep_partial;
}

/* Ends the output, well or not; all that went wrong with it is said here. */
static enum exit_status
finish(const struct convert *c, struct flow *f, struct writing *w, struct output *out, bool written)
{
	char why[512];

	if (w->no_memory)
		flow_no_memory(f);
	const bool keep = written && worth_keeping(c, f) && writing_end(w, f) && output_finish(out);
	if (keep) {
		if (output_commit(out, why, sizeof why)) {
			say_losses(c, &w->total);
			return c->fail_on_loss && w->total.n > 0 ? STATUS_FINDINGS : STATUS_CLEAN;
		}
		say("%s", why);
		return STATUS_UNREADABLE;
	}
	if (output_error(out) != NULL && !output_pipe_closed(out))
		say("%s", output_error(out));
	output_discard(out);
	return STATUS_UNREADABLE;
}

static enum exit_status
run(struct convert *c, struct flow *f)
{
	struct writing w;
	struct output *out;
	char why[512];

	if (!flow_open(f, f->job))
		return STATUS_UNREADABLE;
	out = output_open(c->out, c->force ? OUTPUT_FORCE : 0, why, sizeof why);
	if (out == NULL) {
		say("%s", why);
		return STATUS_UNREADABLE;
	}
	const bool written = writing_begin(&w, f, c->to, out, !c->no_lanes, options_values(&c->options), TOOL_NAME) &&
	    flow_run(f, writing_take, &w);
	progress_clear(&c->progress);
	const enum exit_status status = finish(c, f, &w, out, written);
	writing_free(&w);
	return status;
}

enum exit_status
cmd_convert(const struct command *cmd, int argc, char **argv)
{
	struct convert c = { .in = NULL };
	struct flow f;

	options_init(&c.options, cmd, argc, argv);
	if (!parse(&c))
		return c.options.status;
	progress_init(&c.progress, &c.options);
	const struct flow_job job = {
		.path = c.in,
		.from = c.options.from,
		.dialect = c.options.dialect,
		.options = options_values(&c.options),
		.want = WANT_TIMES | WANT_FIELDS,
		.rebase = c.rebase,
		.sink = say_finding,
		.ctx = &c.options,
		.progress = progress_show,
		.progress_ctx = &c.progress,
	};
	f.job = &job;
	const enum exit_status status = run(&c, &f);
	const enum exit_status found = say_end(&c.options, &f);
	flow_close(&f);
	return worse(status, found);
}
