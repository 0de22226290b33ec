#ifndef TESTING_ALLOCATED_TEST_H
#define TESTING_ALLOCATED_TEST_H

#include <malloc.h>
#include <stddef.h>

/* Bytes that malloc() has given out, in all threads: what the program asked for is the same on every machine,
 * what the kernel counts as resident is not.  Sanitizers replace malloc(): 0 there. */
static inline size_t allocated_bytes(void)
{
	const struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

#endif
