/*
 * Input that makes the reference tools of ovni crash, hang, invent values or keep silent; the tests are
 * numbered by the list of such dangers (D1 to D26; those of writing tools are left out).  Then files next to
 * streams: unreadable ones, and those of other programs.
 */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"

/* ---- streams ---- */

#define HEAD "ovni\1\0\0\0"
#define AT(c) c "\0\0\0\0\0\0\0"
#define RUN(c) "\x0fOHx" AT(c) "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define END(c) "\0OHe" AT(c)

#define JSON(tid, loom, more)                                                                                \
	"{\"version\":3,\"ovni\":{\"lib\":{\"version\":\"1.14.0\",\"commit\":\"x\"},\"part\":\"thread\","    \
	"\"tid\":" tid ",\"pid\":7,\"loom\":\"" loom                                                         \
	"\",\"app_id\":1,\"require\":{\"ovni\":\"1.1.0\"},\"finished\":1,\"loom_cpus\":[{\"index\":0,"       \
	"\"phyid\":0}]" more "}}\n"
#define BYTES(s) (s), sizeof(s) - 1

static void make_sub(const char *dir, const char *name)
{
	char path[1024];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	cr_assert_eq(mkdir(path, 0700), 0, "%s", path);
}

static struct ran run_on(const char *command, const char *path, const void *p, size_t n)
{
	if (strcmp(command, "convert") == 0)
		return run_tool((const char *const[]){ command, "--to", "chrome", path, "-", NULL }, p, n);
	return run_tool((const char *const[]){ command, path, NULL }, p, n);
}

static struct ran run(const char *command, const char *path)
{
	return run_on(command, path, NULL, 0);
}

/* Expects a status of a command on a single stream, and texts that its output has and lacks (NULL: any). */
static void expect_stream(const char *command, const void *p, size_t n, int status, const char *has,
                          const char *lacks)
{
	struct ran r = run_on(command, "-", p, n);

	cr_expect_eq(r.status, status, "%s: %d: %s%s", command, r.status, r.out, r.err);
	cr_expect(has == NULL || strstr(r.out, has) != NULL || strstr(r.err, has) != NULL, "%s: no %s: %s%s",
	          command, has, r.out, r.err);
	cr_expect(lacks == NULL || strstr(r.out, lacks) == NULL, "%s: %s: %s", command, lacks, r.out);
	ran_free(&r);
}

/* Expects a status of validate on a folder, and a text of its output. */
static void expect_folder(const char *dir, int status, const char *has)
{
	struct ran r = run("validate", dir);

	cr_expect_eq(r.status, status, "%d: %s%s", r.status, r.out, r.err);
	cr_expect(has == NULL || strstr(r.out, has) != NULL, "no %s: %s%s", has, r.out, r.err);
	ran_free(&r);
}

/* Writes NAME/stream.json and NAME/stream.obs; an empty NAME is the folder itself. */
static void put_stream(const char *dir, const char *name, const char *json, const void *p, size_t n)
{
	char file[200];

	if (*name != '\0')
		make_sub(dir, name);
	snprintf(file, sizeof file, "%s/stream.json", name);
	put_file(dir, file, json, strlen(json));
	snprintf(file, sizeof file, "%s/stream.obs", name);
	put_file(dir, file, p, n);
}

Test(ovni_danger, d1_sizes_near_the_limits_of_integers)
{
	static const uint32_t sizes[] = { 0xfffffff0, 0x7ffffffb, 0x7ffffffc, 0x80000000,
		                          0xffffffec, 0xffffffe8, 0xffffffff };
	static const char *const commands[] = { "validate", "stats", "cat" };
	char stream[] = HEAD RUN("\1") "\x13OUj" AT("\2") "\0\0\0\0data" END("\3");

	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		for (int k = 0; k < 3; k++) {
			for (int byte = 0; byte < 4; byte++)
				stream[8 + 28 + 12 + byte] = (char)(sizes[i] >> 8 * byte & 0xff);
			expect_stream(commands[k], stream, sizeof stream - 1, 1, "ovni/cut-event", "OHe");
		}
}

