/*
 * Names of fields that repeat within an event.  An object of JSON may repeat a name, but readers keep one
 * value of it, so later fields of a name get a number.
 */
#include "chrome/chrome.h"

#define FEW 16U /* fields; their names are compared pairwise */

static bool repeats_in_many(const struct field *f, uint32_t n)
{
	struct tabletext seen = { .slots = NULL };
	bool repeats = false;

	/* without memory chrome_rename() fails too */
	for (uint32_t i = 0; i < n && !repeats; i++)
		repeats =
		    tabletext_get(&seen, f[i].name) != TABLE_NONE || !tabletext_put(&seen, f[i].name, 1);
	tabletext_free(&seen);
	return repeats;
}

bool chrome_name_repeats(const struct field *f, uint32_t n)
{
	if (n > FEW)
		return repeats_in_many(f, n);
	for (uint32_t i = 1; i < n; i++)
		for (uint32_t k = 0; k < i; k++)
			if (f[i].name.n == f[k].name.n && slice_equal(f[i].name, f[k].name))
				return true;
	return false;
}

struct field *chrome_rename(struct arena *a, const struct field *f, uint32_t n)
{
	struct field *const to = arena_zalloc(a, n, sizeof *to);
	struct tabletext names = { .slots = NULL };
	bool ok = to != NULL;

	for (uint32_t i = 0; ok && i < n; i++) {
		to[i] = f[i];
		to[i].name = tabletext_unique(&names, a, f[i].name);
		ok = to[i].name.p != NULL;
	}
	tabletext_free(&names);
	return ok ? to : NULL;
}
