/* Findings of a trace do not depend on what is wanted: raw events, or findings only. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"
#include "format/registry.h"
#include "test/fuzz/live_batches.h"
#include "test/support/strength.h"

enum { SWEPT_FILE = 900, SWEPT_BYTES = 1000 }; /* bytes: of a file, of all files of a format */

/* Returns true if records of the format can be copied. */
static bool is_copied(const struct format *f)
{
	return f->reader != NULL && f->writer != NULL && (f->writer->modes & WRITER_RAW_SAME) != 0;
}

/* Loads samples that are not packed. */
static size_t load_samples(struct file *files, const struct format *format, const char *kind)
{
	char folder[256], suffix[64];

	snprintf(folder, sizeof folder, "testdata/%s/%s", format->name, kind);
	snprintf(suffix, sizeof suffix, ".%s", format->name);
	const size_t n = load_files(files, 0, folder, format->suffixes[0]);
	return strcmp(suffix, format->suffixes[0]) == 0 ? n : load_files(files, n, folder, suffix);
}

Test(raw_agrees, findings_are_those_of_validation)
{
	static const char *const kinds[] = { "good", "bad" };
	struct file files[MAX_FILES];

	for (size_t i = 0; formats[i] != NULL; i++)
		for (size_t kind = 0; kind < 2 && is_copied(formats[i]); kind++) {
			const size_t n = load_samples(files, formats[i], kinds[kind]);
			cr_expect_gt(n, 3, "%s", formats[i]->name);
			for (size_t k = 0; k < n; k++)
				cr_expect(live_batches_raw_agrees(formats[i], files[k].p, files[k].n), "%s",
				          files[k].path);
			free_files(files, n);
		}
}

/* Checks each prefix, in an allocation of its own, and a change of each byte; one of five in `make test`. */
static void sweep(const struct format *format, const struct file *file)
{
	for (size_t n = 1; n <= file->n; n += strength(5, 1, 1)) {
		char *const p = malloc(n);
		cr_assert_not_null(p);
		memcpy(p, file->p, n);
		cr_expect(live_batches_raw_agrees(format, p, n), "%s: %zu bytes", file->path, n);
		p[n - 1] = (char)(p[n - 1] ^ (1 << n % 8));
		cr_expect(live_batches_raw_agrees(format, p, n), "%s: %zu bytes, changed", file->path, n);
		free(p);
		const char was = file->p[n - 1];
		file->p[n - 1] = (char)(was ^ (1 << n % 8));
		cr_expect(live_batches_raw_agrees(format, file->p, file->n), "%s: byte %zu changed",
		          file->path, n - 1);
		file->p[n - 1] = was;
	}
}

Test(raw_agrees, cut_and_damaged_samples)
{
	struct file files[MAX_FILES];

	for (size_t i = 0; formats[i] != NULL; i++) {
		const size_t n = is_copied(formats[i]) ? load_samples(files, formats[i], "good") : 0;
		size_t bytes = 0;
		for (size_t k = 0; k < n; k++)
			if (files[k].n <= SWEPT_FILE && bytes + files[k].n <= SWEPT_BYTES) {
				sweep(formats[i], &files[k]);
				bytes += files[k].n;
			}
		cr_expect(n == 0 || bytes > 100, "%s", formats[i]->name);
		free_files(files, n);
	}
}
