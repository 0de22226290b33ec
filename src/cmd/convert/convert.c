/*
 * convert: one pipeline over the inputs, one writer (run/write/writing.h), and an output that gets its name
 * together with its reports when it is complete.  If the formats allow, records are copied as they are.
 * split.c has --split, verify.c has --verify; merge shares this code.
 */

#include "cmd/convert/convert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/names.h"
#include "cli/outputs.h"
#include "cli/reports.h"
#include "cli/say.h"
#include "format/registry.h"
#include "input/open.h"

/* ---- --anonymise ---- */

#define MAX_KEY 65536 /* bytes of a key file */

static void read_key(struct anonymise_options *a, struct options *o)
{
	struct input_whole w;
	struct shown_path shown;
	const bool read = input_read_whole(&w, a->keyfile, MAX_KEY);

	show_path(&shown, a->keyfile);
	if (read && w.n >= ANONYMISE_KEY_LEAST) {
		anonymise_set_key(&a->anonymise, w.p, w.n);
	} else if (read) {
		options_mistake(o, "--anonymise: the key in %s has %zu bytes; %d are needed", shown.s, w.n,
		                ANONYMISE_KEY_LEAST);
	} else if (w.no_memory) {
		options_no_memory(o);
	} else if (w.too_large) {
		options_mistake(o, "--anonymise: %s is not a key: it has more than %d bytes", shown.s,
		                MAX_KEY);
	} else {
		say("%s: cannot read the key: %s%s", shown.s, w.why,
		    access(a->keyfile, F_OK) != 0 ? " (head -c 32 /dev/urandom >FILE makes one)" : "");
		o->status = STATUS_UNREADABLE;
	}
	free(w.p);
}

/* Returns false after a message, with o->status set. */
static bool anonymise_options_check(struct anonymise_options *a, bool rebases, struct options *o)
{
	const struct anonymise *const w = &a->anonymise;

	if (a->keyfile != NULL)
		read_key(a, o);
	else if (w->keep_paths || w->keep_suffixes || w->hide_numbers || a->shift_time)
		options_mistake(o, "%s goes with --anonymise",
		                w->keep_paths      ? "--keep-paths"
		                : w->keep_suffixes ? "--keep-suffixes"
		                : w->hide_numbers  ? "--hide-numbers"
		                                   : "--shift-time");
	if (o->status == STATUS_CLEAN && a->shift_time && rebases)
		options_mistake(o, "--shift-time excludes --rebase, which states the time that it subtracts");
	if (o->status == STATUS_CLEAN && a->shift_time)
		anonymise_set_shift(&a->anonymise);
	return o->status == STATUS_CLEAN;
}

static void put_names(struct text *t, const struct tabletext *readable)
{
	const struct tabletext_entry *const names = tabletext_entries(readable);
	const size_t n = readable->used;

	for (size_t i = 0; i < n; i++) {
		text_str(t, i > 0 ? ", " : " (");
		text_visible(t, slice_of(names[i].p, names[i].n), 60);
	}
	if (n > 0)
		text_str(t, n == REBIND_MAX_NAMES ? ", ...)" : ")");
}

/* Lists the text that stays readable in an anonymised output, for people. */
static bool anonymise_options_list(const struct anonymise_options *a, const struct tabletext *names,
                                   struct text *t)
{
	text_str(t, "names of fields");
	put_names(t, names);
	text_str(t, a->anonymise.hide_numbers ? "" : ", numbers, ids of processes and threads");
	text_str(t, a->anonymise.keep_paths ? ", how many parts paths have" : "");
	text_str(t, a->anonymise.keep_suffixes ? ", suffixes of texts" : "");
	text_str(t, a->anonymise.shift ? ", differences of times" : ", times");
	text_str(t, ", offsets in the input, the format");
	text_char(t, '\0');
	return !t->failed;
}

/* ---- options ---- */

const struct cmd_words convert_words[] = {
	{ "--to", WORDS_OUTPUT_FORMATS, NULL },
	{ NULL, WORDS_LIST, NULL },
};

static bool check_names(struct convert *c)
{
	const bool folder = convert_splits(&c->split) || c->to->writer->shape == WRITER_FOLDER;
	struct run_names n;

	run_names_begin(&n, &c->options, c->in, c->nin);
	(folder ? run_names_folder : run_names_written)(&n, "output", c->out);
	run_names_written(&n, "report of losses", c->losses.path);
	run_names_read(&n, "key", c->anonymise.keyfile);
	run_names_read(&n, "file of offsets", c->offsets);
	return run_names_end(&n);
}

