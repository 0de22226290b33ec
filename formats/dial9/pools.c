/*
 * String and stack pools of a segment: the frames that define their entries, and the look-ahead for
 * definitions and symbols that follow their use.
 *
 * Batches share the memory of a segment's pools, so it only grows until the segment ends.  If nothing uses
 * the content, an entry is an id and a hash.  An id that is referenced before its definition is in `pending`
 * until its definition or the end of the segment.
 */
#include <stdlib.h>

#include "dial9/dial9.h"

/* ---- look-ahead ---- */

/*
 * The symbol table is at the end of a trace, and a pool entry may follow its first use.  When either is
 * needed and the input can be read twice, one look-ahead pass over all of it collects both.  Symbols are
 * those of one program and hold for all segments; a late definition belongs to its segment.
 */

struct symbol {
	struct slice name;
	uint64_t depth; /* of inlining; 0: the function that contains the address */
};

/* Returns the key of a definition: id and kind in the low 33 bits, the segment in the others. */
static uint64_t late_key(uint64_t segment, enum d9_pool_kind kind, uint32_t id)
{
	return segment << 33 | (uint64_t)kind << 32 | id;
}

static bool has_late_key(uint64_t segment)
{
	return segment < UINT64_C(1) << 31;
}

/* Copies the text of symbol or definition n.  Returns p NULL beyond a limit. */
static struct slice retain_text(struct d9_state *st, uint32_t n, uint32_t max, struct slice text)
{
	struct d9_ahead *const a = st->collects;
	struct slice copy = SLICE_NONE;

	if (n == max || a->text.used > D9_MAX_AHEAD_BYTES || text.n > D9_MAX_AHEAD_BYTES - a->text.used) {
		a->dropped++;
		return copy;
	}
	copy = arena_copy(&a->text, text);
	st->r->no_memory |= copy.p == NULL;
	return copy;
}

void d9_ahead_symbol(struct d9_state *st, uint64_t address, uint64_t depth, struct slice name)
{
	struct d9_ahead *const a = st->collects;
	const uint32_t known = table64_get(&a->symbol_index, address);

	if (known != TABLE_NONE && a->symbols[known].depth <= depth)
		return;
	const struct symbol symbol = { retain_text(st, a->nsymbols, D9_MAX_SYMBOLS, name), depth };
	if (symbol.name.p == NULL)
		return;
	if (known != TABLE_NONE)
		a->symbols[known] = symbol;
	else if (array_reserve(&a->symbols, a->nsymbols, &a->symbols_cap, sizeof *a->symbols) &&
	         table64_put(&a->symbol_index, address, a->nsymbols))
		a->symbols[a->nsymbols++] = symbol;
	else
		st->r->no_memory = true;
}

static void add_late(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, struct slice data)
{
	struct d9_ahead *const a = st->collects;

	const struct slice copy =
	    retain_text(st, has_late_key(st->segment) ? a->nlate : D9_MAX_LATE, D9_MAX_LATE, data);
	if (copy.p == NULL)
		return;
	if (array_reserve(&a->late, a->nlate, &a->late_cap, sizeof *a->late) &&
	    table64_put(&a->late_index, late_key(st->segment, kind, id), a->nlate))
		a->late[a->nlate++] = copy;
	else
		st->r->no_memory = true;
}

static void destroy_ahead(struct shared_memory *m)
{
	struct d9_ahead *const a = (struct d9_ahead *)m;

	table64_free(&a->symbol_index);
	table64_free(&a->late_index);
	free(a->symbols);
	free(a->late);
	arena_free(&a->text);
	free(a);
}

void d9_ahead_drop(struct d9_state *st)
{
	shared_memory_drop(st->ahead != NULL ? &st->ahead->shared : NULL);
	st->ahead = NULL;
}

/* Copies a long text into the trace, so that it stays: other texts are copied for each open span that they
 * name, and compared for each event.  Returns the text itself if it is short or a limit is reached. */
