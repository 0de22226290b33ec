#ifndef PARQUET_PARQUET_H
#define PARQUET_PARQUET_H

#include <zstd.h>

#include "base/memory.h"
#include "base/table.h"
#include "base/os.h"
#include "format/fields_json.h"
#include "format/format.h"
#include "output/text.h"

/* ---- thrift ---- */

/*
 * Writes structures in Thrift's compact protocol, in which Parquet has its
 * headers and its footer (thrift-compact-protocol.md).  Fields of a structure
 * come in the order of their ids.
 */
#define THRIFT_DEPTH 8

/* clang-format off */
enum thrift_type { THRIFT_TRUE = 1, THRIFT_FALSE, THRIFT_BYTE, THRIFT_I16, THRIFT_I32, THRIFT_I64,
	THRIFT_DOUBLE, THRIFT_BINARY, THRIFT_LIST, THRIFT_SET, THRIFT_MAP, THRIFT_STRUCT };

/* clang-format on */

/* Begins as a structure of the top level: { .to = text }, ended by thrift_end(). */
struct thrift {
	struct text *to;
	int last[THRIFT_DEPTH]; /* field id */
	unsigned depth;         /* of structures that are open, below the first */
};

void thrift_i32(struct thrift *t, int id, int32_t v);
void thrift_i64(struct thrift *t, int id, int64_t v);
void thrift_bool(struct thrift *t, int id, bool v);
void thrift_text(struct thrift *t, int id, struct slice s);

/* Opens a structure; thrift_end() ends it. */
void thrift_struct(struct thrift *t, int id);
void thrift_end(struct thrift *t);

/* The head of a list of n things; each is then added by one of the functions below. */
void thrift_list(struct thrift *t, int id, enum thrift_type of, uint32_t n);
void thrift_add_struct(struct thrift *t); /* opens it */

/* ---- bounds ---- */

/*
 * The least and the greatest value of a column in a row group, by which engines skip groups: signed integers,
 * doubles, and texts in the order of their bytes, of which only the beginning is kept.
 */
#define BOUNDS_TEXT 64 /* bytes */

struct bounds_text {
	char p[BOUNDS_TEXT];
	uint32_t n;
	bool cut; /* the value goes on */
};

