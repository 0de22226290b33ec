/* A stream that becomes shorter while it is merged with others. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/test/cli_test_util.h"

#define HEAD "ovni\1\0\0\0"
#define EVENT "\0OB.\7\0\0\0\0\0\0\0" /* at 7 ns, 12 bytes */
#define JUMBO (300 << 10)             /* more than a piece of a file: from here on it is mapped */
#define EVENTS 20000

static void put_stream(const char *dir, int number, const char *bytes, size_t n)
{
	static const char json[] = "{\"version\":3,\"ovni\":{\"part\":\"thread\",\"tid\":1,\"pid\":1}}";
	char path[1024];

	snprintf(path, sizeof path, "%s/in/%03d", dir, number);
	cr_assert_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof path, "%s/in/%03d/stream.obs", dir, number);
	cr_assert(write_whole(path, bytes, n));
	snprintf(path, sizeof path, "%s/in/%03d/stream.json", dir, number);
	cr_assert(write_whole(path, json, sizeof json - 1));
}

/* Head, a jumbo event, and a megabyte of others. */
static size_t large_stream(char *to)
{
	size_t n = 8 + 12;

	memcpy(to, HEAD "\x13OU\"\6\0\0\0\0\0\0\0", n);
	for (int i = 0; i < 4; i++)
		to[n++] = (char)(JUMBO >> 8 * i & 0xff);
	memset(to + n, 'j', JUMBO);
	n += JUMBO;
	for (int i = 0; i < EVENTS; i++, n += 12)
		memcpy(to + n, EVENT, 12);
	return n;
}

/* More streams than are mapped side by side. */
static void put_streams(const char *dir)
{
	char path[1024], *const large = malloc(JUMBO + EVENTS * 12 + 100);

	cr_assert_not_null(large);
	snprintf(path, sizeof path, "%s/in", dir);
	cr_assert_eq(mkdir(path, 0700), 0);
	for (int i = 0; i < 135; i++)
		put_stream(dir, i, HEAD EVENT, 20);
	put_stream(dir, 500, large, large_stream(large));
	memcpy(large, HEAD, 8);
	for (size_t n = 8; n < 8 + 6000 * 12; n += 12)
		memcpy(large + n, EVENT, 12);
	snprintf(path, sizeof path, "%s/begin", dir);
	cr_assert(write_whole(path, large, 8 + 6000 * 12));
	free(large);
}

/* The stream on standard input gives enough to be recognised, then waits until the large file was mapped and
 * cut behind its jumbo event. */
static struct ran cut_while_read(const char *dir, const char *command)
{
	static const char script[] = "mkfifo \"$1/fifo\" || exit 99\n"
	                             "tool=$(readlink -f \"$0\")\n"
	                             "(cd \"$1\" && exec \"$tool\" $2) < \"$1/fifo\" & pid=$!\n"
	                             "exec 9> \"$1/fifo\"\n"
	                             "cat \"$1/begin\" >&9\n"
	                             "n=0\n"
	                             "until grep -q 500/stream.obs /proc/$pid/maps || [ $n -gt 1500 ]; do "
	                             "sleep 0.02; n=$((n+1)); done\n"
	                             "grep -c 500/stream.obs /proc/$pid/maps\n"
	                             "truncate -s 320000 \"$1/in/500/stream.obs\"\n"
	                             "exec 9>&-\n"
	                             "wait $pid; echo \"status $?\"; ls \"$1\"\n";

	return run_program((const char *const[]){ "sh", "-c", script, tool_path(), dir, command, NULL }, NULL,
	                   0);
}

static void expect_nothing_made(const char *command)
{
	char *const dir = make_folder();

	put_streams(dir);
	struct ran r = cut_while_read(dir, command);
	cr_expect_str_eq(r.out, "1\nstatus 2\nbegin\nfifo\nin\n", "%s: %s%s", command, r.out, r.err);
	cr_expect_not_null(strstr(r.err, "in/500/stream.obs:@"), "%s", r.err);
	cr_expect_not_null(strstr(r.err, "the file became shorter while it was read [input/shrunk]"), "%s",
	                   r.err);
	ran_free(&r);
	remove_folder(dir);
}

Test(host_race, ovni_a_merged_stream_that_shrinks_is_not_published)
{
	expect_nothing_made("convert in - -o out.json");
	expect_nothing_made("convert --to ndjson in - -o out.ndjson");
}
