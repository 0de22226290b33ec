/* Values of JSON numbers: integers, whole numbers in any form, doubles. */
#include "json/number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/numbers.h"

bool json_digits_any(const char *p, uint32_t n, uint64_t *v)
{
	uint32_t i = 0;

	*v = 0;
	for (; i < 16 && n - i >= 8; i += 8) {
		if (json_other_than_digits(p + i) != 0)
			return false;
		*v = *v * 100000000 + json_eight_digits(load_u64(p + i, false) ^ JSON_ZEROS);
	}
	for (; i < n; i++) {
		const unsigned digit = (unsigned)(p[i] - '0');
		if (digit > 9 || (i >= 19 && *v > (UINT64_MAX - digit) / 10)) /* 19 digits always fit */
			return false;
		*v = *v * 10 + digit;
	}
	return n > 0;
}

bool json_integer(struct slice s, uint64_t *v)
{
	const bool minus = s.n > 0 && *s.p == '-';

	if (!json_digits_any(s.p + minus, s.n - minus, v) || (minus && *v > (uint64_t)1 << 63))
		return false;
	*v = minus ? -*v : *v;
	return true;
}

bool json_whole(struct slice s, uint64_t *v)
{
	const char *p = s.p, *const e = s.p + s.n, *digits = e, *point = NULL;
	int64_t left = 0; /* digits before the point, with the exponent applied */

	for (const char *q = p; q < digits; q++) {
		if (*q == 'e' || *q == 'E')
			digits = q;
		else if (*q == '.')
			point = q;
	}
	if (digits < e) {
		const bool minus = digits[1] == '-';
		for (const char *q = digits + 1; q < e; q++)
			if (*q >= '0' && *q <= '9' && left < UINT32_MAX) /* larger ones act alike */
				left = left * 10 + (*q - '0');
		left = minus ? -left : left;
	}
	left += (point != NULL ? point : digits) - p;
	for (*v = 0; p < digits; p++) {
		const unsigned digit = (unsigned)(*p - '0');
		if (p == point)
			continue;
		if (digit > 9 || (left <= 0 && digit > 0) || (left > 0 && *v > (UINT64_MAX - digit) / 10))
			return false;
		*v = left > 0 ? *v * 10 + digit : *v;
		left--;
	}
	for (; left > 0 && *v > 0; left--) {
		if (*v > UINT64_MAX / 10)
			return false;
		*v *= 10;
	}
	return s.n > 0;
}

bool json_double(struct slice s, double *v)
{
	return s.n > 0 && s.n < 64 && (*s.p == '-' || (*s.p >= '0' && *s.p <= '9')) && decimal_read_f64(s, v);
}

bool json_double_is_exact(struct slice s, double v)
{
	char digits[64], rounded[80];
	size_t n = 0, zeros = 0, same = 0;

	for (uint32_t i = 0; i < s.n && s.p[i] != 'e' && s.p[i] != 'E' && n < sizeof digits; i++) {
		if (s.p[i] < '0' || s.p[i] > '9' || (n == 0 && s.p[i] == '0'))
			continue;
		zeros = s.p[i] == '0' ? zeros + 1 : 0;
		digits[n++] = s.p[i];
	}
	if (n == sizeof digits)
		return false;
	n -= zeros;
	if (n == 0 || (n <= DBL_DIG && fabs(v) >= DBL_MIN))
		return true;
	(void)snprintf(rounded, sizeof rounded, "%.*e", (int)n - 1, v);
	for (const char *p = rounded; *p != 'e' && *p != '\0'; p++)
		same += *p >= '0' && *p <= '9' && *p == digits[same];
	return same == n;
}
