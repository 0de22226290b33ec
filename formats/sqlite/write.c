#include "sqlite/state.h"

/*
 * An SQLite database.  SQLite needs a file in which it can write anywhere, and
 * outputs need not be one: so the database is made in a temporary file, and
 * written in the end.  All rows are inserted in one transaction, in order of
 * time, by statements that were prepared once; text is always bound.
 */

#define PIECE (1U << 20) /* of the database that is written in one go */

/* What failed goes out with the chunk. */
static void
tell(const struct sqlite_state *st, struct chunk *chunk)
{
	if (st->no_memory)
		chunk->text.failed = true;
	else if (st->why[0] != '\0')
		chunk->end.failed = st->why;
}

static bool
writer_open(struct writer *w, struct chunk *chunk)
{
	struct sqlite_state *const st = w->state;

	st->signed_time = w->signed_time;
	/* one thread at a time uses it; without locks none can fail to be made, which the library does not
	 * expect */
	(void)sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	if (sqlite_took(st, sqlite3_initialize()) &&
	    sqlite_took(st, sqlite_files_open(&st->files, w->beside)))
		(void)sqlite_begin(st);
	tell(st, chunk);
	return true;
}

/* ---- declarations ---- */

static bool
declare_track(struct sqlite_state *st, struct track *k)
{
	const bool is_process = k->parent == NULL;
	const enum sqlite_table table = is_process ? TABLE_PROCESS : TABLE_THREAD;
	const int id_column = is_process ? 2 : 4;

	k->declared = st;
	if (k->lane > 0) /* stands in the rows of its spans */
		return true;
	sqlite_bind_i64(st, table, 1, (int64_t)k->index + 1);
	if (!is_process) {
		sqlite_bind_i64(st, table, 2, (int64_t)track_process(k)->index + 1);
		if (k->parent->parent != NULL)
			sqlite_bind_i64(st, table, 3, (int64_t)k->parent->index + 1);
		else
			sqlite_bind_null(st, table, 3);
	}
	if (k->has_id)
		sqlite_bind_u64(st, table, id_column, k->id);
	else
		sqlite_bind_null(st, table, id_column);
	sqlite_bind_text(st, table, id_column + 1, k->name);
	return sqlite_insert(st, table);
}

static bool
declare_class(struct sqlite_state *st, struct class *c)
{
	struct sqlite_class *const to = arena_alloc(&st->arena, sizeof *to);

	if (to == NULL)
		return false;
	*to = (struct sqlite_class){ sqlite_string(st, c->category) };
	c->declared = to;
	return true;
}

/* A failure of the database is told with the next chunk. */
static bool
writer_declare(struct writer *w, const struct batch *b)
{
	struct sqlite_state *const st = w->state;

	for (uint32_t i = 0; i < b->ntracks; i++)
		(void)declare_track(st, b->tracks[i]);
	for (uint32_t i = 0; i < b->nclasses; i++)
		if (!declare_class(st, b->classes[i]))
			return false;
	return true;
}

/* ---- events, and the end ---- */

static void
writer_write(void *state, const struct batch *b, struct chunk *chunk)
{
	struct sqlite_state *const st = state;

	for (uint32_t i = 0; i < b->n && !sqlite_failed(st); i++)
		sqlite_event(st, b, &b->events[i], &chunk->ledger);
	tell(st, chunk);
}

static void
put_piece(struct sqlite_state *st, struct chunk *chunk)
{
	struct spill_file *const f = &st->files.database;
	const uint64_t left = f->size - st->written;
	const size_t n = left < PIECE ? (size_t)left : PIECE;
	char *const p = text_room(&chunk->text, n);

	if (p == NULL)
		return;
	if (!spill_read(f, st->written, p, n)) {
		spill_reason(f, "the database", st->why, sizeof st->why);
		return;
	}
	chunk->text.n += n;
	spill_discard(f, st->written, n);
	st->written += n;
	chunk->end.more = st->written < f->size;
}

static bool
writer_close(struct writer *w, struct chunk *chunk)
{
	struct sqlite_state *const st = w->state;

	if (st->complete || (sqlite_meta(st, w, &chunk->ledger) && sqlite_finish(st)))
		put_piece(st, chunk);
	tell(st, chunk);
	return true;
}

static void
writer_free(void *state)
{
	struct sqlite_state *const st = state;

	sqlite_end(st);
	sqlite_files_close(&st->files);
	tabletext_free(&st->strings.ids);
	arena_free(&st->strings.arena);
	arena_free(&st->arena);
	parents_free(&st->parents);
	text_free(&st->scratch);
}

const struct writer_ops sqlite_writer_ops = {
	.state_size = sizeof(struct sqlite_state),
	.want = WANT_FIELDS,
	.modes = WRITER_SEEKS | WRITER_INTERPRETED,
	.order = ORDER_TIME,
	.nested = true,
	.open = writer_open,
	.declare = writer_declare,
	.write = writer_write,
	.close = writer_close,
	.free = writer_free,
};
