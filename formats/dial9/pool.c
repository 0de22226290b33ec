#include "dial9/pool.h"

#include <stdlib.h>

#include "dial9/state.h"

/*
 * The pools of one segment: strings and stacks by id ("String Pool Frame").
 * When values are not wanted, an entry is only the id and a hash of its content.  An id that is referenced
 * and not defined waits in `pending` until it is, or until the segment ends.
 */

#define ENTRY_COST (sizeof(struct d9_entry) + sizeof(struct table64_slot))

/* ---- what batches hold ---- */

static void
destroy(struct shared_memory *m)
{
	struct d9_pool_memory *const memory = (struct d9_pool_memory *)m;

	arena_free(&memory->arena);
	free(memory);
}

static void
drop(struct d9_state *st)
{
	shared_memory_drop(st->pool_memory != NULL ? &st->pool_memory->shared : NULL);
	st->pool_memory = NULL;
}

void
d9_pools_hold(struct d9_state *st, struct batch *b)
{
	st->no_memory |= st->pool_memory != NULL && !batch_hold(b, &st->pool_memory->shared);
}

/* Of the present segment; NULL: no memory. */
static struct arena *
pool_arena(struct d9_state *st)
{
	if (st->pool_memory == NULL) {
		st->pool_memory = calloc(1, sizeof *st->pool_memory);
		if (st->pool_memory == NULL)
			return NULL;
		shared_memory_init(&st->pool_memory->shared, destroy);
		d9_pools_hold(st, st->batch);
	}
	return &st->pool_memory->arena;
}

/* ---- entries ---- */

const struct d9_entry *
d9_pool_far(const struct d9_pool *pool, uint32_t id)
{
	const uint32_t known = table64_get(&pool->far, id);

	return known != TABLE_NONE ? &pool->entries[known] : NULL;
}

/* A place for a new id; NULL: no memory. */
static struct d9_entry *
add(struct d9_pool *pool, uint32_t id)
{
	if (!array_room(&pool->entries, pool->n, &pool->cap, sizeof *pool->entries))
		return NULL;
	if (id >= D9_DIRECT_IDS) {
		if (!table64_put(&pool->far, id, pool->n))
			return NULL;
	} else {
		if (!array_reach(&pool->direct, &pool->ndirect, id, sizeof *pool->direct))
			return NULL;
		pool->direct[id] = pool->n + 1;
	}
	pool->entries[pool->n] = (struct d9_entry){ .id = id };
	return &pool->entries[pool->n++];
}

/* Whether the content is looked at: texts become names of events and of symbols too, stacks only fields. */
static bool
is_wanted(const struct d9_state *st, enum d9_pool_kind kind)
{
	if (d9_wants_raw(st))
		return false;
	return d9_wants_fields(st) ||
	       (kind == D9_STRINGS && (st->collects != NULL || ((st->r->want & WANT_TIMES) != 0 &&
	                                                        st->r->trace->vocabulary != NULL)));
}

/* Retains the content of a definition. */
static void
retain(struct d9_state *st, enum d9_pool_kind kind, struct d9_entry *e, struct slice data)
{
	/* Symbols are wanted from the first stack on; and two passes at once should not hold large pools
	 * both. */
	if (kind == D9_STACKS || st->pooled_bytes > D9_AHEAD_POOLED)
		d9_look_ahead(st);
	struct arena *const arena = pool_arena(st);
	if (arena == NULL) {
		st->no_memory = true;
	} else if (kind == D9_STACKS) {
		e->values = d9_stack_values(st, true, arena, data.p, e->n, &e->cost, &e->element);
	} else {
		e->text = arena_copy(arena, data).p;
		e->cost = e->n;
		st->no_memory |= e->text == NULL;
	}
}

/* ---- references before their definitions ---- */

void
d9_pool_miss(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, const struct d9_frame *f)
{
	struct d9_pool *const pool = &st->pools[kind];
	const uint32_t known = table64_get(&pool->pending_index, id);

	if (known != TABLE_NONE) {
		pool->pending[known].count++;
	} else if (st->pools_full || pool->npending == D9_MAX_PENDING) {
		d9_tally(&st->tallies.pool_limit, f, id);
	} else if (!array_room(&pool->pending, pool->npending, &pool->pending_cap, sizeof *pool->pending) ||
	           !table64_put(&pool->pending_index, id, pool->npending)) {
		st->no_memory = true;
	} else {
		pool->pending[pool->npending++] =
		    (struct d9_pending){ .offset = f->offset, .ordinal = f->ordinal, .count = 1, .id = id };
	}
}

