/*
 * Outputs of commands: the format of an output (by --to, or by its suffix), a file or folder, reports, and
 * their publication, which gives all of them their names together, or none.
 */

#include "cli/outputs.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "cli/reports.h"
#include "cli/say.h"
#include "format/registry.h"
#include "output/text_visible.h"

/* ---- format of an output ---- */

/* The format that the name states in lower case; NULL: none. */
static const struct format *format_in_lower_case(const char *out)
{
	char *const lower = strdup(out);

	for (char *p = lower; p != NULL && *p != '\0'; p++)
		*p = (char)tolower((unsigned char)*p);
	const struct format *const f = lower != NULL ? format_by_suffix(lower) : NULL;
	free(lower);
	return f;
}

/* The suffix, from the last dot of the last part of the path; NULL: none. */
static const char *suffix_of(const char *out)
{
	const char *const base = path_name(out);
	const char *const dot = strrchr(base, '.');

	return dot != NULL && dot > base && dot[1] != '\0' ? dot : NULL;
}

const char *output_suffix(const struct format *f)
{
	const char *const *s = f->suffixes;

	while (f->writer->shape == WRITER_FOLDER && s[1] != NULL)
		s++;
	return *s;
}

static void refuse_suffix(struct options *o, const char *out, const char *suffix)
{
	struct text known = { .p = NULL }; /* suffixes, separated by ", " */
	struct shown_path shown, shown_suffix;

	for (const struct format *const *f = formats; *f != NULL; f++)
		if ((*f)->writer != NULL)
			text_printf(&known, "%s%s", known.n > 0 ? ", " : "", output_suffix(*f));
	show_path(&shown, out);
	if (suffix != NULL)
		options_mistake(o, "%s: unknown suffix %s: use %.*s, or --to (tracetool formats lists them)",
		                shown.s, show_path(&shown_suffix, suffix), (int)known.n, known.p);
	else
		options_mistake(o, "%s: no suffix: use %.*s, or --to (tracetool formats lists them)", shown.s,
		                (int)known.n, known.p);
	text_free(&known);
}

static const struct format *format_of_output(struct options *o, const char *out)
{
	const struct format *const f = format_by_suffix(out);
	const struct format *const lower = f == NULL ? format_in_lower_case(out) : NULL;
	const char *const suffix = suffix_of(out);
	struct shown_path shown;

	if (f != NULL)
		return f;
	show_path(&shown, out);
	if (strcmp(out, "-") == 0)
		options_mistake(o, "standard output has no suffix: choose its format with --to "
		                   "(tracetool formats lists them)");
	else if (lower != NULL)
		options_mistake(o, "the suffix of %s is not in lower case; name it so, or use --to %s",
		                shown.s, lower->name);
	else
		refuse_suffix(o, out, suffix);
	return NULL;
}

const struct format *output_format(struct options *o, const char *to, const char *out)
{
	struct text advice = { .p = NULL }; /* "--to takes one of NAME (SUFFIX ...), ..." */

	if (to == NULL)
		return format_of_output(o, out);
	for (const struct format *const *f = formats; *f != NULL; f++) {
		if ((*f)->writer == NULL)
			continue;
		text_printf(&advice, "%s%s (", advice.n > 0 ? ", " : "--to takes one of ", (*f)->name);
		for (const char *const *k = (*f)->suffixes; *k != NULL; k++)
			text_printf(&advice, "%s%s", k > (*f)->suffixes ? " " : "", *k);
		text_char(&advice, ')');
	}
	text_char(&advice, '\0');
	const struct format *const f =
	    options_format(o, to, false, advice.failed ? "tracetool formats lists them" : advice.p);
	text_free(&advice);
	return f;
}

const struct format *output_name_misleads(const struct format *to, const char *out)
{
	const struct format *const f = format_by_suffix(out);

	const bool fits = f == NULL || f == to ||
	                  (f->writer->shape == to->writer->shape &&
	                   (to->writer->modes & f->writer->modes & WRITER_TEXT) != 0);

	return fits ? NULL : f;
}

bool output_suits_terminal(const struct format *to, const char *out)
{
	return strcmp(out, "-") != 0 || (to->writer->modes & WRITER_TEXT) != 0 || !isatty(STDOUT_FILENO);
}

/* Refuses the suffix of another format.  Returns false after a message. */
static bool name_fits(struct options *o, const struct format *to, const char *out)
{
	const struct format *const other = output_name_misleads(to, out);
	struct shown_path shown;

	show_path(&shown, out);
	return other == NULL ||
	       options_mistake(o, "%s is the name of a %s in format %s, not %s, whose suffix is %s", shown.s,
	                       other->writer->shape == WRITER_FOLDER ? "directory" : "file", other->name,
	                       to->name, output_suffix(to));
}

