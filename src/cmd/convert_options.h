#ifndef CMD_CONVERT_OPTIONS_H
#define CMD_CONVERT_OPTIONS_H

#include "cmd/options.h"

struct convert;

/* The options of all commands that write traces; the own options of a command count from CONVERT_OWN. */
enum convert_option {
	CONVERT_TO,
	CONVERT_THREADS,
	CONVERT_MEMORY,
	CONVERT_MAX_REPEAT,
	CONVERT_LANES,
	CONVERT_REBASE,
	CONVERT_FAIL_ON_LOSS,
	CONVERT_FAIL_ON_LOSS_OF,
	CONVERT_LOSSES,
	CONVERT_KEEP_PARTIAL,
	CONVERT_OWN
};

/* Their rows, for the table of such a command. */
/* clang-format off */
#define CONVERT_ROWS                                                                                         \
	[CONVERT_TO] = { "to", "FORMAT", "the output's format (default: by the suffix of its name)", 0 },    \
	[CONVERT_THREADS] = { "threads", "N", "work with N threads (default: one a core, 16 at most)", 0 },  \
	[CONVERT_MEMORY] = { "memory", "BYTES",                                                              \
	    "memory for sorting (default: 64 MiB)", 0 },                                                     \
	[CONVERT_MAX_REPEAT] = { "max-repeat", "N",                                                          \
	    "limit repeated texts and lists to N times the input size (default: 32)", 0 },                   \
	[CONVERT_LANES] = { "lanes", "on|off",                                                               \
	    "put spans that overlap without nesting on lanes of their own (default: on)", 0 },               \
	[CONVERT_REBASE] = { "rebase", NULL, "start at time 0: subtract the start time of the trace", 0 },   \
	[CONVERT_FAIL_ON_LOSS] = { "fail-on-loss", NULL, "exit 1 if the output cannot hold everything", 0 }, \
	[CONVERT_FAIL_ON_LOSS_OF] = { "fail-on-loss-of", "KIND,...",                                         \
	    "exit 1 if the output lacks something of these kinds", 0 },                                      \
	[CONVERT_LOSSES] = { "losses", "FILE",                                                               \
	    "write what the output lacks to FILE, as JSON", 0 },                                             \
	[CONVERT_KEEP_PARTIAL] = { "keep-partial", NULL,                                                     \
	    "keep the output although an input could not be read", 0 }
/* clang-format on */

/* Where the words of their arguments come from. */
extern const struct cmd_words convert_words[];

/* Takes one of them.  false after a message and status set. */
bool convert_take_option(struct convert *c, int option, const char *arg);

/* Whether the names on the command line can be those of inputs, output and report, and the format of the
 * output; c->in and c->out are set.  false after a message and status set. */
bool convert_check_names(struct convert *c);

#endif
