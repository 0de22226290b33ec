#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <zstd.h>

#include "base/cursor.h"
#include "base/scan.h"
#include "parquet/test/oracle_test.h"

/* Pages of a column chunk agree with its statistics. */

enum { PLAIN = 0, RLE = 3, DELTA_BINARY_PACKED = 5, RLE_DICTIONARY = 8 };

struct pages {
	struct pq_file *file;
	struct pq_column *column;
	struct pq_cell *dictionary;
	uint32_t ndictionary;
	int64_t pages[2][9]; /* number of pages, by kind and encoding */
};

/* Reads n numbers in runs and packed groups. */
static bool read_hybrid(struct cursor *c, unsigned width, uint32_t *to, uint32_t n)
{
	uint32_t at = 0;

	while (at < n && c->missing == NULL) {
		uint64_t head = 0;
		for (unsigned shift = 0; shift < 35; shift += 7) {
			const uint8_t byte = cursor_u8(c, "head");
			head |= (uint64_t)(byte & 0x7f) << shift;
			if (byte < 0x80)
				break;
		}
		if ((head & 1) == 0) {
			uint32_t value = cursor_u8(c, "value");
			value |= width > 8 ? (uint32_t)cursor_u8(c, "value") << 8 : 0;
			if (head >> 1 > n - at || value >> width != 0)
				return false;
			for (uint64_t i = 0; i < head >> 1; i++)
				to[at++] = value;
			continue;
		}
		const struct slice bits = cursor_take(c, (uint32_t)((head >> 1) * width), "bits");
		for (uint64_t i = 0; i < (head >> 1) * 8 && at < n && c->missing == NULL; i++) {
			uint32_t value = 0;
			for (unsigned k = 0; k < width; k++)
				value |= (uint32_t)((unsigned char)bits.p[(i * width + k) / 8] >>
				                        (i * width + k) % 8 &
				                    1)
				         << k;
			to[at++] = value;
		}
	}
	return c->missing == NULL;
}

static uint64_t take_varint(struct cursor *c)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		const uint8_t byte = cursor_u8(c, "number");
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			break;
	}
	return v;
}

static uint64_t take_zigzag(struct cursor *c)
{
	const uint64_t v = take_varint(c);

	return v >> 1 ^ (0 - (v & 1));
}

/* Reads n numbers by their differences: blocks of 128, each of four parts. */
static bool read_deltas(struct cursor *c, uint64_t *to, uint32_t n)
{
	if (take_varint(c) != 128 || take_varint(c) != 4 || take_varint(c) != n)
		return false;
	to[0] = take_zigzag(c);
	for (uint32_t at = 1; at < n && c->missing == NULL;) {
		const uint64_t min = take_zigzag(c);
		const struct slice widths = cursor_take(c, 4, "widths");
		for (unsigned part = 0; part < 4 && at < n && c->missing == NULL; part++) {
			const unsigned width = (unsigned char)widths.p[part];
			const struct slice bits = cursor_take(c, 4 * width, "bits");
			for (uint32_t i = 0; i < 32 && at < n && c->missing == NULL; i++, at++) {
				uint64_t d = 0;
				for (unsigned k = 0; k < width; k++)
					d |= (uint64_t)((unsigned char)bits.p[(i * width + k) / 8] >>
					                    (i * width + k) % 8 &
					                1)
					     << k;
				to[at] = to[at - 1] + min + d;
			}
		}
	}
	return c->missing == NULL;
}

static struct pq_cell take_plain(struct cursor *c, enum pq_type type)
{
	struct pq_cell cell = { .null = false };
	uint64_t bits;

	if (type == PQ_I32) {
		cell.i = (int32_t)cursor_u32(c, "value");
	} else if (type == PQ_I64) {
		cell.i = (int64_t)cursor_u64(c, "value");
	} else if (type == PQ_F64) {
		bits = cursor_u64(c, "value");
		memcpy(&cell.f, &bits, sizeof bits);
	} else {
		const uint32_t n = cursor_u32(c, "length");
		cell.text = cursor_take(c, n, "text");
		cr_expect(utf8_valid(cell.text.p, cell.text.n), "a text is not UTF-8");
	}
	return cell;
}

