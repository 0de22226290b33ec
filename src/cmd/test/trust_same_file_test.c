#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"
#include "cli/command.h"

/* An output never replaces one of its inputs. */
#define SAMPLE "testdata/htdump/good/wire-little.htdump"

/* The program in a shell that stands in a folder with the sample: $T is the program, a.htdump the sample,
 * in/b.htdump another copy, and links to both. */
static struct ran in_folder(const char *dir, const char *command)
{
	static const char prepare[] =
	    "T=$(realpath \"$0\"); cp " SAMPLE " \"$1/a.htdump\" && mkdir -p \"$1/in\" && cp " SAMPLE
	    " \"$1/in/b.htdump\" && cd \"$1\" && ln -sf a.htdump link.htdump && ln -f a.htdump hard.htdump "
	    "&& "
	    "ln -sfn in linked && ln -sf ../in/b.htdump in/deep.htdump; ";
	char all[4096];

	snprintf(all, sizeof all, "%s%s", prepare, command);
	return run_program((const char *const[]){ "sh", "-c", all, tool_path(), dir, NULL }, NULL, 0);
}

static void expect_refused(const char *dir, const char *command, const char *words)
{
	size_t before_n, n;
	char path[1024], *const before = read_whole(SAMPLE, &before_n);
	struct ran r = in_folder(dir, command);

	cr_expect_eq(r.status, STATUS_USAGE, "%s: status %d: %s", command, r.status, r.err);
	cr_expect_not_null(strstr(r.err, words), "%s: %s is not in: %s", command, words, r.err);
	ran_free(&r);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, i == 0 ? "a.htdump" : "in/b.htdump");
		char *const after = read_whole(path, &n);
		cr_expect(after != NULL && n == before_n && memcmp(after, before, n) == 0,
		          "%s: the input is another one", command);
		free(after);
	}
	free(before);
}

Test(trust, an_output_that_is_an_input_is_refused)
{
	static const char *const ways[] = {
		"$T convert a.htdump a.htdump",
		"$T convert -f a.htdump a.htdump",
		"$T convert -f a.htdump ./in/../a.htdump",
		"$T convert -f a.htdump link.htdump",
		"$T convert -f link.htdump a.htdump",
		"$T convert -f a.htdump hard.htdump",
		"$T convert -f in/b.htdump a.htdump -o a.htdump",
		"$T convert -f --to chrome a.htdump -o link.htdump",
		"$T convert -f --to htdump - a.htdump < a.htdump",
		"$T convert -f --to htdump a.htdump - >> a.htdump",
		"$T convert -f --to htdump a.htdump /dev/stdout >> a.htdump",
		"$T stats -f -o a.htdump a.htdump",
		"$T validate -f -o a.htdump link.htdump",
		"$T cat -f -o hard.htdump a.htdump",
		"$T info -f -o a.htdump in a.htdump",
	};
	char *const dir = make_folder();

	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
		expect_refused(dir, ways[i], " is the input ");
	remove_folder(dir);
}

Test(trust, an_output_that_is_a_member_of_an_input_is_refused)
{
	static const char *const ways[] = {
		"$T convert -f in in/b.htdump",      "$T convert -f in in/deep.htdump",
		"$T convert -f linked in/b.htdump",  "$T convert -f a.htdump in -o linked/b.htdump",
		"$T stats -f -o in/b.htdump linked",
	};
	char *const dir = make_folder();

	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
		expect_refused(dir, ways[i], " is the input ");
	remove_folder(dir);
}

Test(trust, an_output_that_holds_an_input_is_refused)
{
	static const char *const ways[] = {
		"$T convert -f --to htdump in in",
		"$T convert -f --to htdump in/b.htdump in",
		"$T convert -f --to htdump in/b.htdump linked",
		"$T convert -f --to htdump a.htdump .",
		"ln -s in/b.htdump far.htdump; $T convert -f --to htdump far.htdump in",
	};
	char *const dir = make_folder();

	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
		expect_refused(dir, ways[i], " holds the input ");
	remove_folder(dir);
}

Test(trust, an_output_that_is_a_file_of_an_option_is_refused)
{
	char *const dir = make_folder();

	expect_refused(dir,
	               "printf 'format: htdump\\n' > v.yaml; $T convert -f --to chrome --vocabulary v.yaml "
	               "a.htdump v.yaml",
	               "the output v.yaml is the vocabulary v.yaml; nothing was done");
	expect_refused(dir, "printf '1 a\\n' > m; $T convert -f --to chrome --label-map m a.htdump m",
	               "the output m is the label-map m; nothing was done");
	remove_folder(dir);
}

/* Others of the same folder, and devices that are both, are fine. */
Test(trust, an_output_beside_its_input_is_written)
{
	char *const dir = make_folder();
	struct ran r = in_folder(
	    dir, "$T convert a.htdump in/new.htdump && $T convert -f a.htdump in/new.htdump && "
	         "cmp a.htdump in/new.htdump && "
	         "$T convert -f --to chrome - - < a.htdump > /dev/null && $T stats -q a.htdump -o t");

	cr_expect_eq(r.status, 0, "%s", r.err);
	ran_free(&r);
	remove_folder(dir);
}
