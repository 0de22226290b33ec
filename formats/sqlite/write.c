/*
 * The writer of SQLite databases.  An event becomes a row of the table of its kind, a counter a row for each
 * series; fields become rows of arg.  SQLite needs random access to its file, which not all outputs allow, so
 * the database is created in a temporary file and copied at the end.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "out/facts.h"
#include "out/kind.h"
#include "sqlite/sqlite.h"

/* ---- temporary files of SQLite ---- */

/*
 * A file system for SQLite (sqlite3_vfs): temporary files without a name, so that nothing remains after a
 * crash.  Only open files exist; they are neither locked nor synchronised.
 */

#define MAX_NAME 64 /* bytes of the names that SQLite generates */

struct file {
	sqlite3_file base;
	struct sqlite_files *files;
	struct spill_file own;    /* of a file other than the database */
	struct spill_file *spill; /* `own`, or the database */
};

static struct file *file_of(sqlite3_file *base)
{
	return (struct file *)base;
}

/* Records the reason of a failure, unless there is an earlier one.  Returns its result code. */
static int fail(const struct file *f, int code)
{
	if (f->files->why[0] == '\0')
		spill_reason(f->spill, "the database", f->files->why, sizeof f->files->why);
	return f->spill->error == ENOMEM ? SQLITE_NOMEM : code;
}

/* ---- sqlite3_io_methods ---- */

static int file_close(sqlite3_file *base)
{
	spill_close(&file_of(base)->own);
	return SQLITE_OK;
}

static int file_read(sqlite3_file *base, void *to, int n, sqlite3_int64 offset)
{
	struct file *const f = file_of(base);
	const uint64_t at = (uint64_t)offset, size = f->spill->size;
	const size_t all = (size_t)n, stored = at >= size ? 0 : size - at < all ? (size_t)(size - at) : all;

	if (!spill_read(f->spill, at, to, stored))
		return fail(f, SQLITE_IOERR_READ);
	memset((char *)to + stored, 0, all - stored);
	return stored < all ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
}

static int file_write(sqlite3_file *base, const void *from, int n, sqlite3_int64 offset)
{
	struct file *const f = file_of(base);

	return spill_write_at(f->spill, (uint64_t)offset, from, (size_t)n) ? SQLITE_OK
	                                                                   : fail(f, SQLITE_IOERR_WRITE);
}

/* Sets only the size: bytes after it are not read. */
static int file_truncate(sqlite3_file *base, sqlite3_int64 size)
{
	struct spill_file *const s = file_of(base)->spill;

	if ((uint64_t)size < s->size)
		s->size = (uint64_t)size;
	return SQLITE_OK;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size)
{
	*size = (sqlite3_int64)file_of(base)->spill->size;
	return SQLITE_OK;
}

/* No other process has the file: neither locks nor synchronisation are needed. */
static int file_unshared(sqlite3_file *base, int how)
{
	return SQLITE_OK;
}

static int file_locked(sqlite3_file *base, int *out)
{
	*out = 0;
	return SQLITE_OK;
}

static int file_control(sqlite3_file *base, int op, void *arg)
{
	return SQLITE_NOTFOUND;
}

/* 0: sector size and characteristics of the device are unknown. */
static int file_zero(sqlite3_file *base)
{
	return 0;
}

static const sqlite3_io_methods methods = {
	.iVersion = 1,
	.xClose = file_close,
	.xRead = file_read,
	.xWrite = file_write,
	.xTruncate = file_truncate,
	.xSync = file_unshared,
	.xFileSize = file_size,
	.xLock = file_unshared,
	.xUnlock = file_unshared,
	.xCheckReservedLock = file_locked,
	.xFileControl = file_control,
	.xSectorSize = file_zero,
	.xDeviceCharacteristics = file_zero,
};

/* ---- sqlite3_vfs ---- */

