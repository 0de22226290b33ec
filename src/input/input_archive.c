#include "input/input_archive.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/spill_file.h"
#include "input/input_source.h"
#include "input/input_tar.h"

enum { MAX_NAMES = 64 << 20 }; /* bytes of all names of an archive */

struct member {
	char *path; /* "run.tar:/a/b" */
	uint64_t offset, size;
	uint32_t ordinal;
	bool is_file; /* else a link, or a file with holes */
};

struct input_archive {
	char *path;
	struct member *members; /* sorted by path when all are read */
	uint32_t n, cap;
	uint64_t name_bytes;
	int fd; /* where members lie: the archive, or the temporary file */
	struct stat st;
	struct spill_file spill;
	bool packed;
	enum input_fault fault; /* what is wrong with it; INPUT_OK: nothing */
	char why[400];
};

bool
input_is_archive(const char *path)
{
	static const char *const suffixes[] = { ".tar",  ".tar.gz", ".tgz", ".tar.zst",
		                                ".tzst", ".tar.xz", ".txz" };
	const size_t n = strlen(path);

	for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
		const size_t k = strlen(suffixes[i]);
		if (n > k && strcmp(path + n - k, suffixes[i]) == 0)
			return true;
	}
	return false;
}

/* ---- reading ---- */

__attribute__((format(printf, 3, 4))) static bool
fail(struct input_archive *a, enum input_fault fault, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (a->fault == INPUT_OK)
		(void)vsnprintf(a->why, sizeof a->why, fmt, ap);
	va_end(ap);
	a->fault = a->fault == INPUT_OK ? fault : a->fault;
	return false;
}

static bool
fail_spill(struct input_archive *a)
{
	char why[300];

	spill_reason(&a->spill, "unpacking", why, sizeof why);
	return fail(a, INPUT_SYSTEM, "%s", why);
}

/* The input ended before its time. */
static bool
fail_cut(struct input_archive *a, const struct input *in, const char *what, uint64_t missing)
{
	if (in->fault != INPUT_OK && in->fault != INPUT_TRAILING)
		return fail(a, in->fault, "%s", in->fault_text);
	return fail(a, INPUT_CUT, "the archive ends inside of %.200s: %" PRIu64 " bytes are missing", what,
	            missing);
}

/* Passes n bytes, to the temporary file if `keep`.  Returns how many were there. */
static uint64_t
pass(struct input_archive *a, struct input *in, uint64_t n, bool keep)
{
	uint64_t done = 0;

	while (done < n && input_need(in, 1)) {
		const uint64_t have = (uint64_t)(in->end - in->p), left = n - done;
		const size_t some = (size_t)(have < left ? have : left);
		if (keep && !spill_write(&a->spill, in->p, some)) {
			fail_spill(a);
			break;
		}
		in->p += some;
		done += some;
		input_behind(in);
	}
	return done;
}

static bool
add_member(struct input_archive *a, const struct tar_entry *e, uint64_t offset)
{
	const size_t n = strlen(a->path) + 2 + strlen(e->name) + 1;

	a->name_bytes += n;
	if (a->n >= INPUT_TREE_MAX || a->name_bytes > MAX_NAMES)
		return fail(a, INPUT_SYSTEM, "has too many files: at most a million, with names of 64 MiB");
	char *const path = array_room(&a->members, a->n, &a->cap, sizeof *a->members) ? malloc(n) : NULL;
	if (path == NULL)
		return fail(a, INPUT_SYSTEM, "out of memory");
	(void)snprintf(path, n, "%s:/%s", a->path, e->name);
	a->members[a->n] = (struct member){ path, offset, e->size, a->n, e->kind == TAR_FILE };
	a->n++;
	return true;
}

/* What follows the header of an extension. */
static bool
read_extension(struct input_archive *a, struct input *in, struct tar_entry *e)
{
	const uint64_t n = e->size;
	const enum tar_kind kind = e->kind;

	if (kind == TAR_EXTENSION || n > TAR_EXTENSION_MAX) {
		const uint64_t got = pass(a, in, n + tar_padding(n), false);
		return got >= n || fail_cut(a, in, "a header", n - got);
	}
	if (!input_need(in, (size_t)(n + tar_padding(n))))
		return fail_cut(a, in, "a header", n + tar_padding(n) - (uint64_t)(in->end - in->p));
	if (kind == TAR_LONG_NAME)
		tar_read_long_name(e, in->p, n);
	else
		tar_read_pax(e, in->p, n);
	in->p += n + tar_padding(n);
	return true;
}

