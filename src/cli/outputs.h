#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include "cli/options.h"
#include "format/writer.h"
#include "output/output.h"

/* ---- output format ---- */

/* The format of an output: the one named by --to (NULL: not given), or by the suffix of its name.  NULL after
 * a message that says what there is, and o->status set. */
const struct format *output_format(struct options *o, const char *to, const char *out);

/* The other format whose suffix the output has, if its programs cannot read this one; else NULL. */
const struct format *output_name_misleads(const struct format *to, const char *out);

/* Whether this output can be in that format, with --raw or without.  false after a message, and o->status
 * set. */
bool output_format_fits(struct options *o, const struct format *to, const char *out, bool raw);

/* Whether all options that were given, and are for outputs of some formats alone, are for this one.  false
 * after a message, and o->status set. */
bool output_options_fit(struct options *o, const struct format *to);

/* Whether an option says how this format is to be written: then records of it are not copied. */
bool output_is_made_anew(const struct options *o, const struct format *to);

/* ---- convert output ---- */

/* The output of a writer, whatever its shape: one file or a folder.  Zero-initialise to start; see
 * output/output.h. */
struct convert_output {
	struct output *file;
	struct output_folder *folder; /* both NULL: not opened, or over */
};

/* flags: enum output_flags; threads: that compress it. */
bool convert_output_open(struct convert_output *o, const char *path, enum writer_shape shape, unsigned flags,
                         unsigned threads, char *why, size_t n);

static inline bool convert_output_is_open(const struct convert_output *o)
{
	return o->file != NULL || o->folder != NULL;
}

/* As writing_output.put; ctx is the struct convert_output. */
bool convert_output_put(void *ctx, const char *file, const char *p, size_t n);

/* Temporary path of the output; NULL if it is written directly. */
static inline const char *convert_output_written(const struct convert_output *o)
{
	return o->folder != NULL ? output_folder_written(o->folder) : output_written(o->file);
}

bool convert_output_finish(struct convert_output *o);

/* When it is finished, with OUTPUT_SUMS: reads all its bytes.  false, which is a failure of the output: they
 * are not those that were written, or cannot be read. */
bool convert_output_check(struct convert_output *o);

/* As output_packed(). */
static inline const struct byte_sum *convert_output_packed(const struct convert_output *o)
{
	return o->folder != NULL ? NULL : output_packed(o->file);
}

const char *convert_output_error(const struct convert_output *o);
bool convert_output_pipe_closed(const struct convert_output *o);
void convert_output_discard(struct convert_output *o);

/* Whether such an output is there: a file, which got its name when it was complete; or a folder that
 * tracetool wrote, with all its files as large as they were.  *error: 0, or errno if that could not be found
 * out. */
bool convert_output_exists(const char *path, enum writer_shape shape, int *error);

/* ---- report out ---- */

#define REPORTS_MAX 16 /* of --report */

/* Destination of a report: standard output, or the file of -o. */
struct report_out {
	struct output *out;
	const char *path; /* for messages; not escaped */
	bool no_memory;
	bool plain;     /* what is written is a program: it is left as it is */
	unsigned lines; /* enum text_command_flags: what the next text is to be taken for */
};

/* o: where to; NULL: standard output.  The reports of --report are opened, too, to be ended with
 * report_out_end().  false: one of them cannot be opened; that was said. */
bool report_out_open(struct report_out *r, struct options *o);

/* The same for a file of this name ("-": standard output). */
bool report_out_open_file(struct report_out *r, const char *path, bool force);

/* The same for a file that a policy names; output_open_below(). */
bool report_out_open_below(struct report_out *r, const char *folder, const char *path, const char *head);

/* Hands over the text, less the commands of CI services (output/text_visible.h), and empties it.  Failures
 * are remembered for report_out_close(). */
void report_out_put(struct report_out *r, struct text *t);

/* Ends the report; STATUS_CLEAN, STATUS_UNREADABLE after saying why, or STATUS_PIPE_CLOSED. */
enum exit_status report_out_close(struct report_out *r);

/* Ends it and the reports of --report, as one publication.  keep: false: it says nothing, as no input could
 * be read, and a file that it was to replace stays. */
enum exit_status report_out_end(struct report_out *r, struct options *o, bool keep);

/* Opens, writes all of a text, frees it, and closes; o: as of report_out_open().  plain: see report_out. */
enum exit_status report_out_text(struct options *o, struct text *t, bool plain);

/* Leaves nothing; not opened is fine. */
void report_out_discard(struct report_out *r);

/*
 * What a run writes, of which all gets its name or nothing does: reports first,
 * then the output.  Zero-initialise to start.
 */

struct publication {
	struct report_out *list[REPORTS_MAX + 2];
	size_t n;
	bool failed;             /* one of them; which was said */
	enum exit_status status; /* STATUS_CLEAN, STATUS_UNREADABLE or STATUS_PIPE_CLOSED */
};

/* Adds a report, and writes all of it; what is not open is left out. */
void publication_add(struct publication *p, struct report_out *r);

/* Publishes them, or discards all if one failed; a closed pipe is no failure of the others.  last: the
 * output, finished; NULL: none.  *why, of n bytes: what is wrong with that; else it was said.  false: nothing
 * has its name, and p->status says so. */
bool publication_end(struct publication *p, struct convert_output *last, char *why, size_t n);

#endif
