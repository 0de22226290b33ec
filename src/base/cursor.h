#ifndef BASE_CURSOR_H
#define BASE_CURSOR_H

#include "base/slice.h"

/*
 * Reads fields from [p, end), and checks every length before it is used.  The first failure sticks and names
 * the missing field; afterwards all reads return zeros and the position stays.  So a reader checks for
 * failure once, at the end of a record.
 */
struct cursor {
	const char *p, *end;
	const char *missing;    /* the name of the first field that does not fit; NULL: none */
	uint64_t missing_bytes; /* number of missing bytes, at least */
	bool big;               /* byte order of multi-byte integers */
};

static inline struct cursor cursor_on(const char *p, const char *end, bool big)
{
	return (struct cursor){ .p = p, .end = end, .big = big };
}

static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->p);
}

/* Whether n more bytes exist; if not, `what` is missing. */
static inline bool cursor_has(struct cursor *c, uint64_t n, const char *what)
{
	if (c->missing == NULL && n <= cursor_left(c))
		return true;
	if (c->missing == NULL) {
		c->missing = what;
		c->missing_bytes = n - cursor_left(c);
	}
	return false;
}

/* Loads from unaligned memory in a given byte order. */
static inline uint16_t load_u16(const char *p, bool big)
{
	uint16_t v;
	memcpy(&v, p, sizeof v);
	return big == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? v : __builtin_bswap16(v);
}

static inline uint32_t load_u32(const char *p, bool big)
{
	uint32_t v;
	memcpy(&v, p, sizeof v);
	return big == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? v : __builtin_bswap32(v);
}

static inline uint64_t load_u64(const char *p, bool big)
{
	uint64_t v;
	memcpy(&v, p, sizeof v);
	return big == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? v : __builtin_bswap64(v);
}

static inline uint8_t cursor_u8(struct cursor *c, const char *what)
{
	return cursor_has(c, 1, what) ? (uint8_t)*c->p++ : 0;
}

static inline uint16_t cursor_u16(struct cursor *c, const char *what)
{
	if (!cursor_has(c, 2, what))
		return 0;
	c->p += 2;
	return load_u16(c->p - 2, c->big);
}

static inline uint32_t cursor_u32(struct cursor *c, const char *what)
{
	if (!cursor_has(c, 4, what))
		return 0;
	c->p += 4;
	return load_u32(c->p - 4, c->big);
}

static inline uint64_t cursor_u64(struct cursor *c, const char *what)
{
	if (!cursor_has(c, 8, what))
		return 0;
	c->p += 8;
	return load_u64(c->p - 8, c->big);
}

/* Returns the next n bytes, not copied; {NULL, 0} if there are fewer. */
static inline struct slice cursor_take(struct cursor *c, uint32_t n, const char *what)
{
	if (!cursor_has(c, n, what))
		return SLICE_NONE;
	c->p += n;
	return slice_of(c->p - n, n);
}

#endif
