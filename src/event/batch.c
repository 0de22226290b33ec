#include "event/batch.h"

#include <stdlib.h>

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
	input_release(&b->holds);
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
	input_release(&b->holds);
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
