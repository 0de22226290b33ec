/*
 * Reads the samples of a format, from all files in formats/X/test/samples, and writes them to testdata/.
 * Files with names in .inc are only included by others.
 */
#include "test/support/samples.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/support/testdata.h"

static int is_source(const struct dirent *e)
{
	const char *const dot = strrchr(e->d_name, '.');

	return e->d_name[0] != '.' && dot != NULL && strcmp(dot, ".inc") != 0;
}

bool samples_read(struct samples_of *all, const char *format)
{
	struct dirent **names;
	char path[500];
	bool ok = true;

	*all = (struct samples_of){ .n = 0 };
	snprintf(path, sizeof path, "formats/%s/test/samples", format);
	const int n = scandir(path, &names, is_source, alphasort);
	if (n < 0)
		return true;
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof path, "formats/%s/test/samples/%s", format, names[i]->d_name);
		ok = ok && samples_assemble(all, format, path);
		free(names[i]);
	}
	free(names);
	return ok;
}

void samples_free(struct samples_of *all)
{
	for (size_t i = 0; i < all->n; i++)
		for (size_t k = 0; k < all->list[i].nfiles; k++)
			free(all->list[i].files[k].p);
	free(all->list);
	*all = (struct samples_of){ .n = 0 };
}

/* Creates the folders of a path. */
static bool make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		const bool ok = testdata_folder(path);
		*slash = '/';
		if (!ok)
			return false;
	}
	return true;
}

static bool write_expected(const struct sample *s, const char *dir)
{
	char path[500], text[2000];
	int n = snprintf(text, sizeof text, "exit %d\n", s->exit_status);

	if (s->dialect[0] != '\0')
		n += snprintf(text + n, sizeof text - (size_t)n, "dialect %s\n", s->dialect);
	if (s->records >= 0)
		n += snprintf(text + n, sizeof text - (size_t)n, "records %d\n", s->records);
	for (size_t i = 0; i < s->nfindings; i++)
		n += snprintf(text + n, sizeof text - (size_t)n, "%s %llu\n", s->findings[i].rule,
		              (unsigned long long)s->findings[i].offset);
	snprintf(path, sizeof path, "%s/%s.expect", dir, s->name);
	return testdata_file(path, text, (size_t)n);
}

bool sample_write(const struct sample *s, const char *dir)
{
	char path[500];
	bool ok = true;

	for (size_t i = 0; ok && i < s->nfiles; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, s->files[i].name);
		ok = make_folders(path) && testdata_file(path, s->files[i].p, s->files[i].n);
	}
	return ok && (s->folder || s->exit_status < 0 || write_expected(s, dir));
}