static int files_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *base, int flags, int *out)
{
	struct sqlite_files *const files = vfs->pAppData;
	struct file *const f = file_of(base);
	const bool is_database = (flags & SQLITE_OPEN_MAIN_DB) != 0;

	memset(f, 0, sizeof *f);
	f->files = files;
	f->own.fd = -1;
	f->spill = is_database ? &files->database : &f->own;
	if (!spill_open(f->spill, files->temp_dir)) {
		const int code = fail(f, SQLITE_CANTOPEN);
		spill_close(&f->own);
		return code; /* without methods, SQLite does not close the file */
	}
	f->base.pMethods = &methods;
	if (out != NULL)
		*out = flags;
	return SQLITE_OK;
}

static int files_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	return SQLITE_OK;
}

/* No other files exist. */
static int files_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
	*out = 0;
	return SQLITE_OK;
}

static int files_path(sqlite3_vfs *vfs, const char *name, int n, char *out)
{
	return snprintf(out, (size_t)n, "%s", name) < n ? SQLITE_OK : SQLITE_CANTOPEN;
}

/* SQLite uses it for names of temporary files, which have no names here. */
static int files_random(sqlite3_vfs *vfs, int n, char *out)
{
	memset(out, 0, (size_t)n);
	return n;
}

static int files_sleep(sqlite3_vfs *vfs, int microseconds)
{
	return microseconds;
}

/* The output must not depend on the current time. */
static int files_time(sqlite3_vfs *vfs, double *days)
{
	*days = 2440587.5; /* 1970 */
	return SQLITE_OK;
}

/* Registers the file system *f, zero-initialised, which must not move.  Returns a result code of SQLite. */
static int register_files(struct sqlite_files *f, const char *temp_dir)
{
	f->temp_dir = temp_dir;
	f->database.fd = -1;
	(void)snprintf(f->name, sizeof f->name, "tracetool-%p", (void *)f);
	f->vfs = (sqlite3_vfs){
		.iVersion = 1,
		.szOsFile = (int)sizeof(struct file),
		.mxPathname = MAX_NAME,
		.zName = f->name,
		.pAppData = f,
		.xOpen = files_open,
		.xDelete = files_delete,
		.xAccess = files_access,
		.xFullPathname = files_path,
		.xRandomness = files_random,
		.xSleep = files_sleep,
		.xCurrentTime = files_time,
	};
	const int code = sqlite3_vfs_register(&f->vfs, 0);
	f->registered = code == SQLITE_OK;
	return code;
}

/* Unregisters *f and closes the database file.  The connection must be closed.  *f may be zero-initialised,
 * or register_files() may have failed. */
static void unregister_files(struct sqlite_files *f)
{
	if (f->registered)
		(void)sqlite3_vfs_unregister(&f->vfs);
	f->registered = false;
	spill_close(&f->database);
}

/* ---- columns of several tables ---- */

static void add_loss(struct ledger *ledger, enum sqlite_loss loss, const struct event *e)
{
	ledger_add(ledger, &sqlite_losses[loss], e->offset, 1);
}

/* ledger: NULL: a loss is not counted */
static void bind_time(struct sqlite_state *st, enum sqlite_table table, int column, const struct event *e,
                      struct ledger *ledger)
{
	const bool too_large = !st->signed_time && e->ts > INT64_MAX;

	if (too_large && ledger != NULL)
		add_loss(ledger, SQLITE_LOSS_TIME_TOO_LARGE, e);
	sqlite_bind_i64(st, table, column, too_large ? INT64_MAX : (int64_t)e->ts);
}

/* Binds the id of a track below a process, else null. */
static void bind_track(struct sqlite_state *st, enum sqlite_table table, int column, const struct track *k)
{
	if (k != NULL && k->parent != NULL)
		sqlite_bind_i64(st, table, column, (int64_t)k->index + 1);
	else
		sqlite_bind_null(st, table, column);
}

/* Binds name, category, process and thread to four columns. */
static void bind_identity(struct sqlite_state *st, enum sqlite_table table, int column, const struct event *e)
{
	const struct track *const base = track_without_lane(e->track);

	sqlite_bind_i64(st, table, column, sqlite_string(st, e->name));
	sqlite_bind_i64(st, table, column + 1, *(const int64_t *)e->cls->declared);
	sqlite_bind_i64(st, table, column + 2, (int64_t)track_process(base)->index + 1);
	bind_track(st, table, column + 3, base);
}

