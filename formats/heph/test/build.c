/* Builds Heph traces.  Shares nothing with the reader. */
#include <stdlib.h>
#include <string.h>

#include "heph/test/build.h"

void heph_init(struct heph_build *b)
{
	*b = (struct heph_build){ 0 };
}

void heph_free(struct heph_build *b)
{
	free(b->p);
	*b = (struct heph_build){ 0 };
}

void heph_bytes(struct heph_build *b, const void *p, size_t n)
{
	if (n > b->cap - b->n) {
		const size_t cap = 2 * b->cap + n + 4096;
		unsigned char *const grown = cap > n ? realloc(b->p, cap) : NULL;

		if (grown == NULL)
			abort();
		b->p = grown;
		b->cap = cap;
	}
	if (n > 0)
		memcpy(b->p + b->n, p, n);
	b->n += n;
}

static void store_number(unsigned char *to, uint64_t v, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		to[i] = (unsigned char)(v >> 8 * (size - 1 - i) & 0xff);
}

static void add_number(struct heph_build *b, uint64_t v, unsigned size)
{
	unsigned char bytes[8];

	store_number(bytes, v, size);
	heph_bytes(b, bytes, size);
}

void heph_u8(struct heph_build *b, uint8_t v)
{
	add_number(b, v, 1);
}

void heph_u16(struct heph_build *b, uint16_t v)
{
	add_number(b, v, 2);
}

void heph_u32(struct heph_build *b, uint32_t v)
{
	add_number(b, v, 4);
}

void heph_u64(struct heph_build *b, uint64_t v)
{
	add_number(b, v, 8);
}

void heph_f64(struct heph_build *b, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof bits);
	heph_u64(b, bits);
}

static void put_string(struct heph_build *b, const char *s)
{
	heph_u16(b, (uint16_t)strlen(s));
	heph_bytes(b, s, strlen(s));
}

void heph_end(struct heph_build *b)
{
	store_number(b->p + b->packet + 4, b->n - b->packet, 4);
}

static size_t begin_packet(struct heph_build *b, uint32_t magic)
{
	b->packet = b->n;
	heph_u32(b, magic);
	heph_u32(b, 0);
	return b->packet;
}

size_t heph_metadata(struct heph_build *b, const char *option)
{
	const size_t at = begin_packet(b, 0x75D11D4D);

	put_string(b, option);
	heph_end(b);
	return at;
}

size_t heph_event_at(struct heph_build *b, uint32_t stream, uint32_t counter, uint64_t substream,
                     uint64_t start, uint64_t end, const char *description)
{
	const size_t at = begin_packet(b, 0xC1FC1FB7);

	heph_u32(b, stream);
	heph_u32(b, counter);
	heph_u64(b, substream);
	heph_u64(b, start);
	heph_u64(b, end);
	put_string(b, description);
	heph_end(b);
	return at;
}

size_t heph_event(struct heph_build *b, uint32_t stream, uint64_t substream, uint64_t start, uint64_t end,
                  const char *description)
{
	return heph_event_at(b, stream, b->counters[stream]++, substream, start, end, description);
}

size_t heph_epoch(struct heph_build *b, uint64_t ns)
{
	const size_t at = heph_metadata(b, "epoch");

	heph_u64(b, ns);
	heph_end(b);
	return at;
}

size_t heph_plain(struct heph_build *b, uint32_t stream, uint64_t start, uint64_t end)
{
	return heph_event(b, stream, 1, start, end, "plain");
}

size_t heph_attribute(struct heph_build *b, const char *name, uint8_t type)
{
	const size_t at = b->n;

	put_string(b, name);
	heph_u8(b, type);
	return at;
}

void heph_unsigned(struct heph_build *b, const char *name, uint64_t v)
{
	heph_attribute(b, name, 1);
	heph_u64(b, v);
	heph_end(b);
}

void heph_signed(struct heph_build *b, const char *name, int64_t v)
{
	heph_attribute(b, name, 2);
	heph_u64(b, (uint64_t)v);
	heph_end(b);
}

void heph_float(struct heph_build *b, const char *name, double v)
{
	heph_attribute(b, name, 3);
	heph_f64(b, v);
	heph_end(b);
}

void heph_text_value(struct heph_build *b, const char *name, const char *s)
{
	heph_attribute(b, name, 4);
	put_string(b, s);
	heph_end(b);
}

void heph_spec_epoch(struct heph_build *b)
{
	heph_epoch(b, 1610113734118010000u);
}

void heph_spec_event(struct heph_build *b)
{
	heph_event(b, 0, 1, 100, 200, "My event");
	heph_unsigned(b, "Test", 123);
	heph_attribute(b, "Test2", 0x83);
	heph_u16(b, 2);
	heph_f64(b, 123.456);
	heph_f64(b, 789.0);
	heph_end(b);
}