Test(ovni_danger, d2_a_page_ends_with_the_head_of_a_jumbo_event)
{
	static char page[4096] = HEAD;

	for (size_t at = 8; at + 12 <= sizeof page; at += 12)
		memcpy(page + at, "\0OB.", 4);
	cr_assert_eq((sizeof page - 8 - 4) % 12, 4);
	memcpy(page + 8, "\7KCO", 4); /* 8 bytes longer, so that the last event ends with the page */
	for (size_t at = 8 + 20; at + 12 <= sizeof page; at += 12)
		memcpy(page + at, "\0OB.\0\0\0\0\0\0\0\0", 12);
	memcpy(page + sizeof page - 12, "\x13VYc", 4);
	char *const dir = make_folder();
	put_file(dir, "stream.obs", page, sizeof page);
	char path[1024];
	snprintf(path, sizeof path, "%s/stream.obs", dir);
	expect_ran(run("validate", path), 1,
	           "@4084: error: jumbo size: 12 of the event's 16 bytes are present [ovni/cut-event]");
	remove_folder(dir);
}

Test(ovni_danger, d3_d4_arguments_that_are_not_there)
{
	expect_stream("cat", BYTES(HEAD "\0OHx" AT("\1") END("\2")), 0, " OHx ", "cpu=");
	expect_stream("cat", BYTES(HEAD "\3OHx" AT("\1") "\5\0\0\0" END("\2")), 0, " cpu=5\n", "tid=");
	expect_stream("cat", BYTES(HEAD "\4OHx" AT("\1") "\5\0\0\0\7" END("\2")), 0, " cpu=5 ", "tid=");
	expect_stream("cat", BYTES(HEAD "\3VTx" AT("\1") "\5\0\0\0" END("\2")), 0, " taskid=5\n", "bodyid");
	expect_stream("convert", BYTES(HEAD "\0OHx" AT("\1") END("\2")), 0, "\"traceEvents\"", "cpu");
}

Test(ovni_danger, d5_d6_texts_without_an_end_and_data_without_arguments)
{
	/* The file ends after the text; memory beyond it must not show. */
	expect_stream("cat",
	              BYTES(HEAD END("\1") "\x13"
	                                   "6Yc" AT("\2") "\6\0\0\0\1\0\0\0ab"),
	              0, "typeid=1", "OHe\n@");
	expect_stream("validate",
	              BYTES(HEAD END("\1") "\x13"
	                                   "6Yc" AT("\2") "\6\0\0\0\1\0\0\0ab"),
	              0, "ovni/text-end", NULL);
	expect_stream("cat",
	              BYTES(HEAD "\x13"
	                         "6Yc" AT("\1") "\0\0\0\0" END("\2")),
	              0, " 6Yc ", "typeid");
	expect_stream("cat",
	              BYTES(HEAD "\x13"
	                         "6Yc" AT("\1") "\2\0\0\0\1\0" END("\2")),
	              0, " 6Yc ", "typeid");
}

Test(ovni_danger, d7_d8_jumbo_events_where_normal_ones_are_expected_and_the_reverse)
{
	expect_stream("validate",
	              BYTES(HEAD "\x13"
	                         "6Yc" AT("\1") "\6\0\0\0\1\0\0\0a\0"
	                                        "\5"
	                                        "6Yc" AT("\2") "\1\0\0\0a\0" END("\3")),
	              0,
	              "@30: warning: event \"6Yc\": a normal event with 6 bytes, expected a jumbo event "
	              "with at least 4; 1 in all [ovni/payload-size]",
	              NULL);
	expect_stream("validate", BYTES(HEAD "\x13VTc" AT("\1") "\x08\0\0\0\1\0\0\0\1\0\0\0" END("\3")), 0,
	              "ovni/payload-size", NULL);
	expect_stream("cat", BYTES(HEAD "\x13OAs" AT("\1") "\4\0\0\0\5\0\0\0" END("\3")), 0, "cpu=5",
	              "cpu=4");
}