static void add_arg(struct sqlite_state *st, int64_t event, const struct field *f, const struct event *e,
                    struct ledger *ledger)
{
	sqlite_bind_i64(st, TABLE_ARG, 1, event);
	sqlite_bind_i64(st, TABLE_ARG, 2, sqlite_string(st, f->name));
	sqlite_bind_value(st, (struct sqlite_target){ TABLE_ARG, 3, ledger, e->offset }, &f->value);
	(void)sqlite_insert(st, TABLE_ARG);
}

static void add_args(struct sqlite_state *st, int64_t event, const struct batch *b, const struct event *e,
                     struct ledger *ledger)
{
	for (uint32_t i = 0; i < e->nfields; i++)
		add_arg(st, event, &b->fields[e->first_field + i], e, ledger);
}

/* ---- spans ---- */

static struct parents_found find_parent(struct sqlite_state *st, const struct event *e, int64_t id,
                                        struct ledger *ledger)
{
	struct parents_found found = { .id = 0 };

	if ((e->flags & EVENT_ASYNC) != 0)
		return found;
	st->no_memory |=
	    !parents_of_event(&st->parents, track_without_lane(e->track), e, st->signed_time, id, &found);
	if (found.forgotten)
		add_loss(ledger, SQLITE_LOSS_PARENT_FORGOTTEN, e);
	return found;
}

static void add_span(struct sqlite_state *st, const struct batch *b, const struct event *e,
                     struct ledger *ledger)
{
	const int64_t id = ++st->last;
	const struct parents_found parent = find_parent(st, e, id, ledger);

	sqlite_bind_i64(st, TABLE_SPAN, 1, id);
	sqlite_bind_text(st, TABLE_SPAN, 2,
	                 (e->flags & EVENT_ASYNC) != 0 ? SLICE_LIT("async") : SLICE_LIT("span"));
	bind_time(st, TABLE_SPAN, 3, e, ledger);
	if (e->dur > INT64_MAX)
		add_loss(ledger, SQLITE_LOSS_TIME_TOO_LARGE, e);
	sqlite_bind_i64(st, TABLE_SPAN, 4, e->dur > INT64_MAX ? INT64_MAX : (int64_t)e->dur);
	bind_identity(st, TABLE_SPAN, 5, e);
	sqlite_bind_i64(st, TABLE_SPAN, 9, e->track->lane);
	if (parent.id != 0)
		sqlite_bind_i64(st, TABLE_SPAN, 10, parent.id);
	else
		sqlite_bind_null(st, TABLE_SPAN, 10);
	sqlite_bind_i64(st, TABLE_SPAN, 11, parent.depth);
	sqlite_bind_u64(st, TABLE_SPAN, 12, e->offset);
	sqlite_bind_lifted(st, TABLE_SPAN, b, e, ledger);
	(void)sqlite_insert(st, TABLE_SPAN);
	add_args(st, id, b, e, ledger);
}

/* ---- instants, counters, arrows ---- */

static void add_instant(struct sqlite_state *st, const struct batch *b, const struct event *e,
                        struct ledger *ledger)
{
	const int64_t id = ++st->last;

	sqlite_bind_i64(st, TABLE_INSTANT, 1, id);
	bind_time(st, TABLE_INSTANT, 2, e, ledger);
	bind_identity(st, TABLE_INSTANT, 3, e);
	sqlite_bind_u64(st, TABLE_INSTANT, 7, e->offset);
	sqlite_bind_lifted(st, TABLE_INSTANT, b, e, ledger);
	(void)sqlite_insert(st, TABLE_INSTANT);
	add_args(st, id, b, e, ledger);
}

/* Whether the field of a counter is a series: a number, also of JSON, or a truth value. */
static bool is_series(const struct field *f)
{
	const struct value *const v = &f->value;

	return (v->type >= VALUE_BOOL && v->type <= VALUE_F64) ||
	       (v->type == VALUE_JSON && v->count > 0 && (*v->p == '-' || (*v->p >= '0' && *v->p <= '9')));
}

