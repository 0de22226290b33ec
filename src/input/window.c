/* Parts common to all sources: faults, the window, its buffers and their references. */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scan.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "input/private.h"

/* ---- buffers ---- */

/* Buffers of a megabyte live for a few milliseconds, so some dropped ones are kept for the next window.
 * Batches may hold buffers longer than the input exists and drop them on other threads, so the pool has
 * references too: one of its owner and one of each buffer in use. */
enum { MAX_IDLE = 8 };

struct input_pool {
	pthread_mutex_t lock;
	struct input_buffer *idle;
	size_t nidle;
	size_t refs;
	bool closed;
};

struct input_pool *input_pool_new(void)
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

/* Called with the lock, which is released. */
static void drop_pool(struct input_pool *pool)
{
	const bool last = --pool->refs == 0;

	pthread_mutex_unlock(&pool->lock);
	if (!last)
		return;
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

void input_pool_close(struct input_pool *pool)
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
	drop_pool(pool);
}

static void pooled_destroy(struct input_buffer *b)
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
	drop_pool(pool);
}

static struct input_buffer *pop_idle(struct input_pool *pool)
{
	struct input_buffer *b = pool->idle;

	if (b != NULL) {
		pool->idle = b->next;
		pool->nidle--;
	}
	return b;
}

struct input_buffer *input_buffer_new(struct input_pool *pool, size_t cap)
{
	/* The bytes follow the struct, beginning at a cache line. */
	const size_t head = (sizeof(struct input_buffer) + 63) / 64 * 64;
	struct input_buffer *b = NULL;

	if (cap < INPUT_BUFFER_SIZE)
		cap = INPUT_BUFFER_SIZE;
	pthread_mutex_lock(&pool->lock);
	if (cap == INPUT_BUFFER_SIZE)
		b = pop_idle(pool);
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

void input_buffer_ref(struct input_buffer *b)
{
	atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
}

void input_buffer_drop(struct input_buffer *b)
{
	if (b != NULL && atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) == 1)
		b->destroy(b);
}

/* ---- faults ---- */

struct input *input_new(const char *path)
{
	const size_t n = strlen(path) + 1;
	struct input *in = calloc(1, sizeof *in + n);

	if (in == NULL)
		return NULL;
	in->path = memcpy(in + 1, path, n);
	in->p = in->end = in->base = "";
	return in;
}

bool input_fail(struct input *in, enum input_fault fault, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(in->fault_text, sizeof in->fault_text, fmt, ap);
	va_end(ap);
	in->fault = fault;
	in->fault_offset = input_offset(in, in->end);
	in->last = true;
	return false;
}

enum input_fault input_fault_of_errno(int error)
{
	switch (error) {
	case ENOENT:
	case ENOTDIR:
	case ELOOP:
		return INPUT_MISSING;
	case EACCES:
	case EPERM:
		return INPUT_DENIED;
	case EISDIR:
		return INPUT_NOT_A_FILE;
	default:
		return INPUT_SYSTEM;
	}
}

bool input_fail_errno(struct input *in, const char *what, int error)
{
	char text[128];

	errno_text(text, sizeof text, error);
	return input_fail(in, input_fault_of_errno(error), "%s%s", what, text);
}

/* ---- the window ---- */

/* Adds the current buffer to in->pins. */
static void hold_current(struct input *in)
{
	struct input_pins *h = in->pins;
	struct input_buffer *b = in->source != NULL ? in->source->current : NULL;

	if (h == NULL || b == NULL)
		return;
	for (size_t i = h->n; i-- > 0;)
		if (h->buffers[i] == b)
			return;
	/* Referenced even if it cannot be stored in the list: a leak is better than a free while slices point
	 * into it. */
	input_buffer_ref(b);
	if (array_reserve(&h->buffers, h->n, &h->cap, sizeof *h->buffers))
		h->buffers[h->n++] = b;
	else
		input_fail(in, INPUT_SYSTEM, "out of memory");
}

