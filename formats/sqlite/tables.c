/*
 * The database: its tables, their rows and values, and at the end indexes and views.  All rows are inserted
 * in one transaction, by statements that are prepared once; text is always bound.  Each index is created at
 * the end, from all its rows.
 */
#include <math.h>
#include <stdio.h>

#include "base/numbers.h"
#include "base/scan.h"
#include "sqlite/sqlite.h"

/* ---- tables ---- */

#define USER_VERSION "1" /* version of the tables; changes that break queries increment it */

/* No journal: a database that fails is discarded. */
static const char schema[] =
    "PRAGMA page_size = 4096;"
    "PRAGMA journal_mode = OFF;"
    "PRAGMA synchronous = OFF;"
    "PRAGMA locking_mode = EXCLUSIVE;"
    "PRAGMA temp_store = FILE;"
    "PRAGMA cache_size = -16384;" /* KiB */
    "PRAGMA threads = 0;"
    "PRAGMA user_version = " USER_VERSION ";"
    "BEGIN;"
    "CREATE TABLE meta(who TEXT NOT NULL, name NOT NULL, value);"
    "CREATE TABLE loss(id TEXT NOT NULL, text TEXT NOT NULL, count INTEGER NOT NULL, first_offset);"
    "CREATE TABLE string(id INTEGER PRIMARY KEY, text NOT NULL);"
    "CREATE TABLE process(id INTEGER PRIMARY KEY, pid, name NOT NULL);"
    "CREATE TABLE thread(id INTEGER PRIMARY KEY, process INTEGER REFERENCES process(id),"
    " parent INTEGER REFERENCES thread(id), tid, name NOT NULL, thread INTEGER REFERENCES thread(id));"
    "CREATE TABLE span(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, ts_ns INTEGER NOT NULL,"
    " dur_ns INTEGER NOT NULL,"
    " name INTEGER REFERENCES string(id), category INTEGER REFERENCES string(id),"
    " process INTEGER REFERENCES process(id), thread INTEGER REFERENCES thread(id),"
    " lane INTEGER, parent INTEGER REFERENCES span(id), depth INTEGER, offset);"
    "CREATE TABLE instant(id INTEGER PRIMARY KEY, ts_ns INTEGER NOT NULL,"
    " name INTEGER REFERENCES string(id), category INTEGER REFERENCES string(id),"
    " process INTEGER REFERENCES process(id), thread INTEGER REFERENCES thread(id), offset);"
    "CREATE TABLE counter(id INTEGER PRIMARY KEY, ts_ns INTEGER NOT NULL,"
    " name INTEGER REFERENCES string(id), category INTEGER REFERENCES string(id),"
    " process INTEGER REFERENCES process(id), thread INTEGER REFERENCES thread(id),"
    " series INTEGER REFERENCES string(id), value, offset);"
    "CREATE TABLE flow(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, ts_ns INTEGER NOT NULL, flow NOT NULL,"
    " name INTEGER REFERENCES string(id), category INTEGER REFERENCES string(id),"
    " process INTEGER REFERENCES process(id), thread INTEGER REFERENCES thread(id), offset);"
    "CREATE TABLE arg(event INTEGER, name INTEGER REFERENCES string(id), value);";

static const struct {
	const char *name;
	int columns; /* without those of --column */
	bool grouped;
} tables[TABLES] = {
	[TABLE_META] = { "meta", 3, false },      [TABLE_LOSS] = { "loss", 4, false },
	[TABLE_STRING] = { "string", 2, false },  [TABLE_PROCESS] = { "process", 3, false },
	[TABLE_THREAD] = { "thread", 6, false },  [TABLE_SPAN] = { "span", 12, true },
	[TABLE_INSTANT] = { "instant", 7, true }, [TABLE_COUNTER] = { "counter", 9, true },
	[TABLE_FLOW] = { "flow", 9, true },       [TABLE_ARG] = { "arg", 3, true },
};

static bool has_events(enum sqlite_table table)
{
	return table >= TABLE_SPAN && table <= TABLE_FLOW;
}

static int columns_of(const struct sqlite_state *st, enum sqlite_table table)
{
	return tables[table].columns + (has_events(table) ? (int)st->lifted.n : 0);
}

