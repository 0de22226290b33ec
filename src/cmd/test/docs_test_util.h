#ifndef CMD_DOCS_TEST_UTIL_H
#define CMD_DOCS_TEST_UTIL_H

#include <stddef.h>

/*
 * For tests that run the examples of the documentation.  An example is a line
 * "$ COMMAND", followed by what the command writes, to either output; blanks at
 * the ends of lines do not count, and a line "..." stands for any lines.
 */

/* A whole file of the project with a NUL behind; the test fails without it. */
char *doc_text(const char *path);

/* Where examples are run: a new folder with a link to the project's testdata.  place_free() removes it. */
struct place {
	char *dir; /* the current folder of commands */
	char *bin; /* a folder in PATH, with a link tracetool to the program */
};

struct place place_make(const char *tool);
void place_free(struct place *p);

/* Runs all examples of a block of text in order; a test fails for each that writes something else.  doc:
 * named in messages.  Returns how many were run. */
size_t run_examples(const struct place *p, const char *doc, const char *block);

/* The first block of Markdown that begins with ```INFO at or after *at, without its fences; to be freed.  *at
 * moves behind it.  NULL: no more. */
char *markdown_block(const char **at, const char *info);

#endif
