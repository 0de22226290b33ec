#ifndef TESTING_ALLOCATED_TEST_H
#define TESTING_ALLOCATED_TEST_H

#include <malloc.h>
#include <stddef.h>

/* Returns the bytes that malloc() has allocated, in all threads: the same on every machine, unlike the
 * resident set.  Sanitizers replace malloc(): 0 there. */
static inline size_t allocated_bytes(void)
{
	const struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

#endif
