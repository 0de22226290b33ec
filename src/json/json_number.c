#include "json/json_number.h"

bool
json_digits_any(const char *p, uint32_t n, uint64_t *v)
{
	*v = 0;
	for (uint32_t i = 0; i < n; i++) {
		const unsigned digit = (unsigned)(p[i] - '0');
		if (digit > 9 || *v > (UINT64_MAX - digit) / 10)
			return false;
		*v = *v * 10 + digit;
	}
	return n > 0;
}
