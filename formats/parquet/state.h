#ifndef PARQUET_PARQUET_STATE_H
#define PARQUET_PARQUET_STATE_H

#include "base/parents.h"
#include "base/spill_file.h"
#include "format/fields_json.h"
#include "format/format.h"
#include "parquet/column.h"

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

/* The columns of --column; what is wrong with an option is none of this function's cares. */
void parquet_lift(struct parquet_state *st, const struct option_value *options);

/* What is wrong with an argument of --column; NULL: nothing. */
const char *parquet_arg_mistake(const char *arg);
const char *parquet_part_size_mistake(const char *arg);

/* The columns of an event's row that --column asked for. */
void parquet_put_lifted(struct parquet_state *st, const struct batch *b, const struct event *e,
                        struct ledger *ledger);

/* ---- parquet_event.c ---- */

bool parquet_open_columns(struct parquet_state *st, const struct option_value *options);
bool parquet_declare(struct writer *w, const struct batch *b);
void parquet_put_event(struct parquet_state *st, const struct batch *b, const struct event *e,
                       struct ledger *ledger);

static inline void
parquet_lose(struct ledger *ledger, enum parquet_loss loss, const struct event *e, uint64_t count)
{
	if (count > 0)
		ledger_add(ledger, &parquet_losses[loss], e->offset, count);
}

/* ---- parquet_group.c ---- */

/* Whether the row group is full. */
bool parquet_group_is_full(const struct parquet_state *st);

/* Ends the row group, if it has rows, in the present part, or where that is full in the next one; the pages
 * are then to be drained.  false: no memory, or see `why`; so too below. */
bool parquet_end_group(struct parquet_state *st, struct chunk *chunk);

/* Writes so many bytes of the group that was ended, so that a chunk, of which each thread has several, does
 * not become as long as a group.  true: there are more. */
bool parquet_drain(struct parquet_state *st, struct chunk *chunk, size_t most);

bool parquet_next_part(struct parquet_state *st, struct chunk *chunk);

/* ---- parquet_footer.c ---- */

/* What is known in the end of the whole: the same in each part. */
void parquet_put_about(struct parquet_state *st, const struct writer *w);

/* Writes some of a footer; *more: there is more. */
bool parquet_put_footer(struct parquet_state *st, struct chunk *chunk, bool *more);

#endif