static struct slice make_lasting(struct d9_state *st, struct slice text)
{
	if (text.n <= TEXTS_LONGEST || text.n > D9_MAX_LASTING - st->lasting)
		return text;
	struct slice copy = arena_copy(&st->r->trace->arena, text);
	st->r->no_memory |= copy.p == NULL;
	st->lasting += text.n;
	copy.flags |= SLICE_STAYS;
	return copy.p != NULL ? copy : text;
}

void d9_look_ahead(struct d9_state *st)
{
	enum look_ahead result = LOOK_AHEAD_FAILED;

	if (st->tried_ahead || st->r->ahead_of != NULL)
		return;
	st->tried_ahead = true;
	st->ahead = calloc(1, sizeof *st->ahead);
	if (st->ahead != NULL) {
		shared_memory_init(&st->ahead->shared, destroy_ahead);
		result = reader_look_ahead(st->r);
	}
	st->r->no_memory |= result == LOOK_AHEAD_FAILED;
	if (result != LOOK_AHEAD_DONE)
		d9_ahead_drop(st);
	for (uint32_t i = 0; st->ahead != NULL && i < st->ahead->nlate; i++)
		st->ahead->late[i] = make_lasting(st, st->ahead->late[i]);
	st->unheld = true;
}

void d9_look_for_threads(struct d9_state *st)
{
	struct d9_threads found = { .trace = st->r->trace, .process = d9_process(st) };

	if (st->tried_threads || st->r->ahead_of != NULL || found.process == NULL)
		return;
	st->tried_threads = true;
	st->threads = &found;
	st->r->no_memory |= reader_look_ahead(st->r) == LOOK_AHEAD_FAILED;
	st->threads = NULL;
	table64_free(&found.workers);
}

struct slice d9_ahead_find(const struct d9_state *st, enum d9_pool_kind kind, uint32_t id)
{
	const uint32_t known = st->ahead != NULL && has_late_key(st->segment)
	                           ? table64_get(&st->ahead->late_index, late_key(st->segment, kind, id))
	                           : TABLE_NONE;

	return known != TABLE_NONE ? st->ahead->late[known] : SLICE_NONE;
}

struct value *d9_stack_values(struct d9_state *st, bool names, struct arena *a, const char *addresses,
                              uint32_t n, uint32_t *cost, uint8_t *element)
{
	const struct d9_ahead *const ahead = names ? st->ahead : NULL;
	struct value *const values = arena_alloc(a, n * sizeof *values);
	uint32_t named = 0;
	uint64_t sum = 0;

	st->r->no_memory |= values == NULL;
	for (uint32_t i = 0; values != NULL && i < n; i++) {
		const uint64_t address = load_u64(addresses + (size_t)i * 8, false);
		const uint32_t known =
		    ahead != NULL ? table64_get(&ahead->symbol_index, address) : TABLE_NONE;
		if (known != TABLE_NONE)
			values[i] = value_string(ahead->symbols[known].name);
		else
			values[i] = (struct value){ .type = VALUE_ADDRESS, .u64 = address };
		named += known != TABLE_NONE;
		sum += known != TABLE_NONE ? values[i].count + 4U : D9_ADDRESS_COST;
	}
	*element = named == 0 ? VALUE_ADDRESS : named == n ? VALUE_STRING : VALUE_NONE;
	*cost = sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
	return values;
}

/* ---- memory of a segment's pools ---- */

static void destroy_memory(struct shared_memory *m)
{
	struct d9_pool_memory *const memory = (struct d9_pool_memory *)m;

	arena_free(&memory->arena);
	free(memory);
}

static void drop_memory(struct d9_state *st)
{
	shared_memory_drop(st->pool_memory != NULL ? &st->pool_memory->shared : NULL);
	st->pool_memory = NULL;
}

void d9_names_hold(struct d9_state *st, struct batch *b)
{
	st->unheld = false;
	if ((st->pool_memory != NULL && !batch_hold(b, &st->pool_memory->shared)) ||
	    (st->ahead != NULL && !batch_hold(b, &st->ahead->shared)))
		st->r->no_memory = true;
}

