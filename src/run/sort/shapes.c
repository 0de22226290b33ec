/* Numbers for common properties of events and of fields (all but times, values and copied texts), in hash
 * tables of bounded size; packed events store the number instead. */
#include <stdlib.h>

#include "base/table.h"
#include "run/sort/sorter.h"

/* ---- field shapes ---- */

/* Max probes; further ones get no shape, so the cost is bounded for any input. */
#define MAX_PROBES 16U

static void destroy(struct shared_memory *shared)
{
	struct field_shapes *const s = (struct field_shapes *)shared;

	free(s->slots);
	free(s);
}

struct field_shapes *field_shapes_new(uint32_t max)
{
	uint32_t slots = 2;

	max = max < FIELD_SHAPES_MAX ? max : FIELD_SHAPES_MAX;
	while (slots < 2 * max)
		slots *= 2;
	struct field_shapes *const s = malloc(sizeof *s + max * sizeof s->list[0]);
	uint16_t *const table = calloc(slots, sizeof *table);
	if (s == NULL || table == NULL) {
		free(s);
		free(table);
		return NULL;
	}
	shared_memory_init(&s->shared, destroy);
	s->max = max;
	s->n = 0;
	s->last = 0;
	s->seed = hash_seed();
	s->mask = slots - 1;
	s->slots = table;
	return s;
}

static uint64_t word_at(const char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

static uint64_t half_at(const char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

/* Names of up to 16 bytes in two words, read from both ends. */
static void read_name(struct slice name, uint64_t to[2])
{
	const uint32_t n = name.n;

	to[0] = to[1] = 0;
	if (n >= 8) {
		to[0] = word_at(name.p);
		to[1] = word_at(name.p + n - 8);
	} else if (n >= 4) {
		to[0] = half_at(name.p);
		to[1] = half_at(name.p + n - 4);
	} else if (n > 0) {
		to[0] = (uint64_t)(uint8_t)name.p[0] << 16 | (uint64_t)(uint8_t)name.p[n / 2] << 8 |
		        (uint8_t)name.p[n - 1];
	}
}

static struct field_key key_of(const struct field *f)
{
	const bool stays = (f->name.flags & SLICE_STAYS) != 0;
	struct field_key key = { .rest = (uint64_t)f->name.flags << 32 | (uint64_t)f->value.type << 16 |
		                         (uint64_t)f->value.element << 8 | f->value.flags };

	if (stays) {
		key.name[0] = (uint64_t)(uintptr_t)f->name.p;
		key.name[1] = f->name.n;
	} else {
		key.rest |= (uint64_t)f->name.n << 24;
		read_name(f->name, key.name);
	}
	return key;
}

static uint64_t hash(const struct field_shapes *s, const struct field_key *key)
{
	const unsigned __int128 product =
	    (unsigned __int128)(key->name[0] ^ s->seed) *
	    (key->name[1] ^ key->rest * UINT64_C(0xd6e8feb86659fd93) ^ UINT64_C(0x9e3779b97f4a7c15));

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint16_t add(struct field_shapes *s, const struct field *f, const struct field_key *key)
{
	struct field_shape *const shape = &s->list[s->n++];

	*shape = (struct field_shape){
		.key = *key,
		.field = { f->name,
		           { .type = f->value.type, .flags = f->value.flags, .element = f->value.element } },
	};
	if ((f->name.flags & SLICE_STAYS) == 0) {
		memcpy(shape->text, f->name.p, f->name.n);
		shape->field.name.p = shape->text;
	}
	return (uint16_t)s->n;
}

static inline bool same_key(const struct field_key *a, const struct field_key *b)
{
	return a->name[0] == b->name[0] && a->name[1] == b->name[1] && a->rest == b->rest;
}

static uint16_t look_up(struct field_shapes *s, const struct field *f, const struct field_key *key)
{
	uint64_t at = hash(s, key);

	for (uint32_t probes = 0; probes < MAX_PROBES; probes++, at++) {
		uint16_t *const slot = &s->slots[at & s->mask];
		if (*slot == 0) {
			if (s->n == s->max)
				return FIELD_SHAPE_NONE;
			*slot = add(s, f, key);
		}
		if (same_key(&s->list[*slot - 1].key, key))
			return (uint16_t)(*slot - 1);
	}
	return FIELD_SHAPE_NONE;
}

uint16_t field_shapes_find(struct field_shapes *s, const struct field *f)
{
	if ((f->name.flags & SLICE_STAYS) == 0 && (f->name.n > FIELD_SHAPE_NAME || f->name.p == NULL))
		return FIELD_SHAPE_NONE;
	const struct field_key key = key_of(f);
	const uint16_t likely = s->n > 0 ? s->list[s->last].next : 0;
	if (s->n > 0 && same_key(&s->list[likely].key, &key))
		return s->last = likely;
	const uint16_t found = look_up(s, f, &key);
	if (found != FIELD_SHAPE_NONE) {
		s->list[s->last].next = found;
		s->last = found;
	}
	return found;
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

static uint64_t mix(uint64_t a, uint64_t b)
{
	const unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint32_t hash_event_shapes(const struct event_shapes *s, const struct event *e)
{
	const bool stays = (e->name.flags & SLICE_STAYS) != 0;
	const uint64_t small = (uint64_t)e->nfields << 48 | (uint64_t)e->phase << 40 |
	                       (uint64_t)e->flags << 32 | e->name.flags,
	               name = stays ? (uint64_t)(uintptr_t)e->name.p + e->name.n : e->name.p != NULL;
	uint64_t h = mix((uint64_t)(uintptr_t)e->cls ^ s->seed, small ^ UINT64_C(0x9e3779b97f4a7c15));

	h ^= mix((uint64_t)(uintptr_t)e->track ^ s->seed, name ^ UINT64_C(0xd6e8feb86659fd93));
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
	struct event *const list = realloc(s->list, cap * sizeof *list);

	if (list == NULL)
		return false;
	s->list = list;
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
	if (s->fields != NULL)
		shared_memory_drop(&s->fields->shared);
	*s = (struct event_shapes){ .max = 0 };
}
