/* Files left by a killed run, as the manual describes them; messages on OOM.  `make check-faults` fails every
 * single call. */
#include <criterion/criterion.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"

/* The output is certainly incomplete: the input is a FIFO that stays open. */
Test(host_signal, leftovers_of_sigkill_have_the_name_in_the_manual)
{
	static const char command[] =
	    "mkfifo \"$1/in\" || exit 99\n"
	    "\"$0\" convert - \"$1/out.json\" < \"$1/in\" & pid=$!\n"
	    "exec 9> \"$1/in\"\n"
	    "cat testdata/htdump/good/wire-little.htdump >&9; head -c 70000 /dev/zero >&9\n"
	    "n=0\n"
	    "while [ \"$(ls -A \"$1\" | wc -l)\" -lt 2 ] && [ $n -lt 6000 ]; do sleep 0.01; n=$((n+1)); "
	    "done\n"
	    "kill -KILL $pid; wait $pid 2> /dev/null; echo \"status $?\"; rm \"$1/in\"; ls -A \"$1\"\n";
	char *const dir = make_folder();
	size_t n;
	struct ran r =
	    run_program((const char *const[]){ "sh", "-c", command, tool_path(), dir, NULL }, NULL, 0);

	cr_expect_eq(fnmatch("status 137\n.out.json.tracetool-[a-z0-9][a-z0-9][a-z0-9][a-z0-9][a-z0-9]"
	                     "[a-z0-9][a-z0-9][a-z0-9][a-z0-9][a-z0-9]\n",
	                     r.out, 0),
	             0, "%s", r.out);
	ran_free(&r);
	char *const page = read_whole("man/tracetool.1", &n);
	cr_assert_not_null(page);
	cr_expect_not_null(strstr(page, ".tracetool-XXXXXXXXXX"));
	cr_expect_not_null(strstr(page, "SIGKILL"));
	free(page);
	remove_folder(dir);
}

#define SAMPLE "testdata/htdump/good/overlapping.htdump"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
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

/* With less memory than the loader needs, the loader itself reports it. */
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
	static const char *const lines[] = {
		"convert -f --threads 3 " SAMPLE " \"$1\"/out.json",
		"validate " SAMPLE,
		"stats " SAMPLE,
		"vocabulary check schemas/htdump.yaml",
	};

	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		for (unsigned kib = 8000; kib <= 40000; kib += 1200)
			limited(lines[i], kib);
}
#endif
