#include <stdlib.h>

#include "dial9/dial9.h"
#include "format/format.h"

/* ---- type ---- */

#define NAMES(name)                                                                                          \
	{                                                                                                    \
		name, "optional " name                                                                       \
	}

const struct d9_type_info d9_types[D9_TYPES] = {
	[0] = { .names = { "unknown", "unknown" }, .shape = D9_SHAPE_UNKNOWN },
	[D9_I64] = { NAMES("I64"), "value", D9_SHAPE_FIXED, 8, .value = VALUE_I64 },
	[D9_F64] = { NAMES("F64"), "value", D9_SHAPE_FIXED, 8, .value = VALUE_F64 },
	[D9_BOOL] = { NAMES("Bool"), "Bool", D9_SHAPE_BOOL, 1, .value = VALUE_BOOL },
	[D9_STRING] = { NAMES("String"), "string length", D9_SHAPE_TEXT, 1, .value = VALUE_STRING },
	[D9_BYTES] = { NAMES("Bytes"), "bytes length", D9_SHAPE_RUN, 1, .value = VALUE_BYTES },
	[D9_POOLED_STACK] = { NAMES("PooledStackFrames"), "pool_id", D9_SHAPE_ID, 4, .pool = D9_STACKS,
	                      .value = VALUE_U32, .newer = "field type 6 (PooledStackFrames)" },
	[D9_POOLED_STRING] = { NAMES("PooledString"), "pool_id", D9_SHAPE_ID, 4, .pool = D9_STRINGS,
	                       .value = VALUE_U32 },
	[D9_STACK] = { NAMES("StackFrames"), "frame count", D9_SHAPE_RUN, 8, .value = VALUE_LIST },
	[D9_VARINT] = { NAMES("Varint"), "LEB128 number", D9_SHAPE_LEB128, 0, .value = VALUE_U64 },
	[D9_STRING_MAP] = { NAMES("StringMap"), "map count", D9_SHAPE_VALUES, 8, 2, .value = VALUE_MAP },
	[D9_U8] = { NAMES("U8"), "U8", D9_SHAPE_FIXED, 1, .value = VALUE_U8 },
	[D9_U16] = { NAMES("U16"), "U16", D9_SHAPE_FIXED, 2, .value = VALUE_U16 },
	[D9_U32] = { NAMES("U32"), "U32", D9_SHAPE_FIXED, 4, .value = VALUE_U32 },
	[D9_LIST] = { NAMES("DynamicList"), "list count", D9_SHAPE_VALUES, 2, 1, .tagged = true,
	              .value = VALUE_LIST, .newer = "field type 14 (DynamicList)" },
	[D9_MAP] = { NAMES("DynamicMap"), "map count", D9_SHAPE_VALUES, 4, 2, .tagged = true,
	             .value = VALUE_MAP, .newer = "field type 15 (DynamicMap)" },
};

/* ---- dialect ---- */

const char *const d9_dialects[] = { [D9_0_3] = "0.3", [D9_0_4] = "0.4", NULL };

void d9_dialect_begin(struct d9_state *st)
{
	const char *const asked = st->r->dialect;
	struct trace *const trace = st->r->trace;

	st->strict = asked != NULL && strcmp(asked, d9_dialects[D9_0_3]) == 0;
	/* another input of the same trace may have been newer */
	if (asked == NULL ? trace->dialect != d9_dialects[D9_0_4] : st->strict)
		trace->dialect = d9_dialects[D9_0_3];
	else
		trace->dialect = d9_dialects[D9_0_4];
}

void d9_newer(struct d9_state *st, const struct d9_frame *f, const char *at, const char *what)
{
	if (st->strict)
		d9_find_at(st, D9_RULE_NOT_IN_DOCUMENT, f, at, "%s is not in the document of 0.3", what);
	else
		st->r->trace->dialect = d9_dialects[D9_0_4];
}

/* ---- pool ---- */

/*
 * The pools of one segment: strings and stacks by id ("String Pool Frame").
 * When values are not wanted, an entry is only the id and a hash of its content.  An id that is referenced
 * and not defined waits in `pending` until it is, or until the segment ends.
 */

#define ENTRY_COST (sizeof(struct d9_entry) + sizeof(struct table64_slot))

/* ---- what batches hold ---- */