bool convert_check_names(struct convert *c)
{
	struct options *const o = &c->options;

	if (c->out[0] == '\0')
		return options_mistake(o, "the name of the output is empty");
	if (!convert_splits(&c->split))
		c->to = output_format(o, c->to_name, c->out);
	else if (!convert_split_format(c))
		return false;
	if (c->to == NULL || !check_names(c))
		return false;
	return (convert_splits(&c->split) ? convert_split_fits(c)
	                                  : output_format_fits(o, c->to, c->out, c->raw)) &&
	       output_options_fit(o, c->to);
}

static bool set_anonymise(void *run, struct options *o, const char *arg)
{
	struct convert *const c = run;

	c->anonymise.keyfile = arg;
	o->wordless = true;
	return true;
}

static const struct cmd_option own[] = {
	CONVERT_ROWS,
	{ "raw", NULL, "write the records of the input without interpretation", 0,
	  TO_FLAG(struct convert, raw) },
	{ "anonymise", "KEYFILE", "replace names, texts and metadata by pseudonyms derived from the key", 0,
	  OPTION_CALL, .set = set_anonymise },
	{ "keep-paths", NULL, "with --anonymise: replace each part of a path separately", 0,
	  TO_FLAG(struct convert, anonymise.anonymise.keep_paths) },
	{ "keep-suffixes", NULL, "with --anonymise: keep file name suffixes such as .h5", 0,
	  TO_FLAG(struct convert, anonymise.anonymise.keep_suffixes) },
	{ "hide-numbers", NULL, "with --anonymise: also replace numbers, pids and tids", 0,
	  TO_FLAG(struct convert, anonymise.anonymise.hide_numbers) },
	{ "shift-time", NULL, "with --anonymise: shift all times by an amount derived from the key", 0,
	  TO_FLAG(struct convert, anonymise.shift_time) },
	{ "skip-existing", NULL, "do nothing if the output already exists", 0,
	  TO_FLAG(struct convert, skip_existing) },
	{ "verify", NULL, "read the output back and compare it before it gets its name", 0,
	  TO_FLAG(struct convert, verify.wanted) },
	{ "split", "HOW", "write a directory of traces: time=10s, by=pid|tid|stream or size=20M", 0,
	  OPTION_CALL, .set = convert_split_option },
	{ .name = NULL },
};

static bool check_options(struct convert *c)
{
	struct options *const o = &c->options;

	if (!convert_check_names(c))
		return false;
	if (c->raw && c->anonymise.keyfile != NULL)
		return options_mistake(o, "--raw excludes --anonymise: it copies the records unchanged");
	c->verify.implied = c->anonymise.keyfile != NULL && c->to->reader != NULL && strcmp(c->out, "-") != 0;
	if (c->skip_existing && o->force)
		return options_mistake(o, "--skip-existing keeps an output that -f replaces");
	return names_one_trace(o, c->in, c->nin) && anonymise_options_check(&c->anonymise, c->rebase, o) &&
	       (convert_splits(&c->split) ? convert_split_check(c) : convert_verify_check(c));
}

static bool parse(struct convert *c)
{
	struct options *const o = &c->options;

	if (!options_parse(o, c))
		return false;
	c->out = o->output;
	if (o->nin < 1 || (c->out == NULL && o->nin != 2))
		return options_mistake(
		    o, o->nin > 2 ? "takes one input and one output; for more inputs name the output with -o"
		                  : "name an input and an output");
	c->in = o->in;
	c->nin = c->out == NULL ? 1 : o->nin;
	if (c->out == NULL)
		c->out = c->in[1];
	return check_options(c);
}

static enum writer_shape shape(const struct convert *c)
{
	return convert_splits(&c->split) ? WRITER_FOLDER : c->to->writer->shape;
}

/* ---- hooks ---- */

/* Whether selected records of this format can be copied.  Returns false after a message. */
static bool can_select(const struct convert *c, const struct format *of)
{
	if (!format_omits_records(of))
		return say("--raw: format %s cannot omit records; without --raw, events can be selected",
		           of->name);
	return !c->options.select.clip_asked ||
	       say("--edges clip: records are copied unchanged; use --edges keep or drop");
}

struct convert_threads {
	unsigned render, pack;
	enum read_ahead ahead;
};

/* Compression takes most of the time: threads that render deflate while they wait, and libzstd has threads of
 * its own. */
