#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/edit_distance.h"
#include "cmd/diff_report.h"
#include "cmd/operand_names.h"
#include "cmd/run_names.h"
#include "cmd/report_out.h"
#include "cmd/say.h"
#include "cmd/time_option.h"
#include "input/input_open.h"

enum { O_TOLERANCE, O_IGNORE, O_LIMIT, O_FORMAT, O_MEMORY };

static const struct cmd_option own[] = {
	[O_TOLERANCE] = { "tolerance", "DURATION", "allowed difference of times and durations (default: 0)",
	                  0 },
	[O_IGNORE] = { "ignore", "WHAT,...",
	               "leave out args, category, dur, kind, name, process, thread, time, track or "
	               "field:NAME",
	               0 },
	[O_LIMIT] = { "limit", "N", "show N differences at most (default: 20; 0: all)", 'n' },
	[O_FORMAT] = { "format", "text|json", "the form of the report (default: text)", 0 },
	[O_MEMORY] = { "memory", "BYTES", "memory for sorting (default: 64 MiB)", 0 },
	{ NULL, NULL, NULL, 0 },
};

const struct command diff_command = {
	.name = "diff",
	.operands = "[options] A B",
	.summary = "Compares the events of two traces, of the same format or not, and shows how they differ.",
	.options = own,
	.reads = true,
	.writes = true,
	.selects = true,
	.tables = true,
	.run = cmd_diff,
};

#define MOST_FIELDS 64
#define SHOWN 20

struct diff_input {
	struct diff *diff;
	int side;
	bool begun; /* its first event is known */
};

struct diff {
	struct options options;
	struct diff_input inputs[DIFFER_SIDES];
	const char *paths[DIFFER_SIDES];
	uint64_t limit, sort_memory;
	struct differ_rules rules;
	struct slice fields[MOST_FIELDS]; /* that do not count */
	size_t nfields;
	const struct diff_form *form;
	struct report_out out;
	struct text text;
	struct progress progress;
	struct pipeline pipelines[DIFFER_SIDES];
	struct pipeline_job jobs[DIFFER_SIDES];
	struct differ differ;
	struct by_name names;
	struct diff_view view;
	bool no_memory;
	enum exit_status status; /* of the inputs */
};

/* ---- options ---- */

static bool
field_counts(const void *ctx, struct slice name)
{
	const struct diff *const d = ctx;

	for (size_t i = 0; i < d->nfields; i++)
		if (slice_equal(d->fields[i], name))
			return false;
	return true;
}

static const struct {
	const char *word;
	unsigned part, tracks;
} ignored[] = {
	{ "args", PART_FIELDS, 0 },
	{ "category", PART_CATEGORY, 0 },
	{ "dur", PART_DURATION, 0 },
	{ "kind", PART_PHASE, 0 },
	{ "name", PART_NAME, 0 },
	{ "process", 0, TRACKS_WITHOUT_PROCESSES },
	{ "thread", 0, TRACKS_WITHOUT_THREADS },
	{ "time", PART_TIME, 0 },
	{ "track", PART_TRACK, 0 },
};

/* false, after a message. */
static bool
unknown_ignored(struct diff *d, struct slice s)
{
	char word[64], near[80] = "";
	size_t distance = SIZE_MAX;
	struct shown_path shown;

	snprintf(word, sizeof word, "%.*s", (int)(s.n < sizeof word ? s.n : sizeof word), s.p);
	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) {
		const size_t n = edit_distance(word, ignored[i].word);
		if (n < distance && edit_distance_plausible(word, ignored[i].word)) {
			distance = n;
			snprintf(near, sizeof near, "did you mean %s? ", ignored[i].word);
		}
	}
	show_path(&shown, word);
	d->options.status = options_mistake(
	    &d->options, "--ignore: there is no %s; %sa field is meant by field:%s", shown.s, near, shown.s);
	return false;
}