static void destroy(struct shared_memory *m)
{
	struct d9_pool_memory *const memory = (struct d9_pool_memory *)m;

	arena_free(&memory->arena);
	free(memory);
}

static void drop(struct d9_state *st)
{
	shared_memory_drop(st->pool_memory != NULL ? &st->pool_memory->shared : NULL);
	st->pool_memory = NULL;
}

void d9_pools_hold(struct d9_state *st, struct batch *b)
{
	st->no_memory |= st->pool_memory != NULL && !batch_hold(b, &st->pool_memory->shared);
}

/* Of the present segment; NULL: no memory. */
static struct arena *pool_arena(struct d9_state *st)
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

const struct d9_entry *d9_pool_far(const struct d9_pool *pool, uint32_t id)
{
	const uint32_t known = table64_get(&pool->far, id);

	return known != TABLE_NONE ? &pool->entries[known] : NULL;
}

/* A place for a new id; NULL: no memory. */
static struct d9_entry *add(struct d9_pool *pool, uint32_t id)
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
static bool is_wanted(const struct d9_state *st, enum d9_pool_kind kind)
{
	if (d9_wants_raw(st))
		return false;
	return d9_wants_fields(st) ||
	       (kind == D9_STRINGS && (st->collects != NULL || ((st->r->want & WANT_TIMES) != 0 &&
	                                                        st->r->trace->vocabulary != NULL)));
}

/* Retains the content of a definition. */
static void retain(struct d9_state *st, enum d9_pool_kind kind, struct d9_entry *e, struct slice data)
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

void d9_pool_miss(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, const struct d9_frame *f)
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

void d9_pool_shown(struct d9_state *st, enum d9_pool_kind kind, uint32_t id)
{
	struct d9_pool *const pool = &st->pools[kind];
	const uint32_t waits = table64_get(&pool->pending_index, id);

	if (waits != TABLE_NONE)
		pool->pending[waits].shown = true;
}

