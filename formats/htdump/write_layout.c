#include "htdump/write.h"

/*
 * Which class of the output an event belongs to.  Events of one class of the
 * trace come with few sets of fields, so the latest ones are compared first; the
 * others are found by a hash over all that tells them apart.
 */

static bool
is_layout_of(const struct htw_layout *l, enum htw_kind kind, const struct field *f, uint32_t n)
{
	const struct htw_member *const m = l->members;

	if (l->nmembers != n || l->kind != kind)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (m[i].type != f[i].value.type || !slice_equal(m[i].name, f[i].name))
			return false;
	return true;
}

static uint64_t
signature(const struct event *e, enum htw_kind kind, const struct field *f)
{
	uint64_t hash = hash_u64((uint64_t)e->cls->index << 8 | kind, hash_seed());

	for (uint32_t i = 0; i < e->nfields; i++)
		hash = hash_bytes(f[i].name.p, f[i].name.n, hash + f[i].value.type);
	return hash;
}

/* ---- a new one ---- */

static const struct htw_layout *
other(enum htw_kind kind)
{
	static const struct htw_layout others[] = {
		{ .id = HTW_ID_OTHER_SPAN },
		{ .id = HTW_ID_OTHER_INSTANT },
		{ .id = HTW_ID_OTHER_ARROW },
	};
	const enum htw_class_id base = htw_base(kind);

	return &others[base == HTW_ID_SPAN ? 0 : base == HTW_ID_INSTANT ? 1 : 2];
}

static bool
is_taken(struct slice name, const struct slice *names, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (slice_equal(names[i], name))
			return true;
	return htw_is_field_name(name);
}

/* The name of each member in the output: unique, and none that means something there.  false: no memory. */
static bool
name_members(struct arena *a, struct htw_layout *l, struct slice *names)
{
	for (uint32_t i = 0; i < l->nmembers; i++) {
		names[i] = l->members[i].name;
		l->fields_renamed |= is_taken(names[i], names, i);
		for (uint32_t k = 2; names[i].p != NULL && is_taken(names[i], names, i); k++)
			names[i] = htw_numbered(a, l->members[i].name, k);
		if (names[i].p == NULL)
			return false;
	}
	return true;
}

/* Names are written as they are or not at all. */
static bool
has_plain_names(const struct event *e, const struct field *f)
{
	bool plain = memchr(e->cls->name.p, '\0', e->cls->name.n) == NULL;

	for (uint32_t i = 0; plain && i < e->nfields; i++)
		plain = f[i].name.n == 0 || memchr(f[i].name.p, '\0', f[i].name.n) == NULL;
	return plain;
}

/* Accounts for a layout.  false: there is no room. */
static bool
reserve(struct htw_state *st, const struct htw_layout *l)
{
	const uint64_t cost = htw_description_cost(l);

	if (st->nlayouts >= HTW_MOST_CLASSES || l->nmembers > HTW_MOST_FIELDS - st->fields ||
	    cost > HTW_MOST_DESCRIBED - st->described) {
		st->full = true;
		return false;
	}
	st->fields += l->nmembers;
	st->described += (uint32_t)cost;
	return true;
}

/* Adds and describes it, with names and members of its own; NULL: no memory. */
static const struct htw_layout *
add(struct htw_state *st, const struct htw_layout *like, uint64_t hash, struct chunk *chunk, uint64_t offset)
{
	struct htw_layout *const l = arena_alloc(&st->arena, sizeof *l);
	struct htw_member *const m = arena_zalloc(&st->arena, (size_t)like->nmembers + 1, sizeof *m);
	struct slice names[HTW_CLASS_FIELDS];

	if (l == NULL || m == NULL)
		return NULL;
	for (uint32_t i = 0; i < like->nmembers; i++) {
		m[i] = (struct htw_member){ arena_copy(&st->arena, like->members[i].name),
			                    like->members[i].type };
		if (m[i].name.p == NULL)
			return NULL;
	}
	*l = *like;
	l->members = m;
	l->id = HTW_ID_FREE + st->nlayouts;
	l->renamed = htw_is_class_name(l->cls->name);
	if (!name_members(&st->arena, l, names) ||
	    !array_room(&st->layouts, st->nlayouts, &st->layouts_cap, sizeof *st->layouts) ||
	    !table64_put(&st->signatures, hash, st->nlayouts))
		return NULL;
	st->layouts[st->nlayouts++] = l;
	htw_describe(st, l, names, chunk, offset);
	return l;
}

/* ---- finding it ---- */

static const struct htw_layout *
make(struct htw_state *st, const struct event *e, const struct field *f, uint64_t hash, struct chunk *chunk)
{
	const enum htw_kind kind = htw_kind_of(e);
	struct htw_member members[HTW_CLASS_FIELDS];
	const struct htw_layout like = {
		.cls = e->cls, .members = members, .nmembers = e->nfields, .kind = kind
	};

	if (st->full || e->nfields > HTW_CLASS_FIELDS || !has_plain_names(e, f))
		return other(kind);
	for (uint32_t i = 0; i < e->nfields; i++)
		members[i] = (struct htw_member){ f[i].name, f[i].value.type };
	if (!reserve(st, &like))
		return other(kind);
	const struct htw_layout *const l = add(st, &like, hash, chunk, e->offset);
	chunk->text.failed |= l == NULL;
	return l != NULL ? l : other(kind);
}

const struct htw_layout *
htw_layout_of(struct htw_state *st, const struct batch *b, const struct event *e, struct chunk *chunk)
{
	struct htw_class *const c = &st->classes[e->cls->index];
	const struct field *const f = b->fields + e->first_field;
	const enum htw_kind kind = htw_kind_of(e);
	const struct htw_layout *l;

	for (uint32_t i = 0; i < HTW_RECENT && (l = c->recent[i]) != NULL; i++)
		if (is_layout_of(l, kind, f, e->nfields)) {
			c->recent[i] = c->recent[0];
			c->recent[0] = l;
			return l;
		}
	const uint64_t hash = signature(e, kind, f);
	const uint32_t known = table64_get(&st->signatures, hash);

	l = known != TABLE_NONE ? st->layouts[known] : make(st, e, f, hash, chunk);
	if (l->id < HTW_ID_FREE)
		return l;
	if (l->cls != e->cls || !is_layout_of(l, kind, f, e->nfields))
		return other(kind); /* the same hash for something else */
	memmove(c->recent + 1, c->recent, sizeof c->recent - sizeof c->recent[0]);
	c->recent[0] = l;
	return l;
}
