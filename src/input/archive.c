/* A tar archive as a folder.  It is read once when it is opened: files of a plain archive are mapped in
 * place, those of a packed one are unpacked to a spill file.  Members are sorted by path; of two members with
 * one name the last is used, as with tar.  Damage never stops the reading: the next header is searched for,
 * block by block. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/memory.h"
#include "base/os.h"
#include "input/private.h"

enum {
	MAX_NAMES = 64 << 20, /* bytes of all names of an archive */
	MAX_PROBLEMS = 20,    /* number of listed problems of the archive itself */
	MAX_LINKS = 16,       /* length of a chain of hard links */
};

struct member {
	char *path; /* "run.tar:/a/b" */
	uint64_t offset, size;
	uint32_t ordinal;
	char *target;    /* target of a hard link; NULL: no hard link */
	const char *why; /* why it cannot be read; NULL: it can */
};

struct problem {
	enum input_fault fault;
	char text[400];
};

struct input_archive {
	char *path;
	struct member *members; /* sorted by path after reading */
	uint32_t n, cap;
	uint64_t name_bytes;
	int fd; /* file that contains the members: the archive, or the spill file */
	struct stat st;
	struct spill_file spill;
	bool packed;
	struct input_names names;
	struct problem problems[MAX_PROBLEMS]; /* problems of the archive */
	uint32_t nproblems, nmore;             /* nmore: number of problems that are not listed */
	bool more_damage;                      /* one of these is not just a replaced file */
	struct input_passed passed;
};

bool input_is_archive(const char *path)
{
	static const char *const suffixes[] = { ".tar",  ".tar.gz", ".tgz", ".tar.zst",
		                                ".tzst", ".tar.xz", ".txz" };
	const size_t n = strlen(path);

	for (size_t i = 0; i < COUNT_OF(suffixes); i++) {
		const size_t k = strlen(suffixes[i]);
		if (n > k && strcmp(path + n - k, suffixes[i]) == 0)
			return true;
	}
	return false;
}

/* ---- reading ---- */

PRINTF(3, 4) static bool fail(struct input_archive *a, enum input_fault fault, const char *fmt, ...)
{
	va_list ap;

	if (a->nproblems == MAX_PROBLEMS) {
		a->nmore++;
		a->more_damage |= fault != INPUT_REPLACED;
		return false;
	}
	struct problem *const p = &a->problems[a->nproblems++];
	p->fault = fault;
	va_start(ap, fmt);
	(void)vsnprintf(p->text, sizeof p->text, fmt, ap);
	va_end(ap);
	return false;
}

static bool fail_spill(struct input_archive *a)
{
	char why[300];

	spill_reason(&a->spill, "unpacking", why, sizeof why);
	return fail(a, INPUT_SYSTEM, "%s", why);
}

/* Reports that the input ended early.  A fault of the input itself is reported at the end. */
static bool fail_cut(struct input_archive *a, const struct input *in, const char *what, uint64_t missing)
{
	if (in->fault != INPUT_OK && in->fault != INPUT_TRAILING)
		return false;
	return fail(a, INPUT_CUT, "the archive ends inside of %.200s: %" PRIu64 " bytes are missing", what,
	            missing);
}

/* Skips n bytes, and writes them to the spill file if `keep`.  Returns the number of skipped bytes. */
static uint64_t copy_bytes(struct input_archive *a, struct input *in, uint64_t n, bool keep)
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
		input_release_read(in);
	}
	return done;
}

static bool skip_bytes(struct input_archive *a, struct input *in, uint64_t n, const char *what)
{
	const uint64_t got = copy_bytes(a, in, n, false);

	return got == n || fail_cut(a, in, what, n - got);
}

/* ---- extensions: names and attributes before a file ---- */

/* Reads the next record "LENGTH KEY=VALUE\n" of a pax header of which `left` bytes are left.  Returns its
 * length; 0: invalid, or the input ends. */
