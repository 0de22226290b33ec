#include <stdio.h>

#include "out/facts.h"
#include "sqlite/sqlite.h"

/* ---- meta ---- */

/* Rows about the whole: `who` tells what tracetool says from what the trace says of itself. */

static void put_losses(struct sqlite_state *st, const struct ledger *total)
{
	for (size_t i = 0; i < total->n; i++) {
		const struct ledger_row *const row = &total->rows[i];
		sqlite_bind_text(st, TABLE_LOSS, 1, slice_str(row->loss->id));
		sqlite_bind_text(st, TABLE_LOSS, 2, slice_str(row->loss->text));
		sqlite_bind_u64(st, TABLE_LOSS, 3, row->count);
		sqlite_bind_u64(st, TABLE_LOSS, 4, row->first_offset);
		(void)sqlite_insert(st, TABLE_LOSS);
	}
}

bool sqlite_meta(struct sqlite_state *st, const struct writer *w, struct ledger *ledger)
{
	struct facts facts = facts_of(w, ~FACTS_OF(FACT_LOSS));
	struct fact f;

	while (facts_next(&facts, &f)) {
		const struct slice who = f.kind == FACT_TRACE ? SLICE_LIT("trace") : SLICE_LIT("tracetool");
		sqlite_bind_text(st, TABLE_META, 1, who);
		sqlite_bind_text(st, TABLE_META, 2, f.name);
		sqlite_bind_value(st, (struct sqlite_place){ TABLE_META, 3, ledger, 0 }, &f.value);
		(void)sqlite_insert(st, TABLE_META);
	}
	put_losses(st, w->total);
	return !sqlite_failed(st);
}

/* ---- tables ---- */

#define USER_VERSION "1" /* of the tables; raised for changes that break queries */

/* A rollback is never needed: what fails is thrown away. */
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
    " parent INTEGER REFERENCES thread(id), tid, name NOT NULL);"
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
	int columns;
	bool grouped;
} tables[TABLES] = {
	[TABLE_META] = { "meta", 3, false },      [TABLE_LOSS] = { "loss", 4, false },
	[TABLE_STRING] = { "string", 2, false },  [TABLE_PROCESS] = { "process", 3, false },
	[TABLE_THREAD] = { "thread", 5, false },  [TABLE_SPAN] = { "span", 12, true },
	[TABLE_INSTANT] = { "instant", 7, true }, [TABLE_COUNTER] = { "counter", 9, true },
	[TABLE_FLOW] = { "flow", 9, true },       [TABLE_ARG] = { "arg", 3, true },
};

/* ---- inserting ---- */

/* "INSERT INTO arg SELECT * FROM (VALUES(?,?,?),...) LIMIT ?": the limit is for groups that are not full. */
static void put_insert(struct text *sql, enum sqlite_table table)
{
	const bool grouped = tables[table].grouped;
	const int rows = grouped ? SQLITE_ROWS : 1;

	text_printf(sql, "INSERT INTO %s %s", tables[table].name, grouped ? "SELECT * FROM (" : "");
	for (int i = 0; i < rows * tables[table].columns; i++)
		text_str(sql, i == 0 ? "VALUES(?" : i % tables[table].columns == 0 ? "),(?" : ",?");
	text_str(sql, grouped ? ")) LIMIT ?" : ")");
}

static bool prepare(struct sqlite_state *st, enum sqlite_table table)
{
	struct text sql = { .p = NULL };

	put_insert(&sql, table);
	st->no_memory |= sql.failed;
	if (!sql.failed)
		(void)sqlite_took(st, sqlite3_prepare_v3(st->db, sql.p, (int)sql.n, SQLITE_PREPARE_PERSISTENT,
		                                         &st->insert[table], NULL));
	text_free(&sql);
	st->groups[table] = (struct sqlite_group){ .columns = tables[table].columns,
		                                   .rows = tables[table].grouped ? SQLITE_ROWS : 1 };
	return !sqlite_failed(st);
}

