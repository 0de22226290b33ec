#ifndef CLI_SAY_H
#define CLI_SAY_H

#include "cli/command.h"
#include "cli/options.h"

/* Messages; nothing else writes to stderr. */

/* "tracetool: MESSAGE". */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* "tracetool: PATH: MESSAGE", with the path as show_path() has it.  Returns false. */
bool say_of(const char *path, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Writes the text without "tracetool: ". */
void say_text(const struct text *t);

/* A finding_sink of commands whose output is not findings; ctx is a struct options.  Errors are shown, as
 * data is lost; warnings are counted for say_found(). */
void say_finding(void *ctx, const struct findings *j, const struct finding *f);

/* The same for files that people write: shows warnings, too. */
void say_mistake(void *ctx, const struct findings *j, const struct finding *f);

/* After the report: how many warnings were not shown, and which command lists them; not with --quiet. */
void say_found(const struct options *o);

/* For an input that is read again, whose findings were shown before: shows failures of the system only.
 * Returns whether it was one. */
bool say_failure(struct options *o, const struct findings *j, const struct finding *f);

/* How many events were selected, unless all were, and, also with --quiet, which options no event met.  found:
 * of the trace at `path`, NULL if all of it was wanted: then its events are those of `trace`, if that is not
 * NULL.  STATUS_FINDINGS with --fail-on-empty if there is no event. */
enum exit_status say_selected(const struct options *o, const char *path, const struct select_found *found,
                              const struct trace *trace);

/* Warns of a field that no event has: its name is probably misspelt. */
void say_lacks_field(const char *path, struct slice field);

/* Likewise of a field to be summed: no span has it (found: false), or none of its values is a number. */
void say_lacks_number(const char *path, struct slice field, bool found);

/* Number of spans of a copied selection that the time window did not cut. */
void say_crossing(const struct options *o, const char *path, const struct select_found *found);

/* Losses on the way to an output (or report), one line for each kind; but for one of all that the
 * format lacks by its nature, unless `each`. */
void say_losses(const char *path, const struct ledger *l, bool each);

/* Traces that are parts of one job (trace.parts). */
struct job_parts {
	uint32_t have, of; /* of 0: not known */
};

/* Counts a trace of a job. */
void job_parts_add(struct job_parts *p, const struct trace *trace);

/* Says how many parts are missing, if any. */
void say_parts(const struct job_parts *p);

/* Whether the input has bytes, but no record could be read: it is damaged from the start, or no trace of this
 * format. */
bool is_nothing_read(const struct source *s);

/* Reports that, and the format that the content looks like, if another than `as`; not if path is NULL or can
 * be read only once. */
void say_nothing_read(const char *shown, const char *path, const struct format *as, const char *what);

/* At the end of an input: shows how many findings were not shown, and returns the exit status of the findings
 * (fail level: error). */
enum exit_status say_end(struct options *o, const struct source *s);

/* Paths as messages show them: escaped. */
struct shown_path {
	char s[512];
};

const char *show_path(struct shown_path *p, const char *path);

/* Likewise, as an operand of a proposed command: after "./" if it looks like an option, in single quotes if a
 * shell would split or expand it. */
const char *show_operand(struct shown_path *p, const char *path);

void progress_init(struct progress *p, const struct options *o);
void progress_show(struct progress *p, const struct input *in);
void progress_clear(struct progress *p);

/* pipeline_hooks.progress; ctx is struct options, or a run that begins with it. */
void options_progress(void *options, const struct input *in);

/* "34 % of 812 MB, 210 MB/s, 3 s left": `at` of size bytes (0: not known), `read` of them in `ms`. */
void progress_put(struct text *t, uint64_t at, uint64_t size, uint64_t read, int64_t ms);

#endif
