#include "format/ledger.h"

void
ledger_add(struct ledger *l, const struct loss *loss, uint64_t offset, uint64_t count)
{
	size_t i = 0;

	while (i < l->n && l->rows[i].loss != loss)
		i++;
	if (i == LEDGER_ROWS)
		i--; /* more kinds than a writer may have: the last row takes them, nothing goes uncounted */
	if (i == l->n)
		l->rows[l->n++] = (struct ledger_row){ loss, 0, offset };
	l->rows[i].count += count;
}

void
ledger_merge(struct ledger *into, const struct ledger *from)
{
	for (size_t i = 0; i < from->n; i++)
		ledger_add(into, from->rows[i].loss, from->rows[i].first_offset, from->rows[i].count);
}
