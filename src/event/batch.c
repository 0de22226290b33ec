#include "event/batch.h"

#include <stdlib.h>

#include "base/array.h"

void
shared_memory_init(struct shared_memory *m, void (*destroy)(struct shared_memory *))
{
	atomic_init(&m->refs, 1);
	m->destroy = destroy;
}

void
shared_memory_drop(struct shared_memory *m)
{
	if (m != NULL && atomic_fetch_sub_explicit(&m->refs, 1, memory_order_acq_rel) == 1)
		m->destroy(m);
}

bool
batch_hold(struct batch *b, struct shared_memory *m)
{
	if (b->nshared > 0 && b->shared[b->nshared - 1] == m)
		return true;
	if (!array_room(&b->shared, b->nshared, &b->shared_cap, sizeof *b->shared))
		return false;
	atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
	b->shared[b->nshared++] = m;
	return true;
}

/* Whatever its events pointed to. */
static void
let_go(struct batch *b)
{
	while (b->blocks != NULL) {
		struct batch_block *const block = b->blocks;
		b->blocks = block->next;
		free(block);
	}
	while (b->nshared > 0)
		shared_memory_drop(b->shared[--b->nshared]);
	input_release(&b->holds);
}

bool
batch_init(struct batch *b, uint32_t cap, bool with_bytes)
{
	*b = (struct batch){ .cap = cap };
	b->events = calloc(cap, sizeof *b->events);
	b->bytes = with_bytes ? calloc(cap, sizeof *b->bytes) : NULL;
	if (b->events != NULL && (b->bytes != NULL || !with_bytes) && batch_grow_fields(b, cap))
		return true;
	batch_free(b);
	return false;
}

void
batch_free(struct batch *b)
{
	let_go(b);
	free(b->shared);
	input_holds_free(&b->holds);
	arena_free(&b->scratch);
	free(b->events);
	free(b->fields);
	free(b->bytes);
	*b = (struct batch){ .cap = 0 };
}

void
batch_recycle(struct batch *b)
{
	b->n = 0;
	b->nfields = 0;
	arena_reset(&b->scratch);
	let_go(b);
}

bool
batch_grow_fields(struct batch *b, uint32_t n)
{
	uint64_t want = (uint64_t)b->fields_cap * 2 + (b->cap < 64 ? b->cap : 64);
	if (want < (uint64_t)b->nfields + n)
		want = (uint64_t)b->nfields + n;
	if (want > UINT32_MAX)
		return false;
	struct field *p = realloc(b->fields, (size_t)want * sizeof *p);
	if (p == NULL)
		return false;
	b->fields = p;
	b->fields_cap = (uint32_t)want;
	return true;
}
