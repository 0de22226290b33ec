/* Operands of the command line as lists of files, and the traces that they form.  Folders and archives are
 * listed once per run, so that all passes read the same files. */
#include "run/read/operands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/os.h"
#include "format/registry.h"

/* ---- trace groups ---- */

/* Grouping the files of one operand, whose groups begin at `first`. */
struct grouping {
	struct trace_groups *all;
	const struct operand *operand;
	uint32_t first;
	struct tabletext index; /* "format path" of traces of several files -> their group */
	struct arena arena;     /* of its keys */
};

static struct trace_group *add_group(struct trace_groups *g, const struct operand *o)
{
	if (!array_reserve(&g->list, g->n, &g->cap, sizeof *g->list))
		return NULL;
	g->list[g->n] = (struct trace_group){
		.operand = { .path = o->path, .folder = o->folder, .archive = o->archive }
	};
	return &g->list[g->n++];
}

static bool add_path(struct trace_group *t, char *path)
{
	struct input_tree *const tree = &t->operand.tree;
	uint32_t n = (uint32_t)tree->n; /* INPUT_TREE_MAX at most */

	if (!array_reserve(&tree->paths, n, &t->cap, sizeof *tree->paths))
		return false;
	tree->paths[tree->n++] = path;
	return true;
}

/* The name of a trace: the folder of its files, or their common prefix and *. */
static char *shared_name(struct slice path, const char *file)
{
	char *const name = malloc((size_t)path.n + 2);

	if (name == NULL)
		return NULL;
	memcpy(name, path.p, path.n);
	snprintf(name + path.n, 2, "%s", file[path.n] == '/' ? "" : "*");
	return name;
}

static struct trace_group *group_of(struct grouping *g, const struct format *format, const char *file)
{
	const struct trace_ops *const ops = format_trace_ops(format);
	const size_t n = ops->common_path_length != NULL ? ops->common_path_length(file) : 0;
	/* the prefix that identifies the trace; empty: the operand */
	const struct slice path = slice_of(file, n > strlen(g->operand->path) ? n : 0);
	const struct slice key = arena_printf(&g->arena, "%s %.*s", format->name, (int)path.n, path.p);
	const uint32_t known = key.p != NULL ? tabletext_get(&g->index, key) : TABLE_NONE;

	if (known != TABLE_NONE)
		return &g->all->list[known];
	if (key.p == NULL || !tabletext_put(&g->index, key, g->all->n))
		return NULL;
	struct trace_group *const t = add_group(g->all, g->operand);
	if (t == NULL || (path.n > 0 && (t->path = shared_name(path, file)) == NULL))
		return NULL;
	t->format = format;
	t->by_prefix = path.n > 0 && file[path.n] != '/';
	return t;
}

static bool add_file(struct grouping *g, char *path)
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

/* Sidecars without inputs belong to an incomplete trace or to other programs: they join the first trace of
 * the folder. */
static bool join_without_input(struct grouping *g)
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

/* A group for problems of a folder, and for a folder without a trace. */
static bool add_problems(struct trace_groups *all, const struct operand *o)
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

static bool add_folder(struct trace_groups *all, const struct operand *o)
{
	struct grouping g = { .all = all, .operand = o };
	bool ok = (o->tree.nproblems == 0 && !o->tree.no_memory && o->tree.n > 0) || add_problems(all, o);

	g.first = all->n;
	for (size_t i = 0; i < o->tree.n && ok; i++)
		ok = add_file(&g, o->tree.paths[i]);
	tabletext_free(&g.index);
	arena_free(&g.arena);
	if (!ok || !join_without_input(&g))
		return false;
	/* a single trace has the name of its folder; several have separate names */
	for (uint32_t i = g.first; i < all->n && all->n - g.first > 1; i++)
		if (all->list[i].path != NULL)
			all->list[i].operand.path = all->list[i].path;
	return true;
}

bool trace_groups_init(struct trace_groups *g, const char *const *paths, size_t n, const struct format *from)
{
	*g = (struct trace_groups){ .n = 0 };
	if (!operands_init(&g->operands, paths, n, from))
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct operand *const o = &g->operands.list[i];
		const uint32_t first = g->n;
		if (!(o->folder ? add_folder(g, o) : add_group(g, o) != NULL))
			return false;
		for (uint32_t k = first; k < g->n; k++)
			g->list[k].number = i;
	}
	return true;
}

void trace_groups_fold(struct trace_groups *g)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n; i++) {
		struct trace_group *const t = &g->list[i];
		if (t->operand.problems_only && i + 1 < g->n) {
			t[1].operand.tree.problems = t->operand.tree.problems;
			t[1].operand.tree.nproblems = t->operand.tree.nproblems;
			t[1].operand.tree.no_memory = t->operand.tree.no_memory;
		} else {
			g->list[n++] = *t;
		}
	}
	g->n = n;
}

