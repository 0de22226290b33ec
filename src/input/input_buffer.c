#include "input/input_source.h"

#include <pthread.h>
#include <stdlib.h>

/*
 * Buffers are a megabyte and live for a few milliseconds: those that come back
 * are kept for the next window.  Batches may hold them longer than the input
 * exists and give them back from other threads, so the pool is counted too:
 * one reference of its owner and one of every buffer that is out.
 */
enum { MAX_IDLE = 8 };

struct input_pool {
	pthread_mutex_t lock;
	struct input_buffer *idle;
	size_t nidle;
	size_t refs;
	bool closed;
};

struct input_pool *
input_pool_new(void)
{
	struct input_pool *pool = calloc(1, sizeof *pool);

	if (pool == NULL)
		return NULL;
	if (pthread_mutex_init(&pool->lock, NULL) != 0) {
		free(pool);
		return NULL;
	}
	pool->refs = 1;
	return pool;
}

/* Called with the lock, which is given up. */
static void
pool_unref_and_unlock(struct input_pool *pool)
{
	bool gone = --pool->refs == 0;

	pthread_mutex_unlock(&pool->lock);
	if (!gone)
		return;
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

void
input_pool_close(struct input_pool *pool)
{
	if (pool == NULL)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->closed = true;
	while (pool->idle != NULL) {
		struct input_buffer *b = pool->idle;

		pool->idle = b->next;
		free(b);
	}
	pool_unref_and_unlock(pool);
}

static void
pooled_destroy(struct input_buffer *b)
{
	struct input_pool *pool = b->pool;

	pthread_mutex_lock(&pool->lock);
	if (!pool->closed && b->cap == INPUT_BUFFER_SIZE && pool->nidle < MAX_IDLE) {
		b->next = pool->idle;
		pool->idle = b;
		pool->nidle++;
	} else {
		free(b);
	}
	pool_unref_and_unlock(pool);
}

static struct input_buffer *
take_idle(struct input_pool *pool)
{
	struct input_buffer *b = pool->idle;

	if (b != NULL) {
		pool->idle = b->next;
		pool->nidle--;
	}
	return b;
}

struct input_buffer *
input_buffer_new(struct input_pool *pool, size_t cap)
{
	/* The bytes follow the head, on a cache line of their own. */
	const size_t head = (sizeof(struct input_buffer) + 63) / 64 * 64;
	struct input_buffer *b = NULL;

	if (cap < INPUT_BUFFER_SIZE)
		cap = INPUT_BUFFER_SIZE;
	pthread_mutex_lock(&pool->lock);
	if (cap == INPUT_BUFFER_SIZE)
		b = take_idle(pool);
	if (b == NULL && cap <= SIZE_MAX - head && (b = malloc(head + cap)) != NULL)
		*b = (struct input_buffer){ .bytes = (char *)b + head, .cap = cap, .pool = pool };
	if (b != NULL) {
		pool->refs++;
		b->destroy = pooled_destroy;
		b->first = b->len = 0;
		b->next = NULL;
		atomic_init(&b->refs, 1);
	}
	pthread_mutex_unlock(&pool->lock);
	return b;
}

void
input_buffer_ref(struct input_buffer *b)
{
	atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
}

void
input_buffer_drop(struct input_buffer *b)
{
	if (b != NULL && atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) == 1)
		b->destroy(b);
}
