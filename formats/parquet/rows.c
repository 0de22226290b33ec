/*
 * Columns of events, and one event as a row.
 *
 * --column NAME[:TYPE] adds a column for a field of events; values that the type cannot express are null, and
 * counted as a loss.  Texts and numbers of classes and tracks repeat in most rows, so their numbers in the
 * dictionaries are cached for each class and track.
 */
#include "base/memory.h"
#include "model/event_traits.h"
#include "out/field_names.h"
#include "out/kind.h"
#include "parquet/parquet.h"

/* Cached numbers of the cells of a track. */
enum track_cell { CELL_PROCESS, CELL_PID, CELL_THREAD, CELL_TID, CELL_TRACK, CELL_LANE, CELLS };

/* Declaration of a track.  Its users cannot change it, so the caches are separate. */
struct parquet_track {
	const struct track *process, *thread, *base; /* thread: NULL for a track of the process itself */
	struct column_known *known;                  /* by enum track_cell */
};

static inline void count_loss(struct chunk *chunk, enum parquet_loss loss, uint64_t offset, uint64_t count)
{
	if (count > 0)
		ledger_add(&chunk->ledger, &parquet_losses[loss], offset, count);
}

/* ---- columns ---- */

/* The columns of each file. */
static const struct column fixed[COLS] = {
	[COL_TS] = { .name = "ts_ns", .type = COLUMN_I64, .by_delta = true },
	[COL_DUR] = { .name = "dur_ns", .type = COLUMN_I64, .optional = true },
	[COL_KIND] = { .name = "kind", .type = COLUMN_TEXT, .by_dictionary = true },
	[COL_NAME] = { .name = "name", .type = COLUMN_TEXT, .by_dictionary = true },
	[COL_CATEGORY] = { .name = "category", .type = COLUMN_TEXT, .by_dictionary = true },
	[COL_PROCESS] = { .name = "process", .type = COLUMN_TEXT, .by_dictionary = true },
	[COL_PID] = { .name = "pid", .type = COLUMN_I64, .optional = true, .by_dictionary = true },
	[COL_THREAD] = { .name = "thread", .type = COLUMN_TEXT, .optional = true, .by_dictionary = true },
	[COL_TID] = { .name = "tid", .type = COLUMN_I64, .optional = true, .by_dictionary = true },
	[COL_TRACK] = { .name = "track", .type = COLUMN_TEXT, .optional = true, .by_dictionary = true },
	[COL_LANE] = { .name = "lane", .type = COLUMN_I32, .by_dictionary = true },
	[COL_DEPTH] = { .name = "depth", .type = COLUMN_I32, .optional = true, .by_dictionary = true },
	[COL_ID] = { .name = "id", .type = COLUMN_I64, .optional = true },
	[COL_OFFSET] = { .name = "offset", .type = COLUMN_I64, .by_delta = true },
	[COL_ARGS] = { .name = "args", .type = COLUMN_JSON, .optional = true },
};

const char *parquet_column_mistake(const char *arg)
{
	for (size_t i = 0; i < COLS; i++)
		if (lifted_is(arg, fixed[i].name))
			return "takes no name that a column of each file has (tracetool-parquet(5) lists "
			       "them)";
	return lifted_mistake(arg);
}

static const enum column_type lifted_types[] = {
	[LIFTED_TEXT] = COLUMN_TEXT, [LIFTED_JSON] = COLUMN_JSON, [LIFTED_INT] = COLUMN_I64,
	[LIFTED_FLOAT] = COLUMN_F64, [LIFTED_BOOL] = COLUMN_BOOL,
};

static void add_lifted(struct parquet_state *st, const struct option_value *options)
{
	lifted_open(&st->lifted, options);
	for (uint32_t i = 0; i < st->lifted.n; i++) {
		const enum column_type type = lifted_types[st->lifted.columns[i].type];
		st->columns[st->ncolumns++] = (struct column){
			.name = st->lifted.columns[i].name,
			.type = type,
			.optional = true,
			.by_dictionary = type == COLUMN_TEXT || type == COLUMN_I64,
		};
	}
}

bool parquet_open_columns(struct parquet_state *st, const struct option_value *options)
{
	memcpy(st->columns, fixed, sizeof fixed);
	st->ncolumns = COLS;
	add_lifted(st, options);
	st->tools.zstd = ZSTD_createCCtx();
	if (st->tools.zstd == NULL)
		return false;
	for (uint32_t i = 0; i < st->ncolumns; i++)
		if (!column_open(&st->columns[i]))
			return false;
	return true;
}

/* ---- values of --column ---- */

struct cell {
	struct parquet_state *st;
	struct column *column;
	enum lifted_type type;
	const struct event *e;
	struct chunk *chunk;
};

