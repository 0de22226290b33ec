/*
 * The writer of Parquet files.  Events arrive in the order of time and become rows of a row group.  When a
 * group is full, its pages are written; its metadata are stored for the footer, in a temporary file if they
 * are large.  The footer is written at the end, when the losses and facts that it lists are known.
 *
 * Memory: the compressed pages of one row group, and 1 MiB of metadata.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "out/facts.h"
#include "out/field_names.h"
#include "output/text_json.h"
#include "parquet/parquet.h"

#define META_MEMORY (1U << 20)   /* bytes of metadata of row groups that are kept in memory */
#define META_PIECE (1U << 20)    /* bytes of metadata that are written per call */
#define GROUP_PIECE (512U << 10) /* bytes of pages that are written per call */
#define PARQUET_MAGIC "PAR1"     /* at both ends of a file */
#define PARQUET_MAGIC_SIZE 4

/* ---- parts ---- */

static struct part *current_part(const struct parquet_state *st)
{
	return st->parts[st->nparts - 1];
}

static uint64_t meta_end(const struct parquet_state *st)
{
	return st->spill.size + st->meta.n;
}

static bool start_part(struct parquet_state *st, struct chunk *chunk)
{
	struct part *const p = arena_alloc(&st->arena, sizeof *p);

	if (p == NULL || !array_reserve(&st->parts, st->nparts, &st->parts_cap, sizeof *st->parts))
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

/* Adds a RowGroup, which is sorted by the first column in ascending order. */
static void put_group_meta(struct parquet_state *st, const struct column_position *positions)
{
	struct thrift t = { .to = &st->meta };
	uint64_t packed = 0, unpacked = 0;

	thrift_list(&t, 1, THRIFT_STRUCT, st->ncolumns);
	for (uint32_t i = 0; i < st->ncolumns; i++) {
		thrift_add_struct(&t);
		thrift_i64(&t, 2, 0); /* file_offset: there is no other copy of the metadata */
		thrift_struct(&t, 3);
		column_put_meta(&st->columns[i], &positions[i], &t);
		thrift_end(&t);
		thrift_end(&t);
		packed += positions[i].packed;
		unpacked += positions[i].unpacked;
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

/* Moves large metadata to the temporary file. */
static bool spill_meta(struct parquet_state *st)
{
	if (st->meta.n < META_MEMORY)
		return true;
	if ((!st->spill.is_open && !spill_open(&st->spill, st->temp_near)) ||
	    !spill_write(&st->spill, st->meta.p, st->meta.n)) {
		spill_reason(&st->spill, "the metadata of row groups", st->why, sizeof st->why);
		return false;
	}
	text_clear(&st->meta);
	return true;
}

/* Writes at most `max` bytes of the ended group: each thread has several chunks, which must not become as
 * large as a group.  Returns whether there are more bytes. */
static bool drain_group(struct parquet_state *st, struct chunk *chunk, size_t max)
{
	const size_t left = st->group.n - st->drained, n = left < max ? left : max;

	if (n > 0 && st->in_parts)
		chunk_file(chunk, current_part(st)->name);
	if (n > 0)
		text_add(&chunk->text, st->group.p + st->drained, n);
	st->drained += n;
	return left > n;
}

/* Adds the metadata of the row group in st->group, and starts the next row group. */
static bool close_group(struct parquet_state *st, struct column_position *positions)
{
	struct part *const part = current_part(st);

	for (uint32_t i = 0; i < st->ncolumns; i++) {
		positions[i].data += st->offset;
		positions[i].dictionary += positions[i].has_dictionary ? st->offset : 0;
	}
	put_group_meta(st, positions);
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

/* Ends the row group, if it has rows: in the current part or, if that would become too large, in a new one.
 * The caller must then drain the group.  Returns false on OOM or after setting st->why. */
static bool end_group(struct parquet_state *st, struct chunk *chunk)
{
	struct column_position positions[COLS + LIFTED_MAX];

	(void)drain_group(st, chunk, SIZE_MAX); /* the rest of the group before this one */
	text_clear(&st->group);
	st->drained = 0;
	if (st->rows == 0)
		return true;
	for (uint32_t i = 0; i < st->ncolumns; i++) { /* positions are relative to the group */
		column_end_page(&st->columns[i], &st->tools);
		positions[i] = column_put_pages(&st->columns[i], &st->tools, &st->group, st->group.n);
	}
	if (st->tools.failed || st->group.failed)
		return false;
	const bool is_full = current_part(st)->rows > 0 && st->offset + st->group.n > st->part_bytes;
	if (st->in_parts && is_full && !start_part(st, chunk))
		return false;
	return close_group(st, positions);
}

/* ---- key-value metadata ---- */

/* Adds a pair, and frees its value. */
static void put_pair(struct parquet_state *st, const char *key, struct text *value)
{
	struct thrift t = { .to = &st->metadata };
	struct text clean = { .p = NULL };

	(void)text_utf8(&clean, slice_of(value->p, value->n));
	thrift_text(&t, 1, slice_str(key));
	thrift_text(&t, 2, slice_of(clean.p, clean.n));
	thrift_end(&t);
	st->metadata.failed |= clean.failed || value->failed;
	st->nmetadata++;
	text_free(&clean);
	text_free(value);
}

/* Adds a fact; its key is "tracetool." and its name. */
static void put_fact(struct parquet_state *st, const struct fact *f)
{
	struct text t = { .p = NULL };
	char key[40];

	snprintf(key, sizeof key, "tracetool.%s", f->name.p);
	fact_put_text(&t, f);
	put_pair(st, key, &t);
}

/* Adds the losses: [{"id":"a/b","text":"...","count":1,"first_offset":0}, ...] */
static void put_losses(struct parquet_state *st, const struct ledger *total)
{
	struct text t = { .p = NULL };

	text_char(&t, '[');
	for (size_t i = 0; i < total->n; i++) {
		const struct ledger_row *const row = &total->rows[i];
		text_str(&t, i > 0 ? ",{\"id\":" : "{\"id\":");
		text_json_string(&t, slice_str(row->loss->id));
		text_str(&t, ",\"text\":");
		text_json_string(&t, slice_str(row->loss->text));
		text_str(&t, ",\"count\":");
		text_json_u64(&t, row->count);
		if (row->first_offset != LOSS_NOWHERE) {
			text_str(&t, ",\"first_offset\":");
			text_json_u64(&t, row->first_offset);
		}
		text_char(&t, '}');
	}
	text_char(&t, ']');
	put_pair(st, "tracetool.losses", &t);
}

#define FACTS_BYTES (1U << 20) /* of JSON; the facts after the one that reaches it are left out */

/* Adds the facts of the trace as a JSON object to t, and counts their losses. */
static void add_facts(struct text *t, const struct trace *trace, struct chunk *chunk)
{
	struct fields_json_lost lost = { .bad_text = 0 };
	const struct field *const f = field_names_unique(chunk, trace->meta, trace->nmeta,
	                                                 &parquet_losses[PARQUET_LOSS_NAME_REPEATED], 0);

	uint32_t n = 0;

	text_char(t, '{');
	for (; n < trace->nmeta && t->n < FACTS_BYTES; n++) {
		if (n > 0)
			text_char(t, ',');
		fields_json(t, &f[n], 1, &lost);
	}
	text_char(t, '}');
	if (n < trace->nmeta)
		ledger_add(&chunk->ledger, &parquet_losses[PARQUET_LOSS_FACTS], LOSS_NOWHERE,
		           trace->nmeta - n);
	parquet_count_json_losses(chunk, LOSS_NOWHERE, &lost);
}

/* Adds the facts that are known at the end; they are the same in each part. */
static void put_metadata(struct parquet_state *st, const struct writer *w, struct chunk *chunk)
{
	struct facts facts = facts_of(w->run, ~(FACTS_OF(FACT_TRACE) | FACTS_OF(FACT_LOSS)));
	struct ledger all = { .n = 0 };
	struct text of_trace = { .p = NULL };
	struct fact f;

	while (facts_next(&facts, &f))
		put_fact(st, &f);
	add_facts(&of_trace, w->run->trace, chunk);
	facts_lose(w, (struct facts_losses){ .hosts = &parquet_losses[PARQUET_LOSS_HOSTS] }, chunk);
	ledger_merge(&all, w->run->total);
	ledger_merge(&all, &chunk->ledger);
	st->metadata.failed |= all.failed;
	put_losses(st, &all);
	put_pair(st, "tracetool.facts", &of_trace);
	ledger_free(&all);
}

/* ---- footer ---- */

/* FileMetaData (parquet.thrift), then its length and the magic. */

enum { VERSION = 1, SCHEMA = 2, ROWS = 3, ROW_GROUPS = 4, METADATA = 5, CREATED_BY = 6, COLUMN_ORDERS = 7 };

static void put_schema(const struct parquet_state *st, struct thrift *t)
{
	thrift_list(t, SCHEMA, THRIFT_STRUCT, 1 + st->ncolumns);
	thrift_add_struct(t);
	thrift_text(t, 4, SLICE_LIT("event"));
	thrift_i32(t, 5, (int32_t)st->ncolumns);
	thrift_end(t);
	for (uint32_t i = 0; i < st->ncolumns; i++) {
		thrift_add_struct(t);
		column_put_schema(&st->columns[i], t);
		thrift_end(t);
	}
}

/* Adds "tracetool version 1.2.3": readers expect this form of program and version. */
static void put_tool(const struct parquet_state *st, struct thrift *t)
{
	struct text name = { .p = NULL };
	const char *const space = strchr(st->tool, ' ');

	text_add(&name, st->tool, space != NULL ? (size_t)(space - st->tool) : strlen(st->tool));
	if (space != NULL)
		text_printf(&name, " version%s", space);
	thrift_text(t, CREATED_BY, slice_of(name.p, name.n));
	t->to->failed |= name.failed;
	text_free(&name);
}

/* Adds the fields after the row groups. */
static void put_tail(const struct parquet_state *st, struct text *to)
{
	struct thrift t = { .to = to, .last = { ROW_GROUPS } };

	thrift_list(&t, METADATA, THRIFT_STRUCT, st->nmetadata);
	text_add(to, st->metadata.p, st->metadata.n);
	put_tool(st, &t);
	thrift_list(&t, COLUMN_ORDERS, THRIFT_STRUCT, st->ncolumns);
	for (uint32_t i = 0; i < st->ncolumns; i++) {
		thrift_add_struct(&t);
		thrift_struct(&t, 1); /* TYPE_ORDER, an empty structure */
		thrift_end(&t);
		thrift_end(&t);
	}
	thrift_end(&t);
}

/* Adds the next piece of the metadata of row groups, from byte footer_meta on. */
static bool put_meta(struct parquet_state *st, const struct part *part, struct text *to)
{
	const uint64_t at = part->meta + st->footer_meta, left = part->meta_bytes - st->footer_meta;
	const uint64_t end = at < st->spill.size ? st->spill.size - at : left;
	const uint64_t max = end < left ? end : left;
	const size_t n = max < META_PIECE ? (size_t)max : META_PIECE;
	char *const p = text_reserve(to, n);

	if (p == NULL)
		return false;
	if (at >= st->spill.size) {
		if (n > 0)
			memcpy(p, st->meta.p + (at - st->spill.size), n);
	} else if (!spill_read(&st->spill, at, p, n)) {
		spill_reason(&st->spill, "the metadata of row groups", st->why, sizeof st->why);
		return false;
	}
	to->n += n;
	st->footer_meta += n;
	return true;
}

/* Writes the next piece of the footers.  *more: there are further pieces. */
static bool put_footer(struct parquet_state *st, struct chunk *chunk, bool *more)
{
	const struct part *const part = st->parts[st->ending];
	struct text *const t = &chunk->text;

	if (st->in_parts)
		chunk_file(chunk, part->name);
	const size_t begin = t->n;
	if (st->footer_bytes == 0) {
		struct thrift head = { .to = t };
		thrift_i32(&head, VERSION, 1);
		put_schema(st, &head);
		thrift_i64(&head, ROWS, (int64_t)part->rows);
		thrift_list(&head, ROW_GROUPS, THRIFT_STRUCT, (uint32_t)part->groups);
	}
	if (!put_meta(st, part, t))
		return false;
	const bool last = st->footer_meta == part->meta_bytes;
	if (last)
		put_tail(st, t);
	st->footer_bytes += t->n - begin;
	if (last) {
		if (st->footer_bytes > UINT32_MAX) {
			(void)snprintf(
			    st->why, sizeof st->why,
			    "the footer of a Parquet file has 4 GiB at most; parquet-dir writes parts");
			return false;
		}
		text_uint(t, st->footer_bytes, 4, false);
		text_str(t, PARQUET_MAGIC);
		st->footer_bytes = st->footer_meta = 0;
		st->ending++;
	}
	*more = st->ending < st->nparts;
	return !t->failed && !st->metadata.failed;
}

/* ---- the writer ---- */

/* Attaches the failure, if any, to the chunk.  Returns false on OOM. */
static bool report_failure(const struct parquet_state *st, struct chunk *chunk, bool ok)
{
	if (st->why[0] != '\0')
		chunk->failed = st->why;
	return ok || st->why[0] != '\0';
}

static bool open_writer(struct writer *w, struct chunk *chunk, bool in_parts)
{
	struct parquet_state *const st = w->state;
	const char *const size = option_find(w->options, "part-size");

	st->in_parts = in_parts;
	st->signed_time = w->run->signed_time;
	st->temp_near = w->temp_near;
	st->tool = w->run->tool;
	st->part_bytes = PART_BYTES;
	if (size != NULL)
		(void)units_bytes(slice_str(size), &st->part_bytes);
	return parquet_open_columns(st, w->options) && start_part(st, chunk);
}

static bool parquet_open(struct writer *w, struct chunk *chunk)
{
	return open_writer(w, chunk, false);
}

static bool parquet_dir_open(struct writer *w, struct chunk *chunk)
{
	return open_writer(w, chunk, true);
}

static void parquet_write(void *state, const struct batch *b, struct chunk *chunk)
{
	struct parquet_state *const st = state;
	bool ok = st->why[0] == '\0';

	for (uint32_t i = 0; ok && i < b->n; i++) {
		parquet_put_event(st, b, &b->events[i], chunk);
		const bool full = st->rows >= GROUP_ROWS || st->tools.bytes >= GROUP_BYTES;
		ok = !st->tools.failed && (!full || end_group(st, chunk));
	}
	if (ok)
		(void)drain_group(st, chunk, GROUP_PIECE);
	if (!report_failure(st, chunk, ok))
		chunk->text.failed = true;
}

static bool parquet_close(struct writer *w, struct chunk *chunk)
{
	struct parquet_state *const st = w->state;
	bool more = true;

	if (!end_group(st, chunk))
		return report_failure(st, chunk, false);
	const uint32_t empty = lifted_empty(&st->lifted);
	if (empty > 0)
		ledger_add(&chunk->ledger, &parquet_losses[PARQUET_LOSS_NO_ARG], LOSS_NOWHERE, empty);
	put_metadata(st, w, chunk);
	while (drain_group(st, chunk, GROUP_PIECE))
		if (!chunk_flush(chunk))
			return true;
	bool ok = true;
	while (ok && more) {
		ok = put_footer(st, chunk, &more);
		if (ok && !chunk_flush(chunk))
			return true;
	}
	return report_failure(st, chunk, ok);
}

static void parquet_free(void *state)
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
	text_free(&st->metadata);
	spill_close(&st->spill);
	parents_free(&st->parents);
	arena_free(&st->arena);
	free(st->categories);
	free(st->parts);
}

#define OPS(begins, shapes)                                                                                  \
	{                                                                                                    \
		.state_size = sizeof(struct parquet_state), .want = WANT_FIELDS, .modes = WRITER_SEEKS,      \
		.order = ORDER_NESTING, .shape = (shapes), .nested = true, .open = begins,                   \
		.declare = parquet_declare, .write = parquet_write, .close = parquet_close,                  \
		.free = parquet_free,                                                                        \
	}

static const struct writer_ops parquet_writer_ops = OPS(parquet_open, WRITER_FILE);
static const struct writer_ops parquet_dir_writer_ops = OPS(parquet_dir_open, WRITER_FOLDER);

/* ---- the format ---- */

const struct loss parquet_losses[PARQUET_LOSSES + 1] = {
#define LOSS LOSS_ROW
#include "parquet/losses.def"
#undef LOSS
};

static const char *const suffixes[] = { ".parquet", NULL };
static const char *const dir_suffixes[] = { ".parquet.d", NULL };

static const char *part_size_mistake(const char *arg)
{
	uint64_t n;

	if (units_bytes(slice_str(arg), &n) && n >= 1U << 20)
		return NULL;
	return "takes a number of bytes, at least 1048576";
}

static const struct format_option options[] = {
	LIFTED_OPTION(parquet_column_mistake),
	{ .name = NULL },
};

static const struct format_option dir_options[] = {
	LIFTED_OPTION(parquet_column_mistake),
	{ .name = "part-size",
	  .arg = "BYTES",
	  .help = "size of a part, such as 20M (default: 256 MiB, of JSON 100 MiB)",
	  .mistake = part_size_mistake },
	{ .name = NULL },
};

const struct format parquet_format = {
	.name = "parquet",
	.title = "Apache Parquet",
	.spec = "Parquet format 2.10; tracetool-parquet(5)",
	.suffixes = suffixes,
	.options = options,
	.writer = &parquet_writer_ops,
	.losses = parquet_losses,
};

const struct format parquet_dir_format = {
	.name = "parquet-dir",
	.title = "Apache Parquet, parts",
	.spec = "Parquet format 2.10; tracetool-parquet(5)",
	.suffixes = dir_suffixes,
	.options = dir_options,
	.writer = &parquet_dir_writer_ops,
	.losses = parquet_losses,
};
