#ifndef CMD_SELECT_OPTIONS_H
#define CMD_SELECT_OPTIONS_H

#include "cmd/cmd.h"

struct options;

/* The options that say which events a command is to take; ended by a name of NULL. */
extern const struct cmd_option select_option_rows[];

/* What they say.  Texts are those of the command line. */
struct select_options {
	struct select select;
	bool invert;     /* --not, for the option that follows */
	bool fail_on_empty;
	bool clip_asked; /* --edges clip was given, not only meant */
};

/* The option select_option_rows[which].  false after a message and o->status set. */
bool select_options_take(struct select_options *s, struct options *o, int which, const char *arg);

/* After the last option: false after a message and o->status set. */
bool select_options_end(const struct select_options *s, struct options *o);

#endif
