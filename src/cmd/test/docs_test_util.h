#ifndef CMD_DOCS_TEST_UTIL_H
#define CMD_DOCS_TEST_UTIL_H

#include <stddef.h>

/*
 * For tests that run the examples of the documentation.  An example is a line "$ COMMAND", followed by the
 * output of the command, standard output or error.  Blanks at the ends of lines are ignored, and a line "..."
 * matches any lines.
 */

/* Returns a whole file of the project, NUL-terminated; the test fails without it. */
char *doc_text(const char *path);

/* Where examples are run: a new folder with a link to the project's testdata.  place_free() removes it. */
struct place {
	char *dir; /* the current folder of commands */
	char *bin; /* a folder in PATH, with a link tracetool to the program */
};

struct place place_make(const char *tool);
void place_free(struct place *p);

/* Runs all examples of a block of text in order; a test fails for each example with another output.  doc:
 * name for messages.  Returns the number of examples. */
size_t run_examples(const struct place *p, const char *doc, const char *block);

/* Returns the first block of Markdown that begins with ```INFO at or after *at, without its fences, and
 * moves *at after it.  NULL: there is none.  The caller frees it. */
char *markdown_block(const char **at, const char *info);

#endif
