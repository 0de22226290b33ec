#include "htdump/state.h"

#include <stdlib.h>

bool
ht_state_reserve(struct ht_state *st, uint32_t n)
{
	if (n <= st->runs_cap)
		return true;
	const char **starts = realloc(st->starts, n * sizeof *starts);
	if (starts != NULL)
		st->starts = starts;
	struct slice *strings = realloc(st->strings, n * sizeof *strings);
	if (strings != NULL)
		st->strings = strings;
	if (starts == NULL || strings == NULL)
		return false;
	st->runs_cap = n;
	return true;
}
