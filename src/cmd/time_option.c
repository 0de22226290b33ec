#include "cmd/time_option.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

#define NS_PER_MINUTE UINT64_C(60000000000)

bool
duration_option(const char *s, uint64_t *ns)
{
	const struct slice text = slice_str(s);

	return strchr(s, ' ') == NULL && (units_count(text, ns) || units_time(text, ns));
}

/* "Z", "+hh:mm", "-hh:mm" or nothing: how far local time is from UTC. */
static bool
offset_of(const char *p, bool *behind, uint64_t *ns)
{
	uint64_t hours, minutes;

	*behind = *p == '-';
	*ns = 0;
	if (*p == '\0' || strcmp(p, "Z") == 0)
		return true;
	if (strlen(p) != 6 || p[3] != ':' || !units_count(slice_of(p + 1, 2), &hours) ||
	    !units_count(slice_of(p + 4, 2), &minutes) || hours > 23 || minutes > 59)
		return false;
	*ns = (hours * 60 + minutes) * NS_PER_MINUTE;
	return true;
}

/* Beyond what units_wall() takes: without seconds, without Z, and with an offset from UTC. */
static bool
wall_time(const char *s, uint64_t *ns)
{
	const char *const clock = strchr(s, 'T');
	char utc[64];
	bool behind;
	uint64_t offset;

	if (clock == NULL)
		return units_wall(slice_str(s), ns);
	const char *const zone = clock + strcspn(clock, "Z+-");
	const char *const colon = strchr(clock, ':');
	const bool seconds =
	    colon != NULL && colon < zone && memchr(colon + 1, ':', (size_t)(zone - colon - 1)) != NULL;
	const int n = snprintf(utc, sizeof utc, "%.*s%sZ", (int)(zone - s), s, seconds ? "" : ":00");
	if (n >= (int)sizeof utc || !offset_of(zone, &behind, &offset) || !units_wall(slice_str(utc), ns))
		return false;
	return behind ? !__builtin_add_overflow(*ns, offset, ns) : !__builtin_sub_overflow(*ns, offset, ns);
}

bool
time_option(const char *s, struct select_time *t)
{
	if (strchr(s, ' ') != NULL)
		return false;
	if (*s == '+' || *s == '-') {
		t->kind = *s == '+' ? SELECT_FROM_FIRST : SELECT_BEFORE_LAST;
		return duration_option(s + 1, &t->v);
	}
	t->kind = SELECT_PART;
	if (units_part(slice_str(s), SELECT_WHOLE, &t->v))
		return true;
	t->kind = SELECT_WALL;
	if (strlen(s) >= 10 && s[4] == '-')
		return wall_time(s, &t->v);
	t->kind = SELECT_AT;
	return duration_option(s, &t->v);
}

/* Where the number at s ends. */
static const char *
behind_number(const char *s)
{
	while (isdigit((unsigned char)*s) || *s == '.')
		s++;
	return s;
}

const char *
duration_option_why(const char *s)
{
	const char *const unit = behind_number(s);
	uint64_t ns;

	if (unit == s)
		return "a duration, which is a number with a unit, such as 12.5ms";
	if (*unit == '\0')
		return units_count(slice_str(s), &ns) ? "a unit with its number: ns, us, ms, s, min or h"
		                                      : "a number with a unit, such as 12.5ms";
	if (isalpha((unsigned char)*unit)) {
		char one[24];
		(void)snprintf(one, sizeof one, "1%.20s", unit);
		if (!duration_option(one, &ns))
			return "one of the units ns, us, ms, s, min, h";
	}
	return "a duration of whole nanoseconds below 2^64, such as 12.5ms";
}

const char *
time_option_why(const char *s)
{
	const bool moved = *s == '+' || *s == '-';
	const char *const digits = s + moved, *const end = behind_number(digits);

	if (end > digits && strcmp(end, "%") == 0)
		return *s == '-' ? "0% to 100% of the trace (the last tenth is --since 90%)"
		                 : "at most 100%, with at most six decimals";
	if (!moved && strlen(s) >= 10 && s[4] == '-')
		return "a wall time such as 2026-11-22T08:30:00.5Z";
	if (end > digits && *end != '\0')
		return duration_option_why(digits);
	return "a time: 1500000 (ns), 12.5ms, +1.5s, -2s, 50%, 2026-11-22T08:30:00Z";
}

bool
length_option(const char *s, uint64_t *ns)
{
	uint64_t n;

	return (!units_count(slice_str(s), &n) || n == 0) && duration_option(s, ns);
}
