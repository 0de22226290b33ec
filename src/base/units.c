#include "base/units.h"

/* A decimal number without sign and exponent, in units of 1e-12. */
#define PARTS 12

struct number {
	unsigned __int128 whole, parts;
	bool exact; /* no digit was beyond the parts */
};

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void
skip_blanks(struct slice *s)
{
	while (s->n > 0 && s->p[0] == ' ') {
		s->p++;
		s->n--;
	}
}

static void
drop(struct slice *s, uint32_t n)
{
	s->p += n;
	s->n -= n;
}

/* Takes it off the front. */
static bool
take_number(struct slice *s, struct number *v)
{
	uint32_t i = 0, places = 0;

	*v = (struct number){ .exact = true };
	for (; i < s->n && is_digit(s->p[i]); i++) {
		v->whole = v->whole * 10 + (unsigned)(s->p[i] - '0');
		if (v->whole > UINT64_MAX)
			return false;
	}
	if (i == 0)
		return false;
	if (i + 1 < s->n && s->p[i] == '.' && is_digit(s->p[i + 1]))
		for (i++; i < s->n && is_digit(s->p[i]); i++) {
			if (places++ < PARTS)
				v->parts = v->parts * 10 + (unsigned)(s->p[i] - '0');
			else
				v->exact = v->exact && s->p[i] == '0';
		}
	for (; places < PARTS; places++)
		v->parts *= 10;
	drop(s, i);
	skip_blanks(s);
	return true;
}

static double
as_double(const struct number *v)
{
	return (double)v->whole + (double)v->parts / 1e12;
}

struct unit {
	const char *name;
	uint64_t times;
};

/* A number of units that is a whole number of the least one. */
static bool
whole_of(const struct number *v, uint64_t unit, uint64_t *n)
{
	if (v->whole > UINT64_MAX / unit)
		return false;
	const unsigned __int128 rest = v->parts * unit, sum = v->whole * unit + rest / 1000000000000;
	if (sum > UINT64_MAX || rest % 1000000000000 != 0 || !v->exact)
		return false;
	*n = (uint64_t)sum;
	return true;
}

/* 0: there is no such unit. */
static uint64_t
unit_of(struct slice s, const struct unit *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (slice_is(s, list[i].name))
			return list[i].times;
	return 0;
}

static uint64_t
unit_ns(struct slice s)
{
	static const struct unit units[] = {
		{ "ns", 1 },         { "us", 1000 },         { "ms", 1000000 },
		{ "s", 1000000000 }, { "min", 60000000000 }, { "h", 3600000000000 },
	};

	return unit_of(s, units, sizeof units / sizeof units[0]);
}

bool
units_time(struct slice s, uint64_t *ns)
{
	struct number v;

	if (!take_number(&s, &v))
		return false;
	const uint64_t unit = unit_ns(s);
	if (unit == 0) {
		*ns = 0;
		return s.n == 0 && v.whole == 0 && v.parts == 0 && v.exact;
	}
	return whole_of(&v, unit, ns);
}

bool
units_bytes(struct slice s, uint64_t *n)
{
	static const struct unit units[] = {
		{ "", 1 },         { "k", 1U << 10 },   { "K", 1U << 10 },   { "M", 1U << 20 },
		{ "G", 1U << 30 }, { "KiB", 1U << 10 }, { "MiB", 1U << 20 }, { "GiB", 1U << 30 },
		{ "kB", 1000 },    { "KB", 1000 },      { "MB", 1000000 },   { "GB", 1000000000 },
	};
	struct number v;

	if (!take_number(&s, &v))
		return false;
	const uint64_t unit = unit_of(s, units, sizeof units / sizeof units[0]);
	return unit != 0 && whole_of(&v, unit, n);
}

bool
units_share(struct slice s, double *share)
{
	struct number v;

	if (!take_number(&s, &v) || !slice_is(s, "%"))
		return false;
	*share = as_double(&v) / 100;
	return true;
}

