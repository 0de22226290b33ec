#include <inttypes.h>

#include "output/text_start.h"
#include "parquet/state.h"

/* Row groups, parts, and where they are. */

#define META_PIECE (1U << 20) /* metadata of row groups that are kept in memory */

bool
parquet_group_is_full(const struct parquet_state *st)
{
	return st->rows >= GROUP_ROWS || st->tools.bytes >= GROUP_BYTES;
}

/* ---- parts ---- */

static struct part *
present(const struct parquet_state *st)
{
	return st->parts[st->nparts - 1];
}

static uint64_t
meta_end(const struct parquet_state *st)
{
	return st->spill.size + st->meta.n;
}

bool
parquet_next_part(struct parquet_state *st, struct chunk *chunk)
{
	struct part *const p = arena_alloc(&st->arena, sizeof *p);

	if (p == NULL || !array_room(&st->parts, st->nparts, &st->parts_cap, sizeof *st->parts))
		return false;
	*p = (struct part){ .meta = meta_end(st) };
	struct text name = text_start(p->name, sizeof p->name);
	text_printf(&name, "part-%05" PRIu32 ".parquet", st->nparts);
	text_char(&name, '\0');
	st->parts[st->nparts++] = p;
	if (st->in_parts)
		chunk_file(chunk, p->name);
	text_str(&chunk->text, PARQUET_MAGIC);
	st->offset = PARQUET_MAGIC_SIZE;
	return !name.failed;
}

/* ---- row groups ---- */

/* ColumnChunk */
static void
put_chunk(const struct column *c, const struct column_place *place, struct thrift *t)
{
	thrift_add_struct(t);
	thrift_i64(t, 2, 0); /* where another copy of the metadata is: nowhere */
	thrift_struct(t, 3);
	column_put_meta(c, place, t);
	thrift_end(t);
	thrift_end(t);
}

/* RowGroup; sorted by the first column, upwards. */
static void
put_meta(struct parquet_state *st, const struct column_place *places)
{
	struct thrift t = { .to = &st->meta };
	uint64_t packed = 0, unpacked = 0;

	thrift_list(&t, 1, THRIFT_STRUCT, st->ncolumns);
	for (uint32_t i = 0; i < st->ncolumns; i++) {
		put_chunk(&st->columns[i], &places[i], &t);
		packed += places[i].packed;
		unpacked += places[i].unpacked;
	}
	thrift_i64(&t, 2, (int64_t)unpacked);
	thrift_i64(&t, 3, st->rows);
	thrift_list(&t, 4, THRIFT_STRUCT, 1);
	thrift_add_struct(&t);
	thrift_i32(&t, 1, COL_TS);
	thrift_bool(&t, 2, false);
	thrift_bool(&t, 3, false);
	thrift_end(&t);
	thrift_i64(&t, 5, (int64_t)st->offset);
	thrift_i64(&t, 6, (int64_t)packed);
	thrift_end(&t);
}

/* Metadata that became much goes to a temporary file. */
static bool
spill_meta(struct parquet_state *st)
{
	if (st->meta.n < META_PIECE)
		return true;
	if ((!st->spill.is_open && !spill_open(&st->spill, st->beside)) ||
	    !spill_write(&st->spill, st->meta.p, st->meta.n)) {
		spill_reason(&st->spill, "the metadata of row groups", st->why, sizeof st->why);
		return false;
	}
	text_clear(&st->meta);
	return true;
}

/* The pages of all columns into st->group; offsets count from its beginning. */
static void
put_pages(struct parquet_state *st, struct column_place *places)
{
	for (uint32_t i = 0; i < st->ncolumns; i++) {
		struct column *const c = &st->columns[i];
		column_end_page(c, &st->tools);
		places[i] = column_put_pages(c, &st->tools, &st->group, st->group.n);
	}
}

bool
parquet_drain(struct parquet_state *st, struct chunk *chunk, size_t most)
{
	const size_t left = st->group.n - st->drained, n = left < most ? left : most;

	if (n > 0 && st->in_parts)
		chunk_file(chunk, present(st)->name);
	if (n > 0)
		text_add(&chunk->text, st->group.p + st->drained, n);
	st->drained += n;
	return left > n;
}

/* The row group is in st->group: what is known of it, and the next one. */
static bool
close_group(struct parquet_state *st, struct column_place *places)
{
	struct part *const part = present(st);

	for (uint32_t i = 0; i < st->ncolumns; i++) {
		places[i].data += st->offset;
		places[i].dictionary += places[i].has_dictionary ? st->offset : 0;
	}
	put_meta(st, places);
	part->groups++;
	part->rows += st->rows;
	part->meta_bytes = meta_end(st) - part->meta;
	st->offset += st->group.n;
	st->rows = 0;
	st->tools.bytes = 0;
	for (uint32_t i = 0; i < st->ncolumns; i++)
		column_next_group(&st->columns[i]);
	return !st->meta.failed && spill_meta(st);
}

bool
parquet_end_group(struct parquet_state *st, struct chunk *chunk)
{
	struct column_place places[COLS + PARQUET_LIFTED];

	(void)parquet_drain(st, chunk, SIZE_MAX); /* of the group before, if it is not out yet */
	text_clear(&st->group);
	st->drained = 0;
	if (st->rows == 0)
		return true;
	put_pages(st, places);
	if (st->tools.failed || st->group.failed)
		return false;
	const bool is_full = present(st)->rows > 0 && st->offset + st->group.n > st->part_bytes;
	if (st->in_parts && is_full && !parquet_next_part(st, chunk))
		return false;
	return close_group(st, places);
}
