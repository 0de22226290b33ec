#include <stdlib.h>

#include "base/units.h"
#include "parquet/state.h"

/*
 * Parquet files.  Events come in the order of time and become rows of a row
 * group; when it is full, its pages go out.  Where they are is kept, in a
 * temporary file if it is much, for the footer, which is written in the end:
 * only then the losses and facts are known that it tells.
 */

/* What failed goes out with the chunk. */
static bool
tell(const struct parquet_state *st, struct chunk *chunk, bool ok)
{
	if (st->why[0] != '\0')
		chunk->end.failed = st->why;
	return ok || st->why[0] != '\0';
}

static bool
begin(struct writer *w, struct chunk *chunk, bool in_parts)
{
	struct parquet_state *const st = w->state;
	const char *const size = option_find(w->options, "part-size");

	st->in_parts = in_parts;
	st->signed_time = w->signed_time;
	st->beside = w->beside;
	st->tool = w->tool;
	st->part_bytes = PART_BYTES;
	if (size != NULL)
		(void)units_bytes(slice_str(size), &st->part_bytes);
	return parquet_open_columns(st, w->options) && parquet_next_part(st, chunk);
}

static bool
parquet_open(struct writer *w, struct chunk *chunk)
{
	return begin(w, chunk, false);
}

static bool
parquet_dir_open(struct writer *w, struct chunk *chunk)
{
	return begin(w, chunk, true);
}

static void
parquet_write(void *state, const struct batch *b, struct chunk *chunk)
{
	struct parquet_state *const st = state;
	bool ok = st->why[0] == '\0';

	for (uint32_t i = 0; ok && i < b->n; i++) {
		if (b->events[i].phase == PHASE_STRUCTURE)
			continue;
		parquet_put_event(st, b, &b->events[i], &chunk->ledger);
		ok = !st->tools.failed && (!parquet_group_is_full(st) || parquet_end_group(st, chunk));
	}
	if (ok)
		(void)parquet_drain(st, chunk, GROUP_PIECE);
	if (!tell(st, chunk, ok))
		chunk->text.failed = true;
}

static void
lose_columns(const struct parquet_state *st, struct ledger *ledger)
{
	uint64_t n = 0;

	for (uint32_t i = COLS; i < st->ncolumns; i++)
		n += st->lifted[i - COLS].looked_for && !st->lifted[i - COLS].met;
	if (n > 0)
		ledger_add(ledger, &parquet_losses[PARQUET_LOSS_NO_ARG], 0, n);
}

static bool
parquet_close(struct writer *w, struct chunk *chunk)
{
	struct parquet_state *const st = w->state;
	bool more = true;

	if (st->nabout == 0) {
		if (!parquet_end_group(st, chunk))
			return tell(st, chunk, false);
		lose_columns(st, &chunk->ledger);
		parquet_put_about(st, w);
	}
	if (parquet_drain(st, chunk, GROUP_PIECE)) {
		chunk->end.more = true;
		return true;
	}
	const bool ok = parquet_put_footer(st, chunk, &more);
	chunk->end.more = ok && more;
	return tell(st, chunk, ok);
}

static void
parquet_free(void *state)
{
	struct parquet_state *const st = state;

	for (uint32_t i = 0; i < st->ncolumns; i++)
		column_free(&st->columns[i]);
	ZSTD_freeCCtx(st->tools.zstd);
	text_free(&st->tools.page);
	text_free(&st->tools.packed);
	text_free(&st->scratch);
	text_free(&st->meta);
	text_free(&st->group);
	text_free(&st->about);
	spill_close(&st->spill);
	parents_free(&st->parents);
	arena_free(&st->arena);
	free(st->parts);
}

#define OPS(begins, shapes)                                                                                  \
	{                                                                                                    \
		.state_size = sizeof(struct parquet_state), .want = WANT_FIELDS,                             \
		.modes = WRITER_SEEKS | WRITER_INTERPRETED, .order = ORDER_TIME,                             \
		.shape = (shapes), .nested = true,                                                           \
		.open = begins, .declare = parquet_declare, .write = parquet_write, .close = parquet_close,  \
		.free = parquet_free,                                                                        \
	}

const struct writer_ops parquet_writer_ops = OPS(parquet_open, WRITER_FILE);
const struct writer_ops parquet_dir_writer_ops = OPS(parquet_dir_open, WRITER_FOLDER);
