#include "test/support/testdata.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool failed(const char *path)
{
	fprintf(stderr, "make_testdata: %s: %s\n", path, strerror(errno));
	return false;
}

bool testdata_file(const char *path, const void *p, size_t n)
{
	FILE *const f = fopen(path, "wb");

	if (f == NULL)
		return failed(path);
	const bool complete = fwrite(p, 1, n, f) == n;
	return (fclose(f) == 0 && complete) || failed(path);
}

bool testdata_folder(const char *path)
{
	return mkdir(path, 0777) == 0 || errno == EEXIST || failed(path);
}
