/*
 * The aids of ovni for programs that test all formats, and the files of testdata/ovni: streams, folders, and
 * the expected finding of the bad ones.
 */
#include "ovni/test/aids.h"

#include <stdio.h>
#include <string.h>

#include "ovni/test/samples.h"
#include "test/support/testdata.h"

static bool write_expected(const char *stem, int status, const char *rule, unsigned offset)
{
	char path[600], text[200];
	const int n = snprintf(text, sizeof text, "exit %d\novni/%s %u\n", status, rule, offset);

	snprintf(path, sizeof path, "%s.expect", stem);
	return testdata_file(path, text, (size_t)n);
}

static bool write_sample(const char *dir, const struct ovni_sample *s)
{
	char stem[500], path[600];

	snprintf(stem, sizeof stem, "%s/%s/%s", dir, s->rule != NULL ? "bad" : "good", s->name);
	snprintf(path, sizeof path, "%s.obs", stem);
	return testdata_file(path, s->bytes, s->n) &&
	       (s->rule == NULL || write_expected(stem, s->exit_status, s->rule, s->offset));
}

static bool write_stream(const char *folder, const char *json, const char *file, bool events)
{
	static const char stream[] = "ovni\1\0\0\0\0OHe\1\0\0\0\0\0\0\0";
	char path[700];

	if (!testdata_folder(folder))
		return false;
	snprintf(path, sizeof path, "%s/%s", folder, file);
	if (json[0] != '\0' && !testdata_file(path, json, strlen(json)))
		return false;
	snprintf(path, sizeof path, "%s/stream.obs", folder);
	return !events || testdata_file(path, stream, sizeof stream - 1);
}

static bool write_folder(const char *dir, const struct ovni_folder *f)
{
	char stem[500], path[600];

	snprintf(stem, sizeof stem, "%s/folders/%s", dir, f->name);
	snprintf(path, sizeof path, "%s/a", stem);
	if (!testdata_folder(stem) ||
	    !write_stream(path, f->a, f->file != NULL ? f->file : "stream.json", !f->no_events))
		return false;
	snprintf(path, sizeof path, "%s/clock-offsets.txt", stem);
	if (f->offsets != NULL && !testdata_file(path, f->offsets, strlen(f->offsets)))
		return false;
	snprintf(path, sizeof path, "%s/b", stem);
	return f->b == NULL || write_stream(path, f->b, "stream.json", true);
}

static bool write_emulated(const char *dir, const struct ovni_emulated *s)
{
	char folder[500], path[600];
	bool ok;

	snprintf(folder, sizeof folder, "%s/folders-state/%s", dir, s->name);
	ok = testdata_folder(folder);
	for (int i = 0; ok && i < 2 && s->streams[i].json != NULL; i++) {
		snprintf(folder, sizeof folder, "%s/folders-state/%s/%c", dir, s->name, 'a' + i);
		snprintf(path, sizeof path, "%s/stream.json", folder);
		ok = testdata_folder(folder) &&
		     testdata_file(path, s->streams[i].json, strlen(s->streams[i].json));
		snprintf(path, sizeof path, "%s/stream.obs", folder);
		ok = ok && testdata_file(path, s->streams[i].bytes, s->streams[i].n);
	}
	return ok;
}

static bool write_testdata(const char *dir)
{
	static const char *const below[] = { "folders", "folders-state" };
	char path[500];
	bool ok = true;

	for (size_t i = 0; ok && i < sizeof below / sizeof below[0]; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, below[i]);
		ok = testdata_folder(path);
	}
	for (const struct ovni_sample *s = ovni_samples; ok && s->name != NULL; s++)
		ok = write_sample(dir, s);
	for (const struct ovni_folder *f = ovni_folders; ok && f->name != NULL; f++)
		ok = write_folder(dir, f);
	for (const struct ovni_emulated *s = ovni_emulated; ok && s->name != NULL; s++)
		ok = write_emulated(dir, s);
	return ok;
}

static const char *const fault_samples[] = { "good/document.obs", "folders/good-offsets", NULL };

const struct format_aids ovni_aids = {
	.format = "ovni",
	.write_testdata = write_testdata,
	.bench_inputs = ovni_bench_inputs,
	.fault_samples = fault_samples,
};