static struct convert_threads share_threads(const struct convert *c)
{
	const enum output_packing packing = output_packing_of(c->out);
	const unsigned n = options_threads(c->threads), fewer = n > 1 ? n - 1 : 1;

	return (struct convert_threads){
		.render = n,
		.pack = packing == OUTPUT_ZSTD ? n : fewer,
		.ahead = read_ahead_beside(packing == OUTPUT_PLAIN ? n : fewer),
	};
}

static bool begin_writing(struct convert *c)
{
	const struct writing_options options = {
		.values = options_values(&c->options),
		.tool = TOOL_NAME,
		.temp_near = convert_output_target(&c->output),
		.threads = share_threads(c).render,
	};
	const struct writing_output out = { convert_output_put, &c->output };

	return convert_verify_begin(c) && writing_begin(&c->writing, c->pipeline, c->to, out, &options);
}

/* The first input that can be read determines the records to write. */
static bool opened(void *ctx, const struct source *s)
{
	struct convert *const c = ctx;
	if (c->writing.begun || (c->split.nouts > 0 && c->split.outs[0].writing.begun))
		return true;
	if (c->raw && (c->to->writer->modes & WRITER_RAW) == 0 && s->format != c->to) {
		say("--raw: the input is in format %s; %s cannot hold its records", s->format->name,
		    c->to->name);
		c->status = STATUS_USAGE;
		return false;
	}
	const struct run_report run = pipeline_report(c->pipeline);
	if (run.raw && run.job->choice.select != NULL && !can_select(c, s->format)) {
		c->status = STATUS_USAGE;
		return false;
	}
	c->split.any = true;
	if (convert_splits(&c->split))
		return c->split.routes || convert_split_begin(c, c->pipeline);
	return begin_writing(c);
}

static void settle(void *ctx)
{
	struct convert *const c = ctx;

	writing_settle(&c->writing);
}

static void closed(void *ctx, const struct source *s)
{
	struct convert *const c = ctx;

	progress_clear(&c->options.progress);
	if (c->split.is_again)
		return; /* reported with the first pass */
	c->status = worse(c->status, say_end(&c->options, s));
	/* data beyond a limit of the reader is lost, except in a copy of records */
	if (c->losses.fail && c->losses.kinds == NULL && s->findings.levels[LEVEL_LIMIT] > 0 &&
	    !s->context->raw)
		c->status = worse(c->status, STATUS_FINDINGS);
	c->records += s->reader.records + s->context->trace->further;
	if (!is_nothing_read(s))
		return;
	c->is_nothing = true; /* allowed for a stream, if another one has records */
	if (!s->location.in_folder) {
		char what[80];
		(void)snprintf(what, sizeof what, "nothing of it could be read as %s", s->format->name);
		say_nothing_read(s->location.path, s->location.archive == NULL ? s->location.path : NULL,
		                 s->format, what);
		c->status = STATUS_UNREADABLE;
	}
}

/* ---- the end of the output ---- */

/* Whether the output may be kept: not if an input, or part of one, could not be read. */
static bool may_keep(struct convert *c)
{
	const struct input_files *const files = &c->options.files;
	struct shown_path input;

	if (atomic_load(&files->changed))
		return say_of(c->out, "not written: %s: %s",
		              files->changed_path != NULL ? show_path(&input, files->changed_path)
		                                          : "an input",
		              files->changed_why);
	if (c->is_nothing && c->records == 0)
		c->status = STATUS_UNREADABLE;
	if (c->keep_partial || (c->status < STATUS_UNREADABLE && !pipeline_report(c->pipeline).failed))
		return true;
	return say_of(c->out,
	              "not written, as an input could not be read (--keep-partial writes what could)");
}

/* --skip-existing: returns true if the output exists (after a note), or if that cannot be determined (after a
 * message).  Sets *status. */
static bool skips(const struct convert *c, enum exit_status *status)
{
	int error;

	if (!c->skip_existing)
		return false;
	const bool there = convert_output_exists(c->out, shape(c), &error);
	if (error != 0)
		say_of(c->out, "%s", strerror(error));
	else if (there && !c->options.quiet)
		say_of(c->out, "exists, skipped");
	*status = error != 0 ? STATUS_UNREADABLE : STATUS_CLEAN;
	return there || error != 0;
}

