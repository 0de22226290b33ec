#define _XOPEN_SOURCE 700 /* realpath */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "input/open.h"
#include "input/private.h"

/* ---- input tree ---- */

/* A folder still to be looked into; they are a list, not recursion, so depth costs nothing. */
struct folder {
	char *path;
};

struct seen {
	dev_t dev;
	ino_t ino;
};

struct walk {
	struct input_tree *tree;
	bool (*wanted)(void *ctx, const char *name);
	void *ctx;
	struct folder *todo;
	size_t ntodo, todo_cap;
	bool closed;       /* the present folder can be listed, but not searched */
	struct seen *seen; /* open addressing; ino 0 is no folder */
	size_t nseen, seen_cap;
	char *top;              /* the folder, without links */
	dev_t dev;              /* its file system */
	char *first_out;        /* the first that leads out of the folder, or to another file system ... */
	size_t nlinks, nmounts; /* ... and how many there are of both */
};

/* Makes room for one more in an array; false: no memory. */
static bool room(void *array, size_t n, size_t *cap, size_t size)
{
	void **const at = array;

	if (n < *cap)
		return true;
	const size_t want = *cap == 0 ? 16 : *cap * 2;
	void *const p = realloc(*at, want * size);
	if (p == NULL)
		return false;
	*at = p;
	*cap = want;
	return true;
}