static bool
read_file(struct input_archive *a, struct input *in, const struct tar_entry *e)
{
	const bool wanted = (e->kind == TAR_FILE || e->kind == TAR_LINK) && e->name[0] != '\0';
	const uint64_t offset = a->packed ? a->spill.size : input_offset(in, in->p);

	if (e->size > (uint64_t)1 << 62)
		return fail(a, INPUT_CORRUPT,
		            "the header at byte %" PRIu64 " has a size of %" PRIu64 " bytes",
		            input_offset(in, in->p) - TAR_BLOCK, e->size);
	if (e->kind == TAR_FILE && e->name[0] == '\0')
		fail(a, INPUT_SYSTEM,
		     "the file at byte %" PRIu64 " has a name of more than %d bytes; left out",
		     input_offset(in, in->p), TAR_NAME_MAX - 1);
	if (wanted && !add_member(a, e, offset))
		return false;
	const uint64_t got = pass(a, in, e->size, a->packed && e->kind == TAR_FILE);
	if (got < e->size) {
		if (wanted)
			a->members[a->n - 1].size = got;
		return fail_cut(a, in, e->name, e->size - got);
	}
	(void)pass(a, in, tar_padding(e->size), false);
	return true;
}

/* Up to the end, or what is wrong. */
static void
read_all(struct input_archive *a, struct input *in)
{
	struct tar_entry *const e = calloc(1, sizeof *e);
	bool going = e != NULL || fail(a, INPUT_SYSTEM, "out of memory");

	while (going && input_need(in, 1)) {
		if (!input_need(in, TAR_BLOCK)) {
			fail_cut(a, in, "a header", TAR_BLOCK - (uint64_t)(in->end - in->p));
			break;
		}
		tar_read_header(e, in->p);
		if (e->kind == TAR_END)
			break;
		if (e->kind == TAR_BAD) {
			fail(a, INPUT_CORRUPT,
			     "at byte %" PRIu64 " of the archive is no header: its checksum is wrong",
			     input_offset(in, in->p));
			break;
		}
		in->p += TAR_BLOCK;
		if (e->kind == TAR_LONG_NAME || e->kind == TAR_PAX || e->kind == TAR_EXTENSION) {
			going = read_extension(a, in, e);
			continue;
		}
		going = read_file(a, in, e);
		e->has_name = e->has_size = false;
	}
	if (a->fault == INPUT_OK && in->fault != INPUT_OK && in->fault != INPUT_TRAILING)
		fail(a, in->fault, "%s", in->fault_text);
	free(e);
}

/* ---- what is in it ---- */

static int
by_path(const void *x, const void *y)
{
	const struct member *const a = x, *const b = y;
	const int order = strcmp(a->path, b->path);

	return order != 0 ? order : (a->ordinal > b->ordinal) - (a->ordinal < b->ordinal);
}

/* Of files of one name the last counts, as when they are unpacked. */
static void
sort_members(struct input_archive *a)
{
	uint32_t n = 0;

	if (a->n > 0)
		qsort(a->members, a->n, sizeof *a->members, by_path);
	for (uint32_t i = 0; i < a->n; i++) {
		if (i + 1 < a->n && strcmp(a->members[i].path, a->members[i + 1].path) == 0)
			free(a->members[i].path);
		else
			a->members[n++] = a->members[i];
	}
	a->n = n;
}

void
input_archive_close(struct input_archive *a)
{
	if (a == NULL)
		return;
	for (uint32_t i = 0; i < a->n; i++)
		free(a->members[i].path);
	free(a->members);
	if (!a->packed && a->fd >= 0)
		(void)close(a->fd);
	spill_close(&a->spill);
	free(a->path);
	free(a);
}

/* Whether it begins as an archive does. */
static bool
begins_well(struct input *in)
{
	struct tar_entry *const e = calloc(1, sizeof *e);
	bool well = e != NULL && input_need(in, TAR_BLOCK);

	if (well) {
		tar_read_header(e, in->p);
		well = e->kind != TAR_BAD;
	}
	free(e);
	return well;
}

/* NULL: no archive, or no memory. */
static struct input_archive *
read_archive(const char *path, struct input *in)
{
	struct input_archive *const a = calloc(1, sizeof *a);

	if (a == NULL)
		return NULL;
	a->fd = -1;
	a->packed = in->packing != INPUT_PLAIN;
	a->path = strdup(path);
	if (a->path == NULL || !begins_well(in)) {
		input_archive_close(a);
		return NULL;
	}
	if (a->packed && !spill_open(&a->spill, NULL))
		fail_spill(a);
	else if (!a->packed && (a->fd = input_open_fd(path)) < 0)
		fail(a, input_fault_of_errno(errno), "%s", strerror(errno));
	if (a->packed)
		a->fd = a->spill.fd;
	if (a->fault == INPUT_OK)
		read_all(a, in);
	if (a->fd >= 0 && fstat(a->fd, &a->st) != 0)
		fail(a, INPUT_SYSTEM, "%s", strerror(errno));
	sort_members(a);
	return a;
}