static uint64_t read_pax_record(struct input *in, struct tar_entry *e, uint64_t left)
{
	const size_t look = (size_t)(left < TAR_KEY_MAX ? left : TAR_KEY_MAX);
	uint64_t length = 0;
	size_t n = 0;

	if (!input_need(in, look))
		return 0;
	for (; n < look && n < 19 && in->p[n] >= '0' && in->p[n] <= '9'; n++)
		length = length * 10 + (uint64_t)(in->p[n] - '0');
	if (n == 0 || n == look || in->p[n] != ' ' || length > left || length < n + 3)
		return 0;
	const size_t first = n + 1;
	const char *const equals = memchr(in->p + first, '=', look - first);
	if (equals == NULL)
		return length < look ? 0 : length; /* a long key: not used here */
	const size_t nkey = (size_t)(equals - in->p) - first;
	if (first + nkey + 2 > length)
		return 0;
	const uint64_t nvalue = length - first - nkey - 2;
	const bool wanted = tar_pax_wants(in->p + first, nkey);
	if (wanted && nvalue < TAR_NAME_MAX && !input_need(in, (size_t)length))
		return 0;
	if (wanted && nvalue < TAR_NAME_MAX && in->p[length - 1] != '\n')
		return 0;
	const char *const key = in->p + first;
	return tar_pax_set(e, key, nkey, key + nkey + 1, nvalue) ? length : 0;
}

static bool read_pax(struct input_archive *a, struct input *in, struct tar_entry *e, uint64_t size)
{
	const uint64_t at = input_offset(in, in->p);
	uint64_t left = size, n = 1;

	while (left > 0 && n > 0) {
		n = read_pax_record(in, e, left);
		if (!skip_bytes(a, in, n, "a header"))
			return false;
		left -= n;
	}
	if (left == 0)
		return true;
	if (!skip_bytes(a, in, left, "a header"))
		return false;
	fail(a, INPUT_CORRUPT, "the attributes at byte %" PRIu64 " of the archive are damaged", at);
	return true;
}

/* Reads attributes of all further files: usually a comment, and keys that are not used here. */
static bool read_global(struct input_archive *a, struct input *in, struct tar_entry *e, uint64_t size)
{
	const uint64_t at = input_offset(in, in->p);
	struct tar_entry *const all = calloc(1, sizeof *all);

	if (all == NULL)
		return fail(a, INPUT_SYSTEM, "out of memory");
	const bool ok = read_pax(a, in, all, size);
	if (all->has.name || all->has.size || all->has.target || all->has.sparse)
		fail(a, INPUT_CORRUPT,
		     "the attributes at byte %" PRIu64 " of the archive give all files one name or size", at);
	e->has.continued |= all->has.continued;
	free(all);
	return ok;
}

/* Reads a GNU name; it is empty if it is too long. */
static bool read_long_name(struct input_archive *a, struct input *in, struct tar_entry *e, uint64_t size)
{
	const bool is_name = e->kind == TAR_LONG_NAME;
	const size_t n = (size_t)(size < TAR_NAME_MAX ? size : TAR_NAME_MAX);

	if (!input_need(in, n))
		return fail_cut(a, in, "a header", size - (uint64_t)(in->end - in->p));
	tar_set_name(is_name ? e->name : e->target, in->p, strnlen(in->p, n));
	*(is_name ? &e->has.name : &e->has.target) = true;
	return skip_bytes(a, in, size, "a header");
}

static bool read_extension(struct input_archive *a, struct input *in, struct tar_entry *e)
{
	const uint64_t size = e->extension;
	bool ok;

	if (e->kind == TAR_PAX)
		ok = read_pax(a, in, e, size);
	else if (e->kind == TAR_GLOBAL)
		ok = read_global(a, in, e, size);
	else if (e->kind != TAR_EXTENSION)
		ok = read_long_name(a, in, e, size);
	else
		ok = skip_bytes(a, in, size, "a header");
	return ok && skip_bytes(a, in, tar_padding(size), "a header");
}

/* ---- files ---- */

