#include "output/columns.h"

#include <stdlib.h>
#include <time.h>

#include "output/text_units.h"
#include "output/text_visible.h"

/* ---- text units ---- */

void text_iso8601(struct text *t, uint64_t ns)
{
	const time_t seconds = (time_t)(ns / 1000000000);
	struct tm tm = { .tm_year = 70 };

	gmtime_r(&seconds, &tm);
	text_printf(t, "%04d-%02d-%02dT%02d:%02d:%02d.%09uZ", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
	            tm.tm_hour, tm.tm_min, tm.tm_sec, (unsigned)(ns % 1000000000));
}

void text_wall(struct text *t, uint64_t ns)
{
	const time_t seconds = (time_t)(ns / 1000000000);
	struct tm tm = { .tm_year = 70 };

	gmtime_r(&seconds, &tm);
	text_printf(t, "%04d-%02d-%02d %02d:%02d:%02d.%03u UTC", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
	            tm.tm_hour, tm.tm_min, tm.tm_sec, (unsigned)(ns / 1000000 % 1000));
}

/* With this many digits that count, 3 or 4. */
static void put_time(struct text *t, unsigned __int128 ns, int digits)
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

void text_time(struct text *t, unsigned __int128 ns)
{
	put_time(t, ns, 4);
}

void text_time_short(struct text *t, unsigned __int128 ns)
{
	put_time(t, ns, 3);
}

void text_since(struct text *t, uint64_t ns)
{
	const unsigned rest = (unsigned)(ns % 1000000000);

	text_char(t, '+');
	if (ns > 0 && ns < 1000) {
		text_printf(t, "%u ns", rest);
		return;
	}
	if (ns > 0 && ns < 1000000) {
		text_printf(t, "%u.%03u us", rest / 1000, rest % 1000);
		return;
	}
	text_u64(t, ns / 1000000000);
	if (rest % 1000000 == 0)
		text_printf(t, ".%03u s", rest / 1000000);
	else if (rest % 1000 == 0)
		text_printf(t, ".%06u s", rest / 1000);
	else
		text_printf(t, ".%09u s", rest);
}

void text_kib(struct text *t, uint64_t bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
	uint64_t unit = 1024;
	unsigned i = 0;

	if (bytes < 1024)
		return;
	while (i < 3 && bytes / unit >= 1024) {
		unit *= 1024;
		i++;
	}
	const uint64_t rest = (bytes % unit) * 10 / unit;
	text_str(t, " (");
	text_u64(t, bytes / unit);
	text_printf(t, ".%u %s)", (unsigned)rest, units[i]);
}

/* ---- columns ---- */

#define TEXT_BYTES 256 /* of a name are shown */
#define BETWEEN 2      /* spaces */
#define LEAST 8        /* of a name, when there is nothing more to leave out */

void columns_next(struct columns *c)
{
	if (c->ncells == c->cap) {
		const size_t cap = c->cap == 0 ? 64 : c->cap * 2;
		size_t *const p = realloc(c->ends, cap * sizeof *p);
		if (p == NULL) {
			c->text.failed = true;
			return;
		}
		c->ends = p;
		c->cap = cap;
	}
	c->ends[c->ncells++] = c->text.n;
}

void columns_str(struct columns *c, const char *s)
{
	text_str(&c->text, s);
	columns_next(c);
}

void columns_u64(struct columns *c, uint64_t v)
{
	text_u64(&c->text, v);
	columns_next(c);
}

void columns_name(struct columns *c, struct slice s)
{
	text_visible_ends(&c->text, s, TEXT_BYTES);
	columns_next(c);
}

void columns_time(struct columns *c, unsigned __int128 ns)
{
	text_time_short(&c->text, ns);
	columns_next(c);
}

static struct slice cell(const struct columns *c, size_t i)
{
	const size_t start = i == 0 ? 0 : c->ends[i - 1];

	return c->ends[i] == start ? slice_of("", 0) : slice_of(c->text.p + start, c->ends[i] - start);
}

/* ---- fitting ---- */

struct layout {
	uint32_t widths[COLUMNS_MAX], least[COLUMNS_MAX];
	unsigned without;
};

static uint32_t longest_word(struct slice s)
{
	uint32_t longest = 0;

	while (s.n > 0) {
		const char *const blank = memchr(s.p, ' ', s.n);
		const size_t n = blank != NULL ? (size_t)(blank - s.p) : s.n;
		const uint32_t width = (uint32_t)text_width(slice_of(s.p, n));
		longest = width > longest ? width : longest;
		s = blank != NULL ? slice_of(blank + 1, s.n - n - 1) : slice_of(s.p, 0);
	}
	return longest;
}

