#include "parquet/hybrid.h"

#include "parquet/thrift.h"

#define GROUP 8U /* numbers that are packed together */

/* How many numbers from the i-th on are the same. */
static uint32_t
run_length(const uint16_t *v, uint32_t i, uint32_t n)
{
	uint32_t end = i + 1;

	while (end < n && v[end] == v[i])
		end++;
	return end - i;
}

/* Whether eight from the i-th on are the same. */
static bool
run_begins(const uint16_t *v, uint32_t i, uint32_t n)
{
	if (n - i < GROUP)
		return false;
	for (uint32_t k = 1; k < GROUP; k++)
		if (v[i + k] != v[i])
			return false;
	return true;
}

void
hybrid_pack(struct text *to, const uint16_t *v, uint32_t n, unsigned width)
{
	char *p = text_room(to, ((size_t)n * width + 7) / 8);
	uint64_t bits = 0;
	unsigned have = 0;

	if (p == NULL)
		return;
	for (uint32_t i = 0; i < n; i++) {
		bits |= (uint64_t)v[i] << have;
		for (have += width; have >= 8; have -= 8, bits >>= 8)
			*p++ = (char)bits;
	}
	if (have > 0)
		*p++ = (char)bits;
	to->n = (size_t)(p - to->p);
}

static void
put_run(struct text *to, uint32_t n, uint16_t value, unsigned width)
{
	thrift_varint(to, (uint64_t)n << 1);
	text_char(to, (char)value);
	if (width > 8)
		text_char(to, (char)(value >> 8));
}

/* Whole groups, but at the end of all: the last one is filled with zeros. */
static void
put_packed(struct text *to, const uint16_t *v, uint32_t n, unsigned width)
{
	const uint32_t groups = (n + GROUP - 1) / GROUP;
	const uint32_t whole = n / GROUP * GROUP;
	uint16_t last[GROUP] = { 0 };

	thrift_varint(to, (uint64_t)groups << 1 | 1);
	hybrid_pack(to, v, whole, width);
	if (whole == n)
		return;
	for (uint32_t i = whole; i < n; i++)
		last[i - whole] = v[i];
	hybrid_pack(to, last, GROUP, width);
}

void
hybrid_put(struct text *to, const uint16_t *v, uint32_t n, unsigned width)
{
	uint32_t i = 0;

	while (i < n) {
		const uint32_t run = run_length(v, i, n);
		if (run >= GROUP || run == n - i) {
			put_run(to, run, v[i], width);
			i += run;
			continue;
		}
		uint32_t end = i;
		while (end < n && !run_begins(v, end, n))
			end = n - end < GROUP ? n : end + GROUP;
		put_packed(to, v + i, end - i, width);
		i = end;
	}
}

unsigned
hybrid_width(uint32_t most)
{
	unsigned width = 1;

	while (most >> width != 0)
		width++;
	return width;
}
