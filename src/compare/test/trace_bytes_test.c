/* Traces that are byte for byte the same, or not. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/test/cli_test_util.h"
#include "compare/compare.h"
#include "format/registry.h"

static char *dir;

static void set_up(void)
{
	dir = make_folder();
}

static void tear_down(void)
{
	remove_folder(dir);
}

TestSuite(trace_bytes, .init = set_up, .fini = tear_down);

static void put(const char *name, const char *text, size_t n)
{
	char path[512];

	for (const char *slash = strchr(name, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		snprintf(path, sizeof path, "%s/%.*s", dir, (int)(slash - name), name);
		(void)mkdir(path, 0700);
	}
	snprintf(path, sizeof path, "%s/%s", dir, name);
	cr_assert(write_whole(path, text, n), "%s", path);
}

#define PUT(name, text) put(name, text, sizeof(text) - 1)

static bool same(const char *a, const char *b)
{
	char path_a[512], path_b[512];

	snprintf(path_a, sizeof path_a, "%s/%s", dir, a);
	snprintf(path_b, sizeof path_b, "%s/%s", dir, b);
	return trace_bytes_same(path_a, path_b, format_by_name("ovni"), NULL);
}

Test(trace_bytes, files_have_the_same_bytes_or_not)
{
	PUT("a.obs", "0123456789");
	PUT("b.obs", "0123456789");
	PUT("other.obs", "0123456798");
	PUT("short.obs", "012345678");
	PUT("long.obs", "01234567890");
	PUT("none.obs", "");
	cr_expect(same("a.obs", "b.obs"));
	cr_expect(same("a.obs", "a.obs"));
	cr_expect_not(same("a.obs", "other.obs"));
	cr_expect_not(same("a.obs", "short.obs"));
	cr_expect_not(same("short.obs", "a.obs"));
	cr_expect_not(same("a.obs", "long.obs"));
	cr_expect_not(same("a.obs", "none.obs"));
	cr_expect_not(same("none.obs", "a.obs"));
}

Test(trace_bytes, what_cannot_be_read_is_not_the_same)
{
	PUT("a.obs", "0123456789");
	cr_expect_not(same("missing.obs", "missing.obs"));
	cr_expect_not(same("a.obs", "missing.obs"));
	/* a gzip member without its end */
	PUT("cut.gz", "\x1f\x8b\x08\0\0\0\0\0\0\x03\x33\x30\x34");
	cr_expect_not(same("cut.gz", "cut.gz"));
}

Test(trace_bytes, large_files_differ_in_one_byte_anywhere)
{
	enum { N = 300000 };
	char *const text = calloc(1, N);

	cr_assert_not_null(text);
	put("a.obs", text, N);
	put("b.obs", text, N);
	cr_expect(same("a.obs", "b.obs"));
	for (size_t at = 0; at < N; at += 59999) {
		text[at] = 1;
		put("b.obs", text, N);
		cr_expect_not(same("a.obs", "b.obs"), "%zu", at);
		text[at] = 0;
	}
	free(text);
}

Test(trace_bytes, folders_have_the_same_files)
{
	PUT("a/t/stream.obs", "01234");
	PUT("a/t/stream.json", "{}");
	PUT("a/t/notes.txt", "is not read");
	PUT("b/t/stream.obs", "01234");
	PUT("b/t/stream.json", "{}");
	cr_expect(same("a", "b"));
	PUT("b/t/stream.json", "{ }");
	cr_expect_not(same("a", "b"));
	PUT("b/t/stream.json", "{}");
	PUT("b/u/stream.obs", "0");
	cr_expect_not(same("a", "b"));
	cr_expect_not(same("b", "a"));
	PUT("c/u/stream.obs", "01234");
	PUT("c/u/stream.json", "{}");
	cr_expect_not(same("a", "c"));
}

Test(trace_bytes, file_is_a_folder_of_one)
{
	PUT("a.obs", "01234");
	PUT("b/a.obs", "01234");
	cr_expect(same("a.obs", "b"));
	cr_expect_not(same("b", "a.obs"));
	PUT("b/c.obs", "01234");
	cr_expect_not(same("a.obs", "b"));
}