struct input_archive *
input_archive_open(const char *path)
{
	struct input_archive *a = NULL;
	struct input *const in = input_open(path);

	if (in != NULL && (in->fault == INPUT_OK || in->fault == INPUT_TRAILING))
		a = read_archive(path, in);
	input_close(in);
	return a;
}

/* ---- its files ---- */

/* Where in the archive the path leads, "/a/b"; NULL: not into it. */
static const char *
way_of(const struct input_archive *a, const char *path)
{
	const size_t n = strlen(a->path);

	if (strncmp(path, a->path, n) != 0)
		return NULL;
	path += n + (path[n] == ':');
	return *path == '/' ? path : NULL;
}

bool
input_archive_holds(const struct input_archive *a, const char *path)
{
	return a != NULL && way_of(a, path) != NULL;
}

/* NULL: there is none. */
static const struct member *
find_member(const struct input_archive *a, const char *way)
{
	const size_t skip = strlen(a->path) + 1;

	for (uint32_t from = 0, to = a->n; from < to;) {
		const uint32_t middle = from + (to - from) / 2;
		const int order = strcmp(way, a->members[middle].path + skip);
		if (order == 0)
			return &a->members[middle];
		*(order < 0 ? &to : &from) = order < 0 ? middle : middle + 1;
	}
	return NULL;
}

/* Where everything is below one folder, a file beside the archive's name is one in that folder. */
static const struct member *
find_below_top(const struct input_archive *a, const char *way)
{
	const size_t skip = strlen(a->path) + 1;
	const char *const first = a->n > 0 ? a->members[0].path + skip : "/";
	const size_t top = strcspn(first + 1, "/") + 1; /* "/top" */
	const size_t n = strlen(way);

	if (a->n == 0 || first[top] != '/' || strncmp(first, a->members[a->n - 1].path + skip, top + 1) != 0)
		return NULL;
	char *const whole = malloc(top + n + 1);
	if (whole == NULL)
		return NULL;
	memcpy(whole, first, top);
	memcpy(whole + top, way, n + 1);
	const struct member *const m = find_member(a, whole);
	free(whole);
	return m;
}

void
input_archive_start(struct input *in, const struct input_archive *a)
{
	const char *const way = way_of(a, in->path);
	const struct member *m = find_member(a, way);

	if (m == NULL && way[-1] != ':')
		m = find_below_top(a, way);
	in->last = true;
	if (m == NULL) {
		(void)input_fail(in, INPUT_MISSING, "is not in the archive");
		return;
	}
	if (!m->is_file) {
		(void)input_fail(in, INPUT_NOT_A_FILE, "is a link, or has holes, in the archive");
		return;
	}
	if (m->size == 0) {
		(void)input_fail(in, INPUT_EMPTY, "is empty");
		return;
	}
	struct input_mapping *const map = input_map_part(a->fd, m->offset, (size_t)m->size, &a->st);
	if (map == NULL) {
		(void)input_fail(in, INPUT_SYSTEM, "cannot map: %s",
		                 errno != 0 ? strerror(errno) : "too many files are open");
		return;
	}
	in->last = false;
	if (input_mapped_start(in, map))
		input_prime(in);
}

/* ---- the list ---- */

static void
add_problem(struct input_tree *t, const char *path, enum input_fault fault, const char *text)
{
	struct input_tree_problem *const p = realloc(t->problems, (t->nproblems + 1) * sizeof *t->problems);
	char *const copy = strdup(path), *const why = strdup(text);

	if (p != NULL)
		t->problems = p;
	if (p == NULL || copy == NULL || why == NULL) {
		free(copy);
		free(why);
		t->no_memory = true;
		return;
	}
	t->problems[t->nproblems++] = (struct input_tree_problem){ copy, fault, why };
}

void
input_archive_list(const struct input_archive *a, struct input_tree *t,
                   bool (*wanted)(void *ctx, const char *name), void *ctx)
{
	t->paths = calloc((size_t)a->n + 1, sizeof *t->paths);
	t->no_memory |= t->paths == NULL;
	t->cap = (size_t)a->n + 1;
	for (uint32_t i = 0; i < a->n && !t->no_memory; i++) {
		const struct member *const m = &a->members[i];
		if (!wanted(ctx, strrchr(m->path, '/') + 1))
			continue;
		if (!m->is_file) {
			add_problem(t, m->path, INPUT_NOT_A_FILE, "is a link, or has holes, in the archive");
			continue;
		}
		t->paths[t->n] = strdup(m->path);
		t->no_memory |= t->paths[t->n] == NULL;
		t->n += t->paths[t->n] != NULL;
	}
	if (a->fault != INPUT_OK)
		add_problem(t, a->path, a->fault, a->why);
}