/* The id is defined now. */
static void settle_pending(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, struct slice data,
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
static uint64_t cost(enum d9_pool_kind kind, uint32_t bytes)
{
	return ENTRY_COST + (kind == D9_STRINGS ? bytes + 16 : (uint64_t)bytes / 8 * sizeof(struct value));
}

void d9_pool_define(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, struct slice data,
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

static void report_undefined(struct d9_state *st, enum d9_pool_kind kind)
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

void d9_pools_check(struct d9_state *st)
{
	for (int k = 0; k < D9_POOLS && !st->pools_full; k++)
		report_undefined(st, (enum d9_pool_kind)k);
}

static void forget(struct d9_pool *pool)
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

void d9_pools_forget(struct d9_state *st)
{
	for (int k = 0; k < D9_POOLS; k++)
		forget(&st->pools[k]);
	drop(st);
	st->pooled_bytes = 0;
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
	drop(st);
}

/* ---- schema ---- */

/*
 * Schema frames.  Segments register the same schemas again and again, so a
 * schema is known by its bytes behind the type_id and made once for the trace.
 */

#define SCHEMA_COST 256 /* what a schema costs besides its bytes and fields */
#define FIELD_COST (sizeof(struct d9_field) + sizeof(struct class_field) + 2 * sizeof(struct d9_op) + 32)

void d9_schemas_free(struct d9_schemas *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		free(s->all[i]->ops);
		free(s->all[i]);
	}
	free(s->all);
	free(s->by_type);
	free(s->registered);
	tabletext_free(&s->index);
}

void d9_schemas_forget(struct d9_schemas *s)
{
	for (uint32_t i = 0; i < s->nregistered; i++)
		s->by_type[s->registered[i]] = NULL;
	s->nregistered = 0;
}

/* ---- registering ---- */

/* The first thing in which two schemas differ. */
static void report_redefined(struct d9_state *st, const struct d9_frame *f, uint16_t id,
                             const struct d9_schema *old, const struct d9_schema *now)
{
	struct quoted q, q2;
	uint32_t i = 0;

	while (i < old->nfields && i < now->nfields && old->fields[i].type == now->fields[i].type &&
	       slice_equal(old->fields[i].name, now->fields[i].name))
		i++;
	if (!slice_equal(old->name, now->name))
		d9_find(st, D9_RULE_SCHEMA_REDEFINED, f, "type_id %u was %s, now it is %s", id,
		        quoted(&q, old->name), quoted(&q2, now->name));
	else if (old->nfields != now->nfields)
		d9_find(st, D9_RULE_SCHEMA_REDEFINED, f,
		        "field_count of type_id %u was %" PRIu32 ", now it is %" PRIu32, id, old->nfields,
		        now->nfields);
	else if (i < old->nfields)
		d9_find(st, D9_RULE_SCHEMA_REDEFINED, f,
		        "field %" PRIu32 " of type_id %u was %s %s, now it is %s %s", i, id,
		        quoted(&q, old->fields[i].name), d9_type_name(old->fields[i].type),
		        quoted(&q2, now->fields[i].name), d9_type_name(now->fields[i].type));
	else
		d9_find(st, D9_RULE_SCHEMA_REDEFINED, f, "has_timestamp of type_id %u was %d, now it is %d",
		        id, old->timed, now->timed);
}

static void register_schema(struct d9_state *st, const struct d9_frame *f, uint16_t id,
                            struct d9_schema *schema)
{
	struct d9_schemas *const s = &st->schemas;
	const struct d9_schema *const old = d9_schema_find(s, id);

	if (old != NULL && old != schema)
		report_redefined(st, f, id, old, schema);
	if (!array_reach(&s->by_type, &s->ntypes, id, sizeof(struct d9_schema *)) ||
	    !array_room(&s->registered, s->nregistered, &s->registered_cap, sizeof *s->registered)) {
		st->no_memory = true;
		return;
	}
	if (old == NULL)
		s->registered[s->nregistered++] = id;
	s->by_type[id] = schema;
}

/* ---- reading ---- */

/* Finds the end of a schema frame. */
static enum d9_result measure(struct d9_state *st, struct d9_frame *f)
{
	struct cursor c = cursor_on(f->p, f->end, false);

	cursor_take(&c, 3, "tag and type_id");
	cursor_take(&c, cursor_u16(&c, "name_len"), "name");
	cursor_u8(&c, "has_timestamp");
	const uint16_t n = cursor_u16(&c, "field_count");
	if (c.missing == NULL && n * 3UL > cursor_left(&c)) {
		st->lack = (struct d9_lack){ .what = "field_count",
			                     .bytes = n * 3UL - cursor_left(&c),
			                     .length = n,
			                     .left = cursor_left(&c),
			                     .has_length = true };
		return D9_MORE;
	}
	for (uint32_t i = 0; i < n && c.missing == NULL; i++) {
		cursor_take(&c, cursor_u16(&c, "field name_len"), "field name");
		cursor_u8(&c, "field_type");
	}
	if (c.missing != NULL)
		return d9_lacks(st, &c);
	f->end = c.p;
	return D9_DONE;
}

static struct slice take_text(struct cursor *c)
{
	const uint16_t n = cursor_u16(c, "length");
	const struct slice s = cursor_take(c, n, "text");

	return textscan_slice(s.p, s.n);
}

static void check_type(struct d9_state *st, const struct d9_frame *f, struct d9_schema *s,
                       const struct d9_field *field, const char *at)
{
	const char *const newer = d9_type(field->type)->newer;
	struct quoted q, q2;

	if (!d9_type_known(field->type)) {
		s->readable = false;
		d9_find_at(st,
		           d9_is_optional(field->type) ? D9_RULE_OPTIONAL_UNKNOWN_TYPE
		                                       : D9_RULE_UNKNOWN_FIELD_TYPE,
		           f, at, "field %s of %s has type 0x%02x", quoted(&q, field->name),
		           quoted(&q2, s->name), field->type);
	} else if (newer != NULL) {
		d9_newer(st, f, at, newer);
	}
}

/* Arguments of one name would hide each other: the later gets a number.  Fields of raw events do not. */
static bool unique_name(struct d9_state *st, const struct d9_frame *f, struct d9_schema *s,
                        struct tabletext *names, uint32_t i)
{
	struct d9_field *const field = &s->fields[i];
	const struct slice plain = field->name;
	struct quoted q, q2;
	const uint32_t same = tabletext_get(names, plain);

	if (same == TABLE_NONE)
		return tabletext_put(names, plain, 1);
	if (!d9_find_unshown(st, D9_RULE_DUPLICATE_FIELD, f))
		d9_find(st, D9_RULE_DUPLICATE_FIELD, f,
		        "field %" PRIu32 " of %s has the name of an earlier field, %s", i,
		        quoted(&q, s->name), quoted(&q2, plain));
	for (uint32_t nth = same + 1;; nth++) {
		struct slice name =
		    arena_printf(&st->r->trace->arena, "%.*s (%" PRIu32 ")", (int)plain.n, plain.p, nth);
		if (name.p == NULL)
			return false;
		name.flags = plain.flags;
		if (tabletext_get(names, name) != TABLE_NONE)
			continue;
		if (!d9_wants_raw(st))
			field->name = name;
		return tabletext_put(names, plain, nth) && tabletext_put(names, name, 1);
	}
}

static bool unique_names(struct d9_state *st, const struct d9_frame *f, struct d9_schema *s)
{
	struct tabletext names = { .slots = NULL };
	bool ok = true;

	for (uint32_t i = 0; ok && i < s->nfields; i++)
		ok = unique_name(st, f, s, &names, i);
	tabletext_free(&names);
	return ok;
}

static struct class_field declaration(const struct d9_field *field)
{
	const char *const name = d9_type_name(field->type);

	return (struct class_field){
		.name = field->name,
		.type = { name, (uint32_t)strlen(name), SLICE_UTF8 | SLICE_JSON },
		.value = d9_type(field->type)->value,
		.size = d9_fixed_size(field->type),
	};
}

/* Fields of the frame itself; raw events have them before those that the schema declares. */
static const struct class_field heads[] = {
	{ SLICE_LIT("type_id"), SLICE_LIT("U16"), VALUE_U16, 2, NULL },
	{ SLICE_LIT("timestamp_delta_ns"), SLICE_LIT("u24"), VALUE_U32, 3, "ns" },
};

/* Makes the fields of the class.  false: no memory. */
static bool declare(struct d9_state *st, struct d9_schema *s)
{
	if (d9_wants_raw(st) && s->nfields <= UINT16_MAX - 2) /* struct event has room for so many */
		s->nhead = s->timed ? 2 : 1;
	const uint32_t n = s->nhead + s->nfields;
	s->declared = arena_alloc(&st->r->trace->arena, n * sizeof *s->declared);
	if (s->declared == NULL)
		return false;
	memcpy(s->declared, heads, s->nhead * sizeof *heads);
	for (uint32_t i = 0; i < s->nfields; i++)
		s->declared[s->nhead + i] = declaration(&s->fields[i]);
	return true;
}

/* Reads the fields at c, which lies in a copy of what follows the type_id of the frame. */
static bool read_fields(struct d9_state *st, const struct d9_frame *f, struct d9_schema *s, struct cursor *c,
                        const char *copy)
{
	s->fields = arena_zalloc(&st->r->trace->arena, s->nfields, sizeof *s->fields);
	if (s->fields == NULL)
		return false;
	for (uint32_t i = 0; i < s->nfields; i++) {
		struct d9_field *const field = &s->fields[i];
		field->name = field->in_file = take_text(c);
		field->type = cursor_u8(c, "field_type");
		const char *const end = f->p + 3 + (c->p - copy);
		struct slice there = field->name; /* in the frame, for the offset */
		there.p = end - 1 - there.n;
		d9_check_text(st, f, there, "field name", s->name);
		check_type(st, f, s, field, end - 1);
	}
	return unique_names(st, f, s) && declare(st, s);
}

static bool append(struct d9_schemas *s, struct d9_schema *schema, struct slice key)
{
	if (!array_room(&s->all, s->n, &s->cap, sizeof(struct d9_schema *)) ||
	    !tabletext_put(&s->index, key, s->n))
		return false;
	s->all[s->n++] = schema; /* owned from here on */
	return true;
}

/* A schema that was not met before; `key` is a copy of its bytes. */
static struct d9_schema *new_schema(struct d9_state *st, const struct d9_frame *f, struct slice key)
{
	struct cursor c = cursor_on(key.p, key.p + key.n, false);
	struct d9_schema *const s = calloc(1, sizeof *s);

	if (s == NULL || !append(&st->schemas, s, key)) {
		free(s);
		return NULL;
	}
	const struct slice name = take_text(&c);
	struct slice there = name;
	there.p = f->p + 5;
	d9_check_text(st, f, there, "schema name", (struct slice){ NULL, 0, 0 });
	s->name = name; /* in the key, which stays */
	const uint8_t timed = cursor_u8(&c, "has_timestamp");
	s->nfields = cursor_u16(&c, "field_count");
	s->timed = timed == 1;
	s->readable = timed <= 1;
	if (!s->readable)
		d9_find_at(st, D9_RULE_HAS_TIMESTAMP, f, f->p + 5 + name.n, "has_timestamp of %s is %u",
		           quoted(&(struct quoted){ "" }, name), timed);
	if (!read_fields(st, f, s, &c, key.p))
		return NULL;
	return d9_schema_plan(st, s) && d9_ops_make(s) ? s : NULL;
}

/* ---- as a record ---- */

static void show(struct d9_state *st, const struct d9_frame *f, struct batch *b, uint16_t id,
                 const struct d9_schema *s)
{
	if (!d9_wants_structure(st))
		return;
	struct value *const pairs = arena_zalloc(&b->scratch, s->nfields, 2 * sizeof *pairs);
	const bool raw = d9_wants_raw(st);
	const uint8_t timed = (uint8_t)f->p[5 + s->name.n];
	const struct field fields[] = {
		{ SLICE_LIT("type_id"), { .type = VALUE_U16, .u64 = id } },
		{ SLICE_LIT("name"), value_string(s->name) },
		{ SLICE_LIT("has_timestamp"), raw ? (struct value){ .type = VALUE_U8, .u64 = timed }
		                                  : (struct value){ .type = VALUE_BOOL, .u64 = s->timed } },
		{ SLICE_LIT("fields"), { .type = VALUE_MAP, .count = s->nfields, .values = pairs } },
	};

	if (pairs == NULL) {
		st->no_memory = true;
		return;
	}
	for (uint32_t i = 0; i < s->nfields; i++) {
		pairs[2 * i] = value_string(s->fields[i].name);
		pairs[2 * i + 1] = raw ? (struct value){ .type = VALUE_U8, .u64 = s->fields[i].type }
		                       : value_string(s->declared[i].type);
	}
	d9_record_structure(st, D9_S_SCHEMA, f, b, fields, sizeof fields / sizeof fields[0]);
}

/* Whether one more schema of these bytes can be retained. */
static bool has_room(struct d9_state *st, const struct d9_frame *f, struct slice bytes)
{
	struct d9_schemas *const all = &st->schemas;
	const uint16_t name_len = load_u16(bytes.p, false);
	const uint64_t nfields = load_u16(bytes.p + 3 + name_len, false);
	const uint64_t cost = SCHEMA_COST + 2 * ((uint64_t)name_len + bytes.n) + nfields * FIELD_COST;

	if (all->n == D9_MAX_SCHEMAS || cost > D9_MAX_DESCRIBED - all->memory) {
		d9_find(st, D9_RULE_LIMIT, f,
		        "schema %" PRIu32 " of the trace needs %" PRIu64 " bytes of memory; %" PRIu32
		        " are in use",
		        all->n + 1, cost, all->memory);
		return false;
	}
	all->memory += (uint32_t)cost;
	return true;
}

enum d9_result d9_schema_frame(struct d9_state *st, struct d9_frame *f, struct batch *b)
{
	const enum d9_result result = measure(st, f);

	if (result != D9_DONE)
		return result;
	const uint16_t id = load_u16(f->p + 1, false);
	const struct slice bytes = slice_of(f->p + 3, (size_t)(f->end - f->p - 3));
	const uint32_t known = tabletext_get(&st->schemas.index, bytes);
	struct d9_schema *s = known != TABLE_NONE ? st->schemas.all[known] : NULL;
	if (s == NULL) {
		if (!has_room(st, f, bytes))
			return D9_BAD;
		const struct slice key = arena_copy(&st->r->trace->arena, bytes);
		s = key.p != NULL ? new_schema(st, f, key) : NULL;
	}
	if (s == NULL) {
		st->no_memory = true;
		return D9_DONE;
	}
	register_schema(st, f, id, s);
	show(st, f, b, id, s);
	d9_count_frame(st, D9_S_SCHEMA, f);
	return D9_DONE;
}
