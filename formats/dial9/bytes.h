#ifndef DIAL9_BYTES_H
#define DIAL9_BYTES_H

#include "dial9/wire.h"
#include "format/format.h"

/*
 * The bytes of a frame, taken from the front.  Mostly they all lie in the
 * window; those of a frame that is too large are fetched piece by piece, and
 * what was taken before is gone then.
 */

struct d9_schema;
struct d9_field;

/* What was missing when bytes could not be taken. */
struct d9_lack {
	const char *what;               /* "frame count" */
	const struct d9_schema *schema; /* of the event, or NULL */
	const struct d9_field *field;   /* or NULL */
	uint64_t bytes;                 /* how many are missing, at least */
	uint64_t length;                /* with has_length: the count or length that does not fit */
	uint64_t left;                  /* and what is left for it */
	bool has_length;
};

struct d9_bytes {
	const char *p, *end;
	struct input *in;
	struct d9_lack *lack;
	bool pieces;
};

/* Gets n more bytes into the window, or notes what is missing. */
bool d9_bytes_fetch(struct d9_bytes *b, size_t n, const char *what);

/* n items of `each` bytes; *p: where they lie, NULL if they were fetched in pieces.  false: they do not fit.
 */
bool d9_bytes_run(struct d9_bytes *b, uint32_t n, uint32_t each, const char *what, const char **p);

/* Whether n things of `each` bytes at least can still come; what comes in pieces is not known. */
bool d9_bytes_fit(struct d9_bytes *b, uint32_t n, uint32_t each, const char *what);

/* n bytes, 64 KiB at most, or NULL. */
static inline const char *
d9_bytes_take(struct d9_bytes *b, size_t n, const char *what)
{
	if (n > (size_t)(b->end - b->p) && !d9_bytes_fetch(b, n, what))
		return NULL;
	b->p += n;
	return b->p - n;
}

static inline bool
d9_bytes_u16(struct d9_bytes *b, uint16_t *v, const char *what)
{
	const char *const p = d9_bytes_take(b, 2, what);

	*v = p != NULL ? load_u16(p, false) : 0;
	return p != NULL;
}

static inline bool
d9_bytes_u32(struct d9_bytes *b, uint32_t *v, const char *what)
{
	const char *const p = d9_bytes_take(b, 4, what);

	*v = p != NULL ? load_u32(p, false) : 0;
	return p != NULL;
}

/* A LEB128 number: how many bytes it took; 0: they are not all there; D9_VARINT_MAX + 1: it has no end within
 * D9_VARINT_MAX. Bits beyond 64 are dropped. */
unsigned d9_bytes_leb128(struct d9_bytes *b, uint64_t *v, const char *what);

static inline uint64_t
d9_bytes_offset(const struct d9_bytes *b)
{
	return input_offset(b->in, b->p);
}

#endif
