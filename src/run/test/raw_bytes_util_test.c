#include "run/test/raw_bytes_util_test.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/test/cli_test_util.h"
#include "format/registry.h"
#include "run/pipeline.h"

void expect_raw_bytes(const char *format, const char *path, size_t step)
{
	static const char *const paths[] = { "memory" };
	size_t n, at = 0;
	char *const text = read_whole(path, &n);
	const struct pipeline_job job = { .in.paths = paths,
		                          .in.npaths = 1,
		                          .in.input = input_from_memory_slowly(text, n, step),
		                          .in.from = format_by_name(format),
		                          .read.raw = true,
		                          .read.want = WANT_BYTES };
	struct pipeline f;
	struct batch *b;

	cr_assert(pipeline_open(&f, &job));
	while (pipeline_next(&f, &b) == STAGE_MORE) {
		for (uint32_t i = 0; i < b->n; i++) {
			cr_assert(b->events[i].offset == at && b->bytes[i].n <= n - at &&
			              memcmp(b->bytes[i].p, text + at, b->bytes[i].n) == 0,
			          "%s by %zu: at %zu", path, step, at);
			at += b->bytes[i].n;
		}
		batch_release(b);
	}
	pipeline_end(&f);
	pipeline_close(&f);
	cr_expect_eq(at, n, "%s by %zu: %zu of %zu bytes", path, step, at, n);
	free(text);
}

void expect_raw_bytes_of_all(const char *format, const char *folder, const char *suffix)
{
	char **const names = list_folder(folder, suffix);
	char path[512];

	cr_assert_not_null(names[0], "%s", folder);
	for (char **name = names; *name != NULL; name++) {
		snprintf(path, sizeof path, "%s/%s", folder, *name);
		expect_raw_bytes(format, path, 1);
		expect_raw_bytes(format, path, 1 << 20);
	}
	list_free(names);
}
