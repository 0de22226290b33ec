/*
 * Writes the samples of all formats to testdata/<format>: good and bad ones, and for the bad ones the
 * expected findings.  The same bytes each time (except that versions of libzstd may differ); run it after
 * changing a sample.  usage: make_testdata [FOLDER]
 */
#include "test/support/format_aids.h"
#include "test/support/testdata.h"

static bool write_format(const char *dir, const struct format_aids *aids)
{
	static const char *const below[] = { "", "/good", "/bad" };
	char own[400], path[420];
	bool ok = true;

	snprintf(own, sizeof own, "%s/%s", dir, aids->format);
	for (size_t i = 0; ok && i < sizeof below / sizeof below[0]; i++) {
		snprintf(path, sizeof path, "%s%s", own, below[i]);
		ok = testdata_folder(path);
	}
	return ok && aids->write_testdata(own);
}

int main(int argc, char **argv)
{
	const char *const dir = argc > 1 ? argv[1] : "testdata";
	bool ok = testdata_folder(dir);

	for (const struct format_aids *const *a = format_aids; ok && *a != NULL; a++)
		ok = (*a)->write_testdata == NULL || write_format(dir, *a);
	return ok ? 0 : 1;
}
