/* The output is the same for any number of threads. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "test/support/format_aids.h"

static struct ran convert(const char *in, const char *threads, bool raw)
{
	const char *const args[] = { "convert", "--quiet",   "--to",
		                     "ndjson",  "--threads", threads,
		                     in,        "-",         raw ? "--raw" : NULL,
		                     NULL };

	return run_tool(args, NULL, 0);
}

static void expect_same_bytes(const char *path, bool raw)
{
	static const char *const threads[] = { "2", "7" };
	struct ran one = convert(path, "1", raw);

	cr_assert_eq(one.status, 0, "%s: status %d: %s", path, one.status, one.err);
	cr_expect_gt(one.out_n, 1U << 20, "%s: too little to need several batches", path);
	for (size_t i = 0; i < 2; i++) {
		struct ran many = convert(path, threads[i], raw);
		cr_expect(many.status == 0 && many.out_n == one.out_n &&
		              memcmp(many.out, one.out, one.out_n) == 0,
		          "%s: other bytes with %s threads", path, threads[i]);
		ran_free(&many);
	}
	ran_free(&one);
}

static void expect_same_of_input(const struct bench_input *in, const char *dir)
{
	char path[1024];

	snprintf(path, sizeof path, "%s/%s%s", dir, in->name, in->suffix);
	FILE *const f = fopen(path, "w");
	cr_assert(f != NULL && in->make(f, 30000) && fclose(f) == 0, "cannot make %s", path);
	expect_same_bytes(path, false);
	expect_same_bytes(path, true);
}

Test(ndjson_cli, any_number_of_threads_gives_the_same_bytes)
{
	char *const dir = make_folder();
	size_t n = 0;

	for (const struct format_aids *const *a = format_aids; *a != NULL; a++)
		for (const struct bench_input *in = (*a)->bench_inputs; in != NULL && in->name != NULL; in++)
			if (in->make != NULL) {
				expect_same_of_input(in, dir);
				n++;
			}
	cr_expect_geq(n, 5);
	remove_folder(dir);
}
