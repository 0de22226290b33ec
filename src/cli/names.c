/* _XOPEN_SOURCE: realpath(). */
#define _XOPEN_SOURCE 700

#include "cli/names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/reports.h"
#include "cli/say.h"
#include "format/registry.h"
#include "input/open.h"
#include "output/output.h"
#include "run/read/operands.h"

/* ---- operand names ---- */

enum { MOST_FORMATS = 32 };

/* The formats of the traces in a folder, in the order of the list of formats. */
struct contents {
	bool has[MOST_FORMATS];
	uint32_t nformats, ntraces;
	bool apart; /* traces of several files */
};

static const struct format *format_of_group(const struct trace_group *g, const struct format *from)
{
	const char *const path = trace_group_path(g), *const slash = strrchr(path, '/');

	return g->format != NULL ? g->format
	       : from != NULL    ? from
	                         : format_of_name(slash != NULL ? slash + 1 : path);
}

static struct contents contents_of(const struct trace_groups *g, const struct format *from)
{
	struct contents c = { .ntraces = 0 };

	for (uint32_t i = 0; i < g->n; i++) {
		const struct format *const f = format_of_group(&g->list[i], from);
		if (!g->list[i].holds_input)
			continue;
		c.ntraces++;
		for (size_t k = 0; k < MOST_FORMATS && formats[k] != NULL; k++)
			if (formats[k] == f) {
				c.nformats += !c.has[k];
				c.has[k] = true;
				c.apart |= f->trace != NULL;
			}
	}
	return c;
}

/* Memory that ran out is said when the trace is read. */
static bool is_one_trace(struct options *o, const char *path)
{
	struct trace_groups g;
	struct shown_path shown;
	char names[256] = "";

	const bool listed = trace_groups_init(&g, &path, 1, o->from);
	const struct contents c = contents_of(&g, o->from);
	const bool folder = listed && g.operands.list[0].folder;
	trace_groups_free(&g);
	if (!folder || c.ntraces < 2 || (c.nformats < 2 && !(c.apart && o->cmd->converts)))
		return true;
	for (size_t k = 0; k < MOST_FORMATS && formats[k] != NULL; k++)
		if (c.has[k] && strlen(names) + strlen(formats[k]->name) + 3 < sizeof names)
			sprintf(names + strlen(names), "%s%s", names[0] != '\0' ? ", " : "",
			        formats[k]->name);
	if (c.nformats > 1)
		o->status = options_mistake(o,
		                            "%s holds %" PRIu32 " traces of %" PRIu32
		                            " formats (%s): %s--from FORMAT takes those of one",
		                            show_path(&shown, path), c.ntraces, c.nformats, names,
		                            o->cmd->converts ? "merge joins them; " : "");
	else
		o->status = options_mistake(
		    o, "%s holds %" PRIu32 " traces of format %s: merge joins them, or name one of them",
		    show_path(&shown, path), c.ntraces, names);
	return false;
}

bool names_one_trace(struct options *o, const char *const *in, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (input_is_named(in[i]) && !is_one_trace(o, in[i]))
			return false;
	return true;
}

/* ---- run names ---- */

/* ---- the list ---- */

static void add(struct run_names *n, struct run_name name)
{
	if (name.path == NULL)
		return;
	if (array_room(&n->list, n->n, &n->cap, sizeof *n->list))
		n->list[n->n++] = name;
	else
		n->no_memory = true;
}

void run_names_read(struct run_names *n, const char *role, const char *path)
{
	add(n, (struct run_name){ .role = role, .path = path });
}

void run_names_written(struct run_names *n, const char *role, const char *path)
{
	add(n, (struct run_name){ .role = role, .path = path, .written = true });
}

void run_names_folder(struct run_names *n, const char *role, const char *path)
{
	add(n, (struct run_name){ .role = role, .path = path, .written = true, .folder = true });
}