/* Inserts the rows that were bound. */
static bool insert_group(struct sqlite_state *st, enum sqlite_table table)
{
	struct sqlite_group *const g = &st->groups[table];

	if (tables[table].grouped && !sqlite_failed(st))
		(void)sqlite_took(st,
		                  sqlite3_bind_int(st->insert[table], SQLITE_ROWS * g->columns + 1, g->n));
	if (!sqlite_failed(st)) {
		(void)sqlite_took(st, sqlite3_step(st->insert[table]));
		(void)sqlite_took(st, sqlite3_reset(st->insert[table]));
	}
	g->n = 0;
	g->bytes = 0;
	return !sqlite_failed(st);
}

bool sqlite_insert(struct sqlite_state *st, enum sqlite_table table)
{
	struct sqlite_group *const g = &st->groups[table];

	const bool full = sqlite_group_is_full(g);

	g->n++;
	return full ? insert_group(st, table) : !sqlite_failed(st);
}

/* ---- the whole ---- */

/* Indexes are made in one go at the end; SQLite sorts runs of as much as its cache may hold, fastest where
 * they fit into that of the processor.  Rows of one name are in order of id, which is that of time.  The
 * views have names in place of numbers. */
#define WHERE_COLUMNS                                                                                        \
	" p.name AS process, p.pid, coalesce(u.name, t.name) AS thread, coalesce(u.tid, t.tid) AS tid,"      \
	" iif(u.id IS NULL, NULL, t.name) AS track"

#define WHERE_TABLES                                                                                         \
	" JOIN string n ON n.id = e.name JOIN string c ON c.id = e.category"                                 \
	" JOIN process p ON p.id = e.process LEFT JOIN thread t ON t.id = e.thread"                          \
	" LEFT JOIN thread u ON u.id = t.parent"

static const char rest[] =
    "PRAGMA cache_size = -4096;"
    "CREATE INDEX span_name ON span(name);"
    "CREATE INDEX span_thread ON span(thread, ts_ns);"
    "CREATE INDEX span_parent ON span(parent) WHERE parent IS NOT NULL;"
    "CREATE INDEX instant_name ON instant(name, ts_ns);"
    "CREATE INDEX counter_name ON counter(name, series, ts_ns);"
    "CREATE INDEX flow_flow ON flow(flow);"
    "CREATE INDEX arg_event ON arg(event);"
    "CREATE VIEW spans AS SELECT e.id, e.kind, e.ts_ns, e.dur_ns, n.text AS name, c.text AS "
    "category," WHERE_COLUMNS ", e.lane, e.parent, e.depth, e.offset FROM span e" WHERE_TABLES ";"
    "CREATE VIEW instants AS SELECT e.id, 'instant' AS kind, e.ts_ns, n.text AS name, c.text AS "
    "category," WHERE_COLUMNS ", e.offset FROM instant e" WHERE_TABLES ";"
    "CREATE VIEW counters AS SELECT e.id, 'counter' AS kind, e.ts_ns, n.text AS name, s.text AS series,"
    " e.value, c.text AS category," WHERE_COLUMNS ", e.offset FROM counter e" WHERE_TABLES
    " LEFT JOIN string s ON s.id = e.series;"
    "CREATE VIEW arrows AS SELECT i.flow, n.text AS name, o.ts_ns AS out_ts_ns, i.ts_ns AS in_ts_ns,"
    " i.ts_ns - o.ts_ns AS delay_ns, o.thread AS out_thread, i.thread AS in_thread"
    " FROM flow o JOIN flow i ON i.flow = o.flow AND i.kind <> 'flow_out'"
    " JOIN string n ON n.id = i.name WHERE o.kind = 'flow_out';"
    "CREATE VIEW args AS SELECT a.event, n.text AS name, a.value FROM arg a JOIN string n ON n.id = a.name;"
    "COMMIT;";

bool sqlite_took(struct sqlite_state *st, int code)
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

bool sqlite_begin(struct sqlite_state *st)
{
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;

	if (!sqlite_took(st, sqlite3_open_v2("trace", &st->db, flags, st->files.name)) ||
	    !sqlite_took(st, sqlite3_exec(st->db, schema, NULL, NULL, NULL)))
		return false;
	for (int i = 0; i < TABLES; i++)
		if (!prepare(st, (enum sqlite_table)i))
			return false;
	return true;
}

void sqlite_end(struct sqlite_state *st)
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
		(void)sqlite_took(st, sqlite3_exec(st->db, rest, NULL, NULL, NULL));
	sqlite_end(st);
	st->complete = !sqlite_failed(st);
	return st->complete;
}
