#include "output/text_units.h"

#include <time.h>

#include "output/text_numbers.h"

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
text_wall(struct text *t, uint64_t ns)
{
	const time_t seconds = (time_t)(ns / 1000000000);
	struct tm tm = { .tm_year = 70 };

	gmtime_r(&seconds, &tm);
	text_printf(t, "%04d-%02d-%02d %02d:%02d:%02d.%03u UTC", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
	            tm.tm_hour, tm.tm_min, tm.tm_sec, (unsigned)(ns / 1000000 % 1000));
}

/* With this many digits that count, 3 or 4. */
static void
put_time(struct text *t, unsigned __int128 ns, int digits)
{
	static const char *const names[] = { "us", "ms", "s" };
	const unsigned limit = digits == 3 ? 1000 : 10000;
	uint64_t unit = 1;

	if (ns < 1000) {
		text_u64(t, (uint64_t)ns);
		text_str(t, " ns");
		return;
	}
	for (unsigned i = 0; i < 3; i++) {
		unit *= 1000;
		unsigned power = limit / 10;
		for (int decimals = digits - 1; decimals >= 0; decimals--, power /= 10) {
			const unsigned __int128 v = (ns * power + unit / 2) / unit;
			if (decimals == 0 && (i == 2 || v < 1000)) {
				text_u128(t, v);
				text_printf(t, " %s", names[i]);
				return;
			}
			if (decimals > 0 && v < limit) {
				text_printf(t, "%u.%0*u %s", (unsigned)v / power, decimals,
				            (unsigned)v % power, names[i]);
				return;
			}
		}
	}
}

void
text_time(struct text *t, unsigned __int128 ns)
{
	put_time(t, ns, 4);
}

void
text_time_short(struct text *t, unsigned __int128 ns)
{
	put_time(t, ns, 3);
}

void
text_since(struct text *t, uint64_t ns)
{
	const unsigned rest = (unsigned)(ns % 1000000000);

	text_char(t, '+');
	if (ns > 0 && ns < 1000) {
		text_printf(t, "%u ns", rest);
		return;
	}
	if (ns > 0 && ns < 1000000) {
		text_printf(t, "%u.%03u us", rest / 1000, rest % 1000);
		return;
	}
	text_u64(t, ns / 1000000000);
	if (rest % 1000000 == 0)
		text_printf(t, ".%03u s", rest / 1000000);
	else if (rest % 1000 == 0)
		text_printf(t, ".%06u s", rest / 1000);
	else
		text_printf(t, ".%09u s", rest);
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
