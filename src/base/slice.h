#ifndef BASE_SLICE_H
#define BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/slice_type.h"

#if !defined(__SIZEOF_INT128__) || UINTPTR_MAX < UINT64_MAX
#error "tracetool is for 64-bit machines: sums of times and hashes are 128 bits wide"
#endif

static inline struct slice slice_of(const char *p, size_t n)
{
	return (struct slice){ p, (uint32_t)n, 0 };
}

/* `s` must end in NUL. */
static inline struct slice slice_str(const char *s)
{
	return slice_of(s, strlen(s));
}

static inline bool slice_equal(struct slice a, struct slice b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool slice_is(struct slice a, const char *literal)
{
	return slice_equal(a, slice_str(literal));
}

#endif
