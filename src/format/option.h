#ifndef FORMAT_OPTION_H
#define FORMAT_OPTION_H

/* Options that a format brings to the command line. */

struct format_option {
	const char *name;         /* long option without dashes */
	const char *arg;          /* name of its argument in the help; NULL: a flag */
	const char *help;         /* one line */
	const char *const *words; /* the arguments that it takes, ended by NULL; NULL: any */
};

struct option_value {
	const char *name;
	const char *value; /* "" for a flag */
	const struct option_value *next;
};

/* The last value given for an option, or NULL. */
const char *option_find(const struct option_value *list, const char *name);

#endif