/* The role of a format's option whose value is the name of a file; NULL: it is none. */
static const char *role_of_option(const char *name)
{
	for (const struct format *const *f = formats; *f != NULL; f++)
		for (const struct format_option *k = (*f)->options; k != NULL && k->name != NULL; k++)
			if (strcmp(k->name, name) == 0 && k->arg != NULL && strcmp(k->arg, "FILE") == 0)
				return k->name;
	return NULL;
}

void run_names_begin(struct run_names *n, struct options *o, const char *const *in, size_t nin)
{
	*n = (struct run_names){ .options = o, .in = in, .nin = nin };
	for (size_t i = 0; i < o->nschemas; i++)
		run_names_read(n, "vocabulary", o->schemas[i].path);
	for (size_t i = 0; i < o->nvalues; i++) {
		const char *const role = role_of_option(o->values[i].name);
		if (role != NULL)
			run_names_read(n, role, o->values[i].value);
	}
	side_reports_names(o, n);
}

/* ---- where a name leads ---- */

struct place {
	int fd;         /* a descriptor that is open already; -1: a path */
	bool is_known;  /* false: nothing can be said, and opening it will fail */
	struct stat st; /* of what it leads to, or of the nearest folder above it that exists */
	char *base;     /* the path of that; NULL: of a descriptor */
	char *rest;     /* what does not exist in that folder: "a/b"; NULL: it exists */
};

static void place_free(struct place *p)
{
	free(p->base);
	free(p->rest);
}

/* Splits a path of something that does not exist into a folder that does and the rest.  false: there is none,
 * or no memory. */
static bool find_base(struct place *p, const char *path)
{
	size_t end = strlen(path), rest = end;

	while (end > 1 && path[end - 1] == '/')
		end--;
	for (size_t n = end; n > 0 && p->rest == NULL;) {
		for (rest = n; rest > 0 && path[rest - 1] != '/'; rest--)
			;
		for (n = rest; n > 1 && path[n - 1] == '/'; n--)
			;
		free(p->base);
		p->base = n > 0 ? strndup(path, n) : strdup(".");
		if (p->base == NULL)
			return false;
		if (stat(p->base, &p->st) == 0)
			p->rest = strndup(path + rest, end - rest);
		else if (rest == n) /* the root, or the current folder */
			return false;
	}
	return p->rest != NULL;
}

/* Where a name leads that is read or written.  false: no memory. */
static bool place_of(struct place *p, const char *path, bool written)
{
	*p = (struct place){ .fd = written ? output_fd_of(path) : input_fd_of(path) };
	if (p->fd >= 0) {
		p->is_known = fstat(p->fd, &p->st) == 0;
		return true;
	}
	if (stat(path, &p->st) == 0) {
		p->is_known = true;
		return (p->base = strdup(path)) != NULL;
	}
	char *const target = path[0] != '\0' ? output_follow_links(path) : NULL;
	if (target == NULL)
		return path[0] == '\0' || errno != ENOMEM;
	p->is_known = find_base(p, target);
	free(target);
	return p->is_known || errno != ENOMEM;
}

static bool is_same_thing(const struct place *a, const struct place *b)
{
	return a->st.st_dev == b->st.st_dev && a->st.st_ino == b->st.st_ino;
}

/* Whether writing to one has to do with the other.  Devices, terminals and what a shell connected the program
 * to may be both. */
static bool is_same(const struct place *w, const struct place *other, bool both_written)
{
	if (w->rest != NULL || other->rest != NULL)
		return w->rest != NULL && other->rest != NULL && is_same_thing(w, other) &&
		       strcmp(w->rest, other->rest) == 0;
	if (w->fd >= 0 && other->fd >= 0 && both_written)
		return w->fd == other->fd;
	if (!is_same_thing(w, other))
		return false;
	return S_ISREG(w->st.st_mode) || S_ISDIR(w->st.st_mode) || S_ISBLK(w->st.st_mode) ||
	       (S_ISFIFO(w->st.st_mode) && w->fd < 0 && other->fd < 0);
}