/* Returns the arena of the current segment; NULL on OOM. */
static struct arena *pool_arena(struct d9_state *st)
{
	if (st->pool_memory == NULL) {
		st->pool_memory = calloc(1, sizeof *st->pool_memory);
		if (st->pool_memory == NULL)
			return NULL;
		shared_memory_init(&st->pool_memory->shared, destroy_memory);
		st->unheld = true;
	}
	return &st->pool_memory->arena;
}

/* ---- references before their definitions ---- */

void d9_pool_miss(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, const struct record *f)
{
	struct d9_pool *const pool = &st->pools[kind];
	const uint32_t known = table64_get(&pool->pending_index, id);

	if (known != TABLE_NONE) {
		pool->pending[known].count++;
	} else if (st->pools_full || pool->npending == D9_MAX_PENDING) {
		d9_tally(&st->tallies.pool_limit, f, id);
	} else if (!array_reserve(&pool->pending, pool->npending, &pool->pending_cap,
	                          sizeof *pool->pending) ||
	           !table64_put(&pool->pending_index, id, pool->npending)) {
		st->r->no_memory = true;
	} else {
		pool->pending[pool->npending++] =
		    (struct d9_pending){ .offset = f->offset, .ordinal = f->ordinal, .count = 1, .id = id };
	}
}

void d9_pool_shown(struct d9_state *st, enum d9_pool_kind kind, uint32_t id)
{
	struct d9_pool *const pool = &st->pools[kind];
	const uint32_t known = table64_get(&pool->pending_index, id);

	if (known != TABLE_NONE)
		pool->pending[known].shown = true;
}

/* Resolves references to an id that is defined now. */
static void resolve_pending(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, struct slice data,
                            const struct record *f)
{
	struct d9_pool *const pool = &st->pools[kind];
	const uint32_t known = pool->npending > 0 ? table64_get(&pool->pending_index, id) : TABLE_NONE;

	if (known == TABLE_NONE)
		return;
	struct d9_pending *const p = &pool->pending[known];
	if (st->collects != NULL && d9_pool_find(pool, id) == NULL)
		add_late(st, kind, id, data);
	if (p->defined)
		return;
	p->defined = true;
	d9_tally(&st->tallies.late, f, id);
	if (!p->shown || st->ahead != NULL)
		return;
	const struct record first = { .offset = p->offset, .ordinal = p->ordinal };
	d9_tally(&st->tallies.unresolved, &first, id);
	st->tallies.unresolved.count += p->count - 1;
}

/* ---- definitions ---- */

const struct d9_entry *d9_pool_far(const struct d9_pool *pool, uint32_t id)
{
	const uint32_t known = table64_get(&pool->far, id);

	return known != TABLE_NONE ? &pool->entries[known] : NULL;
}

