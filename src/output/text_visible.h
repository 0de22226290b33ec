#ifndef OUTPUT_TEXT_VISIBLE_H
#define OUTPUT_TEXT_VISIBLE_H

#include "output/text.h"

/* ---- escapes ---- */

/* Trace text for a terminal: printable UTF-8 as it is, everything else (controls, C1, DEL, invalid bytes,
 * bidirectional marks) as \xNN or \u{NNNN}; backslashes doubled; commands of CI services (see below) as
 * #\x23[. At most `max` bytes of `s` are shown (cut at a character), then "..."; max 0: all. */
void text_visible(struct text *t, struct slice s, size_t max);

/* Likewise, but a long text loses its middle: names are often paths, which differ at their ends. */
void text_visible_ends(struct text *t, struct slice s, size_t max);

/* A message that may contain such text already: backslashes are not doubled. */
void text_visible_message(struct text *t, struct slice s);

/* The same as a cell of comma-separated values, in quotes where it needs them. */
void text_csv_cell(struct text *t, struct slice s);

/* ---- width ---- */

/*
 * Text that fits a number of columns.  A character counts as one column, which
 * is wrong for wide and combining ones; escapes of text_visible() are not cut.
 */

size_t text_width(struct slice s);

/* Appends a text, shortened with "..." if it is too wide.  Paths and locations, src/main.rs:115:9 and
 * a::b::c, keep their end, other text its end and some of its beginning. */
void text_shorten(struct text *t, struct slice s, size_t width);

/* Returns the bytes of the first line of a text that is broken at blanks; *next: start of the second. */
size_t text_line(struct slice s, size_t width, size_t *next);

/* Appends a text broken at blanks into lines of `width` columns; the first starts in column `column`, the
 * others are indented by `indent`.  width 0: one line.  No newline at the end. */
void text_wrap(struct text *t, struct slice s, size_t column, size_t indent, size_t width);

/* Likewise for each line of a text. */
void text_wrap_lines(struct text *t, const struct text *lines, size_t indent, size_t width);

/* ---- commands of CI services ---- */

/*
 * CI services obey commands in their logs.  Azure Pipelines, TeamCity and GitHub Actions obey "##vso[...]",
 * "##teamcity[...]" and "##[...]" anywhere in a line, GitHub Actions "::command::" after the blanks at the
 * start of one, and Buildkite makes groups of lines that begin with "--- ", "+++ ", "~~~ " or "^^^ ".
 * (Commands of GitLab and Travis need a control character, which is escaped anyway.)
 */

/* Whether a command that is obeyed anywhere begins at p: "##", then "[" or a letter.  Its second '#' must be
 * escaped. */
bool text_is_command(const char *p, const char *end);

enum text_command_flags {
	TEXT_MID_LINE = 1, /* the bytes are not at the start of a line: others than blanks are before them */
	TEXT_OWN_COMMANDS = 2, /* commands at the start of a line are intended */
};

/* Whether text_add_guarded() would change any of it. */
bool text_has_commands(const char *p, size_t n, unsigned flags);

/* Appends text or JSON without commands: the second '#' becomes \u0023, which is the same in JSON; the first
 * of the characters at the start of a line (strings in JSON never start one) becomes \xNN; of "::" the
 * second. */
void text_add_guarded(struct text *t, const char *p, size_t n, unsigned flags);

/* Returns TEXT_MID_LINE or 0 for the bytes after these. */
unsigned text_line_state(const char *p, size_t n, unsigned flags);

/* Escapes Markdown and HTML markup.  s is visible text. */
void text_markdown(struct text *t, struct slice s);

/* Escapes HTML markup.  s is visible text, of which a letter keeps three combining marks: more of them would
 * be drawn over other lines. */
void text_html(struct text *t, struct slice s);

#endif
