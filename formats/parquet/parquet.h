#ifndef PARQUET_PARQUET_H
#define PARQUET_PARQUET_H

/*
 * Private header of the Parquet writer: one row an event, in row groups of one or several files.  rows.c adds
 * the cells of an event to columns (columns.c), which encode full pages (pages.c); write.c writes full row
 * groups.
 *
 *   write.c    row groups, parts, footer: the writer
 *   rows.c     columns of events, and of --column; an event as a row
 *   columns.c  values of a column: pages, dictionary, bounds
 *   pages.c    encodings: Thrift, RLE, pages, metadata of columns
 */

#include <zstd.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/os.h"
#include "base/table.h"
#include "format/fields_json.h"
#include "format/format.h"
#include "out/kind.h"
#include "out/lifted.h"
#include "out/tracks.h"
#include "output/text.h"

/* ---- Thrift (pages.c) ---- */

/*
 * Writes structures in Thrift's compact protocol, the encoding of headers and footer of Parquet
 * (thrift-compact-protocol.md).  Fields of a structure must be added in the order of their ids.
 */
#define THRIFT_DEPTH 8

/* clang-format off */
enum thrift_type { THRIFT_TRUE = 1, THRIFT_FALSE, THRIFT_BYTE, THRIFT_I16, THRIFT_I32, THRIFT_I64,
	THRIFT_DOUBLE, THRIFT_BINARY, THRIFT_LIST, THRIFT_SET, THRIFT_MAP, THRIFT_STRUCT };

/* clang-format on */

/* { .to = text } initialises it and opens a structure at the top level; thrift_end() ends that. */
struct thrift {
	struct text *to;
	int last[THRIFT_DEPTH]; /* id of the last field, per open structure */
	unsigned depth;         /* number of open structures below the first */
};

void thrift_i32(struct thrift *t, int id, int32_t v);
void thrift_i64(struct thrift *t, int id, int64_t v);
void thrift_bool(struct thrift *t, int id, bool v);
void thrift_text(struct thrift *t, int id, struct slice s);

/* Opens a structure; thrift_end() ends it. */
void thrift_struct(struct thrift *t, int id);
void thrift_end(struct thrift *t);

/* Adds the head of a list of n elements, which must follow. */
void thrift_list(struct thrift *t, int id, enum thrift_type of, uint32_t n);
void thrift_add_struct(struct thrift *t); /* opens a structure as an element */

/* ---- bounds and dictionary of a column (columns.c) ---- */

/*
 * The minimum and maximum of a column in a row group, by which query engines skip groups: signed integers,
 * doubles, or texts in the order of their bytes.  Only the start of a text is kept.
 */
#define BOUNDS_TEXT 64 /* bytes */

struct bounds_text {
	char p[BOUNDS_TEXT];
	uint32_t n;
	bool cut; /* the value is longer */
};

/* Zero-initialise to start. */
struct bounds {
	bool any;        /* there was a value; bools and JSON have no bounds */
	bool not_number; /* a value was NaN: bounds are not written */
	union {
		struct {
			int64_t min, max;
		} i64;
		struct {
			double min, max;
		} f64;
	};
	struct bounds_text min, max;
};

/* The values of a column in a row group, each stored once.  Zero-initialise to start. */
struct dictionary {
	struct tabletext texts; /* text -> 2 * number, + 1 if the text was repaired */
	struct table64 numbers;
	struct arena arena;
	struct text plain; /* the values in PLAIN encoding */
	uint32_t n;
	bool no_memory;
};

/* ---- columns (columns.c) ---- */

/*
 * One column of a row group.  Values are added row by row; a full page is encoded, compressed and added to
 * the pages of the group.  Memory: one page of each column, and the compressed pages of the group.
 */
#define PAGE_ROWS 16384U
#define PAGE_BYTES (256U << 10) /* of values; one longer value makes a longer page */
#define VALUE_MAX (64U << 20)   /* longer values are not written */