static struct d9_entry *add_entry(struct d9_pool *pool, uint32_t id)
{
	if (!array_reserve(&pool->entries, pool->n, &pool->cap, sizeof *pool->entries))
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

/* Whether the content is used: texts in names of events, symbols or fields, stacks in fields. */
static bool needs_content(const struct d9_state *st, enum d9_pool_kind kind)
{
	if (d9_wants_raw(st))
		return false;
	return d9_wants_fields(st) ||
	       (kind == D9_STRINGS && (st->collects != NULL || ((st->r->want & WANT_TIMES) != 0 &&
	                                                        st->r->trace->vocabulary != NULL)));
}

static void retain_content(struct d9_state *st, enum d9_pool_kind kind, struct d9_entry *e, struct slice data)
{
	/* The first stack needs symbols.  Two passes at once should not both hold large pools. */
	if (kind == D9_STACKS || st->pooled.used + st->pooled.used_long > D9_AHEAD_POOLED)
		d9_look_ahead(st);
	if (kind == D9_STRINGS && st->collects == NULL) {
		const struct slice text = make_lasting(st, trace_text(st->r->trace, data));
		if ((text.flags & SLICE_STAYS) != 0) {
			e->text = text.p;
			e->flags = text.flags;
			e->cost = e->n;
			return;
		}
	}
	struct arena *const arena = pool_arena(st);
	if (arena == NULL) {
		st->r->no_memory = true;
	} else if (kind == D9_STACKS) {
		e->values = d9_stack_values(st, true, arena, data.p, e->n, &e->cost, &e->element);
	} else {
		e->text = arena_copy(arena, data).p;
		e->cost = e->n;
		st->r->no_memory |= e->text == NULL;
	}
}

/* Bytes of memory that a definition is charged. */
static uint64_t definition_cost(enum d9_pool_kind kind, uint32_t bytes)
{
	const uint64_t content = kind == D9_STRINGS ? bytes + 16 : (uint64_t)bytes / 8 * sizeof(struct value);

	return sizeof(struct d9_entry) + sizeof(struct table64_slot) + content;
}

static void define_entry(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, struct slice data,
                         const struct record *f)
{
	struct d9_pool *const pool = &st->pools[kind];
	const uint64_t hash = hash_bytes(data.p, data.n, st->seed);
	const uint64_t costs = definition_cost(kind, data.n);
	const uint32_t n = kind == D9_STRINGS ? data.n : data.n / 8;

	resolve_pending(st, kind, id, data, f);
	const struct d9_entry *const old = d9_pool_find(pool, id);
	if (old != NULL && old->hash == hash && old->n == n)
		return;
	if (old != NULL)
		d9_tally(&st->tallies.redefined, f, id);
	if (!reader_charge(&st->pooled, costs, D9_MAX_POOLED, D9_MAX_POOLED + 3 * st->r->max_record)) {
		d9_tally(&st->tallies.pool_limit, f, id);
		st->pools_full = true;
		return;
	}
	struct d9_entry *const e = old != NULL ? &pool->entries[old - pool->entries] : add_entry(pool, id);
	if (note_failure(&st->r->no_memory, e == NULL))
		return;
	*e = (struct d9_entry){ .hash = hash, .n = n, .flags = data.flags, .id = id };
	if (needs_content(st, kind))
		retain_content(st, kind, e, data);
}

/* ---- segments ---- */

static void report_undefined(struct d9_state *st, enum d9_pool_kind kind)
{
	const struct d9_pool *const pool = &st->pools[kind];
	const enum d9_rule rule = kind == D9_STRINGS ? D9_RULE_UNDEFINED_STRING : D9_RULE_UNDEFINED_STACK;

	for (uint32_t i = 0; i < pool->npending; i++) {
		const struct d9_pending *const p = &pool->pending[i];
		const struct record first = { .offset = p->offset, .ordinal = p->ordinal };
		if (!p->defined)
			d9_find(st, rule, &first,
			        "id %" PRIu32 " is in no %s pool of its segment; %" PRIu64 " reference%s",
			        p->id, kind == D9_STRINGS ? "string" : "stack", p->count,
			        p->count == 1 ? "" : "s");
	}
}

void d9_pools_check(struct d9_state *st)
{
	for (int k = 0; k < D9_POOLS && !st->pools_full; k++)
		report_undefined(st, (enum d9_pool_kind)k);
}

static void clear_pool(struct d9_pool *pool)
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

void d9_pools_clear(struct d9_state *st)
{
	for (int k = 0; k < D9_POOLS; k++)
		clear_pool(&st->pools[k]);
	drop_memory(st);
	st->pooled = (struct reader_charges){ 0 };
	st->pools_full = false;
}

void d9_pools_free(struct d9_state *st)
{
	for (int k = 0; k < D9_POOLS; k++) {
		free(st->pools[k].entries);
		free(st->pools[k].direct);
		free(st->pools[k].pending);
		table64_free(&st->pools[k].far);
		table64_free(&st->pools[k].pending_index);
	}
	drop_memory(st);
}

/* ---- pool frames ---- */

/*
 * A count, then entries.  A frame may be larger than memory, so its entries are read one by one;
 * st->open.left is the number of entries left.  Each entry is a record; the first includes the frame's head.
 */

static bool read_pool_entry(struct d9_bytes *b, bool strings, struct d9_pool_entry *e)
{
	const char *const what = strings ? "data_len" : "frame_count", *p;
	const uint32_t size = strings ? 1 : 8;
	uint32_t n;

	if (!d9_bytes_u32(b, &e->id, "pool_id") || !d9_bytes_u32(b, &n, what) ||
	    !d9_bytes_run(b, n, size, what, &p))
		return false;
	e->data = strings ? textscan_slice(p, n) : slice_of(p, (size_t)n * size);
	return true;
}

/* Reads the head of a new frame.  *left: number of entries from the next one on. */
static inline bool read_pool_head(const struct d9_state *st, struct d9_bytes *b, uint32_t *left)
{
	*left = st->open.left;
	return !st->first || (d9_bytes_read(b, 1, "tag") != NULL && d9_bytes_u32(b, left, "count"));
}

static inline void set_left(struct d9_state *st, uint32_t left)
{
	st->open.left = left;
	if (st->first)
		st->open.count = left;
}

uint32_t d9_pool_fields(struct d9_state *st, struct batch *b, struct field *to)
{
	const struct slice data = st->entry.data;
	uint32_t n = 0, cost;

	if (st->first)
		to[n++] = (struct field){ SLICE_LIT("count"), { .type = VALUE_U32, .u64 = st->open.count } };
	if (st->open.count == 0)
		return n;
	to[n++] = (struct field){ SLICE_LIT("pool_id"), { .type = VALUE_U32, .u64 = st->entry.id } };
	if (st->tag == D9_TAG_STRINGS) {
		to[n++] = (struct field){ SLICE_LIT("data"), value_string(data) };
	} else {
		struct value v = { .type = VALUE_LIST, .count = data.n / 8 };
		v.values = d9_stack_values(st, false, &b->scratch, data.p, v.count, &cost, &v.element);
		to[n++] = (struct field){ SLICE_LIT("frames"), v };
	}
	return n;
}

enum record_status d9_pool_frame(struct d9_state *st, struct record *f)
{
	const enum d9_pool_kind kind = st->tag == D9_TAG_STRINGS ? D9_STRINGS : D9_STACKS;
	struct d9_bytes bytes = d9_bytes_of(st, f);
	const struct slice *const data = &st->entry.data;
	uint32_t left;

