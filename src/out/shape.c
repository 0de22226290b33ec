/* Adds new shapes.  Memory: within the bounds of the writer, and six pointers a class. */
#include <stdlib.h>

#include "out/shape.h"

bool shapes_declare(struct shapes *s, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nclasses; i++)
		if (!array_reach(&s->classes, &s->nclasses, b->classes[i]->index, sizeof *s->classes))
			return false;
	return true;
}

bool shapes_reserve(struct shapes *s, const struct shapes_bounds *max, uint32_t nfields, uint64_t bytes)
{
	s->full = s->full || s->n >= max->shapes || nfields > max->fields - s->fields ||
	          s->bytes > max->bytes || bytes > max->bytes - s->bytes;
	if (s->full)
		return false;
	s->fields += nfields;
	s->bytes += bytes;
	return true;
}

static const struct shape_member *copy_members(struct shapes *s, const struct shape_key *k)
{
	const uint32_t n = k->e->nfields;
	struct shape_member *const m = arena_zalloc(&s->arena, (size_t)n + 1, sizeof *m);

	for (uint32_t i = 0; m != NULL && i < n; i++) {
		const struct slice name = k->f[i].name;
		m[i] = (struct shape_member){ arena_copy(&s->arena, name),
			                      (name.flags & SLICE_STAYS) != 0 ? name.p : NULL,
			                      k->type(k->ctx, k->f, i) };
		if (m[i].name.p == NULL)
			return NULL;
	}
	return m;
}

struct shape *shapes_add(struct shapes *s, size_t size, struct shape_key k, uint64_t hash)
{
	struct shapes_class *const c = &s->classes[k.e->cls->index];
	struct shape *const new = arena_zalloc(&s->arena, 1, size);
	const struct shape_member *const members = copy_members(s, &k);

	if (new == NULL || members == NULL ||
	    !array_reserve(&s->list, s->n, &s->cap, sizeof(struct shape *)) ||
	    !table64_put(&s->signatures, hash, s->n))
		return NULL;
	*new = (struct shape){ k.e->cls, members, k.e->nfields, s->n, k.kind };
	s->list[s->n++] = new;
	memmove(c->recent + 1, c->recent, sizeof c->recent - sizeof c->recent[0]);
	c->recent[0] = new;
	return new;
}

void shapes_free(struct shapes *s)
{
	arena_free(&s->arena);
	free(s->classes);
	free(s->list);
	table64_free(&s->signatures);
}
