/*
 * Values of a column, and their bounds (statistics) in the row group.  Values are added to a page as numbers
 * of the row group's dictionary or, when that is full, in PLAIN encoding.  A caller with repeated values
 * caches their numbers (struct column_known) to avoid lookups.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/match.h"
#include "base/scan.h"
#include "output/text_json.h"
#include "parquet/parquet.h"

/* ---- bounds ---- */

/* Fields of Statistics (parquet.thrift). */
enum { NULL_COUNT = 3, MAX_VALUE = 5, MIN_VALUE = 6, MAX_EXACT = 7, MIN_EXACT = 8 };

static inline void extend_i64(struct bounds *b, int64_t v)
{
	if (!b->any || v < b->i64.min)
		b->i64.min = v;
	if (!b->any || v > b->i64.max)
		b->i64.max = v;
	b->any = true;
}

static void extend_f64(struct bounds *b, double v)
{
	b->not_number |= isnan(v) != 0;
	if (!b->any || v < b->f64.min)
		b->f64.min = v;
	if (!b->any || v > b->f64.max)
		b->f64.max = v;
	b->any = true;
}

static void set_text(struct bounds_text *to, struct slice s)
{
	to->cut = s.n > BOUNDS_TEXT;
	to->n = to->cut ? BOUNDS_TEXT : s.n;
	if (to->n > 0)
		memcpy(to->p, s.p, to->n);
}

static void extend_text(struct bounds *b, struct slice s)
{
	if (!b->any || slice_compare(s, slice_of(b->min.p, b->min.n)) < 0)
		set_text(&b->min, s);
	if (!b->any || slice_compare(s, slice_of(b->max.p, b->max.n)) > 0)
		set_text(&b->max, s);
	b->any = true;
}

/* Returns a lower bound: the text up to its last whole character. */
static struct slice lower_bound(const struct bounds_text *t)
{
	uint32_t n = t->n;

	if (t->cut) {
		while (n > 0 && ((unsigned char)t->p[n - 1] & 0xc0) == 0x80)
			n--;
		if (n > 0 && (unsigned char)t->p[n - 1] >= 0xc0)
			n--;
	}
	return (struct slice){ t->p, n, 0 };
}

/* Returns an upper bound of all texts with this prefix: the prefix up to its last ASCII character that has a
 * successor, with the successor instead.  n is 0 if there is no such character. */
static struct slice upper_bound(struct bounds_text *t)
{
	if (!t->cut)
		return (struct slice){ t->p, t->n, 0 };
	while (t->n > 0 && (unsigned char)t->p[t->n - 1] >= 0x7f)
		t->n--;
	if (t->n > 0)
		t->p[t->n - 1]++;
	return (struct slice){ t->p, t->n, 0 };
}

static void put_texts(const struct bounds *b, struct thrift *t)
{
	struct bounds_text max = b->max;
	const struct slice upper = upper_bound(&max), lower = lower_bound(&b->min);
	const bool has_max = !b->max.cut || upper.n > 0;

	if (has_max)
		thrift_text(t, MAX_VALUE, upper);
	thrift_text(t, MIN_VALUE, lower);
	if (has_max)
		thrift_bool(t, MAX_EXACT, !b->max.cut);
	thrift_bool(t, MIN_EXACT, !b->min.cut);
}

static void put_number(struct thrift *t, int id, uint64_t bits, uint32_t size)
{
	char p[8];

	store_uint(p, bits, sizeof p, false);
	thrift_text(t, id, (struct slice){ p, size, 0 });
}

static void put_numbers(struct thrift *t, uint64_t max, uint64_t min, uint32_t size)
{
	put_number(t, MAX_VALUE, max, size);
	put_number(t, MIN_VALUE, min, size);
	thrift_bool(t, MAX_EXACT, true);
	thrift_bool(t, MIN_EXACT, true);
}

void column_put_bounds(const struct column *c, struct thrift *t)
{
	const struct bounds *const b = &c->bounds;

	thrift_i64(t, NULL_COUNT, (int64_t)c->nulls);
	if (!b->any)
		return;
	if (c->type == COLUMN_TEXT)
		put_texts(b, t);
	else if (c->type != COLUMN_F64)
		put_numbers(t, (uint64_t)b->i64.max, (uint64_t)b->i64.min, c->type == COLUMN_I32 ? 4 : 8);
	else if (!b->not_number) /* readers expect both zeros between -0.0 and 0.0 */
		put_numbers(t, double_bits(b->f64.max == 0 ? 0.0 : b->f64.max),
		            double_bits(b->f64.min == 0 ? -0.0 : b->f64.min), 8);
}

