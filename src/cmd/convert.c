#include <inttypes.h>

#include "cmd/say.h"
#include "pipeline/writing.h"
#include "format/registry.h"

enum { O_TO, O_LANES, O_REBASE, O_FAIL_ON_LOSS, O_KEEP_PARTIAL };

static const struct cmd_option own[] = {
	[O_TO] = { "to", "FORMAT", "the output's format (default: told by the end of its name)", 0 },
	[O_LANES] = { "lanes", "on|off",
	              "give spans that overlap without nesting a track of their own (default: on)", 0 },
	[O_REBASE] = { "rebase", NULL, "subtract the earliest time of the trace from all times", 0 },
	[O_FAIL_ON_LOSS] = { "fail-on-loss", NULL, "exit 1 if the output cannot hold everything", 0 },
	[O_KEEP_PARTIAL] = { "keep-partial", NULL, "keep what was written when the input fails half-way", 0 },
	{ NULL, NULL, NULL, 0 },
};

const struct command convert_command = {
	.name = "convert",
	.operands = "[options] IN OUT  |  [options] IN ... -o OUT",
	.summary = "Writes traces in another format.  - is standard input or output; OUT.gz and OUT.zst are "
	           "compressed.",
	.options = own,
	.reads = true,
	.writes = true,
	.run = cmd_convert,
};

struct convert {
	struct options options;
	const char *const *in; /* operands */
	size_t nin;
	const char *out;
	const struct format *to;
	bool no_lanes, rebase, fail_on_loss, keep_partial;
	struct progress progress;
	struct output *output; /* NULL: no input could be opened so far */
	struct writing writing;
	bool begun;
	enum exit_status status; /* of the inputs so far */
};

static bool
parse(struct convert *c)
{
	static const char *const on_off[] = { "on", "off", NULL };
	struct options *const o = &c->options;
	const char *arg, *to = NULL;
	int opt;

	while ((opt = options_next(o, &arg)) >= 0) {
		if (opt == O_TO)
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
	c->out = o->output;
	if (operands < 1 || (c->out == NULL && operands != 2)) {
		o->status = options_mistake(
		    o, operands > 2
		           ? "takes one input and one output; for more inputs name the output with -o"
		           : "name an input and an output");
		return false;
	}
	c->in = (const char *const *)o->argv + o->first_operand;
	c->nin = c->out == NULL ? 1 : (size_t)operands;
	if (c->out == NULL)
		c->out = c->in[1];
	c->to = to != NULL ? format_by_name(to) : format_by_suffix(c->out);
	if (c->to != NULL && c->to->writer != NULL)
		return true;
	struct shown_path shown;
	if (to != NULL)
		o->status =
		    options_mistake(o, "there is no output format named %s; tracetool formats lists them",
		                    show_path(&shown, to));
	else
		o->status =
		    options_mistake(o, "the name %s does not tell the output's format; name it with --to",
		                    show_path(&shown, c->out));
	return false;
}

static void
say_losses(const struct convert *c, const struct ledger *l)
{
	struct shown_path shown;

	for (size_t i = 0; i < l->n && !c->options.quiet; i++)
		say("%s: %s: %" PRIu64 "; the first at input offset %" PRIu64 " [%s]",
		    show_path(&shown, c->out), l->rows[i].loss->text, l->rows[i].count,
		    l->rows[i].first_offset, l->rows[i].loss->id);
}

/* The first input that can be read makes the output. */
static bool
opened(void *ctx, struct pipeline *f)
{
	struct convert *const c = ctx;
	char why[512];

	if (c->begun)
		return true;
	c->output = output_open(c->out, c->options.force ? OUTPUT_FORCE : 0, why, sizeof why);
	if (c->output == NULL) {
		say("%s", why);
		c->status = STATUS_UNREADABLE;
		return false;
	}
	c->begun = true;
	return writing_begin(&c->writing, f, c->to, c->output, !c->no_lanes, options_values(&c->options),
	                     TOOL_NAME);
}

static bool
take(void *ctx, struct pipeline *f, struct batch *b)
{
	struct convert *const c = ctx;

	return writing_take(&c->writing, f, b);
}

static void
done(void *ctx, struct pipeline *f)
{
	struct convert *const c = ctx;

	progress_clear(&c->progress);
	if (c->begun && c->writing.no_memory)
		pipeline_no_memory(f);
	c->status = worse(c->status, say_end(&c->options, f));
}

/* Ends the output, well or not; all that went wrong with it is said here.  A cut or damaged packed stream is
 * worth keeping as far as it went, what a failing system left is not. */
static enum exit_status
finish(struct convert *c, const struct pipeline *f, bool written)
{
	struct shown_path shown;
	char why[512];

	if (!c->begun)
		return STATUS_UNREADABLE;
	if (written && (!f->failed || c->keep_partial) && writing_end(&c->writing, f) &&
	    output_finish(c->output)) {
		if (output_commit(c->output, why, sizeof why)) {
			say_losses(c, &c->writing.total);
			return c->fail_on_loss && c->writing.total.n > 0 ? STATUS_FINDINGS : STATUS_CLEAN;
		}
		say("%s", why);
		return STATUS_UNREADABLE;
	}
	if (written && c->writing.no_memory) /* at the very end, when no input is there to say it of */
		say("%s: the system gives no more memory", show_path(&shown, c->out));
	if (output_error(c->output) != NULL && !output_pipe_closed(c->output))
		say("%s", output_error(c->output));
	output_discard(c->output);
	return STATUS_UNREADABLE;
}

enum exit_status
cmd_convert(const struct command *cmd, int argc, char **argv)
{
	static const struct pipeline_hooks hooks = { opened, take, done };
	struct convert c = { .in = NULL };
	struct pipeline f;

	options_init(&c.options, cmd, argc, argv);
	if (!parse(&c))
		return c.options.status;
	progress_init(&c.progress, &c.options);
	const struct pipeline_job job = {
		.paths = c.in,
		.npaths = c.nin,
		.from = c.options.from,
		.dialect = c.options.dialect,
		.schemas = c.options.schemas,
		.nschemas = c.options.nschemas,
		.vocabularies = &c.options.vocabularies,
		.options = options_values(&c.options),
		.interpret = INTERPRET_SPANS,
		.want = WANT_TIMES | WANT_FIELDS | WANT_ORDER,
		.rebase = c.rebase,
		.sink = say_finding,
		.ctx = &c.options,
		.progress = progress_show,
		.progress_ctx = &c.progress,
	};
	const bool written = pipeline_each(&f, &job, &hooks, &c);
	const enum exit_status status = finish(&c, &f, written);
	if (c.begun)
		writing_free(&c.writing);
	pipeline_close(&f);
	options_free(&c.options);
	return worse(status, c.status);
}