const char *sqlite_column_mistake(const char *arg)
{
	/* of the tables of events and of their views */
	static const char *const names[] = { "id",      "kind",  "ts_ns",  "dur_ns", "name",  "category",
		                             "process", "pid",   "thread", "tid",    "track", "lane",
		                             "parent",  "depth", "offset", "series", "value", "flow" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (lifted_is(arg, names[i]))
			return "takes no name that a column of each database has (tracetool-sqlite(5) lists "
			       "them)";
	return lifted_mistake(arg);
}

bool sqlite_check(struct sqlite_state *st, int code)
{
	if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW)
		return !sqlite_failed(st);
	if (sqlite_failed(st))
		return false;
	if (code == SQLITE_NOMEM || code == SQLITE_IOERR_NOMEM)
		st->no_memory = true;
	else if (st->files.why[0] != '\0')
		(void)snprintf(st->why, sizeof st->why, "%s", st->files.why);
	else
		(void)snprintf(st->why, sizeof st->why, "the database cannot be made: %s",
		               st->db != NULL ? sqlite3_errmsg(st->db) : sqlite3_errstr(code));
	return false;
}

/* ---- rows ---- */

/* "INSERT INTO arg SELECT * FROM (VALUES(?,?,?),...) LIMIT ?": LIMIT is for groups that are not full. */
static void write_insert(struct text *sql, enum sqlite_table table, int columns)
{
	const bool grouped = tables[table].grouped;
	const int rows = grouped ? SQLITE_ROWS : 1;

	text_printf(sql, "INSERT INTO %s %s", tables[table].name, grouped ? "SELECT * FROM (" : "");
	for (int i = 0; i < rows * columns; i++)
		text_str(sql, i == 0 ? "VALUES(?" : i % columns == 0 ? "),(?" : ",?");
	text_str(sql, grouped ? ")) LIMIT ?" : ")");
}

static bool prepare_insert(struct sqlite_state *st, enum sqlite_table table)
{
	struct text sql = { .p = NULL };

	write_insert(&sql, table, columns_of(st, table));
	st->no_memory |= sql.failed;
	if (!sql.failed)
		(void)sqlite_check(st,
		                   sqlite3_prepare_v3(st->db, sql.p, (int)sql.n, SQLITE_PREPARE_PERSISTENT,
		                                      &st->insert[table], NULL));
	text_free(&sql);
	st->groups[table] = (struct sqlite_group){ .columns = columns_of(st, table),
		                                   .rows = tables[table].grouped ? SQLITE_ROWS : 1 };
	return !sqlite_failed(st);
}

/* Inserts the rows that were bound. */
static bool insert_group(struct sqlite_state *st, enum sqlite_table table)
{
	struct sqlite_group *const g = &st->groups[table];

	if (tables[table].grouped && !sqlite_failed(st))
		(void)sqlite_check(st,
		                   sqlite3_bind_int(st->insert[table], SQLITE_ROWS * g->columns + 1, g->n));
	if (!sqlite_failed(st)) {
		(void)sqlite_check(st, sqlite3_step(st->insert[table]));
		(void)sqlite_check(st, sqlite3_reset(st->insert[table]));
	}
	g->n = 0;
	g->bytes = 0;
	return !sqlite_failed(st);
}

/* Whether the group is full with the current row, whose columns are being bound. */
static inline bool group_is_full(const struct sqlite_group *g)
{
	return g->n + 1 == g->rows || g->bytes >= SQLITE_GROUP_BYTES;
}

bool sqlite_insert(struct sqlite_state *st, enum sqlite_table table)
{
	struct sqlite_group *const g = &st->groups[table];
	const bool full = group_is_full(g);

	g->n++;
	return full ? insert_group(st, table) : !sqlite_failed(st);
}

/* ---- texts and integers ---- */

static bool is_text(struct slice s)
{
	if ((s.flags & SLICE_JSON) != 0 || s.n == 0)
		return true;
	return memchr(s.p, '\0', s.n) == NULL && ((s.flags & SLICE_UTF8) != 0 || utf8_valid(s.p, s.n));
}

/* Returns the parameter for a column of the current row. */
static int parameter(const struct sqlite_state *st, enum sqlite_table table, int column)
{
	return st->groups[table].n * st->groups[table].columns + column;
}

/* Binds bytes.  SQLite copies them unless their group is full, as it is inserted before they can change. */
static void bind_bytes(struct sqlite_state *st, enum sqlite_table table, int column, struct slice s,
                       bool text)
{
	sqlite3_stmt *const to = st->insert[table];
	const int at = parameter(st, table, column);
	const char *const p = s.n > 0 ? s.p : "";

	if (sqlite_failed(st))
		return;
	st->groups[table].bytes += s.n;
	const sqlite3_destructor_type lifetime =
	    group_is_full(&st->groups[table]) ? SQLITE_STATIC : SQLITE_TRANSIENT;
	sqlite_check(st, text ? sqlite3_bind_text64(to, at, p, s.n, lifetime, SQLITE_UTF8)
	                      : sqlite3_bind_blob64(to, at, p, s.n, lifetime));
}