/* Why a member cannot be read; NULL: it can. */
static const char *refuse_kind(enum tar_kind kind)
{
	switch (kind) {
	case TAR_HARD_LINK:
		return "is a hard link to a file that is not before it in the archive, or not named like a "
		       "trace";
	case TAR_SYMBOLIC_LINK:
		return "is a symbolic link in the archive: name the file that it leads to";
	case TAR_SPARSE:
		return "is a file with holes (sparse): unpack the archive with tar, and name what was in it";
	case TAR_CONTINUED:
		return "is the rest of a file that began in another volume of the archive: unpack them with "
		       "tar, and name what was in them";
	case TAR_SPECIAL:
		return "is not a regular file";
	default:
		return NULL;
	}
}

static bool add_member(struct input_archive *a, const struct tar_entry *e, uint64_t offset)
{
	const bool link = e->kind == TAR_HARD_LINK && e->target[0] != '\0';
	const size_t n = strlen(a->path) + 2 + strlen(e->name) + 1;

	a->name_bytes += n + (link ? strlen(e->target) : 0);
	if (a->n >= INPUT_TREE_MAX || a->name_bytes > MAX_NAMES)
		return fail(a, INPUT_SYSTEM, "has too many files: at most a million, with names of 64 MiB");
	const bool space = array_reserve(&a->members, a->n, &a->cap, sizeof *a->members);
	char *const path = space ? malloc(n) : NULL, *const target = link ? strdup(e->target) : NULL;
	if (path == NULL || (link && target == NULL)) {
		free(path);
		free(target);
		return fail(a, INPUT_SYSTEM, "out of memory");
	}
	(void)snprintf(path, n, "%s:/%s", a->path, e->name);
	a->members[a->n] = (struct member){ path, offset, e->size, a->n, target, refuse_kind(e->kind) };
	a->n++;
	return true;
}

/* Whether readers need the file, or may open it. */
static bool is_wanted(const struct input_archive *a, const struct tar_entry *e)
{
	const char *const name = path_name(e->name);

	return e->kind != TAR_FOLDER && name[0] != '\0' &&
	       (a->names.wanted(a->names.ctx, name) || a->names.beside(a->names.ctx, name));
}

/* After the header of a sparse file: skips the further blocks of its map. */
static bool skip_map(struct input_archive *a, struct input *in)
{
	bool more = true;

	while (more) {
		if (!input_need(in, TAR_BLOCK))
			return fail_cut(a, in, "a header", TAR_BLOCK - (uint64_t)(in->end - in->p));
		more = tar_map_goes_on(in->p);
		in->p += TAR_BLOCK;
	}
	return true;
}

static void free_member(struct member *m)
{
	free(m->path);
	free(m->target);
}

static bool read_file(struct input_archive *a, struct input *in, const struct tar_entry *e)
{
	const uint64_t at = input_offset(in, in->p);
	const bool wanted = is_wanted(a, e), keep = wanted && a->packed && e->kind == TAR_FILE;

	if (e->size > (uint64_t)1 << 62)
		return fail(a, INPUT_CORRUPT,
		            "the header at byte %" PRIu64 " has a size of %" PRIu64 " bytes", at - TAR_BLOCK,
		            e->size);
	if (!wanted && e->kind == TAR_FILE)
		input_passed_note(&a->passed, a->names.wanted, a->names.ctx, e->name, path_name(e->name));
	if (e->name[0] == '\0' && e->kind != TAR_FOLDER)
		fail(a, INPUT_NOT_A_FILE,
		     "the file at byte %" PRIu64 " has no name, or one of more than %d bytes; left out", at,
		     TAR_NAME_MAX - 1);
	if ((e->more_map && !skip_map(a, in)) ||
	    (wanted && !add_member(a, e, a->packed ? a->spill.size : input_offset(in, in->p))))
		return false;
	const uint64_t got = copy_bytes(a, in, e->size, keep);
	if (got < e->size && a->spill.failed != SPILL_NOTHING) {
		if (keep)
			free_member(&a->members[--a->n]); /* it would seem to be cut */
		return false;
	}
	if (got < e->size) {
		if (wanted)
			a->members[a->n - 1].size = got;
		return fail_cut(a, in, e->name, e->size - got);
	}
	return skip_bytes(a, in, tar_padding(e->size), e->name);
}