Test(ovni_danger, d9_d10_d11_nothing_is_written_into_the_trace)
{
	static const char *const commands[] = { "validate", "stats", "cat", "info" };
	char *const dir = make_folder(), path[1024];
	struct stat before, after;
	size_t n;

	make_sub(dir, "trace");
	put_file(dir, "other", BYTES("mine"));
	put_stream(dir, "trace/s",
	           JSON("7", "host.1", "},\"nosv\":{\"hwc\":{\"0\":{\"name\":\"../../../oops\"}}"),
	           BYTES(HEAD RUN("\1") END("\2")));
	snprintf(path, sizeof path, "%s/trace/thread.prv", dir);
	cr_assert_eq(symlink("../other", path), 0);
	snprintf(path, sizeof path, "%s/trace/s", dir);
	cr_assert_eq(chmod(path, 0500), 0);
	snprintf(path, sizeof path, "%s/trace/s/stream.obs", dir);
	cr_assert_eq(chmod(path, 0400), 0);
	cr_assert_eq(stat(path, &before), 0);
	snprintf(path, sizeof path, "%s/trace", dir);
	cr_assert_eq(chmod(path, 0500), 0);
	for (int i = 0; i < 4; i++) {
		struct ran r = run(commands[i], path);
		cr_expect_eq(r.status, 0, "%s: %d: %s%s", commands[i], r.status, r.out, r.err);
		ran_free(&r);
	}
	char **const names = list_folder(path, "");
	cr_expect(names[0] != NULL && names[1] != NULL && names[2] == NULL);
	list_free(names);
	snprintf(path, sizeof path, "%s/other", dir);
	char *const other = read_whole(path, &n);
	cr_expect(n == 4 && memcmp(other, "mine", 4) == 0);
	free(other);
	snprintf(path, sizeof path, "%s/trace/s/stream.obs", dir);
	cr_assert_eq(stat(path, &after), 0);
	cr_expect(before.st_mtime == after.st_mtime && before.st_size == after.st_size);
	snprintf(path, sizeof path, "%s/trace/s", dir);
	chmod(path, 0700);
	snprintf(path, sizeof path, "%s/trace", dir);
	chmod(path, 0700);
	remove_folder(dir);
}

/* Control bytes of the input never reach the output, and each line begins as it should. */
static void expect_harmless(const char *command, const void *p, size_t n, const char *start)
{
	struct ran r = run_on(command, "-", p, n);

	cr_expect_eq(r.status, 0, "%s: %s", command, r.err);
	for (size_t i = 0; i < r.out_n; i++)
		cr_expect(r.out[i] == '\n' || r.out[i] == '\t' ||
		              ((unsigned char)r.out[i] >= 0x20 && r.out[i] != 0x7f),
		          "%s: byte %zu is 0x%02x", command, i, (unsigned char)r.out[i]);
	for (const char *line = r.out; start != NULL && *line != '\0'; line = strchr(line, '\n') + 1)
		cr_expect_eq(strncmp(line, start, strlen(start)), 0, "%s: %.60s", command, line);
	ran_free(&r);
}

Test(ovni_danger, d12_d13_texts_and_codes_that_control_terminals)
{
	static const char label[] =
	    HEAD "\x13VYc" AT("\1") "\x14\0\0\0\1\0\0\0a\n@8 \033[2J\033]0;x\007\0" END("\2");
	static const char codes[] =
	    HEAD "\0\0\xff\n" AT("\1") "\0\0\xff\r" AT("\2") "\0\033[m" AT("\3") END("\4");
	static const char *const commands[] = { "cat", "stats", "info", "validate", "convert" };

	for (int i = 0; i < 5; i++) {
		expect_harmless(commands[i], BYTES(label), i == 0 ? "@" : NULL);
		expect_harmless(commands[i], BYTES(codes), i == 0 ? "@" : NULL);
	}
	/* Codes that are equal up to a NUL stay two. */
	expect_stream("cat", BYTES(codes), 0, "\\\\x00\\\\xff\\\\x0a", NULL);
	expect_stream("cat", BYTES(codes), 0, "\\\\x00\\\\xff\\\\x0d", NULL);
}

Test(ovni_danger, d14_pipes_with_names_of_files)
{
	char *const dir = make_folder(), path[1024];

	put_stream(dir, "a", JSON("7", "host.1", ""), BYTES(HEAD RUN("\1") END("\2")));
	make_sub(dir, "b");
	put_file(dir, "b/stream.obs", BYTES(HEAD RUN("\1") END("\2")));
	snprintf(path, sizeof path, "%s/b/stream.json", dir);
	cr_assert_eq(mkfifo(path, 0600), 0);
	make_sub(dir, "c");
	snprintf(path, sizeof path, "%s/c/stream.obs", dir);
	cr_assert_eq(mkfifo(path, 0600), 0);
	snprintf(path, sizeof path, "%s/clock-offsets.txt", dir);
	cr_assert_eq(mkfifo(path, 0600), 0);
	struct ran r = run("validate", dir);
	cr_expect(r.status > 0 && r.status < 3, "%d", r.status);
	cr_expect_not_null(strstr(r.out, "2 streams, 4 records"), "%s", r.out);
	cr_expect_not_null(strstr(r.out, "b/stream.json"), "%s", r.out);
	cr_expect_not_null(strstr(r.out, "c/stream.obs"), "%s", r.out);
	ran_free(&r);
	remove_folder(dir);
}