bool
units_part(struct slice s, uint64_t whole, uint64_t *part)
{
	struct number v;

	if (!take_number(&s, &v) || !slice_is(s, "%") || v.whole > 100 || !v.exact)
		return false;
	const unsigned __int128 all = (v.whole * 1000000000000 + v.parts) * (whole / 100);
	*part = (uint64_t)(all / 1000000000000);
	return all % 1000000000000 == 0 && all / 1000000000000 <= whole;
}

bool
units_count(struct slice s, uint64_t *n)
{
	struct number v;

	for (uint32_t i = 0; i < s.n; i++)
		if (!is_digit(s.p[i]))
			return false;
	if (!take_number(&s, &v))
		return false;
	*n = (uint64_t)v.whole;
	return true;
}

bool
units_rate(struct slice s, double *per_second)
{
	struct number v;

	if (!take_number(&s, &v) || s.n == 0 || s.p[0] != '/')
		return false;
	drop(&s, 1);
	skip_blanks(&s);
	const uint64_t unit = unit_ns(s);
	if (unit == 0)
		return false;
	*per_second = as_double(&v) * (1e9 / (double)unit);
	return true;
}

/* ---- wall time ---- */

/* n digits off the front, and the byte behind them (0: none). */
static bool
take_digits(struct slice *s, uint32_t n, char behind, uint32_t *v)
{
	if (s->n < n + (behind != 0) || (behind != 0 && s->p[n] != behind))
		return false;
	*v = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!is_digit(s->p[i]))
			return false;
		*v = *v * 10 + (uint32_t)(s->p[i] - '0');
	}
	drop(s, n + (behind != 0));
	return true;
}

/* Days from 1970-01-01 to a day of the Gregorian calendar; false: there is no such day. */
static bool
days_to(uint32_t year, uint32_t month, uint32_t day, uint64_t *days)
{
	static const uint8_t lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	if (year < 1970 || month < 1 || month > 12 || day < 1 ||
	    day > lengths[month - 1] + (month == 2 && leap ? 1U : 0U))
		return false;
	const uint64_t before = year - 1;
	*days = before * 365 + before / 4 - before / 100 + before / 400 - 719162 + day - 1;
	for (uint32_t m = 1; m < month; m++)
		*days += lengths[m - 1] + (m == 2 && leap ? 1U : 0U);
	return true;
}

/* "T22:08:04.5Z"; nothing at all is midnight. */
static bool
take_clock(struct slice s, uint64_t *ns)
{
	uint32_t hour, minute;
	struct number v;

	*ns = 0;
	if (s.n == 0)
		return true;
	if (s.p[0] != 'T' || s.p[s.n - 1] != 'Z')
		return false;
	drop(&s, 1);
	if (!take_digits(&s, 2, ':', &hour) || !take_digits(&s, 2, ':', &minute) || s.n < 3 ||
	    !is_digit(s.p[1]) || !take_number(&s, &v) || !slice_is(s, "Z") || hour > 23 || minute > 59 ||
	    v.whole > 60 || v.parts % 1000 != 0 || !v.exact)
		return false;
	*ns = (hour * UINT64_C(3600) + minute * UINT64_C(60) + (uint64_t)v.whole) * 1000000000 +
	      (uint64_t)(v.parts / 1000);
	return true;
}

bool
units_wall(struct slice s, uint64_t *ns)
{
	uint32_t year, month, day;
	uint64_t days, clock;

	if (!take_digits(&s, 4, '-', &year) || !take_digits(&s, 2, '-', &month) ||
	    !take_digits(&s, 2, 0, &day) || !days_to(year, month, day, &days) || !take_clock(s, &clock))
		return false;
	const unsigned __int128 sum = (unsigned __int128)days * 86400000000000 + clock;
	*ns = (uint64_t)sum;
	return sum <= UINT64_MAX;
}
