/* Unreachable members of a folder are reported; the cost of files that come with a trace (policies,
 * baselines, vocabularies, options) is proportional to their size. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cmd/test/cli_test_util.h"
#include "input/open.h"

/* ---- members of folders ---- */

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

/* As a user who may list one folder but not search it, and may not list another one. */
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
	               "its 2 entries cannot be examined (no x permission): Permission denied");
	expect_problem(&t, "/listed/b.htdump", "Permission denied");
	expect_problem(&t, "/closed", "Permission denied");
	input_tree_free(&t);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		cr_assert_eq(chmod(path, 0700), 0);
	}
	remove_folder(dir);
}

/* ---- cost ---- */

/* A file that is built in memory; its folder is the test's. */
struct made {
	FILE *f;
	char path[1100];
};

static struct made made_begin(const char *dir, const char *name)
{
	struct made m;

	snprintf(m.path, sizeof m.path, "%s/%s", dir, name);
	m.f = fopen(m.path, "w");
	cr_assert_not_null(m.f);
	return m;
}

static void made_end(struct made *m)
{
	cr_assert_eq(fclose(m->f), 0);
}

/* Runs the tool within `seconds` of CPU; returns its status. */
PRINTF(2, 3) static int run_within(unsigned seconds, const char *format, ...)
{
	char args[4096], command[4500];
	va_list ap;

	va_start(ap, format);
	vsnprintf(args, sizeof args, format, ap);
	va_end(ap);
	snprintf(command, sizeof command, "ulimit -t ${COST_SECONDS:-%u}; \"$0\" %s >/dev/null 2>&1", seconds,
	         args);
	struct ran r = run_program((const char *const[]){ "sh", "-c", command, tool_path(), NULL }, NULL, 0);
	const int status = r.status;
	ran_free(&r);
	return status;
}

/* 64 patterns of 1 KB, and 4,500 names of 1 KB that are referred to again and again. */
Test(trust_cost, patterns_and_names_that_are_long)
{
	char *const dir = make_folder();
	struct made t = made_begin(dir, "t.json"), p = made_begin(dir, "p.yaml");
	char stars[14 * 61 + 1], name[1001];

	memset(stars, 'a', sizeof stars - 1);
	for (int i = 0; i < 14; i++) /* of 16 that a pattern may have */
		stars[61 * i] = '*';
	stars[sizeof stars - 1] = '\0';
	fputs("expect:\n  events:\n", p.f);
	for (int i = 0; i < 64; i++)
		fprintf(p.f, "    - {name: \"%s*%db*\", count: {min: 0}}\n", stars, i);
	made_end(&p);
	memset(name, 'a', 1000);
	fputs("[\n", t.f);
	for (unsigned i = 0; i < 9000; i++) {
		snprintf(name + 994, 7, "%06u", i % 4500);
		fprintf(t.f, "%s{\"ph\":\"X\",\"name\":\"%s\",\"ts\":%u,\"dur\":1,\"pid\":1,\"tid\":1}",
		        i > 0 ? ",\n" : "", name, i * 10);
	}
	fputs("\n]\n", t.f);
	made_end(&t);
	cr_expect_eq(run_within(60, "validate --config %s/p.yaml %s/t.json", dir, dir), 0);
	/* More stars are refused before the trace is read. */
	p = made_begin(dir, "p.yaml");
	fputs("expect: {events: [{name: \"", p.f);
	for (int i = 0; i < 400; i++)
		fputs("*a", p.f);
	fputs("\", count: {min: 0}}]}\n", p.f);
	made_end(&p);
	cr_expect_eq(run_within(60, "validate --config %s/p.yaml %s/t.json", dir, dir), 2);
	remove_folder(dir);
}

/* 16,000 rules of a vocabulary: refused, or looked up. */
Test(trust_cost, a_vocabulary_of_many_rules)
{
	char *const dir = make_folder();
	struct made v = made_begin(dir, "v.yaml");

	fputs("format: chrome\nevents:\n", v.f);
	for (unsigned i = 0; i < 16000; i++)
		fprintf(v.f, "  - match: \"A%u*\"\n    name: \"{x}\"\n", i);
	made_end(&v);
	const int status =
	    run_within(60, "validate --vocabulary %s/v.yaml testdata/chrome/good/object.json", dir);
	cr_expect(status == 0 || status == 2, "status %d", status);
	remove_folder(dir);
}

/* The maximum number of parts. */
Test(trust_cost, a_part_for_each_of_many_threads)
{
	char *const dir = make_folder();
	struct made t = made_begin(dir, "t.json");

	fputs("[\n", t.f);
	for (unsigned i = 0; i < 9999; i++)
		fprintf(t.f, "%s{\"ph\":\"X\",\"name\":\"s\",\"ts\":%u,\"dur\":1,\"pid\":1,\"tid\":%u}",
		        i > 0 ? ",\n" : "", i * 10, i + 1);
	fputs("\n]\n", t.f);
	made_end(&t);
	cr_expect_eq(run_within(60, "convert -q --split by=tid --to ndjson %s/t.json %s/o", dir, dir), 0);
	remove_folder(dir);
}

/* 60 MB through a pipe: bytes that were checked are not kept. */
Test(host_trust, validation_of_a_pipe)
{
	char *const dir = make_folder();
	struct made t = made_begin(dir, "t.json");
	struct rusage used;

	fputs("[\n", t.f);
	for (unsigned i = 0; i < 1000000; i++)
		fprintf(t.f, "%s{\"ph\":\"X\",\"name\":\"s\",\"ts\":%u,\"dur\":1,\"pid\":1,\"tid\":1}",
		        i > 0 ? ",\n" : "", i * 10);
	fputs("\n]\n", t.f);
	made_end(&t);
	const char *const argv[] = { "sh",        "-c",   "cat \"$1\" | \"$0\" validate -q -",
		                     tool_path(), t.path, NULL };
	struct ran r = run_program(argv, NULL, 0);
	cr_expect_eq(r.status, 0, "%s", r.err);
	ran_free(&r);
	cr_assert_eq(getrusage(RUSAGE_CHILDREN, &used), 0);
	cr_expect_lt(used.ru_maxrss, 40 * 1024, "%ld KiB", used.ru_maxrss);
	remove_folder(dir);
}

/* 8,000,000 numbers where a baseline has reports: memory is a small multiple of its size. */
Test(host_trust, a_baseline_of_many_numbers)
{
	char *const dir = make_folder();
	struct made b = made_begin(dir, "base.json");
	struct rusage used;

	fputs("{\"inputs\":[", b.f);
	for (unsigned i = 0; i < 8000000; i++)
		fputs("0,", b.f);
	fputs("0]}", b.f);
	made_end(&b);
	const char *const argv[] = { tool_path(),  "validate", "-q",
		                     "--baseline", b.path,     "testdata/htdump/good/wire-little.htdump",
		                     NULL };
	struct ran r = run_program(argv, NULL, 0);
	cr_expect_eq(r.status, 2);
	ran_free(&r);
	cr_assert_eq(getrusage(RUSAGE_CHILDREN, &used), 0);
	cr_expect_lt(used.ru_maxrss, (4 * 16 + 64) * 1024, "%ld KiB", used.ru_maxrss);
	remove_folder(dir);
}
