#include "run/read/operands.h"

#include <stdlib.h>

#include "format/registry.h"

bool
operands_want_name(const struct format *from, const char *name)
{
	return format_wants_name(from, name) || format_of_sidecar(from, name) != NULL;
}

static bool
wants_name(void *format, const char *name)
{
	return operands_want_name(format, name);
}

static bool
opens_beside(void *format, const char *name)
{
	return format_opens_beside(format, name);
}

static void
list_operand(struct operand *o, const struct format *format, const char *path)
{
	/* the callback takes a plain pointer; the format is only looked at */
	union {
		const struct format *format;
		void *ctx;
	} from = { .format = format };

	*o = (struct operand){ .path = path, .folder = true };
	if (input_is_folder(path)) {
		input_tree_list(&o->tree, path, wants_name, from.ctx);
	} else if (input_is_archive(path)) {
		o->archive =
		    input_archive_open(path, (struct input_names){ wants_name, opens_beside, from.ctx });
		if (o->archive != NULL)
			input_archive_list(o->archive, &o->tree);
		o->tree.no_memory |= o->archive == NULL;
	} else {
		o->folder = false;
	}
}

bool
operands_init(struct operands *o, const char *const *paths, size_t n, const struct format *from)
{
	*o = (struct operands){ .list = calloc(n, sizeof *o->list), .from = from };
	if (o->list == NULL)
		return false;
	for (; o->n < n; o->n++)
		list_operand(&o->list[o->n], from, paths[o->n]);
	return true;
}

bool
operands_borrow(struct operands *o, const struct operand *list, size_t n, const struct format *from)
{
	*o = (struct operands){ .list = calloc(n, sizeof *o->list), .from = from, .borrowed = true };
	if (o->list == NULL)
		return false;
	memcpy(o->list, list, n * sizeof *list);
	o->n = n;
	return true;
}

void
operands_free(struct operands *o)
{
	for (size_t i = 0; i < o->n && !o->borrowed; i++) {
		input_tree_free(&o->list[i].tree);
		input_archive_close(o->list[i].archive);
	}
	free(o->list);
	*o = (struct operands){ .n = 0 };
}

const struct format *
operands_sidecar(const struct operands *o, const char *path)
{
	const char *const slash = strrchr(path, '/');

	return format_of_sidecar(o->from, slash != NULL ? slash + 1 : path);
}

size_t
operands_count(const struct operands *o)
{
	size_t inputs = 0;

	for (size_t k = 0; k < o->n; k++) {
		const struct operand *const one = &o->list[k];
		inputs += !one->folder;
		for (size_t i = 0; i < one->tree.n; i++)
			inputs += operands_sidecar(o, one->tree.paths[i]) == NULL;
	}
	return inputs;
}
