#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include "cli/options.h"
#include "format/writer.h"
#include "output/output.h"

/* ---- output format ---- */

/* The format of an output: that of --to (NULL: not given), or by the suffix of its name.  Returns NULL after
 * a message that lists the formats, with o->status set. */
const struct format *output_format(struct options *o, const char *to, const char *out);

/* The suffix for the name of an output.  Of formats written as a folder the last one: the first may be that
 * of a file in it. */
const char *output_suffix(const struct format *f);

/* The other format whose suffix the output has, if programs for it cannot read this format; else NULL. */
const struct format *output_name_misleads(const struct format *to, const char *out);

/* false: binary data would go to a terminal. */
bool output_suits_terminal(const struct format *to, const char *out);
#define OUTPUT_NEEDS_FILE "%s is not text: name a file, as standard output is a terminal"

/* Whether the output can be written in that format, with --raw or without.  Returns false after a message,
 * with o->status set. */
bool output_format_fits(struct options *o, const struct format *to, const char *out, bool raw);

/* Whether all given options that only outputs of some formats have apply to this format.  Returns false after
 * a message, with o->status set. */
bool output_options_fit(struct options *o, const struct format *to);

/* Whether an option changes how this format is written, so that its records are not copied. */
bool output_is_made_anew(const struct options *o, const struct format *to);

/* ---- convert output ---- */

/* The output of a writer: one file or a folder, see output/output.h.  Zero-initialise to start. */
struct convert_output {
	struct output *file;
	struct output_folder *folder; /* both NULL: not opened, or ended */
};

/* Opens the output.  flags: enum output_flags; threads: number of threads that compress it. */
bool convert_output_open(struct convert_output *o, const char *path, enum writer_shape shape, unsigned flags,
                         unsigned threads, char *why, size_t n);

static inline bool convert_output_is_open(const struct convert_output *o)
{
	return o->file != NULL || o->folder != NULL;
}

/* Appends n bytes to the file, or to that file of the folder; for writing_output.put.  ctx: the struct
 * convert_output. */
bool convert_output_put(void *ctx, const char *file, const char *p, size_t n);

/* Temporary path of the output; NULL if it is written directly. */
static inline const char *convert_output_written(const struct convert_output *o)
{
	return o->folder != NULL ? output_folder_written(o->folder) : output_written(o->file);
}

/* The path next to which temporary files of the run are created; NULL: the output is written directly, and
 * they go to $TMPDIR, as no file can be created beside a device or in /dev/fd. */
static inline const char *convert_output_target(const struct convert_output *o)
{
	return o->folder != NULL ? output_folder_target(o->folder) : output_target(o->file);
}

/* As output_finish(), output_check() and so on, for a file or a folder. */
bool convert_output_finish(struct convert_output *o);
bool convert_output_check(struct convert_output *o);

static inline const struct byte_sum *convert_output_packed(const struct convert_output *o)
{
	return o->folder != NULL ? NULL : output_packed(o->file);
}

const char *convert_output_error(const struct convert_output *o);
bool convert_output_pipe_closed(const struct convert_output *o);
void convert_output_discard(struct convert_output *o);

/* Whether such an output exists: a file, which has its name only if it is complete, or a folder that
 * tracetool wrote, with all its files in their original sizes.  *error: 0, or errno if that could not be
 * determined. */
bool convert_output_exists(const char *path, enum writer_shape shape, int *error);

/* ---- report out ---- */

#define REPORTS_MAX 16 /* number of --report options */

/* Destination of a report: standard output, or a file.  Zero-initialise to start. */
struct report_out {
	struct output *out; /* NULL: not open */
	const char *path;   /* name for messages; not escaped; borrowed */
	bool no_memory;     /* the report is incomplete, so it is not published */
	bool as_is;         /* texts are written unchanged: a program, or a page */
	unsigned lines;     /* enum text_command_flags of the next text */
};

/* Opens the report: standard output, or the file of -o (o NULL: standard output).  Also opens the reports of
 * --report; end them all with report_out_end().  Returns false after a message if one of them cannot be
 * opened. */
bool report_out_open(struct report_out *r, struct options *o);

/* Opens the file of this name ("-": standard output) likewise. */
bool report_out_open_file(struct report_out *r, const char *path, bool force);

/* Opens a file that a policy names, with output_open_below(). */
bool report_out_open_below(struct report_out *r, const char *folder, const char *path, const char *head);

/* Writes the text, and empties it; commands of CI services in it are escaped (output/text_visible.h).
 * Failures are kept for report_out_close(). */
void report_out_put(struct report_out *r, struct text *t);

/* Ends the report.  Returns STATUS_CLEAN, STATUS_UNREADABLE after a message, or STATUS_PIPE_CLOSED. */
enum exit_status report_out_close(struct report_out *r);

/* Ends the report and the reports of --report, as one publication.  keep false: the report is empty, as no
 * input could be read, and the file that it would replace is kept; with r->no_memory this is a failure. */
enum exit_status report_out_end(struct report_out *r, struct options *o, bool keep);

enum report_escapes { REPORT_GUARDED, REPORT_AS_IS };

/* Opens a report (report_out_open()), writes a text, frees the text, and closes the report. */
enum exit_status report_out_text(struct options *o, struct text *t, enum report_escapes escapes);

/* Removes the report; does nothing if it is not open. */
void report_out_discard(struct report_out *r);

/*
 * Outputs of a run that get their names together, or none of them: reports
 * first, then the output.  Zero-initialise to start.
 */

struct publication {
	struct report_out *list[REPORTS_MAX + 2];
	size_t n;
	bool failed;             /* one of them failed (reported) */
	enum exit_status status; /* STATUS_CLEAN, STATUS_UNREADABLE or STATUS_PIPE_CLOSED */
};

/* Adds a report after writing all of it; a report that is not open is ignored. */
void publication_add(struct publication *p, struct report_out *r);

/* Publishes all outputs, or discards all if one failed; a closed pipe is not a failure of the others.  last:
 * the output, finished; NULL: none.  *why, of n bytes: the failure of `last`; other failures are reported.
 * Returns false if nothing was published, with p->status set. */
bool publication_end(struct publication *p, struct convert_output *last, char *why, size_t n);

#endif