static uint32_t at_least(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static bool can_shrink(const struct column *k)
{
	return k->kind == COLUMN_NAME || k->kind == COLUMN_TEXT;
}

/* What each column takes, and needs, of its own. */
static void measure(const struct columns *c, struct layout *l)
{
	const bool heads = c->list[0].head != NULL;

	for (unsigned i = 0; i < c->n; i++) {
		const struct column *const k = &c->list[i];
		uint32_t words = l->widths[i] = heads ? (uint32_t)strlen(k->head) : 0;
		for (size_t j = i; j < c->ncells; j += c->n) {
			l->widths[i] = at_least(l->widths[i], (uint32_t)text_width(cell(c, j)));
			if (k->kind == COLUMN_TEXT)
				words = at_least(words, longest_word(cell(c, j)));
		}
		l->least[i] = at_least(words, k->least);
		if (!can_shrink(k) || l->least[i] > l->widths[i])
			l->least[i] = l->widths[i];
	}
}

/* Takes columns from those with most to spare; false: that is not enough. */
static bool shrink(const struct columns *c, struct layout *l, unsigned width)
{
	uint64_t total = c->indent;

	for (unsigned i = 0; i < c->n; i++)
		total += (l->without >> i & 1) != 0 ? 0 : l->widths[i] + BETWEEN;
	total -= BETWEEN;
	while (total > width) {
		unsigned most = 0;
		uint32_t spare = 0;
		for (unsigned i = 0; i < c->n; i++)
			if ((l->without >> i & 1) == 0 && l->widths[i] - l->least[i] > spare) {
				spare = l->widths[i] - l->least[i];
				most = i;
			}
		if (spare == 0)
			return false;
		l->widths[most]--;
		total--;
	}
	return true;
}

/* Leaves out the columns of the highest rank; false: all that are left stay. */
static bool drop(const struct columns *c, struct layout *l)
{
	unsigned rank = 0, without = 0;

	for (unsigned i = 0; i < c->n; i++)
		if ((l->without >> i & 1) == 0 && c->list[i].drop > rank)
			rank = c->list[i].drop;
	for (unsigned i = 0; i < c->n; i++)
		without |= c->list[i].drop == rank ? 1U << i : 0;
	if (rank > 0)
		l->without |= without;
	return rank > 0;
}

static void fit(const struct columns *c, struct layout *l, unsigned width)
{
	struct layout all = { .without = c->without };

	measure(c, &all);
	*l = all;
	while (width > 0 && !shrink(c, l, width)) {
		const unsigned without = l->without;
		*l = all;
		l->without = without;
		if (drop(c, l))
			continue;
		for (unsigned i = 0; i < c->n; i++)
			if (can_shrink(&c->list[i]) && l->least[i] > LEAST)
				l->least[i] = LEAST;
		(void)shrink(c, l, width);
		return;
	}
}

/* ---- printing ---- */

static void pad(struct text *out, size_t n)
{
	text_printf(out, "%*s", (int)n, "");
}

/* Puts what the line of the row shows of the cell, and takes it off the cell. */
static void put_cell(struct text *out, const struct column *k, struct slice *s, size_t width)
{
	struct text shown = { .p = NULL };
	size_t next = s->n;

	if (k->kind == COLUMN_NAME)
		text_shorten(&shown, *s, width);
	else
		text_add(&shown, s->p, k->kind == COLUMN_TEXT ? text_line(*s, width, &next) : s->n);
	const size_t taken = shown.n == 0 ? 0 : text_width(slice_of(shown.p, shown.n));
	const size_t room = width > taken ? width - taken : 0;
	if (k->kind == COLUMN_NUMBER)
		pad(out, room);
	if (shown.n > 0)
		text_add(out, shown.p, shown.n);
	if (k->kind != COLUMN_NUMBER)
		pad(out, room);
	out->failed |= shown.failed;
	text_free(&shown);
	*s = slice_of(s->p + next, s->n - next);
}

static void put_row(const struct columns *c, const struct layout *l, struct text *out, struct slice *cells)
{
	bool more = true;

	while (more) {
		pad(out, c->indent);
		more = false;
		for (unsigned i = 0; i < c->n; i++) {
			if ((l->without >> i & 1) != 0)
				continue;
			put_cell(out, &c->list[i], &cells[i], l->widths[i]);
			pad(out, BETWEEN);
			more |= cells[i].n > 0;
		}
		while (out->n > 0 && out->p[out->n - 1] == ' ')
			out->n--;
		text_char(out, '\n');
	}
}

void columns_print(const struct columns *c, struct text *out, unsigned width)
{
	struct slice cells[COLUMNS_MAX];
	struct layout l;

	out->failed |= c->text.failed;
	if (out->failed)
		return;
	fit(c, &l, width);
	if (c->list[0].head != NULL) {
		for (unsigned i = 0; i < c->n; i++)
			cells[i] = slice_str(c->list[i].head);
		put_row(c, &l, out, cells);
	}
	for (size_t j = 0; j + c->n <= c->ncells; j += c->n) {
		for (unsigned i = 0; i < c->n; i++)
			cells[i] = cell(c, j + i);
		put_row(c, &l, out, cells);
	}
}

void columns_free(struct columns *c)
{
	text_free(&c->text);
	free(c->ends);
	*c = (struct columns){ .n = 0 };
}
