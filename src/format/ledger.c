#include "format/ledger.h"

#include <stdlib.h>

void
ledger_add(struct ledger *l, const struct loss *loss, uint64_t offset, uint64_t count)
{
	size_t i = 0;

	while (i < l->n && l->rows[i].loss != loss)
		i++;
	if (i == l->cap) {
		const size_t cap = l->cap == 0 ? 8 : l->cap * 2;
		struct ledger_row *const rows = realloc(l->rows, cap * sizeof *rows);
		if (rows == NULL) {
			l->failed = true;
			return;
		}
		l->rows = rows;
		l->cap = cap;
	}
	if (i == l->n)
		l->rows[l->n++] = (struct ledger_row){ loss, 0, offset };
	l->rows[i].count += count;
}

void
ledger_merge(struct ledger *into, const struct ledger *from)
{
	into->failed |= from->failed;
	for (size_t i = 0; i < from->n; i++)
		ledger_add(into, from->rows[i].loss, from->rows[i].first_offset, from->rows[i].count);
}

void
ledger_free(struct ledger *l)
{
	free(l->rows);
	*l = (struct ledger){ .n = 0 };
}
