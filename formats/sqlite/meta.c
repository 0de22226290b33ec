#include "sqlite/state.h"

/* Rows about the whole: `who` tells what tracetool says from what the trace says of itself. */

static void
begin_fact(struct sqlite_state *st, struct slice who, struct slice name)
{
	sqlite_bind_text(st, TABLE_META, 1, who);
	sqlite_bind_text(st, TABLE_META, 2, name);
}

static void
put_text(struct sqlite_state *st, const char *name, const char *value)
{
	begin_fact(st, SLICE_LIT("tracetool"), slice_str(name));
	sqlite_bind_text(st, TABLE_META, 3, slice_str(value));
	(void)sqlite_insert(st, TABLE_META);
}

static void
put_number(struct sqlite_state *st, const char *name, uint64_t value)
{
	begin_fact(st, SLICE_LIT("tracetool"), slice_str(name));
	sqlite_bind_u64(st, TABLE_META, 3, value);
	(void)sqlite_insert(st, TABLE_META);
}

static void
put_losses(struct sqlite_state *st, const struct ledger *total)
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

bool
sqlite_meta(struct sqlite_state *st, const struct writer *w, struct ledger *ledger)
{
	const struct trace *const trace = w->trace;

	put_text(st, "tool", w->tool);
	put_text(st, "format", trace->format);
	if (trace->dialect != NULL && trace->dialect[0] != '\0')
		put_text(st, "dialect", trace->dialect);
	if (trace->byte_order != NULL)
		put_text(st, "byte_order", trace->byte_order);
	put_text(st, "clock", trace->clock);
	if (trace->epoch_known)
		put_number(st, "epoch_ns", trace->epoch_ns);
	if (w->rebased)
		put_number(st, "rebased_by_ns", w->rebased_by);
	put_number(st, "records", trace->records);
	put_number(st, "events", trace->events);
	for (uint32_t i = 0; i < trace->nmeta; i++) {
		begin_fact(st, SLICE_LIT("trace"), trace->meta[i].name);
		sqlite_bind_value(st, (struct sqlite_place){ TABLE_META, 3, ledger, 0 },
		                  &trace->meta[i].value);
		(void)sqlite_insert(st, TABLE_META);
	}
	put_losses(st, w->total);
	return !sqlite_failed(st);
}
