/*
 * recover: the engine (run/write/recover.c) and the format keep all intact records.  This file has the
 * outputs, the list of changes as text and JSON, and the handling of folders, whose other files are copied.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/os.h"
#include "base/table.h"
#include "cli/names.h"
#include "cli/outputs.h"
#include "cli/say.h"
#include "run/write/writing.h"
#include "format/registry.h"
#include "input/open.h"
#include "json/out.h"

#define MAX_LISTED_RULES 64 /* whose changes are counted one by one */

/* The list of changes, in the order of occurrence: text on stderr, and JSON (schemas/recover.schema.json). */
struct recover_list {
	bool json, no_text;    /* JSON is written; no text is written */
	struct report_out out; /* the JSON */
	struct text text;
	const char *input, *output; /* paths as given; borrowed */
	const char *file;           /* file of the folder that has the next changes; NULL: no folder */
	bool any;                   /* a change was written */
	struct {
		const struct rule *rule;
		uint64_t count;
	} shown[MAX_LISTED_RULES]; /* number of changes by rule, written as text */
	/* totals */
	uint64_t records, kept, dropped, gaps, repairs, not_repaired;
	const char *format, *dialect; /* NULL: unknown */
	bool packed_damage;
};

struct recover {
	struct options options;
	const char *in, *out;
	const struct format *misnamed; /* of the suffix of `out`, if its programs cannot read the output */
	const char *report;            /* file of --report; NULL: none */
	bool sort;
	unsigned json; /* index in text|json */
	struct recover_list list;
	struct convert_output output;
	const char *file; /* file of the output folder that is being written; NULL: no folder is written */
	struct tabletext written; /* names of the folder's files so far, in the arena */
	struct arena names;
	bool json_too;           /* no file of the input folder has the suffix of one format: .json is read */
	bool named;              /* a file of the folder has the suffix of a format, or is JSON of one */
	bool found;              /* such a file is not empty */
	enum exit_status status; /* worst status so far */
};

/* ---- changes as text ---- */

