#include "cmd/recover_command.h"

#include <string.h>

#include "cmd/run_names.h"
#include "cmd/say.h"
#include "format/registry.h"
#include "input/input_archive.h"
#include "input/input_tree.h"

enum { O_SORT, O_FORMAT, O_REPORT };

static const struct cmd_option own[] = {
	[O_SORT] = { "sort", NULL, "sort regions whose records are out of order", 0 },
	[O_FORMAT] = { "format", "text|json",
	               "the list of changes: text on standard error (default), or JSON", 0 },
	[O_REPORT] = { "report", "json=FILE", "also write the list of changes to FILE", 0 },
	{ NULL, NULL, NULL, 0 },
};

const struct command recover_command = {
	.name = "recover",
	.operands = "[options] IN OUT",
	.summary = "Saves the intact records of a damaged trace, and lists what it leaves out.  OUT.gz and "
	           "OUT.zst are compressed.",
	.options = own,
	.reads = true,
	.writes = true,
	.run = cmd_recover,
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
		                               "use --report json=FILE");
	return o->status == STATUS_CLEAN;
}

static bool
check_names(struct recover *c)
{
	struct run_names n;

	run_names_begin(&n, &c->options, &c->in, 1);
	n.all_files = true;
	(input_is_folder(c->in) ? run_names_folder : run_names_written)(&n, "output", c->out);
	run_names_written(&n, "list of changes", c->report);
	return run_names_end(&n);
}

static bool
take_report(struct recover *c, const char *arg)
{
	struct shown_path shown;

	if (strncmp(arg, "json=", 5) == 0 && arg[5] != '\0') {
		c->report = arg + 5;
		return true;
	}
	c->options.status =
	    options_mistake(&c->options, "--report takes json=FILE, not %s", show_path(&shown, arg));
	return false;
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
		else if (opt == O_REPORT) {
			if (!take_report(c, arg))
				return false;
		} else if ((opt = options_word(o, "--format", arg, forms)) >= 0)
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
	return check(c) && check_names(c);
}

/* ---- what the engine calls ---- */

static bool
put(void *ctx, const char *p, size_t n)
{
	struct recover *const c = ctx;

	return convert_output_put(&c->output, c->file, p, n);
}

static void
list(void *ctx, const struct recover_change *change)
{
	struct recover *const c = ctx;

	progress_clear(&c->progress);
	recover_list_change(&c->list, change);
}

bool
recover_open(struct recover *c, enum writer_shape shape)
{
	char why[512];

	c->status = STATUS_UNREADABLE;
	if (!convert_output_open(&c->output, c->out, shape, c->options.force ? OUTPUT_FORCE : 0, why,
	                         sizeof why)) {
		say("%s", why);
		return false;
	}
	if (recover_list_open(&c->list, c->json ? "-" : c->report, c->options.force))
		c->status = STATUS_CLEAN;
	return c->status == STATUS_CLEAN;
}

static bool
opened(void *ctx, const struct source *s)
{
	struct recover *const c = ctx;
	struct shown_path shown;

	if (s->format->recover == NULL) {
		say("%s: traces in format %s cannot be recovered", show_path(&shown, c->in), s->format->name);
		c->status = STATUS_UNREADABLE;
		return false;
	}
	c->list.format = s->format->name;
	c->list.dialect = s->context->trace->dialect;
	return true;
}

static void
show_progress(void *ctx, const struct input *in)
{
	struct recover *const c = ctx;

	progress_show(&c->progress, in);
}

/* ---- the run ---- */

bool
recover_input(struct recover *c, const char *path, const struct format *from, struct input *in)
{
	struct recover_run run = {
		.job = options_job(&c->options, say_finding, &c->options),
		.place = { .path = path, .operand = c->in, .in_folder = c->file != NULL },
		.sort = c->sort,
		.put = put,
		.list = list,
		.opened = opened,
		.progress = show_progress,
		.ctx = c,
	};

	run.job.from = from;
	c->list.file = c->file;
	const bool ok = recover_run(&run, in);
	progress_clear(&c->progress);
	if (!ok)
		c->status = worse(c->status, STATUS_UNREADABLE);
	recover_list_run(&c->list, &run);
	return ok;
}

/* Why the output fails; the status of that. */
static enum exit_status
say_output_failed(struct recover *c)
{
	const struct convert_output *const out = &c->output;
	struct shown_path shown;

	if (convert_output_pipe_closed(out))
		return STATUS_PIPE_CLOSED;
	if (convert_output_error(out) != NULL)
		say("%s", convert_output_error(out));
	else
		say("%s: not written", show_path(&shown, c->out));
	return STATUS_UNREADABLE;
}

/* Publishes the output with its list, or nothing; a list on standard output is ended anyhow. */
static enum exit_status
end_output(struct recover *c, bool whole)
{
	struct publication p = { .n = 0 };
	char why[512];
	const bool written = whole && convert_output_finish(&c->output);

	const enum exit_status status = written ? STATUS_CLEAN : say_output_failed(c);
	if (written || c->json)
		recover_list_end(&c->list, written);
	if (!written && c->json)
		return worse(status, report_out_close(&c->list.out));
	if (!written)
		return status;
	publication_add(&p, &c->list.out);
	if (!publication_end(&p, &c->output, why, sizeof why) && why[0] != '\0')
		say("%s", why);
	return p.status;
}

/* Nothing that a reader recognises would be left.  A trace that is whole may have no record. */
static bool
is_lost(const struct recover *c)
{
	const struct recover_list *const l = &c->list;

	if (l->records > 0 || (l->dropped == 0 && l->repairs == 0 && !l->packed_damage))
		return false;
	say_nothing_read(c->in, input_is_folder(c->in) ? NULL : c->in,
	                 l->format != NULL ? format_by_name(l->format) : NULL, "no record is intact");
	return true;
}

static void
recover(struct recover *c)
{
	const bool folder = input_is_folder(c->in);
	struct shown_path shown;

	c->list.input = c->in;
	c->list.output = c->out;
	c->list.no_text = c->json;
	progress_init(&c->progress, &c->options);
	if (!folder && input_is_archive(c->in)) {
		say("%s: is an archive: unpack it, and recover the folder", show_path(&shown, c->in));
		c->status = STATUS_UNREADABLE;
		return;
	}
	const bool ok = folder ? recover_folder(c)
	                       : recover_open(c, WRITER_FILE) &&
	                             recover_input(c, c->in, c->options.from, input_open(c->in));
	if (!convert_output_is_open(&c->output) || (!folder && c->list.format == NULL)) {
		c->status = worse(c->status, STATUS_UNREADABLE);
		return;
	}
	recover_list_sums(&c->list, c->options.quiet || c->json);
	const enum exit_status status = end_output(c, ok && !is_lost(c));
	if (status == STATUS_CLEAN && (c->list.dropped > 0 || c->list.packed_damage))
		c->status = worse(c->status, STATUS_FINDINGS);
	c->status = status == STATUS_PIPE_CLOSED ? status : worse(c->status, status);
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
	convert_output_discard(&c.output);
	report_out_discard(&c.list.out);
	text_free(&c.list.text);
	options_free(&c.options);
	return c.status;
}