void sqlite_bind_text(struct sqlite_state *st, enum sqlite_table table, int column, struct slice s)
{
	bind_bytes(st, table, column, s, is_text(s));
}

void sqlite_bind_i64(struct sqlite_state *st, enum sqlite_table table, int column, int64_t v)
{
	if (!sqlite_failed(st))
		sqlite_check(st, sqlite3_bind_int64(st->insert[table], parameter(st, table, column), v));
}

void sqlite_bind_null(struct sqlite_state *st, enum sqlite_table table, int column)
{
	if (!sqlite_failed(st))
		sqlite_check(st, sqlite3_bind_null(st->insert[table], parameter(st, table, column)));
}

static void bind_copy(struct sqlite_state *st, enum sqlite_table table, int column, const char *p, size_t n)
{
	if (!sqlite_failed(st))
		sqlite_check(st, sqlite3_bind_text64(st->insert[table], parameter(st, table, column), p, n,
		                                     SQLITE_TRANSIENT, SQLITE_UTF8));
}

void sqlite_bind_u64(struct sqlite_state *st, enum sqlite_table table, int column, uint64_t v)
{
	char digits[DECIMAL_U64_MAX];

	if (v <= INT64_MAX)
		sqlite_bind_i64(st, table, column, (int64_t)v);
	else
		bind_copy(st, table, column, digits, (size_t)(decimal_u64(digits, v) - digits));
}

int64_t sqlite_string(struct sqlite_state *st, struct slice s)
{
	struct sqlite_strings *const all = &st->strings;
	const uint32_t found = tabletext_get(&all->ids, s);

	if (found != TABLE_NONE)
		return found;
	const int64_t id = ++all->last;
	sqlite_bind_i64(st, TABLE_STRING, 1, id);
	sqlite_bind_text(st, TABLE_STRING, 2, s);
	(void)sqlite_insert(st, TABLE_STRING);
	if (all->ids.used < SQLITE_STRINGS && all->arena.used < SQLITE_STRING_BYTES && id < TABLE_NONE) {
		const struct slice copy = arena_copy(&all->arena, s);
		st->no_memory |= copy.p == NULL || !tabletext_put(&all->ids, copy, (uint32_t)id);
	}
	return id;
}

/* ---- values of fields ---- */

static void add_loss(struct sqlite_target to, enum sqlite_loss loss, uint32_t count)
{
	if (count > 0 && to.ledger != NULL)
		ledger_add(to.ledger, &sqlite_losses[loss], to.offset, count);
}

static void bind_real(struct sqlite_state *st, struct sqlite_target to, double v)
{
	if (isnan(v)) {
		add_loss(to, SQLITE_LOSS_NOT_A_NUMBER, 1);
		sqlite_bind_text(st, to.table, to.column, SLICE_LIT("NaN"));
	} else if (!sqlite_failed(st)) {
		add_loss(to, SQLITE_LOSS_NEGATIVE_ZERO, v == 0 && signbit(v));
		sqlite_check(
		    st, sqlite3_bind_double(st->insert[to.table], parameter(st, to.table, to.column), v));
	}
}

static void count_json_losses(struct sqlite_target to, const struct fields_json_lost *lost)
{
	add_loss(to, SQLITE_LOSS_BAD_TEXT, lost->bad_text);
	add_loss(to, SQLITE_LOSS_NOT_A_NUMBER, lost->not_a_number);
	add_loss(to, SQLITE_LOSS_TOO_DEEP, lost->too_deep);
}

static void bind_json(struct sqlite_state *st, struct sqlite_target to, const struct value *v)
{
	struct fields_json_lost lost = { .bad_text = 0 };

	text_clear(&st->scratch);
	fields_json_value(&st->scratch, v, &lost);
	st->no_memory |= st->scratch.failed;
	count_json_losses(to, &lost);
	sqlite_bind_text(st, to.table, to.column, slice_of(st->scratch.p, st->scratch.n));
}

