#include "input/input_source.h"

#include <stdlib.h>

/* A plain regular file: the window is the whole mapping. */
enum {
	FORGET_STEP = 8 << 20, /* mapped bytes behind the reader that may stay in memory */
};

struct file {
	struct input_source source;
	struct input_mapping *mapping; /* source.current keeps it alive */
	size_t step;                   /* how much of it may stay in memory behind the reader */
	size_t forgotten;              /* offset up to which pages were given back */
	size_t looked;                 /* offset of the last look at the size */
};

static bool
file_more(struct input *in)
{
	in->last = true;
	return false;
}

static void
file_keep(struct input *in, size_t bytes)
{
	struct file *f = (struct file *)in->source;

	f->step = bytes < FORGET_STEP ? bytes : FORGET_STEP;
}

static struct input *
file_reopen(const struct input *in)
{
	const struct file *f = (const struct file *)in->source;
	struct input *again = input_new(in->path);

	if (again == NULL)
		return NULL;
	again->files = in->files;
	again->again = in->again;
	input_buffer_ref(&f->mapping->buffer);
	(void)input_file_start(again, f->mapping);
	return again;
}

static void
file_behind(struct input *in)
{
	struct file *f = (struct file *)in->source;
	const size_t at = (size_t)(in->p - f->mapping->buffer.bytes);

	if (at < f->forgotten) /* somebody went back */
		f->forgotten = at;
	if (at - f->forgotten < f->step)
		return;
	/* the step before it too: batches that were alive then may have looked there once more */
	input_map_forget(f->mapping, f->forgotten < f->step ? 0 : f->forgotten - f->step, at);
	f->forgotten = at;
}

static bool
file_shrunk(struct input *in)
{
	struct file *f = (struct file *)in->source;
	const size_t at = (size_t)(in->p - f->mapping->buffer.bytes);

	if (!input_map_changed(f->mapping, in, at, &f->looked))
		return false;
	in->fault_offset = input_offset(in, in->p);
	return true;
}

static void
file_close(struct input *in)
{
	free(in->source);
}

INPUT_SOURCE_OPS(file, .behind = file_behind, .keep = file_keep);

bool
input_file_start(struct input *in, struct input_mapping *m)
{
	struct file *f = calloc(1, sizeof *f);

	if (f == NULL) {
		input_buffer_drop(&m->buffer);
		return input_fail(in, INPUT_SYSTEM, "out of memory");
	}
	f->source.file_size = m->buffer.cap;
	f->source.can_reopen = true;
	f->mapping = m;
	f->step = FORGET_STEP;
	in->source = &f->source;
	in->ops = &file_ops;
	input_show(in, &m->buffer, m->buffer.bytes, m->buffer.bytes + m->buffer.cap);
	in->last = true;
	return true;
}