void parquet_count_json_losses(struct chunk *chunk, uint64_t offset, const struct fields_json_lost *lost)
{
	count_loss(chunk, PARQUET_LOSS_BAD_TEXT, offset, lost->bad_text);
	count_loss(chunk, PARQUET_LOSS_NOT_A_NUMBER, offset, lost->not_a_number);
	count_loss(chunk, PARQUET_LOSS_TOO_DEEP, offset, lost->too_deep);
}

static void put_as_text(const struct cell *to, const struct value *v)
{
	struct parquet_state *const st = to->st;
	struct fields_json_lost lost = { .bad_text = 0 };
	struct text *const t = &st->scratch;

	text_clear(t);
	lifted_text(to->type, v, t, &lost);
	st->tools.failed |= t->failed;
	if (t->n > VALUE_MAX) {
		count_loss(to->chunk, PARQUET_LOSS_TOO_LONG, to->e->offset, 1);
		column_null(to->column, &st->tools);
		return;
	}
	column_text(to->column, &st->tools, (struct slice){ t->p, (uint32_t)t->n, SLICE_UTF8 }, NULL);
	if (fields_json_lost_any(&lost))
		parquet_count_json_losses(to->chunk, to->e->offset, &lost);
}

/* Returns false if the column's type cannot express the value. */
static bool put_cell(const struct cell *to, const struct value *v)
{
	struct lifted_number number;

	if (!lifted_is_number(to->type)) {
		put_as_text(to, v);
		return true;
	}
	if (!lifted_number(to->type, v, &number))
		return false;
	if (to->type == LIFTED_FLOAT)
		column_f64(to->column, &to->st->tools, number.f);
	else
		column_number(to->column, &to->st->tools, number.i);
	count_loss(to->chunk, PARQUET_LOSS_ARG_ROUNDED, to->e->offset, number.rounded);
	return true;
}

static void put_lifted(struct parquet_state *st, const struct batch *b, const struct event *e,
                       struct chunk *chunk)
{
	for (uint32_t i = 0; i < st->lifted.n; i++) {
		const struct cell to = { st, &st->columns[COLS + i], st->lifted.columns[i].type, e, chunk };
		struct path_value member;
		const struct value *const v = lifted_find(&st->lifted, i, b, e, &member);
		if (v != NULL && put_cell(&to, v))
			continue;
		count_loss(chunk, PARQUET_LOSS_ARG_TYPE, e->offset, v != NULL);
		column_null(to.column, &st->tools);
	}
}

/* ---- declarations ---- */

static bool declare_track(struct parquet_state *st, struct track *k)
{
	struct parquet_track *const to = arena_alloc(&st->arena, sizeof *to);
	const struct track *const base = track_without_lane(k);

	if (to == NULL)
		return false;
	*to = (struct parquet_track){ track_process(k), track_thread_or_null(base), base,
		                      arena_zalloc(&st->arena, CELLS, sizeof *to->known) };
	k->declared = to;
	return to->known != NULL;
}

bool parquet_declare(struct writer *w, const struct batch *b, struct chunk *chunk)
{
	struct parquet_state *const st = w->state;

	for (uint32_t i = 0; i < b->ntracks; i++)
		if (!declare_track(st, b->tracks[i]))
			return false;
	for (uint32_t i = 0; i < b->nclasses; i++)
		if (!array_reach(&st->categories, &st->ncategories, b->classes[i]->index,
		                 sizeof *st->categories))
			return false;
	return true;
}

/* ---- a row ---- */

struct row {
	struct parquet_state *st;
	const struct event *e;
	struct chunk *chunk;
};

static void put_number(const struct row *r, enum parquet_column i, uint64_t v)
{
	if (v > INT64_MAX)
		count_loss(r->chunk, PARQUET_LOSS_ID_WRAPPED, r->e->offset, 1);
	column_number(&r->st->columns[i], &r->st->tools, (int64_t)v);
}

static void put_null(const struct row *r, enum parquet_column i)
{
	column_null(&r->st->columns[i], &r->st->tools);
}

static void put_text(const struct row *r, enum parquet_column i, struct slice s, struct column_known *known)
{
	struct column *const c = &r->st->columns[i];

	if (column_knows(c, known) && !known->repaired) {
		column_add_number(c, &r->st->tools, known->number);
		return;
	}
	if (s.n > VALUE_MAX) {
		count_loss(r->chunk, PARQUET_LOSS_TOO_LONG, r->e->offset, 1);
		s = slice_of(s.p, VALUE_MAX);
	}
	if (column_text(c, &r->st->tools, s, known))
		count_loss(r->chunk, PARQUET_LOSS_BAD_TEXT, r->e->offset, 1);
}

/* Returns the cache of the number of a name; NULL: none. */
static struct column_known *known_name(struct parquet_state *st, struct slice s)
{
	struct known_text *const k = known_text(st->names, KNOWN_TEXTS, s, 0);
	const uint32_t i = (uint32_t)(k - st->names);

	if ((s.flags & SLICE_STAYS) == 0)
		return NULL;
	if (!known_text_is(k, s, 0)) {
		known_text_set(k, s, 0, i);
		st->known_names[i] = (struct column_known){ .group = 0 };
	}
	return &st->known_names[i];
}

