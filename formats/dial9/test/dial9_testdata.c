#include <stdio.h>

#include "dial9/test/aids.h"
#include "dial9/test/samples.h"
#include "test/support/testdata.h"

/* Writes testdata/dial9: the samples, and beside the bad ones what must be found in them. */

static bool write_good(const char *dir, const struct d9_good *sample)
{
	struct d9_build b;
	char path[500];

	d9b_init(&b);
	sample->make(&b);
	snprintf(path, sizeof path, "%s/good/%s.dial9", dir, sample->name);
	const bool ok = testdata_file(path, b.p, b.n);
	d9b_free(&b);
	return ok;
}

static bool write_bad(const char *dir, const struct d9_bad *sample)
{
	struct d9_expected e = { .n = 0 };
	struct d9_build b;
	char path[500], text[2000];

	d9b_init(&b);
	sample->make(&b, &e);
	snprintf(path, sizeof path, "%s/bad/%s.dial9", dir, sample->name);
	bool ok = testdata_file(path, b.p, b.n);
	d9b_free(&b);
	int n = snprintf(text, sizeof text, "exit %d\n", sample->exit_status);
	for (size_t i = 0; i < e.n; i++)
		n += snprintf(text + n, sizeof text - (size_t)n, "dial9/%s %llu\n", e.row[i].rule,
		              (unsigned long long)e.row[i].offset);
	snprintf(path, sizeof path, "%s/bad/%s.expect", dir, sample->name);
	return ok && testdata_file(path, text, (size_t)n);
}

bool dial9_write_testdata(const char *dir)
{
	bool ok = true;

	for (const struct d9_good *g = d9_good; ok && g->name != NULL; g++)
		ok = write_good(dir, g);
	for (const struct d9_good *g = d9_made_good; ok && g->name != NULL; g++)
		ok = write_good(dir, g);
	for (const struct d9_bad *s = d9_bad; ok && s->name != NULL; s++)
		ok = write_bad(dir, s);
	for (const struct d9_bad *s = d9_cut; ok && s->name != NULL; s++)
		ok = write_bad(dir, s);
	for (const struct d9_bad *x = d9_made_bad; ok && x->name != NULL; x++)
		ok = write_bad(dir, x);
	return ok && dial9_write_service(dir);
}