/* Explains a --column A,B that no event has. */
static void say_column_lists(struct convert *c, const struct ledger *l)
{
	struct shown_path shown;
	bool any = false;

	for (uint32_t i = 0; i < l->n; i++) {
		const char *const end = strrchr(l->rows[i].loss->id, '/');
		any |= end != NULL && strcmp(end, "/no-arg") == 0;
	}
	for (const struct option_value *o = any ? options_values(&c->options) : NULL; o != NULL;
	     o = o->next) {
		if (strcmp(o->name, "column") != 0 || strchr(o->value, ',') == NULL)
			continue;
		show_path(&shown, o->value);
		say("note: --column %s is one column; give --column for each argument", shown.s);
	}
}

static enum exit_status publish(struct convert *c)
{
	const struct run_report run = pipeline_report(c->pipeline);
	const struct ledger *const total = convert_splits(&c->split) ? &c->split.total : &c->writing.total;
	const struct losses_of of = { .in = c->in,
		                      .nin = c->nin,
		                      .out = c->out,
		                      .from = run.format != NULL ? run.format->name : NULL,
		                      .to = c->to->name,
		                      .ledger = total };
	const bool lists = c->anonymise.keyfile != NULL && !c->options.quiet;
	struct text readable = { .p = NULL };
	struct publication p = { .n = 0 };
	struct shown_path shown;
	enum exit_status status;
	char why[512];

	show_path(&shown, c->out);
	if (lists && !anonymise_options_list(&c->anonymise, run.readable, &readable)) {
		text_free(&readable);
		say("%s: out of memory", shown.s);
		return STATUS_UNREADABLE;
	}
	status = losses_out_end(&c->losses, &of, &p);
	status = worse(status, side_reports_end(&c->options, &p));
	if (publication_end(&p, &c->output, why, sizeof why)) {
		status = worse(status, p.status);
		if (lists)
			say("%s: anonymised; what can be read: %s", shown.s, readable.p);
		if (!c->options.quiet || c->losses.fail)
			say_losses(c->out, total, c->losses.fail);
		if (!c->options.quiet)
			say_column_lists(c, total);
	} else {
		status = p.status;
		if (why[0] != '\0' && !skips(c, &status)) /* another process may have made it meanwhile */
			say("%s", why);
	}
	text_free(&readable);
	return status;
}

/* Ends the output, and reports all its failures. */
static enum exit_status finish(struct convert *c, bool written)
{
	struct convert_output *const out = &c->output;

	if (written && (c->writing.begun || convert_splits(&c->split)) && may_keep(c) &&
	    (convert_splits(&c->split) || writing_end(&c->writing)) && convert_output_finish(out) &&
	    convert_verify_end(c))
		return publish(c);
	if (c->writing.no_memory)
		say_of(c->out, "out of memory");
	if (c->writing.failure != NULL)
		say("%s", c->writing.failure);
	const bool pipe_closed = convert_output_pipe_closed(out);
	if (convert_output_error(out) != NULL && !pipe_closed)
		say("%s", convert_output_error(out));
	return pipe_closed ? STATUS_PIPE_CLOSED : STATUS_UNREADABLE;
}

/* ---- the run ---- */

static bool write_all(struct convert *c, const struct pipeline_job *job)
{
	enum stage_status status = STAGE_BAD;
	struct batch *b;
	bool ok = pipeline_open(&c->pipeline, job);

	while (ok && (status = pipeline_next(c->pipeline, &b)) == STAGE_MORE) {
		const bool is_kept = convert_verify_add(c, b);
		if (!is_kept)
			batch_release(b);
		ok = is_kept && writing_put(&c->writing, b);
	}
	writing_settle(&c->writing);
	pipeline_end(c->pipeline);
	return ok && status == STAGE_END;
}

/* Whether records of the output's format are written as they are. */
static bool copies_records(const struct convert *c, const struct select *select)
{
	return c->join == NULL && c->anonymise.keyfile == NULL && c->to->copier != NULL &&
	       !output_is_made_anew(&c->options, c->to) && (select == NULL || format_omits_records(c->to));
}

struct pipeline_job convert_job(struct convert *c)
{
	const struct writer_ops *const writer = c->to->writer;
	struct pipeline_job job = options_job(&c->options, say_finding, &c->options);

