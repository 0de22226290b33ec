#ifndef BASE_MATCH_H
#define BASE_MATCH_H

#include <stddef.h>
#include <string.h>

#include "base/slice.h"

/* ---- glob ---- */

/* Whether a pattern matches all of a text: * is any text, ? is any one byte, \ makes the next byte stand for
 * itself.  The time is proportional to the sum of both lengths if at most GLOB_LINEAR bytes are between two *
 * of the pattern. */
#define GLOB_LINEAR 64U

bool glob_fits(struct slice pattern, struct slice text);

/* Whether at most GLOB_LINEAR bytes are between two * of the pattern. */
bool glob_is_linear(struct slice pattern);

/* The number of wildcards * in the pattern: each costs a search. */
uint32_t glob_stars(struct slice pattern);

/* The length of the first pattern of a list.  A comma within brackets, as in "sum(int, int)", or after a
 * backslash does not end it; unclosed brackets are ignored. */
size_t glob_length(const char *list);

/* ---- words ---- */

/* Whether identifiers have the byte: a letter, a digit or _. */
static inline bool is_identifier_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Whether the text is one of the literals, which end with NULL. */
static inline bool slice_is_one_of(struct slice a, const char *const *literals)
{
	while (*literals != NULL && !slice_is(a, *literals))
		literals++;
	return *literals != NULL;
}

/* Whether the name, which is not empty, is in the text. */
bool slice_contains(struct slice text, struct slice name);

/* ---- order ---- */

/* The order of bytes; a text comes before those that begin with it. */
static inline int slice_compare(struct slice a, struct slice b)
{
	const uint32_t n = a.n < b.n ? a.n : b.n;
	const int c = n > 0 ? memcmp(a.p, b.p, n) : 0;

	return c != 0 ? c : (a.n > b.n) - (a.n < b.n);
}

/* The order of lists of n texts. */
static inline int slices_compare(const struct slice *a, const struct slice *b, unsigned n)
{
	int c = 0;

	for (unsigned i = 0; c == 0 && i < n; i++)
		c = slice_compare(a[i], b[i]);
	return c;
}

/* ---- misspelt names ---- */

/* The known name that a typed name probably stands for: the first one with the smallest Damerau-Levenshtein
 * distance, if that is at most a third of its letters (a limit of at least 1 and at most 3).  Names longer
 * than 63 bytes do not match. */
struct nearest {
	const char *typed;
	const char *name; /* NULL: none so far */
	size_t distance;  /* distance of `name` */
};

/* Compares one more known name.  Returns true if it is the nearest so far. */
bool nearest_add(struct nearest *n, const char *known);

/* Returns the path of a position in a source, "src/main.rs:115:9" or "src/main.rs:115"; other texts
 * unchanged. */
struct slice slice_without_line(struct slice s);

#endif
