#include "dial9/write.h"

/*
 * Which schema of the output an event belongs to.  Events of one class of the
 * trace come with few sets of fields, so the latest ones are compared first; the
 * others are found by a hash over all that tells them apart.
 */

#define SCHEMA_COST 512U /* about what a schema costs a reader besides its fields */
#define FIELD_COST 192U

static bool
is_layout_of(const struct d9w_layout *l, enum d9_made_kind kind, const struct d9w_cell *cells,
             const struct field *f, uint32_t n)
{
	const struct d9w_member *const m = l->members;

	if (l->nmembers != n || l->kind != kind || l->name_wire != cells[0].wire)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (m[i].wire != cells[i + 1].wire || m[i].word != cells[i + 1].word ||
		    !slice_equal(m[i].name, f[i].name))
			return false;
	return true;
}

static uint64_t
signature(const struct event *e, enum d9_made_kind kind, const struct d9w_cell *cells, const struct field *f)
{
	uint64_t hash =
	    hash_u64((uint64_t)e->cls->index << 16 | (uint64_t)cells[0].wire << 8 | kind, hash_seed());

	for (uint32_t i = 0; i < e->nfields; i++)
		hash = hash_bytes(f[i].name.p, f[i].name.n,
		                  hash + ((uint64_t)cells[i + 1].wire << 8 | cells[i + 1].word));
	return hash;
}

/* ---- a new one ---- */

/* Accounts for a layout.  false: there is no room. */
static bool
reserve(struct d9w_state *st, const struct event *e, const struct field *f)
{
	uint64_t bytes = e->cls->name.n + 3 * (uint64_t)e->cls->category.n;

	for (uint32_t i = 0; i < e->nfields; i++)
		bytes += f[i].name.n;
	const uint64_t cost = SCHEMA_COST + 6 * bytes + (uint64_t)e->nfields * FIELD_COST;
	if (e->nfields > D9W_MOST_FIELDS || 3 * bytes > D9W_MOST_SCHEMA)
		return false;
	if (st->nlayouts >= D9W_MOST_SCHEMAS || cost > D9W_MOST_DESCRIBED - st->described) {
		st->full = true;
		return false;
	}
	st->described += (uint32_t)cost;
	return true;
}

/* NULL: no memory. */
static struct d9w_layout *
make(struct d9w_state *st, const struct event *e, enum d9_made_kind kind, const struct field *f)
{
	struct d9w_layout *const l = arena_zalloc(&st->arena, 1, sizeof *l);
	struct d9w_member *const m = arena_zalloc(&st->arena, (size_t)e->nfields + 1, sizeof *m);

	if (l == NULL || m == NULL)
		return NULL;
	for (uint32_t i = 0; i < e->nfields; i++) {
		m[i] = (struct d9w_member){ arena_copy(&st->arena, f[i].name), st->cells[i + 1].wire,
			                    st->cells[i + 1].word };
		if (m[i].name.p == NULL)
			return NULL;
	}
	*l = (struct d9w_layout){ .cls = e->cls,
		                  .members = m,
		                  .nmembers = e->nfields,
		                  .id = (uint16_t)st->next_id,
		                  .kind = (uint8_t)kind,
		                  .name_wire = st->cells[0].wire };
	return l;
}

/* NULL: no memory. */
static const struct d9w_layout *
add(struct d9w_state *st, const struct event *e, enum d9_made_kind kind, const struct field *f, uint64_t hash,
    struct chunk *chunk)
{
	struct d9w_layout *const l = make(st, e, kind, f);

	if (l == NULL || !array_room(&st->layouts, st->nlayouts, &st->layouts_cap, sizeof *st->layouts) ||
	    !table64_put(&st->signatures, hash, st->nlayouts))
		return NULL;
	st->layouts[st->nlayouts++] = l;
	st->next_id++;
	d9w_describe(st, l, chunk);
	return l;
}

/* The one for events of any class. */
static const struct d9w_layout *
other(struct d9w_state *st, enum d9_made_kind kind, struct chunk *chunk)
{
	struct d9w_layout *const l = &st->others[kind];

	if (l->id != 0)
		return l;
	const struct d9w_cell all = d9w_all_cell(st);
	struct d9w_member *const m = arena_zalloc(&st->arena, 3, sizeof *m);
	if (m == NULL) {
		chunk->text.failed = true;
		return l;
	}
	m[0] = (struct d9w_member){ SLICE_LIT("class"), D9_STRING, D9_MADE_PLAIN };
	m[1] = (struct d9w_member){ SLICE_LIT("category"), D9_STRING, D9_MADE_PLAIN };
	m[2] = (struct d9w_member){ SLICE_LIT("fields"), all.wire, all.word };
	*l = (struct d9w_layout){ .members = m,
		                  .nmembers = 3,
		                  .id = (uint16_t)st->next_id++,
		                  .kind = (uint8_t)kind,
		                  .name_wire = D9_STRING,
		                  .other = true };
	d9w_describe(st, l, chunk);
	return l;
}

/* ---- finding it ---- */

const struct d9w_layout *
d9w_layout_of(struct d9w_state *st, const struct batch *b, const struct event *e, struct chunk *chunk)
{
	struct d9w_class *const c = &st->classes[e->cls->index];
	const struct field *const f = b->fields + e->first_field;
	const enum d9_made_kind kind = d9w_kind_of(e);
	const struct d9w_layout *l;

	for (uint32_t i = 0; i < D9W_RECENT && (l = c->recent[i]) != NULL; i++)
		if (is_layout_of(l, kind, st->cells, f, e->nfields)) {
			c->recent[i] = c->recent[0];
			c->recent[0] = l;
			return l;
		}
	const uint64_t hash = signature(e, kind, st->cells, f);
	const uint32_t known = table64_get(&st->signatures, hash);

	if (known != TABLE_NONE) {
		l = st->layouts[known];
	} else {
		if (st->full || !reserve(st, e, f))
			return other(st, kind, chunk);
		l = add(st, e, kind, f, hash, chunk);
		chunk->text.failed |= l == NULL;
	}
	if (l == NULL || l->cls != e->cls || !is_layout_of(l, kind, st->cells, f, e->nfields))
		return other(st, kind, chunk); /* the same hash for something else */
	memmove(c->recent + 1, c->recent, sizeof c->recent - sizeof c->recent[0]);
	c->recent[0] = l;
	return l;
}
