#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"
#include "cli/command.h"

/* One rule: if an input, or a member of one, cannot be opened or read, no output gets its name, unless
 * --keep-partial; the status is 2.  What is damaged is a finding, and what was read of it is kept. */

#define SAMPLE "testdata/htdump/good/wire-little.htdump"
#define NOT_WRITTEN "not written, as an input could not be read (--keep-partial writes what could)"

/* $0 is the program, $1 a folder with good.htdump. */
static struct ran shell(const char *dir, const char *command)
{
	char all[4096];

	snprintf(all, sizeof all, "cp " SAMPLE " \"$1/good.htdump\"; %s", command);
	return run_program((const char *const[]){ "sh", "-c", all, tool_path(), dir, NULL }, NULL, 0);
}

static bool exists(const char *dir, const char *name)
{
	char path[1024];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	return access(path, F_OK) == 0;
}

/* inputs: operands in the shell.  Both ways, with and without --keep-partial. */
static void expect_incomplete(const char *prepare, const char *inputs, const char *rule)
{
	char *const dir = make_folder();
	char command[2048];

	snprintf(command, sizeof command, "%s; exec \"$0\" convert %s -o \"$1/out.json\"", prepare, inputs);
	struct ran r = shell(dir, command);
	cr_expect_eq(r.status, STATUS_UNREADABLE, "%s: status %d", inputs, r.status);
	cr_expect_not_null(strstr(r.err, rule), "%s: %s", inputs, r.err);
	cr_expect_not_null(strstr(r.err, NOT_WRITTEN), "%s: %s", inputs, r.err);
	cr_expect_not(exists(dir, "out.json"), "%s", inputs);
	ran_free(&r);
	snprintf(command, sizeof command, "%s; exec \"$0\" convert --keep-partial %s -o \"$1/out.json\"",
	         prepare, inputs);
	r = shell(dir, command);
	cr_expect_eq(r.status, STATUS_UNREADABLE, "%s: status %d", inputs, r.status);
	cr_expect_null(strstr(r.err, NOT_WRITTEN), "%s: %s", inputs, r.err);
	cr_expect(exists(dir, "out.json"), "%s", inputs);
	ran_free(&r);
	remove_folder(dir);
}

Test(trust, an_input_that_cannot_be_opened_leaves_no_output)
{
	expect_incomplete("true", "\"$1/good.htdump\" \"$1/missing\"", ": no such file");
	expect_incomplete("true", "\"$1/missing\" \"$1/good.htdump\"", ": no such file");
	expect_incomplete("true", "\"$1/good.htdump\" /dev/null", "[input/not-a-file]");
	expect_incomplete("true", "\"$1/good.htdump\" Makefile", "[input/unknown-format]");
	expect_incomplete(": > \"$1/empty\"", "\"$1/good.htdump\" \"$1/empty\"", "[input/empty]");
	expect_incomplete("mkdir -p \"$1/none\"", "\"$1/good.htdump\" \"$1/none\"", "[input/not-a-file]");
	/* no process may be read at address 0: EIO */
	expect_incomplete("true", "\"$1/good.htdump\" /proc/self/mem", "cannot read: Input/output error");
}

Test(trust, a_member_that_cannot_be_opened_leaves_no_output)
{
	expect_incomplete("mkdir -p \"$1/in\"; cp " SAMPLE " \"$1/in/a.htdump\"; "
	                  "ln -sf nowhere \"$1/in/b.htdump\"",
	                  "\"$1/in\"", "link to nowhere");
	expect_incomplete("mkdir -p \"$1/in\"; cp " SAMPLE " \"$1/in/a.htdump\"; mkfifo \"$1/in/b.htdump\"",
	                  "\"$1/in\"", "[input/not-a-file]");
	if (geteuid() != 0) /* root may read all */
		expect_incomplete("mkdir -p \"$1/in\"; cp " SAMPLE " \"$1/in/a.htdump\"; "
		                  "cp " SAMPLE " \"$1/in/b.htdump\"; chmod 0 \"$1/in/b.htdump\"",
		                  "\"$1/in\"", "[input/denied]");
}

Test(trust, an_output_that_was_there_stays_when_an_input_is_missing)
{
	char *const dir = make_folder();
	struct ran r = shell(dir, "echo old > \"$1/out.json\"; "
	                          "\"$0\" convert -f \"$1/good.htdump\" \"$1/no\" -o \"$1/out.json\"; "
	                          "echo \"status $?\"; cat \"$1/out.json\"");

	cr_expect_str_eq(r.out, "status 2\nold\n");
	ran_free(&r);
	remove_folder(dir);
}

/* A record that is cut and a compressed stream that is cut have the same status, and leave what came before.
 */
Test(trust, a_cut_record_and_a_cut_gzip_have_the_same_status)
{
	static const char *const ways[][2] = {
		{ "head -c 1500 " SAMPLE, "[htdump/cut-record]" },
		{ "gzip -c " SAMPLE " | head -c 700", "[input/packed-cut]" },
	};

	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		static const char *const readers[] = { "validate", "stats", "cat", "info",
			                               "convert --to chrome -f -o \"$1/out.json\"" };
		for (size_t k = 0; k < sizeof readers / sizeof readers[0]; k++) {
			char *const dir = make_folder();
			char command[2048];
			snprintf(command, sizeof command, "%s | \"$0\" %s - 2>&1", ways[i][0], readers[k]);
			struct ran r = shell(dir, command);
			cr_expect_eq(r.status, STATUS_FINDINGS, "%s: status %d: %s", command, r.status,
			             r.out);
			cr_expect_not_null(strstr(r.out, ways[i][1]), "%s: %s", command, r.out);
			cr_expect_eq(exists(dir, "out.json"), k == 4);
			ran_free(&r);
			remove_folder(dir);
		}
	}
}

/* A wrong --from: nothing could be read. */
Test(trust, an_input_of_which_nothing_is_read_makes_no_output)
{
	static const char *const from[] = { "dial9", "heph", "ovni", "dftracer", "chrome", "ndjson" };
	char *const dir = make_folder(), out[600];
	const char *const in = "testdata/htdump/good/wire-little.htdump";

	snprintf(out, sizeof out, "%s/o.json", dir);
	for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
		struct ran r =
		    run_tool((const char *const[]){ "convert", "--from", from[i], in, out, NULL }, NULL, 0);
		cr_expect_eq(r.status, 2, "%s: status %d: %s", from[i], r.status, r.err);
		cr_expect_not_null(strstr(r.err, "its content looks like htdump (leave out --from)"), "%s",
		                   r.err);
		cr_expect_not_null(strstr(r.err, NOT_WRITTEN), "%s", r.err);
		cr_expect_neq(access(out, F_OK), 0, "%s", from[i]);
		ran_free(&r);
		r = run_tool((const char *const[]){ "merge", "--align", "none", "--from", from[i], in, "-o",
		                                    out, NULL },
		             NULL, 0);
		cr_expect(r.status == 2 && access(out, F_OK) != 0, "merge, %s: status %d: %s", from[i],
		          r.status, r.err);
		ran_free(&r);
		r = run_tool((const char *const[]){ "convert", "--split", "by=tid", "--to", "ndjson",
		                                    "--from", from[i], in, out, NULL },
		             NULL, 0);
		cr_expect(r.status == 2 && access(out, F_OK) != 0, "parts, %s: status %d: %s", from[i],
		          r.status, r.err);
		ran_free(&r);
	}
	remove_folder(dir);
}