static bool
ignore_one(struct diff *d, struct slice s)
{
	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
		if (slice_is(s, ignored[i].word)) {
			d->rules.ignore |= ignored[i].part;
			d->rules.tracks |= ignored[i].tracks;
			return true;
		}
	if (s.n < 6 || memcmp(s.p, "field:", 6) != 0)
		return unknown_ignored(d, s);
	s = slice_of(s.p + 6, s.n - 6);
	if (s.n == 0 || d->nfields == MOST_FIELDS) {
		d->options.status = options_mistake(
		    &d->options, s.n == 0 ? "--ignore: a name is empty" : "--ignore: more than %d fields",
		    MOST_FIELDS);
		return false;
	}
	d->fields[d->nfields++] = s;
	for (int i = 0; i < DIFFER_SIDES; i++)
		d->rules.fields[i] = (struct event_fields){ .counts = field_counts, .ctx = d };
	return true;
}

static bool
ignore(struct diff *d, const char *arg)
{
	for (;;) {
		const size_t n = strcspn(arg, ",");
		if (!ignore_one(d, slice_of(arg, n)))
			return false;
		if (arg[n] == '\0')
			return true;
		arg += n + 1;
	}
}

static bool
take(struct diff *d, int opt, const char *arg)
{
	static const char *const forms[] = { "text", "json", NULL };
	struct options *const o = &d->options;

	switch (opt) {
	case O_TOLERANCE:
		if (duration_option(arg, &d->rules.tolerance))
			return true;
		o->status = options_mistake(o, "--tolerance takes a duration, such as 500 or 1.5us");
		return false;
	case O_IGNORE:
		return ignore(d, arg);
	case O_LIMIT:
		return options_limit(o, arg, &d->limit);
	case O_MEMORY:
		return options_bytes(o, "--memory", arg, &d->sort_memory);
	default:
		opt = options_word(o, "--format", arg, forms);
		d->form = opt == 1 ? &diff_json : &diff_text;
		return opt >= 0;
	}
}

static bool
parse(struct diff *d)
{
	struct options *const o = &d->options;
	const char *arg;
	int opt;

	d->limit = SHOWN;
	d->form = &diff_text;
	while ((opt = options_next(o, &arg)) >= 0)
		if (!take(d, opt, arg))
			return false;
	if (opt == OPTIONS_STOP)
		return false;
	if (o->argc - o->first_operand != DIFFER_SIDES) {
		o->status = options_mistake(o, "takes two traces");
		return false;
	}
	for (int i = 0; i < DIFFER_SIDES; i++)
		d->paths[i] = d->view.paths[i] = o->argv[o->first_operand + i];
	return run_names_check(o, d->paths, DIFFER_SIDES) && names_one_trace(o, d->paths, DIFFER_SIDES);
}

/* ---- running ---- */

static void
closed(void *ctx, const struct source *s)
{
	struct diff *const d = ctx;

	progress_clear(&d->progress);
	d->status = worse(d->status, say_end(&d->options, s));
}

static void
show(void *ctx, const struct input *in)
{
	struct diff *const d = ctx;

	progress_show(&d->progress, in);
}

static bool
open_side(struct diff *d, int side)
{
	struct pipeline_job *const job = &d->jobs[side];

	*job = options_job(&d->options, say_finding, &d->options);
	job->vocabularies = NULL; /* both sides are read at the same time */
	job->paths = &d->paths[side];
	job->npaths = 1;
	job->want = WANT_TIMES | WANT_FIELDS | WANT_ORDER;
	job->interpret = INTERPRET_SPANS;
	job->order = ORDER_TIME;
	job->sort_memory = d->sort_memory;
	job->hooks = (struct pipeline_hooks){ .closed = closed, .progress = show, .ctx = d };
	return pipeline_open(&d->pipelines[side], job);
}

/* The events of a side come in order of time, so that the first batch has the first of them. */
static enum stage_status
next(void *ctx, struct batch **out)
{
	struct diff_input *const in = ctx;
	struct diff *const d = in->diff;
	const enum stage_status status = pipeline_next(&d->pipelines[in->side], out);

	for (uint32_t i = 0; status == STAGE_MORE && !in->begun && i < (*out)->n; i++)
		if ((*out)->events[i].phase != PHASE_STRUCTURE) {
			const uint64_t ts = (*out)->events[i].ts;
			d->view.start = ts < d->view.start ? ts : d->view.start;
			d->view.starts[in->side] = ts;
			in->begun = true;
		}
	return status;
}