/* ---- dictionary ---- */

#define DICTIONARY_MAX 65536U       /* values; their numbers have 16 bits */
#define DICTIONARY_BYTES (1U << 20) /* of texts */
#define DICTIONARY_NONE UINT32_MAX  /* the dictionary is full, or OOM */

/* Returns the number of a value of `size` bytes, 4 or 8. */
static uint32_t find_number(struct dictionary *d, uint64_t v, unsigned size, bool *fresh)
{
	const uint32_t known = table64_get(&d->numbers, v);

	*fresh = known == TABLE_NONE;
	if (!*fresh)
		return known;
	if (d->n == DICTIONARY_MAX)
		return DICTIONARY_NONE;
	if (note_failure(&d->no_memory, !table64_put(&d->numbers, v, d->n)))
		return DICTIONARY_NONE;
	text_uint(&d->plain, v, size, false);
	return d->n++;
}

/* A text of a dictionary.  fresh: it is new.  stored: the text after its repair, if fresh. */
struct dictionary_text {
	uint32_t number;
	bool repaired, fresh;
	struct slice stored;
};

static bool put_key(struct dictionary *d, struct slice s, uint32_t value)
{
	const struct slice copy = arena_copy(&d->arena, s);

	if (copy.p != NULL && tabletext_put(&d->texts, copy, value))
		return true;
	d->no_memory = true;
	return false;
}

static bool has_space(const struct dictionary *d, size_t more)
{
	return d->n < DICTIONARY_MAX && d->arena.used + more < DICTIONARY_BYTES;
}

/* Adds a new text. */
static struct dictionary_text add_text(struct dictionary *d, struct slice s)
{
	struct dictionary_text none = { .number = DICTIONARY_NONE };

	if (!has_space(d, s.n) || !put_key(d, s, d->n << 1))
		return none;
	text_uint(&d->plain, s.n, 4, false);
	text_add(&d->plain, s.p, s.n);
	return (struct dictionary_text){ .number = d->n++, .fresh = true, .stored = s };
}

/* Adds a text that is not UTF-8: the original as a key, and the repaired text unless the dictionary has it.
 */
static struct dictionary_text add_repaired(struct dictionary *d, struct slice s)
{
	struct text buffer = { .p = NULL };
	struct dictionary_text found = { .number = DICTIONARY_NONE };

	if (!has_space(d, 4 * (size_t)s.n)) /* the original, and at most three times its bytes repaired */
		return found;
	(void)text_utf8(&buffer, s);
	const struct slice repaired = { buffer.p, (uint32_t)buffer.n, SLICE_UTF8 };
	if (buffer.failed)
		d->no_memory = true;
	else if ((found.number = tabletext_get(&d->texts, repaired)) == TABLE_NONE)
		found = add_text(d, repaired);
	else
		found.number >>= 1;
	if (found.number != DICTIONARY_NONE && !put_key(d, s, found.number << 1 | 1))
		found.number = DICTIONARY_NONE;
	found.repaired = true;
	if (found.fresh) /* the copy in the dictionary, as `buffer` is freed */
		found.stored.p = tabletext_key(&d->texts, repaired);
	text_free(&buffer);
	return found;
}

static struct dictionary_text find_text(struct dictionary *d, struct slice s)
{
	const uint32_t known = tabletext_get(&d->texts, s);

	if (known != TABLE_NONE)
		return (struct dictionary_text){ .number = known >> 1, .repaired = (known & 1) != 0 };
	if (slice_is_utf8(s))
		return add_text(d, s);
	return add_repaired(d, s);
}

static void dictionary_reset(struct dictionary *d)
{
	tabletext_free(&d->texts);
	table64_free(&d->numbers);
	arena_reset(&d->arena);
	text_clear(&d->plain);
	d->n = 0;
}

/* ---- columns ---- */

bool column_open(struct column *c)
{
	const bool has_numbers = c->by_dictionary || c->type == COLUMN_BOOL;

	c->group = 1;
	c->numbers = has_numbers ? malloc(PAGE_ROWS * sizeof *c->numbers) : NULL;
	c->present = c->optional ? malloc(PAGE_ROWS * sizeof *c->present) : NULL;
	return (c->numbers != NULL || !has_numbers) && (c->present != NULL || !c->optional);
}

