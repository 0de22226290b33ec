#include <math.h>

#include "base/numbers.h"
#include "base/utf8.h"
#include "model/event_traits.h"
#include "sqlite/sqlite.h"

/* ---- bind ---- */

/* ---- texts and integers ---- */

static bool is_text(struct slice s)
{
	if ((s.flags & SLICE_JSON) != 0 || s.n == 0)
		return true;
	return memchr(s.p, '\0', s.n) == NULL && ((s.flags & SLICE_UTF8) != 0 || utf8_valid(s.p, s.n));
}

/* The parameter for a column of the row that is being bound. */
static int parameter(const struct sqlite_state *st, enum sqlite_table table, int column)
{
	return st->groups[table].n * st->groups[table].columns + column;
}

/* Copied if the row may wait for others. */
static void bind_bytes(struct sqlite_state *st, enum sqlite_table table, int column, struct slice s,
                       bool text)
{
	sqlite3_stmt *const to = st->insert[table];
	const int at = parameter(st, table, column);
	const char *const p = s.n > 0 ? s.p : "";

	if (sqlite_failed(st))
		return;
	st->groups[table].bytes += s.n;
	const sqlite3_destructor_type whose =
	    sqlite_group_is_full(&st->groups[table]) ? SQLITE_STATIC : SQLITE_TRANSIENT;
	sqlite_took(st, text ? sqlite3_bind_text64(to, at, p, s.n, whose, SQLITE_UTF8)
	                     : sqlite3_bind_blob64(to, at, p, s.n, whose));
}

void sqlite_bind_text(struct sqlite_state *st, enum sqlite_table table, int column, struct slice s)
{
	bind_bytes(st, table, column, s, is_text(s));
}

static void sqlite_bind_i64(struct sqlite_state *st, enum sqlite_table table, int column, int64_t v)
{
	if (!sqlite_failed(st))
		sqlite_took(st, sqlite3_bind_int64(st->insert[table], parameter(st, table, column), v));
}

static void sqlite_bind_null(struct sqlite_state *st, enum sqlite_table table, int column)
{
	if (!sqlite_failed(st))
		sqlite_took(st, sqlite3_bind_null(st->insert[table], parameter(st, table, column)));
}

