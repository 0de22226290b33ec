#ifndef CMD_SAY_H
#define CMD_SAY_H

#include "cmd/cmd.h"
#include "cmd/options.h"

/* The only place that writes to stderr. */

/* "tracetool: MESSAGE". */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The text as it is. */
void say_text(const struct text *t);

/* Finding sinks of commands whose findings are talk, not data; ctx is a struct options.  Of traces, errors
 * are said: data is lost.  Warnings say_found() counts. */
void say_finding(void *ctx, const struct findings *j, const struct finding *f);
/* Of files that people write: warnings, too. */
void say_mistake(void *ctx, const struct findings *j, const struct finding *f);

/* After the report: how many warnings were not said, and who lists them; not with --quiet. */
void say_found(const struct options *o);

/* Of an input that is read once more, as its findings were said before: only what the system failed to do is
 * new.  true: it was that, and it was said. */
bool say_failure(struct options *o, const struct findings *j, const struct finding *f);

/* How many events were left out as the options asked; nothing where none were asked for, or with --quiet. */
void say_selected(const struct options *o, const char *path, const struct pipeline *p);

/* What was lost on the way to an output (or report), one line for each kind. */
struct ledger;
void say_losses(const char *path, const struct ledger *l);

/* Whether the input has bytes, but nothing of it could be read: it is damaged from the start on, or is no
 * trace of this format. */
bool is_nothing_read(const struct source *s);

/* Says so, and what the content of the file looks like, if not like `as`; path NULL, or of what can be read
 * only once: no more than that. */
void say_nothing_read(const char *shown, const char *path, const struct format *as, const char *what);

/* After a flow: repeats that were not shown; then what the findings mean for the exit status (fail level:
 * error). */
enum exit_status say_end(struct options *o, const struct source *s);

/* Paths as messages show them: escaped. */
struct shown_path {
	char s[512];
};
const char *show_path(struct shown_path *p, const char *path);

/* How far a long run is; on stderr, when that is a terminal, after the first second. */
struct progress {
	bool wanted, shown;
	int64_t started_ms, last_ms;
};
void progress_init(struct progress *p, const struct options *o);
void progress_show(void *progress, const struct input *in); /* pipeline_hooks.progress */
void progress_clear(struct progress *p);

#endif