void column_free(struct column *c)
{
	free(c->numbers);
	free(c->present);
	text_free(&c->plain);
	text_free(&c->pages);
	dictionary_reset(&c->dictionary);
	arena_free(&c->dictionary.arena);
	text_free(&c->dictionary.plain);
}

/* Changes to PLAIN encoding because the dictionary is full. */
static void leave_dictionary(struct column *c, struct column_tools *tools)
{
	tools->failed |= c->dictionary.no_memory;
	column_end_page(c, tools);
	c->is_plain = true;
}

void column_number(struct column *c, struct column_tools *tools, int64_t v)
{
	const unsigned size = c->type == COLUMN_I32 ? 4 : 8;
	bool fresh = true;

	if (c->type == COLUMN_BOOL) {
		column_add_number(c, tools, v != 0);
		return;
	}
	if (c->by_dictionary && !c->is_plain) {
		const uint32_t number = find_number(&c->dictionary, (uint64_t)v, size, &fresh);
		if (fresh)
			extend_i64(&c->bounds, v);
		if (number != DICTIONARY_NONE) {
			column_add_number(c, tools, (uint16_t)number);
			return;
		}
		leave_dictionary(c, tools);
	}
	extend_i64(&c->bounds, v);
	text_uint(&c->plain, (uint64_t)v, size, false);
	column_end_row(c, tools, true);
}

void column_known_number(struct column *c, struct column_tools *tools, int64_t v, struct column_known *known)
{
	if (column_knows(c, known)) {
		column_add_number(c, tools, known->number);
		return;
	}
	const uint32_t before = c->nnumbers;
	column_number(c, tools, v);
	if (known != NULL && !c->is_plain && c->nnumbers == before + 1) /* else a page ended */
		*known = (struct column_known){ .group = c->group, .number = c->numbers[before] };
}

void column_f64(struct column *c, struct column_tools *tools, double v)
{
	extend_f64(&c->bounds, v);
	text_uint(&c->plain, double_bits(v), 8, false);
	column_end_row(c, tools, true);
}

static bool put_plain_text(struct column *c, struct column_tools *tools, struct slice s)
{
	const size_t at = c->plain.n;

	text_uint(&c->plain, s.n, 4, false);
	const bool repaired = text_utf8(&c->plain, s) > 0;
	if (note_failure(&tools->failed, c->plain.failed))
		return false;
	if (repaired) /* longer than s */
		store_uint(c->plain.p + at, c->plain.n - at - 4, 4, false);
	tools->bytes += c->plain.n - at;
	if (c->type == COLUMN_TEXT)
		extend_text(&c->bounds, slice_of(c->plain.p + at + 4, c->plain.n - at - 4));
	column_end_row(c, tools, true);
	return repaired;
}

struct text *column_begin_text(struct column *c, size_t *at)
{
	*at = c->plain.n;
	text_uint(&c->plain, 0, 4, false);
	return &c->plain;
}

bool column_end_text(struct column *c, struct column_tools *tools, size_t at)
{
	const size_t n = c->plain.n - at - 4;

	if (note_failure(&tools->failed, c->plain.failed))
		return true;
	if (n > VALUE_MAX) {
		c->plain.n = at;
		column_null(c, tools);
		return false;
	}
	store_uint(c->plain.p + at, n, 4, false);
	tools->bytes += n + 4;
	column_end_row(c, tools, true);
	return true;
}

bool column_text(struct column *c, struct column_tools *tools, struct slice s, struct column_known *known)
{
	if (column_knows(c, known)) {
		column_add_number(c, tools, known->number);
		return known->repaired;
	}
	if (!c->by_dictionary || c->is_plain)
		return put_plain_text(c, tools, s);

	const struct dictionary_text d = find_text(&c->dictionary, s);
	if (d.number == DICTIONARY_NONE) {
		leave_dictionary(c, tools);
		return put_plain_text(c, tools, s);
	}
	if (d.fresh) {
		extend_text(&c->bounds, d.stored);
		tools->bytes += d.stored.n;
	}
	if (known != NULL)
		*known = (struct column_known){ c->group, (uint16_t)d.number, d.repaired };
	column_add_number(c, tools, (uint16_t)d.number);
	return d.repaired;
}

void column_next_group(struct column *c)
{
	c->group++;
	c->is_plain = false;
	c->bounds = (struct bounds){ .any = false };
	c->group_rows = c->nulls = c->unpacked = 0;
	c->nplain = c->nnumbered = c->ndeltas = 0;
	text_clear(&c->pages);
	dictionary_reset(&c->dictionary);
}