void sqlite_bind_value(struct sqlite_state *st, struct sqlite_target to, const struct value *v)
{
	char digits[DECIMAL_HEX_MAX];

	switch ((enum value_type)v->type) {
	case VALUE_NONE:
		sqlite_bind_null(st, to.table, to.column);
		break;
	case VALUE_BOOL:
	case VALUE_U8:
	case VALUE_U16:
	case VALUE_U32:
	case VALUE_U64:
		sqlite_bind_u64(st, to.table, to.column, v->u64);
		break;
	case VALUE_I8:
	case VALUE_I16:
	case VALUE_I32:
	case VALUE_I64:
		sqlite_bind_i64(st, to.table, to.column, v->i64);
		break;
	case VALUE_F32:
	case VALUE_F64:
		bind_real(st, to, v->f64);
		break;
	case VALUE_ADDRESS:
		bind_copy(st, to.table, to.column, digits, (size_t)(decimal_hex(digits, v->u64) - digits));
		break;
	case VALUE_STRING:
		sqlite_bind_text(st, to.table, to.column, value_text(v));
		break;
	case VALUE_BYTES:
		bind_bytes(st, to.table, to.column, value_text(v), false);
		break;
	case VALUE_LIST:
	case VALUE_MAP:
	case VALUE_JSON:
		bind_json(st, to, v);
		break;
	}
}

/* ---- columns of --column ---- */

/* Binds the text in st->scratch.  SQLite copies it, as the next column uses the same memory. */
static void bind_scratch_text(struct sqlite_state *st, struct sqlite_target to, enum lifted_type type,
                              const struct value *v)
{
	struct fields_json_lost lost = { .bad_text = 0 };

	text_clear(&st->scratch);
	lifted_text(type, v, &st->scratch, &lost);
	st->no_memory |= st->scratch.failed;
	count_json_losses(to, &lost);
	st->groups[to.table].bytes += st->scratch.n;
	bind_copy(st, to.table, to.column, st->scratch.p, st->scratch.n);
}

static void bind_number(struct sqlite_state *st, struct sqlite_target to, enum lifted_type type,
                        const struct value *v)
{
	struct lifted_number number;

	if (!lifted_number(type, v, &number)) {
		add_loss(to, SQLITE_LOSS_ARG_TYPE, 1);
		sqlite_bind_null(st, to.table, to.column);
	} else if (type == LIFTED_FLOAT) {
		add_loss(to, SQLITE_LOSS_ARG_ROUNDED, number.rounded);
		bind_real(st, to, number.f);
	} else {
		sqlite_bind_i64(st, to.table, to.column, number.i);
	}
}

void sqlite_bind_lifted(struct sqlite_state *st, enum sqlite_table table, const struct batch *b,
                        const struct event *e, struct ledger *ledger)
{
	for (uint32_t i = 0; i < st->lifted.n; i++) {
		const struct sqlite_target to = { table, tables[table].columns + 1 + (int)i, ledger,
			                          e->offset };
		const enum lifted_type type = st->lifted.columns[i].type;
		struct path_value member;
		const struct value *const v = lifted_find(&st->lifted, i, b, e, &member);
		if (v == NULL)
			sqlite_bind_null(st, table, to.column);
		else if (lifted_is_number(type))
			bind_number(st, to, type, v);
		else if (type == LIFTED_TEXT && v->type == VALUE_STRING && v != &member.value)
			sqlite_bind_text(st, table, to.column, value_text(v));
		else
			bind_scratch_text(st, to, type, v);
	}
}

static void put_quoted_name(struct text *sql, const struct lifted_column *c)
{
	text_char(sql, '"');
	for (const char *p = c->name; *p != '\0'; p++)
		text_add(sql, (const char[]){ *p, '"' }, *p == '"' ? 2 : 1);
	text_char(sql, '"');
}

static void add_columns(struct text *sql, const struct sqlite_state *st, enum sqlite_table table)
{
	static const char *const types[] = {
		[LIFTED_TEXT] = "TEXT",  [LIFTED_JSON] = "TEXT",    [LIFTED_INT] = "INTEGER",
		[LIFTED_FLOAT] = "REAL", [LIFTED_BOOL] = "INTEGER",
	};

	for (uint32_t i = 0; i < st->lifted.n; i++) {
		text_printf(sql, "ALTER TABLE %s ADD COLUMN ", tables[table].name);
		put_quoted_name(sql, &st->lifted.columns[i]);
		text_printf(sql, " %s;", types[st->lifted.columns[i].type]);
	}
}

/* Executes the statements in *sql, and frees them. */
static bool execute(struct sqlite_state *st, struct text *sql)
{
	text_char(sql, '\0');
	st->no_memory |= sql->failed;
	if (!sqlite_failed(st))
		(void)sqlite_check(st, sqlite3_exec(st->db, sql->p, NULL, NULL, NULL));
	text_free(sql);
	return !sqlite_failed(st);
}

static bool create_lifted(struct sqlite_state *st)
{
	struct text sql = { .p = NULL };

	for (int i = 0; i < TABLES; i++)
		if (has_events((enum sqlite_table)i))
			add_columns(&sql, st, (enum sqlite_table)i);
	return execute(st, &sql);
}

