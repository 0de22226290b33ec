/* Files beside the streams: those that cannot be read, and those of other programs. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"

#define STREAM "testdata/ovni/folders/good-two-threads/a/stream.obs"

static void put(const char *dir, const char *name, const char *text)
{
	char path[1024];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	cr_assert(write_whole(path, text, strlen(text)), "%s", path);
}

static struct ran run(const char *command, const char *dir)
{
	if (strcmp(command, "convert") == 0)
		return run_tool((const char *const[]){ "convert", "--to", "chrome", dir, "-", NULL }, NULL,
		                0);
	return run_tool((const char *const[]){ command, dir, NULL }, NULL, 0);
}

/* The whole output of a command on a folder holds `text`, and its status is `status`. */
static void expect(const char *command, const char *dir, int status, const char *text)
{
	struct ran r = run(command, dir);

	cr_expect_eq(r.status, status, "%s: %d: %s%s", command, r.status, r.out, r.err);
	cr_expect(strstr(r.out, text) != NULL || strstr(r.err, text) != NULL, "%s: no %s: %s%s", command,
	          text, r.out, r.err);
	ran_free(&r);
}

/* Memory of the process is a file whose first byte cannot be read. */
Test(trust, metadata_with_a_read_error)
{
	char *const dir = make_folder(), path[1024];
	size_t n;
	char *const stream = read_whole(STREAM, &n);

	cr_assert_not_null(stream);
	snprintf(path, sizeof path, "%s/stream.obs", dir);
	cr_assert(write_whole(path, stream, n));
	snprintf(path, sizeof path, "%s/stream.json", dir);
	cr_assert_eq(symlink("/proc/self/mem", path), 0);
	expect("validate", dir, 2, "stream.json: cannot read: Input/output error");
	expect("convert", dir, 2, "stream.json: cannot read: Input/output error");
	free(stream);
	remove_folder(dir);
}

Test(trust, clock_offsets_with_a_read_error)
{
	char *const dir = make_folder(), path[1024];
	size_t n;
	char *const stream = read_whole(STREAM, &n);

	cr_assert_not_null(stream);
	snprintf(path, sizeof path, "%s/stream.obs", dir);
	cr_assert(write_whole(path, stream, n));
	snprintf(path, sizeof path, "%s/clock-offsets.txt", dir);
	cr_assert_eq(symlink("/proc/self/mem", path), 0);
	expect("validate", dir, 2, "clock-offsets.txt: cannot read: Input/output error");
	free(stream);
	remove_folder(dir);
}

/* As Python packages and web servers have them. */
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
		put(dir, files[i][0], files[i][1]);
		for (size_t k = 0; k < sizeof commands / sizeof commands[0]; k++)
			expect(commands[k], dir, 2,
			       ":@0: error: the input is a directory without a trace: its files that may "
			       "belong to one hold no events [input/not-a-file]");
		remove_folder(dir);
	}
}

Test(trust, metadata_of_an_old_layout_without_streams)
{
	char *const dir = make_folder();

	put(dir, "metadata.json", "{\"version\":1,\"app_id\":1,\"model_version\":\"O1 V1\"}");
	expect("validate", dir, 2, "ovni/old-layout");
	expect("validate", dir, 2, "is a directory without a trace");
	expect("convert", dir, 2, "is a directory without a trace");
	remove_folder(dir);
}

/* One with the own keys says itself what is missing. */
Test(trust, metadata_without_its_stream)
{
	expect("validate", "testdata/ovni/folders/events-missing", 1,
	       "there is no stream.obs in its folder [ovni/events-missing]");
	expect("convert", "testdata/ovni/folders/events-missing", 2,
	       "there is no stream.obs in its folder [ovni/events-missing]");
}

/* Beside a trace the same files change nothing. */
Test(trust, other_programs_files_beside_a_trace)
{
	char *const dir = make_folder(), path[1024];
	size_t n;
	char *const trace = read_whole("testdata/htdump/good/wire-little.htdump", &n);

	cr_assert_not_null(trace);
	snprintf(path, sizeof path, "%s/a.htdump", dir);
	cr_assert(write_whole(path, trace, n));
	put(dir, "metadata.json", "{\"name\":\"wheel\"}");
	struct ran r = run("validate", dir);
	cr_expect_eq(r.status, 0, "%s", r.out);
	cr_expect_null(strstr(r.out, "ovni"), "%s", r.out);
	ran_free(&r);
	free(trace);
	remove_folder(dir);
}
