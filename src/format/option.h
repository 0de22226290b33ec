#ifndef FORMAT_OPTION_H
#define FORMAT_OPTION_H

#include <stdbool.h>

/* Options of a format on the command line. */

struct format_option {
	const char *name;         /* long option without dashes */
	const char *arg;          /* name of its argument in --help; NULL: a flag */
	const char *help;         /* one line */
	const char *const *words; /* the valid arguments, ended by NULL; NULL: any */
	/* Returns the mistake in an argument, as the end of a sentence ("takes a number"), or NULL.  A NULL
	 * function accepts any. */
	const char *(*mistake)(const char *arg);
	bool of_output; /* affects writing: records are written anew, not copied */
	unsigned most;  /* how often it may be given; 0: often, and the last one counts */
};

struct option_value {
	const char *name;
	const char *value; /* "" for a flag */
	const struct option_value *next;
};

/* The last value of an option, or NULL. */
const char *option_find(const struct option_value *list, const char *name);

/* The index of a name in a list that NULL ends; the length of the list if it is not there. */
unsigned option_word(const char *const *words, const char *name);

#endif
