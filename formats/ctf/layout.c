#include "ctf/state.h"

/*
 * Which class of the output an event belongs to.  Events of one class of the
 * trace come with few sets of fields, so the latest ones are compared first; the
 * others are found by a hash over all that tells them apart.
 */

static bool
is_layout_of(const struct ctf_layout *l, enum ctf_kind kind, const struct field *f, uint32_t n)
{
	const struct ctf_member *const m = l->members;

	if (l->nmembers != n || l->kind != kind)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (m[i].type != ctf_type(&f[i].value) || m[i].element != ctf_element(&f[i].value) ||
		    !slice_equal(m[i].name, f[i].name))
			return false;
	return true;
}

static uint64_t
signature(const struct event *e, enum ctf_kind kind, const struct field *f)
{
	uint64_t hash = hash_u64((uint64_t)e->cls->index << 8 | kind, hash_seed());

	for (uint32_t i = 0; i < e->nfields; i++)
		hash = hash_bytes(f[i].name.p, f[i].name.n,
		                  hash + ctf_type(&f[i].value) + ((uint64_t)ctf_element(&f[i].value) << 8));
	return hash;
}

/* ---- without a class of its own ---- */

static const struct ctf_layout *
other(struct ctf_state *st, enum ctf_kind kind, struct chunk *chunk, uint64_t offset)
{
	struct ctf_layout *const l = &st->others[kind];

	if (!l->other) {
		*l = (struct ctf_layout){ .id = CTF_MOST_CLASSES + kind, .kind = kind, .other = true };
		chunk->text.failed |= !ctf_declare_layout(st, l, chunk, offset);
	}
	return l;
}

/* ---- a new one ---- */

/* Bytes of identifiers and types that a layout costs at most. */
static uint64_t
declaration_cost(const struct event *e, const struct field *f)
{
	uint64_t cost = 256 + 4 * ((uint64_t)e->cls->category.n + e->cls->name.n);

	for (uint32_t i = 0; i < e->nfields; i++)
		cost += 64 +
		        4 * (uint64_t)(f[i].name.n < CTF_MOST_IDENTIFIER ? f[i].name.n : CTF_MOST_IDENTIFIER);
	return cost;
}

/* Accounts for a layout.  false: there is no room. */
static bool
reserve(struct ctf_state *st, const struct event *e, const struct field *f)
{
	if (st->full || e->nfields > CTF_CLASS_FIELDS)
		return false;
	if (st->nlayouts >= CTF_MOST_CLASSES || e->nfields > CTF_MOST_FIELDS - st->fields ||
	    st->declarations.n + declaration_cost(e, f) > CTF_MOST_DESCRIBED) {
		st->full = true;
		return false;
	}
	st->fields += e->nfields;
	return true;
}

/* With members of its own; NULL: no memory. */
static const struct ctf_layout *
add(struct ctf_state *st, const struct event *e, const struct field *f, uint64_t hash, struct chunk *chunk)
{
	struct ctf_layout *const l = arena_alloc(&st->arena, sizeof *l);
	struct ctf_member *const m = arena_zalloc(&st->arena, (size_t)e->nfields + 1, sizeof *m);

	if (l == NULL || m == NULL)
		return NULL;
	for (uint32_t i = 0; i < e->nfields; i++) {
		m[i] = (struct ctf_member){ arena_copy(&st->arena, f[i].name), ctf_type(&f[i].value),
			                    ctf_element(&f[i].value) };
		if (m[i].name.p == NULL)
			return NULL;
	}
	*l = (struct ctf_layout){ e->cls, m, st->nlayouts, e->nfields, ctf_kind_of(e), false };
	if (!array_room(&st->layouts, st->nlayouts, &st->layouts_cap, sizeof *st->layouts) ||
	    !ctf_declare_layout(st, l, chunk, e->offset) || !table64_put(&st->signatures, hash, st->nlayouts))
		return NULL;
	st->layouts[st->nlayouts++] = l;
	return l;
}

const struct ctf_layout *
ctf_layout_of(struct ctf_state *st, const struct batch *b, const struct event *e, struct chunk *chunk)
{
	struct ctf_class *const c = &st->classes[e->cls->index];
	const struct field *const f = b->fields + e->first_field;
	const enum ctf_kind kind = ctf_kind_of(e);
	const struct ctf_layout *l;

	for (uint32_t i = 0; i < CTF_RECENT && (l = c->recent[i]) != NULL; i++)
		if (is_layout_of(l, kind, f, e->nfields)) {
			c->recent[i] = c->recent[0];
			c->recent[0] = l;
			return l;
		}
	const uint64_t hash = signature(e, kind, f);
	const uint32_t known = table64_get(&st->signatures, hash);

	if (known == TABLE_NONE && !reserve(st, e, f))
		return other(st, kind, chunk, e->offset);
	l = known != TABLE_NONE ? st->layouts[known] : add(st, e, f, hash, chunk);
	if (l == NULL) {
		chunk->text.failed = true;
		return NULL;
	}
	if (l->cls != e->cls || !is_layout_of(l, kind, f, e->nfields))
		return other(st, kind, chunk, e->offset); /* the same hash for something else */
	memmove(c->recent + 1, c->recent, sizeof c->recent - sizeof c->recent[0]);
	c->recent[0] = l;
	return l;
}
