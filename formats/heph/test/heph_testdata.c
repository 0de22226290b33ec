#include <stdio.h>

#include "heph/test/aids.h"
#include "heph/test/samples.h"
#include "test/support/testdata.h"

/* Writes testdata/heph: each sample, and for the bad ones what must be found in them. */

static bool write_good(const char *dir, const struct heph_good *sample)
{
	struct heph_build b;
	char path[500];

	heph_init(&b);
	sample->make(&b);
	snprintf(path, sizeof path, "%s/good/%s.bin.log", dir, sample->name);
	const bool ok = testdata_file(path, b.p, b.n);
	heph_free(&b);
	return ok;
}

static bool write_bad(const char *dir, const struct heph_bad *sample)
{
	struct heph_expected e = { 0 };
	struct heph_build b;
	char path[500], text[1024];
	int n = snprintf(text, sizeof text, "exit %d\n", sample->exit_status);

	heph_init(&b);
	sample->make(&b, &e);
	snprintf(path, sizeof path, "%s/bad/%s.bin.log", dir, sample->name);
	bool ok = testdata_file(path, b.p, b.n);
	for (size_t i = 0; i < e.n; i++)
		n += snprintf(text + n, sizeof text - (size_t)n, "heph/%s %llu\n", e.row[i].rule,
		              (unsigned long long)e.row[i].offset);
	snprintf(path, sizeof path, "%s/bad/%s.expect", dir, sample->name);
	ok = ok && testdata_file(path, text, (size_t)n);
	heph_free(&b);
	return ok;
}

bool heph_write_testdata(const char *dir)
{
	bool ok = true;

	for (const struct heph_good *g = heph_good; ok && g->name != NULL; g++)
		ok = write_good(dir, g);
	for (const struct heph_bad *s = heph_bad; ok && s->name != NULL; s++)
		ok = write_bad(dir, s);
	return ok;
}
