/* The files below a folder.  The walk is depth-first with a list of folders to be visited instead of
 * recursion, so its depth is not limited.  Folders are identified by a keyed hash of device and inode, as
 * collisions of 64 bits are not expected. */
#define _XOPEN_SOURCE 700 /* realpath */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "input/private.h"

struct walk {
	struct input_tree *tree;
	bool (*wanted)(void *ctx, const char *name);
	void *ctx;
	char **todo; /* folders to be visited */
	uint32_t ntodo, todo_cap;
	bool closed;            /* the current folder can be listed, but not searched */
	struct table64 seen;    /* folders, by a keyed hash of device and inode */
	char *top;              /* path of the folder, without links */
	dev_t dev;              /* file system of the folder */
	char *first_out;        /* first path that is left out */
	size_t nlinks, nmounts; /* numbers left out: links out of the folder, folders on other file systems */
	struct input_passed passed;
};

void input_tree_add_problem(struct input_tree *t, const char *path, enum input_fault fault, const char *text)
{
	char *const copy = strdup(path), *const why = strdup(text);

	if (copy == NULL || why == NULL ||
	    !array_reserve(&t->problems, t->nproblems, &t->problems_cap, sizeof *t->problems)) {
		free(copy);
		free(why);
		t->no_memory = true;
		return;
	}
	t->problems[t->nproblems++] = (struct input_tree_problem){ copy, fault, why };
}

static void add_problem(struct walk *w, const char *path, enum input_fault fault, const char *text)
{
	input_tree_add_problem(w->tree, path, fault, text);
}

/* Returns true at the first call for a folder. */
static bool note_folder(struct walk *w, const struct stat *st)
{
	const uint64_t key = hash_u64(st->st_ino, hash_u64(st->st_dev, hash_seed()));

	if (table64_get(&w->seen, key) != TABLE_NONE)
		return false;
	if (table64_put(&w->seen, key, 1))
		return true;
	w->tree->no_memory = true;
	return false;
}

static void add_todo(struct walk *w, char *path)
{
	if (path != NULL && array_reserve(&w->todo, w->ntodo, &w->todo_cap, sizeof *w->todo)) {
		w->todo[w->ntodo++] = path;
		return;
	}
	free(path);
	w->tree->no_memory = true;
}

/* ---- files that are left out ---- */

/* Whether the name, in lower case, is that of an archive, or of a wanted file that is packed by a program
 * whose files are not unpacked.  Changes the name. */
static bool is_packed(char *lower, bool (*wanted)(void *ctx, const char *name), void *ctx)
{
	static const char *const archives[] = { ".zip", ".7z", ".rar", ".tbz2" };
	static const char *const packers[] = { ".bz2", ".lz4", ".lzma", ".lz", ".z", ".br" };
	char *const suffix = strrchr(lower, '.');

	for (size_t i = 0; suffix != NULL && i < COUNT_OF(archives); i++)
		if (strcmp(suffix, archives[i]) == 0)
			return true;
	for (size_t i = 0; suffix != NULL && i < COUNT_OF(packers); i++)
		if (strcmp(suffix, packers[i]) == 0) {
			*suffix = '\0';
			return input_is_archive(lower) || wanted(ctx, lower);
		}
	return input_is_archive(lower);
}

void input_passed_note(struct input_passed *p, bool (*wanted)(void *ctx, const char *name), void *ctx,
                       const char *path, const char *name)
{
	char lower[256]; /* no file has a longer name */
	const size_t n = strlen(name);
	bool upper = false;

	if (n >= sizeof lower)
		return;
	for (size_t i = 0; i <= n; i++) {
		const bool is_upper = name[i] >= 'A' && name[i] <= 'Z';
		lower[i] = (char)(is_upper ? name[i] - 'A' + 'a' : name[i]);
		upper |= is_upper;
	}
	const bool packed = is_packed(lower, wanted, ctx);
	if (!packed && (!upper || !wanted(ctx, lower)))
		return;
	if (p->packed + p->upper == 0)
		snprintf(p->first, sizeof p->first, "%s", path);
	p->packed += packed;
	p->upper += !packed;
}