void
d9_pool_shown(struct d9_state *st, enum d9_pool_kind kind, uint32_t id)
{
	struct d9_pool *const pool = &st->pools[kind];
	const uint32_t waits = table64_get(&pool->pending_index, id);

	if (waits != TABLE_NONE)
		pool->pending[waits].shown = true;
}

/* The id is defined now. */
static void
settle_pending(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, struct slice data,
               const struct d9_frame *f)
{
	struct d9_pool *const pool = &st->pools[kind];
	const uint32_t waits = pool->npending > 0 ? table64_get(&pool->pending_index, id) : TABLE_NONE;

	if (waits == TABLE_NONE)
		return;
	struct d9_pending *const p = &pool->pending[waits];
	if (st->collects != NULL && d9_pool_find(pool, id) == NULL)
		d9_ahead_late(st, kind, id, data);
	if (p->defined)
		return;
	p->defined = true;
	d9_tally(&st->tallies.late, f, id);
	if (!p->shown || st->looked_ahead)
		return;
	const struct d9_frame first = { .offset = p->offset, .ordinal = p->ordinal };
	d9_tally(&st->tallies.unresolved, &first, id);
	st->tallies.unresolved.count += p->count - 1;
}

/* ---- definitions ---- */

/* Bytes of memory that a definition takes. */
static uint64_t
cost(enum d9_pool_kind kind, uint32_t bytes)
{
	return ENTRY_COST + (kind == D9_STRINGS ? bytes + 16 : (uint64_t)bytes / 8 * sizeof(struct value));
}

void
d9_pool_define(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, struct slice data,
               const struct d9_frame *f)
{
	struct d9_pool *const pool = &st->pools[kind];
	const uint64_t hash = hash_bytes(data.p, data.n, st->seed);
	const uint64_t costs = cost(kind, data.n);
	const uint32_t n = kind == D9_STRINGS ? data.n : data.n / 8;

	settle_pending(st, kind, id, data, f);
	const struct d9_entry *const old = d9_pool_find(pool, id);
	if (old != NULL && old->hash == hash && old->n == n)
		return;
	if (old != NULL)
		d9_tally(&st->tallies.redefined, f, id);
	if (costs > D9_MAX_POOLED - st->pooled_bytes) {
		d9_tally(&st->tallies.pool_limit, f, id);
		st->pools_full = true;
		return;
	}
	st->pooled_bytes += costs;
	struct d9_entry *const e = old != NULL ? &pool->entries[old - pool->entries] : add(pool, id);
	if (e == NULL) {
		st->no_memory = true;
		return;
	}
	*e = (struct d9_entry){ .hash = hash, .n = n, .flags = data.flags, .id = id };
	if (is_wanted(st, kind))
		retain(st, kind, e, data);
}

/* ---- segments ---- */

static void
report_undefined(struct d9_state *st, enum d9_pool_kind kind)
{
	const struct d9_pool *const pool = &st->pools[kind];
	const enum d9_rule rule = kind == D9_STRINGS ? D9_RULE_UNDEFINED_STRING : D9_RULE_UNDEFINED_STACK;

	for (uint32_t i = 0; i < pool->npending; i++) {
		const struct d9_pending *const p = &pool->pending[i];
		const struct d9_frame first = { .offset = p->offset, .ordinal = p->ordinal };
		if (!p->defined && !d9_find_unshown(st, rule, &first))
			d9_find(st, rule, &first,
			        "id %" PRIu32 " is in no %s pool of its segment; %" PRIu64 " reference%s",
			        p->id, kind == D9_STRINGS ? "string" : "stack", p->count,
			        p->count == 1 ? "" : "s");
	}
}

void
d9_pools_check(struct d9_state *st)
{
	for (int k = 0; k < D9_POOLS && !st->pools_full; k++)
		report_undefined(st, (enum d9_pool_kind)k);
}

static void
forget(struct d9_pool *pool)
{
	for (uint32_t i = 0; i < pool->n; i++)
		if (pool->entries[i].id < D9_DIRECT_IDS)
			pool->direct[pool->entries[i].id] = 0;
	if (pool->far.used > 0)
		table64_free(&pool->far);
	if (pool->npending > 0)
		table64_free(&pool->pending_index);
	pool->n = 0;
	pool->npending = 0;
}

void
d9_pools_forget(struct d9_state *st)
{
	for (int k = 0; k < D9_POOLS; k++)
		forget(&st->pools[k]);
	drop(st);
	st->pooled_bytes = 0;
	st->pools_full = false;
}

void
d9_pools_free(struct d9_state *st)
{
	for (int k = 0; k < D9_POOLS; k++) {
		free(st->pools[k].entries);
		free(st->pools[k].direct);
		free(st->pools[k].pending);
		table64_free(&st->pools[k].far);
		table64_free(&st->pools[k].pending_index);
	}
	drop(st);
}