enum column_type { COLUMN_I32, COLUMN_I64, COLUMN_F64, COLUMN_BOOL, COLUMN_TEXT, COLUMN_JSON /* a text */ };

/* Cached number of a repeated value in the dictionary of the row group `group`. */
struct column_known {
	uint64_t group;
	uint16_t number;
	bool repaired;
};

struct column {
	const char *name; /* valid UTF-8 */
	enum column_type type;
	bool optional;      /* nulls are allowed */
	bool by_dictionary; /* values are numbers of the dictionary until that is full */
	bool by_delta;      /* values are differences; only I64 without nulls and dictionary */
	/* the page */
	uint32_t rows;
	uint16_t *numbers; /* [PAGE_ROWS] numbers of the dictionary, or bools */
	uint16_t *present; /* [PAGE_ROWS] 1, or 0 for null; if optional */
	uint32_t nnumbers;
	struct text plain;
	/* the row group */
	uint64_t group; /* from 1 on */
	struct dictionary dictionary;
	bool is_plain; /* the dictionary is full: further values are PLAIN */
	struct bounds bounds;
	uint64_t group_rows, nulls;
	struct text pages;
	uint32_t nplain, nnumbered, ndeltas; /* pages with values, numbers of the dictionary, differences */
	uint64_t unpacked;                   /* bytes of `pages` before compression, with headers */
};

/* Buffers for the encoding of pages, shared by all columns. */
struct column_tools {
	ZSTD_CCtx *zstd;
	struct text page, packed;
	uint64_t bytes; /* of texts in the row group; for its limit */
	bool failed;    /* OOM */
};

bool column_open(struct column *c);
void column_free(struct column *c);

/* Ends the page if it has rows (pages.c). */
void column_end_page(struct column *c, struct column_tools *tools);

static inline void column_end_row(struct column *c, struct column_tools *tools, bool present)
{
	if (c->optional)
		c->present[c->rows] = present;
	c->rows++;
	if (c->rows == PAGE_ROWS || c->plain.n >= PAGE_BYTES)
		column_end_page(c, tools);
}

static inline void column_null(struct column *c, struct column_tools *tools)
{
	c->nulls++;
	column_end_row(c, tools, false);
}

/* Adds a bool, or a value of the dictionary by its number. */
static inline void column_add_number(struct column *c, struct column_tools *tools, uint16_t number)
{
	c->numbers[c->nnumbers++] = number;
	column_end_row(c, tools, true);
}

/* Whether `known` has the value's number in the dictionary of this row group.  `known` may be NULL,
 * here and below. */
static inline bool column_knows(const struct column *c, const struct column_known *known)
{
	return known != NULL && known->group == c->group && !c->is_plain;
}

void column_number(struct column *c, struct column_tools *tools, int64_t v); /* I32, I64, BOOL */
void column_f64(struct column *c, struct column_tools *tools, double v);

/* Adds a number to a column with a dictionary.  known: cache of this number. */
void column_known_number(struct column *c, struct column_tools *tools, int64_t v, struct column_known *known);

/* Adds a text of at most VALUE_MAX bytes to a column of TEXT or JSON.  known: cache of this text.  Returns
 * true if the text was repaired: U+FFFD replaces bytes that are not UTF-8. */
bool column_text(struct column *c, struct column_tools *tools, struct slice s, struct column_known *known);

/* Build a text in place, in a column without a dictionary: between these two calls the caller appends valid
 * UTF-8 to the returned text.  column_end_text() returns false if it is too long: the value is null then. */
struct text *column_begin_text(struct column *c, size_t *at);
bool column_end_text(struct column *c, struct column_tools *tools, size_t at);

/* Adds the fields of Statistics (parquet.thrift) to an open structure. */
void column_put_bounds(const struct column *c, struct thrift *t);

/* Starts the next row group. */
void column_next_group(struct column *c);

/* ---- columns in the file (pages.c) ---- */

