#include "cmd/time_option.h"

#include <string.h>

/* A decimal number as v / 10^decimals, at most `most` decimals.  Gives what is behind it, or NULL. */
static const char *
decimal_number(const char *p, unsigned most, uint64_t *v, unsigned *decimals)
{
	bool point = false, any = false;

	*v = 0;
	*decimals = 0;
	for (; (*p >= '0' && *p <= '9') || (*p == '.' && !point); p++) {
		if (*p == '.') {
			point = true;
			continue;
		}
		any = true;
		if (point && *decimals == most) {
			if (*p != '0')
				return NULL;
			continue;
		}
		if (*v > (UINT64_MAX - (uint64_t)(*p - '0')) / 10)
			return NULL;
		*v = *v * 10 + (uint64_t)(*p - '0');
		*decimals += point;
	}
	return any && p[-1] != '.' ? p : NULL;
}

/* v / 10^decimals * unit; false: it is no whole number, or does not fit. */
static bool
scale(uint64_t v, unsigned decimals, uint64_t unit, uint64_t *to)
{
	unsigned __int128 all = (unsigned __int128)v * unit;

	for (; decimals > 0; decimals--) {
		if (all % 10 != 0)
			return false;
		all /= 10;
	}
	*to = (uint64_t)all;
	return all <= UINT64_MAX;
}

bool
duration_option(const char *s, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "", 1 },
		      { "ns", 1 },
		      { "us", 1000 },
		      { "ms", 1000000 },
		      { "s", 1000000000 },
		      { "m", UINT64_C(60) * 1000000000 },
		      { "h", UINT64_C(3600) * 1000000000 } };
	unsigned decimals;
	uint64_t v;
	const char *const unit = decimal_number(s, 18, &v, &decimals);

	for (size_t i = 0; unit != NULL && i < sizeof units / sizeof units[0]; i++)
		if (strcmp(unit, units[i].name) == 0)
			return scale(v, decimals, units[i].ns, ns);
	return false;
}

/* ---- wall times ---- */

/* Exactly n digits, and the byte behind them unless it is 0. */
static bool
digits(const char **p, unsigned n, char behind, unsigned *v)
{
	*v = 0;
	for (; n > 0 && **p >= '0' && **p <= '9'; n--, ++*p)
		*v = *v * 10 + (unsigned)(**p - '0');
	if (n > 0 || (behind != '\0' && **p != behind))
		return false;
	*p += behind != '\0';
	return true;
}

/* Days from 1970-01-01 of a date of the Gregorian calendar. */
static int64_t
days_of(unsigned year, unsigned month, unsigned day)
{
	const int64_t y = (int64_t)year - (month <= 2), era = y / 400;
	const int64_t in_era = y - era * 400, m = (int64_t)month + (month > 2 ? -3 : 9);
	const int64_t in_year = (153 * m + 2) / 5 + (int64_t)day - 1;

	return era * 146097 + in_era * 365 + in_era / 4 - in_era / 100 + in_year - 719468;
}

static unsigned
days_in(unsigned year, unsigned month)
{
	static const unsigned char days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

	const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return days[month - 1] + (month == 2 && leap ? 1U : 0U);
}

/* "Z", "+hh:mm", "-hh:mm" or nothing; seconds that local time is ahead. */
static bool
offset_of(const char *p, int64_t *seconds)
{
	const bool minus = *p == '-';
	unsigned hours, minutes;

	*seconds = 0;
	if (*p == '\0' || strcmp(p, "Z") == 0)
		return true;
	if (*p++ != '+' && !minus)
		return false;
	if (!digits(&p, 2, ':', &hours) || !digits(&p, 2, '\0', &minutes) || *p != '\0' || hours > 23 ||
	    minutes > 59)
		return false;
	*seconds = (int64_t)(hours * 3600 + minutes * 60) * (minus ? -1 : 1);
	return true;
}

/* [THH:MM[:SS[.digits]]] */
static bool
clock_of(const char **p, unsigned *seconds, uint64_t *ns)
{
	unsigned hour, minute, second = 0, decimals = 0;
	uint64_t fraction = 0;

	*seconds = 0;
	*ns = 0;
	if (**p != 'T')
		return true;
	++*p;
	if (!digits(p, 2, ':', &hour) || !digits(p, 2, '\0', &minute) || hour > 23 || minute > 59)
		return false;
	if (**p == ':') {
		++*p;
		if (!digits(p, 2, '\0', &second) || second > 59)
			return false;
		if (**p == '.') {
			const char *const behind = decimal_number(*p, 9, &fraction, &decimals);
			if (behind == NULL)
				return false;
			*p = behind;
		}
	}
	*seconds = hour * 3600 + minute * 60 + second;
	return scale(fraction, decimals, 1000000000, ns);
}

static bool
wall_time(const char *p, uint64_t *ns)
{
	unsigned year, month, day, seconds;
	int64_t ahead;
	uint64_t fraction;

	if (!digits(&p, 4, '-', &year) || !digits(&p, 2, '-', &month) || !digits(&p, 2, '\0', &day) ||
	    month < 1 || month > 12 || day < 1 || day > days_in(year, month) ||
	    !clock_of(&p, &seconds, &fraction) || !offset_of(p, &ahead))
		return false;
	const int64_t all = days_of(year, month, day) * 86400 + (int64_t)seconds - ahead;
	if (all < 0 || (uint64_t)all > (UINT64_MAX - fraction) / 1000000000)
		return false;
	*ns = (uint64_t)all * 1000000000 + fraction;
	return true;
}

/* ---- all ---- */

static bool
part_of(const char *s, uint64_t *part)
{
	unsigned decimals;
	const char *const behind = decimal_number(s, 6, part, &decimals);

	return behind != NULL && strcmp(behind, "%") == 0 &&
	       scale(*part, decimals, SELECT_WHOLE / 100, part) && *part <= SELECT_WHOLE;
}

bool
time_option(const char *s, struct select_time *t)
{
	if (*s == '+' || *s == '-') {
		t->kind = *s == '+' ? SELECT_FROM_FIRST : SELECT_BEFORE_LAST;
		return duration_option(s + 1, &t->v);
	}
	t->kind = SELECT_PART;
	if (part_of(s, &t->v))
		return true;
	t->kind = SELECT_WALL;
	if (strlen(s) >= 10 && s[4] == '-')
		return wall_time(s, &t->v);
	t->kind = SELECT_AT;
	return duration_option(s, &t->v);
}