static bool take_values(const struct pages *g, struct cursor *c, int64_t encoding, struct pq_cell *cells,
                        const uint32_t *present, uint32_t rows, uint32_t n)
{
	uint32_t *const numbers = arena_zalloc(&g->file->arena, n + 1, sizeof *numbers);
	uint64_t *const deltas = arena_zalloc(&g->file->arena, n + 1, sizeof *deltas);
	const bool numbered = encoding == RLE_DICTIONARY, by_delta = encoding == DELTA_BINARY_PACKED;
	uint32_t k = 0;

	if (numbered) {
		const unsigned width = cursor_u8(c, "width");
		if (width > 16 || !read_hybrid(c, width, numbers, n))
			return pq_fault(g->file, "numbers of a dictionary");
	} else if (by_delta) {
		if (g->column->type != PQ_I64 || !read_deltas(c, deltas, n))
			return pq_fault(g->file, "differences");
	} else if (g->column->type == PQ_BOOL) {
		const struct slice bits = cursor_take(c, (n + 7) / 8, "bits");
		for (uint32_t i = 0; i < n; i++)
			numbers[i] = (unsigned char)bits.p[i / 8] >> i % 8 & 1;
	}
	for (uint32_t i = 0; i < rows; i++) {
		cells[i].null = present[i] == 0;
		if (cells[i].null)
			continue;
		if (numbered && numbers[k] >= g->ndictionary)
			return pq_fault(g->file, "a number beyond the dictionary");
		if (numbered)
			cells[i] = g->dictionary[numbers[k]];
		else if (by_delta)
			cells[i].i = (int64_t)deltas[k];
		else if (g->column->type == PQ_BOOL)
			cells[i].i = numbers[k];
		else
			cells[i] = take_plain(c, g->column->type);
		k++;
	}
	return c->missing == NULL || pq_fault(g->file, "values end early");
}

static bool take_data(const struct pages *g, const struct node *header, struct slice page,
                      struct pq_cell *cells, uint64_t space, uint32_t *rows)
{
	struct cursor c = cursor_on(page.p, page.p + page.n, false);
	const int64_t encoding = node_number(header, 2, -1);
	uint32_t n = 0;

	*rows = (uint32_t)node_number(header, 1, -1);
	if (*rows == 0 || *rows > space || node_number(header, 3, -1) != RLE ||
	    node_number(header, 4, -1) != RLE)
		return pq_fault(g->file, "a page of %" PRIu32 " rows", *rows);
	uint32_t *const present = arena_zalloc(&g->file->arena, *rows, sizeof *present);
	for (uint32_t i = 0; i < *rows; i++)
		present[i] = 1;
	if (g->column->optional) {
		const uint32_t size = cursor_u32(&c, "levels");
		const struct slice levels = cursor_take(&c, size, "levels");
		struct cursor l = cursor_on(levels.p, levels.p + levels.n, false);
		if (!read_hybrid(&l, 1, present, *rows) || l.p != l.end)
			return pq_fault(g->file, "levels");
	}
	for (uint32_t i = 0; i < *rows; i++)
		n += present[i];
	g->column->all_by_dictionary &= encoding == RLE_DICTIONARY || n == 0;
	return take_values(g, &c, encoding, cells, present, *rows, n) &&
	       (c.p == c.end || pq_fault(g->file, "bytes behind the values of a page"));
}

static bool take_dictionary(struct pages *g, const struct node *header, struct slice page)
{
	struct cursor c = cursor_on(page.p, page.p + page.n, false);

	g->ndictionary = (uint32_t)node_number(header, 1, -1);
	if (g->dictionary != NULL || node_number(header, 2, -1) != PLAIN || g->ndictionary > 65536)
		return pq_fault(g->file, "a dictionary");
	g->dictionary = arena_zalloc(&g->file->arena, g->ndictionary, sizeof *g->dictionary);
	for (uint32_t i = 0; i < g->ndictionary; i++)
		g->dictionary[i] = take_plain(&c, g->column->type);
	return (c.missing == NULL && c.p == c.end) || pq_fault(g->file, "values of a dictionary");
}

/* ---- statistics ---- */

static int compare(enum pq_type type, const struct pq_cell *a, const struct pq_cell *b)
{
	if (type == PQ_F64)
		return (a->f > b->f) - (a->f < b->f);
	if (type != PQ_TEXT)
		return (a->i > b->i) - (a->i < b->i);
	const size_t n = a->text.n < b->text.n ? a->text.n : b->text.n;
	const int d = n > 0 ? memcmp(a->text.p, b->text.p, n) : 0;
	return d != 0 ? d : (a->text.n > b->text.n) - (a->text.n < b->text.n);
}

static struct pq_cell bound_of(const struct pq_column *c, const struct node *k)
{
	struct pq_cell cell = { .text = k->text };
	struct cursor at = cursor_on(k->text.p, k->text.p + k->text.n, false);

	if (c->type != PQ_TEXT)
		cell = take_plain(&at, c->type);
	return cell;
}

