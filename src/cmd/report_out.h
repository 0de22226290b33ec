#ifndef CMD_REPORT_OUT_H
#define CMD_REPORT_OUT_H

#include "cmd/options.h"

#define REPORTS_MAX 16 /* of --report */

/* Where a command's report goes: standard output, or the file of -o. */
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

/* Hands over the text, less the commands of CI services (output/text_commands.h), and empties it.  Failures
 * are remembered for report_out_close(). */
void report_out_put(struct report_out *r, struct text *t);

/* Ends the report; STATUS_CLEAN, STATUS_UNREADABLE after saying why, or STATUS_PIPE_CLOSED. */
enum exit_status report_out_close(struct report_out *r);

/* Ends it and the reports of --report, as one publication.  keep: false: it says nothing, as no input could
 * be read, and a file that it was to replace stays. */
enum exit_status report_out_end(struct report_out *r, struct options *o, bool keep);

/* Leaves nothing; not opened is fine. */
void report_out_discard(struct report_out *r);

/*
 * What a run writes, of which all gets its name or nothing does: reports first,
 * then the output.  Zero-initialise to start.
 */
struct convert_output;
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
