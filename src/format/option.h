#ifndef FORMAT_OPTION_H
#define FORMAT_OPTION_H

#include <stdbool.h>

/* Options that a format brings to the command line. */

struct format_option {
	const char *name;         /* long option without dashes */
	const char *arg;          /* name of its argument in the help; NULL: a flag */
	const char *help;         /* one line */
	const char *const *words; /* the arguments that it takes, ended by NULL; NULL: any */
	/* What is wrong with an argument, as the end of a sentence ("takes a number"); NULL: nothing, or (of
	 * the function) it takes any. */
	const char *(*mistake)(const char *arg);
	bool of_output; /* it is about how the format is written: records are made anew then */
};

struct option_value {
	const char *name;
	const char *value; /* "" for a flag */
	const struct option_value *next;
};

/* The last value given for an option, or NULL. */
const char *option_find(const struct option_value *list, const char *name);

#endif
