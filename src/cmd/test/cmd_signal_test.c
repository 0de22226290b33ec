/* Closed pipes, signals and races during output: no messages, no temporary files left. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/test/cli_test_util.h"

#define SAMPLE "testdata/htdump/good/wire-little.htdump"

/* Runs a shell command: $0 is the program, $1 the folder. */
static struct ran shell(const char *dir, const char *command)
{
	return run_program((const char *const[]){ "sh", "-c", command, tool_path(), dir, NULL }, NULL, 0);
}

/* Writes a trace larger than the buffer of a pipe: the sample, repeated. */
static void write_long_trace(const char *dir)
{
	size_t n;
	char *const p = read_whole(SAMPLE, &n), path[1024];

	cr_assert_not_null(p);
	snprintf(path, sizeof path, "%s/long.htdump", dir);
	FILE *const f = fopen(path, "wb");
	cr_assert_not_null(f);
	for (int i = 0; i < 400; i++)
		cr_assert_eq(fwrite(p, 1, n, f), n);
	cr_assert_eq(fclose(f), 0);
	free(p);
}

Test(cmd_signal, closed_pipe)
{
	static const char *const ways[] = { "cat", "cat --hex", "convert --to chrome -o -" };
	char *const dir = make_folder();

	write_long_trace(dir);
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		char command[1024];
		snprintf(command, sizeof command,
		         "{ \"$0\" %s \"$1/long.htdump\"; echo \"status $?\" > \"$1/status\"; } | head -n 1 "
		         "> /dev/null; "
		         "cat \"$1/status\"",
		         ways[i]);
		struct ran r = shell(dir, command);
		cr_expect_str_eq(r.out, "status 141\n", "%s", ways[i]);
		cr_expect_str_eq(r.err, "", "%s: %s", ways[i], r.err);
		ran_free(&r);
	}
	remove_folder(dir);
}

/* Sends the signal when the program certainly runs and its temporary file exists: its input is a FIFO that
 * supplies some bytes and then stays open. */
static void expect_clean_end(const char *signal, int status)
{
	char *const dir = make_folder();
	char command[1024];

	snprintf(
	    command, sizeof command,
	    "mkfifo \"$1/in\" || exit 99\n"
	    "env --default-signal \"$0\" convert - \"$1/out.json\" < \"$1/in\" & pid=$!\n" /* for nohup */
	    "exec 9> \"$1/in\"\n"
	    "\"cat\" testdata/htdump/good/wire-little.htdump >&9\n"
	    "head -c 70000 /dev/zero >&9\n" /* more than is read to detect the format */
	    "n=0\n"
	    "while [ \"$(ls -A \"$1\" | wc -l)\" -lt 2 ] && [ $n -lt 6000 ]; do sleep 0.01; n=$((n+1)); "
	    "done\n"
	    "ls -A \"$1\" | wc -l\n"
	    "kill -%s $pid; wait $pid; echo \"status $?\"; ls -A \"$1\"\n",
	    signal);
	struct ran r = shell(dir, command);
	char want[64];
	snprintf(want, sizeof want, "status %d\nin\n", status);
	cr_expect_not_null(strstr(r.out, want), "%s: %s%s", signal, r.out, r.err);
	cr_expect_eq(strncmp(r.out, "2\n", 2), 0, "%s: the temporary file was not there: %s", signal, r.out);
	cr_expect_null(strstr(r.err, "tracetool: "), "%s", r.err);
	ran_free(&r);
	remove_folder(dir);
}

Test(host_signal, a_signal_leaves_no_file)
{
	expect_clean_end("TERM", 128 + 15);
	expect_clean_end("HUP", 128 + 1);
	expect_clean_end("XCPU", 128 + 24);
	expect_clean_end("ALRM", 128 + 14);
	expect_clean_end("USR1", 128 + 10);
	expect_clean_end("USR2", 128 + 12);
}

/* Another process creates the output during the conversion. */
Test(host_race, concurrent_output_is_kept)
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

	char *const dir = make_folder(), path[1100];
	size_t n;

	snprintf(path, sizeof path, "%s/pipe", dir);
	cr_assert_eq(mkfifo(path, 0666), 0);
	struct ran r = run_program(
	    (const char *const[]){ "timeout", "60", "sh", "-c", script, tool_path(), dir, NULL }, NULL, 0);
	cr_expect_eq(r.status, 0, "%d: %s", r.status, r.err);
	cr_expect_not_null(strstr(r.err, "a.json: exists, skipped"), "%s", r.err);
	snprintf(path, sizeof path, "%s/a.json", dir);
	char *const text = read_whole(path, &n);
	cr_assert_not_null(text);
	cr_expect_str_eq(text, "mine\n");
	free(text);
	char **const names = list_folder(dir, "");
	cr_expect(names[0] != NULL && names[1] != NULL && names[2] == NULL, "something was left");
	list_free(names);
	ran_free(&r);
	remove_folder(dir);
}
