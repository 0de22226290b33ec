#include <inttypes.h>

#include "paraver/state.h"

/* The end: the head of the .prv file, its records from the store, and what the numbers mean. */

#define PIECE ((size_t)1 << 20) /* of the store; a line is far shorter */

/* ---- the head ---- */

/* The minute at which the trace began, in UTC, if it is known. */
static void
put_date(const struct paraver_state *st, const struct writer *w, struct text *t)
{
	unsigned __int128 ns = 0;

	if (w->trace->epoch_known)
		ns = (unsigned __int128)w->trace->epoch_ns + (w->rebased ? w->rebased_by : 0) +
		     (w->signed_time && (int64_t)st->base < 0 ? 0 : st->base);
	const uint64_t minutes = (uint64_t)(ns / 60000000000U);
	/* Years begin in March, so that a day that leap years have is their last one. */
	const uint64_t days = minutes / 1440 + 719468, era = days / 146097, in_era = days % 146097;
	const uint64_t year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
	const uint64_t in_year = in_era - (365 * year + year / 4 - year / 100);
	const uint64_t month = (5 * in_year + 2) / 153, day = in_year - (153 * month + 2) / 5 + 1;

	text_printf(t, "#Paraver (%02u/%02u/%02u at %02u:%02u):", (unsigned)day,
	            (unsigned)(month < 10 ? month + 3 : month - 9),
	            (unsigned)((era * 400 + year + (month >= 10)) % 100), (unsigned)(minutes / 60 % 24),
	            (unsigned)(minutes % 60));
}

static void
put_head(struct paraver_state *st, const struct writer *w, struct text *t)
{
	put_date(st, w, t);
	text_printf(t, "%" PRIu64 "_ns:0:", st->spans.now);
	paraver_objects(&st->rows, t);
	text_char(t, '\n');
}

/* ---- records ---- */

/* A line that lacks its receiver. */
static void
put_arrow(struct paraver_state *st, const char *line, size_t n, struct chunk *chunk)
{
	const struct paraver_arrival at = paraver_arrow_get(&st->arrows, st->narrows++);
	struct text *const t = &chunk->text;

	if (at.row == 0) {
		paraver_lose(chunk, PARAVER_ARROW, 0);
		return;
	}
	text_add(t, line, n);
	text_printf(t, ":%s%" PRIu64 ":%" PRIu64 ":0:%" PRIu32 "\n", st->rows.rows[at.row - 1].prefix,
	            at.time, at.time, at.name);
}

static void
put_lines(struct paraver_state *st, const char *p, const char *end, struct chunk *chunk)
{
	while (p < end) {
		const char *const mark = memchr(p, PARAVER_ARROW_MARK, (size_t)(end - p));
		if (mark == NULL) {
			text_add(&chunk->text, p, (size_t)(end - p));
			return;
		}
		text_add(&chunk->text, p, (size_t)(mark - p));
		const char *const stop = memchr(mark, '\n', (size_t)(end - mark));
		put_arrow(st, mark + 1, (size_t)(stop - mark - 1), chunk);
		p = stop + 1;
	}
}

/* As many whole lines of the store as there are in a piece. */
static void
put_piece(struct paraver_state *st, struct chunk *chunk)
{
	const uint64_t left = paraver_store_size(&st->store) - st->given;
	size_t n = left < PIECE ? (size_t)left : PIECE;
	char *p;

	text_clear(&st->scratch);
	p = text_room(&st->scratch, PIECE);
	if (p == NULL || n == 0 || !paraver_store_read(&st->store, st->given, p, n))
		return;
	while (p[n - 1] != '\n')
		n--;
	put_lines(st, p, p + n, chunk);
	st->given += n;
	if (st->store.file.is_open)
		spill_discard(&st->store.file, st->given - n, n);
}

bool
paraver_is_well(struct paraver_state *st, struct chunk *chunk)
{
	chunk->text.failed |=
	    st->store.text.failed | st->scratch.failed | st->names.failed | st->arrows.no_memory;
	if (st->store.failed)
		spill_reason(&st->store.file, "the records", st->why, sizeof st->why);
	else if (st->arrows.failed)
		spill_reason(&st->arrows.file, "the arrows", st->why, sizeof st->why);
	if (st->why[0] != '\0')
		chunk->end.failed = st->why;
	return !chunk->text.failed && st->why[0] == '\0';
}

bool
paraver_close(struct writer *w, struct chunk *chunk)
{
	struct paraver_state *const st = w->state;

	chunk_file(chunk, PARAVER_PRV);
	if (!st->closing) {
		paraver_spans_end(st, chunk);
		put_head(st, w, &chunk->text);
		if (w->trace->nmeta > 0)
			ledger_add(&chunk->ledger, &paraver_losses[PARAVER_FACTS], 0, w->trace->nmeta);
		st->closing = true;
	}
	put_piece(st, chunk);
	if (!paraver_is_well(st, chunk))
		return true;
	chunk->end.more = st->given < paraver_store_size(&st->store);
	if (chunk->end.more)
		return true;
	chunk_file(chunk, PARAVER_PCF);
	paraver_pcf(&st->names, chunk);
	chunk_file(chunk, PARAVER_ROW);
	paraver_row_file(&st->rows, chunk);
	return true;
}
