/*
 * diff: both traces are read and sorted by time, each on a thread of its own, and then compared at the same
 * pace.  compare/differ pairs and compares the events; memory is used for sorting and for events that wait
 * for a partner.  Each difference is written when it is found (diff_report.c).
 */

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/match.h"
#include "base/workers.h"
#include "cli/names.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/say.h"
#include "cmd/diff_report.h"
#include "input/open.h"

#define MAX_FIELDS 64
#define DEFAULT_LIMIT 20 /* number of differences */

struct diff_input {
	struct diff *diff;
	int side;
	enum stage_status status; /* of the last request */
	struct batch *next;       /* requested, but not taken yet; or NULL */
	bool begun;               /* its first event is known */
	enum exit_status ended;   /* worst status of its inputs */
};

struct diff {
	struct options options; /* first */
	struct diff_input inputs[DIFFER_SIDES];
	uint64_t limit, sort_memory, threads;
	struct differ_rules rules;
	struct slice fields[MAX_FIELDS]; /* ignored fields */
	size_t nfields;
	unsigned json; /* index in text|json */
	const struct diff_form *form;
	struct diff_report report;
	struct report_out out;
	struct text text;
	struct pipeline *pipelines[DIFFER_SIDES];
	struct pipeline_job jobs[DIFFER_SIDES];
	struct workers *workers; /* that read the first batches; a slot is a side; NULL: the caller reads */
	atomic_bool a_is_read;   /* the first batch of DIFFER_A was requested: B shows its progress */
	bool no_memory;
};

/* ---- options ---- */

static bool field_counts(const void *ctx, struct slice name)
{
	const struct diff *const d = ctx;

	for (size_t i = 0; i < d->nfields; i++)
		if (slice_equal(d->fields[i], name))
			return false;
	return true;
}

