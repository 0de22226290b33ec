#include <cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cmd/test/cli_test_util.h"

/* ---- outputs ---- */

/* Where output goes, and that it is whole or not there. */

#define RUN(...) run_tool((const char *const[]){ __VA_ARGS__, NULL }, NULL, 0)
#define SAMPLE "testdata/htdump/good/wire-little.htdump"
#define OVERLAPPING "testdata/htdump/good/overlapping.htdump"
#define BAD(name) "testdata/htdump/bad/" name ".htdump"

/* The program in a shell: $0 is the program, $1 the folder. */
static struct ran shell(const char *dir, const char *command)
{
	return run_program((const char *const[]){ "sh", "-c", command, tool_path(), dir, NULL }, NULL, 0);
}

static void expect_folder(const char *dir, const char *const *want)
{
	char **const names = list_folder(dir, "");
	size_t i = 0;

	for (; names[i] != NULL && want[i] != NULL; i++)
		cr_expect_str_eq(names[i], want[i]);
	cr_expect(names[i] == NULL && want[i] == NULL, "there is %s, expected was %s",
	          names[i] != NULL ? names[i] : "no more", want[i] != NULL ? want[i] : "no more");
	list_free(names);
}

static void expect_status(struct ran r, int status, const char *said)
{
	cr_expect_eq(r.status, status, "status %d, not %d: %s", r.status, status, r.err);
	if (said[0] == '\0')
		cr_expect_str_eq(r.err, "");
	else
		cr_expect_not_null(strstr(r.err, said), "%s is not in: %s", said, r.err);
	ran_free(&r);
}

/* All ways of writing give the same bytes. */
Test(cmd_output, file_standard_output_and_packed)
{
	char *const dir = make_folder();
	struct ran want = RUN("convert", "--to", "chrome", SAMPLE, "-");

	cr_expect_eq(want.status, 0);
	expect_status(shell(dir, "\"$0\" convert " SAMPLE " \"$1/a.json\" && \"$0\" convert " SAMPLE
	                         " -o \"$1/b.json.gz\" && \"$0\" convert " SAMPLE " \"$1/c.json.zst\" && "
	                         "\"$0\" convert --to chrome " SAMPLE " /dev/stdout > \"$1/d\" && "
	                         "gzip -dc < \"$1/b.json.gz\" > \"$1/e\" && "
	                         "\"$0\" convert --to=chrome -o \"$1/f\" " SAMPLE),
	              0, "");
	static const char *const names[] = { "a.json", "b.json.gz", "c.json.zst", "d", "e", "f", NULL };
	expect_folder(dir, names);
	for (size_t i = 0; names[i] != NULL; i++) {
		char path[1024];
		size_t n;
		snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		char *const got = read_whole(path, &n);
		cr_assert_not_null(got);
		const bool packed = strstr(names[i], ".gz") != NULL || strstr(names[i], ".zst") != NULL;
		cr_expect(packed ? n < want.out_n : n == want.out_n && memcmp(got, want.out, n) == 0,
		          "%s differs", names[i]);
		free(got);
	}
	ran_free(&want);
	remove_folder(dir);
}

Test(cmd_output, from_standard_input)
{
	size_t n;
	char *const p = read_whole(SAMPLE, &n);
	struct ran r = run_tool((const char *const[]){ "convert", "--to=chrome", "-", "-", NULL }, p, n);

	cr_expect_eq(r.status, 0);
	cr_expect_str_eq(r.err, "");
	cJSON *const json = cJSON_Parse(r.out);
	const cJSON *const events = cJSON_GetObjectItemCaseSensitive(json, "traceEvents");
	/* 12 events, and the names of one process and three threads */
	cr_expect_eq(cJSON_GetArraySize(events), 12 + 1 + 2 * 3);
	cJSON_Delete(json);
	ran_free(&r);
	free(p);
}

Test(cmd_output, existing_files)
{
	char *const dir = make_folder();

	expect_status(shell(dir, "echo mine > \"$1/a.json\"; \"$0\" convert " SAMPLE " \"$1/a.json\""), 2,
	              "already exists");
	expect_status(shell(dir, "\"$0\" stats -o \"$1/a.json\" " SAMPLE), 3, "already exists");
	expect_status(shell(dir, "\"$0\" validate -o \"$1/a.json\" " SAMPLE), 3, "already exists");
	expect_status(shell(dir, "\"$0\" cat -o \"$1/a.json\" " SAMPLE), 3, "already exists");
	expect_status(shell(dir, "test \"$(cat \"$1/a.json\")\" = mine"), 0, "");
	expect_status(shell(dir, "\"$0\" convert -f " SAMPLE " \"$1/a.json\""), 0, "");
	expect_status(shell(dir, "\"$0\" validate --force -o \"$1/a.json\" " SAMPLE), 0, "");
	expect_status(shell(dir, "grep -q ': valid htdump' \"$1/a.json\""), 0, "");
	/* a failed run leaves the old one as it is */
	expect_status(shell(dir, "\"$0\" convert -f nowhere \"$1/a.json\""), 2, ": no such file");
	expect_status(shell(dir, "grep -q ': valid htdump' \"$1/a.json\""), 0, "");
	expect_folder(dir, (const char *const[]){ "a.json", NULL });
	remove_folder(dir);
}