Test(ovni_danger, d16_more_streams_than_descriptors)
{
	char *const dir = make_folder(), name[40], json[600], command[1200];

	for (int i = 1; i <= 300; i++) {
		snprintf(name, sizeof name, "s%d", i);
		snprintf(json, sizeof json, JSON("%d", "host.1", ""), i);
		put_stream(dir, name, json, BYTES(HEAD RUN("\1") END("\2")));
	}
	snprintf(command, sizeof command, "ulimit -n 32 && exec '%s' stats '%s'", tool_path(), dir);
	expect_ran(run_program((const char *const[]){ "sh", "-c", command, NULL }, NULL, 0), 0, "600");
	remove_folder(dir);
}

Test(ovni_danger, d17_partial_success_shows_in_the_exit_status)
{
	char *const dir = make_folder(), path[1024];

	expect_folder(dir, 2, NULL);
	put_stream(dir, "a", JSON("7", "host.1", ""), BYTES(HEAD RUN("\1") END("\2")));
	expect_folder(dir, 0, NULL);
	put_stream(dir, "b", JSON("8", "host.1", ""), BYTES(HEAD RUN("\5") END("\2")));
	expect_folder(dir, 1, "ovni/clock-backwards");
	snprintf(path, sizeof path, "%s/b", dir);
	if (geteuid() != 0) {
		cr_assert_eq(chmod(path, 0), 0);
		expect_folder(dir, 2, "/b");
		chmod(path, 0700);
	}
	remove_folder(dir);
}

Test(ovni_danger, d21_numbers_that_are_none)
{
	static const char *const jsons[] = {
		JSON("1.5", "host.1", ""),
		JSON("\"7\"", "host.1", ""),
		JSON("2147483648", "host.1", ""),
		JSON("7", "host.1", ",\"rank\":\"0\",\"nranks\":1"),
		JSON("7", "host.1", ",\"rank\":0,\"nranks\":1.25"),
	};
	for (size_t i = 0; i < sizeof jsons / sizeof jsons[0]; i++) {
		char *const dir = make_folder();
		put_stream(dir, "a", jsons[i], BYTES(HEAD RUN("\1") END("\2")));
		expect_folder(dir, 1, "ovni/metadata-type");
		remove_folder(dir);
	}
}

Test(ovni_danger, d22_clocks_with_the_highest_bit)
{
	expect_stream("validate", BYTES(HEAD RUN("\1") "\0OHe\0\0\0\0\0\0\0\x80"), 0,
	              "clock 9223372036854775808; 1 in all [ovni/clock-large]", NULL);
	expect_stream("validate", BYTES(HEAD "\0KCO\0\0\0\0\0\0\0\x80" END("\1")), 1, "ovni/clock-backwards",
	              NULL);
}

Test(ovni_danger, d23_equal_clocks_come_in_the_order_of_paths)
{
	static const char stream[] = HEAD "\0KCO" AT("\1") "\0KCI" AT("\1") "\0OHe" AT("\1");
	static const char *const names[] = { "c", "a", "e", "b", "d" };
	char *const dir = make_folder(), json[600], want[40];

	for (int i = 0; i < 5; i++) {
		snprintf(json, sizeof json, JSON("%d", "host.1", ""), names[i][0]);
		put_stream(dir, names[i], json, BYTES(stream));
	}
	struct ran r = run("cat", dir);
	const char *at = r.out;
	for (int i = 'a'; i <= 'e'; i++)
		for (int k = 0; k < 3; k++) {
			while (*at == '#')
				at = strchr(at, '\n') + 1;
			snprintf(want, sizeof want, "track=\"thread %d", i);
			cr_expect_eq(strncmp(strstr(at, "track="), want, strlen(want)), 0, "%s", at);
			at = strchr(at, '\n') + 1;
		}
	cr_expect_eq(*at, '\0');
	ran_free(&r);
	remove_folder(dir);
}