static bool statistics_hold(struct pq_file *f, const struct pq_column *c, const struct node *meta,
                            const struct pq_cell *cells, uint64_t rows)
{
	const struct node *const s = node_get(meta, 12);
	const struct node *const max = node_get(s, 5), *const min = node_get(s, 6);
	bool max_met = false, min_met = false;
	int64_t nulls = 0;

	for (uint64_t i = 0; i < rows; i++) {
		nulls += cells[i].null;
		if (cells[i].null || max == NULL || min == NULL)
			continue;
		const struct pq_cell most = bound_of(c, max), least = bound_of(c, min);
		const int over = compare(c->type, &cells[i], &most),
		          under = compare(c->type, &cells[i], &least);
		if (over > 0 || under < 0)
			return pq_fault(f, "%.*s: a value beyond its bounds", (int)c->name.n, c->name.p);
		max_met |= over == 0;
		min_met |= under == 0;
	}
	if (nulls != node_number(s, 3, -1))
		return pq_fault(f, "%.*s: nulls", (int)c->name.n, c->name.p);
	if (max != NULL && max_met != (node_number(s, 7, -1) == 1))
		return pq_fault(f, "%.*s: whether the maximum is exact", (int)c->name.n, c->name.p);
	if (min != NULL && min_met != (node_number(s, 8, -1) == 1))
		return pq_fault(f, "%.*s: whether the minimum is exact", (int)c->name.n, c->name.p);
	return true;
}

/* ---- chunks ---- */

/* Unpacks the page after the header. */
static bool unpack(struct pq_file *f, const struct node *header, const char **p, const char *end,
                   struct slice *page)
{
	const size_t unpacked = (size_t)node_number(header, 2, -1),
	             packed = (size_t)node_number(header, 3, -1);

	if (packed > (size_t)(end - *p) || unpacked > INT32_MAX)
		return pq_fault(f, "a page of %zu bytes", packed);
	char *const to = arena_alloc(&f->arena, unpacked + 1);
	if (ZSTD_decompress(to, unpacked, *p, packed) != unpacked)
		return pq_fault(f, "a page does not unpack to %zu bytes", unpacked);
	*p += packed;
	*page = slice_of(to, unpacked);
	return true;
}

/* Checks the counts of pages by kind and encoding. */
static bool pages_hold(const struct pages *g, const struct node *meta)
{
	int64_t all = 0, told = 0;

	for (size_t i = 0; i < 9; i++)
		all += g->pages[0][i] + g->pages[1][i];
	for (const struct node *k = node_get(meta, 13)->first; k != NULL; k = k->next) {
		const int64_t is_data = node_number(k, 1, -1) == 0, encoding = node_number(k, 2, -1);
		if (node_number(k, 3, -1) != g->pages[is_data][encoding % 9])
			return pq_fault(g->file, "counts of pages");
		told += node_number(k, 3, -1);
	}
	return told == all || pq_fault(g->file, "pages that are not counted");
}

bool pq_chunk(struct pq_file *f, struct pq_column *c, const struct node *meta, struct pq_cell *cells,
              uint64_t rows)
{
	const int64_t data = node_number(meta, 9, -1), dictionary = node_number(meta, 11, data);
	const int64_t size = node_number(meta, 7, -1);
	struct pages g = { .file = f, .column = c };
	int64_t unpacked = 0;
	uint64_t done = 0;

	if (dictionary < 4 || size <= 0 || dictionary + size > (int64_t)f->n || node_number(meta, 4, -1) != 6)
		return pq_fault(f, "a column outside the file, or not packed by zstd");
	const char *p = f->p + dictionary, *const end = p + size;
	while (p < end) {
		const char *const begin = p;
		const struct node *const header = node_read(&f->arena, &p, end);
		const bool is_data = header != NULL && node_number(header, 1, -1) == 0;
		struct slice page = { .p = NULL };
		uint32_t n = 0;

		if (header == NULL)
			return pq_fault(f, "the header of a page");
		const struct node *const kind = node_get(header, is_data ? 5 : 7);
		g.pages[is_data][node_number(kind, 2, 0) % 9]++;
		unpacked += p - begin + node_number(header, 2, 0);
		if (!unpack(f, header, &p, end, &page))
			return false;
		if (is_data && done == 0 && begin != f->p + data)
			return pq_fault(f, "data_page_offset is not that of the first page");
		if (is_data ? !take_data(&g, kind, page, cells + done, rows - done, &n)
		            : !take_dictionary(&g, kind, page))
			return false;
		done += n;
	}
	if (done != rows || node_number(meta, 5, -1) != (int64_t)rows || node_number(meta, 6, -1) != unpacked)
		return pq_fault(f, "a column with another number of rows, or bytes");
	return pages_hold(&g, meta) && statistics_hold(f, c, meta, cells, rows);
}