/* Counts a change by its rule; rules beyond the table share its last row. */
static uint64_t count_up(struct recover_list *l, const struct rule *rule)
{
	size_t i = 0;

	while (i < MAX_LISTED_RULES - 1 && l->shown[i].rule != NULL && l->shown[i].rule != rule)
		i++;
	l->shown[i].rule = rule;
	return ++l->shown[i].count;
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void say_change(struct recover_list *l, const struct recover_change *c)
{
	struct shown_path shown;
	char space[4 * sizeof shown];
	struct text t = text_start(space, sizeof space);

	if (count_up(l, c->rule) > FINDINGS_SHOWN)
		return;
	text_str(&t, show_path(&shown, l->input));
	if (l->file != NULL)
		text_printf(&t, "/%s", show_path(&shown, l->file));
	text_printf(&t, ":@%" PRIu64 ": ", c->offset);
	if (!c->repaired)
		text_printf(&t, "%" PRIu64 " byte%s dropped", c->length, plural(c->length));
	else if (c->length == 0)
		text_printf(&t, "%" PRIu32 " byte%s inserted", c->inserted, plural(c->inserted));
	else if (c->inserted == 0)
		text_printf(&t, "%" PRIu64 " byte%s removed", c->length, plural(c->length));
	else
		text_printf(&t, "%" PRIu64 " byte%s replaced by %" PRIu32, c->length, plural(c->length),
		            c->inserted);
	text_printf(&t, ": %s [%s]\n", c->why, c->rule->id);
	say_text(&t);
	text_free(&t);
}

static void say_sums(struct recover_list *l, bool quiet)
{
	struct shown_path shown;

	show_path(&shown, l->input);
	for (size_t i = 0; i < MAX_LISTED_RULES && l->shown[i].rule != NULL; i++)
		if (l->shown[i].count > FINDINGS_SHOWN)
			say("%s: %" PRIu64 " more [%s]", shown.s, l->shown[i].count - FINDINGS_SHOWN,
			    l->shown[i].rule->id);
	if (!quiet)
		say("%s: %" PRIu64 " record%s in %" PRIu64 " byte%s kept, %" PRIu64
		    " byte%s dropped in %" PRIu64 " range%s, %" PRIu64 " repair%s",
		    shown.s, l->records, plural(l->records), l->kept, plural(l->kept), l->dropped,
		    plural(l->dropped), l->gaps, plural(l->gaps), l->repairs, plural(l->repairs));
	if (!quiet && l->not_repaired > 0)
		say("%s: %" PRIu64 " error%s of metadata not repaired: the output has the same", shown.s,
		    l->not_repaired, plural(l->not_repaired));
}

/* ---- changes as JSON ---- */

static void put_change(struct recover_list *l, const struct recover_change *c)
{
	struct json_out o = { .t = &l->text, .comma = l->any };

	l->any = true;
	json_out_begin_after(&o, "\n", NULL, "{");
	json_out_string(&o, "file", l->file);
	json_out_string(&o, "change", c->repaired ? "repaired" : "dropped");
	json_out_u64(&o, "offset", c->offset);
	json_out_u64(&o, "length", c->length);
	json_out_u64(&o, "inserted", c->inserted);
	json_out_string(&o, "rule", c->rule->id);
	json_out_string(&o, "why", c->why);
	json_out_end(&o, "}");
	report_out_put(&l->out, o.t);
}

/* Opens the JSON file ("-": standard output) if path is not NULL.  Returns false after a message. */
static bool open_list(struct recover_list *l, const char *path, bool force)
{
	if (path == NULL)
		return true;
	if (!report_out_open_file(&l->out, path, force))
		return false;
	l->json = true;
	struct json_out o = { .t = &l->text };
	json_out_begin(&o, NULL, "{");
	json_out_string(&o, "tool", TOOL_NAME);
	json_out_string(&o, "input", l->input);
	json_out_string(&o, "output", l->output);
	json_out_begin(&o, "changes", "[");
	report_out_put(&l->out, &l->text);
	return true;
}

/* Ends the JSON; the caller publishes or closes it.  written: the output is complete. */
static void end_list(struct recover_list *l, bool written)
{
	struct json_out o = { .t = &l->text };

	if (!l->json)
		return;
	json_out_end(&o, "]");
	json_out_space(&o, "\n");
	json_out_string(&o, "format", l->format);
	json_out_string(&o, "dialect", l->dialect);
	json_out_u64(&o, "records", l->records);
	json_out_u64(&o, "kept_bytes", l->kept);
	json_out_u64(&o, "dropped_bytes", l->dropped);
	json_out_u64(&o, "dropped_ranges", l->gaps);
	json_out_u64(&o, "repairs", l->repairs);
	json_out_u64(&o, "not_repaired", l->not_repaired);
	json_out_bool(&o, "packed_damage", l->packed_damage);
	json_out_bool(&o, "written", written);
	json_out_end(&o, "}\n");
	report_out_put(&l->out, o.t);
	text_free(o.t);
}

/* ---- one input ---- */

static bool put_output(void *ctx, const char *p, size_t n)
{
	struct recover *const c = ctx;

	return convert_output_put(&c->output, c->file, p, n);
}

static void list_change(void *ctx, const struct recover_change *change)
{
	struct recover *const c = ctx;

	progress_clear(&c->options.progress);
	if (!c->list.no_text)
		say_change(&c->list, change);
	if (c->list.json)
		put_change(&c->list, change);
}

/* Returns false after a message. */
static bool open_outputs(struct recover *c, enum writer_shape shape)
{
	char why[512];

	if (!convert_output_open(&c->output, c->out, shape, c->options.force ? OUTPUT_FORCE : 0, 1, why,
	                         sizeof why))
		return say("%s", why);
	return open_list(&c->list, c->json ? "-" : c->report, c->options.force);
}

static bool opened(void *ctx, const struct source *s)
{
	struct recover *const c = ctx;

	if (s->format->recover == NULL)
		return say_of(c->in, "traces in format %s cannot be recovered", s->format->name);
	/* The output has the format of the input, which is known only now. */
	if (!output_suits_terminal(s->format, c->out)) {
		c->status = STATUS_USAGE;
		return say_of(c->in, OUTPUT_NEEDS_FILE, s->format->name);
	}
	const struct format *const other = c->file == NULL ? output_name_misleads(s->format, c->out) : NULL;
	if (other != NULL && (other->writer->modes & WRITER_TEXT) == 0)
		c->misnamed = other;
	else if (other != NULL && !c->options.quiet)
		say_of(c->out,
		       "warning: this is the name of a file in format %s; what is recovered is in format "
		       "%s, "
		       "whose suffix is %s",
		       other->name, s->format->name, s->format->suffixes[0]);
	c->list.format = s->format->name;
	return true;
}

/* Recovers one input, and closes it.  from NULL: the format is found by content.  Returns false if the input
 * cannot be read or the output failed. */
static bool recover_input(struct recover *c, const char *path, const struct format *from, struct input *in)
{
	struct recover_run run = {
		.job = options_job(&c->options, say_finding, &c->options),
		.location = { .path = path, .operand = c->in, .in_folder = c->file != NULL },
		.sort = c->sort,
		.put = put_output,
		.list = list_change,
		.opened = opened,
		.progress = options_progress,
		.ctx = c,
	};

	/* the packed file of a killed process may end before its first block; other files of the folder do
	 * not */
	const bool lost =
	    c->file != NULL && in->p == in->end && (in->fault == INPUT_CUT || in->fault == INPUT_CORRUPT);
	struct recover_list *const l = &c->list;

	run.job.in.from = from;
	l->file = c->file;
	const bool ok = recover_run(&run, in) || lost;
	progress_clear(&c->options.progress);
	l->records += run.recovery.records;
	l->kept += run.recovery.kept;
	l->dropped += run.recovery.dropped;
	l->gaps += run.recovery.gaps;
	l->repairs += run.recovery.repairs;
	l->not_repaired += run.not_repaired;
	l->packed_damage |= run.packed_damage;
	l->dialect = l->format != NULL ? run.dialect : NULL;
	return ok;
}

/* ---- files of a folder ---- */

#define COPY_BYTES 65536

/* Whether a file is part of the trace: not the list of an earlier output, as the new one has its own. */
static bool is_wanted(void *ctx, const char *name)
{
	return strcmp(name, OUTPUT_FOLDER_LIST) != 0;
}

/* Copies a file that is not a trace to the output.  Returns false after a message. */
static bool copy_file(struct recover *c, const char *path)
{
	char *const space = malloc(COPY_BYTES);
	FILE *const f = space != NULL ? fopen(path, "rb") : NULL;
	bool ok = f != NULL && convert_output_put(&c->output, c->file, "", 0);

	for (size_t n; ok && (n = fread(space, 1, COPY_BYTES, f)) > 0;)
		ok = convert_output_put(&c->output, c->file, space, n);
	if (space == NULL || f == NULL || ferror(f)) {
		say_of(path, "%s", space == NULL ? "out of memory" : strerror(errno));
		ok = false;
	}
	if (f != NULL)
		fclose(f);
	free(space);
	return ok;
}

/* The format that the name of a file states; NULL: the file is copied. */
static const struct format *format_of(const struct recover *c, const char *name)
{
	const struct format *const from = c->options.from;

	if (!format_wants_name(from, name))
		return NULL;
	const struct format *const format = from != NULL ? from : format_of_name(name);
	return format != NULL && format->recover != NULL ? format : NULL;
}

/* The format of a file with the suffix .json, by its content; NULL: the file is copied. */
static const struct format *json_format(const struct input *in, bool *no_memory)
{
	const struct format *const f =
	    in->p < in->end ? format_probe(slice_of(in->p, (size_t)(in->end - in->p)), in->last, no_memory)
	                    : NULL;

	return f != NULL && f->reader->common != NULL ? f : NULL;
}

/* Reports a name that an output cannot have, and two files with the same output name: the name of a packed
 * file loses its suffix. */
static bool take_name(struct recover *c, const char *path)
{
	const struct slice name = arena_copy(&c->names, slice_str(c->file));
	const char *const wrong = folder_name_wrong(c->file, strlen(c->file));

	if (wrong != NULL)
		return say_of(path, "its name %s: rename it first", wrong);
	if (name.p == NULL || tabletext_get(&c->written, name) == TABLE_NONE)
		return (name.p != NULL && tabletext_put(&c->written, name, 0)) ||
		       options_no_memory(&c->options);
	return say_of(path,
	              "unpacked, it would have the name of another file: recover one of them by itself");
}

static bool recover_file(struct recover *c, const char *path)
{
	const char *const slash = strrchr(path, '/'), *name = path + strlen(c->in);
	const bool probed = c->json_too && format_wants_common_name(slash + 1);
	const struct format *format = format_of(c, slash + 1);
	bool no_memory = false;

	name += strspn(name, "/");
	char *const file = strdup(name);
	struct input *const in = format != NULL || probed ? input_open(path) : NULL;
	if (probed && in != NULL)
		format = json_format(in, &no_memory);
	if (file == NULL || no_memory || ((format != NULL || probed) && in == NULL)) {
		free(file);
		input_close(in);
		return options_no_memory(&c->options);
	}
	const bool copied = format == NULL || in->fault == INPUT_EMPTY;
	if (!copied && in->packing != INPUT_PLAIN)
		file[format_unpacked_length(file)] = '\0'; /* it is written unpacked */
	c->file = file;
	if (copied)
		input_close(in);
	c->named |= format != NULL;
	c->found |= !copied;
	bool ok = take_name(c, path);
	if (ok)
		ok = copied ? copy_file(c, path) : recover_input(c, path, format, in);
	else if (!copied)
		input_close(in);
	c->file = c->list.file = NULL;
	free(file);
	return ok;
}

static bool say_no_trace(struct recover *c)
{
	struct findings j;

	findings_init(&j, c->in, say_finding, &c->options);
	finding_add(&j, &input_rules[INPUT_RULE_NOT_A_FILE], 0, 0,
	            c->named ? "the directory has no trace: all files with the suffix of a format are empty"
	                     : "the directory has no files with the suffix of a format (tracetool formats "
	                       "lists them)");
	findings_free(&j);
	return false;
}

/* Recovers all traces of the input folder, and copies the other files.  Returns false after a message. */
static bool recover_folder(struct recover *c)
{
	struct input_tree tree = { .n = 0 };
	size_t i = 0;

	input_tree_list(&tree, c->in, is_wanted, NULL);
	bool ok = !tree.no_memory;
	if (!ok)
		options_no_memory(&c->options);
	for (size_t k = 0; ok && k < tree.nproblems; k++) {
		say_of(tree.problems[k].path, "%s", tree.problems[k].text);
		ok = input_fault_is_warning(tree.problems[k].fault);
	}
	c->json_too = c->options.from == NULL;
	for (size_t k = 0; k < tree.n; k++)
		c->json_too &= !format_wants_name(NULL, path_name(tree.paths[k]));
	ok = ok && open_outputs(c, WRITER_FOLDER);
	for (; ok && i < tree.n; i++)
		ok = recover_file(c, tree.paths[i]);
	input_tree_free(&tree);
	tabletext_free(&c->written);
	arena_free(&c->names);
	return ok && (c->found || say_no_trace(c));
}

/* ---- the run ---- */

/* Reports why the output failed; returns the status. */
static enum exit_status say_output_failed(struct recover *c)
{
	const struct convert_output *const out = &c->output;

	if (convert_output_pipe_closed(out))
		return STATUS_PIPE_CLOSED;
	if (convert_output_error(out) != NULL)
		say("%s", convert_output_error(out));
	else
		say_of(c->out, "not written");
	return STATUS_UNREADABLE;
}

/* Publishes the output and its list, or neither; but a list on standard output is complete in either case.
 * whole: all that is intact was written. */
static enum exit_status end_output(struct recover *c, bool whole)
{
	struct publication p = { .n = 0 };
	char why[512];
	const bool written = whole && convert_output_finish(&c->output);

	const enum exit_status status = written ? STATUS_CLEAN : say_output_failed(c);
	if (written || c->json)
		end_list(&c->list, written);
	if (!written && c->json)
		return worse(status, report_out_close(&c->list.out));
	if (!written)
		return status;
	publication_add(&p, &c->list.out);
	if (!publication_end(&p, &c->output, why, sizeof why) && why[0] != '\0')
		say("%s", why);
	return p.status;
}

/* Whether no record is left (reported); an undamaged trace may have no records. */
static bool is_lost(const struct recover *c)
{
	const struct recover_list *const l = &c->list;

	if (l->records > 0 || (l->dropped == 0 && l->repairs == 0 && !l->packed_damage))
		return false;
	say_nothing_read(c->in, input_is_folder(c->in) ? NULL : c->in,
	                 l->format != NULL ? format_by_name(l->format) : NULL, "no record is intact");
	return true;
}

static void recover(struct recover *c)
{
	const bool folder = input_is_folder(c->in);

	c->list.input = c->in;
	c->list.output = c->out;
	c->list.no_text = c->json;
	progress_init(&c->options.progress, &c->options);
	if (!folder && input_is_archive(c->in)) {
		say_of(c->in, "is an archive: unpack it, and recover the directory");
		c->status = STATUS_UNREADABLE;
		return;
	}
	if (folder && strcmp(c->out, "-") == 0) {
		say_of(c->in, "is a directory; standard output cannot hold what is recovered of it");
		c->status = STATUS_USAGE;
		return;
	}
	const bool ok = folder ? recover_folder(c)
	                       : open_outputs(c, WRITER_FILE) &&
	                             recover_input(c, c->in, c->options.from, input_open(c->in));
	if (!convert_output_is_open(&c->output) || (!folder && c->list.format == NULL)) {
		c->status = worse(c->status, STATUS_UNREADABLE);
		if (c->json && c->list.json) {
			end_list(&c->list, false);
			c->status = worse(c->status, report_out_close(&c->list.out));
		}
		return;
	}
	say_sums(&c->list, c->options.quiet || c->json);
	const bool whole = ok && !is_lost(c);
	if (whole && c->misnamed != NULL) {
		say_of(c->out, "this is the name of a file in format %s; what is recovered is in format %s",
		       c->misnamed->name, c->list.format);
		c->status = STATUS_USAGE;
	}
	const enum exit_status status = end_output(c, whole && c->misnamed == NULL);
	if (status == STATUS_CLEAN && (c->list.dropped > 0 || c->list.packed_damage))
		c->status = worse(c->status, STATUS_FINDINGS);
	c->status = status == STATUS_PIPE_CLOSED ? status : worse(c->status, status);
}

/* ---- command line ---- */

static bool check_names(struct recover *c)
{
	struct run_names n;

	run_names_begin(&n, &c->options, &c->in, 1);
	n.all_files = true;
	(input_is_folder(c->in) ? run_names_folder : run_names_written)(&n, "output", c->out);
	run_names_written(&n, "list of changes", c->report);
	return run_names_end(&n);
}

static bool set_report(void *run, struct options *o, const char *arg)
{
	struct recover *const c = run;

	/* There is one form, so its name is optional; another name before "=" is a mistake. */
	const size_t form = strncmp(arg, "json=", 5) == 0 ? 5 : 0;
	if (arg[form] != '\0' && (form > 0 || strchr(arg, '=') == NULL)) {
		c->report = arg + form;
		return true;
	}
	return options_takes(o, "--report", "json=FILE", arg);
}

static const struct cmd_option own[] = {
	{ "sort", NULL, "sort regions whose records are out of order", 0, TO_FLAG(struct recover, sort) },
	{ "format", "text|json", "the list of changes: text on standard error (default), or JSON", 0,
	  TO_CHOICE(struct recover, json) },
	{ "report", "[json=]FILE", "also write the list of changes to FILE", 0, OPTION_CALL,
	  .set = set_report },
	{ "quiet", NULL, "list the changes, but not their totals", 'q',
	  TO_FLAG(struct recover, options.quiet) },
	{ .name = NULL },
};

static bool parse(struct recover *c)
{
	struct options *const o = &c->options;

	if (!options_parse(o, c))
		return false;
	if (o->nin != (o->output != NULL ? 1 : 2))
		return options_mistake(o, "takes one input and one output");
	c->in = o->in[0];
	c->out = o->output != NULL ? o->output : o->in[1];
	if (c->json && c->report != NULL)
		return options_mistake(o, "--format json and --report are the same list; name one");
	if (c->json && strcmp(c->out, "-") == 0)
		return options_mistake(o, "--format json writes to standard output, and so does OUT; "
		                          "use --report json=FILE");
	return check_names(c);
}

static enum exit_status cmd_recover(const struct command *cmd, int argc, char **argv)
{
	struct recover c = { .in = NULL };

	options_init(&c.options, cmd, argc, argv);
	if (parse(&c))
		recover(&c);
	else
		c.status = c.options.status;
	say_found(&c.options);
	convert_output_discard(&c.output);
	report_out_discard(&c.list.out);
	text_free(&c.list.text);
	options_free(&c.options);
	return c.status;
}

const struct command recover_command = {
	.name = "recover",
	.operands = "[options] IN OUT",
	.summary = "Saves the intact records of a damaged trace, and lists what it leaves out.  OUT.gz and "
	           "OUT.zst are compressed.",
	.options = own,
	.reads = true,
	.uninterpreted = true,
	.writes = true,
	.run = cmd_recover,
};
