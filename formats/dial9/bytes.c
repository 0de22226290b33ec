#include "dial9/bytes.h"

static bool
lacks(struct d9_bytes *b, const char *what, uint64_t missing)
{
	*b->lack = (struct d9_lack){ .what = what, .bytes = missing };
	return false;
}

static bool
lacks_length(struct d9_bytes *b, const char *what, uint64_t n, uint64_t missing, uint64_t left)
{
	*b->lack =
	    (struct d9_lack){ .what = what, .bytes = missing, .length = n, .left = left, .has_length = true };
	return false;
}

bool
d9_bytes_fetch(struct d9_bytes *b, size_t n, const char *what)
{
	bool there = false;

	if (b->pieces) {
		b->in->p = b->p;
		there = input_need(b->in, n);
		b->p = b->in->p;
		b->end = b->in->end;
	}
	return there || lacks(b, what, n - (size_t)(b->end - b->p));
}

bool
d9_bytes_fit(struct d9_bytes *b, uint32_t n, uint32_t each, const char *what)
{
	const uint64_t bytes = (uint64_t)n * each, left = (uint64_t)(b->end - b->p);

	return b->pieces || bytes <= left || lacks_length(b, what, n, bytes - left, left);
}

/* Drops so many bytes; n is the length that they come from. */
static bool
drop(struct d9_bytes *b, uint64_t bytes, uint32_t n, const char *what)
{
	struct input *const in = b->in;
	uint64_t left = bytes;
	bool more = true;

	in->p = b->p;
	while (left > 0 && more) {
		const size_t window = (size_t)(in->end - in->p);
		const size_t step = left < window ? (size_t)left : window;
		in->p += step;
		left -= step;
		more = left == 0 || input_more(in);
	}
	b->p = in->p;
	b->end = in->end;
	return more || lacks_length(b, what, n, left, bytes - left);
}

bool
d9_bytes_run(struct d9_bytes *b, uint32_t n, uint32_t each, const char *what, const char **p)
{
	const uint64_t bytes = (uint64_t)n * each;

	*p = b->pieces ? NULL : b->p;
	if (b->pieces)
		return drop(b, bytes, n, what);
	if (!d9_bytes_fit(b, n, each, what))
		return false;
	b->p += bytes;
	return true;
}

unsigned
d9_bytes_leb128(struct d9_bytes *b, uint64_t *v, const char *what)
{
	uint64_t number = 0;
	const char *p;

	for (unsigned i = 0; i < D9_VARINT_MAX && (p = d9_bytes_take(b, 1, what)) != NULL; i++) {
		number |= (uint64_t)(*p & 0x7f) << 7 * i;
		if ((uint8_t)*p < 0x80) {
			*v = number;
			return i + 1;
		}
	}
	return p != NULL ? D9_VARINT_MAX + 1 : 0;
}
