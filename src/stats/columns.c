#include "stats/columns.h"
#include "output/text_numbers.h"

#include <stdlib.h>

/* Characters, not bytes; good enough for scripts without wide or combining ones. */
static uint32_t
count_characters(const char *p, size_t n)
{
	uint32_t width = 0;

	for (size_t i = 0; i < n; i++)
		width += ((unsigned char)p[i] & 0xc0) != 0x80;
	return width;
}

bool
columns_next(struct columns *c)
{
	if (c->n == c->cap) {
		size_t cap = c->cap == 0 ? 64 : c->cap * 2;
		struct columns_cell *p = realloc(c->cells, cap * sizeof *p);
		if (p == NULL) {
			c->text.failed = true;
			return false;
		}
		c->cells = p;
		c->cap = cap;
	}
	size_t start = c->n == 0 ? 0 : c->cells[c->n - 1].end;
	size_t n = c->text.n - start;
	uint32_t width = n == 0 ? 0 : count_characters(c->text.p + start, n);
	uint32_t *widest = &c->widths[c->n % c->columns];
	if (width > *widest)
		*widest = width;
	c->cells[c->n++] = (struct columns_cell){ .end = c->text.n, .width = width };
	return !c->text.failed;
}

bool
columns_str(struct columns *c, const char *s)
{
	text_str(&c->text, s);
	return columns_next(c);
}

bool
columns_u64(struct columns *c, uint64_t v)
{
	text_u64(&c->text, v);
	return columns_next(c);
}

/* With this many digits that count, 3 or 4. */
static void
put_time(struct text *t, unsigned __int128 ns, int digits)
{
	static const char *const names[] = { "us", "ms", "s" };
	const unsigned limit = digits == 3 ? 1000 : 10000;
	uint64_t unit = 1;

	if (ns < 1000) {
		text_u64(t, (uint64_t)ns);
		text_str(t, " ns");
		return;
	}
	for (unsigned i = 0; i < 3; i++) {
		unit *= 1000;
		unsigned power = limit / 10;
		for (int decimals = digits - 1; decimals >= 0; decimals--, power /= 10) {
			const unsigned __int128 v = (ns * power + unit / 2) / unit;
			if (decimals == 0 && (i == 2 || v < 1000)) {
				text_u128(t, v);
				text_printf(t, " %s", names[i]);
				return;
			}
			if (decimals > 0 && v < limit) {
				text_printf(t, "%u.%0*u %s", (unsigned)v / power, decimals,
				            (unsigned)v % power, names[i]);
				return;
			}
		}
	}
}

void
text_time(struct text *t, unsigned __int128 ns)
{
	put_time(t, ns, 4);
}

bool
columns_time(struct columns *c, unsigned __int128 ns)
{
	put_time(&c->text, ns, 3);
	return columns_next(c);
}

static void
pad(struct text *out, uint32_t n)
{
	while (n-- > 0)
		text_char(out, ' ');
}

static void
end_line(struct text *out)
{
	while (out->n > 0 && out->p[out->n - 1] == ' ')
		out->n--;
	text_char(out, '\n');
}

void
columns_print(const struct columns *c, struct text *out)
{
	size_t start = 0;

	for (size_t i = 0; i < c->n; i++) {
		unsigned column = (unsigned)(i % c->columns);
		uint32_t room = c->widths[column] - c->cells[i].width;
		bool left = c->left >> column & 1;

		text_str(out, "  ");
		if (!left)
			pad(out, room);
		if (c->cells[i].end > start)
			text_add(out, c->text.p + start, c->cells[i].end - start);
		if (column + 1 == c->columns)
			end_line(out);
		else if (left)
			pad(out, room);
		start = c->cells[i].end;
	}
	if (c->text.failed)
		out->failed = true;
}

unsigned
columns_width(const struct columns *c)
{
	unsigned width = 0;

	for (unsigned i = 0; i < c->columns; i++)
		width += 2 + c->widths[i];
	return width;
}

void
columns_free(struct columns *c)
{
	text_free(&c->text);
	free(c->cells);
	*c = (struct columns){ 0 };
}
