#include "test/faults/fault_samples.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/output.h"

enum { PATH_SIZE = 1024, LARGEST = 1 << 20, DEEPEST = 8 };

static bool failed(const char *path, const char *why)
{
	fprintf(stderr, "faults: %s: %s\n", path, why);
	return false;
}

/* Packed if the name `to` says so. */
static bool copy_file(const char *from, const char *to)
{
	static char bytes[LARGEST];
	char why[PATH_SIZE + 100];
	FILE *const f = fopen(from, "rb");

	if (f == NULL)
		return failed(from, strerror(errno));
	const size_t n = fread(bytes, 1, sizeof bytes, f);
	fclose(f);
	if (n == sizeof bytes)
		return failed(from, "too large for a sample");
	struct output *const o = output_open(to, OUTPUT_FORCE, why, sizeof why);
	if (o == NULL)
		return failed(to, why);
	output_write(o, bytes, n);
	return output_commit(o, why, sizeof why) || failed(to, why);
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool copy_below(const struct format *format, const char *from, const char *to, const char *packing,
                       int depth)
{
	char source[PATH_SIZE], target[PATH_SIZE];
	DIR *const d = depth < DEEPEST ? opendir(from) : NULL;
	bool ok = d != NULL;

	if (!ok || (mkdir(to, 0777) != 0 && errno != EEXIST))
		ok = failed(from, strerror(errno));
	for (struct dirent *e; ok && (e = readdir(d)) != NULL;) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(source, sizeof source, "%s/%s", from, e->d_name);
		snprintf(target, sizeof target, "%s/%s%s", to, e->d_name,
		         format_wants_name(format, e->d_name) ? packing : "");
		ok = is_folder(source) ? copy_below(format, source, target, packing, depth + 1)
		                       : copy_file(source, target);
	}
	if (d != NULL)
		closedir(d);
	return ok;
}

bool fault_sample_copy(const struct format *format, const char *from, const char *to, const char *packing,
                       char *made, unsigned n)
{
	const char *const slash = strrchr(from, '/');
	const char *const dot = strchr(slash != NULL ? slash : from, '.');

	if (is_folder(from)) {
		snprintf(made, n, "%s", to);
		return copy_below(format, from, made, packing, 0);
	}
	snprintf(made, n, "%s%s%s", to, dot != NULL ? dot : "", packing);
	return copy_file(from, made);
}
