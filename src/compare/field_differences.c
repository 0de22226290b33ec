#include "compare/field_differences.h"

struct fields {
	const struct field *list;
	uint32_t n;
	bool used[FIELD_DIFFERENCES_MAX];
};

/* Fields that do not count are used already. */
static struct fields
fields_of(const struct difference *d, int side, const struct differ_rules *rules)
{
	const struct event *const e = difference_event(d, side);
	struct fields f = {
		.list = d->in[side]->fields + e->first_field,
		.n = e->nfields < FIELD_DIFFERENCES_MAX ? e->nfields : FIELD_DIFFERENCES_MAX,
	};
	unsigned seen = 0;

	for (uint32_t i = 0; i < f.n; i++)
		f.used[i] = !event_field_counts_in(&rules->fields[side], f.list[i].name, &seen);
	return f;
}

/* The first of this name that is not used; n: there is none. */
static uint32_t
find(const struct fields *f, struct slice name)
{
	uint32_t i = 0;

	while (i < f->n && (f->used[i] || !slice_equal(f->list[i].name, name)))
		i++;
	return i;
}

bool
field_differences(const struct difference *d, const struct differ_rules *rules, field_visitor *visit,
                  void *ctx)
{
	struct fields a = fields_of(d, DIFFER_A, rules), b = fields_of(d, DIFFER_B, rules);
	struct canon canon = { .scratch = { .head = NULL } };

	for (uint32_t i = 0; i < a.n; i++) {
		const struct field *const f = &a.list[i];
		if (a.used[i])
			continue;
		const uint32_t k = find(&b, f->name);
		if (k == b.n) {
			visit(ctx, f->name, &f->value, NULL);
			continue;
		}
		b.used[k] = true;
		const struct wide_hash x = canon_value(&canon, &f->value),
		                       y = canon_value(&canon, &b.list[k].value);
		if (!wide_hash_equal(x, y))
			visit(ctx, f->name, &f->value, &b.list[k].value);
	}
	for (uint32_t k = 0; k < b.n; k++)
		if (!b.used[k])
			visit(ctx, b.list[k].name, NULL, &b.list[k].value);
	const bool ok = !canon.scratch.failed;
	canon_free(&canon);
	return ok;
}