/* A folder that is written, and what was found of it. */
struct written {
	const struct run_name *name;
	struct place place;
	char *looked; /* the folder that was last found not to lie in it; NULL: none */
};

static bool is_folder(const struct written *w)
{
	return w->place.rest != NULL ? w->name->folder : w->place.fd < 0 && S_ISDIR(w->place.st.st_mode);
}

/* Whether one of the folders that a real path leads through, from the n-th byte on upwards, is the output. */
static bool leads_through(struct written *w, char *path, size_t n)
{
	struct stat st;

	path[n] = '\0';
	if (w->looked != NULL && strcmp(w->looked, path) == 0)
		return false;
	free(w->looked);
	w->looked = strdup(path);
	for (;;) {
		if (stat(n > 0 ? path : "/", &st) == 0 && st.st_dev == w->place.st.st_dev &&
		    st.st_ino == w->place.st.st_ino)
			return true;
		if (n == 0)
			return false;
		while (n > 0 && path[--n] != '/')
			;
		path[n] = '\0';
	}
}

static bool holds(struct written *w, const struct place *other)
{
	if (!is_folder(w) || other->fd >= 0)
		return false;
	if (w->place.rest != NULL) {
		const size_t n = strlen(w->place.rest);
		return other->rest != NULL && is_same_thing(&w->place, other) &&
		       strncmp(other->rest, w->place.rest, n) == 0 && other->rest[n] == '/';
	}
	char *const real = realpath(other->base, NULL);
	if (real == NULL)
		return false;
	const char *const slash = strrchr(real, '/');
	const size_t n = other->rest != NULL ? strlen(real) : slash != NULL ? (size_t)(slash - real) : 0;
	const bool inside = leads_through(w, real, n);
	free(real);
	return inside;
}

/* ---- comparing ---- */

static const char *show_name(struct shown_path *shown, const struct run_name *name)
{
	if (strcmp(name->path, "-") != 0)
		return show_path(shown, name->path);
	return name->written ? "on standard output" : "on standard input";
}

/* false: it was said. */
static bool refuse(struct options *o, const struct run_name *w, const char *verb,
                   const struct run_name *other)
{
	struct shown_path a, b;

	if (w->written && other->written && strcmp(w->role, other->role) == 0 && strcmp(verb, "is") == 0)
		o->status =
		    options_mistake(o, "two %ss go to %s; name a file for each", w->role,
		                    strcmp(w->path, "-") == 0 ? "standard output" : show_path(&a, w->path));
	else
		o->status = options_mistake(o, "the %s %s %s the %s %s; nothing was done", w->role,
		                            show_name(&a, w), verb, other->role, show_name(&b, other));
	return false;
}

/* Compares a name with those that are written.  false after a message. */
static bool check_one(struct run_names *n, struct written *list, uint32_t nwritten,
                      const struct run_name *name)
{
	struct place place;
	bool ok = place_of(&place, name->path, name->written);

	if (!ok)
		options_no_memory(n->options);
	for (uint32_t i = 0; i < nwritten && ok && place.is_known; i++) {
		struct written *const w = &list[i];
		if (!w->place.is_known)
			continue;
		if (is_folder(w) && is_same(&w->place, &place, name->written) && !name->written &&
		    S_ISDIR(place.st.st_mode))
			ok = refuse(n->options, w->name, "holds", name);
		else if (is_same(&w->place, &place, name->written))
			ok = refuse(n->options, w->name, "is", name);
		else if (holds(w, &place))
			ok = refuse(n->options, w->name, "holds", name);
	}
	place_free(&place);
	return ok;
}

static bool wants_name(void *ctx, const char *name)
{
	const struct run_names *const n = ctx;

	return n->all_files || operands_want_name(n->options->from, name);
}