static bool
take_difference(void *ctx, const struct difference *difference)
{
	struct diff *const d = ctx;

	if (d->view.shown >= d->limit)
		return true;
	d->no_memory |= !d->form->difference(&d->text, &d->view, difference);
	d->view.shown++;
	report_out_put(&d->out, &d->text);
	return !d->no_memory;
}

/* false: a side could not be read. */
static bool
compare(struct diff *d)
{
	struct differ_source sources[DIFFER_SIDES];

	for (int i = 0; i < DIFFER_SIDES; i++) {
		d->inputs[i] = (struct diff_input){ .diff = d, .side = i };
		sources[i] = (struct differ_source){ .next = next,
			                             .ctx = &d->inputs[i],
			                             .trace = &d->pipelines[i].trace };
	}
	differ_init(&d->differ, &d->rules, sources[DIFFER_A], sources[DIFFER_B], take_difference, d);
	d->differ.names = &d->names;
	d->view.differ = &d->differ;
	d->view.start = UINT64_MAX;
	d->view.width = options_width(&d->options);
	d->form->begin(&d->text, &d->view);
	const enum differ_status status = differ_run(&d->differ);
	if (status == DIFFER_NO_MEMORY || d->no_memory)
		pipeline_no_memory(&d->pipelines[DIFFER_A]);
	return status == DIFFER_DONE;
}

/* Whether both sides can be opened.  Those that cannot are read, which says why. */
static bool
are_there(struct diff *d)
{
	struct shown_path shown;
	bool all = true;

	for (int i = 0; i < DIFFER_SIDES; i++)
		if (input_is_named(d->paths[i]) && access(d->paths[i], R_OK) != 0) {
			const int error = errno;
			(void)pipeline_drain(&d->pipelines[i]);
			if (d->status < STATUS_UNREADABLE) /* it can be read all the same */
				say("%s: %s", show_path(&shown, d->paths[i]), strerror(error));
			all = false;
		}
	return all;
}

static enum exit_status
run(struct diff *d)
{
	bool ok = true, differs = false;

	progress_init(&d->progress, &d->options);
	for (int i = 0; i < DIFFER_SIDES; i++)
		ok &= open_side(d, i);
	ok = ok && are_there(d) && compare(d);
	for (int i = 0; i < DIFFER_SIDES; i++)
		pipeline_end(&d->pipelines[i]);
	differs = d->differ.changed + d->differ.only[DIFFER_A] + d->differ.only[DIFFER_B] > 0;
	d->view.complete = ok && d->status < STATUS_UNREADABLE;
	if (d->view.differ != NULL)
		d->form->end(&d->text, &d->view);
	report_out_put(&d->out, &d->text);
	differ_free(&d->differ);
	for (int i = 0; i < DIFFER_SIDES; i++) {
		const enum exit_status empty =
		    say_selected(&d->options, d->paths[i], pipeline_found(&d->pipelines[i]));
		d->status = worse(d->status, empty);
		differs |= empty != STATUS_CLEAN;
		pipeline_close(&d->pipelines[i]);
	}
	by_name_free(&d->names);
	text_free(&d->text);
	/* findings are reported, but do not make two traces different */
	if (!d->view.complete)
		return worse(d->status, STATUS_UNREADABLE);
	return differs ? STATUS_FINDINGS : STATUS_CLEAN;
}

enum exit_status
cmd_diff(const struct command *cmd, int argc, char **argv)
{
	struct diff *const d = calloc(1, sizeof *d);

	if (d == NULL) {
		struct shown_path shown;
		say("%s: the system gives no more memory", show_path(&shown, argv[argc - 1]));
		return STATUS_UNREADABLE;
	}
	options_init(&d->options, cmd, argc, argv);
	enum exit_status status = STATUS_UNREADABLE;
	if (!parse(d))
		status = d->options.status;
	else if (report_out_open(&d->out, &d->options)) {
		status = run(d);
		status = worse(status, report_out_end(&d->out, &d->options, d->view.complete));
		say_found(&d->options);
	}
	options_free(&d->options);
	free(d);
	return status;
}
