/* Members of a folder that cannot be reached are told of, each with its path and the reason. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"
#include "cli/command.h"
#include "input/open.h"

#define GOOD "testdata/htdump/good/wire-little.htdump"

static char *folder_with_a_trace(void)
{
	char *const dir = make_folder(), path[1024];
	size_t n;
	char *const p = read_whole(GOOD, &n);

	cr_assert_not_null(p);
	snprintf(path, sizeof path, "%s/a.htdump", dir);
	cr_assert(write_whole(path, p, n));
	free(p);
	return dir;
}

/* validate says `what` of dir/name, and reads the trace all the same. */
static void expect_told(const char *dir, const char *name, const char *what)
{
	struct ran r = run_tool((const char *const[]){ "validate", dir, NULL }, NULL, 0);
	char line[1200];

	snprintf(line, sizeof line, "%s/%s: %s\n", dir, name, what);
	cr_expect_eq(r.status, STATUS_UNREADABLE, "%d", r.status);
	cr_expect_not_null(strstr(r.out, line), "no %s in %s", line, r.out);
	cr_expect_not_null(strstr(r.out, "a.htdump: valid"), "%s", r.out);
	ran_free(&r);
}

/* They have no name of a trace, but may have led to a folder of traces. */
Test(trust, links_that_lead_nowhere)
{
	char *const dir = folder_with_a_trace(), path[1024];

	snprintf(path, sizeof path, "%s/run", dir);
	cr_assert_eq(symlink("gone", path), 0);
	expect_told(dir, "run", "is a link to nowhere");
	cr_assert_eq(unlink(path), 0);
	cr_assert_eq(symlink("run", path), 0);
	expect_told(dir, "run", "Too many levels of symbolic links");
	remove_folder(dir);
}

/* Folders in folders, deeper than a path can name. */
static int make_deep(const char *dir, const char *name, int depth)
{
	int at = open(dir, O_RDONLY | O_DIRECTORY);

	for (int i = 0; i < depth && at >= 0; i++) {
		cr_assert_eq(mkdirat(at, name, 0700), 0);
		const int below = openat(at, name, O_RDONLY | O_DIRECTORY);
		close(at);
		at = below;
	}
	return at;
}

static void remove_deep(const char *dir)
{
	struct ran r = run_program((const char *const[]){ "rm", "-rf", dir, NULL }, NULL, 0);

	ran_free(&r);
}

Test(trust, a_path_that_is_too_long)
{
	char *const dir = folder_with_a_trace(), name[201] = "", file[300];

	memset(name, 'd', 200);
	const int at = make_deep(dir, name, 25);
	cr_assert_geq(at, 0);
	snprintf(file, sizeof file, "%s.htdump", name);
	close(openat(at, file, O_CREAT | O_WRONLY, 0600));
	close(at);
	struct ran r = run_tool((const char *const[]){ "validate", dir, NULL }, NULL, 0);
	cr_expect_eq(r.status, STATUS_UNREADABLE);
	cr_expect_not_null(strstr(r.out, "ddd: File name too long\n"), "%s", r.out);
	ran_free(&r);
	remove_deep(dir);
	free(dir);
}

static bool named_like_a_trace(void *ctx, const char *name)
{
	(void)ctx;
	return strstr(name, ".htdump") != NULL;
}

static const struct input_tree_problem *problem_of(const struct input_tree *t, const char *suffix)
{
	for (size_t i = 0; i < t->nproblems; i++) {
		const size_t n = strlen(t->problems[i].path), m = strlen(suffix);
		if (n > m && strcmp(t->problems[i].path + n - m, suffix) == 0)
			return &t->problems[i];
	}
	return NULL;
}

static void expect_problem(const struct input_tree *t, const char *suffix, const char *text)
{
	const struct input_tree_problem *const p = problem_of(t, suffix);

	cr_assert_not_null(p, "no problem of %s", suffix);
	cr_expect_eq(p->fault, INPUT_DENIED);
	cr_expect_not_null(strstr(p->text, text), "%s: %s", suffix, p->text);
}

/* As a user who may list one folder but not search it, and may not even list another one. */
Test(trust, folders_without_permissions)
{
	static const char *const names[] = { "listed", "closed" };
	static const mode_t modes[] = { 0644, 0 };
	char *const dir = folder_with_a_trace(), path[1100];
	struct input_tree t = { .n = 0 };

	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		cr_assert_eq(mkdir(path, 0755), 0);
		snprintf(path, sizeof path, "%s/%s/b.htdump", dir, names[i]);
		cr_assert(write_whole(path, "x", 1));
		snprintf(path, sizeof path, "%s/%s/notes", dir, names[i]);
		cr_assert(write_whole(path, "x", 1));
		snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		cr_assert_eq(chmod(path, modes[i]), 0);
	}
	cr_assert_eq(chmod(dir, 0755), 0);
	const bool root = geteuid() == 0;
	cr_assert(!root || seteuid(65534) == 0);
	input_tree_list(&t, dir, named_like_a_trace, NULL);
	cr_assert(!root || seteuid(0) == 0);
	cr_expect_eq(t.n, 1);
	cr_expect_eq(t.nproblems, 3);
	expect_problem(&t, "/listed",
	               "its 2 entries cannot be looked at (no x permission): Permission denied");
	expect_problem(&t, "/listed/b.htdump", "Permission denied");
	expect_problem(&t, "/closed", "Permission denied");
	input_tree_free(&t);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		cr_assert_eq(chmod(path, 0700), 0);
	}
	remove_folder(dir);
}
