/* Losses by kind, and chunks of output (writer.h). */
#include "format/ledger.h"

#include <stdlib.h>

#include "base/memory.h"
#include "format/writer.h"

/* ---- ledger ---- */

/* Finds or adds the row of a loss; NULL: OOM. */
static struct ledger_row *row_of(struct ledger *l, const struct loss *loss, uint64_t offset)
{
	uint32_t i = 0;

	while (i < l->n && l->rows[i].loss != loss)
		i++;
	if (note_failure(&l->failed, !array_reserve(&l->rows, i, &l->cap, sizeof *l->rows)))
		return NULL;
	if (i == l->n)
		l->rows[l->n++] = (struct ledger_row){ loss, 0, offset };
	return &l->rows[i];
}

void ledger_add(struct ledger *l, const struct loss *loss, uint64_t offset, uint64_t count)
{
	struct ledger_row *const row = row_of(l, loss, offset);

	if (row != NULL)
		row->count += count;
}

void ledger_merge(struct ledger *into, const struct ledger *from)
{
	into->failed |= from->failed;
	for (size_t i = 0; i < from->n; i++)
		ledger_add(into, from->rows[i].loss, from->rows[i].first_offset, from->rows[i].count);
}

void ledger_merge_unordered(struct ledger *into, const struct ledger *from)
{
	ledger_merge(into, from);
	for (size_t i = 0; i < from->n; i++) {
		const uint64_t first = from->rows[i].first_offset;
		struct ledger_row *const row = row_of(into, from->rows[i].loss, first);
		if (row != NULL && row->first_offset > first)
			row->first_offset = first;
	}
}

void ledger_free(struct ledger *l)
{
	free(l->rows);
	*l = (struct ledger){ .n = 0 };
}

/* ---- chunk ---- */

#define BORROW_LEAST (64U << 10) /* bytes that output_write() does not copy */

void chunk_file(struct chunk *c, const char *name)
{
	if (c->nparts > 0 && c->parts[c->nparts - 1].name == name)
		return;
	if (note_failure(&c->text.failed,
	                 !array_reserve(&c->parts, c->nparts, &c->parts_cap, sizeof *c->parts)))
		return;
	c->parts[c->nparts++] = (struct chunk_part){ name, c->text.n };
}

bool chunk_flush(struct chunk *c)
{
	const char *const file = c->nparts > 0 ? c->parts[c->nparts - 1].name : NULL;
	const bool ok = c->flush == NULL || c->flush(c->flush_ctx, c);

	if (file != NULL)
		chunk_file(c, file);
	return ok && !c->text.failed;
}

void chunk_borrow(struct chunk *c, struct slice s)
{
	if (s.n < BORROW_LEAST || c->nparts > 0) {
		text_slice(&c->text, s);
		return;
	}
	if (note_failure(&c->text.failed,
	                 !array_reserve(&c->borrowed, c->nborrowed, &c->borrowed_cap, sizeof *c->borrowed)))
		return;
	c->borrowed[c->nborrowed++] = (struct chunk_borrowed){ c->text.n, s };
}

void chunk_clear(struct chunk *c)
{
	text_clear(&c->text);
	c->ledger.n = 0;
	arena_reset(&c->arena);
	c->failed = NULL;
	c->nparts = c->nborrowed = 0;
}

void chunk_free(struct chunk *c)
{
	text_free(&c->text);
	ledger_free(&c->ledger);
	arena_free(&c->arena);
	free(c->parts);
	free(c->borrowed);
}
