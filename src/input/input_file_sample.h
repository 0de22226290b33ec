#ifndef INPUT_INPUT_FILE_SAMPLE_H
#define INPUT_INPUT_FILE_SAMPLE_H

/* For the tests of packed inputs: one file of its own for each test, and reading to the end.  Needs
 * _GNU_SOURCE. */

#include <criterion/criterion.h>

#include "input/open.h"
#include "input/input_samples.h"

static char sample_path[] = "/tmp/input-sample-XXXXXX";

static inline void samples_begin(void)
{
	const int fd = mkstemp(sample_path);

	if (fd < 0)
		abort();
	close(fd);
}

static inline void samples_end(void)
{
	unlink(sample_path);
}

static inline const char *write_file(const struct bytes *b)
{
	FILE *f = fopen(sample_path, "wb");

	if (f == NULL || fwrite(b->p, 1, b->n, f) != b->n || fclose(f) != 0)
		abort();
	return sample_path;
}

/* Reads to the end in windows of odd sizes; what comes must be the start of `text`.  The number of bytes. */
static inline size_t read_all(struct input *in, const struct bytes *text)
{
	size_t at = 0;
	uint64_t seed = 5;

	for (;;) {
		const size_t want = 1 + random_next(&seed) % 70000;
		size_t n;

		(void)input_need(in, want);
		n = (size_t)(in->end - in->p);
		if (n == 0)
			break;
		if (n > want)
			n = want;
		cr_assert_leq(n, text->n - at);
		cr_assert(memcmp(in->p, text->p + at, n) == 0, "other bytes at %zu", at);
		cr_assert_eq(input_offset(in, in->p), at);
		in->p += n;
		at += n;
	}
	cr_assert(in->last);
	cr_assert_not(input_more(in));
	return at;
}

#endif
