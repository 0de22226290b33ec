/* Inputs whose bytes are in memory; memory_input.h describes them. */
#include "input/test/memory_input.h"

#include <stdlib.h>
#include <string.h>

#include "input/private.h"

/* Bytes shown all at once, or in small portions. */
struct memory {
	struct input_source source;
	const char *bytes;
	size_t n;
	size_t given; /* number of bytes that were in a window */
	size_t step;  /* bytes of a portion; 0: all */
};

static struct input *open_memory(const char *p, size_t n, size_t step);

static void portion_destroy(struct input_buffer *b)
{
	free(b->bytes);
	free(b);
}

/* Allocates a portion of exactly n bytes, so that ASan detects each access outside. */
static struct input_buffer *portion_new(size_t n)
{
	struct input_buffer *b = calloc(1, sizeof *b);

	if (b == NULL)
		return NULL;
	b->bytes = malloc(n > 0 ? n : 1);
	if (b->bytes == NULL) {
		free(b);
		return NULL;
	}
	b->cap = n;
	b->destroy = portion_destroy;
	atomic_init(&b->refs, 1);
	return b;
}

static bool memory_more(struct input *in)
{
	struct memory *m = (struct memory *)in->source;
	const size_t unread = (size_t)(in->end - in->p);
	size_t n = m->n - m->given;
	struct input_buffer *b;

	if (n > m->step)
		n = m->step;
	if (n == 0) {
		in->last = true;
		return false;
	}
	b = portion_new(unread + n);
	if (b == NULL)
		return input_fail(in, INPUT_SYSTEM, "out of memory");
	memcpy(b->bytes, in->p, unread);
	memcpy(b->bytes + unread, m->bytes + m->given, n);
	m->given += n;
	input_show(in, b, b->bytes, b->bytes + unread + n);
	return true;
}

static struct input *memory_reopen(const struct input *in)
{
	const struct memory *m = (const struct memory *)in->source;

	return open_memory(m->bytes, m->n, m->step);
}

static bool memory_shrunk(struct input *in)
{
	(void)in;
	return false;
}

INPUT_SOURCE_OPS(memory, .reopen = memory_reopen);

static struct input *open_memory(const char *p, size_t n, size_t step)
{
	struct input *in = input_new("memory");
	struct memory *m = calloc(1, sizeof *m);

	if (in == NULL || m == NULL) {
		free(in);
		free(m);
		return NULL;
	}
	*m = (struct memory){ .bytes = p, .n = n, .step = step };
	m->source.file_size = n;
	m->source.can_reopen = true;
	in->source = &m->source;
	in->ops = &memory_ops;
	if (n == 0) {
		(void)input_fail(in, INPUT_EMPTY, "is empty");
	} else if (step == 0) {
		in->base = in->p = p;
		in->end = p + n;
		in->last = true;
	} else {
		(void)memory_more(in);
	}
	return in;
}

struct input *input_from_memory(const char *p, size_t n)
{
	return open_memory(p, n, 0);
}

struct input *input_from_memory_slowly(const char *p, size_t n, size_t step)
{
	return open_memory(p, n, step > 0 ? step : 1);
}
