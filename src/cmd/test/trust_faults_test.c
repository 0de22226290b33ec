/* What a user sees when memory, the disk or the input fails.  Every single call is failed by `make
 * check-faults`. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"

#define SAMPLE "testdata/htdump/good/overlapping.htdump"

/* $0 is the program, $1 a folder. */
static struct ran shell(const char *script, const char *dir)
{
	const char *const argv[] = { "sh", "-c", script, tool_path(), dir, NULL };

	return run_program(argv, NULL, 0);
}

static void expect_empty(const char *dir, const char *script)
{
	char **const names = list_folder(dir, "");

	cr_expect_null(names[0], "%s left %s", script, names[0]);
	list_free(names);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* Below what the loader takes, it says so itself. */
static void limited(const char *command, unsigned kib)
{
	char *const dir = make_folder(), script[400];

	snprintf(script, sizeof script, "ulimit -v %u; exec \"$0\" %s", kib, command);
	struct ran r = shell(script, dir);
	const bool loaded = strstr(r.err, "shared librar") == NULL && strstr(r.err, "loader") == NULL;
	cr_expect(!loaded || r.status == 0 || r.status == 2, "%s: status %d: %s", script, r.status, r.err);
	cr_expect(r.status == 0 || r.err_n + r.out_n > 0, "%s: no message", script);
	if (r.status == 2) {
		cr_expect(strstr(r.err, "memory") != NULL || strstr(r.out, "memory") != NULL, "%s: %s%s",
		          script, r.err, r.out);
		expect_empty(dir, script);
	}
	ran_free(&r);
	remove_folder(dir);
}

Test(host_memory, out_of_memory_is_status_2_with_a_message)
{
	static const char *const commands[] = {
		"convert -f --threads 3 " SAMPLE " \"$1\"/out.json",
		"validate " SAMPLE,
		"stats " SAMPLE,
		"vocabulary check schemas/htdump.yaml",
	};

	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
		for (unsigned kib = 8000; kib <= 40000; kib += 1200)
			limited(commands[i], kib);
}
#endif

/* The limit of a file's size counts in 512 or 1024 bytes, as the shell likes. */
Test(trust, a_full_disk_is_status_2_and_leaves_nothing)
{
	static const char *const scripts[] = {
		("ulimit -f 1; exec \"$0\" convert " SAMPLE " \"$1\"/out.json"),
		("ulimit -f 1; exec \"$0\" convert --threads 3 " SAMPLE " \"$1\"/out.ndjson"),
		("ulimit -f 1; exec \"$0\" cat -o \"$1\"/out.txt " SAMPLE),
	};

	for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
		char *const dir = make_folder();
		struct ran r = shell(scripts[i], dir);
		cr_expect_eq(r.status, 2, "%s: status %d", scripts[i], r.status);
		cr_expect_not_null(strstr(r.err, "/out."), "%s: %s", scripts[i], r.err);
		cr_expect_not_null(strstr(r.err, "File too large"), "%s: %s", scripts[i], r.err);
		expect_empty(dir, scripts[i]);
		ran_free(&r);
		remove_folder(dir);
	}
}

Test(trust, a_report_that_cannot_be_written_is_status_2)
{
	static const char *const commands[] = {
		"validate " SAMPLE, "stats " SAMPLE, "cat " SAMPLE, "info " SAMPLE,
		"formats",          "explain",       "--help",      "vocabulary check schemas/htdump.yaml",
	};
	char script[300];

	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
		snprintf(script, sizeof script, "exec \"$0\" %s > /dev/full", commands[i]);
		struct ran r = shell(script, "");
		cr_expect_eq(r.status, 2, "%s: status %d", script, r.status);
		cr_expect_not_null(strstr(r.err, "standard output: No space left on device"), "%s: %s",
		                   script, r.err);
		ran_free(&r);
	}
}

/* A writer that takes its name back between the look into the folder and the reading. */
Test(trust, a_vanished_input_is_status_2_and_leaves_nothing)
{
	static const char script[] = "mkdir \"$1\"/in && cp " SAMPLE " \"$1\"/in/a.htdump && "
	                             "ln -s nowhere \"$1\"/gone.htdump && mkdir \"$1\"/out && "
	                             "exec \"$0\" convert \"$1\"/gone.htdump -o \"$1\"/out/out.json";
	char *const dir = make_folder(), out[600];
	struct ran r = shell(script, dir);

	cr_expect_eq(r.status, 2);
	cr_expect_not_null(strstr(r.err, "gone.htdump"), "%s", r.err);
	snprintf(out, sizeof out, "%s/out", dir);
	expect_empty(out, script);
	ran_free(&r);
	struct ran cleaned = shell("rm -r \"$1\"/in \"$1\"/out \"$1\"/gone.htdump", dir);
	ran_free(&cleaned);
	remove_folder(dir);
}
