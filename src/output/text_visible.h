#ifndef OUTPUT_TEXT_VISIBLE_H
#define OUTPUT_TEXT_VISIBLE_H

#include "output/text.h"

/* ---- text visible ---- */

/* Trace text for a terminal: printable UTF-8 as it is, everything else (controls, C1, DEL, invalid bytes,
 * bidirectional marks) as \xNN or \u{NNNN}; backslash doubled; commands
 * of CI services (text_commands.h) as #\x23[.  At most `max` bytes of `s` are shown (cut at a character),
 * then
 * "..."; max 0: all. */
void text_visible(struct text *t, struct slice s, size_t max);

/* The same, but what is too long loses its middle: names are often paths, and their ends tell them apart. */
void text_visible_ends(struct text *t, struct slice s, size_t max);

/* A message that may hold such text already: all of it, with each backslash as it is. */
void text_visible_message(struct text *t, struct slice s);

/* ---- text fit ---- */

/*
 * Text that fits a number of columns.  A character is one column, good enough
 * for scripts without wide or combining ones; escapes of text_visible() are
 * not cut.
 */

size_t text_width(struct slice s);

/* Appends what fits: all of it, or "..." for what is cut off.  Paths and locations, src/main.rs:115:9 and
 * a::b::c, keep their end, other text its end and some of its beginning. */
void text_shorten(struct text *t, struct slice s, size_t width);

/* Bytes of the first line of a text that is broken at blanks; *next: where the second starts. */
size_t text_line(struct slice s, size_t width, size_t *next);

/* Appends a text broken at blanks into lines of `width` columns, of which the first starts in column `column`
 * and the others are indented by `indent`; width 0: as one line.  No newline at the end. */
void text_wrap(struct text *t, struct slice s, size_t column, size_t indent, size_t width);

/* The same for each line of a text. */
void text_wrap_lines(struct text *t, const struct text *lines, size_t indent, size_t width);

/* ---- text commands ---- */

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