void input_passed_report(const struct input_passed *p, struct input_tree *t, const char *path)
{
	char why[500];

	if (p->packed + p->upper == 0)
		return;
	snprintf(why, sizeof why,
	         "left out: archives and files of other packers in it (%zu), files whose suffix is not in "
	         "lower case (%zu); the first is "
	         "%s; name them to read them, unpacked if they are in an archive",
	         p->packed, p->upper, p->first);
	input_tree_add_problem(t, path, INPUT_PASSED, why);
}

/* ---- entries ---- */

static void add_file(struct walk *w, char *path)
{
	struct input_tree *const t = w->tree;

	if (t->n < INPUT_TREE_MAX && array_reserve(&t->paths, t->n, &t->cap, sizeof *t->paths)) {
		t->paths[t->n++] = path;
		return;
	}
	if (t->n >= INPUT_TREE_MAX)
		add_problem(w, path, INPUT_SYSTEM, "is one file too many: at most a million are read");
	else
		t->no_memory = true;
	free(path);
}

static void add_failure(struct walk *w, const char *path, int error)
{
	add_problem(w, path, input_fault_of_errno(error), strerror(error));
}

/* Reports a path that may be a file with a wanted name, or lead to a folder with such files. */
static void add_unreachable(struct walk *w, const char *path, bool wanted, int error)
{
	struct stat st;
	const bool seen = lstat(path, &st) == 0;

	if (!wanted && (seen ? S_ISREG(st.st_mode) : errno == ENOENT || w->closed))
		return; /* an unwanted file, or removed meanwhile, or the folder was reported */
	if (error == ENOENT && seen && S_ISLNK(st.st_mode))
		add_problem(w, path, INPUT_MISSING, "is a link to nowhere");
	else
		add_failure(w, path, error);
}

/* Whether the link, whose target is accessible, leads out of the folder. */
static bool leads_out(struct walk *w, const char *path)
{
	const size_t n = strlen(w->top);
	char *const real = realpath(path, NULL);
	if (real == NULL) {
		add_failure(w, path, errno);
		return true;
	}
	const bool out = strncmp(real, w->top, n) != 0 || (real[n] != '/' && real[n] != '\0' && n > 1);
	free(real);
	return out;
}

/* A link or a mount in a foreign folder must not make other files of the user part of the trace.  *count:
 * nlinks or nmounts. */
static void leave_out(struct walk *w, const char *path, size_t *count)
{
	(*count)++;
	if (w->first_out == NULL)
		w->first_out = strdup(path);
	w->tree->no_memory |= w->first_out == NULL;
}

/* Adds an entry of an open folder; takes over `path`. */
static void visit_entry(struct walk *w, int folder, char *path, const char *name)
{
	struct stat st;
	const bool wanted = w->wanted(w->ctx, name);
	bool seen = fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	const bool is_link = seen && S_ISLNK(st.st_mode);

	if (is_link)
		seen = fstatat(folder, name, &st, 0) == 0;
	if (!seen) {
		add_unreachable(w, path, wanted, errno);
		free(path);
	} else if (is_link && (S_ISDIR(st.st_mode) || (wanted && S_ISREG(st.st_mode))) &&
	           leads_out(w, path)) {
		leave_out(w, path, &w->nlinks);
		free(path);
	} else if (S_ISDIR(st.st_mode) && st.st_dev != w->dev) {
		leave_out(w, path, &w->nmounts);
		free(path);
	} else if (S_ISDIR(st.st_mode)) {
		if (note_folder(w, &st))
			add_todo(w, path);
		else
			free(path);
	} else if (wanted && S_ISREG(st.st_mode)) {
		add_file(w, path);
	} else {
		if (wanted)
			add_problem(w, path, INPUT_NOT_A_FILE, "is not a regular file");
		else if (S_ISREG(st.st_mode))
			input_passed_note(&w->passed, w->wanted, w->ctx, path, name);
		free(path);
	}
}