Test(cmd_output, places_that_cannot_be_written)
{
	char *const dir = make_folder();

	expect_status(shell(dir, "\"$0\" convert " SAMPLE " \"$1/no/such/a.json\""), 2,
	              "its directory does not exist");
	expect_status(shell(dir, "\"$0\" convert -f --to chrome " SAMPLE " \"$1\""), 2, "directory");
	expect_status(shell(dir, "\"$0\" stats -o \"$1/no/such/report\" " SAMPLE), 2,
	              "its directory does not exist");
	if (geteuid() != 0) { /* root may write everywhere */
		expect_status(shell(dir, "chmod 500 \"$1\"; \"$0\" convert " SAMPLE " \"$1/a.json\""), 2,
		              "Permission denied");
		expect_status(shell(dir, "chmod 700 \"$1\""), 0, "");
	}
	expect_folder(dir, (const char *const[]){ NULL });
	remove_folder(dir);
}

/* A device that is always full. */
Test(cmd_output, disk_full)
{
	static const char *const ways[] = {
		"exec \"$0\" convert --to chrome " SAMPLE " /dev/full",
		"exec \"$0\" convert --to chrome " SAMPLE " - > /dev/full",
		"exec \"$0\" validate -o /dev/full " SAMPLE,
		"exec \"$0\" validate " SAMPLE " > /dev/full",
		"exec \"$0\" validate --format json " SAMPLE " > /dev/full",
		"exec \"$0\" stats " SAMPLE " > /dev/full",
		"exec \"$0\" cat " SAMPLE " > /dev/full",
		"exec \"$0\" info " SAMPLE " > /dev/full",
		"exec \"$0\" formats > /dev/full",
		"exec \"$0\" explain > /dev/full",
		"exec \"$0\" stats --help > /dev/full",
		"exec \"$0\" --help > /dev/full",
		"exec \"$0\" --version > /dev/full",
	};

	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		struct ran r = shell("", ways[i]);
		cr_expect_eq(r.status, 2, "%s: status %d", ways[i], r.status);
		cr_expect_not_null(strstr(r.err, "No space left on device"), "%s: %s", ways[i], r.err);
		ran_free(&r);
	}
	expect_status(RUN("convert", "--to", "chrome", SAMPLE, "/dev/null"), 0, "");
}

/* What came before a fault is kept where the fault is the input's, with a status that says so. */
Test(cmd_output, faulty_inputs)
{
	char *const dir = make_folder();

	expect_status(shell(dir, "\"$0\" convert " BAD("cut-record") " \"$1/cut.json\""), 1,
	              "[htdump/cut-record]");
	expect_status(shell(dir, "head -c 700 " SAMPLE ".gz | \"$0\" convert - \"$1/packed.json\""), 1,
	              "[input/packed-cut]");
	expect_status(
	    shell(dir, "head -c 700 " SAMPLE ".gz | \"$0\" convert --keep-partial - \"$1/partial.json\""), 1,
	    "[input/packed-cut]");
	expect_status(shell(dir, "cmp \"$1/packed.json\" \"$1/partial.json\""), 0, "");
	expect_status(shell(dir, "\"$0\" convert Makefile \"$1/none.json\""), 2, "[input/unknown-format]");
	expect_folder(dir, (const char *const[]){ "cut.json", "packed.json", "partial.json", NULL });
	for (int i = 0; i < 2; i++) {
		char path[1024];
		size_t n;
		snprintf(path, sizeof path, "%s/%s", dir, i == 0 ? "cut.json" : "packed.json");
		char *const text = read_whole(path, &n);
		cJSON *const json = cJSON_Parse(text);
		cr_expect_not_null(json, "%s is no JSON", path);
		cJSON_Delete(json);
		free(text);
	}
	remove_folder(dir);
}

Test(cmd_output, losses)
{
	static const char nan[] = "testdata/htdump/good/odd-doubles.htdump";

	expect_status(RUN("convert", nan, "/dev/null", "--to=chrome"), 0, "[chrome/not-a-number]");
	expect_status(RUN("convert", "--fail-on-loss", nan, "/dev/null", "--to=chrome"), 1,
	              "[chrome/not-a-number]");
	expect_status(RUN("convert", "--fail-on-loss", "-q", nan, "/dev/null", "--to=chrome"), 1,
	              "[chrome/not-a-number]");
	expect_status(RUN("convert", "-q", nan, "/dev/null", "--to=chrome"), 0, "");
	expect_status(
	    RUN("convert", "--fail-on-loss", "--lanes=off", OVERLAPPING, "/dev/null", "--to=chrome"), 1,
	    "[lanes/off]");
	expect_status(RUN("convert", "--fail-on-loss", SAMPLE, "/dev/null", "--to=chrome"), 0, "");
}