/* Refuses a file that no program would read.  Returns false after a message. */
static bool file_fits(struct options *o, const struct format *to, const char *out)
{
	struct shown_path shown;

	show_path(&shown, out);
	if (!output_suits_terminal(to, out))
		return options_mistake(o, OUTPUT_NEEDS_FILE, to->name);
	if ((to->writer->modes & WRITER_SEEKS) != 0 && output_packing_of(out) != OUTPUT_PLAIN)
		return options_mistake(o, "%s: no program reads a compressed %s file; leave out %s", shown.s,
		                       to->name, suffix_of(out));
	return name_fits(o, to, out);
}

bool output_format_fits(struct options *o, const struct format *to, const char *out, bool raw)
{
	struct shown_path shown;

	show_path(&shown, out);
	if (raw && (to->writer->modes & WRITER_RAW) == 0 && to->copier == NULL)
		return options_mistake(o, "--raw: %s cannot hold raw records", to->name);
	if (to->writer->shape != WRITER_FOLDER)
		return file_fits(o, to, out);
	if (strcmp(out, "-") == 0)
		return options_mistake(o, "%s is a directory of files; standard output cannot hold it",
		                       to->name);
	if (output_packing_of(out) != OUTPUT_PLAIN)
		return options_mistake(o, "%s: %s is a directory of files, which cannot be compressed",
		                       shown.s, to->name);
	return name_fits(o, to, out);
}

/* The option of this name that an output of the format has; NULL: none. */
static const struct format_option *option_of(const struct format *f, const char *name)
{
	for (const struct format_option *p = f->options; p != NULL && p->name != NULL; p++)
		if (strcmp(p->name, name) == 0 && (f->reader == NULL || p->of_output))
			return p;
	return NULL;
}

bool output_options_fit(struct options *o, const struct format *to)
{
	for (const struct option_value *v = options_values(o); v != NULL; v = v->next) {
		const struct format_option *const p = option_of(to, v->name);
		struct text with = { .p = NULL }; /* formats that have the option, with commas between them */
		if (p != NULL && !options_fits(o, p, v->value))
			return false;
		for (const struct format *const *f = formats; *f != NULL; f++)
			if (option_of(*f, v->name) != NULL)
				text_printf(&with, "%s%s", with.n > 0 ? ", " : "", (*f)->name);
		text_char(&with, '\0');
		if (p == NULL && with.n > 1)
			options_mistake(o, "--%s is for outputs in format %s, not %s", v->name,
			                with.failed ? "of another name" : with.p, to->name);
		text_free(&with);
		if (o->status != STATUS_CLEAN)
			return false;
	}
	return true;
}

bool output_is_made_anew(const struct options *o, const struct format *to)
{
	for (const struct format_option *p = to->options; p != NULL && p->name != NULL; p++)
		if (p->of_output && option_find(options_values(o), p->name) != NULL)
			return true;
	return false;
}

/* ---- file or folder ---- */

bool convert_output_open(struct convert_output *o, const char *path, enum writer_shape shape, unsigned flags,
                         unsigned threads, char *why, size_t n)
{
	*o = (struct convert_output){ .file = NULL };
	if (shape == WRITER_FOLDER)
		o->folder = output_folder_open(path, flags, why, n);
	else
		o->file = output_open(path, flags, threads, why, n);
	return convert_output_is_open(o);
}

bool convert_output_put(void *ctx, const char *file, const char *p, size_t n)
{
	struct convert_output *const o = ctx;

	if (o->folder == NULL)
		return output_write(o->file, p, n);
	return (file == NULL && n == 0) || output_folder_put(o->folder, file != NULL ? file : "", p, n);
}

bool convert_output_finish(struct convert_output *o)
{
	return o->folder != NULL ? output_folder_finish(o->folder) : output_finish(o->file);
}

bool convert_output_check(struct convert_output *o)
{
	return o->folder != NULL ? output_folder_check(o->folder) : output_check(o->file);
}

const char *convert_output_error(const struct convert_output *o)
{
	return o->folder != NULL ? output_folder_error(o->folder) : output_error(o->file);
}

bool convert_output_pipe_closed(const struct convert_output *o)
{
	return o->file != NULL && output_pipe_closed(o->file);
}

static bool convert_output_commit(struct convert_output *o, char *why, size_t n)
{
	const struct convert_output was = *o;

	*o = (struct convert_output){ .file = NULL };
	return was.folder != NULL ? output_folder_commit(was.folder, why, n)
	                          : output_commit(was.file, why, n);
}

void convert_output_discard(struct convert_output *o)
{
	output_folder_discard(o->folder);
	output_discard(o->file);
	*o = (struct convert_output){ .file = NULL };
}

bool convert_output_exists(const char *path, enum writer_shape shape, int *error)
{
	struct stat st;

	*error = 0;
	if (strcmp(path, "-") == 0)
		return false;
	if (stat(path, &st) != 0) {
		*error = errno == ENOENT || errno == ENOTDIR ? 0 : errno;
		return false;
	}
	return shape == WRITER_FOLDER ? S_ISDIR(st.st_mode) && folder_is_complete(path, error)
	                              : S_ISREG(st.st_mode);
}

