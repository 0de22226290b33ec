#ifndef PARQUET_PARQUET_COLUMN_H
#define PARQUET_PARQUET_COLUMN_H

#include <zstd.h>

#include "parquet/bounds.h"
#include "parquet/dictionary.h"

/*
 * One column of a row group.  Values come row by row; when a page is full it is
 * encoded, compressed and added to the pages of the group.  So what is in memory
 * is one page of each column, and the compressed pages.
 */
#define PAGE_ROWS 16384U
#define PAGE_BYTES (256U << 10) /* of values; one longer value makes a longer page */
#define VALUE_MOST (64U << 20)  /* longer ones are not written: see column_text() */

enum column_type {
	COLUMN_I32,
	COLUMN_I64,
	COLUMN_F64,
	COLUMN_BOOL,
	COLUMN_TEXT,
	COLUMN_JSON, /* a text */
};

/* Of a value that comes again: its number in the dictionary of a row group. */
struct column_known {
	uint64_t group;
	uint16_t number;
	bool mended;
};

struct column {
	const char *name; /* valid UTF-8 */
	enum column_type type;
	bool optional;      /* it has nulls */
	bool by_dictionary; /* as long as the dictionary has room */
	/* the page */
	uint32_t rows;
	uint16_t *numbers,
	    *present; /* PAGE_ROWS each: in the dictionary, or bools; 1 or 0, if it is optional */
	uint32_t nnumbers;
	struct text plain;
	/* the row group */
	uint64_t group; /* from 1 on */
	struct dictionary dictionary;
	bool is_plain; /* from now on: it has no room */
	struct bounds bounds;
	uint64_t group_rows, nulls;
	struct text pages;
	uint32_t nplain, nnumbered; /* of them: with values, with numbers of the dictionary */
	uint64_t unpacked;          /* bytes of `pages` before compression, with headers */
};

/* What encoding a page takes; one for all columns. */
struct column_tools {
	ZSTD_CCtx *zstd;
	struct text page, packed;
	uint64_t bytes; /* of texts in the row group, for its bound */
	bool failed;    /* no memory */
};

bool column_open(struct column *c); /* false: no memory */
void column_free(struct column *c);

/* Ends the page, if it has rows. */
void column_end_page(struct column *c, struct column_tools *tools);

static inline void
column_end_row(struct column *c, struct column_tools *tools, bool present)
{
	if (c->optional)
		c->present[c->rows] = present;
	c->rows++;
	if (c->rows == PAGE_ROWS || c->plain.n >= PAGE_BYTES)
		column_end_page(c, tools);
}

static inline void
column_null(struct column *c, struct column_tools *tools)
{
	c->nulls++;
	column_end_row(c, tools, false);
}

/* A bool, or a value that the dictionary has. */
static inline void
column_again(struct column *c, struct column_tools *tools, uint16_t number)
{
	c->numbers[c->nnumbers++] = number;
	column_end_row(c, tools, true);
}

/* Whether the value is in the dictionary of this row group; of all that take `known`: it may be NULL. */
static inline bool
column_knows(const struct column *c, const struct column_known *known)
{
	return known != NULL && known->group == c->group && !c->is_plain;
}

void column_number(struct column *c, struct column_tools *tools, int64_t v); /* I32, I64, BOOL */
void column_f64(struct column *c, struct column_tools *tools, double v);

/* Of a column with a dictionary; known: of this number. */
void column_known_number(struct column *c, struct column_tools *tools, int64_t v, struct column_known *known);

/* TEXT, JSON.  known: of this text.  Returns whether it had to be mended.  Texts are at most VALUE_MOST long.
 */
bool column_text(struct column *c, struct column_tools *tools, struct slice s, struct column_known *known);

/* A text of a column without a dictionary that is made in place: what is added to the result between these
 * two calls, in valid UTF-8, is its value.  false: it is too long, and null. */
struct text *column_begin_text(struct column *c, size_t *at);
bool column_end_text(struct column *c, struct column_tools *tools, size_t at);

/* ---- parquet_page.c ---- */

/* Where a column of a row group is, for its metadata. */
struct column_place {
	bool has_dictionary;
	uint64_t dictionary, data; /* offsets in the file */
	uint64_t packed, unpacked; /* bytes, with headers */
};

/* Adds the pages of the group to `to`, whose first byte is at `offset`. */
struct column_place column_put_pages(struct column *c, struct column_tools *tools, struct text *to,
                                     uint64_t offset);

/* ColumnMetaData (parquet.thrift), in a structure that is open. */
void column_put_meta(const struct column *c, const struct column_place *place, struct thrift *t);

/* The next row group. */
void column_next_group(struct column *c);

/* SchemaElement, likewise. */
void column_put_schema(const struct column *c, struct thrift *t);

#endif
