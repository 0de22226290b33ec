#ifndef PERFETTO_WIRE_TEST_H
#define PERFETTO_WIRE_TEST_H

#include <criterion/criterion.h>

#include "base/slice.h"

/* Fields of a protocol buffer, one after the other. */
struct proto {
	const unsigned char *p, *end;
};

struct proto_field {
	uint32_t number, type; /* 0: varint, 1: 64 bits, 2: bytes */
	uint64_t v;            /* of the first two */
	struct proto bytes;
};

static inline uint64_t proto_varint(struct proto *m)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 70; shift += 7) {
		cr_assert(m->p < m->end, "a varint is cut");
		const unsigned char c = *m->p++;
		v |= (uint64_t)(c & 0x7f) << (shift < 63 ? shift : 63);
		if (c < 0x80)
			return v;
	}
	cr_assert_fail("a varint of more than ten bytes");
	return 0;
}

static inline bool proto_next(struct proto *m, struct proto_field *f)
{
	if (m->p == m->end)
		return false;
	const uint64_t tag = proto_varint(m);
	*f = (struct proto_field){ .number = (uint32_t)(tag >> 3), .type = (uint32_t)(tag & 7) };
	cr_assert(f->number > 0 && f->type <= 2, "tag %llu", (unsigned long long)tag);
	if (f->type == 0) {
		f->v = proto_varint(m);
		return true;
	}
	const uint64_t n = f->type == 1 ? 8 : proto_varint(m);
	cr_assert(n <= (uint64_t)(m->end - m->p), "field %u has %llu bytes, %td are there", f->number,
	          (unsigned long long)n, m->end - m->p);
	f->bytes = (struct proto){ m->p, m->p + n };
	for (unsigned i = 0; f->type == 1 && i < 8; i++)
		f->v |= (uint64_t)m->p[i] << (8 * i);
	m->p += n;
	return true;
}

static inline struct slice proto_text(const struct proto_field *f)
{
	cr_assert_eq(f->type, 2);
	return slice_of((const char *)f->bytes.p, (size_t)(f->bytes.end - f->bytes.p));
}

static inline double proto_double(const struct proto_field *f)
{
	double d;

	cr_assert_eq(f->type, 1);
	memcpy(&d, &f->v, sizeof d);
	return d;
}

#endif
