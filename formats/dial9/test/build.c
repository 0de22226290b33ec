#include "dial9/test/build.h"

#include <stdlib.h>
#include <string.h>

void d9b_init(struct d9_build *b)
{
	*b = (struct d9_build){ .n = 0 };
}

void d9b_free(struct d9_build *b)
{
	free(b->p);
	d9b_init(b);
}

void d9b_bytes(struct d9_build *b, const void *p, size_t n)
{
	if (n > b->cap - b->n) {
		b->cap = 2 * (b->cap + n) + 256;
		b->p = realloc(b->p, b->cap);
		if (b->p == NULL)
			abort();
	}
	if (n > 0)
		memcpy(b->p + b->n, p, n);
	b->n += n;
}

static void little(struct d9_build *b, uint64_t v, size_t size)
{
	unsigned char bytes[8];

	for (size_t i = 0; i < size; i++)
		bytes[i] = (unsigned char)(v >> 8 * i);
	d9b_bytes(b, bytes, size);
}

void d9b_u8(struct d9_build *b, uint8_t v)
{
	little(b, v, 1);
}

void d9b_u16(struct d9_build *b, uint16_t v)
{
	little(b, v, 2);
}

void d9b_u32(struct d9_build *b, uint32_t v)
{
	little(b, v, 4);
}

void d9b_u64(struct d9_build *b, uint64_t v)
{
	little(b, v, 8);
}

void d9b_varint(struct d9_build *b, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		d9b_u8(b, (uint8_t)(v & 0x7f) | 0x80);
	d9b_u8(b, (uint8_t)v);
}

void d9b_text16(struct d9_build *b, const char *s)
{
	d9b_u16(b, (uint16_t)strlen(s));
	d9b_bytes(b, s, strlen(s));
}

void d9b_text32(struct d9_build *b, const char *s)
{
	d9b_u32(b, (uint32_t)strlen(s));
	d9b_bytes(b, s, strlen(s));
}

static size_t frame(struct d9_build *b, uint8_t tag)
{
	d9b_u8(b, tag);
	return b->n - 1;
}

size_t d9b_header(struct d9_build *b)
{
	d9b_bytes(b, "TRC\0\1", 5);
	b->base = 0;
	return b->n - 5;
}

size_t d9b_schema(struct d9_build *b, uint16_t id, const char *name, bool timed,
                  const struct d9_field_desc *fields, size_t n)
{
	const size_t at = frame(b, 1);

	d9b_u16(b, id);
	d9b_text16(b, name);
	d9b_u8(b, timed);
	d9b_u16(b, (uint16_t)n);
	for (size_t i = 0; i < n; i++) {
		d9b_text16(b, fields[i].name);
		d9b_u8(b, (uint8_t)fields[i].type);
	}
	return at;
}

size_t d9b_untimed(struct d9_build *b, uint16_t id)
{
	const size_t at = frame(b, 2);

	d9b_u16(b, id);
	return at;
}

size_t d9b_event_delta(struct d9_build *b, uint16_t id, uint32_t delta)
{
	const size_t at = d9b_untimed(b, id);

	little(b, delta, 3);
	b->base += delta;
	return at;
}

static void put_reset(struct d9_build *b, uint64_t ts)
{
	frame(b, 5);
	d9b_u64(b, ts);
	b->base = ts;
}

size_t d9b_event(struct d9_build *b, uint16_t id, uint64_t ts)
{
	if (ts < b->base || ts - b->base > 0xffffff)
		put_reset(b, ts);
	return d9b_event_delta(b, id, (uint32_t)(ts - b->base));
}

size_t d9b_strings(struct d9_build *b, uint32_t count)
{
	const size_t at = frame(b, 3);

	d9b_u32(b, count);
	return at;
}

size_t d9b_string(struct d9_build *b, uint32_t id, const char *s)
{
	const size_t at = d9b_strings(b, 1);

	d9b_u32(b, id);
	d9b_text32(b, s);
	return at;
}

size_t d9b_stack(struct d9_build *b, uint32_t id, const uint64_t *addresses, uint32_t n)
{
	const size_t at = frame(b, 4);

	d9b_u32(b, 1);
	d9b_u32(b, id);
	d9b_u32(b, n);
	for (uint32_t i = 0; i < n; i++)
		d9b_u64(b, addresses[i]);
	return at;
}

size_t d9b_annotations(struct d9_build *b, uint64_t id, uint16_t count)
{
	const size_t at = frame(b, 6);

	d9b_varint(b, id);
	d9b_u16(b, count);
	return at;
}

size_t d9b_annotation(struct d9_build *b, uint64_t id, uint16_t field, const char *key, const char *value)
{
	const size_t at = d9b_annotations(b, id, 1);

	d9b_u16(b, field);
	d9b_text16(b, key);
	d9b_text32(b, value);
	return at;
}