/* Position of a column of a row group in the file. */
struct column_position {
	bool has_dictionary;
	uint64_t dictionary, data; /* offsets in the file */
	uint64_t packed, unpacked; /* bytes, with headers */
};

/* Adds the pages of the group to `to`.  In the returned position their first byte is at `offset`. */
struct column_position column_put_pages(struct column *c, struct column_tools *tools, struct text *to,
                                        uint64_t offset);

/* Adds ColumnMetaData and SchemaElement (parquet.thrift) to an open structure. */
void column_put_meta(const struct column *c, const struct column_position *position, struct thrift *t);
void column_put_schema(const struct column *c, struct thrift *t);

/* ---- the writer ---- */

enum parquet_loss {
#define LOSS(row, ...) PARQUET_LOSS_##row,
#include "parquet/losses.def"
#undef LOSS
	PARQUET_LOSSES
};

extern const struct loss parquet_losses[PARQUET_LOSSES + 1];

/* The columns of each file, in this order; those of --column follow. */
/* clang-format off */
enum parquet_column {
	COL_TS, COL_DUR, COL_KIND, COL_NAME, COL_CATEGORY, COL_PROCESS, COL_PID, COL_THREAD, COL_TID,
	COL_TRACK, COL_LANE, COL_DEPTH, COL_ID, COL_OFFSET, COL_ARGS, COLS
};
/* clang-format on */

#define DEPTHS 64               /* depths with a cached number */
#define GROUP_ROWS (1U << 17)   /* of a row group */
#define GROUP_BYTES (16U << 20) /* of texts in a row group; at this limit the next event starts a new one */
#define PART_BYTES (256U << 20) /* of a part, by default */

/* A file: the output, or a part of an output folder. */
struct part {
	char name[32]; /* "part-00000.parquet" */
	uint64_t rows;
	uint64_t groups;
	uint64_t meta, meta_bytes; /* range of the metadata of its row groups in parquet_state.meta */
};

struct parquet_state {
	bool in_parts;
	bool signed_time; /* ts may be before 0 */
	uint64_t part_bytes;
	struct column columns[COLS + LIFTED_MAX];
	uint32_t ncolumns;
	struct lifted lifted;
	struct column_tools tools;
	struct column_known kinds[EVENT_KINDS], depths[DEPTHS];
	struct known_text names[KNOWN_TEXTS]; /* of events */
	struct column_known known_names[KNOWN_TEXTS];
	struct column_known *categories; /* by index of the trace's class */
	uint32_t ncategories;
	struct arena arena; /* declarations of tracks */
	struct parents parents;
	struct text scratch;
	uint32_t rows; /* in the row group */
	/* files */
	struct part **parts; /* in the arena: the engine borrows their names */
	uint32_t nparts, parts_cap;
	uint64_t offset;         /* bytes written of the current part */
	struct text meta;        /* the latest RowGroup structures of all parts */
	struct spill_file spill; /* the earlier ones */
	struct text group;       /* pages of the last full row group */
	size_t drained;          /* bytes of `group` that are written */
	/* the end */
	struct text metadata; /* key-value pairs */
	uint32_t nmetadata;
	uint32_t ending;       /* index of the part whose footer is being written */
	uint64_t footer_bytes; /* written bytes of that footer */
	uint64_t footer_meta;  /* written bytes of its row groups' metadata */
	const char *temp_near, *tool;
	char why[512]; /* first failure of a system call; "": none */
};

/* ---- rows.c ---- */

/* Returns the mistake in an argument of --column; NULL if there is none. */
const char *parquet_column_mistake(const char *arg);

bool parquet_open_columns(struct parquet_state *st, const struct option_value *options);
bool parquet_declare(struct writer *w, const struct batch *b, struct chunk *chunk);

void parquet_put_event(struct parquet_state *st, const struct batch *b, const struct event *e,
                       struct chunk *chunk);

void parquet_count_json_losses(struct chunk *chunk, uint64_t offset, const struct fields_json_lost *lost);

#endif