/* ---- reports ---- */

bool report_out_open_file(struct report_out *r, const char *path, bool force)
{
	char why[512];

	*r = (struct report_out){ .path = strcmp(path, "-") == 0 ? "standard output" : path };
	r->out = output_open(path, force ? OUTPUT_FORCE : 0, 1, why, sizeof why);
	return r->out != NULL || say("%s", why);
}

bool report_out_open_below(struct report_out *r, const char *folder, const char *path, const char *head)
{
	char why[512];

	*r = (struct report_out){ .path = path };
	r->out = output_open_below(folder, path, head, why, sizeof why);
	return r->out != NULL || say("%s", why);
}

bool report_out_open(struct report_out *r, struct options *o)
{
	const bool file = o != NULL && o->output != NULL;

	if (!report_out_open_file(r, file ? o->output : "-", file && o->force))
		return false;
	if (o == NULL || side_reports_open(o))
		return true;
	report_out_discard(r);
	return false;
}

void report_out_put(struct report_out *r, struct text *t)
{
	if (t->failed) { /* the text is incomplete, so none of the report is shown */
		r->no_memory = true;
		return;
	}
	if (r->as_is || !text_has_commands(t->p, t->n, r->lines)) {
		if (t->n > 0)
			output_write(r->out, t->p, t->n);
	} else {
		struct text safe = { .p = NULL };
		text_add_guarded(&safe, t->p, t->n, r->lines);
		r->no_memory |= safe.failed;
		output_write(r->out, safe.p, safe.n);
		text_free(&safe);
	}
	r->lines = (r->lines & TEXT_OWN_COMMANDS) | text_line_state(t->p, t->n, r->lines);
	text_clear(t);
}

enum exit_status report_out_text(struct options *o, struct text *t, enum report_escapes escapes)
{
	struct report_out out = { .out = NULL };
	enum exit_status status = STATUS_UNREADABLE;

	if (report_out_open(&out, o)) {
		out.as_is = escapes == REPORT_AS_IS;
		report_out_put(&out, t);
		status = report_out_close(&out);
	}
	text_free(t);
	return status;
}

void report_out_discard(struct report_out *r)
{
	output_discard(r->out);
	r->out = NULL;
}

/* Reports the failure, and removes the report. */
static enum exit_status give_up(struct report_out *r)
{
	const bool pipe_closed = !r->no_memory && output_pipe_closed(r->out);

	if (r->no_memory)
		say_of(r->path, "memory ran out while the report was made");
	else if (!pipe_closed)
		say("%s", output_error(r->out));
	report_out_discard(r);
	return pipe_closed ? STATUS_PIPE_CLOSED : STATUS_UNREADABLE;
}

enum exit_status report_out_close(struct report_out *r)
{
	struct publication p = { .n = 0 };

	publication_add(&p, r);
	(void)publication_end(&p, NULL, NULL, 0);
	return p.status;
}

enum exit_status report_out_end(struct report_out *r, struct options *o, bool keep)
{
	const bool file = o->output != NULL && output_fd_of(o->output) < 0;
	struct publication p = { .n = 0 };

	const enum exit_status status = side_reports_end(o, &p);
	if (keep || !file || r->no_memory)
		publication_add(&p, r);
	else
		report_out_discard(r);
	(void)publication_end(&p, NULL, NULL, 0);
	side_reports_free(o);
	return worse(status, p.status);
}

/* ---- publication ---- */

void publication_add(struct publication *p, struct report_out *r)
{
	if (r->out == NULL)
		return;
	if (!r->no_memory && output_finish(r->out) && p->n < COUNT_OF(p->list)) {
		p->list[p->n++] = r;
		return;
	}
	const enum exit_status status = give_up(r);
	p->status = worse(p->status, status);
	p->failed |= status == STATUS_UNREADABLE;
}

/* Gives all outputs their names, or none.  Returns false after a message, or with *why set. */
static bool publish(struct publication *p, struct convert_output *last, char *why, size_t n)
{
	size_t done = 0;

	while (done < p->n && output_publish(p->list[done]->out))
		done++;
	if (done < p->n)
		say("%s", output_error(p->list[done]->out));
	else if (last == NULL || convert_output_commit(last, why, n))
		return true;
	while (done > 0)
		output_take_back(p->list[--done]->out);
	return false;
}

bool publication_end(struct publication *p, struct convert_output *last, char *why, size_t n)
{
	struct output_register_hold hold;

	if (n > 0)
		why[0] = '\0';
	if (!p->failed) {
		/* no signal may end the process between two names */
		p->failed = !output_register_begin(&hold) || !publish(p, last, why, n);
		output_register_end(&hold);
	}
	if (p->failed) {
		p->status = worse(p->status, STATUS_UNREADABLE);
		if (last != NULL)
			convert_output_discard(last);
	}
	for (size_t i = 0; i < p->n; i++)
		report_out_discard(p->list[i]);
	return !p->failed;
}