/* The lines of events, without their tracks' names. */
static size_t count_matches(const char *text, const char *word)
{
	size_t n = 0;

	for (; (text = strstr(text, word)) != NULL; text++)
		n++;
	return n;
}

Test(cmd_output, lanes)
{
	struct ran on = RUN("convert", "--to=chrome", OVERLAPPING, "-"),
	           off = RUN("convert", "--to=chrome", "--lanes=off", OVERLAPPING, "-");

	cr_expect_eq(count_matches(on.out, "\"thread_name\""), 4);
	cr_expect_eq(count_matches(on.out, "\"thread_sort_index\""), 4);
	cr_expect_eq(count_matches(off.out, "\"thread_name\""), 2);
	cr_expect_not_null(strstr(on.out, "\"thread 1 (2)\""));
	cr_expect_null(strstr(off.out, "(2)"));
	cr_expect_eq(count_matches(on.out, "\"ph\":\"X\""), 6);
	cr_expect_eq(count_matches(off.out, "\"ph\":\"X\""), 6);
	ran_free(&on);
	ran_free(&off);
}

/* overlapping.htdump begins at 1000 ns. */
Test(cmd_output, rebase)
{
	struct ran r = RUN("convert", "--to=chrome", "--rebase", OVERLAPPING, "-");

	cr_expect_eq(r.status, 0);
	cr_expect_not_null(strstr(
	    r.out, "{\"name\":\"first\",\"cat\":\"HT_CallstackStringEvent\",\"ph\":\"X\",\"ts\":0.000,"));
	cr_expect_not_null(strstr(r.out, "\"rebased_by_ns\":1000"));
	ran_free(&r);
	r = RUN("convert", "--to=chrome", OVERLAPPING, "-");
	cr_expect_null(strstr(r.out, "rebased_by_ns"));
	ran_free(&r);
}

Test(cmd_output, the_same_input_gives_the_same_bytes)
{
	static const char *const ways[][3] = {
		{ "stats", "--format=json", SAMPLE },
		{ "stats", "--limit=0", OVERLAPPING },
		{ "info", "-q", SAMPLE },
		{ "cat", "--hex", SAMPLE },
		{ "validate", "--format=json", SAMPLE },
	};

	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		struct ran a = RUN(ways[i][0], ways[i][1], ways[i][2]),
		           b = RUN(ways[i][0], ways[i][1], ways[i][2]);
		cr_expect(a.status == 0 && a.out_n > 0 && a.out_n == b.out_n &&
		          memcmp(a.out, b.out, a.out_n) == 0);
		ran_free(&a);
		ran_free(&b);
	}
}

/* A closed descriptor is not given to the output: messages would land in it. */
Test(cmd_output, closed_standard_descriptors)
{
	char *const dir = make_folder();

	expect_status(
	    shell(dir, "\"$0\" convert " BAD(
	                   "cut-record") " \"$1/a.json\" 2>/dev/null; "
	                                 "\"$0\" convert " BAD(
	                                     "cut-record") " \"$1/b.json\" <&- >&- 2>&-; "
	                                                   "[ $? = 1 ] && cmp \"$1/a.json\" \"$1/b.json\""),
	    0, "");
	expect_status(shell(dir, "\"$0\" convert --to chrome " SAMPLE " - >&-"), 2, "standard output: ");
	expect_status(shell(dir, "\"$0\" validate -q - <&- >/dev/null"), 2, "");
	remove_folder(dir);
}

/* ---- signals ---- */

/* Closed pipes and signals: no word, and nothing left behind. */

/* A trace far longer than a pipe holds: the sample, which may be appended to itself, many times. */
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

/* Its standard input is a FIFO that gives a little and then stays open: it is certainly running, with its
 * temporary file there, when the signal comes. */
static void expect_clean_end(const char *signal, int status)
{
	char *const dir = make_folder();
	char command[1024];

	snprintf(command, sizeof command,
	         "mkfifo \"$1/in\" || exit 99\n"
	         "env --default-signal \"$0\" convert - \"$1/out.json\" < \"$1/in\" & pid=$!\n" /* nohup */
	         "exec 9> \"$1/in\"\n"
	         "\"cat\" testdata/htdump/good/wire-little.htdump >&9\n"
	         "head -c 70000 /dev/zero >&9\n" /* more than it looks at before it begins */
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

/* ---- --skip-existing ---- */

/* convert --skip-existing: an output that is there stays, and nothing is read. */

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
