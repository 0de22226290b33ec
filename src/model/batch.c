/* Batches: fields, memory shared with other batches, and pools.  A batch is emptied by the thread that fills
 * it next, so that memory returns to the thread that allocated it. */
#include "model/trace_engine.h"

#include <stdlib.h>

#include "base/memory.h"

void shared_memory_init(struct shared_memory *m, void (*destroy)(struct shared_memory *))
{
	atomic_init(&m->refs, 1);
	m->destroy = destroy;
}

void shared_memory_drop(struct shared_memory *m)
{
	if (m != NULL && atomic_fetch_sub_explicit(&m->refs, 1, memory_order_acq_rel) == 1)
		m->destroy(m);
}

bool batch_hold(struct batch *b, struct shared_memory *m)
{
	struct batch_engine *const to = &b->engine;

	if (to->nshared > 0 && to->shared[to->nshared - 1] == m)
		return true;
	if (note_failure(&b->engine.failed,
	                 !array_reserve(&to->shared, to->nshared, &to->shared_cap, sizeof *to->shared)))
		return false;
	atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
	to->shared[to->nshared++] = m;
	return true;
}

/* Releases memory that its events pointed to. */
static void release_memory(struct batch *b)
{
	while (b->engine.blocks != NULL) {
		struct batch_block *const block = b->engine.blocks;
		b->engine.blocks = block->next;
		free(block);
	}
	while (b->engine.nshared > 0)
		shared_memory_drop(b->engine.shared[--b->engine.nshared]);
	input_unpin(&b->pins);
}

bool batch_init(struct batch *b, uint32_t cap, bool with_bytes)
{
	*b = (struct batch){ .cap = cap };
	b->events = calloc(cap, sizeof *b->events);
	b->bytes = with_bytes ? calloc(cap, sizeof *b->bytes) : NULL;
	if (b->events != NULL && (b->bytes != NULL || !with_bytes) && batch_grow_fields(b, cap))
		return true;
	batch_free(b);
	return false;
}

void batch_free(struct batch *b)
{
	release_memory(b);
	free(b->engine.shared);
	input_pins_free(&b->pins);
	arena_free(&b->scratch);
	free(b->events);
	free(b->fields);
	free(b->bytes);
	*b = (struct batch){ .cap = 0 };
}

void batch_recycle(struct batch *b)
{
	b->n = 0;
	b->nfields = 0;
	b->tracks = NULL;
	b->classes = NULL;
	b->ntracks = b->nclasses = 0;
	b->engine.read = 0;
	b->engine.texts = 0;
	b->engine.findings = NULL;
	b->engine.inputs = NULL;
	arena_reset(&b->scratch);
	release_memory(b);
}

bool batch_copy_event(struct batch *to, const struct batch *from, uint32_t i)
{
	struct event *const e = &to->events[to->n];

	*e = from->events[i];
	if (e->nfields > 0) {
		struct field *const fields = batch_fields(to, e->nfields);
		if (fields == NULL)
			return false;
		memcpy(fields, from->fields + e->first_field, e->nfields * sizeof *fields);
		batch_set_fields(to, e, e->nfields);
	}
	if (to->bytes != NULL)
		to->bytes[to->n] = from->bytes[i];
	to->n++;
	return true;
}

/* ---- shared memory ---- */

struct moved_memory {
	struct shared_memory shared;
	struct batch batch; /* only memory */
};

static void free_moved(struct shared_memory *m)
{
	struct moved_memory *const moved = (struct moved_memory *)m;

	batch_free(&moved->batch);
	free(moved);
}

struct shared_memory *batch_share_memory(struct batch *b)
{
	struct moved_memory *const m = calloc(1, sizeof *m);

	if (m == NULL)
		return NULL;
	shared_memory_init(&m->shared, free_moved);
	struct batch_engine *const from = &b->engine;
	m->batch.engine.blocks = from->blocks;
	m->batch.engine.shared = from->shared;
	m->batch.engine.nshared = from->nshared;
	m->batch.engine.shared_cap = from->shared_cap;
	m->batch.pins = b->pins;
	from->blocks = NULL;
	from->shared = NULL;
	from->nshared = from->shared_cap = 0;
	b->pins = (struct input_pins){ .n = 0 };
	arena_move(&m->batch.scratch, &b->scratch);
	return &m->shared;
}

/* ---- pools ---- */

bool batch_pool_init(struct batch_pool *p, uint32_t cap, bool with_bytes)
{
	*p = (struct batch_pool){ .cap = cap, .with_bytes = with_bytes };
	return pthread_mutex_init(&p->lock, NULL) == 0;
}

void batch_pool_free(struct batch_pool *p)
{
	if (p->cap == 0)
		return;
	while (p->idle != NULL) {
		struct batch *const b = p->idle;
		p->idle = b->engine.next;
		batch_free(b);
		free(b);
	}
	pthread_mutex_destroy(&p->lock);
}

struct batch *batch_pool_take(struct batch_pool *p)
{
	pthread_mutex_lock(&p->lock);
	struct batch *b = p->idle;
	if (b != NULL)
		p->idle = b->engine.next;
	pthread_mutex_unlock(&p->lock);
	if (b != NULL) {
		b->engine.next = NULL;
		batch_recycle(b);
		return b;
	}
	b = malloc(sizeof *b);
	if (b == NULL || !batch_init(b, p->cap, p->with_bytes)) {
		free(b);
		return NULL;
	}
	b->engine.pool = p;
	return b;
}

void batch_release(struct batch *b)
{
	if (b == NULL)
		return;
	struct batch_pool *const p = b->engine.pool;
	pthread_mutex_lock(&p->lock);
	b->engine.next = p->idle;
	p->idle = b;
	pthread_mutex_unlock(&p->lock);
}

bool batch_grow_fields(struct batch *b, uint32_t n)
{
	uint64_t want = (uint64_t)b->fields_cap * 2 + (b->cap < 64 ? b->cap : 64);
	if (want < (uint64_t)b->nfields + n)
		want = (uint64_t)b->nfields + n;
	if (note_failure(&b->engine.failed, !array_resize(&b->fields, want, sizeof *b->fields)))
		return false;
	b->fields_cap = (uint32_t)want;
	return true;
}