Test(ovni_danger, d25_lines_of_clock_offsets)
{
	char *const dir = make_folder();
	char table[3000] = "titles\n0 host 5 5 5 ";

	put_stream(dir, "a", JSON("7", "host.1", ""), BYTES(HEAD RUN("\1") END("\2")));
	put_stream(dir, "b", JSON("8", "far.1", ""), BYTES(HEAD RUN("\1") END("\2")));
	memset(table + strlen(table), 'x', 2000);
	strcat(table, "\n   \n\r\n1 far 9 9 9\r\n");
	put_file(dir, "clock-offsets.txt", table, strlen(table));
	expect_folder(dir, 0, NULL);
	struct ran r = run("cat", dir);
	cr_expect(strstr(r.out, " ts=6 ") != NULL && strstr(r.out, " ts=10 ") != NULL, "%s", r.out);
	ran_free(&r);
	remove_folder(dir);
}

Test(ovni_danger, d26_the_tail_of_a_longer_stream)
{
	expect_stream("validate",
	              BYTES(HEAD RUN("\x20") END("\x21") "\0KCO" AT("\5") "\0KCI" AT("\6") END("\7")), 1,
	              "@48: error: clock 5 after 33 [ovni/clock-backwards]", NULL);
}

/* ---- files that users name, and old layouts ---- */

Test(ovni_danger, clock_offsets_by_name)
{
	char *const dir = make_folder(), path[1024];

	put_stream(dir, "a", JSON("7", "host.1", ""), BYTES(HEAD RUN("\1") END("\2")));
	put_file(dir, "table", BYTES("titles\n0 host 1000 1000 1\n1 elsewhere 5 5 1\n"));
	snprintf(path, sizeof path, "%s/table", dir);
	expect_ran(run_tool((const char *const[]){ "validate", "--clock-offsets", path, dir, NULL }, NULL, 0),
	           0, "no loom is on the host \"elsewhere\" [ovni/clock-host]");
	struct ran r = run_tool((const char *const[]){ "cat", "--clock-offsets", path, dir, NULL }, NULL, 0);
	cr_expect(strstr(r.out, " ts=1001 ") != NULL && strstr(r.out, " ts=1002 ") != NULL, "%s", r.out);
	ran_free(&r);
	expect_ran(
	    run_tool((const char *const[]){ "validate", "--clock-offsets", "/nowhere/at/all", dir, NULL },
	             NULL, 0),
	    2, "ovni/clock-offsets");
	remove_folder(dir);
}

Test(ovni_danger, layouts_one_and_two_are_read)
{
	static const char two[] =
	    "{\"version\":2,\"app_id\":1,\"rank\":0,\"nranks\":2,\"cpus\":[{\"index\":0,\"phyid\":3}]}";
	static const char one[] =
	    "{\"version\":1,\"model_version\":\"O1 V1\",\"app_id\":1,\"rank\":1,\"nranks\":2}";
	static const char thread[] = "{\"version\":2,\"ovni\":{\"lib\":{\"version\":\"1.5\",\"commit\":\"a\"}"
	                             ",\"finished\":1,\"require\":{\"ovni\":\"1.0.0\"}}}";
	char *const dir = make_folder(), path[1024];

	make_sub(dir, "loom.host.1");
	make_sub(dir, "loom.host.1/proc.7");
	make_sub(dir, "loom.host.1/proc.8");
	put_file(dir, "loom.host.1/proc.7/metadata.json", BYTES(two));
	put_file(dir, "loom.host.1/proc.8/metadata.json", BYTES(one));
	put_file(dir, "loom.host.1/proc.7/thread.9.json", BYTES(thread));
	put_file(dir, "loom.host.1/proc.7/thread.9.obs", BYTES(HEAD RUN("\1") END("\2")));
	put_file(dir, "loom.host.1/proc.8/thread.5.obs", BYTES(HEAD RUN("\1") END("\2")));
	struct ran r = run("validate", dir);
	cr_expect(r.status == 0 && strstr(r.out, "ovni/old-layout") != NULL &&
	              strstr(r.out, "ovni/old-unfinished") == NULL,
	          "%d: %s", r.status, r.out);
	ran_free(&r);
	r = run("convert", dir);
	cr_expect_not_null(strstr(r.out, "host.1 pid 7 (rank 0, app 1)"), "%s", r.out);
	cr_expect_not_null(strstr(r.out, "host.1 pid 8 (rank 1, app 1)"), "%s", r.out);
	cr_expect_not_null(strstr(r.out, "\"tid\":9"), "%s", r.out);
	ran_free(&r);
	put_file(dir, "loom.host.1/proc.7/thread.10.obs", BYTES(HEAD RUN("\1") END("\2")));
	expect_folder(dir, 0,
	              "there is no thread.10.json in the directory of the stream [ovni/old-unfinished]");
	/* libovni 1.0.0 wrote streams without suffix. */
	put_file(dir, "loom.host.1/proc.8/thread.6", BYTES(HEAD RUN("\1") END("\2")));
	snprintf(path, sizeof path, "%s/loom.host.1/proc.8/thread.6", dir);
	r = run("cat", path);
	cr_expect_not_null(strstr(r.out, "thread 6"), "%s", r.out);
	ran_free(&r);
	remove_folder(dir);
}

