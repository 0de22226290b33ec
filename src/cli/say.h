#ifndef CLI_SAY_H
#define CLI_SAY_H

#include "base/compiler.h"
#include "cli/command.h"
#include "cli/options.h"

struct join;

/* No other code writes to stderr. */

/* ---- messages ---- */

/* "tracetool: MESSAGE".  Returns false. */
bool say(const char *fmt, ...) PRINTF(1, 2);

/* "tracetool: PATH: MESSAGE", with the path escaped by show_path().  Returns false. */
bool say_of(const char *path, const char *fmt, ...) PRINTF(2, 3);

/* Writes the text without "tracetool: ". */
void say_text(const struct text *t);

/* Paths as messages show them: escaped. */
struct shown_path {
	char s[512];
};

/* Returns p->s. */
const char *show_path(struct shown_path *p, const char *path);

/* Likewise, for an operand of a proposed command: after "./" if it looks like an option, and in single quotes
 * if a shell would split or expand it. */
const char *show_operand(struct shown_path *p, const char *path);

/* ---- findings ---- */

/* Prints a finding as one line. */
void say_line_of(const char *path, const struct finding *f, bool color);

#define SAY_FINDINGS 500 /* of all inputs together: a folder can have thousands of traces with one fault */

/* A finding_sink of commands whose output is not findings; ctx is a struct options.  The first SAY_FINDINGS
 * errors, and all failures of the system, are shown, as data is lost; others, and warnings, are counted for
 * say_found(). */
void say_finding(void *ctx, const struct findings *j, const struct finding *f);

/* Likewise, for files that people write: shows warnings, too. */
void say_mistake(void *ctx, const struct findings *j, const struct finding *f);

/* For an input that is read again, whose findings were shown before: shows only failures of the system.
 * Returns whether it was such a failure. */
bool say_failure(struct options *o, const struct findings *j, const struct finding *f);

/* At the end of an input: states the number of findings that were not shown.  Returns the exit status of the
 * findings (options.policy). */
enum exit_status say_end(struct options *o, const struct source *s);

/* The same for an input whose record and findings were kept. */
enum exit_status say_record(struct options *o, const struct file_record *what, const struct findings *j);

/* After the report: states the number of findings that were not shown, of warnings only without --quiet, and
 * the command that lists them. */
void say_found(const struct options *o);

/* ---- results of a selection ---- */

/* States the number of selected events, unless all are selected, and, even with --quiet, options that no
 * event matched.  found: selection of the trace at `path`; NULL if the whole trace was wanted: then its
 * events are those of `trace`, if that is not NULL.  Returns STATUS_FINDINGS with --fail-on-empty if there is
 * no event. */
enum exit_status say_selected(const struct options *o, const char *path, const struct select_found *found,
                              const struct trace *trace);

/* States the number of spans of a copied selection that cross the time window and were not cut. */
void say_crossing(const struct options *o, const char *path, const struct select_found *found);

/* Warns of a field that nothing has, as if misspelt: `no WHAT "FIELD"`.  what: such as "event has a field".
 */
void say_no_field(const char *path, const char *what, struct slice field);

/* ---- losses, and traces as a whole ---- */

/* Reports losses of an output or report, one line for each kind; unless `each`, one line for all that the
 * format lacks by its nature. */
void say_losses(const char *path, const struct ledger *l, bool each);

/* For a trace without spans: names the command that shows its samples, if there are any; not with --quiet. */
void say_samples(const struct options *o, const char *path, const struct trace *trace);

/* Notes the number of new groups whose names differ only in line and column from groups that are gone.  with:
 * the option that ignores these. */
void say_moved(uint64_t n, const char *with);

/* Warns, unless --quiet, if traces are years apart: `then` ends the message.  Returns whether they are. */
bool say_gap(const struct options *o, const struct join *j, const char *then);

/* Traces that are parts of one job (trace.parts): number of traces so far; number of parts, 0: unknown. */
struct job_parts {
	uint32_t have, of;
};

void job_parts_add(struct job_parts *p, const struct trace *trace);

/* Reports the number of missing parts, if any. */
void say_parts(const struct job_parts *p);

/* Whether the input has bytes but no readable record: it is damaged from the start, or is not a trace of this
 * format. */
bool is_nothing_read(const struct source *s);

/* Reports this as `what`, and the format of the content if it differs from `as`.  shown: the path for the
 * message; path: NULL if its content is not to be read. */
void say_nothing_read(const char *shown, const char *path, const struct format *as, const char *what);

/* ---- progress ---- */

void progress_init(struct progress *p, const struct options *o);
void progress_show(struct progress *p, const struct input *in);
void progress_clear(struct progress *p);

/* pipeline_hooks.progress; ctx is a struct options, or a run that begins with one. */
void options_progress(void *options, const struct input *in);

/* Writes "34 % of 812 MB, 210 MB/s, 3 s left": position `at` of `size` bytes (0: unknown), `read` bytes in
 * `ms`. */
void progress_put(struct text *t, uint64_t at, uint64_t size, uint64_t read, int64_t ms);

#endif