/* ---- the archive ---- */

/* After damage: skips to a block that may be a header, or to the end.  Returns false at the end. */
static bool find_header(struct input *in, struct tar_entry *e)
{
	do {
		in->p += TAR_BLOCK;
		input_release_read(in);
		if (!input_need(in, TAR_BLOCK)) {
			in->p = in->end;
			return false;
		}
		tar_read_header(e, in->p);
	} while (e->kind == TAR_BAD || e->kind == TAR_END || memcmp(in->p + 257, "ustar", 5) != 0);
	return true;
}

/* Reports bytes without a header from `at` to the end of the input.  After the end of the archive they are
 * of another program: pixz stores an index there. */
static void fail_trailing(struct input_archive *a, uint64_t at)
{
	fail(a, INPUT_TRAILING, "bytes that are not an archive follow its end at byte %" PRIu64, at);
}

static bool is_zeros(const char *p, const char *end)
{
	while (p < end && *p == '\0')
		p++;
	return p == end;
}

/* Reads one header and its data.  *zeros: number of blocks of zeros before it; two end an archive.  Returns
 * false if nothing can be read after it. */
static bool read_entry(struct input_archive *a, struct input *in, struct tar_entry *e, uint64_t *zeros)
{
	const uint64_t at = input_offset(in, in->p);

	if (!input_need(in, TAR_BLOCK)) {
		const bool only_zeros = is_zeros(in->p, in->end);
		if (!only_zeros && *zeros >= 2)
			fail_trailing(a, at);
		else if (!only_zeros || *zeros == 0)
			fail_cut(a, in, "a header", TAR_BLOCK - (uint64_t)(in->end - in->p));
		in->p = in->end;
		*zeros = 1;
		return true;
	}
	tar_read_header(e, in->p);
	if (e->kind == TAR_BAD) {
		if (!find_header(in, e) && *zeros >= 2)
			fail_trailing(a, at);
		else
			fail(a, INPUT_CORRUPT,
			     "at byte %" PRIu64 " of the archive is not a header: its checksum is wrong", at);
		e->has = (struct tar_stated){ .name = false };
		return true;
	}
	in->p += TAR_BLOCK;
	input_release_read(in);
	if (e->kind == TAR_END) {
		++*zeros;
		return true;
	}
	*zeros = 0;
	if (e->kind >= TAR_LONG_NAME)
		return read_extension(a, in, e);
	const bool ok = read_file(a, in, e);
	e->has = (struct tar_stated){ .name = false };
	return ok;
}

/* Reads to the end of the input: another archive may follow zeros, and packed data is checked at its end. */
static void read_entries(struct input_archive *a, struct input *in)
{
	struct tar_entry *const e = calloc(1, sizeof *e);
	uint64_t zeros = 0;
	bool going = e != NULL || fail(a, INPUT_SYSTEM, "out of memory");

	while (going && input_need(in, 1))
		going = read_entry(a, in, e, &zeros);
	if (in->fault != INPUT_OK)
		fail(a, in->fault, "%s", in->fault_text);
	else if (going && zeros == 0 && a->nproblems == 0)
		fail(a, INPUT_CUT, "the archive ends without the zeros that end one: files may be missing");
	free(e);
}

/* ---- members ---- */

static int by_path(const void *x, const void *y)
{
	const struct member *const a = x, *const b = y;
	const int order = strcmp(a->path, b->path);

	return order != 0 ? order : ORDER(a->ordinal, b->ordinal);
}

/* The last file "a/b" with an ordinal below `end`; NULL: none. */
static const struct member *find_member(const struct input_archive *a, const char *path, uint32_t end)
{
	const size_t skip = strlen(a->path) + 2;
	uint32_t from = 0, to = a->n;

	while (from < to) {
		const uint32_t middle = from + (to - from) / 2;
		const int order = strcmp(a->members[middle].path + skip, path);
		if (order < 0 || (order == 0 && a->members[middle].ordinal < end))
			from = middle + 1;
		else
			to = middle;
	}
	return from > 0 && strcmp(a->members[from - 1].path + skip, path) == 0 ? &a->members[from - 1] : NULL;
}

