/*
 * Encodings of Parquet: Thrift's compact protocol, the RLE / bit-packing hybrid, differences, pages and their
 * headers, and the metadata of columns.  Pages of data and of dictionaries have version 1 (parquet.thrift),
 * compressed by zstd.
 */
#include "parquet/parquet.h"
#include "base/compiler.h"

/* ---- Thrift ---- */

/* ULEB128: seven bits a byte, the lowest first. */
static void put_varint(struct text *t, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		text_char(t, (char)(v | 0x80));
	text_char(t, (char)v);
}

static void put_zigzag(struct text *t, int64_t v)
{
	put_varint(t, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

static void put_field_head(struct thrift *t, int id, enum thrift_type type)
{
	int *const last = &t->last[t->depth];
	const int step = id - *last;

	if (step > 0 && step <= 15) {
		text_char(t->to, (char)(step << 4 | (int)type));
	} else {
		text_char(t->to, (char)type);
		put_zigzag(t->to, id);
	}
	*last = id;
}

void thrift_i32(struct thrift *t, int id, int32_t v)
{
	put_field_head(t, id, THRIFT_I32);
	put_zigzag(t->to, v);
}

void thrift_i64(struct thrift *t, int id, int64_t v)
{
	put_field_head(t, id, THRIFT_I64);
	put_zigzag(t->to, v);
}

void thrift_bool(struct thrift *t, int id, bool v)
{
	put_field_head(t, id, v ? THRIFT_TRUE : THRIFT_FALSE);
}

static void thrift_add_text(struct thrift *t, struct slice s)
{
	put_varint(t->to, s.n);
	text_add(t->to, s.p, s.n);
}

void thrift_text(struct thrift *t, int id, struct slice s)
{
	put_field_head(t, id, THRIFT_BINARY);
	thrift_add_text(t, s);
}

void thrift_struct(struct thrift *t, int id)
{
	put_field_head(t, id, THRIFT_STRUCT);
	thrift_add_struct(t);
}

void thrift_end(struct thrift *t)
{
	text_char(t->to, 0);
	if (t->depth > 0)
		t->depth--;
}

void thrift_list(struct thrift *t, int id, enum thrift_type of, uint32_t n)
{
	put_field_head(t, id, THRIFT_LIST);
	if (n < 15) {
		text_char(t->to, (char)(n << 4 | of));
	} else {
		text_char(t->to, (char)(0xf0 | of));
		put_varint(t->to, n);
	}
}

static void thrift_add_i32(struct thrift *t, int32_t v)
{
	put_zigzag(t->to, v);
}

void thrift_add_struct(struct thrift *t)
{
	t->last[++t->depth] = 0;
}

/* ---- RLE / bit-packing hybrid ---- */

#define PACK 8U /* numbers that are packed together */

/* Returns how many numbers from v[i] on are equal. */
static uint32_t run_length(const uint16_t *v, uint32_t i, uint32_t n)
{
	uint32_t end = i + 1;

	while (end < n && v[end] == v[i])
		end++;
	return end - i;
}

/* Whether eight numbers from v[i] on are equal. */
static bool run_begins(const uint16_t *v, uint32_t i, uint32_t n)
{
	if (n - i < PACK)
		return false;
	for (uint32_t k = 1; k < PACK; k++)
		if (v[i + k] != v[i])
			return false;
	return true;
}

/* Adds `width` bits a number, the lowest first; pads the last byte with zeros. */
static void put_bits(struct text *to, const uint16_t *v, uint32_t n, unsigned width)
{
	char *p = text_reserve(to, ((size_t)n * width + 7) / 8);
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

static void put_run(struct text *to, uint32_t n, uint16_t value, unsigned width)
{
	put_varint(to, (uint64_t)n << 1);
	text_char(to, (char)value);
	if (width > 8)
		text_char(to, (char)(value >> 8));
}

/* Adds whole groups; pads the last one, at the end of all numbers, with zeros. */
static void put_packed(struct text *to, const uint16_t *v, uint32_t n, unsigned width)
{
	const uint32_t groups = (n + PACK - 1) / PACK;
	const uint32_t whole = n / PACK * PACK;
	uint16_t last[PACK] = { 0 };

	put_varint(to, (uint64_t)groups << 1 | 1);
	put_bits(to, v, whole, width);
	if (whole == n)
		return;
	for (uint32_t i = whole; i < n; i++)
		last[i - whole] = v[i];
	put_bits(to, last, PACK, width);
}

/* Adds small numbers as runs of one value or as groups of eight packed numbers, whichever is shorter
 * (Parquet, Encodings.md: "RLE / Bit-Packing Hybrid").  width: bits a number, 1 to 16. */
static void put_hybrid(struct text *to, const uint16_t *v, uint32_t n, unsigned width)
{
	uint32_t i = 0;

	while (i < n) {
		const uint32_t run = run_length(v, i, n);
		if (run >= PACK || run == n - i) {
			put_run(to, run, v[i], width);
			i += run;
			continue;
		}
		uint32_t end = i;
		while (end < n && !run_begins(v, end, n))
			end = n - end < PACK ? n : end + PACK;
		put_packed(to, v + i, end - i, width);
		i = end;
	}
}

/* ---- differences ---- */

#define DELTA_BLOCK 128U /* number of differences with the same minimum */
#define DELTA_PART 32U   /* number of differences with the same width */

/* Writes DELTA_PART numbers of `width` bits, the lowest first; stores up to 8 bytes more. */
static char *put_part(char *p, const uint64_t *v, unsigned width)
{
	char *const end = p + DELTA_PART / 8 * width;
	uint64_t bits = 0;
	unsigned have = 0;

	for (uint32_t i = 0; i < DELTA_PART; i++) {
		bits |= v[i] << have;
		have += width;
		if (have < 64)
			continue;
		store_uint(p, bits, 8, false);
		p += 8;
		have -= 64;
		bits = have > 0 ? v[i] >> (width - have) : 0;
	}
	store_uint(p, bits, 8, false);
	return end;
}

static unsigned width_of(const uint64_t *v)
{
	uint64_t any = 0;

	for (uint32_t i = 0; i < DELTA_PART; i++)
		any |= v[i];
	return any != 0 ? high_bit(any) + 1 : 0;
}

/* Adds n differences, n > 0: the minimum, the widths of the parts, the parts of a width above 0. */
static void put_block(struct text *to, uint64_t *d, uint32_t n)
{
	int64_t min = INT64_MAX;

	for (uint32_t i = 0; i < n; i++)
		min = (int64_t)d[i] < min ? (int64_t)d[i] : min;
	for (uint32_t i = 0; i < n; i++)
		d[i] -= (uint64_t)min;
	for (uint32_t i = n; i < DELTA_BLOCK; i++)
		d[i] = 0;
	put_zigzag(to, min);
	char *const widths =
	    text_reserve(to, DELTA_BLOCK / DELTA_PART + sizeof(uint64_t) * (DELTA_BLOCK + 1));
	if (widths == NULL)
		return;
	char *p = widths + DELTA_BLOCK / DELTA_PART;
	for (uint32_t i = 0; i < DELTA_BLOCK / DELTA_PART; i++) {
		const unsigned width = width_of(d + (size_t)i * DELTA_PART);
		widths[i] = (char)width;
		if (i * DELTA_PART < n && width > 0)
			p = put_part(p, d + (size_t)i * DELTA_PART, width);
	}
	to->n = (size_t)(p - to->p);
}

/* Adds one or more numbers of 64 bits by their differences (Parquet, Encodings.md: DELTA_BINARY_PACKED).
 * Times and offsets rise, so their differences have few bits. */
static void put_deltas(struct text *to, const struct text *plain)
{
	const uint32_t n = (uint32_t)(plain->n / sizeof(uint64_t));
	uint64_t last, d[DELTA_BLOCK];

	to->failed |= plain->failed;
	if (n == 0)
		return; /* OOM */
	last = load_u64(plain->p, false);
	put_varint(to, DELTA_BLOCK);
	put_varint(to, DELTA_BLOCK / DELTA_PART);
	put_varint(to, n);
	put_zigzag(to, (int64_t)last);
	for (uint32_t i = 1; i < n; i += DELTA_BLOCK) {
		const uint32_t left = n - i, here = left < DELTA_BLOCK ? left : DELTA_BLOCK;
		for (uint32_t k = 0; k < here; k++) {
			const uint64_t v = load_u64(plain->p + (size_t)(i + k) * sizeof v, false);
			d[k] = v - last;
			last = v;
		}
		put_block(to, d, here);
	}
}

/* ---- pages ---- */

#define ZSTD_LEVEL 1

/* Values of parquet.thrift. */
enum { DATA_PAGE = 0, DICTIONARY_PAGE = 2 };

enum { PLAIN = 0, RLE = 3, DELTA_BINARY_PACKED = 5, RLE_DICTIONARY = 8 };

enum { TYPE_BOOLEAN = 0, TYPE_INT32 = 1, TYPE_INT64 = 2, TYPE_DOUBLE = 5, TYPE_BYTE_ARRAY = 6 };

enum { CONVERTED_UTF8 = 0, CONVERTED_JSON = 19, LOGICAL_STRING = 1, LOGICAL_JSON = 12 };

enum { REQUIRED = 0, OPTIONAL = 1 };

enum { CODEC_ZSTD = 6 };

/* Starts a PageHeader with the fields that all kinds have. */
static struct thrift begin_header(struct text *to, int32_t type, size_t unpacked, size_t packed)
{
	struct thrift t = { .to = to };

	thrift_i32(&t, 1, type);
	thrift_i32(&t, 2, (int32_t)unpacked);
	thrift_i32(&t, 3, (int32_t)packed);
	return t;
}

/* DataPageHeader */
static void put_data_header(struct thrift *t, uint32_t rows, int32_t encoding)
{
	thrift_struct(t, 5);
	thrift_i32(t, 1, (int32_t)rows);
	thrift_i32(t, 2, encoding);
	thrift_i32(t, 3, RLE);
	thrift_i32(t, 4, RLE);
	thrift_end(t);
	thrift_end(t);
}

/* Compresses a text into tools->packed. */
static bool compress_page(struct column_tools *tools, const struct text *from)
{
	const size_t max = ZSTD_compressBound(from->n);

	text_clear(&tools->packed);
	char *const p = text_reserve(&tools->packed, max);
	if (note_failure(&tools->failed, from->failed || p == NULL))
		return false;
	const size_t n = ZSTD_compressCCtx(tools->zstd, p, max, from->p, from->n, ZSTD_LEVEL);
	if (ZSTD_isError(n)) { /* OOM, as there is enough space */
		tools->failed = true;
		return false;
	}
	tools->packed.n = n;
	return true;
}

/* Adds the definition levels, preceded by their length. */
static void put_levels(const struct column *c, struct text *to)
{
	const size_t at = to->n;

	text_uint(to, 0, 4, false);
	put_hybrid(to, c->present, c->rows, 1);
	if (!to->failed)
		store_uint(to->p + at, to->n - at - 4, 4, false);
}

static void put_values(const struct column *c, struct text *to, int32_t encoding)
{
	if (c->type == COLUMN_BOOL) {
		put_bits(to, c->numbers, c->nnumbers, 1);
	} else if (encoding == RLE_DICTIONARY) {
		unsigned width = 1; /* minimum, as some readers expect */
		while ((c->dictionary.n - 1) >> width != 0)
			width++;
		text_char(to, (char)width);
		put_hybrid(to, c->numbers, c->nnumbers, width);
	} else if (encoding == DELTA_BINARY_PACKED) {
		put_deltas(to, &c->plain);
	} else {
		text_add(to, c->plain.p, c->plain.n);
	}
}

/* Clears a buffer; frees it if a long value made it large. */
static void clear_buffer(struct text *t)
{
	if (t->cap > 4 * PAGE_BYTES && !t->failed)
		text_free(t);
	else
		text_clear(t);
}

static void put_page(struct column *c, struct column_tools *tools, int32_t encoding)
{
	const struct text *const page = &tools->page;
	const size_t before = c->pages.n;
	struct thrift t = begin_header(&c->pages, DATA_PAGE, page->n, tools->packed.n);

	put_data_header(&t, c->rows, encoding);
	c->unpacked += c->pages.n - before + page->n;
	text_add(&c->pages, tools->packed.p, tools->packed.n);
	tools->failed |= c->pages.failed;
}

void column_end_page(struct column *c, struct column_tools *tools)
{
	const int32_t encoding = c->by_dictionary && !c->is_plain && c->dictionary.n > 0 ? RLE_DICTIONARY
	                         : c->by_delta                                           ? DELTA_BINARY_PACKED
	                                                                                 : PLAIN;
	struct text *const page = &tools->page;

	if (c->rows == 0)
		return;
	text_clear(page);
	if (c->optional)
		put_levels(c, page);
	put_values(c, page, encoding);
	page->failed |= c->plain.failed;
	if (compress_page(tools, page))
		put_page(c, tools, encoding);
	*(encoding == RLE_DICTIONARY ? &c->nnumbered : encoding == PLAIN ? &c->nplain : &c->ndeltas) += 1;
	c->group_rows += c->rows;
	c->rows = c->nnumbers = 0;
	clear_buffer(&c->plain);
	clear_buffer(page);
	clear_buffer(&tools->packed);
}

struct column_position column_put_pages(struct column *c, struct column_tools *tools, struct text *to,
                                        uint64_t offset)
{
	struct column_position position = { .data = offset };
	const size_t begin = to->n;

	if (c->dictionary.n > 0) {
		const struct text *const values = &c->dictionary.plain;
		if (!compress_page(tools, values))
			return position;
		struct thrift t = begin_header(to, DICTIONARY_PAGE, values->n, tools->packed.n);
		thrift_struct(&t, 7); /* DictionaryPageHeader */
		thrift_i32(&t, 1, (int32_t)c->dictionary.n);
		thrift_i32(&t, 2, PLAIN);
		thrift_end(&t);
		thrift_end(&t);
		position.unpacked = to->n - begin + values->n;
		text_add(to, tools->packed.p, tools->packed.n);
		position.has_dictionary = true;
		position.dictionary = offset;
		position.data = offset + (to->n - begin);
	}
	text_add(to, c->pages.p, c->pages.n);
	position.packed = to->n - begin;
	position.unpacked += c->unpacked;
	return position;
}

/* ---- metadata of columns ---- */

static int32_t physical_type(enum column_type type)
{
	static const int32_t types[] = {
		[COLUMN_I32] = TYPE_INT32,       [COLUMN_I64] = TYPE_INT64,
		[COLUMN_F64] = TYPE_DOUBLE,      [COLUMN_BOOL] = TYPE_BOOLEAN,
		[COLUMN_TEXT] = TYPE_BYTE_ARRAY, [COLUMN_JSON] = TYPE_BYTE_ARRAY,
	};

	return types[type];
}

/* Adds a PageEncodingStats: the number of pages with this encoding. */
static void put_count(struct thrift *t, int32_t type, int32_t encoding, uint32_t pages)
{
	if (pages == 0)
		return;
	thrift_add_struct(t);
	thrift_i32(t, 1, type);
	thrift_i32(t, 2, encoding);
	thrift_i32(t, 3, (int32_t)pages);
	thrift_end(t);
}

static void put_counts(const struct column *c, bool has_dictionary, struct thrift *t)
{
	thrift_list(t, 13, THRIFT_STRUCT,
	            0U + has_dictionary + (c->nplain > 0) + (c->ndeltas > 0) + (uint32_t)(c->nnumbered > 0));
	put_count(t, DICTIONARY_PAGE, PLAIN, has_dictionary);
	put_count(t, DATA_PAGE, PLAIN, c->nplain);
	put_count(t, DATA_PAGE, DELTA_BINARY_PACKED, c->ndeltas);
	put_count(t, DATA_PAGE, RLE_DICTIONARY, c->nnumbered);
}

void column_put_meta(const struct column *c, const struct column_position *position, struct thrift *t)
{
	const bool has_dictionary = position->has_dictionary;

	thrift_i32(t, 1, physical_type(c->type));
	thrift_list(t, 2, THRIFT_I32, 2U + (c->ndeltas > 0) + has_dictionary);
	thrift_add_i32(t, RLE);
	thrift_add_i32(t, PLAIN); /* of dictionaries, even if not of data */
	if (c->ndeltas > 0)
		thrift_add_i32(t, DELTA_BINARY_PACKED);
	if (has_dictionary)
		thrift_add_i32(t, RLE_DICTIONARY);
	thrift_list(t, 3, THRIFT_BINARY, 1);
	thrift_add_text(t, slice_str(c->name));
	thrift_i32(t, 4, CODEC_ZSTD);
	thrift_i64(t, 5, (int64_t)c->group_rows);
	thrift_i64(t, 6, (int64_t)position->unpacked);
	thrift_i64(t, 7, (int64_t)position->packed);
	thrift_i64(t, 9, (int64_t)position->data);
	if (has_dictionary)
		thrift_i64(t, 11, (int64_t)position->dictionary);
	thrift_struct(t, 12);
	column_put_bounds(c, t);
	thrift_end(t);
	put_counts(c, has_dictionary, t);
}

void column_put_schema(const struct column *c, struct thrift *t)
{
	const bool is_json = c->type == COLUMN_JSON;

	thrift_i32(t, 1, physical_type(c->type));
	thrift_i32(t, 3, c->optional ? OPTIONAL : REQUIRED);
	thrift_text(t, 4, slice_str(c->name));
	if (c->type != COLUMN_TEXT && !is_json)
		return;
	thrift_i32(t, 6, is_json ? CONVERTED_JSON : CONVERTED_UTF8);
	thrift_struct(t, 10);
	thrift_struct(t, is_json ? LOGICAL_JSON : LOGICAL_STRING);
	thrift_end(t);
	thrift_end(t);
}
