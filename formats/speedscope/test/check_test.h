#ifndef SPEEDSCOPE_CHECK_TEST_H
#define SPEEDSCOPE_CHECK_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A strict reading of speedscope files, which shares nothing with the writer. */

/* All calls of a frame, in all profiles. */
struct check_sum {
	char *name, *file; /* file: "" if the frame has none */
	uint64_t calls;    /* opens */
	double total;      /* ns from each open to its close */
	uint64_t samples;  /* in which it is the leaf, with their weights */
};

struct check {
	struct check_sum *sums; /* by number of the frame */
	size_t n, profiles, evented, sampled;
	uint64_t depth; /* of the deepest stack of spans */
	bool exact;     /* all times are integers that a double holds */
};

/* Fails the test, which names `what`, unless the text follows the schema and the rules of evented profiles:
 * each close closes the innermost open frame, times do not go back, nothing stays open, startValue and
 * endValue are the first and the last time.  To be freed with check_free(). */
struct check check_speedscope(const char *what, const char *text, size_t n);

/* The frame, or NULL. */
const struct check_sum *check_find(const struct check *c, const char *name, const char *file);

void check_free(struct check *c);

#endif