	if (convert_splits(&c->split)) /* a part is a selection, even if no option selects events */
		job.choice.select = &c->options.select.select;
	job.in.paths = c->in;
	job.in.npaths = c->nin;
	job.in.helpers = options_threads(c->threads) - 1;
	job.read.want = WANT_TIMES | WANT_ORDER | format_output_wants(c->to) |
	                (c->verify.wanted || c->verify.implied ? (unsigned)WANT_FIELDS : 0);
	job.read.interpret = INTERPRET_SPANS;
	job.read.ahead = share_threads(c).ahead;
	job.read.copy_of = copies_records(c, job.choice.select) ? c->to : NULL;
	job.adjust.anonymise = c->anonymise.keyfile != NULL ? &c->anonymise.anonymise : NULL;
	job.choice.drops = !format_omits_records(c->to);
	job.choice.keeps = (writer->modes & WRITER_COVERS) != 0;
	job.arrange.order = writer->order;
	job.arrange.memory = c->sort_memory;
	job.arrange.few_fields =
	    (writer->modes & WRITER_FEW_FIELDS) != 0 && !c->verify.wanted && !c->verify.implied;
	job.adjust.max_repeat = c->max_repeat;
	job.arrange.temp_near = convert_output_target(&c->output);
	job.arrange.lanes = !writer->nested ? LANES_NONE : c->no_lanes ? LANES_COUNT : LANES_ASSIGN;
	job.adjust.rebase = c->rebase;
	job.adjust.from_zero = true;
	job.adjust.join = c->join;
	if (job.read.copy_of == NULL)
		job.read.as = c->raw ? READ_FIELDS : READ_MEANING;
	else /* the digest of copied records covers their fields */
		job.read.as =
		    c->verify.wanted && !convert_verify_can_compare_bytes(c, &job) ? READ_FIELDS : READ_COPY;
	if (c->join != NULL && job.arrange.order == ORDER_FILE)
		job.arrange.order = ORDER_TIME;
	job.to.hooks = (struct pipeline_hooks){ opened, settle, closed, options_progress, c };
	return job;
}

bool convert_open(struct convert *c)
{
	const unsigned flags = (c->options.force ? OUTPUT_FORCE : 0U) | (c->verify.wanted ? OUTPUT_SUMS : 0U);
	char why[512] = "";

	if (convert_output_open(&c->output, c->out, shape(c), flags, share_threads(c).pack, why,
	                        sizeof why) &&
	    losses_out_open(&c->losses, &c->options) && side_reports_open(&c->options))
		return true;
	if (why[0] != '\0')
		say("%s", why);
	convert_close(c);
	return false;
}

void convert_close(struct convert *c)
{
	convert_output_discard(&c->output);
	report_out_discard(&c->losses.report);
	side_reports_free(&c->options);
}

enum exit_status convert_run(struct convert *c)
{
	const bool splits = convert_splits(&c->split);

	progress_init(&c->options.progress, &c->options);
	if (!convert_output_is_open(&c->output) && !convert_open(c))
		return STATUS_UNREADABLE;
	const struct pipeline_job job = convert_job(c);
	const bool written = splits ? convert_split_write(c) : write_all(c, &job);
	const enum exit_status status = finish(c, written);
	if (!splits && c->status < STATUS_USAGE) {
		const char *const path = c->nin == 1 ? c->in[0] : c->out;
		const struct run_report run = pipeline_report(c->pipeline);
		c->status = worse(c->status, say_selected(&c->options, path, run.found, run.trace));
		if (worse(status, c->status) == STATUS_CLEAN && run.found == NULL && run.trace->events == 0 &&
		    !run.raw && !c->options.quiet)
			say_of(path, "note: no events; tracetool info shows what the input holds");
		if (run.marked)
			say_crossing(&c->options, path, run.found);
	}
	convert_close(c);
	writing_free(&c->writing);
	convert_verify_free(&c->verify);
	pipeline_close(c->pipeline);
	return worse(status, c->status);
}

static enum exit_status cmd_convert(const struct command *cmd, int argc, char **argv)
{
	struct convert c = { .in = NULL };

	options_init(&c.options, cmd, argc, argv);
	enum exit_status status = STATUS_CLEAN;
	if (!parse(&c))
		status = c.options.status;
	else if (!skips(&c, &status)) {
		status = convert_run(&c);
		say_found(&c.options);
	}
	convert_split_free(&c.split);
	options_free(&c.options);
	return status;
}

const struct command convert_command = {
	.name = "convert",
	.operands = "[options] IN OUT  |  [options] IN ... -o OUT",
	.summary = "Writes traces in another format.  - is standard input or output; OUT.gz and OUT.zst are "
	           "compressed.",
	.options = own,
	.words = convert_words,
	.reads = true,
	.writes = true,
	.selects = true,
	.converts = true,
	.run = cmd_convert,
};
