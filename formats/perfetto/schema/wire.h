#ifndef PERFETTO_SCHEMA_WIRE_H
#define PERFETTO_SCHEMA_WIRE_H

#include <stdbool.h>

#include "base/compiler.h"
#include "base/cursor.h"
#include "base/numbers.h"
#include "base/slice.h"
#include "output/text.h"

/*
 * Protocol buffers: fields of messages, decoded (pf_wire_*) and encoded (wire_*).  This is the only place
 * that decodes bytes of the file: each field is checked against the end of its message before it is used.
 */

enum { PF_VARINT = 0, PF_FIXED64 = 1, PF_BYTES = 2, PF_FIXED32 = 5 };

#define PF_MAX_NUMBER ((UINT64_C(1) << 29) - 1) /* of a field */
#define PF_VARINT_MAX 10                        /* bytes */

/* Tag of a field: number and wire type. */
#define PF_TAG(number, wire) ((uint32_t)(number) << 3 | (wire))

struct pf_wire {
	const char *p, *end; /* p: after the last field that was read */
	const char *at;      /* the tag of the last field, also of a bad one */
	const char *bytes;   /* content of the last field if length-delimited; `v` is its length */
	uint64_t v;          /* value of any other type */
	uint32_t tag;
	bool bad; /* no field starts at `at`, or it ends past the message */
};

static inline struct pf_wire pf_wire_on(struct slice s)
{
	return (struct pf_wire){ .p = s.p, .end = s.n > 0 ? s.p + s.n : s.p };
}

/* Joins the low 7 bits of each byte. */
static inline uint64_t pf_varint_join(uint64_t v)
{
	v = (v & UINT64_C(0x007f007f007f007f)) | (v & UINT64_C(0x7f007f007f007f00)) >> 1;
	v = (v & UINT64_C(0x00003fff00003fff)) | (v & UINT64_C(0x3fff00003fff0000)) >> 2;
	return (v & UINT64_C(0x000000000fffffff)) | (v & UINT64_C(0x0fffffff00000000)) >> 4;
}

/* Returns the byte after the varint at p; NULL if it is cut or longer than 10 bytes. */
static inline const char *pf_varint_long(const char *p, const char *end, uint64_t *v)
{
	uint64_t sum = 0;
	unsigned shift = 0;

	if (end - p >= 8) {
		const uint64_t bytes = load_u64(p, false), last = ~bytes & UINT64_C(0x8080808080808080);
		sum = pf_varint_join(bytes & (last ^ (last - 1)));
		if (last != 0) {
			*v = sum;
			return p + low_bit(last) / 8 + 1;
		}
		p += 8;
		shift = 56;
	}
	for (; p < end && shift < 7 * PF_VARINT_MAX; shift += 7) {
		const uint8_t byte = (uint8_t)*p++;
		sum |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*v = sum;
			return p;
		}
	}
	return NULL;
}

static inline const char *pf_varint(const char *p, const char *end, uint64_t *v)
{
	if (p < end && (uint8_t)*p < 0x80) {
		*v = (uint8_t)*p;
		return p + 1;
	}
	if (end - p >= 2 && (uint8_t)p[1] < 0x80) {
		*v = (uint64_t)((uint8_t)p[0] & 0x7f) | (uint64_t)(uint8_t)p[1] << 7;
		return p + 2;
	}
	return pf_varint_long(p, end, v);
}

/* Reads the next field.  Returns false at the end, or sets `bad`. */
INLINE bool pf_wire_next(struct pf_wire *w)
{
	const char *p = w->p, *const end = w->end;
	uint64_t tag;

	w->at = p;
	if (p == end)
		return false;
	p = pf_varint(p, end, &tag);
	if (p == NULL || tag - 8 > (PF_MAX_NUMBER << 3 | 7) - 8) /* 0 is no number of a field */
		goto bad;
	w->tag = (uint32_t)tag;
	if ((tag & 7) == PF_VARINT) {
		p = pf_varint(p, end, &w->v);
		if (p == NULL)
			goto bad;
	} else if ((tag & 7) == PF_BYTES) {
		p = pf_varint(p, end, &w->v);
		if (p == NULL || w->v > (uint64_t)(end - p))
			goto bad;
		w->bytes = p;
		p += w->v;
	} else if ((tag & 7) == PF_FIXED64 && end - p >= 8) {
		w->v = load_u64(p, false);
		p += 8;
	} else if ((tag & 7) == PF_FIXED32 && end - p >= 4) {
		w->v = load_u32(p, false);
		p += 4;
	} else {
		goto bad;
	}
	w->p = p;
	return true;
bad:
	w->bad = true;
	return false;
}