static void bind_copy(struct sqlite_state *st, enum sqlite_table table, int column, const char *p, size_t n)
{
	if (!sqlite_failed(st))
		sqlite_took(st, sqlite3_bind_text64(st->insert[table], parameter(st, table, column), p, n,
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

/* ---- values of fields ---- */

static void lose(struct sqlite_place at, enum sqlite_loss loss, uint32_t count)
{
	if (count > 0)
		ledger_add(at.ledger, &sqlite_losses[loss], at.offset, count);
}

static void bind_real(struct sqlite_state *st, struct sqlite_place at, double v)
{
	if (isnan(v)) {
		lose(at, SQLITE_LOSS_NOT_A_NUMBER, 1);
		sqlite_bind_text(st, at.table, at.column, SLICE_LIT("NaN"));
	} else if (!sqlite_failed(st)) {
		sqlite_took(st,
		            sqlite3_bind_double(st->insert[at.table], parameter(st, at.table, at.column), v));
	}
}

static void bind_address(struct sqlite_state *st, struct sqlite_place at, uint64_t v)
{
	char digits[DECIMAL_HEX_MAX];

	bind_copy(st, at.table, at.column, digits, (size_t)(decimal_hex(digits, v) - digits));
}

static void bind_json(struct sqlite_state *st, struct sqlite_place at, const struct value *v)
{
	struct fields_json_lost lost = { .bad_text = 0 };

	text_clear(&st->scratch);
	fields_json_value(&st->scratch, v, &lost);
	st->no_memory |= st->scratch.failed;
	lose(at, SQLITE_LOSS_BAD_TEXT, lost.bad_text);
	lose(at, SQLITE_LOSS_NOT_A_NUMBER, lost.not_a_number);
	lose(at, SQLITE_LOSS_TOO_DEEP, lost.too_deep);
	sqlite_bind_text(st, at.table, at.column, slice_of(st->scratch.p, st->scratch.n));
}

void sqlite_bind_value(struct sqlite_state *st, struct sqlite_place at, const struct value *v)
{
	switch ((enum value_type)v->type) {
	case VALUE_NONE:
		sqlite_bind_null(st, at.table, at.column);
		break;
	case VALUE_BOOL:
	case VALUE_U8:
	case VALUE_U16:
	case VALUE_U32:
	case VALUE_U64:
		sqlite_bind_u64(st, at.table, at.column, v->u64);
		break;
	case VALUE_I8:
	case VALUE_I16:
	case VALUE_I32:
	case VALUE_I64:
		sqlite_bind_i64(st, at.table, at.column, v->i64);
		break;
	case VALUE_F32:
	case VALUE_F64:
		bind_real(st, at, v->f64);
		break;
	case VALUE_ADDRESS:
		bind_address(st, at, v->u64);
		break;
	case VALUE_STRING:
		sqlite_bind_text(st, at.table, at.column, value_text(v));
		break;
	case VALUE_BYTES:
		bind_bytes(st, at.table, at.column, value_text(v), false);
		break;
	case VALUE_LIST:
	case VALUE_MAP:
	case VALUE_JSON:
		bind_json(st, at, v);
		break;
	}
}

/* ---- the table of strings ---- */

/* The id of a text in the table of strings, where it is put if it is new. */
static int64_t sqlite_string(struct sqlite_state *st, struct slice s)
{
	struct sqlite_strings *const all = &st->strings;
	const uint32_t known = tabletext_get(&all->ids, s);

	if (known != TABLE_NONE)
		return known;
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

/* ---- event ---- */

/* One event becomes a row of its table, one for each series of a counter, and its fields rows of arg. */

static void lose_event(struct ledger *ledger, enum sqlite_loss loss, const struct event *e)
{
	ledger_add(ledger, &sqlite_losses[loss], e->offset, 1);
}

/* ---- columns that several tables have ---- */

static void bind_time(struct sqlite_state *st, enum sqlite_table table, int column, const struct event *e,
                      struct ledger *ledger)
{
	const bool too_large = !st->signed_time && e->ts > INT64_MAX;

	if (too_large)
		lose_event(ledger, SQLITE_LOSS_TIME_TOO_LARGE, e);
	sqlite_bind_i64(st, table, column, too_large ? INT64_MAX : (int64_t)e->ts);
}

static const struct track *base_of(const struct track *k)
{
	return k->lane > 0 ? k->parent : k;
}

/* name, category, process, thread, in the columns from `column` on. */
static void bind_what(struct sqlite_state *st, enum sqlite_table table, int column, const struct event *e)
{
	const struct sqlite_class *const cls = e->cls->declared;
	const struct track *const base = base_of(e->track);

	sqlite_bind_i64(st, table, column, sqlite_string(st, e->name));
	sqlite_bind_i64(st, table, column + 1, cls->category);
	sqlite_bind_i64(st, table, column + 2, (int64_t)track_process(base)->index + 1);
	if (base->parent != NULL)
		sqlite_bind_i64(st, table, column + 3, (int64_t)base->index + 1);
	else
		sqlite_bind_null(st, table, column + 3);
}

static void put_arg(struct sqlite_state *st, int64_t event, const struct field *f, const struct event *e,
                    struct ledger *ledger)
{
	sqlite_bind_i64(st, TABLE_ARG, 1, event);
	sqlite_bind_i64(st, TABLE_ARG, 2, sqlite_string(st, f->name));
	sqlite_bind_value(st, (struct sqlite_place){ TABLE_ARG, 3, ledger, e->offset }, &f->value);
	(void)sqlite_insert(st, TABLE_ARG);
}

static void put_args(struct sqlite_state *st, int64_t event, const struct batch *b, const struct event *e,
                     struct ledger *ledger)
{
	const struct field *const fields = b->fields + e->first_field;

	for (uint32_t i = 0; i < e->nfields; i++)
		put_arg(st, event, &fields[i], e, ledger);
}

/* ---- spans ---- */

/* Times in the order of unsigned numbers. */
static uint64_t ordered(const struct sqlite_state *st, uint64_t ts)
{
	return ts ^ (uint64_t)st->signed_time << 63;
}

static struct parents_found find_parent(struct sqlite_state *st, const struct event *e, int64_t id,
                                        struct ledger *ledger)
{
	const uint64_t start = ordered(st, e->ts), left = UINT64_MAX - start;
	struct parents_found found = { .id = 0 };

	if ((e->flags & EVENT_ASYNC) != 0)
		return found;
	st->no_memory |= !parents_next(&st->parents, base_of(e->track)->index, start,
	                               e->dur > left ? UINT64_MAX : start + e->dur, id, &found);
	if (found.forgotten)
		lose_event(ledger, SQLITE_LOSS_PARENT_FORGOTTEN, e);
	return found;
}

static void put_span(struct sqlite_state *st, const struct batch *b, const struct event *e,
                     struct ledger *ledger)
{
	const int64_t id = ++st->last;
	const struct parents_found parent = find_parent(st, e, id, ledger);

	sqlite_bind_i64(st, TABLE_SPAN, 1, id);
	sqlite_bind_text(st, TABLE_SPAN, 2,
	                 (e->flags & EVENT_ASYNC) != 0 ? SLICE_LIT("async") : SLICE_LIT("span"));
	bind_time(st, TABLE_SPAN, 3, e, ledger);
	if (e->dur > INT64_MAX)
		lose_event(ledger, SQLITE_LOSS_TIME_TOO_LARGE, e);
	sqlite_bind_i64(st, TABLE_SPAN, 4, e->dur > INT64_MAX ? INT64_MAX : (int64_t)e->dur);
	bind_what(st, TABLE_SPAN, 5, e);
	sqlite_bind_i64(st, TABLE_SPAN, 9, e->track->lane);
	if (parent.id != 0)
		sqlite_bind_i64(st, TABLE_SPAN, 10, parent.id);
	else
		sqlite_bind_null(st, TABLE_SPAN, 10);
	sqlite_bind_i64(st, TABLE_SPAN, 11, parent.depth);
	sqlite_bind_u64(st, TABLE_SPAN, 12, e->offset);
	(void)sqlite_insert(st, TABLE_SPAN);
	put_args(st, id, b, e, ledger);
}

/* ---- the others ---- */

static void put_instant(struct sqlite_state *st, const struct batch *b, const struct event *e,
                        struct ledger *ledger)
{
	const int64_t id = ++st->last;

	sqlite_bind_i64(st, TABLE_INSTANT, 1, id);
	bind_time(st, TABLE_INSTANT, 2, e, ledger);
	bind_what(st, TABLE_INSTANT, 3, e);
	sqlite_bind_u64(st, TABLE_INSTANT, 7, e->offset);
	(void)sqlite_insert(st, TABLE_INSTANT);
	put_args(st, id, b, e, ledger);
}

/* series: NULL: it has none. */
static void put_series(struct sqlite_state *st, const struct event *e, const struct field *series,
                       struct ledger *ledger)
{
	sqlite_bind_i64(st, TABLE_COUNTER, 1, ++st->last);
	bind_time(st, TABLE_COUNTER, 2, e, ledger);
	bind_what(st, TABLE_COUNTER, 3, e);
	if (series != NULL) {
		sqlite_bind_i64(st, TABLE_COUNTER, 7, sqlite_string(st, series->name));
		sqlite_bind_value(st, (struct sqlite_place){ TABLE_COUNTER, 8, ledger, e->offset },
		                  &series->value);
	} else {
		sqlite_bind_null(st, TABLE_COUNTER, 7);
		sqlite_bind_null(st, TABLE_COUNTER, 8);
	}
	sqlite_bind_u64(st, TABLE_COUNTER, 9, e->offset);
	(void)sqlite_insert(st, TABLE_COUNTER);
}

static bool is_number(const struct field *f)
{
	return f->value.type >= VALUE_U8 && f->value.type <= VALUE_F64;
}

/* Fields that are no numbers belong to the row of its first series. */
static void put_counter(struct sqlite_state *st, const struct batch *b, const struct event *e,
                        struct ledger *ledger)
{
	const struct field *const fields = b->fields + e->first_field;
	const int64_t first = st->last + 1;

	for (uint32_t i = 0; i < e->nfields; i++)
		if (is_number(&fields[i]))
			put_series(st, e, &fields[i], ledger);
	if (st->last < first)
		put_series(st, e, NULL, ledger);
	for (uint32_t i = 0; i < e->nfields; i++)
		if (!is_number(&fields[i]))
			put_arg(st, first, &fields[i], e, ledger);
}

static void put_flow(struct sqlite_state *st, const struct batch *b, const struct event *e,
                     struct ledger *ledger)
{
	const int64_t id = ++st->last;

	sqlite_bind_i64(st, TABLE_FLOW, 1, id);
	sqlite_bind_text(st, TABLE_FLOW, 2,
	                 e->phase == PHASE_FLOW_OUT ? SLICE_LIT("flow_out")
	                 : event_is_step(e)         ? SLICE_LIT("flow_step")
	                                            : SLICE_LIT("flow_in"));
	bind_time(st, TABLE_FLOW, 3, e, ledger);
	sqlite_bind_u64(st, TABLE_FLOW, 4, e->dur);
	bind_what(st, TABLE_FLOW, 5, e);
	sqlite_bind_u64(st, TABLE_FLOW, 9, e->offset);
	(void)sqlite_insert(st, TABLE_FLOW);
	put_args(st, id, b, e, ledger);
}

static void sqlite_event(struct sqlite_state *st, const struct batch *b, const struct event *e,
                         struct ledger *ledger)
{
	switch ((enum phase)e->phase) {
	case PHASE_SPAN:
		put_span(st, b, e, ledger);
		break;
	case PHASE_COUNTER:
		put_counter(st, b, e, ledger);
		break;
	case PHASE_FLOW_OUT:
	case PHASE_FLOW_IN:
		put_flow(st, b, e, ledger);
		break;
	case PHASE_BEGIN: /* these two are paired before they get here */
	case PHASE_END:
	case PHASE_INSTANT:
		put_instant(st, b, e, ledger);
		break;
	case PHASE_STRUCTURE: /* not asked for */
		break;
	}
}

/* ---- write ---- */

/*
 * An SQLite database.  SQLite needs a file in which it can write anywhere, and
 * outputs need not be one: so the database is made in a temporary file, and
 * written in the end.  All rows are inserted in one transaction, in order of
 * time, by statements that were prepared once; text is always bound.
 */

#define PIECE (1U << 20) /* of the database that is written in one go */

/* What failed goes out with the chunk. */
static void tell(const struct sqlite_state *st, struct chunk *chunk)
{
	if (st->no_memory)
		chunk->text.failed = true;
	else if (st->why[0] != '\0')
		chunk->end.failed = st->why;
}

static bool writer_open(struct writer *w, struct chunk *chunk)
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

static bool declare_track(struct sqlite_state *st, struct track *k)
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

static bool declare_class(struct sqlite_state *st, struct class *c)
{
	struct sqlite_class *const to = arena_alloc(&st->arena, sizeof *to);

	if (to == NULL)
		return false;
	*to = (struct sqlite_class){ sqlite_string(st, c->category) };
	c->declared = to;
	return true;
}

/* A failure of the database is told with the next chunk. */
static bool writer_declare(struct writer *w, const struct batch *b)
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

static void writer_write(void *state, const struct batch *b, struct chunk *chunk)
{
	struct sqlite_state *const st = state;

	for (uint32_t i = 0; i < b->n && !sqlite_failed(st); i++)
		sqlite_event(st, b, &b->events[i], &chunk->ledger);
	tell(st, chunk);
}

static void put_piece(struct sqlite_state *st, struct chunk *chunk)
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

static bool writer_close(struct writer *w, struct chunk *chunk)
{
	struct sqlite_state *const st = w->state;

	if (st->complete || (sqlite_meta(st, w, &chunk->ledger) && sqlite_finish(st)))
		put_piece(st, chunk);
	tell(st, chunk);
	return true;
}

static void writer_free(void *state)
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