/* What lies in a folder, of which an output may be a file. */
static bool check_inside(struct run_names *n, struct written *list, uint32_t nwritten, const char *path)
{
	struct input_tree tree = { .n = 0 };
	bool ok = true;

	input_tree_list(&tree, path, wants_name, n);
	for (size_t i = 0; i < tree.n && ok; i++)
		ok = check_one(n, list, nwritten,
		               &(struct run_name){ .role = "input", .path = tree.paths[i] });
	input_tree_free(&tree);
	return ok;
}

/* Only what exists can be a file of an input. */
static bool can_be_inside(const struct written *list, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (list[i].place.is_known && list[i].place.rest == NULL &&
		    (S_ISREG(list[i].place.st.st_mode) || S_ISDIR(list[i].place.st.st_mode)))
			return true;
	return false;
}

static bool check_operands(struct run_names *n, struct written *list, uint32_t nwritten)
{
	const bool look_inside = can_be_inside(list, nwritten);
	bool ok = true;

	for (size_t i = 0; i < n->nin && ok; i++) {
		const struct run_name in = { .role = "input", .path = n->in[i] };
		ok = check_one(n, list, nwritten, &in);
		if (ok && look_inside && input_is_folder(in.path))
			ok = check_inside(n, list, nwritten, in.path);
	}
	return ok;
}

static bool check_all(struct run_names *n)
{
	struct written *const list = calloc((size_t)n->n + 1, sizeof *list);
	uint32_t nwritten = 0;
	bool ok = list != NULL && !n->no_memory;

	for (uint32_t i = 0; i < n->n && ok; i++) {
		struct written *const w = &list[nwritten];
		if (!n->list[i].written)
			continue;
		w->name = &n->list[i];
		ok = place_of(&w->place, w->name->path, true);
		nwritten++;
	}
	if (!ok)
		options_no_memory(n->options);
	for (uint32_t i = 0; i < nwritten && ok; i++) {
		ok = check_one(n, list, i, list[i].name);
		for (uint32_t k = i + 1; k < nwritten && ok && list[i].place.is_known; k++)
			if (list[k].place.is_known && holds(&list[k], &list[i].place))
				ok = refuse(n->options, list[k].name, "holds", list[i].name);
	}
	for (uint32_t i = 0; i < n->n && ok && nwritten > 0; i++)
		if (!n->list[i].written)
			ok = check_one(n, list, nwritten, &n->list[i]);
	ok = ok && (nwritten == 0 || check_operands(n, list, nwritten));
	for (uint32_t i = 0; i < nwritten; i++) {
		place_free(&list[i].place);
		free(list[i].looked);
	}
	free(list);
	return ok;
}

/* ---- the names themselves ---- */

static bool reads_standard(const char *path)
{
	struct stat st;

	return input_fd_of(path) == STDIN_FILENO &&
	       !(fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode) && strcmp(path, "-") != 0);
}

static bool check_words(struct run_names *n)
{
	struct options *const o = n->options;
	size_t standard = 0;

	for (size_t i = 0; i < n->nin && o->status == STATUS_CLEAN; i++) {
		standard += reads_standard(n->in[i]);
		if (n->in[i][0] == '\0')
			o->status = options_mistake(o, "the name of input %zu is empty", i + 1);
	}
	for (uint32_t i = 0; i < n->n && o->status == STATUS_CLEAN; i++) {
		standard += !n->list[i].written && reads_standard(n->list[i].path);
		if (n->list[i].path[0] == '\0')
			o->status = options_mistake(o, "the name of the %s is empty", n->list[i].role);
	}
	if (standard > 1 && o->status == STATUS_CLEAN)
		o->status = options_mistake(o, "standard input (-) is named %zu times; it can be read once",
		                            standard);
	return o->status == STATUS_CLEAN;
}

bool run_names_end(struct run_names *n)
{
	const bool ok = check_words(n) && check_all(n);

	free(n->list);
	*n = (struct run_names){ .n = 0 };
	return ok;
}

bool run_names_check(struct options *o, const char *const *in, size_t nin)
{
	struct run_names n;

	run_names_begin(&n, o, in, nin);
	run_names_written(&n, "output", o->output);
	return run_names_end(&n);
}
