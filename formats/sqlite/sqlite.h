#ifndef SQLITE_SQLITE_H
#define SQLITE_SQLITE_H

#include <sqlite3.h>

#include "base/table.h"
#include "base/os.h"
#include "format/fields_json.h"
#include "format/format.h"

/* ---- files ---- */

/*
 * The files that SQLite works on: temporary ones without a name.  The database
 * outlives its connection, to be read then; what SQLite needs on the way is
 * gone when it is closed.  Nothing is locked and nothing is synchronised.
 */
struct sqlite_files {
	sqlite3_vfs vfs; /* its name is registered with SQLite */
	char name[40];
	const char *beside; /* borrowed; see spill_open() */
	struct spill_file database;
	bool registered;
	char why[600]; /* the first failure of a file, one line; "": none */
};

/* Zero-initialise *f, which must not move then.  Returns a result code of SQLite. */
int sqlite_files_open(struct sqlite_files *f, const char *beside);

/* When the connection is closed.  Also after a failure, and of what was never opened. */
void sqlite_files_close(struct sqlite_files *f);

/* ---- state ---- */

enum sqlite_loss {
#define LOSS(row, ...) SQLITE_LOSS_##row,
#include "sqlite/losses.def"
#undef LOSS
	SQLITE_LOSSES
};

extern const struct loss sqlite_losses[SQLITE_LOSSES + 1];
extern const struct writer_ops sqlite_writer_ops;

enum sqlite_table {
	TABLE_META,
	TABLE_LOSS,
	TABLE_STRING,
	TABLE_PROCESS,
	TABLE_THREAD,
	TABLE_SPAN,
	TABLE_INSTANT,
	TABLE_COUNTER,
	TABLE_FLOW,
	TABLE_ARG,
	TABLES
};

/* Rows of large tables are inserted in groups, which is faster; one that holds more text than this sooner. */
#define SQLITE_ROWS 16
#define SQLITE_GROUP_BYTES (1U << 20)

struct sqlite_group {
	int columns, rows; /* rows: of a full one */
	int n;             /* rows that were bound */
	uint64_t bytes;    /* of their texts, and of those of the row that is being bound */
};

/* Whether it is, with the row that is being bound. */
static inline bool sqlite_group_is_full(const struct sqlite_group *g)
{
	return g->n + 1 == g->rows || g->bytes >= SQLITE_GROUP_BYTES;
}

/* Texts that come again are stored once, as long as there is room to remember them. */
#define SQLITE_STRINGS (1U << 18)
#define SQLITE_STRING_BYTES (32U << 20)

struct sqlite_strings {
	struct tabletext ids;
	struct arena arena;
	int64_t last; /* id */
};

struct sqlite_state {
	struct sqlite_files files;
	sqlite3 *db;
	sqlite3_stmt *insert[TABLES];
	struct sqlite_group groups[TABLES];
	struct sqlite_strings strings;
	struct parents parents;
	struct arena arena;  /* of what classes are declared as */
	struct text scratch; /* a list or map as JSON */
	bool signed_time;    /* ts may be before 0 */
	int64_t last;        /* id of an event */
	bool no_memory;
	bool complete;    /* the database is closed: what is left is to write it */
	uint64_t written; /* bytes of it */
	char why[700];    /* the first failure; "": none */
};

/* What is wrong so far; all that follows does nothing then. */
static inline bool sqlite_failed(const struct sqlite_state *st)
{
	return st->no_memory || st->why[0] != '\0';
}

/* ---- sqlite_tables.c ---- */

/* Takes a result code: remembers a failure.  true: it was none. */
bool sqlite_took(struct sqlite_state *st, int code);

/* Makes the empty tables, and what inserts into them.  false, below too: it failed, see sqlite_failed(). */
bool sqlite_begin(struct sqlite_state *st);

/* Indexes and views; the database is complete and closed then. */
bool sqlite_finish(struct sqlite_state *st);

/* Takes the row that was bound in all its columns.  Rows go in in order, with others of their group. */
bool sqlite_insert(struct sqlite_state *st, enum sqlite_table table);

/* Also after a failure. */
void sqlite_end(struct sqlite_state *st);

/* ---- sqlite_bind.c ---- */

/* Where a value goes: the column of a table, from 1; and the event that loses something there. */
struct sqlite_place {
	enum sqlite_table table;
	int column;
	struct ledger *ledger;
	uint64_t offset;
};

/* Text; a BLOB of its bytes if it is not UTF-8 or has a NUL in it. */
void sqlite_bind_text(struct sqlite_state *st, enum sqlite_table table, int column, struct slice s);

/* Beyond 2^63 - 1: text of its digits. */
void sqlite_bind_u64(struct sqlite_state *st, enum sqlite_table table, int column, uint64_t v);
void sqlite_bind_value(struct sqlite_state *st, struct sqlite_place at, const struct value *v);

/* ---- sqlite_event.c ---- */

/* What a class is declared as: the id of its category. */
struct sqlite_class {
	int64_t category;
};

/* ---- sqlite_meta.c ---- */

/* What is known at the end: facts of the trace, and losses. */
bool sqlite_meta(struct sqlite_state *st, const struct writer *w, struct ledger *ledger);

#endif
