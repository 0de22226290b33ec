#ifndef CMD_REPORT_OUT_H
#define CMD_REPORT_OUT_H

#include "cmd/options.h"

/* Where a command's report goes: standard output, or the file of -o. */
struct report_out {
	struct output *out;
	const char *path; /* for messages; not escaped */
	bool no_memory;
	bool plain;     /* what is written is a program: it is left as it is */
	unsigned lines; /* enum text_command_flags: what the next text is to be taken for */
};

/* o: where to; NULL: standard output.  false: it cannot be opened; that was said. */
bool report_out_open(struct report_out *r, const struct options *o);

/* The same for a file of this name ("-": standard output). */
bool report_out_open_file(struct report_out *r, const char *path, bool force);

/* The same for a file that a policy names; output_open_below(). */
bool report_out_open_below(struct report_out *r, const char *folder, const char *path, const char *head);

/* Hands over the text, less the commands of CI services (output/text_commands.h), and empties it.  Failures
 * are remembered for report_out_close(). */
void report_out_put(struct report_out *r, struct text *t);

/* Ends the report; STATUS_CLEAN, STATUS_UNREADABLE after saying why, or STATUS_PIPE_CLOSED. */
enum exit_status report_out_close(struct report_out *r);

#endif
