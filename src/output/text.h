#ifndef OUTPUT_TEXT_H
#define OUTPUT_TEXT_H

#include "base/compiler.h"
#include "base/numbers.h"
#include "base/slice.h"

/* A buffer that grows.  Zero-initialise to start.  On OOM `failed` sticks, and further bytes are dropped. */
struct text {
	char *p;
	size_t n, cap;
	bool failed;
	bool borrowed; /* p is the caller's memory */
};

/* An empty text in n bytes of the caller, moved when it outgrows them.  So short messages can report OOM. */
static inline struct text text_start(char *p, size_t n)
{
	return (struct text){ .p = p, .cap = n, .borrowed = true };
}

void text_add(struct text *t, const char *p, size_t n);
void text_str(struct text *t, const char *s); /* NUL-terminated */
void text_slice(struct text *t, struct slice s);
void text_u64(struct text *t, uint64_t v);
void text_i64(struct text *t, int64_t v);
void text_ns_from(struct text *t, uint64_t zero, uint64_t ns); /* ns - zero, with its sign */
void text_u128(struct text *t, uint128 v);
void text_hex(struct text *t, const char *p, size_t n); /* two digits for each byte */
void text_printf(struct text *t, const char *fmt, ...) PRINTF(2, 3);
void text_clear(struct text *t); /* keeps the memory */
void text_free(struct text *t);
bool text_grow(struct text *t, size_t n); /* for text_reserve() */

/* Returns space for at least n bytes; the caller writes there and then adds to t->n.  NULL on OOM. */
static inline char *text_reserve(struct text *t, size_t n)
{
	/* `<`, not `<=`: a NULL pointer must not pass for space of 0 bytes. */
	if (n < t->cap - t->n || text_grow(t, n))
		return t->p + t->n;
	return NULL;
}

static inline void text_char(struct text *t, char c)
{
	char *const p = text_reserve(t, 1);

	if (p != NULL) {
		*p = c;
		t->n++;
	}
}

/* Adds the low `size` bytes of a number, in a given byte order. */
static inline void text_uint(struct text *t, uint64_t v, unsigned size, bool big)
{
	char *const p = text_reserve(t, sizeof v);

	if (p == NULL)
		return;
	/* one instruction, where copying `size` bytes is a loop */
	store_uint(p, big ? v << (64 - 8 * size) : v, sizeof v, big);
	t->n += size;
}

#endif