/* Binds the value of a series.  A number of JSON becomes a number of SQLite, or a text if it is an integer
 * that would be rounded or is beyond a double. */
static void bind_series(struct sqlite_state *st, struct sqlite_target to, const struct value *v)
{
	struct lifted_number n;

	if (v->type != VALUE_JSON)
		sqlite_bind_value(st, to, v);
	else if (lifted_number(LIFTED_INT, v, &n))
		sqlite_bind_i64(st, to.table, to.column, n.i);
	else if (lifted_number(LIFTED_FLOAT, v, &n) && !n.rounded)
		sqlite_bind_value(st, to, &(struct value){ .type = VALUE_F64, .f64 = n.f });
	else
		sqlite_bind_value(st, to, v);
}

/* Adds a row.  series: NULL if the counter has no number.  first: this is the first row of the event; only
 * for this row are losses of the time and of the columns of --column counted, which all rows of the event
 * have. */
static void add_series(struct sqlite_state *st, const struct batch *b, const struct event *e,
                       const struct field *series, bool first, struct ledger *ledger)
{
	sqlite_bind_i64(st, TABLE_COUNTER, 1, ++st->last);
	bind_time(st, TABLE_COUNTER, 2, e, first ? ledger : NULL);
	bind_identity(st, TABLE_COUNTER, 3, e);
	if (series != NULL) {
		sqlite_bind_i64(st, TABLE_COUNTER, 7, sqlite_string(st, series->name));
		bind_series(st, (struct sqlite_target){ TABLE_COUNTER, 8, ledger, e->offset },
		            &series->value);
	} else {
		sqlite_bind_null(st, TABLE_COUNTER, 7);
		sqlite_bind_null(st, TABLE_COUNTER, 8);
	}
	sqlite_bind_u64(st, TABLE_COUNTER, 9, e->offset);
	sqlite_bind_lifted(st, TABLE_COUNTER, b, e, first ? ledger : NULL);
	(void)sqlite_insert(st, TABLE_COUNTER);
}

/* Adds a row for each number; other fields belong to the row of the first. */
static void add_counter(struct sqlite_state *st, const struct batch *b, const struct event *e,
                        struct ledger *ledger)
{
	const struct field *const fields = b->fields + e->first_field;
	const int64_t first = st->last + 1;

	for (uint32_t i = 0; i < e->nfields; i++)
		if (is_series(&fields[i]))
			add_series(st, b, e, &fields[i], st->last < first, ledger);
	if (st->last < first)
		add_series(st, b, e, NULL, true, ledger);
	for (uint32_t i = 0; i < e->nfields; i++)
		if (!is_series(&fields[i]))
			add_arg(st, first, &fields[i], e, ledger);
}

static void add_flow(struct sqlite_state *st, const struct batch *b, const struct event *e,
                     struct ledger *ledger)
{
	const int64_t id = ++st->last;

	sqlite_bind_i64(st, TABLE_FLOW, 1, id);
	sqlite_bind_text(st, TABLE_FLOW, 2, slice_str(event_kind_name(event_kind(e))));
	bind_time(st, TABLE_FLOW, 3, e, ledger);
	sqlite_bind_u64(st, TABLE_FLOW, 4, e->dur);
	bind_identity(st, TABLE_FLOW, 5, e);
	sqlite_bind_u64(st, TABLE_FLOW, 9, e->offset);
	sqlite_bind_lifted(st, TABLE_FLOW, b, e, ledger);
	(void)sqlite_insert(st, TABLE_FLOW);
	add_args(st, id, b, e, ledger);
}

static void add_event(struct sqlite_state *st, const struct batch *b, const struct event *e,
                      struct ledger *ledger)
{
	switch ((enum phase)e->phase) {
	case PHASE_SPAN:
		add_span(st, b, e, ledger);
		break;
	case PHASE_COUNTER:
		add_counter(st, b, e, ledger);
		break;
	case PHASE_FLOW_OUT:
	case PHASE_FLOW_IN:
		add_flow(st, b, e, ledger);
		break;
	case PHASE_BEGIN: /* the engine pairs these two */
	case PHASE_END:
	case PHASE_INSTANT:
		add_instant(st, b, e, ledger);
		break;
	case PHASE_STRUCTURE: /* not requested */
		break;
	}
}

