#include "htdump/value.h"

double
ht_widened(uint32_t bits)
{
	const uint64_t sign = (uint64_t)(bits >> 31) << 63, mantissa = bits & 0x7fffff;
	const uint64_t nan = sign | UINT64_C(0x7ff) << 52 | mantissa << 29;
	double d;
	float f;

	if ((bits >> 23 & 0xff) == 0xff) {
		memcpy(&d, &nan, sizeof d);
		return d;
	}
	memcpy(&f, &bits, sizeof f);
	return (double)f;
}
