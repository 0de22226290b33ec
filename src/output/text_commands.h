#ifndef OUTPUT_TEXT_COMMANDS_H
#define OUTPUT_TEXT_COMMANDS_H

#include "output/text.h"

/*
 * CI services read their logs for commands.  Azure Pipelines, TeamCity and GitHub Actions obey "##vso[...]",
 * "##teamcity[...]" and "##[...]" anywhere in a line, GitHub Actions "::command::" behind the blanks at the
 * start of one, and Buildkite makes groups of lines that begin with "--- ", "+++ ", "~~~ " or "^^^ ".  (What
 * GitLab and Travis obey needs a control character, which is escaped anyway.)
 */

/* Whether the bytes at p are the start of such a command that may stand anywhere: "##", then "[" or a letter.
 * The second '#' is what is to be escaped. */
bool text_is_command(const char *p, const char *end);

enum text_command_flags {
	TEXT_MID_LINE = 1,     /* what went before does not end a line, and is not all blank */
	TEXT_OWN_COMMANDS = 2, /* commands at the start of a line are meant */
};

/* Whether text_add_guarded() would change any of it. */
bool text_has_commands(const char *p, size_t n, unsigned flags);

/* Text, reports and JSON alike, in which no command is left: the second '#' becomes \u0023, which JSON reads
 * as the same, and the first of the characters at the start of a line (a place that JSON's strings never
 * have) \xNN; of "::" the second. */
void text_add_guarded(struct text *t, const char *p, size_t n, unsigned flags);

/* TEXT_MID_LINE or 0 for what follows these bytes. */
unsigned text_line_state(const char *p, size_t n, unsigned flags);

#endif
