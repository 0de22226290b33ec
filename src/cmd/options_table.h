#ifndef CMD_OPTIONS_TABLE_H
#define CMD_OPTIONS_TABLE_H

#include "cmd/options.h"

/* The options of a command, as tables: for parsing, for --help and for completion. */

enum common {
	COMMON_HELP,
	COMMON_FROM,
	COMMON_DIALECT,
	COMMON_SCHEMA,
	COMMON_QUIET,
	COMMON_COLOR,
	COMMON_OUTPUT,
	COMMON_FORCE,
	COMMON_REPORT,
	COMMON_COUNT
};

/* What --color takes; NULL-terminated. */
extern const char *const options_color_words[];

/* The first is for every command, the next for those that read traces, the last three for those of them that
 * take -o; the very last for those that select events. */
extern const struct cmd_option options_common[COMMON_COUNT];

/* How many of them a command has. */
int options_common_count(const struct command *cmd);

/* The i-th option that formats bring to a command, over all formats; NULL beyond the last. */
const struct format_option *options_of_formats(const struct command *cmd, size_t i);

/* Whether a command has an option of this name itself; that counts more than one of a format. */
bool options_has_own(const struct command *cmd, const char *name);

/* Calls `visit` for each option of a command in the order of --help; an option that two formats share comes
 * once. words: what its argument may be, if the table of the option says so. */
typedef void options_visitor(void *ctx, const struct cmd_option *option, const char *const *words);
void options_visit(const struct command *cmd, options_visitor *visit, void *ctx);

/* Prints the help of the command. */
enum exit_status options_help(const struct options *o);

#endif
