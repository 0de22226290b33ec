#ifndef OUTPUT_TEXT_VISIBLE_H
#define OUTPUT_TEXT_VISIBLE_H

#include "base/compiler.h"
#include "output/text.h"

/* ---- escapes ---- */

/* Trace text for a terminal: printable UTF-8 is unchanged; all else (controls, C1, DEL, invalid bytes,
 * bidirectional marks) becomes \xNN or \u{NNNN}; backslashes are doubled; commands of CI services (see below)
 * become #\x23[.  At most `max` bytes of `s` are shown (cut at a character), then "..."; max 0: all. */
void text_visible(struct text *t, struct slice s, size_t max);

/* Likewise, but a long text loses its middle: names are often paths, which differ at their ends. */
void text_visible_ends(struct text *t, struct slice s, size_t max);

/* Likewise for a message that may contain visible text already: backslashes are not doubled. */
void text_visible_message(struct text *t, struct slice s);

/* Likewise as a cell of comma-separated values, in quotes if necessary. */
void text_csv_cell(struct text *t, struct slice s);

/* The same, after a comma. */
void text_csv_next(struct text *t, struct slice s);

/* Visible text, between U+2068 and U+2069 if letters in it run from right to left: programs that draw them so
 * keep text that follows, such as a number, behind it. */
void text_isolated(struct text *t, struct slice visible);

/* ---- width ---- */

/*
 * Text that fits a number of columns.  East Asian characters and emoji take two columns, combining marks
 * none.  Escapes of text_visible() are not cut.
 */

size_t text_width(struct slice s);

/* Appends a text, shortened with "..." if it is too wide.  Paths and locations (src/main.rs:115:9, a::b::c)
 * keep their end; other text keeps its end and a part of its beginning. */
void text_shorten(struct text *t, struct slice s, size_t width);

/* Likewise, with "..." at the end: for lists whose most important item is first. */
void text_shorten_end(struct text *t, struct slice s, size_t width);

/* Returns the size of the first line of a text that is broken at blanks; *next: start of the second line. */
size_t text_line(struct slice s, size_t width, size_t *next);

/* Appends a text broken at blanks into lines of `width` columns; the first starts in column `column`, the
 * others are indented by `indent`.  width 0: one line.  No newline at the end. */
void text_wrap(struct text *t, struct slice s, size_t column, size_t indent, size_t width);

/* Likewise for each line of a text. */
void text_wrap_lines(struct text *t, const struct text *lines, size_t indent, size_t width);

/* ---- commands of CI services ---- */

/*
 * CI services execute commands in their logs.  Azure Pipelines, TeamCity and GitHub Actions execute
 * "##vso[...]", "##teamcity[...]" and "##[...]" anywhere in a line, GitHub Actions "::command::" after the
 * blanks at the start of one, and Buildkite makes groups of lines that begin with "--- ", "+++ ", "~~~ " or
 * "^^^ ".  (Commands of GitLab and Travis need a control character, which is escaped anyway.)
 */

/* Whether a command that may be anywhere in a line begins at p: "##", then "[" or a letter.  Its second '#'
 * must be escaped. */
bool text_is_command(const char *p, const char *end);

enum text_command_flags {
	TEXT_MID_LINE = 1,     /* the bytes do not start a line: other bytes than blanks are before them */
	TEXT_OWN_COMMANDS = 2, /* commands at the start of a line are intended */
};

/* Whether text_add_guarded() would change the text. */
bool text_has_commands(const char *p, size_t n, unsigned flags);

/* Appends text or JSON without commands: the second '#' becomes \u0023, which is equal in JSON.  At the start
 * of a line (where no JSON string begins) the first character of a command, or the second of "::",
 * becomes \xNN. */
void text_add_guarded(struct text *t, const char *p, size_t n, unsigned flags);

/* Returns TEXT_MID_LINE or 0 for bytes that follow these. */
unsigned text_line_state(const char *p, size_t n, unsigned flags);

/* Escapes Markdown and HTML markup.  s is visible text. */
void text_markdown(struct text *t, struct slice s);

/* Escapes HTML markup.  s is visible text.  A letter keeps three combining marks; more would be drawn over
 * other lines. */
void text_html(struct text *t, struct slice s);

/* ---- times and sizes for people ---- */

/* ns since 1970 as ISO 8601, in UTC, with nine decimals: 2026-05-09T22:08:04.045651917Z */
void text_iso8601(struct text *t, uint64_t ns);

/* Likewise in milliseconds: 2026-05-09 22:08:04.045 UTC */
void text_wall(struct text *t, uint64_t ns);

/* "1 event", "2 events", after `before` */
void text_count(struct text *t, const char *before, uint64_t n, const char *what);

/* A time with a fitting unit and up to four digits: 999 ns, 1.234 us, 56.78 ms, 12345 s. */
void text_time(struct text *t, uint128 ns);

/* Likewise with three digits, as percentiles have a precision of 1 %: a table of times has one precision, and
 * a percentile never seems to exceed the maximum.  999 ns, 1.23 us, 567 ms, 12345 s. */
void text_time_short(struct text *t, uint128 ns);

/* A time after the start, exact, in seconds, so that times in rows compare: +0.241 s, +1.500002 s,
 * +0.000000007 s. */
void text_since(struct text *t, uint64_t ns);

/* Millionths as a percentage, 12.34 %, and as a fraction, 0.123456. */
void text_percent(struct text *t, uint128 millionths);
void text_fraction(struct text *t, uint128 millionths);

/* A number with six digits; integers are complete. */
void text_six_digits(struct text *t, double v);

/* Bytes with three digits, in steps of 1000: 512 B, 1.57 MB. */
void text_bytes_short(struct text *t, uint128 bytes);

/* " (35.8 KiB)"; nothing below 1 KiB. */
void text_kib(struct text *t, uint64_t bytes);

#endif
