/* What events point to lasts as long as their batch, whatever became of the reader; a checker of memory
 * should look on. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "htdump/test/build.h"
#include "cmd/test/cli_test_util.h"
#include "format/registry.h"
#include "test/fuzz/live_batches.h"

#define ALL (WANT_TIMES | WANT_FIELDS | WANT_STRUCTURE | WANT_BYTES)

static size_t expect_lasting(const char *what, struct input *in, unsigned want, uint32_t cap)
{
	struct live_batches l;
	size_t n;

	cr_assert_not_null(in, "%s", what);
	live_batches_read(&l, format_by_name("htdump"), in, want, cap);
	n = l.n;
	cr_expect_eq(live_batches_changed(&l), 0, "%s", what);
	cr_expect_eq(live_batches_free(&l), 0, "%s", what);
	return n;
}

/* All samples of a folder: through windows of all sizes from memory, and as files, packed ones too. */
static size_t read_folder(const char *dir)
{
	static const size_t steps[] = { 0, 7, 64, 4096 };
	char **const names = list_folder(dir, "");
	size_t batches = 0;
	char path[600];

	cr_assert_not_null(names);
	for (char **name = names; *name != NULL; name++) {
		size_t n;
		snprintf(path, sizeof path, "%s/%s", dir, *name);
		if (strstr(*name, ".htdump") == NULL)
			continue;
		char *const p = read_whole(path, &n);
		cr_assert_not_null(p, "%s", path);
		for (unsigned raw = 0; raw <= WANT_RAW; raw += WANT_RAW) {
			batches += expect_lasting(path, input_open(path), ALL | raw, 5);
			for (size_t i = 0; i < 4 && n < 8192 && strstr(*name, ".htdump.") == NULL; i++)
				expect_lasting(path,
				               steps[i] > 0 ? input_from_memory_slowly(p, n, steps[i])
				                            : input_from_memory(p, n),
				               ALL | raw, 3);
		}
		free(p);
	}
	list_free(names);
	return batches;
}

Test(htdump_lifetime, samples)
{
	cr_expect_gt(read_folder("testdata/htdump/good"), 500);
	cr_expect_gt(read_folder("testdata/htdump/bad"), 100);
}

/* Names of integer labels: met before, found by looking ahead, none at all, and replaced while batches hold
 * the old ones. */
Test(htdump_lifetime, labels)
{
	struct ht_build b;
	char text[40];

	ht_init(&b, HT_WIRE, false);
	ht_prologue(&b);
	for (uint64_t i = 0; i < 2000; i++) {
		if (i % 3 == 0) {
			snprintf(text, sizeof text, "label %u of %u", (unsigned)(i % 40), (unsigned)i);
			ht_mapping(&b, i % 40, text);
		}
		ht_span_int(&b, i, 1, 1, i % 50);
	}
	ht_mapping(&b, 45, "named at the end");
	cr_expect_gt(expect_lasting("labels", input_from_memory((const char *)b.p, b.n), ALL, 3), 800);
	cr_expect_gt(expect_lasting("labels", input_from_memory_slowly((const char *)b.p, b.n, 99), ALL, 3),
	             800);
	ht_free(&b);
}
