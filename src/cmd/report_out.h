#ifndef CMD_REPORT_OUT_H
#define CMD_REPORT_OUT_H

#include "cmd/cmd.h"

/* Where a command's report goes: standard output, or the file of -o. */
struct report_out {
	const char *path; /* NULL: standard output */
	bool force;
	struct output *out;
	bool no_memory;
};

/* false: it cannot be opened; that was said. */
bool report_out_open(struct report_out *r);

/* Hands over the text and empties it.  Failures are remembered for report_out_close(). */
void report_out_put(struct report_out *r, struct text *t);

/* Ends the report; STATUS_CLEAN, or STATUS_UNREADABLE after saying why (not for a closed pipe). */
enum exit_status report_out_close(struct report_out *r);

#endif
