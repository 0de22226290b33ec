#include "input/input_open.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/textscan.h"
#include "input/input_source.h"

/* What is the same for all sources: faults, the window, who holds which buffer. */

struct input *
input_new(const char *path)
{
	const size_t n = strlen(path) + 1;
	struct input *in = calloc(1, sizeof *in + n);

	if (in == NULL)
		return NULL;
	in->path = memcpy(in + 1, path, n);
	in->p = in->end = in->base = "";
	return in;
}

bool
input_fail(struct input *in, enum input_fault fault, const char *fmt, ...)
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

enum input_fault
input_fault_of_errno(int error)
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

bool
input_fail_errno(struct input *in, const char *what, int error)
{
	char text[128];

	if (strerror_r(error, text, sizeof text) != 0)
		(void)snprintf(text, sizeof text, "error %d", error);
	return input_fail(in, input_fault_of_errno(error), "%s%s", what, text);
}

static void
hold(struct input *in)
{
	struct input_holds *h = in->holds;
	struct input_buffer *b = in->source != NULL ? in->source->current : NULL;

	if (h == NULL || b == NULL)
		return;
	for (size_t i = h->n; i-- > 0;)
		if (h->buffers[i] == b)
			return;
	/* Taken even if it cannot be noted: better never freed than freed under somebody's slices. */
	input_buffer_ref(b);
	if (h->n == h->cap) {
		const size_t cap = h->cap == 0 ? 2 : h->cap * 2;
		struct input_buffer **more = realloc(h->buffers, cap * sizeof *more);

		if (more == NULL) {
			input_fail(in, INPUT_SYSTEM, "out of memory");
			return;
		}
		h->buffers = more;
		h->cap = cap;
	}
	h->buffers[h->n++] = b;
}

void
input_show(struct input *in, struct input_buffer *b, const char *p, const char *end)
{
	struct input_buffer *old = in->source->current;

	in->base_offset = input_offset(in, in->p);
	in->base = in->p = p;
	in->end = end;
	in->source->current = b;
	input_buffer_drop(old);
	hold(in);
}

bool
input_more(struct input *in)
{
	if (in->last || in->ops == NULL) {
		in->last = true;
		return false;
	}
	return in->ops->more(in);
}

bool
input_can_reopen(const struct input *in)
{
	return in->source != NULL && in->source->can_reopen;
}

struct input *
input_reopen(const struct input *in)
{
	return input_can_reopen(in) ? in->ops->reopen(in) : NULL;
}

struct slice
input_name(const struct input *in)
{
	const char *const slash = strrchr(in->path, '/');
	const char *const name = strcmp(in->path, "-") == 0          ? "standard input"
	                         : slash != NULL && slash[1] != '\0' ? slash + 1
	                                                             : in->path;

	return textscan_slice(name, (uint32_t)strlen(name));
}

uint64_t
input_file_size(const struct input *in)
{
	return in->source != NULL ? in->source->file_size : 0;
}

uint64_t
input_drain(struct input *in)
{
	struct input_holds *holds = in->holds;
	uint64_t n = 0;

	in->holds = NULL; /* nobody points into what nobody reads */
	do {
		n += (uint64_t)(in->end - in->p);
		in->p = in->end;
	} while (input_more(in));
	input_hold(in, holds);
	return n;
}

void
input_hold(struct input *in, struct input_holds *holds)
{
	in->holds = holds;
	hold(in);
}

void
input_release(struct input_holds *holds)
{
	for (size_t i = 0; i < holds->n; i++)
		input_buffer_drop(holds->buffers[i]);
	holds->n = 0;
}

void
input_holds_free(struct input_holds *holds)
{
	input_release(holds);
	free(holds->buffers);
	*holds = (struct input_holds){ 0 };
}

uint64_t
input_holds_size(const struct input_holds *holds)
{
	uint64_t n = 0;

	for (size_t i = 0; i < holds->n; i++)
		n += holds->buffers[i]->mapped ? 0 : holds->buffers[i]->cap;
	return n;
}

void
input_keep(struct input *in, size_t bytes)
{
	if (in->ops != NULL && in->ops->keep != NULL)
		in->ops->keep(in, bytes);
}

void
input_behind(struct input *in)
{
	if (in->ops != NULL && in->ops->behind != NULL)
		in->ops->behind(in);
}

bool
input_shrunk(struct input *in)
{
	return in->fault == INPUT_SHRUNK || in->fault == INPUT_CHANGED ||
	       (in->ops != NULL && in->ops->shrunk(in));
}

void
input_close(struct input *in)
{
	if (in == NULL)
		return;
	if (in->source != NULL) {
		input_buffer_drop(in->source->current);
		in->source->current = NULL;
		in->ops->close(in);
	}
	free(in);
}
