/* Numbers for common properties of events and of their fields (all but times, values and copied texts), in
 * hash tables of bounded size; packed events store the numbers instead. */
#include <stdlib.h>

#include "base/table.h"
#include "base/cursor.h"
#include "base/memory.h"
#include "model/trace.h"
#include "run/sort/sorter.h"

/* Max probes; further ones get no number, so the cost is bounded for any input. */
#define MAX_PROBES 16U

/* ---- rows of fields ---- */

static void destroy(struct shared_memory *shared)
{
	struct field_rows *const s = (struct field_rows *)shared;

	arena_free(&s->arena);
	free(s->slots);
	free(s);
}

struct field_rows *field_rows_new(uint32_t max, struct texts *texts)
{
	uint32_t slots = 2;

	max = max < FIELD_ROWS_MAX ? max : FIELD_ROWS_MAX;
	while (slots < 2 * max)
		slots *= 2;
	struct field_rows *const s = malloc(sizeof *s + max * sizeof s->list[0]);
	uint16_t *const table = calloc(slots, sizeof *table);
	if (s == NULL || table == NULL) {
		free(s);
		free(table);
		return NULL;
	}
	*s = (struct field_rows){
		.texts = texts, .max = max, .seed = hash_seed(), .mask = slots - 1, .slots = table
	};
	shared_memory_init(&s->shared, destroy);
	return s;
}

/* The type, element and flags of a value in one number. */
static inline uint32_t type_of(const struct value *v)
{
	return load_u32((const char *)v, false) &
	       ~load_u32((const char *)&(const struct value){ .outer = UINT8_MAX }, false);
}

/* The length and the flags of a name in one number. */
static inline uint64_t size_of(const struct slice *name)
{
	_Static_assert(offsetof(struct slice, flags) == offsetof(struct slice, n) + sizeof name->n,
	               "adjacent");
	return load_u64((const char *)&name->n, false);
}

/* Both ends of a name. */
static inline uint64_t ends_of(struct slice name)
{
	if (name.n >= 4)
		return (uint64_t)load_u32(name.p, false) << 32 | load_u32(name.p + name.n - 4, false);
	return name.n == 0 ? 0 : (uint64_t)(uint8_t)name.p[0] << 8 | (uint8_t)name.p[name.n - 1];
}

/* Hash of the lengths and types of all fields, and of the first and the last name. */
static inline uint32_t hash_row(const struct field_rows *s, const struct field *f, uint32_t n)
{
	uint64_t h = s->seed ^ ends_of(f[0].name);

	h = h * UINT64_C(0xd6e8feb86659fd93) ^ ends_of(f[n - 1].name);
	for (uint32_t i = 0; i < n; i++)
		h = (h ^ ((uint64_t)type_of(&f[i].value) << 32 | f[i].name.n)) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(h >> 32);
}

/* Whether two names of equal length are equal.  Inlined, as most have at most 16 bytes. */
static inline bool same_text(const char *a, const char *b, uint32_t n)
{
	if (a == b)
		return true;
	if (n > 16)
		return memcmp(a, b, n) == 0;
	if (n >= 8)
		return ((load_u64(a, false) ^ load_u64(b, false)) |
		        (load_u64(a + n - 8, false) ^ load_u64(b + n - 8, false))) == 0;
	if (n >= 4)
		return ((load_u32(a, false) ^ load_u32(b, false)) |
		        (load_u32(a + n - 4, false) ^ load_u32(b + n - 4, false))) == 0;
	return n > 0 ? a[0] == b[0] && a[n / 2] == b[n / 2] && a[n - 1] == b[n - 1] : a != NULL && b != NULL;
}

/* Names of rows may have SLICE_STAYS where those of the fields do not; a field name that has it must have the
 * same address. */
static inline bool is_of_row(const struct field *f, const struct field *row, uint32_t n)
{
	const uint64_t stays = size_of(&(const struct slice){ .flags = SLICE_STAYS });

	for (uint32_t i = 0; i < n; i++, f++, row++) {
		const uint64_t a = size_of(&f->name), b = size_of(&row->name);
		if ((a | (b & stays)) != b || type_of(&f->value) != type_of(&row->value) ||
		    ((a & stays) != 0 ? f->name.p != row->name.p
		                      : !same_text(f->name.p, row->name.p, f->name.n)))
			return false;
	}
	return true;
}

/* The name of a field as its row has it.  p is NULL on OOM. */
static struct slice name_in_row(struct field_rows *s, struct slice name)
{
	if ((name.flags & SLICE_STAYS) != 0)
		return name;
	const struct slice interned = s->texts != NULL ? texts_intern(s->texts, name) : name;
	return (interned.flags & SLICE_STAYS) != 0 ? interned : arena_copy(&s->arena, name);
}

/* Whether there is space for a row of these fields. */
static bool has_space(const struct field_rows *s, const struct field *f, uint32_t n)
{
	uint64_t bytes = s->arena.used + n * sizeof *f;

	if (s->n == s->max || n > FIELD_ROW_FIELDS)
		return false;
	for (uint32_t i = 0; i < n; i++)
		bytes += f[i].name.n;
	return bytes <= (uint64_t)s->max * FIELD_ROW_BYTES;
}

