/*
 * Names of fields that repeat within an event.  Later fields of a name get a number.
 */
#include "out/field_names.h"

#include <string.h>

#include "base/memory.h"
#include "base/table.h"

#define FEW 16U /* fields; their names are compared pairwise */

bool field_names_may_repeat(const struct field *f, uint32_t n)
{
	if (n > FEW)
		return true;
	for (uint32_t i = 1; i < n; i++)
		for (uint32_t k = 0; k < i; k++)
			if (slice_equal(f[i].name, f[k].name))
				return true;
	return false;
}

bool field_names_number(struct arena *a, struct field *f, uint32_t n)
{
	struct tabletext names = { .slots = NULL };
	bool ok = true;

	for (uint32_t i = 0; ok && i < n; i++) {
		const struct slice name = tabletext_unique(&names, a, f[i].name);
		if (name.p != NULL && name.n != f[i].name.n)
			f[i].name =
			    (struct slice){ name.p, name.n, f[i].name.flags & ~(unsigned)SLICE_STAYS };
		ok = name.p != NULL;
	}
	tabletext_free(&names);
	return ok;
}

struct field *field_names_unique(struct arena *a, struct field *f, uint32_t n, uint32_t *renamed)
{
	if (!field_names_may_repeat(f, n))
		return f;
	struct field *const to = arena_alloc(a, n * sizeof *to);
	if (to == NULL)
		return NULL;
	memcpy(to, f, n * sizeof *to);
	if (!field_names_number(a, to, n))
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		*renamed += to[i].name.n != f[i].name.n;
	return to;
}
