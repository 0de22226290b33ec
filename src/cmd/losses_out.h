#ifndef CMD_LOSSES_OUT_H
#define CMD_LOSSES_OUT_H

#include "cmd/options.h"
#include "cmd/report_out.h"
#include "format/ledger.h"

/* What a command makes of the losses of its output: a status, and a report. */
struct losses_out {
	bool fail;         /* --fail-on-loss */
	const char *kinds; /* ids and globs of ids with commas between them; NULL: all kinds */
	const char *path;  /* --losses; NULL: none */
	struct report_out report;
};

/* --fail-on-loss (kinds NULL: all of them) and --fail-on-loss-of.  All of them include those of a list; of
 * two lists the last counts.  false after a message and o->status set: there is no such kind. */
bool losses_out_fail_on(struct losses_out *l, struct options *o, const char *kinds);

/* Opens the report.  Nothing is written before losses_out_end().  false after a message. */
bool losses_out_open(struct losses_out *l, const struct options *o);

/* One conversion, for the report. */
struct losses_of {
	const char *const *in;
	size_t nin;
	const char *out, *from, *to; /* from: NULL where no input was recognised */
	const struct ledger *ledger;
};

/* Writes the report, if there is one, for a publication; the status that the losses make. */
enum exit_status losses_out_end(struct losses_out *l, const struct losses_of *of, struct publication *p);

#endif