void input_tree_add_problem(struct input_tree *t, const char *path, enum input_fault fault, const char *text)
{
	char *const copy = strdup(path), *const why = strdup(text);

	if (copy == NULL || why == NULL ||
	    !room(&t->problems, t->nproblems, &t->problems_cap, sizeof *t->problems)) {
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

static size_t slot_of(const struct walk *w, dev_t dev, ino_t ino)
{
	size_t i = ((size_t)ino * 0x9e3779b97f4a7c15U ^ (size_t)dev) % w->seen_cap;

	while (w->seen[i].ino != 0 && (w->seen[i].ino != ino || w->seen[i].dev != dev))
		i = (i + 1) % w->seen_cap;
	return i;
}

static bool grow_seen(struct walk *w)
{
	struct seen *const old = w->seen;
	const size_t n = w->seen_cap;

	w->seen_cap = n == 0 ? 64 : n * 2;
	w->seen = calloc(w->seen_cap, sizeof *w->seen);
	if (w->seen == NULL) {
		w->seen = old;
		w->seen_cap = n;
		return false;
	}
	for (size_t i = 0; i < n; i++)
		if (old[i].ino != 0)
			w->seen[slot_of(w, old[i].dev, old[i].ino)] = old[i];
	free(old);
	return true;
}

/* True the first time this folder is met. */
static bool is_new(struct walk *w, const struct stat *st)
{
	if (w->nseen * 2 >= w->seen_cap && !grow_seen(w)) {
		w->tree->no_memory = true;
		return false;
	}
	const size_t i = slot_of(w, st->st_dev, st->st_ino);
	if (w->seen[i].ino != 0)
		return false;
	w->seen[i] = (struct seen){ st->st_dev, st->st_ino };
	w->nseen++;
	return true;
}

static void add_todo(struct walk *w, char *path)
{
	if (path != NULL && room(&w->todo, w->ntodo, &w->todo_cap, sizeof *w->todo)) {
		w->todo[w->ntodo++] = (struct folder){ path };
		return;
	}
	free(path);
	w->tree->no_memory = true;
}

static void add_file(struct walk *w, char *path)
{
	struct input_tree *const t = w->tree;

	if (t->n < INPUT_TREE_MAX && room(&t->paths, t->n, &t->cap, sizeof *t->paths)) {
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

/* It may be a file with a wanted name, or lead to a folder with some in it; what is known to be neither is
 * not missed. */
static void add_unreachable(struct walk *w, const char *path, bool wanted, int error)
{
	struct stat st;
	const bool seen = lstat(path, &st) == 0;

	if (!wanted && (seen ? S_ISREG(st.st_mode) : errno == ENOENT || w->closed))
		return; /* or it was removed meanwhile, or the folder's problem was told */
	if (error == ENOENT && seen && S_ISLNK(st.st_mode))
		add_problem(w, path, INPUT_MISSING, "is a link to nowhere");
	else
		add_failure(w, path, error);
}

/* Whether the path, which can be reached, is a link that leads out of the folder. */
static bool leads_out(struct walk *w, const char *path)
{
	struct stat st;
	const size_t n = strlen(w->top);

	if (lstat(path, &st) != 0 || !S_ISLNK(st.st_mode))
		return false;
	char *const real = realpath(path, NULL);
	if (real == NULL) {
		add_failure(w, path, errno);
		return true;
	}
	const bool out = strncmp(real, w->top, n) != 0 || (real[n] != '/' && real[n] != '\0' && n > 1);
	free(real);
	return out;
}

/* Files of other places are not read because of a name in a folder: who wants them names them.  *count: of
 * their kind. */
static void leave_out(struct walk *w, const char *path, size_t *count)
{
	(*count)++;
	if (w->first_out == NULL)
		w->first_out = strdup(path);
	w->tree->no_memory |= w->first_out == NULL;
}

/* One entry of a folder; takes over `path`. */
static void visit(struct walk *w, char *path, const char *name)
{
	struct stat st;
	const bool wanted = w->wanted(w->ctx, name);

	if (stat(path, &st) != 0) {
		add_unreachable(w, path, wanted, errno);
		free(path);
	} else if ((S_ISDIR(st.st_mode) || (wanted && S_ISREG(st.st_mode))) && leads_out(w, path)) {
		leave_out(w, path, &w->nlinks);
		free(path);
	} else if (S_ISDIR(st.st_mode) && st.st_dev != w->dev) {
		leave_out(w, path, &w->nmounts);
		free(path);
	} else if (S_ISDIR(st.st_mode)) {
		if (is_new(w, &st))
			add_todo(w, path);
		else
			free(path);
	} else if (wanted && S_ISREG(st.st_mode)) {
		add_file(w, path);
	} else {
		if (wanted)
			add_problem(w, path, INPUT_NOT_A_FILE, "is not a regular file");
		free(path);
	}
}

static int by_path(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in a folder, each with the folder's path before it. */
static size_t read_names(struct walk *w, const char *path, DIR *dir, char ***names)
{
	const size_t n = strlen(path);
	const struct dirent *e;
	size_t count = 0, cap = 0;

	while ((errno = 0, e = readdir(dir)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		const size_t size = n + 1 + strlen(e->d_name) + 1;
		char *const full = room(names, count, &cap, sizeof **names) ? malloc(size) : NULL;
		if (full == NULL) {
			w->tree->no_memory = true;
			return count;
		}
		snprintf(full, size, "%s%s%s", path, n > 0 && path[n - 1] == '/' ? "" : "/", e->d_name);
		(*names)[count++] = full;
	}
	if (errno != 0)
		add_failure(w, path, errno);
	return count;
}

/* Without the permission to search, nothing in a folder can be looked at: that is told once. */
static void check_search(struct walk *w, const char *path, size_t entries)
{
	const size_t size = strlen(path) + 3;
	char *const self = malloc(size);
	struct stat st;
	char why[100];

	w->closed = false;
	if (self == NULL) {
		w->tree->no_memory = true;
		return;
	}
	snprintf(self, size, "%s/.", path);
	if (entries > 0 && stat(self, &st) != 0 && errno == EACCES) {
		w->closed = true;
		snprintf(why, sizeof why, "its %zu entries cannot be looked at (no x permission): %s",
		         entries, strerror(EACCES));
		add_problem(w, path, INPUT_DENIED, why);
	}
	free(self);
}

/* In the order of the names, so that of two ways to a folder always the same one is taken. */
static void read_folder(struct walk *w, const char *path)
{
	DIR *const dir = opendir(path);
	char **names = NULL;

	if (dir == NULL) {
		add_failure(w, path, errno);
		return;
	}
	const size_t n = read_names(w, path, dir, &names);
	closedir(dir);
	if (n > 0)
		qsort(names, n, sizeof *names, by_path);
	check_search(w, path, n);
	for (size_t i = 0; i < n; i++)
		visit(w, names[i], strrchr(names[i], '/') + 1);
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

	/* a failure is no answer: a folder taken for a file would be refused as "a directory" */
	return (stat(path, &st) == 0 || stat(path, &st) == 0) && S_ISDIR(st.st_mode);
}

static void report_left_out(struct walk *w, const char *folder)
{
	char why[500];

	if (w->first_out == NULL)
		return;
	snprintf(why, sizeof why,
	         "left out: links that lead out of the directory (%zu), directories on other file systems "
	         "(%zu); the first is %.300s; name them to have them read",
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
	} else if (is_new(&w, &st)) {
		w.dev = st.st_dev;
		add_todo(&w, strdup(folder));
	}
	while (w.ntodo > 0) {
		char *const path = w.todo[--w.ntodo].path;
		if (!t->no_memory)
			read_folder(&w, path);
		free(path);
	}
	report_left_out(&w, folder);
	free(w.todo);
	free(w.seen);
	free(w.top);
	free(w.first_out);
	if (t->n > 0)
		qsort(t->paths, t->n, sizeof *t->paths, by_path);
	if (t->nproblems > 0)
		qsort(t->problems, t->nproblems, sizeof *t->problems, by_problem_path);
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

/* ---- input files ---- */

struct input_id input_id_of(const struct stat *st)
{
	return (struct input_id){ st->st_dev, st->st_ino, (uint64_t)st->st_size, st->st_mtim };
}

enum input_fault input_id_compare(const struct input_id *was, const struct stat *now, bool again)
{
	const bool touched =
	    now->st_mtim.tv_sec != was->modified.tv_sec || now->st_mtim.tv_nsec != was->modified.tv_nsec;

	if (now->st_dev != was->device || now->st_ino != was->inode || !S_ISREG(now->st_mode))
		return INPUT_OK;
	if ((uint64_t)now->st_size < was->size)
		return INPUT_SHRUNK;
	return touched && (again || (uint64_t)now->st_size == was->size) ? INPUT_CHANGED : INPUT_OK;
}

/* With the lock, when the fault is set. */
static void note_changed(struct input_files *f, const struct input *in)
{
	if (!atomic_load(&f->changed)) {
		f->changed_path = strdup(in->path);
		(void)snprintf(f->changed_why, sizeof f->changed_why, "%s", in->fault_text);
	}
	atomic_store(&f->changed, true);
}

bool input_fail_compared(struct input *in, enum input_fault fault)
{
	if (fault == INPUT_OK)
		return false;
	(void)input_fail(in, fault,
	                 fault == INPUT_SHRUNK ? "the file became shorter while it was read"
	                                       : "the file was changed while it was read");
	if (in->files != NULL) {
		pthread_mutex_lock(&in->files->lock);
		note_changed(in->files, in);
		pthread_mutex_unlock(&in->files->lock);
	}
	return true;
}

/* ---- rows; with the lock ---- */

static uint64_t hash_of(const struct input *in)
{
	return hash_bytes(in->path, strlen(in->path), hash_seed());
}

/* NULL: none. */
static struct input_files_row *find(const struct input_files *f, const struct input *in)
{
	const uint32_t i = table64_get(&f->by_path, hash_of(in));

	return i != TABLE_NONE ? &f->rows[i] : NULL;
}

/* NULL: no memory. */
static struct input_files_row *add(struct input_files *f, const struct input *in)
{
	if (!array_room(&f->rows, f->n, &f->cap, sizeof *f->rows) ||
	    !table64_put(&f->by_path, hash_of(in), f->n))
		return NULL;
	f->rows[f->n] = (struct input_files_row){ .fd = -1 };
	return &f->rows[f->n++];
}

static void no_memory(struct input *in)
{
	(void)input_fail(in, INPUT_SYSTEM, "out of memory");
}

/* ---- what is known ---- */

enum input_files_known input_files_look(struct input_files *f, struct input *in, int *fd)
{
	enum input_files_known known = INPUT_FILES_NEW;

	*fd = -1;
	pthread_mutex_lock(&f->lock);
	const struct input_files_row *const row = find(f, in);
	if (row != NULL && row->fault != NULL) {
		known = INPUT_FILES_FAILED;
		(void)input_fail(in, (enum input_fault)row->fault[0], "%s", row->fault + 1);
	} else if (row != NULL) {
		known = INPUT_FILES_AGAIN;
		if (row->fd >= 0)
			*fd = fcntl(row->fd, F_DUPFD_CLOEXEC, 0);
	}
	pthread_mutex_unlock(&f->lock);
	if (known == INPUT_FILES_AGAIN && f->before_again != NULL)
		f->before_again(f->ctx, in->path);
	in->again = known == INPUT_FILES_AGAIN;
	return known;
}

void input_files_note_fault(struct input_files *f, struct input *in)
{
	char text[sizeof in->fault_text];

	if (in->again) { /* an earlier pass could read it; what the system refuses now is told as it is */
		memcpy(text, in->fault_text, sizeof text);
		if (in->fault != INPUT_SYSTEM && in->fault != INPUT_DENIED)
			(void)input_fail(
			    in, INPUT_CHANGED, "changed while it was read: it %s%.200s",
			    strncmp(text, "is ", 3) == 0 ? "" : "cannot be opened again: ", text);
		pthread_mutex_lock(&f->lock);
		note_changed(f, in);
		pthread_mutex_unlock(&f->lock);
		return;
	}
	const size_t n = strlen(in->fault_text);
	char *const fault = malloc(n + 2);
	pthread_mutex_lock(&f->lock);
	struct input_files_row *const row = fault != NULL && find(f, in) == NULL ? add(f, in) : NULL;
	if (row != NULL) {
		fault[0] = (char)in->fault;
		memcpy(fault + 1, in->fault_text, n + 1);
		row->fault = fault;
	}
	pthread_mutex_unlock(&f->lock);
	if (row != NULL)
		return;
	free(fault);
	if (fault == NULL)
		no_memory(in);
}

/* How it differs from what it was; false: not at all. */
static bool fail_if_other(struct input *in, const struct input_id *was, const struct stat *now)
{
	const uint64_t size = (uint64_t)now->st_size;

	if (now->st_dev != was->device || now->st_ino != was->inode)
		(void)input_fail(in, INPUT_CHANGED,
		                 "changed while it was read: another file has its name now");
	else if (S_ISREG(now->st_mode) && size != was->size)
		(void)input_fail(in, INPUT_CHANGED,
		                 "changed while it was read: it had %" PRIu64 " bytes, and has %" PRIu64,
		                 was->size, size);
	else if (input_id_compare(was, now, true) != INPUT_OK)
		(void)input_fail(in, INPUT_CHANGED, "changed while it was read: it was written to");
	else
		return false;
	return true;
}

bool input_files_note(struct input_files *f, struct input *in, int fd, const struct stat *st)
{
	bool ok = true;

	pthread_mutex_lock(&f->lock);
	struct input_files_row *row = find(f, in);
	if (row != NULL && row->fault == NULL) {
		in->again = true;
		ok = !fail_if_other(in, &row->id, st);
		if (!ok)
			note_changed(f, in);
	} else if (row == NULL && (row = add(f, in)) != NULL) {
		row->id = input_id_of(st);
		if (f->nopen < INPUT_FILES_OPEN && S_ISREG(st->st_mode) && input_is_named(in->path))
			row->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		f->nopen += row->fd >= 0;
	} else if (row == NULL) {
		no_memory(in);
		ok = false;
	}
	pthread_mutex_unlock(&f->lock);
	return ok;
}

void input_files_unkeep(struct input_files *f, const struct input *in)
{
	pthread_mutex_lock(&f->lock);
	struct input_files_row *const row = find(f, in);
	if (row != NULL && row->fd >= 0) {
		(void)close(row->fd);
		row->fd = -1;
	}
	pthread_mutex_unlock(&f->lock);
}

void input_files_free(struct input_files *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		if (f->rows[i].fd >= 0)
			(void)close(f->rows[i].fd);
		free(f->rows[i].fault);
	}
	free(f->rows);
	table64_free(&f->by_path);
	free(f->changed_path);
	f->changed_path = NULL;
	f->rows = NULL;
	f->n = f->cap = f->nopen = 0;
}
