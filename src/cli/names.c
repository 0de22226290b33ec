#define _XOPEN_SOURCE 700 /* realpath() */

/*
 * Checks of names on the command line, before any file is opened for writing: whether an operand is one
 * trace, and whether an output is another file of the run, or an output folder contains one.  Existing files
 * are the same by device and inode; missing files by the nearest existing folder above them and the rest of
 * the path.  Cost: one stat() for each name, and for each file of an input folder if an output may be in it.
 */

#include "cli/names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/os.h"
#include "cli/reports.h"
#include "cli/say.h"
#include "format/registry.h"
#include "input/open.h"
#include "output/output.h"
#include "run/read/operands.h"

/* ---- operands that are one trace ---- */

enum { MAX_FORMATS = 32 };

/* The formats of the traces in a folder, in the order of the list of formats. */
struct contents {
	bool has[MAX_FORMATS];
	uint32_t nformats, ntraces;
	bool apart; /* in one of the formats a trace is several files: two traces of it are not read as one */
};

static struct contents contents_of(const struct trace_groups *g, const struct format *from)
{
	struct contents c = { .ntraces = 0 };

	for (uint32_t i = 0; i < g->n; i++) {
		const struct trace_group *const one = &g->list[i];
		const struct format *const f = one->format != NULL ? one->format
		                               : from != NULL
		                                   ? from
		                                   : format_of_name(path_name(trace_group_path(one)));
		if (!one->holds_input)
			continue;
		c.ntraces++;
		for (size_t k = 0; k < MAX_FORMATS && formats[k] != NULL; k++)
			if (formats[k] == f) {
				c.nformats += !c.has[k];
				c.has[k] = true;
				c.apart |= f->trace != NULL;
			}
	}
	return c;
}

const struct format *names_format(const char *path)
{
	struct trace_groups g;
	const struct format *format = NULL;

	const bool listed = trace_groups_init(&g, &path, 1, NULL);
	const struct contents c = contents_of(&g, NULL);
	for (size_t k = 0; listed && c.nformats == 1 && k < MAX_FORMATS && formats[k] != NULL; k++)
		if (c.has[k])
			format = formats[k];
	if (listed && c.nformats == 0 && g.n > 0) /* suffixes that many programs use, as .json */
		format = format_of_content(trace_group_path(&g.list[0]));
	trace_groups_free(&g);
	return format;
}

/* OOM is ignored: reading the trace reports it. */
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
	for (size_t k = 0; k < MAX_FORMATS && formats[k] != NULL; k++)
		if (c.has[k] && strlen(names) + strlen(formats[k]->name) + 3 < sizeof names)
			sprintf(names + strlen(names), "%s%s", names[0] != '\0' ? ", " : "",
			        formats[k]->name);
	if (c.nformats > 1)
		return options_mistake(o,
		                       "%s holds %" PRIu32 " traces of %" PRIu32
		                       " formats (%s): %s--from FORMAT takes those of one",
		                       show_path(&shown, path), c.ntraces, c.nformats, names,
		                       o->cmd->converts ? "merge joins them; " : "");
	return options_mistake(
	    o, "%s holds %" PRIu32 " traces of format %s: merge joins them, or name one of them",
	    show_path(&shown, path), c.ntraces, names);
}

bool names_one_trace(struct options *o, const char *const *in, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (input_is_named(in[i]) && !is_one_trace(o, in[i]))
			return false;
	return true;
}

/* ---- the list of names ---- */

static void append_name(struct run_names *n, struct run_name name)
{
	if (name.path == NULL)
		return;
	if (array_reserve(&n->list, n->n, &n->cap, sizeof *n->list))
		n->list[n->n++] = name;
	else
		n->no_memory = true;
}

void run_names_read(struct run_names *n, const char *role, const char *path)
{
	append_name(n, (struct run_name){ .role = role, .path = path });
}

void run_names_written(struct run_names *n, const char *role, const char *path)
{
	append_name(n, (struct run_name){ .role = role, .path = path, .written = true });
}

void run_names_output(struct run_names *n)
{
	run_names_written(n, "output", n->options->output != NULL ? n->options->output : "-");
}

void run_names_folder(struct run_names *n, const char *role, const char *path)
{
	append_name(n, (struct run_name){ .role = role, .path = path, .written = true, .folder = true });
}

/* The role of the value of a format's option, if that is the name of a file; NULL: it is none. */
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
	if (o->side != NULL)
		reports_names(&o->side->reports, n);
}

/* ---- targets of names ---- */

/* Target of a name; freed by target_free(). */
struct target {
	int fd;         /* open descriptor; -1: the target is a path */
	bool is_known;  /* false: it cannot be compared, and opening it will fail */
	struct stat st; /* stat of the file, or of the nearest existing folder above it */
	char *base;     /* path of that file or folder; NULL: a descriptor */
	char *rest;     /* the missing part of the path, "a/b"; NULL: the file exists */
};

static void target_free(struct target *p)
{
	free(p->base);
	free(p->rest);
}

/* Splits the path of a missing file into the nearest existing folder and the rest.  Returns false if there is
 * no such folder, or on OOM. */