/* ---- metadata and losses ---- */

static void add_losses(struct sqlite_state *st, const struct ledger *total)
{
	for (size_t i = 0; i < total->n; i++) {
		const struct ledger_row *const row = &total->rows[i];
		sqlite_bind_text(st, TABLE_LOSS, 1, slice_str(row->loss->id));
		sqlite_bind_text(st, TABLE_LOSS, 2, slice_str(row->loss->text));
		sqlite_bind_u64(st, TABLE_LOSS, 3, row->count);
		if (row->first_offset != LOSS_NOWHERE)
			sqlite_bind_u64(st, TABLE_LOSS, 4, row->first_offset);
		else
			sqlite_bind_null(st, TABLE_LOSS, 4);
		(void)sqlite_insert(st, TABLE_LOSS);
	}
}

/* Adds the facts, each with its source: tracetool, or metadata of the trace. */
static void add_facts(struct sqlite_state *st, const struct writer *w, struct ledger *ledger)
{
	struct facts facts = facts_of(w->run, ~FACTS_OF(FACT_LOSS));
	struct fact f;

	while (facts_next(&facts, &f)) {
		const struct slice who = f.kind == FACT_TRACE ? SLICE_LIT("trace") : SLICE_LIT("tracetool");
		sqlite_bind_text(st, TABLE_META, 1, who);
		sqlite_bind_text(st, TABLE_META, 2, f.name);
		sqlite_bind_value(st, (struct sqlite_target){ TABLE_META, 3, ledger, 0 }, &f.value);
		(void)sqlite_insert(st, TABLE_META);
	}
}

/* Adds what is known at the end.  The table of losses also has those that are found here. */
static bool add_end(struct sqlite_state *st, const struct writer *w, struct chunk *chunk)
{
	struct ledger all = { .n = 0 };
	const uint32_t empty = lifted_empty(&st->lifted);

	add_facts(st, w, &chunk->ledger);
	facts_lose(w, (struct facts_losses){ .hosts = &sqlite_losses[SQLITE_LOSS_HOSTS] }, chunk);
	if (empty > 0)
		ledger_add(&chunk->ledger, &sqlite_losses[SQLITE_LOSS_NO_ARG], LOSS_NOWHERE, empty);
	ledger_merge(&all, w->run->total);
	ledger_merge(&all, &chunk->ledger);
	add_losses(st, &all);
	st->no_memory |= all.failed;
	ledger_free(&all);
	return !sqlite_failed(st);
}

/* ---- tracks and classes ---- */

static bool declare_track(struct sqlite_state *st, struct track *k)
{
	const bool is_process = k->parent == NULL;
	const enum sqlite_table table = is_process ? TABLE_PROCESS : TABLE_THREAD;
	const int id_column = is_process ? 2 : 4;

	if (k->lane > 0) /* a column of its spans */
		return true;
	sqlite_bind_i64(st, table, 1, (int64_t)k->index + 1);
	if (!is_process) {
		sqlite_bind_i64(st, table, 2, (int64_t)track_process(k)->index + 1);
		bind_track(st, table, 3, track_without_lane(k->parent));
		bind_track(st, table, 6, track_thread_or_null(k));
	}
	if (k->has_id)
		sqlite_bind_u64(st, table, id_column, k->id);
	else
		sqlite_bind_null(st, table, id_column);
	sqlite_bind_text(st, table, id_column + 1, k->name);
	return sqlite_insert(st, table);
}

/* A class is declared as the id of the string of its category. */
static bool declare_class(struct sqlite_state *st, struct class *c)
{
	int64_t *const category = arena_alloc(&st->arena, sizeof *category);

	if (category == NULL)
		return false;
	*category = sqlite_string(st, c->category);
	c->declared = category;
	return true;
}

