/* Rules of users: a class is a category of records. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"

static struct ran with_rules(const char *command, const char *sample, const char *rules)
{
	char *const dir = make_folder();
	char path[1024], text[1024];

	snprintf(path, sizeof path, "%s/own.yaml", dir);
	snprintf(text, sizeof text, "format: dftracer\n%s", rules);
	cr_assert(write_whole(path, text, strlen(text)));
	const bool convert = strcmp(command, "convert") == 0;
	const char *const args[] = { command, "--vocabulary", path, sample, convert ? "-" : NULL,
		                     "--to",  "chrome",       NULL };
	struct ran r = run_tool(args, NULL, 0);
	cr_expect_eq(r.status, 0, "%s", r.err);
	remove_folder(dir);
	return r;
}

Test(dftracer_schema, named_by_an_argument)
{
	struct ran r =
	    with_rules("stats", "testdata/dftracer/good/d2.pfw",
	               "events:\n  - {event: POSIX, named: open, name: \"open of {size} bytes\"}\n");

	cr_expect_not_null(strstr(r.out, "open of 512 bytes"), "%s%s", r.out, r.err);
	ran_free(&r);
}

/* "process 31 (node1)" and "thread 4711" else. */
Test(dftracer_schema, names_of_processes_and_threads)
{
	struct ran r = with_rules("convert", "testdata/dftracer/good/d0.pfw",
	                          "tracks: {process: \"rank {id}\", thread: \"T{id}\"}\nevents: []\n");

	cr_expect_not_null(strstr(r.out, "\"args\":{\"name\":\"rank 31 (node1)\"}"), "%.2000s%s", r.out,
	                   r.err);
	cr_expect_not_null(strstr(r.out, "\"args\":{\"name\":\"T4711\"}"), "%.2000s", r.out);
	ran_free(&r);
}
