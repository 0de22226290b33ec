#ifndef OUT_SHAPE_H
#define OUT_SHAPE_H

#include "base/compiler.h"
#include "base/memory.h"
#include "base/table.h"
#include "format/writer.h"

/*
 * Shapes of events, for formats with schemas: events of one class and kind, whose fields have the same names
 * and types, have one shape.  A class has few shapes, so the recent ones are compared first; the others are
 * found by a keyed hash of class, kind, names and types.  If two shapes have one hash, the second one is
 * never added, and its events are written like those beyond the bounds.
 */

struct shape_member {
	struct slice name; /* as in the trace */
	const char *stays; /* its address there, with SLICE_STAYS; NULL: without */
	uint16_t type;     /* number for the type, given by the writer: see shape_type */
};

/* The first member of a writer's data for a shape. */
struct shape {
	const struct class *cls;
	const struct shape_member *members;
	uint32_t nmembers;
	uint32_t number; /* in order of arrival, from 0 */
	uint16_t kind;   /* number of the kind of event, given by the writer */
};

#define SHAPES_RECENT 6

/* The recent shapes of a class of the trace, the latest first. */
struct shapes_class {
	struct shape *recent[SHAPES_RECENT];
};

/* Zero-initialised; freed by shapes_free(). */
struct shapes {
	struct arena arena;
	struct shapes_class *classes; /* by index of the trace's class */
	uint32_t nclasses;
	struct shape **list; /* by number */
	uint32_t n, cap;
	struct table64 signatures; /* hash -> list[] */
	uint32_t fields;           /* of all shapes; counted up to the bounds, like bytes */
	uint64_t bytes;
	bool full; /* a bound was reached: no shape is added any more */
};

/* Bounds, so that neither the output's schemas nor the memory of their readers grow with the trace. */
struct shapes_bounds {
	uint32_t shapes, fields; /* fields: of all shapes together */
	uint64_t bytes;
};

/* Returns the number for the type of the event's i-th field.  It is inlined into the loops below. */
typedef uint16_t shape_type(const void *ctx, const struct field *f, uint32_t i);

/* An event, and the properties that determine its shape. */
struct shape_key {
	const struct event *e;
	const struct field *f; /* of the event */
	uint16_t kind;
	shape_type *type;
	const void *ctx;
};

INLINE bool shape_is(const struct shape *s, const struct shape_key k)
{
	const struct shape_member *const m = s->members;

	if (s->nmembers != k.e->nfields || s->kind != k.kind)
		return false;
	for (uint32_t i = 0; i < s->nmembers; i++)
		if (((m[i].stays != k.f[i].name.p || m[i].name.n != k.f[i].name.n) &&
		     !slice_equal(m[i].name, k.f[i].name)) ||
		    m[i].type != k.type(k.ctx, k.f, i))
			return false;
	return true;
}

INLINE uint64_t shape_signature(const struct shape_key k)
{
	uint64_t hash = hash_u64((uint64_t)k.e->cls->index << 16 | k.kind, hash_seed());

	for (uint32_t i = 0; i < k.e->nfields; i++)
		hash = hash_bytes(k.f[i].name.p, k.f[i].name.n, hash + k.type(k.ctx, k.f, i));
	return hash;
}

/* Returns the shape of an event, or NULL: it has none.  *addable: it can be added with this hash. */
INLINE struct shape *shapes_find(struct shapes *s, const struct shape_key k, uint64_t *hash, bool *addable)
{
	struct shapes_class *const c = &s->classes[k.e->cls->index];
	struct shape *found;

	*addable = false;
	for (uint32_t i = 0; i < SHAPES_RECENT && (found = c->recent[i]) != NULL; i++)
		if (shape_is(found, k)) {
			c->recent[i] = c->recent[0];
			c->recent[0] = found;
			return found;
		}
	*hash = shape_signature(k);
	const uint32_t number = table64_get(&s->signatures, *hash);
	if (number == TABLE_NONE) {
		*addable = true;
		return NULL;
	}
	found = s->list[number];
	if (found->cls != k.e->cls || !shape_is(found, k))
		return NULL;
	memmove(c->recent + 1, c->recent, sizeof c->recent - sizeof c->recent[0]);
	c->recent[0] = found;
	return found;
}

/* Adds the classes that are new in the batch. */
bool shapes_declare(struct shapes *s, const struct batch *b);

/* Accounts for one more shape.  Returns false, and sets `full`, if that exceeds a bound. */
bool shapes_reserve(struct shapes *s, const struct shapes_bounds *max, uint32_t nfields, uint64_t bytes);

/* Adds the shape of an event, with its own copies of names: `size` zeroed bytes that begin with it. */
struct shape *shapes_add(struct shapes *s, size_t size, struct shape_key k, uint64_t hash);

void shapes_free(struct shapes *s);

#endif
