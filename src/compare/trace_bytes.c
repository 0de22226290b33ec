#include "compare/trace_bytes.h"

#include <string.h>

#include "input/input_open.h"
#include "run/read/operands.h"

/* Whether the input was read to its end, and all of that was there. */
static bool
is_complete(struct input *in)
{
	return in->p == in->end && in->last && in->fault == INPUT_OK && !input_shrunk(in);
}

/* Passes what both windows have, if it is the same. */
static bool
pass_same(struct input *a, struct input *b)
{
	const size_t left_a = (size_t)(a->end - a->p), left_b = (size_t)(b->end - b->p),
	             n = left_a < left_b ? left_a : left_b;

	if (memcmp(a->p, b->p, n) != 0)
		return false;
	a->p += n;
	b->p += n;
	input_behind(a);
	input_behind(b);
	return true;
}

static bool
windows_same(struct input *a, struct input *b)
{
	while (input_need(a, 1) && input_need(b, 1))
		if (!pass_same(a, b))
			return false;
	(void)input_need(b, 1); /* nothing may follow in it either */
	return is_complete(a) && is_complete(b);
}

static bool
files_same(struct input_files *files, const struct operand *a, const char *path_a, const struct operand *b,
           const char *path_b)
{
	struct input *const in_a = input_open_in(files, a->archive, path_a), *const in_b = input_open_in(
	                                                                         NULL, b->archive, path_b);
	const bool same = in_a != NULL && in_b != NULL && windows_same(in_a, in_b);

	input_close(in_a);
	input_close(in_b);
	return same;
}

/* The way to a file from its operand: "DIR/a", "run.tar:/a". */
static const char *
way_to(const struct operand *o, const char *path)
{
	const char *way = path + strlen(o->path);

	while (*way == '/' || *way == ':')
		way++;
	return way;
}

static bool
is_listed(const struct operand *o)
{
	return o->tree.nproblems == 0 && !o->tree.no_memory;
}

/* Both lists are sorted. */
static bool
folders_same(struct input_files *files, const struct operand *a, const struct operand *b)
{
	if (a->tree.n != b->tree.n)
		return false;
	for (size_t i = 0; i < a->tree.n; i++)
		if (strcmp(way_to(a, a->tree.paths[i]), way_to(b, b->tree.paths[i])) != 0 ||
		    !files_same(files, a, a->tree.paths[i], b, b->tree.paths[i]))
			return false;
	return true;
}

static bool
operands_same(struct input_files *files, const struct operand *a, const struct operand *b)
{
	if (!is_listed(a) || !is_listed(b))
		return false;
	if (a->folder && b->folder)
		return folders_same(files, a, b);
	if (a->folder || (b->folder && b->tree.n != 1))
		return false;
	return files_same(files, a, a->path, b, b->folder ? b->tree.paths[0] : b->path);
}

bool
trace_bytes_same(const char *a, const char *b, const struct format *of, struct input_files *files)
{
	const char *const paths[] = { a, b };
	struct operands o;

	if (!operands_init(&o, paths, 2, of))
		return false;
	const bool same = operands_same(files, &o.list[0], &o.list[1]);
	operands_free(&o);
	return same;
}
