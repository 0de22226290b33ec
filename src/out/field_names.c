/* Names of fields that repeat within an event.  Later fields of a name get a number. */
#include "out/field_names.h"

#include <string.h>

#include "base/memory.h"
#include "base/scan.h"
#include "base/table.h"
#include "format/writer.h"
#include "output/text_json.h"

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

static bool may_repeat_utf8(const struct field *f, uint32_t n)
{
	if (field_names_may_repeat(f, n))
		return true;
	for (uint32_t i = 0; n > 1 && i < n; i++)
		if (!slice_is_utf8(f[i].name))
			return true;
	return false;
}

/* Adds the suffix of `unique`, a number after `compared`, to the name.  Returns false on OOM. */
static bool add_number(struct arena *a, struct field *f, struct slice compared, struct slice unique)
{
	const struct slice parts[] = { f->name, slice_of(unique.p + compared.n, unique.n - compared.n) };
	const uint32_t flags = f->name.flags & (SLICE_UTF8 | SLICE_JSON);

	f->name = arena_join(a, parts, 2);
	f->name.flags = flags;
	return f->name.p != NULL;
}

/* utf8: names are compared as text_utf8() writes them. */
static bool number_names(struct arena *a, struct field *f, uint32_t n, bool utf8)
{
	struct tabletext names = { .slots = NULL };
	bool ok = true;

	for (uint32_t i = 0; ok && i < n; i++) {
		const struct slice compared = utf8 ? text_repaired(a, f[i].name) : f[i].name;
		const struct slice unique =
		    utf8 && compared.p == NULL ? compared : tabletext_unique(&names, a, compared);
		ok = unique.p != NULL && (unique.n == compared.n || add_number(a, &f[i], compared, unique));
	}
	tabletext_free(&names);
	return ok;
}

bool field_names_number(struct arena *a, struct field *f, uint32_t n)
{
	return number_names(a, f, n, false);
}

const struct field *field_names_unique_utf8(struct arena *a, const struct field *f, uint32_t n,
                                            uint32_t *renamed)
{
	if (!may_repeat_utf8(f, n))
		return f;
	struct field *const to = arena_alloc(a, n * sizeof *to);
	if (to == NULL)
		return NULL;
	memcpy(to, f, n * sizeof *to);
	if (!number_names(a, to, n, true))
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		*renamed += to[i].name.n != f[i].name.n;
	return to;
}

const struct field *field_names_unique(struct chunk *c, const struct field *f, uint32_t n,
                                       const struct loss *repeated, uint64_t offset)
{
	uint32_t renamed = 0;
	const struct field *const to = field_names_unique_utf8(&c->arena, f, n, &renamed);

	if (renamed > 0)
		ledger_add(&c->ledger, repeated, offset, renamed);
	c->text.failed |= to == NULL && n > 0;
	return to != NULL ? to : f;
}

struct field *field_names_repaired(struct arena *a, struct field *f, uint32_t n, uint32_t *changed)
{
	uint32_t i = 0;

	while (i < n && slice_is_utf8(f[i].name))
		i++;
	if (i == n)
		return f;
	struct field *const to = arena_alloc(a, n * sizeof *to);
	if (to == NULL)
		return NULL;
	memcpy(to, f, n * sizeof *to);
	for (; i < n; i++) {
		if (slice_is_utf8(f[i].name))
			continue;
		to[i].name = text_repaired(a, f[i].name);
		if (to[i].name.p == NULL)
			return NULL;
		++*changed;
	}
	return to;
}