/* A hard link is another name of an earlier file, or of a link to one. */
static void resolve_links(struct input_archive *a)
{
	for (uint32_t i = 0; i < a->n; i++) {
		struct member *const m = &a->members[i];
		const struct member *file = m->target != NULL ? find_member(a, m->target, m->ordinal) : NULL;
		for (int links = 0; file != NULL && file->target != NULL && links < MAX_LINKS; links++)
			file = find_member(a, file->target, file->ordinal);
		if (file == NULL || file->why != NULL || file->target != NULL)
			continue;
		m->offset = file->offset;
		m->size = file->size;
		m->why = NULL;
	}
}

/* Sorts members.  The last of several files of one name is used, as when they are unpacked. */
static void sort_members(struct input_archive *a)
{
	uint32_t n = 0;
	bool replaced = false;

	array_sort(a->members, a->n, sizeof *a->members, by_path);
	resolve_links(a);
	for (uint32_t i = 0; i < a->n; i++) {
		const bool told = replaced;
		replaced = i + 1 < a->n && strcmp(a->members[i].path, a->members[i + 1].path) == 0;
		if (replaced) {
			if (!told)
				fail(a, INPUT_REPLACED,
				     "%.300s is in the archive more than once: the last one is read",
				     a->members[i].path + strlen(a->path) + 2);
			free_member(&a->members[i]);
		} else {
			a->members[n++] = a->members[i];
		}
	}
	a->n = n;
}

void input_archive_close(struct input_archive *a)
{
	if (a == NULL)
		return;
	for (uint32_t i = 0; i < a->n; i++)
		free_member(&a->members[i]);
	free(a->members);
	if (!a->packed && a->fd >= 0)
		(void)close(a->fd);
	spill_close(&a->spill);
	free(a->path);
	free(a);
}

/* Whether the archive begins with a header; reports it if not. */
static bool check_begin(struct input_archive *a, struct input *in)
{
	struct tar_entry *const e = calloc(1, sizeof *e);

	if (e == NULL)
		return fail(a, INPUT_SYSTEM, "out of memory");
	const bool whole = input_need(in, TAR_BLOCK);
	if (whole)
		tar_read_header(e, in->p);
	const bool valid = whole && e->kind != TAR_BAD;
	free(e);
	if (valid || (in->fault != INPUT_OK && in->fault != INPUT_TRAILING))
		return valid || fail(a, in->fault, "%s", in->fault_text);
	return fail(a, INPUT_CORRUPT, "is not a tar archive, or is damaged: %s",
	            whole ? "the checksum of its first header is wrong" : "it is too short for a header");
}