/* Zero-initialise to start. */
struct bounds {
	bool any;        /* there was a value */
	bool not_number; /* a NaN: there are no bounds then */
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

static inline void bounds_i64(struct bounds *b, int64_t v)
{
	if (!b->any || v < b->i64.min)
		b->i64.min = v;
	if (!b->any || v > b->i64.max)
		b->i64.max = v;
	b->any = true;
}

void bounds_text(struct bounds *b, struct slice s);

enum bounds_kind { BOUNDS_NONE, BOUNDS_I32, BOUNDS_I64, BOUNDS_F64, BOUNDS_TEXTS };

/* The fields of Statistics (parquet.thrift), in a structure that is open. */
void bounds_put(const struct bounds *b, enum bounds_kind kind, uint64_t nulls, struct thrift *t);

/* ---- dictionary ---- */

/* The values of a column in a row group that come again, each stored once. */
#define DICTIONARY_MAX 65536U       /* values: their numbers have 16 bits */
#define DICTIONARY_BYTES (1U << 20) /* of texts */
#define DICTIONARY_NONE UINT32_MAX  /* there is no room, or no memory */

/* Zero-initialise to start. */
struct dictionary {
	struct tabletext texts; /* 2 * number, + 1 if the text was mended */
	struct table64 numbers;
	struct arena arena;
	struct text plain; /* the values, as PLAIN has them */
	uint32_t n;
	bool no_memory;
};

/* The number of a value; *fresh: it is a new one. */

/* Texts that are not UTF-8 are mended: U+FFFD stands for what is not.  *stored: the text as it is now. */
struct dictionary_text {
	uint32_t number;
	bool mended, fresh;
	struct slice stored;
};

struct dictionary_text dictionary_text(struct dictionary *d, struct slice s);

/* ---- PLAIN values ---- */

static inline void plain_u32(struct text *t, uint32_t v)
{
	char *const p = text_room(t, 4);

	if (p == NULL)
		return;
	p[0] = (char)v, p[1] = (char)(v >> 8), p[2] = (char)(v >> 16), p[3] = (char)(v >> 24);
	t->n += 4;
}

static inline void plain_u64(struct text *t, uint64_t v)
{
	char *const p = text_room(t, 8);

	if (p == NULL)
		return;
	p[0] = (char)v, p[1] = (char)(v >> 8), p[2] = (char)(v >> 16), p[3] = (char)(v >> 24);
	p[4] = (char)(v >> 32), p[5] = (char)(v >> 40), p[6] = (char)(v >> 48), p[7] = (char)(v >> 56);
	t->n += 8;
}

/* ---- column ---- */

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

/* A bool, or a value that the dictionary has. */
static inline void column_again(struct column *c, struct column_tools *tools, uint16_t number)
{
	c->numbers[c->nnumbers++] = number;
	column_end_row(c, tools, true);
}

/* Whether the value is in the dictionary of this row group; of all that take `known`: it may be NULL. */
static inline bool column_knows(const struct column *c, const struct column_known *known)
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

/* ---- state ---- */

enum parquet_loss {
#define LOSS(row, ...) PARQUET_LOSS_##row,
#include "parquet/losses.def"
#undef LOSS
	PARQUET_LOSSES
};

extern const struct loss parquet_losses[PARQUET_LOSSES + 1];
extern const struct writer_ops parquet_writer_ops, parquet_dir_writer_ops;

/* The columns that each file has, in this order; behind them those of --column. */
enum parquet_column {
	COL_TS,
	COL_DUR,
	COL_KIND,
	COL_NAME,
	COL_CATEGORY,
	COL_PROCESS,
	COL_PID,
	COL_THREAD,
	COL_TID,
	COL_TRACK,
	COL_LANE,
	COL_DEPTH,
	COL_ID,
	COL_OFFSET,
	COL_ARGS,
	COLS
};

#define DEPTHS 64                /* whose numbers in the dictionary are remembered */
#define PARQUET_LIFTED 32        /* columns of --column */
#define PARQUET_ARG_NAME 255     /* bytes of a name there */
#define GROUP_ROWS (1U << 17)    /* of a row group */
#define GROUP_BYTES (16U << 20)  /* of texts in it; what comes after that begins the next one */
#define GROUP_PIECE (512U << 10) /* of its pages that go out in one go */
#define PART_BYTES (256U << 20)  /* of a part */
#define PART_BYTES_LEAST (1U << 20)
#define PARQUET_MAGIC "PAR1" /* at both ends of a file */
#define PARQUET_MAGIC_SIZE 4

/* A column that --column asked for. */
struct lifted {
	struct slice arg;
	bool looked_for, met; /* in an event; an event has it */
	char name[PARQUET_ARG_NAME + 1];
};

/* One file: the only one, or a part of a folder. */
struct part {
	char name[32]; /* "part-00000.parquet" */
	uint64_t rows;
	uint64_t groups;
	uint64_t meta, meta_bytes; /* where the metadata of its row groups are: see `meta` below */
};

/* What a class or track was declared as. */
struct parquet_class {
	struct column_known *cat;
};

struct parquet_track {
	const struct track *process, *thread, *base; /* thread: NULL for events of a process itself */
	struct column_known *known;                  /* by enum track_cell */
};

enum track_cell { CELL_PROCESS, CELL_PID, CELL_THREAD, CELL_TID, CELL_TRACK, CELL_LANE, CELLS };

struct parquet_state {
	bool in_parts;
	bool signed_time; /* ts may be before 0 */
	uint64_t part_bytes;
	struct column columns[COLS + PARQUET_LIFTED];
	uint32_t ncolumns;
	struct lifted lifted[PARQUET_LIFTED];
	struct column_tools tools;
	struct column_known kinds[9], depths[DEPTHS];
	struct arena arena; /* of what classes and tracks are declared as */
	struct parents parents;
	struct text scratch;
	uint32_t rows; /* in the row group */
	/* files */
	struct part **parts;
	uint32_t nparts, parts_cap;
	uint64_t offset;         /* bytes written of the present part */
	struct text meta;        /* RowGroup structures of all parts, the last ones; those before ... */
	struct spill_file spill; /* ... are there */
	struct text group; /* the pages of the row group that is on its way out, into the present part */
	size_t drained;    /* of them */
	/* the end */
	struct text about; /* key-value metadata */
	uint32_t nabout;
	uint32_t ending;       /* the part whose footer is written */
	uint64_t footer_bytes; /* of it so far */
	uint64_t footer_meta;  /* of its row groups so far */
	const char *beside, *tool;
	char why[512]; /* the first failure of the system; "": none */
};

/* ---- parquet_args.c ---- */

/* What is wrong with an argument of --column; NULL: nothing. */
const char *parquet_arg_mistake(const char *arg);
const char *parquet_part_size_mistake(const char *arg);

/* ---- parquet_event.c ---- */

bool parquet_open_columns(struct parquet_state *st, const struct option_value *options);
bool parquet_declare(struct writer *w, const struct batch *b);

void parquet_put_event(struct parquet_state *st, const struct batch *b, const struct event *e,
                       struct ledger *ledger);

static inline void parquet_lose(struct ledger *ledger, enum parquet_loss loss, const struct event *e,
                                uint64_t count)
{
	if (count > 0)
		ledger_add(ledger, &parquet_losses[loss], e->offset, count);
}

/* ---- parquet_group.c ---- */

/* ---- parquet_footer.c ---- */

#endif
