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

/* Reports what of the trace can be read in the output all the same. */
void anonymise_options_say(const struct anonymise_options *a, const char *out, const struct pipeline *p);

#endif