/* Limits a time or a duration to 63 bits. */
static int64_t limited_time(const struct row *r, uint64_t ns)
{
	if (ns <= INT64_MAX)
		return (int64_t)ns;
	count_loss(r->chunk, PARQUET_LOSS_TIME_TOO_LARGE, r->e->offset, 1);
	return INT64_MAX;
}

static void put_times(const struct row *r)
{
	struct parquet_state *const st = r->st;
	const struct event *const e = r->e;

	column_number(&st->columns[COL_TS], &st->tools,
	              st->signed_time ? (int64_t)e->ts : limited_time(r, e->ts));
	if (event_has_duration(e))
		column_number(&st->columns[COL_DUR], &st->tools, limited_time(r, e->dur));
	else
		put_null(r, COL_DUR);
}

/* Adds the name and the id of a process or thread to adjacent columns.  known: [2], caches of name and id. */
static void put_name_and_id(const struct row *r, const struct track *k, enum parquet_column name,
                            struct column_known *known)
{
	struct column *const number = &r->st->columns[name + 1];

	if (k != NULL)
		put_text(r, name, k->name, known);
	else
		put_null(r, name);
	if (k == NULL || !k->has_id)
		column_null(number, &r->st->tools);
	else
		column_known_number(number, &r->st->tools, (int64_t)k->id, known + 1);
	if (k != NULL && k->has_id && k->id > INT64_MAX)
		count_loss(r->chunk, PARQUET_LOSS_ID_WRAPPED, r->e->offset, 1);
}

static void put_track(const struct row *r)
{
	const struct parquet_track *const k = r->e->track->declared;

	put_name_and_id(r, k->process, COL_PROCESS, &k->known[CELL_PROCESS]);
	put_name_and_id(r, k->thread, COL_THREAD, &k->known[CELL_THREAD]);
	if (k->base->is_child)
		put_text(r, COL_TRACK, k->base->name, &k->known[CELL_TRACK]);
	else
		put_null(r, COL_TRACK);
	column_known_number(&r->st->columns[COL_LANE], &r->st->tools, r->e->track->lane,
	                    &k->known[CELL_LANE]);
}

static void put_depth(const struct row *r)
{
	struct parquet_state *const st = r->st;
	const struct event *const e = r->e;
	const struct parquet_track *const k = e->track->declared;
	struct parents_found found = { .id = 0 };

	if (e->phase != PHASE_SPAN || (e->flags & EVENT_ASYNC) != 0) {
		put_null(r, COL_DEPTH);
		return;
	}
	st->tools.failed |= !parents_of_event(&st->parents, k->base, e, st->signed_time, 1, &found);
	if (found.forgotten)
		count_loss(r->chunk, PARQUET_LOSS_DEPTH, e->offset, 1);
	column_known_number(&st->columns[COL_DEPTH], &st->tools, found.depth,
	                    found.depth < DEPTHS ? &st->depths[found.depth] : NULL);
}

static void put_args(const struct row *r, const struct batch *b)
{
	struct parquet_state *const st = r->st;
	struct fields_json_lost lost = { .bad_text = 0 };
	size_t at;

	if (r->e->nfields == 0) {
		put_null(r, COL_ARGS);
		return;
	}
	struct text *const t = column_begin_text(&st->columns[COL_ARGS], &at);
	const struct field *const f =
	    field_names_unique(r->chunk, b->fields + r->e->first_field, r->e->nfields,
	                       &parquet_losses[PARQUET_LOSS_NAME_REPEATED], r->e->offset);
	text_char(t, '{');
	fields_json(t, f, r->e->nfields, &lost);
	text_char(t, '}');
	if (!column_end_text(&st->columns[COL_ARGS], &st->tools, at))
		count_loss(r->chunk, PARQUET_LOSS_TOO_LONG, r->e->offset, 1);
	else if (fields_json_lost_any(&lost))
		parquet_count_json_losses(r->chunk, r->e->offset, &lost);
}

void parquet_put_event(struct parquet_state *st, const struct batch *b, const struct event *e,
                       struct chunk *chunk)
{
	const struct row r = { st, e, chunk };
	const enum event_kind kind = event_kind(e);

	put_times(&r);
	put_text(&r, COL_KIND, slice_str(event_kind_name(kind)), &st->kinds[kind]);
	put_text(&r, COL_NAME, e->name, known_name(st, e->name));
	put_text(&r, COL_CATEGORY, e->cls->category, &st->categories[e->cls->index]);
	put_track(&r);
	put_depth(&r);
	if (event_is_flow(e))
		put_number(&r, COL_ID, e->dur);
	else
		put_null(&r, COL_ID);
	put_number(&r, COL_OFFSET, e->offset);
	put_args(&r, b);
	put_lifted(st, b, e, chunk);
	st->rows++;
}