/* Removes the last pin, of a buffer without consumed bytes, as the window grows for a long record. */
static void unpin_unread(struct input *in, struct input_buffer *b)
{
	struct input_pins *const h = in->pins;

	if (h == NULL || h->n == 0 || b == NULL || b->mapped || in->p != b->bytes ||
	    h->buffers[h->n - 1] != b)
		return;
	h->n--;
	input_buffer_drop(b);
}

void input_show(struct input *in, struct input_buffer *b, const char *p, const char *end)
{
	struct input_buffer *old = in->source->current;

	if (old != b)
		unpin_unread(in, old);
	in->base_offset = input_offset(in, in->p);
	in->base = in->p = p;
	in->end = end;
	in->source->current = b;
	input_buffer_drop(old);
	hold_current(in);
}

bool input_widen(struct input *in, struct input_pool *pool, const char *more, size_t n)
{
	const size_t unread = (size_t)(in->end - in->p);
	struct input_buffer *const b =
	    unread <= SIZE_MAX / 4 ? input_buffer_new(pool, (unread + n) * 2) : NULL;

	if (b == NULL)
		return input_fail(in, INPUT_SYSTEM, "out of memory (%zu bytes are waiting to be read)",
		                  unread);
	memcpy(b->bytes, in->p, unread);
	if (n > 0)
		memcpy(b->bytes + unread, more, n);
	input_show(in, b, b->bytes, b->bytes + unread + n);
	return true;
}

bool input_more(struct input *in)
{
	if (in->last || in->ops == NULL) {
		in->last = true;
		return false;
	}
	return in->ops->more(in);
}

bool input_can_reopen(const struct input *in)
{
	return in->source != NULL && in->source->can_reopen;
}

struct slice input_name(const struct input *in)
{
	const char *const slash = strrchr(in->path, '/');
	const char *const name = strcmp(in->path, "-") == 0          ? "standard input"
	                         : slash != NULL && slash[1] != '\0' ? slash + 1
	                                                             : in->path;

	return textscan_slice(name, (uint32_t)strlen(name));
}

uint64_t input_file_size(const struct input *in)
{
	return in->source != NULL ? in->source->file_size : 0;
}

uint64_t input_drain(struct input *in)
{
	struct input_pins *pins = in->pins;
	uint64_t n = 0;

	in->pins = NULL; /* no slice points into bytes that are skipped */
	do {
		n += (uint64_t)(in->end - in->p);
		in->p = in->end;
	} while (input_more(in));
	input_pin(in, pins);
	return n;
}

void input_pin(struct input *in, struct input_pins *pins)
{
	in->pins = pins;
	hold_current(in);
}

void input_unpin(struct input_pins *pins)
{
	for (size_t i = 0; i < pins->n; i++)
		input_buffer_drop(pins->buffers[i]);
	pins->n = 0;
}

void input_pins_free(struct input_pins *pins)
{
	input_unpin(pins);
	free(pins->buffers);
	*pins = (struct input_pins){ 0 };
}

uint64_t input_pins_size(const struct input_pins *pins)
{
	uint64_t n = 0;

	for (size_t i = 0; i < pins->n; i++)
		n += pins->buffers[i]->mapped ? 0 : pins->buffers[i]->cap;
	return n;
}

void input_keep(struct input *in, size_t bytes)
{
	if (in->ops != NULL && in->ops->keep != NULL)
		in->ops->keep(in, bytes);
}

void input_release_read(struct input *in)
{
	if (in->ops != NULL && in->ops->release_read != NULL)
		in->ops->release_read(in);
}

bool input_shrunk(struct input *in)
{
	return in->fault == INPUT_SHRUNK || in->fault == INPUT_CHANGED ||
	       (in->ops != NULL && in->ops->shrunk(in));
}

void input_close(struct input *in)
{
	if (in == NULL)
		return;
	if (in->source != NULL) {
		input_buffer_drop(in->source->current);
		in->source->current = NULL;
		if (in->ops->close != NULL)
			in->ops->close(in);
		else
			free(in->source);
	}
	free(in);
}
