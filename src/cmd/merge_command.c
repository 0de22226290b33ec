#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/align_file.h"
#include "cmd/convert.h"
#include "cmd/operand_names.h"
#include "cmd/output_format.h"
#include "cmd/side_reports.h"
#include "input/input_open.h"
#include "pipeline/join.h"

enum {
	O_TO,
	O_ALIGN,
	O_THREADS,
	O_SORT_MEMORY,
	O_MAX_REPEAT,
	O_LANES,
	O_REBASE,
	O_FAIL_ON_LOSS,
	O_REPORT_LOSS,
	O_KEEP_PARTIAL,
};

static const struct cmd_option own[] = {
	[O_TO] = { "to", "FORMAT", "the output's format (default: by the suffix of its name)", 0 },
	[O_ALIGN] = { "align", "start|none|FILE",
	              "how clocks go together (default: by the wall times, which all must have)", 0 },
	[O_THREADS] = { "threads", "N", "work with N threads (default: one a core, 16 at most)", 0 },
	[O_SORT_MEMORY] = { "sort-memory", "BYTES", "memory for putting events in order (default: 64 MiB)",
	                    0 },
	[O_MAX_REPEAT] = { "max-repeat", "N",
	                   "texts and lists may take N times the size of the input (default: 32)", 0 },
	[O_LANES] = { "lanes", "on|off",
	              "give spans that overlap without nesting a track of their own (default: on)", 0 },
	[O_REBASE] = { "rebase", NULL, "subtract the least time of the traces from all times", 0 },
	[O_FAIL_ON_LOSS] = { "fail-on-loss", "[=KIND,...]",
	                     "exit 1 if the output cannot hold everything, or lacks something of a KIND", 0 },
	[O_REPORT_LOSS] = { "report-loss", "FILE", "write what the output lacks to FILE, as JSON", 0 },
	[O_KEEP_PARTIAL] = { "keep-partial", NULL, "keep the output although an input could not be read", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const struct cmd_words words[] = {
	{ "--to", WORDS_OUTPUT_FORMATS, NULL },
	{ NULL, WORDS_LIST, NULL },
};

const struct command merge_command = {
	.name = "merge",
	.operands = "[options] -o OUT IN ...",
	.summary = "Writes several traces, also of different formats, as one, with their clocks aligned.",
	.options = own,
	.words = words,
	.reads = true,
	.writes = true,
	.selects = true,
	.converts = true,
	.run = cmd_merge,
};

struct merge {
	struct convert convert;
	struct join join;
	const char *align; /* NULL: by the wall times */
};

static bool
take_option(struct merge *m, int opt, const char *arg, const char **to)
{
	static const char *const on_off[] = { "on", "off", NULL };
	struct convert *const c = &m->convert;
	struct options *const o = &c->options;
	int word;

	switch (opt) {
	case O_TO:
		*to = arg;
		return true;
	case O_ALIGN:
		m->align = arg;
		return true;
	case O_THREADS:
		return options_number(o, "--threads", arg, &c->threads);
	case O_SORT_MEMORY:
		return options_number(o, "--sort-memory", arg, &c->sort_memory);
	case O_MAX_REPEAT:
		return options_positive(o, "--max-repeat", arg, &c->max_repeat);
	case O_LANES:
		word = options_word(o, "--lanes", arg, on_off);
		c->no_lanes = word == 1;
		return word >= 0;
	case O_REBASE:
		return c->rebase = true;
	case O_FAIL_ON_LOSS:
		return losses_out_fail_on(&c->losses, o, arg);
	case O_REPORT_LOSS:
		c->losses.path = arg;
		return true;
	default:
		return c->keep_partial = true;
	}
}

/* Whether what was asked for goes together. */
static bool
check(struct merge *m, const char *to)
{
	struct convert *const c = &m->convert;
	struct options *const o = &c->options;
	const struct select *const s = &o->select.select;

	c->to = output_format(o, to, c->out);
	if (c->to == NULL || !output_format_fits(o, c->to, c->out, false) || !output_options_fit(o, c->to))
		return false;
	for (size_t i = 0; i < c->nin; i++)
		if (!input_is_named(c->in[i])) {
			struct shown_path shown;
			o->status = options_mistake(o, "%s can be read once; merge reads each input twice",
			                            show_path(&shown, c->in[i]));
		}
	if (s->since.kind != SELECT_ANY_TIME || s->until.kind != SELECT_ANY_TIME)
		o->status = options_mistake(o, "--since and --until are for one trace; cut the merged one");
	return o->status == STATUS_CLEAN;
}

static bool
parse(struct merge *m)
{
	struct convert *const c = &m->convert;
	struct options *const o = &c->options;
	const char *arg, *to = NULL;
	int opt;

	while ((opt = options_next(o, &arg)) >= 0)
		if (!take_option(m, opt, arg, &to))
			return false;
	if (opt == OPTIONS_STOP)
		return false;
	c->out = o->output;
	c->in = (const char *const *)o->argv + o->first_operand;
	c->nin = (size_t)(o->argc - o->first_operand);
	if (c->out == NULL || c->nin == 0)
		o->status =
		    options_mistake(o, c->out == NULL ? "name the output with -o" : "name the inputs");
	return o->status == STATUS_CLEAN && names_check(o, c->in, c->nin, c->out) &&
	       convert_check_report(c) && check(m, to);
}

/* ---- clocks ---- */

static bool
all_know_epoch(struct merge *m)
{
	struct shown_path shown;

	for (size_t i = 0; i < m->join.n; i++)
		if (!m->join.parts[i].epoch_known && m->join.parts[i].any) {
			m->convert.options.status = options_mistake(
			    &m->convert.options,
			    "%s does not say at which wall time it began: --align start has all "
			    "traces begin at 0, --align none leaves their times",
			    show_path(&shown, m->join.parts[i].path));
			return false;
		}
	return true;
}

/* false after a message and status set. */
static bool
align(struct merge *m)
{
	struct options *const o = &m->convert.options;
	bool fits = true;

	if (m->align == NULL) {
		if (!all_know_epoch(m))
			return false;
		fits = join_by_epoch(&m->join);
	} else if (strcmp(m->align, "start") == 0) {
		fits = join_by_start(&m->join);
	} else if (strcmp(m->align, "none") != 0 && !align_file(m->align, &m->join, o)) {
		return false;
	}
	if (fits && m->convert.rebase)
		fits = join_rebase(&m->join);
	if (!fits) {
		say("the times of the inputs are more than 292 years apart");
		o->status = STATUS_UNREADABLE;
	}
	return fits;
}

static enum exit_status
run(struct merge *m)
{
	struct options *const o = &m->convert.options;
	const struct pipeline_job job = convert_job(&m->convert);

	if (!join_init(&m->join, m->convert.in, m->convert.nin) || !join_look(&m->join, &job)) {
		options_no_memory(o);
		return o->status;
	}
	if (!align(m))
		return o->status;
	m->convert.join = &m->join;
	return convert_run(&m->convert);
}

enum exit_status
cmd_merge(const struct command *cmd, int argc, char **argv)
{
	struct merge m = { .align = NULL };

	options_init(&m.convert.options, cmd, argc, argv);
	enum exit_status status = STATUS_CLEAN;
	if (!parse(&m)) {
		status = m.convert.options.status;
	} else {
		status = run(&m);
		status = worse(status, side_reports_end(&m.convert.options));
	}
	join_free(&m.join);
	options_free(&m.convert.options);
	return status;
}