/* ---- files next to streams ---- */

#define STREAM "testdata/ovni/folders/good-two-threads/a/stream.obs"

static void put_text(const char *dir, const char *name, const char *text)
{
	put_file(dir, name, text, strlen(text));
}

/* /proc/self/mem is a file whose first byte cannot be read. */
static void expect_read_error(const char *name)
{
	char *const dir = make_folder(), path[1024], want[100];
	size_t n;
	char *const stream = read_whole(STREAM, &n);

	cr_assert_not_null(stream);
	put_file(dir, "stream.obs", stream, n);
	snprintf(path, sizeof path, "%s/%s", dir, name);
	cr_assert_eq(symlink("/proc/self/mem", path), 0);
	snprintf(want, sizeof want, "%s: cannot read: Input/output error", name);
	expect_ran(run("validate", dir), 2, want);
	expect_ran(run("convert", dir), 2, want);
	free(stream);
	remove_folder(dir);
}

Test(trust, files_next_to_a_stream_with_a_read_error)
{
	expect_read_error("stream.json");
	expect_read_error("clock-offsets.txt");
}

/* Python packages and web servers have files of these names. */
Test(trust, a_folder_of_other_programs_is_no_trace)
{
	static const char *const files[][2] = {
		{ "metadata.json", "{\"name\":\"wheel\",\"version\":\"1.0\"}" },
		{ "metadata.json", "{\"version\":2}" },
		{ "metadata.json", "[1,2]" },
		{ "metadata.json", "not JSON" },
		{ "metadata.json", "" },
		{ "stream.json", "{\"type\":\"object\"}" },
		{ "stream.json", "{\"ovni\":3}" },
	};
	static const char *const commands[] = { "validate", "convert", "stats", "info", "cat" };

	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		char *const dir = make_folder();
		put_text(dir, files[i][0], files[i][1]);
		for (size_t k = 0; k < sizeof commands / sizeof commands[0]; k++)
			expect_ran(run(commands[k], dir), 2,
			           ":@0: error: the directory has no trace: the files with the suffix of a "
			           "format hold no events [input/not-a-file]");
		remove_folder(dir);
	}
}

Test(trust, metadata_of_an_old_layout_without_streams)
{
	char *const dir = make_folder();

	put_text(dir, "metadata.json", "{\"version\":1,\"app_id\":1,\"model_version\":\"O1 V1\"}");
	expect_ran(run("validate", dir), 2, "ovni/old-layout");
	expect_ran(run("validate", dir), 2, "the directory has no trace");
	expect_ran(run("convert", dir), 2, "the directory has no trace");
	remove_folder(dir);
}

/* Metadata with keys of ovni is reported by itself. */
Test(trust, metadata_without_its_stream)
{
	expect_ran(run("validate", "testdata/ovni/folders/events-missing"), 1,
	           "there is no stream.obs in its directory [ovni/events-missing]");
	expect_ran(run("convert", "testdata/ovni/folders/events-missing"), 2,
	           "there is no stream.obs in its directory [ovni/events-missing]");
}

/* Next to a trace the same files change nothing. */
Test(trust, other_programs_files_beside_a_trace)
{
	char *const dir = make_folder();
	size_t n;
	char *const trace = read_whole("testdata/htdump/good/wire-little.htdump", &n);

	cr_assert_not_null(trace);
	put_file(dir, "a.htdump", trace, n);
	put_text(dir, "metadata.json", "{\"name\":\"wheel\"}");
	struct ran r = run("validate", dir);
	cr_expect_eq(r.status, 0, "%s", r.out);
	cr_expect_null(strstr(r.out, "ovni"), "%s", r.out);
	ran_free(&r);
	free(trace);
	remove_folder(dir);
}
