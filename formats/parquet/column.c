#include "parquet/column.h"
#include "output/text_utf8.h"

#include <stdlib.h>

bool
column_open(struct column *c)
{
	const bool has_numbers = c->by_dictionary || c->type == COLUMN_BOOL;

	c->group = 1;
	c->numbers = has_numbers ? malloc(PAGE_ROWS * sizeof *c->numbers) : NULL;
	c->present = c->optional ? malloc(PAGE_ROWS * sizeof *c->present) : NULL;
	return (c->numbers != NULL || !has_numbers) && (c->present != NULL || !c->optional);
}

void
column_free(struct column *c)
{
	free(c->numbers);
	free(c->present);
	text_free(&c->plain);
	text_free(&c->pages);
	dictionary_free(&c->dictionary);
}

/* ---- rows ---- */

/* The dictionary is full: the values from here on are written as they are. */
static void
go_plain(struct column *c, struct column_tools *tools)
{
	tools->failed |= c->dictionary.no_memory;
	column_end_page(c, tools);
	c->is_plain = true;
}

void
column_number(struct column *c, struct column_tools *tools, int64_t v)
{
	const unsigned size = c->type == COLUMN_I32 ? 4 : 8;
	bool fresh = true;

	if (c->type == COLUMN_BOOL) {
		column_again(c, tools, v != 0);
		return;
	}
	if (c->by_dictionary && !c->is_plain) {
		const uint32_t number = dictionary_u64(&c->dictionary, (uint64_t)v, size, &fresh);
		if (fresh)
			bounds_i64(&c->bounds, v);
		if (number != DICTIONARY_NONE) {
			column_again(c, tools, (uint16_t)number);
			return;
		}
		go_plain(c, tools);
	}
	bounds_i64(&c->bounds, v);
	if (size == 4)
		plain_u32(&c->plain, (uint32_t)v);
	else
		plain_u64(&c->plain, (uint64_t)v);
	column_end_row(c, tools, true);
}

void
column_known_number(struct column *c, struct column_tools *tools, int64_t v, struct column_known *known)
{
	if (column_knows(c, known)) {
		column_again(c, tools, known->number);
		return;
	}
	const uint32_t before = c->nnumbers;
	column_number(c, tools, v);
	if (known != NULL && !c->is_plain && c->nnumbers == before + 1) /* else the page was ended */
		*known = (struct column_known){ .group = c->group, .number = c->numbers[before] };
}

void
column_f64(struct column *c, struct column_tools *tools, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof bits);
	bounds_f64(&c->bounds, v);
	plain_u64(&c->plain, bits);
	column_end_row(c, tools, true);
}

/* ---- texts ---- */

static bool
put_plain_text(struct column *c, struct column_tools *tools, struct slice s)
{
	const size_t at = c->plain.n;

	plain_u32(&c->plain, s.n);
	const bool mended = text_utf8(&c->plain, s) > 0;
	if (c->plain.failed) {
		tools->failed = true;
		return false;
	}
	if (mended) { /* it is longer */
		const size_t end = c->plain.n;
		c->plain.n = at;
		plain_u32(&c->plain, (uint32_t)(end - at - 4));
		c->plain.n = end;
	}
	tools->bytes += c->plain.n - at;
	if (c->type == COLUMN_TEXT)
		bounds_text(&c->bounds, slice_of(c->plain.p + at + 4, c->plain.n - at - 4));
	column_end_row(c, tools, true);
	return mended;
}

struct text *
column_begin_text(struct column *c, size_t *at)
{
	*at = c->plain.n;
	plain_u32(&c->plain, 0);
	return &c->plain;
}

bool
column_end_text(struct column *c, struct column_tools *tools, size_t at)
{
	const size_t end = c->plain.n, n = end - at - 4;

	if (c->plain.failed) {
		tools->failed = true;
		return true;
	}
	c->plain.n = at;
	if (n > VALUE_MOST) {
		column_null(c, tools);
		return false;
	}
	plain_u32(&c->plain, (uint32_t)n);
	c->plain.n = end;
	tools->bytes += end - at;
	column_end_row(c, tools, true);
	return true;
}

bool
column_text(struct column *c, struct column_tools *tools, struct slice s, struct column_known *known)
{
	if (column_knows(c, known)) {
		column_again(c, tools, known->number);
		return known->mended;
	}
	if (!c->by_dictionary || c->is_plain)
		return put_plain_text(c, tools, s);

	const struct dictionary_text d = dictionary_text(&c->dictionary, s);
	if (d.number == DICTIONARY_NONE) {
		go_plain(c, tools);
		return put_plain_text(c, tools, s);
	}
	if (d.fresh) {
		bounds_text(&c->bounds, d.stored);
		tools->bytes += d.stored.n;
	}
	if (known != NULL)
		*known = (struct column_known){ c->group, (uint16_t)d.number, d.mended };
	column_again(c, tools, (uint16_t)d.number);
	return d.mended;
}

void
column_next_group(struct column *c)
{
	c->group++;
	c->is_plain = false;
	c->bounds = (struct bounds){ .any = false };
	c->group_rows = c->nulls = c->unpacked = 0;
	c->nplain = c->nnumbered = 0;
	text_clear(&c->pages);
	dictionary_reset(&c->dictionary);
}
