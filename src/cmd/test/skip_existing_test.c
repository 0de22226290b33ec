#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"

/* convert --skip-existing: an output that is there stays, and nothing is read. */

#define SAMPLE "testdata/htdump/good/wire-little.htdump"
#define OTHER "testdata/htdump/good/overlapping.htdump"

static char *dir;
static char path[1100];

static void set_up(void)
{
	dir = make_folder();
}

static void tear_down(void)
{
	remove_folder(dir);
}

TestSuite(skip_existing, .init = set_up, .fini = tear_down);
TestSuite(host_race, .init = set_up, .fini = tear_down);

static const char *at(const char *name)
{
	snprintf(path, sizeof path, "%s/%s", dir, name);
	return path;
}

/* said: in the message; "": there is none. */
static void expect_run(const char *option, const char *in, const char *out, int status, const char *said)
{
	struct ran r =
	    run_tool((const char *const[]){ "convert", "--skip-existing", option, in, out, NULL }, NULL, 0);

	cr_expect_eq(r.status, status, "status %d, not %d: %s", r.status, status, r.err);
	if (said[0] == '\0')
		cr_expect_str_eq(r.err, "");
	else
		cr_expect_not_null(strstr(r.err, said), "%s is not in: %s", said, r.err);
	ran_free(&r);
}

static void expect_text(const char *name, const char *want)
{
	size_t n;
	char *const text = read_whole(at(name), &n);

	cr_assert_not_null(text);
	cr_expect_str_eq(text, want);
	free(text);
}

Test(skip_existing, a_file_stays_and_nothing_is_read)
{
	cr_assert(write_whole(at("a.json"), "mine", 4));
	expect_run("--lanes=on", "testdata/no/such/input", path, 0, "a.json: exists, skipped\n");
	expect_run("--quiet", "testdata/no/such/input", path, 0, "");
	expect_text("a.json", "mine");
}

Test(skip_existing, what_is_missing_is_made)
{
	struct stat st;

	expect_run("--lanes=on", SAMPLE, at("a.json"), 0, "");
	cr_assert_eq(stat(at("a.json"), &st), 0);
	cr_expect_gt(st.st_size, 100);
	expect_run("--lanes=on", "testdata/no/such/input", at("b.json"), 2, "no/such/input");
	cr_expect_neq(stat(at("b.json"), &st), 0);
}

/* A folder that tracetool did not write is refused as ever; so is a folder in the place of a file. */
Test(skip_existing, folders)
{
	struct stat before, after;

	expect_run("--lanes=on", SAMPLE, at("a.ctf"), 0, "");
	cr_assert_eq(stat(at("a.ctf/metadata"), &before), 0);
	expect_run("--lanes=on", OTHER, at("a.ctf"), 0, "a.ctf: exists, skipped");
	cr_assert_eq(stat(at("a.ctf/metadata"), &after), 0);
	cr_expect(before.st_ino == after.st_ino && before.st_size == after.st_size);
	cr_assert_eq(mkdir(at("b.ctf"), 0777), 0);
	expect_run("--lanes=on", SAMPLE, at("b.ctf"), 2, "already exists");
	cr_assert_eq(mkdir(at("c.json"), 0777), 0);
	expect_run("--lanes=on", SAMPLE, at("c.json"), 2, "c.json: ");
}

Test(skip_existing, what_cannot_be_looked_at_is_an_error)
{
	cr_assert_eq(symlink("loop.json", at("loop.json")), 0);
	expect_run("--lanes=on", "testdata/no/such/input", path, 2,
	           "loop.json: Too many levels of symbolic links");
}

Test(skip_existing, other_things_are_no_outputs)
{
	cr_assert_eq(symlink("nowhere.json", at("link.json")), 0);
	expect_run("--lanes=on", SAMPLE, path, 0, "");
	cr_expect_eq(access(at("nowhere.json"), R_OK), 0);
	expect_run("--lanes=on", SAMPLE, path, 0, "nowhere.json: exists, skipped");
	expect_run("--to=chrome", SAMPLE, "/dev/null", 0, "");
	expect_run("--to=chrome", SAMPLE, "-", 0, "");
}

Test(skip_existing, mistakes)
{
	expect_run("--force", SAMPLE, at("a.json"), 3, "--skip-existing keeps an output that -f replaces");
	expect_run("--lanes=on", SAMPLE, SAMPLE, 3, "is the input");
}

/* Somebody else made the output while it was written. */
Test(host_race, what_comes_meanwhile_stays)
{
	static const char script[] =
	    "\"$0\" convert --skip-existing --from dftracer - \"$1/a.json\" < \"$1/pipe\" & exec 3> "
	    "\"$1/pipe\"; "
	    "awk 'BEGIN { print \"[\"; for (i = 0; i < 20000; i++) printf "
	    "\"{\\\"id\\\":%d,\\\"name\\\":\\\"a\\\","
	    "\\\"cat\\\":\\\"c\\\",\\\"pid\\\":1,\\\"tid\\\":1,\\\"ts\\\":%d,\\\"dur\\\":1,"
	    "\\\"ph\\\":\\\"X\\\"}\\n\", i, 9 * i }' >&3; "
	    /* ., .., pipe, the temporary file */
	    "while [ $(ls -a \"$1\" | wc -l) -lt 4 ]; do sleep 0.01; done; "
	    "echo mine > \"$1/a.json\"; exec 3>&-; wait $!";

	cr_assert_eq(mkfifo(at("pipe"), 0666), 0);
	struct ran r = run_program(
	    (const char *const[]){ "timeout", "60", "sh", "-c", script, tool_path(), dir, NULL }, NULL, 0);
	cr_expect_eq(r.status, 0, "%d: %s", r.status, r.err);
	cr_expect_not_null(strstr(r.err, "a.json: exists, skipped"), "%s", r.err);
	expect_text("a.json", "mine\n");
	char **const names = list_folder(dir, "");
	cr_expect(names[0] != NULL && names[1] != NULL && names[2] == NULL, "something was left");
	list_free(names);
	ran_free(&r);
}
