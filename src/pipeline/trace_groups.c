#include "pipeline/trace_groups.h"

#include <stdlib.h>

#include "format/registry.h"

/* The groups of the present operand begin at `first`. */
struct grouping {
	struct trace_groups *all;
	const struct operand *operand;
	uint32_t first;
	struct recent {
		const struct format *format;
		uint32_t whole,
		    last; /* 1 + index of the group that the operand names, and of the last other */
	} * recent;       /* formats of several files that were met */
	uint32_t nrecent, recent_cap;
};

static struct trace_group *
add_group(struct trace_groups *g, const struct operand *o)
{
	if (!array_room(&g->list, g->n, &g->cap, sizeof *g->list))
		return NULL;
	g->list[g->n] = (struct trace_group){
		.operand = { .path = o->path, .folder = o->folder, .archive = o->archive }
	};
	return &g->list[g->n++];
}

static bool
add_path(struct trace_group *t, char *path)
{
	struct input_tree *const tree = &t->operand.tree;
	uint32_t n = (uint32_t)tree->n; /* INPUT_TREE_MAX at most */

	if (!array_room(&tree->paths, n, &t->cap, sizeof *tree->paths))
		return false;
	tree->paths[tree->n++] = path;
	return true;
}

/* The part of the path that names its trace; empty: the operand does. */
static struct slice
trace_path(const struct grouping *g, const struct format *format, const char *path)
{
	const struct trace_ops *const ops = format_trace_ops(format);
	const size_t n = ops->trace_path != NULL ? ops->trace_path(path) : 0;

	return slice_of(path, n > strlen(g->operand->path) ? n : 0);
}

/* NULL: no memory. */
static struct recent *
recent_of(struct grouping *g, const struct format *format)
{
	for (uint32_t i = 0; i < g->nrecent; i++)
		if (g->recent[i].format == format)
			return &g->recent[i];
	if (!array_room(&g->recent, g->nrecent, &g->recent_cap, sizeof *g->recent))
		return NULL;
	g->recent[g->nrecent] = (struct recent){ .format = format };
	return &g->recent[g->nrecent++];
}

/* The group of this trace.  Files are sorted by their paths, so those of one trace follow each other, but for
 * files of other formats between them. */
static struct trace_group *
group_of(struct grouping *g, const struct format *format, const char *file)
{
	const struct slice path = trace_path(g, format, file);
	struct recent *const recent = recent_of(g, format);
	uint32_t *const at = recent == NULL ? NULL : path.n == 0 ? &recent->whole : &recent->last;

	if (at == NULL)
		return NULL;
	if (*at > 0 && (path.n == 0 || slice_is(path, g->all->list[*at - 1].path)))
		return &g->all->list[*at - 1];
	struct trace_group *const t = add_group(g->all, g->operand);
	if (t == NULL || (path.n > 0 && (t->path = strndup(path.p, path.n)) == NULL))
		return NULL;
	t->format = format;
	*at = g->all->n;
	return t;
}

static bool
add_file(struct grouping *g, char *path)
{
	const struct operands *const all = &g->all->operands;
	const struct format *const sidecar = operands_sidecar(all, path);
	const char *const slash = strrchr(path, '/');
	const struct format *const format = sidecar != NULL     ? sidecar
	                                    : all->from != NULL ? all->from
	                                                        : format_of_name(slash + 1);
	struct trace_group *const t = format != NULL && format->trace != NULL ? group_of(g, format, path)
	                                                                      : add_group(g->all, g->operand);

	if (t == NULL)
		return false;
	t->holds_input |= sidecar == NULL;
	return add_path(t, path);
}

/* Files without events belong to a trace that lacks its others, or are of other programs: they are looked at
 * with the first trace of the folder. */
static bool
join_without_input(struct grouping *g)
{
	struct trace_groups *const all = g->all;
	uint32_t to = g->first;

	while (to < all->n && !all->list[to].holds_input)
		to++;
	if (to == all->n)
		return true;
	for (uint32_t i = all->n; i > g->first; i--) {
		struct trace_group *const t = &all->list[i - 1];
		if (t->holds_input)
			continue;
		for (size_t k = 0; k < t->operand.tree.n; k++)
			if (!add_path(&all->list[to], t->operand.tree.paths[k]))
				return false;
		free(t->operand.tree.paths);
		free(t->path);
		memmove(t, t + 1, (all->n - i) * sizeof *t);
		all->n--;
		to -= to >= i;
	}
	return true;
}

/* The only trace of a format has the name of the folder; of several each has its own. */
static void
name_groups(const struct grouping *g, const struct format *format)
{
	uint32_t n = 0;

	for (uint32_t i = g->first; i < g->all->n; i++)
		n += g->all->list[i].format == format;
	for (uint32_t i = g->first; i < g->all->n && n > 1; i++) {
		struct trace_group *const t = &g->all->list[i];
		if (t->format == format && t->path != NULL)
			t->operand.path = t->path;
	}
}

/* What stands in the way; a folder without a trace is said to be one. */
static bool
add_problems(struct trace_groups *all, const struct operand *o)
{
	struct trace_group *const t = add_group(all, o);

	if (t == NULL)
		return false;
	t->operand.problems_only = o->tree.n > 0;
	t->operand.tree.problems = o->tree.problems;
	t->operand.tree.nproblems = o->tree.nproblems;
	t->operand.tree.no_memory = o->tree.no_memory;
	return true;
}

static bool
add_folder(struct trace_groups *all, const struct operand *o)
{
	struct grouping g = { .all = all, .operand = o };
	bool ok = (o->tree.nproblems == 0 && !o->tree.no_memory && o->tree.n > 0) || add_problems(all, o);

	g.first = all->n;
	for (size_t i = 0; i < o->tree.n && ok; i++)
		ok = add_file(&g, o->tree.paths[i]);
	free(g.recent);
	if (!ok || !join_without_input(&g))
		return false;
	for (const struct format *const *f = formats; *f != NULL; f++)
		name_groups(&g, *f);
	return true;
}

bool
trace_groups_init(struct trace_groups *g, const char *const *paths, size_t n, const struct format *from)
{
	*g = (struct trace_groups){ .n = 0 };
	if (!operands_init(&g->operands, paths, n, from))
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct operand *const o = &g->operands.list[i];
		if (!(o->folder ? add_folder(g, o) : add_group(g, o) != NULL))
			return false;
	}
	return true;
}

void
trace_groups_free(struct trace_groups *g)
{
	for (uint32_t i = 0; i < g->n; i++) {
		free(g->list[i].operand.tree.paths);
		free(g->list[i].path);
	}
	free(g->list);
	operands_free(&g->operands);
	*g = (struct trace_groups){ .n = 0 };
}
