/*
 * Writes the samples of all formats, and their expected findings, to testdata/<format>.  The bytes are the
 * same each time (except that versions of libzstd may differ).  Run it after changing a sample. usage:
 * make_testdata [FOLDER]
 */
#include "test/support/format_aids.h"
#include "test/support/samples.h"
#include "test/support/testdata.h"

static bool write_format(const char *dir, const struct format_aids *aids)
{
	struct samples_of samples;
	char own[400];

	snprintf(own, sizeof own, "%s/%s", dir, aids->format);
	bool ok = samples_read(&samples, aids->format);
	for (size_t i = 0; ok && i < samples.n; i++)
		ok = sample_write(&samples.list[i], own);
	samples_free(&samples);
	return ok && (aids->write_testdata == NULL || (testdata_folder(own) && aids->write_testdata(own)));
}

int main(int argc, char **argv)
{
	const char *const dir = argc > 1 ? argv[1] : "testdata";
	bool ok = testdata_folder(dir);

	for (const struct format_aids *const *a = format_aids; ok && *a != NULL; a++)
		ok = write_format(dir, *a);
	return ok ? 0 : 1;
}