/* Opens a->fd. */
static bool open_members(struct input_archive *a)
{
	if (a->packed) {
		if (!spill_open(&a->spill, NULL))
			return fail_spill(a);
		a->fd = a->spill.fd;
		return true;
	}
	a->fd = input_open_fd(a->path);
	return a->fd >= 0 || fail(a, input_fault_of_errno(errno), "%s", strerror(errno));
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static void read_archive(struct input_archive *a, struct input *in, const struct stat *before)
{
	if (in->fault != INPUT_OK && in->fault != INPUT_TRAILING) {
		fail(a, in->fault, "%s", in->fault_text);
		return;
	}
	a->packed = in->packing != INPUT_PLAIN;
	if (!check_begin(a, in) || !open_members(a))
		return;
	read_entries(a, in);
	sort_members(a);
	if (fstat(a->fd, &a->st) != 0)
		fail(a, INPUT_SYSTEM, "%s", strerror(errno));
	else if (!a->packed && !is_same(&a->st, before))
		fail(a, INPUT_SYSTEM, "the file was changed while it was read");
}

struct input_archive *input_archive_open(const char *path, struct input_names names)
{
	struct input_archive *const a = calloc(1, sizeof *a);
	struct stat before;

	if (a == NULL)
		return NULL;
	a->fd = -1;
	a->names = names;
	a->path = strdup(path);
	const int error = stat(path, &before) != 0 ? errno : 0;
	struct input *const in = a->path != NULL ? input_open(path) : NULL;
	if (in != NULL && error != 0 && (in->fault == INPUT_OK || in->fault == INPUT_TRAILING))
		fail(a, input_fault_of_errno(error), "%s", strerror(error));
	else if (in != NULL) /* input_open() has the exact reason for a missing file */
		read_archive(a, in, &before);
	input_close(in);
	if (in == NULL) {
		input_archive_close(a);
		return NULL;
	}
	return a;
}

/* ---- opening a member ---- */

/* The path within the archive, "/a/b"; NULL: the path does not lead into it. */
static const char *path_within(const struct input_archive *a, const char *path)
{
	const size_t n = strlen(a->path);

	if (strncmp(path, a->path, n) != 0)
		return NULL;
	path += n + (path[n] == ':');
	return *path == '/' ? path : NULL;
}

bool input_archive_holds(const struct input_archive *a, const char *path)
{
	return a != NULL && path_within(a, path) != NULL;
}

const char *input_archive_path(const struct input_archive *a)
{
	return a->path;
}

/* If all files are below one folder, a path next to the archive is looked up in that folder. */
static const struct member *find_below_top(const struct input_archive *a, const char *path)
{
	const size_t skip = strlen(a->path) + 1;
	const char *const first = a->n > 0 ? a->members[0].path + skip : "/";
	const size_t top = strcspn(first + 1, "/") + 1; /* "/top" */
	const size_t n = strlen(path);

	if (a->n == 0 || first[top] != '/' || strncmp(first, a->members[a->n - 1].path + skip, top + 1) != 0)
		return NULL;
	char *const whole = malloc(top + n + 1);
	if (whole == NULL)
		return NULL;
	memcpy(whole, first, top);
	memcpy(whole + top, path, n + 1);
	const struct member *const m = find_member(a, whole + 1, UINT32_MAX);
	free(whole);
	return m;
}

void input_archive_start(struct input *in, const struct input_archive *a)
{
	const char *const path = path_within(a, in->path);
	const struct member *m = find_member(a, path + 1, UINT32_MAX);

	if (m == NULL && path[-1] != ':')
		m = find_below_top(a, path);
	in->last = true;
	if (m == NULL) {
		(void)input_fail(in, INPUT_MISSING, "is not in the archive");
		return;
	}
	if (m->why != NULL) {
		(void)input_fail(in, INPUT_NOT_A_FILE, "%s", m->why);
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

static void list_problems(const struct input_archive *a, struct input_tree *t)
{
	char more[80];

	for (uint32_t i = 0; i < a->nproblems; i++)
		input_tree_add_problem(t, a->path, a->problems[i].fault, a->problems[i].text);
	if (a->nmore == 0)
		return;
	snprintf(more, sizeof more, "%" PRIu32 " further problems of the archive are not listed", a->nmore);
	input_tree_add_problem(t, a->path, a->more_damage ? INPUT_CORRUPT : INPUT_REPLACED, more);
}

void input_archive_list(const struct input_archive *a, struct input_tree *t)
{
	t->paths = calloc((size_t)a->n + 1, sizeof *t->paths);
	t->no_memory |= t->paths == NULL;
	t->cap = a->n + 1;
	for (uint32_t i = 0; i < a->n && !t->no_memory; i++) {
		const struct member *const m = &a->members[i];
		if (!a->names.wanted(a->names.ctx, strrchr(m->path, '/') + 1))
			continue;
		if (m->why != NULL) {
			input_tree_add_problem(t, m->path, INPUT_NOT_A_FILE, m->why);
			continue;
		}
		t->paths[t->n] = strdup(m->path);
		t->no_memory |= t->paths[t->n] == NULL;
		t->n += t->paths[t->n] != NULL;
	}
	list_problems(a, t);
	input_passed_report(&a->passed, t, a->path);
}
