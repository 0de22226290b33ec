#ifndef SPEEDSCOPE_CHECK_TEST_H
#define SPEEDSCOPE_CHECK_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A strict reader of speedscope files that shares nothing with the writer. */

/* The calls of a frame in all profiles. */
struct check_sum {
	char *name, *file; /* file: "" if the frame has none */
	uint64_t calls;    /* opens */
	double total;      /* ns from each open to its close */
	uint64_t samples;  /* weights of samples whose leaf it is */
};

struct check {
	struct check_sum *sums; /* by number of the frame */
	size_t n, profiles, evented, sampled;
	uint64_t depth; /* of the deepest stack of spans */
	bool exact;     /* all times are integers that a double represents */
};

/* Fails the test, naming `what`, unless the text follows the schema and the rules of evented profiles: a
 * close refers to the innermost open frame, times do not decrease, no frame stays open, and all times are
 * between startValue and endValue.  The caller frees the result. */
struct check check_speedscope(const char *what, const char *text, size_t n);

/* Returns NULL if there is no such frame. */
const struct check_sum *check_find(const struct check *c, const char *name, const char *file);

void check_free(struct check *c);

#endif