const char *trace_group_path(const struct trace_group *t)
{
	const struct operand *const o = &t->operand;
	const bool is_file = t->format == NULL || format_trace_ops(t->format)->sidecars == NULL;

	return o->folder && is_file && o->tree.n == 1 ? o->tree.paths[0] : o->path;
}

void trace_groups_free(struct trace_groups *g)
{
	for (uint32_t i = 0; i < g->n; i++) {
		free(g->list[i].operand.tree.paths);
		free(g->list[i].path);
	}
	free(g->list);
	operands_free(&g->operands);
	*g = (struct trace_groups){ .n = 0 };
}

/* ---- listing ---- */

static bool wants_name(const struct format *format, const char *name)
{
	return format_wants_name(format, name) || format_of_sidecar(format, name) != NULL;
}

struct first_listing {
	const struct format *from;
	bool has_common; /* a file has a common suffix, and is not wanted */
};

static bool opens_auxiliary(void *listing, const char *name)
{
	const struct first_listing *const l = listing;

	return format_opens_auxiliary(l != NULL ? l->from : NULL, name);
}

/* Includes names of formats, so that entries with such a name that cannot be read are reported. */
static bool wants_any_name(void *ctx, const char *name)
{
	return wants_name(ctx, name) || format_wants_common_name(name);
}

/* ---- folders of files whose suffix other programs use, too ---- */

#define NAMED_OTHERS 10 /* names of files that are not traces; further ones are only counted */

/* macOS keeps attributes of a file "a" in a file "._a" where it cannot keep them elsewhere, as in archives.
 */
static bool is_of_attributes(const char *path)
{
	return strncmp(path_name(path), "._", 2) == 0;
}

/* Whether the first bytes of the file are a trace.  unread: the result for a file that cannot be read. */
static bool is_trace(const struct operand *o, const struct format *from, const char *path, bool unread,
                     bool *no_memory)
{
	struct input *const in = input_open_in(NULL, o->archive, path);
	bool found = unread;

	if (in != NULL && in->p < in->end) {
		const struct format *const f =
		    format_probe(slice_of(in->p, (size_t)(in->end - in->p)), in->last, no_memory);
		found = f != NULL &&
		        (from != NULL ? f == from : f->reader->common != NULL || is_of_attributes(path));
	}
	*no_memory |= in == NULL;
	input_close(in);
	return found;
}

const struct format *format_of_input(const struct input *in, bool *no_memory)
{
	const size_t n = (size_t)(in->end - in->p), head = n < FORMAT_PROBED ? n : FORMAT_PROBED;

	/* Formats accept a damaged beginning, so they would accept a member of an archive behind its header.
	 * Texts have no zero bytes. */
	if (input_foreign_archive(in->p, head) != NULL && memchr(in->p, '\0', head) != NULL)
		return NULL;
	return format_probe(slice_of(in->p, head), head == n && in->last, no_memory);
}

const struct format *format_of_content(const char *path)
{
	struct input *const in = path != NULL && input_is_named(path) ? input_open(path) : NULL;
	bool no_memory = false;
	const bool any = in != NULL && (input_need(in, FORMAT_PROBED) || in->p < in->end);
	const struct format *const found = any ? format_of_input(in, &no_memory) : NULL;

	input_close(in);
	return found;
}

/* Removes files that are no traces from the list; one problem names them.  all_names: else only "._a" is
 * looked at. */
static void pass_over_others(struct operand *o, const struct format *from, bool all_names)
{
	struct input_tree *const t = &o->tree;
	const size_t all = t->n, folder = strlen(o->path);
	const size_t skip = o->archive != NULL ? 2 : o->path[folder - 1] != '/'; /* ":/" or "/" */
	char why[1200];
	int at = 0;

	t->n = 0;
	for (size_t i = 0; i < all; i++) {
		char *const path = t->paths[i];
		/* the run reports why a file cannot be read */
		if (t->no_memory || !(all_names || is_of_attributes(path)) ||
		    is_trace(o, from, path, true, &t->no_memory)) {
			t->paths[t->n++] = path;
			continue;
		}
		const size_t n = i - t->n; /* passed over before */
		if (n < NAMED_OTHERS)
			at += snprintf(why + at, sizeof why - (size_t)at, "%s%.100s", n > 0 ? ", " : "",
			               strlen(path) > folder ? path + folder + skip : path);
		free(path);
	}
	if (t->n == all)
		return;
	if (all - t->n > NAMED_OTHERS)
		(void)snprintf(why + at, sizeof why - (size_t)at, " and %zu others",
		               all - t->n - NAMED_OTHERS);
	char text[sizeof why + 64];
	(void)snprintf(text, sizeof text, "skipped, as they are not traces: %s", why);
	input_tree_add_problem(t, o->path, INPUT_NO_TRACE, text);
}