static int by_path(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Reads the names in a folder, and puts the folder's path before each. */
static size_t read_names(struct walk *w, const char *path, DIR *dir, char ***names)
{
	const size_t n = strlen(path);
	const struct dirent *e;
	uint32_t count = 0, cap = 0;

	while ((errno = 0, e = readdir(dir)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		const size_t size = n + 1 + strlen(e->d_name) + 1;
		char *const full = array_reserve(names, count, &cap, sizeof **names) ? malloc(size) : NULL;
		if (note_failure(&w->tree->no_memory, full == NULL))
			return count;
		snprintf(full, size, "%s%s%s", path, n > 0 && path[n - 1] == '/' ? "" : "/", e->d_name);
		(*names)[count++] = full;
	}
	if (errno != 0)
		add_failure(w, path, errno);
	return count;
}

/* Reports once if a folder cannot be searched: then none of its entries can be examined. */
static void check_search(struct walk *w, int folder, const char *path, size_t entries)
{
	struct stat st;
	char why[100];

	w->closed = entries > 0 && fstatat(folder, ".", &st, 0) != 0 && errno == EACCES;
	if (!w->closed)
		return;
	snprintf(why, sizeof why, "its %zu entr%s cannot be examined (no x permission): %s", entries,
	         entries == 1 ? "y" : "ies", strerror(EACCES));
	add_problem(w, path, INPUT_DENIED, why);
}

/* Reads entries in the order of names, so that always the same one of two paths to a folder is used. */
static void read_folder(struct walk *w, const char *path)
{
	DIR *const dir = opendir(path);
	char **names = NULL;

	if (dir == NULL) {
		add_failure(w, path, errno);
		return;
	}
	const size_t n = read_names(w, path, dir, &names);
	array_sort(names, n, sizeof *names, by_path);
	check_search(w, dirfd(dir), path, n);
	for (size_t i = 0; i < n; i++)
		visit_entry(w, dirfd(dir), names[i], strrchr(names[i], '/') + 1);
	closedir(dir);
	free(names);
}

static int by_problem_path(const void *a, const void *b)
{
	return strcmp(((const struct input_tree_problem *)a)->path,
	              ((const struct input_tree_problem *)b)->path);
}

bool input_is_folder(const char *path)
{
	struct stat st;

	/* A failure is retried: a folder taken for a file would be refused as "a directory". */
	return (stat(path, &st) == 0 || stat(path, &st) == 0) && S_ISDIR(st.st_mode);
}

static void report_left_out(struct walk *w, const char *folder)
{
	char why[500];

	if (w->first_out == NULL)
		return;
	snprintf(why, sizeof why,
	         "left out: links that lead out of the directory (%zu), directories on other file systems "
	         "(%zu); the first is %.300s; name them to read them",
	         w->nlinks, w->nmounts, w->first_out);
	add_problem(w, folder, INPUT_ELSEWHERE, why);
}

void input_tree_list(struct input_tree *t, const char *folder, bool (*wanted)(void *ctx, const char *name),
                     void *ctx)
{
	struct walk w = { .tree = t, .wanted = wanted, .ctx = ctx, .top = realpath(folder, NULL) };
	struct stat st;

	if (w.top == NULL || stat(folder, &st) != 0) {
		add_failure(&w, folder, errno);
	} else if (note_folder(&w, &st)) {
		w.dev = st.st_dev;
		add_todo(&w, strdup(folder));
	}
	while (w.ntodo > 0) {
		char *const path = w.todo[--w.ntodo];
		if (!t->no_memory)
			read_folder(&w, path);
		free(path);
	}
	report_left_out(&w, folder);
	input_passed_report(&w.passed, t, folder);
	free(w.todo);
	table64_free(&w.seen);
	free(w.top);
	free(w.first_out);
	array_sort(t->paths, t->n, sizeof *t->paths, by_path);
	array_sort(t->problems, t->nproblems, sizeof *t->problems, by_problem_path);
}

void input_tree_free(struct input_tree *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->paths[i]);
	for (size_t i = 0; i < t->nproblems; i++) {
		free(t->problems[i].path);
		free(t->problems[i].text);
	}
	free(t->paths);
	free(t->problems);
	*t = (struct input_tree){ .n = 0 };
}