/* ---- the database ---- */

/* SQLite sorts runs of the size of its cache, fastest if they fit into the cache of the processor.  In
 * indexes, rows of one name are in order of id, which is the order of time.  Views have names instead of
 * numbers. */
#define WHERE_COLUMNS                                                                                        \
	" p.name AS process, p.pid, u.name AS thread, u.tid,"                                                \
	" iif(t.id = t.thread, NULL, t.name) AS track"

#define WHERE_TABLES                                                                                         \
	" JOIN string n ON n.id = e.name JOIN string c ON c.id = e.category"                                 \
	" JOIN process p ON p.id = e.process LEFT JOIN thread t ON t.id = e.thread"                          \
	" LEFT JOIN thread u ON u.id = t.thread"

/* @ stands for the columns of --column. */
static const char indexes_and_views[] =
    "PRAGMA cache_size = -4096;"
    "CREATE INDEX span_name ON span(name);"
    "CREATE INDEX span_thread ON span(thread, ts_ns);"
    "CREATE INDEX span_parent ON span(parent) WHERE parent IS NOT NULL;"
    "CREATE INDEX instant_name ON instant(name, ts_ns);"
    "CREATE INDEX counter_name ON counter(name, series, ts_ns);"
    "CREATE INDEX flow_flow ON flow(flow);"
    "CREATE INDEX arg_event ON arg(event);"
    "CREATE VIEW spans AS SELECT e.id, e.kind, e.ts_ns, e.dur_ns, n.text AS name, c.text AS "
    "category," WHERE_COLUMNS ", e.lane, e.parent, e.depth, e.offset@ FROM span e" WHERE_TABLES ";"
    "CREATE VIEW instants AS SELECT e.id, 'instant' AS kind, e.ts_ns, n.text AS name, c.text AS "
    "category," WHERE_COLUMNS ", e.offset@ FROM instant e" WHERE_TABLES ";"
    "CREATE VIEW counters AS SELECT e.id, 'counter' AS kind, e.ts_ns, n.text AS name, s.text AS series,"
    " e.value, c.text AS category," WHERE_COLUMNS ", e.offset@ FROM counter e" WHERE_TABLES
    " LEFT JOIN string s ON s.id = e.series;"
    "CREATE VIEW arrows AS SELECT i.flow, n.text AS name, o.ts_ns AS out_ts_ns, i.ts_ns AS in_ts_ns,"
    " i.ts_ns - o.ts_ns AS delay_ns, o.thread AS out_thread, i.thread AS in_thread"
    " FROM flow o JOIN flow i ON i.flow = o.flow AND i.kind <> 'flow_out'"
    " JOIN string n ON n.id = i.name WHERE o.kind = 'flow_out';"
    "CREATE VIEW args AS SELECT a.event, n.text AS name, a.value FROM arg a JOIN string n ON n.id = a.name;"
    "COMMIT;";

bool sqlite_create(struct sqlite_state *st)
{
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;

	if (!sqlite_check(st, sqlite3_open_v2("trace", &st->db, flags, st->files.name)) ||
	    !sqlite_check(st, sqlite3_exec(st->db, schema, NULL, NULL, NULL)) || !create_lifted(st))
		return false;
	for (int i = 0; i < TABLES; i++)
		if (!prepare_insert(st, (enum sqlite_table)i))
			return false;
	return true;
}

static bool create_indexes_and_views(struct sqlite_state *st)
{
	struct text sql = { .p = NULL };

	for (const char *p = indexes_and_views; *p != '\0'; p++) {
		if (*p != '@') {
			text_char(&sql, *p);
			continue;
		}
		for (uint32_t i = 0; i < st->lifted.n; i++) {
			text_str(&sql, ", e.");
			put_quoted_name(&sql, &st->lifted.columns[i]);
		}
	}
	return execute(st, &sql);
}

void sqlite_disconnect(struct sqlite_state *st)
{
	for (int i = 0; i < TABLES; i++) {
		(void)sqlite3_finalize(st->insert[i]);
		st->insert[i] = NULL;
	}
	(void)sqlite3_close(st->db);
	st->db = NULL;
}

bool sqlite_finish(struct sqlite_state *st)
{
	for (int i = 0; i < TABLES && !sqlite_failed(st); i++)
		if (st->groups[i].n > 0)
			(void)insert_group(st, (enum sqlite_table)i);
	if (!sqlite_failed(st))
		(void)create_indexes_and_views(st);
	sqlite_disconnect(st);
	return !sqlite_failed(st);
}
