#ifndef CMD_OPTIONS_H
#define CMD_OPTIONS_H

#include "cmd/cmd.h"
#include "cmd/select_options.h"

#define OPTIONS_MAX 64 /* long options of one command, those of the formats included */
#define OPTIONS_MAX_SCHEMAS 16

/*
 * The command line of one subcommand.  Common options (help, reading, the
 * formats' own) are dealt with here; options_next() hands out the command's own.
 */
struct options {
	const struct command *cmd;
	int argc;
	char **argv;
	/* reading */
	const struct format *from;
	const char *dialect;
	bool quiet;
	struct schema_file schemas[OPTIONS_MAX_SCHEMAS]; /* read and checked */
	size_t nschemas;
	struct input_files files;         /* of all passes over the inputs */
	struct vocabularies vocabularies; /* kept from one input to the next */
	struct select_options select;     /* of commands that select */
	struct side_reports *side;        /* of --report, of the same commands; NULL: none */
	bool wordless;                    /* findings are told without words of the trace: --anonymise */
	uint64_t warnings;                /* about traces, which were not said: say_found() */
	/* writing */
	const char *output; /* NULL: not named */
	bool force;
	bool color_always, color_never;
	bool width_given;
	unsigned width;                          /* of --width; 0: full */
	struct option_value values[OPTIONS_MAX]; /* of formats' own options */
	size_t nvalues;
	/* result */
	int first_operand;       /* index in argv */
	enum exit_status status; /* when options_next() says OPTIONS_STOP */
};

struct trace_groups; /* run/read/trace_groups.h */

enum { OPTIONS_END = -1, OPTIONS_STOP = -2 };

void options_init(struct options *o, const struct command *cmd, int argc, char **argv);

/* Gives back what was read for --vocabulary. */
void options_free(struct options *o);

/* The index of the command's next own option (*arg is its argument, or NULL), OPTIONS_END after the last one,
 * OPTIONS_STOP when the command is to return o->status at once (--help, a mistake: it was said). */
int options_next(struct options *o, const char **arg);

/* The traces that the operands are; a folder may hold several.  false after a message and o->status set.  In
 * any case end with trace_groups_free. */
bool options_traces(struct options *o, struct trace_groups *traces);

/* One of several words; its index, or -1 after a message and o->status set. */
int options_word(struct options *o, const char *option, const char *arg, const char *const *words);

/* A number that is all of arg; false after a message. */
bool options_number(struct options *o, const char *option, const char *arg, uint64_t *v);

/* The same, of at least 1. */
bool options_positive(struct options *o, const char *option, const char *arg, uint64_t *v);

/* -n, --limit: how many rows or lines; of 0, which means all of them, UINT64_MAX.  false after a message. */
bool options_limit(struct options *o, const char *arg, uint64_t *v);

/* A number of bytes, also with a unit: units_bytes().  false as above. */
bool options_bytes(struct options *o, const char *option, const char *arg, uint64_t *v);

/* Reports that memory ran out before an input was opened, with the last name of the command line; sets
 * o->status. */
void options_no_memory(struct options *o);

/* How many threads to work with if `asked` are asked for; 0: one a core, at most 16. */
unsigned options_threads(uint64_t asked);

/* Whether there is an operand; false after a message and o->status set. */
bool options_name_traces(struct options *o);

/* What the common options say about reading; the command adds its own.  Findings go to `sink`. */
struct pipeline_job options_job(struct options *o, finding_sink *sink, void *ctx);

/* Whether an option of a format may have this argument.  false after a message and o->status set. */
bool options_fits(struct options *o, const struct format_option *p, const char *arg);

/* The list for readers and writers. */
const struct option_value *options_values(const struct options *o);

/* Whether text that goes to this descriptor shall be coloured. */
bool options_color(const struct options *o, int fd);

/* How many columns a text report may take; 0: as many as it likes. */
unsigned options_width(const struct options *o);

/* How many columns help and explanations take: as many, but 100 at most. */
unsigned options_prose_width(const struct options *o);

/* A mistake in the command line: says it and where help is; returns STATUS_USAGE. */
enum exit_status options_mistake(const struct options *o, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