static bool sqlite_declare(struct writer *w, const struct batch *b, struct chunk *chunk)
{
	struct sqlite_state *const st = w->state;

	for (uint32_t i = 0; i < b->ntracks; i++)
		(void)declare_track(st, b->tracks[i]);
	for (uint32_t i = 0; i < b->nclasses; i++)
		if (!declare_class(st, b->classes[i]))
			return false;
	return true;
}

/* ---- writer ---- */

#define PIECE (1U << 20) /* bytes of the database that are in memory */

/* Sets the failure of the chunk. */
static void report_failure(const struct sqlite_state *st, struct chunk *chunk)
{
	if (st->no_memory)
		chunk->text.failed = true;
	else if (st->why[0] != '\0')
		chunk->failed = st->why;
}

static bool sqlite_open(struct writer *w, struct chunk *chunk)
{
	struct sqlite_state *const st = w->state;

	st->signed_time = w->run->signed_time;
	lifted_open(&st->lifted, w->options);
	/* one thread at a time uses it; creating a lock may fail, which the library does not handle */
	(void)sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	if (sqlite_check(st, sqlite3_initialize()) &&
	    sqlite_check(st, register_files(&st->files, w->temp_near)))
		(void)sqlite_create(st);
	report_failure(st, chunk);
	return true;
}

static void sqlite_write(void *state, const struct batch *b, struct chunk *chunk)
{
	struct sqlite_state *const st = state;

	for (uint32_t i = 0; i < b->n && !sqlite_failed(st); i++)
		add_event(st, b, &b->events[i], &chunk->ledger);
	report_failure(st, chunk);
}

/* Writes the database file. */
static void write_file(struct sqlite_state *st, struct chunk *chunk)
{
	struct spill_file *const f = &st->files.database;

	for (uint64_t at = 0; at < f->size;) {
		const size_t n = f->size - at < PIECE ? (size_t)(f->size - at) : PIECE;
		char *const p = text_reserve(&chunk->text, n);
		if (p == NULL)
			return;
		if (!spill_read(f, at, p, n)) {
			spill_reason(f, "the database", st->why, sizeof st->why);
			return;
		}
		chunk->text.n += n;
		spill_discard(f, at, n);
		at += n;
		if (!chunk_flush(chunk))
			return;
	}
}

static bool sqlite_close(struct writer *w, struct chunk *chunk)
{
	struct sqlite_state *const st = w->state;

	if (add_end(st, w, chunk) && sqlite_finish(st))
		write_file(st, chunk);
	report_failure(st, chunk);
	return true;
}

static void sqlite_free(void *state)
{
	struct sqlite_state *const st = state;

	sqlite_disconnect(st);
	unregister_files(&st->files);
	tabletext_free(&st->strings.ids);
	arena_free(&st->strings.arena);
	arena_free(&st->arena);
	parents_free(&st->parents);
	text_free(&st->scratch);
}

static const struct writer_ops sqlite_writer_ops = {
	.state_size = sizeof(struct sqlite_state),
	.want = WANT_FIELDS,
	.modes = WRITER_SEEKS,
	.order = ORDER_NESTING,
	.nested = true,
	.open = sqlite_open,
	.declare = sqlite_declare,
	.write = sqlite_write,
	.close = sqlite_close,
	.free = sqlite_free,
};

/* ---- the format ---- */

const struct loss sqlite_losses[SQLITE_LOSSES + 1] = {
#define LOSS LOSS_ROW
#include "sqlite/losses.def"
#undef LOSS
};

static const char *const suffixes[] = { ".db", ".sqlite", NULL };

static const struct format_option options[] = {
	LIFTED_OPTION(sqlite_column_mistake),
	{ .name = NULL },
};

const struct format sqlite_format = {
	.name = "sqlite",
	.title = "SQLite database",
	.spec = "SQLite file format 3; tracetool-sqlite(5)",
	.suffixes = suffixes,
	.options = options,
	.writer = &sqlite_writer_ops,
	.losses = sqlite_losses,
};
