/*
 * Private header of the SQLite writer.
 *
 *   write.c    a file system for SQLite, of temporary files; rows of events, facts and losses; the writer
 *   tables.c   the database: tables, values, rows, indexes
 */
#ifndef SQLITE_SQLITE_H
#define SQLITE_SQLITE_H

#include <sqlite3.h>

#include "base/os.h"
#include "base/table.h"
#include "format/fields_json.h"
#include "format/format.h"
#include "out/lifted.h"
#include "out/tracks.h"

enum sqlite_loss {
#define LOSS(row, ...) SQLITE_LOSS_##row,
#include "sqlite/losses.def"
#undef LOSS
	SQLITE_LOSSES
};

extern const struct loss sqlite_losses[SQLITE_LOSSES + 1];

/* ---- write.c: the file system ---- */

/* The database file outlives its connection, to be read afterwards; other files of SQLite do not. */
struct sqlite_files {
	sqlite3_vfs vfs; /* registered by the name below */
	char name[40];
	const char *temp_dir; /* borrowed; see spill_open() */
	struct spill_file database;
	bool registered;
	char why[600]; /* the first failure of a file, one line; "": none */
};

/* ---- tables.c ---- */

/* clang-format off */
enum sqlite_table {
	TABLE_META, TABLE_LOSS, TABLE_STRING, TABLE_PROCESS, TABLE_THREAD, TABLE_SPAN, TABLE_INSTANT,
	TABLE_COUNTER, TABLE_FLOW, TABLE_ARG, TABLES
};
/* clang-format on */

/* Rows of large tables are inserted in groups, which is faster. */
#define SQLITE_ROWS 16
#define SQLITE_GROUP_BYTES (1U << 20) /* of text; a group that reaches it is inserted early */

struct sqlite_group {
	int columns;
	int rows;       /* of a full group */
	int n;          /* complete rows */
	uint64_t bytes; /* of texts of the complete rows and of the current row */
};

/* Repeated texts are stored once, within these limits of memory. */
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
	struct lifted lifted; /* columns of --column, which are the last ones of the tables of events */
	struct arena arena;   /* of the classes */
	struct text scratch;  /* a list or map as JSON */
	bool signed_time;     /* ts may be before 0 */
	int64_t last;         /* id of an event */
	bool no_memory;
	char why[700]; /* the first failure; "": none */
};

/* After a failure all functions below do nothing.  Those that return bool return false on failure. */
static inline bool sqlite_failed(const struct sqlite_state *st)
{
	return st->no_memory || st->why[0] != '\0';
}

/* Records the result code of SQLite if it is a failure. */
bool sqlite_check(struct sqlite_state *st, int code);

/* Returns the mistake in an argument of --column; NULL if there is none. */
const char *sqlite_column_mistake(const char *arg);

/* Creates the empty tables, with st->lifted, and prepares the statements that insert rows. */
bool sqlite_create(struct sqlite_state *st);

/* Creates indexes and views, and closes the complete database. */
bool sqlite_finish(struct sqlite_state *st);
void sqlite_disconnect(struct sqlite_state *st);

/* Bind a value to a column, counted from 1, of the current row of a table.  A text that is not UTF-8 or
 * contains NUL becomes a BLOB; an integer beyond 2^63 - 1 becomes a text of digits. */
void sqlite_bind_null(struct sqlite_state *st, enum sqlite_table table, int column);
void sqlite_bind_i64(struct sqlite_state *st, enum sqlite_table table, int column, int64_t v);
void sqlite_bind_u64(struct sqlite_state *st, enum sqlite_table table, int column, uint64_t v);
void sqlite_bind_text(struct sqlite_state *st, enum sqlite_table table, int column, struct slice s);

/* A column, and the event to which losses of its value belong. */
struct sqlite_target {
	enum sqlite_table table;
	int column;
	struct ledger *ledger; /* NULL: losses are not counted */
	uint64_t offset;
};

void sqlite_bind_value(struct sqlite_state *st, struct sqlite_target to, const struct value *v);

/* Binds the columns of --column of the current row of a table of events; ledger: as in sqlite_target. */
void sqlite_bind_lifted(struct sqlite_state *st, enum sqlite_table table, const struct batch *b,
                        const struct event *e, struct ledger *ledger);

/* Inserts the current row, whose columns must all be bound.  Rows are inserted in order, a group at once. */
bool sqlite_insert(struct sqlite_state *st, enum sqlite_table table);

/* Returns the id of a text in the table of strings, and inserts it if it is new. */
int64_t sqlite_string(struct sqlite_state *st, struct slice s);

#endif