static const struct {
	const char *name;
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

/* Returns false after a message. */
static bool unknown_ignored(struct diff *d, struct slice s)
{
	char name[64], meant[80] = "";
	struct nearest near = { .typed = name };
	struct shown_path shown;

	snprintf(name, sizeof name, "%.*s", (int)(s.n < sizeof name ? s.n : sizeof name), s.p);
	for (size_t i = 0; i < COUNT_OF(ignored); i++)
		nearest_add(&near, ignored[i].name);
	if (near.name != NULL)
		snprintf(meant, sizeof meant, "did you mean %s? ", near.name);
	show_path(&shown, name);
	return options_mistake(&d->options, "--ignore: there is no %s; %sa field is meant by field:%s",
	                       shown.s, meant, shown.s);
}

static bool ignore_one(struct diff *d, struct slice s)
{
	for (size_t i = 0; i < COUNT_OF(ignored); i++)
		if (slice_is(s, ignored[i].name)) {
			d->rules.ignore |= ignored[i].part;
			d->rules.tracks |= ignored[i].tracks;
			return true;
		}
	if (s.n < 6 || memcmp(s.p, "field:", 6) != 0)
		return unknown_ignored(d, s);
	s = slice_of(s.p + 6, s.n - 6);
	if (s.n == 0 || d->nfields == MAX_FIELDS)
		return options_mistake(
		    &d->options, s.n == 0 ? "--ignore: a name is empty" : "--ignore: more than %d fields",
		    MAX_FIELDS);
	d->fields[d->nfields++] = s;
	for (int i = 0; i < DIFFER_SIDES; i++)
		d->rules.fields[i] = (struct event_fields){ .counts = field_counts, .ctx = d };
	return true;
}

static bool set_tolerance(void *ns, struct options *o, const char *arg)
{
	return duration_option(arg, ns) ||
	       options_takes(o, "--tolerance", "a duration, such as 500 or 1.5us", arg);
}

static bool set_ignore(void *run, struct options *o, const char *arg)
{
	for (;;) {
		const size_t n = strcspn(arg, ",");
		if (!ignore_one(run, slice_of(arg, n)))
			return false;
		if (arg[n] == '\0')
			return true;
		arg += n + 1;
	}
}

static const struct cmd_option own[] = {
	{ "tolerance", "DURATION", "allowed difference of times and durations (default: 0)", 0,
	  TO_CALL(struct diff, rules.tolerance, set_tolerance) },
	{ "ignore", "WHAT,...",
	  "leave out args, category, dur, kind, name, process, thread, time, track or field:NAME", 0,
	  OPTION_CALL, .set = set_ignore },
	{ "limit", "N", "show N differences at most (default: 20; 0: all)", 'n',
	  TO_LIMIT(struct diff, limit) },
	{ "format", "text|json", "the form of the report (default: text)", 0, TO_CHOICE(struct diff, json) },
	ROW_THREADS(struct diff, threads),
	ROW_MEMORY(struct diff, sort_memory),
	{ .name = NULL },
};

static bool parse(struct diff *d)
{
	struct options *const o = &d->options;

	d->limit = DEFAULT_LIMIT;
	if (!options_parse(o, d))
		return false;
	d->form = d->json ? &diff_json : &diff_text;
	if (o->nin != DIFFER_SIDES)
		return options_mistake(o, "takes two traces");
	for (int i = 0; i < DIFFER_SIDES; i++)
		d->report.paths[i] = o->in[i];
	return run_names_check(o, d->report.paths, DIFFER_SIDES) &&
	       names_one_trace(o, d->report.paths, DIFFER_SIDES);
}

/* ---- running ---- */

/* Waits until the first side is read: messages come in the order of the traces. */
static void take_turn(const struct diff_input *in)
{
	if (in->diff->workers != NULL)
		workers_turn(in->diff->workers, (size_t)in->side);
}

static void report_finding(void *ctx, const struct findings *j, const struct finding *f)
{
	struct diff_input *const in = ctx;

	take_turn(in);
	say_finding(&in->diff->options, j, f);
}

static void closed(void *ctx, const struct source *s)
{
	struct diff_input *const in = ctx;

	take_turn(in);
	progress_clear(&in->diff->options.progress);
	in->ended = worse(in->ended, say_end(&in->diff->options, s));
}

static void show_progress(void *ctx, const struct input *in)
{
	const struct diff_input *const of = ctx;

	if (of->side == DIFFER_A || atomic_load(&of->diff->a_is_read))
		options_progress(&of->diff->options, in);
}

static bool open_side(struct diff *d, int side)
{
	struct pipeline_job *const job = &d->jobs[side];
	struct diff_input *const in = &d->inputs[side];

	*in = (struct diff_input){ .diff = d, .side = side };
	*job = options_job(&d->options, report_finding, in);
	job->in.vocabularies = NULL; /* both sides are read concurrently */
	job->in.paths = &d->report.paths[side];
	job->in.npaths = 1;
	job->read.want = WANT_TIMES | WANT_FIELDS | WANT_ORDER;
	job->read.interpret = INTERPRET_SPANS;
	job->adjust.from_zero = true;
	job->arrange.order = ORDER_TIME;
	job->arrange.memory = d->sort_memory;
	job->to.hooks = (struct pipeline_hooks){ .closed = closed, .progress = show_progress, .ctx = in };
	return pipeline_open(&d->pipelines[side], job);
}

static void request(struct diff_input *in)
{
	in->status = pipeline_next(in->diff->pipelines[in->side], &in->next);
	if (in->status != STAGE_MORE)
		in->next = NULL;
}

static void read_first(void *ctx, size_t side)
{
	struct diff *const d = ctx;

	request(&d->inputs[side]);
	if (side == DIFFER_A)
		atomic_store(&d->a_is_read, true);
}

/* Requests the first batches.  Returns false if a side could not be read and has no events: all events of the
 * other side would differ. */
static bool read_both_first(struct diff *d)
{
	static const struct workers_ops ops = { .run = read_first };
	const unsigned threads = options_threads(d->threads);
	bool readable = true;

	if ((d->workers = workers_new(DIFFER_SIDES, threads > 1 ? 1 : 0, &ops, d)) == NULL)
		return pipeline_no_memory(d->pipelines[DIFFER_A]);
	for (int i = 0; i < DIFFER_SIDES; i++) {
		(void)workers_slot(d->workers);
		workers_put(d->workers);
	}
	workers_settle(d->workers);
	workers_free(d->workers);
	d->workers = NULL;
	for (int i = 0; i < DIFFER_SIDES; i++)
		readable &= d->inputs[i].status == STAGE_MORE || d->inputs[i].ended < STATUS_UNREADABLE;
	return readable;
}

/* Events of a side are in order of time, so its first batch has its first event. */
static enum stage_status next(void *ctx, struct batch **out)
{
	struct diff_input *const in = ctx;
	struct diff *const d = in->diff;

	if (in->next == NULL && in->status == STAGE_MORE)
		request(in);
	*out = in->next;
	in->next = NULL;
	if (in->status == STAGE_MORE && !in->begun && (*out)->n > 0) {
		const uint64_t ts = (*out)->events[0].ts ^ d->report.bias;
		d->report.start = ts < d->report.start ? ts : d->report.start;
		d->report.starts[in->side] = ts;
		in->begun = true;
	}
	return in->status;
}

static bool report_difference(void *ctx, const struct difference *difference)
{
	struct diff *const d = ctx;

	if (d->report.shown >= d->limit)
		return true;
	d->no_memory |= !d->form->difference(&d->text, &d->report, difference);
	d->report.shown++;
	report_out_put(&d->out, &d->text);
	return !d->no_memory;
}

/* Returns false if a side could not be read. */
static bool compare(struct diff *d)
{
	struct differ_source sources[DIFFER_SIDES];
	const bool signed_time = pipeline_report(d->pipelines[DIFFER_A]).signed_time ||
	                         pipeline_report(d->pipelines[DIFFER_B]).signed_time;

	d->report.bias = (uint64_t)signed_time << 63;
	for (int i = 0; i < DIFFER_SIDES; i++)
		sources[i] = (struct differ_source){ .next = next,
			                             .ctx = &d->inputs[i],
			                             .trace = pipeline_trace(d->pipelines[i]),
			                             .signed_time = signed_time };
	differ_init(&d->report.differ, &d->rules, sources[DIFFER_A], sources[DIFFER_B], report_difference, d);
	d->report.differ.names = &d->report.names;
	d->report.start = UINT64_MAX;
	d->report.width = options_width(&d->options);
	d->form->begin(&d->text, &d->report);
	const enum differ_status status = differ_run(&d->report.differ);
	if (status == DIFFER_NO_MEMORY || d->no_memory)
		pipeline_no_memory(d->pipelines[DIFFER_A]);
	return status == DIFFER_DONE;
}

/* Whether both sides can be opened, and have events or can be read.  A side that cannot is read, which
 * reports the reason. */
static bool check_readable(struct diff *d)
{
	bool all = true;

	for (int i = 0; i < DIFFER_SIDES; i++)
		if (input_is_named(d->report.paths[i]) && access(d->report.paths[i], R_OK) != 0) {
			const int error = errno;
			(void)pipeline_drain(d->pipelines[i]);
			if (d->inputs[i].ended < STATUS_UNREADABLE) /* the side can be read nevertheless */
				say_of(d->report.paths[i], "%s", strerror(error));
			all = false;
		}
	return all && read_both_first(d);
}

static enum exit_status run(struct diff *d)
{
	enum exit_status status = STATUS_CLEAN;
	bool ok = true, differs = false;

	progress_init(&d->options.progress, &d->options);
	for (int i = 0; i < DIFFER_SIDES; i++)
		ok &= open_side(d, i);
	ok = ok && check_readable(d) && compare(d);
	for (int i = 0; i < DIFFER_SIDES; i++) {
		batch_release(d->inputs[i].next);
		pipeline_end(d->pipelines[i]);
		status = worse(status, d->inputs[i].ended);
	}
	differs = diff_count(&d->report.differ) > 0;
	d->report.complete = ok && status < STATUS_UNREADABLE;
	if (d->report.differ.names != NULL) /* both were begun */
		d->form->end(&d->text, &d->report);
	report_out_put(&d->out, &d->text);
	differ_free(&d->report.differ);
	for (int i = 0; i < DIFFER_SIDES; i++) {
		const struct run_report run = pipeline_report(d->pipelines[i]);
		const enum exit_status empty =
		    say_selected(&d->options, d->report.paths[i], run.found, run.trace);
		status = worse(status, empty);
		differs |= empty != STATUS_CLEAN;
		pipeline_close(d->pipelines[i]);
	}
	by_name_free(&d->report.names);
	text_free(&d->text);
	if (!d->report.complete)
		return worse(status, STATUS_UNREADABLE);
	return differs ? STATUS_FINDINGS : status;
}

static enum exit_status cmd_diff(const struct command *cmd, int argc, char **argv)
{
	struct diff *const d = calloc(1, sizeof *d);

	if (d == NULL) {
		say_of(argv[argc - 1], "out of memory");
		return STATUS_UNREADABLE;
	}
	options_init(&d->options, cmd, argc, argv);
	enum exit_status status = STATUS_UNREADABLE;
	if (!parse(d))
		status = d->options.status;
	else if (report_out_open(&d->out, &d->options)) {
		status = run(d);
		status = worse(status, report_out_end(&d->out, &d->options, d->report.complete));
		say_found(&d->options);
	}
	options_free(&d->options);
	free(d);
	return status;
}

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
