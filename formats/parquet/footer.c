#include <stdio.h>

#include "parquet/state.h"
#include "output/text_utf8.h"

/* FileMetaData (parquet.thrift): schema, row groups, what is known of the whole; then its length and the
 * magic.
 */

#define PIECE (1U << 20) /* of the metadata of row groups that is written in one go */

/* Numbers of fields. */
enum { VERSION = 1, SCHEMA = 2, ROWS = 3, ROW_GROUPS = 4, ABOUT = 5, CREATED_BY = 6, COLUMN_ORDERS = 7 };

/* ---- key-value metadata ---- */

static void
put_about(struct parquet_state *st, const char *key, struct slice value)
{
	struct thrift t = { .to = &st->about };
	struct text clean = { .p = NULL };

	(void)text_utf8(&clean, value);
	thrift_text(&t, 1, slice_str(key));
	thrift_text(&t, 2, slice_of(clean.p, clean.n));
	thrift_end(&t);
	st->about.failed |= clean.failed;
	st->nabout++;
	text_free(&clean);
}

static void
put_number(struct parquet_state *st, const char *key, uint64_t value)
{
	struct text t = { .p = NULL };

	text_u64(&t, value);
	put_about(st, key, slice_of(t.p, t.n));
	st->about.failed |= t.failed;
	text_free(&t);
}

/* [{"id":"a/b","text":"...","count":1,"first_offset":0}, ...] */
static void
put_losses(struct parquet_state *st, const struct ledger *total)
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
		text_str(&t, ",\"first_offset\":");
		text_json_u64(&t, row->first_offset);
		text_char(&t, '}');
	}
	text_char(&t, ']');
	put_about(st, "tracetool.losses", slice_of(t.p, t.n));
	st->about.failed |= t.failed;
	text_free(&t);
}

#define FACTS_BYTES (1U << 20)

/* What the trace says of itself: an object of JSON. */
static void
put_facts(struct parquet_state *st, const struct trace *trace)
{
	struct fields_json_lost lost = { .bad_text = 0 };
	struct text t = { .p = NULL };

	text_char(&t, '{');
	for (uint32_t i = 0; i < trace->nmeta && t.n < FACTS_BYTES; i++) {
		if (i > 0)
			text_char(&t, ',');
		fields_json(&t, &trace->meta[i], 1, &lost);
	}
	text_char(&t, '}');
	put_about(st, "tracetool.facts", slice_of(t.p, t.n));
	st->about.failed |= t.failed;
	text_free(&t);
}

void
parquet_put_about(struct parquet_state *st, const struct writer *w)
{
	const struct trace *const trace = w->trace;

	put_about(st, "tracetool.tool", slice_str(w->tool));
	put_about(st, "tracetool.format", slice_str(trace->format));
	if (trace->dialect != NULL && trace->dialect[0] != '\0')
		put_about(st, "tracetool.dialect", slice_str(trace->dialect));
	if (trace->byte_order != NULL)
		put_about(st, "tracetool.byte_order", slice_str(trace->byte_order));
	if (trace->clock != NULL)
		put_about(st, "tracetool.clock", slice_str(trace->clock));
	if (trace->epoch_known)
		put_number(st, "tracetool.epoch_ns", trace->epoch_ns);
	if (w->rebased)
		put_number(st, "tracetool.rebased_by_ns", w->rebased_by);
	put_number(st, "tracetool.records", trace->records);
	put_number(st, "tracetool.events", trace->events);
	put_losses(st, w->total);
	put_facts(st, trace);
}

/* ---- the footer ---- */

static void
put_schema(const struct parquet_state *st, struct thrift *t)
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

/* Up to the row groups; the last field is ROW_GROUPS. */
static void
put_head(const struct parquet_state *st, const struct part *part, struct text *to)
{
	struct thrift t = { .to = to };

	thrift_i32(&t, VERSION, 1);
	put_schema(st, &t);
	thrift_i64(&t, ROWS, (int64_t)part->rows);
	thrift_list(&t, ROW_GROUPS, THRIFT_STRUCT, (uint32_t)part->groups);
}

/* "tracetool version 1.2.3", which is how readers tell who wrote a file. */
static void
put_tool(const struct parquet_state *st, struct thrift *t)
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

/* Behind the row groups. */
static void
put_tail(const struct parquet_state *st, struct text *to)
{
	struct thrift t = { .to = to, .last = { ROW_GROUPS } };

	thrift_list(&t, ABOUT, THRIFT_STRUCT, st->nabout);
	text_add(to, st->about.p, st->about.n);
	put_tool(st, &t);
	thrift_list(&t, COLUMN_ORDERS, THRIFT_STRUCT, st->ncolumns);
	for (uint32_t i = 0; i < st->ncolumns;
	     i++) { /* ColumnOrder: TYPE_ORDER, which is an empty structure */
		thrift_add_struct(&t);
		thrift_struct(&t, 1);
		thrift_end(&t);
		thrift_end(&t);
	}
	thrift_end(&t);
}

/* Some of the metadata of row groups, from the byte footer_meta on. */
static bool
put_meta(struct parquet_state *st, const struct part *part, struct text *to)
{
	const uint64_t at = part->meta + st->footer_meta, left = part->meta_bytes - st->footer_meta;
	const uint64_t end = at < st->spill.size ? st->spill.size - at : left;
	const uint64_t most = end < left ? end : left;
	const size_t n = most < PIECE ? (size_t)most : PIECE;
	char *const p = text_room(to, n);

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

bool
parquet_put_footer(struct parquet_state *st, struct chunk *chunk, bool *more)
{
	const struct part *const part = st->parts[st->ending];
	struct text *const t = &chunk->text;

	if (st->in_parts)
		chunk_file(chunk, part->name);
	const size_t begin = t->n;
	if (st->footer_bytes == 0)
		put_head(st, part, t);
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
		plain_u32(t, (uint32_t)st->footer_bytes);
		text_str(t, PARQUET_MAGIC);
		st->footer_bytes = st->footer_meta = 0;
		st->ending++;
	}
	*more = st->ending < st->nparts;
	return !t->failed && !st->about.failed;
}