/* Lists the files of a folder or archive. */
static void list_names(struct operand *o, bool (*wanted)(void *ctx, const char *name), void *ctx)
{
	if (input_is_folder(o->path)) {
		input_tree_list(&o->tree, o->path, wanted, ctx);
		return;
	}
	o->archive = input_archive_open(o->path, (struct input_names){ wanted, opens_auxiliary, ctx });
	if (o->archive != NULL)
		input_archive_list(o->archive, &o->tree);
	o->tree.no_memory |= o->archive == NULL;
}

static void free_listing(struct operand *o)
{
	input_tree_free(&o->tree);
	input_archive_close(o->archive);
}

#define LOOKED_AT 32 /* files of common suffixes beside traces of other suffixes */

static bool wants_common_name(void *ctx, const char *name)
{
	return format_wants_common_name(name) && !wants_name(ctx, name);
}

/* Reports traces that are not read, as the folder has traces of other suffixes. */
static void report_beside(struct operand *o)
{
	struct operand common = { .path = o->path };
	const struct input_tree *const t = &common.tree;
	char why[600];
	size_t n = 0, first = 0;

	list_names(&common, wants_common_name, NULL);
	for (size_t i = 0; i < t->n && i < LOOKED_AT; i++) {
		if (!is_trace(&common, NULL, t->paths[i], false, &common.tree.no_memory))
			continue;
		first = n++ == 0 ? i : first;
	}
	if (n > 0) {
		(void)snprintf(why, sizeof why,
		               "left out: traces whose suffix other programs use, too, next to traces of "
		               "other suffixes (%zu%s); "
		               "the first is %.300s; name them, or their format with --from, to read them",
		               n, t->n > LOOKED_AT ? " or more" : "", t->paths[first]);
		input_tree_add_problem(&o->tree, o->path, INPUT_PASSED, why);
	}
	o->tree.no_memory |= t->no_memory;
	free_listing(&common);
}

/* Whether the folder was listed as a whole: a new list would find the same problems. */
static bool is_listed(const struct input_tree *t)
{
	for (uint32_t i = 0; i < t->nproblems; i++) {
		const enum input_fault fault = t->problems[i].fault;
		if (!input_fault_is_warning(fault) && fault != INPUT_NOT_A_FILE && fault != INPUT_MISSING)
			return false;
	}
	return !t->no_memory;
}

/* Lists files of common suffixes if there are no other traces.  any: the folder has such files. */
static void list_common(struct operand *o, const struct format *from, bool any)
{
	if (from == NULL && o->tree.n == 0 && is_listed(&o->tree)) {
		free_listing(o);
		*o = (struct operand){ .path = o->path, .folder = true };
		list_names(o, wants_any_name, NULL);
		pass_over_others(o, NULL, true);
		return;
	}
	pass_over_others(o, from, from != NULL && from->reader != NULL && from->reader->common != NULL);
	if (any && o->tree.n > 0)
		report_beside(o);
}

static bool wants_name_noted(void *ctx, const char *name)
{
	struct first_listing *const l = ctx;
	const bool wanted = wants_name(l->from, name);

	l->has_common |= l->from == NULL && !wanted && format_wants_common_name(name);
	return wanted;
}

static void list_operand(struct operand *o, const struct format *format, const char *path)
{
	struct first_listing l = { .from = format };

	*o = (struct operand){ .path = path, .folder = input_is_folder(path) || input_is_archive(path) };
	if (!o->folder)
		return;
	list_names(o, wants_name_noted, &l);
	list_common(o, format, l.has_common);
}

bool operands_init(struct operands *o, const char *const *paths, size_t n, const struct format *from)
{
	*o = (struct operands){ .list = calloc(n, sizeof *o->list), .from = from };
	if (o->list == NULL)
		return false;
	for (; o->n < n; o->n++)
		list_operand(&o->list[o->n], from, paths[o->n]);
	return true;
}

bool operands_borrow(struct operands *o, const struct operand *list, size_t n, const struct format *from)
{
	*o = (struct operands){ .list = calloc(n, sizeof *o->list), .from = from, .borrowed = true };
	if (o->list == NULL)
		return false;
	memcpy(o->list, list, n * sizeof *list);
	o->n = n;
	return true;
}

void operands_free(struct operands *o)
{
	for (size_t i = 0; i < o->n && !o->borrowed; i++)
		free_listing(&o->list[i]);
	free(o->list);
	*o = (struct operands){ .n = 0 };
}

const struct format *operands_sidecar(const struct operands *o, const char *path)
{
	const char *const slash = strrchr(path, '/');

	return format_of_sidecar(o->from, slash != NULL ? slash + 1 : path);
}

size_t operands_count(const struct operands *o)
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