static uint16_t add(struct field_rows *s, const struct field *f, uint32_t n, uint32_t hash, uint16_t *slot)
{
	struct field *const fields = has_space(s, f, n) ? arena_alloc(&s->arena, n * sizeof *fields) : NULL;

	if (fields == NULL)
		return FIELD_ROW_NONE;
	for (uint32_t i = 0; i < n; i++) {
		const struct value *const v = &f[i].value;
		fields[i] = (struct field){
			f[i].name.p != NULL ? name_in_row(s, f[i].name) : f[i].name,
			{ .type = v->type, .flags = v->flags, .element = v->element },
		};
		if (fields[i].name.p == NULL && f[i].name.p != NULL)
			return FIELD_ROW_NONE;
	}
	s->list[s->n] = (struct field_row){ fields, n, hash };
	*slot = (uint16_t)++s->n;
	return (uint16_t)(s->n - 1);
}

uint16_t field_rows_find(struct field_rows *s, const struct field *f, uint32_t n, uint32_t likely)
{
	if (likely < s->n && s->list[likely].n == n && is_of_row(f, s->list[likely].fields, n))
		return (uint16_t)likely;
	const uint32_t hash = hash_row(s, f, n);

	for (uint32_t i = 0; i < MAX_PROBES; i++) {
		uint16_t *const slot = &s->slots[(hash + i) & s->mask];
		if (*slot == 0)
			return add(s, f, n, hash, slot);
		const struct field_row *const row = &s->list[*slot - 1];
		if (row->hash == hash && row->n == n && is_of_row(f, row->fields, n))
			return (uint16_t)(*slot - 1);
	}
	return FIELD_ROW_NONE;
}

/* ---- event shapes ---- */

#define FIRST_CAP 16U

struct event event_shape_of(const struct event *e)
{
	struct event shape = *e;

	shape.ts = shape.dur = shape.offset = 0;
	shape.first_field = 0;
	if ((e->name.flags & SLICE_STAYS) == 0) {
		shape.name.p = e->name.p != NULL ? "" : NULL;
		shape.name.n = 0;
	}
	return shape;
}

static bool is_of_shape(const struct event *e, const struct event *shape)
{
	const bool stays = (e->name.flags & SLICE_STAYS) != 0;

	return e->cls == shape->cls && e->track == shape->track && e->nfields == shape->nfields &&
	       e->phase == shape->phase && e->flags == shape->flags && e->name.flags == shape->name.flags &&
	       (stays ? e->name.p == shape->name.p && e->name.n == shape->name.n
	              : (e->name.p == NULL) == (shape->name.p == NULL));
}

static uint32_t hash_event_shapes(const struct event_shapes *s, const struct event *e)
{
	const bool stays = (e->name.flags & SLICE_STAYS) != 0;
	const uint64_t small = (uint64_t)e->nfields << 48 | (uint64_t)e->phase << 40 |
	                       (uint64_t)e->flags << 32 | e->name.flags,
	               name = stays ? (uint64_t)(uintptr_t)e->name.p + e->name.n : e->name.p != NULL;
	uint64_t h = hash_mix((uint64_t)(uintptr_t)e->cls ^ s->seed, small ^ UINT64_C(0x9e3779b97f4a7c15));

	h ^= hash_mix((uint64_t)(uintptr_t)e->track ^ s->seed, name ^ UINT64_C(0xd6e8feb86659fd93));
	return (uint32_t)(h >> 32 ^ h);
}

/* Returns the slot of an event's shape, or a free slot within MAX_PROBES, or NULL. */
static uint32_t *slot_of(const struct event_shapes *s, const struct event *e)
{
	uint32_t at = hash_event_shapes(s, e);

	for (uint32_t probes = 0; probes < MAX_PROBES; probes++, at++) {
		uint32_t *const slot = &s->slots[at & s->mask];
		if (*slot == 0 || is_of_shape(e, &s->list[*slot - 1]))
			return slot;
	}
	return NULL;
}

/* Doubles the table.  A shape that finds no slot is lost, and may be added again. */
static bool grow(struct event_shapes *s)
{
	const uint32_t cap = s->cap > 0 ? s->cap * 2 : FIRST_CAP;

	if (!array_resize(&s->list, cap, sizeof *s->list))
		return false;
	uint32_t *const slots = calloc((size_t)cap * 2, sizeof *slots);
	if (slots == NULL)
		return false;
	free(s->slots);
	s->slots = slots;
	s->cap = cap;
	s->mask = cap * 2 - 1;
	s->seed = hash_seed();
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t *const slot = slot_of(s, &s->list[i]);
		if (slot != NULL)
			*slot = i + 1;
	}
	return true;
}

uint16_t event_shapes_find(struct event_shapes *s, const struct event *e)
{
	if (s->n > 0 && is_of_shape(e, &s->list[s->last]))
		return s->last;
	uint32_t *slot = s->slots != NULL ? slot_of(s, e) : NULL;
	if (slot != NULL && *slot != 0)
		return s->last = (uint16_t)(*slot - 1);
	if (s->n >= s->max || s->n >= EVENT_SHAPES_MAX)
		return EVENT_SHAPE_NONE;
	if (s->n == s->cap) {
		if (!grow(s))
			return EVENT_SHAPE_NONE;
		slot = slot_of(s, e);
	}
	if (slot == NULL)
		return EVENT_SHAPE_NONE;
	s->list[s->n] = event_shape_of(e);
	*slot = ++s->n;
	return s->last = (uint16_t)(s->n - 1);
}

void event_shapes_free(struct event_shapes *s)
{
	free(s->list);
	free(s->slots);
	if (s->rows != NULL)
		shared_memory_drop(&s->rows->shared);
	*s = (struct event_shapes){ .max = 0 };
}
