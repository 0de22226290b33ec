/* What events point to lasts as long as their batch, whatever became of the reader; a checker of memory
 * should look on. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "format/registry.h"
#include "test/fuzz/live_batches.h"

#define ALL (WANT_TIMES | WANT_FIELDS | WANT_STRUCTURE | WANT_BYTES | WANT_GAPS)

static size_t expect_lasting(const char *what, struct input *in, unsigned want)
{
	struct live_batches l;
	size_t n;

	cr_assert_not_null(in, "%s", what);
	live_batches_read(&l, format_by_name("heph"), in, want, 3);
	n = l.n;
	cr_expect_eq(live_batches_changed(&l), 0, "%s", what);
	cr_expect_eq(live_batches_free(&l), 0, "%s", what);
	return n;
}

/* All samples of a folder: as files, packed, and through windows of all sizes. */
static size_t read_folder(const char *dir)
{
	static const size_t steps[] = { 0, 7, 64, 4096 };
	char **const names = list_folder(dir, ".bin.log");
	char *const folder = make_folder();
	size_t batches = 0;
	char path[600], packed[1024];

	cr_assert(names != NULL && folder != NULL);
	snprintf(packed, sizeof packed, "%s/x.gz", folder);
	for (char **name = names; *name != NULL; name++) {
		size_t n, gz_n;
		snprintf(path, sizeof path, "%s/%s", dir, *name);
		char *const p = read_whole(path, &n);
		cr_assert_not_null(p, "%s", path);
		void *const gz = gzip_copy(p, n, &gz_n);
		cr_assert(write_whole(packed, gz, gz_n));
		for (unsigned raw = 0; raw <= WANT_RAW; raw += WANT_RAW) {
			batches += expect_lasting(path, input_open(path), ALL | raw);
			expect_lasting(path, input_open(packed), ALL | raw);
			for (size_t i = 0; i < 4 && n < 16384; i++)
				expect_lasting(path,
				               steps[i] > 0 ? input_from_memory_slowly(p, n, steps[i])
				                            : input_from_memory(p, n),
				               ALL | raw);
		}
		free(gz);
		free(p);
	}
	remove_folder(folder);
	list_free(names);
	return batches;
}

Test(heph_lifetime, samples)
{
	cr_expect_gt(read_folder("testdata/heph/good"), 100);
	cr_expect_gt(read_folder("testdata/heph/bad"), 50);
}
