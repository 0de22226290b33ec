#ifndef CMD_ANONYMISE_OPTIONS_H
#define CMD_ANONYMISE_OPTIONS_H

#include "cmd/options.h"

/* What convert does to words, numbers and times so that a trace can be given away. */
struct anonymise_options {
	const char *keyfile; /* --anonymise; NULL: nothing */
	bool shift_time;
	struct anonymise anonymise;
};

/* After the last option: reads the key.  false after a message and o->status set. */
bool anonymise_options_check(struct anonymise_options *a, struct options *o);

/* What of the trace can be read in the output all the same, for people.  false: no memory. */
struct text;
bool anonymise_options_list(const struct anonymise_options *a, const struct pipeline *p, struct text *t);

#endif
