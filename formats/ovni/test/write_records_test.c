/* Copied streams where single records are looked at: clocks that move, data that is too large, windows. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cursor.h"
#include "cmd/test/cli_test_util.h"
#include "format/registry.h"
#include "ovni/test/written_test.h"
#include "run/pipeline.h"

/* Clocks of the records that have a payload of so many bytes, or none. */
static uint64_t clock_at(const char *p, size_t n, size_t at, bool big)
{
	cr_assert_leq(at + 12, n);
	return load_u64(p + at + 4, big);
}

static char *converted(const char *dir, const char *option, const char *file, size_t *n, char **err)
{
	char in[1024], out[1024], path[1200];

	snprintf(in, sizeof in, "%s/in", dir);
	snprintf(out, sizeof out, "%s/out", dir);
	const char *const args[] = { "convert", "--to=ovni", "-f", in, out, option, NULL };
	struct ran r = run_tool(args, NULL, 0);
	cr_expect_lt(r.status, 2, "%s", r.err);
	*err = strdup(r.err);
	ran_free(&r);
	snprintf(path, sizeof path, "%s/%s", out, file);
	char *const p = read_whole(path, n);
	cr_assert_not_null(p, "%s", path);
	return p;
}

static char *make_input(char in[1024])
{
	char *const dir = make_folder();

	snprintf(in, 1024, "%s/in", dir);
	cr_assert_eq(mkdir(in, 0777), 0);
	return dir;
}

Test(ovni_copied_records, rebased)
{
	char in[1024], *err;
	char *const dir = make_input(in);
	struct written w;
	size_t n;

	for (int i = 0; i < 2; i++) {
		written_init(&w, 3);
		written_start(&w, 1000 + (uint64_t)i * 50, i);
		written_put(&w, "OB.", 1200, NULL, 0);
		written_put(&w, "OHe", 1300, NULL, 0);
		written_save(&w, in, i);
	}
	for (int i = 0; i < 2; i++) {
		char *const p =
		    converted(dir, "--rebase", i == 0 ? "a/stream.obs" : "b/stream.obs", &n, &err);
		cr_expect_str_eq(err, "");
		cr_assert_eq(n, 8 + 28 + 12 + 12);
		cr_expect_eq(memcmp(p + 8, "\x0fOHx", 4), 0);
		cr_expect_eq(clock_at(p, n, 8, false), (uint64_t)i * 50);
		cr_expect_eq(clock_at(p, n, 36, false), 200);
		cr_expect_eq(clock_at(p, n, 48, false), 300);
		free(p);
		free(err);
	}
	remove_folder(dir);
}

Test(ovni_copied_records, rebased_big_endian)
{
	static const char stream[] = "ovni\0\0\0\1\0VU[\0\0\0\0\0\0\1\5\0OHe\0\0\0\0\0\0\1\7";
	char in[1024], path[1100], *err;
	char *const dir = make_input(in);
	size_t n;

	snprintf(path, sizeof path, "%s/stream.obs", in);
	cr_assert(write_whole(path, stream, sizeof stream - 1));
	char *const p = converted(dir, "--rebase", "stream.obs", &n, &err);
	cr_assert_eq(n, sizeof stream - 1);
	cr_expect_eq(clock_at(p, n, 8, true), 0);
	cr_expect_eq(clock_at(p, n, 20, true), 2);
	free(p);
	free(err);
	remove_folder(dir);
}

/* Data that readers drop is copied where records go by in runs, else the record is left out and counted. */
Test(ovni_copied_records, large_jumbo)
{
	const uint32_t size = (4U << 20) + 5;
	const size_t all = 8 + 16 + size + 12;
	char in[1024], path[1100], *err, *q = calloc(1, all);
	char *const dir = make_input(in);
	size_t n;

	cr_assert_not_null(q);
	memcpy(q, "ovni\1\0\0\0\x13OB.\7", 13);
	written_number(q + 20, size, 4);
	memset(q + 24, 'x', size);
	memcpy(q + all - 12, "\0OHe\x0b", 5);
	snprintf(path, sizeof path, "%s/stream.obs", in);
	cr_assert(write_whole(path, q, all));
	char *p = converted(dir, NULL, "stream.obs", &n, &err);
	cr_expect(n == all && memcmp(p, q, n) == 0);
	cr_expect(strstr(err, "left-out") == NULL, "%s", err);
	free(p);
	free(err);
	p = converted(dir, "--rebase", "stream.obs", &n, &err);
	cr_expect_eq(n, 8 + 12);
	cr_expect_eq(clock_at(p, n, 8, false), 4);
	cr_expect(strstr(err, "jumbo events of more than 4 MiB, left out: 1;") != NULL, "%s", err);
	free(p);
	free(q);
	free(err);
	remove_folder(dir);
}

/* Metadata that is too large to be read does not vanish silently. */
Test(ovni_copied_records, large_metadata)
{
	char in[1024], path[1100], *err;
	char *const dir = make_input(in), *json = calloc(1, 600000);
	struct written w;
	size_t n;

	written_init(&w, 1);
	written_put(&w, "OHe", 5, NULL, 0);
	written_save(&w, in, 0);
	memset(json, ' ', 600000);
	snprintf(path, sizeof path, "%s/a/stream.json", in);
	cr_assert(write_whole(path, json, 600000));
	free(converted(dir, NULL, "a/stream.obs", &n, &err));
	cr_expect_eq(n, 20);
	cr_expect(strstr(err, "files beside streams, left out: 1;") != NULL, "%s", err);
	free(json);
	free(err);
	remove_folder(dir);
}

/* ---- runs ---- */

/* Put together they are the file, wherever windows end. */
static void expect_runs(const char *path, size_t step)
{
	struct pipeline f;
	struct batch *b;
	size_t n, at = 0;
	char *const p = read_whole(path, &n);

	cr_assert_not_null(p, "%s", path);
	const struct pipeline_job job = { .paths = &path,
		                          .npaths = 1,
		                          .input = input_from_memory_slowly(p, n, step),
		                          .from = format_by_name("ovni"),
		                          .raw = true,
		                          .want = WANT_BYTES | WANT_RUNS | WANT_FILES };
	cr_assert(pipeline_open(&f, &job));
	while (pipeline_next(&f, &b) == STAGE_MORE) {
		for (uint32_t i = 0; i < b->n; i++) {
			cr_assert_leq(b->bytes[i].n, n - at);
			cr_expect_eq(memcmp(p + at, b->bytes[i].p, b->bytes[i].n), 0, "%s, step %zu", path,
			             step);
			cr_expect(b->bytes[i].n == 0 || b->events[i].offset == at);
			at += b->bytes[i].n;
		}
		batch_release(b);
	}
	cr_expect_eq(at, n, "%s: %zu of %zu", path, at, n);
	pipeline_close(&f);
	free(p);
}

Test(ovni_copied_records, runs)
{
	static const size_t steps[] = { 1, 2, 13, 40, 1000 };
	char **const names = list_folder("testdata/ovni/good", ".obs");
	char path[1024];

	for (size_t i = 0; names[i] != NULL; i++)
		for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++) {
			snprintf(path, sizeof path, "testdata/ovni/good/%s", names[i]);
			expect_runs(path, steps[k]);
		}
	list_free(names);
}