/* The content of the last field, which is length-delimited. */
static inline struct slice pf_wire_slice(const struct pf_wire *w)
{
	return slice_of(w->bytes, w->v);
}

static inline uint32_t pf_wire_number(const struct pf_wire *w)
{
	return w->tag >> 3;
}

/* The last field as a double. */
static inline double pf_wire_double(const struct pf_wire *w)
{
	double d;

	memcpy(&d, &w->v, sizeof d);
	return d;
}

/* Reads up to the next field with this tag.  Returns false at the end, or sets `bad`. */
static inline bool pf_wire_find(struct pf_wire *w, uint32_t tag)
{
	while (pf_wire_next(w))
		if (w->tag == tag)
			return true;
	return false;
}

/* Returns the last field of a message with this tag; all of it is 0 if there is none. */
static inline struct pf_wire pf_wire_last(struct slice s, uint32_t tag)
{
	struct pf_wire w = pf_wire_on(s), last = { .p = NULL };

	while (pf_wire_find(&w, tag))
		last = w;
	return last;
}

/* The number in a field; 0: absent. */
static inline uint64_t pf_number(struct slice s, uint32_t number)
{
	return pf_wire_last(s, PF_TAG(number, PF_VARINT)).v;
}

/* The text or message in a field; p NULL: absent. */
static inline struct slice pf_content(struct slice s, uint32_t number)
{
	const struct pf_wire w = pf_wire_last(s, PF_TAG(number, PF_BYTES));

	return pf_wire_slice(&w);
}

/* ---- encoding ---- */

/* A message is built in a text; its length is inserted when it is closed. */

static inline char *wire_put(char *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (char)(v | 0x80);
	*p++ = (char)v;
	return p;
}

/* As wire_put() without a loop, for mostly large numbers such as times.  Writes 8 bytes or more. */
static inline char *wire_put_large(char *p, uint64_t v)
{
	const unsigned more = high_bit(v | 1) / 7; /* bytes after the first one */

	if (more >= 8)
		return wire_put(p, v);
	v = (v & UINT64_C(0x000000000fffffff)) | (v & UINT64_C(0x00fffffff0000000)) << 4;
	v = (v & UINT64_C(0x00003fff00003fff)) | (v & UINT64_C(0x0fffc0000fffc000)) << 2;
	v = (v & UINT64_C(0x007f007f007f007f)) | (v & UINT64_C(0x3f803f803f803f80)) << 1;
	v |= UINT64_C(0x8080808080808080) & (((uint64_t)1 << 8 * more) - 1);
	(void)store_uint(p, v, 8, false);
	return p + more + 1;
}

static inline unsigned wire_size(uint64_t v)
{
	return (high_bit(v | 1) + 7) / 7;
}

static inline void wire_tagged(struct text *t, uint32_t tag, uint64_t v)
{
	char *p = text_reserve(t, 2 * PF_VARINT_MAX);

	if (p != NULL)
		t->n = (size_t)(wire_put(wire_put(p, tag), v) - t->p);
}

static inline void wire_number(struct text *t, unsigned field, uint64_t v)
{
	wire_tagged(t, PF_TAG(field, PF_VARINT), v);
}

static inline void wire_fixed64(struct text *t, unsigned field, uint64_t v)
{
	char *p = text_reserve(t, PF_VARINT_MAX + 8);

	if (p == NULL)
		return;
	p = wire_put(p, PF_TAG(field, PF_FIXED64));
	store_uint(p, v, 8, false);
	t->n = (size_t)(p - t->p) + 8;
}

static inline void wire_double(struct text *t, unsigned field, double v)
{
	wire_fixed64(t, field, double_bits(v));
}

/* Writes the tag and length of n bytes that the caller appends. */
static inline void wire_head(struct text *t, unsigned field, size_t n)
{
	wire_tagged(t, PF_TAG(field, PF_BYTES), n);
}

static inline void wire_slice(struct text *t, unsigned field, struct slice s)
{
	wire_head(t, field, s.n);
	text_add(t, s.p, s.n);
}

/* Starts a message; returns its position for wire_close(). */
static inline size_t wire_open(struct text *t, unsigned field)
{
	char *p = text_reserve(t, PF_VARINT_MAX + 1);

	if (p == NULL)
		return 0;
	p = wire_put(p, PF_TAG(field, PF_BYTES));
	*p++ = 0;
	t->n = (size_t)(p - t->p);
	return t->n;
}

void wire_close_long(struct text *t, size_t start);

/* Messages below 128 bytes, as most are, are not moved: their length has one byte. */
static inline void wire_close(struct text *t, size_t start)
{
	if (t->failed)
		return;
	if (t->n - start < 0x80)
		t->p[start - 1] = (char)(t->n - start);
	else
		wire_close_long(t, start);
}

#endif
