#include "output/text_units.h"

#include <time.h>

void
text_iso8601(struct text *t, uint64_t ns)
{
	const time_t seconds = (time_t)(ns / 1000000000);
	struct tm tm = { .tm_year = 70 };

	gmtime_r(&seconds, &tm);
	text_printf(t, "%04d-%02d-%02dT%02d:%02d:%02d.%09uZ", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
	            tm.tm_hour, tm.tm_min, tm.tm_sec, (unsigned)(ns % 1000000000));
}

void
text_kib(struct text *t, uint64_t bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
	uint64_t unit = 1024;
	unsigned i = 0;

	if (bytes < 1024)
		return;
	while (i < 3 && bytes / unit >= 1024) {
		unit *= 1024;
		i++;
	}
	const uint64_t rest = (bytes % unit) * 10 / unit;
	text_str(t, " (");
	text_u64(t, bytes / unit);
	text_printf(t, ".%u %s)", (unsigned)rest, units[i]);
}