	if (!read_pool_head(st, &bytes, &left) ||
	    (left > 0 && !read_pool_entry(&bytes, kind == D9_STRINGS, &st->entry)))
		return RECORD_MORE;
	f->end = bytes.p;
	set_left(st, left);
	if (left > 0) {
		if (kind == D9_STRINGS && (data->flags & SLICE_UTF8) == 0)
			d9_check_text(st, f, *data, "pool data", SLICE_NONE);
		define_entry(st, kind, st->entry.id, *data, f);
	}
	if (st->first && kind == D9_STACKS)
		d9_note_newer(st, f, f->p, "stack pool frame 0x04", D9_0_3_6);
	return RECORD_DONE;
}

enum record_status d9_pool_pass(struct d9_state *st, const struct record *f)
{
	const bool strings = st->tag == D9_TAG_STRINGS;
	struct d9_bytes bytes = d9_bytes_of(st, f);
	uint32_t left, id, n;

	if (!read_pool_head(st, &bytes, &left) || !d9_bytes_u32(&bytes, &id, "pool_id") ||
	    !d9_bytes_u32(&bytes, &n, "data_len"))
		return RECORD_MORE;
	set_left(st, left);
	st->pass = (struct d9_pass){ .run = (uint64_t)(bytes.p - f->p) + (uint64_t)n * (strings ? 1 : 8),
		                     .total = (uint64_t)n * (strings ? 1 : 8),
		                     .length = n,
		                     .missing = strings ? "data_len" : "frame_count",
		                     .what = strings ? "a pooled string" : "a pooled stack" };
	st->pools_full = true; /* its id is defined, but not retained */
	return RECORD_DONE;
}
