#include "test/support/text_samples.h"

#include <stdio.h>
#include <string.h>

#include "test/support/testdata.h"

/* Returns the offset of a finding: that of the first marker, or without a marker the end. */
static size_t find_marker(const struct text_sample *s, const char *marker)
{
	const size_t n = marker != NULL ? strlen(marker) : 0;

	for (size_t i = 0; marker != NULL && i + n <= s->n; i++)
		if (memcmp(s->text + i, marker, n) == 0)
			return i + (*marker == '\n');
	return s->n;
}

static bool write_sample(const char *dir, const char *kind, const char *format, const char *suffix,
                         const struct text_sample *s)
{
	char path[512], text[1024];
	int n = snprintf(text, sizeof text, "exit %d\nrecords %u\n", s->exit_status, s->records);

	for (size_t i = 0; i < TEXT_SAMPLE_EXPECTED && s->expected[i].rule != NULL; i++)
		n += snprintf(text + n, sizeof text - (size_t)n, "%s/%s %zu\n", format, s->expected[i].rule,
		              find_marker(s, s->expected[i].marker));
	snprintf(path, sizeof path, "%s/%s/%s.%s", dir, kind, s->name, suffix);
	if (!testdata_file(path, s->text, s->n))
		return false;
	snprintf(path, sizeof path, "%s/%s/%s.expect", dir, kind, s->name);
	return testdata_file(path, text, (size_t)n);
}

bool text_samples_write(const char *dir, const char *kind, const char *format, const char *suffix,
                        const struct text_sample *samples)
{
	bool ok = true;

	for (const struct text_sample *s = samples; ok && s->name != NULL; s++)
		ok = write_sample(dir, kind, format, suffix, s);
	return ok;
}
