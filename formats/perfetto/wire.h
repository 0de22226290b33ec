#ifndef PERFETTO_WIRE_H
#define PERFETTO_WIRE_H

#include "format/format.h"

/* Protocol buffers as bytes.  A message is built in a text; its length is known when it is closed. */

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

#define WIRE_VARINT_MAX 10
#define WIRE_TAG(field, type) ((uint64_t)(field) << 3 | (uint64_t)(type))

static inline char *
wire_put(char *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (char)(v | 0x80);
	*p++ = (char)v;
	return p;
}

static inline unsigned
wire_size(uint64_t v)
{
	return (70 - (unsigned)__builtin_clzll(v | 1)) / 7;
}

static inline void
wire_number(struct text *t, unsigned field, uint64_t v)
{
	char *p = text_room(t, 2 * WIRE_VARINT_MAX);

	if (p == NULL)
		return;
	p = wire_put(p, WIRE_TAG(field, WIRE_VARINT));
	t->n = (size_t)(wire_put(p, v) - t->p);
}

static inline void
wire_double(struct text *t, unsigned field, double v)
{
	char *p = text_room(t, WIRE_VARINT_MAX + 8);
	uint64_t bits;

	if (p == NULL)
		return;
	memcpy(&bits, &v, sizeof bits);
	p = wire_put(p, WIRE_TAG(field, WIRE_FIXED64));
	for (unsigned shift = 0; shift < 64; shift += 8)
		*p++ = (char)(bits >> shift);
	t->n = (size_t)(p - t->p);
}

/* The tag and length of n bytes that the caller adds. */
static inline void
wire_head(struct text *t, unsigned field, size_t n)
{
	char *p = text_room(t, 2 * WIRE_VARINT_MAX);

	if (p == NULL)
		return;
	p = wire_put(p, WIRE_TAG(field, WIRE_BYTES));
	t->n = (size_t)(wire_put(p, n) - t->p);
}

static inline void
wire_slice(struct text *t, unsigned field, struct slice s)
{
	wire_head(t, field, s.n);
	text_add(t, s.p, s.n);
}

/* Begins a message; returns what wire_close() needs. */
static inline size_t
wire_open(struct text *t, unsigned field)
{
	char *p = text_room(t, WIRE_VARINT_MAX + 1);

	if (p == NULL)
		return 0;
	p = wire_put(p, WIRE_TAG(field, WIRE_BYTES));
	*p++ = 0;
	t->n = (size_t)(p - t->p);
	return t->n;
}

void wire_close_long(struct text *t, size_t start);

/* Most messages are shorter than 128 bytes: those stay where they are. */
static inline void
wire_close(struct text *t, size_t start)
{
	if (t->failed)
		return;
	if (t->n - start < 0x80)
		t->p[start - 1] = (char)(t->n - start);
	else
		wire_close_long(t, start);
}

#endif
