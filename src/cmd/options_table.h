#ifndef CMD_OPTIONS_TABLE_H
#define CMD_OPTIONS_TABLE_H

#include "cmd/options.h"

/* The options of a command, as tables: for parsing, for --help and for completion. */

enum common {
	COMMON_HELP,
	COMMON_FROM,
	COMMON_FROM_DIALECT,
	COMMON_VOCABULARY,
	COMMON_QUIET,
	COMMON_COLOR,
	COMMON_WIDTH,
	COMMON_JSON,
	COMMON_OUTPUT,
	COMMON_FORCE,
	COMMON_REPORT,
	COMMON_COUNT
};

/* What --color takes; NULL-terminated. */
extern const char *const options_color_words[];

extern const struct cmd_option options_common[COMMON_COUNT];

/* Whether a command has such an option. */
bool options_has_common(const struct command *cmd, enum common which);

/* The i-th option that formats bring to a command, over all formats; NULL beyond the last. */
const struct format_option *options_of_formats(const struct command *cmd, size_t i);

/* Where a command has an option of this name itself, which counts more than one of a format; -1: nowhere. */
int options_own(const struct command *cmd, const char *name);

/* Whether several formats bring an option of this name: what it takes depends on the output then. */
bool options_is_shared(const struct command *cmd, const char *name);

/* Calls `visit` for each option of a command in the order of --help; an option that two formats share comes
 * once. words: what its argument may be, if the table of the option says so. */
typedef void options_visitor(void *ctx, const struct cmd_option *option, const char *const *words);
void options_visit(const struct command *cmd, options_visitor *visit, void *ctx);

/* Appends the row of --help about the option whose name are these n bytes; false: the command has none. */
bool options_put_row(struct text *t, const struct command *cmd, const char *name, size_t n);

/* Prints the help of the command. */
enum exit_status options_help(const struct options *o);

#endif