static bool find_base(struct target *p, const char *path)
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

static bool resolve(struct target *p, const char *path, bool written)
{
	*p = (struct target){ .fd = written ? output_fd_of(path) : input_fd_of(path) };
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

static bool is_same_inode(const struct target *a, const struct target *b)
{
	return a->st.st_dev == b->st.st_dev && a->st.st_ino == b->st.st_ino;
}

/* Whether writing to w changes the other target.  Devices, terminals and descriptors from the shell may be
 * both input and output. */
static bool is_same(const struct target *w, const struct target *other, bool both_written)
{
	if (w->rest != NULL || other->rest != NULL)
		return w->rest != NULL && other->rest != NULL && is_same_inode(w, other) &&
		       strcmp(w->rest, other->rest) == 0;
	if (w->fd >= 0 && other->fd >= 0 && both_written)
		return w->fd == other->fd;
	if (!is_same_inode(w, other))
		return false;
	return S_ISREG(w->st.st_mode) || S_ISDIR(w->st.st_mode) || S_ISBLK(w->st.st_mode) ||
	       (S_ISFIFO(w->st.st_mode) && w->fd < 0 && other->fd < 0);
}

struct written {
	const struct run_name *name;
	struct target target;
	char *real; /* its real path, if it is an existing folder; NULL: not looked up yet */
};

static bool is_folder(const struct written *w)
{
	return w->target.rest != NULL ? w->name->folder : w->target.fd < 0 && S_ISDIR(w->target.st.st_mode);
}

/* Whether the path b is `a`, or is below `a`. */
static bool is_below(const char *a, const char *b)
{
	const size_t n = strcmp(a, "/") != 0 ? strlen(a) : 0;

	return strncmp(a, b, n) == 0 && (b[n] == '/' || b[n] == '\0');
}

/* Whether w is a folder that contains the other target, or will contain it. */
static bool holds(struct written *w, const struct target *other)
{
	if (!is_folder(w) || other->fd >= 0)
		return false;
	if (w->target.rest != NULL) {
		const size_t n = strlen(w->target.rest);
		return other->rest != NULL && is_same_inode(&w->target, other) &&
		       strncmp(other->rest, w->target.rest, n) == 0 && other->rest[n] == '/';
	}
	if (w->real == NULL)
		w->real = realpath(w->target.base, NULL);
	char *const real = w->real != NULL ? realpath(other->base, NULL) : NULL;
	const bool inside =
	    real != NULL && is_below(w->real, real) && (other->rest != NULL || strcmp(w->real, real) != 0);
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

/* Reports a conflict with the written name w; returns false. */
static bool refuse(struct options *o, const struct run_name *w, const char *verb,
                   const struct run_name *other)
{
	struct shown_path a, b;

	if (other->written && strcmp(w->role, other->role) == 0 && strcmp(verb, "is") == 0)
		return options_mistake(o, "two %ss go to %s; name a file for each", w->role,
		                       strcmp(w->path, "-") == 0 ? "standard output"
		                                                 : show_path(&a, w->path));
	return options_mistake(o, "the %s %s %s the %s %s; nothing was done", w->role, show_name(&a, w), verb,
	                       other->role, show_name(&b, other));
}

/* Compares a name with the first `nwritten` written ones.  Returns false after a message. */
static bool check_one(struct run_names *n, struct written *list, uint32_t nwritten,
                      const struct run_name *name)
{
	struct target target;
	bool ok = resolve(&target, name->path, name->written);

	if (!ok)
		options_no_memory(n->options);
	for (uint32_t i = 0; i < nwritten && ok && target.is_known; i++) {
		struct written *const w = &list[i];
		if (!w->target.is_known)
			continue;
		const bool same = is_same(&w->target, &target, name->written);
		const bool is_read_folder = is_folder(w) && !name->written && S_ISDIR(target.st.st_mode);
		if (same || holds(w, &target))
			ok = refuse(n->options, w->name, same && !is_read_folder ? "is" : "holds", name);
	}
	target_free(&target);
	return ok;
}

static bool wants_all(void *ctx, const char *name)
{
	(void)ctx;
	(void)name;
	return true;
}

static bool check_tree(struct run_names *n, struct written *list, uint32_t nwritten,
                       const struct input_tree *tree)
{
	bool ok = true;

	for (size_t i = 0; i < tree->n && ok; i++)
		ok = check_one(n, list, nwritten,
		               &(struct run_name){ .role = "input", .path = tree->paths[i] });
	return ok;
}

/* Compares the files of an input folder that the run reads; an output may be one of them.  listed: the folder
 * in n->listed, or NULL. */
static bool check_inside(struct run_names *n, struct written *list, uint32_t nwritten, const char *path,
                         const struct operand *listed)
{
	struct input_tree tree = { .n = 0 };
	struct operands o;
	bool ok;

	if (listed != NULL)
		return check_tree(n, list, nwritten, &listed->tree);
	if (n->all_files) {
		input_tree_list(&tree, path, wants_all, NULL);
		ok = check_tree(n, list, nwritten, &tree);
		input_tree_free(&tree);
		return ok;
	}
	ok = operands_init(&o, &path, 1, n->options->from) ? check_tree(n, list, nwritten, &o.list[0].tree)
	                                                   : options_no_memory(n->options);
	operands_free(&o);
	return ok;
}

/* Only an existing file can be a file of an input. */
static bool can_be_inside(const struct written *list, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (list[i].target.is_known && list[i].target.rest == NULL &&
		    (S_ISREG(list[i].target.st.st_mode) || S_ISDIR(list[i].target.st.st_mode)))
			return true;
	return false;
}

/* Compares a name that is read, and the files in a folder of that name. */
static bool check_read(struct run_names *n, struct written *list, uint32_t nwritten,
                       const struct run_name *in, const struct operand *listed)
{
	return check_one(n, list, nwritten, in) &&
	       (!can_be_inside(list, nwritten) || !input_is_folder(in->path) ||
	        check_inside(n, list, nwritten, in->path, listed));
}

/* Whether a reader of this input, a file or a folder, may open the existing output `real`, although it is
 * in no list: metadata of a stream, a table for all streams. */
static bool reads_too(const struct run_names *n, const struct run_name *in, const char *real)
{
	const bool folder = input_is_folder(in->path);
	const struct slice above = folder ? slice_str(in->path) : path_folder(in->path);
	const struct format *const stated = n->options->from;
	const struct format *const from = stated != NULL || folder ? stated : format_of_name(in->path);
	const char *const name = path_name(real);

	if ((!folder && (from == NULL || !input_is_named(in->path))) ||
	    (format_of_sidecar(from, name) == NULL && !format_opens_auxiliary(from, name)))
		return false;
	char *const path = strndup(above.p, above.n);
	char *const top = path != NULL ? realpath(path, NULL) : NULL;
	const bool inside =
	    top != NULL && is_below(top, real) && (folder || strchr(real + strlen(top) + 1, '/') == NULL);
	free(path);
	free(top);
	return inside;
}

static bool check_beside(struct run_names *n, const struct written *list, uint32_t nwritten,
                         const struct run_name *in)
{
	bool ok = true;

	for (uint32_t i = 0; i < nwritten && ok; i++) {
		const struct target *const t = &list[i].target;
		char *const real = t->rest == NULL && t->base != NULL ? realpath(t->base, NULL) : NULL;
		if (real != NULL && S_ISREG(t->st.st_mode) && reads_too(n, in, real))
			ok = refuse(n->options, list[i].name, "is a file of", in);
		free(real);
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
		ok = resolve(&w->target, w->name->path, true);
		nwritten++;
	}
	if (!ok)
		options_no_memory(n->options);
	for (uint32_t i = 0; i < nwritten && ok; i++) {
		ok = check_one(n, list, i, list[i].name);
		for (uint32_t k = i + 1; k < nwritten && ok && list[i].target.is_known; k++)
			if (list[k].target.is_known && holds(&list[k], &list[i].target))
				ok = refuse(n->options, list[k].name, "holds", list[i].name);
	}
	for (uint32_t i = 0; i < n->n && ok && nwritten > 0; i++)
		ok = n->list[i].written || check_read(n, list, nwritten, &n->list[i], NULL);
	for (size_t i = 0; i < n->nin && ok && nwritten > 0; i++) {
		const struct run_name in = { .role = "input", .path = n->in[i] };
		ok = check_read(n, list, nwritten, &in, n->listed != NULL ? &n->listed->list[i] : NULL) &&
		     check_beside(n, list, nwritten, &in);
	}
	for (uint32_t i = 0; i < nwritten; i++) {
		target_free(&list[i].target);
		free(list[i].real);
	}
	free(list);
	return ok;
}

/* ---- names that are mistakes on their own ---- */

static bool reads_standard(const char *path)
{
	struct stat st;

	return input_fd_of(path) == STDIN_FILENO &&
	       !(fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode) && strcmp(path, "-") != 0);
}

static bool check_spelling(struct run_names *n)
{
	struct options *const o = n->options;
	size_t standard = 0;

	for (size_t i = 0; i < n->nin; i++) {
		standard += reads_standard(n->in[i]);
		if (n->in[i][0] == '\0')
			return options_mistake(o, "the name of input %zu is empty", i + 1);
	}
	for (uint32_t i = 0; i < n->n; i++) {
		standard += !n->list[i].written && reads_standard(n->list[i].path);
		if (n->list[i].path[0] == '\0')
			return options_mistake(o, "the name of the %s is empty", n->list[i].role);
	}
	return standard <= 1 ||
	       options_mistake(o, "standard input (-) is named %zu times; it can be read only once",
	                       standard);
}

bool run_names_end(struct run_names *n)
{
	const bool ok = check_spelling(n) && check_all(n);

	free(n->list);
	*n = (struct run_names){ .n = 0 };
	return ok;
}

bool run_names_check(struct options *o, const char *const *in, size_t nin)
{
	struct run_names n;

	run_names_begin(&n, o, in, nin);
	run_names_output(&n);
	return run_names_end(&n);
}
