#ifndef BASE_SLICE_H
#define BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if !defined(__SIZEOF_INT128__) || UINTPTR_MAX < UINT64_MAX
#error "tracetool is for 64-bit machines: sums of times and hashes are 128 bits wide"
#endif

/* Borrowed text: bytes of the input, of an arena or of a literal; not NUL-terminated. */
struct slice {
	const char *p;
	uint32_t n;
	uint32_t flags; /* enum slice_flags; an unset flag: unknown */
};

enum slice_flags {
	SLICE_UTF8 = 1,     /* valid UTF-8 */
	SLICE_JSON = 2,     /* valid UTF-8, and nothing needs an escape in a JSON string */
	SLICE_RAW_JSON = 4, /* the bytes are JSON text of their own (a number, an object, ...) */
	SLICE_STAYS = 8,    /* valid while the trace is read: an equal p is an equal text */
};

/* A literal of printable ASCII without quotes and backslashes. */
#define SLICE_LIT(s) ((struct slice){ (s), sizeof(s) - 1, SLICE_UTF8 | SLICE_JSON })

#define SLICE_NONE ((struct slice){ NULL, 0, 0 }) /* unlike an empty text */

static inline struct slice slice_of(const char *p, size_t n) /* or its first 4 GiB - 1 */
{
	return (struct slice){ p, n < UINT32_MAX ? (uint32_t)n : UINT32_MAX, 0 };
}

/* `s` must end in NUL. */
static inline struct slice slice_str(const char *s)
{
	return slice_of(s, strlen(s));
}

static inline bool slice_equal(struct slice a, struct slice b)
{
	/* most are the same bytes, or differ in the first: a call of memcmp() costs more */
	return a.n == b.n && (a.n == 0 || a.p == b.p || (a.p[0] == b.p[0] && memcmp(a.p, b.p, a.n) == 0));
}

static inline bool slice_is(struct slice a, const char *literal)
{
	return slice_equal(a, slice_str(literal));
}

#endif
